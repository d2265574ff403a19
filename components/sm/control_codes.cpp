#include "components/sm/control_codes.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "simcore/config/limits.h"

namespace gpusim::comp {

namespace {

using isa::MicroOp;
using isa::OpKind;

constexpr uint16_t kNoPipe = 0xffff;

bool is_memory(const MicroOp& op) {
  switch (op.kind) {
    case OpKind::kLoad:
    case OpKind::kStore:
    case OpKind::kAtomic:
      return op.op_class != isa::OpClass::kLoadParam;
    default:
      return op.op_class == isa::OpClass::kWarp;
  }
}

bool is_special(const MicroOp& op) {
  switch (op.op_class) {
    case isa::OpClass::kSfuRcp:
    case isa::OpClass::kSfuRsqrt:
    case isa::OpClass::kSfuSqrt:
    case isa::OpClass::kSfuSin:
    case isa::OpClass::kCvt:
    case isa::OpClass::kCvt64:
    case isa::OpClass::kBitCount:
      return true;
    default:
      return false;
  }
}

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

std::span<const uint16_t> writes(const MicroOp& op) { return {op.sb_writes.data(), op.num_sb_writes}; }
std::span<const uint16_t> reads(const MicroOp& op) { return {op.sb_reads.data(), op.num_sb_reads}; }

/// Makes the codes of one block.
class Block {
 public:
  Block(const isa::KernelImage& image, const ClassTimings& timings,
        const core::MachineConfig::Scheduler& scheduler, std::vector<ControlCode>& codes)
      : image_(image),
        timings_(timings),
        scheduler_(scheduler),
        codes_(codes),
        results_(size_t{image.num_rows} + image.num_predicates),
        next_(results_.size()) {}

  void make(size_t first, size_t end) {
    std::ranges::fill(results_, Result{});
    for (Barrier& b : all_) b.waited_at = 0;
    find_uses(first, end);
    uint64_t now = 0;
    for (size_t i = first; i < end; ++i) {
      const MicroOp& op = image_.ops[i];
      const uint64_t from = std::max(now, when_ready(op));
      if (from > now) codes_[i - 1].stall = static_cast<uint8_t>(from - now + scheduler_.issue_cycles);
      if (timing(op).queued) {  // who reads its results waits for them, whatever the codes say
        for (const uint16_t id : writes(op)) results_[id] = {};
      } else if (is_variable(op)) {
        if (uses_[i] != end) set_barrier(i);
        for (const uint16_t id : writes(op)) results_[id].pipe = kNoPipe;
      } else {
        for (const uint16_t id : writes(op))
          results_[id] = {from, from + timing(op).latency, timing(op).pipe[0]};
      }
      now = from + scheduler_.issue_cycles;
    }
  }

 private:
  struct Barrier {
    size_t waited_at = 0;  ///< operation that waits for it last: it is free from there on
    size_t set_at = 0;
    uint64_t needed = 0;  ///< core cycle at which it is waited for first, if nothing holds the warp up
    uint64_t done = 0;    ///< and at which its results are there
  };
  /// Of the last operation that wrote a register or predicate.
  struct Result {
    uint64_t issued = 0, ready = 0;
    uint16_t pipe = kNoPipe;  ///< kNoPipe: its latency is not fixed
  };
  [[nodiscard]] const ClassTiming& timing(const MicroOp& op) const { return timings_[op.op_class]; }
  [[nodiscard]] bool is_variable(const MicroOp& op) const {
    if (op.num_sb_writes == 0 || ends_block(op)) return false;
    const bool memory = op.kind == OpKind::kLoad || op.kind == OpKind::kAtomic;
    return (memory && op.op_class != isa::OpClass::kLoadParam) || op.folded_load != isa::kNoTarget ||
           timing(op).latency > core::kMostStall;
  }
  [[nodiscard]] uint64_t when_ready(const MicroOp& op) const {
    uint64_t at = 0;
    for (const uint16_t id : reads(op)) at = std::max(at, when_ready(op, id));
    for (const uint16_t id : writes(op)) at = std::max(at, results_[id].ready);
    return at;
  }
  /// Where `op` reads it.
  [[nodiscard]] uint64_t when_ready(const MicroOp& op, uint16_t id) const {
    const Result& r = results_[id];
    if (r.pipe == kNoPipe) return r.ready;
    const auto& latency = scheduler_.operand_latency;
    uint32_t least = 0;
    if (op.guard != isa::kNoPredicate && id == image_.num_rows + op.guard)
      least = latency.guard;
    else if (is_memory(op))
      least = latency.memory;
    else if (is_special(op))
      least = latency.sfu;
    else if (timing(op).pipe[0] != r.pipe)
      least = latency.other_pipe;
    return std::max(r.ready, r.issued + least);
  }

