// The table of host references. A new one is a function (in functions.cpp, or in a file of its kind and
// declared here) and a row in functions.cpp.
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

namespace reference {

/// Throws InputError: the sizes do not fit together.
[[noreturn]] void refuse(const std::string& message);
/// Called before memory is taken for `count` results.
void check_elements(const ReferenceArguments& args, uint64_t count);
/// Refuses what would take minutes: `operations` of about a nanosecond each.
void check_work(double operations);

// algorithms.cpp
void sort(const ReferenceArguments& args, ReferenceResult& result);
void bfs(const ReferenceArguments& args, ReferenceResult& result);
void convolve2d(const ReferenceArguments& args, ReferenceResult& result);
void nbody(const ReferenceArguments& args, ReferenceResult& result);
void softmax(const ReferenceArguments& args, ReferenceResult& result);
void attention(const ReferenceArguments& args, ReferenceResult& result);
void dft(const ReferenceArguments& args, ReferenceResult& result);
void dft3d(const ReferenceArguments& args, ReferenceResult& result);
void heat3d(const ReferenceArguments& args, ReferenceResult& result);

// solvers.cpp
void cg(const ReferenceArguments& args, ReferenceResult& result);
void multigrid3d(const ReferenceArguments& args, ReferenceResult& result);
void sweeps3d(const ReferenceArguments& args, ReferenceResult& result);
void penta3d(const ReferenceArguments& args, ReferenceResult& result);
void block_tri3d(const ReferenceArguments& args, ReferenceResult& result);

}  // namespace reference

}  // namespace gpusim::core
