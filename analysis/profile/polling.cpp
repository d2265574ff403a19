#include "analysis/profile/polling.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/source/ptx_registers.h"
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

/// Which operations give a register its value.
class Definitions {
 public:
  Definitions(const Table& t, uint64_t& looks) : table_(t), looks_(looks) {
    std::string_view before;
    for (uint64_t pc = 0; pc < t.rows; ++pc) {
      ++looks_;
      const std::string_view ptx = text_cell(t, "ptx", pc);
      // Several operations can stand for one statement.
      if (ptx == before) continue;
      before = ptx;
      const std::string_view plain = without_guard(ptx);
      if (plain.starts_with("st") || plain.starts_with("bra")) continue;
      for (const std::string_view name : registers_in(named(ptx, ","))) {
        Definition& d = defined_[name];
        if (!d.at.empty() && d.at.back() == pc) continue;
        d.at.push_back(pc);
        d.executed += static_cast<double>(t["executed"][pc]);
      }
    }
  }
  /// How often what an operation reads by was computed: the sum over all other statements that give one of
  /// its registers a value. Nothing if none does, as of a kernel's argument.
  [[nodiscard]] std::optional<double> times_computed(std::string_view text, uint64_t asking) const {
    std::optional<double> most;
    for (const std::string_view name : registers_in(text)) {
      const auto at = defined_.find(name);
      if (at == defined_.end()) continue;
      const std::vector<uint64_t>& all = at->second.at;
      const bool itself = std::binary_search(all.begin(), all.end(), asking, [&](uint64_t a, uint64_t b) {
        ++looks_;
        return a < b;
      });
      const double sum = at->second.executed - (itself ? static_cast<double>(table_["executed"][asking]) : 0);
      if (sum > 0) most = std::max(most.value_or(0), sum);
    }
    return most;
  }

 private:
  struct Definition {
    std::vector<uint64_t> at;  ///< operations, in their order
    double executed = 0;       ///< all of them together
  };
  const Table& table_;
  uint64_t& looks_;
  std::unordered_map<std::string_view, Definition> defined_;
};

/// For each operation where those that are executed as often, one after another, begin and end.
struct Stretches {
  Stretches(const Table& t, uint64_t& looks) : first(t.rows), last(t.rows), barrier(t.rows, t.rows) {
    const std::vector<uint64_t>& executed = t["executed"];
    for (uint64_t pc = 0; pc < t.rows; ++pc, ++looks)
      first[pc] = pc > 0 && executed[pc - 1] == executed[pc] ? first[pc - 1] : pc;
    uint64_t next = t.rows;
    for (uint64_t pc = t.rows; pc-- > 0; ++looks) {
      const std::string_view op_class = text_cell(t, "class", pc);
      last[pc] = op_class == "branch"                                  ? pc
                 : pc + 1 < t.rows && executed[pc + 1] == executed[pc] ? last[pc + 1]
                                                                       : pc + 1;
      barrier[pc] = next;
      if (op_class == "barrier") next = pc;
    }
  }
  std::vector<uint64_t> first;
  std::vector<uint64_t> last;     ///< the first branch, or behind the last one if there is none
  std::vector<uint64_t> barrier;  ///< the next one behind the operation, of the whole program
};

}  // namespace

std::vector<PollingLoop> polling_loops(const KernelRecord& kernel, uint64_t* looks) {
  uint64_t own_looks = 0;
  uint64_t& looked = looks == nullptr ? own_looks : *looks;
  const Table& t = kernel.per_pc;
  std::vector<PollingLoop> found;
  if (!t.has("executed") || !t.texts.contains("ptx") || !t.texts.contains("class")) return found;
  const std::vector<uint64_t>& executed = t["executed"];
  const Definitions definitions(t, looked);
  const Stretches stretches(t, looked);
  for (uint64_t pc = 0; pc < t.rows; ++pc, ++looked) {
    const std::string_view ptx = text_cell(t, "ptx", pc);
    if (executed[pc] == 0 || !asks(text_cell(t, "class", pc), ptx)) continue;
    PollingLoop loop{stretches.first[pc], stretches.last[pc], pc, t.rows, 0, 0};
    // What it reads decides whether it asks again: a branch that is come to as often.
    if (loop.last == t.rows || text_cell(t, "class", loop.last) != "branch" ||
        executed[loop.last] != executed[pc] || !text_cell(t, "ptx", loop.last).starts_with('@'))
      continue;
    const size_t operands = std::min(ptx.find('['), ptx.size());
    const auto asked = static_cast<double>(executed[pc]);
    const double entered = loop.first > 0 ? static_cast<double>(executed[loop.first - 1]) : asked;
    loop.waits = definitions.times_computed(ptx.substr(operands), pc).value_or(entered);
    loop.repeats = asked - loop.waits;
    if (loop.repeats <= 0 || loop.waits <= 0) continue;
    loop.barrier = stretches.barrier[loop.last];
    found.push_back(loop);
  }
  return found;
}

}  // namespace gpusim::analysis
