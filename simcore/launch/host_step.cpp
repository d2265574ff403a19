#include "simcore/launch/host_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "simcore/launch/element.h"

namespace gpusim::core {
namespace {

constexpr std::array<HostStepForm, 17> kForms{{
    {"swap", HostAction::kSwap, "bb", "swap(A, B)"},
    {"copy", HostAction::kCopy, "bb?", "copy(TO, FROM[, n])"},
    {"fill", HostAction::kFill, "bn", "fill(A, value)"},
    {"set", HostAction::kSet, "bnn", "set(A, index, value)"},
    {"add", HostAction::kAdd, "bnn", "add(A, index, value)"},
    {"scale", HostAction::kScale, "bn", "scale(A, factor)"},
    {"axpy", HostAction::kAxpy, "bnb", "axpy(A, factor, B)"},
    {"divide", HostAction::kDivide, "bb?", "divide(A, B[, group])"},
    {"scan_exclusive", HostAction::kScanExclusive, "bb?", "scan_exclusive(TO, FROM[, n])"},
    {"scan_inclusive", HostAction::kScanInclusive, "bb?", "scan_inclusive(TO, FROM[, n])"},
    {"sum", HostAction::kSum, "bnb?", "sum(A, index, B[, n])"},
    {"min", HostAction::kMin, "bnb?", "min(A, index, B[, n])"},
    {"max", HostAction::kMax, "bnb?", "max(A, index, B[, n])"},
    {"differences", HostAction::kDifferences, "bnbb", "differences(A, index, B, C)"},
    {"accumulate", HostAction::kAccumulate, "bbb?", "accumulate(A, KEYS, X[, group])"},
    {"count", HostAction::kCount, "bb", "count(A, KEYS)"},
    {"sort", HostAction::kSort, "b?", "sort(A[, n])"},
}};

/// What a step finds wrong; leaves carry_out() only.
struct Problem {
  std::string text;
};

Number plus(const Number& a, const Number& b) {
  if (!a.is_integer || !b.is_integer) return Number::of_real(a.as_double() + b.as_double());
  int64_t sum = 0;
  if (__builtin_add_overflow(a.integer, b.integer, &sum))
    throw Problem{"the result does not fit into 64 bits"};
  return Number::of(sum);
}
Number times(const Number& a, const Number& b) {
  if (!a.is_integer || !b.is_integer) return Number::of_real(a.as_double() * b.as_double());
  int64_t product = 0;
  if (__builtin_mul_overflow(a.integer, b.integer, &product))
    throw Problem{"the result does not fit into 64 bits"};
  return Number::of(product);
}
/// As C divides: integers towards zero.
Number quotient(const Number& a, const Number& b) {
  if (!a.is_integer || !b.is_integer) return Number::of_real(a.as_double() / b.as_double());
  if (b.integer == -1) return times(a, b);
  return Number::of(a.integer / b.integer);
}
bool is_zero(const Number& a) { return a.is_integer ? a.integer == 0 : a.real == 0; }
bool less(const Number& a, const Number& b) { return holds(a, ComparisonParts::Relation::kLess, b); }

class Elements {
 public:
  explicit Elements(const HostOperand& operand) : operand_(operand), step_(element_bytes(operand.type)) {}
  [[nodiscard]] uint64_t count() const { return operand_.count(); }
  [[nodiscard]] Number at(uint64_t i) const { return load_element(operand_.type, place(i)); }
  void put(uint64_t i, const Number& value) const {
    // What is infinite or no number already may be stored as that.
    if (element_is_float(operand_.type))
      store_real(operand_.type, value.as_double(), place(i));
    else if (!store_element(operand_.type, value, place(i)))
      throw Problem{fmt::format("element {}: {}", i, misfit_text(operand_.type, value))};
  }
  [[nodiscard]] uint64_t index(const Number& number) const {
    if (!number.is_integer) throw Problem{fmt::format("{} is no index: it is not an integer", number.real)};
    if (number.integer < 0 || static_cast<uint64_t>(number.integer) >= count())
      throw Problem{fmt::format("element {} is outside: there are {} elements", number.integer, count())};
    return static_cast<uint64_t>(number.integer);
  }
  [[nodiscard]] std::byte* place(uint64_t i) const { return operand_.content.data() + i * step_; }
  [[nodiscard]] ElementType type() const { return operand_.type; }
  [[nodiscard]] uint32_t step() const { return step_; }

