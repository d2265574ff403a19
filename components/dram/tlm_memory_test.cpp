// The TLM-2.0 socket in the place of a DRAM channel, between a scripted sender and a sink, before an outside
// memory; cycles of 1 ns. In expected times: +1 from sender to channel and from channel to sink; a phase of
// the memory is seen at the next edge.
#include "components/dram/tlm_memory.h"

#include <gtest/gtest.h>

#include <memory>

#include "components/testing/mocks.h"
#include "components/testing/queueing_memory.h"

namespace gpusim::comp {
namespace {

constexpr double kLatency = 40;  // ns; twice that for odd multiples of 64 below 128, see QueueingMemory

/// Answers in the call itself: TLM_COMPLETED, or a phase on the return path.
class ImmediateMemory : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
 public:
  explicit ImmediateMemory(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  tlm::tlm_target_socket<> socket;
  tlm::tlm_sync_enum answer = tlm::TLM_COMPLETED;
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  std::vector<uint64_t> addresses;
  std::vector<bool> writes;
  int ended = 0;

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& t, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::END_RESP) {
      ++ended;
      return tlm::TLM_COMPLETED;
    }
    addresses.push_back(t.get_address());
    writes.push_back(t.is_write());
    t.set_response_status(status);
    delay += sc_core::sc_time(30, sc_core::SC_NS);
    phase = tlm::BEGIN_RESP;
    return answer;
  }
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned int transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
};

class TlmMemoryTest : public testing::Test {
 protected:
  template <class Memory>
  void build(Memory& memory, uint64_t sink_from = 0, uint32_t reply_capacity = 64) {
    core::MachineConfig machine =
        test::tesla_c1060({"dram.queue=4", "dram.write_high=4", "dram.write_low=1"});
    machine.l2.partitions = 2;  // blocks of 256 bytes in turn
    channel = std::make_unique<TlmMemory>("channel", domain, machine, 0, [this](const std::string& what) {
      error += what;
      engine.stop();
    });
    sink = std::make_unique<test::Sink<MemoryReply>>("sink", domain, sink_from);
    requests = std::make_unique<core::Link<MemoryRequest>>(source, *channel, 64, 0, 64);
    replies = std::make_unique<core::Link<MemoryReply>>(*channel, *sink, reply_capacity);
    source.out = requests.get();
    sink->in = replies.get();
    channel->connect(*requests, *replies);
    channel->socket.bind(memory.socket);
  }
  void send(uint64_t cycle, uint64_t address, RequestKind kind = RequestKind::kRead) {
    source.send(cycle, {address, 64, kind, 1, 0, next_tag_++, true});
  }
  void run() {
    EXPECT_EQ(engine.run(), core::Engine::Outcome::kNothingScheduled);
    EXPECT_EQ(sink->taken.size(), next_tag_);
    EXPECT_TRUE(engine.waiting().empty());
    EXPECT_EQ(error, "");
  }
  using Times = std::vector<uint64_t>;

  core::Engine engine;
  core::ClockDomain domain{"dram", engine, test::kTestKhz};
  test::Source<MemoryRequest> source{"source", domain};
  std::unique_ptr<TlmMemory> channel;
  std::unique_ptr<test::Sink<MemoryReply>> sink;
  std::unique_ptr<core::Link<MemoryRequest>> requests;
  std::unique_ptr<core::Link<MemoryReply>> replies;
  std::string error;
  uint16_t next_tag_ = 0;
};

TEST_F(TlmMemoryTest, FourPhasesOfOneRequest) {
  test::QueueingMemory memory("memory", 4, sc_core::sc_time(kLatency, sc_core::SC_NS));
  build(memory);
  send(10, 0);
  run();
  // Begun at 11, served at 51, seen at 52.
  EXPECT_EQ(sink->taken_at, Times{53});
  EXPECT_EQ(sink->taken[0].level, MemoryLevel::kDram);
  EXPECT_EQ(channel->stats().reads, 1u);
  EXPECT_EQ(channel->stats().read_bytes, 64u);
  EXPECT_EQ(memory.ended, 1u);
  EXPECT_EQ(memory.broken, 0u);
}

