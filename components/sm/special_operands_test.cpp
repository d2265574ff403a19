#include "components/sm/special_operands.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace gpusim::comp {
namespace {

using isa::LaneMask;
using isa::OpClass;

/// One operation on two rows of registers.
template <class Value>
struct Operation {
  using Bits = std::conditional_t<sizeof(Value) == 8, uint64_t, uint32_t>;

  explicit Operation(OpClass op_class, uint8_t sources) {
    op.op_class = op_class;
    op.num_src = sources;
    op.src[1].offset = sizeof(a);
    context.bank[0] = reinterpret_cast<std::byte*>(a);
    std::fill(std::begin(a), std::end(a), Value{1});
    std::fill(std::begin(b), std::end(b), Value{1});
  }
  SubroutineCall call(LaneMask lanes = LaneMask::all()) const { return subroutine_call(op, context, lanes); }
  /// The instructions of a call with this dividend (or only operand) and divisor in one lane.
  uint32_t of(Value dividend, Value divisor = 1) {
    a[3] = dividend;
    b[3] = divisor;
    const uint32_t n = call().instructions;
    a[3] = b[3] = 1;
    return n;
  }

  isa::MicroOp op;
  isa::WarpContext context;
  alignas(64) Value a[isa::kWarpSize];
  Value b[isa::kWarpSize];
};

template <class Value>
class SpecialOperands : public testing::Test {
 protected:
  static constexpr bool kWide = sizeof(Value) == 8;
  static constexpr Value kInfinity = std::numeric_limits<Value>::infinity();
  static constexpr Value kNan = std::numeric_limits<Value>::quiet_NaN();
  static constexpr Value kDenormal = std::numeric_limits<Value>::denorm_min();
  static constexpr Value kLeast = std::numeric_limits<Value>::min();
  static constexpr Value kMost = std::numeric_limits<Value>::max();
  Operation<Value> division{kWide ? OpClass::kFp64Div : OpClass::kFp32DivRn, 2};
  Operation<Value> reciprocal{kWide ? OpClass::kFp64Div : OpClass::kFp32RcpRn, 1};
  Operation<Value> root{kWide ? OpClass::kFp64Sqrt : OpClass::kFp32SqrtRn, 1};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SpecialOperands, Types);

TYPED_TEST(SpecialOperands, OrdinaryNumbersCallNothing) {
  for (const TypeParam x : {TypeParam(1), TypeParam(-3), TypeParam(1e-20), TypeParam(1e20)}) {
    EXPECT_EQ(this->division.of(x, TypeParam(7)), 0u) << x;
    EXPECT_EQ(this->division.of(TypeParam(7), x), 0u) << x;
    EXPECT_EQ(this->reciprocal.of(x), 0u) << x;
    EXPECT_EQ(this->root.of(std::abs(x)), 0u) << x;
  }
}

TYPED_TEST(SpecialOperands, ZerosInfinitiesAndNanDo) {
  for (const TypeParam x : {TypeParam(0), -TypeParam(0), this->kInfinity, this->kNan}) {
    EXPECT_GT(this->division.of(x), 30u) << x;
    EXPECT_GT(this->division.of(TypeParam(1), x), 30u) << x;
    EXPECT_GT(this->reciprocal.of(x), 15u) << x;
    EXPECT_GT(this->root.of(x), 5u) << x;
  }
  EXPECT_GT(this->root.of(TypeParam(-1)), 5u);
}

TYPED_TEST(SpecialOperands, SoDoNumbersThatHaveToBeScaled) {
  EXPECT_GT(this->division.of(this->kDenormal), 30u);
  EXPECT_GT(this->division.of(TypeParam(1), this->kDenormal), 30u);
  EXPECT_GT(this->division.of(this->kMost, TypeParam(0.25)), 30u) << "the quotient is infinite";
  EXPECT_GT(this->division.of(TypeParam(1), this->kMost), 30u);
  EXPECT_GT(this->reciprocal.of(this->kMost), 15u);
  EXPECT_GT(this->root.of(this->kLeast), 20u);
}

TYPED_TEST(SpecialOperands, LanesThatGoDifferentWaysGoOneAfterTheOther) {
  const uint32_t known = this->division.of(TypeParam(0)), scaled = this->division.of(this->kDenormal);
  this->division.a[0] = 0;
  this->division.a[1] = 0;
  EXPECT_EQ(this->division.call().instructions, known) << "two lanes together";
  this->division.a[1] = this->kDenormal;
  EXPECT_EQ(this->division.call().instructions, known + scaled);
  EXPECT_EQ(this->division.call(LaneMask(~3u)).instructions, 0u) << "lanes that do not execute it";
}

TEST(SpecialOperandsOfRoots, TheUsualWayIsSavedWhereNoLaneTakesIt) {
  Operation<float> root(OpClass::kFp32SqrtRn, 1);
  const uint32_t one = root.of(0);
  std::fill(std::begin(root.a), std::end(root.a), 0.0F);
  EXPECT_LT(root.call().instructions, one);
  EXPECT_LT(0u, root.call().instructions);
}

}  // namespace
}  // namespace gpusim::comp
