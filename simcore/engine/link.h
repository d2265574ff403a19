// Link<T>: a typed, bounded queue between two Clocked modules, with latency, width per cycle and
// back-pressure. Rule of visibility: a message sent at time t is seen by the reader at its first edge
// strictly later than t, plus the link's latency in reader cycles; a slot freed at t is seen by the writer at
// its first edge strictly later than t. So the order in which modules of one instant run cannot change a
// result. Nobody polls: a push wakes the reader, a pop wakes a writer that was refused. Full throughput needs
// capacity >= latency + 1 + the credit's way back.
#pragma once
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "simcore/engine/clock_domain.h"

namespace gpusim::core {

template <class T>
class Link {
 public:
  /// `capacity` >= 1 messages in flight and queued; `latency` in reader cycles beyond the next edge; `width`
  /// >= 1 messages per writer cycle.
  Link(Clocked& writer, Clocked& reader, uint32_t capacity, uint64_t latency = 0, uint32_t width = 1)
      : writer_(writer),
        reader_(reader),
        capacity_(capacity),
        width_(width),
        latency_(latency),
        same_domain_(&writer.domain() == &reader.domain()) {
    const uint32_t slots = std::bit_ceil(capacity);
    slot_mask_ = slots - 1;
    entries_.resize(slots);
    freed_at_.resize(slots);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Writer's side.
  /// True if push() may be called now. If not, the writer is woken when that may have changed.
  [[nodiscard]] bool can_push() {
    if (last_push_cycle_ == writer_.domain().now() && pushed_this_cycle_ >= width_) {
      writer_.wake_at(writer_.domain().now() + 1);
      return false;
    }
    collect_credits();
    if (used_ < capacity_) return true;
    if (freed_count_ != 0)
      writer_.wake_at(writer_.domain().first_edge_after(freed_at_[freed_head_ & slot_mask_]));
    else
      writer_blocked_ = true;
    return false;
  }
  /// Sends `message`; `delay` further reader cycles (serialisation). Messages stay in order. Requires
  /// can_push().
  void push(T message, uint64_t delay = 0) {
    const Cycle now = writer_.domain().now();
    pushed_this_cycle_ = last_push_cycle_ == now ? pushed_this_cycle_ + 1 : 1;
    last_push_cycle_ = now;
    const Cycle next =
        same_domain_ ? now + 1 : reader_.domain().first_edge_after(writer_.domain().engine().now_fs());
    Cycle visible = next + latency_ + delay;
    if (visible < last_visible_) visible = last_visible_;
    last_visible_ = visible;
    Entry& e = entries_[tail_++ & slot_mask_];
    e.visible = visible;
    e.message = std::move(message);
    ++used_;
    if (++queued_ == 1) reader_.wake_at(visible);
  }

  // Reader's side.
  /// The oldest message if it is visible now, else nullptr.
  [[nodiscard]] const T* front() const {
    if (queued_ == 0) return nullptr;
    const Entry& e = entries_[head_ & slot_mask_];
    return e.visible <= reader_.domain().now() ? &e.message : nullptr;
  }
  /// Takes front(). Requires front() != nullptr.
  T pop() {
    Entry& e = entries_[head_++ & slot_mask_];
    --queued_;
    freed_at_[(freed_head_ + freed_count_++) & slot_mask_] = reader_.domain().engine().now_fs();
    if (writer_blocked_) {
      writer_blocked_ = false;
      writer_.wake_at(same_domain_ ? reader_.domain().now() + 1
                                   : writer_.domain().first_edge_after(reader_.domain().engine().now_fs()));
    }
    return std::move(e.message);
  }
  /// Cycle at which front() is or becomes visible; kNever if the link is empty. The reader's tick() must
  /// include this in the cycle it returns.
  [[nodiscard]] Cycle next_visible() const {
    return queued_ == 0 ? kNever : entries_[head_ & slot_mask_].visible;
  }
  /// In reader cycles beyond the next edge.
  [[nodiscard]] uint64_t latency() const { return latency_; }
  [[nodiscard]] bool empty() const { return queued_ == 0; }
  [[nodiscard]] uint32_t size() const { return queued_; }

 private:
  struct Entry {
    Cycle visible{0};
    T message{};
  };
  void collect_credits() {
    const Femtoseconds now = writer_.domain().engine().now_fs();
    while (freed_count_ != 0 && freed_at_[freed_head_ & slot_mask_] < now) {
      ++freed_head_;
      --freed_count_;
      --used_;
    }
  }

  Clocked& writer_;
  Clocked& reader_;
  uint32_t capacity_;
  uint32_t width_;
  uint64_t latency_;
  bool same_domain_;
  bool writer_blocked_ = false;
  uint32_t slot_mask_ = 0;
  uint32_t head_ = 0, tail_ = 0;
  uint32_t queued_ = 0;  ///< messages the reader has not taken
  uint32_t used_ = 0;    ///< capacity in use as the writer sees it
  uint32_t freed_head_ = 0, freed_count_ = 0;
  uint32_t pushed_this_cycle_ = 0;
  Cycle last_push_cycle_ = kNever;
  Cycle last_visible_{0};
  std::vector<Entry> entries_;
  std::vector<Femtoseconds> freed_at_;  ///< times at which slots were freed, oldest first
};

}  // namespace gpusim::core
