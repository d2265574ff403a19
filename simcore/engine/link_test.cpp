// Visibility, capacity, width and wake-up rules of Link, within one domain and across domains.
#include "simcore/engine/link.h"

#include <gtest/gtest.h>

namespace gpusim::core {
namespace {

/// Sends the numbers 0 .. count-1 as fast as the link takes them, each of which ends `delay` cycles later.
class Source : public Clocked {
 public:
  Source(const sc_core::sc_module_name& name, ClockDomain& domain, int count, uint64_t delay = 0)
      : Clocked(name, domain), count_(count), delay_(delay) {
    wake_at(Cycle(1));
  }
  Link<int>* out = nullptr;
  std::vector<uint64_t> sent_at;

 protected:
  Cycle tick(Cycle now) override {
    while (next_ < count_ && out->can_push()) {
      out->push(next_++, delay_);
      sent_at.push_back(now.count());
    }
    return kNever;  // only the link's wake-ups drive it
  }

 private:
  int count_;
  uint64_t delay_;
  int next_ = 0;
};

/// Takes one message per tick, `pause` cycles apart.
class Sink : public Clocked {
 public:
  Sink(const sc_core::sc_module_name& name, ClockDomain& domain, uint64_t pause)
      : Clocked(name, domain), pause_(pause) {}
  Link<int>* in = nullptr;
  std::vector<uint64_t> taken_at;
  std::vector<int> values;

 protected:
  Cycle tick(Cycle now) override {
    if (now >= next_ && in->front() != nullptr) {
      values.push_back(in->pop());
      taken_at.push_back(now.count());
      next_ = now + pause_;
    }
    const Cycle visible = in->next_visible();
    return visible == kNever ? kNever : std::max(visible, std::max(next_, now + 1));
  }

