// The whole memory network with every queue at one entry: random loads, stores, atomics and constant reads of
// all SMs must drain, and every request must be answered exactly once, by the right kind and address. Traffic
// generators stand for the SMs. With an L2 of the smallest sizes too, where sectors must agree
// between SMs, cache and DRAM.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <map>
#include <memory>
#include <random>
#include <tuple>

#include "components/dram/dram_channel.h"
#include "components/l2/memory_partition.h"
#include "components/lsu/cluster_cache.h"
#include "components/noc/network.h"
#include "components/testing/mocks.h"
#include "simcore/enum_array.h"

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
  std::array<uint64_t, 4> sectors{};  ///< asked for, by RequestKind
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
      r.wants_data = kind != 6;
      if (r.kind == RequestKind::kAtomic) {
        r.parts = static_cast<uint8_t>(1 + random_() % 16);
      } else if (random_() % 2 == 0) {
        r.address &= ~uint64_t{127};
        r.parts = static_cast<uint8_t>(1 + random_() % 15);
        r.bytes = static_cast<uint16_t>(32 * std::popcount(r.parts));
      }
      if (open_.size() >= window_ || !request->can_push()) return;
      open_[r.tag] = r;
      sectors[core::index_of(r.kind)] += r.bytes / 32;
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
  Network(uint64_t seed, uint32_t capacity, uint64_t latency, uint32_t window, uint32_t count,
          const std::vector<std::string>& sets = {})
      : machine(test::tesla_c1060(sets)), capacity_(capacity), latency_(latency) {
    machine.l2.partitions = kPartitions;
    machine.dram.queue = capacity;
    machine.dram.write_high = 1;
    machine.dram.write_low = 0;
    machine.dram.refi_ns = 500;
    machine.constant.mshrs = window;
    machine.constant.l3_bytes = 4096;
    machine.constant.l2_bytes = 1024;
    machine.gpu.sms = kSms;
    machine.gpu.sms_per_cluster = kPerCluster;
    Networks networks = make_networks(net, machine);
    requests = std::move(networks.requests);
    replies = std::move(networks.replies);
    build_memory();
    build_sms(seed, window, count);
  }
  core::Engine engine;
  core::MachineConfig machine;
  std::vector<std::unique_ptr<Generator>> sms;
  std::vector<std::unique_ptr<MemoryPartition>> partitions;
  std::vector<std::unique_ptr<DramChannel>> channels;

  template <class T>
  core::Link<T>& link(core::Clocked& from, core::Clocked& to) {
    auto made = std::make_shared<core::Link<T>>(from, to, capacity_, latency_);
    links_.push_back(made);
    return *made;
  }
  void build_memory() {
    for (uint32_t p = 0; p < kPartitions; ++p) {
      partitions.push_back(
          make_partition(("partition" + std::to_string(p)).c_str(), net, machine, p, &events));
      auto& in = link<MemoryRequest>(*requests, *partitions[p]);
      auto& out = link<MemoryReply>(*partitions[p], *replies);
      requests->add_output(in, p);
      replies->add_input(out, p);
      partitions[p]->connect(in, out);
      for (int64_t c = 0; c < machine.dram.channels; ++c) {
        const auto number = static_cast<uint32_t>(channels.size());
        channels.push_back(std::make_unique<DramChannel>(("dram" + std::to_string(number)).c_str(), dram,
                                                         machine, number, &events));
        auto& down = link<MemoryRequest>(*partitions[p], *channels.back());
        auto& up = link<MemoryReply>(*channels.back(), *partitions[p]);
        partitions[p]->connect_channel(down, up);
        channels.back()->connect(down, up);
      }
    }
  }
  void build_sms(uint64_t seed, uint32_t window, uint32_t count) {
    for (uint32_t c = 0; c < kClusters; ++c)
      clusters.push_back(std::make_unique<ClusterCache>(("constant" + std::to_string(c)).c_str(), core,
                                                        constant_shape(machine, core),
                                                        static_cast<uint16_t>(kSms + c)));
    for (uint16_t n = 0; n < kSms; ++n) {
      sms.push_back(std::make_unique<Generator>(("sm" + std::to_string(n)).c_str(), core, n, seed * 100 + n,
                                                count, window));
      Generator& sm = *sms.back();
      ClusterCache& constant = *clusters[n / kPerCluster];
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
  core::ClockDomain core{"core", engine, 1'296'000}, net{"net", engine, 602'000},
      dram{"dram", engine, 800'000};
  EventSink events;
  std::vector<std::shared_ptr<void>> links_;
  std::unique_ptr<RequestNetwork> requests;
  std::unique_ptr<ReplyNetwork> replies;
  std::vector<std::unique_ptr<ClusterCache>> clusters;
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

struct CacheCase {
  const char* name;
  std::vector<std::string> sets;
};
class NetworkTrafficL2 : public testing::TestWithParam<std::tuple<CacheCase, int>> {};

TEST_P(NetworkTrafficL2, DrainsAndSectorsAgreeBetweenLevels) {
  constexpr uint32_t kCount = 300;
  const auto& [cache, number] = GetParam();
  const auto seed = static_cast<uint64_t>(number);
  std::vector<std::string> sets = {"l2.partitions=4"};
  sets.insert(sets.end(), cache.sets.begin(), cache.sets.end());
  Network network(seed, seed % 4 == 3 ? 2 : 1, seed % 2 == 0 ? 0 : 7, seed % 3 == 0 ? 1 : 4, kCount, sets);
  EXPECT_EQ(network.engine.run(), core::Engine::Outcome::kNothingScheduled);
  EXPECT_TRUE(network.engine.waiting().empty()) << network.engine.waiting().front();
  std::array<uint64_t, 4> asked{};
  for (const auto& sm : network.sms) {
    EXPECT_TRUE(sm->finished());
    EXPECT_EQ(sm->answered, kCount);
    for (size_t k = 0; k < asked.size(); ++k) asked[k] += sm->sectors[k];
  }
  L2Stats sum;
  uint64_t constant_misses = 0;
  for (uint32_t p = 0; p < kPartitions; ++p) {
    const MemoryPartition& partition = *network.partitions[p];
    const L2Stats l2 = *partition.l2_stats();
    uint64_t read_bytes = 0, write_bytes = 0;
    const uint32_t channels = network.machine.dram.channels;
    for (uint32_t c = p * channels; c < (p + 1) * channels; ++c) {
      const DramStats& dram = network.channels[c]->stats();
      EXPECT_GT(dram.reads, 0u);
      EXPECT_EQ(dram.row_hits + dram.row_misses + dram.row_conflicts, dram.reads + dram.writes);
      read_bytes += dram.read_bytes, write_bytes += dram.write_bytes;
    }
    EXPECT_EQ(32 * l2.fills, read_bytes);
    EXPECT_EQ(32 * l2.writebacks, write_bytes);
    EXPECT_EQ(l2.written, l2.writebacks) << "every acknowledgement ends in the partition";
    EXPECT_GT(l2.writebacks, 0u);
    EXPECT_LE(l2.writebacks + partition.l2_dirty_sectors(), l2.writes + l2.atomics);
    constant_misses += partition.constant_misses();
    core::add(sum, l2);
  }
  EXPECT_EQ(sum.reads, asked[core::index_of(RequestKind::kRead)]);
  EXPECT_EQ(sum.writes, asked[core::index_of(RequestKind::kWrite)]);
  EXPECT_EQ(sum.atomics, asked[core::index_of(RequestKind::kAtomic)]);
  EXPECT_EQ(sum.constants, 2 * constant_misses) << "lines of 64 bytes";
}

std::string case_name(const testing::TestParamInfo<std::tuple<CacheCase, int>>& info) {
  return std::string(std::get<0>(info.param).name) + std::to_string(std::get<1>(info.param));
}
INSTANTIATE_TEST_SUITE_P(
    Caches, NetworkTrafficL2,
    testing::Combine(
        testing::Values(
            CacheCase{"OneLine", {"l2.size=512", "l2.ways=1", "l2.mshrs=1", "l2.merges=1"}},
            CacheCase{"NoHitTime", {"l2.size=4K", "l2.ways=2", "l2.merges=2", "l2.hit_latency=0ns"}},
            CacheCase{"WideSectors", {"l2.size=4K", "l2.ways=4", "l2.sector=128", "l2.mshrs=2"}},
            CacheCase{"WideLines",
                      {"l2.size=8K", "l2.ways=8", "l2.line=256", "l2.replacement=plru", "l2.hash=xor"}},
            CacheCase{"Channels",
                      {"l2.size=4K", "l2.ways=2", "dram.channels=3", "gpu.memory=3G", "dram.bank_groups=4",
                       "dram.ccd_l=4ck", "dram.rrd_l=10ck", "dram.faw=40ck", "dram.page=closed",
                       "dram.refresh=bank", "dram.group_interleave=128"}},
            CacheCase{"Mesh",
                      {"l2.size=4K", "l2.ways=2", "interconnect.topology=mesh", "interconnect.router_queue=1",
                       "interconnect.hop_cycles=2", "interconnect.reply_flit=16"}},
            CacheCase{"OldestFarHalves",
                      {"l2.size=4K", "l2.ways=2", "interconnect.arbitration=oldest", "interconnect.flit=16",
                       "l2.halves=2", "l2.far_latency=40ns"}},
            CacheCase{"InOrder", {"l2.size=4K", "l2.ways=2", "dram.scheduler=fcfs"}},
            CacheCase{
                "Polynomial",
                {"l2.size=8K", "l2.ways=4", "l2.replacement=random", "l2.hash=polynomial", "l2.index=xor"}}),
        testing::Range(0, 8)),
    case_name);

}  // namespace
}  // namespace gpusim::comp
