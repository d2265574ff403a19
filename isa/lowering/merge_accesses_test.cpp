// Which accesses to shared memory become one: each rule as ptxas 13 follows it for sm_75 and sm_90.
#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

/// Bytes of the accesses of one kind to shared memory, in the order of the code.
std::vector<int> widths(const std::string& text, OpKind kind, int capability = 75) {
  std::vector<int> bytes;
  for (const MicroOp& op : lower_ok(text, level(LoweringLevel::kSchedule, 0, capability)).ops) {
    if (op.kind == kind && op.memory.space == Space::kShared)
      bytes.push_back(op.memory.element_bytes * op.memory.elements);
  }
  return bytes;
}

/// Shared memory filled with this thread's input; %r1 is its 64 bytes there, %r2 a word that threads share.
/// `body` leaves its results in %r10 to %r17, which are stored.
std::string shared_words(std::string_view body, uint32_t align = 16, uint32_t stride = 64) {
  std::string text = ".reg .b32 %r<40>; .reg .f32 %f<4>; .reg .b64 %rd<8>; .reg .pred %p0; .shared .align " +
                     std::to_string(align) + " .b8 s[4160]; mov.u32 %r0, s; mad.lo.u32 %r1, %tid0, " +
                     std::to_string(stride) + ", %r0;\n";
  for (int i = 0; i < 8; ++i) text += "mov.u32 %r" + std::to_string(10 + i) + ", 0;\n";
  // Filled through other addresses, so that these stores stay apart.
  text +=
      "mov.u32 %r2, 0;\nfill: shl.b32 %r3, %r2, 2; add.u32 %r4, %r1, %r3; cvt.u64.u32 %rd0, %r3; add.u64 "
      "%rd1, %in, "
      "%rd0; ld.global.u32 %r5, [%rd1]; st.shared.u32 [%r4], %r5; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, "
      "16; "
      "@%p0 bra fill;\nbar.sync 0;\n" +
      std::string(body);
  for (int i = 0; i < 8; ++i)
    text += "st.global.u32 [%out+" + std::to_string(4 * i) + "], %r" + std::to_string(10 + i) + ";\n";
  return thread_kernel("", text + "ret;");
}
std::string load(int result, int word) {
  return "ld.shared.u32 %r" + std::to_string(result) + ", [%r1+" + std::to_string(4 * word) + "];\n";
}
std::string loads(std::initializer_list<int> words) {
  std::string text;
  int result = 10;
  for (const int w : words) text += load(result++, w);
  return text;
}

using Bytes = std::vector<int>;

TEST(MergeAccesses, WordsOfOneAlignedPieceBecomeOneLoad) {
  const std::vector<std::pair<std::string, Bytes>> cases = {
      {loads({0, 1, 2, 3}), {16}},
      {loads({3, 1, 0, 2}), {16}},
      {loads({0, 1}), {8}},
      {loads({2, 3}), {8}},
      {loads({1, 2}), {4, 4}},
      {loads({0, 2}), {4, 4}},
      {loads({0, 3}), {4, 4}},
      {loads({3, 4}), {4, 4}},
      {loads({0, 1, 3}), {16}},
      {loads({1, 2, 3}), {16}},
      {loads({0, 2, 3}), {16}},
      {loads({2, 3, 4, 5}), {8, 8}},
      {loads({1, 2, 3, 4, 5}), {16, 8}},
      {loads({0, 1, 2}), {12}},  // as wide as 16 bytes, but ends earlier
  };
  for (const auto& [body, expected] : cases) {
    const std::string text = shared_words(body);
    EXPECT_EQ(widths(text, OpKind::kLoad), expected) << body;
    EXPECT_EQ(widths(text, OpKind::kLoad, 60).size(), static_cast<size_t>(std::ranges::count(body, ';')))
        << body;
    expect_same_everywhere(text, 64);
  }
}

