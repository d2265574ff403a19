// Visibility, capacity, width and wake-up rules of Link, within one domain and across domains.
#include "simcore/engine/link.h"

#include <gtest/gtest.h>

namespace gpusim::core {
namespace {

/// Sends the numbers 0 .. count-1 as fast as the link takes them.
class Source : public Clocked {
 public:
  Source(const sc_core::sc_module_name& name, ClockDomain& domain, int count)
      : Clocked(name, domain), count_(count) {
    wake_at(Cycle(1));
  }
  Link<int>* out = nullptr;
  std::vector<uint64_t> sent_at;

 protected:
  Cycle tick(Cycle now) override {
    while (next_ < count_ && out->can_push()) {
      out->push(next_++);
      sent_at.push_back(now.count());
    }
    return kNever;  // only the link's wake-ups drive it
  }

 private:
  int count_;
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
       uint64_t latency, uint32_t width)
      : writer_domain("writer", engine, writer_khz),
        reader_domain("reader", engine, reader_khz),
        source("source", writer_domain, count),
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

}  // namespace
}  // namespace gpusim::core
