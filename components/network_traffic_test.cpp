// The whole memory network with every queue at one entry: random loads, stores, atomics and constant reads of
// all SMs must drain, and every request must be answered exactly once, by the right kind and address. Traffic
// generators stand for the SMs.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

#include "components/constant_cluster.h"
#include "components/crossbar.h"
#include "components/dram_channel.h"
#include "components/memory_partition.h"
#include "components/testing/mocks.h"

namespace gpusim::comp {
namespace {

constexpr uint32_t kSms = 6, kPerCluster = 3, kClusters = 2, kPartitions = 4;

/// Sends random requests with at most `window` outstanding; checks the replies.
class Generator : public core::Clocked {
 public:
  Generator(const char* name, core::ClockDomain& domain, uint16_t index, uint64_t seed, uint32_t count,
            uint32_t window)
      : Clocked(name, domain), index_(index), random_(seed), left_(count), window_(window) {
    wake_at(core::Cycle(1));
  }
  core::Link<MemoryRequest>*request = nullptr, *constant_request = nullptr;
  core::Link<MemoryReply>*reply = nullptr, *constant_reply = nullptr;
  uint32_t answered = 0;
  [[nodiscard]] bool finished() const { return left_ == 0 && open_.empty() && constant_open_.empty(); }

 protected:
  core::Cycle tick(core::Cycle now) override {
    take(*reply, open_);
    take(*constant_reply, constant_open_);
    if (left_ > 0 && random_() % 3 != 0) send();
    return left_ > 0 ? now + 1 : std::min(reply->next_visible(), constant_reply->next_visible());
  }

 private:
  void take(core::Link<MemoryReply>& link, std::map<uint16_t, MemoryRequest>& open) {
    while (link.front() != nullptr) {
      const MemoryReply r = link.pop();
      const auto at = open.find(r.tag);
      if (at == open.end()) {
        ADD_FAILURE() << "SM " << index_ << ": a reply nobody waits for, tag " << r.tag;
        continue;
      }
      EXPECT_EQ(r.port, index_);
      EXPECT_EQ(r.address, at->second.address);
      EXPECT_EQ(r.kind, at->second.kind);
      open.erase(at);
      ++answered;
    }
  }
  void send() {
    const uint64_t kind = random_() % 8;
    MemoryRequest r;
    r.port = index_;
    r.tag = next_tag_++;
    r.address = random_() % 512 * 64;
    r.bytes = static_cast<uint16_t>(32u << (random_() % 2));
    if (kind == 7) {
      r.kind = RequestKind::kConstant;
      r.bytes = 64;
      if (constant_open_.size() >= window_ || !constant_request->can_push()) return;
      constant_open_[r.tag] = r;
      constant_request->push(r);
    } else {
      r.kind = kind < 3 ? RequestKind::kRead : kind < 5 ? RequestKind::kWrite : RequestKind::kAtomic;
      r.parts = static_cast<uint8_t>(1 + random_() % 16);
      r.wants_data = kind != 6;
      if (open_.size() >= window_ || !request->can_push()) return;
      open_[r.tag] = r;
      request->push(r);
    }
    --left_;
  }
  uint16_t index_;
  std::mt19937_64 random_;
  uint32_t left_, window_;
  uint16_t next_tag_ = 0;
  std::map<uint16_t, MemoryRequest> open_, constant_open_;
};

/// Same topology as Gpu, queues and latencies as the test wants.
class Network {
 public:
  Network(uint64_t seed, uint32_t capacity, uint64_t latency, uint32_t window, uint32_t count)
      : capacity_(capacity), latency_(latency) {
    machine.l2.partitions = kPartitions;
    machine.dram.queue = capacity;
    machine.dram.write_high = 1;
    machine.dram.write_low = 0;
    machine.dram.refi_ns = 500;
    machine.constant.mshrs = window;
    machine.constant.l3_bytes = 4096;
    machine.constant.l2_bytes = 1024;
    requests = std::make_unique<Crossbar<MemoryRequest>>(
        "requests", net, kClusters, kPartitions,
        [](const MemoryRequest& r) { return static_cast<uint32_t>(r.address / 256 % kPartitions); },
        [](const MemoryRequest& r) { return r.kind == RequestKind::kWrite ? 3u : 1u; });
    replies = std::make_unique<Crossbar<MemoryReply>>(
        "replies", net, kPartitions, kClusters, [](const MemoryReply& r) { return uint32_t{r.port}; },
        [](const MemoryReply& r) { return r.has_data ? 2u : 1u; });
    build_memory();
    build_sms(seed, window, count);
  }
  core::Engine engine;
  std::vector<std::unique_ptr<Generator>> sms;

