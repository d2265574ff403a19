// Energy by hand calculation: coefficients, voltages, intervals.
#include "components/power/energy_meter.h"

#include <gtest/gtest.h>

#include "components/power/governor.h"
#include "components/testing/mocks.h"

namespace gpusim::comp {
namespace {

constexpr core::Femtoseconds kMicrosecond = 1'000'000'000;

size_t index(EnergyTerm term) { return static_cast<size_t>(term); }

/// Some events of every kind.
EnergyAmounts some_events(double scale) {
  EnergyAmounts events;
  for (size_t i = 0; i < kNumEnergyTerms; ++i) events[i] = scale * static_cast<double>(100 + 7 * i);
  return events;
}

/// 1 pJ for each event, 1 W of each static power; voltages from tables; 4 channels with a refresh per us.
core::MachineConfig machine(const std::vector<std::string>& more = {}) {
  std::vector<std::string> sets{"dvfs.core_points=500MHz 0.8V, 1000MHz 1.0V",
                                "dvfs.core_max=0kHz",
                                "dvfs.core_voltage=1.0",
                                "dvfs.interconnect_points=600MHz 1.0V",
                                "dvfs.interconnect_max=0kHz",
                                "dvfs.interconnect_voltage=1.0",
                                "dvfs.dram_points=400MHz 1.2V, 800MHz 1.5V",
                                "dvfs.dram_max=0kHz",
                                "dvfs.dram_voltage=1.5",
                                "clocks.core=1000MHz",
                                "clocks.interconnect=600MHz",
                                "clocks.dram=800MHz",
                                "l2.partitions=4",
                                "dram.channels=1",
                                "dram.refi=1us"};
  core::MachineConfig defaults = test::tesla_c1060(sets);
  defaults.energy = {};
  for (const TermInfo& t : energy_terms()) defaults.energy.*t.coefficient = 1;
  for (const std::string& s : more) {
    // "term=value" of [energy], by counter name.
    const size_t equals = s.find('=');
    for (const TermInfo& t : energy_terms())
      if (s.substr(0, equals) == t.counter) defaults.energy.*t.coefficient = std::stod(s.substr(equals + 1));
  }
  return defaults;
}

TEST(EnergyMeter, EventsClocksRefreshAndStaticPowerAddUp) {
  EnergyMeter meter(machine(), 1);
  ASSERT_TRUE(meter.active());
  meter.start(0, {});
  const EnergyAmounts events = some_events(1e6);
  const EnergyAmounts j = meter.reading(10 * kMicrosecond, events);
  EXPECT_DOUBLE_EQ(j[index(EnergyTerm::kFp32)], events[index(EnergyTerm::kFp32)] * 1e-12);
  EXPECT_DOUBLE_EQ(j[index(EnergyTerm::kCoreClock)], 10'000 * 1e-12);         // 1 GHz
  EXPECT_DOUBLE_EQ(j[index(EnergyTerm::kInterconnectClock)], 6'000 * 1e-12);  // 600 MHz
  EXPECT_DOUBLE_EQ(j[index(EnergyTerm::kDramRefresh)], 40 * 1e-12);           // 4 channels, 10 each
  EXPECT_DOUBLE_EQ(j[index(EnergyTerm::kCoreStatic)], 10e-6);
  EXPECT_DOUBLE_EQ(j[index(EnergyTerm::kBoard)], 10e-6);
  double sum = 0;
  for (const PowerDomain d :
       {PowerDomain::kCore, PowerDomain::kInterconnect, PowerDomain::kDram, PowerDomain::kBoard})
    sum += total(j, d);
  EXPECT_NEAR(sum, total(j), 1e-12 * sum);
}

TEST(EnergyMeter, VoltageFollowsTheTable) {
  // At 500 MHz the core has 0.8 of its voltage: events and clock cost 0.64, static power 0.8.
  core::MachineConfig m = machine();
  m.clocks.core_khz = 500'000;
  m.clocks.dram_khz = 600'000;  // 1.35 V of 1.5 V
  EnergyMeter meter(m, 1);
  meter.start(0, {});
  const EnergyAmounts events = some_events(1e6);
  const EnergyAmounts j = meter.reading(10 * kMicrosecond, events);
  EXPECT_DOUBLE_EQ(meter.volts(PowerDomain::kCore), 0.8);
  EXPECT_NEAR(j[index(EnergyTerm::kShared)], 0.64e-12 * events[index(EnergyTerm::kShared)], 1e-17);
  EXPECT_NEAR(j[index(EnergyTerm::kCoreClock)], 0.64 * 5'000e-12, 1e-17);
  EXPECT_NEAR(j[index(EnergyTerm::kCoreStatic)], 0.8 * 10e-6, 1e-16);
  EXPECT_NEAR(j[index(EnergyTerm::kDramRead)], 0.81e-12 * events[index(EnergyTerm::kDramRead)], 1e-17);
  EXPECT_NEAR(j[index(EnergyTerm::kDramStatic)], 0.9 * 10e-6, 1e-16);
  EXPECT_DOUBLE_EQ(j[index(EnergyTerm::kFlit)], 1e-12 * events[index(EnergyTerm::kFlit)]);
  EXPECT_DOUBLE_EQ(j[index(EnergyTerm::kBoard)], 10e-6);
}

TEST(EnergyMeter, ADoubledCoefficientDoublesItsTermAlone) {
  const auto run = [](const core::MachineConfig& m) {
    EnergyMeter meter(m, 1);
    meter.start(0, {});
    return meter.reading(3 * kMicrosecond, some_events(1e3));
  };
  const EnergyAmounts base = run(machine());
  for (size_t i = 0; i < kNumEnergyTerms; ++i) {
    const EnergyAmounts other = run(machine({std::string(energy_terms()[i].counter) + "=2"}));
    for (size_t k = 0; k < kNumEnergyTerms; ++k)
      EXPECT_DOUBLE_EQ(other[k], k == i ? 2 * base[k] : base[k]) << energy_terms()[i].counter << " " << k;
  }
}

TEST(EnergyMeter, AChangeClosesTheIntervalAtTheOldVoltage) {
  EnergyMeter meter(machine(), 1);
  meter.start(0, {});
  const EnergyAmounts at_change = some_events(1e6), at_end = some_events(3e6);
  meter.set_clock(PowerDomain::kCore, 500'000, 4 * kMicrosecond, at_change);
  const EnergyAmounts j = meter.reading(10 * kMicrosecond, at_end);
  const double events = at_change[index(EnergyTerm::kInt)];
  EXPECT_NEAR(j[index(EnergyTerm::kInt)], (events + 0.64 * 2 * events) * 1e-12, 1e-18);
  EXPECT_NEAR(j[index(EnergyTerm::kCoreStatic)], 4e-6 + 0.8 * 6e-6, 1e-16);
  EXPECT_NEAR(j[index(EnergyTerm::kCoreClock)], (4'000 + 0.64 * 3'000) * 1e-12, 1e-17);
  EXPECT_NEAR(j[index(EnergyTerm::kDramStatic)], 10e-6, 1e-16);  // another domain's
}

TEST(EnergyMeter, ReadingsDoNotDisturb) {
  EnergyMeter often(machine(), 1), seldom(machine(), 1);
  often.start(0, {});
  seldom.start(0, {});
  for (int i = 1; i < 100; ++i) (void)often.reading(i * kMicrosecond / 10, some_events(i));
  EXPECT_EQ(often.reading(10 * kMicrosecond, some_events(100)),
            seldom.reading(10 * kMicrosecond, some_events(100)));
}

TEST(EnergyMeter, CountsFromItsStart) {
  EnergyMeter meter(machine(), 1);
  meter.set_clock(PowerDomain::kCore, 500'000, kMicrosecond, {});  // before: costs nothing
  meter.start(2 * kMicrosecond, some_events(1));
  const EnergyAmounts j = meter.reading(5 * kMicrosecond, some_events(2));
  EXPECT_DOUBLE_EQ(j[index(EnergyTerm::kBoard)], 3e-6);
  EXPECT_NEAR(j[index(EnergyTerm::kInt)], 0.64e-12 * some_events(1)[index(EnergyTerm::kInt)], 1e-24);
  core::MachineConfig m = machine();
  m.energy = {};
  EXPECT_FALSE(EnergyMeter(m, 1).active());
}

TEST(EnergyMeter, StandingPower) {
  // Four static powers of 1 W; clocks 1 pJ at 1, 0.6 and 0.8 GHz; 4 refreshes a us.
  constexpr double kClocks = 1e-3 + 0.6e-3 + 0.8e-3;
  EXPECT_NEAR(EnergyMeter(machine(), 1).standing_power(), 4 + kClocks + 4e-6, 1e-9);
  EXPECT_NEAR(EnergyMeter(machine(), 16).standing_power(), 4 + kClocks + 16 * 4e-6, 1e-9);
}

TEST(EnergyCounts, ClassesCountByHowLongTheyTakeThePipe) {
  const core::MachineConfig m = test::tesla_c1060({});
  const auto table = class_energies(m);
  const auto of = [&](isa::OpClass c) { return table[static_cast<size_t>(c)]; };
  EXPECT_EQ(of(isa::OpClass::kFp32).term, EnergyTerm::kFp32);
  EXPECT_DOUBLE_EQ(of(isa::OpClass::kFp32).weight, 1);
  EXPECT_EQ(of(isa::OpClass::kInt64).term, EnergyTerm::kInt);
  EXPECT_DOUBLE_EQ(of(isa::OpClass::kInt64).weight, 2);  // 8 cycles, an int takes 4
  EXPECT_EQ(of(isa::OpClass::kIntMul24).term, EnergyTerm::kIntMul);
  EXPECT_DOUBLE_EQ(of(isa::OpClass::kIntMul24).weight, 4.0 / 19);
  EXPECT_EQ(of(isa::OpClass::kBranch).term, EnergyTerm::kCount);
  EXPECT_EQ(of(isa::OpClass::kLoadGlobal).term, EnergyTerm::kLaneAccess);
}

TEST(Governor, StepsUpAndDown) {
  const auto step = [](size_t level, double share, bool by_memory) {
    return Governor::next_level(level, 4, share, by_memory, 0.3, 0.6);
  };
  EXPECT_EQ(step(1, 0.6, false), 2u);  // busy: up
  EXPECT_EQ(step(3, 0.9, false), 3u);
  EXPECT_EQ(step(1, 0.5, false), 1u);
  EXPECT_EQ(step(1, 0.29, false), 0u);
  EXPECT_EQ(step(0, 0.0, false), 0u);
  EXPECT_EQ(step(2, 0.7, true), 1u);  // waits for memory: down
  EXPECT_EQ(step(2, 0.1, true), 3u);
}

}  // namespace
}  // namespace gpusim::comp
