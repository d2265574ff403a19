// A DRAM channel between a scripted sender and a sink, all in its memory domain unless the sink has one of
// its own, and the clocks of the machine that ships with the repository (800 MHz).
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "components/dram/dram_channel.h"
#include "components/testing/mocks.h"

namespace gpusim::comp::test {

namespace dram {

inline constexpr uint64_t kCl = 10, kRcd = 12, kRp = 10, kRas = 25, kRc = 35, kRrd = 8, kWl = 7;
inline constexpr uint64_t kData = 4;                    // 64 bytes
inline constexpr uint64_t kReadTail = kCl + kData + 1;  // column command to the sink's edge
inline constexpr uint64_t kWriteTail = kWl + kData + 1;
inline constexpr double kClockNs = 1.25;

inline core::MachineConfig plain_machine(std::vector<std::string> sets = {}) {
  sets.insert(sets.begin(), {"dram.row=2K", "l2.hash=modulo"});
  core::MachineConfig m = tesla_c1060(std::move(sets));
  m.l2.partitions = 1;  // addresses are dense in the channel: row = address / 16K, bank = address / 2K % 8
  m.dram.refi_ns = 0;   // no refresh unless a test wants it
  return m;
}

inline uint64_t place(uint64_t bank, uint64_t row, uint64_t column = 0) {
  return (row * 8 + bank) * 2048 + column;
}

}  // namespace dram

class DramBench : public testing::Test {
 protected:
  explicit DramBench(uint64_t khz = 800'000) : domain("dram", engine, khz) {}
  template <class Channel = DramChannel>
  void build(const core::MachineConfig& machine, uint64_t sink_from = 0, uint32_t reply_capacity = 4096,
             core::ClockDomain* domain_of_sink = nullptr) {
    channel = std::make_unique<Channel>("channel", domain, machine, 0, &events);
    sink = std::make_unique<Sink<MemoryReply>>("sink", domain_of_sink == nullptr ? domain : *domain_of_sink,
                                               sink_from);
    requests = std::make_unique<core::Link<MemoryRequest>>(source, *channel, 64, 0, 64);
    replies = std::make_unique<core::Link<MemoryReply>>(*channel, *sink, reply_capacity);
    source.out = requests.get();
    sink->in = replies.get();
    channel->connect(*requests, *replies);
  }
  void send(uint64_t cycle, uint64_t address, RequestKind kind = RequestKind::kRead) {
    source.send(cycle, {address, 64, kind, 1, 0, next_tag_++, true});
  }
  void run() {
    EXPECT_EQ(engine.run(), core::Engine::Outcome::kNothingScheduled);
    EXPECT_EQ(sink->taken.size(), next_tag_);
  }
  [[nodiscard]] std::vector<uint64_t> tags() const {
    std::vector<uint64_t> order;
    for (const MemoryReply& r : sink->taken) order.push_back(r.tag);
    return order;
  }
  using Times = std::vector<uint64_t>;

  core::Engine engine;
  core::ClockDomain domain;
  Source<MemoryRequest> source{"source", domain};
  EventSink events;
  std::unique_ptr<DramChannel> channel;
  std::unique_ptr<Sink<MemoryReply>> sink;
  std::unique_ptr<core::Link<MemoryRequest>> requests;
  std::unique_ptr<core::Link<MemoryReply>> replies;

 private:
  uint16_t next_tag_ = 0;
};

}  // namespace gpusim::comp::test
