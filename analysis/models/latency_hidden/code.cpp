#include "analysis/models/latency_hidden/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "isa/exec/executor.h"
#include "isa/lowering/lowering.h"
#include "isa/ptx/diagnostics.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"

namespace gpusim::analysis::latency_hidden {
namespace {

[[noreturn]] void fail(const Recording& recording, const KernelRecord& kernel, const std::string& what) {
  throw core::RecordError(
      fmt::format("'{}': kernel {} '{}': {}", recording.path(), kernel.index, kernel.name, what));
}

std::string recorded_level(const Recording& recording) {
  const std::string command = recording.command_line();
  constexpr std::string_view kOption = " --lowering ";
  const size_t at = command.find(kOption);
  if (at == std::string::npos) return std::string(isa::kLoweringLevels.back());
  const size_t from = at + kOption.size();
  return command.substr(from, command.find(' ', from) - from);
}

/// Whether the operations are those of the table.
bool same_operations(const isa::KernelImage& image, const Table& per_pc) {
  if (image.ops.size() != per_pc.rows) return false;
  const std::vector<std::string>& texts = per_pc.texts.find("ptx")->second;
  for (size_t pc = 0; pc < image.ops.size(); ++pc)
    if (image.ptx[image.ops[pc].ptx_index].text != texts[pc]) return false;
  return true;
}

std::optional<isa::KernelImage> lowered(const isa::Module& module, const isa::Function& entry,
                                        const core::MachineConfig& machine, isa::LoweringLevel level,
                                        uint32_t register_limit) {
  isa::LoweringOptions options;
  options.level = level;
  isa::set_machine(options, machine);
  options.register_limit = register_limit;
  options.address_of = [](const isa::Variable&) { return isa::kDeviceMemoryBase; };
  auto result = isa::lower_kernel(module, entry, options);
  if (auto* image = std::get_if<isa::KernelImage>(&result)) return std::move(*image);
  return std::nullopt;
}

}  // namespace

bool is_access(const isa::MicroOp& op) {
  return op.kind == isa::OpKind::kLoad || op.kind == isa::OpKind::kStore || op.kind == isa::OpKind::kAtomic;
}
bool is_long(const isa::MicroOp& op) {
  if (op.op_class == isa::OpClass::kTexture) return op.kind == isa::OpKind::kLoad;
  const isa::Space s = op.memory.space;
  return is_access(op) && (s == isa::Space::kGlobal || s == isa::Space::kLocal || s == isa::Space::kGeneric);
}
bool is_shared(const isa::MicroOp& op) {
  return op.op_class == isa::OpClass::kSharedOperand ||
         (is_access(op) && op.memory.space == isa::Space::kShared);
}

std::string_view mnemonic_of(std::string_view ptx) {
  if (ptx.starts_with('@')) {
    const size_t space = ptx.find(' ');
    ptx.remove_prefix(std::min(ptx.size(), space == std::string_view::npos ? ptx.size() : space + 1));
  }
  return ptx.substr(0, ptx.find_first_of(". "));
}

std::array<uint64_t, 3> dimensions_of(const std::string& text) {
  std::array<uint64_t, 3> dimensions{1, 1, 1};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (uint64_t& d : dimensions) {
    at = std::from_chars(at, end, d).ptr;
    if (at != end) ++at;  // the comma
  }
  return dimensions;
}

Code recorded_code(const Recording& recording, const KernelRecord& kernel) {
  if (recording.ptx().empty())
    fail(recording, kernel,
         "the recording has no PTX, as of a program that 'gpusim run' ran: export the launch (gpusim run "
         "--functional --export FOLDER), and record what was exported");
  const isa::ParseResult parsed = isa::parse_module(recording.ptx());
  if (!parsed.ok() || isa::has_errors(isa::verify_module(parsed.module)))
    fail(recording, kernel,
         "its recorded PTX cannot be parsed as one module; linked programs are not supported here");
  const isa::Function* entry = parsed.module.find_function(kernel.name);
  if (entry == nullptr || !entry->is_entry) fail(recording, kernel, "the recorded PTX has no such kernel");
  if (recording.attribute(kernel.index, "kernels_beside") != 0)
    fail(recording, kernel, "ran beside other kernels; the model is of a kernel alone");
  Code code;
  code.level = recorded_level(recording);
  code.shape.registers = static_cast<uint32_t>(recording.attribute(kernel.index, "registers"));
  code.shape.shared_bytes = recording.attribute(kernel.index, "shared_bytes");
  code.shape.threads_per_block =
      static_cast<uint32_t>(recording.attribute(kernel.index, "threads_per_block"));
  code.shape.warps_per_block = static_cast<uint32_t>(recording.attribute(kernel.index, "warps_per_block"));
  const auto blocks = kernel.counters.find("blocks"), warps = kernel.counters.find("warps");
  if (blocks == kernel.counters.end() || warps == kernel.counters.end() || warps->second < 1 ||
      blocks->second < 1 || kernel.per_sm.rows == 0)
    fail(recording, kernel, "has no blocks, warps or SMs in its tables");
  code.shape.blocks = static_cast<uint64_t>(blocks->second);
  code.shape.grid = dimensions_of(kernel.grid);
  code.shape.block = dimensions_of(kernel.block);
  // The launch file may have set a limit of registers, or not: what was recorded tells.
  bool found = false;
  for (const uint32_t limit : {uint32_t{0}, code.shape.registers}) {
    auto image = lowered(parsed.module, *entry, recording.machine(), isa::lowering_level(code.level), limit);
    if (!image || !same_operations(*image, kernel.per_pc)) continue;
    if (limit == 0 && image->registers > code.shape.registers) continue;
    code.image = std::move(*image);
    found = true;
    break;
  }
  if (!found)
    fail(recording, kernel,
         fmt::format("its PTX, lowered with '--lowering {}', does not give the {} recorded operations; "
                     "record the run again with this version of gpusim",
                     code.level, kernel.per_pc.rows));
  const double n = warps->second;
  for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc) {
    const auto value = [&](const char* column) { return static_cast<double>(kernel.per_pc[column][pc]) / n; };
    code.counts.push_back({value("executed"), value("transactions"), value("requested_bytes"),
                           value("transferred_bytes"),
                           kernel.per_pc.has("atomic_words") ? value("atomic_words") : 0, value("replays"),
                           kernel.per_pc.has("sum_rounds") ? value("sum_rounds") : 0});
  }
  return code;
}

}  // namespace gpusim::analysis::latency_hidden
