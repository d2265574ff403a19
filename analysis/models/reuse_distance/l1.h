// L1 of the reuse-distance model: which loads hit, and why the others do not. Its sets are
// stacks of the lines used last; stack distance over all lines tells a miss of a cache that is too small from
// one of a set that is.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "analysis/models/reuse_distance/machine.h"
#include "analysis/models/reuse_distance/stack_distance.h"

namespace gpusim::analysis {

/// Loads of warps, a line each, by what the cache did. Kinds add up: hits and misses are all accesses.
struct ReuseMisses {
  uint64_t hits = 0;
  uint64_t compulsory = 0;     ///< nothing has asked for these bytes before
  uint64_t latency = 0;        ///< they are on their way
  uint64_t written = 0;        ///< a store has put them out
  uint64_t capacity = 0;       ///< at least as many other lines were used since as the cache has
  uint64_t associativity = 0;  ///< fewer, but too many of its set
  [[nodiscard]] uint64_t misses() const { return compulsory + latency + written + capacity + associativity; }
  [[nodiscard]] uint64_t accesses() const { return hits + misses(); }
  [[nodiscard]] double miss_rate() const {
    return accesses() == 0 ? 0 : static_cast<double>(misses()) / static_cast<double>(accesses());
  }
  void add(const ReuseMisses& other, uint64_t times);
  friend bool operator==(const ReuseMisses&, const ReuseMisses&) = default;
};

/// All caches of one number of sets, and of any number of ways up to a limit, at once: a stack for each set,
/// in which a line lies as deep as a cache must have ways to hold it. What a store puts out leaves a hole
/// that the next line to come fills.
class WayStacks {
 public:
  WayStacks(core::SetIndexKind index, uint32_t sets, uint32_t most_ways)
      : index_(index, sets), most_ways_(most_ways), stacks_(sets), hits_(most_ways, 0) {}
  void load(uint64_t line, bool counts);
  void put_out(uint64_t line);
  [[nodiscard]] uint64_t hits(uint32_t ways) const;

 private:
  static constexpr uint64_t kHole = ~uint64_t{0};
  core::SetIndex index_;
  uint32_t most_ways_;
  std::vector<std::vector<uint64_t>> stacks_;
  std::vector<uint64_t> hits_;  ///< by depth
};

class ReuseL1 {
 public:
  explicit ReuseL1(const ReuseMachine& machine);

  struct Access {
    uint64_t line = 0;     ///< number: address / bytes of a line
    uint32_t sectors = 0;  ///< of 32 bytes, the lowest address first
    uint32_t warp = 0;
    bool local = false;
  };
  /// 32-byte sectors of a line, asked of memory; when they come.
  using Fetch = std::function<double(uint64_t line, uint32_t sectors)>;
  /// A load at time `now`, not before the last one's; when it has its data, or kRefused: it has to come again
  /// when something has come (next_fill()), or kNoRoom: when memory can be asked, which `can_ask` says.
  static constexpr double kRefused = -1, kNoRoom = -2;
  double load(const Access& a, double now, bool can_ask, const Fetch& fetch);
  /// A store or, with `atomic`, an atomic operation; true if its data goes on to L2.
  bool store(const Access& a, double now, bool atomic);
  /// The oldest dirty line that had to leave; false if there is none.
  bool take_writeback(uint64_t& line, uint32_t& sectors) {
    if (writebacks_.empty()) return false;
    line = writebacks_.front().line;
    sectors = writebacks_.front().sectors;
    writebacks_.erase(writebacks_.begin());
    return true;
  }
  /// When the next line comes; only if one is on its way.
  [[nodiscard]] double next_fill() const { return fills_.top().at; }
  [[nodiscard]] bool waits_for_fill() const { return !fills_.empty(); }

  /// Some load was refused because of limits to the lines on their way.
  [[nodiscard]] bool limited() const { return limited_; }

  [[nodiscard]] const ReuseMisses& global() const { return misses_[0]; }
  [[nodiscard]] const ReuseMisses& local() const { return misses_[1]; }
  [[nodiscard]] const std::vector<WayStacks>& stacks() const { return stacks_; }
  /// By stack distance d of loads: how often 2^k <= d + 1 < 2^(k+1); first uses not included.
  [[nodiscard]] const std::vector<uint64_t>& distances() const { return distances_; }

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Frame {
    uint64_t address = 0;   ///< number of the line in the address space
    uint32_t line = kNone;  ///< and in the table of lines
    uint32_t valid = 0, pending = 0;
    uint32_t dirty = 0;  ///< sectors that only it has
    uint64_t used = 0;
  };
  struct Line {
    uint32_t frame = kNone, entry = kNone;
    uint32_t seen = 0;     ///< sectors that were asked for before
    uint32_t put_out = 0;  ///< sectors that a store put out since
  };
  struct Part {  ///< sectors that were asked for together
    uint32_t sectors;
    double there;
  };
  struct Entry {  ///< a miss-status holding register
    uint32_t line = 0, warp = 0;
    uint32_t asked = 0, spoiled = 0;  ///< sectors on their way
    std::vector<Part> parts;          ///< of `asked`, and those that have come
    std::vector<uint32_t> waiters;    ///< sectors that each waits for
  };
  struct Fill {
    double at;
    uint64_t order;
    uint32_t entry, sectors;
    bool operator>(const Fill& other) const { return at != other.at ? at > other.at : order > other.order; }
  };
  [[nodiscard]] uint32_t whole(uint32_t sectors) const;
  uint32_t number_of(uint64_t line);
  /// The frame of the line; null if it has none.
  Frame* frame_of(uint64_t line, uint32_t set);
  void advance(double now);
  void fill(const Fill& f);
  /// A frame for the line; kNone if all of its set wait for data.
  uint32_t take_frame(uint32_t line, uint64_t address);
  /// The line is used: its group of stack distances.
  uint32_t use(uint32_t line);
  void count(uint64_t ReuseMisses::*kind, bool local) { ++(misses_[local ? 1 : 0].*kind); }
  [[nodiscard]] uint64_t ReuseMisses::*kind_of(const Line& line, uint32_t missing, uint32_t group) const;
  double miss(const Access& a, uint32_t missing, double now, bool can_ask, const Fetch& fetch);

  ReuseMachine machine_;
  core::SetIndex index_;
  uint32_t beyond_ = 0;             ///< group of distances from which on the cache has no more lines
  std::vector<uint32_t> class_of_;  ///< in distances_, by group
  LineTable table_;
  std::vector<Line> lines_;
  std::vector<uint64_t> addresses_;  ///< by number in the table
  StackDistance stack_;
  std::vector<WayStacks> stacks_;
  struct Writeback {
    uint64_t line;
    uint32_t sectors;
  };
  std::vector<Frame> frames_;
  std::vector<Writeback> writebacks_;  ///< few at a time
  std::vector<Entry> entries_;
  std::vector<uint32_t> free_entries_, of_warp_;
  uint32_t in_flight_ = 0;
  std::priority_queue<Fill, std::vector<Fill>, std::greater<>> fills_;
  uint64_t clock_ = 0, orders_ = 0;
  bool limited_ = false;
  ReuseMisses misses_[2];
  std::vector<uint64_t> distances_;
};

}  // namespace gpusim::analysis