 private:
  template <class T>
  core::Link<T>& link(core::Clocked& from, core::Clocked& to) {
    auto made = std::make_shared<core::Link<T>>(from, to, capacity_, latency_);
    links_.push_back(made);
    return *made;
  }
  void build_memory() {
    for (uint32_t p = 0; p < kPartitions; ++p) {
      partitions.push_back(std::make_unique<MemoryPartition>(("partition" + std::to_string(p)).c_str(), net,
                                                             machine, p, &events));
      channels.push_back(
          std::make_unique<DramChannel>(("dram" + std::to_string(p)).c_str(), dram, machine, p, &events));
      auto& in = link<MemoryRequest>(*requests, *partitions[p]);
      auto& down = link<MemoryRequest>(*partitions[p], *channels[p]);
      auto& up = link<MemoryReply>(*channels[p], *partitions[p]);
      auto& out = link<MemoryReply>(*partitions[p], *replies);
      requests->add_output(in, p);
      replies->add_input(out, p);
      partitions[p]->connect(in, out, down, up);
      channels[p]->connect(down, up);
    }
  }
  void build_sms(uint64_t seed, uint32_t window, uint32_t count) {
    for (uint32_t c = 0; c < kClusters; ++c)
      clusters.push_back(std::make_unique<ConstantCluster>(("constant" + std::to_string(c)).c_str(), core,
                                                           machine, static_cast<uint16_t>(kSms + c)));
    for (uint16_t n = 0; n < kSms; ++n) {
      sms.push_back(std::make_unique<Generator>(("sm" + std::to_string(n)).c_str(), core, n, seed * 100 + n,
                                                count, window));
      Generator& sm = *sms.back();
      ConstantCluster& constant = *clusters[n / kPerCluster];
      sm.request = &link<MemoryRequest>(sm, *requests);
      sm.reply = &link<MemoryReply>(*replies, sm);
      sm.constant_request = &link<MemoryRequest>(sm, constant);
      sm.constant_reply = &link<MemoryReply>(constant, sm);
      requests->add_input(*sm.request, n / kPerCluster);
      replies->add_output(*sm.reply, n / kPerCluster);
      constant.connect_sm(*sm.constant_request, *sm.constant_reply);
    }
    for (uint32_t c = 0; c < kClusters; ++c) {
      auto& out = link<MemoryRequest>(*clusters[c], *requests);
      auto& in = link<MemoryReply>(*replies, *clusters[c]);
      requests->add_input(out, c);
      replies->add_output(in, c);
      clusters[c]->connect_network(out, in);
    }
  }
  uint32_t capacity_;
  uint64_t latency_;
  core::MachineConfig machine = test::tesla_c1060();
  core::ClockDomain core{"core", engine, 1'296'000}, net{"net", engine, 602'000},
      dram{"dram", engine, 800'000};
  EventSink events;
  std::vector<std::shared_ptr<void>> links_;
  std::unique_ptr<Crossbar<MemoryRequest>> requests;
  std::unique_ptr<Crossbar<MemoryReply>> replies;
  std::vector<std::unique_ptr<MemoryPartition>> partitions;
  std::vector<std::unique_ptr<DramChannel>> channels;
  std::vector<std::unique_ptr<ConstantCluster>> clusters;
};

class NetworkTraffic : public testing::TestWithParam<int> {};

TEST_P(NetworkTraffic, DrainsAndAnswersEachRequestOnce) {
  constexpr uint32_t kCount = 400;
  const auto seed = static_cast<uint64_t>(GetParam());
  // Seeds cycle through queue sizes 1, 1, 1, 2, latencies 0, 7 and windows 1, 4.
  Network network(seed, seed % 4 == 3 ? 2 : 1, seed % 2 == 0 ? 0 : 7, seed % 3 == 0 ? 1 : 4, kCount);
  EXPECT_EQ(network.engine.run(), core::Engine::Outcome::kNothingScheduled);
  for (const auto& sm : network.sms) {
    EXPECT_TRUE(sm->finished());
    EXPECT_EQ(sm->answered, kCount);
  }
  EXPECT_TRUE(network.engine.waiting().empty()) << network.engine.waiting().front();
}
INSTANTIATE_TEST_SUITE_P(Seeds, NetworkTraffic, testing::Range(0, 40));

}  // namespace
}  // namespace gpusim::comp
