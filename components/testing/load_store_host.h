// A load/store unit inside a host that calls it as the SM does (replies, then send), below it a memory of
// fixed latency.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "components/lsu/load_store_unit.h"
#include "components/testing/mocks.h"

namespace gpusim::comp::test {

class Host : public core::Clocked {
 public:
  Host(const char* name, core::ClockDomain& domain) : Clocked(name, domain) {}
  LoadStoreUnit* unit = nullptr;
  std::map<uint64_t, std::function<void(uint64_t)>> script;  ///< by cycle, after the replies
  std::vector<std::pair<uint64_t, AccessRecord>> done;       ///< cycle and record
  uint32_t most_mshrs = 0;

 protected:
  core::Cycle tick(core::Cycle cycle) override {
    const uint64_t now = cycle.count();
    unit->collect_replies(now, [&](uint32_t r) { done.emplace_back(now, unit->record(r)); });
    if (const auto step = script.find(now); step != script.end()) step->second(now);
    unit->send(now);
    most_mshrs = std::max(most_mshrs, unit->mshrs_in_use());
    uint64_t next = std::max(std::min(unit->next_send(), unit->next_reply().count()), now + 1);
    if (const auto later = script.upper_bound(now); later != script.end())
      next = std::min(next, later->first);
    return core::Cycle(next);
  }
};

class LoadStoreUnitTest : public testing::Test {
 protected:
  static constexpr uint64_t kMemory = 100;
  void build(const std::vector<std::string>& sets = {}) {
    machine = tesla_c1060(sets);
    request = std::make_unique<core::Link<MemoryRequest>>(host, memory, 8);
    reply = std::make_unique<core::Link<MemoryReply>>(memory, host, 1024);
    constant_request = std::make_unique<core::Link<MemoryRequest>>(host, cluster, 8);
    constant_reply = std::make_unique<core::Link<MemoryReply>>(cluster, host, 1024);
    memory.in = request.get();
    memory.out = reply.get();
    cluster.in = constant_request.get();
    cluster.out = constant_reply.get();
    unit = std::make_unique<LoadStoreUnit>(
        machine, uint16_t{7},
        LoadStoreUnit::Links{request.get(), reply.get(), constant_request.get(), constant_reply.get(),
                             tlb_links()});
    host.unit = unit.get();
    unit->prepare();
    load.kind = isa::OpKind::kLoad;
    load.num_sb_writes = 1;
    store.kind = isa::OpKind::kStore;
    atomic.kind = isa::OpKind::kAtomic;
    atomic.num_sb_writes = 1;
    reduction.kind = isa::OpKind::kAtomic;
  }
  /// Links to the second level of the translation look-aside buffer, for a machine that has one.
  virtual SmTlb::Links tlb_links() { return {}; }
  void at(uint64_t cycle, std::function<void(uint64_t)> action) {
    host.script[cycle] = std::move(action);
    host.wake_at(core::Cycle(cycle));
  }
  void run() {
    EXPECT_EQ(engine.run(), core::Engine::Outcome::kNothingScheduled);
    EXPECT_TRUE(unit->idle());
    EXPECT_EQ(unit->mshrs_in_use(), 0u);
  }
  /// 32 words, `stride` words apart.
  static isa::MemoryAccess words(uint64_t base, uint64_t stride = 1) {
    isa::MemoryAccess a{};
    a.bytes = 4;
    a.lanes = isa::LaneMask::all();
    for (uint64_t lane = 0; lane < 32; ++lane) a.address[lane] = base + 4 * stride * lane;
    return a;
  }
  void submit(const isa::MicroOp& op, const isa::MemoryAccess& access, uint64_t now, uint32_t warp = 0) {
    ASSERT_TRUE(unit->can_accept());
    unit->await(unit->submit(op, warp, 0, access, op.kind == isa::OpKind::kAtomic, now));
  }
  core::Engine engine;
  core::ClockDomain domain{"core", engine, kTestKhz};
  core::MachineConfig machine;
  Host host{"host", domain};
  FixedMemory memory{"memory", domain, kMemory}, cluster{"cluster", domain, 40, MemoryLevel::kConstantL2};
  std::unique_ptr<core::Link<MemoryRequest>> request, constant_request;
  std::unique_ptr<core::Link<MemoryReply>> reply, constant_reply;
  std::unique_ptr<LoadStoreUnit> unit;
  isa::MicroOp load, store, atomic, reduction;
};

}  // namespace gpusim::comp::test
