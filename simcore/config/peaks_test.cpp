#include "simcore/config/peaks.h"

#include <gtest/gtest.h>

#include "simcore/config/load.h"

namespace gpusim::core {
namespace {

double peak(const std::string& machine, const std::string& name, std::vector<std::string> sets = {}) {
  const std::string path = GPUSIM_SOURCE_DIR "/configs/" + machine + ".cfg";
  for (const Peak& p : machine_peaks(load_machine(path, sets, {})))
    if (p.name == name) return p.value;
  return 0;
}

// Vendor's figures, at the clocks of the machines.
TEST(Peaks, FollowFromTheConfiguration) {
  EXPECT_NEAR(peak("tesla_c1060", "FP32") * 1e-9, 240 * 2 * 1.296,
              0.1);  // without the multiplier of the SFUs
  EXPECT_NEAR(peak("tesla_c1060", "FP64") * 1e-9, 77.8, 0.1);
  EXPECT_NEAR(peak("tesla_c1060", "DRAM") * 1e-9, 102.4, 0.1);
  EXPECT_NEAR(peak("tesla_v100", "FP32") * 1e-12, 5120 * 2 * 1.38e-3, 0.01);
  // 113 on paper, of which loops reach 16 eighteenths.
  EXPECT_NEAR(peak("tesla_v100", "FP16 matrices") * 1e-12, 113 * 16 / 18.0, 0.5);
  EXPECT_NEAR(peak("tesla_v100", "DRAM") * 1e-9, 898, 0.5);
  EXPECT_NEAR(peak("h200", "DRAM") * 1e-9, 4917, 1);
  // Of the data sheet at 1830 MHz.
  const double clock = 1830 / 1980.0;
  EXPECT_NEAR(peak("h200", "FP16 by wgmma") * clock * 1e-12, 989.4, 1);
  EXPECT_NEAR(peak("h200", "TF32 by wgmma") * clock * 1e-12, 494.7, 1);
  EXPECT_NEAR(peak("h200", "8 bits by wgmma") * clock * 1e-12, 1978.9, 1);
}

TEST(Peaks, EveryPortOfTheInterconnectCounts) {
  const double of_clusters = peak("tesla_v100", "interconnect to SMs");
  EXPECT_GT(of_clusters, 0);
  EXPECT_DOUBLE_EQ(peak("tesla_v100", "interconnect to SMs", {"interconnect.sms_per_port=1"}),
                   2 * of_clusters);
  EXPECT_DOUBLE_EQ(peak("tesla_v100", "interconnect to SMs", {"interconnect.sms_per_port=2"}), of_clusters);
}

TEST(Peaks, LeaveOutWhatAMachineHasNot) {
  EXPECT_EQ(peak("tesla_c1060", "FP16 matrices"), 0);
  EXPECT_EQ(peak("tesla_v100", "FP16 by wgmma"), 0);
  EXPECT_EQ(peak("tesla_c1060", "FP16 in pairs"), 0);
  EXPECT_EQ(peak("tesla_c1060", "L1"), 0);
  EXPECT_EQ(peak("tesla_c1060", "L2"), 0);
  EXPECT_GT(peak("tesla_c1060", "memory partitions"), 0);
}

}  // namespace
}  // namespace gpusim::core
