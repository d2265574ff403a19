// Parts of the reuse-distance model that are there for its speed, against what they stand for: stack
// distances against counting, events in a row against a sort, transactions of runs of lanes against lanes one
// by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analysis/models/reuse_distance/coalescer.h"
#include "analysis/models/reuse_distance/plot.h"
#include "analysis/models/reuse_distance/stack_distance.h"
#include "analysis/recording/event_queue.h"

namespace gpusim::analysis {
namespace {

TEST(StackDistance, IsWhatCountingFinds) {
  for (const std::vector<uint64_t>& limits :
       {std::vector<uint64_t>{1, 3, 7, 15, 31, 63, 127, 255}, {1, 2, 3, 4, 100}, {5}, {1}, {2, 31, 32, 33}}) {
    std::mt19937 random(1);
    StackDistance fast(limits);
    std::vector<uint32_t> uses;
    for (int i = 0; i < 2000; ++i) {
      // Near ones often, and more lines as time goes on.
      const uint32_t line = random() % 3 == 0 ? random() % 8 : random() % static_cast<uint32_t>(10 + i / 4);
      uint32_t expected = StackDistance::kFirst;
      std::set<uint32_t> between;
      for (size_t k = uses.size(); k-- > 0;) {
        if (uses[k] == line) {
          expected = static_cast<uint32_t>(
              std::ranges::count_if(limits, [&](uint64_t limit) { return limit <= between.size(); }));
          break;
        }
        between.insert(uses[k]);
      }
      ASSERT_EQ(fast.use(line), expected) << "use " << i << ", " << limits.size() << " limits";
      uses.push_back(line);
    }
  }
}

struct Event {
  double at;
  int number;
};

TEST(EventQueue, GivesEventsByTimeAndThenInTheirOrder) {
  std::mt19937 random(1);
  EventQueue<Event> queue;
  std::vector<Event> expected;
  double now = 0;
  for (int i = 0; i < 5000; ++i) {
    if (random() % 2 == 0 || queue.empty()) {
      // Often the same time, sometimes long after the others.
      const Event e{now + static_cast<double>(random() % (random() % 8 == 0 ? 1000 : 10)), i};
      queue.push(e);
      expected.push_back(e);
      std::ranges::stable_sort(expected, {}, &Event::at);
    } else {
      ASSERT_EQ(queue.top().number, expected.front().number) << i;
      now = queue.top().at;
      queue.pop();
      expected.erase(expected.begin());
    }
    ASSERT_EQ(queue.size(), expected.size());
    ASSERT_EQ(queue.empty(), expected.empty());
  }
}

/// Lane by lane, as the rule is told.
std::vector<LineTransaction> plainly(const WarpStep& s, uint32_t line_bytes, uint64_t base) {
  std::vector<LineTransaction> all;
  const uint32_t together = s.bytes <= 4 ? WarpStep::kLanes : std::max(1u, WarpStep::kLanes * 4 / s.bytes);
  for (uint32_t first = 0; first < WarpStep::kLanes; first += together) {
    std::vector<LineTransaction> group;
    for (uint32_t lane = first; lane < first + together; ++lane) {
      if ((s.lanes >> lane & 1) == 0) continue;
      const uint64_t address = s.address[lane] + base, line = address / line_bytes;
      auto t = std::ranges::find(group, line, &LineTransaction::line);
      if (t == group.end()) t = group.insert(group.end(), {line, 0});
      for (uint64_t byte = address; byte < address + s.bytes && byte / line_bytes == line; ++byte)
        t->sectors |= 1u << byte % line_bytes / 32;
    }
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

TEST(ReuseCoalescer, RunsOfLanesAreWhatLanesAre) {
  std::mt19937_64 random(1);
  LineTransactions out;
  for (int i = 0; i < 20000; ++i) {
    WarpStep s;
    s.kind = WarpStep::Kind::kAccess;
    s.bytes = 1u << random() % (random() % 4 == 0 ? 8 : 5);
    s.lanes = random() % 2 == 0 ? ~0u : static_cast<uint32_t>(random()) | 1u << random() % 32;
    const uint64_t unit = random() % 8 == 0 ? 1 : s.bytes;  // seldom not aligned
    uint64_t address = (uint64_t{1} << 40) + random() % 4096 * unit, difference = 0;
    for (uint32_t l = 0; l < WarpStep::kLanes; ++l) {
      if (l == 0 || random() % 10 == 0)
        difference = (random() % 81 - 40) * unit * (random() % 4 == 0 ? 16 : 1);
      if (random() % 20 == 0) address = random();
      s.address[l] = address;
      address += difference;
    }
    WarpEncoder encoder;
    encoder.append(s);
    const std::string bytes(encoder.bytes().begin(), encoder.bytes().end());
    WarpCursor cursor(bytes);
    WarpStep decoded;
    LaneRuns runs;
    ASSERT_TRUE(cursor.next(decoded, runs));
    const uint32_t line_bytes = 32u << random() % 4;
    const uint64_t base = random() % 2 * 4096;
    ReuseCoalescer(line_bytes).coalesce(decoded, runs, base, out);
    const std::vector<LineTransaction> expected = plainly(s, line_bytes, base);
    ASSERT_EQ(out.size(), expected.size()) << i;
    for (uint32_t t = 0; t < out.size(); ++t) {
      EXPECT_EQ(out[t].line, expected[t].line) << i;
      EXPECT_EQ(out[t].sectors, expected[t].sectors) << i << ": " << t;
    }
  }
}

TEST(ReuseCoalescer, TransactionsThatAreGivenStayAsTheyAre) {
  WarpStep s;
  s.kind = WarpStep::Kind::kAccess;
  s.by_lines = true;
  s.lanes = 15;
  s.address[0] = 0x1000 | 0b0101;
  s.address[1] = 0x1080 | 0b1111;
  s.address[2] = 0x1000 | 0b1000;  // of another group of lanes
  s.address[3] = 0x1100 | 0x7f;    // of a damaged trace: a line has four sectors
  WarpEncoder encoder;
  encoder.append(s);
  const std::string bytes(encoder.bytes().begin(), encoder.bytes().end());
  WarpCursor cursor(bytes);
  WarpStep decoded;
  LaneRuns runs;
  ASSERT_TRUE(cursor.next(decoded, runs));
  LineTransactions out;
  ReuseCoalescer(128).coalesce(decoded, runs, 0x10000, out);
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[3].sectors, 0b1111u);
  EXPECT_EQ(out[0].line, 0x11000u / 128);
  EXPECT_EQ(out[0].sectors, 0b0101u);
  EXPECT_EQ(out[1].line, 0x11080u / 128);
  EXPECT_EQ(out[1].sectors, 0b1111u);
  EXPECT_EQ(out[2].line, 0x11000u / 128);
  EXPECT_EQ(out[2].sectors, 0b1000u);
}

TEST(ReuseL1, LocalStoresStayOrGoOnOrBoth) {
  const auto fetch = [](uint64_t, uint32_t) { return 100.0; };
  for (const core::WriteHit policy :
       {core::WriteHit::kBack, core::WriteHit::kThrough, core::WriteHit::kEvict, core::WriteHit::kBoth}) {
    ReuseMachine machine;
    machine.sets = 1, machine.ways = 2;
    machine.writes_back = true;
    machine.write_local = policy;
    ReuseL1 l1(machine);
    const bool stays = policy == core::WriteHit::kBack || policy == core::WriteHit::kBoth;
    EXPECT_EQ(l1.store({7, 0b1111, 0, true}, 0, false), policy != core::WriteHit::kBack);
    l1.load({7, 0b1111, 0, true}, 1, true, fetch);
    EXPECT_EQ(l1.local().hits, stays ? 1u : 0u);
    for (const uint64_t line : {8, 9}) l1.store({line, 0b1111, 0, true}, 200, false);
    uint64_t line = 0;
    uint32_t sectors = 0;
    EXPECT_EQ(l1.take_writeback(line, sectors), policy == core::WriteHit::kBack)
        << "of line 7, which had to leave";
  }
}

TEST(MissPlot, SaysTheNetValueBesidePartsBelowZero) {
  Prediction above, below;
  above.terms = {{"compulsory", 0.4, NAN}, {"capacity", 0.2, NAN}};
  below.terms = {{"compulsory", 0.7, NAN}, {"mshr", -0.125, NAN}};
  const std::vector<MissBars> launches{{"a.h5", &above}, {"b.h5", &below}};
  const BarPlot plot = miss_plot(launches, "");
  EXPECT_EQ(plot.groups[0].bars[0].label, "");
  EXPECT_EQ(plot.groups[1].bars[0].label, "net 57.5");
  EXPECT_EQ(plot.groups[1].bars[1].label, "");
}

}  // namespace
}  // namespace gpusim::analysis
