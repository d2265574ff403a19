// Memory micro-ops: shapes of access, spaces, sign extension, vectors, atomics, faults, and what they report
// for timing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

std::vector<uint32_t> outputs(const std::string& text, uint32_t threads, uint32_t word = 0) {
  expect_same_everywhere(text, threads);
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean)), threads);
  EXPECT_TRUE(o.result.finished) << fault_name(o.result.fault);
  std::vector<uint32_t> words;
  for (uint32_t t = 0; t < threads; ++t) words.push_back(o.out[t * 64 + word]);
  return words;
}

/// One load or store with the base in row 0 and the data in row 2.
class AccessTest : public testing::Test {
 protected:
  void SetUp() override {
    ctx.bank[0] = rows.data();
    ctx.global = &memory;
    ctx.shared = shared.data();
    ctx.shared_bytes = 256;
    buffer = memory.add(4096);
  }
  MicroOp op(OpKind kind, Space space, Type type = Type::kU32, int elements = 1) {
    MicroOp m;
    m.kind = kind;
    const bool wide = type_bytes(type) == 8;
    m.mem = find_form(form_key(kind == OpKind::kLoad ? Opcode::kLd : Opcode::kSt, type,
                               wide ? Type::kB64 : Type::kB32),
                      best_simd_level())
                ->mem;
    m.memory.space = space;
    m.memory.type = type;
    m.memory.element_bytes = static_cast<uint8_t>(type_bytes(type));
    m.memory.elements = static_cast<uint8_t>(elements);
    m.memory.has_base = m.memory.base_is_64 = true;
    m.num_src = 1;
    for (uint32_t e = 0; e < 4; ++e) m.dst[e].offset = m.src[1 + e].offset = (2 + 2 * e) * kRowBytes;
    return m;
  }
  void set_address(int lane, uint64_t address) { std::memcpy(rows.data() + lane * 8l, &address, 8); }
  void stride(uint64_t first, uint64_t step) {
    for (int l = 0; l < kWarpSize; ++l) set_address(l, first + static_cast<uint64_t>(l) * step);
  }
  uint32_t lane(int l) const {
    uint32_t v;
    std::memcpy(&v, rows.data() + 2ul * kRowBytes + l * 4l, 4);
    return v;
  }
  void fill_buffer() {
    for (uint32_t i = 0; i < 1024; ++i) std::memcpy(memory.data(buffer) + 4ul * i, &i, 4);
  }

  AlignedBytes rows = AlignedBytes(32ul * kRowBytes);
  std::vector<std::byte> shared = std::vector<std::byte>(256);
  TestMemory memory;
  WarpContext ctx;
  MemoryAccess access;
  uint64_t buffer = 0;
};

TEST_F(AccessTest, UnitStrideBroadcastGatherAndPartialMasks) {
  fill_buffer();
  const uint64_t steps[] = {4, 0, 8, 124};
  for (const uint64_t step : steps) {
    for (const uint32_t mask : {0xffffffffu, 0x80000001u, 0x0ff0f00fu, 0x10u}) {
      stride(buffer + 64, step);
      std::fill(rows.begin() + 2l * kRowBytes, rows.begin() + 3l * kRowBytes, std::byte{0xee});
      execute_memory(op(OpKind::kLoad, Space::kGlobal), ctx, LaneMask(mask), access);
      ASSERT_EQ(access.fault, FaultKind::kNone);
      EXPECT_EQ(access.lanes.bits(), mask);
      EXPECT_EQ(access.space, Space::kGlobal);
      EXPECT_EQ(access.bytes, 4);
      for (int l = 0; l < kWarpSize; ++l) {
        EXPECT_EQ(lane(l), LaneMask(mask).test(l) ? 16 + l * step / 4 : 0xeeeeeeeeu) << step << " lane " << l;
        if (LaneMask(mask).test(l)) {
          EXPECT_EQ(access.address[l], buffer + 64 + l * step);
        }
      }
    }
  }
}

