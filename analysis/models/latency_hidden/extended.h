// The extended latency-hidden factor model: how long a kernel takes on a machine whose parameters were
// measured by microbenchmarks. The SM's time for its resident blocks is at least what their operations keep
// its busiest unit (compute), at least what one block takes from barrier to barrier with its waits (path),
// and at least what their bytes take at the memory's bandwidth. Latency is hidden by whatever other warps, of
// the block or of others, can do up to their next wait; what is left of it is exposed.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/models/latency_hidden/parameters.h"
#include "analysis/models/latency_hidden/segments.h"

namespace gpusim::analysis::latency_hidden {

/// What a launch asks of the machine.
struct Workload {
  std::vector<Segment> segments;  ///< of one warp
  LaunchShape shape;
  uint32_t blocks_per_sm = 0;  ///< occupancy
  /// Operations of the longest warp of a block, mean of the blocks, for one of the mean of all warps.
  double longest = 1;
  double longest_path = 0;  ///< core cycles of the longest warp of all; 0: no longer than its block's others
};

/// A stage of a kernel: an outermost loop, or the code between two. Blocks that begin together go through the
/// stages together, so that what one stage needs hides nothing of another. Core cycles.
struct Stage {
  double path = 0;     ///< of one block alone on its SM, from barrier to barrier
  double start = 0;    ///< of a block that takes another's place: until it begins
  double apart = 0;    ///< of a first round: from one block's begin to that of the next, anywhere
  double crowd = 0;    ///< what each further block of the SM adds until the stage's first waits spread them
  double pair = 0;     ///< what a second one adds that stays in step through all iterations of the stage
  double compute = 0;  ///< of the SM's busiest unit, for one block
  double memory = 0;   ///< of the whole machine's bandwidth, for one block
  double pages = 0;    ///< of a first round: until pages that are new to all are known
  /// What warps that begin together do in step: each segment of the stage for the first time.
  struct Step {
    double chain = 0, in_turn = 0;  ///< of one warp
    double sooner = 0;              ///< of in_turn: by how much the first scheduler's warps are done before
    double asks = 1;                ///< share of the chain before it asks for data
    double wait = 0;
    double memory = 0;  ///< of the whole machine's bandwidth, for one block: what it waits for
  };
  std::vector<Step> steps;
  double warps = 1;  ///< of a block
  /// What a block waits for at a segment: along its path, for the bytes of its warps (as `memory`), and for
  /// pages, in a first round.
  struct Latency {
    double waits = 0, memory = 0, pages = 0;
  };
  std::vector<Latency> latencies;  ///< of each segment, in their order
  double waits = 0;                ///< their sum
  // Of these steps, what path, compute and memory have.
  double first_path = 0, first_compute = 0, first_memory = 0;
};
/// Two limits that are near each other are both felt: the p-norm of them. `own`: what of the second limit the
/// first one has in it.
[[nodiscard]] double near_limits(double first, double second, double own);

/// Reads and writes that take turns cost the memory time: 0 for one of them alone, 1 for as many bytes of
/// each.
[[nodiscard]] double turns_of(double read, double written);

/// Core cycles that a segment's bytes take of the whole machine's bandwidth, of memory or of its second
/// level.
[[nodiscard]] double memory_time(const Segment& s, const Parameters& p);
/// Share of its time for which a port is busy that takes packets of one length, one after the other, from the
/// heads of so many queues, for each port of its kind, which always have a next packet for any of the ports:
/// of as many queues as ports 2 - sqrt(2). (Karol, Hluchyj and Morgan, "Input versus output queueing on a
/// space-division packet switch", IEEE Transactions on Communications 35, 1987: each port is a queue M/D/1,
/// and in all of them together wait as many packets as there are heads.)
[[nodiscard]] double busy_with_heads(double heads);
/// Core cycles that a segment's transactions take of the ways between SMs and the second level, for all that
/// are used: ports, and lines on their way.
[[nodiscard]] double way_time(const Segment& s, const Parameters& p);
/// How often a warp passes what it does once, and what is in loops, for one of the path as the segments have
/// it.
struct Longer {
  double once = 1, loops = 1;
};
/// Of a warp that executes so many operations: it goes round loops more often, and does the rest once.
[[nodiscard]] Longer longer_of(const std::vector<Segment>& segments, double operations);
/// Core cycles of such a warp alone.
[[nodiscard]] double time_of(const Segment& s, const Longer& longer);
/// Core cycles from segment to segment of a warp that executes `operations`.
[[nodiscard]] double path_of(const std::vector<Segment>& segments, double operations);
[[nodiscard]] std::vector<Stage> stages_of(const Workload& w, const Parameters& p);

/// Time of `blocks` blocks of an SM while `resident` are on the machine. `together`: they have all begun at
/// the same moment, as those of a launch's first round; later ones begin as others end.
[[nodiscard]] double round_time(const std::vector<Stage>& stages, double blocks, double resident,
                                bool together);

}  // namespace gpusim::analysis::latency_hidden
