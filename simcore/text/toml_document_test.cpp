#include "simcore/text/toml_document.h"

#include <gtest/gtest.h>

namespace gpusim::core {
namespace {

std::string error_of(std::string_view text) {
  try {
    (void)parse_toml(text, "t");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TomlDocument, RefusesWhatTheParserDoesNotBear) {
  EXPECT_EQ(
      error_of("\xef\xb9\xbf"),
      "t:1:1: error: character outside ASCII\n  hint: put keys and values with such characters in quotes");
  EXPECT_EQ(error_of("a = 1\nb\xc3\xa4 = 2\n").substr(0, 14), "t:2:2: error: ");
  EXPECT_EQ(error_of("a = +\"\xca\x9e\""), "t:1:6: error: unexpected quote");
  const std::string escape = "error: character outside ASCII behind a backslash";
  EXPECT_EQ(error_of("a = \"\"\"o \\\xef\xbb\xbb\"\"\""), "t:1:10: " + escape);
  EXPECT_EQ(error_of("a = \"\"\"\n\\ \n \xc3\xa4\"\"\""), "t:2:1: " + escape);
  std::string deep = "x";
  for (int i = 0; i < 100000; ++i) deep += ".x";
  EXPECT_EQ(error_of(deep + " = 1").substr(0, 44), "t:1:130: error: dotted key has too many part");
  EXPECT_EQ(error_of("[" + deep + "]").substr(0, 44), "t:1:131: error: dotted key has too many part");
  EXPECT_NE(error_of("a = " + std::string(100000, '[')), "no error");
  EXPECT_NE(error_of(std::string(kMaxDocumentBytes + 1, ' ')), "no error");
}

TEST(TomlDocument, StringsAndCommentsMayHoldAnything) {
  EXPECT_EQ(error_of("a = \"\"\"\\\\\xc3\xa4 \\n\xc3\xa4\"\"\""), "no error");
  EXPECT_EQ(error_of("a = \"\xc3\xa4\" # \xc3\xa4\n'\xc3\xb6' = 1\n"), "no error");
  EXPECT_EQ(
      error_of("a = \"\"\"\n\xc3\xa4 \\\" \"\" "
               "......................................................................\n\"\"\"\"\nb = 2\n"),
      "no error");
  EXPECT_EQ(error_of("a = '''\n\xc3\xa4 \\'''\nb = \"\\\"\xc3\xa4\"\n"), "no error");
  EXPECT_EQ(
      error_of(
          "a = [1.5, 2.5, 3.5]\nb = [ \"x\", # c\n  \"y\"\n, { k = \"v\", \"l\".m = 'w' } ]\n[\"t\".'u']\n"),
      "no error");
}

}  // namespace
}  // namespace gpusim::core
