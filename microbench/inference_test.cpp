// What is inferred from readings, with readings of known origin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "isa/exec/executor.h"
#include "isa/lowering/lowering.h"
#include "isa/ptx/diagnostics.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"
#include "microbench/bandwidths.h"
#include "microbench/cache_structure.h"
#include "microbench/chases.h"
#include "microbench/operations.h"
#include "microbench/outstanding.h"
#include "microbench/timing.h"

namespace gpusim::microbench {
namespace {

std::vector<uint32_t> random_picks(uint32_t lines) {
  std::mt19937 random(7);
  std::vector<uint32_t> picks;
  picks.reserve(300);
  for (int i = 0; i < 300; ++i) picks.push_back(static_cast<uint32_t>(random() % lines));
  return picks;
}

/// A set as a list, the next line to go in front; `moves`: a hit takes its line to the end (LRU, not FIFO).
std::vector<bool> list_misses(uint32_t ways, const std::vector<uint32_t>& picks, bool moves) {
  std::vector<uint32_t> set;
  std::vector<bool> missed;
  for (const uint32_t line : picks) {
    const auto at = std::find(set.begin(), set.end(), line);
    missed.push_back(at == set.end());
    if (at == set.end()) {
      if (set.size() == ways) set.erase(set.begin());
      set.push_back(line);
    } else if (moves) {
      set.erase(at);
      set.push_back(line);
    }
  }
  return missed;
}

/// Takes a picosecond for each thread.
class ThreadByThread : public Device {
 public:
  /// `event_step`: seconds by which its times may be wrong.
  explicit ThreadByThread(double event_step = 0) {
    properties_ = {
        .sms = 100, .threads_per_block = 1024, .memory_bytes = uint64_t{1} << 36, .event_step = event_step};
  }
  [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }
  [[nodiscard]] std::vector<Outcome> run(std::span<const Program> programs) override {
    std::vector<Outcome> outcomes;
    for (const Program& p : programs) {
      Outcome& o = outcomes.emplace_back();
      for (const Buffer& b : p.buffers) {
        std::vector<uint32_t>& words = o.buffers.emplace_back(b.read_back ? b.bytes / 4 : 0);
        for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint32_t>(i);
      }
      for (const Launch& l : p.launches) o.seconds.push_back(1e-12 * l.blocks * l.threads);
      launches.insert(launches.end(), p.launches.begin(), p.launches.end());
    }
    return outcomes;
  }
  std::vector<Launch> launches;