TEST(MergeAccesses, OffsetsMayBeNegative) {
  const std::string text = shared_words(
      "and.b32 %r20, %r2, 48; shl.b32 %r20, %r20, 1; add.u32 %r21, %r1, %r20;\n"
      "ld.shared.u32 %r10, [%r21+-16]; ld.shared.u32 %r11, [%r21+-12]; ld.shared.u32 %r12, [%r21+-8]; "
      "ld.shared.u32 %r13, [%r21+-4]; ld.shared.u32 %r14, [%r21+-20]; ld.shared.u32 %r15, [%r21+-24];\n");
  Bytes all = widths(text, OpKind::kLoad);
  std::ranges::sort(all);
  EXPECT_EQ(all, (Bytes{8, 16}));
  expect_same_everywhere(text, 64);
}

TEST(MergeAccesses, PairsAndDoubles) {
  const std::string pairs = "ld.shared.v2.u32 {%r10, %r11}, [%r1]; ld.shared.v2.u32 {%r12, %r13}, [%r1+8];\n";
  EXPECT_EQ(widths(shared_words(pairs), OpKind::kLoad), Bytes{16});
  expect_same_everywhere(shared_words(pairs), 64);
  const std::string doubles =
      "ld.shared.u64 %rd2, [%r1+8]; ld.shared.u64 %rd3, [%r1+16]; ld.shared.u64 %rd4, [%r1+24];\n"
      "mov.b64 {%r10, %r11}, %rd2; mov.b64 {%r12, %r13}, %rd3; mov.b64 {%r14, %r15}, %rd4;\n";
  EXPECT_EQ(widths(shared_words(doubles), OpKind::kLoad), (Bytes{8, 16}));
  expect_same_everywhere(shared_words(doubles), 64);
  const std::string mixed = "ld.shared.f32 %f0, [%r1]; ld.shared.u32 %r10, [%r1+4]; mov.b32 %r11, %f0;\n";
  EXPECT_EQ(widths(shared_words(mixed), OpKind::kLoad), Bytes{8});
  const std::string halves = "ld.shared.u16 %r10, [%r1]; ld.shared.u16 %r11, [%r1+2];\n";
  EXPECT_EQ(widths(shared_words(halves), OpKind::kLoad), (Bytes{2, 2}));
}

TEST(MergeAccesses, TheAlignmentMustBeKnown) {
  // The array lies at address 0, whatever it asks for; what its elements are apart decides.
  EXPECT_EQ(widths(shared_words(loads({0, 1, 2, 3}), 4), OpKind::kLoad), Bytes{16});
  EXPECT_EQ(widths(shared_words(loads({0, 1, 2, 3}), 16, 40), OpKind::kLoad), (Bytes{8, 8}));
  EXPECT_EQ(widths(shared_words(loads({0, 1, 2, 3}), 16, 36), OpKind::kLoad), (Bytes{4, 4, 4, 4}));
  // Through a loop: the address grows by 8 or by 4.
  const auto walk = [](int step) {
    return shared_words(
        "mov.u32 %r20, %r1; mov.u32 %r21, 0;\nwalk: ld.shared.u32 %r22, [%r20]; ld.shared.u32 %r23, "
        "[%r20+4]; xor.b32 %r10, %r10, %r22; add.u32 %r11, %r11, %r23; add.u32 %r20, %r20, " +
        std::to_string(step) +
        "; add.u32 %r21, %r21, 1; setp.lt.u32 %p0, %r21, %r22; setp.lt.u32 %p0, %r21, 5; "
        "@%p0 bra walk;\n");
  };
  const Bytes wide = widths(walk(8), OpKind::kLoad), narrow = widths(walk(4), OpKind::kLoad);
  EXPECT_TRUE(std::ranges::all_of(wide, [](int b) { return b == 8; }));
  EXPECT_TRUE(std::ranges::all_of(narrow, [](int b) { return b == 4; }));
  expect_same_everywhere(walk(8), 64);
  expect_same_everywhere(walk(4), 64);
}

