// What the text of a kernel says about the places of its accesses.
#include "analysis/source/data_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "analysis/source/mixed_numbers.h"
#include "analysis/source/register_circles.h"

namespace gpusim::analysis {
namespace {

using Statements = std::vector<std::string>;

AddressOrigin origin(const Statements& kernel, const std::string& access) {
  return address_origins(kernel, {access}).front();
}
bool of_data(const Statements& kernel, const std::string& access) { return origin(kernel, access).of_data; }

/// for (...) p = next[p]: the loop's register has a start that threads choose, and is loaded in each turn.
TEST(AddressOrigins, AChainIsFollowedAsTheDataSay) {
  const Statements chain{
      "ld.param.u64 %rd1, [next]",  "mov.u32 %r1, %tid.x",       "mov.u32 %r30, %r1",
      "mul.wide.s32 %rd4, %r30, 4", "add.s64 %rd5, %rd1, %rd4",  "ld.global.u32 %r21, [%rd5]",
      "mul.wide.s32 %rd6, %r21, 4", "add.s64 %rd7, %rd1, %rd6",  "ld.global.u32 %r30, [%rd7]",
      "mul.wide.s32 %rd9, %r1, 4",  "add.s64 %rd10, %rd1, %rd9", "st.global.u32 [%rd10], %r30"};
  EXPECT_TRUE(of_data(chain, "ld.global.u32 %r21, [%rd5]"));
  EXPECT_TRUE(of_data(chain, "ld.global.u32 %r30, [%rd7]"));
  EXPECT_FALSE(of_data(chain, "st.global.u32 [%rd10], %r30"));
  EXPECT_EQ(origin(chain, "ld.global.u32 %r30, [%rd7]").stride, 4);
}

TEST(AddressOrigins, APointerIsDataToo) {
  const Statements list{"ld.param.u64 %rd1, [head]", "mov.u64 %rd5, %rd1", "ld.global.u64 %rd6, [%rd5+8]",
                        "mov.u64 %rd5, %rd6", "ld.f32 %f1, [%rd5]"};
  EXPECT_TRUE(of_data(list, "ld.f32 %f1, [%rd5]"));
  EXPECT_EQ(origin(list, "ld.f32 %f1, [%rd5]").stride, 1) << "where records lie is not known";
}

/// Rows of a sparse matrix: the loop counts up from a loaded start, directly or in an unrolled turn.
TEST(AddressOrigins, WhatALoopCountsUpIsTheThreads) {
  const Statements rows{"ld.global.u32 %r2, [%rd14]",  "mov.u32 %r23, %r2",
                        "add.s32 %r24, %r23, 1",       "add.s32 %r23, %r24, 1",
                        "mul.wide.s32 %rd16, %r23, 4", "add.s64 %rd17, %rd1, %rd16",
                        "ld.global.f32 %f1, [%rd17]"};
  EXPECT_FALSE(of_data(rows, "ld.global.f32 %f1, [%rd17]"));
  EXPECT_TRUE(origin(rows, "ld.global.f32 %f1, [%rd17]").of_loop);
  Statements steps = rows;
  steps[2] = "add.s32 %r24, %r23, %r9";
  EXPECT_FALSE(of_data(steps, "ld.global.f32 %f1, [%rd17]")) << "by a number of the launch";
  steps.push_back("ld.global.u32 %r9, [%rd30]");
  EXPECT_TRUE(of_data(steps, "ld.global.f32 %f1, [%rd17]")) << "by what is loaded";
}

/// The fields of a record that the data choose, in a loop: what began of data is said, unless lanes of a warp
/// have their own places behind it.
TEST(AddressOrigins, ARecordThatDataChooseBeginsOfData) {
  Statements record{"ld.global.f32 %f1, [%rd14]",
                    "setp.lt.f32 %p1, %f1, 0f3F800000",
                    "selp.b32 %r5, %r6, %r7, %p1",
                    "mul.lo.s32 %r8, %r5, %r9",
                    "mul.wide.s32 %rd15, %r8, 4",
                    "add.s64 %rd16, %rd1, %rd15",
                    "atom.global.add.f32 %f2, [%rd16], %f1",
                    "add.s64 %rd16, %rd16, 4"};
  const std::string access = "atom.global.add.f32 %f2, [%rd16], %f1";
  EXPECT_FALSE(of_data(record, access));
  EXPECT_TRUE(origin(record, access).begins_of_data);
  record[3] = "mad.lo.s32 %r8, %r5, %r9, %tid.x";
  EXPECT_FALSE(origin(record, access).begins_of_data) << "a word for each lane";
  record[2] = "mov.u32 %r5, %r6";
  record[3] = "mul.lo.s32 %r8, %r5, %r9";
  EXPECT_FALSE(origin(record, access).begins_of_data);
}

/// A table that is searched from where a key says, and begins again at its end.
TEST(AddressOrigins, WhatWrapsAroundIsNotCountedUp) {
  const Statements probing{"ld.global.u32 %r2, [%rd14]",  "and.b32 %r23, %r2, 1023",
                           "add.s32 %r24, %r23, 1",       "and.b32 %r23, %r24, 1023",
                           "mul.wide.s32 %rd16, %r23, 4", "add.s64 %rd17, %rd1, %rd16",
                           "ld.global.u32 %r5, [%rd17]"};
  EXPECT_TRUE(of_data(probing, "ld.global.u32 %r5, [%rd17]"));
}

TEST(AddressOrigins, FieldsOfRecordsAreTheSameBytesOfEach) {
  const Statements fields{"ld.param.u64 %rd1, [records]",   "cvta.to.global.u64 %rd2, %rd1",
                          "ld.global.nc.u32 %r19, [%rd32]", "mul.wide.s32 %rd15, %r19, 64",
                          "add.s64 %rd16, %rd2, %rd15",     "shl.b32 %r20, %r19, 4",
                          "or.b32 %r21, %r20, 3",           "mul.wide.s32 %rd20, %r21, 4",
                          "add.s64 %rd21, %rd2, %rd20",     "mad.lo.s32 %r22, %r19, 16, %r40",
                          "mul.wide.s32 %rd22, %r22, 4",    "add.s64 %rd23, %rd2, %rd22",
                          "add.s32 %r40, %r40, 1",          "mov.u32 %r40, 0"};
  const AddressOrigin field = origin(fields, "ld.global.nc.v2.f32 {%f1, %f2}, [%rd16+24]");
  EXPECT_TRUE(field.of_data);
  EXPECT_EQ(field.stride, 64);
  EXPECT_EQ(field.offset, 24);
  EXPECT_EQ(field.bytes, 8);
  const AddressOrigin element = origin(fields, "ld.global.f32 %f1, [%rd21]");
  EXPECT_EQ(element.stride, 64) << "the same records, as an array of words";
  EXPECT_EQ(element.offset, 12);
  EXPECT_EQ(element.base, field.base);
  EXPECT_EQ(origin(fields, "ld.global.f32 %f1, [%rd23]").stride, 4) << "a loop goes through the record";
}

TEST(AddressOrigins, AnAlignedArrayIsAddedToByOr) {
  const Statements kernel{"mov.u64 %rd1, first",       "mov.u64 %rd2, second",    "ld.global.u32 %r1, [%rd9]",
                          "mul.wide.u32 %rd3, %r1, 8", "or.b64 %rd4, %rd1, %rd3", "add.s64 %rd5, %rd2, %rd3",
                          "or.b64 %rd6, %rd5, 4",      "or.b64 %rd7, %rd1, %rd2"};
  const AddressOrigin first = origin(kernel, "red.global.add.u32 [%rd4], 1");
  const AddressOrigin second = origin(kernel, "red.global.add.u32 [%rd6], 1");
  EXPECT_EQ(first.base, "first");
  EXPECT_EQ(first.stride, 8);
  EXPECT_EQ(second.base, "second");
  EXPECT_EQ(second.offset, 4);
  EXPECT_NE(origin(kernel, "red.global.add.u32 [%rd7], 1").base, "first + second") << "no sum";
}

TEST(AddressOrigins, WhichPartOfAnAddressThreadsAndBlocksSay) {
  const Statements kernel{"mov.u32 %r1, %tid.x",           "mul.wide.u32 %rd1, %r1, 4",
                          "add.s64 %rd2, %rd9, %rd1",      "mov.u32 %r2, %ctaid.x",
                          "mad.lo.s32 %r3, %r2, 256, %r1", "mul.wide.u32 %rd3, %r3, 4",
                          "add.s64 %rd4, %rd9, %rd3"};
  EXPECT_FALSE(origin(kernel, "red.global.add.u32 [%rd2], 1").of_block);
  EXPECT_TRUE(origin(kernel, "red.global.add.u32 [%rd4], 1").of_block);
  EXPECT_EQ(origin(kernel, "red.global.add.u32 [%rd9+8], 1").stride, 0) << "one word";
}

TEST(AddressOrigins, RowsOfABlockAreToldFromTheLanesOfOne) {
  const Statements kernel{"mov.u32 %r1, %tid.x",       "mul.wide.u32 %rd1, %r1, 4",
                          "add.s64 %rd2, %rd9, %rd1",  "mov.u32 %r2, %tid.y",
                          "add.s32 %r3, %r2, %r1",     "mul.wide.u32 %rd3, %r3, 4",
                          "add.s64 %rd4, %rd9, %rd3",  "mad.lo.s32 %r5, %r1, 8, %tid.z",
                          "mul.wide.u32 %rd5, %r5, 4", "add.s64 %rd6, %rd9, %rd5"};
  EXPECT_FALSE(origin(kernel, "ld.global.f32 %f1, [%rd2]").of_rows);
  EXPECT_TRUE(origin(kernel, "ld.global.f32 %f1, [%rd4]").of_rows);
  EXPECT_TRUE(origin(kernel, "ld.global.f32 %f1, [%rd6]").of_rows) << "named without a register of its own";
}

TEST(AddressOrigins, PointsOfATurnedPictureAreFractions) {
  const Statements kernel{
      "mov.u32 %r1, %tid.x",          "cvt.rn.f32.s32 %f1, %r1",   "mul.f32 %f2, %f1, %f9",
      "cvt.rzi.ftz.s32.f32 %r2, %f2", "mul.wide.s32 %rd1, %r2, 4", "add.s64 %rd2, %rd9, %rd1",
      "mul.wide.s32 %rd3, %r1, 4",    "add.s64 %rd4, %rd9, %rd3",  "cvt.rzi.s32.f32 %r3, %f9",
      "mul.wide.s32 %rd5, %r3, 4",    "add.s64 %rd6, %rd4, %rd5"};
  EXPECT_TRUE(origin(kernel, "ld.global.f32 %f3, [%rd2]").of_fraction);
  EXPECT_FALSE(origin(kernel, "ld.global.f32 %f3, [%rd4]").of_fraction);
  EXPECT_FALSE(origin(kernel, "ld.global.f32 %f3, [%rd6]").of_fraction)
      << "what is rounded is the same for all";
}

TEST(AddressOrigins, HashesAndRandomNumbersAreMixed) {
  const Statements hash{"mov.u32 %r1, %tid.x", "mul.lo.s32 %r2, %r1, -1640531535", "shr.u32 %r3, %r2, 22",
                        "mul.wide.u32 %rd1, %r3, 4", "add.s64 %rd2, %rd9, %rd1"};
  EXPECT_TRUE(origin(hash, "ld.global.f32 %f1, [%rd2]").of_mixture);
  const Statements random{"mov.u32 %r1, %tid.x",       "mad.lo.s32 %r2, %r1, 1664525, 1013904223",
                          "shr.u32 %r3, %r2, 16",      "mul.wide.u32 %rd1, %r3, 4",
                          "add.s64 %rd2, %rd9, %rd1",  "mov.u32 %r1, %r2",
                          "mul.wide.u32 %rd3, %r9, 4", "add.s64 %rd4, %rd9, %rd3",
                          "mov.u32 %r9, %tid.y"};
  EXPECT_TRUE(origin(random, "ld.global.f32 %f1, [%rd2]").of_mixture) << "turn after turn";
  EXPECT_FALSE(origin(random, "ld.global.f32 %f1, [%rd4]").of_mixture);
  const Statements shifts{"mov.u32 %r1, %tid.x",       "shl.b32 %r2, %r1, 13",     "xor.b32 %r3, %r2, %r1",
                          "mul.wide.u32 %rd1, %r3, 4", "add.s64 %rd2, %rd9, %rd1", "mov.u32 %r1, %r3"};
  EXPECT_TRUE(origin(shifts, "ld.global.f32 %f1, [%rd2]").of_mixture);
}

TEST(MixedNumbers, ARegisterThatIsWrittenThousandsOfTimesIsLookedAtOnce) {
  const auto seconds = [](int turns) {
    Statements kernel;
    for (int i = 0; i < turns; ++i) {
      kernel.push_back("add.s32 %r1, %r2, " + std::to_string(i));
      kernel.push_back("add.s32 %r2, %r1, " + std::to_string(i));
    }
    std::vector<PtxStatement> statements;
    for (const std::string& text : kernel) statements.push_back(parse_statement(text));
    const std::clock_t begin = std::clock();
    EXPECT_TRUE(mixed_numbers(statements, {"%r1", "%r2"}).empty());
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  seconds(2000);  // warms up
  const double few = std::min(seconds(2000), seconds(2000));
  EXPECT_LT(seconds(8000), 10 * few) << "16 would be quadratic";
}

/// Loops one after the other, each of which goes on from where the one before has ended: one chain of sums.
Statements chain_of_loops(int loops, const std::string& begin) {
  Statements chain{begin, "ld.param.u64 %rd0, [x]", "ld.param.u32 %step, [step]"};
  for (int i = 0; i < loops; ++i) {
    const std::string before = "%r" + std::to_string(i), now = "%r" + std::to_string(i + 1);
    chain.push_back("mov.u32 " + now + ", " + before);
    chain.push_back("add.s32 " + before + ", " + now + ", %step");
  }
  chain.push_back("ld.global.u32 %v, [%r" + std::to_string(loops) + "]");
  return chain;
}

TEST(AddressOrigins, AChainOfThousandsOfLoopsIsWalkedOnce) {
  const auto seconds = [](int loops) {
    const Statements chain = chain_of_loops(loops, "mov.u32 %r0, %tid.x");
    const std::clock_t begin = std::clock();
    EXPECT_FALSE(origin(chain, chain.back()).of_data);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  seconds(1000);  // warms up
  const double few = std::min(seconds(1000), seconds(1000));
  EXPECT_LT(seconds(4000), 10 * few) << "16 would be quadratic";
  const Statements of_data = chain_of_loops(100, "ld.global.u32 %r0, [%rd0]");
  EXPECT_TRUE(origin(of_data, of_data.back()).begins_of_data) << "all of it is counted up from there";
}

TEST(RegisterCircles, AreRegistersThatFollowFromEachOther) {
  std::vector<PtxStatement> statements;
  for (const char* text : {"add.s32 %a, %b, 1", "mov.u32 %b, %c", "add.s32 %c, %a, %d",
                           "mul.lo.s32 %d, %a, 3", "add.s32 %e, %e, 1", "add.s32 %f, %a, %e"})
    statements.push_back(parse_statement(text));
  const RegisterCircles sums(statements, [](const PtxStatement& s) { return s.stem != "mul"; });
  EXPECT_TRUE(sums.together("%a", "%c"));
  EXPECT_FALSE(sums.together("%a", "%d")) << "products are left out";
  EXPECT_FALSE(sums.together("%f", "%a")) << "one way only";
  EXPECT_TRUE(sums.closes(statements[4], "%e")) << "its own last value";
  EXPECT_FALSE(sums.closes(statements[5], "%f"));
  EXPECT_EQ(sums.part("%x"), RegisterCircles::kNone);
  const RegisterCircles all(statements, [](const PtxStatement&) { return true; });
  EXPECT_TRUE(all.together("%a", "%d"));
}

TEST(AddressOrigins, RowsQuotientsAndPartnersAreNotMixed) {
  // A quotient by 3, a row of 100,000 words, and the partner of a butterfly.
  const Statements kernel{
      "mov.u32 %r1, %tid.x",       "mul.hi.u32 %r2, %r1, -1431655765", "shr.u32 %r3, %r2, 1",
      "mul.wide.u32 %rd1, %r3, 4", "add.s64 %rd2, %rd9, %rd1",         "mul.lo.s32 %r4, %r1, 100000",
      "mul.wide.u32 %rd3, %r4, 4", "add.s64 %rd4, %rd9, %rd3",         "xor.b32 %r5, %r1, 16",
      "mul.wide.u32 %rd5, %r5, 4", "add.s64 %rd6, %rd9, %rd5",         "mul.wide.u32 %rd7, %r1, -1431655765",
      "shr.u64 %rd8, %rd7, 33",    "add.s64 %rd10, %rd9, %rd8"};
  for (const char* access : {"ld.global.f32 %f1, [%rd2]", "ld.global.f32 %f1, [%rd4]",
                             "ld.global.f32 %f1, [%rd6]", "ld.global.f32 %f1, [%rd10]"})
    EXPECT_FALSE(origin(kernel, access).of_mixture) << access;
  // What all threads have in common makes no neighbours strangers.
  const Statements seed{"ld.param.u32 %r1, [seed]",  "mul.lo.s32 %r2, %r1, -1640531535",
                        "mov.u32 %r3, %tid.x",       "add.s32 %r4, %r2, %r3",
                        "mul.wide.u32 %rd1, %r4, 4", "add.s64 %rd2, %rd9, %rd1"};
  EXPECT_FALSE(origin(seed, "ld.global.f32 %f1, [%rd2]").of_mixture);
}

TEST(AddressOrigins, ThreadsOfARowOfTheGridAccessOnePieceOfMemory) {
  const Statements loop{
      "mov.u32 %r1, %ctaid.x",         "mov.u32 %r2, %ntid.x",      "mov.u32 %r3, %tid.x",
      "mad.lo.s32 %r9, %r1, %r2, %r3", "mov.u32 %r4, %nctaid.x",    "mul.lo.s32 %r5, %r4, %r2",
      "mul.wide.s32 %rd1, %r9, 4",     "add.s64 %rd2, %rd9, %rd1",  "add.s32 %r9, %r9, %r5",
      "mul.wide.s32 %rd3, %r9, 8",     "add.s64 %rd4, %rd9, %rd3",  "mov.u32 %r6, %tid.y",
      "mad.lo.s32 %r7, %r6, %r5, %r9", "mul.wide.s32 %rd5, %r7, 4", "add.s64 %rd6, %rd9, %rd5"};
  EXPECT_TRUE(origin(loop, "ld.global.f32 %f1, [%rd2]").contiguous);
  EXPECT_TRUE(origin(loop, "ld.global.v2.f32 {%f1, %f2}, [%rd4+8]").contiguous);
  EXPECT_FALSE(origin(loop, "ld.global.f32 %f1, [%rd4]").contiguous) << "every second word";
  EXPECT_FALSE(origin(loop, "ld.global.f32 %f1, [%rd6]").contiguous) << "rows of some length";
  const Statements older{"cvt.u32.u16 %r1, %tid.x", "mul24.lo.u32 %r2, %ntid.x, %ctaid.x",
                         "add.u32 %r3, %r1, %r2", "shl.b32 %r4, %r3, 2", "add.u32 %r5, %r9, %r4"};
  EXPECT_TRUE(origin(older, "ld.global.f32 %f1, [%r5]").contiguous);
  Statements changed = loop;
  changed.emplace_back("shl.b32 %r9, %r9, 1");
  EXPECT_FALSE(origin(changed, "ld.global.f32 %f1, [%rd2]").contiguous) << "a turn of the loop changes it";
}

/// a[depth] of a search, whose depth grows and shrinks as it finds ways and loses them.
TEST(AddressOrigins, TheTopOfAStackWandersAndACounterDoesNot) {
  Statements stack{"mov.u32 %r44, 0",          "mul.wide.s32 %rd4, %r44, 4", "add.s64 %rd5, %rd1, %rd4",
                   "ld.local.u32 %r4, [%rd5]", "add.s32 %r44, %r44, -1",     "add.s32 %r44, %r44, 1"};
  EXPECT_TRUE(origin(stack, "ld.local.u32 %r4, [%rd5]").wanders);
  stack[4] = "add.s32 %r44, %r44, 4";
  EXPECT_FALSE(origin(stack, "ld.local.u32 %r4, [%rd5]").wanders)
      << "an unrolled loop and what it leaves over";
}

/// x[row * columns + c] in a loop over c: only the loop's steps count, not where the thread's row begins.
TEST(AddressOrigins, TurnsOfALoopGoAlongARow) {
  Statements rows{"mov.u32 %r1, %tid.x",      "ld.param.u32 %r2, [columns]", "ld.param.u64 %rd1, [x]",
                  "mul.lo.s32 %r3, %r1, %r2", "mul.wide.s32 %rd2, %r3, 4",   "add.s64 %rd3, %rd1, %rd2",
                  "mov.u64 %rd4, %rd3",       "ld.global.f32 %f1, [%rd4]",   "ld.global.f32 %f2, [%rd4+4]",
                  "add.s64 %rd4, %rd4, 8"};
  const AddressOrigin first = origin(rows, "ld.global.f32 %f1, [%rd4]");
  const AddressOrigin second = origin(rows, "ld.global.f32 %f2, [%rd4+4]");
  EXPECT_EQ(first.turn, 8u);
  EXPECT_EQ(second.turn, 8u);
  EXPECT_EQ((second.place_in_turn + 8 - first.place_in_turn) % 8, 4u);
  rows.pop_back();
  EXPECT_EQ(origin(rows, "ld.global.f32 %f1, [%rd4]").turn, 0u) << "no loop changes it";
}

/// A step of a generator of random numbers, and numbers that have no opposite.
TEST(AddressOrigins, ConstantsOfAnySizeWrapAround) {
  const Statements random{"mov.u32 %r1, %tid.x",
                          "mul.wide.u32 %rd1, %r1, 4",
                          "add.s64 %rd2, %rd1, 7046029254386353132",
                          "add.s64 %rd3, %rd2, 7046029254386353132",
                          "mul.lo.s64 %rd4, %rd1, -9223372036854775808",
                          "sub.s64 %rd5, %rd1, -9223372036854775808",
                          "selp.b64 %rd6, 9223372036854775807, -9223372036854775808, %p1",
                          "selp.b64 %rd7, 0, -9223372036854775808, %p1"};
  EXPECT_EQ(origin(random, "ld.global.u32 %r2, [%rd3]").stride, 4u);
  EXPECT_EQ(origin(random, "ld.global.u32 %r2, [%rd2+7046029254386353132]").stride, 4u);
  EXPECT_EQ(origin(random, "ld.global.u32 %r2, [%rd1+-8]").offset, 0u);
  EXPECT_EQ(origin(random, "ld.global.u32 %r2, [%rd1+-6]").offset, 2u);
  EXPECT_EQ(origin(random, "ld.global.u32 %r2, [%rd4]").stride, 1u) << "no record is as large";
  EXPECT_EQ(origin(random, "ld.global.u32 %r2, [%rd5+4]").stride, 4u);
  EXPECT_EQ(origin(random, "ld.global.u32 %r2, [%rd6]").stride, 1u) << "their difference wraps around";
  EXPECT_EQ(origin(random, "ld.global.u32 %r2, [%rd7]").stride, uint64_t{1} << 63);
}

TEST(AddressOrigins, WhatIsNoStatementSaysLess) {
  const Statements broken{"mov.u32 %r1, 0", "add.s32 %r1, , %r1", "mul.wide.s32 %rd1, %r1, 4"};
  EXPECT_FALSE(origin(broken, "ld.local.u32 %r2, [%rd1]").wanders);
}

}  // namespace
}  // namespace gpusim::analysis