TEST_F(TlmMemoryTest, ALaterRequestOvertakes) {
  test::QueueingMemory memory("memory", 4, sc_core::sc_time(kLatency, sc_core::SC_NS));
  build(memory);
  send(10, 64);
  send(10, 192);
  run();
  EXPECT_EQ(sink->taken[0].tag, 1);
  // Begun at 11 and, END_REQ having been seen, at 12; served at 91 and at 52.
  EXPECT_EQ(sink->taken_at, (Times{54, 93}));
}

TEST_F(TlmMemoryTest, EndReqHoldsTheNextRequestBack) {
  test::QueueingMemory memory("memory", 1, sc_core::sc_time(kLatency, sc_core::SC_NS));
  build(memory);
  for (int i = 0; i < 3; ++i) send(10, 0);
  run();
  // A request is accepted when the one before it has ended: BEGIN_RESP at 51, END_RESP at 52, served at 92;
  // and so on.
  EXPECT_EQ(sink->taken_at, (Times{53, 94, 135}));
  EXPECT_EQ(memory.held_back, 2u);
}

TEST_F(TlmMemoryTest, AFullReplyLinkHoldsEndRespBack) {
  test::QueueingMemory memory("memory", 4, sc_core::sc_time(kLatency, sc_core::SC_NS));
  build(memory, 500, 1);
  for (int i = 0; i < 6; ++i) send(10, 0);
  run();
  EXPECT_EQ(sink->taken_at[0], 500u);
  EXPECT_EQ(sink->taken_at[1], 502u) << "the freed slot is seen one cycle later";
  EXPECT_EQ(memory.ended, 6u);
  EXPECT_EQ(memory.broken, 0u);
}

TEST_F(TlmMemoryTest, AnAtomicIsAReadAndAWrite) {
  test::QueueingMemory memory("memory", 4, sc_core::sc_time(kLatency, sc_core::SC_NS));
  build(memory);
  send(10, 0, RequestKind::kAtomic);
  send(200, 0, RequestKind::kWrite);
  run();
  EXPECT_EQ(sink->taken_at[0], 53u) << "answered by its read";
  EXPECT_FALSE(sink->taken[1].has_data);
  EXPECT_EQ(memory.accepted, 3u);
  EXPECT_EQ(channel->stats().reads, 1u);
  EXPECT_EQ(channel->stats().writes, 2u);
}

TEST_F(TlmMemoryTest, AddressesAreOffsetsInTheChannel) {
  ImmediateMemory memory("memory");
  build(memory);
  send(10, 0);
  send(100, 2 * 256 + 64);  // the second block of this partition
  send(200, uint64_t{4} * 256, RequestKind::kWrite);
  run();
  EXPECT_EQ(memory.addresses, (Times{0, 256 + 64, 512}));
  EXPECT_EQ(memory.writes, (std::vector<bool>{false, false, true}));
}

TEST_F(TlmMemoryTest, CompletionInTheCallNeedsNoOtherPhase) {
  ImmediateMemory memory("memory");
  build(memory);
  send(10, 0);
  run();
  EXPECT_EQ(sink->taken_at, Times{11 + 30 + 1 + 1});
  EXPECT_EQ(memory.ended, 0);
}

TEST_F(TlmMemoryTest, AResponseOnTheReturnPathIsEnded) {
  ImmediateMemory memory("memory");
  memory.answer = tlm::TLM_UPDATED;
  build(memory);
  send(10, 0);
  run();
  EXPECT_EQ(sink->taken_at, Times{11 + 30 + 1 + 1});
  EXPECT_EQ(memory.ended, 1);
}

TEST_F(TlmMemoryTest, AnErrorResponseEndsTheRun) {
  ImmediateMemory memory("memory");
  memory.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  build(memory);
  send(10, 64);
  EXPECT_EQ(engine.run(), core::Engine::Outcome::kStopped);
  EXPECT_EQ(error,
            "outside memory of channel 0, address 0x40: the memory responded TLM_ADDRESS_ERROR_RESPONSE");
}

}  // namespace
}  // namespace gpusim::comp
