// What a trajectory's ends say: the defects that its counters prove.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "analysis/models/roofline/roofline.h"
#include "analysis/profile/limiter.h"
#include "analysis/profile/stall_causes.h"

namespace gpusim::analysis {

namespace {

// Docs and tests name these.
constexpr double kWarpEfficiency = 0.8, kCoalescing = 0.5, kBalance = 0.75, kOccupancyLoss = 0.75,
                 kLowResidency = 0.25, kIntensityLoss = 0.75, kFarBelow = 0.5, kUnevenWork = 0.5,
                 kScattered = 0.5, kFull = 0.8, kAtRoof = 0.75;
constexpr double kWarpLanes = 32;

constexpr std::array<std::string_view, kDefects> kNames{
    "divergence",   "uncoalesced",        "low-occupancy", "few-blocks", "locality",
    "imbalance",    "latency-divergence", "latency",       "dependency", "l1-bandwidth",
    "l2-bandwidth", "dram-access",        "atomics",       "misses",     "instructions",
    "branches",     "barriers",           "launch",        "mixed"};

std::string percent(double fraction) { return fmt::format("{:.0f} %", 100 * fraction); }

/// The finding that says the same as a limiter.
Defect defect_of(std::string_view limiter, const RooflinePoint& p) {
  if (limiter == "launch") return Defect::kLaunch;
  if (limiter == "network") return Defect::kL2Bandwidth;
  if (limiter == "lsu" || limiter == "pipe_lsu" || limiter == "shared") return Defect::kL1Bandwidth;
  if (limiter == "dram" || limiter == "camping") return Defect::kDramAccess;
  if (limiter == "atomics") return Defect::kAtomics;
  if (limiter == "buffers" || limiter == "constants") return Defect::kMisses;
  if (limiter == "branch") return Defect::kBranches;
  if (limiter == "imbalance") return p.even_balance < kBalance ? Defect::kFewBlocks : Defect::kImbalance;
  if (limiter == "barriers") return Defect::kBarriers;
  if (limiter == "dependency" || limiter == "shared_latency") return Defect::kDependency;
  if (limiter == "translation") return Defect::kLatency;
  if (limiter == "latency")
    return p.awaited.scattered > kScattered * p.awaited.slots ? Defect::kLatencyDivergence : Defect::kLatency;
  return Defect::kInstructions;  // issue slots, or a pipe
}

/// Whether what holds a kernel back is what another finding leads to.
bool follows(Defect limiter, Defect from) {
  const auto is_one_of = [limiter](std::initializer_list<Defect> all) {
    return std::ranges::find(all, limiter) != all.end();
  };
  switch (from) {
    case Defect::kDivergence:  // more operations, and longer chains of them
      return is_one_of({Defect::kInstructions, Defect::kBranches, Defect::kDependency});
    case Defect::kUncoalesced:  // more traffic, and more lines for an access
      return is_one_of({Defect::kL1Bandwidth, Defect::kL2Bandwidth, Defect::kDramAccess, Defect::kMisses,
                        Defect::kLatency, Defect::kLatencyDivergence});
    case Defect::kLowOccupancy:  // latencies that no other warp hides
      return is_one_of(
          {Defect::kLatency, Defect::kLatencyDivergence, Defect::kDependency, Defect::kBranches});
    case Defect::kFewBlocks:  // SMs without warps, or with few
    case Defect::kImbalance:
      return is_one_of({Defect::kLatency, Defect::kLatencyDivergence, Defect::kDependency, Defect::kBranches,
                        Defect::kFewBlocks, Defect::kImbalance,
                        // of the SM that has most to do
                        Defect::kInstructions, Defect::kL1Bandwidth});
    default:
      return limiter == from;
  }
}

/// "41 % memory_l2, 22 % issued, ...": the largest causes of the issue slots.
std::string slots_text(const RooflinePoint& p) {
  constexpr size_t kShown = 4;
  std::string out;
  for (size_t i = 0; i < std::min(kShown, p.causes.size()); ++i)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", percent(p.causes[i].second), p.causes[i].first);
  return out.empty() ? "the recording has no issue slots" : "issue slots: " + out;
}

std::string bandwidth_text(const char* level, double bytes, double seconds, double ceiling,
                           const std::string& words) {
  if (ceiling <= 0 || seconds <= 0) return words;
  return fmt::format("{} moves {:.4g} GB/s, {} of what was measured{}", level, bytes / seconds * 1e-9,
                     percent(bytes / seconds / ceiling), words.empty() ? "" : "; " + words);
}

std::string evidence_of(Defect defect, const RooflinePoint& p, const Ceiling& c, const Saving* limiter) {
  const auto words = [limiter] { return limiter == nullptr ? std::string() : limiter->words; };
  switch (defect) {
    case Defect::kImbalance:
      return fmt::format(
          "an SM is busy for {} of the longest one's time, where blocks that take the same time would give "
          "{} at least ({:.0f} blocks): blocks, or what they wait for, take different times",
          percent(p.balance), percent(p.even_balance), p.blocks);
    case Defect::kFewBlocks:
      return fmt::format(
          "{:.0f} blocks for {} SMs: {} get none, and an SM is busy for {} of the longest one's time",
          p.blocks, p.sms, p.idle_sms, percent(p.balance));
    case Defect::kLatencyDivergence: {
      const Awaited& a = p.awaited;
      return fmt::format(
          "{} of the waits for data are for accesses whose lanes' data lies in several times the lines that "
          "it "
          "fills ({:.1f} lines an access at {}), so that a warp waits for the slowest of them: {} from the "
          "L1, "
          "{} from L2, {} from DRAM; {}",
          percent(a.scattered / a.slots), a.worst_lines, a.place, percent(a.l1 / a.scattered),
          percent(a.l2 / a.scattered), percent(a.dram / a.scattered), words());
    }
    case Defect::kL1Bandwidth:
      return bandwidth_text("the L1", p.l1_bytes, p.seconds, c.l1, words());
    case Defect::kL2Bandwidth:
      return bandwidth_text("L2", p.l2_bytes, p.seconds, c.l2, words());
    case Defect::kDramAccess:
      return bandwidth_text("DRAM", p.dram_bytes, p.seconds, c.bandwidth, words());
    case Defect::kInstructions:
      return fmt::format("{:.2g} FLOP for an operation of a warp; {}",
                         p.operations > 0 ? p.flops / p.operations : 0, words());
    case Defect::kBarriers:
      return fmt::format(
          "{} of the issue slots went to warps that wait at a barrier for others of their block",
          percent(p.cause("barrier")));
    case Defect::kMixed:
      return "no unit is full, and no latency, twice as short, would save much; " + slots_text(p);
    default:
      return words();
  }
}

/// What holds the kernel at a point that is far below its roof, if no finding says it yet.
std::optional<Finding> at_end(const RooflinePoint& p, const Ceiling& c, const std::vector<Finding>& before) {
  const double reached = p.of_roof(c);
  if (reached >= kFarBelow) return std::nullopt;
  const Saving* limiter =
      p.savings.empty() || p.savings.front().seconds < kLimits * p.seconds ? nullptr : &p.savings.front();
  Defect defect = limiter == nullptr ? Defect::kMixed : defect_of(limiter->name, p);
  // What was measured is what there is, whatever the units behind it are.
  const auto full = [&p](double bytes, double most) { return most > 0 && bytes >= kFull * most * p.seconds; };
  const Defect level = full(p.l1_bytes, c.l1)   ? Defect::kL1Bandwidth
                       : full(p.l2_bytes, c.l2) ? Defect::kL2Bandwidth
                                                : defect;
  if (level != defect) defect = level, limiter = nullptr;
  for (const Finding& f : before)
    if (follows(defect, f.defect) || (defect == Defect::kMixed && f.defect != Defect::kLocality))
      return std::nullopt;
  return Finding{defect, fmt::format("at {} of the roof with {} SMs: {}", percent(reached), p.sms,
                                     evidence_of(defect, p, c, limiter))};
}

std::string start_text(const RooflinePoint& a, const Ceiling& low) {
  return a.flops > 0 ? fmt::format("starts at {} of the roof of {} SMs; ", percent(a.of_roof(low)), low.sms)
                     : std::string();
}

/// Of warps, lanes and accesses: they hold at every number of SMs.
std::vector<Finding> of_warps(const RooflinePoint& a, const Ceiling& low) {
  std::vector<Finding> findings;
  // Short branches became predicates: all warps execute both of their ways.
  const bool predicated = a.divergent <= 0;
  if (predicated && a.used_lanes < kWarpEfficiency)
    findings.push_back(
        {Defect::kDivergence,
         fmt::format("{}{:.1f} of 32 lanes have work in an operation on average, though no branch "
                     "parts a warp: their branches are predicates, or lanes have left early; most "
                     "lanes are lost at {}",
                     start_text(a, low), kWarpLanes * a.used_lanes, a.worst_divergence)});
  if (!predicated && a.warp_efficiency < kWarpEfficiency)
    findings.push_back(
        {Defect::kDivergence,
         fmt::format("{}{:.1f} of 32 lanes active on average, {:.0f} branches part a warp; most lanes "
                     "are lost at {}",
                     start_text(a, low), kWarpLanes * a.warp_efficiency, a.divergent, a.worst_divergence)});
  // What is at the rate of its arithmetic waits for no bytes.
  const bool computes =
      a.flops > 0 && low.arithmetic(a.mix) <= a.intensity() * low.bandwidth && a.of_roof(low) >= kAtRoof;
  if (a.coalescing < kCoalescing && !computes)
    findings.push_back({Defect::kUncoalesced,
                        fmt::format("{}{} of the bytes moved for accesses were asked for; most is lost at {}",
                                    start_text(a, low), percent(a.coalescing), a.worst_access)});
  const auto held = static_cast<double>(a.sms * a.blocks_per_sm);
  if (a.occupancy < kLowResidency && a.idle_sms == 0 && a.flops > 0 && a.of_roof(low) < kFarBelow)
    findings.push_back(
        {Defect::kLowOccupancy,
         fmt::format(
             "{}{} of the warps that an SM holds are resident already with {} SMs ({})", start_text(a, low),
             percent(a.occupancy), a.sms,
             a.blocks < held
                 ? fmt::format("the grid is too small: it has {:.0f} blocks, and {:.0f} fit", a.blocks, held)
                 : fmt::format("blocks per SM limited by {}", a.limiter))});
  return findings;
}

/// What is lost between the two ends.
std::vector<Finding> of_scaling(const RooflinePoint& a, const RooflinePoint& b, const Ceiling& high) {
  std::vector<Finding> findings;
  const bool uneven = b.balance < kBalance * a.balance, few = b.even_balance < kBalance * a.balance;
  if (uneven && few)
    findings.push_back({Defect::kFewBlocks,
                        fmt::format("{} ({} with {} SMs)", evidence_of(Defect::kFewBlocks, b, high, nullptr),
                                    percent(a.balance), a.sms)});
  if (uneven && (!few || b.balance < kUnevenWork * b.even_balance))
    findings.push_back({Defect::kImbalance, fmt::format("with {} SMs {} ({} with {} SMs)", b.sms,
                                                        evidence_of(Defect::kImbalance, b, high, nullptr),
                                                        percent(a.balance), a.sms)});
  if (!uneven && b.occupancy < kOccupancyLoss * a.occupancy &&
      b.blocks < static_cast<double>(b.sms * b.blocks_per_sm))
    findings.push_back(
        {Defect::kFewBlocks,
         fmt::format("{:.0f} blocks for {} SMs: {} of the warps that an SM holds are resident ({} "
                     "with {} SMs)",
                     b.blocks, b.sms, percent(b.occupancy), percent(a.occupancy), a.sms)});
  // Where there is little traffic at all, more of it lowers no roof.
  const double now = high.roof(b.mix, b.intensity()), first = high.roof(a.mix, a.intensity());
  if (b.dram_bytes > a.dram_bytes && b.intensity() < kIntensityLoss * a.intensity() &&
      now < kIntensityLoss * first)
    findings.push_back(
        {Defect::kLocality,
         fmt::format(
             "from {} to {} SMs, DRAM traffic grows from {:.3g} to {:.3g} MB and L2 read hits fall from {} "
             "to {}; the roof falls to {} of what the first intensity would allow",
             a.sms, b.sms, a.dram_bytes * 1e-6, b.dram_bytes * 1e-6, percent(a.l2_hits), percent(b.l2_hits),
             percent(now / first))});
  return findings;
}

}  // namespace

std::string_view defect_name(Defect defect) { return kNames[static_cast<size_t>(defect)]; }

std::vector<Finding> diagnose(const Trajectory& trajectory, const Ceiling& low, const Ceiling& high) {
  const RooflinePoint &a = trajectory.points.front(), &b = trajectory.points.back();
  const std::vector<Finding> warps = of_warps(a, low);
  std::vector<Finding> findings = warps, scaling;
  if (b.sms > a.sms) scaling = of_scaling(a, b, high);
  findings.insert(findings.end(), scaling.begin(), scaling.end());
  if (const auto first = at_end(a, low, warps)) findings.push_back(*first);
  if (b.sms == a.sms) return findings;
  std::vector<Finding> known = warps;
  known.insert(known.end(), scaling.begin(), scaling.end());
  if (auto last = at_end(b, high, known)) {
    const auto same = std::ranges::find(findings, last->defect, &Finding::defect);
    if (same == findings.end())
      findings.push_back(std::move(*last));
    else
      same->evidence += "; " + last->evidence;
  }
  return findings;
}

}  // namespace gpusim::analysis
