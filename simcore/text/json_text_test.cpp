#include "simcore/text/json_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "simcore/text/json_document.h"

namespace gpusim::core {
namespace {

TEST(JsonText, ReadsBackAsItWas) {
  const std::string text = "a\"b\\c\n\t\x01\x7f \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80/";
  EXPECT_EQ(parse_json(json_quoted(text), "t").text, text);
}

TEST(JsonText, BytesThatAreNoUtf8BecomeTheReplacementCharacter) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(json_escaped("a\xff.h5"), "a" + r + ".h5");
  EXPECT_EQ(json_escaped("\xc3"), r);                          // cut off
  EXPECT_EQ(json_escaped("\xc0\xaf"), r + r);                  // overlong
  EXPECT_EQ(json_escaped("\xe0\x80\xaf"), r + r + r);          // overlong
  EXPECT_EQ(json_escaped("\xed\xa0\x80"), r + r + r);          // half of a surrogate pair
  EXPECT_EQ(json_escaped("\xf4\x90\x80\x80"), r + r + r + r);  // beyond U+10FFFF
}

TEST(JsonText, NumbersAreShortAndFinite) {
  EXPECT_EQ(json_number(0.1), "0.1");
  EXPECT_EQ(json_number(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(json_number(std::numeric_limits<double>::quiet_NaN()), "null");
}

}  // namespace
}  // namespace gpusim::core
