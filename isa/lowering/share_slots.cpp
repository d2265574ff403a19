// Places in the frame for what was spilled or saved: each value has got a place of its own, and those that
// are not wanted at the same time share one now. A large function has thousands of such values, of which few
// are alive together; without this its frame does not fit on a stack, and its lines displace others from the
// L1.
#include <algorithm>
#include <bit>
#include <unordered_map>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

using Set = std::vector<uint64_t>;  // of slots

bool test(const Set& set, size_t i) { return (set[i / 64] >> (i % 64) & 1) != 0; }
void add(Set& set, size_t i) { set[i / 64] |= uint64_t{1} << (i % 64); }
void remove(Set& set, size_t i) { set[i / 64] &= ~(uint64_t{1} << (i % 64)); }
/// Whether something was added.
bool join(Set& to, const Set& from) {
  uint64_t added = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    added |= from[i] & ~to[i];
    to[i] |= from[i];
  }
  return added != 0;
}

class SlotSharer {
 public:
  SlotSharer(Program& program, const Flow& flow, uint32_t first_byte)
      : program_(program), flow_(flow), first_byte_(first_byte) {}

  void run() {
    collect();
    if (bytes_.size() < 2) return;
    solve();
    find_conflicts();
    place();
    for_each_access([&](Op& op) { op.memory.offset = places_[numbers_.at(op.memory.offset)]; });
  }

 private:
  template <class Fn>
  void for_each_access(Fn fn) {
    for (Block& block : program_.blocks) {
      for (Op& op : block.ops) {
        if (is_access(op)) fn(op);
      }
    }
  }
  [[nodiscard]] bool is_access(const Op& op) const {
    return op.is_memory() && op.memory.is_spill && !op.outgoing && op.memory.offset >= first_byte_;
  }
  [[nodiscard]] uint32_t slot_of(const Op& op) const { return numbers_.at(op.memory.offset); }

  void collect() {
    for_each_access([&](const Op& op) {
      if (numbers_.try_emplace(op.memory.offset, static_cast<uint32_t>(bytes_.size())).second)
        bytes_.push_back(op.memory.element_bytes);
    });
    words_ = (bytes_.size() + 63) / 64;
  }

  /// What the slots hold that is read behind a block's end, and which slots may have been written by then.
  void solve() {
    const size_t n = program_.blocks.size();
    const Set none(words_);
    std::vector<Set> written(n, none), read(n, none), overwritten(n, none);
    for (size_t b = 0; b < n; ++b) {
      for (const Op& op : program_.blocks[b].ops) {
        if (!is_access(op)) continue;
        const uint32_t slot = slot_of(op);
        if (op.kind == OpKind::kLoad) {
          if (!test(overwritten[b], slot)) add(read[b], slot);
        } else {
          add(written[b], slot);
          if (op.overwrites()) add(overwritten[b], slot);
        }
      }
    }
    live_out_.assign(n, none);
    written_in_.assign(n, none);
    const std::vector<uint32_t> order = post_order(flow_);
    for (bool changed = true; changed;) {
      changed = false;
      for (const uint32_t b : order) {
        for (const auto& [from, to] : flow_.out_of(b)) {
          Set in = live_out_[to];
          for (size_t w = 0; w < words_; ++w) in[w] = read[to][w] | (in[w] & ~overwritten[to][w]);
          changed = join(live_out_[b], in) || changed;
        }
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = order.size(); i-- > 0;) {
        Set out = written_in_[order[i]];
        join(out, written[order[i]]);
        for (const auto& [from, to] : flow_.out_of(order[i])) changed = join(written_in_[to], out) || changed;
      }
    }
  }

  /// Who writes a slot must leave alone what others hold then that is still read.
  void find_conflicts() {
    conflicts_.assign(bytes_.size(), Set(words_));
    for (size_t b = 0; b < program_.blocks.size(); ++b) {
      const std::vector<Op>& ops = program_.blocks[b].ops;
      Set written = written_in_[b];
      std::vector<std::pair<uint32_t, Set>> before;  // what may have been written before each store
      for (const Op& op : ops) {
        if (!is_access(op) || op.kind == OpKind::kLoad) continue;
        before.emplace_back(slot_of(op), written);
        add(written, slot_of(op));
      }
      Set live = live_out_[b];
      for (size_t i = ops.size(); i-- > 0;) {
        if (!is_access(ops[i])) continue;
        const uint32_t slot = slot_of(ops[i]);
        if (ops[i].kind == OpKind::kLoad) {
          add(live, slot);
          continue;
        }
        for (size_t w = 0; w < words_; ++w) conflicts_[slot][w] |= live[w] & before.back().second[w];
        before.pop_back();
        if (ops[i].overwrites()) remove(live, slot);
      }
    }
    for (uint32_t slot = 0; slot < bytes_.size(); ++slot) {
      for_each(conflicts_[slot], conflicts_.size(), [&](uint32_t other) { add(conflicts_[other], slot); });
    }
  }
  /// Those below `end`.
  template <class Fn>
  static void for_each(const Set& set, size_t end, Fn fn) {
    for (size_t w = 0; w * 64 < end; ++w) {
      uint64_t left = set[w];
      if (end - w * 64 < 64) left &= (uint64_t{1} << (end - w * 64)) - 1;
      for (; left != 0; left &= left - 1)
        fn(static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(left))));
    }
  }

  /// The lowest place that no slot in conflict has taken, in the order of the code.
  void place() {
    constexpr uint32_t kUnit = 4;
    const uint32_t first = (first_byte_ + kUnit - 1) / kUnit;
    uint32_t end = first;
    std::vector<bool> taken;
    for (uint32_t slot = 0; slot < bytes_.size(); ++slot) {
      taken.assign(end - first + 4, false);
      for_each(conflicts_[slot], slot, [&](uint32_t other) {
        const uint32_t at = places_[other] / kUnit - first;
        for (uint32_t i = 0; i < bytes_[other] / kUnit; ++i) taken[at + i] = true;
      });
      const uint32_t units = bytes_[slot] / kUnit;
      uint32_t at = (first + units - 1) / units * units;
      while (taken[at - first] || taken[at - first + units - 1]) at += units;
      places_.push_back(at * kUnit);
      end = std::max(end, at + units);
    }
    program_.local_bytes = end * kUnit;
  }

  Program& program_;
  const Flow& flow_;
  uint32_t first_byte_;
  size_t words_ = 0;
  std::unordered_map<int64_t, uint32_t> numbers_;  // of slots, by their offset
  std::vector<uint32_t> bytes_, places_;
  std::vector<Set> live_out_, written_in_, conflicts_;
};

}  // namespace

void share_slots(Program& program, const Flow& flow, uint32_t first_byte) {
  SlotSharer(program, flow, first_byte).run();
}

}  // namespace gpusim::isa::lir
