// Exact edge times, sleeping and waking, and equality of event-driven and direct activation.
#include "simcore/engine/clock_domain.h"

#include <gtest/gtest.h>

#include <memory>

namespace gpusim::core {
namespace {

/// Ticks at the cycles it is told and writes down when it did.
class Recorder : public Clocked {
 public:
  Recorder(const sc_core::sc_module_name& name, ClockDomain& domain, std::vector<uint64_t> plan)
      : Clocked(name, domain), plan_(std::move(plan)) {
    if (!plan_.empty()) wake_at(Cycle(plan_[0]));
  }
  std::vector<uint64_t> seen;
  std::vector<Femtoseconds> times;

 protected:
  Cycle tick(Cycle now) override {
    seen.push_back(now.count());
    times.push_back(domain().engine().now_fs());
    for (const uint64_t c : plan_)
      if (c > now.count()) return Cycle(c);
    return kNever;
  }

 private:
  std::vector<uint64_t> plan_;
};

TEST(ClockDomain, EdgesLieExactlyAtTheFlooredRational) {
  Engine engine;
  ClockDomain core("core", engine, 1'296'000);
  // 10^12 / 1296000 = 771604.938...; a rounded period of 771605 would be 61.7 ns late after 10^9 cycles.
  EXPECT_EQ(core.time_of(Cycle(1)), 771604u);
  EXPECT_EQ(core.time_of(Cycle(1'296'000'000)), 1'000'000'000'000'000u);
  EXPECT_EQ(core.time_of(Cycle(1'000'000'007)), 771604943672839u);
}

TEST(ClockDomain, FirstEdgeAfterIsStrict) {
  Engine engine;
  ClockDomain core("core", engine, 1'296'000);
  ClockDomain memory("memory", engine, 800'000);  // period 1250000 fs
  EXPECT_EQ(memory.first_edge_after(0).count(), 1u);
  EXPECT_EQ(memory.first_edge_after(1'249'999).count(), 1u);
  EXPECT_EQ(memory.first_edge_after(1'250'000).count(), 2u);
  EXPECT_EQ(core.first_edge_after(771'603).count(), 1u);
  EXPECT_EQ(core.first_edge_after(771'604).count(), 2u);
  EXPECT_EQ(core.first_edge_after(1'000'000'000'000'000).count(), 1'296'000'001u);
}

TEST(ClockDomain, NanosecondsBecomeWholeCyclesRoundedUp) {
  Engine engine;
  ClockDomain memory("memory", engine, 800'000);
  EXPECT_EQ(memory.cycles_of_ns(12.5), 10u);
  EXPECT_EQ(memory.cycles_of_ns(12.6), 11u);
  EXPECT_EQ(memory.cycles_of_ns(0), 0u);
}

TEST(ClockDomain, ModulesTickExactlyWhenPlannedNearAndFar) {
  Engine engine;
  ClockDomain core("core", engine, 1'296'000);
  const std::vector<uint64_t> plan = {1, 2, 3, 2050, 2051, 5000, 4'000'000, 30'000'000'000};
  Recorder a("a", core, plan);
  Recorder b("b", core, {7, 2051, 100'000});
  EXPECT_EQ(engine.run(), Engine::Outcome::kNothingScheduled);
  EXPECT_EQ(a.seen, plan);
  EXPECT_EQ(b.seen, (std::vector<uint64_t>{7, 2051, 100'000}));
  for (size_t i = 0; i < plan.size(); ++i) EXPECT_EQ(a.times[i], core.time_of(Cycle(plan[i])));
}

TEST(ClockDomain, DirectActivationGivesTheSameTicks) {
  Engine engine;
  ClockDomain core("core", engine, 1'296'000);
  ClockDomain memory("memory", engine, 800'000);
  const std::vector<uint64_t> plan = {1, 2, 3, 2050, 2051, 5000, 4'000'000};
  Recorder a("a", core, plan);
  Recorder b("b", memory, {7, 2051, 100'000});
  EXPECT_EQ(engine.run_direct(), Engine::Outcome::kNothingScheduled);
  EXPECT_EQ(a.seen, plan);
  EXPECT_EQ(b.seen, (std::vector<uint64_t>{7, 2051, 100'000}));
  for (size_t i = 0; i < plan.size(); ++i) EXPECT_EQ(a.times[i], core.time_of(Cycle(plan[i])));
}

TEST(ClockDomain, AnEarlierWakeReplacesALaterPlan) {
  Engine engine;
  ClockDomain core("core", engine, 1'000'000);
  Recorder sleeper("sleeper", core, {100'000});
  Recorder waker("waker", core, {50});
  core.set_observer(Cycle(50), [&](Cycle) {
    sleeper.wake_at(Cycle(60));
    return kNever;
  });
  engine.run();
  EXPECT_EQ(sleeper.seen, (std::vector<uint64_t>{60, 100'000}));
}

TEST(ClockDomain, StopEndsTheRunAtThisInstant) {
  Engine engine;
  ClockDomain core("core", engine, 1'000'000);
  Recorder a("a", core, {1, 2, 3, 4, 5, 6});
  core.set_observer(Cycle(3), [&](Cycle) {
    engine.stop();
    return kNever;
  });
  EXPECT_EQ(engine.run(), Engine::Outcome::kStopped);
  EXPECT_EQ(a.seen, (std::vector<uint64_t>{1, 2, 3}));
}

TEST(ClockDomain, MoreModulesThanOneWordAreAllActivatedInOrder) {
  Engine engine;
  ClockDomain core("core", engine, 1'000'000);
  std::vector<std::unique_ptr<Recorder>> modules;
  modules.reserve(150);
  for (int i = 0; i < 150; ++i)
    modules.push_back(
        std::make_unique<Recorder>(("m" + std::to_string(i)).c_str(), core, std::vector<uint64_t>{5, 9}));
  engine.run();
  for (const auto& m : modules) EXPECT_EQ(m->seen, (std::vector<uint64_t>{5, 9}));
}

/// A SystemC process that knows nothing of the engine: every 7 ns it looks how far the engine is.
class Bystander : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Bystander);
  Bystander(const sc_core::sc_module_name& name, const Engine& engine, const ClockDomain& domain)
      : sc_module(name), engine_(engine), domain_(domain) {
    SC_METHOD(look);
    sensitive << again_;
  }
  int looks = 0;

 private:
  void look() {
    const Femtoseconds now = sc_core::sc_time_stamp().value();
    EXPECT_LE(engine_.now_fs(), now) << "an edge ran before its time";
    const uint64_t passed = now == 0 ? 0 : domain_.first_edge_from(now).count() - 1;  // edges before now
    EXPECT_GE(domain_.now().count(), passed) << "an edge is late";
    if (++looks < 100) again_.notify(sc_core::sc_time::from_value(7'000'000));
  }
  const Engine& engine_;
  const ClockDomain& domain_;
  sc_core::sc_event again_;
};

class EveryCycle : public Clocked {
 public:
  EveryCycle(const sc_core::sc_module_name& name, ClockDomain& domain) : Clocked(name, domain) {
    wake_at(Cycle(1));
  }
  uint64_t ticks = 0;

 protected:
  Cycle tick(Cycle now) override { return ++ticks < 1000 ? now + 1 : kNever; }
};

TEST(Engine, BatchedEdgesLeaveOtherProcessesTheirTime) {
  Engine engine;
  ClockDomain domain("domain", engine, 1'296'000);
  EveryCycle module("module", domain);
  Bystander bystander("bystander", engine, domain);
  engine.run();
  EXPECT_EQ(module.ticks, 1000u);
  EXPECT_EQ(bystander.looks, 100);
}

}  // namespace
}  // namespace gpusim::core
