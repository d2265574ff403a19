#include "correlate/profile_counters.h"

#include <algorithm>
#include <array>

namespace gpusim::correlate {

namespace {

struct Term {
  std::string_view counter;
  double factor = 1;
};
struct ProfileCounter {
  std::string_view name;
  std::array<Term, 4> terms;
  std::string_view otherwise = {};  ///< what is compared if the run has none of these
};

// Writes: the chips count each as a hit, for a line is taken without being fetched. A read of a sector that
// is on its way is a hit there too. Shared accesses are instructions, without their bank conflicts.
// Instructions are those of ptxas' code, of which operands and what a kernel has once take no issue slot
// here.
constexpr ProfileCounter kCounters[] = {
    {"l1_read_misses", {{{"l1_fill_sectors"}, {"l1_bypass_sectors"}}}},
    {"shared_accesses", {{{"shared_load"}, {"shared_store"}}}},
    {"l2_reads", {{{"l2_read_sectors"}, {"l2_texture_sectors"}}}},
    {"l2_read_hits", {{{"l2_read_sectors"}, {"l2_texture_sectors"}, {"l2_fill_sectors", -1}}}},
    {"l2_read_misses", {{{"l2_fill_sectors"}}}},
    {"l2_write_hits", {{{"l2_write_sectors"}}}},
    {"l2_write_misses", {}},
    {"dram_read_sectors", {{{"dram_read_transactions"}}}},
    {"dram_write_sectors", {{{"dram_write_transactions"}}}},
    {"instructions", {{{"machine_instructions"}}}, "issue_slots"},
};
constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kCounters)> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kCounters[i].name;
  return names;
}();

}  // namespace

std::span<const std::string_view> profile_counter_names() { return kNames; }

bool is_profile_counter(std::string_view name) { return std::ranges::find(kNames, name) != kNames.end(); }

double profile_counter(std::string_view name, const std::vector<core::Counter>& counters) {
  const auto& wanted = kCounters[static_cast<size_t>(std::ranges::find(kNames, name) - kNames.begin())];
  double value = 0;
  bool found = false;
  const auto add = [&](const Term& term) {
    const auto at = std::ranges::find(counters, term.counter, &core::Counter::name);
    if (at == counters.end()) return;
    value += term.factor * at->value;
    found = true;
  };
  for (const Term& term : wanted.terms) add(term);
  if (!found && !wanted.otherwise.empty()) add({wanted.otherwise});
  return value;
}

}  // namespace gpusim::correlate
