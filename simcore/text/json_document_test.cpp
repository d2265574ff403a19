#include "simcore/text/json_document.h"

#include <gtest/gtest.h>

namespace gpusim::core {
namespace {

std::string json_error(std::string_view text) {
  try {
    (void)parse_json(text, "t");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(JsonDocument, ValuesOfEveryKindWithTheirPlaces) {
  const JsonValue v =
      parse_json("{\"a\": [1, -2.5e1, true, false, null],\n \"b\": {\"c\": \"x\\n\\u00e4\"}}", "t");
  ASSERT_EQ(v.kind, JsonValue::Kind::kObject);
  const JsonValue* a = v.find("a");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->items.size(), 5u);
  EXPECT_EQ(a->items[0].number, Number::of(1));
  EXPECT_EQ(a->items[1].number, Number::of_real(-25));
  EXPECT_TRUE(a->items[2].boolean);
  EXPECT_EQ(a->items[3].kind, JsonValue::Kind::kBoolean);
  EXPECT_EQ(a->items[4].kind, JsonValue::Kind::kNull);
  EXPECT_EQ(a->items[1].where.text(), "t:1:11");
  const JsonValue* c = v.find("b")->find("c");
  EXPECT_EQ(c->text, "x\n\xc3\xa4");
  EXPECT_EQ(c->where.text(), "t:2:13");
  EXPECT_EQ(v.members[1].where.text(), "t:2:2");
  EXPECT_EQ(v.find("z"), nullptr);
}

TEST(JsonDocument, NumbersThatAreNoIntegersOf64Bits) {
  EXPECT_EQ(parse_json("9223372036854775807", "t").number, Number::of(INT64_MAX));
  EXPECT_EQ(parse_json("9223372036854775808", "t").number, Number::of_real(9223372036854775808.0));
  EXPECT_EQ(parse_json("1.0", "t").number, Number::of_real(1));
  EXPECT_EQ(parse_json("-0", "t").number, Number::of(0));
}

TEST(JsonDocument, PairsOfSurrogates) {
  EXPECT_EQ(parse_json("\"\\ud83d\\ude00\"", "t").text, "\xf0\x9f\x98\x80");
  EXPECT_EQ(json_error("\"\\ud83d\""), "t:1:7: error: half of a pair of \\u");
  EXPECT_EQ(json_error("\"\\ud83d\\u0041\""), "t:1:13: error: expected the second half of a pair of \\u");
}

TEST(JsonDocument, MistakesAreNamedWithTheirPlace) {
  EXPECT_EQ(json_error(""), "t:1:1: error: expected a value, found the end of the file");
  EXPECT_EQ(json_error("{\n  \"a\" 1}"), "t:2:7: error: expected ':' behind the name, found '1'");
  EXPECT_EQ(json_error("{\"a\": 1,}"), "t:1:9: error: expected a name in quotes, found '}'");
  EXPECT_EQ(json_error("[1 2]"), "t:1:4: error: expected ']' or ',' behind an element, found '2'");
  EXPECT_EQ(json_error("[1,]"), "t:1:4: error: expected a value, found ']'");
  EXPECT_EQ(json_error("{\"a\": 1, \"a\": 2}"), "t:1:10: error: \"a\" stands here a second time");
  EXPECT_EQ(json_error("01"), "t:1:1: error: a number has digits, and none is a zero in front of others");
  EXPECT_EQ(json_error("1."), "t:1:3: error: expected a digit behind the point, found the end of the file");
  EXPECT_EQ(json_error("1e999"), "t:1:1: error: the number is out of range");
  EXPECT_EQ(json_error("\"a"), "t:1:3: error: the string does not end");
  EXPECT_EQ(json_error("\"\\x\""), "t:1:3: error: 'x' behind a backslash");
  EXPECT_EQ(json_error("\"\\u12\""), "t:1:3: error: expected four hexadecimal digits behind \\u");
  EXPECT_NE(json_error("\"a\nb\"").find("t:1:3: error: byte 0x0a in a string"), std::string::npos);
  EXPECT_EQ(json_error("1 2"), "t:1:3: error: text behind the value");
  EXPECT_EQ(json_error(std::string(100000, '[')), "t:1:66: error: more than 64 levels");
  EXPECT_EQ(json_error(std::string_view("1\0", 2)), "t:1:2: error: text behind the value");
}

TEST(JsonDocument, WhatIsQuotedReadsBackAsTheSame) {
  const std::string text = "a\"b\\c\n\t\x01\xc3\xa4/";
  EXPECT_EQ(parse_json(json_quoted(text), "t").text, text);
}

}  // namespace
}  // namespace gpusim::core
