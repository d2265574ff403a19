#include "cli/registers_option.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>

#include "isa/ptx/diagnostics.h"
#include "isa/ptx/parser/parser.h"
#include "simcore/process/child_process.h"
#include "simcore/text/input_error.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::cli {
namespace {

namespace fs = std::filesystem;

using Registers = std::map<std::string, uint32_t>;  ///< per thread, by entry as the PTX writes it

/// A folder of our own for as long as it exists.
class ScratchFolder {
 public:
  ScratchFolder() : path_((fs::temp_directory_path() / "gpusim_XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr)
      throw core::InputError(fmt::format("gpusim: error: no room for a temporary folder in '{}'",
                                         fs::temp_directory_path().string()));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

/// How `ptxas --verbose` ended, and what it said on both of its outputs.
struct Assembled {
  core::ProcessEnd end;
  std::string said;
};
Assembled assemble(const std::string& ptx, const std::string& architecture) {
  const ScratchFolder folder;
  core::ChildProcess ptxas([&](int pipe) {
    dup2(pipe, STDOUT_FILENO);
    dup2(pipe, STDERR_FILENO);
    return core::become_program(
        {"ptxas", "--verbose", "--gpu-name", architecture, "--output-file", folder.file("code"), ptx});
  });
  const core::ProcessEnd end = ptxas.wait();
  return {end, ptxas.answer()};
}

/// The text between `before` and `after`; empty if there is none.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t begin = text.find(before);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + before.size());
  return text.substr(0, text.find(after));
}

std::optional<uint32_t> natural(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

Registers of_ptxas(const comp::SimulationOptions& run, const isa::Module& module) {
  if (!run.linked.empty())
    throw core::InputError(
        "gpusim: error: --registers ptxas: the program has several PTX files, which ptxas takes one by one\n "
        " hint: "
        "--registers KERNEL=N for each kernel");
  // Volta's registers are Turing's; assemblers of today do not know it.
  const auto capability = static_cast<int>(run.machine.gpu.compute_capability);
  std::vector<std::string> architectures{fmt::format("sm_{}", capability)};
  if (capability >= 70 && capability < 75) architectures.emplace_back("sm_75");
  if (module.target_letter != 0)
    architectures = {fmt::format("sm_{}{}", module.target_sm, module.target_letter)};
  Assembled found;
  for (const std::string& architecture : architectures) {
    found = assemble(run.ptx_name, architecture);
    if (found.end.status == core::kNoSuchProgram)
      throw core::InputError(
          "gpusim: error: --registers ptxas: ptxas is not on the PATH\n  hint: it comes with the CUDA "
          "toolkit; "
          "--registers KERNEL=N takes what is known otherwise");
    if (found.said.find("is not defined for option") == std::string::npos) break;
  }
  Registers registers;
  std::string_view said = found.said, entry;
  for (; !said.empty(); said.remove_prefix(std::min(said.find('\n'), said.size() - 1) + 1)) {
    const std::string_view line = said.substr(0, said.find('\n'));
    if (const auto name = between(line, "Compiling entry function '", "'"); !name.empty()) entry = name;
    if (const auto count = natural(between(line, "Used ", " registers")); count && !entry.empty())
      registers.emplace(entry, *count);
  }
  if (!found.end.good() || registers.empty())
    throw core::InputError(
        fmt::format("{}: error: --registers ptxas: ptxas does not make code of it for {}: {}", run.ptx_name,
                    architectures.back(), std::string_view(found.said).substr(0, found.said.find('\n'))));
  return registers;
}

/// The entry that a user's name means.
const isa::Function& entry_named(const isa::Module& module, const std::string& name,
                                 const std::string& value) {
  isa::NearestName nearest(name);
  for (const isa::Function* f : module.entries()) {
    if (core::means_kernel(name, f->name) || f->name == name) return *f;
    nearest.consider(f->name);
  }
  const std::string hint = nearest.hint();
  throw core::InputError(fmt::format("gpusim: error: --registers {}: the PTX has no kernel '{}'{}", value,
                                     name, hint.empty() ? "" : "\n  hint: " + hint));
}

}  // namespace

std::vector<std::string> take_registers(const std::vector<std::string>& values,
                                        comp::SimulationOptions& run) {
  if (values.empty()) return {};
  isa::ParseResult parsed = isa::parse_module(run.ptx_text);
  if (isa::has_errors(parsed.diagnostics)) return values;  // the simulation says so
  Registers stated, registers;
  const auto most = static_cast<uint32_t>(run.machine.sm.max_registers_per_thread);
  for (const std::string& value : values) {
    if (value == "ptxas") {
      registers = of_ptxas(run, parsed.module);
      continue;
    }
    const size_t equals = value.rfind('=');
    const auto count =
        equals == std::string::npos ? std::nullopt : natural(std::string_view(value).substr(equals + 1));
    if (!count || *count > most)
      throw core::InputError(fmt::format(
          "gpusim: error: --registers '{}': expected ptxas or KERNEL=N with N from 1 to {}", value, most));
    stated[entry_named(parsed.module, value.substr(0, equals), value).name] = *count;
  }
  for (const auto& [name, count] : stated) registers[name] = count;
  std::vector<std::string> taken;
  for (const auto& [name, count] : registers) {
    bool launched = false;
    for (core::LaunchSpec& launch : run.launch.launches) {
      const bool meant = launch.kernel.empty()
                             ? parsed.module.entries().size() == 1
                             : launch.kernel == name || core::means_kernel(launch.kernel, name);
      if (!meant || launch.registers != 0) continue;
      launch.registers_taken = std::min(count, most);
      launched = true;
    }
    if (launched) taken.push_back(fmt::format("{}={}", name, count));
  }
  return taken;
}

}  // namespace gpusim::cli