TEST_F(AccessTest, HighestLaneWinsAStoreConflict) {
  stride(buffer, 0);
  for (uint32_t l = 0; l < 32; ++l) std::memcpy(rows.data() + 2ul * kRowBytes + l * 4ul, &l, 4);
  execute_memory(op(OpKind::kStore, Space::kGlobal), ctx, LaneMask(0x00ff00ff), access);
  EXPECT_EQ(memory.read<uint32_t>(buffer, 1)[0], 23u);
}

/// What the executor says of a half warp of 4-byte lanes is true; it says it of every shared access.
void expect_half_shape(const MemoryAccess& access, uint32_t half, bool shared) {
  const uint64_t* a = access.address + half * 16ul;
  bool uniform = true, contiguous = true;
  for (uint64_t l = 0; l < 16; ++l) {
    uniform &= a[l] == a[0];
    contiguous &= a[l] == a[0] + 4 * l;
  }
  const AccessShape truth = uniform      ? AccessShape::kUniform
                            : contiguous ? AccessShape::kContiguous
                                         : AccessShape::kOther;
  if (shared || access.half[half] != AccessShape::kOther) {
    EXPECT_EQ(access.half[half], truth) << "half " << half;
  }
}

/// Address patterns of whole and half warps, with 32- and 64-bit bases, in every instruction set.
TEST_F(AccessTest, EveryPatternAndLevelMovesTheSameWords) {
  const auto pattern = [](int kind, uint32_t l) -> uint32_t {
    switch (kind) {
      case 0:
        return 4 * l;  // consecutive
      case 1:
        return 20;  // uniform
      case 2:
        return 4 * (l % 16);  // a row of a tile, twice
      case 3:
        return 64 * (l / 16);  // a column of a tile: uniform per half warp
      case 4:
        return 4 * (l % 16) + 128 * (l / 16);  // two rows
      case 5:
        return 4 * ((l * 7) % 32);  // scattered
      default:
        return 4 * (l / 2);  // conflicts
    }
  };
  shared.assign(512, std::byte{});
  ctx.shared = shared.data();
  ctx.shared_bytes = 512;
  for (const SimdLevel simd : {SimdLevel::kBaseline, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (!simd_supported(simd)) continue;
    for (int n = 0; n < 7 * 2 * 2 * 3; ++n) {
      const int kind = n % 7;
      const bool wide = n / 7 % 2 == 0;
      const Space space = n / 14 % 2 == 0 ? Space::kGlobal : Space::kShared;
      const LaneMask mask(std::array{0xffffffffu, 0xffff0ff0u, 0x80010000u}[static_cast<size_t>(n / 28)]);
      SCOPED_TRACE(fmt::format("{} pattern {} wide {} {} mask {:x}", simd_level_name(simd), kind, wide,
                               space_name(space), mask.bits()));
      std::byte* data = space == Space::kShared ? shared.data() : memory.data(buffer) + 256;
      const uint64_t origin = space == Space::kShared ? 0 : buffer + 256;
      for (uint32_t i = 0; i < 128; ++i) std::memcpy(data + 4ul * i, &i, 4);
      for (uint32_t l = 0; l < 32; ++l) {
        const uint64_t address = origin + pattern(kind, l) - 8;
        std::memcpy(rows.data() + l * (wide ? 8ul : 4ul), &address, wide ? 8 : 4);
      }
      MicroOp load = op(OpKind::kLoad, space), store = op(OpKind::kStore, space);
      for (MicroOp* m : {&load, &store}) {
        m->memory.base_is_64 = wide;
        m->memory.offset = 8;
        m->mem =
            find_form(form_key(m == &load ? Opcode::kLd : Opcode::kSt, Type::kU32, Type::kB32), simd)->mem;
      }
      std::fill(rows.begin() + 2l * kRowBytes, rows.begin() + 3l * kRowBytes, std::byte{0xee});
      execute_memory(load, ctx, mask, access);
      ASSERT_EQ(access.fault, FaultKind::kNone);
      EXPECT_EQ(access.space, space);
      if (mask.full()) {
        const AccessShape expected = kind == 0   ? AccessShape::kContiguous
                                     : kind == 1 ? AccessShape::kUniform
                                                 : AccessShape::kOther;
        EXPECT_EQ(access.shape, expected);
        for (uint32_t h = 0; h < 2; ++h) expect_half_shape(access, h, space == Space::kShared);
      }
      for (int l = 0; l < kWarpSize; ++l) {
        const uint32_t offset = pattern(kind, static_cast<uint32_t>(l));
        EXPECT_EQ(lane(l), mask.test(l) ? offset / 4 : 0xeeeeeeeeu) << l;
        if (mask.test(l)) {
          EXPECT_EQ(access.address[l], origin + offset) << l;
        }
      }
      std::vector<uint32_t> expected(128);
      for (uint32_t i = 0; i < 128; ++i) expected[i] = i;
      for (uint32_t l = 0; l < 32; ++l) {
        const uint32_t value = 1000 + l;
        std::memcpy(rows.data() + 2ul * kRowBytes + 4ul * l, &value, 4);
        if (mask.test(static_cast<int>(l))) expected[pattern(kind, l) / 4] = value;
      }
      execute_memory(store, ctx, mask, access);
      ASSERT_EQ(access.fault, FaultKind::kNone);
      EXPECT_EQ(std::memcmp(data, expected.data(), 512), 0);
    }
  }
}

TEST_F(AccessTest, TakingTurnsBetweenBuffersFindsEach) {
  const uint64_t other = memory.add(4096);
  for (int turn = 0; turn < 4; ++turn) {
    const uint64_t target = turn % 2 == 0 ? buffer : other;
    stride(target, 4);
    for (uint32_t l = 0; l < 32; ++l) {
      const uint32_t value = static_cast<uint32_t>(turn) * 100 + l;
      std::memcpy(rows.data() + 2ul * kRowBytes + 4ul * l, &value, 4);
    }
    execute_memory(op(OpKind::kStore, Space::kGlobal), ctx, LaneMask::all(), access);
    ASSERT_EQ(access.fault, FaultKind::kNone);
    EXPECT_EQ(ctx.window.begin, target);
    EXPECT_EQ(memory.read<uint32_t>(target, 32)[31], static_cast<uint32_t>(turn) * 100 + 31);
  }
}

TEST_F(AccessTest, OutOfBoundsNamesTheFirstLaneAndMovesNothing) {
  fill_buffer();
  stride(buffer + 4096 - 10ul * 4, 4);  // lane 10 is the first outside
  MicroOp m = op(OpKind::kStore, Space::kGlobal);
  execute_memory(m, ctx, LaneMask::all(), access);
  EXPECT_EQ(access.fault, FaultKind::kOutOfBounds);
  EXPECT_EQ(access.fault_lane, 10);
  EXPECT_EQ(access.fault_address, buffer + 4096);
  EXPECT_EQ(memory.read<uint32_t>(buffer, 1024)[1023], 1023u);
  execute_memory(m, ctx, LaneMask(0x3ff), access);
  EXPECT_EQ(access.fault, FaultKind::kNone);
  stride(~uint64_t{0} - 3, 0);
  execute_memory(m, ctx, LaneMask::all(), access);
  EXPECT_EQ(access.fault, FaultKind::kOutOfBounds);
  stride(256 - 31 * 4, 4);
  m.memory.space = Space::kShared;
  execute_memory(m, ctx, LaneMask::all(), access);
  EXPECT_EQ(access.fault, FaultKind::kOutOfBounds);
  EXPECT_EQ(access.fault_lane, 31);
}

TEST_F(AccessTest, MisalignedAndReadOnly) {
  stride(buffer, 4);
  set_address(5, buffer + 2);
  execute_memory(op(OpKind::kLoad, Space::kGlobal), ctx, LaneMask::all(), access);
  EXPECT_EQ(access.fault, FaultKind::kMisaligned);
  EXPECT_EQ(access.fault_lane, 5);
  stride(buffer + 4, 16);  // a vector of four words needs 16-byte alignment
  execute_memory(op(OpKind::kLoad, Space::kGlobal, Type::kU32, 4), ctx, LaneMask::all(), access);
  EXPECT_EQ(access.fault, FaultKind::kMisaligned);
  EXPECT_EQ(access.fault_lane, 0);
  stride(memory.add(128, false), 4);
  execute_memory(op(OpKind::kStore, Space::kGlobal), ctx, LaneMask::all(), access);
  EXPECT_EQ(access.fault, FaultKind::kReadOnly);
  execute_memory(op(OpKind::kLoad, Space::kConst), ctx, LaneMask::all(), access);
  EXPECT_EQ(access.fault, FaultKind::kNone);
  EXPECT_EQ(access.space, Space::kConst);
}

TEST_F(AccessTest, LanesInDifferentAllocationsAndGenericSpaces) {
  const uint64_t other = memory.add_values<uint32_t>({111});
  fill_buffer();
  stride(buffer, 4);
  set_address(9, other);
  execute_memory(op(OpKind::kLoad, Space::kGlobal), ctx, LaneMask::all(), access);
  ASSERT_EQ(access.fault, FaultKind::kNone);
  EXPECT_EQ(lane(8), 8u);
  EXPECT_EQ(lane(9), 111u);
  const uint32_t v = 77;
  std::memcpy(shared.data() + 12, &v, 4);
  set_address(9, kSharedWindowBase + 12);
  execute_memory(op(OpKind::kLoad, Space::kGeneric), ctx, LaneMask::all(), access);
  EXPECT_EQ(lane(9), 77u);
  EXPECT_EQ(lane(10), 10u);
  EXPECT_EQ(access.space, Space::kGlobal);
  EXPECT_EQ(access.lanes.bits(), ~(1u << 9));
  stride(kSharedWindowBase, 4);
  execute_memory(op(OpKind::kLoad, Space::kGeneric), ctx, LaneMask::all(), access);
  EXPECT_EQ(access.space, Space::kShared);
  EXPECT_EQ(access.address[3], 12u);
}

TEST(MemoryForms, NarrowLoadsExtendIntoWiderRegisters) {
  const std::string text = thread_kernel(".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .b16 %h;", R"(
    mov.u32 %r0, 0x8081F2F3; st.global.u32 [%out+128], %r0;
    ld.global.s8 %r1, [%out+128]; st.global.u32 [%out], %r1;
    ld.global.u8 %r1, [%out+129]; st.global.u32 [%out+4], %r1;
    ld.global.s16 %rd0, [%out+130]; st.global.u64 [%out+8], %rd0;
    ld.global.s32 %rd1, [%out+128]; st.global.u64 [%out+16], %rd1;
    ld.global.u8 %h, [%out+131]; st.global.u8 [%out+132], %h; ld.global.u8 %rd2, [%out+132]; st.global.u64 [%out+24], %rd2;
    ret;)");
  EXPECT_EQ(outputs(text, 32, 0)[3], 0xfffffff3u);
  EXPECT_EQ(outputs(text, 32, 1)[3], 0xf2u);
  EXPECT_EQ(outputs(text, 32, 2)[3], 0xffff8081u);
  EXPECT_EQ(outputs(text, 32, 3)[3], 0xffffffffu);
  EXPECT_EQ(outputs(text, 32, 4)[3], 0x8081f2f3u);
  EXPECT_EQ(outputs(text, 32, 5)[3], 0xffffffffu);
  EXPECT_EQ(outputs(text, 32, 6)[3], 0x80u);
}

TEST(MemoryForms, LocalMemoryIsPrivateAlsoThroughGenericAddresses) {
  const std::string text =
      thread_kernel(".reg .b64 %sp, %spl; .reg .b32 %r<3>; .local .align 8 .b8 depot[32];", R"(
    mov.u64 %spl, depot; cvta.local.u64 %sp, %spl;
    st.local.u32 [%spl+4], %tid0; ld.u32 %r0, [%sp+4]; mad.lo.u32 %r0, %r0, 2, 1; st.u32 [%sp+8], %r0;
    ld.local.u32 %r1, [depot+8]; st.global.u32 [%out], %r1; ret;)");
  const auto words = outputs(text, 32);
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(words[t], 2 * t + 1);
}

// What the code of ptxas computes: the sum in the width of the register.
TEST(MemoryForms, SumsOfARegisterOrNameAndAConstant) {
  const std::string text = thread_kernel(
      ".reg .b64 %d<3>; .reg .b32 %r<4>; .reg .b16 %h; .reg .pred %p; .shared .align 16 .b32 s[8];", R"(
    mov.u64 %d0, 0xFFFFFFFF; st.global.u64 [%out], %d0+1; mov.u32 %r0, 0xFFFFFFFF; st.global.u32 [%out+8], %r0+3;
    mov.u32 %r1, 7; shl.b32 %r2, %r1+1, %r1+-5; st.global.u32 [%out+12], %r2;
    mov.u32 %r3, 40; setp.gt.u32 %p, %r3+60, 99; @%p add.u32 %r3, %r3+60, 1; st.global.u32 [%out+16], %r3;
    mov.u32 %r0, s+8; add.u32 %r1, s+12, %r0; st.global.u32 [%out+20], %r1; st.global.u32 [%out+24], s+16;
    mov.u32 %r0, s[3]; st.global.u32 [%out+28], %r0; mov.u16 %h, 65535; cvt.u32.u16 %r0, %h+2;
    st.global.u32 [%out+32], %r0; ret;)");
  const uint32_t expected[] = {0, 1, 2, 32, 101, 20, 16, 12, 1};
  for (uint32_t w = 0; w < std::size(expected); ++w) EXPECT_EQ(outputs(text, 1, w)[0], expected[w]) << w;
}

// An element is one of the type: .v2 does not count. Bytes come in their own size.
TEST(MemoryForms, IndexedNamesCountElementsOfTheType) {
  const std::string text =
      thread_kernel(".reg .b32 %r; .shared .align 8 .v2 .u32 v[8]; .shared .b8 c[8];", R"(
    mov.u32 %r, v[3]; st.global.u32 [%out], %r; mov.u32 %r, c[5]; st.global.u32 [%out+4], %r;
    mov.u32 %r, c; st.global.u32 [%out+8], %r; ret;)");
  EXPECT_EQ(outputs(text, 1, 0)[0] % 64, 12u);
  EXPECT_EQ(outputs(text, 1, 1)[0] - outputs(text, 1, 2)[0], 5u);
}

// ld.b8 and ld.b16 put bits into a floating-point register; st.b8 and st.b16 store its integer value.
TEST(MemoryForms, NarrowBitsOfFloatingPointRegisters) {
  const std::string text = thread_kernel(".reg .f32 %f; .reg .f64 %g; .reg .b32 %r; .reg .f16x2 %h;", R"(
    mov.u32 %r, 0x8081F2F3; st.global.u32 [%out+128], %r;
    ld.global.b8 %f, [%out+128]; st.global.f32 [%out], %f; ld.global.b16 %g, [%out+130]; st.global.f64 [%out+8], %g;
    ld.global.b32 %g, [%out+128]; st.global.f64 [%out+16], %g;
    mov.f32 %f, 0f437EB333; st.global.b32 [%out+24], 0; st.global.b16 [%out+24], %f;
    mov.f64 %g, 0d40EFFFE666666666; st.global.b32 [%out+28], 0; st.global.b16 [%out+28], %g; st.global.b32 [%out+32], %g;
    ld.global.b32 %h, [%out+128]; st.global.b32 [%out+36], 0; st.global.b16 [%out+36], %h; ret;)",
                                         "sm_53");
  const std::pair<uint32_t, uint32_t> expected[] = {
      {0, 0xf3}, {2, 0x8081}, {3, 0}, {4, 0x8081f2f3}, {5, 0}, {6, 254}, {7, 65535}, {8, 65535}, {9, 0xf2f3}};
  for (const auto& [word, value] : expected) EXPECT_EQ(outputs(text, 1, word)[0], value) << word;
}

