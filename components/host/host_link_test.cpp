#include "components/host/host_link.h"

#include <gtest/gtest.h>

#include <vector>

#include "components/host/host_ranges.h"
#include "components/testing/mocks.h"

namespace gpusim::comp {
namespace {

TEST(HostRanges, HoldsWhatIsAddedAndNotWhatIsRemoved) {
  HostRanges ranges;
  EXPECT_FALSE(ranges.holds(0));
  ranges.add(0x3000, 0x4000);
  ranges.add(0x1000, 0x1100);
  EXPECT_TRUE(ranges.holds(0x1000));
  EXPECT_TRUE(ranges.holds(0x1fff)) << "the page is the host's";
  EXPECT_FALSE(ranges.holds(0x2000));
  EXPECT_FALSE(ranges.holds(0xfff));
  ranges.add(0x6f00, 0x7100);
  ranges.add(0x7200, 0x7300);
  EXPECT_TRUE(ranges.holds(0x6000));
  EXPECT_FALSE(ranges.holds(0x5fff));
  ranges.remove(0x7200);
  EXPECT_TRUE(ranges.holds(0x7200)) << "of the page another piece is there";
  EXPECT_TRUE(ranges.holds(0x3fff));
  ranges.remove(0x1000);
  EXPECT_FALSE(ranges.holds(0x1000));
  EXPECT_TRUE(ranges.holds(0x3000));
  ranges.clear();
  EXPECT_FALSE(ranges.holds(0x3000));
}

/// A link of 8 bytes a cycle with 100 cycles of latency, and one partition.
struct Bench {
  explicit Bench(uint32_t tags) : machine(machine_with(tags)) {
    source.out = &requests;
    sink.in = &replies;
    host.connect(requests, replies);
  }
  static core::MachineConfig machine_with(uint32_t tags) {
    core::MachineConfig m = test::tesla_c1060();
    m.host.link_bytes_per_s = 8'000'000'000;
    m.host.mapped_latency_ns = 100;
    m.host.mapped_requests = tags;
    return m;
  }
  void send(uint64_t cycle, RequestKind kind, uint16_t bytes, uint16_t tag, uint64_t address = 0x1000) {
    source.send(cycle, {address, bytes, kind, 0, 3, tag, true});
  }
  std::vector<uint64_t> run() {
    engine.run();
    return sink.taken_at;
  }
  core::Engine engine;
  core::ClockDomain domain{"interconnect", engine, test::kTestKhz};
  core::MachineConfig machine;
  HostLink host{"host", domain, machine};
  test::Source<MemoryRequest> source{"source", domain};
  test::Sink<MemoryReply> sink{"sink", domain};
  core::Link<MemoryRequest> requests{source, host, 8};
  core::Link<MemoryReply> replies{host, sink, 8};
};

TEST(HostLink, ReadTakesLatencyAndItsBytes) {
  Bench bench(256);
  bench.send(10, RequestKind::kRead, 128, 5);
  // 11 at the link, 100 of latency and 16 of data, one cycle back.
  EXPECT_EQ(bench.run(), std::vector<uint64_t>{11 + 100 + 16 + 1});
  ASSERT_EQ(bench.sink.taken.size(), 1u);
  EXPECT_EQ(bench.sink.taken[0].tag, 5);
  EXPECT_EQ(bench.sink.taken[0].port, 3);
  EXPECT_TRUE(bench.sink.taken[0].has_data);
  EXPECT_EQ(bench.host.stats().read_sectors, 4u);
  EXPECT_EQ(bench.host.stats().read_busy_ps, 16'000u);
}

TEST(HostLink, ReadsShareTheRate) {
  Bench bench(256);
  for (uint16_t i = 0; i < 4; ++i) bench.send(10, RequestKind::kRead, 128, i);
  const std::vector<uint64_t> at = bench.run();
  ASSERT_EQ(at.size(), 4u);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(at[i] - at[i - 1], 16u);
}

TEST(HostLink, ReadsOfSectorsAreLimitedByThoseOnTheirWay) {
  constexpr uint32_t kTags = 4, kReads = 40;
  Bench bench(kTags);
  for (uint16_t i = 0; i < kReads; ++i) bench.send(10, RequestKind::kRead, 32, i, uint64_t{i} * 128);
  const std::vector<uint64_t> at = bench.run();
  ASSERT_EQ(at.size(), kReads);
  // Four in about 100 cycles, where the rate would allow one in four.
  EXPECT_GT(at.back(), 100 * kReads / kTags);
  EXPECT_LT(at.back(), 125 * kReads / kTags);
}

TEST(HostLink, SectorsOfALineGoTogether) {
  Bench bench(1);
  for (uint16_t i = 0; i < 4; ++i) bench.send(10, RequestKind::kRead, 32, i, uint64_t{i} * 32);
  bench.send(10, RequestKind::kRead, 32, 4, 128);
  const std::vector<uint64_t> at = bench.run();
  ASSERT_EQ(at.size(), 5u);
  EXPECT_EQ(at[3], 11 + 100 + 16 + 1u);
  EXPECT_GE(at[4], at[3] + 100) << "the next line has no tag before";
}

TEST(HostLink, WritesArePostedAndReadsGoBesideThem) {
  Bench bench(256);
  bench.send(10, RequestKind::kWrite, 128, 1);
  bench.send(10, RequestKind::kRead, 32, 2);
  bench.send(10, RequestKind::kAtomic, 32, 3);
  EXPECT_EQ(bench.run().size(), 3u);
  EXPECT_EQ(bench.sink.taken[0].tag, 1);
  EXPECT_FALSE(bench.sink.taken[0].has_data);
  EXPECT_EQ(bench.sink.taken_at[0], 11 + 16 + 1u);
  EXPECT_EQ(bench.sink.taken[1].tag, 2);
  EXPECT_EQ(bench.sink.taken[2].tag, 3);
  EXPECT_EQ(bench.host.stats().write_sectors, 4u);
  EXPECT_EQ(bench.host.stats().read_sectors, 1u);
  EXPECT_EQ(bench.host.stats().atomics, 1u);
}

}  // namespace
}  // namespace gpusim::comp
