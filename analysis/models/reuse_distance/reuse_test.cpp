// The reuse-distance model: equal count for count to the published program on its traces, and by hand.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "analysis/models/reuse_distance/reference.h"
#include "simcore/text/input_error.h"
#include "simcore/text/text_file.h"

namespace gpusim::analysis {
namespace {

using testing::HasSubstr;

const std::string kFolder = GPUSIM_SOURCE_DIR "/analysis/testing/traces/";

/// C = A x B of 32 x 32 words, blocks of 16 x 16 threads, each thread one element.
std::string matmul_trace() {
  std::string text = "blocksize: 16 16 1\n";
  for (int thread = 0; thread < 1024; ++thread) {
    const int block = thread / 256, in_block = thread % 256;
    const int row = block / 2 * 16 + in_block / 16, column = block % 2 * 16 + in_block % 16;
    for (int k = 0; k < 32; ++k)
      text += fmt::format("{0} 0 {1} 4\n{0} 0 {2} 4\n", thread, 0x10000000 + 128 * row + 4 * k,
                          0x10100000 + 128 * k + 4 * column);
    text += fmt::format("{} 1 {} 4\n", thread, 0x10200000 + 128 * row + 4 * column);
  }
  return text;
}

struct Case {
  std::string config, trace;
  ReuseCounts expected;
};

/// Rows of the published program's results.
std::vector<Case> published() {
  std::vector<Case> cases;
  std::istringstream lines(core::read_text_file(kFolder + "expected.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, HasSubstr("config,trace,accesses,comp,cap,assoc,lat,mshr,misses,hits"));
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    Case c;
    std::getline(cells, c.config, ',');
    std::getline(cells, c.trace, ',');
    ReuseCounts& e = c.expected;
    for (uint64_t* n : {&e.accesses, &e.compulsory, &e.capacity, &e.associativity, &e.latency, &e.mshr,
                        &e.misses, &e.hits}) {
      std::string cell;
      std::getline(cells, cell, ',');
      *n = std::stoull(cell);
    }
    cases.push_back(c);
  }
  return cases;
}

TEST(ReuseReference, CountsAreThoseOfThePublishedProgram) {
  const std::vector<Case> cases = published();
  ASSERT_EQ(cases.size(), 24u);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.config + " " + c.trace);
    const std::string text =
        c.trace == "matmul_32" ? matmul_trace() : core::read_text_file(kFolder + c.trace + ".trc");
    ReuseCache cache;
    cache.sigma = 0;
    if (c.config == "d48_s0") cache.ways = 6, cache.sets = 64;
    const ReuseCounts got = reference_reuse(parse_trace(text, c.trace), cache);
    EXPECT_EQ(got.accesses, c.expected.accesses);
    EXPECT_EQ(got.hits, c.expected.hits);
    EXPECT_EQ(got.misses, c.expected.misses);
    EXPECT_EQ(got.compulsory, c.expected.compulsory);
    EXPECT_EQ(got.capacity, c.expected.capacity);
    EXPECT_EQ(got.associativity, c.expected.associativity);
    EXPECT_EQ(got.latency, c.expected.latency);
    EXPECT_EQ(got.mshr, c.expected.mshr);
  }
}

TEST(ReuseReference, LatenciesAreTheSameForASeed) {
  const Trace trace = parse_trace(core::read_text_file(kFolder + "stencil5_64.trc"), "trace");
  ReuseCache cache;
  cache.sigma = 40;
  cache.mshrs = 4;
  const ReuseCounts one = reference_reuse(trace, cache, 1), again = reference_reuse(trace, cache, 1);
  EXPECT_EQ(one.misses, again.misses);
  EXPECT_EQ(one.latency, again.latency);
  EXPECT_EQ(one.accesses, 1264u);
}

TEST(ReuseReference, WideWordsGoInPortions) {
  // One warp of 16-byte loads, all of one line: the first lane of each group of 8 brings it, at four places
  // of the stack that have no effect yet: all four are misses while the line is on its way.
  std::string text = "blocksize: 32 1 1\n";
  for (int lane = 0; lane < 32; ++lane) text += fmt::format("{} 0 {} 16\n", lane, 4 * (lane % 8));
  ReuseCache cache;
  cache.sigma = 0;
  const ReuseCounts counts = reference_reuse(parse_trace(text, "wide"), cache);
  EXPECT_EQ(counts.accesses, 4u);
  EXPECT_EQ(counts.misses, 4u);
  EXPECT_EQ(counts.compulsory, 1u) << "without latency the first portion's effect is there for the second";
  EXPECT_EQ(counts.latency, 3u);
}

void expect_error(const std::string& text, const std::string& message) {
  try {
    (void)parse_trace(text, "t.trc");
    ADD_FAILURE() << "no error for " << text;
  } catch (const core::InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr(message));
  }
}

TEST(ReuseTrace, WrongInputIsRefusedWithItsPlace) {
  expect_error("", "t.trc:1:1: error: expected 'blocksize:'");
  expect_error("blocksize: 16 x", "t.trc:1:15: error: expected the block's height, a whole number");
  expect_error("blocksize: 64 64 1\n", "a block of 4096 threads");
  expect_error("blocksize: 32 1 1\n", "the trace has no loads");
  expect_error("blocksize: 32 1 1\n0 1 16 4\n", "the trace has no loads");
  expect_error("blocksize: 32 1 1\n0 2 16 4\n", "t.trc:2:3: error: the direction must be from 0 to 1");
  expect_error("blocksize: 32 1 1\n0 0 -16 4\n", "t.trc:2:5: error: expected the address");
  expect_error("blocksize: 32 1 1\n0 0 16 12\n", "an access has 1, 2, 4, 8 or 16 bytes");
  expect_error("blocksize: 32 1 1\n0 0 16 4 5\n", "t.trc:2:10: error: expected the end of the line");
  expect_error("blocksize: 32 1 1\n99999999 0 16 4\n", "the thread must be from 0 to");
  expect_error("blocksize: 32 1 1\n0 0 99999999999999999999 4\n", "the address must be from 0 to");
}

TEST(ReuseTrace, EmptyLinesAndLineEndsDoNotMatter) {
  const Trace trace = parse_trace("blocksize: 32 1 1\r\n\r\n3 0 128 4\r\n3 1 0 4\n \n3 0 256 8", "t.trc");
  ASSERT_EQ(trace.threads.size(), 4u);
  EXPECT_EQ(trace.threads[3].size(), 2u);
  EXPECT_EQ(trace.threads[3][1].address, 256u);
  EXPECT_EQ(trace.threads[3][1].bytes, 8u);
}

}  // namespace
}  // namespace gpusim::analysis
