// Host references: what a kernel should have computed, by independent plain loops in double precision or
// exact integers. Used as `reference = "matmul(A, B, N, N, N)"` in launch files; the functions and their
// arguments are listed in docs/launch_file.md. Inputs are the buffers' *initial* contents.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/launch/expression.h"
#include "simcore/launch/launch.h"

namespace gpusim::core {

/// Initial content of a buffer.
struct ReferenceInput {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<std::byte> content;
  [[nodiscard]] uint64_t count() const { return content.size() / element_bytes(type); }
};

/// Expected values from index 0. Integer results are exact modulo 2^64 and compared in the buffer's width.
struct ReferenceResult {
  bool is_integer = false;
  std::vector<double> reals;
  std::vector<uint64_t> integers;
  std::vector<bool>
      covered;  ///< empty: every value counts; else only those set (padding between rows is not compared)
  [[nodiscard]] uint64_t size() const { return is_integer ? integers.size() : reals.size(); }
};

struct ReferenceFunction;
/// A checked call: the function exists, argument kinds and number are right. Buffers are indices into the
/// launch's list.
struct ReferenceCall {
  struct Argument {
    bool is_buffer = false;
    uint32_t buffer = 0;
    Number number;
  };
  const ReferenceFunction* function = nullptr;
  std::vector<Argument> arguments;
};

/// Names of all references.
[[nodiscard]] std::vector<std::string_view> reference_names();
/// "matmul(A, B, M, N, K[, lda, ldb, ldc])", one line each, for help and documentation.
[[nodiscard]] std::string reference_help();

/// Parses and checks `text`; on an error returns nothing and fills `error`.
[[nodiscard]] std::optional<ReferenceCall> parse_reference(std::string_view text,
                                                           const LaunchDescription& launch,
                                                           ExpressionError& error);
/// Computes the expected values for a buffer of `room` elements. Throws InputError (without a place) if sizes
/// do not fit together.
[[nodiscard]] ReferenceResult evaluate_reference(const ReferenceCall& call, const LaunchDescription& launch,
                                                 uint64_t room);

}  // namespace gpusim::core
