// Stack distances (reuse distances): how many other lines were used since a line was last used, for a stream
// of uses of which nothing is known in advance. A Fenwick tree over the times of last use (Bennett and
// Kruskal, "LRU stack processing", 1975; Olken, 1981), renumbered when it is full, so that a use takes time
// that grows with the logarithm of the number of lines, and memory with that number.
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
  static constexpr uint64_t kFirst = ~uint64_t{0};
  /// Uses line number `line` (dense, from 0); how many other lines have been used since it last was, kFirst
  /// if it never was.
  uint64_t use(uint32_t line);

 private:
  void renumber();
  [[nodiscard]] uint64_t lines_until(uint64_t time) const;
  void add(uint64_t time, int32_t change);

  std::vector<uint64_t> last_;   ///< by line: time of last use; 0: none
  std::vector<uint32_t> tree_;   ///< over times, from 1
  std::vector<uint32_t> owner_;  ///< by time: the line used then, if that is its last use
  uint64_t now_ = 0, lines_ = 0;
};

}  // namespace gpusim::analysis
