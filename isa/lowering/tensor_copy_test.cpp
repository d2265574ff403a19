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

/// What a box has outside of a tensor of halves is the NaN that fma.oob takes for nothing: a product with it
/// adds nothing to a sum, and makes it +0.
TEST(TensorCopies, BordersOfNaNsAreThoseThatFmaKnows) {
  constexpr uint32_t kWidth = 37, kRows = 4, kPitch = 128, kBoxWidth = 16, kFirst = 32, kOutside = 0x7ff7,
                     kOne = 0x3c00;
  const std::string text = warp_kernel(
      ".reg .b32 %r<20>; .reg .b16 %h<4>; .reg .pred %p<4>; .shared .align 128 .b8 s[128]; .shared .align 8 "
      ".b64 b;",
      R"(mov.u32 %r0, s; mov.u32 %r2, b; setp.eq.u32 %p0, %tid0, 0;
      @%p0 mbarrier.init.shared.b64 [%r2], 1;
      @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 128;
      bar.sync 0;
      mov.u32 %r3, 32; mov.u32 %r4, 1;
      @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%in, {%r3, %r4}], [%r2];
      W: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra W;
      mad.lo.u32 %r5, %tid0, 4, %r0;
      ld.shared.u32 %r6, [%r5]; mov.u32 %r7, 0x3c003c00; fma.rn.oob.f16x2 %r8, %r6, %r7, %r7;
      st.global.v2.u32 [%out], {%r6, %r8}; ret;)");
  std::vector<uint16_t> tensor(kPitch / 2 * kRows, kOne);
  for (const LoweringLevel l : {LoweringLevel::kNone, LoweringLevel::kClean, LoweringLevel::kSchedule}) {
    TestMemory memory;
    TensorMap map = rows_of_words(TensorMap::Swizzle::kNone);
    map.element = TensorMap::Element::kF16;
    map.fills_with_nan = true;
    map.address = memory.add_values(tensor);
    map.size = {kWidth, kRows};
    map.stride = {2, kPitch};
    map.box = {kBoxWidth, kRows};
    const auto bytes = map.packed();
    const uint64_t in = memory.add_values(std::vector<std::byte>(bytes.begin(), bytes.end())),
                   out = memory.add(size_t{32} * 64 * 4);
    const KernelImage image = lower_ok(text, level(l, 0, 90));
    BlockRunner runner(image, memory, pack_params({in, out}), 32);
    ASSERT_TRUE(runner.run(2'000'000).finished);
    const auto words = memory.read<uint32_t>(out, size_t{32} * 64);
    for (uint32_t half = 0; half < kBoxWidth * kRows; ++half) {
      const bool inside = kFirst + half % kBoxWidth < kWidth && 1 + half / kBoxWidth < kRows;
      const uint32_t *const word = &words[half / 2 * 64], shift = half % 2 * 16;
      EXPECT_EQ(word[0] >> shift & 0xffff, inside ? kOne : kOutside) << half;
      EXPECT_EQ(word[1] >> shift & 0xffff, inside ? 0x4000u : 0u) << half;
    }
  }
}

/// Two images of 6 x 5 pixels with 8 words each, of which a copy takes four words of 28 pixels.
struct Images {
  static constexpr int kChannels = 8, kWidth = 6, kHeight = 5, kNumber = 2, kTaken = 4, kPixels = 28;
  int step_x = 1, step_y = 1, lower = 0, upper = 0;

  [[nodiscard]] TensorMap map() const {
    TensorMap map;
    map.rank = 4;
    map.element = TensorMap::Element::kU32;
    map.size = {kChannels, kWidth, kHeight, kNumber};
    map.stride = {4, 4 * kChannels, 4 * kChannels * kWidth, 4 * kChannels * kWidth * kHeight};
    map.step = {1, static_cast<uint32_t>(step_x), static_cast<uint32_t>(step_y), 1};
    map.box[0] = kTaken;
    map.im2col = true;
    map.pixels = kPixels;
    map.lower = {lower, lower, 0};
    map.upper = {upper, upper, 0};
    return map;
  }
  /// fn(number of the pixel, its word of the first channel or nothing): the pixels from (x, y) of image n on,
  /// one after another as a loop over the box goes, each moved by (dx, dy).
  template <class Fn>
  void walk(int x, int y, int n, int dx, int dy, Fn fn) const {
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      const int px = x + dx, py = y + dy;
      const bool inside = px >= 0 && px < kWidth && py >= 0 && py < kHeight && n < kNumber;
      fn(static_cast<size_t>(pixel), inside ? ((n * kHeight + py) * kWidth + px) * kChannels : -1);
      if ((x += step_x) < kWidth + upper) continue;
      x = lower;
      if ((y += step_y) < kHeight + upper) continue;
      y = lower;
      ++n;
    }
  }
};

