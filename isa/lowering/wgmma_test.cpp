// wgmma: four warps multiply matrices that lie in shared memory as descriptors say, and in registers. What
// comes out is compared with products of small integers, and the places of elements are those of the manual's
// pictures: rows of chunks of 16 bytes, which change places from row to row.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "isa/tests/family_kernels.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

constexpr size_t kRows = 64, kThreads = 128, kSharedBytes = 32768, kStartOfB = 16384;
constexpr size_t kPlaces = 4, kFirstSum = 5;  // words of a thread's input: A, where its elements lie, sums

struct Case {
  std::string d, a, b;
  size_t n;
  int mode = 0;  ///< of both descriptors: none, 128, 64 or 32 bytes
  bool a_in_registers = false, a_transposed = false, b_transposed = false;
  bool adds = true;
  int sign_a = 1, sign_b = 1;
  bool satfinite = false;
  size_t later_chunks = 0;  ///< A begins so many chunks of 16 bytes behind the begin of its rows
  bool sparse = false;      ///< of A every other element is there
  size_t selector = 0;      ///< which lanes say where its elements lie
};

size_t bits_of(std::string_view type) {
  return type == "tf32" || type == "f32" || type == "s32" ? 32 : type == "f16" || type == "bf16" ? 16 : 8;
}
/// Of the elements of A that are there.
size_t inner_of(const Case& c) { return 256 / bits_of(c.a); }
size_t inner_of_b(const Case& c) { return inner_of(c) * (c.sparse ? 2 : 1); }

/// A small integer as an element of `type`.
uint32_t encode(std::string_view type, int v) {
  const uint32_t single = std::bit_cast<uint32_t>(static_cast<float>(v));
  if (type == "f16") return half_of(v);
  if (type == "bf16") return single >> 16;
  if (type == "tf32" || type == "f32") return single;
  if (!type.starts_with('e')) return static_cast<uint32_t>(v) & (type == "s32" ? ~0u : 0xffu);
  const int fraction = type == "e4m3" ? 3 : 2, bias = type == "e4m3" ? 7 : 15;
  if (v == 0) return 0;
  const int exponent = std::ilogb(v);
  const double rest = std::ldexp(std::abs(v), -exponent) - 1;
  return (v < 0 ? 0x80u : 0) | static_cast<uint32_t>(exponent + bias) << fraction |
         static_cast<uint32_t>(std::ldexp(rest, fraction));
}
double decode(std::string_view type, uint32_t word) {
  if (type == "s32") return static_cast<int32_t>(word);
  if (type == "f32") return std::bit_cast<float>(word);
  const int field = static_cast<int>(word >> 10 & 31);
  const double value =
      field == 0 ? std::ldexp(word & 1023, -24) : std::ldexp(1024 + (word & 1023), field - 25);
  return (word & 0x8000) != 0 ? -value : value;
}

struct Layout {
  size_t leading, stride, chunks;  ///< chunks of a row
  int mode;
  bool transposed;
  [[nodiscard]] uint64_t descriptor() const {
    return uint64_t{leading / 16} << 16 | uint64_t{stride / 16} << 32 | static_cast<uint64_t>(mode) << 62;
  }
  /// Byte of element (line, k), of `width` bytes.
  [[nodiscard]] size_t place(size_t line, size_t k, size_t width, size_t later) const {
    const size_t byte = transposed ? line * width : k * width, row = transposed ? k % 8 : line % 8;
    const size_t across = (transposed ? k : line) / 8;
    if (mode == 0) {
      const size_t along = byte / 16;
      return row * 16 + byte % 16 +
             (transposed ? along * stride + across * leading : across * stride + along * leading);
    }
    const size_t chunk = byte / 16 % chunks + later, turn = row * chunks / 8;
    return byte / 16 / chunks * leading + across * stride + (row * chunks + (chunk ^ turn)) * 16 + byte % 16;
  }
};
Layout layout_of(int mode, bool transposed) {
  if (mode == 0) return {transposed ? 2048u : 144u, transposed ? 160u : 288u, 1, mode, transposed};
  return {4096, 2048, size_t{16} >> mode, mode, transposed};
}
/// Of B, whose lines are twice as long where A is sparse.
Layout layout_of_b(const Case& c) {
  Layout layout = layout_of(c.mode, c.b_transposed);
  if (c.sparse && c.mode == 0 && !c.b_transposed) layout.stride = 608;
  if (c.sparse && c.mode != 0) layout.leading = 8192;
  return layout;
}

