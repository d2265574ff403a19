#include <fmt/format.h>

#include <algorithm>

#include "analysis/profile/limiter.h"
#include "analysis/profile/utilization.h"
#include "analysis/report/reports.h"
#include "analysis/report/text.h"
#include "analysis/source/source_lines.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::analysis {
namespace {

double part(uint64_t slots, uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(slots) / static_cast<double>(of);
}

/// Slots to core cycles of one scheduler per operation.
struct Scale {
  Scale(const KernelRecord& kernel, const core::MachineConfig& machine, uint64_t total)
      : slots(total),
        cycles(static_cast<double>(machine.scheduler.issue_cycles) /
               static_cast<double>(machine.scheduler.issue_width)),
        operations(static_cast<double>(kernel.inst_executed)) {}
  [[nodiscard]] double share(uint64_t n) const { return 100 * part(n, slots); }
  [[nodiscard]] double cpi(uint64_t n) const {
    return operations == 0 ? 0 : static_cast<double>(n) * cycles / operations;
  }
  uint64_t slots;
  double cycles, operations;
};

/// "file.cu:12", "source line 12" or nothing.
std::string place_text(const SourceLine& at) {
  if (at.line == 0) return "";
  return at.file.empty() ? fmt::format("source line {}", at.line)
                         : fmt::format("{}:{}", printable(from_here(at.file)), at.line);
}

/// The user's line, and of what was inlined there the file and line that it was written in.
std::string source(const Table& per_pc, uint64_t pc) {
  const SourceLine user = user_line(per_pc, pc), written = written_line(per_pc, pc);
  if (user == written || written.line == 0) return place_text(user);
  const std::string name = written.file.substr(written.file.rfind('/') + 1);
  return fmt::format("{}, inlined from {}", place_text(user),
                     name == user.file.substr(user.file.rfind('/') + 1) ? fmt::format("line {}", written.line)
                                                                        : place_text({name, written.line}));
}

void stack_line(std::string& out, const Scale& scale, std::string_view name, uint64_t slots) {
  out += fmt::format("    {:<24}{:>16}{:>9.2f} %{:>10.3f}\n", printable(name), slots, scale.share(slots),
                     scale.cpi(slots));
}

/// "pipe_busy" and "pipe busy".
bool says_the_same(std::string_view cause, std::string_view group) {
  return std::ranges::equal(cause, group, [](char a, char b) { return a == b || (a == '_' && b == ' '); });
}

/// Units of each kind that the text shows.
constexpr size_t kUnitsShown = 6;

std::string limiter_line(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const std::string text = limiter_text(kernel, machine);
  if (text.empty()) return text;
  const std::string rivals = limiter_rivals(limiter_candidates(kernel, machine), kernel.cycles);
  return fmt::format("  limiter: {}\n", text) +
         (rivals.empty()
              ? std::string()
              : fmt::format(
                    "    near by the same estimate of what it costs: {} of the cycles; --prove decides\n",
                    rivals));
}

std::string stack_text(const Scale& scale, const Explanation& e) {
  std::string out =
      fmt::format("  {:<26}{:>16}{:>11}{:>10}\n", "where the issue slots went", "slots", "share", "CPI");
  for (const CauseGroup& group : e.groups) {
    stack_line(out, scale, group.name, group.slots);
    for (const CauseSlots& cause : group.causes)
      if (!says_the_same(cause.name, group.name)) stack_line(out, scale, "  " + cause.name, cause.slots);
  }
  stack_line(out, scale, "total", e.slots);
  return out;
}

/// Data of DRAM may have been awaited because requests queue long before DRAM.
std::string queue_text(const KernelRecord& kernel, const core::MachineConfig& machine,
                       std::string_view cause) {
  if (cause != "memory_l2" && cause != "memory_dram") return {};
  const std::string limiter = limiter_name(limiter_candidates(kernel, machine), kernel.cycles);
  const char* queue = limiter == "atomics"   ? "behind atomics in the memory partitions"
                      : limiter == "camping" ? "in front of one memory partition after another"
                      : limiter == "network" ? "in front of the interconnect's ports or the L2"
                      : limiter == "lsu"     ? "in the load/store unit"
                                             : nullptr;
  return queue == nullptr
             ? std::string()
             : indented(fmt::format("where data came from is not what took the time: requests queued {} "
                                    "(see the limiter)",
                                    queue));
}

std::string top_text(const Scale& scale, const KernelRecord& kernel, const core::MachineConfig& machine,
                     const Explanation& e) {
  const Table& per_pc = kernel.per_pc;
  std::string out;
  int rank = 0;
  for (const TopCause& cause : e.top) {
    out += fmt::format("  {}. {}: {:.2f} % of the slots\n", ++rank, printable(cause.name),
                       scale.share(cause.slots));
    out += indented(cause_info(cause.name).meaning) + queue_text(kernel, machine, cause.name);
    for (const CodePlace& place : cause.at)
      out += fmt::format("    {:>6.2f} %  at {}\n", scale.share(place.count), place_words(per_pc, place));
    for (const CodePlace& place : cause.awaiting)
      out += fmt::format("    {:>6.2f} %  for data of {}\n", scale.share(place.count),
                         place_words(per_pc, place));
  }
  return out;
}

/// What the registers that did not fit cost.
struct Spills {
  double loads = 0, stores = 0, bytes = 0;
  uint64_t stood = 0, awaited = 0;  ///< slots at these accesses, and of waits for their data
};
Spills spills_of(const KernelRecord& kernel) {
  const Table& t = kernel.per_pc;
  Spills s;
  for (uint64_t pc = 0; pc < t.rows; ++pc) {
    if (!is_spill(t, pc)) continue;
    (text_cell(t, "class", pc) == "load_local" ? s.loads : s.stores) +=
        static_cast<double>(t["executed"][pc]);
    s.bytes += static_cast<double>(t["transferred_bytes"][pc]);
    for (const CauseSlots& cause : kernel.causes) {
      s.stood += t[slots_column(cause.name)][pc];
      if (const std::string awaited = "awaited_" + cause.name; t.has(awaited)) s.awaited += t[awaited][pc];
    }
  }
  return s;
}

std::string spills_text(const KernelRecord& kernel, const Scale& scale) {
  const Spills s = spills_of(kernel);
  if (s.loads + s.stores == 0) return {};
  return fmt::format(
      "  spills: {}{:.0f} loads and {:.0f} stores by warps of registers in local memory, {:.4g} MB moved; "
      "{:.2f} % of the slots at them, {:.2f} % waited for their data\n",
      kernel.spilled_registers == 0
          ? ""
          : fmt::format("{} values of a thread did not fit its registers; ", kernel.spilled_registers),
      s.loads, s.stores, s.bytes * 1e-6, scale.share(s.stood), scale.share(s.awaited));
}

std::string spills_json(const KernelRecord& kernel) {
  const Spills s = spills_of(kernel);
  return fmt::format(
      "{{\"registers\": {}, \"loads\": {:.0f}, \"stores\": {:.0f}, \"bytes\": {:.0f}, \"slots\": {}, "
      "\"awaited_slots\": {}}}",
      kernel.spilled_registers, s.loads, s.stores, s.bytes, s.stood, s.awaited);
}

std::string hot_text(const Scale& scale, const Table& per_pc, const Explanation& e) {
  std::string out = "  operations by issue slots\n";
  for (const HotOperation& hot : e.hot) {
    out += fmt::format("    {:>6.2f} %  {:>12} slots  pc {:<4} {}\n", scale.share(hot.slots), hot.slots,
                       hot.pc, statement_place(per_pc, hot.pc));
    std::string causes;
    for (const CauseSlots& c : hot.causes)
      causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", printable(c.name), c.slots);
    out += fmt::format("              {}\n", causes);
  }
  return out;
}

std::string json_place(const Table& per_pc, uint64_t pc) {
  const SourceLine user = user_line(per_pc, pc);
  return fmt::format(
      "\"pc\": {}, \"ptx_file\": \"{}\", \"ptx_line\": {}, \"ptx\": \"{}\", \"class\": \"{}\", "
      "\"source_file\": \"{}\", "
      "\"source_line\": {}, \"user_file\": \"{}\", \"user_line\": {}, \"spill\": {}",
      pc, core::json_escaped(text_cell(per_pc, "ptx_file", pc)), per_pc["ptx_line"][pc],
      core::json_escaped(text_cell(per_pc, "ptx", pc)), core::json_escaped(text_cell(per_pc, "class", pc)),
      core::json_escaped(text_cell(per_pc, "source_file", pc)), per_pc["source_line"][pc],
      core::json_escaped(user.file), user.line, is_spill(per_pc, pc));
}

template <class Items, class ToText>
std::string json_list(const Items& items, const ToText& to_text) {
  std::string out;
  for (const auto& item : items) out += fmt::format("{}{}", out.empty() ? "" : ", ", to_text(item));
  return out;
}

std::string json_causes(const std::vector<CauseSlots>& causes) {
  return json_list(causes, [](const CauseSlots& c) {
    return fmt::format("\"{}\": {}", core::json_escaped(c.name), c.slots);
  });
}

std::string json_places(const Table& per_pc, const std::vector<CodePlace>& places) {
  return json_list(places, [&](const CodePlace& place) {
    return fmt::format("{{{}, \"statements\": {}, \"slots\": {}}}", json_place(per_pc, place.pc),
                       place.statements, place.count);
  });
}

/// Rows of per_sm.
std::string json_sms(const KernelRecord& kernel) {
  std::vector<uint64_t> rows(kernel.per_sm.rows);
  for (uint64_t i = 0; i < rows.size(); ++i) rows[i] = i;
  return json_list(rows, [&](uint64_t row) {
    std::vector<CauseSlots> causes;
    for (const CauseSlots& c : kernel.causes)
      causes.push_back({c.name, kernel.per_sm[slots_column(c.name)][row]});
    return fmt::format("{{\"sm\": {}, \"slots\": {{{}}}}}", kernel.per_sm["sm"][row], json_causes(causes));
  });
}

}  // namespace

