#include "analysis/models/latency_hidden/extended.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace gpusim::analysis::latency_hidden {
namespace {

double most_of(const std::vector<double>& busy, double issue) {
  double most = issue;
  for (const double b : busy) most = std::max(most, b);
  return most;
}

/// Sums over segments: a barrier interval of a block, or a stage.
struct Sums {
  double alone = 0;  ///< one warp
  double crowd = 0;  ///< what the block's warps, which begin together, take longer: once for each segment
  double weight = 1;
  std::vector<double> busy;
  double issue = 0;
  std::set<uint32_t> seen;  ///< segments, by their first operation

  /// `together`: a barrier lets all warps begin at the same moment. At first they use each unit in turn,
  /// later several units at a time: the mean of both.
  void add(const Segment& s, double warps, const Longer& longer, bool together) {
    alone += s.passes * time_of(s, longer);
    if (seen.insert(s.first).second) {
      const double each = s.compute();
      const double apart = near_limits(s.chain, warps * each, each) - s.chain;
      const double in_step = s.step_chain + s.step_wait - s.chain - s.wait;
      crowd += together ? (apart + std::max(apart, in_step)) / 2 : apart;
    }
    busy.resize(s.busy.size());
    for (size_t u = 0; u < s.busy.size(); ++u) busy[u] += s.weight * s.busy[u];
    issue += s.weight * s.issue;
  }
};

/// Of a segment's bytes, those that a warp waits for: what it reads, and at its end what it writes.
double awaited_memory(const Segment& s, const Parameters& p) {
  const double bytes = s.read + s.written;
  const double all = std::max(memory_time(s, p), way_time(s, p));
  return bytes <= 0 || s.end == Wait::kEnd ? all : all * s.read / bytes;
}

void add_step(const Segment& s, const Parameters& p, double warps, Stage& stage) {
  const double once = std::min(1.0, s.weight);
  const double pass = std::min(1.0, s.passes);
  Stage::Step step{pass * s.chain,  once * s.in_turn,
                   once * s.sooner, s.chain > 0 ? std::min(1.0, s.asks / s.chain) : 1,
                   pass * s.wait,   warps * once * awaited_memory(s, p)};
  stage.first_path += near_limits(step.chain, warps * step.in_turn, step.in_turn) + step.wait;
  stage.first_compute += warps * once * s.compute();
  stage.first_memory += step.memory;
  stage.steps.push_back(step);
}

/// Warps that have begun together. Memory answers one after the other: from then on they follow each other at
/// a distance, and work while others wait.
struct Together {
  double time = 0;   ///< of the last warp
  double apart = 0;  ///< from the first to the last

