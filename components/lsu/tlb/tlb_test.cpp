// Translation: the second level with scripted requests, the load/store unit with both levels in front of a
// memory of fixed latency, and whole programs. In expected times: +1 for each link.
#include <gtest/gtest.h>

#include <string>

#include "components/lsu/tlb/shared_tlb.h"
#include "components/testing/load_store_host.h"
#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

using test::counter;

constexpr uint64_t kPage = 65536;

core::MachineConfig::Tlb small() {
  core::MachineConfig::Tlb c;
  c.l1_entries = 2, c.l1_ways = 2, c.l1_misses = 4;
  c.page_bytes = kPage;
  c.l2_entries = 2, c.l2_ways = 2;
  c.l2_latency_ns = 20, c.walk_latency_ns = 100;
  c.walkers = 1;
  return c;
}

/// Two SMs' scripts before a second level; cycles of 1 ns.
class SharedTlbTest : public testing::Test {
 protected:
  void build(const core::MachineConfig::Tlb& config) {
    tlb = std::make_unique<SharedTlb>("tlb", domain, config, 2);
    for (size_t s = 0; s < 2; ++s) {
      asks.push_back(std::make_unique<core::Link<PageMessage>>(*sources[s], *tlb, 4, 0, 4));
      pages.push_back(std::make_unique<core::Link<PageMessage>>(*tlb, *sinks[s], 4));
      sources[s]->out = asks[s].get();
      sinks[s]->in = pages[s].get();
      tlb->connect_sm(*asks[s], *pages[s]);
    }
  }
  void ask(size_t sm, uint64_t cycle, uint64_t page) { sources[sm]->send(cycle, {page * kPage}); }
  void run() {
    EXPECT_EQ(engine.run(), core::Engine::Outcome::kNothingScheduled);
    EXPECT_TRUE(engine.waiting().empty());
  }
  using Times = std::vector<uint64_t>;
  core::Engine engine;
  core::ClockDomain domain{"core", engine, test::kTestKhz};
  using Asker = test::Source<PageMessage>;
  using Taker = test::Sink<PageMessage>;
  std::vector<std::unique_ptr<Asker>> sources = two<Asker>("source");
  std::vector<std::unique_ptr<Taker>> sinks = two<Taker>("sink");
  std::unique_ptr<SharedTlb> tlb;
  std::vector<std::unique_ptr<core::Link<PageMessage>>> asks, pages;

 private:
  template <class T>
  std::vector<std::unique_ptr<T>> two(const std::string& name) {
    std::vector<std::unique_ptr<T>> modules;
    for (const char* number : {"0", "1"})
      modules.push_back(std::make_unique<T>((name + number).c_str(), domain));
    return modules;
  }
};

TEST_F(SharedTlbTest, AMissIsWalkedForAndThenAHit) {
  build(small());
  ask(0, 10, 7);
  ask(1, 200, 7);
  run();
  EXPECT_EQ(sinks[0]->taken_at, Times{11 + 20 + 100 + 1});
  EXPECT_EQ(sinks[1]->taken_at, Times{201 + 20 + 1});
  EXPECT_EQ(tlb->stats().hits, 1u);
  EXPECT_EQ(tlb->stats().walks, 1u);
}

TEST_F(SharedTlbTest, WalksInALineOfTheTableThatWasReadAreShorter) {
  core::MachineConfig::Tlb c = small();
  c.table_bytes = 4 * kPage;
  c.table_latency_ns = 30;
  build(c);
  ask(0, 10, 7);    // brings in the translations of pages 4 to 7
  ask(0, 200, 4);   // one of them
  ask(0, 400, 8);   // in the next line
  ask(0, 600, 11);  // which is there now
  run();
  EXPECT_EQ(sinks[0]->taken_at,
            (Times{11 + 20 + 100 + 1, 201 + 20 + 30 + 1, 401 + 20 + 100 + 1, 601 + 20 + 30 + 1}));
  tlb->forget();
  ask(1, 1000, 7);
  run();
  EXPECT_EQ(sinks[1]->taken_at, Times{1001 + 20 + 100 + 1});
}

TEST_F(SharedTlbTest, MissesOfOnePageShareAWalk) {
  build(small());
  ask(0, 10, 7);
  ask(1, 50, 7);
  run();
  EXPECT_EQ(sinks[0]->taken_at, Times{132});
  EXPECT_EQ(sinks[1]->taken_at, Times{132});
  EXPECT_EQ(tlb->stats().misses, 2u);
  EXPECT_EQ(tlb->stats().walks, 1u);
}

TEST_F(SharedTlbTest, OneWalkerWalksOneAfterAnotherTwoAtOnce) {
  build(small());
  ask(0, 10, 7);
  ask(0, 10, 8);
  run();
  // Looked up at 11 and 12.
  EXPECT_EQ(sinks[0]->taken_at, (Times{132, 232}));
}

