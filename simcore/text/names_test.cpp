#include "simcore/text/names.h"

#include <gtest/gtest.h>

#include <array>

#include "simcore/text/edit_distance.h"

namespace gpusim::core {
namespace {

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("max_warps", "max_wraps"), 1u);  // a swap is one edit
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting", 5), 3u);
  EXPECT_EQ(edit_distance("abcdef", "uvwxyz", 2), 3u) << "limit + 1";
  EXPECT_EQ(edit_distance("", "abc", 2), 3u);
}

TEST(NearestName, FindsTypos) {
  const std::array<std::string_view, 4> names{"max_warps", "max_threads", "registers", "max_blocks"};
  EXPECT_EQ(nearest_name("max_wraps", names), "max_warps");
  EXPECT_EQ(nearest_name("Registers", names), "registers");
  EXPECT_EQ(nearest_name("zzzzzzzz", names), "");
  EXPECT_EQ(nearest_name("V100", std::vector<std::string_view>{"h100", "tesla_v100"}), "tesla_v100")
      << "its last word";
  EXPECT_EQ(name_hint("register", names), "did you mean 'registers'?");
  EXPECT_EQ(name_hint("zzzzzzzz", names), "valid: max_warps, max_threads, registers, max_blocks");
  EXPECT_EQ(name_hint("x", {}), "");
}

TEST(NearestName, LongNamesAreCut) {
  const std::string a(100000, 'a');
  EXPECT_EQ(edit_distance(a, a), 0u);
  EXPECT_EQ(edit_distance(a, ""), 64u);
}

}  // namespace
}  // namespace gpusim::core
