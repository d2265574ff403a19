// Where a product and a sum become one operation, as ptxas 13 decides for sm_75, and that the values stay
// those of two.
#include <fmt/format.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

/// %f1 to %f3 and %f6 are read; %f5 and %f7 are stored. Words become numbers between 1 and 2.
std::string kernel_of(std::string_view body) {
  std::string text = ".reg .f32 %f<12>; .reg .f64 %d<8>; .reg .b32 %r<8>; .reg .b64 %x<4>; .reg .pred %p0;\n";
  for (const int i : {1, 2, 3, 6}) {
    text += fmt::format(
        "ld.global.u32 %r0, [%in+{}]; shr.u32 %r0, %r0, 9; or.b32 %r0, %r0, 0x3f800000; mov.b32 %f{}, %r0; "
        "cvt.f64.f32 %d{}, %f{};\n",
        4 * i, i, i, i);
  }
  return thread_kernel(
      "", text + "mov.f32 %f5, 0f00000000; mov.f32 %f7, 0f00000000; setp.lt.u32 %p0, %tid0, 9;\n" +
              std::string(body) + "\nst.global.f32 [%out], %f5; st.global.f32 [%out+4], %f7; ret;");
}
struct Count {
  size_t products = 0, sums = 0, both = 0;
  bool operator==(const Count&) const = default;
};
std::ostream& operator<<(std::ostream& to, const Count& c) {
  return to << c.products << " products, " << c.sums << " sums, " << c.both << " of both";
}
/// Of the arithmetic of two rounded operations.
Count count(const std::string& body, int capability = 75) {
  Count c;
  const KernelImage image = lower_ok(kernel_of(body), level(LoweringLevel::kSchedule, 0, capability));
  for (const MicroOp& op : image.ops) {
    if (op.kind != OpKind::kAlu || !is_float(op.type)) continue;
    if (op.flops == 2) ++c.both;
    if (op.op_class == OpClass::kFp32Mul ||
        (op.op_class == OpClass::kFp64 && op.num_src == 2 && op.type == Type::kF64 &&
         image.ptx[op.ptx_index].text.starts_with("mul")))
      ++c.products;
    else if (op.flops == 1 && op.num_src == 2)
      ++c.sums;
  }
  return c;
}

TEST(Contract, WherePtxasDoes) {
  const std::vector<std::pair<std::string, Count>> cases = {
      {"mul.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3;", {0, 0, 1}},
      {"mul.f32 %f4, %f1, %f2; add.f32 %f5, %f3, %f4;", {0, 0, 1}},
      {"mul.f32 %f4, %f1, %f2; sub.f32 %f5, %f4, %f3;", {0, 0, 1}},
      {"mul.f32 %f4, %f1, %f2; sub.f32 %f5, %f3, %f4;", {0, 0, 1}},
      {"mul.rn.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3;", {1, 1, 0}},
      {"mul.f32 %f4, %f1, %f2; add.rn.f32 %f5, %f4, %f3;", {1, 1, 0}},
      {"mul.ftz.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3;", {1, 1, 0}},
      {"mul.f32 %f4, %f1, %f2; add.ftz.f32 %f5, %f4, %f3;", {1, 1, 0}},
      {"mul.ftz.f32 %f4, %f1, %f2; add.ftz.f32 %f5, %f4, %f3;", {0, 0, 1}},
      {"mul.f32 %f4, %f1, %f2; add.sat.f32 %f5, %f4, %f3;", {0, 0, 1}},
      {"mul.sat.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3;", {1, 1, 0}},
      {"mul.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3; add.f32 %f7, %f4, %f6;", {0, 0, 2}},
      {"mul.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3; mul.f32 %f7, %f4, %f6;", {2, 1, 0}},
      {"mul.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3; mov.f32 %f7, %f4;", {1, 1, 0}},
      {"mul.f32 %f4, %f1, %f2; mul.f32 %f8, %f3, %f6; add.f32 %f5, %f4, %f8;", {1, 0, 1}},
      {"mul.f32 %f4, %f1, %f1; add.f32 %f5, %f4, %f4;", {1, 1, 0}},
      {"mul.f32 %f4, %f1, %f2; add.f32 %f8, %f4, %f3; mul.f32 %f9, %f8, %f2; add.f32 %f5, %f9, %f1;",
       {0, 0, 2}},
      {"mul.f32 %f4, %f1, 0f40490FDB; add.f32 %f5, %f4, 0f3F800001;", {0, 0, 1}},
      {"mul.f32 %f4, %f1, %f2; @%p0 add.f32 %f5, %f4, %f3;", {0, 0, 1}},
      {"mov.f32 %f4, %f6; @%p0 mul.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3;", {1, 1, 0}},
      {"mul.f32 %f4, %f1, %f2; @%p0 bra X; mov.f32 %f7, %f3; X: add.f32 %f5, %f4, %f3;", {1, 1, 0}},
      {"mul.f64 %d4, %d1, %d2; add.f64 %d5, %d4, %d3; cvt.rn.f32.f64 %f5, %d5;", {0, 0, 1}},
      {"mul.rn.f64 %d4, %d1, %d2; add.f64 %d5, %d4, %d3; cvt.rn.f32.f64 %f5, %d5;", {1, 1, 0}},
      // A factor is another value by then.
      {"sub.f32 %f8, %f1, %f6; mul.f32 %f4, %f8, %f2; @%p0 mov.f32 %f8, %f6; add.f32 %f5, %f4, %f8; mov.f32 "
       "%f7, %f8;",
       {1, 2, 0}},
  };
  for (const auto& [body, expected] : cases) {
    EXPECT_EQ(count(body), expected) << body;
    EXPECT_EQ(count(body, 60).both, 0u) << body;
    expect_same_everywhere(kernel_of(body), 64);
  }
}

