// Kernels on a machine whose DRAM is an outside TLM-2.0 memory, with and without an L2.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include "components/dram/tlm_memory.h"
#include "components/testing/gather_program.h"
#include "components/testing/queueing_memory.h"
#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

using Memories = std::vector<std::unique_ptr<test::QueueingMemory>>;

struct Case {
  const char* name;
  size_t queue;  ///< of the outside memory
  std::vector<std::string> sets;
};

class OutsideMemory : public testing::TestWithParam<Case> {
 protected:
  static SimulationOptions options() {
    SimulationOptions o = test::program(test::kGatherPtx, test::gather_launch(64, 128), GetParam().sets);
    o.direct_driver = false;
    return o;
  }
  SimulationOptions outside(double ns, bool module_events = false) {
    SimulationOptions o = options();
    o.module_events = module_events;
    o.attach_memory = [this, ns](TlmMemory& channel) {
      const sc_core::sc_time latency(ns, sc_core::SC_NS);
      memories.push_back(std::make_unique<test::QueueingMemory>(
          ("outside" + std::to_string(channel.index())).c_str(), GetParam().queue, latency));
      channel.socket.bind(memories.back()->socket);
    };
    return o;
  }
  Memories memories;  ///< outlive the GPU
};

TEST_P(OutsideMemory, ValuesAreRightAndEveryRequestIsAnsweredOnce) {
  const test::Outcome ours = test::run_apart(options());
  const test::Outcome again = test::run_apart(outside(40)), slower = test::run_apart(outside(90));
  const test::Outcome by_events = test::run_apart(outside(40, true));
  const test::Outcome here = test::run_here(outside(40));
  ASSERT_EQ(here.status, "complete") << here.reason;
  EXPECT_EQ(here.values, ours.values);
  EXPECT_EQ(here.counts, ours.counts);
  EXPECT_EQ(here, again) << "deterministic";
  EXPECT_EQ(here, by_events) << "with an event for each module too";
  EXPECT_EQ(slower.values, ours.values);
  EXPECT_NE(slower.timing, here.timing);
  uint64_t held_back = 0, overtaken = 0, requests = 0;
  for (const auto& m : memories) {
    EXPECT_EQ(m->broken, 0u);
    // What nobody waits for, the writes of atomics and write-backs, may be on its way at the end.
    EXPECT_LE(m->accepted - m->answered, GetParam().queue);
    EXPECT_LE(m->answered - m->ended, 1u);
    held_back += m->held_back, overtaken += m->overtaken, requests += m->accepted;
  }
  EXPECT_GT(requests, 250u);
  const bool many = options().machine.dram.queue > 1;
  EXPECT_EQ(held_back > 0, many) << "END_REQ was late";
  EXPECT_EQ(overtaken > 0, many) << "answers came out of order";
}

INSTANTIATE_TEST_SUITE_P(Machines, OutsideMemory,
                         testing::Values(Case{"Plain", 4, {}},
                                         Case{"SmallestQueues",
                                              1,
                                              {"dram.queue=1", "dram.write_high=1", "dram.write_low=0",
                                               "dram.reply_queue=1", "l2.queue=1", "interconnect.queue=1",
                                               "lsu.mshrs=1", "lsu.store_buffer=1"}},
                                         Case{"SecondLevelTwoChannels",
                                              3,
                                              {"l2.size=64K", "dram.channels=2", "dram.reply_queue=1"}}),
                         [](const auto& machine) { return std::string(machine.param.name); });

/// A loosely timed memory: b_transport() alone, which adds to the delay or waits. Its socket turns the phases
/// of the base protocol into calls.
class BlockingMemory : public sc_core::sc_module {
 public:
  BlockingMemory(const sc_core::sc_module_name& name, bool waits) : sc_module(name), waits_(waits) {
    socket.register_b_transport(this, &BlockingMemory::b_transport);
  }
  tlm_utils::simple_target_socket<BlockingMemory> socket{"socket"};
  uint64_t requests = 0;
  uint64_t overlapping = 0;  ///< requests that began before the one before them had ended

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const sc_core::sc_time latency(40, sc_core::SC_NS), begin = sc_core::sc_time_stamp() + delay;
    ++requests;
    overlapping += begin < end_;
    end_ = begin + latency;
    if (waits_)
      wait(latency);
    else
      delay += latency;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  bool waits_;
  sc_core::sc_time end_;
};

class BlockingOutsideMemory : public testing::TestWithParam<bool> {};

TEST_P(BlockingOutsideMemory, IsServedOneRequestAtATime) {
  std::vector<std::unique_ptr<BlockingMemory>> memories;
  SimulationOptions ours = test::program(test::kGatherPtx, test::gather_launch(64, 128));
  ours.direct_driver = false;
  SimulationOptions options = ours;
  options.attach_memory = [&memories](TlmMemory& channel) {
    const std::string name = "outside" + std::to_string(channel.index());
    memories.push_back(std::make_unique<BlockingMemory>(name.c_str(), GetParam()));
    channel.socket.bind(memories.back()->socket);
  };
  const test::Outcome own_dram = test::run_apart(ours), here = test::run_here(options);
  ASSERT_EQ(here.status, "complete") << here.reason;
  EXPECT_EQ(here.values, own_dram.values);
  EXPECT_EQ(here.counts, own_dram.counts);
  uint64_t requests = 0;
  for (const auto& memory : memories) {
    requests += memory->requests;
    EXPECT_EQ(memory->overlapping, 0u);
  }
  EXPECT_GT(requests, 250u);
}

INSTANTIATE_TEST_SUITE_P(Delays, BlockingOutsideMemory, testing::Bool(),
                         [](const auto& waits) { return waits.param ? "Waits" : "Annotates"; });

}  // namespace
}  // namespace gpusim::comp
