#include "analysis/profile/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace gpusim::analysis {
namespace {

/// Largest first, those without slots dropped, equal ones in their order; at most `limit`.
template <class Entry>
void keep_largest(std::vector<Entry>& entries, size_t limit) {
  std::erase_if(entries, [](const Entry& e) { return e.slots == 0; });
  std::ranges::stable_sort(entries, std::ranges::greater{}, &Entry::slots);
  if (entries.size() > limit) entries.resize(limit);
}

std::vector<CauseGroup> group_causes(const KernelRecord& kernel) {
  std::vector<CauseGroup> groups;
  for (const std::string_view name : cause_groups()) groups.push_back({name, 0, {}});
  groups.push_back({"other", 0, {}});
  for (const CauseSlots& cause : kernel.causes) {
    const CauseInfo info = cause_info(cause.name);
    CauseGroup& group = *std::ranges::find(groups, info.group, &CauseGroup::name);
    group.slots += cause.slots;
    if (cause.slots != 0) group.causes.push_back(cause);
  }
  std::erase_if(groups, [](const CauseGroup& g) { return g.slots == 0; });
  return groups;
}

/// Slots of a column by place in the code.
std::vector<CodePlace> places_of(const Table& per_pc, std::string_view column, size_t limit) {
  std::vector<CodePlace> places = code_places(per_pc, per_pc[column]);
  if (places.size() > limit) places.resize(limit);
  return places;
}

TopCause top_cause(const KernelRecord& kernel, const CauseSlots& cause, size_t limit) {
  const Table& per_pc = kernel.per_pc;
  TopCause top{cause.name, cause.slots, places_of(per_pc, slots_column(cause.name), limit), {}};
  const std::string awaited = fmt::format("awaited_{}", cause.name);
  if (per_pc.has(awaited)) top.awaiting = places_of(per_pc, awaited, limit);
  return top;
}

std::vector<HotOperation> hot_operations(const KernelRecord& kernel, size_t limit) {
  std::vector<HotOperation> hot(kernel.per_pc.rows);
  for (uint64_t pc = 0; pc < hot.size(); ++pc) hot[pc].pc = pc;
  for (const CauseSlots& cause : kernel.causes) {
    const std::vector<uint64_t>& slots = kernel.per_pc[slots_column(cause.name)];
    for (uint64_t pc = 0; pc < hot.size(); ++pc) hot[pc].slots += slots[pc];
  }
  keep_largest(hot, limit);
  for (HotOperation& operation : hot) {
    for (const CauseSlots& cause : kernel.causes)
      operation.causes.push_back({cause.name, kernel.per_pc[slots_column(cause.name)][operation.pc]});
    keep_largest(operation.causes, operation.causes.size());
  }
  return hot;
}

}  // namespace

Explanation explain(const KernelRecord& kernel, size_t limit) {
  Explanation e;
  e.slots = kernel.total_slots();
  e.groups = group_causes(kernel);
  std::vector<CauseSlots> causes = kernel.causes;
  std::erase_if(causes, [](const CauseSlots& c) { return c.name == "issued"; });
  keep_largest(causes, limit);
  for (const CauseSlots& cause : causes) e.top.push_back(top_cause(kernel, cause, limit));
  e.hot = hot_operations(kernel, limit);
  return e;
}

}  // namespace gpusim::analysis
