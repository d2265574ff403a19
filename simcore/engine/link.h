// Link<T>: a typed, bounded queue between two Clocked modules, with latency, width per cycle and
// back-pressure. Rule of visibility: a message sent at time t is seen by the reader at its first edge
// strictly later than t, plus the link's latency in reader cycles; a slot freed at t is seen by the writer at
// its first edge strictly later than t. So the order in which modules of one instant run cannot change a
// result. Nobody polls: a push wakes the reader, a pop wakes a writer that was refused. Full throughput needs
// capacity >= latency + 1 + the credit's way back.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "simcore/engine/clock_domain.h"

namespace gpusim::core {

/// A reader that takes every message in the cycle in which it becomes visible, whatever happens: it may then
/// be told of messages when they are sent, and sleep through those that nothing waits for.
template <class T>
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  /// `message` becomes visible at `visible`; until then nothing may show that it is known. True if the reader
  /// must be awake then.
  virtual bool deliver(const T& message, Cycle visible) = 0;
};

/// A writer that decides what it sends before the cycle in which it may.
class CreditTaker {
 public:
  virtual ~CreditTaker() = default;
  /// The reader has freed a slot that the writer waited for; it may be used from `at` on. Returns when the
  /// writer must be awake, kNever if it need not.
  virtual Cycle credit(Cycle at) = 0;
};