// Extended as the type of the register says.
TEST(MemoryForms, AddressesInNarrowRegisters) {
  const std::string text = thread_kernel(
      ".reg .b16 %h; .reg .s16 %i; .reg .b8 %c; .reg .b32 %r; .shared .align 4 .b32 s[10000];", R"(
    mov.u32 %r, 77; st.shared.u32 [s+36864], %r; mov.u32 %r, 78; st.shared.u32 [s+128], %r;
    mov.u16 %h, 0x8FFC; ld.shared.u32 %r, [%h+4]; st.global.u32 [%out], %r;
    mov.u16 %i, -4; ld.shared.u32 %r, [%i+132]; st.global.u32 [%out+4], %r; ret;)");
  EXPECT_EQ(outputs(text, 1, 0)[0], 77u);
  EXPECT_EQ(outputs(text, 1, 1)[0], 78u);
}

// Hexadecimal and octal constants keep their lower 64 bits.
TEST(MemoryForms, ConstantsAbove64Bits) {
  const std::string text = thread_kernel(".reg .b64 %d;", R"(
    mov.u64 %d, 0x123456789ABCDEF012; st.global.u64 [%out], %d; mov.u64 %d, 18446744073709551617;
    st.global.u64 [%out+8], %d; mov.u64 %d, 04000000000000000000005; st.global.u64 [%out+16], %d; ret;)");
  const uint32_t expected[] = {0xbcdef012, 0x3456789a, 1, 0, 5, 0};
  for (uint32_t w = 0; w < std::size(expected); ++w) EXPECT_EQ(outputs(text, 1, w)[0], expected[w]) << w;
}

