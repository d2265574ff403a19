// cp.async.bulk.tensor: what copies of boxes give is compared with plain computations on the host.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "isa/exec/tensor_map.h"
#include "isa/ptx/verifier/verifier.h"
#include "isa/tests/family_kernels.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

TensorMap rows_of_words(TensorMap::Swizzle swizzle) {
  TensorMap map;
  map.rank = 2;
  map.element = TensorMap::Element::kU32;
  map.address = 0x1000;
  map.size = {20, 10};
  map.stride = {4, 256};
  map.box = {8, 4};
  map.step = {1, 1};
  map.swizzle = swizzle;
  return map;
}

TEST(TensorMaps, BytesSayWhetherTheyAreAMap) {
  const TensorMap map = rows_of_words(TensorMap::Swizzle::k32);
  auto bytes = map.packed();
  const auto back = TensorMap::unpacked(bytes.data());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->address, map.address);
  EXPECT_EQ(back->size, map.size);
  EXPECT_EQ(back->stride, map.stride);
  EXPECT_EQ(back->box, map.box);
  EXPECT_EQ(back->swizzle, map.swizzle);
  for (std::byte& b : bytes) {
    b ^= std::byte{4};
    EXPECT_FALSE(TensorMap::unpacked(bytes.data()).has_value()) << "byte " << &b - bytes.data();
    b ^= std::byte{4};
  }
}

TEST(TensorMaps, PiecesOfRowsAreSwizzled) {
  // Piece x of row y of 128 bytes lies at piece x ^ (y mod 8) with the widest pattern.
  const uint64_t at = 5 * 128 + 3 * 16 + 7;
  EXPECT_EQ(rows_of_words(TensorMap::Swizzle::kNone).swizzled(at), at);
  EXPECT_EQ(rows_of_words(TensorMap::Swizzle::k32).swizzled(at), 5u * 128 + (3 ^ 1) * 16 + 7);
  EXPECT_EQ(rows_of_words(TensorMap::Swizzle::k64).swizzled(at), 5u * 128 + (3 ^ 1) * 16 + 7);
  EXPECT_EQ(rows_of_words(TensorMap::Swizzle::k128).swizzled(at), 5u * 128 + (3 ^ 5) * 16 + 7);
}

TEST(TensorMaps, StepsLeaveElementsOutAndShortRowsTakeTheWholePattern) {
  TensorMap map = rows_of_words(TensorMap::Swizzle::k128);
  map.box[1] = 7;
  map.step[1] = 3;
  EXPECT_EQ(map.rows(), 3u);
  EXPECT_EQ(map.row_bytes(), 32u);
  EXPECT_EQ(map.row_pitch(), 128u);
}

TEST(TensorCopies, OperandsAreChecked) {
  const std::string declarations = ".reg .b32 %r<4>; .shared .align 128 .b8 s[512]; .shared .align 8 .b64 b;";
  const std::string form = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  for (const auto& [operands, wrong] : {std::pair{"[%r0], [%in, {%r1}], [%r2]", "2 coordinates"},
                                        std::pair{"[%r0], [%in, {%r1, %r1}]", "operands"},
                                        std::pair{"[%r0], [%in, {%r1, %r1}], %r2", "address in brackets"}}) {
    const ParseResult parsed =
        parse_module(warp_kernel(declarations, fmt::format("{} {}; ret;", form, operands)));
    EXPECT_THAT(messages(verify_module(parsed.module)), testing::HasSubstr(wrong)) << operands;
  }
}

TEST(TensorCopies, WhatIsNoMapIsAFault) {
  const std::string text =
      warp_kernel(".reg .b32 %r<4>; .shared .align 128 .b8 s[512]; .shared .align 8 .b64 b;",
                  "mov.u32 %r0, s; mov.u32 %r1, 0; mov.u32 %r2, b; mbarrier.init.shared.b64 [%r2], 1;\n"
                  "prefetch.tensormap [%in];\n"
                  "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                  "[%r0], [%in, {%r1, %r1}], [%r2]; ret;");
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean, 0, 90)), 32);
  EXPECT_EQ(o.result.fault, FaultKind::kNoTensorMap);
}

}  // namespace
}  // namespace gpusim::isa
