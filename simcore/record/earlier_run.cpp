#include "simcore/record/earlier_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "simcore/record/read.h"
#include "simcore/text/sha256.h"

namespace gpusim::core {
namespace {

struct EarlierRun {
  std::string config, ptx, command_line, status;
};

/// Nothing if the file is no recording of this program.
std::optional<EarlierRun> read_earlier(const std::string& path) {
  try {
    const RecordedFile file(path);
    if (file.text_attribute("/", "program") != "gpusim") return {};
    return EarlierRun{file.text_attribute("/", "config_sha256"), file.text_attribute("/", "ptx_sha256"),
                      file.text_attribute("/", "command_line"), file.text_attribute("/", "status")};
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
  const bool other_machine = earlier->config != sha256_hex(now.config_text);
  const bool other_program = earlier->ptx != sha256_hex(now.ptx_text);
  if (other_machine || other_program)
    refuse(fmt::format("holds a run of another {}: {}",
                       other_machine && other_program ? "machine and program"
                       : other_machine                ? "machine"
                                                      : "program",
                       earlier->command_line));
  return true;
}

bool worth_keeping(const std::string& path) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) == 0 && !error) return false;
  const std::optional<EarlierRun> earlier = read_earlier(path);
  return !earlier || earlier->status != "partial";
}

}  // namespace gpusim::core