// Before PTX 3.0 local variables may stand outside functions: each thread has one, which all functions share.
TEST(MemoryForms, LocalVariablesOfTheModule) {
  const std::string text = R"(.version 2.2
.target sm_20
.local .align 4 .b8 unused[64];
.local .align 8 .b32 m[4];
.func note (.reg .u32 %v) { .local .b32 own; st.local.u32 [own], %v; st.local.u32 [m+8], %v; ret; }
.entry k (.param .u64 pin, .param .u64 pout)
{ .reg .u64 %out, %d; .reg .u32 %t, %r, %v; .local .b32 own;
  mov.u32 %t, %tid.x; cvt.u64.u32 %d, %t; shl.b64 %d, %d, 2; ld.param.u64 %out, [pout]; add.u64 %out, %out, %d;
  st.local.u32 [own], 1000; add.u32 %v, %t, 5; call note, (%v);
  mov.u64 %d, m; ld.local.u32 %r, [%d+8]; ld.local.u32 %v, [own]; add.u32 %r, %r, %v;
  st.global.u32 [%out], %r; ret; })";
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean));
  EXPECT_LT(image.local_bytes, 64u);      // without the unused one
  ASSERT_EQ(image.addressed.size(), 3u);  // --check memory knows each of them
  const Outcome o = run_image(image, 32);
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(o.out[t], t + 5 + 1000);
}

