// What goes with the indices of arrays in local memory.
#include "analysis/advice/local_indices.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpusim::analysis::advice {
namespace {

/// The statements of these that serve local indices alone; each is an operation.
std::vector<std::string> serving(const std::vector<std::string>& statements) {
  KernelRecord kernel;
  kernel.name = "k";
  std::string ptx = ".visible .entry k()\n{\n";
  for (const std::string& text : statements) {
    kernel.per_pc.texts["ptx"].push_back(text);
    ++kernel.per_pc.rows;
    ptx += text + ";\n";
  }
  const std::vector<bool> serves = serves_local_indices(kernel, ptx + "}\n");
  std::vector<std::string> found;
  for (size_t i = 0; i < statements.size(); ++i)
    if (serves[i]) found.push_back(statements[i]);
  return found;
}

using Texts = std::vector<std::string>;

/// A ring of values: the index goes, and the count of turns stays, for a parameter says how many there are.
TEST(LocalIndices, WhatOnlyFindsAnElementGoes) {
  EXPECT_EQ(serving({"ld.param.u32 %r1, [steps]", "mov.u32 %r2, 0", "and.b32 %r3, %r2, 7",
                     "mul.wide.u32 %rd1, %r3, 4", "add.s64 %rd2, %SPL, %rd1", "ld.local.f32 %f1, [%rd2]",
                     "add.f32 %f2, %f1, %f3", "st.local.f32 [%rd2], %f2", "add.s32 %r2, %r2, 1",
                     "setp.lt.s32 %p1, %r2, %r1", "@%p1 bra $L_1"}),
            (Texts{"and.b32 %r3, %r2, 7", "mul.wide.u32 %rd1, %r3, 4", "add.s64 %rd2, %SPL, %rd1"}));
}

/// The loop walks a pointer along the array, and counts its turns from 0 to 15 beside it.
TEST(LocalIndices, LoopsBetweenConstantsAreUnrolled) {
  EXPECT_EQ(serving({"mov.u32 %r1, 0", "mov.u32 %r9, %tid.x", "ld.local.f32 %f1, [%rd1]",
                     "setp.gt.u32 %p2, %r9, %r1", "selp.f32 %f2, %f1, %f3, %p2", "st.local.f32 [%rd1+4], %f2",
                     "add.s64 %rd1, %rd1, 4", "add.s32 %r1, %r1, 1", "setp.lt.u32 %p1, %r1, 16",
                     "@%p1 bra $L_1", "st.global.f32 [%rd3], %f2"}),
            (Texts{"mov.u32 %r1, 0", "add.s64 %rd1, %rd1, 4", "add.s32 %r1, %r1, 1",
                   "setp.lt.u32 %p1, %r1, 16", "@%p1 bra $L_1"}));
}

TEST(LocalIndices, WhatIsUsedOtherwiseStays) {
  // The index is stored; and a flag that data set is no count, though it is set to numbers only.
  EXPECT_EQ(serving({"mul.wide.u32 %rd1, %r3, 4", "add.s64 %rd2, %SPL, %rd1", "st.local.u64 [%rd2], %rd1",
                     "mov.u32 %r4, 0", "@%p3 bra $L_2", "mov.u32 %r4, 1", "setp.eq.s32 %p1, %r4, 0",
                     "@%p1 bra $L_1"}),
            (Texts{"add.s64 %rd2, %SPL, %rd1"}));
}

TEST(LocalIndices, WithoutTheProgramNothingIsKnown) {
  KernelRecord kernel;
  kernel.per_pc.texts["ptx"] = {"add.s64 %rd2, %SPL, %rd1"};
  kernel.per_pc.rows = 1;
  EXPECT_EQ(serves_local_indices(kernel, ""), std::vector<bool>{false});
}

}  // namespace
}  // namespace gpusim::analysis::advice
