// The parts of --check alone: what is ordered, what races, which barriers are misused, where an address lies.
#include "components/checker/checker.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "components/checker/check_report.h"
#include "components/checker/fault_text.h"
#include "simcore/text/input_error.h"

namespace gpusim::comp {
namespace {

using isa::LaneMask;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr LaneMask kAll = LaneMask::all();

TEST(CheckOptionsTest, ListsAndMistakes) {
  EXPECT_FALSE(parse_checks("").any());
  EXPECT_EQ(parse_checks("race,memory").text(), "memory,race");
  EXPECT_EQ(parse_checks("all").text(), "memory,race,init,sync");
  EXPECT_FALSE(parse_checks("all").early_exit);
  EXPECT_EQ(parse_checks("early_exit,all").text(), "memory,race,init,sync,early_exit");
  EXPECT_THROW((void)parse_checks("memory,"), core::InputError);
  try {
    (void)parse_checks("memory,sink");
    FAIL();
  } catch (const core::InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("did you mean 'sync'?"));
  }
}

TEST(ByteMapTest, CountsAcrossWords) {
  ByteMap map;
  map.reset(200);
  EXPECT_EQ(map.clear_bytes(0, 200), 200u);
  map.set(60, 8);
  EXPECT_EQ(map.clear_bytes(60, 8), 0u);
  EXPECT_EQ(map.clear_bytes(59, 10), 2u);
  map.set(64, 128);
  EXPECT_EQ(map.clear_bytes(0, 200), 60u + 8u);
  map.clear(126, 4);
  EXPECT_EQ(map.clear_bytes(120, 10), 4u);
}

TEST(UnwrittenValuesTest, ReportedOnceWhenUsed) {
  UnwrittenValues values;
  values.begin(4);
  const isa::RowRef a{isa::Bank::kRegister, 0}, b{isa::Bank::kRegister, isa::kRowBytes};
  UnwrittenRead read;
  read.statement = 5;
  read.lane = 3;
  values.set(a, 3, {values.add(read), 0x0c});
  isa::WarpContext context;
  uint32_t predicates[] = {8};  // lane 3
  context.predicates = predicates;
  std::vector<uint32_t> seen;
  const auto report = [&](const UnwrittenRead& r) { seen.push_back(r.statement); };
  isa::MicroOp op;
  op.num_dst = op.num_src = 1;
  op.dst[0] = b;
  op.src[0] = a;
  values.execute(op, context, kAll, true, report);
  EXPECT_THAT(seen, IsEmpty());
  EXPECT_EQ(values.at(b, 3).bytes, 0x0c);
  EXPECT_EQ(values.at(b, 2).read, 0u);
  op.num_src = 2;
  op.src = {b, isa::RowRef{isa::Bank::kRegister, 2 * isa::kRowBytes}};
  op.pred_src[0] = 0;
  op.pred_negated[0] = true;
  values.execute(op, context, kAll, true, report);
  EXPECT_EQ(values.at(b, 3).read, 0u) << "the other one was chosen";
  op.src[0] = a;
  values.execute(op, context, kAll, false, report);
  values.execute(op, context, kAll, false, report);
  EXPECT_THAT(seen, ElementsAre(5u));
}

TEST(GlobalObjectsTest, FindsAndMeasures) {
  GlobalObjects objects;
  objects.add({"B", GlobalObject::Kind::kBuffer, 0x2000, 0x2100, true, {}});
  objects.add({"A", GlobalObject::Kind::kBuffer, 0x1000, 0x1100, false, {}});
  EXPECT_EQ(objects.find(0x10ff)->name, "A");
  EXPECT_EQ(objects.find(0x2000)->name, "B");
  EXPECT_EQ(objects.find(0x1100), nullptr);
  EXPECT_EQ(objects.nearest(0x1104, 4)->name, "A");
  EXPECT_EQ(objects.nearest(0x1ff0, 4)->name, "B");
  EXPECT_EQ(describe_distance(0x1104, 4, 0x1000, 0x1100), "4 bytes past the end of");
  EXPECT_EQ(describe_distance(0x10fc, 8, 0x1000, 0x1100), "4 bytes over the end of");
  EXPECT_EQ(describe_distance(0xffc, 8, 0x1000, 0x1100), "4 bytes before");
  EXPECT_EQ(describe_distance(~uint64_t{0} - 7, 4, 0x10, 0x1000), "24 bytes before");
  EXPECT_EQ(describe_distance(0xffff'f060, 4, 0, 0x1000), "4000 bytes before") << "of shared memory";
  EXPECT_EQ(describe_distance(0x8000'0000, 4, 0x1000, 0x1100), "2147479296 bytes past the end of");
}

TEST(FaultTextTest, AddressesOfOtherSpaces) {
  GlobalObjects objects;
  objects.add({"A", GlobalObject::Kind::kBuffer, 0x1000'0000, 0x1000'0100, true, {}});
  const auto kind = [&](isa::Space space, uint64_t address) {
    return classify_fault(isa::FaultKind::kOutOfBounds, {isa::OpKind::kLoad, space, address, 4}, objects);
  };
  EXPECT_EQ(kind(isa::Space::kGlobal, 0x1000'0100), FindingKind::kOutOfBounds);
  EXPECT_EQ(kind(isa::Space::kShared, 0x1000'0010), FindingKind::kWrongSpace);
  EXPECT_EQ(kind(isa::Space::kShared, 0x10000), FindingKind::kOutOfBounds);
  EXPECT_EQ(kind(isa::Space::kGlobal, isa::kLocalWindowBase + 8), FindingKind::kWrongSpace);
  EXPECT_EQ(kind(isa::Space::kGlobal, isa::function_address(1)), FindingKind::kWrongSpace);
}

TEST(BlockClocksTest, BarriersOrderWarpsThatWait) {
  BlockClocks clocks;
  clocks.reset(3, false);
  const uint32_t before = clocks.now(0);
  EXPECT_FALSE(clocks.ordered(0, 0, before, 1, 0));
  clocks.arrive(0, 0, true);
  const uint32_t after = clocks.now(0);
  clocks.arrive(0, 1, true);
  EXPECT_FALSE(clocks.ordered(0, 0, before, 1, 0)) << "the barrier is not complete yet";
  clocks.open(0);
  EXPECT_TRUE(clocks.ordered(0, 0, before, 1, 0));
  EXPECT_FALSE(clocks.ordered(0, 0, after, 1, 0));
  EXPECT_FALSE(clocks.ordered(0, 0, before, 2, 0)) << "warp 2 was not there";
  // What warp 1 heard it passes on.
  clocks.arrive(1, 1, true);
  clocks.arrive(1, 2, true);
  clocks.open(1);
  EXPECT_TRUE(clocks.ordered(0, 0, before, 2, 0));
}

TEST(BlockClocksTest, ArrivingAloneTellsButDoesNotHear) {
  BlockClocks clocks;
  clocks.reset(2, false);
  const uint32_t producer = clocks.now(0), consumer = clocks.now(1);
  clocks.arrive(0, 0, false);
  clocks.arrive(0, 1, true);
  clocks.open(0);
  EXPECT_TRUE(clocks.ordered(0, 0, producer, 1, 0));
  EXPECT_FALSE(clocks.ordered(1, 0, consumer, 0, 0));
}

TEST(BlockClocksTest, LanesOfAWarp) {
  BlockClocks in_step, independent;
  in_step.reset(1, false);
  EXPECT_TRUE(in_step.ordered(0, 3, in_step.now(0), 0, 4));
  independent.reset(1, true);
  const uint32_t first = independent.now(0);
  EXPECT_TRUE(independent.ordered(0, 3, first, 0, 3));
  EXPECT_FALSE(independent.ordered(0, 3, first, 0, 4));
  independent.meet(0, LaneMask(0xff));
  EXPECT_TRUE(independent.ordered(0, 3, first, 0, 4));
  EXPECT_FALSE(independent.ordered(0, 3, first, 0, 8));
  EXPECT_FALSE(independent.ordered(0, 8, first, 0, 4));
  independent.meet(0, LaneMask(0x180));  // lane 7 passes on what it knows
  EXPECT_TRUE(independent.ordered(0, 3, first, 0, 8));
  EXPECT_FALSE(independent.ordered(0, 3, first, 0, 9));
  independent.meet(0, kAll);
  EXPECT_TRUE(independent.ordered(0, 20, first, 0, 9));
}

TEST(BlockClocksTest, ALockIsPassedOn) {
  BlockClocks clocks;
  clocks.reset(2, true);
  const uint32_t written = clocks.now(0);
  clocks.advance(0);
  clocks.publish(0, 64);
  EXPECT_FALSE(clocks.ordered(0, 5, written, 1, 0));
  clocks.acquire(1, LaneMask(1), 64);
  EXPECT_TRUE(clocks.ordered(0, 5, written, 1, 0));
  clocks.acquire(0, LaneMask(2), 64);
  EXPECT_TRUE(clocks.ordered(0, 5, written, 0, 1));
  EXPECT_FALSE(clocks.ordered(0, 5, written, 0, 2)) << "lane 2 has not taken the lock";
}

class RaceTest : public testing::Test {
 protected:
  RaceTest() {
    clocks.reset(2, false);
    race.reset(256);
  }
  RaceCheck::Hazard access(uint32_t thread, uint32_t address, uint32_t bytes, bool write,
                           bool atomic = false) {
    return race
        .access(clocks, address, bytes, {7, ++instance, thread, write, atomic},
                [](uint32_t) { return false; })
        .hazard;
  }
  void barrier() {
    clocks.arrive(0, 0, true);
    clocks.arrive(0, 1, true);
    clocks.open(0);
  }
  BlockClocks clocks;
  RaceCheck race;
  uint32_t instance = 0;
  static constexpr auto kNone = RaceCheck::Hazard::kNone;
};

TEST_F(RaceTest, Hazards) {
  EXPECT_EQ(access(0, 0, 4, true), kNone);
  EXPECT_EQ(access(0, 0, 4, false), kNone) << "a thread with itself";
  EXPECT_EQ(access(1, 0, 4, false), kNone) << "lanes of one warp are in step";
  EXPECT_EQ(access(32, 0, 4, false), RaceCheck::Hazard::kRaw);
  EXPECT_EQ(access(32, 4, 4, false), kNone);
  EXPECT_EQ(access(33, 0, 4, true), RaceCheck::Hazard::kWaw);
  EXPECT_EQ(access(0, 4, 4, true), RaceCheck::Hazard::kWar);
  barrier();
  EXPECT_EQ(access(0, 0, 8, false), kNone);
  EXPECT_EQ(access(32, 0, 8, false), kNone);
  barrier();
  EXPECT_EQ(access(32, 0, 8, true), kNone);
}

TEST_F(RaceTest, BytesOfAWord) {
  EXPECT_EQ(access(0, 8, 4, true), kNone);
  barrier();
  EXPECT_EQ(access(0, 0, 1, true), kNone);
  EXPECT_EQ(access(32, 1, 1, true), kNone);
  EXPECT_EQ(access(0, 1, 1, false), RaceCheck::Hazard::kRaw);
  EXPECT_EQ(access(32, 8, 4, false), kNone) << "written before the barrier, in a whole word";
}

TEST_F(RaceTest, Atomics) {
  EXPECT_EQ(access(0, 0, 4, true, true), kNone);
  EXPECT_EQ(access(32, 0, 4, true, true), kNone);
  EXPECT_EQ(access(0, 0, 4, false), RaceCheck::Hazard::kRaw);
}

TEST_F(RaceTest, LanesOfOneInstruction) {
  const auto store = [&](uint32_t thread, bool same) {
    return race.access(clocks, 0, 4, {7, 1, thread, true, false}, [=](uint32_t) { return same; }).hazard;
  };
  EXPECT_EQ(store(0, false), kNone);
  EXPECT_EQ(store(1, true), kNone);
  EXPECT_EQ(store(2, false), RaceCheck::Hazard::kWaw);
}

TEST_F(RaceTest, ALaterReaderDoesNotHideTheOtherWarps) {
  EXPECT_EQ(access(32, 0, 4, false), kNone);
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(access(t, 0, 4, false), kNone);
  EXPECT_EQ(access(3, 0, 4, true), RaceCheck::Hazard::kWar);
}

class SyncTest : public testing::Test {
 protected:
  void start(uint32_t warps, bool independent = false) {
    sync.reset(std::vector<LaneMask>(warps, kAll), independent);
  }
  std::vector<std::string> seen;
  SyncCheck sync{[this](FindingKind kind, uint32_t statement, uint32_t thread, const std::string&) {
    seen.push_back(fmt::format("{} {} {}", finding_name(kind), statement, thread));
  }};
};

TEST_F(SyncTest, GoodBarriers) {
  start(2);
  for (uint32_t round = 0; round < 2; ++round) {
    sync.arrive({0, 0, kAll, 0, true, 10, true});
    sync.arrive({0, 1, kAll, 0, true, 10, true});
    sync.open(0);
  }
  sync.arrive({1, 0, kAll, 64, false, 11, true});  // a producer arrives, a consumer waits
  sync.arrive({1, 1, kAll, 64, true, 12, true});
  sync.open(1);
  EXPECT_THAT(seen, IsEmpty());
  sync.exit(0, kAll);
  sync.arrive({0, 1, kAll, 0, true, 13, true});
  sync.open(0);
  sync.report_stuck();
  EXPECT_THAT(seen, ElementsAre("skipped_barrier 13 32")) << "legal, reported if it is asked for";
}

TEST_F(SyncTest, CountsAndPlacesThatDiffer) {
  start(3);
  sync.arrive({1, 1, kAll, 32, true, 11, true});
  sync.arrive({1, 0, kAll, 64, true, 11, true});
  sync.open(1);
  EXPECT_THAT(seen, ElementsAre("mixed_barrier 11 32"));
  seen.clear();
  sync.arrive({0, 0, kAll, 0, true, 21, true});
  sync.arrive({0, 1, kAll, 0, true, 20, true});
  sync.arrive({0, 2, kAll, 0, true, 20, true});
  sync.open(0);
  EXPECT_THAT(seen, ElementsAre("mixed_barrier 21 0"));
  seen.clear();
  sync.arrive({2, 0, kAll, 40, true, 30, true});
  sync.arrive({3, 0, kAll, 128, true, 31, true});
  EXPECT_THAT(seen, ElementsAre("barrier_count 30 0", "barrier_count 31 0"));
}

TEST_F(SyncTest, DivergentWarps) {
  start(1);
  sync.arrive({0, 0, LaneMask(0xffff0000), 0, true, 10, true});
  EXPECT_THAT(seen, ElementsAre("divergent_barrier 10 16"));
  sync.report_stuck();
  EXPECT_THAT(seen, ElementsAre("divergent_barrier 10 16", "stuck_barrier 10 16"));
  seen.clear();
  start(1, true);  // lanes may come one by one, but to the same statement
  sync.arrive({0, 0, LaneMask(0xffff), 0, true, 10, true});
  sync.arrive({0, 0, LaneMask(0xffff0000), 0, true, 10, true});
  sync.open(0);
  EXPECT_THAT(seen, IsEmpty());
  sync.arrive({0, 0, LaneMask(0xffff), 0, true, 10, true});
  sync.arrive({0, 0, LaneMask(0xffff0000), 0, true, 12, true});
  sync.open(0);
  EXPECT_THAT(seen, ElementsAre("divergent_barrier 12 16"));
}

TEST_F(SyncTest, MemberMasks) {
  start(2);
  uint32_t members[32];
  std::fill(std::begin(members), std::end(members), 0xffffu);
  sync.check_members(1, LaneMask(0xffff), members, 5);
  sync.warp_operation(1, LaneMask(0xffff), members, 5, true);
  EXPECT_THAT(seen, IsEmpty());
  sync.check_members(1, LaneMask(0x1ffff), members, 5);
  EXPECT_THAT(seen, ElementsAre("member_mask 5 48"));
  seen.clear();
  sync.warp_operation(1, LaneMask(0xff), members, 6, true);
  EXPECT_THAT(seen, ElementsAre("missing_member 6 32"));
  seen.clear();
  sync.exit(1, LaneMask(0xff00));
  sync.warp_operation(1, LaneMask(0xff), members, 6, false);
  EXPECT_THAT(seen, IsEmpty()) << "a barrier does not wait for lanes that have exited";
  sync.warp_operation(1, LaneMask(0xff), members, 6, true);
  EXPECT_THAT(seen, ElementsAre("exited_member 6 32"));
  seen.clear();
  sync.warp_operation(1, LaneMask(0xff), members, 6, true, LaneMask(0xff00));
  EXPECT_THAT(seen, ElementsAre("missing_member 6 32")) << "they have gone past it before";
  seen.clear();
  sync.warp_operation(1, LaneMask(0xff), members, 6, false, LaneMask(0xf00));
  EXPECT_THAT(seen, ElementsAre("missing_member 6 32"));
}

TEST_F(SyncTest, WhoWaitsForLanesThatNeverComeIsNamed) {
  start(2);
  uint32_t members[32];
  std::fill(std::begin(members), std::end(members), 0xffffu);
  sync.wait(1, LaneMask(0xf), members, 5);
  sync.wait(1, LaneMask(0xf0), members, 5);
  sync.report_stuck();
  EXPECT_THAT(seen, ElementsAre("missing_member 5 32"));
  seen.clear();
  sync.wait(1, LaneMask(0xff00), members, 5);
  sync.report_stuck();
  EXPECT_THAT(seen, IsEmpty()) << "all are there";
  sync.go_on(1, LaneMask(0xffff));
  sync.wait(1, LaneMask(1), members, 7);
  sync.exit(1, LaneMask(0xfffe));
  sync.report_stuck();
  EXPECT_THAT(seen, IsEmpty()) << "nobody waits for lanes that have exited";
}

TEST_F(SyncTest, LanesThatNeverWereHaveNotExited) {
  sync.reset({LaneMask(0xffff)}, true);
  uint32_t members[32];
  std::fill(std::begin(members), std::end(members), ~0u);
  sync.warp_operation(0, LaneMask(0xffff), members, 5, true);
  EXPECT_THAT(seen, IsEmpty());
}

TEST_F(SyncTest, BarriersThatThreadsSkip) {
  start(2, true);
  sync.exit(1, LaneMask(0xf0));
  sync.arrive({0, 0, kAll, 0, true, 10, true});
  sync.arrive({0, 1, ~LaneMask(0xf0), 0, true, 10, true});
  sync.open(0);
  EXPECT_THAT(seen, ElementsAre("skipped_barrier 10 0"));
  seen.clear();
  sync.arrive({1, 0, kAll, 32, true, 11, true});
  sync.open(1);
  EXPECT_THAT(seen, IsEmpty()) << "a count names no threads";
}

TEST(TaggedMemoryTest, ATagCountsWhileItsValueIsThere) {
  TaggedMemory memory;
  const AddressTag tag{isa::kFirstObject, 3};
  memory.set(64, {tag, 0x100});
  EXPECT_EQ(memory.at(64, 0x100), tag);
  EXPECT_EQ(memory.at(64, 0x104), AddressTag{});
  EXPECT_EQ(memory.at(68, 0x100), AddressTag{});
  memory.set(64, {});
  EXPECT_EQ(memory.at(64, 0x100), AddressTag{});
}

TEST(FindingLogTest, MergesAndShowsTheFirstInTheGrid) {
  isa::KernelImage image;
  image.name = "k";
  image.ptx = {{"a", {10, 1, 0}, 3, 0}, {"b", {20, 1, 0}, 84, 1, 11, 0}};
  image.source_files = {"k.cu", "/usr/local/cuda/include/sm_20_atomic_functions.hpp"};
  KernelLaunch run;
  run.image = &image;
  run.grid = {4, 1, 1};
  run.block = {8, 4, 1};
  FindingLog log("k.ptx");
  const auto message = [](const char* text) { return [text] { return FindingDetail{text, {}}; }; };
  log.note(FindingKind::kOutOfBounds, {&run, 0, 2, 9}, message("later"));
  log.note(FindingKind::kOutOfBounds, {&run, 0, 1, 30}, message("earlier"));
  log.note(FindingKind::kOutOfBounds, {&run, 0, 1, 31}, message("last"));
  const Site a{&run, 0, 0, 0}, b{&run, 1, 0, 5};
  log.note(FindingKind::kRace, a, &b, message("race"));
  log.note(FindingKind::kRace, b, &a, message("the same race"));
  const std::vector<Finding> all = log.sorted();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].count, 3u);
  EXPECT_EQ(all[0].detail.message, "earlier");
  EXPECT_EQ(all[0].place.block.x, 1u);
  EXPECT_EQ(all[0].place.thread.x, 6u);
  EXPECT_EQ(all[0].place.thread.y, 3u);
  EXPECT_EQ(all[0].place.source.user, (core::SourceLine{"k.cu", 3}));
  EXPECT_EQ(all[1].count, 2u);
  EXPECT_EQ(all[1].detail.message, "race");
  EXPECT_TRUE(all[1].has_other);
  EXPECT_EQ(all[1].other.source.user, (core::SourceLine{"k.cu", 11})) << "the user's line, not the header's";
  EXPECT_THAT(finding_text(all[1]),
              ::testing::HasSubstr("`b`, k.cu:11, inlined from sm_20_atomic_functions.hpp:84\n"));
  EXPECT_EQ(log.counts().occurrences, 5u);
  EXPECT_EQ(log.size(), 2u);
}

TEST(FindingLogTest, StatementsOfOneLineAreToldTogether) {
  const auto finding = [](FindingKind kind, uint32_t ptx_line, uint32_t line) {
    Finding f;
    f.kind = kind;
    f.kernel = "k";
    f.place.ptx_line = ptx_line;
    f.place.source.user = {line == 0 ? "" : "k.cu", line};
    f.count = 10;
    return f;
  };
  using Kind = FindingKind;
  const std::vector<Finding> all{finding(Kind::kOutOfBounds, 50, 7),   finding(Kind::kOutOfBounds, 52, 7),
                                 finding(Kind::kUninitialised, 52, 7), finding(Kind::kOutOfBounds, 60, 8),
                                 finding(Kind::kOutOfBounds, 54, 7),   finding(Kind::kOutOfBounds, 70, 0),
                                 finding(Kind::kOutOfBounds, 71, 0)};
  const std::vector<std::string> texts = finding_texts(all);
  ASSERT_EQ(texts.size(), 5u) << "another kind, another line, and statements without a line stand alone";
  EXPECT_THAT(texts[0], ::testing::StartsWith(finding_text(all[0])));
  EXPECT_THAT(texts[0], ::testing::EndsWith(
                            "    and 2 more statements of this line of the source, 30 occurrences in all\n"));
  EXPECT_EQ(texts[1], finding_text(all[2]));
  EXPECT_EQ(texts[4], finding_text(all[6]));
  std::vector<Finding> others(3, all[0]);
  others[0].detail.message = "4-byte load at 0x10a4 is outside: 0 bytes past the end of buffer 'a'";
  others[1].detail.message = "4-byte load at 0x10b8 is outside: 20 bytes past the end of buffer 'a'";
  others[2].detail.message = "4-byte load at 0x0 is outside: the address is a null pointer";
  EXPECT_EQ(finding_texts(others).size(), 2u) << "other numbers are the same mistake, other words are not";
  others[1].place.ptx = "st.global.u32 [%r1], %r2";
  EXPECT_EQ(finding_texts(others).size(), 3u) << "another operation";
}

TEST(FindingLogTest, TellsWhatIsNewOnce) {
  isa::KernelImage image;
  image.name = "k";
  image.ptx = {{"a", {10, 1, 0}, 0, 0}, {"b", {20, 1, 0}, 0, 0}};
  KernelLaunch run;
  run.image = &image;
  run.grid = run.block = {4, 1, 1};
  FindingLog log("k.ptx");
  const auto nothing = [] { return FindingDetail{"", {}}; };
  EXPECT_TRUE(log.news().empty());
  log.note(FindingKind::kOutOfBounds, {&run, 0, 0, 0}, nothing);
  EXPECT_EQ(log.news().size(), 1u);
  log.note(FindingKind::kOutOfBounds, {&run, 0, 1, 0}, nothing);
  EXPECT_TRUE(log.news().empty());
  log.note(FindingKind::kOutOfBounds, {&run, 1, 1, 0}, nothing);
  const std::vector<Finding> news = log.news();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].place.ptx_line, 20u);
}

TEST(GlobalObjectsTest, ObjectsComeAndGo) {
  GlobalObjects objects;
  objects.add({"a", GlobalObject::Kind::kBuffer, 0x1000, 0x1100, false, {}});
  objects.add({"b", GlobalObject::Kind::kBuffer, 0x2000, 0x2100, true, {}});
  objects.mark_written(0x1010, 16);
  objects.mark_written(0x10f8, 64);  // as far as it lies in the object
  objects.mark_written(0x1800, 64);  // in none
  EXPECT_EQ(objects.find(0x1000)->written.clear_bytes(0, 256), 256u - 16 - 8);
  objects.mark_copied(0x1008, 0x1040, 16);  // half of it has a value
  EXPECT_EQ(objects.find(0x1000)->written.clear_bytes(0x40, 16), 8u);
  objects.mark_copied(0x1000, 0x1010, 16);  // what had one has none now
  EXPECT_EQ(objects.find(0x1000)->written.clear_bytes(0x10, 16), 16u);
  objects.mark_copied(0x2000, 0x1010, 16);
  EXPECT_EQ(objects.find(0x1000)->written.clear_bytes(0x10, 16), 0u);
  objects.remove(0x1010);  // where none begins
  ASSERT_NE(objects.find(0x1000), nullptr);
  objects.remove(0x1000);
  EXPECT_EQ(objects.find(0x1000), nullptr);
  ASSERT_NE(objects.find_removed(0x10ff), nullptr);
  EXPECT_EQ(objects.find_removed(0x10ff)->name, "a");
  EXPECT_EQ(objects.find_removed(0x1100), nullptr);
  objects.add({"again", GlobalObject::Kind::kBuffer, 0x10f0, 0x1200, true, {}});
  EXPECT_EQ(objects.find_removed(0x1000), nullptr) << "another one is there now";
  EXPECT_EQ(objects.find(0x2000)->name, "b");
}

}  // namespace
}  // namespace gpusim::comp
