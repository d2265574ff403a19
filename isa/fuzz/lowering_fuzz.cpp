// libFuzzer target: what the verifier and the linker accept must lower at every level, with and without
// spilling, and run without a step outside of its registers and memory. "//====" on a line of its own starts
// the next file of the program.
#include <string>
#include <string_view>
#include <vector>

#include "isa/lowering/lowering.h"
#include "isa/ptx/diagnostics.h"
#include "isa/ptx/linker.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"
#include "isa/tests/warp_runner.h"

namespace {

using namespace gpusim::isa;  // NOLINT: the target is about this namespace

constexpr std::string_view kSeparator = "\n//====\n";
constexpr uint64_t kMaxRunBytes = 1 << 16;  ///< what needs more memory than this is lowered but not run
constexpr uint64_t kMaxSteps = 2000;

std::vector<std::string_view> split_files(std::string_view text) {
  std::vector<std::string_view> files;
  for (size_t at; (at = text.find(kSeparator)) != std::string_view::npos;) {
    files.push_back(text.substr(0, at));
    text.remove_prefix(at + kSeparator.size());
  }
  files.push_back(text);
  return files;
}

/// The linked module; without functions if a file is wrong.
Module link_text(std::string_view text) {
  std::vector<Module> modules;
  std::vector<std::string> names;
  for (const std::string_view file : split_files(text)) {
    ParseResult parsed = parse_module(file);
    if (!parsed.ok() || has_errors(verify_module(parsed.module))) return {};
    modules.push_back(std::move(parsed.module));
    names.push_back("file" + std::to_string(names.size()));
  }
  LinkResult linked = link_modules(std::move(modules), std::move(names));
  return has_errors(linked.diagnostics) ? Module{} : std::move(linked.module);
}

void run(const KernelImage& image, test::TestMemory& memory) {
  const uint64_t shared = image.dynamic_shared_offset, local = image.local_bytes;
  if (shared > kMaxRunBytes || local > kMaxRunBytes / 32 || image.param_bytes > kMaxRunBytes) return;
  const uint64_t buffer = memory.add(4096);
  test::BlockRunner runner(image, memory,
                           test::pack_params(std::vector<uint64_t>(image.param_bytes / 8 + 1, buffer)), 33);
  (void)runner.run(kMaxSteps);
}

void lower_and_run(const Module& module, const Function& entry, const LoweringOptions& base) {
  test::TestMemory memory;
  LoweringOptions options = base;
  options.address_of = [&](const Variable& v) { return memory.add(std::min(v.bytes, kMaxRunBytes)); };
  const auto lowered = lower_kernel(module, entry, options);
  if (const auto* image = std::get_if<KernelImage>(&lowered)) run(*image, memory);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Module module = link_text({reinterpret_cast<const char*>(data), size});
  for (const Function* entry : module.entries()) {
    LoweringOptions options;
    lower_and_run(module, *entry, options);
    options.register_limit = 6;
    lower_and_run(module, *entry, options);
    options.level = LoweringLevel::kSchedule;
    lower_and_run(module, *entry, options);
    options.register_limit = 0;
    options.machine_capability = 90;
    lower_and_run(module, *entry, options);
    options.level = LoweringLevel::kNone;
    lower_and_run(module, *entry, options);
  }
  return 0;
}
