// Comparison of results with [[expect]].
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "simcore/launch/element.h"
#include "simcore/launch/launch.h"
#include "simcore/reference/reference.h"

namespace gpusim::core {
namespace {

/// |a - b| relative to |expected|; equal values (and two NaNs) give 0, a NaN against a number infinity.
struct Difference {
  double absolute = 0;
  double relative = 0;
};

Difference difference(double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return {};
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (!std::isfinite(actual) || !std::isfinite(expected)) return {kInfinite, kInfinite};
  const double absolute = std::abs(actual - expected);
  return {absolute, expected == 0 ? absolute : absolute / std::abs(expected)};
}

class Comparison {
 public:
  Comparison(const BufferSpec& buffer, const ExpectSpec& expect, std::span<const std::byte> actual)
      : buffer_(buffer), expect_(expect), actual_(actual), step_(element_bytes(buffer.type)) {
    result_.buffer = buffer.name;
    result_.is_variable = buffer.variable.has_value();
  }

  /// Compares element `index` with an expected element stored in the buffer's own type.
  void compare(uint64_t index, const std::byte* expected) {
    const std::byte* at = actual_.data() + index * step_;
    ++result_.compared;
    if (element_bits(buffer_.type, at) == element_bits(buffer_.type, expected)) return;
    const Difference d = difference(value(at), value(expected));
    result_.worst = std::max(result_.worst, d.relative);
    worst_absolute_ = std::max(worst_absolute_, d.absolute);
    const bool integer_differs =
        !element_is_float(buffer_.type) && d.absolute == 0;  // beyond a double's 53 bits
    // An infinite value, or a NaN, is near nothing but itself.
    const bool close =
        d.absolute == 0 ||
        (std::isfinite(d.absolute) && d.absolute <= expect_.atol + expect_.rtol * std::abs(value(expected)));
    if (close && !(integer_differs && expect_.rtol == 0 && expect_.atol == 0)) return;
    if (result_.wrong++ > 0) return;
    result_.first_bad = index;
    first_ = fmt::format("element {} is {}, expected {}", index, element_text(buffer_.type, at),
                         element_text(buffer_.type, expected));
  }