template <class T>
class alignas(64) Link {
 public:
  /// `capacity` >= 1 messages in flight and queued; `latency` in reader cycles beyond the next edge; `width`
  /// >= 1 messages per writer cycle.
  Link(Clocked& writer, Clocked& reader, uint32_t capacity, uint64_t latency = 0, uint32_t width = 1)
      : reader_domain_(reader.domain()),
        writer_domain_(writer.domain()),
        reader_(reader),
        writer_(writer),
        latency_(latency),
        capacity_(capacity),
        width_(width),
        same_domain_(&writer.domain() == &reader.domain()) {
    make_slots(std::bit_ceil(std::min(capacity_, kFirstSlots)));
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// The latency that messages have from now on, as it is after a change of the reader's frequency. Its
  /// stages hold messages: the capacity grows and shrinks with it.
  void set_latency(uint64_t latency) {
    capacity_ = static_cast<uint32_t>(capacity_ + latency - latency_);
    latency_ = latency;
    room_ = std::min(capacity_, slots());
  }

  // Writer's side.
  /// Until then the writer may decide what it sends.
  [[nodiscard]] Cycle steady_until() const { return writer_domain_.steady_until(); }
  /// True if push() may be called now. If not, the writer is woken when that may have changed.
  [[nodiscard]] bool can_push() {
    if (last_push_cycle_ == writer_domain_.now() && pushed_this_cycle_ >= width_) {
      writer_.wake_at(writer_domain_.now() + 1);
      return false;
    }
    return tail_ - credited_ < room_ || find_room();
  }
  /// True if a push in a later cycle is possible for certain.
  [[nodiscard]] bool has_room() { return tail_ - credited_ < room_ || make_room(); }
  /// From now on `taker` is told of slots that free, not the writer woken.
  void give_credits_to(CreditTaker& taker) { taker_ = &taker; }
  /// Reserves room for the next push_at and returns the first cycle at which it may be, 0 if any; kNever if
  /// that is not known yet: the CreditTaker is told.
  [[nodiscard]] Cycle take_credit() {
    if (tail_ - credited_ < room_ || (room_ < capacity_ && make_room())) return Cycle(0);
    if (credited_ == head_) {
      writer_blocked_ = true;
      return kNever;
    }
    const Femtoseconds freed = freed_at(entries_[credited_++ & slot_mask_]);
    return writer_domain_.has_passed(freed) ? Cycle(0) : writer_domain_.first_edge_after(freed);
  }
  /// Sends `message`, the end of which leaves the writer `delay` writer cycles from now (serialisation, a
  /// burst). Messages stay in order. Requires can_push().
  void push(T message, uint64_t delay = 0) {
    const Cycle now = writer_domain_.now();
    pushed_this_cycle_ = last_push_cycle_ == now ? pushed_this_cycle_ + 1 : 1;
    last_push_cycle_ = now;
    send(std::move(message), leaves(now + delay));
  }
  /// Pushes as of the later writer cycle `at`, decided now. Requires take_credit(), and no push
  /// between now and `at`.
  void push_at(Cycle at, T message) {
    pushed_this_cycle_ = 1;
    last_push_cycle_ = at;
    send(std::move(message), leaves(at));
  }

  // Reader's side.
  /// From now on messages go to `sink`, and front() shows none. Before the first message.
  void deliver_to(MessageSink<T>& sink) { sink_ = &sink; }
  /// Keeps next_visible() in `slot` too, where the reader finds it without touching the link. It outlives the
  /// link.
  void publish_head(Cycle& slot) {
    slot = next_visible();
    head_visible_ = &slot;
  }
  /// Besides, says in `bit` of `set` whether the link holds a message: for a reader of many links.
  void publish_head(Cycle& slot, uint64_t& set, uint64_t bit) {
    slot = head_ == tail_ ? kNever : entries_[head_ & slot_mask_].visible;
    head_visible_ = &slot;
    holders_ = &set;
    holder_bit_ = bit;
    if (head_ != tail_) set |= bit;
  }
  /// The oldest message if it is visible now, else nullptr.
  [[nodiscard]] const T* front() const {
    return *head_visible_ <= reader_domain_.now() ? &entries_[head_ & slot_mask_].message : nullptr;
  }
  /// Takes front(). Requires front() != nullptr.
  T pop() { return take(reader_domain_.engine().now_fs()); }
  /// Pops as of the reader's cycle `at`, which is this one or later, decided now. Requires
  /// next_visible() <= at.
  T pop_at(Cycle at) { return take(reader_domain_.time_of(at)); }
  /// Cycle at which front() is or becomes visible; kNever if the link is empty. The reader's tick() must
  /// include this in the cycle it returns.
  [[nodiscard]] Cycle next_visible() const { return *head_visible_; }
  /// In reader cycles beyond the next edge.
  [[nodiscard]] uint64_t latency() const { return latency_; }
  [[nodiscard]] bool empty() const { return head_ == tail_; }
  [[nodiscard]] uint32_t size() const { return tail_ - head_; }
  /// For how many messages there is memory now.
  [[nodiscard]] uint32_t slots() const { return slot_mask_ + 1; }

 private:
  /// When the reader sees what leaves the writer in its cycle `at`.
  [[nodiscard]] Cycle leaves(Cycle at) const {
    if (same_domain_) return at + 1 + latency_;
    const Femtoseconds left =
        at == writer_domain_.now() ? writer_domain_.engine().now_fs() : writer_domain_.time_of(at);
    return reader_domain_.first_edge_after(left) + latency_;
  }
  /// can_push() when the credits known so far, or the slots, are used up.
  [[gnu::noinline]] bool find_room() {
    if (make_room()) return true;
    if (credited_ != head_)
      writer_.wake_at(writer_domain_.first_edge_after(freed_at(entries_[credited_ & slot_mask_])));
    else
      writer_blocked_ = true;
    return false;
  }
  static constexpr Femtoseconds kWhenVisible = ~0ull;
  struct Entry {
    Cycle visible{0};
    Femtoseconds freed = 0;  ///< when the reader took it; the slot is the writer's again after that
    T message{};
  };
  /// A long latency allows for many messages, but few links ever hold so many: beyond this number of slots
  /// memory is taken when messages need it.
  static constexpr uint32_t kFirstSlots = 1024;
  /// `count`, a power of two, of slots; messages that are there keep their running numbers.
  void make_slots(uint32_t count) {
    std::vector<Entry> slots(count);
    const uint32_t mask = count - 1;
    for (uint32_t i = credited_; i != tail_; ++i) slots[i & mask] = std::move(entries_[i & slot_mask_]);
    entries_ = std::move(slots);
    slot_mask_ = mask;
    room_ = std::min(capacity_, count);
  }
  /// True if there is a slot for the next message once what the reader took is counted, and memory for it
  /// taken.
  bool make_room() {
    collect_credits();
    if (tail_ - credited_ == room_ && room_ < capacity_) make_slots(2 * slots());
    return tail_ - credited_ < room_;
  }
  void send(T message, Cycle visible) {
    if (visible < last_visible_) visible = last_visible_;
    last_visible_ = visible;
    const bool was_empty = head_ == tail_;
    Entry& e = entries_[tail_++ & slot_mask_];
    e.visible = visible;
    if (sink_ != nullptr) {
      e.freed = kWhenVisible;
      ++head_;
      if (sink_->deliver(message, visible)) reader_.wake_at(visible);
      return;
    }
    e.message = std::move(message);
    if (was_empty) {
      *head_visible_ = visible;
      *holders_ |= holder_bit_;
      reader_.wake_at(visible);
    }
  }
  /// Takes the oldest message; its slot is free from `freed` on.
  T take(Femtoseconds freed) {
    Entry& e = entries_[head_++ & slot_mask_];
    e.freed = freed;
    if (head_ == tail_) {
      *head_visible_ = kNever;
      *holders_ &= ~holder_bit_;
    } else {
      *head_visible_ = entries_[head_ & slot_mask_].visible;
    }
    T message = std::move(e.message);
    if (writer_blocked_) give_credit(freed);
    return message;
  }
  /// The writer, which waits for a slot, gets one.
  void give_credit(Femtoseconds freed) {
    writer_blocked_ = false;
    const Cycle at = writer_domain_.first_edge_after(freed);
    writer_.wake_at(taker_ == nullptr ? at : taker_->credit(at));
  }
  [[nodiscard]] Femtoseconds freed_at(const Entry& e) const {
    return e.freed == kWhenVisible ? reader_domain_.time_of(e.visible) : e.freed;
  }
  void collect_credits() {
    const Femtoseconds now = writer_domain_.engine().now_fs();
    uint32_t next = credited_;
    if (sink_ == nullptr) {
      while (next != head_ && entries_[next & slot_mask_].freed < now) ++next;
    } else {  // freed when visible
      const Cycle reader_edge = reader_domain_.first_edge_from(now);
      while (next != head_ && entries_[next & slot_mask_].visible < reader_edge) ++next;
    }
    credited_ = next;
  }

  // In the order of use: the reader's side, both, the writer's side.
  Cycle* head_visible_ = &own_head_visible_;  ///< when the oldest message becomes visible
  ClockDomain& reader_domain_;
  std::vector<Entry> entries_;
  /// Running numbers: messages sent, taken by the reader, and known by the writer to be taken.
  uint32_t tail_ = 0, head_ = 0, credited_ = 0;
  uint32_t slot_mask_ = 0;
  uint32_t room_ = 0;                  ///< messages for which there are slots, of the capacity
  uint64_t* holders_ = &own_holders_;  ///< its `holder_bit_`: there is a message
  uint64_t holder_bit_ = 1;
  Cycle own_head_visible_ = kNever;
  uint64_t own_holders_ = 0;
  ClockDomain& writer_domain_;
  Clocked& reader_;
  Clocked& writer_;
  MessageSink<T>* sink_ = nullptr;
  CreditTaker* taker_ = nullptr;
  Cycle last_push_cycle_ = kNever;
  Cycle last_visible_{0};
  uint64_t latency_;
  uint32_t capacity_;
  uint32_t width_;
  uint32_t pushed_this_cycle_ = 0;
  bool same_domain_;
  bool writer_blocked_ = false;
};

}  // namespace gpusim::core
