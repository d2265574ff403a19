// What stands above and below a component in its unit test: scripted senders, recording receivers, a memory
// of fixed latency, event tables kept in a vector, and the machine that they are built from. Every time is a
// cycle of the mock's own domain.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "components/noc/messages.h"
#include "simcore/config/load.h"
#include "simcore/engine/link.h"
#include "simcore/record/event_table.h"

namespace gpusim::comp::test {

inline constexpr uint64_t kTestKhz = 1'000'000;

/// The machine that ships with the repository, changed by `sets` ("lsu.queue=1"). It translates no addresses
/// unless they say so: walks for pages would be in every time that a test expects.
inline core::MachineConfig tesla_c1060(std::vector<std::string> sets = {}) {
  const auto translates = [](const std::string& set) { return set.starts_with("tlb.l1_entries="); };
  if (std::none_of(sets.begin(), sets.end(), translates)) sets.emplace_back("tlb.l1_entries=0");
  const std::vector<std::string> folders = {std::string(GPUSIM_SOURCE_DIR) + "/configs"};
  return core::load_machine("tesla_c1060", sets, folders);
}

/// Sends scripted messages: each no earlier than its cycle, in order, as soon as the link takes them.
template <class T>
class Source : public core::Clocked {
 public:
  Source(const char* name, core::ClockDomain& domain) : Clocked(name, domain) {}
  core::Link<T>* out = nullptr;
  std::vector<uint64_t> sent_at;

  void send(uint64_t cycle, T message) {
    script_.emplace_back(cycle, std::move(message));
    wake_at(core::Cycle(cycle));
  }

 protected:
  core::Cycle tick(core::Cycle now) override {
    while (!script_.empty() && script_.front().first <= now.count() && out->can_push()) {
      out->push(std::move(script_.front().second));
      script_.pop_front();
      sent_at.push_back(now.count());
    }
    // A refusing link wakes this module; a later message needs a wake-up of its own.
    return script_.empty() || script_.front().first <= now.count() ? core::kNever
                                                                   : core::Cycle(script_.front().first);
  }

 private:
  std::deque<std::pair<uint64_t, T>> script_;
};

/// Takes whatever is visible from cycle `from` on, at most one message every `interval` cycles (0: all at
/// once).
template <class T>
class Sink : public core::Clocked {
 public:
  Sink(const char* name, core::ClockDomain& domain, uint64_t from = 0, uint64_t interval = 0)
      : Clocked(name, domain), next_(from), interval_(interval) {}
  core::Link<T>* in = nullptr;
  std::vector<T> taken;
  std::vector<uint64_t> taken_at;

 protected:
  core::Cycle tick(core::Cycle now) override {
    while (now.count() >= next_ && in->front() != nullptr) {
      taken.push_back(in->pop());
      taken_at.push_back(now.count());
      next_ = now.count() + interval_;
    }
    const core::Cycle visible = in->next_visible();
    return visible == core::kNever ? visible : std::max(visible, core::Cycle(next_));
  }

 private:
  uint64_t next_, interval_;
};

/// Answers every request `latency` cycles after it sees it.
class FixedMemory : public core::Clocked {
 public:
  FixedMemory(const char* name, core::ClockDomain& domain, uint64_t latency,
              MemoryLevel level = MemoryLevel::kDram)
      : Clocked(name, domain), latency_(latency), level_(level) {}
  core::Link<MemoryRequest>* in = nullptr;
  core::Link<MemoryReply>* out = nullptr;
  std::vector<MemoryRequest> seen;
  std::vector<uint64_t> seen_at;

 protected:
  core::Cycle tick(core::Cycle now) override {
    while (in->front() != nullptr && out->can_push()) {
      const MemoryRequest r = in->pop();
      seen.push_back(r);
      seen_at.push_back(now.count());
      out->push(
          {r.address, r.bytes, r.kind, level_, r.port, r.tag, r.kind != RequestKind::kWrite && r.wants_data},
          latency_ - 1);
    }
    return in->front() != nullptr ? now + 1 : in->next_visible();
  }

 private:
  uint64_t latency_;
  MemoryLevel level_;
};

/// An event table in memory.
template <class Event>
class EventList : public core::EventTable<Event>, private core::RowSink {
 public:
  EventList() { this->use(*this, room_.data(), room_.size()); }
  std::vector<Event> events;

 private:
  void take(core::RowBuffer& rows) override {
    events.push_back(std::bit_cast<Event>(room_));
    rows.use(*this, room_.data(), room_.size());
  }
  std::array<std::byte, sizeof(Event)> room_;
};

}  // namespace gpusim::comp::test
