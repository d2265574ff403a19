// Counters that are declared once. A component's counts are a struct made from a list of
//   COUNTER(member, "name", "unit", "meaning" [, {.reference = ..., .present = ..., .sum = ..., .per_sm =
//   ...}])
// and everything else follows from the list: the members, sums over components, differences between two
// times, and what the recorded file, --json and docs/counters.md say. Counting is an increment of a plain
// member.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "simcore/config/machine_config.h"
#include "simcore/record/recorder.h"

namespace gpusim::core {

/// How the counts of several components (or of several kernels) make one.
enum class CounterSum : uint8_t { kAdd, kMost };

struct CounterOptions {
  /// Whose definition it is: a profiler's event, a section of a manual. Empty: ours.
  const char* reference = "";
  /// Machines that have it; null: all.
  bool (*present)(const MachineConfig&) = nullptr;
  CounterSum sum = CounterSum::kAdd;
  /// Also a column of this name in the recorded file's per_sm table; null: none.
  const char* per_sm = nullptr;
};

template <class S>
struct CounterRow {
  uint64_t S::*member;
  const char* name;  ///< empty: others are computed from it, it is not reported itself
  const char* unit;
  const char* meaning;
  CounterOptions options{};

  [[nodiscard]] bool reported(const MachineConfig& machine) const {
    return *name != '\0' && (options.present == nullptr || options.present(machine));
  }
};

template <class S>
inline constexpr auto kCounterRows = S::rows();

/// Adds the counts of `s` to `sum`.
template <class S>
void add(S& sum, const S& s) {
  // Without a loop over the rows: members whose place is known to the compiler are added several at a time,
  // and a time series adds those of all components once a row.
  const auto add_row = [&]<size_t kRow>() {
    static constexpr const CounterRow<S>& row = kCounterRows<S>[kRow];
    uint64_t& to = sum.*row.member;
    if constexpr (row.options.sum == CounterSum::kMost)
      to = std::max(to, s.*row.member);
    else
      to += s.*row.member;
  };
  [&]<size_t... kRow>(std::index_sequence<kRow...>) { (add_row.template operator()<kRow>(), ...); }
  (std::make_index_sequence<kCounterRows<S>.size()>());
}

/// What was counted from `then` to `now`. A greatest value is that of all the time.
template <class S>
[[nodiscard]] S difference(const S& now, const S& then) {
  S d;
  for (const CounterRow<S>& row : kCounterRows<S>)
    d.*row.member =
        row.options.sum == CounterSum::kMost ? now.*row.member : now.*row.member - then.*row.member;
  return d;
}

/// Appends the counters that `machine` has, in the order of the list.
template <class S>
void report(std::vector<Counter>& out, const S& s, const MachineConfig& machine) {
  for (const CounterRow<S>& row : kCounterRows<S>)
    if (row.reported(machine))
      out.push_back({row.name, static_cast<double>(s.*row.member), row.unit, row.meaning});
}

}  // namespace gpusim::core

#define GPUSIM_COUNTER_MEMBER(member, ...) uint64_t member = 0;
#define GPUSIM_COUNTER_ROW(member, ...) Row{&Self::member, __VA_ARGS__},
/// In struct `Struct`: a member for each COUNTER of LIST, and rows(), which describes them.
#define GPUSIM_COUNTERS(Struct, LIST)                      \
  LIST(GPUSIM_COUNTER_MEMBER)                              \
  static constexpr auto rows() {                           \
    using Self = Struct;                                   \
    using Row = ::gpusim::core::CounterRow<Struct>;        \
    return std::to_array<Row>({LIST(GPUSIM_COUNTER_ROW)}); \
  }
