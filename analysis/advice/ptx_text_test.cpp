// Texts of programs in PTX as compilers and people write them.
#include "analysis/advice/ptx_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpusim::analysis::advice {
namespace {

using testing::ElementsAre;

TEST(PtxText, BlanksAndCommentsMayStandBetweenAllWords) {
  for (const char* const head :
       {".entry k(.param .u64 p, .param .u32 n)", ".entry k (.param .u64 p, .param .u32 n)",
        ".entry\n  k /* { */ ( .param .u64 .ptr .align 1 p , // in {\n .param .u32 n )\n.maxntid 256, 1, 1\n",
        "// .entry k(\n.entry kk(.param .u64 x) { trap; }\n.entry k\n(.param .u64 p,.param .b8 n [16])"}) {
    const std::string ptx = std::string(head) + "{ mov.u32 \t%r1, /* all */ %tid.x ; ret; }";
    EXPECT_THAT(parameters_of(ptx, "k"), ElementsAre("p", "n")) << head;
    EXPECT_THAT(statements_of(ptx, "k"), ElementsAre("mov.u32 %r1, %tid.x", "ret")) << head;
  }
  EXPECT_THAT(statements_of(".entry k { exit; }", "k"), ElementsAre("exit"));
  EXPECT_THAT(parameters_of(".entry k { exit; }", "k"), testing::IsEmpty());
  EXPECT_THAT(statements_of(".entry k(.param .u64 p) { exit; }", "p"), testing::IsEmpty());
}

TEST(PtxText, BracesOfBlocksBelongToNoStatementAndThoseOfVectorsDo) {
  EXPECT_THAT(statements_of(R"(.entry k() {
	// begin inline asm
	{  cvt.rn.f16.f32 %rs1, %f1;}

	// end inline asm
	.loc	1 5 3
	ld.global.v2.f32 	{%f1, %f2}, [%rd1];
$L1:
	{ // callseq 0, 0
	.param .b32 param0;
	st.param.b32 	[param0+0], %r1;
	} // callseq 0
	cp.async.cg.shared.global.L2::128B [%r1], [%rd2], 16;
	@%p1 bra 	$L1;
})",
                            "k"),
              ElementsAre("cvt.rn.f16.f32 %rs1, %f1", "ld.global.v2.f32 {%f1, %f2}, [%rd1]",
                          ".param .b32 param0", "st.param.b32 [param0+0], %r1",
                          "cp.async.cg.shared.global.L2::128B [%r1], [%rd2], 16", "@%p1 bra $L1"));
}

TEST(PtxText, ConstantsHaveTheBytesOfTheirElements) {
  constexpr std::string_view kPtx = R"(
.const .align 4 .b8 table[4096];
.visible .const .f32 other_table [4][8] = {0f00000000};
.const .u64 one;
.entry k() { ld.const.f32 %f1, [table]; ret; })";
  EXPECT_EQ(constant_bytes(kPtx, "table"), 4096);
  EXPECT_EQ(constant_bytes(kPtx, "other_table"), 128);
  EXPECT_EQ(constant_bytes(kPtx, "one"), 8);
  EXPECT_EQ(constant_bytes(kPtx, "able"), 0);
  EXPECT_EQ(constant_bytes(kPtx, ""), 0);
}

}  // namespace
}  // namespace gpusim::analysis::advice