  ExpectResult finish() {
    result_.pass = result_.wrong == 0 && result_.compared > 0;
    if (result_.compared == 0) {
      result_.message = fmt::format("{}: nothing to compare", buffer_.name);
    } else if (result_.pass) {
      result_.message = fmt::format("{}: {} element{} as expected, {}", buffer_.name, result_.compared,
                                    result_.compared == 1 ? "" : "s",
                                    worst_absolute_ == 0
                                        ? "exactly"
                                        : fmt::format("largest error {:.3g}{}", worst_absolute_, allowed()));
    } else {
      result_.message = fmt::format("{}: {} of {} element{} {} wrong, first: {}; {}", buffer_.name,
                                    result_.wrong, result_.compared, result_.compared == 1 ? "" : "s",
                                    result_.wrong == 1 ? "is" : "are", first_, errors());
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] double value(const std::byte* at) const { return load_element(buffer_.type, at).as_double(); }

  /// What an element may differ by: one near zero may differ much in relation to its value, and be right.
  [[nodiscard]] std::string allowed() const {
    return fmt::format(" (allowed: {:g} + {:g} x |expected|)", expect_.atol, expect_.rtol);
  }
  [[nodiscard]] std::string errors() const {
    if (worst_absolute_ == 0) return "they differ beyond the 53 bits of a double";
    return fmt::format("largest error {:.3g}, relative {:.3g}{}", worst_absolute_, result_.worst, allowed());
  }

  const BufferSpec& buffer_;
  const ExpectSpec& expect_;
  std::span<const std::byte> actual_;
  uint32_t step_;
  double worst_absolute_ = 0;
  std::string first_;
  ExpectResult result_;
};

void compare_values(const BufferSpec& buffer, const ExpectSpec& expect, Comparison& comparison) {
  std::byte expected[8] = {};
  for (uint64_t i = 0; i < expect.values.size(); ++i) {
    if (!store_element(buffer.type, expect.values[i], expected)) {
      raise_input_error(expect.where, fmt::format("expected element {}: {}", i,
                                                  misfit_text(buffer.type, expect.values[i])));
    }
    comparison.compare(i, expected);
  }
}

void compare_file(const LaunchDescription& launch, const BufferSpec& buffer, const ExpectSpec& expect,
                  Comparison& comparison) {
  BufferSpec as_file = buffer;
  as_file.where = expect.where;
  as_file.init.file = expect.file;
  as_file.init.kind = expect.file.ends_with(".npy") ? InitSpec::Kind::kNpy : InitSpec::Kind::kBin;
  std::vector<std::byte> expected(buffer.bytes());
  fill_buffer(as_file, launch.seed, expected);
  for (uint64_t i = 0; i < buffer.count; ++i)
    comparison.compare(i, expected.data() + i * element_bytes(buffer.type));
}

void compare_reference(const LaunchDescription& launch, const BufferSpec& buffer, const ExpectSpec& expect,
                       Comparison& comparison) {
  ExpressionError error;
  const auto call = parse_reference(expect.reference, launch, error);
  if (!call) raise_input_error(expect.where, error.message, error.hint);
  ReferenceResult reference;
  try {
    reference = evaluate_reference(*call, launch, buffer.count);
  } catch (const std::bad_alloc&) {
    raise_input_error(expect.where,
                      fmt::format("not enough memory for the reference '{}'", expect.reference));
  } catch (const InputError& problem) {
    raise_input_error(expect.where, fmt::format("reference '{}' cannot be computed", expect.reference),
                      "it says: " + std::string(problem.what()));
  }
  if (reference.size() > buffer.count) {
    raise_input_error(expect.where,
                      fmt::format("reference '{}' gives {} elements, {} '{}' has {}", expect.reference,
                                  reference.size(), buffer.kind(), buffer.name, buffer.count));
  }
  std::byte expected[8] = {};
  for (uint64_t i = 0; i < reference.size(); ++i) {
    if (!reference.covered.empty() && !reference.covered[i]) continue;
    if (element_is_float(buffer.type)) {
      store_real(buffer.type,
                 reference.is_integer ? static_cast<double>(static_cast<int64_t>(reference.integers[i]))
                                      : reference.reals[i],
                 expected);
    } else if (reference.is_integer) {
      std::memcpy(expected, &reference.integers[i], element_bytes(buffer.type));  // modulo the buffer's width
    } else if (!store_element(buffer.type, Number::of_real(reference.reals[i]), expected)) {
      raise_input_error(expect.where,
                        fmt::format("reference '{}', element {}: {}", expect.reference, i,
                                    misfit_text(buffer.type, Number::of_real(reference.reals[i]))));
    }
    comparison.compare(i, expected);
  }
}

}  // namespace

ExpectResult check_expect(const LaunchDescription& launch, const ExpectSpec& expect,
                          std::span<const std::byte> actual) {
  const BufferSpec& buffer = launch.buffers.at(expect.buffer);
  if (actual.size() != buffer.bytes()) {
    raise_input_error(expect.where, fmt::format("{} '{}' has {} bytes, {} are given", buffer.kind(),
                                                buffer.name, buffer.bytes(), actual.size()));
  }
  Comparison comparison(buffer, expect, actual);
  switch (expect.kind) {
    case ExpectSpec::Kind::kValues:
      compare_values(buffer, expect, comparison);
      break;
    case ExpectSpec::Kind::kFile:
      compare_file(launch, buffer, expect, comparison);
      break;
    case ExpectSpec::Kind::kReference:
      compare_reference(launch, buffer, expect, comparison);
      break;
  }
  return comparison.finish();
}

}  // namespace gpusim::core
