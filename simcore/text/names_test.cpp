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

TEST(NameHint, ListsAllNamesInLines) {
  std::vector<std::string> texts;
  for (int i = 0; i < 60; ++i) texts.push_back("a_rather_long_name_" + std::to_string(i));
  std::vector<std::string_view> names(texts.begin(), texts.end());
  const std::string hint = name_hint("zz", names);
  for (const std::string& text : texts) EXPECT_NE(hint.find(text), std::string::npos) << text;
  EXPECT_EQ(hint.find("..."), std::string::npos);
  for (size_t at = 0; at < hint.size();) {
    const size_t end = std::min(hint.find('\n', at), hint.size());
    EXPECT_LE(end - at, 102u);
    EXPECT_FALSE(hint.substr(at, end - at).ends_with(' '));
    at = end + 1;
  }
  for (int i = 60; i < 300; ++i) texts.push_back("a_rather_long_name_" + std::to_string(i));
  texts.emplace_back("zzyyxx");
  names.assign(texts.begin(), texts.end());
  EXPECT_EQ(name_hint("zz", names).find("the nearest of 301: zzyyxx, "), 0u);
}

TEST(NearestName, LongNamesAreCut) {
  const std::string a(100000, 'a');
  EXPECT_EQ(edit_distance(a, a), 0u);
  EXPECT_EQ(edit_distance(a, ""), 64u);
}

}  // namespace
}  // namespace gpusim::core
