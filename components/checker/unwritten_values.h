// Registers of a warp that hold bytes which nothing has written. Reading them is no mistake yet: a structure
// is copied with its padding, an array with its unused end, and a value may be loaded before it is known
// whether it is needed. The load is reported once its value is used, by anything but a copy.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "components/checker/fault_text.h"
#include "components/checker/lane_access.h"

namespace gpusim::comp {

/// A load of unwritten bytes by one lane.
struct UnwrittenRead {
  FaultPlace place;
  uint32_t missing = 0, statement = 0;
  uint32_t lane = 0;
  bool reported = false;
};

class UnwrittenValues {
 public:
  /// A lane's register: the load that it comes from (0: all is written) and which of its bytes are unwritten.
  struct Value {
    uint32_t read = 0;
    uint8_t bytes = 0;
  };

  void begin(uint32_t num_rows);
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] Value at(const isa::RowRef& ref, uint32_t lane) const {
    const bool known = any_ && ref.bank == isa::Bank::kRegister && used_[row_of(ref)] != 0;
    return known ? rows_[row_of(ref)][lane] : Value{};
  }
  void set(const isa::RowRef& ref, uint32_t lane, Value value);
  /// Number of a load; a later one of the same statement and lane replaces it.
  [[nodiscard]] uint32_t add(const UnwrittenRead& read);

  /// `op` executes in these lanes. Calls report(UnwrittenRead) for each load whose value it uses first.
  template <class Report>
  void execute(const isa::MicroOp& op, const isa::WarpContext& context, isa::LaneMask mask, bool copies,
               Report report);
  /// The value of `ref` is used.
  template <class Report>
  void use(const isa::RowRef& ref, uint32_t lane, Report report);

 private:
  using Row = std::array<Value, isa::kWarpSize>;
  [[nodiscard]] static size_t row_of(const isa::RowRef& ref) { return ref.offset / isa::kRowBytes; }
  /// What a copy leaves in its destination.
  [[nodiscard]] Value copied(const isa::MicroOp& op, const isa::WarpContext& context, uint32_t lane) const;

  bool any_ = false;
  std::vector<Row> rows_;
  std::vector<uint8_t> used_;
  std::vector<UnwrittenRead> reads_;  ///< by number; the first is unused
  std::unordered_map<uint64_t, uint32_t> numbers_;
};

template <class Report>
void UnwrittenValues::use(const isa::RowRef& ref, uint32_t lane, Report report) {
  const Value value = at(ref, lane);
  if (value.read == 0 || reads_[value.read].reported) return;
  reads_[value.read].reported = true;
  report(reads_[value.read]);
}

template <class Report>
void UnwrittenValues::execute(const isa::MicroOp& op, const isa::WarpContext& context, isa::LaneMask mask,
                              bool copies, Report report) {
  if (!any_) return;
  for_each_lane(mask, [&](uint32_t lane) {
    Value result;
    if (copies) result = copied(op, context, lane);
    for (size_t s = 0; s < op.num_src && !copies; ++s) use(op.src[s], lane, report);
    for (size_t d = 0; d < op.num_dst; ++d) set(op.dst[d], lane, result);
  });
}

}  // namespace gpusim::comp