// Without .address_size the width of the addresses is that of those which the text uses.
TEST(MemoryForms, AddressesOf64BitsWithoutTheDirective) {
  const std::string text = R"(.version 2.0
.target sm_20
.entry k (.param .u64 pin, .param .u64 pout)
{ .reg .u64 %in, %out; .reg .u32 %r; .reg .pred %p;
  ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout]; ld.global.u32 %r, [%in+4]; st.global.u32 [%out], %r;
  isspacep.global %p, %out; selp.u32 %r, 1, 0, %p; st.global.u32 [%out+4], %r; exit; })";
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean)), 1);
  ASSERT_TRUE(o.result.finished);
  EXPECT_NE(o.out[0], 0u);
  EXPECT_EQ(o.out[1], 1u);
}

TEST(MemoryForms, VectorsMoveAllTheirElements) {
  const std::string text = thread_kernel(".reg .b32 %r<8>; .reg .f64 %d<2>;", R"(
    ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%in]; add.u32 %r4, %r0, %r3; st.global.v2.u32 [%out], {%r4, %r1};
    ld.global.v2.f64 {%d0, %d1}, [%in+16]; st.global.v2.f64 [%out+16], {%d1, %d0}; ret;)");
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean)), 32);
  ASSERT_TRUE(o.result.finished);
  expect_same_everywhere(text, 32);
}

