// A small functional interpreter for tests: runs one block of a lowered kernel, warp by warp, with a
// reconvergence stack and barriers. It counts what it executes, so that tests can compare instruction counts
// between lowerings.
#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "isa/exec/executor.h"
#include "isa/lowering/launch_constants.h"
#include "isa/lowering/lowering.h"

namespace gpusim::isa::test {

/// Device memory made of separate buffers.
class TestMemory : public GlobalMemory {
 public:
  /// Adds a buffer and returns its device address.
  uint64_t add(size_t bytes, bool writable = true) {
    buffers_.push_back({next_, std::vector<std::byte>(bytes), writable});
    const uint64_t address = next_;
    next_ += (bytes + 511) / 256 * 256;
    return address;
  }
  std::byte* data(uint64_t address) {
    const MemoryWindow w = window(address);
    return w.data == nullptr ? nullptr : w.data + (address - w.begin);
  }
  template <class T>
  uint64_t add_values(const std::vector<T>& values) {
    const uint64_t address = add(values.size() * sizeof(T));
    std::memcpy(data(address), values.data(), values.size() * sizeof(T));
    return address;
  }
  template <class T>
  std::vector<T> read(uint64_t address, size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), data(address), count * sizeof(T));
    return values;
  }
  [[nodiscard]] MemoryWindow window(uint64_t address) const override {
    for (const Buffer& b : buffers_) {
      if (address >= b.begin && address < b.begin + b.bytes.size()) {
        return {b.begin, b.begin + b.bytes.size(), const_cast<std::byte*>(b.bytes.data()), b.writable};
      }
    }
    return {};
  }

 private:
  struct Buffer {
    uint64_t begin;
    std::vector<std::byte> bytes;
    bool writable;
  };
  std::vector<Buffer> buffers_;
  uint64_t next_ = kDeviceMemoryBase;
};

struct RunResult {
  uint64_t ptx_instructions = 0;
  uint64_t thread_instructions = 0;  ///< PTX instructions times lanes
  uint64_t micro_ops = 0;
  uint64_t local_accesses = 0;
  FaultKind fault = FaultKind::kNone;
  MemoryAccess access{};    ///< of the fault
  std::string failed_call;  ///< function that could not be called
  bool finished = false;    ///< false: stopped by a fault, a trap or the step limit
};

/// Runs one block of `threads` threads; `dynamic_shared` bytes behind the static ones.
class BlockRunner {
 public:
  BlockRunner(const KernelImage& image, TestMemory& memory, std::vector<std::byte> params, uint32_t threads,
              uint32_t dynamic_shared = 0)
      : image_(image),
        params_(std::move(params)),
        literals_(bind_literals(image, params_, {threads, 1, 1}, {1, 1, 1})),
        shared_(image.dynamic_shared_offset + dynamic_shared + 64) {
    bind_constant_memory(image, memory, literals_);
    const uint32_t warps = (threads + 31) / 32;
    for (uint32_t w = 0; w < warps; ++w) {
      auto warp = std::make_unique<Warp>();
      warp->rows.resize(std::max<size_t>(image.num_rows, 1) * kRowBytes);
      warp->predicates.resize(image.num_predicates + 1);
      warp->local.resize(size_t{kWarpSize} * image.local_bytes);
      WarpContext& c = warp->ctx;
      c.bank[0] = warp->rows.data();
      c.bank[1] = literals_.data();
      c.predicates = warp->predicates.data();
      for (uint32_t l = 0; l < kWarpSize; ++l) c.tid[0][l] = w * 32 + l;
      c.ntid[0] = threads;
      c.ntid[1] = c.ntid[2] = c.nctaid[0] = c.nctaid[1] = c.nctaid[2] = 1;
      c.warp_in_block = c.warp_slot = w;
      c.warps_in_block = warps;
      c.num_sms = 1;
      c.existing = LaneMask::first(static_cast<int>(std::min(threads - w * 32, 32u)));
      c.global = &memory;
      c.shared = shared_.data();
      c.shared_bytes = image.dynamic_shared_offset + dynamic_shared;
      c.dynamic_shared_bytes = dynamic_shared;
      c.local = warp->local.data();
      c.local_bytes = image.local_bytes;
      c.params = params_.data();
      c.param_bytes = static_cast<uint32_t>(params_.size());
      warp->alive = c.existing;
      warp->stack.push_back({0, kNoTarget, c.existing});
      warps_.push_back(std::move(warp));
    }
  }

