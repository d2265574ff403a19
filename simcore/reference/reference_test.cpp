#include "simcore/reference/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace gpusim::core {
namespace {

using testing::HasSubstr;

/// Buffers X (f32 1..6), Y (f32 10, 20, ...), I (u32), and an output C whose content the test gives.
LaunchDescription launch_with(const std::string& reference, const std::string& type, int count,
                              const std::string& extra = "") {
  return parse_launch(
      "[[buffer]]\nname = \"X\"\ntype = \"f32\"\ncount = 6\ninit = \"iota(1, 1)\"\n"
      "[[buffer]]\nname = \"Y\"\ntype = \"f32\"\ncount = 6\ninit = \"iota(10, 10)\"\n"
      "[[buffer]]\nname = \"I\"\ntype = \"u32\"\ninit = [0, 2, 3, 5]\n"
      "[[buffer]]\nname = \"J\"\ntype = \"s32\"\ninit = [2, 0, 1, 0, 2]\n"
      "[[buffer]]\nname = \"C\"\ntype = \"" +
          type + "\"\ncount = " + std::to_string(count) +
          "\n[[launch]]\ngrid = 1\nblock = 1\n[[expect]]\nbuffer = \"C\"\nreference = \"" + reference +
          "\"\n" + extra,
      "w.toml", {}, 1);
}

ExpectResult check(const std::string& reference, std::vector<float> actual, const std::string& extra = "") {
  const LaunchDescription launch = launch_with(reference, "f32", static_cast<int>(actual.size()), extra);
  return check_expect(launch, launch.expects[0], std::as_bytes(std::span(actual)));
}
ExpectResult check_int(const std::string& reference, std::vector<uint32_t> actual) {
  const LaunchDescription launch = launch_with(reference, "u32", static_cast<int>(actual.size()));
  return check_expect(launch, launch.expects[0], std::as_bytes(std::span(actual)));
}

TEST(Reference, Functions) {
  EXPECT_TRUE(check("vecadd(X, Y)", {11, 22, 33, 44, 55, 66}).pass);
  EXPECT_TRUE(check("saxpy(2, X, Y)", {12, 24, 36, 48, 60, 72}).pass);
  EXPECT_TRUE(check("copy(X, 2)", {1, 2}).pass);
  EXPECT_TRUE(check("matmul(X, Y, 2, 2, 3)", {220, 280, 490, 640}).pass);
  EXPECT_TRUE(check("matmul(X, Y, 2, 2, 3, 3, 2, 4)", {220, 280, -1, -1, 490, 640, -1, -1})
                  .pass);  // padding is not compared
  EXPECT_TRUE(check("matmul_cm(X, Y, 2, 2, 3)", {220, 280, 490, 640}).pass);
  EXPECT_TRUE(check("reduce_sum(X)", {21}).pass);
  EXPECT_TRUE(check("block_sums(X, 4)", {10, 11}).pass);
  EXPECT_TRUE(check("scan_inclusive(X)", {1, 3, 6, 10, 15, 21}).pass);
  EXPECT_TRUE(check("scan_exclusive(X, 3)", {0, 1, 3, 0, 4, 9}).pass);
  EXPECT_TRUE(check("transpose(X, 2, 3)", {1, 4, 2, 5, 3, 6}).pass);
  EXPECT_TRUE(check("spmv_csr(I, J, X, Y)", {30 + 20, 60, 4 * 10 + 5 * 30}).pass);
  EXPECT_TRUE(check("gather(X, J)", {3, 1, 2, 1, 3}).pass);
  EXPECT_TRUE(check("stencil2d(X, 2, 3, 0.5, 0.25)", {1, 2, 3, 4, 5, 6}).pass);  // all border
  EXPECT_TRUE(check_int("histogram(I, 4)", {1, 1, 1, 1}).pass);
  EXPECT_TRUE(check_int("collatz(I)", {0, 1, 7, 5}).pass);
  EXPECT_TRUE(check_int("scan_inclusive(I)", {0, 2, 5, 10}).pass);
}

TEST(Reference, StencilInterior) {
  const LaunchDescription launch = parse_launch(
      "[[buffer]]\nname = \"A\"\ntype = \"f32\"\ncount = 9\ninit = \"iota(0, 1)\"\n[[launch]]\ngrid = "
      "1\nblock = 1\n"
      "[[expect]]\nbuffer = \"A\"\nreference = \"stencil2d(A, 3, 3, 2, 1, 2)\"\n",
      "w.toml", {}, 1);
  const float after[] = {0, 1, 2, 3, 2 * (2 * 4 + 16) + 16, 5, 6, 7, 8};
  EXPECT_TRUE(check_expect(launch, launch.expects[0], std::as_bytes(std::span(after))).pass);
}

TEST(Expect, ReportsTheFirstWrongElement) {
  const ExpectResult result = check("vecadd(X, Y)", {11, 22, 34, 44, 55, 60});
  EXPECT_FALSE(result.pass);
  EXPECT_EQ(result.wrong, 2u);
  EXPECT_EQ(result.first_bad, 2u);
  EXPECT_NEAR(result.worst, 6.0 / 66, 1e-12);
  EXPECT_EQ(result.message,
            "C: 2 of 6 elements are wrong, first: element 2 is 34, expected 33; largest error 6, relative "
            "0.0909 (allowed: 0 + 0 x |expected|)");
}

TEST(Expect, SaysByWhatAnElementIsRight) {
  const ExpectResult result = check("vecadd(X, Y)", {11, 22, 33, 44, 55, 66.25f}, "atol = 0.5\nrtol = 0\n");
  EXPECT_TRUE(result.pass);
  EXPECT_EQ(result.message, "C: 6 elements as expected, largest error 0.25 (allowed: 0.5 + 0 x |expected|)");
  EXPECT_EQ(check("vecadd(X, Y)", {11, 22, 33, 44, 55, 66}).message, "C: 6 elements as expected, exactly");
}

TEST(Expect, Tolerances) {
  EXPECT_FALSE(check("reduce_sum(X)", {21.001f}).pass);
  EXPECT_TRUE(check("reduce_sum(X)", {21.001f}, "rtol = 1e-4\n").pass);
  EXPECT_TRUE(check("reduce_sum(X)", {21.001f}, "atol = 0.01\n").pass);
  EXPECT_FALSE(check("reduce_sum(X)", {std::nanf("")}, "rtol = 1e9\n").pass);
  EXPECT_FALSE(check_int("scan_inclusive(I)", {0, 2, 5, 11}).pass);
}

TEST(Expect, ValuesAndFiles) {
  const std::string folder = testing::TempDir();
  const float values[] = {0.1f, 2};
  write_npy(folder + "/e.npy", ElementType::kF32, std::as_bytes(std::span(values)));
  for (const char* expect : {"values = [0.1, 2]", "file = \"e.npy\""}) {
    const LaunchDescription launch = parse_launch(
        "[[buffer]]\nname = \"C\"\ntype = \"f32\"\ncount = 2\n[[launch]]\ngrid = 1\nblock = 1\n"
        "[[expect]]\nbuffer = \"C\"\n" +
            std::string(expect) + "\n",
        folder + "/w.toml", {}, 1);
    EXPECT_TRUE(check_expect(launch, launch.expects[0], std::as_bytes(std::span(values))).pass) << expect;
    const float wrong[] = {0.1f, 3};
    EXPECT_FALSE(check_expect(launch, launch.expects[0], std::as_bytes(std::span(wrong))).pass) << expect;
  }
  const LaunchDescription big = parse_launch(
      "[[buffer]]\nname = \"C\"\ntype = \"u64\"\ncount = 1\n[[launch]]\ngrid = 1\nblock = 1\n"
      "[[expect]]\nbuffer = \"C\"\nvalues = [9007199254740993]\n",
      "w.toml", {}, 1);
  const uint64_t off_by_one = 9007199254740992;  // the same as a double
  EXPECT_FALSE(check_expect(big, big.expects[0], std::as_bytes(std::span(&off_by_one, 1))).pass);
}

std::string error_of(const std::string& reference) {
  try {
    (void)check(reference, std::vector<float>(4));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Reference, Errors) {
  EXPECT_THAT(error_of("matmull(X, Y)"),
              HasSubstr("w.toml:28:14: error: unknown reference 'matmull'\n  hint: did you mean 'matmul'?"));
  EXPECT_THAT(error_of("vecadd(X)"), HasSubstr("vecadd takes 2 arguments, found 1"));
  EXPECT_THAT(error_of("vecadd(X, Z)"), HasSubstr("w.toml:28:24: error: undefined buffer 'Z'"));
  EXPECT_THAT(error_of("matmul(X, Y)"), HasSubstr("two square matrices"));
  EXPECT_THAT(error_of("matmul(X, Y, 9, 9, 9)"),
              HasSubstr("the reference reads 81 elements of 'X', which has 6"));
  EXPECT_THAT(error_of("matmul(X, Y, 100000, 100000, 100000)"), HasSubstr("too large for a host reference"));
  EXPECT_THAT(error_of("copy(X, 6)"), HasSubstr("gives 6 elements, buffer 'C' has 4"));
  // Refused before memory is taken for the result, or time for empty rows.
  EXPECT_THAT(error_of("matmul(X, Y, 2, 2, 3, 3, 2, 2147483648)"),
              HasSubstr("the reference gives 2147483650 elements, the buffer has 4"));
  EXPECT_THAT(error_of("matmul(X, Y, 2, 2147483648, 0)"),
              HasSubstr("the reference gives 4294967296 elements, the buffer has 4"));
  EXPECT_THAT(error_of("transpose(X, 2, 3, 3, 2147483648)"), HasSubstr("the buffer has 4"));
  EXPECT_THAT(error_of("histogram(I, 2147483648)"), HasSubstr("the buffer has 4"));
  EXPECT_THAT(error_of("stencil2d(X, 2147483648, 0, 1, 1, 2147483648)"), HasSubstr("too large"));
  EXPECT_THAT(error_of("histogram(X, 4)"), HasSubstr("needs a buffer of integers"));
  EXPECT_THAT(error_of("spmv_csr(I, J, X, I)"), HasSubstr("no error"));
  EXPECT_THAT(error_of("block_sums(X, 0)"), HasSubstr("at least one element"));
  EXPECT_THAT(error_of("transpose(X, 2, 3, 1)"), HasSubstr("is less than 3"));
  EXPECT_EQ(reference_names().size(), 30u);
  EXPECT_THAT(reference_help(), HasSubstr("collatz(X[, limit])"));
}

}  // namespace
}  // namespace gpusim::core
