#include "isa/ptx/modifiers.h"

#include <gtest/gtest.h>

#include <sstream>

#include "isa/tests/ptx_test_util.h"

namespace gpusim::isa {
namespace {

// Every instruction form of the census of real programs is known, with all its modifiers.
TEST(Modifiers, AcceptEveryFormOfTheCensus) {
  std::istringstream forms(test::read_file(GPUSIM_SOURCE_DIR "/isa/tests/census_forms.txt"));
  int count = 0;
  for (std::string form; std::getline(forms, form); ++count) {
    const ParsedOpcode p = parse_opcode(form);
    EXPECT_NE(p.opcode, Opcode::kInvalid) << form;
    EXPECT_EQ(p.mods.unknown, "") << form;
  }
  EXPECT_EQ(count, 796);
}

TEST(Modifiers, AreASet) {
  for (const char* text : {"setp.ftz.gt.and.f32", "setp.gt.and.ftz.f32"}) {
    const ParsedOpcode p = parse_opcode(text);
    EXPECT_EQ(p.opcode, Opcode::kSetp);
    EXPECT_EQ(p.mods.compare, CompareOp::kGt);
    EXPECT_EQ(p.mods.bool_op, BoolOp::kAnd);
    EXPECT_TRUE(p.mods.ftz);
    EXPECT_EQ(p.mods.type, Type::kF32);
  }
  const ParsedOpcode ld = parse_opcode("ld.volatile.global.v4.u32");
  EXPECT_EQ(ld.mods.semantics, Semantics::kVolatile);
  EXPECT_EQ(ld.mods.space, Space::kGlobal);
  EXPECT_EQ(ld.mods.vector, 4);
}

TEST(Modifiers, MeanWhatTheOpcodeMakesThem) {
  EXPECT_EQ(parse_opcode("mul.lo.s32").mods.part, MulPart::kLo);
  EXPECT_EQ(parse_opcode("setp.lo.u32").mods.compare, CompareOp::kLo);
  EXPECT_EQ(parse_opcode("atom.global.and.b32").mods.atom, AtomOp::kAnd);
  EXPECT_EQ(parse_opcode("bar.red.and.pred").mods.atom, AtomOp::kAnd);
  EXPECT_EQ(parse_opcode("vote.uni.pred").mods.lane_op, LaneOp::kUni);
  EXPECT_TRUE(parse_opcode("bra.uni").mods.uni);
  EXPECT_EQ(parse_opcode("membar.gl").mods.scope, Scope::kGpu);
  EXPECT_EQ(parse_opcode("brx.idx").opcode, Opcode::kBrx);
  EXPECT_EQ(parse_opcode("ld.shared::cta.u32").mods.space, Space::kShared);
}

TEST(Modifiers, TypesInOrder) {
  const ParsedOpcode cvt = parse_opcode("cvt.rzi.ftz.sat.s32.f32");
  EXPECT_EQ(cvt.mods.type, Type::kS32);
  EXPECT_EQ(cvt.mods.type2, Type::kF32);
  EXPECT_EQ(cvt.mods.rounding, Rounding::kRzi);
  EXPECT_TRUE(cvt.mods.sat);
}

TEST(Modifiers, NoSpaceIsGeneric) {
  EXPECT_EQ(parse_opcode("ld.u32").mods.space, Space::kGeneric);
  EXPECT_EQ(parse_opcode("atom.add.u32").mods.space, Space::kGeneric);
  EXPECT_EQ(parse_opcode("add.u32").mods.space, Space::kNone);
}

TEST(Modifiers, UnknownOnesAreNamed) {
  EXPECT_EQ(parse_opcode("add.fzt.f32").mods.unknown, "fzt");
  EXPECT_EQ(parse_opcode("add.wide.s32").mods.unknown, "wide");
  EXPECT_EQ(nearest_modifier(Opcode::kAdd, "fzt"), "ftz");
  EXPECT_EQ(nearest_modifier(Opcode::kAdd, "s23"), "s32");
  EXPECT_TRUE(is_unsupported_modifier(Opcode::kCvt, "e2m1x2"));
  EXPECT_FALSE(is_unsupported_modifier(Opcode::kAdd, "e4m3x2"));
  EXPECT_FALSE(is_unsupported_modifier(Opcode::kAdd, "ftz"));
}

TEST(OpcodeTable, NamesAreUniqueAndFound) {
  for (const OpcodeInfo& row : opcode_table()) {
    if (row.opcode == Opcode::kInvalid) continue;
    EXPECT_EQ(opcode_from_name(row.name), row.opcode) << row.name;
    EXPECT_EQ(&opcode_info(row.opcode), &row);
    EXPECT_LE(row.min_operands, row.max_operands) << row.name;
  }
  EXPECT_EQ(opcode_from_name("nonsense"), Opcode::kInvalid);
}

}  // namespace
}  // namespace gpusim::isa
