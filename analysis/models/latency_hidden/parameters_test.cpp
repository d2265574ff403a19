// The built-in data sheets are of the machines as they are configured now, and the model takes from them what
// it says it takes.
#include "analysis/models/latency_hidden/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/models/latency_hidden/testing.h"
#include "simcore/config/load.h"
#include "simcore/record/recorder.h"

namespace gpusim::analysis::latency_hidden {
namespace {

class BuiltInSheet : public testing::TestWithParam<const char*> {};

TEST_P(BuiltInSheet, IsOfTheMachineAsItIs) {
  const core::MachineConfig machine =
      core::load_machine(std::string(GPUSIM_SOURCE_DIR) + "/configs/" + GetParam() + ".cfg", {}, {});
  const DataSheet sheet = known_data_sheet(machine.gpu.name);
  const auto configured = [&](const char* op_class) {
    return static_cast<double>(machine.latency.at(op_class));
  };
  EXPECT_EQ(sheet.require("latency.int_add"), configured("int"));
  EXPECT_EQ(sheet.require("latency.int_mul"), configured("int_mul"));
  EXPECT_EQ(sheet.require("latency.fp64_fma"), configured("fp64"));
  EXPECT_EQ(sheet.require("latency.sfu_sin"), configured("sfu_sin"));
  EXPECT_EQ(sheet.require("shared.banks"), static_cast<double>(machine.shared.banks));
  // Streams come near what the memory's pins give (twice per clock), and not above.
  const double pins = 2e3 * static_cast<double>(machine.clocks.dram_khz * machine.dram.bus_bytes *
                                                machine.l2.partitions * machine.dram.channels);
  EXPECT_GT(sheet.require("bandwidth.read"), 0.5 * pins);
  EXPECT_LT(sheet.require("bandwidth.read"), 2 * pins);
}

INSTANTIATE_TEST_SUITE_P(Machines, BuiltInSheet,
                         testing::Values("tesla_c1060", "gtx470", "gtx480", "tesla_v100", "h100", "h200"));

core::MachineConfig configured(const char* name, const std::vector<std::string>& sets = {}) {
  return core::load_machine(name, sets,
                            std::vector<std::string>{std::string(GPUSIM_SOURCE_DIR) + "/configs"});
}

TEST_P(BuiltInSheet, NotesAMachineUnlikeItsOwn) {
  EXPECT_EQ(note_of_known_sheet(configured(GetParam())), "");
  EXPECT_EQ(note_of_known_sheet(configured(GetParam(), {"gpu.description=renamed"})), "");
  EXPECT_THAT(note_of_known_sheet(configured(GetParam(), {"clocks.core=500MHz"})),
              testing::HasSubstr(": clocks.core = \"500MHz\" instead of \""));
  EXPECT_THAT(note_of_known_sheet(configured(GetParam(), {"latency.int=99"})),
              testing::HasSubstr(": latency.int = 99 instead of "));
}

TEST(BuiltInSheet, NotesAMachineThatExtendsItsOwn) {
  EXPECT_THAT(note_of_known_sheet(configured("gtx470_48k")),
              testing::StartsWith("the machine is not the GeForce GTX 470 that the data sheet was "
                                  "measured on, and most figures are that one's: l1.size = \"48K\" instead "
                                  "of \"16K\", l1.ways = 6 instead of 4, "
                                  "shared.size = \"16K\" instead of \"48K\";"));
  EXPECT_THAT(note_of_known_sheet(configured("h200", {"dram.cl=1ns", "dram.rp=1ns", "dram.rcd=1ns",
                                                      "dram.wl=1ns", "dram.wr=1ns", "dram.cdlr=1ns"})),
              testing::HasSubstr(", and 1 other keys;"));
}

TEST(Parameters, AreThoseOfTheSheet) {
  const Parameters p = test::c1060();
  EXPECT_EQ(p.sms, 30);
  EXPECT_DOUBLE_EQ(p.of(isa::OpClass::kFp32).busy, 4);
  EXPECT_NEAR(p.of(isa::OpClass::kSharedOperand).busy, 6, 1e-6);
  EXPECT_DOUBLE_EQ(p.of(isa::OpClass::kLoadGlobal).busy, 4);
  EXPECT_DOUBLE_EQ(p.issue, 2);
  EXPECT_NEAR(p.memory_latency, 550, 15);
  EXPECT_NEAR(p.read_bytes * p.core_hz, 95e9, 2e9);  // of one element a thread, for there is no L2
  EXPECT_NEAR(p.triad_bytes * p.core_hz, 88e9, 4e9);
  EXPECT_EQ(p.l2_bytes, 0);
  // Address and arithmetic operations are of different units.
  EXPECT_NE(p.of(isa::OpClass::kFp32).unit, p.of(isa::OpClass::kLoadGlobal).unit);
  EXPECT_EQ(p.of(isa::OpClass::kFp32).unit, p.of(isa::OpClass::kInt).unit);
}

TEST(Parameters, RefreshesAreTheMachinesDrams) {
  const core::MachineConfig machine = configured("tesla_v100");
  const Parameters p = measured_parameters(machine, known_data_sheet(machine.gpu.name));
  EXPECT_NEAR(p.refresh, 160e-9 * p.core_hz, 1e-6);
  EXPECT_NEAR(p.refreshed, 160.0 / 3900, 1e-12);
}

TEST(Parameters, StreamsWithFourElementsAThreadSayWhatMemoryTakes) {
  const core::MachineConfig machine = configured("h200");
  DataSheet sheet = known_data_sheet(machine.gpu.name);
  sheet.figures["bandwidth.read"] = 3e12;
  sheet.figures["bandwidth.read4"] = 4.5e12;
  const auto rate = [&] {
    const Parameters p = measured_parameters(machine, sheet);
    return p.read_bytes * p.core_hz;
  };
  EXPECT_NEAR(rate(), 4.5e12, 1);
  sheet.figures.erase("bandwidth.read4");  // of a sheet that was made before there was this stream
  EXPECT_NEAR(rate(), 3e12, 1);
}

TEST(Parameters, SchedulersHaveSharedUnitsInTurnOrTheFirstOneFirst) {
  const auto in_order = [](const char* name, const std::vector<std::string>& sets = {}) {
    const core::MachineConfig machine = configured(name, sets);
    return measured_parameters(machine, known_data_sheet(machine.gpu.name)).in_order;
  };
  EXPECT_EQ(in_order("gtx470"), 2);
  EXPECT_EQ(in_order("gtx470", {"scheduler.share_in_turn=true"}), 1);
  EXPECT_EQ(in_order("h200"), 1);
  EXPECT_EQ(in_order("tesla_c1060"), 1);
}

TEST(Parameters, AMachineWithoutASheetIsRefusedWithHelp) {
  try {
    (void)known_data_sheet("Tesla C1061");
    FAIL() << "expected an error";
  } catch (const core::RecordError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("did you mean 'Tesla C1060'?"));
    EXPECT_THAT(e.what(), testing::HasSubstr("gpusim microbench"));
  }
}

}  // namespace
}  // namespace gpusim::analysis::latency_hidden
