#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/commands.h"
#include "simcore/text/input_error.h"

namespace gpusim::cli {

namespace fs = std::filesystem;

bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

void write_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void check_output(const std::string& option, const std::string& path,
                  const std::vector<std::string>& inputs) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return;
  const auto refuse = [&](const std::string& why) {
    throw core::InputError(fmt::format("{}: error: {}: {}", path, option, why));
  };
  if (!fs::is_regular_file(status)) refuse("not a regular file");
  if (access(path.c_str(), W_OK) != 0) refuse(std::strerror(errno));
  for (const std::string& input : inputs)
    if (fs::equivalent(path, input, error)) refuse("this is an input of the run");
}

void check_output(const std::string& option, const std::string& path, const std::vector<std::string>& inputs,
                  const OutputForm& form, bool force) {
  check_output(option, path, inputs);
  std::ifstream there(path, std::ios::binary);
  std::string begins(form.begins.size(), '\0');
  there.read(begins.data(), static_cast<std::streamsize>(begins.size()));
  begins.resize(static_cast<size_t>(std::max<std::streamsize>(0, there.gcount())));
  if (force || begins.empty() || begins == form.begins) return;
  throw core::InputError(
      fmt::format("{}: error: {}: the file is there already, and is not {} of gpusim\n  hint: another name "
                  "keeps it, --force replaces it",
                  path, option, form.name));
}

void refuse_what_is_no_ptx(const std::string& path) {
  if (path.ends_with(".cu"))
    throw core::InputError(fmt::format(
        "{}: error: is CUDA source; gpusim runs PTX\n  hint: nvcc -ptx -lineinfo -arch=sm_75 {} -o {}", path,
        path, fs::path(path).replace_extension(".ptx").string()));
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return;  // whoever reads it says what it is
  constexpr std::string_view kProgram =
                                 "\x7f"
                                 "ELF",
                             kRecording = "\x89HDF\r\n\x1a\n";
  std::string begins(kRecording.size(), '\0');
  std::ifstream(path, std::ios::binary).read(begins.data(), static_cast<std::streamsize>(begins.size()));
  const std::string place = path.find('/') == std::string::npos ? "./" + path : path;
  if (begins.starts_with(kProgram))
    throw core::InputError(fmt::format(
        "{}: error: is a program; this reads PTX\n  hint: gpusim run --config tesla_v100 -- {} runs "
        "it; with --functional --export FOLDER it writes its launches as FOLDER/case.ptx, which "
        "can be studied",
        path, place));
  if (begins == kRecording)
    throw core::InputError(
        fmt::format("{}: error: is a recorded file (HDF5); this reads PTX\n  hint: gpusim explain {}; to "
                    "simulate again, give the PTX that it was recorded of",
                    path, path));
}

}  // namespace gpusim::cli
