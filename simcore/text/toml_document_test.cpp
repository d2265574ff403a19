#include "simcore/text/toml_document.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gpusim::core {
namespace {

std::string toml_error(std::string_view text) {
  try {
    (void)parse_toml(text, "t");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// Only whole texts of the grammar reach toml++, whose assertions and character tables other ones break.
TEST(TomlDocument, RefusesWhatTheParserDoesNotBear) {
  EXPECT_EQ(toml_error("[[\n"), "t:1:3: error: expected a name, found the end of the line");
  EXPECT_EQ(toml_error("[[a]]\n[[\"b\n\"]]"),
            "t:2:5: error: expected the closing \", found the end of the line");
  EXPECT_EQ(toml_error("[\n\"=1\n"), "t:1:2: error: expected a name, found the end of the line");
  EXPECT_EQ(toml_error("[{"), "t:1:2: error: expected a name, found '{'");
  EXPECT_EQ(toml_error("[.a]"), "t:1:2: error: expected a name, found '.'");
  EXPECT_EQ(toml_error("[a.]"), "t:1:4: error: expected a name, found ']'");
  EXPECT_EQ(toml_error("[[,"), "t:1:3: error: expected a name, found ','");
  EXPECT_EQ(toml_error("[[a] ]"),
            "t:1:5: error: expected ']' twice behind the name of an array of tables, found ' '");
  EXPECT_EQ(toml_error("a = [}"), "t:1:6: error: expected a value, found '}'");
  EXPECT_EQ(toml_error("a = [1979-05-27 0]"), "t:1:17: error: expected ',' or ']', found '0'");
  EXPECT_EQ(toml_error("a = 1979-05-27TZ1979-05-27T07:32:00Z"),
            "t:1:30: error: expected the end of the value, found ':'\n  hint: text and expressions stand in "
            "quotes");
  EXPECT_EQ(toml_error("a = 1" + std::string(117, '_') + "979-05-27 #").substr(0, 31),
            "t:1:5: error: value is too long");
  EXPECT_EQ(
      toml_error("a = \xc3\xa9"),
      "t:1:5: error: character outside ASCII\n  hint: put keys and values with such characters in quotes");
  const std::string quote =
      "error: expected the end of the value, found '\"'\n  hint: text and expressions stand in quotes";
  EXPECT_EQ(toml_error("a = +\"\xca\x9e\""), "t:1:6: " + quote);
  EXPECT_EQ(toml_error("a = 1.\"\xc3\xa9\""), "t:1:7: " + quote);
  EXPECT_EQ(toml_error("a = \"\xc3\xa9\"\na = [\"\xc3\xa9\", 1\"\xc3\xa9\"]"), "t:2:12: " + quote);
  EXPECT_EQ(toml_error("b\xc3\xa4 = 2\n").substr(0, 37), "t:1:2: error: character outside ASCII");
  EXPECT_EQ(toml_error("a = 1 \x01"),
            "t:1:7: error: expected the end of the line, found the control character 0x01");
  const std::string escape = "error: character outside ASCII behind a backslash";
  EXPECT_EQ(toml_error("a = \"\"\"o \\\xef\xbb\xbb\"\"\""), "t:1:10: " + escape);
  EXPECT_EQ(toml_error("a = \"\"\"\n\\ \n \xc3\xa4\"\"\""), "t:2:1: " + escape);
  EXPECT_NE(toml_error(std::string(kMaxDocumentBytes + 1, ' ')), "no error");
}

TEST(TomlDocument, RefusesWhatIsTooDeep) {
  std::string deep = "x";
  for (int i = 0; i < 100000; ++i) deep += ".x";
  EXPECT_EQ(toml_error(deep + " = 1").substr(0, 44), "t:1:130: error: dotted key has too many part");
  EXPECT_EQ(toml_error("[" + deep + "]").substr(0, 44), "t:1:131: error: dotted key has too many part");
  const auto nested = [](int levels) {
    return toml_error("a = " + std::string(levels, '[') + "1" + std::string(levels, ']'));
  };
  EXPECT_EQ(nested(127), "no error");
  EXPECT_EQ(nested(128),
            "t:1:133: error: tables and arrays are too deep in each other\n  hint: at most 128 levels");
  std::string tables = "1";
  for (int i = 0; i < 100; ++i) tables = fmt::format("{{a.b.c = {}}}", tables);
  EXPECT_NE(toml_error("a = " + tables).find("tables and arrays are too deep"), std::string::npos);
}

/// toml++ takes the square of the number of dotted names (seconds for each of these texts, in 3 MB).
TEST(TomlDocument, RefusesTooManyDottedNames) {
  const auto repeated = [](int count, auto&& line) {
    std::string text;
    for (int i = 0; i < count; ++i) text += line(i);
    return text;
  };
  const auto keys = [](int i) { return fmt::format("a{0}.x=1\na{0}.y=1\n", i); };
  const auto headers = [](int i) { return fmt::format("[a{0}.x]\n[a{0}]\n", i); };
  const std::string hint =
      "\n  hint: at most 20000 dots are allowed in all names together: a header [name] saves those of the "
      "keys "
      "below it";
  EXPECT_EQ(toml_error(repeated(10'000, keys)), "no error");
  EXPECT_EQ(toml_error(repeated(150'000, keys)),
            "t:20001:7: error: too many dotted keys in one document" + hint);
  EXPECT_EQ(toml_error(repeated(20'000, headers)), "no error");
  EXPECT_EQ(toml_error(repeated(150'000, headers)),
            "t:40001:8: error: too many dotted keys in one document" + hint);
  EXPECT_EQ(toml_error("x = [" + repeated(10'001, [](int) { return "{a.b=1,a.c=1},"; }) + "]").substr(0, 56),
            "t:1:140008: error: too many dotted keys in one document\n");
  // Names without dots cost nothing of that.
  EXPECT_EQ(toml_error(repeated(50'000, [](int) { return "[[b]]\n'a.b' = 1.5\n"; })), "no error");
}

TEST(TomlDocument, StringsAndCommentsMayHoldAnything) {
  EXPECT_EQ(toml_error("a = \"\"\"\\\\\xc3\xa4 \\n\xc3\xa4\"\"\""), "no error");
  EXPECT_EQ(toml_error("a = \"\xc3\xa4\" # \xc3\xa4\n'\xc3\xb6' = 1\n"), "no error");
  EXPECT_EQ(
      toml_error("a = \"\"\"\n\xc3\xa4 \\\" \"\" "
                 "......................................................................\n\"\"\"\"\nb = 2\n"),
      "no error");
  EXPECT_EQ(toml_error("a = '''\n\xc3\xa4 \\'''\nb = \"\\\"\xc3\xa4\"\n"), "no error");
  EXPECT_EQ(
      toml_error(
          "a = [1.5, 2.5, 3.5]\nb = [ \"x\", # c\n  \"y\"\n, { k = \"v\", \"l\".m = 'w' } ]\n[\"t\".'u']\n"),
      "no error");
  EXPECT_EQ(
      toml_error(
          "\xef\xbb\xbf[ a . b ]\r\n\"\" = ''\r\n[[c]] # d\r\ne = {}\nf = [ ]\ng.h = { i = [{j = 1},\n] }"),
      "no error");
  EXPECT_EQ(toml_error("b = 1979-05-27 # c\nd = -1_0.5e+3\ne = +inf"), "no error");
}

}  // namespace
}  // namespace gpusim::core