TEST(MergeAccesses, AlignmentThroughThreeSourceLogic) {
  // (%tid0 | 5) & 12 has two zero bits at its end, (%tid0 & 12) | 5 has none.
  const auto masked = [](int table) {
    return shared_words("mov.u32 %r20, 12; mov.u32 %r21, 5; lop3.b32 %r22, %tid0, %r21, %r20, " +
                        std::to_string(table) +
                        "; shl.b32 %r22, %r22, 2; add.u32 %r22, %r22, %r1; ld.shared.u32 %r10, [%r22]; "
                        "ld.shared.u32 %r11, [%r22+4]; ld.shared.u32 %r12, [%r22+8]; ld.shared.u32 %r13, "
                        "[%r22+12];\n");
  };
  EXPECT_EQ(widths(masked((0xf0 | 0xcc) & 0xaa), OpKind::kLoad), Bytes{16});
  EXPECT_EQ(widths(masked((0xf0 & 0xaa) | 0xcc), OpKind::kLoad), (Bytes{4, 4, 4, 4}));
  expect_same_everywhere(masked((0xf0 | 0xcc) & 0xaa), 64);
  expect_same_everywhere(masked((0xf0 & 0xaa) | 0xcc), 64);
}

TEST(MergeAccesses, AnOrOfZeroBitsIsASum) {
  const std::string text = shared_words(
      "shl.b32 %r20, %tid0, 6; or.b32 %r21, %r20, 4; or.b32 %r22, %r20, 8; add.u32 %r20, %r20, %r0; add.u32 "
      "%r21, %r21, "
      "%r0; add.u32 %r22, %r22, %r0; ld.shared.u32 %r10, [%r20]; ld.shared.u32 %r11, [%r21]; ld.shared.u32 "
      "%r12, "
      "[%r22+4]; ld.shared.u32 %r13, [%r22];\n");
  EXPECT_EQ(widths(text, OpKind::kLoad), Bytes{16});
  expect_same_everywhere(text, 64);
  // Bit 6 is not zero.
  const std::string other = shared_words(
      "shl.b32 %r20, %tid0, 6; or.b32 %r21, %r20, 64; ld.shared.u32 %r10, [%r20]; ld.shared.u32 %r11, "
      "[%r21+4];\n");
  EXPECT_EQ(widths(other, OpKind::kLoad), (Bytes{4, 4}));
  expect_same_everywhere(other, 64);
}

TEST(MergeAccesses, LoadsPassOnlyWhatCannotMatter) {
  const auto between = [](const std::string& statement) {
    return widths(shared_words(load(10, 0) + statement + "\n" + load(11, 1)), OpKind::kLoad);
  };
  const Bytes one{8}, two{4, 4};
  EXPECT_EQ(between("st.global.u32 [%out+64], %r10;"), one);
  EXPECT_EQ(between("ld.volatile.global.u32 %r12, [%in];"), one);
  EXPECT_EQ(between("red.global.add.u32 [%out+64], %r10;"), one);
  EXPECT_EQ(between("ld.u32 %r12, [%in];"), one);
  EXPECT_EQ(between("st.shared.u32 [%r1+32], %r0;"), two);  // not even of another word
  EXPECT_EQ(between("st.u32 [%out+64], %r0;"), two);
  EXPECT_EQ(between("atom.shared.add.u32 %r12, [%r1+32], 1;"), two);
  EXPECT_EQ(between("membar.cta;"), two);
  EXPECT_EQ(between("bar.sync 0;"), two);
  EXPECT_EQ(
      widths(shared_words("ld.volatile.shared.u32 %r10, [%r1]; ld.volatile.shared.u32 %r11, [%r1+4];\n"),
             OpKind::kLoad),
      two);
  EXPECT_EQ(widths(shared_words(
                       "setp.lt.u32 %p0, %tid0, 7; @%p0 ld.shared.u32 %r10, [%r1]; @%p0 ld.shared.u32 %r11, "
                       "[%r1+4];\n"),
                   OpKind::kLoad),
            two);
}

