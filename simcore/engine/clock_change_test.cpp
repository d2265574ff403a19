// Changes of frequency: exact edge times without drift, whoever activates the modules; alarms that are no
// work; links across a change.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "simcore/engine/link.h"

namespace gpusim::core {
namespace {

/// Ticks every `step` cycles up to `last`, and writes down the times.
class Walker : public Clocked {
 public:
  Walker(const sc_core::sc_module_name& name, ClockDomain& domain, uint64_t last, uint64_t step = 1)
      : Clocked(name, domain), last_(last), step_(step) {
    wake_at(Cycle(step));
  }
  std::vector<uint64_t> cycles;
  std::vector<Femtoseconds> times;
  std::function<void(Cycle)> action;

 protected:
  Cycle tick(Cycle now) override {
    cycles.push_back(now.count());
    times.push_back(domain().engine().now_fs());
    if (action) action(now);
    return now.count() + step_ <= last_ ? now + step_ : kNever;
  }

 private:
  uint64_t last_, step_;
};

/// Edge `n` after a base, computed apart.
Femtoseconds edge(Femtoseconds base, uint64_t n, uint64_t khz) {
  return base + static_cast<Femtoseconds>(static_cast<unsigned __int128>(n) * 1'000'000'000'000u / khz);
}

TEST(ClockChange, LatenciesKeepTheirTimeOrTheirCycles) {
  Engine engine;
  ClockDomain times("times", engine, 1'000'000), cycles("cycles", engine, 1'000'000);
  cycles.keep_latencies();
  Walker in_times("in_times", times, 40), in_cycles("in_cycles", cycles, 40);
  times.change_frequency(500'000);
  cycles.change_frequency(500'000);
  EXPECT_EQ(cycles.latency_cycles(30), 30u);
  engine.run();
  EXPECT_EQ(times.latency_cycles(30), 15u);
  EXPECT_DOUBLE_EQ(times.latency_ns(30), 30);
  EXPECT_EQ(cycles.latency_cycles(30), 30u);
  EXPECT_DOUBLE_EQ(cycles.latency_ns(30), 60);
  EXPECT_EQ(cycles.cycles_of_ns(30), 15u);
}

TEST(ClockChange, AppliesAtTheNextEdgeAndRebases) {
  Engine engine;
  ClockDomain core("core", engine, 1'000'000);
  Walker walker("walker", core, 40);
  walker.action = [&](Cycle now) {
    if (now != Cycle(10)) return;
    core.change_frequency(300'000);
    EXPECT_EQ(core.khz(), 1'000'000u);  // until the next edge
    EXPECT_EQ(core.time_of(Cycle(11)), 11'000'000u);
    EXPECT_EQ(core.time_of(Cycle(12)), 14'333'333u);
    EXPECT_EQ(core.time_of(Cycle(3'000'011)), 10'000'011'000'000u);
    EXPECT_EQ(core.first_edge_after(10'999'999), Cycle(11));
    EXPECT_EQ(core.first_edge_after(11'000'000), Cycle(12));
    EXPECT_EQ(core.first_edge_after(14'333'333), Cycle(13));
  };
  engine.run();
  for (uint64_t c = 1; c <= 40; ++c)
    EXPECT_EQ(walker.times[c - 1], c <= 11 ? c * 1'000'000 : edge(11'000'000, c - 11, 300'000)) << c;
  EXPECT_EQ(core.khz(), 300'000u);
  EXPECT_EQ(core.time_of(Cycle(5)), 5'000'000u);  // the past stays as it was
  EXPECT_EQ(core.time_of(Cycle(20)), edge(11'000'000, 9, 300'000));
}

TEST(ClockChange, ManyChangesDoNotDrift) {
  Engine engine;
  ClockDomain core("core", engine, 1'296'000);
  Walker walker("walker", core, 20'000);
  std::mt19937 random(7);
  struct Change {
    uint64_t from, khz;
  };
  std::vector<Change> changes{{0, 1'296'000}};
  walker.action = [&](Cycle now) {
    if (now.count() % 97 != 0) return;
    const uint64_t khz = 100'003 + random() % 1'900'000;
    changes.push_back({now.count() + 1, khz});
    core.change_frequency(khz);
  };
  engine.run();
  Femtoseconds base = 0;
  size_t at = 0;
  for (uint64_t c = 1; c <= 20'000; ++c) {
    ASSERT_EQ(walker.times[c - 1], edge(base, c - changes[at].from, changes[at].khz)) << c;
    if (at + 1 < changes.size() && changes[at + 1].from == c) base = walker.times[c - 1], ++at;
  }
  EXPECT_GT(changes.size(), 200u);
}

TEST(ClockChange, PlansKeepTheirCycleNearAndFar) {
  Engine engine;
  ClockDomain core("core", engine, 1'000'000), other("other", engine, 500'000);
  Walker near("near", core, 100, 100), far("far", core, 50'000, 50'000), changer("changer", other, 5, 5);
  changer.action = [&](Cycle) { core.change_frequency(250'000); };  // at 10 ns, at which core has an edge
  engine.run();
  EXPECT_EQ(near.times, (std::vector<Femtoseconds>{11'000'000 + 89 * 4'000'000ull}));
  EXPECT_EQ(far.times, (std::vector<Femtoseconds>{11'000'000 + 49'989 * 4'000'000ull}));
}

/// Two domains that change each other's frequency, and an alarm; what ticked when.
std::vector<Femtoseconds> mixed_run(bool direct,
                                    Engine::Activation activation = Engine::Activation::kBatched) {
  Engine engine(activation);
  ClockDomain core("core", engine, 1'296'000), memory("memory", engine, 800'000);
  Walker a("a", core, 3'000), b("b", memory, 4'000, 7);
  a.action = [&](Cycle now) {
    if (now.count() % 500 == 0) memory.change_frequency(400'000 + now.count());
  };
  b.action = [&](Cycle now) {
    if (now.count() % 210 == 0) core.change_frequency(700'001 + 100 * now.count());
  };
  std::vector<Femtoseconds> times;
  core.set_alarm(Cycle(333), [&](Cycle now) {
    times.push_back(engine.now_fs());
    core.change_frequency(1'000'000);
    return now + 333;
  });
  memory.on_change([&] { times.push_back(engine.now_fs()); });
  EXPECT_EQ(direct ? engine.run_direct() : engine.run(), Engine::Outcome::kNothingScheduled);
  times.insert(times.end(), a.times.begin(), a.times.end());
  times.insert(times.end(), b.times.begin(), b.times.end());
  return times;
}

TEST(ClockChange, AllActivationsAgree) {
  const auto expected = mixed_run(true);  // first: SystemC makes no modules once it has run
  EXPECT_GT(expected.size(), 3'500u);
  EXPECT_EQ(mixed_run(false), expected);
}

TEST(ClockChange, ModuleEventsAgreeWithDirectActivation) {
  const auto expected = mixed_run(true);
  EXPECT_EQ(mixed_run(false, Engine::Activation::kModuleEvents), expected);
}

TEST(Alarm, IsNoWork) {
  Engine engine;
  ClockDomain core("core", engine, 1'000'000);
  core.set_alarm(Cycle(10), [](Cycle now) { return now + 10; });
  EXPECT_EQ(engine.run(), Engine::Outcome::kNothingScheduled);
  EXPECT_EQ(core.now(), Cycle(0));
}

TEST(Alarm, ComesInTimeWhileAnotherDomainWorks) {
  for (const bool direct : {true, false}) {
    Engine engine;
    ClockDomain core("core", engine, 1'000'000), memory("memory", engine, 800'000);
    Walker walker("walker", memory, 200, 200);  // one tick, at 250 ns
    std::vector<uint64_t> seen;
    std::vector<Femtoseconds> times;
    core.set_alarm(Cycle(60), [&](Cycle now) {
      seen.push_back(now.count());
      times.push_back(engine.now_fs());
      return now + 60;
    });
    EXPECT_EQ(direct ? engine.run_direct() : engine.run(), Engine::Outcome::kNothingScheduled);
    EXPECT_EQ(seen, (std::vector<uint64_t>{60, 120, 180, 240}));
    EXPECT_EQ(times, (std::vector<Femtoseconds>{60'000'000, 120'000'000, 180'000'000, 240'000'000}));
  }
}

TEST(Alarm, ComesInTimeWithModuleEventsAndEnds) {
  Engine engine(Engine::Activation::kModuleEvents);
  ClockDomain core("core", engine, 1'000'000), memory("memory", engine, 800'000);
  Walker walker("walker", memory, 200, 200);
  std::vector<uint64_t> seen;
  core.set_alarm(Cycle(60), [&](Cycle now) {
    seen.push_back(now.count());
    return now + 60;
  });
  EXPECT_EQ(engine.run(), Engine::Outcome::kNothingScheduled);
  EXPECT_EQ(seen, (std::vector<uint64_t>{60, 120, 180, 240}));
}

/// Sends a number every cycle as there is room; the reader writes down when it sees which.
class Sender : public Clocked {
 public:
  Sender(const sc_core::sc_module_name& name, ClockDomain& domain) : Clocked(name, domain) {
    wake_at(Cycle(1));
  }
  Link<uint32_t>* link = nullptr;
  std::vector<Femtoseconds> sent;

 protected:
  Cycle tick(Cycle now) override {
    if (sent.size() == 2'000) return kNever;
    if (!link->can_push()) return kNever;
    sent.push_back(domain().engine().now_fs());
    link->push(static_cast<uint32_t>(sent.size()));
    return now + 1;
  }
};
class Receiver : public Clocked {
 public:
  using Clocked::Clocked;
  Link<uint32_t>* link = nullptr;
  std::vector<Femtoseconds> seen;

 protected:
  Cycle tick(Cycle) override {
    if (link->front() != nullptr) {
      EXPECT_EQ(link->pop(), seen.size() + 1);
      seen.push_back(domain().engine().now_fs());
    }
    return link->next_visible();
  }
};

TEST(ClockChange, MessagesAreSeenStrictlyLaterAndNoneIsLost) {
  Engine engine;
  ClockDomain fast("fast", engine, 1'296'000), slow("slow", engine, 602'000);
  Sender sender("sender", fast);
  Receiver receiver("receiver", slow);
  Link<uint32_t> link(sender, receiver, 6, 3);
  sender.link = receiver.link = &link;
  slow.on_change([&] { link.set_latency(slow.cycles_of_ns(5)); });
  Walker changer("changer", fast, 20'000, 100);
  changer.action = [&](Cycle now) {
    slow.change_frequency(now.count() / 100 % 2 == 0 ? 602'000 : 1'700'000);
    fast.change_frequency(now.count() / 100 % 3 == 0 ? 1'296'000 : 500'000);
  };
  engine.run();
  ASSERT_EQ(receiver.seen.size(), 2'000u);
  for (size_t i = 0; i < 2'000; ++i) EXPECT_GT(receiver.seen[i], sender.sent[i]) << i;
}

}  // namespace
}  // namespace gpusim::core