 private:
  uint64_t pause_;
  Cycle next_{0};
};

struct Pair {
  Pair(Engine& engine, uint64_t writer_khz, uint64_t reader_khz, int count, uint64_t pause, uint32_t capacity,
       uint64_t latency, uint32_t width, uint64_t delay = 0)
      : writer_domain("writer", engine, writer_khz),
        reader_domain("reader", engine, reader_khz),
        source("source", writer_domain, count, delay),
        sink("sink", reader_domain, pause),
        link(source, sink, capacity, latency, width) {
    source.out = &link;
    sink.in = &link;
  }
  ClockDomain writer_domain, reader_domain;
  Source source;
  Sink sink;
  Link<int> link;
};

TEST(Link, MessageIsVisibleAtTheNextEdgePlusLatency) {
  Engine engine;
  Pair p(engine, 1'000'000, 1'000'000, 1, 1, 4, 3, 1);
  engine.run();
  EXPECT_EQ(p.sink.taken_at, std::vector<uint64_t>{1 + 1 + 3});
}

TEST(Link, AcrossDomainsVisibleAtTheFirstEdgeStrictlyLater) {
  Engine engine;
  // Writer edges every 2 ns, reader every 1 ns: sent at 2 ns, which is reader edge 2; seen at edge 3.
  Pair p(engine, 500'000, 1'000'000, 1, 1, 4, 0, 1);
  engine.run();
  EXPECT_EQ(p.sink.taken_at, std::vector<uint64_t>{3});
}

TEST(Link, DelayIsInCyclesOfTheWriterAndLatencyInTheReaders) {
  // Sent at the writer's edge 1, it ends at edge 8: after 4 ns, 8 ns, 16 ns.
  const auto taken = [](uint64_t writer_khz, uint64_t reader_khz) {
    Engine engine;
    Pair p(engine, writer_khz, reader_khz, 1, 1, 4, 2, 1, 7);
    engine.run_direct();
    return p.sink.taken_at.at(0);
  };
  EXPECT_EQ(taken(2'000'000, 500'000), 2u + 1 + 2);
  EXPECT_EQ(taken(1'000'000, 1'000'000), 8u + 1 + 2);
  EXPECT_EQ(taken(500'000, 2'000'000), 32u + 1 + 2);
}

TEST(Link, CapacityOneAlternatesSendAndCredit) {
  Engine engine;
  Pair p(engine, 1'000'000, 1'000'000, 4, 1, 1, 0, 1);
  engine.run();
  // Sent at n, taken at n+1, the slot is seen free at n+2.
  EXPECT_EQ(p.source.sent_at, (std::vector<uint64_t>{1, 3, 5, 7}));
  EXPECT_EQ(p.sink.taken_at, (std::vector<uint64_t>{2, 4, 6, 8}));
}

TEST(Link, CapacityTwoGivesFullThroughputAtLatencyZero) {
  Engine engine;
  Pair p(engine, 1'000'000, 1'000'000, 6, 1, 2, 0, 1);
  engine.run();
  EXPECT_EQ(p.sink.taken_at, (std::vector<uint64_t>{2, 3, 4, 5, 6, 7}));
}

TEST(Link, WidthLimitsPushesPerCycle) {
  Engine engine;
  Pair p(engine, 1'000'000, 1'000'000, 5, 1, 8, 0, 2);
  engine.run();
  EXPECT_EQ(p.source.sent_at, (std::vector<uint64_t>{1, 1, 2, 2, 3}));
}

TEST(Link, BackPressureOfASlowReaderReachesTheWriterWithoutPolling) {
  Engine engine;
  Pair p(engine, 1'000'000, 1'000'000, 5, 10, 2, 0, 1);
  engine.run();
  EXPECT_EQ(p.sink.values, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(p.sink.taken_at, (std::vector<uint64_t>{2, 12, 22, 32, 42}));
  EXPECT_EQ(p.source.sent_at, (std::vector<uint64_t>{1, 2, 3, 13, 23}));
}

TEST(Link, ALongLatencyTakesNoMemoryBeforeMessagesNeedIt) {
  Engine engine;
  Pair p(engine, 1'000'000, 1'000'000, 3, 1, 10'000'000, 9'999'990, 1);
  p.link.set_latency(99'999'990);  // as a change of frequency does
  EXPECT_LE(p.link.slots(), 1024u);
  engine.run();
  EXPECT_LE(p.link.slots(), 1024u);
  EXPECT_EQ(p.sink.taken_at, (std::vector<uint64_t>{99'999'992, 99'999'993, 99'999'994}));
}

TEST(Link, MemoryForManyMessagesComesWithThem) {
  for (const uint64_t reader_khz : {1'000'000u, 602'000u}) {
    Engine engine;
    Pair p(engine, 1'000'000, reader_khz, 20'000, 1, 5000, 4500, 1);
    engine.run_direct();
    ASSERT_EQ(p.sink.values.size(), 20'000u);
    for (int i = 0; i < 20'000; ++i) ASSERT_EQ(p.sink.values[size_t(i)], i);
    for (uint64_t i = 0; i + 1 < 20'000; ++i) ASSERT_EQ(p.sink.taken_at[i + 1], p.sink.taken_at[i] + 1);
    EXPECT_EQ(p.link.slots(), 8192u);  // the capacity, in slots
    if (reader_khz != 1'000'000) continue;
    for (uint64_t i = 0; i < 20'000; ++i) ASSERT_EQ(p.source.sent_at[i], i + 1) << "a pause while it grew";
  }
}

TEST(Link, SlotsThatAreFreeAreUsedBeforeThereAreMore) {
  Engine engine;
  Pair p(engine, 1'000'000, 1'000'000, 20'000, 1, 1'000'000, 10, 1);  // 12 messages at a time
  engine.run();
  EXPECT_EQ(p.sink.values.size(), 20'000u);
  EXPECT_LE(p.link.slots(), 1024u);
}

TEST(Link, DirectActivationGivesTheSameCycles) {
  Engine engine;
  Pair p(engine, 1'296'000, 602'000, 100, 3, 3, 2, 1);
  engine.run_direct();
  EXPECT_EQ(p.sink.values.size(), 100u);
  EXPECT_EQ(p.sink.taken_at.back() - p.sink.taken_at.front(), 99u * 3);
}

TEST(Link, EventDrivenActivationGivesTheSameCycles) {
  Engine engine;
  Pair p(engine, 1'296'000, 602'000, 100, 3, 3, 2, 1);
  engine.run();
  EXPECT_EQ(p.sink.values.size(), 100u);
  EXPECT_EQ(p.sink.taken_at.back() - p.sink.taken_at.front(), 99u * 3);
}

/// Takes every visible message in each tick.
class Drain : public Clocked {
 public:
  using Clocked::Clocked;
  Link<int>* in = nullptr;
  std::vector<uint64_t> taken_at;

 protected:
  Cycle tick(Cycle now) override {
    for (; in->front() != nullptr; in->pop()) taken_at.push_back(now.count());
    return in->next_visible();
  }
};

/// Knows of messages when they are sent, and never wakes.
class SleepingDrain : public Clocked, public MessageSink<int> {
 public:
  using Clocked::Clocked;
  std::vector<uint64_t> taken_at;
  bool deliver(const int&, Cycle visible) override {
    taken_at.push_back(visible.count());
    return false;
  }

 protected:
  Cycle tick(Cycle) override {
    ADD_FAILURE() << "woken for nothing";
    return kNever;
  }
};

TEST(Link, ASinkChangesNoTime) {
  for (const uint64_t reader_khz : {300'000u, 602'000u, 1'000'000u, 1'296'000u}) {
    for (const uint32_t capacity : {1u, 3u, 8u}) {
      for (const uint64_t latency : {0u, 5u}) {
        Engine first, second;
        ClockDomain writer("writer", first, 1'000'000), reader("reader", first, reader_khz);
        Source source("source", writer, 40);
        Drain drain("drain", reader);
        Link<int> link(source, drain, capacity, latency, 2);
        source.out = drain.in = &link;
        first.run_direct();
        ClockDomain writer2("writer2", second, 1'000'000), reader2("reader2", second, reader_khz);
        Source source2("source2", writer2, 40);
        SleepingDrain sleeper("sleeper", reader2);
        Link<int> link2(source2, sleeper, capacity, latency, 2);
        link2.deliver_to(sleeper);
        source2.out = &link2;
        second.run_direct();
        ASSERT_EQ(source.sent_at.size(), 40u);
        EXPECT_EQ(source2.sent_at, source.sent_at) << reader_khz << " " << capacity << " " << latency;
        EXPECT_EQ(sleeper.taken_at, drain.taken_at) << reader_khz << " " << capacity << " " << latency;
      }
    }
  }
}

/// Sends one message at each of some cycles, deciding on all of them at the first or on each when it comes.
class Planner : public Clocked {
 public:
  Planner(const sc_core::sc_module_name& name, ClockDomain& domain, bool ahead)
      : Clocked(name, domain), ahead_(ahead) {
    wake_at(Cycle(kCycles[0]));
  }
  Link<int>* out = nullptr;

 protected:
  Cycle tick(Cycle now) override {
    EXPECT_EQ(out->take_credit(), core::Cycle(0));
    out->push(0);
    if (!ahead_) return ++next_ < std::size(kCycles) ? Cycle(kCycles[next_]) : kNever;
    for (const uint64_t c : kCycles)
      if (c > now.count()) out->push_at(Cycle(c), 0);
    return kNever;
  }

 private:
  static constexpr uint64_t kCycles[] = {3, 5, 6, 20, 1001};
  bool ahead_;
  size_t next_ = 0;
};

TEST(Link, APushDecidedAheadArrivesAsIfMadeThen) {
  std::vector<std::vector<uint64_t>> taken;
  for (const bool ahead : {false, true}) {
    Engine engine;
    ClockDomain writer("writer", engine, 1'296'000), reader("reader", engine, 602'000);
    Planner source("source", writer, ahead);
    Drain drain("drain", reader);
    Link<int> link(source, drain, 8, 4);
    source.out = drain.in = &link;
    engine.run_direct();
    taken.push_back(drain.taken_at);
  }
  EXPECT_EQ(taken[0].size(), 5u);
  EXPECT_EQ(taken[1], taken[0]);
}

/// Sends the numbers 0 .. count-1, each decided as soon as its cycle is known; ticks once.
class CreditPlanner : public Clocked, public CreditTaker {
 public:
  CreditPlanner(const sc_core::sc_module_name& name, ClockDomain& domain, int count)
      : Clocked(name, domain), count_(count) {
    wake_at(Cycle(1));
  }
  Link<int>* out = nullptr;
  std::vector<uint64_t> sent_at;
  Cycle credit(Cycle at) override {
    plan(at);
    return kNever;
  }

 protected:
  Cycle tick(Cycle now) override {
    EXPECT_EQ(now, Cycle(1)) << "woken for nothing";
    plan(now);
    return kNever;
  }

 private:
  void plan(Cycle earliest) {
    while (next_ < count_) {
      const Cycle from = out->take_credit();
      if (from == kNever) return;
      next_cycle_ = std::max({next_cycle_, from, earliest});
      out->push_at(next_cycle_, next_++);
      sent_at.push_back(next_cycle_.count());
      next_cycle_ = next_cycle_ + 1;
    }
  }
  int count_;
  int next_ = 0;
  Cycle next_cycle_{0};
};

TEST(Link, SendingOnCreditChangesNoTime) {
  for (const uint64_t reader_khz : {300'000u, 602'000u, 1'000'000u, 1'296'000u}) {
    for (const uint32_t capacity : {1u, 2u, 3u, 8u}) {
      for (const uint64_t pause : {1u, 3u}) {
        Engine first, second;
        Pair p(first, 1'000'000, reader_khz, 40, pause, capacity, 1, 1);
        first.run_direct();
        ClockDomain writer("writer2", second, 1'000'000), reader("reader2", second, reader_khz);
        CreditPlanner source("source2", writer, 40);
        Sink sink("sink2", reader, pause);
        Link<int> link(source, sink, capacity, 1, 1);
        link.give_credits_to(source);
        source.out = sink.in = &link;
        second.run_direct();
        ASSERT_EQ(p.source.sent_at.size(), 40u);
        EXPECT_EQ(source.sent_at, p.source.sent_at) << reader_khz << " " << capacity << " " << pause;
        EXPECT_EQ(sink.taken_at, p.sink.taken_at) << reader_khz << " " << capacity << " " << pause;
        EXPECT_EQ(sink.values, p.sink.values);
      }
    }
  }
}

/// Takes each message in the cycle before the one in which it takes it, or in that one.
class EarlyDrain : public Clocked {
 public:
  EarlyDrain(const sc_core::sc_module_name& name, ClockDomain& domain, bool early)
      : Clocked(name, domain), early_(early) {}
  Link<int>* in = nullptr;
  std::vector<uint64_t> taken_at;

 protected:
  Cycle tick(Cycle now) override {
    const Cycle last = early_ ? now + 1 : now;
    while (in->next_visible() <= last) {
      const Cycle at = std::max(now, in->next_visible());
      in->pop_at(at);
      taken_at.push_back(at.count());
    }
    return in->next_visible();
  }

 private:
  bool early_;
};

TEST(Link, APopDecidedAheadFreesTheSlotInItsCycle) {
  for (const uint64_t reader_khz : {602'000u, 1'000'000u, 1'296'000u}) {
    std::vector<std::vector<uint64_t>> sent, taken;
    for (const bool early : {false, true}) {
      Engine engine;
      ClockDomain writer("writer", engine, 1'000'000), reader("reader", engine, reader_khz);
      Source source("source", writer, 40);
      EarlyDrain drain("drain", reader, early);
      Link<int> link(source, drain, 2, 3);
      source.out = drain.in = &link;
      engine.run_direct();
      sent.push_back(source.sent_at);
      taken.push_back(drain.taken_at);
    }
    EXPECT_EQ(sent[0].size(), 40u);
    EXPECT_EQ(sent[1], sent[0]) << reader_khz;
    EXPECT_EQ(taken[1], taken[0]) << reader_khz;
  }
}

}  // namespace
}  // namespace gpusim::core
