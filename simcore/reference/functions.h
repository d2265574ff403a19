// The table of host references. A new one is a function and a row in functions.cpp.
#pragma once
#include <span>
#include <string_view>

#include "simcore/reference/reference.h"

namespace gpusim::core {

/// Arguments of a running reference, in the order of its signature.
class ReferenceArguments {
 public:
  ReferenceArguments(std::vector<ReferenceInput> buffers, std::vector<Number> numbers, uint64_t room)
      : buffers_(std::move(buffers)), numbers_(std::move(numbers)), room_(room) {}
  [[nodiscard]] const ReferenceInput& buffer(size_t i) const { return buffers_[i]; }
  [[nodiscard]] size_t numbers() const { return numbers_.size(); }
  /// Number i as a size: throws InputError if it is no integer in 0..2^31. `fallback` if it is not given.
  [[nodiscard]] uint64_t size(size_t i, uint64_t fallback) const;
  [[nodiscard]] double real(size_t i, double fallback) const;
  /// Elements of the buffer that the result is compared with.
  [[nodiscard]] uint64_t room() const { return room_; }
  /// Elements as doubles, or as integers (sign-extended); throws InputError if `need` elements are not there.
  [[nodiscard]] std::vector<double> reals(size_t buffer, uint64_t need) const;
  [[nodiscard]] std::vector<uint64_t> integers(size_t buffer, uint64_t need) const;
  [[nodiscard]] bool is_real(size_t buffer) const { return element_is_float(buffers_[buffer].type); }

 private:
  std::vector<ReferenceInput> buffers_;
  std::vector<Number> numbers_;
  uint64_t room_;
};

struct ReferenceFunction {
  std::string_view name;
  /// One letter per argument: b buffer, n number; those after '|' may be left out.
  std::string_view signature;
  std::string_view help;
  void (*run)(const ReferenceArguments&, ReferenceResult&);
};

[[nodiscard]] std::span<const ReferenceFunction> reference_functions();

}  // namespace gpusim::core