TEST(MemoryForms, AtomicsSerialiseInLaneOrder) {
  const auto old = outputs(thread_kernel(".reg .b32 %r<4>; .shared .align 4 .b8 s[8];", R"(
    mov.u32 %r1, 5; st.shared.u32 [s], %r1; atom.shared.add.u32 %r0, [s], %tid0; st.global.u32 [%out], %r0; ret;)"),
                           32);
  EXPECT_EQ(old[4], 5u + 0 + 1 + 2 + 3);
  const auto wrapped = outputs(thread_kernel(".reg .b32 %r<4>; .shared .align 4 .b8 s[8];", R"(
    mov.u32 %r1, 0; st.shared.u32 [s], %r1; atom.shared.inc.u32 %r0, [s], 4; st.global.u32 [%out], %r0; ret;)"),
                               32);
  EXPECT_EQ(wrapped[7], 2u);
  const auto swapped = outputs(thread_kernel(".reg .b32 %r<4>; .shared .align 4 .b8 s[8];", R"(
    mov.u32 %r1, 3; st.shared.u32 [s], %r1; atom.shared.cas.b32 %r0, [s], %tid0, 9; st.global.u32 [%out], %r0; ret;)"),
                               32);
  EXPECT_EQ(swapped[3], 3u);
  EXPECT_EQ(swapped[4], 9u);
  const auto sum = outputs(thread_kernel(".reg .b32 %r<4>; .reg .f32 %f; .shared .align 4 .b8 s[8];", R"(
    mov.u32 %r1, 0; st.shared.u32 [s], %r1; red.shared.add.f32 [s], 0f3F000000; red.shared.max.s32 [s+4], %tid0;
    ld.shared.u32 %r0, [s]; st.global.u32 [%out], %r0; ret;)"),
                           32);
  EXPECT_EQ(sum[0], 0x41800000u);  // 16.0f
}

