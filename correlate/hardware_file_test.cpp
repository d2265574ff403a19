#include "correlate/hardware_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpusim::correlate {
namespace {

using ::testing::HasSubstr;

std::string file_with(const std::string& run) {
  return fmt::format(
      "{{\"schema\": \"gpusim-hardware-1\", \"device\": {{\"name\": \"G\", \"core_khz\": 1500000}},\n"
      "\"date\": \"2026-01-02\", \"source\": \"s\", \"runs\": [\n{}]}}",
      run);
}

const std::string kKernel =
    R"({"name": "k", "grid": [2, 3], "block": [64], "cycles": 90.5, "least": 90, "most": 100, "repeats": 5,
"method": "clock64", "registers": 12})";
const std::string kFiles = R"("ptx": "../a.ptx", "launch": "b/a.toml")";

std::string error_of(const std::string& text) {
  try {
    (void)parse_hardware_file(text, "folder/h.json");
  } catch (const core::InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(HardwareFile, HasEverythingThatWasMeasured) {
  const HardwareFile file = parse_hardware_file(
      file_with("{\"name\": \"r\", " + kFiles + R"(, "params": {"N": 8, "a": 0.5}, "seed": 3, "fitting": true,
"kernels": [)" + kKernel +
                R"(], "buffers": [{"name": "C", "sha256": ")" + std::string(64, 'a') + "\"}]}"),
      "folder/h.json");
  EXPECT_EQ(file.device, "G");
  EXPECT_EQ(file.core_hz, 1.5e9);
  ASSERT_EQ(file.runs.size(), 1u);
  const HardwareRun& run = file.runs[0];
  EXPECT_EQ(run.ptx, "a.ptx");
  EXPECT_EQ(run.launch, "folder/b/a.toml");
  EXPECT_EQ(run.params, (std::vector<std::string>{"N=8", "a=0.5"}));
  EXPECT_EQ(run.seed, 3u);
  EXPECT_EQ(run.role, Role::kFitting);
  ASSERT_EQ(run.kernels.size(), 1u);
  const HardwareKernel& k = run.kernels[0];
  EXPECT_EQ(k.grid, (std::array<uint32_t, 3>{2, 3, 1}));
  EXPECT_EQ(k.block, (std::array<uint32_t, 3>{64, 1, 1}));
  EXPECT_EQ(k.cycles, 90.5);
  EXPECT_EQ(k.most, 100);
  EXPECT_EQ(k.repeats, 5u);
  EXPECT_EQ(k.method, Method::kClock64);
  EXPECT_EQ(k.registers, 12u);
  EXPECT_EQ(run.buffers.at(0).name, "C");
}

TEST(HardwareFile, MistakesAreNamedWithTheirPlaces) {
  EXPECT_EQ(error_of("{"), "folder/h.json:1:2: error: expected a name in quotes, found the end of the file");
  EXPECT_THAT(error_of("{}"),
              HasSubstr("folder/h.json:1:1: error: a file of measurements needs the member 'schema'"));
  EXPECT_THAT(error_of("[]"),
              HasSubstr("folder/h.json:1:1: error: a file of measurements is an object, this is an array"));
  EXPECT_THAT(error_of("{\"schema\": \"x\"}"),
              HasSubstr("h.json:1:12: error: 'schema' is not \"gpusim-hardware-1\""));
  const auto run_error = [](const std::string& members) {
    return error_of(file_with("{\"name\": \"r\", " + kFiles + members + "}"));
  };
  EXPECT_EQ(run_error(", \"flop_rate\": 1e9"), "no error");
  EXPECT_EQ(run_error(", \"not_run\": \"too old\""), "no error");
  EXPECT_THAT(run_error(""), HasSubstr("h.json:3:1: error: a run has one of 'kernels'"));
  EXPECT_THAT(run_error(", \"flop_rate\": 1, \"not_run\": \"x\""), HasSubstr("a run has one of"));
  EXPECT_THAT(run_error(", \"flop_rate\": 0"), HasSubstr("'flop_rate' is at least 1"));
  EXPECT_THAT(run_error(", \"flop_rat\": 1"),
              HasSubstr("a run has no member 'flop_rat'\n  hint: did you mean 'flop_rate'?"));
  EXPECT_THAT(run_error(", \"flop_rate\": \"1\""), HasSubstr("'flop_rate' is a number, this is a string"));
  EXPECT_THAT(run_error(", \"seed\": -1, \"flop_rate\": 1"), HasSubstr("'seed' is an integer from 0 to"));
  EXPECT_THAT(run_error(", \"params\": {\"N\": \"8\"}, \"flop_rate\": 1"),
              HasSubstr("parameter 'N' is a number"));
  EXPECT_THAT(run_error(", \"ptx_sha256\": \"AB\", \"flop_rate\": 1"),
              HasSubstr("64 lower-case hexadecimal digits"));
  EXPECT_THAT(
      run_error(
          R"(, "kernels": [{"name": "k", "grid": [0], "block": [1], "cycles": 9, "method": "clock63"}])"),
      ::testing::AllOf(HasSubstr("'grid' is an array of one to three integers from 1 on"),
                       HasSubstr("there is no method 'clock63'\n  hint: did you mean 'clock64'?")));
  EXPECT_THAT(
      run_error(
          R"(, "kernels": [{"name": "k", "grid": [1], "block": [1], "cycles": 9, "least": 10, "method": "events"}])"),
      HasSubstr("does not lie between 'least' and 'most'"));
  EXPECT_THAT(error_of(file_with("{\"name\": \"r\", " + kFiles + ", \"not_run\": \"a\"}, {\"name\": \"r\", " +
                                 kFiles + ", \"not_run\": \"a\"}")),
              HasSubstr("there is a run 'r' already"));
}

TEST(HardwareFile, ARunMayHaveOneFigureForAllLaunches) {
  const auto run_of = [](const std::string& members) {
    return parse_hardware_file(file_with("{\"name\": \"r\", " + kFiles + members + "}"), "h.json").runs.at(0);
  };
  const HardwareRun run =
      run_of(R"(, "seconds": 2e-3, "overhead_seconds": 6e-6, "part": 0.25, "role": "judge",
"cache": "warm", "set": ["l2.ways=8"], "core_clock": "1050MHz", "power_w": 120, "power_cache": "flushed", "counters": {"dram_read_sectors": 12})");
  ASSERT_TRUE(run.whole);
  EXPECT_EQ(run.whole->kind, WholeRun::Kind::kSeconds);
  EXPECT_EQ(run.whole->value, 2e-3);
  EXPECT_EQ(run.whole->part, 0.25);
  EXPECT_EQ(run.whole->pause_seconds, 6e-6) << "as the overhead, if nothing is said of it";
  EXPECT_EQ(
      run_of(R"(, "seconds": 1, "overhead_seconds": 6e-6, "pause_seconds": 17e-6)").whole->pause_seconds,
      17e-6);
  EXPECT_EQ(run.role, Role::kJudge);
  EXPECT_EQ(run.caches, comp::CacheState::kWarm);
  EXPECT_EQ(run.sets, std::vector<std::string>{"l2.ways=8"});
  EXPECT_EQ(run.clocks.core_khz, 1'050'000);
  EXPECT_EQ(run.power_w, 120);
  EXPECT_EQ(run.power_caches, comp::CacheState::kFlushed);
  EXPECT_EQ(run_of(R"(, "cycles": 1, "cache": "warm", "power_w": 9)").power_caches, comp::CacheState::kWarm);
  EXPECT_EQ(run.counters.at(0).second, 12);
  EXPECT_EQ(run_of(R"(, "bytes_per_second": 1e9, "bytes": 4096)").whole->bytes, 4096);
  EXPECT_EQ(run_of(R"(, "cycles": 100)").caches, comp::CacheState::kCold);
}

TEST(HardwareFile, MistakesInAFigureForAllLaunchesAreNamed) {
  const auto run_error = [](const std::string& members) {
    return error_of(file_with("{\"name\": \"r\", " + kFiles + members + "}"));
  };
  EXPECT_THAT(run_error(R"(, "cycles": 100, "seconds": 1)"),
              HasSubstr("'seconds' and another figure are given"));
  EXPECT_THAT(run_error(R"(, "bytes_per_second": 100)"), HasSubstr("'bytes_per_second' and 'bytes'"));
  EXPECT_THAT(run_error(R"(, "cycles": 100, "bytes": 1)"), HasSubstr("belong together"));
  EXPECT_THAT(run_error(R"(, "cycles": 100, "part": 2)"), HasSubstr("'part' is at most 1"));
  EXPECT_THAT(run_error(R"(, "seconds": 1, "overhead_seconds": 1)"), HasSubstr("is part of 'seconds'"));
  EXPECT_THAT(run_error(R"(, "cycles": 1, "power_cache": "warm")"),
              HasSubstr("'power_cache' is of 'power_w'"));
  EXPECT_THAT(run_error(R"(, "cycles": 100, "role": "judged")"),
              HasSubstr("there is no role 'judged'\n  hint: did you mean 'judge'?"));
  EXPECT_THAT(run_error(R"(, "cycles": 100, "cache": "hot")"), HasSubstr("there is no cache 'hot'"));
  EXPECT_THAT(run_error(R"(, "cycles": 100, "dram_clock": "fast")"), HasSubstr("'dram_clock' is a clock"));
  EXPECT_THAT(run_error(R"(, "cycles": 100, "set": [3])"), HasSubstr("'set' lists texts"));
  EXPECT_THAT(run_error(R"(, "cycles": 100, "counters": {"dram_reads": 3})"),
              HasSubstr("there is no counter 'dram_reads'"));
}

}  // namespace
}  // namespace gpusim::correlate