  /// Core cycles that the result of an operation of variable latency takes, as a compiler assumes it.
  [[nodiscard]] uint64_t expected_latency(const MicroOp& op) const {
    constexpr uint64_t kOfMemory = 400;
    const bool accesses = op.kind == OpKind::kLoad || op.kind == OpKind::kAtomic;
    const bool inside = op.memory.space == isa::Space::kShared || op.memory.space == isa::Space::kConst ||
                        op.memory.space == isa::Space::kParam;
    return accesses && !inside ? kOfMemory : timing(op).latency;
  }

  /// Of each operation from `first` to `end`, the first one behind it that touches what it writes, or `end`.
  void find_uses(size_t first, size_t end) {
    uses_.resize(image_.ops.size());
    std::ranges::fill(next_, end);
    for (size_t i = end; i-- > first;) {
      const MicroOp& op = image_.ops[i];
      uses_[i] = end;
      for (const uint16_t id : writes(op)) uses_[i] = std::min(uses_[i], next_[id]);
      for (const uint16_t id : reads(op)) next_[id] = i;
      for (const uint16_t id : writes(op)) next_[id] = i;
    }
  }

  /// Are there more results on their way and done with before that of operation `i` is needed than barriers
  /// are free?
  [[nodiscard]] bool is_short_of_barriers(size_t i, size_t free) const {
    size_t between = 1;
    for (size_t k = i + 1; k < uses_[i] && between <= free; ++k)
      if (is_variable(image_.ops[k]) && uses_[k] < uses_[i]) ++between;
    return between > free;
  }

  /// A barrier for the result of operation `i`, which is used in its block: one that its first use waits for
  /// anyway, else the free one that was set longest ago. If none is free, or others will need it before, the
  /// one to share with which who waits for one of the two results has to wait least for the other; among
  /// equals, the one that is waited for last.
  void set_barrier(size_t i) {
    const size_t use = uses_[i];
    const uint64_t issue = uint64_t{i} * scheduler_.issue_cycles;
    const uint64_t done = issue + expected_latency(image_.ops[i]);
    const uint64_t needed = uint64_t{use} * scheduler_.issue_cycles;
    const std::span<Barrier> all(all_.data(), scheduler_.barriers);
    auto chosen =
        std::ranges::find_if(all, [&](const Barrier& b) { return b.waited_at == use && b.waited_at > i; });
    if (chosen == all.end()) {
      const auto longer = [](uint64_t until, uint64_t own, uint64_t from) {
        return until - std::min(until, std::max(own, from));
      };
      const auto is_free = [&](const Barrier& b) { return b.waited_at <= i; };
      constexpr uint64_t kLittle = 100;
      const auto free = static_cast<size_t>(std::ranges::count_if(all, is_free));
      const bool spare = is_short_of_barriers(i, free);
      const auto rank = [&](const Barrier& b) {
        if (is_free(b)) return std::tuple(1, uint64_t{0}, b.set_at);
        const uint64_t cost = longer(done, b.done, b.needed) + longer(b.done, done, needed);
        return std::tuple(spare && cost < kLittle ? 0 : 2, cost, ~b.waited_at);
      };
      chosen = std::ranges::min_element(all, {}, rank);
    }
    const bool free = chosen->waited_at <= i;
    chosen->waited_at = free ? use : std::max(chosen->waited_at, use);
    chosen->needed = free ? needed : std::min(chosen->needed, needed);
    chosen->done = free ? done : std::max(chosen->done, done);
    chosen->set_at = ++count_;
    const auto b = static_cast<uint8_t>(chosen - all.begin());
    codes_[i].sets = b;
    codes_[use].waits |= static_cast<uint8_t>(1u << b);
  }

  const isa::KernelImage& image_;
  const ClassTimings& timings_;
  const core::MachineConfig::Scheduler& scheduler_;
  std::vector<ControlCode>& codes_;
  std::vector<Result> results_;
  std::array<Barrier, 8> all_{};
  std::vector<size_t> uses_, next_;  ///< see find_uses(); by operation, and by register and predicate
  size_t count_ = 0;
};

}  // namespace

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

std::vector<ControlCode> control_codes(const isa::KernelImage& image, const ClassTimings& timings,
                                       const core::MachineConfig::Scheduler& scheduler) {
  std::vector<ControlCode> codes(image.ops.size());
  const std::vector<size_t> starts = block_starts(image);
  Block block(image, timings, scheduler, codes);
  for (size_t b = 0; b + 1 < starts.size(); ++b) block.make(starts[b], starts[b + 1]);
  return codes;
}

}  // namespace gpusim::comp
