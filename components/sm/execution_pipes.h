// Execution pipes of an SM: how long each is busy, of which the warp table learns.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "components/sm/timing.h"
#include "components/sm/warp_table.h"

namespace gpusim::comp {

class ExecutionPipes {
 public:
  explicit ExecutionPipes(WarpTable& table) : table_(table) {}
  /// Books the first pipe of the class that takes an operation at `now`, for `extra` core cycles more than
  /// the class says; returns the cycle at which the operation starts there.
  uint64_t take(const ClassTiming& timing, uint64_t now, uint64_t extra = 0) {
    const int choice = table_.accepts_from(timing.pipe[0]) <= now ? 0 : 1;
    const uint32_t pipe = timing.pipe[choice];
    const uint64_t start = std::max(now, busy_until_[pipe]);
    busy_until_[pipe] = start + timing.interval[choice] + extra;
    busy_cycles_[pipe] += timing.interval[choice] + extra;
    table_.take_pipe(pipe, busy_until_[pipe]);
    return start;
  }
  /// Books the pipe of a class that is queued for an operation whose operands are there at `ready`; returns
  /// the cycle at which it starts.
  uint64_t queue(const ClassTiming& timing, uint64_t ready) {
    const uint32_t pipe = timing.pipe[0];
    const uint64_t start = std::max(ready, busy_until_[pipe]);
    busy_until_[pipe] = start + timing.interval[0];
    busy_cycles_[pipe] += timing.interval[0];
    table_.take_pipe(pipe, busy_until_[pipe] - std::min<uint64_t>(timing.ahead, busy_until_[pipe]));
    return start;
  }

  /// Core cycles for which a pipe has been taken, since the start of the simulation.
  [[nodiscard]] uint64_t busy_cycles(size_t pipe) const { return busy_cycles_[pipe]; }

 private:
  WarpTable& table_;
  std::array<uint64_t, kMaxPipes> busy_until_{};
  std::array<uint64_t, kMaxPipes> busy_cycles_{};
};

}  // namespace gpusim::comp
