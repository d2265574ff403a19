// cp.async.bulk.tensor and the maps that it reads: what copies of boxes give is compared with plain
// computations on the host.
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

/// Where word x of row y of a box of eight words a row lies in shared memory, in words: the pieces of every
/// second 128 bytes have changed places.
uint32_t place_of(uint32_t x, uint32_t y) {
  const uint32_t byte = 4 * (8 * y + x);
  return (byte ^ (byte / 128 % 2 * 16)) / 4;
}

TEST(TensorCopies, BoxesComeInGoOutAndAreAddedUp) {
  constexpr int kWidth = 20, kRows = 10, kPitch = 64, kBoxWidth = 8, kBoxRows = 10;
  const std::string text = warp_kernel(
      ".reg .b32 %r<20>; .reg .pred %p<4>; .shared .align 1024 .b8 s[1024]; .shared .align 8 .b64 b;",
      R"(mov.u32 %r0, s; mov.u32 %r2, b; setp.eq.u32 %p0, %tid0, 0;
      @%p0 mbarrier.init.shared.b64 [%r2], 1;
      @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 320;
      bar.sync 0;
      mov.u32 %r3, 16; mov.u32 %r4, -3;
      @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%in, {%r3, %r4}], [%r2];
      W: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra W;
      mad.lo.u32 %r5, %tid0, 16, %r0;
      ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5]; st.global.v4.u32 [%out], {%r6, %r7, %r8, %r9};
      add.u32 %r6, %r6, 1000; add.u32 %r7, %r7, 1000; add.u32 %r8, %r8, 1000; add.u32 %r9, %r9, 1000;
      st.shared.v4.u32 [%r5], {%r6, %r7, %r8, %r9};
      bar.sync 0;
      mov.u32 %r3, -2; mov.u32 %r4, 5;
      @%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%in, {%r3, %r4}], [%r0];
      cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
      mov.u32 %r3, 4; mov.u32 %r4, 0;
      @%p0 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%in, {%r3, %r4}], [%r0];
      cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;)");
  std::vector<uint32_t> tensor(kPitch * kRows);
  for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<uint32_t>(i * 2654435761u);

  // The same on the host: a box of words of the tensor, zeros outside of it.
  std::vector<uint32_t> box(256), after = tensor;
  const auto inside = [](int x, int y) { return x >= 0 && x < kWidth && y >= 0 && y < kRows; };
  const auto each = [](auto fn) {
    for (int y = 0; y < kBoxRows; ++y)
      for (int x = 0; x < kBoxWidth; ++x) fn(x, y);
  };
  const auto in_box = [](int x, int y) {
    return place_of(static_cast<uint32_t>(x), static_cast<uint32_t>(y));
  };
  each([&](int x, int y) {
    if (inside(16 + x, y - 3)) box[in_box(x, y)] = tensor[static_cast<size_t>((y - 3) * kPitch + 16 + x)];
  });
  each([&](int x, int y) {
    if (inside(x - 2, y + 5)) after[static_cast<size_t>((y + 5) * kPitch + x - 2)] = box[in_box(x, y)] + 1000;
  });
  each([&](int x, int y) {
    if (inside(x + 4, y)) after[static_cast<size_t>(y * kPitch + x + 4)] += box[in_box(x, y)] + 1000;
  });

  for (const LoweringLevel l : {LoweringLevel::kNone, LoweringLevel::kClean, LoweringLevel::kSchedule}) {
    TestMemory memory;
    TensorMap map = rows_of_words(TensorMap::Swizzle::k32);
    map.address = memory.add_values(tensor);
    map.box = {kBoxWidth, kBoxRows};
    const auto bytes = map.packed();
    const uint64_t in = memory.add_values(std::vector<std::byte>(bytes.begin(), bytes.end())),
                   out = memory.add(size_t{32} * 64 * 4);
    const KernelImage image = lower_ok(text, level(l, 0, 90));
    BlockRunner runner(image, memory, pack_params({in, out}), 32);
    ASSERT_TRUE(runner.run(2'000'000).finished);
    const auto copied = memory.read<uint32_t>(out, size_t{32} * 64);
    for (uint32_t word = 0; word < kBoxWidth * kBoxRows; ++word)
      EXPECT_EQ(copied[word / 4 * 64 + word % 4], box[word]) << "word " << word << " of the box";
    EXPECT_EQ(memory.read<uint32_t>(map.address, tensor.size()), after);
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
