// Stack distances (reuse distances): how many other lines were used since a line was last used, for a stream
// of uses of which nothing is known in advance, as far as limits tell them apart. Lines are a list in the
// order of last use, cut into groups; a use moves the last line of each group before its own into the next
// (Kim, Hill and Wood, "Implementing stack simulation for highly-associative memories", 1991), so that near
// uses, which are the most, take the least time.
#pragma once
#include <cstdint>
#include <vector>

namespace gpusim::analysis {

/// Place of each key, in a table with linear probing that grows.
class LineTable {
 public:
  /// The number of `line`, counted in the order of first calls; `is_new`: this is the first.
  uint32_t number_of(uint64_t line, bool& is_new);
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(lines_.size()); }

 private:
  void grow();
  std::vector<uint32_t> slots_;  ///< number and 1; 0: free
  std::vector<uint64_t> lines_;  ///< by number
};

class StackDistance {
 public:
  static constexpr uint32_t kFirst = ~0u;
  /// `limits`: increasing, the first at least 1.
  explicit StackDistance(std::vector<uint64_t> limits);
  /// Uses line number `line` (dense, from 0): of how many limits its distance is not less, kFirst if it was
  /// never used.
  uint32_t use(uint32_t line) {
    if (line == head_) return 0;
    return use_another(line);
  }

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Line {
    uint32_t before = kNone, behind = kNone;  ///< used next later, next earlier
    uint32_t group = kFirst;
  };
  uint32_t use_another(uint32_t line);

  std::vector<uint64_t> limits_;
  std::vector<Line> lines_;
  std::vector<uint32_t> last_;  ///< of each group that is full
  uint32_t head_ = kNone, tail_ = kNone;
  uint64_t count_ = 0;
};

}  // namespace gpusim::analysis