 private:
  DeviceProperties properties_;
};

TEST(Streams, OfALargeSecondLevelKeepToTheBlocksThatTheirPtxCanTellApart) {
  ThreadByThread device(1e-9);
  Hierarchy h;
  h.l2.present = true;
  h.l2.capacity = uint64_t{50} << 20;
  DataSheet sheet;
  measure_bandwidths(device, h, sheet);
  int streams = 0;
  for (const Launch& l : device.launches) {
    if (l.kernel != "read" && l.kernel != "copy" && l.kernel != "triad") continue;
    ++streams;
    EXPECT_LE(l.blocks, 65535u);
    EXPECT_GE(uint64_t{l.blocks} * l.threads, l.arguments[3].value) << "every element has a thread";
  }
  EXPECT_EQ(streams, 9);
  EXPECT_NEAR(sheet.find("bandwidth.read")->found->number, 8e12, 8e8);
  EXPECT_NEAR(sheet.find("bandwidth.triad")->found->number, 12e12, 12e8);
}

TEST(Streams, OfALargeSecondLevelAreShortWhereTimesAreExact) {
  ThreadByThread device;
  Hierarchy h;
  h.l2.present = true;
  h.l2.capacity = uint64_t{60} << 20;
  DataSheet sheet;
  measure_bandwidths(device, h, sheet);
  uint64_t elements = 0, written = 0;
  std::set<uint64_t> arrays;
  for (const Launch& l : device.launches) {
    if (l.kernel != "read" && l.kernel != "copy" && l.kernel != "triad") continue;
    const uint64_t n = l.arguments[3].value;
    EXPECT_GE(uint64_t{l.blocks} * l.threads, n) << "every element has a thread";
    EXPECT_TRUE(arrays.insert(l.arguments[0].value).second) << "a launch finds what another one left";
    elements += n;
    if (l.kernel == "copy" && written == 0) written = n;
  }
  EXPECT_GE(written * 8, h.l2.capacity) << "before copy is timed, the level is as copy leaves it";
  EXPECT_LT(elements, h.l2.capacity) << "a third of what twelve launches over arrays of its size have";
  EXPECT_NEAR(sheet.find("bandwidth.read")->found->number, 8e12, 8e8);
  EXPECT_NEAR(sheet.find("bandwidth.triad")->found->number, 12e12, 12e8);
}

TEST(Streams, OfFourElementsAThreadAreWholeBlocksThatTheirPtxCanTellApart) {
  for (const double step : {0.0, 1e-9})
    for (const uint64_t megabytes : {1, 60, 512}) {
      ThreadByThread device(step);
      Hierarchy h;
      h.l2.present = true;
      h.l2.capacity = megabytes << 20;
      DataSheet sheet;
      measure_bandwidths(device, h, sheet);
      int streams = 0;
      for (const Launch& l : device.launches) {
        if (l.kernel != "read4" && l.kernel != "copy4" && l.kernel != "triad4") continue;
        ++streams;
        const uint64_t n = l.arguments[3].value;
        EXPECT_EQ(l.threads, 256u);
        EXPECT_EQ(n % 1024, 0u) << "a block looks at its first element alone";
        EXPECT_LE(l.blocks, 65535u);
        EXPECT_EQ(uint64_t{l.blocks} * 1024, std::max<uint64_t>(n, 1024)) << "every element has a thread";
      }
      EXPECT_EQ(streams, 9);
      EXPECT_NEAR(sheet.find("bandwidth.read4")->found->number, 32e12, 32e8);
      EXPECT_NEAR(sheet.find("bandwidth.triad4")->found->number, 48e12, 48e8);
    }
}

TEST(Replacement, IsToldByItsMisses) {
  for (const uint32_t ways : {2u, 4u, 6u, 16u}) {
    const std::vector<uint32_t> picks = random_picks(ways + 1);
    EXPECT_EQ(replacement_of(ways, picks, list_misses(ways, picks, true)), "lru") << ways;
    EXPECT_EQ(replacement_of(ways, picks, list_misses(ways, picks, false)), "fifo") << ways;
  }
}

TEST(Replacement, NamesNoPolicyThatDoesNotFit) {
  const std::vector<uint32_t> picks = random_picks(5);
  std::vector<bool> missed = list_misses(4, picks, true);
  missed[250] = !missed[250];
  EXPECT_EQ(replacement_of(4, picks, missed), "");
}

TEST(FirstJump, FindsTheLoadThatWaits) {
  std::vector<double> times;
  for (int n = 1; n <= 100; ++n) times.push_back(500 + 2 * n + (n > 64 ? 350 : 0));
  EXPECT_EQ(first_jump(times, times.front()), 64u);
  times.resize(64);
  EXPECT_EQ(first_jump(times, times.front()), 0u);
}

// Chases go over powers of two: those around the capacity decide, from both sides.
TEST(Chases, AreTheSameForCapacitiesBetweenTwoThatAreAlike) {
  constexpr uint64_t kMb = 1 << 20;
  EXPECT_TRUE(alike_to_chases(40 * kMb, 52 * kMb));
  EXPECT_FALSE(alike_to_chases(52 * kMb, 63 * kMb));  // 256 MB are beyond the larger, 128 MB beyond the other
  EXPECT_FALSE(alike_to_chases(63 * kMb, 65 * kMb));  // 32 MB are well within the larger only
  EXPECT_TRUE(alike_to_chases(0, 0));
}

TEST(Elapsed, IsFromTheFirstStartToTheLastEndAcrossTheWrap) {
  EXPECT_EQ(elapsed(std::vector<uint32_t>{100, 150, 90, 180}), 90);
  EXPECT_EQ(elapsed(std::vector<uint32_t>{5, 40, 0xfffffff6u, 20}), 50);
}

/// Each operation is of the timing class that the data sheet compares it with.
TEST(Operations, AreOfTheirTimingClass) {
  for (const int capability : {13, 20, 30, 70, 90}) {
    DeviceProperties device;
    device.capability = capability;
    const std::vector<OperationRow> rows = operations_of(device);
    const isa::ParseResult parsed = isa::parse_module(operation_module(device, rows, 2, 8));
    ASSERT_TRUE(parsed.ok()) << capability;
    const isa::Diagnostics diagnostics = isa::verify_module(parsed.module);
    ASSERT_FALSE(isa::has_errors(diagnostics)) << isa::format_diagnostic("operations", diagnostics.front());
    isa::LoweringOptions options;
    options.machine_capability = capability;
    options.address_of = [](const isa::Variable&) { return isa::kDeviceMemoryBase; };
    for (const OperationRow& row : rows) {
      const auto lowered =
          isa::lower_kernel(parsed.module, *parsed.module.find_function(std::string(row.name)), options);
      const auto* image = std::get_if<isa::KernelImage>(&lowered);
      ASSERT_NE(image, nullptr) << row.name;
      int of_class = 0;
      for (const isa::MicroOp& op : image->ops)
        of_class += isa::op_class_name(op.op_class) == row.timing_class;
      EXPECT_GE(of_class, 2 * 8 * row.operations) << row.name << " at " << capability;
    }
  }
}

}  // namespace
}  // namespace gpusim::microbench
