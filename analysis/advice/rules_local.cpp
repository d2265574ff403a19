// Rules about what a thread keeps in local memory: spilled registers, and arrays of its own.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "analysis/advice/local_indices.h"
#include "analysis/advice/rules.h"
#include "analysis/advice/traffic.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

using Chosen = std::function<bool(uint64_t)>;

/// Of these accesses one of the line with most: there may be hundreds, and code around them that has no line.
uint64_t at_line_with_most(const Facts& f, const Chosen& chosen) {
  std::map<SourceLine, double> by_line;
  const auto line_of = [&](uint64_t pc) { return user_line(f.kernel().per_pc, pc); };
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (chosen(pc)) by_line[line_of(pc)] += f.executed(pc);
  if (by_line.size() > 1) by_line[SourceLine{}] = 0;
  return f.largest([&](uint64_t pc) { return chosen(pc) ? by_line[line_of(pc)] : 0.0; });
}

/// The kernel's work without these operations, for values that take so many registers more.
Work in_registers(const Facts& f, const Chosen& chosen, uint64_t registers) {
  Work work = f.estimator().recorded();
  std::map<std::string, double> less;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (!chosen(pc)) continue;
    work.chain[pc] = 0;
    less[f.pipe_of(f.op_class(pc))] += f.executed(pc) * f.pipe_cycles(f.op_class(pc));
  }
  for (const auto& [pipe, cycles] : less)
    if (f.work(pipe) > 0) work.scale(pipe, 1 - cycles / f.work(pipe));
  leave_out(f, chosen, work);
  work.scale("issue", 1 - f.issue_cycles() * f.sum("slots_issued", chosen) / std::max(1.0, f.work("issue")));
  LaunchResources more = f.resources();
  more.registers = std::min<uint64_t>(f.machine().sm.max_registers_per_thread, more.registers + registers);
  const double before_blocks = f.blocks_per_sm(f.resources()), after_blocks = f.blocks_per_sm(more);
  const double held = f.warps() / std::max(1.0, f.sms());
  if (before_blocks > after_blocks && after_blocks > 0)
    work.rounds *= std::max(1.0, std::min(f.resident_warps(), held) / (after_blocks * f.warps_per_block()));
  return work;
}

}  // namespace

std::optional<Proposal> spills(const Facts& f) {
  const auto spilled = [&](uint64_t pc) { return is_spill(f, pc); };
  if (f.sum("executed", spilled) <= 0) return std::nullopt;
  Proposal p;
  p.pc = at_line_with_most(f, spilled);
  p.what = fmt::format(
      "give a thread more registers (it has {}, and {} values of it are in local memory), "
      "or fewer values that live at the same time",
      f.resources().registers, f.resources().spilled_registers);
  p.counter = "local traffic of spills";
  p.unit = "bytes";
  p.value = f.sum("transferred_bytes", spilled);
  p.after = in_registers(f, spilled, f.resources().spilled_registers);
  return p;
}

std::optional<Proposal> local_arrays(const Facts& f) {
  const auto local = [&](uint64_t pc) {
    return (f.op_class(pc) == "load_local" || f.op_class(pc) == "store_local") && !is_spill(f, pc);
  };
  const uint64_t words = f.resources().local_bytes / 4;
  if (words == 0 || f.sum("executed", local) <= 0) return std::nullopt;
  // An array that registers cannot hold stays where it is.
  if (f.resources().registers + words > f.machine().sm.max_registers_per_thread) return std::nullopt;
  // A loop that counts the index is unrolled. Where another value says which element, it is one of those that
  // lie the address's step apart: as many operations choose it.
  const auto choices = [&](uint64_t pc) {
    const AddressOrigin& origin = f.origin(pc);
    return local(pc) && origin.stride != 0 && (origin.of_data || origin.wanders || !origin.of_loop)
               ? static_cast<double>(f.resources().local_bytes) /
                     static_cast<double>(std::max<uint64_t>(4, origin.stride))
               : 0.0;
  };
  double chosen = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) chosen += f.executed(pc) * choices(pc);
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) { return f.executed(pc) * choices(pc); });
  if (p.pc == f.operations()) p.pc = at_line_with_most(f, local);
  p.what = fmt::format(
      "keep a thread's array of {} bytes in registers: unroll its loops fully, so that all indices are "
      "constants, and choose among elements by conditions instead of an index that is computed",
      f.resources().local_bytes);
  p.counter = "traffic of arrays in local memory";
  p.unit = "bytes";
  p.value = f.sum("transferred_bytes", local);
  // Operations that only find elements, or count the turns of loops that are unrolled, go as well.
  const std::vector<bool> serves = serves_local_indices(f.kernel(), f.ptx());
  p.after = in_registers(
      f, [&](uint64_t pc) { return local(pc) || serves[pc]; }, words);
  const auto takes = [&](const std::string& unit, double cycles) {
    if (const UnitLoad* u = f.kernel().unit(unit))
      p.after.units[unit] += chosen * cycles / static_cast<double>(std::max<uint64_t>(1, u->instances));
  };
  takes("issue", f.issue_cycles());
  takes(f.pipe_of("int"), f.pipe_cycles("int"));
  // Each of these operations hands on what the one before has chosen, where the array had been a single wait.
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (f.op_class(pc) == "load_local")
      p.after.chain[pc] += f.executed(pc) / f.warps() * choices(pc) * f.latency("int");
  return p;
}

}  // namespace gpusim::analysis::advice