std::string list(char name, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  return "{" + text + "}";
}

std::string name_of(const Case& c) {
  return fmt::format("wgmma.mma_async{}.sync.aligned.m64n{}k{}{}.{}.{}.{}", c.sparse ? ".sp" : "", c.n,
                     inner_of_b(c), c.satfinite ? ".satfinite" : "", c.d, c.a, c.b);
}

std::string kernel_of(const Case& c, size_t sums) {
  const std::string_view type = c.d == "f32" ? "f32" : "b32";
  std::string text = fmt::format(
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 pshared, .param .u64 pin, .param .u64 pout)\n{{\n"
      ".shared .align 1024 .b8 s[{}];\n.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .reg .b32 "
      "%a<4>;\n"
      ".reg .{} %d<{}>;\n"
      "ld.param.u64 %rd0, [pshared]; ld.param.u64 %rd1, [pin]; ld.param.u64 %rd2, [pout];\n"
      "mov.u32 %r0, %tid.x; mul.wide.u32 %rd3, %r0, 4; add.u64 %rd0, %rd0, %rd3;\n"
      "mul.wide.u32 %rd3, %r0, {}; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;\n"
      "mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r2, %r1, %r2; mov.u32 %r3, 0;\n"
      "L: ld.global.u32 %r4, [%rd0]; st.shared.u32 [%r2], %r4; add.u64 %rd0, %rd0, 512; add.u32 %r2, %r2, "
      "512;\n"
      "add.u32 %r3, %r3, 512; setp.lt.u32 %p0, %r3, {}; @%p0 bra L;\n"
      "fence.proxy.async; bar.sync 0;\n"
      "shr.u32 %r4, %r1, 4; cvt.u64.u32 %rd4, %r4; add.u32 %r5, %r1, {}; shr.u32 %r5, %r5, 4; cvt.u64.u32 "
      "%rd5, %r5;\n"
      "or.b64 %rd6, %rd4, {}; or.b64 %rd7, %rd5, {};\n"
      "mov.u32 %r6, {}; setp.ne.u32 %p1, %r6, 0;\n",
      kSharedBytes, type, sums, (sums + kFirstSum) * 4, kSharedBytes, kStartOfB,
      layout_of(c.mode, c.a_transposed).descriptor() + c.later_chunks, layout_of_b(c).descriptor(),
      c.adds ? 1 : 0);
  text += fmt::format("ld.global.u32 %r7, [%rd1+{}];\n", 4 * kPlaces);
  for (size_t i = 0; i < kPlaces; ++i) text += fmt::format("ld.global.u32 %a{}, [%rd1+{}];\n", i, 4 * i);
  for (size_t i = 0; i < sums; ++i)
    text += fmt::format("ld.global.{} %d{}, [%rd1+{}];\n", type, i, 4 * (kFirstSum + i));
  text += fmt::format("wgmma.fence.sync.aligned;\n{} {}, {}, %rd7{}, %p1", name_of(c), list('d', sums),
                      c.a_in_registers ? list('a', 4) : "%rd6",
                      c.sparse ? fmt::format(", %r7, {}", c.selector) : "");
  if (c.d != "s32") text += fmt::format(", {}, {}", c.sign_a, c.sign_b);
  if (c.a == "f16" || c.a == "bf16") {
    if (!c.a_in_registers) text += fmt::format(", {}", c.a_transposed ? 1 : 0);
    text += fmt::format(", {}", c.b_transposed ? 1 : 0);
  }
  text += ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  for (size_t i = 0; i < sums; ++i) text += fmt::format("st.global.{} [%rd2+{}], %d{};\n", type, 4 * i, i);
  return text + "ret;\n}\n";
}

/// Which elements of a line of B meet those of A's rows, at random: two of each four, of tf32 one of two.
std::vector<size_t> random_places(const Case& c, std::mt19937& random) {
  std::vector<size_t> places(kRows * inner_of(c));
  for (size_t p = 0; p < places.size(); ++p) {
    const size_t kept = p % inner_of(c);
    if (!c.sparse) {
      places[p] = kept;
    } else if (bits_of(c.a) == 32) {
      places[p] = 2 * kept + random() % 2;
    } else if (kept % 2 == 0) {
      const size_t first = random() % 3;
      places[p] = 2 * kept + first;
      places[p + 1] = 2 * kept + first + 1 + random() % (3 - first);
    }
  }
  return places;
}

/// The word in which thread `t` says where elements lie (the manual's pictures of the metadata of
/// m64nNk32, m64nNk16 and m64nNk64): four bits for each two of A, of tf32 for each one.
uint32_t places_word(const Case& c, const std::vector<size_t>& places, size_t t) {
  const size_t lane = t % 32, inner = inner_of(c), row = t / 32 * 16 + lane / 4;
  const bool tf32 = bits_of(c.a) == 32, bytes = bits_of(c.a) == 8;
  const auto four_bits = [&](size_t i, size_t chunk) {
    if (tf32) return places[i * inner + chunk] % 2 == 0 ? 0b0100u : 0b1110u;
    const size_t at = i * inner + 2 * chunk;
    return static_cast<uint32_t>(places[at] % 4 | places[at + 1] % 4 << 2);
  };
  uint32_t word = 0;
  if (!bytes && lane / 2 % 2 != c.selector) return 0x9e4d9e4d;  // such lanes are not asked
  for (size_t nibble = 0; nibble < 8; ++nibble) {
    const size_t i = bytes ? row + lane % 2 * 8 : row + nibble / 4 * 8;
    const size_t chunk = bytes ? lane / 2 % 2 * 8 + nibble : lane % 2 * 4 + nibble % 4;
    word |= four_bits(i, chunk) << (4 * nibble);
  }
  return word;
}

void check(const Case& c) {
  SCOPED_TRACE(fmt::format("{} mode {}{}{}{}{}", name_of(c), c.mode,
                           c.a_in_registers ? " A in registers" : "", c.a_transposed ? " A transposed" : "",
                           c.b_transposed ? " B transposed" : "", c.adds ? "" : " clears"));
  const size_t inner = inner_of(c), inner_of_line = inner_of_b(c), width = bits_of(c.a) / 8,
               parts = 4 / width;
  std::mt19937 random(11);
  const auto value = [&](std::string_view type) {
    return static_cast<int>(random() % 9) - (type == "u8" ? 0 : 4);
  };
  std::vector<int> a(kRows * inner), b(c.n * inner_of_line), addends(kRows * c.n);
  for (int& v : a) v = value(c.a);
  for (int& v : b) v = value(c.b);
  const std::vector<size_t> places = random_places(c, random);
  for (int& v : addends) v = c.satfinite ? INT32_MAX - static_cast<int>(random() % 100) : value(c.d);
  std::vector<std::byte> shared(kSharedBytes, std::byte{0x55});
  const auto put = [&](size_t at, uint32_t bits) { std::memcpy(&shared.at(at), &bits, width); };
  const Layout of_a = layout_of(c.mode, c.a_transposed), of_b = layout_of_b(c);
  for (size_t k = 0; k < inner; ++k)
    for (size_t i = 0; i < kRows; ++i)
      put(of_a.place(i, k, width, c.later_chunks), encode(c.a, a[i * inner + k]));
  for (size_t k = 0; k < inner_of_line; ++k)
    for (size_t j = 0; j < c.n; ++j)
      put(kStartOfB + of_b.place(j, k, width, 0), encode(c.b, b[j * inner_of_line + k]));
  const size_t per_word = c.d == "f16" ? 2 : 1, sums = c.n / 2 / per_word, words = sums + kFirstSum;
  std::vector<uint32_t> input(kThreads * words);
  // Calls fn(word, bits to shift, row, column) for each result.
  const auto each = [&](auto fn) {
    for (size_t t = 0; t < kThreads; ++t)
      for (size_t e = 0; e < c.n / 2; ++e)
        fn(t * words + e / per_word, e % per_word * 16, t / 32 * 16 + t % 32 / 4 + e / 2 % 2 * 8,
           e / 4 * 8 + t % 4 * 2 + e % 2);
  };
  for (size_t t = 0; t < kThreads && c.sparse; ++t) input[t * words + kPlaces] = places_word(c, places, t);
  for (size_t t = 0; t < kThreads; ++t)
    for (size_t r = 0; r < kPlaces; ++r)
      for (size_t e = 0; e < parts; ++e) {
        const size_t row = t / 32 * 16 + t % 32 / 4 + r % 2 * 8, k = (r / 2 * 4 + t % 4) * parts + e;
        input[t * words + r] |= encode(c.a, a[row * inner + k]) << (e * width * 8);
      }
  each([&](size_t word, size_t shift, size_t i, size_t j) {
    input[word + kFirstSum] |= encode(c.d, addends[i * c.n + j]) << shift;
  });
  TestMemory memory;
  const uint64_t from = memory.add_values(shared), in = memory.add_values(input),
                 out = memory.add(input.size() * 4);
  const KernelImage image = lower_ok(kernel_of(c, sums), level(LoweringLevel::kSchedule, 0, 90));
  BlockRunner runner(image, memory, pack_params({from, in, out}), kThreads);
  const RunResult result = runner.run(10'000'000);
  ASSERT_TRUE(result.finished) << static_cast<int>(result.fault);
  const std::vector<uint32_t> got = memory.read<uint32_t>(out, input.size());
  each([&](size_t word, size_t shift, size_t i, size_t j) {
    int64_t expected = 0;
    for (size_t k = 0; k < inner; ++k)
      expected += a[i * inner + k] * b[j * inner_of_line + places[i * inner + k]];
    expected *= c.sign_a * c.sign_b;
    if (c.adds) expected += addends[i * c.n + j];
    if (c.satfinite) expected = std::min<int64_t>(expected, INT32_MAX);
    const double v = decode(c.d, got[word] >> shift & (per_word == 2 ? 0xffff : ~0u));
    ASSERT_EQ(v, static_cast<double>(expected)) << "row " << i << ", column " << j;
  });
}

TEST(Wgmma, TypesOfMultiplicandsAndSums) {
  for (const Case& c : std::initializer_list<Case>{{"f32", "f16", "f16", 16},
                                                   {"f16", "f16", "f16", 24},
                                                   {"f32", "bf16", "bf16", 8},
                                                   {"f32", "tf32", "tf32", 24},
                                                   {"s32", "s8", "s8", 16},
                                                   {"s32", "u8", "u8", 24},
                                                   {"s32", "u8", "s8", 8},
                                                   {"s32", "s8", "u8", 32},
                                                   {"f32", "e4m3", "e4m3", 24},
                                                   {"f32", "e5m2", "e5m2", 8},
                                                   {"f32", "e4m3", "e5m2", 16},
                                                   {"f16", "e5m2", "e4m3", 16},
                                                   {"f16", "e4m3", "e4m3", 16},
                                                   {"f16", "e5m2", "e5m2", 16},
                                                   {"f16", "e4m3", "e5m2", 16},
                                                   {"f32", "e5m2", "e4m3", 16}}) {
    check(c);
    Case in_registers = c;
    in_registers.a_in_registers = true;
    check(in_registers);
    Case cleared = c;
    cleared.adds = false;
    check(cleared);
  }
  Case clamped{"s32", "u8", "u8", 16};
  clamped.satfinite = true;
  check(clamped);
}

TEST(Wgmma, DescriptorsSayWhereAMatrixLies) {
  for (const int mode : {0, 1, 2, 3}) {
    check({"f32", "tf32", "tf32", 16, mode});
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true})
        check({"f32", "f16", "f16", 24, mode, false, a_transposed, b_transposed});
  }
  check({"f32", "bf16", "bf16", 8, 1, true, false, true});
  Case later{"f32", "f16", "f16", 16, 1};
  later.later_chunks = 2;
  check(later);
}