TEST(MemoryForms, CachePoliciesOfAtomicsAreNoValues) {
  const std::string text = thread_kernel(".reg .b32 %r<4>; .reg .b64 %policy;", R"(
    st.global.u32 [%out+4], 5; createpolicy.fractional.L2::evict_last.b64 %policy;
    atom.global.add.L2::cache_hint.u32 %r0, [%out+4], %tid0, %policy; st.global.u32 [%out], %r0; ret;)",
                                         "sm_90");
  EXPECT_EQ(outputs(text, 32, 0)[3], 5u);
  EXPECT_EQ(outputs(text, 32, 1)[3], 8u);
}

TEST(MemoryForms, ParametersHaveGenericAddresses) {
  const std::string text = thread_kernel(".reg .b64 %p, %q; .reg .b32 %r; .reg .pred %is;", R"(
    mov.b64 %p, pout; cvta.param.u64 %q, %p; ld.u64 %p, [%q+-8]; st.global.u64 [%out], %p;
    isspacep.param %is, %q; selp.b32 %r, 1, 0, %is; st.global.u32 [%out+8], %r;
    isspacep.global %is, %q; selp.b32 %r, 1, 0, %is; st.global.u32 [%out+12], %r;
    setp.eq.u32 %is, %tid0, 3; selp.b64 %q, %in, %q, %is; ld.u32 %r, [%q]; st.global.u32 [%out+16], %r; ret;)",
                                         "sm_70");
  const uint64_t in = kDeviceMemoryBase;
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(outputs(text, 32, 0)[t], static_cast<uint32_t>(in));
    EXPECT_EQ(outputs(text, 32, 2)[t], 1u);
    EXPECT_EQ(outputs(text, 32, 3)[t], 0u);
  }
  const auto last = outputs(text, 32, 4), first_input = outputs(thread_kernel(".reg .b32 %r;", R"(
    ld.global.u32 %r, [%in]; st.global.u32 [%out], %r; ret;)"),
                                                                32);
  EXPECT_EQ(last[3], first_input[3]);
  EXPECT_EQ(last[4], static_cast<uint32_t>(in + 32ul * 256 + 256));  // the second buffer: parameter pout
}

TEST(MemoryForms, ParametersCannotBeWrittenThroughGenericAddresses) {
  const std::string text = thread_kernel(".reg .b64 %p;", R"(
    mov.b64 %p, pin; cvta.param.u64 %p, %p; st.u32 [%p], %tid0; ret;)",
                                         "sm_70");
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean)), 32);
  EXPECT_EQ(o.result.fault, FaultKind::kReadOnly);
}

std::string pair_kernel(const std::string& statements) {
  return thread_kernel(".reg .b128 %q<4>; .reg .b64 %d<8>; .reg .b32 %r<4>; .shared .align 16 .b8 s[64];",
                       "cvt.u64.u32 %d0, %tid0; mov.b64 %d1, 7; mov.b128 %q0, {%d0, %d1};\n"
                       "mov.b64 %d2, 0; st.shared.u64 [s+16], %d2; st.shared.u64 [s+24], %d1;\n" +
                           statements + "ret;",
                       "sm_90");
}