  /// The block has this rank in a cluster of `size` blocks along x, whose shared memories are in `memory`.
  void join_cluster(const ClusterMemory& memory, uint32_t rank, uint32_t size) {
    for (auto& warp : warps_) {
      warp->ctx.cluster = &memory;
      warp->ctx.cluster_rank = warp->ctx.cluster_ctaid[0] = warp->ctx.ctaid[0] = rank;
      warp->ctx.cluster_nctaid[0] = warp->ctx.nctaid[0] = size;
      warp->ctx.explicit_cluster = true;
    }
  }
  [[nodiscard]] std::byte* shared() { return shared_.data(); }

  /// Only these lanes of each warp hold a thread.
  void restrict_lanes(LaneMask lanes) {
    for (auto& warp : warps_) {
      warp->ctx.existing &= lanes;
      warp->alive &= lanes;
      warp->stack[0].mask = warp->alive;
    }
  }

  RunResult run(uint64_t max_steps = 50'000'000) {
    steps_left_ = max_steps;
    for (bool any = true; any;) {
      any = false;
      for (auto& warp : warps_) {
        if (warp->stack.empty()) continue;
        any = true;
        if (!run_to_barrier(*warp)) return result_;
      }
    }
    result_.finished = true;
    return result_;
  }

 private:
  struct Entry {
    uint32_t pc;
    uint32_t join;
    LaneMask mask;
  };
  struct Warp {
    WarpContext ctx;
    AlignedBytes rows;
    std::vector<uint32_t> predicates;
    std::vector<std::byte> local;
    std::vector<Entry> stack;
    LaneMask alive;
  };

  /// False: stop the whole run.
  bool run_to_barrier(Warp& w) {
    while (!w.stack.empty()) {
      if (steps_left_-- == 0) return false;
      Entry& top = w.stack.back();
      const LaneMask active = top.mask & w.alive;
      if (active.none() || top.pc == top.join || top.pc >= image_.ops.size()) {
        w.stack.pop_back();
        continue;
      }
      const MicroOp& op = image_.ops[top.pc];
      const LaneMask mask = guarded(op, w.ctx, active);
      const LaneMask counting = counted(op, active, mask);
      result_.ptx_instructions += counting.any() ? op.ptx_count : 0;
      result_.thread_instructions += uint64_t{op.ptx_count} * static_cast<uint64_t>(counting.count());
      ++result_.micro_ops;
      if (op.kind == OpKind::kBranch) {
        branch(w, op, active, mask);
        continue;
      }
      if (op.kind == OpKind::kBranchTable || op.kind == OpKind::kCall) {
        if (!branch_lanes(w, op, active, mask)) return false;
        continue;
      }
      if (op.kind == OpKind::kReturn) {
        w.stack.pop_back();
        continue;
      }
      ++top.pc;
      switch (op.kind) {
        case OpKind::kSync:
          if (op.exec != nullptr) execute_alu(op, w.ctx, mask);
          break;
        case OpKind::kAlu:
          if (op.folded_load != kNoTarget && !access(w, image_.folded_loads[op.folded_load], mask))
            return false;
          execute_alu(op, w.ctx, mask);
          break;
        case OpKind::kLoad:
        case OpKind::kStore:
        case OpKind::kAtomic:
          if (!access(w, op, mask)) return false;
          break;
        case OpKind::kExit:
          w.alive &= ~mask;
          break;
        case OpKind::kTrap:
          if (mask.none()) break;
          result_.fault = FaultKind::kTrap;
          return false;
        case OpKind::kBarrier:
          return true;
        default:
          break;
      }
    }
    return true;
  }