TEST(Wgmma, SignsOfMultiplicands) {
  for (const char* const type : {"f16", "tf32", "e4m3"}) {
    for (const auto& [sign_a, sign_b] : {std::pair{-1, 1}, std::pair{1, -1}, std::pair{-1, -1}}) {
      Case c{"f32", type, type, 8};
      c.sign_a = sign_a;
      c.sign_b = sign_b;
      check(c);
    }
  }
}

TEST(Wgmma, SparseMatrices) {
  for (const Case& c : std::initializer_list<Case>{{"f32", "f16", "f16", 16},
                                                   {"f16", "f16", "f16", 24},
                                                   {"f32", "bf16", "bf16", 8},
                                                   {"f32", "tf32", "tf32", 24},
                                                   {"s32", "s8", "s8", 16},
                                                   {"s32", "u8", "s8", 24},
                                                   {"f32", "e4m3", "e4m3", 24},
                                                   {"f16", "e5m2", "e4m3", 16}}) {
    Case sparse = c;
    sparse.sparse = true;
    for (const size_t selector : bits_of(c.a) == 8 ? std::vector<size_t>{0} : std::vector<size_t>{0, 1}) {
      sparse.selector = selector;
      check(sparse);
    }
    sparse.a_in_registers = true;
    check(sparse);
    sparse.adds = false;
    if (c.d != "s32") sparse.sign_b = -1;
    check(sparse);
  }
  for (const int mode : {1, 2}) {
    Case c{"f32", "bf16", "bf16", 24, mode};
    c.sparse = true;
    check(c);
    c.a_transposed = c.b_transposed = true;
    check(c);
  }
  Case clamped{"s32", "u8", "u8", 16};
  clamped.satfinite = clamped.sparse = true;
  check(clamped);
}