TEST(TensorCopies, PixelsAreTakenOneAfterAnother) {
  // A filter of 3 x 3 at (2, 1) with one pixel of padding, in steps of one and of two pixels; then of another
  // place.
  const std::string text = warp_kernel(
      ".reg .b32 %r<20>; .reg .b16 %h<3>; .reg .pred %p<4>; .shared .align 128 .b8 s[512]; .shared .align 8 "
      ".b64 b;",
      R"(mov.u32 %r0, s; mov.u32 %r2, b; setp.eq.u32 %p0, %tid0, 0;
      @%p0 mbarrier.init.shared.b64 [%r2], 1;
      @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 448;
      bar.sync 0;
      mov.u32 %r3, 4; mov.u32 %r4, 1; mov.u32 %r10, 0; mov.u16 %h0, 2;
      @%p0 cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], [%in, {%r3, %r4, %r10, 0}], [%r2], {%h0, 1};
      W: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra W;
      mad.lo.u32 %r5, %tid0, 16, %r0;
      ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5]; st.global.v4.u32 [%out], {%r6, %r7, %r8, %r9};
      add.u32 %r6, %r6, 1000; st.shared.u32 [%r5], %r6;
      bar.sync 0;
      mov.u32 %r3, 0; mov.u32 %r4, 2;
      @%p0 cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%in, {%r3, %r4, 3, 0}], [%r0];
      cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;)");
  std::vector<uint32_t> tensor(size_t{Images::kNumber} * Images::kHeight * Images::kWidth *
                               Images::kChannels);
  for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<uint32_t>(i * 2654435761u);
  for (const Images& images :
       {Images{1, 1, -1, -1}, Images{2, 2, -1, -1}, Images{2, 1, 0, 1}, Images{1, 3, -2, 2}}) {
    std::vector<uint32_t> taken(size_t{Images::kPixels} * Images::kTaken), after = tensor;
    images.walk(1, 0, 0, 2, 1, [&](size_t pixel, int word) {
      for (size_t c = 0; c < Images::kTaken && word >= 0; ++c)
        taken[pixel * Images::kTaken + c] = tensor[static_cast<size_t>(word) + 4 + c];
    });
    images.walk(2, 3, 0, 0, 0, [&](size_t pixel, int word) {
      for (size_t c = 0; c < Images::kTaken && word >= 0; ++c)
        after[static_cast<size_t>(word) + c] = taken[pixel * Images::kTaken + c] + (c == 0 ? 1000 : 0);
    });
    for (const LoweringLevel l : {LoweringLevel::kNone, LoweringLevel::kClean, LoweringLevel::kSchedule}) {
      TestMemory memory;
      TensorMap map = images.map();
      map.address = memory.add_values(tensor);
      const auto bytes = map.packed();
      const uint64_t in = memory.add_values(std::vector<std::byte>(bytes.begin(), bytes.end())),
                     out = memory.add(size_t{32} * 64 * 4);
      const KernelImage image = lower_ok(text, level(l, 0, 90));
      BlockRunner runner(image, memory, pack_params({in, out}), 32);
      ASSERT_TRUE(runner.run(2'000'000).finished);
      const auto copied = memory.read<uint32_t>(out, size_t{32} * 64);
      for (size_t word = 0; word < taken.size(); ++word)
        EXPECT_EQ(copied[word / 4 * 64 + word % 4], taken[word])
            << "word " << word % 4 << " of pixel " << word / 4 << ", steps " << images.step_x << ", "
            << images.step_y;
      EXPECT_EQ(memory.read<uint32_t>(map.address, tensor.size()), after);
    }
  }
}

TEST(TensorCopies, AMapIsForOneMode) {
  const std::string text =
      warp_kernel(".reg .b32 %r<4>; .shared .align 128 .b8 s[512]; .shared .align 8 .b64 b;",
                  "mov.u32 %r0, s; mov.u32 %r1, 0; mov.u32 %r2, b; mbarrier.init.shared.b64 [%r2], 1;\n"
                  "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                  "[%r0], [%in, {%r1, %r1, %r1, %r1}], [%r2]; ret;");
  TestMemory memory;
  TensorMap map = Images{}.map();
  map.address = memory.add(4096);
  const auto bytes = map.packed();
  const uint64_t in = memory.add_values(std::vector<std::byte>(bytes.begin(), bytes.end())),
                 out = memory.add(4096);
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean, 0, 90));
  BlockRunner runner(image, memory, pack_params({in, out}), 32);
  EXPECT_EQ(runner.run(2'000'000).fault, FaultKind::kTensorRank);
}

