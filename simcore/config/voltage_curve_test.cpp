// Voltages of tables and of the formula by hand calculation, and what contradicts in [dvfs].
#include "simcore/config/voltage_curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "simcore/config/clock_points.h"
#include "simcore/config/load.h"

namespace gpusim::core {
namespace {

const std::vector<std::string> kCurveFolders{GPUSIM_SOURCE_DIR "/configs"};

std::string curve_error(std::vector<std::string> sets) {
  try {
    (void)load_machine("tesla_c1060", sets, kCurveFolders);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(VoltageCurve, TableIsInterpolatedAndHeldAtItsEnds) {
  MachineConfig::VoltageCurve c;
  c.points = "400MHz 0.8V, 800MHz 900mV,1200MHz 1.1V";
  const VoltageCurve curve(c, 1296000);
  EXPECT_EQ(curve.max_khz(), 1'200'000);
  EXPECT_DOUBLE_EQ(curve.max_volts(), 1.1);
  EXPECT_DOUBLE_EQ(curve.at(400'000), 0.8);
  EXPECT_DOUBLE_EQ(curve.at(600'000), 0.85);
  EXPECT_DOUBLE_EQ(curve.at(1'000'000), 1.0);
  EXPECT_DOUBLE_EQ(curve.at(1'200'000), 1.1);
  EXPECT_DOUBLE_EQ(curve.at(100'000), 0.8);
  EXPECT_DOUBLE_EQ(curve.at(2'000'000), 1.1);
}

TEST(VoltageCurve, FormulaHoldsAtEveryClock) {
  MachineConfig::VoltageCurve c;
  c.max_khz = 1'000'000;
  c.voltage = 1.2;
  c.threshold = 0.4;
  for (const double g : {1.0, 1.3, 2.0}) {
    c.exponent = g;
    const VoltageCurve curve(c, 500'000);
    const auto speed = [&](double v) { return std::pow(v - 0.4, g) / v; };
    for (const int64_t khz : {100'000, 250'000, 500'000, 900'000, 1'000'000}) {
      const double v = curve.at(khz);
      EXPECT_NEAR(speed(v) / speed(1.2), static_cast<double>(khz) / 1e6, 1e-9) << g << " " << khz;
    }
  }
}

TEST(VoltageCurve, FormulaWithoutThresholdIsProportional) {
  // g = 2 and Vt = 0: f ~ V.
  MachineConfig::VoltageCurve c;
  const VoltageCurve curve(c, 800'000);
  EXPECT_NEAR(curve.at(200'000), 0.25, 1e-12);
  c.floor = 0.6;
  EXPECT_DOUBLE_EQ(VoltageCurve(c, 800'000).at(200'000), 0.6);
}

TEST(VoltageCurve, TextsThatAreNoTable) {
  for (const char* text : {"", "600MHz", "600MHz 0.9V,", "0.9V 600MHz", "600 0.9V", "600MHz 0.9V; 700MHz 1V"})
    EXPECT_FALSE(parse_voltage_points(text)) << text;
}

TEST(VoltageCurve, ContradictionsNameBothPlaces) {
  EXPECT_NE(curve_error({"dvfs.core_threshold=1.3", "dvfs.core_voltage=1.1"})
                .find("is not below dvfs.core_voltage = 1.1 V"),
            std::string::npos);
  const std::string table = curve_error({"dvfs.core_points=600MHz 0.9V, 900MHz 1V", "dvfs.core_max=1GHz"});
  EXPECT_NE(table.find("dvfs.core_max = 1000MHz is not the last clock"), std::string::npos) << table;
  EXPECT_NE(table.find("dvfs.core_points stands at"), std::string::npos) << table;
  EXPECT_NE(curve_error({"dvfs.dram_points=900MHz 0.9V, 600MHz 1V"}).find("dvfs.dram_points: 600MHz 1 V"),
            std::string::npos);
  EXPECT_NE(curve_error({"dvfs.governor=utilisation", "dvfs.low=0.7"})
                .find("dvfs.low = 0.7 is not below dvfs.high"),
            std::string::npos);
  EXPECT_NE(curve_error({"dvfs.governor=utilisation", "dvfs.lowest=5GHz"}).find("no two clocks"),
            std::string::npos);
  EXPECT_NE(curve_error({"energy.fp32=3 kWh"}).find("is not an energy such as"), std::string::npos);
}

TEST(VoltageCurve, GovernorsClocks) {
  std::vector<std::string> sets{"dvfs.core_max=1200MHz", "dvfs.steps=4", "dvfs.lowest=600MHz"};
  EXPECT_EQ(governor_clocks(load_machine("tesla_c1060", sets, kCurveFolders)),
            (std::vector<int64_t>{600'000, 800'000, 1'000'000, 1'200'000}));
  sets = {"dvfs.core_max=0kHz", "dvfs.core_voltage=1.1",
          "dvfs.core_points=300MHz 0.8V, 700MHz 0.9V, 1200MHz 1.1V"};
  EXPECT_EQ(governor_clocks(load_machine("tesla_c1060", sets, kCurveFolders)),
            (std::vector<int64_t>{700'000, 1'200'000}));
}

TEST(VoltageCurve, StaticPowerAtTheLowestVoltageIsTheIdlePower) {
  for (const char* name : {"tesla_c1060", "gtx470", "gtx480", "tesla_v100", "h200"}) {
    const MachineConfig m = load_machine(name, {}, kCurveFolders);
    const auto lowest = [](const MachineConfig::VoltageCurve& c, int64_t khz) {
      const VoltageCurve curve(c, khz);
      return curve.at(1) / curve.max_volts();
    };
    const double idle =
        m.energy.core_static_w * lowest(m.dvfs.core, m.clocks.core_khz) +
        m.energy.interconnect_static_w * lowest(m.dvfs.interconnect, m.clocks.interconnect_khz) +
        m.energy.dram_static_w * lowest(m.dvfs.dram, m.clocks.dram_khz) + m.energy.board_w;
    EXPECT_NEAR(idle / m.host.gpu_idle_power_w, 1, 0.03) << name;
  }
}

TEST(VoltageCurve, ClocksOfARunLeaveTimesAsTheyAre) {
  MachineConfig m = load_machine("tesla_c1060", {}, kCurveFolders);
  const double ccd = m.dram.ccd_ns;  // written in memory cycles
  set_clocks(m, {900'000, 0, 400'000}, {"test"});
  EXPECT_EQ(m.clocks.core_khz, 900'000);
  EXPECT_EQ(m.clocks.interconnect_khz, 602'000);
  EXPECT_EQ(m.clocks.dram_khz, 400'000);
  EXPECT_EQ(m.dram.ccd_ns, ccd);
  MachineConfig other =
      load_machine("tesla_c1060", std::vector<std::string>{"dvfs.core_max=0kHz"}, kCurveFolders);
  set_clocks(other, {900'000, 0, 0}, {"test"});
  EXPECT_EQ(other.dvfs.core.max_khz, 1'296'000);
  EXPECT_THROW(set_clocks(m, {0, 0, 1'000}, {"test"}), InputError);  // refresh would leave no time
}

TEST(VoltageCurve, LatenciesThatFollowKeepTheirCycles) {
  const std::vector<std::string> sets{"clocks.latencies_follow=true", "clocks.interconnect_follows=true"};
  const MachineConfig usual = load_machine("tesla_v100", sets, kCurveFolders);
  MachineConfig m = usual;
  set_clocks(m, {usual.clocks.core_khz / 2, 0, usual.clocks.dram_khz / 4}, {"test"});
  EXPECT_DOUBLE_EQ(m.interconnect.request_latency_ns, 2 * usual.interconnect.request_latency_ns);
  EXPECT_DOUBLE_EQ(m.interconnect.reply_latency_ns, 2 * usual.interconnect.reply_latency_ns);
  EXPECT_DOUBLE_EQ(m.l2.hit_latency_ns, 2 * usual.l2.hit_latency_ns);
  EXPECT_DOUBLE_EQ(m.constant.l2_latency_ns, 2 * usual.constant.l2_latency_ns);
  EXPECT_DOUBLE_EQ(m.dram.latency_ns, 4 * usual.dram.latency_ns);
  EXPECT_DOUBLE_EQ(m.dram.ccd_l_ns, 4 * usual.dram.ccd_l_ns);
  EXPECT_EQ(m.dram.refi_ns, usual.dram.refi_ns) << "cells lose their charge at any clock";
  EXPECT_EQ(m.host.launch_gap_ns, usual.host.launch_gap_ns);
  // In two steps as in one, and back.
  set_clocks(m, {usual.clocks.core_khz, 0, usual.clocks.dram_khz}, {"test"});
  EXPECT_DOUBLE_EQ(m.l2.hit_latency_ns, usual.l2.hit_latency_ns);
  EXPECT_DOUBLE_EQ(m.dram.rcd_ns, usual.dram.rcd_ns);
}

TEST(ClockPoints, TheMemorysClockFollowsTheCores) {
  const std::vector<ClockPoint> points = {{500'000, 400'000}, {700'000, 600'000}, {900'000, 800'000}};
  EXPECT_EQ(parse_clock_points(" 500MHz 400MHz,700MHz  600MHz , 900MHz 800MHz "), points);
  for (const std::string_view wrong :
       {"", "500MHz", "500MHz 400MHz,", "500MHz 1V", "500MHz 400MHz, 500MHz 500MHz",
        "500MHz 400MHz, 600MHz 300MHz", "500MHz 400MHz 300MHz"})
    EXPECT_EQ(parse_clock_points(wrong), std::nullopt) << wrong;
  EXPECT_EQ(dram_clock_beside(points, 300'000, 900'000), 400'000);
  EXPECT_EQ(dram_clock_beside(points, 600'000, 900'000), 500'000);
  EXPECT_EQ(dram_clock_beside(points, 700'000, 900'000), 600'000);
  EXPECT_EQ(dram_clock_beside(points, 900'000, 900'000), 900'000);
  EXPECT_EQ(dram_clock_beside(points, 600'000, 450'000), 450'000) << "never more than it has";
  EXPECT_EQ(dram_clock_beside({}, 600'000, 900'000), 900'000);

  const std::vector<std::string> sets{"clocks.dram_follows=600MHz 400MHz, 900MHz 800MHz"};
  MachineConfig m = load_machine("tesla_c1060", sets, kCurveFolders);
  const int64_t dram = m.clocks.dram_khz;
  set_clocks(m, {750'000, 0, 0}, {"test"});
  EXPECT_EQ(m.clocks.dram_khz, 600'000);
  set_clocks(m, {750'000, 0, dram}, {"test"});
  EXPECT_EQ(m.clocks.dram_khz, dram);
  EXPECT_NE(curve_error({"clocks.dram_follows=600MHz, 900MHz 800MHz"})
                .find("clocks.dram_follows = \"600MHz, 900MHz"),
            std::string::npos);
}

}  // namespace
}  // namespace gpusim::core
