#include "study/points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simcore/config/load.h"

namespace gpusim::study {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kConfigs = {GPUSIM_SOURCE_DIR "/configs"};

Study vecadd_study() {
  Study study;
  study.path = "s.toml";
  study.machines = {"tesla_c1060", "tesla_v100"};
  study.workloads.push_back({"vecadd", GPUSIM_SOURCE_DIR "/workloads/vecadd/vecadd.ptx", "", {}, {}});
  study.axes.push_back(axis_from_option("scheduler.policy=lrr,gto"));
  study.axes.push_back(axis_from_option("sms=1,2,4"));
  return study;
}

TEST(Points, TheLastAxisChangesFastest) {
  const std::vector<Point> points = points_of(vecadd_study());
  ASSERT_EQ(points.size(), 12);
  EXPECT_EQ(points[0].values, (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(points[1].values, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(points[3].values, (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(points[6].machine, 1);
}

TEST(Points, ConstraintsLeaveSomeOut) {
  Study study = vecadd_study();
  study.constraints.push_back({"sms * 2 <= 4", "sms * 2 ", "<=", " 4", {}});
  EXPECT_EQ(points_of(study).size(), 8);
  study.constraints.push_back({"sms != 1", "sms ", "!=", " 1", {}});
  EXPECT_EQ(points_of(study).size(), 4);
  study.constraints.push_back({"sms > 2", "sms ", ">", " 2", {}});
  EXPECT_THROW((void)points_of(study), core::InputError) << "none is left";
}

TEST(Points, AWordIsNoNumberInAConstraint) {
  Study study = vecadd_study();
  study.constraints.push_back({"scheduler_policy > 1", "scheduler_policy ", ">", " 1", {}});
  try {
    (void)points_of(study);
    FAIL();
  } catch (const core::InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("the value 'lrr' of axis 'scheduler_policy' is no number"));
  }
}

TEST(Points, KeysFollowFromWhatIsSimulated) {
  const Study study = vecadd_study();
  const std::vector<Point> points = points_of(study);
  const std::string key = prepare(study, points[0], kConfigs, "p").identity.key;
  EXPECT_EQ(prepare(study, points[0], kConfigs, "p").identity.key, key);
  EXPECT_NE(prepare(study, points[1], kConfigs, "p").identity.key, key) << "other SMs";
  EXPECT_NE(prepare(study, points[3], kConfigs, "p").identity.key, key) << "another policy";
  EXPECT_NE(prepare(study, points[6], kConfigs, "p").identity.key, key) << "another machine";
  EXPECT_NE(prepare(study, points[0], kConfigs, "q").identity.key, key) << "another program";
  Study same = study;
  same.sets = {"scheduler.policy=lrr"};  // what the axis says too
  EXPECT_EQ(prepare(same, points[0], kConfigs, "p").identity.key, key) << "the machine is the same";
  Study other = study;
  other.workloads[0].params = {"N=64"};
  EXPECT_NE(prepare(other, points[0], kConfigs, "p").identity.key, key) << "other parameters";
}

TEST(Points, EveryTargetOfAnAxisArrives) {
  Study study = vecadd_study();
  study.machines = {"tesla_v100"};
  study.axes = {axis_from_option("l1.mshrs=64"),
                axis_from_option("param.N=256"),
                axis_from_option("sms=3"),
                axis_from_option("core_clock=705MHz"),
                axis_from_option("dram_clock=800MHz"),
                axis_from_option("interconnect_clock=600MHz"),
                axis_from_option("lowering=clean"),
                axis_from_option("cache=warm"),
                axis_from_option("seed=7")};
  const PreparedPoint p = prepare(study, points_of(study)[0], kConfigs, "p");
  EXPECT_EQ(p.options.machine.l1.mshrs, 64);
  EXPECT_EQ(p.options.launch.find_param("N")->integer, 256);
  EXPECT_EQ(p.options.sms, 3);
  EXPECT_EQ(p.options.machine.clocks.core_khz, 705000);
  EXPECT_EQ(p.options.machine.clocks.dram_khz, 800000);
  EXPECT_EQ(p.options.machine.clocks.interconnect_khz, 600000);
  EXPECT_EQ(p.options.lowering, isa::LoweringLevel::kClean);
  EXPECT_EQ(p.options.caches, comp::CacheState::kWarm);
  EXPECT_EQ(p.options.launch.seed, 7);
}

TEST(Points, WhatAMachineRefusesIsSaid) {
  Study study = vecadd_study();
  study.axes = {axis_from_option("sms=31")};
  const Point point = points_of(study)[0];
  EXPECT_THROW((void)prepare(study, point, kConfigs, "p"), core::InputError);
  study.axes = {axis_from_option("cache=hot")};
  EXPECT_THROW((void)prepare(study, point, kConfigs, "p"), core::InputError);
  study.axes = {axis_from_option("lowering=best")};
  EXPECT_THROW((void)prepare(study, point, kConfigs, "p"), core::InputError);
}

TEST(SramKib, CountsAUnifiedMemoryOnce) {
  const auto v100 = core::load_machine("tesla_v100", {}, kConfigs);
  EXPECT_EQ(sram_kib(v100, 0), 80 * (256 + 128) + 6 * 1024);
  EXPECT_EQ(sram_kib(v100, 1), 256 + 128 + 6 * 1024);
  const auto gtx480 = core::load_machine("gtx480", {}, kConfigs);
  EXPECT_EQ(sram_kib(gtx480, 0),
            15.0 * (4.0 * gtx480.sm.registers + gtx480.l1.bytes + gtx480.shared.bytes) / 1024 + 768);
}

}  // namespace
}  // namespace gpusim::study