TEST(MergeAccesses, WhatALoadOverwritesIsReadBefore) {
  const std::string read = shared_words(load(10, 0) + "add.u32 %r12, %r11, 5;\n" + load(11, 1));
  EXPECT_EQ(widths(read, OpKind::kLoad), (Bytes{4, 4}));
  const std::string loop =
      shared_words("mov.u32 %r20, 0; mov.u32 %r11, 3;\nagain:" + load(10, 0) + "add.u32 %r12, %r12, %r11;\n" +
                   load(11, 1) +
                   "add.u32 %r20, %r20, 1; setp.lt.u32 %p0, %r20, %r10; setp.lt.u32 %p0, %r20, 3; "
                   "@%p0 bra again;\n");
  const std::string base = shared_words(
      "ld.shared.u32 %r10, [%r1+4]; and.b32 %r30, %r10, 0; add.u32 %r1, %r1, %r30; "
      "ld.shared.u32 %r1, [%r1]; mov.u32 %r11, %r1;\n");
  for (const std::string& text : {read, loop, base}) expect_same_everywhere(text, 64);
}

std::string stores(std::initializer_list<int> words, const std::string& between = "") {
  std::string text;
  for (size_t value = 20; value < 20 + words.size(); ++value)
    text += "add.u32 %r" + std::to_string(value) + ", %tid0, " + std::to_string(value) + ";\n";
  int value = 20;
  for (const int w : words) {
    if (value > 20) text += between;
    text += "st.shared.u32 [%r1+" + std::to_string(4 * w) + "], %r" + std::to_string(value++) + ";\n";
  }
  return shared_words(text + "bar.sync 0;\n" + loads({0, 1, 2, 3, 4, 5, 6, 7}));
}
TEST(MergeAccesses, StoresOfAWholePiece) {
  const std::vector<std::pair<std::string, Bytes>> cases = {
      {stores({0, 1, 2, 3}), {16}},
      {stores({3, 2, 1, 0}), {16}},
      {stores({0, 1, 2}), {8, 4}},
      {stores({1, 2, 3, 4}), {4, 8, 4}},
      {stores({0, 1, 2, 3, 4, 5, 6}), {16, 8, 4}},
      {stores({0, 4, 1, 5}), {4, 4, 4, 4}},  // pieces take turns
      {stores({0, 0, 1}), {4, 8}},
      {stores({0, 1}, "st.global.u32 [%out+64], %tid0;"), {8}},
      {stores({0, 1}, "ld.shared.u32 %r10, [%r1+32];"), {4, 4}},
      {stores({0, 1}, "ld.u32 %r10, [%in];"), {4, 4}},
      {stores({0, 1}, "bar.sync 0;"), {4, 4}},
      {stores({0, 1}, "mov.u32 %r20, %r0;"), {8}},
  };
  for (const auto& [text, expected] : cases) {
    Bytes all = widths(text, OpKind::kStore);  // the first ones fill the memory
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), expected.size())));
    std::ranges::sort(all);
    Bytes sorted = expected;
    std::ranges::sort(sorted);
    EXPECT_EQ(all, sorted) << text;
    expect_same_everywhere(text, 64);
  }
}

TEST(MergeAccesses, ALastWordThatNobodyReadsMayBeOutside) {
  const std::string text = thread_kernel(".reg .b32 %r<8>; .shared .align 16 .b8 s[12];", R"(
    st.shared.u32 [s], %tid0;
    st.shared.u32 [s+4], 5;
    st.shared.u32 [s+8], 7;
    bar.sync 0;
    ld.shared.u32 %r0, [s];
    ld.shared.u32 %r1, [s+4];
    ld.shared.u32 %r2, [s+8];
    add.u32 %r0, %r0, %r1;
    add.u32 %r0, %r0, %r2;
    st.global.u32 [%out], %r0;
    ret;)");
  EXPECT_EQ(widths(text, OpKind::kLoad), Bytes{12});
  expect_same_everywhere(text, 1);
}

TEST(MergeAccesses, UnreadBytesAreMarked) {
  const KernelImage image = lower_ok(shared_words(loads({0, 2, 3})), level(LoweringLevel::kSchedule, 0, 75));
  const auto wide = std::ranges::find_if(image.ops, [](const MicroOp& op) {
    return op.kind == OpKind::kLoad && op.memory.space == Space::kShared;
  });
  ASSERT_NE(wide, image.ops.end());
  EXPECT_EQ(wide->imm, 0xf0u);
  EXPECT_EQ(wide->num_dst, 4);
}

}  // namespace
}  // namespace gpusim::isa
