#include "simcore/record/earlier_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "simcore/record/read.h"
#include "simcore/text/sha256.h"

namespace gpusim::core {
namespace {

struct EarlierRun {
  std::string config, ptx, command_line, status;
  bool empty = false;  ///< no launch has left anything
};

/// A run that was killed before its first launch was recorded leaves its file without one, or with names
/// alone.
bool is_empty(const RecordedFile& file) {
  if (!file.exists("/kernels")) return true;
  const auto kernels = file.list("/kernels");
  return std::ranges::all_of(kernels, [&](const std::string& kernel) {
    const auto parts = file.list("/kernels/" + kernel);
    return std::ranges::all_of(parts, [&](const std::string& part) {
      return part == "events" && file.list(fmt::format("/kernels/{}/events", kernel)).empty();
    });
  });
}

/// Of a recording of `gpusim run`, whose PTX nobody knows before the program loads it: the file that it ran.
/// Arguments of the program are its own.
std::string_view program_of(std::string_view command_line) {
  constexpr std::string_view kRun = "run ";
  if (!command_line.starts_with(kRun)) return {};
  command_line.remove_prefix(kRun.size());
  command_line = command_line.substr(0, command_line.find(' '));
  return command_line.substr(command_line.rfind('/') + 1);
}

/// Nothing if the file is no recording of this program.
std::optional<EarlierRun> read_earlier(const std::string& path) {
  try {
    const RecordedFile file(path);
    if (file.text_attribute("/", "program") != "gpusim") return {};
    return EarlierRun{file.text_attribute("/", "config_sha256"), file.text_attribute("/", "ptx_sha256"),
                      file.text_attribute("/", "command_line"), file.text_attribute("/", "status"),
                      is_empty(file)};
  } catch (const RecordError&) {
    return {};
  }
}

}  // namespace

bool replaces_same_run(const std::string& path, const RunAttributes& now) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error || bytes == 0) return false;  // what cannot be read for another reason fails when it is written
  const auto refuse = [&path](const std::string& what) {
    throw RecordError(fmt::format(
        "'{}' {}\n  hint: --out OTHER.h5 keeps it, --force replaces it, --out none records nothing", path,
        what));
  };
  const std::optional<EarlierRun> earlier = read_earlier(path);
  if (!earlier) {
    refuse("is there already and is no recording of gpusim");
    return false;
  }
  if (earlier->status == "partial" && earlier->empty) return false;
  const bool other_machine = earlier->config != sha256_hex(now.config_text);
  const bool other_program = earlier->ptx != sha256_hex(now.ptx_text) ||
                             program_of(earlier->command_line) != program_of(now.command_line);
  if (other_machine || other_program)
    refuse(fmt::format("holds a run of another {}{}: {}",
                       other_machine && other_program ? "machine and program"
                       : other_machine                ? "machine"
                                                      : "program",
                       earlier->status == "partial" ? ", which did not end" : "", earlier->command_line));
  return true;
}

bool worth_keeping(const std::string& path) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) == 0 && !error) return false;
  const std::optional<EarlierRun> earlier = read_earlier(path);
  return !earlier || earlier->status != "partial";
}

}  // namespace gpusim::core