TEST(TensorCopies, OffsetsOfPixelsAreChecked) {
  const std::string declarations = ".reg .b32 %r<4>; .reg .b16 %h; .shared .align 128 .b8 s[512];";
  for (const auto& [statement, wrong] :
       {std::pair{"3d.A [%r0], [%in, {%r1, %r1, %r1}], [%r2], {%h}", ""},
        std::pair{"4d.A [%r0], [%in, {%r1, %r1, %r1, %r1}], [%r2], {%h}", "2 offsets"},
        std::pair{"4d.A [%r0], [%in, {%r1, %r1, %r1, %r1}], [%r2]", "operands"},
        std::pair{"2d.A [%r0], [%in, {%r1, %r1}], [%r2], {%h}", "3 to 5 dimensions"}}) {
    std::string whole = statement;
    whole.replace(whole.find("A"), 1, "shared::cluster.global.im2col.mbarrier::complete_tx::bytes");
    const ParseResult parsed =
        parse_module(warp_kernel(declarations, "cp.async.bulk.tensor." + whole + "; ret;"));
    const std::string found = messages(verify_module(parsed.module));
    EXPECT_THAT(found, testing::HasSubstr(wrong)) << whole;
    EXPECT_EQ(found.empty(), std::string_view(wrong).empty()) << found;
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

/// A kernel that has the map of its input in shared memory, changes it, copies it to global memory, and a box
/// of 8 x 4 words at (2, 3) by it to its output.
std::string map_kernel(const std::string& changes) {
  return thread_kernel(
      ".reg .b32 %r<8>; .reg .b64 %at, %map, %new; .reg .pred %p<2>; .shared .align 128 .b8 s[128];\n"
      ".shared .align 128 .b8 m[128]; .shared .align 8 .b64 b;",
      R"(mov.u32 %r0, s; mov.u32 %r1, b; mov.u32 %r2, m; setp.eq.u32 %p0, %tid0, 0; mov.u32 %r6, 8;
      ld.param.u64 %at, [pin]; ld.global.u64 %new, [%at+8]; ld.param.u64 %map, [pout]; add.u64 %map, %map, 128;
      mad.lo.u32 %r3, %tid0, 4, %r2; ld.global.u32 %r4, [%in]; st.shared.u32 [%r3], %r4; bar.sync 0;
      @%p0 mbarrier.init.shared.b64 [%r1], 1;
      @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128;
      )" + changes +
          R"(bar.sync 0;
      tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%map], [%r2], 128;
      fence.proxy.tensormap::generic.acquire.gpu [%map], 128;
      mov.u32 %r4, 2; mov.u32 %r5, 3;
      @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%map, {%r4, %r5}], [%r1];
      W: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @!%p1 bra W;
      mad.lo.u32 %r7, %tid0, 4, %r0; ld.shared.u32 %r6, [%r7]; st.global.u32 [%out], %r6; ret;)",
      "sm_90a");
}

std::string changed(const std::string& field, const std::string& operands) {
  const bool wide = field == "global_address" || field == "global_stride";
  return fmt::format("@%p0 tensormap.replace.tile.{}.shared::cta.b1024.{} [%r2], {};\n", field,
                     wide ? "b64" : "b32", operands);
}

constexpr uint32_t kTensorWidth = 16, kTensorRows = 6;
constexpr size_t kWordsOfLane = 64;

/// Runs map_kernel() of the map's bytes and a tensor of 16 x 6 words.
void run_map_kernel(const std::string& changes, const std::array<std::byte, TensorMap::kBytes>& bytes,
                    FaultKind fault = FaultKind::kNone) {
  std::vector<uint32_t> tensor(size_t{kTensorWidth} * kTensorRows);
  for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<uint32_t>(i * 2654435761u);
  const auto words = std::bit_cast<std::array<uint32_t, 32>>(bytes);
  for (const LoweringLevel l : {LoweringLevel::kNone, LoweringLevel::kClean, LoweringLevel::kSchedule}) {
    TestMemory memory;
    const uint64_t at = memory.add_values(tensor);
    std::vector<uint32_t> input(32 * kWordsOfLane);
    for (size_t lane = 0; lane < 32; ++lane) input[lane * kWordsOfLane] = words[lane];
    std::memcpy(&input[2], &at, sizeof at);
    const uint64_t in = memory.add_values(input), out = memory.add(32 * kWordsOfLane * 4);
    const KernelImage image = lower_ok(map_kernel(changes), level(l, 0, 90));
    BlockRunner runner(image, memory, pack_params({in, out}), 32);
    const auto result = runner.run(2'000'000);
    ASSERT_EQ(result.fault, fault) << fault_name(result.fault);
    if (fault != FaultKind::kNone) continue;
    ASSERT_TRUE(result.finished);
    const auto copied = memory.read<uint32_t>(out, 32 * kWordsOfLane);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t x = 2 + lane % 8, y = 3 + lane / 8;
      EXPECT_EQ(copied[lane * kWordsOfLane], y < kTensorRows ? tensor[y * kTensorWidth + x] : 0u) << lane;
    }
  }
}