TEST_F(SharedTlbTest, TwoWalkersWalkAtOnce) {
  core::MachineConfig::Tlb two_walkers = small();
  two_walkers.walkers = 2;
  build(two_walkers);
  ask(0, 10, 7);
  ask(0, 10, 8);
  run();
  EXPECT_EQ(sinks[0]->taken_at, (Times{132, 133}));
}

TEST_F(SharedTlbTest, TheLeastRecentlyUsedPageGoes) {
  build(small());
  const uint64_t pages_asked[] = {1, 2, 1, 3, 1, 2};
  for (uint64_t i = 0; i < 6; ++i) ask(0, 1000 * i, pages_asked[i]);
  run();
  EXPECT_EQ(tlb->stats().hits, 2u) << "1 and 1; 3 took the place of 2";
  EXPECT_EQ(tlb->stats().walks, 4u);
}

TEST_F(SharedTlbTest, WithoutEntriesEveryPageIsWalkedFor) {
  core::MachineConfig::Tlb none = small();
  none.l2_entries = 0;
  build(none);
  ask(0, 0, 1);
  ask(0, 1000, 1);
  run();
  EXPECT_EQ(tlb->stats().walks, 2u);
}

/// A load/store unit whose pages are translated 50 cycles after they are seen.
class TranslatedLoads : public test::LoadStoreUnitTest {
 protected:
  static constexpr uint64_t kTranslation = 50;
  class Pages : public core::Clocked {
   public:
    Pages(const char* name, core::ClockDomain& domain) : Clocked(name, domain) {}
    core::Link<PageMessage>*in = nullptr, *out = nullptr;
    std::vector<uint64_t> seen_at;

   protected:
    core::Cycle tick(core::Cycle now) override {
      while (in->front() != nullptr && out->can_push()) {
        out->push(in->pop(), kTranslation - 1);
        seen_at.push_back(now.count());
      }
      return in->next_visible();
    }
  };
  void build(std::vector<std::string> sets = {}) {
    sets.insert(sets.begin(), {"tlb.l1_entries=2", "tlb.l1_ways=2", "tlb.page=64K"});
    test::LoadStoreUnitTest::build(sets);
  }
  SmTlb::Links tlb_links() override {
    ask = std::make_unique<core::Link<PageMessage>>(host, pages, 8);
    page = std::make_unique<core::Link<PageMessage>>(pages, host, 8, 0, 8);
    pages.in = ask.get();
    pages.out = page.get();
    return {ask.get(), page.get()};
  }
  Pages pages{"pages", domain};
  std::unique_ptr<core::Link<PageMessage>> ask, page;
};

TEST_F(TranslatedLoads, AMissWaitsAHitDoesNot) {
  build();
  at(10, [&](uint64_t now) { submit(load, words(0), now); });
  at(500, [&](uint64_t now) { submit(load, words(4096), now); });
  run();
  // Asked at 10, seen at 11, back at 11 + 50; two transactions of 64 bytes.
  EXPECT_EQ(pages.seen_at, (std::vector<uint64_t>{11}));
  ASSERT_GE(memory.seen_at.size(), 2u);
  EXPECT_EQ(memory.seen_at[0], 11 + kTranslation + 1);
  EXPECT_EQ(memory.seen_at[memory.seen_at.size() / 2], 501u);
  EXPECT_EQ(unit->tlb_stats()->misses, 1u);
  EXPECT_EQ(unit->tlb_stats()->hits, 1u);
  EXPECT_EQ(unit->tlb_stats()->wait_cycles, kTranslation + 1);
}

TEST_F(TranslatedLoads, PagesOfOneAccessAreAskedForOneACycle) {
  build({"tlb.l1_misses=3"});
  at(10,
     [&](uint64_t now) { submit(load, words(0, kPage / 4 / 8), now); });  // eight lanes a page: four pages
  run();
  EXPECT_EQ(pages.seen_at, (std::vector<uint64_t>{11, 12, 13, 11 + kTranslation + 1}))
      << "the fourth when one of three is back";
  EXPECT_EQ(memory.seen.size(), 32u);
  EXPECT_EQ(unit->tlb_stats()->misses, 4u);
}

/// Two accesses in the queue at once: the page of the second is asked for when it comes to the head, or when
/// it enters.
class LookAhead : public TranslatedLoads {
 protected:
  uint64_t last_seen_with(const std::string& look_ahead) {
    build({"tlb.look_ahead=" + look_ahead});
    at(10, [&](uint64_t now) {
      submit(load, words(0), now);
      submit(load, words(kPage), now);
      submit(load, words(kPage + 4096), now);  // of a page that is on its way
    });
    run();
    EXPECT_EQ(unit->tlb_stats()->misses, 2u);
    EXPECT_EQ(pages.seen_at.size(), 2u);
    return pages.seen_at.back();
  }
};

TEST_F(LookAhead, OffAPageIsAskedForAtTheHead) { EXPECT_GT(last_seen_with("false"), 11 + kTranslation); }

TEST_F(LookAhead, OnPagesOfSeveralAccessesComeTogether) { EXPECT_EQ(last_seen_with("true"), 12u); }

