#include "analysis/profile/polling.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/source/source_lines.h"

namespace gpusim::analysis {
namespace {

/// "ld.volatile.global.u32 %r33, [%rd5]" without its guard.
std::string_view without_guard(std::string_view ptx) {
  if (!ptx.starts_with('@')) return ptx;
  ptx.remove_prefix(std::min(ptx.size(), ptx.find(' ')));
  return ptx.substr(std::min(ptx.size(), ptx.find_first_not_of(' ')));
}

/// What a statement names behind its opcode up to `end`.
std::string_view named(std::string_view ptx, std::string_view end) {
  ptx = without_guard(ptx);
  ptx.remove_prefix(std::min(ptx.size(), ptx.find(' ')));
  return ptx.substr(0, ptx.find_first_of(end));
}

bool has_register(std::string_view text, std::string_view name) {
  constexpr std::string_view kInName = "0123456789";
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
    if (at + name.size() == text.size() || kInName.find(text[at + name.size()]) == std::string_view::npos)
      return true;
  return false;
}

/// Whether a statement reads a word that other blocks write, and leaves it as it is, or only tries to change
/// it, as one that takes a lock does. Adding 0 is a way of reading.
bool asks(std::string_view op_class, std::string_view ptx) {
  ptx = without_guard(ptx);
  if (op_class == "load_global") {
    constexpr std::array<std::string_view, 4> kSeesOthers{".volatile", ".relaxed", ".acquire", ".mmio"};
    return std::ranges::any_of(kSeesOthers,
                               [&](std::string_view s) { return ptx.find(s) != std::string_view::npos; });
  }
  if (op_class != "atom_global" || !ptx.starts_with("atom")) return false;
  constexpr std::array<std::string_view, 2> kTries{".cas.", ".exch."};
  constexpr std::array<std::string_view, 2> kLeaves{".add.", ".or."};
  const auto any = [&](const auto& words) {
    return std::ranges::any_of(words,
                               [&](std::string_view s) { return ptx.find(s) != std::string_view::npos; });
  };
  return any(kTries) || (any(kLeaves) && ptx.ends_with(" 0"));
}

/// How often what an operation reads by was computed: the sum over all operations that give one of its
/// registers a value. Nothing if no operation does, as of a kernel's argument.
std::optional<double> times_computed(const Table& t, std::string_view text, uint64_t asking) {
  std::optional<double> most;
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    const std::string_view name = text.substr(at, text.find_first_of(" ,;}])+", at) - at);
    double sum = 0;
    std::string_view before;
    for (uint64_t pc = 0; pc < t.rows; ++pc) {
      const std::string_view ptx = text_cell(t, "ptx", pc);
      // Several operations can stand for one statement.
      if (pc == asking || ptx == before) continue;
      before = ptx;
      const std::string_view plain = without_guard(ptx);
      if (plain.starts_with("st") || plain.starts_with("bra") || !has_register(named(ptx, ","), name))
        continue;
      sum += static_cast<double>(t["executed"][pc]);
    }
    if (sum > 0) most = std::max(most.value_or(0), sum);
  }
  return most;
}

}  // namespace

std::vector<PollingLoop> polling_loops(const KernelRecord& kernel) {
  const Table& t = kernel.per_pc;
  std::vector<PollingLoop> found;
  if (!t.has("executed") || !t.texts.contains("ptx") || !t.texts.contains("class")) return found;
  const auto executed = [&](uint64_t pc) { return static_cast<double>(t["executed"][pc]); };
  const auto op_class = [&](uint64_t pc) -> std::string_view { return text_cell(t, "class", pc); };
  for (uint64_t pc = 0; pc < t.rows; ++pc) {
    const std::string_view ptx = text_cell(t, "ptx", pc);
    if (executed(pc) == 0 || !asks(op_class(pc), ptx)) continue;
    PollingLoop loop{pc, pc, pc, t.rows, 0, 0};
    while (loop.first > 0 && executed(loop.first - 1) == executed(pc)) --loop.first;
    // What it reads decides whether it asks again: a branch that is come to as often.
    while (loop.last < t.rows && executed(loop.last) == executed(pc) && op_class(loop.last) != "branch")
      ++loop.last;
    if (loop.last == t.rows || op_class(loop.last) != "branch" || executed(loop.last) != executed(pc) ||
        !text_cell(t, "ptx", loop.last).starts_with('@'))
      continue;
    const size_t operands = std::min(ptx.find('['), ptx.size());
    const double entered = loop.first > 0 ? executed(loop.first - 1) : executed(pc);
    loop.waits = times_computed(t, ptx.substr(operands), pc).value_or(entered);
    loop.repeats = executed(pc) - loop.waits;
    if (loop.repeats <= 0 || loop.waits <= 0) continue;
    for (uint64_t behind = loop.last + 1; behind < t.rows && loop.barrier == t.rows; ++behind)
      if (op_class(behind) == "barrier") loop.barrier = behind;
    found.push_back(loop);
  }
  return found;
}

}  // namespace gpusim::analysis