 private:
  const HostOperand& operand_;
  uint32_t step_;
};

/// The last number, if it is given: from 1 to `most`.
uint64_t amount(std::span<const Number> numbers, size_t at, uint64_t otherwise, uint64_t most) {
  if (at >= numbers.size()) return otherwise;
  const Number& n = numbers[at];
  if (!n.is_integer || n.integer < 1 || static_cast<uint64_t>(n.integer) > most)
    throw Problem{fmt::format("{} elements: an integer from 1 to {} is needed", n.as_double(), most)};
  return static_cast<uint64_t>(n.integer);
}

void copy(const Elements& to, const Elements& from, uint64_t n) {
  if (to.type() == from.type()) {
    std::memmove(to.place(0), from.place(0), n * to.step());
    return;
  }
  for (uint64_t i = 0; i < n; ++i) to.put(i, from.at(i));
}

void scan(const Elements& to, const Elements& from, uint64_t n, bool inclusive) {
  Number sum = element_is_float(to.type()) ? Number::of_real(0) : Number::of(0);
  for (uint64_t i = 0; i < n; ++i) {
    const Number with = plus(sum, from.at(i));
    to.put(i, inclusive ? with : sum);
    sum = with;
  }
}

Number reduced(HostAction action, const Elements& of, uint64_t n) {
  Number result = of.at(0);
  for (uint64_t i = 1; i < n; ++i) {
    const Number next = of.at(i);
    if (action == HostAction::kSum)
      result = plus(result, next);
    else if (action == HostAction::kMin ? less(next, result) : less(result, next))
      result = next;
  }
  return result;
}

void accumulate(const Elements& to, const Elements& keys, const Elements& x, uint64_t group) {
  if (x.count() < keys.count() * group)
    throw Problem{fmt::format("{} keys with {} elements each: there are {}", keys.count(), group, x.count())};
  for (uint64_t row = 0; row < keys.count(); ++row) {
    const Number key = keys.at(row);
    const uint64_t rows = to.count() / group;
    if (!key.is_integer || key.integer < 0 || static_cast<uint64_t>(key.integer) >= rows)
      throw Problem{fmt::format("key {} of element {} is outside: from 0 to {}", key.as_double(), row,
                                static_cast<int64_t>(rows) - 1)};
    const uint64_t first = static_cast<uint64_t>(key.integer) * group;
    for (uint64_t i = 0; i < group; ++i) to.put(first + i, plus(to.at(first + i), x.at(row * group + i)));
  }
}

void sort(const Elements& a, uint64_t n) {
  std::vector<Number> values(n);
  for (uint64_t i = 0; i < n; ++i) values[i] = a.at(i);
  // What is no number comes last, so that the order is one.
  const auto is_nan = [](const Number& v) { return !v.is_integer && std::isnan(v.real); };
  std::ranges::stable_sort(values, [&](const Number& x, const Number& y) {
    return is_nan(x) || is_nan(y) ? !is_nan(x) && is_nan(y) : less(x, y);
  });
  for (uint64_t i = 0; i < n; ++i) a.put(i, values[i]);
}

void perform(HostAction action, std::span<const HostOperand> buffers, std::span<const Number> numbers) {
  const Elements a(buffers[0]);
  const Elements b(buffers[buffers.size() > 1 ? 1 : 0]);
  const uint64_t shorter = std::min(a.count(), b.count());
  switch (action) {
    case HostAction::kSwap:
      return;
    case HostAction::kCopy:
      return copy(a, b, amount(numbers, 0, shorter, shorter));
    case HostAction::kFill:
      for (uint64_t i = 0; i < a.count(); ++i) a.put(i, numbers[0]);
      return;
    case HostAction::kSet:
      return a.put(a.index(numbers[0]), numbers[1]);
    case HostAction::kAdd: {
      const uint64_t i = a.index(numbers[0]);
      return a.put(i, plus(a.at(i), numbers[1]));
    }
    case HostAction::kScale:
      for (uint64_t i = 0; i < a.count(); ++i) a.put(i, times(a.at(i), numbers[0]));
      return;
    case HostAction::kAxpy:
      for (uint64_t i = 0; i < a.count(); ++i) a.put(i, plus(a.at(i), times(numbers[0], b.at(i))));
      return;
    case HostAction::kDivide: {
      const uint64_t group = amount(numbers, 0, 1, a.count());
      if (b.count() * group < a.count())
        throw Problem{fmt::format("{} elements divide {} each: there are {}", b.count(), group, a.count())};
      for (uint64_t i = 0; i < a.count(); ++i)
        if (const Number by = b.at(i / group); !is_zero(by)) a.put(i, quotient(a.at(i), by));
      return;
    }
    case HostAction::kScanExclusive:
    case HostAction::kScanInclusive:
      return scan(a, b, amount(numbers, 0, shorter, shorter), action == HostAction::kScanInclusive);
    case HostAction::kSum:
    case HostAction::kMin:
    case HostAction::kMax:
      return a.put(a.index(numbers[0]), reduced(action, b, amount(numbers, 1, b.count(), b.count())));
    case HostAction::kDifferences: {
      const Elements c(buffers[2]);
      int64_t differ = 0;
      for (uint64_t i = 0; i < b.count(); ++i)
        differ += holds(b.at(i), ComparisonParts::Relation::kUnequal, c.at(i)) ? 1 : 0;
      return a.put(a.index(numbers[0]), Number::of(differ));
    }
    case HostAction::kAccumulate:
      return accumulate(a, b, Elements(buffers[2]), amount(numbers, 0, 1, a.count()));
    case HostAction::kCount:
      for (uint64_t i = 0; i < b.count(); ++i) {
        const uint64_t key = a.index(b.at(i));
        a.put(key, plus(a.at(key), Number::of(1)));
      }
      return;
    case HostAction::kSort:
      return sort(a, amount(numbers, 0, a.count(), a.count()));
  }
}

bool same_size(const BufferSpec& a, const BufferSpec& b) {
  return a.bytes() == b.bytes() && a.type == b.type;
}

}  // namespace

std::span<const HostStepForm> host_step_forms() { return kForms; }

std::optional<std::string> carry_out(HostAction action, std::span<const HostOperand> buffers,
                                     std::span<const Number> numbers) {
  try {
    perform(action, buffers, numbers);
  } catch (Problem& problem) {
    return std::move(problem.text);
  }
  return std::nullopt;
}

std::pair<uint64_t, uint64_t> elements_written(HostAction action, std::span<const HostOperand> buffers,
                                               std::span<const Number> numbers) {
  switch (action) {
    case HostAction::kSet:
    case HostAction::kAdd:
    case HostAction::kSum:
    case HostAction::kMin:
    case HostAction::kMax:
    case HostAction::kDifferences:
      return {static_cast<uint64_t>(numbers[0].integer), 1};
    case HostAction::kCopy:
    case HostAction::kScanExclusive:
    case HostAction::kScanInclusive: {
      const uint64_t shorter = std::min(buffers[0].count(), buffers[1].count());
      return {0, numbers.empty() ? shorter : static_cast<uint64_t>(numbers[0].integer)};
    }
    case HostAction::kSort:
      return {0, numbers.empty() ? buffers[0].count() : static_cast<uint64_t>(numbers[0].integer)};
    default:
      return {0, buffers[0].count()};
  }
}

std::optional<std::string> check_operands(const HostStepSpec& step, std::span<const BufferSpec> buffers) {
  const auto operand = [&](size_t i) -> const BufferSpec& { return buffers[step.buffers[i]]; };
  for (const uint32_t b : step.buffers)
    if (buffers[b].count == 0) return fmt::format("{} '{}' is empty", buffers[b].kind(), buffers[b].name);
  const auto describe = [](const BufferSpec& b) {
    return fmt::format("'{}' has {} elements of type {}", b.name, b.count, element_type_name(b.type));
  };
  if (step.action == HostAction::kSwap) {
    for (size_t i = 0; i < 2; ++i)
      if (operand(i).variable)
        return fmt::format("'{}' is a variable of the PTX, whose memory has one name", operand(i).name);
    if (!same_size(operand(0), operand(1)))
      return fmt::format("{}, {}: what is swapped has one size and type", describe(operand(0)),
                         describe(operand(1)));
  }
  if (step.action == HostAction::kDifferences && operand(1).count != operand(2).count)
    return fmt::format("{}, {}", describe(operand(1)), describe(operand(2)));
  if (step.action == HostAction::kAxpy && operand(0).count > operand(1).count)
    return fmt::format("{}, {}", describe(operand(0)), describe(operand(1)));
  return std::nullopt;
}

}  // namespace gpusim::core
