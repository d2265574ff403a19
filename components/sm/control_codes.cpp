#include "components/sm/control_codes.h"

#include <algorithm>
#include <array>
#include <span>

namespace gpusim::comp {

namespace {

using isa::MicroOp;
using isa::OpKind;

constexpr size_t kNobody = ~size_t{0};

bool ends_block(const MicroOp& op) {
  switch (op.kind) {
    case OpKind::kBranch:
    case OpKind::kBranchTable:
    case OpKind::kCall:
    case OpKind::kReturn:
    case OpKind::kBarrier:
    case OpKind::kExit:
      return true;
    default:
      return false;
  }
}

/// Operations at which a block begins, and the end of the code.
std::vector<size_t> block_starts(const isa::KernelImage& image) {
  const size_t count = image.ops.size();
  std::vector<bool> starts(count + 1, false);
  const auto mark = [&](uint32_t op) {
    if (op != isa::kNoTarget && op < count) starts[op] = true;
  };
  for (size_t i = 0; i < count; ++i) {
    const MicroOp& op = image.ops[i];
    if (ends_block(op)) starts[i + 1] = true;
    if (op.kind == OpKind::kBranch) mark(op.target);
    mark(op.reconverge);
  }
  for (const uint32_t target : image.branch_targets) mark(target);
  for (const isa::CallTarget& f : image.functions) mark(f.entry);
  starts[0] = starts[count] = true;
  std::vector<size_t> list;
  for (size_t i = 0; i <= count; ++i)
    if (starts[i]) list.push_back(i);
  return list;
}

std::span<const uint16_t> writes(const MicroOp& op) { return {op.sb_writes.data(), op.num_sb_writes}; }
std::span<const uint16_t> reads(const MicroOp& op) { return {op.sb_reads.data(), op.num_sb_reads}; }

bool touches(const MicroOp& op, std::span<const uint16_t> ids) {
  const auto has = [&](std::span<const uint16_t> own) {
    return std::ranges::find_first_of(own, ids) != own.end();
  };
  return has(reads(op)) || has(writes(op));
}

/// Makes the codes of one block.
class Block {
 public:
  Block(const isa::KernelImage& image, const ClassTimings& timings, uint32_t issue_cycles, uint32_t barriers,
        std::vector<ControlCode>& codes)
      : image_(image),
        timings_(timings),
        issue_cycles_(issue_cycles),
        barriers_(barriers),
        codes_(codes),
        ready_(size_t{image.num_rows} + image.num_predicates) {}

  void make(size_t first, size_t end) {
    std::ranges::fill(ready_, 0);
    for (Barrier& b : all_) b.waited_at = 0;
    uint64_t now = 0;
    for (size_t i = first; i < end; ++i) {
      const MicroOp& op = image_.ops[i];
      const uint64_t from = std::max(now, when_ready(op));
      if (from > now) codes_[i - 1].stall = static_cast<uint8_t>(from - now + issue_cycles_);
      const uint64_t done = from + timing(op).latency;
      if (is_variable(op))
        set_barrier(i, end);
      else
        for (const uint16_t id : writes(op)) ready_[id] = done;
      now = from + issue_cycles_;
    }
  }

 private:
  struct Barrier {
    size_t waited_at = 0;  ///< operation that waits for it: it is free from there on
    size_t set_at = 0;
  };
  [[nodiscard]] const ClassTiming& timing(const MicroOp& op) const { return timings_[op.op_class]; }
  [[nodiscard]] bool is_variable(const MicroOp& op) const {
    if (op.num_sb_writes == 0 || ends_block(op)) return false;
    const bool memory = op.kind == OpKind::kLoad || op.kind == OpKind::kAtomic;
    return (memory && op.memory.space != isa::Space::kParam) || op.folded_load != isa::kNoTarget ||
           timing(op).latency > kMostStall;
  }
  [[nodiscard]] uint64_t when_ready(const MicroOp& op) const {
    uint64_t at = 0;
    for (const uint16_t id : reads(op)) at = std::max(at, ready_[id]);
    for (const uint16_t id : writes(op)) at = std::max(at, ready_[id]);
    return at;
  }

  /// A barrier for the result of operation `i`: one that its first use waits for anyway, else the free one
  /// that was set longest ago, else the one that is waited for last.
  void set_barrier(size_t i, size_t end) {
    size_t use = i + 1;
    while (use < end && !touches(image_.ops[use], writes(image_.ops[i]))) ++use;
    if (use == end) use = kNobody;
    const std::span<Barrier> all(all_.data(), barriers_);
    auto chosen = std::ranges::find_if(
        all, [&](const Barrier& b) { return b.waited_at == use && use != kNobody && b.waited_at > i; });
    if (chosen == all.end()) {
      const auto rank = [&](const Barrier& b) {
        const bool free = b.waited_at <= i;
        return std::pair(free, free ? count_ - b.set_at : b.waited_at);
      };
      chosen = std::ranges::max_element(all, {}, rank);
    }
    chosen->waited_at = chosen->waited_at <= i ? use : std::max(chosen->waited_at, use);
    chosen->set_at = ++count_;
    const auto b = static_cast<uint8_t>(chosen - all.begin());
    codes_[i].sets = b;
    if (use != kNobody) codes_[use].waits |= static_cast<uint8_t>(1u << b);
  }

  const isa::KernelImage& image_;
  const ClassTimings& timings_;
  uint32_t issue_cycles_, barriers_;
  std::vector<ControlCode>& codes_;
  std::vector<uint64_t> ready_;
  std::array<Barrier, 8> all_{};
  size_t count_ = 0;
};

}  // namespace

std::vector<ControlCode> control_codes(const isa::KernelImage& image, const ClassTimings& timings,
                                       uint32_t issue_cycles, uint32_t barriers) {
  std::vector<ControlCode> codes(image.ops.size());
  const std::vector<size_t> starts = block_starts(image);
  Block block(image, timings, issue_cycles, barriers, codes);
  for (size_t b = 0; b + 1 < starts.size(); ++b) block.make(starts[b], starts[b + 1]);
  return codes;
}

}  // namespace gpusim::comp
