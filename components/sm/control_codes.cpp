#include "components/sm/control_codes.h"

#include <algorithm>
#include <array>
#include <span>

#include "simcore/config/limits.h"

namespace gpusim::comp {

namespace {

using isa::MicroOp;
using isa::OpKind;

constexpr size_t kNobody = ~size_t{0};
constexpr uint16_t kNoPipe = 0xffff;

bool is_memory(const MicroOp& op) {
  switch (op.kind) {
    case OpKind::kLoad:
    case OpKind::kStore:
    case OpKind::kAtomic:
      return op.memory.space != isa::Space::kParam;
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
  Block(const isa::KernelImage& image, const ClassTimings& timings,
        const core::MachineConfig::Scheduler& scheduler, std::vector<ControlCode>& codes)
      : image_(image),
        timings_(timings),
        scheduler_(scheduler),
        codes_(codes),
        results_(size_t{image.num_rows} + image.num_predicates) {}

  void make(size_t first, size_t end) {
    std::ranges::fill(results_, Result{});
    for (Barrier& b : all_) b.waited_at = 0;
    uint64_t now = 0;
    for (size_t i = first; i < end; ++i) {
      const MicroOp& op = image_.ops[i];
      const uint64_t from = std::max(now, when_ready(op));
      if (from > now) codes_[i - 1].stall = static_cast<uint8_t>(from - now + scheduler_.issue_cycles);
      if (timing(op).queued) {  // who reads its results waits for them, whatever the codes say
        for (const uint16_t id : writes(op)) results_[id] = {};
      } else if (is_variable(op)) {
        set_barrier(i, end);
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
    size_t waited_at = 0;  ///< operation that waits for it: it is free from there on
    size_t set_at = 0;
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
    return (memory && op.memory.space != isa::Space::kParam) || op.folded_load != isa::kNoTarget ||
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

  /// A barrier for the result of operation `i`: one that its first use waits for anyway, else the free one
  /// that was set longest ago, else the one that is waited for last.
  void set_barrier(size_t i, size_t end) {
    size_t use = i + 1;
    while (use < end && !touches(image_.ops[use], writes(image_.ops[i]))) ++use;
    if (use == end) use = kNobody;
    const std::span<Barrier> all(all_.data(), scheduler_.barriers);
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
  const core::MachineConfig::Scheduler& scheduler_;
  std::vector<ControlCode>& codes_;
  std::vector<Result> results_;
  std::array<Barrier, 8> all_{};
  size_t count_ = 0;
};

}  // namespace

std::vector<ControlCode> control_codes(const isa::KernelImage& image, const ClassTimings& timings,
                                       const core::MachineConfig::Scheduler& scheduler) {
  std::vector<ControlCode> codes(image.ops.size());
  const std::vector<size_t> starts = block_starts(image);
  Block block(image, timings, scheduler, codes);
  for (size_t b = 0; b + 1 < starts.size(); ++b) block.make(starts[b], starts[b + 1]);
  return codes;
}

}  // namespace gpusim::comp
