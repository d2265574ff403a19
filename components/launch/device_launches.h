// What kernels launch (CUDA programming guide, "Dynamic Parallelism"): which of it may start. A grid is
// complete when it has ended and all that it has launched is complete. In a stream of a grid, work starts
// when the one before it is complete; what is independent (fire and forget) waits for nobody; tail launches
// start, one after the other, when their grid has ended and everything else that it has launched is complete.
// Plain class, for timed runs and for those for values; times are the caller's.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace gpusim::comp {

class DeviceLaunches {
 public:
  using Number = uint64_t;
  struct Order {
    enum class Kind : uint8_t { kStream, kIndependent, kTail };
    Kind kind = Kind::kStream;
    uint64_t stream = 0;  ///< any number that names one among the streams of the grid
  };
  struct Item {
    uint32_t parent = 0;  ///< the grid that launches it
    Order order;
    uint64_t from = 0;    ///< it starts no sooner
    bool is_grid = true;  ///< it takes a place among the kernels that run; else a copy, a fill or an event
    uint32_t grid = 0;    ///< of a grid: its number, by which what it launches names it
    std::vector<Number> after = {};  ///< further work that must be complete before
  };
  /// `complete`: a grid is complete that no other has launched, and that has launched something.
  /// `gap`: from the completion of work to the start of what waits for it.
  explicit DeviceLaunches(std::function<void(uint32_t grid)> complete, uint64_t gap = 0)
      : root_complete_(std::move(complete)), gap_(gap) {}

  /// The number of the work, from 1.
  Number add(Item item);
  /// What may start at `now`, the one first that could first; of what is no grid only unless `grids`.
  [[nodiscard]] std::optional<Number> start_next(uint64_t now, bool grids = true);
  /// When the next may start of what waits for nothing but time; kNothing if there is none.
  static constexpr uint64_t kNothing = ~0ull;
  [[nodiscard]] uint64_t next_start(bool grids = true) const;
  /// Work that is no grid has been done.
  void done(Number number, uint64_t now);
  /// All blocks of a grid have ended. False if what it has launched is open still.
  bool grid_ended(uint32_t grid, uint64_t now);
  /// Grids that have been launched and have not started.
  [[nodiscard]] uint64_t pending() const { return pending_; }
  /// The last work that was put into a stream of a grid; nothing if that is complete.
  [[nodiscard]] std::optional<Number> last_of(uint32_t grid, uint64_t stream) const;
  [[nodiscard]] bool empty() const { return nodes_.empty(); }

 private:
  struct Node {
    Number number = 0;
    Node* parent = nullptr;  ///< null: a grid of the host
    uint32_t grid = 0;
    Order order;
    uint64_t from = 0;
    bool is_grid = true, ended = false;
    uint32_t waits_for = 0;         ///< work that must be complete before
    std::vector<Number> followers;  ///< that wait for this one
    // Of a grid:
    uint32_t open = 0;  ///< launched and not complete, without tail launches
    bool tail_runs = false;
    std::deque<Number> tails;         ///< that have not started
    std::map<uint64_t, Number> last;  ///< of its streams
  };
  Node& node_of(uint32_t grid);
  void make_ready(Node& node, uint64_t from);
  void wait_for(Node& node, Number other);
  /// Follows from what has ended or become complete, up to the grid of the host.
  void settle(Node* node, uint64_t now);

  std::function<void(uint32_t)> root_complete_;
  uint64_t gap_;
  Number last_number_ = 0;
  uint64_t pending_ = 0;
  std::unordered_map<Number, Node> nodes_;
  std::unordered_map<uint32_t, Number> of_grid_;
  std::multimap<uint64_t, Number> ready_grids_, ready_others_;  ///< by the time from which they may start
};

}  // namespace gpusim::comp