  /// What all of them do takes `all` if they come at the same moment, and one alone `alone`.
  void work(double alone, double all) { time += std::max(alone, all - apart); }
  void step(const Stage::Step& s, double warps, double resident) {
    const double all = near_limits(s.chain, warps * s.in_turn, s.in_turn);
    work(s.chain, all);
    const double answers = resident * s.memory;
    // Memory answers from when the first warps ask, while others still work.
    const double turn = s.in_turn - s.sooner;
    const double first = near_limits(s.chain, warps * turn, turn);
    const double meanwhile = all - s.chain - s.asks * (first - s.chain);
    time += s.wait + std::max(0.0, answers - apart - meanwhile);
    apart = std::max(apart, answers);
  }
};

/// `longer`: path of a block's longest warp, for one of the path as the segments have it.
Stage stage_of(const std::vector<const Segment*>& segments, const Workload& w, const Parameters& p,
               const Longer& longer) {
  const double warps = w.shape.warps_per_block;
  Stage stage;
  stage.warps = warps;
  Sums all;
  std::vector<Sums> phases(1);
  std::set<uint32_t> seen;
  bool together = false;
  for (const Segment* s : segments) {
    const double asked = warps * s->weight * std::max(memory_time(*s, p), way_time(*s, p));
    const double alone = s->chain + s->wait;
    const double waited = alone > 0 ? std::max(1 / std::max(1.0, s->passes), time_of(*s, longer) / alone) : 0;
    // As the path, of warps that a barrier lets go: the mean of warps apart and in step.
    const double latency =
        together ? std::max(s->latency(), (s->latency() + s->latency_in_step(warps)) / 2) : s->latency();
    stage.latencies.push_back({waited * s->passes * latency, asked, s->pages});
    stage.pages += s->pages;
    stage.waits += stage.latencies.back().waits;
    stage.memory += asked;
    all.add(*s, warps, longer, false);
    phases.back().add(*s, warps, longer, together);
    together = s->end == Wait::kBarrier;
    phases.back().weight = s->weight;
    if (s->end == Wait::kBarrier && warps > 1) phases.emplace_back();
    const double busy = warps * s->compute();
    const double more =
        near_limits(s->chain, 2 * busy, s->compute()) - near_limits(s->chain, busy, s->compute());
    const bool first = seen.insert(s->first).second;
    if (first) {
      stage.crowd += more;
      add_step(*s, p, warps, stage);
    }
    if (first || s->end == Wait::kBarrier) stage.pair += s->weight * more;
  }
  for (const Sums& phase : phases)
    stage.path +=
        std::max(phase.alone + phase.weight * phase.crowd, warps * most_of(phase.busy, phase.issue));
  stage.compute = warps * most_of(all.busy, all.issue);
  return stage;
}

/// Blocks that begin as others end are in different stages: what one needs hides what others wait for. What
/// gives them out serves the whole machine, one block after the other, as memory does.
double later_round(const std::vector<Stage>& stages, double blocks, double resident) {
  double path = 0, compute = 0, memory = 0, given_out = 0;
  for (const Stage& s : stages) {
    path += s.start + s.path;
    compute += s.compute;
    memory += s.memory;
    given_out += s.apart;
  }
  const double served = near_limits(near_limits(path, blocks * compute, compute), resident * memory, memory);
  return near_limits(served, resident * given_out, given_out);
}

/// Blocks that begin together go through the stages together, and through each stage's first segments in
/// step.
double first_round(const std::vector<Stage>& stages, double blocks, double resident) {
  double spread = 0;
  Together in_step;
  if (!stages.empty()) in_step.time = in_step.apart = (resident - 1) * stages.front().apart;
  for (const Stage& s : stages) {
    const double apart = near_limits(s.path, blocks * s.compute, s.compute);
    // Two blocks that begin together stay in step; more of them soon drift apart.
    const double pair = blocks > 1 ? s.pair - s.crowd : 0;
    spread +=
        near_limits(std::max(apart, s.path + (blocks - 1) * s.crowd + pair), resident * s.memory, s.memory);
    for (const Stage::Step& step : s.steps) in_step.step(step, blocks * s.warps, resident);
    const double path = std::max(0.0, s.path - s.first_path);
    const double compute = std::max(0.0, s.compute - s.first_compute);
    const double memory = std::max(0.0, s.memory - s.first_memory);
    const double work = std::max(near_limits(path, blocks * compute, compute), path + pair);
    in_step.work(path, near_limits(work, resident * memory, memory));
    // Accesses wait for new pages at the head of the SM's queue, and all others behind them.
    spread += s.pages;
    in_step.time += s.pages;
  }
  return std::max(spread, in_step.time);
}

}  // namespace

double near_limits(double first, double second, double own) {
  // Chosen on the kernels that docs/studies/latency_hidden_accuracy.md marks as fitted.
  constexpr double kSharpness = 4;
  const double most = std::max(first, second);
  if (most <= 0) return 0;
  const auto power = [&](double limit) { return std::pow(limit / most, kSharpness); };
  return most * std::pow(std::max(1.0, power(first) + power(second) - power(own)), 1 / kSharpness);
}

double turns_of(double read, double written) {
  return read + written > 0 ? 2 * std::min(read, written) / (read + written) : 0;
}