  bool access(Warp& w, const MicroOp& op, LaneMask mask) {
    MemoryAccess a;
    execute_memory(op, w.ctx, mask, a);
    if (op.memory.space == Space::kLocal) ++result_.local_accesses;
    if (a.fault == FaultKind::kNone) return true;
    result_.fault = a.fault;
    result_.access = a;
    return false;
  }

  /// Lane by lane, the highest first on the stack.
  bool branch_lanes(Warp& w, const MicroOp& op, LaneMask active, LaneMask taken) {
    Entry& top = w.stack.back();
    const uint32_t next = top.pc + 1;
    const bool call = op.kind == OpKind::kCall;
    const uint32_t join = call ? kNoTarget : op.reconverge == kNoTarget ? top.join : op.reconverge;
    if (call || op.reconverge != kNoTarget)
      top.pc = call ? next : op.reconverge;
    else
      w.stack.pop_back();
    for (int l = kWarpSize - 1; l >= 0; --l) {
      if (!active.test(l)) continue;
      uint32_t target = next;
      if (taken.test(l) && !find_target(w, op, l, target)) return false;
      w.stack.push_back({target, join, LaneMask(1u << l)});
    }
    return true;
  }

  bool find_target(const Warp& w, const MicroOp& op, int lane, uint32_t& target) {
    const auto source = [&](int i) {
      return w.ctx.bank[static_cast<size_t>(op.src[static_cast<size_t>(i)].bank)] +
             op.src[static_cast<size_t>(i)].offset;
    };
    const uint32_t word = reinterpret_cast<const uint32_t*>(source(0))[lane];
    if (op.kind == OpKind::kBranchTable) {
      if (word >= op.imm) return false;
      target = image_.branch_targets[op.target + word];
      return true;
    }
    uint64_t number = op.target;
    if (op.num_src > 1) {
      const uint64_t offset = reinterpret_cast<const uint64_t*>(source(1))[lane] - kCodeWindowBase;
      if (offset % kFunctionStride != 0) return false;
      number = offset / kFunctionStride;
    }
    if (number >= image_.functions.size()) return false;
    const CallTarget& f = image_.functions[number];
    if (f.entry == kNoTarget || f.signature != op.imm || word + f.frame_bytes > image_.stack_end) {
      result_.failed_call = f.name;
      return false;
    }
    target = f.entry;
    return true;
  }

  void branch(Warp& w, const MicroOp& op, LaneMask active, LaneMask taken) {
    Entry& top = w.stack.back();
    const uint32_t next = top.pc + 1;
    if (taken == active || taken.none()) {
      top.pc = taken.none() ? next : op.target;
      return;
    }
    const LaneMask others = active & ~taken;
    if (op.reconverge == kNoTarget) {
      const uint32_t join = top.join;
      w.stack.pop_back();
      w.stack.push_back({next, join, others});
      w.stack.push_back({op.target, join, taken});
      return;
    }
    top.pc = op.reconverge;
    w.stack.push_back({next, op.reconverge, others});
    w.stack.push_back({op.target, op.reconverge, taken});
  }

  const KernelImage& image_;
  std::vector<std::byte> params_;
  AlignedBytes literals_;
  std::vector<std::byte> shared_;
  std::vector<std::unique_ptr<Warp>> warps_;
  RunResult result_;
  uint64_t steps_left_ = 0;
};

/// Parameter block of 64-bit values.
inline std::vector<std::byte> pack_params(const std::vector<uint64_t>& values) {
  std::vector<std::byte> bytes(values.size() * 8);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace gpusim::isa::test