std::string statement_place(const Table& per_pc, uint64_t pc) {
  const std::string from = source(per_pc, pc), &file = text_cell(per_pc, "ptx_file", pc);
  return fmt::format("{}{} `{}`{}", file.empty() ? "line " : printable(file) + ":", per_pc["ptx_line"][pc],
                     printable(text_cell(per_pc, "ptx", pc)),
                     from.empty() ? "" : fmt::format(" ({})", from)) +
         (!is_spill(per_pc, pc)                            ? ""
          : text_cell(per_pc, "class", pc) == "load_local" ? " (load of a spilled register)"
                                                           : " (store of a spilled register)");
}

std::string place_words(const Table& per_pc, const CodePlace& place) {
  const std::string statement = statement_place(per_pc, place.pc);
  return place.statements == 1
             ? statement
             : fmt::format("{}, and {} more of this source line", statement, place.statements - 1);
}

bool is_spill(const Table& per_pc, uint64_t pc) {
  const std::string_view c = text_cell(per_pc, "class", pc);
  return (c == "load_local" || c == "store_local") &&
         text_cell(per_pc, "ptx", pc).find(".local") == std::string::npos;
}

std::string explanation_head(const KernelRecord& kernel, const core::MachineConfig& machine,
                             const Explanation& e) {
  const Scale scale(kernel, machine, e.slots);
  return kernel_title(kernel) +
         fmt::format(
             "  {} cycles, {} SMs x {} scheduler{}, an issue slot every {} cycles: {} slots\n"
             "  {} operations: {:.3f} cycles per operation and scheduler (CPI)\n",
             kernel.cycles, kernel.per_sm.rows, machine.scheduler.count,
             machine.scheduler.count == 1 ? "" : "s", machine.scheduler.issue_cycles, e.slots,
             kernel.inst_executed, scale.cpi(e.slots)) +
         limiter_line(kernel, machine);
}