double memory_time(const Segment& s, const Parameters& p) {
  // The data sheet has reads alone, one write to two reads, and half and half.
  constexpr double kTriad = 2.0 / 3;
  const double rate = p.turns < kTriad
                          ? std::lerp(p.read_bytes, p.triad_bytes, p.turns / kTriad)
                          : std::lerp(p.triad_bytes, p.copy_bytes, (p.turns - kTriad) / (1 - kTriad));
  const double memory = p.rows * (s.read + s.written) / rate;
  return std::max(std::max(p.uneven_bytes, p.uneven_channels) * memory,
                  p.l2_bytes > 0 ? p.uneven_bytes * s.second / p.l2_bytes : 0);
}

double busy_with_heads(double heads) { return 1 + heads - std::sqrt(1 + heads * heads); }

double way_time(const Segment& s, const Parameters& p) {
  const double requests = s.behind[kRequestPort], replies = s.behind[kReplyPort];
  const double flits = std::max(requests, replies), lines = s.behind[kLines] / p.used_sms;
  if (p.partitions <= 0) return std::max(flits / p.ports, lines);
  const double atomics = p.uneven_atomics * s.behind[kAtomics] / p.partitions;
  const double ports = std::max(flits / p.ports, p.uneven * flits / p.partitions);
  // Packets go to the ports in a rotation in which none waits for another, or at random, so that heads of
  // queues wait for each other. Nothing tells, and the mean of both is taken.
  const double asked = requests / (p.partitions * busy_with_heads(p.ports * p.request_queues / p.partitions));
  const double answered = replies / (p.ports * busy_with_heads(p.partitions * p.reply_queues / p.ports));
  const double at_random = std::max({ports, asked, answered});
  return std::max({(ports + at_random) / 2, atomics, lines});
}

Longer longer_of(const std::vector<Segment>& segments, double operations) {
  double once = 0, loops = 0;
  for (const Segment& s : segments) {
    once += s.passes * (s.walked - s.loop_walked);
    loops += s.passes * s.loop_walked;
  }
  if (loops > 0 && operations >= once) return {1, (operations - once) / loops};
  const double all = once + loops;
  return all > 0 ? Longer{operations / all, operations / all} : Longer{};
}

double time_of(const Segment& s, const Longer& longer) {
  const double loops = s.loop_chain + s.loop_wait;
  return longer.once * (s.chain + s.wait - loops) + longer.loops * loops;
}

double path_of(const std::vector<Segment>& segments, double operations) {
  const Longer longer = longer_of(segments, operations);
  double path = 0;
  for (const Segment& s : segments) path += s.passes * time_of(s, longer);
  return path;
}

std::vector<Stage> stages_of(const Workload& w, const Parameters& p) {
  std::vector<std::vector<const Segment*>> split;
  for (const Segment& s : w.segments) {
    if (split.empty() || split.back().back()->stage != s.stage) split.emplace_back();
    split.back().push_back(&s);
  }
  std::vector<Stage> stages;
  // Warps that are not alike: a block waits for its longest, of which the number of operations is known. The
  // path has what any of its warps is likely to execute, and goes round loops as often as the mean.
  double executed = 0;
  for (const Segment& s : w.segments) executed += s.weight * s.operations;
  Longer longer = longer_of(w.segments, w.longest * executed);
  // With barriers, what warps do in turn follows one after the other, though none does all of it.
  if (w.shape.warps_per_block > 1 &&
      std::ranges::find(w.segments, Wait::kBarrier, &Segment::end) != w.segments.end())
    longer = {std::max(longer.once, 1.0), std::max(longer.loops, 1.0)};
  stages.reserve(split.size());
  for (const auto& segments : split) stages.push_back(stage_of(segments, w, p, longer));
  if (!stages.empty()) {
    stages.front().start = p.block_start;
    stages.front().apart = p.block_interval;
  }
  return stages;
}

double round_time(const std::vector<Stage>& stages, double blocks, double resident, bool together) {
  return together ? first_round(stages, blocks, resident) : later_round(stages, blocks, resident);
}

}  // namespace gpusim::analysis::latency_hidden