TEST(Contract, InAnUnrolledLoop) {
  const std::string body =
      "mov.f32 %f8, %f1; mov.u32 %r1, 0; L: mul.f32 %f4, %f8, %f2; sub.f32 %f8, %f3, %f4; add.u32 %r1, %r1, "
      "1; "
      "setp.lt.u32 %p0, %r1, %tid0; @%p0 bra L; mov.f32 %f5, %f8;";
  const Count c = count(body);
  EXPECT_EQ(c.products, 0u);
  EXPECT_EQ(c.sums, 0u);
  EXPECT_GE(c.both, 1u);
  expect_same_everywhere(kernel_of(body), 64);
}

TEST(Contract, SpecialValuesAreThoseOfTwoOperations) {
  // Zeros of both signs, denormals, infinities, NaNs, and products that overflow or underflow, by all forms.
  const std::vector<std::string> numbers = {"00000000", "80000000", "00000001", "807fffff",
                                            "7f800000", "ff800000", "7fc00001", "3f800000",
                                            "bf800001", "7f7fffff", "00800001"};
  for (const std::string flush : {"", ".ftz"}) {
    for (const std::string sum : {"add", "sub", "add.sat", "bus"}) {
      const bool reversed = sum == "bus";
      std::string operation = reversed ? "sub" : sum.substr(0, 3);
      operation += flush + (sum == "add.sat" ? ".sat" : "") + ".f32";
      std::string body = "and.b32 %r2, %tid0, 15; mov.b32 %r3, 0; mov.f32 %f9, %f1;\n";
      int place = 64;
      for (size_t i = 0; i < numbers.size(); ++i) {
        const std::string a = "0f" + numbers[i], b = "0f" + numbers[(3 * i + 1) % numbers.size()];
        // Each lane has another addend.
        for (size_t n = 0; n < numbers.size(); ++n)
          body += fmt::format("setp.eq.u32 %p0, %r2, {}; @%p0 mov.f32 %f9, 0f{};\n", n, numbers[n]);
        body += fmt::format(
            "mov.f32 %f8, {}; mul{}.f32 %f4, %f8, {}; {} %f5, {}; st.global.f32 [%out+{}], %f5;\n", a, flush,
            b, operation, reversed ? "%f9, %f4" : "%f4, %f9", place);
        place += 4;
      }
      EXPECT_GE(count(body).both, numbers.size()) << operation;
      expect_same_everywhere(kernel_of(body), 32);
      LoweringOptions options = level(LoweringLevel::kNone);
      const Outcome plain = run_image(lower_ok(kernel_of(body), options), 32);
      options = level(LoweringLevel::kSchedule, 0, 75);
      for (const SimdLevel simd : {SimdLevel::kBaseline, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
        if (!simd_supported(simd)) continue;
        options.simd = simd;
        EXPECT_EQ(run_image(lower_ok(kernel_of(body), options), 32).out, plain.out) << operation;
      }
    }
  }
}

}  // namespace
}  // namespace gpusim::isa