TEST(Wgmma, ManyColumns) { check({"f32", "f16", "f16", 256, 0, true}); }

TEST(Wgmma, NotANumberAndInfinityOfEightBits) {
  const auto result = [](uint32_t a, uint32_t b, const char* types) {
    std::string text = kernel_of({"f32", std::string(types, 4), std::string(types + 5, 4), 8, 0, true}, 4);
    const size_t words = kFirstSum + 4;
    std::vector<std::byte> shared(kSharedBytes);
    const Layout layout = layout_of(0, false);
    shared.at(kStartOfB + layout.place(0, 0, 1, 0)) = static_cast<std::byte>(b);
    std::vector<uint32_t> input(kThreads * words);
    input[0] = a;
    TestMemory memory;
    const uint64_t from = memory.add_values(shared), in = memory.add_values(input),
                   out = memory.add(input.size() * 4);
    const KernelImage image = lower_ok(text, level(LoweringLevel::kSchedule, 0, 90));
    EXPECT_TRUE(BlockRunner(image, memory, pack_params({from, in, out}), kThreads).run(1'000'000).finished);
    return std::bit_cast<float>(memory.read<uint32_t>(out, 1)[0]);
  };
  EXPECT_TRUE(std::isnan(result(0x7f, 0x38, "e4m3.e4m3"))) << "the one NaN";
  EXPECT_EQ(result(0x7e, 0x38, "e4m3.e4m3"), 448) << "the largest number";
  EXPECT_EQ(result(0x01, 0x38, "e4m3.e4m3"), std::ldexp(1.0f, -9)) << "the smallest";
  EXPECT_EQ(result(0x7c, 0x3c, "e5m2.e5m2"), INFINITY);
  EXPECT_EQ(result(0xfc, 0x38, "e5m2.e4m3"), -INFINITY);
  EXPECT_TRUE(std::isnan(result(0x7d, 0x3c, "e5m2.e5m2")));
  EXPECT_TRUE(std::isnan(result(0x7c, 0x00, "e5m2.e5m2"))) << "infinity times zero";
}

