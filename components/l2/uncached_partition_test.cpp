// The memory partition without an L2 for global memory, with a slice of the second texture level, between
// mocks. Interconnect cycles; +1 in a time: a message is seen at the reader's next edge.
#include <algorithm>

#include "components/testing/partition_bench.h"

namespace gpusim::comp {
namespace {

class UncachedPartitionTest : public test::PartitionBench {
 protected:
  static constexpr uint64_t kHit = 30;
  void build(uint64_t sink_from = 0) {
    core::MachineConfig m = test::tesla_c1060({});
    m.texture.l2_latency_ns = kHit * 1e6 / static_cast<double>(test::kTestKhz);
    PartitionBench::build(std::move(m), 64, sink_from);
  }
  void send(uint64_t cycle, uint64_t address, RequestKind kind) {
    source.send(cycle, {address, 32, kind, 0, 2, tag_++, true});
  }
  /// Cycle in which the reply to request `tag` was taken.
  [[nodiscard]] uint64_t taken(uint16_t tag) const {
    for (size_t i = 0; i < sink->taken.size(); ++i)
      if (sink->taken[i].tag == tag) return sink->taken_at[i];
    ADD_FAILURE() << "no reply to " << tag;
    return 0;
  }
  uint16_t tag_ = 0;
};

TEST_F(UncachedPartitionTest, ATextureReadMissesThenHits) {
  build();
  send(10, 0x20, RequestKind::kTexture);
  send(200, 0x20, RequestKind::kTexture);
  run();
  EXPECT_EQ(taken(0), 63u);
  EXPECT_EQ(taken(1), 201 + kHit + 1);
  EXPECT_EQ(sink->taken[1].level, MemoryLevel::kTextureL2);
  EXPECT_EQ(dram.seen.size(), 1u);
}

TEST_F(UncachedPartitionTest, HitsInEveryCycleDoNotHoldBackWhatComesFromDram) {
  build();
  send(10, 0x20, RequestKind::kTexture);
  for (uint64_t cycle = 200; cycle < 260; ++cycle) send(cycle, 0x20, RequestKind::kTexture);
  const uint16_t read = tag_;
  send(260, 0x4000, RequestKind::kRead);
  for (uint64_t cycle = 261; cycle < 800; ++cycle) send(cycle, 0x20, RequestKind::kTexture);
  run();
  // DRAM and the links: the hits that are due meanwhile go first only if they are older.
  EXPECT_LE(taken(read), 260 + kDram + 4);
  EXPECT_EQ(sink->taken.size(), tag_) << "none is lost";
  EXPECT_EQ(sink->taken.back().tag, tag_ - 1);
}

TEST_F(UncachedPartitionTest, RepliesFromDramDoNotHoldBackHits) {
  build();
  send(10, 0x20, RequestKind::kTexture);
  for (uint64_t cycle = 200; cycle < 400; ++cycle)
    send(cycle, 0x4000 + 0x100 * 8 * cycle, RequestKind::kRead);
  const uint16_t hit = tag_;
  send(400, 0x20, RequestKind::kTexture);
  for (uint64_t cycle = 401; cycle < 600; ++cycle)
    send(cycle, 0x4000 + 0x100 * 8 * cycle, RequestKind::kRead);
  run();
  EXPECT_LE(taken(hit), 400 + kHit + 4);
  EXPECT_EQ(sink->taken.size(), tag_);
}

}  // namespace
}  // namespace gpusim::comp