std::string explanation_text(const KernelRecord& kernel, const core::MachineConfig& machine,
                             const Explanation& e) {
  const Scale scale(kernel, machine, e.slots);
  return explanation_head(kernel, machine, e) + stack_text(scale, e) + spills_text(kernel, scale) +
         utilization_text(kernel, machine, kUnitsShown) + top_text(scale, kernel, machine, e) +
         hot_text(scale, kernel.per_pc, e);
}

std::string explanation_json(const KernelRecord& kernel, const core::MachineConfig& machine,
                             const Explanation& e) {
  const Scale scale(kernel, machine, e.slots);
  const Table& per_pc = kernel.per_pc;
  const std::string stack = json_list(e.groups, [&](const CauseGroup& g) {
    return fmt::format("{{\"group\": \"{}\", \"slots\": {}, \"share\": {}, \"cpi\": {}, \"causes\": {{{}}}}}",
                       g.name, g.slots, core::json_number(scale.share(g.slots)),
                       core::json_number(scale.cpi(g.slots)), json_causes(g.causes));
  });
  const std::string top = json_list(e.top, [&](const TopCause& t) {
    return fmt::format(
        "{{\"cause\": \"{}\", \"slots\": {}, \"share\": {}, \"meaning\": \"{}\", \"at\": [{}], "
        "\"for_data_of\": [{}]}}",
        core::json_escaped(t.name), t.slots, core::json_number(scale.share(t.slots)),
        core::json_escaped(cause_info(t.name).meaning), json_places(per_pc, t.at),
        json_places(per_pc, t.awaiting));
  });
  const std::string hot = json_list(e.hot, [&](const HotOperation& h) {
    return fmt::format("{{{}, \"executed\": {}, \"slots\": {}, \"share\": {}, \"causes\": {{{}}}}}",
                       json_place(per_pc, h.pc), per_pc["executed"][h.pc], h.slots,
                       core::json_number(scale.share(h.slots)), json_causes(h.causes));
  });
  return fmt::format(
      "{{\"kernel\": {}, \"name\": \"{}\", \"demangled\": {}, \"finished\": {}, \"grid\": \"{}\", \"block\": "
      "\"{}\", \"cycles\": {}, "
      "\"inst_executed\": {}, "
      "\"inst_issued\": {}, \"sms\": {}, \"schedulers\": {}, \"issue_cycles\": {}, \"slots\": {}, \"cpi\": "
      "{}, "
      "\"limiter\": {}, \"spills\": {}, \"units\": [{}], \"stack\": [{}], \"top\": [{}], \"hot\": [{}], "
      "\"per_sm\": [{}]}}",
      kernel.index, core::json_escaped(kernel.name), core::json_quoted(core::demangled(kernel.name)),
      kernel.finished, core::json_escaped(kernel.grid), core::json_escaped(kernel.block), kernel.cycles,
      kernel.inst_executed, kernel.inst_issued, kernel.per_sm.rows, machine.scheduler.count,
      machine.scheduler.issue_cycles, e.slots, core::json_number(scale.cpi(e.slots)),
      limiter_json(kernel, machine), spills_json(kernel), utilization_json(kernel), stack, top, hot,
      json_sms(kernel));
}

}  // namespace gpusim::analysis