TEST(Wgmma, FencesAndWaitsAreBarriersOfTheFourWarps) {
  const KernelImage image =
      lower_ok(kernel_of({"f32", "f16", "f16", 8}, 4), level(LoweringLevel::kSchedule, 0, 90));
  EXPECT_EQ(std::ranges::count_if(image.ops,
                                  [](const MicroOp& op) {
                                    return op.kind == OpKind::kBarrier &&
                                           (op.imm & kBarrierOfWarpgroup) != 0 &&
                                           op.modifiers == static_cast<uint8_t>(BarrierAction::kSync);
                                  }),
            2);
}

TEST(Wgmma, WrongStatementsAreErrors) {
  const auto messages_of = [](const std::string& statement) {
    return test::messages(
        verify_module(parse_ok(".version 8.0\n.target sm_90a\n.entry k() { .reg .f32 %f<4>; .reg .b32 %r<4>; "
                               ".reg .b64 %rd<2>; .reg .pred %p;\n" +
                               statement + "\nret; }")));
  };
  const std::string good =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p, 1, 1, 0, 0;";
  EXPECT_EQ(messages_of(good), "");
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return messages_of(text);
  };
  EXPECT_THAT(with("%f2, %f3}", "%f2}"), testing::HasSubstr("needs 4 registers"));
  EXPECT_THAT(with("1, 1, 0, 0", "1, 1, 0"), testing::HasSubstr("takes 8 operands"));
  EXPECT_THAT(with("1, 1, 0, 0", "2, 1, 0, 0"), testing::HasSubstr("needs 1 or -1"));
  EXPECT_THAT(with("1, 1, 0, 0", "1, 1, 0, 2"), testing::HasSubstr("needs 0 or 1"));
  EXPECT_NE(with("%rd1, %p", "%r1, %p"), "") << "a descriptor has 64 bits";
  EXPECT_NE(with("%p,", "%r1,"), "");
  EXPECT_THAT(with("m64n8k16.f32.f16.f16", "m64n12k16.f32.f16.f16"), testing::HasSubstr("not supported yet"));
  EXPECT_THAT(with("k16.f32.f16.f16", "k16.f32.f16.bf16"), testing::HasSubstr("not supported yet"));
  EXPECT_NE(messages_of("wgmma.wait_group.sync.aligned %r1;"), "");
  const auto sparse = [&](std::string_view places) {
    return messages_of(fmt::format(
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, %rd0, %rd1, "
        "{}, %p, 1, 1, 0, 0;",
        places));
  };
  EXPECT_EQ(sparse("%r1, 1"), "");
  EXPECT_THAT(sparse("%r1, 2"), testing::HasSubstr("needs a constant from 0 to 1"));
  EXPECT_NE(sparse("%rd1, 0"), "") << "where elements lie has 32 bits";
  EXPECT_THAT(sparse("%r1"), testing::HasSubstr("takes 10 operands"));
}

}  // namespace
}  // namespace gpusim::isa
