// Messages about input of any size stay readable.
#include "simcore/text/input_error.h"

#include <gtest/gtest.h>

namespace gpusim::core {
namespace {

std::string text_of(const std::string& message, const std::string& hint = "") {
  try {
    raise_input_error({"study.toml", 3, 5}, message, hint);
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(InputErrors, AMessageStandsAsItIs) {
  const std::string names(900, 'n');
  EXPECT_EQ(text_of("two\nlines " + names, names),
            "study.toml:3:5: error: two\nlines " + names + "\n  hint: " + names);
}

TEST(InputErrors, OfALongQuotationTheMiddleIsLeftOut) {
  const std::string quoted(100'000, 'x');
  const std::string text =
      text_of("constraint '" + quoted + "' has none of <=", "not '" + quoted + "', which is long");
  EXPECT_LT(text.size(), 2500);
  EXPECT_TRUE(text.starts_with("study.toml:3:5: error: constraint 'xxx")) << text;
  EXPECT_NE(text.find("xxx' has none of <=\n  hint: not 'xxx"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("xxx', which is long")) << text;
  EXPECT_NE(text.find(" bytes left out) "), std::string::npos) << text;

  Messages messages;
  messages.warning({"w.toml", 1, 1}, "'" + quoted + "' is odd");
  EXPECT_LT(messages.warnings().at(0).size(), 1200);
}

TEST(InputErrors, CharactersStayWhole) {
  for (int before = 0; before < 3; ++before) {
    std::string quoted(before, 'x');
    for (int i = 0; i < 1000; ++i) quoted += "\u20ac";
    std::string text = text_of(quoted);
    for (size_t at = text.find("\u20ac"); at != std::string::npos; at = text.find("\u20ac"))
      text.erase(at, 3);
    for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80) << before;
  }
}

}  // namespace
}  // namespace gpusim::core
