// Values and constants that have registers side by side (assign_registers.cpp).
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "isa/lowering/lir.h"
#include "isa/lowering/register_file.h"

namespace gpusim::isa::lir {

/// Values that stand side by side. `odd`: from an odd register on.
struct Together {
  uint32_t width = 0, start = ~0u;
  bool odd = false;
  std::vector<std::pair<Var, uint32_t>> members;  ///< and how far each is from the first register
  std::vector<Span> scratch;                      ///< what no variable has
  std::vector<Span> resting;                      ///< the same, until accesses have read it
  std::vector<Var> beside;                        ///< words that are read with it, if it is a constant
};

/// What tells one constant from another, its width in registers the last.
using Constant = std::tuple<uint64_t, uint32_t, ObjectId, uint32_t>;

inline Constant constant_of(const Value& v, uint32_t width) {
  return {v.bits, v.launch_constant, v.object, width};
}

/// Where a constant is wanted, until when it is read, and whether at an odd register.
struct ConstantPlace {
  Span span;
  uint32_t read = 0;
  bool odd = false;
  std::vector<Var> beside;

  [[nodiscard]] Together group(const Constant& constant) const {
    return {
        std::get<3>(constant), span.begin, odd, {}, {span}, {{span.begin, std::max(span.end, read)}}, beside};
  }
};

/// A reader of a constant at `at`, and from when on the constant is in its register.
struct ConstantUse {
  uint32_t from, at, read;
  bool odd = false;
  Var beside = kNoVar;  ///< the only other word of the operation, if there is one
};

/// The constants of a block, of which one register lasts from a use to the next if that is no more than
/// `stays` half-steps further on.
class ConstantRegisters {
 public:
  explicit ConstantRegisters(uint32_t stays) : stays_(stays) {}

  void note(const Constant& constant, const ConstantUse& use) {
    const auto [known, added] =
        last_.try_emplace(constant, ConstantPlace{{use.from, use.at}, 0, use.odd, {}});
    ConstantPlace& place = known->second;
    if (!added && use.at - place.span.end > stays_) {
      ended_.push_back(place.group(constant));
      place = {{use.from, use.at}, 0, use.odd, {}};
    }
    if (use.beside != kNoVar) place.beside.push_back(use.beside);
    place.span.end = use.at;
    place.read = std::max(place.read, use.read);
    place.odd = place.odd || use.odd;
  }
  /// The last register of each.
  [[nodiscard]] const std::map<Constant, ConstantPlace>& last() const { return last_; }
  /// Those before it.
  [[nodiscard]] const std::vector<Together>& ended() const { return ended_; }

 private:
  uint32_t stays_;
  std::map<Constant, ConstantPlace> last_;
  std::vector<Together> ended_;
};

}  // namespace gpusim::isa::lir