TEST(TensorMaps, KernelsMakeThemOfZeros) {
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"global_address", "%new"}, {"rank", "1"},
      {"box_dim", "0, %r6"},      {"box_dim", "1, 4"},
      {"global_dim", "0, 16"},    {"global_dim", "1, 6"},
      {"global_stride", "0, 64"}, {"element_stride", "0, 1"},
      {"element_stride", "1, 1"}, {"elemtype", "2"},
      {"interleave_layout", "0"}, {"swizzle_mode", "0"},
      {"fill_mode", "0"}};
  std::string all;
  for (const auto& [field, operands] : fields) all += changed(field, operands);
  run_map_kernel(all, {});
  // What a copy cannot use is no map.
  for (const auto& [field, operands] : {std::pair{"box_dim", "0, 257"},
                                        {"box_dim", "0, 3"},
                                        {"rank", "5"},
                                        {"element_stride", "1, 0"},
                                        {"interleave_layout", "1"},
                                        {"global_stride", "0, 72"},
                                        {"fill_mode", "1"}})
    run_map_kernel(all + changed(field, operands), {}, FaultKind::kNoTensorMap);
  run_map_kernel(changed("rank", "1"), {}, FaultKind::kNoTensorMap);
}

TEST(TensorMaps, KernelsChangeThoseOfTheHost) {
  TensorMap map = rows_of_words(TensorMap::Swizzle::kNone);
  map.size = {5, 100};
  map.fills_with_nan = true;
  map.element = TensorMap::Element::kF32;
  const std::string changes = changed("global_address", "%new") + changed("global_dim", "0, 16") +
                              changed("global_dim", "1, 6") + changed("global_stride", "0, 64") +
                              changed("fill_mode", "0");
  run_map_kernel(changes, map.packed());
  auto other = map.packed();
  other[100] ^= std::byte{1};
  run_map_kernel(changes, other, FaultKind::kNoTensorMap);
}

TEST(TensorMaps, ElementsHaveNumbersOfTheirOwnInPtx) {
  using Element = TensorMap::Element;
  TensorMap map = rows_of_words(TensorMap::Swizzle::kNone);
  map.stride = {8, 256};
  for (const auto& [number, element] : {std::pair{7u, Element::kF32},
                                        {8u, Element::kF32Ftz},
                                        {9u, Element::kF64},
                                        {10u, Element::kBF16},
                                        {11u, Element::kTF32},
                                        {12u, Element::kTF32Ftz}}) {
    auto bytes = map.packed();
    EXPECT_TRUE(TensorMap::replace(bytes.data(), TensorMap::Field::kElement, 0, number));
    const auto after = TensorMap::unpacked(bytes.data());
    ASSERT_TRUE(after.has_value());
    EXPECT_EQ(after->element, element);
  }
}

TEST(TensorMaps, OperandsOfReplaceAreChecked) {
  const auto wrong = [](const std::string& statement) {
    return messages(verify_module(
        parse_module(thread_kernel(".reg .b32 %r<4>; .reg .b64 %q;", statement + "; ret;", "sm_90a"))
            .module));
  };
  const std::string replace = "tensormap.replace.tile.";
  EXPECT_EQ(wrong(replace + "rank.b1024.b32 [%in], 3"), "");
  EXPECT_EQ(wrong(replace + "global_stride.global.b1024.b64 [%in], 3, %q"), "");
  EXPECT_NE(wrong(replace + "global_address.global.b1024.b32 [%in], %r1"), "");
  EXPECT_NE(wrong(replace + "box_dim.global.b1024.b32 [%in], 5, %r1"), "");
  EXPECT_NE(wrong(replace + "box_dim.global.b1024.b32 [%in], %r2, %r1"), "");
  EXPECT_NE(wrong(replace + "elemtype.global.b1024.b32 [%in], 13"), "");
  EXPECT_NE(wrong(replace + "elemtype.global.b1024.b32 [%in], %r1"), "");
  EXPECT_NE(wrong(replace + "fill_mode.global.b1024.b32 [%in], 2"), "");
  EXPECT_NE(wrong("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                  "[%in], [%r1], 64"),
            "");
}

}  // namespace
}  // namespace gpusim::isa