TEST_F(TranslatedLoads, StoresAndAtomicsAreTranslatedToo) {
  build();
  at(10, [&](uint64_t now) { submit(store, words(0), now); });
  at(300, [&](uint64_t now) { submit(atomic, words(kPage), now); });
  run();
  EXPECT_EQ(unit->tlb_stats()->misses, 2u);
  EXPECT_EQ(memory.seen_at[0], 11 + kTranslation + 1);
}

TEST_F(TranslatedLoads, InFrontOfTheFirstLevelCache) {
  build({"coalescer.rule=cc20", "l1.size=16K"});
  at(10, [&](uint64_t now) { submit(load, words(0), now); });
  at(500, [&](uint64_t now) { submit(load, words(0), now); });
  run();
  EXPECT_EQ(memory.seen_at, (std::vector<uint64_t>{11 + kTranslation + 1}));
  EXPECT_EQ(unit->tlb_stats()->hits, 1u);
  EXPECT_EQ(unit->l1_stats()->load_hits, 1u);
}

/// Threads are 1664 bytes apart, so that a warp touches 13 pages of 4 KB; two words of each are changed.
constexpr const char* kPtx = R"(
.version 1.4
.target sm_13
.entry pages(.param .u32 a)
{
  .reg .u32 %r<12>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [a];
  mul.lo.u32 %r6, %r4, 1664;
  add.u32 %r6, %r5, %r6;
  ld.global.u32 %r7, [%r6];
  add.u32 %r7, %r7, %r4;
  st.global.u32 [%r6], %r7;
  ld.global.u32 %r8, [%r6+128];
  add.u32 %r8, %r8, %r7;
  st.global.u32 [%r6+128], %r8;
  ret;
}
)";
constexpr const char* kLaunch = R"toml(
[[buffer]]
name = "a"
type = "u32"
count = "416 * 2048"
init = "iota(1, 3)"
[[launch]]
kernel = "pages"
grid = [32]
block = [64]
args = ["a"]
)toml";

test::Outcome run_pages(std::vector<std::string> sets, bool direct = false) {
  SimulationOptions o = test::program(kPtx, kLaunch, std::move(sets));
  o.direct_driver = direct;
  return test::run_apart(o);
}
class TranslatedProgram : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(TranslatedProgram, EndsWithTheSameValuesLater) {
  const test::Outcome plain = run_pages({}), with = run_pages(GetParam());
  ASSERT_EQ(with.status, "complete") << with.reason;
  EXPECT_EQ(with.values, plain.values);
  EXPECT_EQ(with.counts, plain.counts);
  EXPECT_EQ(with, run_pages(GetParam(), true)) << "the same when SMs do not run ahead";
  EXPECT_EQ(counter(plain, "tlb_l1_misses"), -1) << "not on a machine without";
  EXPECT_GT(counter(with, "tlb_l1_misses"), 0);
  EXPECT_EQ(counter(with, "tlb_l2_hits") + counter(with, "tlb_l2_misses"), counter(with, "tlb_l1_misses"));
  EXPECT_LE(counter(with, "tlb_walks"), counter(with, "tlb_l2_misses"));
  EXPECT_GT(counter(with, "tlb_l1_wait_cycles"), 0);
}
INSTANTIATE_TEST_SUITE_P(
    Sizes, TranslatedProgram,
    testing::Values(std::vector<std::string>{"tlb.l1_entries=1", "tlb.l1_ways=1", "tlb.l1_misses=1",
                                             "tlb.walkers=1", "tlb.page=4K", "lsu.mshrs=1",
                                             "lsu.store_buffer=1", "lsu.queue=1", "interconnect.queue=1"},
                    std::vector<std::string>{"tlb.l1_entries=16", "tlb.l2_entries=64", "tlb.page=4K"},
                    std::vector<std::string>{"tlb.l1_entries=16", "tlb.l2_entries=64", "tlb.page=4K",
                                             "tlb.look_ahead=true", "tlb.table=64K"},
                    std::vector<std::string>{"tlb.l1_entries=1", "tlb.l1_ways=1", "tlb.l1_misses=1",
                                             "tlb.page=4K", "tlb.look_ahead=true", "lsu.queue=4",
                                             "coalescer.rule=cc20", "l1.size=16K", "l2.size=512K"},
                    std::vector<std::string>{"tlb.l1_entries=16", "tlb.l2_entries=64", "tlb.page=4K",
                                             "tlb.l2_scope=cluster", "coalescer.rule=cc20", "l1.size=16K",
                                             "l2.size=512K"}));

TEST(TranslatedPrograms, PagesThatFitAreWalkedForOnce) {
  const test::Outcome o = run_pages({"tlb.l1_entries=16", "tlb.l2_entries=1024", "tlb.page=4K"});
  // The buffer of 3,407,872 bytes is page-aligned or not: 832 or 833 pages.
  EXPECT_NEAR(counter(o, "tlb_walks"), 832, 1);
}

}  // namespace
}  // namespace gpusim::comp
