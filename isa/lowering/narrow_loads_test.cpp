// What is left of loads of vectors whose elements are not all read, as ptxas 13 has it for 7.5, 8.0 and 9.0.
#include <fmt/format.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

using Accesses = std::vector<std::pair<int64_t, int>>;  ///< offset behind the vector's address, bytes

KernelImage image_of(const std::string& text, int capability = 75) {
  return lower_ok(text, level(LoweringLevel::kSchedule, 0, capability));
}

/// Elements `read`, as digits, of a vector of `count` are stored.
std::string kernel(const std::string& load, const std::string& type, int count, std::string_view read) {
  const bool wide = type == "u64", half = type == "u16", byte = type == "u8";
  std::string text = fmt::format(
      ".reg .b64 %rd<4>; .reg .b32 %i, %r<8>; .reg .b64 %w<8>; .reg .b16 %h<8>; .shared .align 16 .b8 "
      "s[4096];\nmul.lo.u32 %i, %tid0, 16; cvt.u64.u32 %rd0, %i; add.u64 %rd1, %in, %rd0;\n");
  const char* const name = wide ? "%w" : half || byte ? "%h" : "%r";
  std::string elements;
  for (int e = 0; e < count; ++e) elements += fmt::format("{}{}{}", e == 0 ? "" : ", ", name, e);
  text += fmt::format("{}.v{}.{} {{{}}}, [{}];\n", load, count, type, elements,
                      load.find("shared") != std::string::npos ? "%i" : "%rd1");
  for (const char e : read)
    text += fmt::format("st.global.{} [%out+{}], {}{};\n", type, 8 * (e - '0'), name, e);
  return thread_kernel("", text + "ret;");
}

Accesses accesses(const KernelImage& image) {
  Accesses found;
  for (const MicroOp& op : image.ops)
    if (op.kind == OpKind::kLoad && op.memory.space != Space::kParam)
      found.emplace_back(op.memory.offset, op.memory.element_bytes * op.memory.elements);
  return found;
}

TEST(NarrowLoads, OneElementAnAlignedPairOrTwoElementsComeAlone) {
  const std::vector<std::pair<std::string_view, Accesses>> cases = {
      {"0", {{0, 4}}},     {"1", {{4, 4}}},          {"3", {{12, 4}}},         {"01", {{0, 8}}},
      {"23", {{8, 8}}},    {"02", {{0, 4}, {8, 4}}}, {"12", {{4, 4}, {8, 4}}}, {"03", {{0, 4}, {12, 4}}},
      {"0123", {{0, 16}}}, {"012", {{0, 16}}},       {"123", {{0, 16}}}};
  for (const int capability : {75, 80, 90})
    for (const std::string load : {"ld.global", "ld.global.cg", "ld.global.nc"})
      for (const auto& [read, expected] : cases)
        EXPECT_EQ(accesses(image_of(kernel(load, "u32", 4, read), capability)), expected)
            << load << ' ' << read << ' ' << capability;
}

TEST(NarrowLoads, ThreeOfFourAreAPairAndAnElementWhereTheSpaceIsNotKnown) {
  EXPECT_EQ(accesses(image_of(kernel("ld", "u32", 4, "012"))), (Accesses{{0, 8}, {8, 4}}));
  EXPECT_EQ(accesses(image_of(kernel("ld", "u32", 4, "123"))), (Accesses{{4, 4}, {8, 8}}));
}

TEST(NarrowLoads, DoublesComeAloneHalvesAsOneAccessAndBytesStay) {
  EXPECT_EQ(accesses(image_of(kernel("ld.global", "u64", 2, "1"))), (Accesses{{8, 8}}));
  EXPECT_EQ(accesses(image_of(kernel("ld.global", "u16", 2, "1"))), (Accesses{{2, 2}}));
  EXPECT_EQ(accesses(image_of(kernel("ld.global", "u16", 4, "23"))), (Accesses{{4, 4}}));
  EXPECT_EQ(accesses(image_of(kernel("ld.global", "u16", 4, "03"))), (Accesses{{0, 8}}));
  EXPECT_EQ(accesses(image_of(kernel("ld.global", "u8", 4, "2"))), (Accesses{{0, 4}}));
}

TEST(NarrowLoads, VolatileOnesAndOtherMachinesBringAll) {
  EXPECT_EQ(accesses(image_of(kernel("ld.volatile.global", "u32", 4, "2"))), (Accesses{{0, 16}}));
  EXPECT_EQ(accesses(image_of(kernel("ld.global", "u32", 4, "2"), 60)), (Accesses{{0, 16}}));
}

TEST(NarrowLoads, AnElementThatNobodyReadsIsNotWaitedFor) {
  // Rows of the elements that are not read are free at once, and the next load's.
  const KernelImage image = image_of(kernel("ld.volatile.global", "u32", 4, "2"));
  const auto load = std::ranges::find_if(image.ops, [](const MicroOp& op) {
    return op.kind == OpKind::kLoad && op.memory.space == Space::kGlobal;
  });
  ASSERT_NE(load, image.ops.end());
  EXPECT_EQ(load->num_dst, 4);
  EXPECT_EQ(load->num_sb_writes, 1);
}

}  // namespace
}  // namespace gpusim::isa