TEST(MemoryForms, AtomicsOf128Bits) {
  // Lanes in ascending order: each gets what the one before it left.
  const std::string exchange = pair_kernel(R"(
    atom.shared.exch.b128 %q1, [s+16], %q0; mov.b128 {%d3, %d4}, %q1;
    st.global.u64 [%out], %d3; st.global.u64 [%out+8], %d4;
    ld.shared.v2.u64 {%d5, %d6}, [s+16]; st.global.u64 [%out+16], %d5; )");
  EXPECT_EQ(outputs(exchange, 32, 0)[5], 4u);
  EXPECT_EQ(outputs(exchange, 32, 0)[0], 0u);
  EXPECT_EQ(outputs(exchange, 32, 2)[5], 7u);
  EXPECT_EQ(outputs(exchange, 32, 4)[5], 31u);
  // 0, 7 is there: lane 0 puts 5, 9 in its place, which no other lane expects.
  const std::string swap = pair_kernel(R"(
    mov.b64 %d3, 5; mov.b64 %d4, 9; mov.b128 %q2, {%d3, %d4};
    atom.shared.cas.b128 %q1, [s+16], %q0, %q2; mov.b128 {%d3, %d4}, %q1;
    st.global.u64 [%out], %d3; st.global.u64 [%out+8], %d4;
    atom.shared.exch.b128 _, [s+32], %q2; ld.shared.u64 %d5, [s+40]; st.global.u64 [%out+16], %d5; )");
  EXPECT_EQ(outputs(swap, 32, 0)[0], 0u);
  EXPECT_EQ(outputs(swap, 32, 2)[0], 7u);
  EXPECT_EQ(outputs(swap, 32, 0)[5], 5u);
  EXPECT_EQ(outputs(swap, 32, 2)[5], 9u);
  EXPECT_EQ(outputs(swap, 32, 4)[8], 9u);
}

TEST(MemoryForms, CompareAndSwapOf128BitsLooksAtBothHalves) {
  const std::string text = pair_kernel(R"(
    mov.b64 %d3, 8; mov.b128 %q0, {%d2, %d3}; mov.b128 %q2, {%d3, %d3};
    atom.shared.cas.b128 %q1, [s+16], %q0, %q2; ld.shared.u64 %d5, [s+16]; st.global.u64 [%out], %d5; )");
  EXPECT_EQ(outputs(text, 32, 0)[3], 0u);
}

FaultKind fault_of(const std::string& declarations, const std::string& statements,
                   const std::string& target) {
  const std::string text = thread_kernel(declarations, statements + " ret;", target);
  return run_image(lower_ok(text, level(LoweringLevel::kClean)), 32).result.fault;
}

TEST(MemoryForms, WholeVectorsAreAligned) {
  const std::string words = ".reg .b32 %r<8>;", list = "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}";
  for (const auto& [offset, fault] : {std::pair{"32", FaultKind::kNone}, {"16", FaultKind::kMisaligned}}) {
    EXPECT_EQ(fault_of(words, "ld.global.v8.b32 " + list + ", [%in+" + offset + "];", "sm_100"), fault);
    EXPECT_EQ(fault_of(words, "st.v8.b32 [%out+" + std::string(offset) + "], " + list + ";", "sm_100"),
              fault);
  }
  const std::string singles = ".reg .f32 %f<4>;";
  for (const auto& [offset, fault] : {std::pair{"16", FaultKind::kNone}, {"8", FaultKind::kMisaligned}}) {
    EXPECT_EQ(
        fault_of(singles, "red.global.add.v4.f32 [%out+" + std::string(offset) + "], {%f0, %f1, %f2, %f3};",
                 "sm_90"),
        fault);
    EXPECT_EQ(fault_of(".reg .b128 %q;", "atom.global.exch.b128 %q, [%out+" + std::string(offset) + "], %q;",
                       "sm_90"),
              fault);
  }
}

}  // namespace
}  // namespace gpusim::isa
