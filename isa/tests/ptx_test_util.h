// Shared by the front end's tests: parse a snippet, with the messages as text when something is wrong.
#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "isa/ptx/diagnostics.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"

namespace gpusim::isa::test {

inline std::string messages(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics) text += format_diagnostic("ptx", d) + "\n";
  return text;
}

inline Module parse_ok(std::string_view text) {
  ParseResult result = parse_module(text);
  EXPECT_EQ(messages(result.diagnostics), "");
  return std::move(result.module);
}

/// A module with one kernel `k` of the given body.
inline std::string kernel(std::string_view body,
                          std::string_view header = ".version 8.0\n.target sm_90\n.address_size 64\n") {
  return std::string(header) + ".visible .entry k(.param .u64 p)\n{\n" + std::string(body) + "\n}\n";
}

/// The kernel of kernel(body), parsed and verified without a message.
inline Module kernel_ok(std::string_view body) {
  Module module = parse_ok(kernel(body));
  EXPECT_EQ(messages(verify_module(module)), "");
  return module;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace gpusim::isa::test
