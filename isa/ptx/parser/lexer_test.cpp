#include "isa/ptx/parser/lexer.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace gpusim::isa {
namespace {

using TokenKind = Token::Kind;

std::vector<Token> lex(std::string_view text, Diagnostics& diagnostics) {
  Lexer lexer(text, diagnostics);
  std::vector<Token> tokens;
  for (Token t = lexer.next(); t.kind != TokenKind::kEnd; t = lexer.next()) tokens.push_back(t);
  return tokens;
}

std::vector<Token> lex_ok(std::string_view text) {
  Diagnostics diagnostics;
  std::vector<Token> tokens = lex(text, diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << (diagnostics.empty() ? "" : diagnostics[0].message);
  return tokens;
}

std::string lex_error(std::string_view text) {
  Diagnostics diagnostics;
  lex(text, diagnostics);
  return diagnostics.empty() ? "" : diagnostics[0].message;
}

TEST(Lexer, SplitsAStatement) {
  const auto t = lex_ok("@!%p1 ld.global.u32 %r1, [%rd1+-4];");
  std::vector<std::string_view> texts;
  texts.reserve(t.size());
  for (const Token& token : t) texts.push_back(token.text);
  EXPECT_EQ(texts, (std::vector<std::string_view>{"@", "!", "%p1", "ld", ".global", ".u32", "%r1", ",", "[",
                                                  "%rd1", "+", "-", "4", "]", ";"}));
  EXPECT_EQ(t[4].kind, TokenKind::kDotName);
  EXPECT_EQ(t[4].name(), "global");
}

TEST(Lexer, CountsLinesAndColumns) {
  const auto t = lex_ok("a\n  b /* x\n y */ c // d\n\te");
  ASSERT_EQ(t.size(), 4u);
  EXPECT_EQ(t[0].loc, (SourceLoc{1, 1}));
  EXPECT_EQ(t[1].loc, (SourceLoc{2, 3}));
  EXPECT_EQ(t[2].loc, (SourceLoc{3, 7}));
  EXPECT_EQ(t[3].loc, (SourceLoc{4, 2}));
}

TEST(Lexer, ReadsIntegers) {
  const auto t = lex_ok("0 42 0x1F 0XfU 017 0b101 7U 18446744073709551615 WARP_SZ");
  const uint64_t values[] = {0, 42, 31, 15, 15, 5, 7, ~uint64_t{0}};
  for (size_t i = 0; i < std::size(values); ++i) {
    EXPECT_EQ(t[i].kind, TokenKind::kInteger);
    EXPECT_EQ(t[i].value, values[i]);
  }
  EXPECT_TRUE(t[3].is_unsigned);
  EXPECT_TRUE(t[6].is_unsigned);
  EXPECT_FALSE(t[1].is_unsigned);
  EXPECT_EQ(t[8].kind, TokenKind::kIdentifier);
}

TEST(Lexer, ReadsFloats) {
  const auto t = lex_ok("0f3F800000 0d3FF0000000000000 1.5 2e3 1.25E-1 0F00000000");
  EXPECT_EQ(t[0].kind, TokenKind::kFloat32);
  EXPECT_EQ(t[0].value, 0x3f800000u);
  EXPECT_EQ(t[1].kind, TokenKind::kFloat64);
  EXPECT_EQ(std::bit_cast<double>(t[1].value), 1.0);
  EXPECT_EQ(std::bit_cast<double>(t[2].value), 1.5);
  EXPECT_EQ(std::bit_cast<double>(t[3].value), 2000.0);
  EXPECT_EQ(std::bit_cast<double>(t[4].value), 0.125);
  EXPECT_EQ(t[5].kind, TokenKind::kFloat32);
}

TEST(Lexer, KeepsDoubleColonsInModifiers) {
  const auto t = lex_ok("ld.shared::cta.L2::128B.u32");
  EXPECT_EQ(t[1].name(), "shared::cta");
  EXPECT_EQ(t[2].name(), "L2::128B");
  EXPECT_EQ(t[3].name(), "u32");
}

TEST(Lexer, SkipsDirectiveLinesOfOldFiles) {
  const auto t = lex_ok("# 1 \"a.cu\"\na\n@@DWARF .byte 1 % ` \nb");
  ASSERT_EQ(t.size(), 2u);
  EXPECT_EQ(t[1].text, "b");
}

TEST(Lexer, SeparatesLabelColonFromName) {
  const auto t = lex_ok("$L1: a$b:");
  ASSERT_EQ(t.size(), 4u);
  EXPECT_EQ(t[0].text, "$L1");
  EXPECT_EQ(t[2].text, "a$b");
}

TEST(Lexer, ReportsBadInput) {
  EXPECT_EQ(lex_error("a ` b"), "unexpected character '`'");
  EXPECT_EQ(lex_error("\x01\x02"), "unexpected byte 0x01");
  EXPECT_EQ(lex_error("/* never"), "comment is not closed, expected '*/'");
  EXPECT_EQ(lex_error("\"never"), "string is not closed, expected '\"'");
  EXPECT_EQ(lex_error("0f123"), "a '0f' constant has 8 hexadecimal digits, found 3");
  EXPECT_EQ(lex_error("0d3FF00000"), "a '0d' constant has 16 hexadecimal digits, found 8");
  EXPECT_EQ(lex_error("089"), "malformed number '089'");
  EXPECT_EQ(lex_error("0x"), "malformed number '0x'");
  EXPECT_EQ(lex_error("12ab"), "malformed number '12ab'");
  EXPECT_EQ(lex_error("a ."), "expected a name after '.'");
}

TEST(Lexer, EndsForEver) {
  Diagnostics diagnostics;
  Lexer lexer("", diagnostics);
  EXPECT_EQ(lexer.next().kind, TokenKind::kEnd);
  EXPECT_EQ(lexer.next().kind, TokenKind::kEnd);
}

}  // namespace
}  // namespace gpusim::isa
