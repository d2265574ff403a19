// Roofline scaling trajectories (K. Z. Ibrahim, S. Williams and L. Oliker, "Performance Analysis of GPU
// Programming Models Using the Roofline Scaling Trajectories", Bench 2019): a kernel's arithmetic intensity
// and rate at several numbers of SMs, against roofs that were measured on the same simulated machine, and
// what the shape says.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/models/model.h"
#include "analysis/models/roofline/ceilings.h"
#include "analysis/recording/recording.h"

namespace gpusim::analysis {

/// What would make a kernel faster: core time that it would save if a unit were twice as fast, a latency half
/// as long (analysis/profile/limiter.h), or the imbalance of SMs half as large.
struct Saving {
  std::string name;    ///< of the limiter's candidates, "imbalance" or "barriers"
  double seconds = 0;  ///< of all launches
  std::string words;   ///< of the launch in which it saves most
  double most = 0;     ///< that launch's part
};

/// Accesses whose data warps wait for, and how far their lanes' data lies apart.
struct Awaited {
  double slots = 0;      ///< lost while waiting for data of global and local loads
  double scattered = 0;  ///< of these, for accesses to several times the lines that their bytes fill
  double l1 = 0, l2 = 0, dram = 0;    ///< of the scattered ones, by the level that the last line came from
  double worst = 0, worst_lines = 0;  ///< slots and lines of an access of the statement that is awaited most
  std::string place;                  ///< that statement
};

/// A kernel, all its launches together, at one number of SMs.
struct RooflinePoint {
  uint32_t sms = 0;
  double seconds = 0;
  double flops = 0;   ///< equal at every point of a strong scaling
  double stated = 0;  ///< of these, by the launch file; 0: it does not say
  double dram_bytes = 0, l2_bytes = 0, l1_bytes = 0;
  double l2_hits = 0;          ///< of the sectors read there; 0 to 1
  double operations = 0;       ///< that warps executed
  double warp_efficiency = 0;  ///< active lanes of 32
  /// Lanes for which operations other than branches, barriers and exits were executed, of those of the warps
  /// that have a thread.
  double used_lanes = 1;
  double divergent = 0;        ///< branches that parted a warp
  double coalescing = 0;       ///< bytes asked for, of bytes moved for them; above 1: lanes share them
  double occupancy = 0;        ///< resident warps of what an SM holds, while it has any
  double balance = 0;          ///< mean of the SMs' active cycles, of the longest
  double even_balance = 1;     ///< what it would be at least if all blocks of a launch took the same time
  uint32_t idle_sms = 0;       ///< that got no block
  double blocks = 0;           ///< of the longest launch
  uint64_t blocks_per_sm = 0;  ///< that fit
  std::string worst_divergence, worst_access;  ///< statements that lose most lanes and bytes
  std::string limiter;                         ///< of the blocks that fit an SM
  OperationMix mix;                            ///< as counted
  std::vector<Saving> savings;                 ///< the largest first; empty in files of older versions
  std::vector<std::pair<std::string, double>> causes;  ///< shares of the issue slots, the largest first
  Awaited awaited;
  [[nodiscard]] double rate() const { return seconds > 0 ? flops / seconds : 0; }
  /// FLOP per byte of DRAM; infinity without traffic.
  [[nodiscard]] double intensity() const;
  /// What it reaches of its roof; without floating-point operations, of the bandwidth of DRAM.
  [[nodiscard]] double of_roof(const Ceiling& ceiling) const;
  /// Of the issue slots.
  [[nodiscard]] double cause(std::string_view name) const;
};

enum class Defect : uint8_t {
  kDivergence,
  kUncoalesced,
  kLowOccupancy,
  kFewBlocks,
  kLocality,
  // Of an end of the trajectory that is far below its roof:
  kImbalance,
  kLatencyDivergence,
  kLatency,
  kDependency,
  kL1Bandwidth,
  kL2Bandwidth,
  kDramAccess,
  kAtomics,
  kMisses,
  kInstructions,
  kBranches,
  kBarriers,
  kLaunch,
  kMixed
};
inline constexpr size_t kDefects = static_cast<size_t>(Defect::kMixed) + 1;
/// "divergence", "low-occupancy", ...: docs/models/roofline.md.
[[nodiscard]] std::string_view defect_name(Defect defect);

struct Finding {
  Defect defect;
  std::string evidence;  ///< the counters that prove it, and where
};

inline constexpr std::string_view kAllKernels = "all kernels";

struct Trajectory {
  std::string kernel;                 ///< kAllKernels: the application
  std::vector<RooflinePoint> points;  ///< by number of SMs
  std::string program = {};           ///< if there are several; else empty
  bool application = false;           ///< all kernels of the program, or its only one
  [[nodiscard]] std::string title() const;
};

struct TrajectoryOptions {
  double flops = 0;        ///< the application's count; 0: the launch file's, else as counted
  bool weak = false;       ///< each recording has its own work
  bool by_launch = false;  ///< a trajectory for each launch, not each kernel
};

/// Throws core::RecordError if recordings are of different machines.
void require_together(std::span<const Recording> recordings);
/// Of all kernels that are no ceilings, program by program (the name of its launch file), in the order of
/// their first launch; last each program's application if its recordings have the same several. Operations
/// are what the launch file states, of the application and of kernels ([flops]); else what was counted with
/// the fewest SMs.
[[nodiscard]] std::vector<Trajectory> trajectories(std::span<const Recording> recordings,
                                                   const TrajectoryOptions& options);
/// What the trajectory says, from its first and last points and the roofs there. An end below half of its
/// roof always has a finding. Thresholds: docs/models/roofline.md.
[[nodiscard]] std::vector<Finding> diagnose(const Trajectory& trajectory, const Ceiling& low,
                                            const Ceiling& high);

/// Intensities and resident warps with the fewest SMs, which would stay so if nothing were lost, as what the
/// model predicts, beside those with the most: the error says how many times less they are. Without what has
/// no bytes or operations.
[[nodiscard]] std::vector<Prediction> changes(const Trajectory& trajectory);

/// The model `roofline` (analysis/models/model.h). Options: flops=NUMBER, scaling=strong|weak,
/// by=kernel|launch, plot=FILE.svg, levels=dram|all, expect=DEFECT,...|none (then it predicts the number of
/// wrong and missing findings, none).
[[nodiscard]] ModelReport roofline_model(std::span<const Recording> recordings, const ModelOptions& options);

}  // namespace gpusim::analysis
