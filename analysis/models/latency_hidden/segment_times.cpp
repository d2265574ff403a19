// What a segment, once found, says of its times.
#include <algorithm>

#include "analysis/models/latency_hidden/segments.h"

namespace gpusim::analysis::latency_hidden {

const char* wait_name(Wait wait) {
  switch (wait) {
    case Wait::kData:
      return "data";
    case Wait::kBarrier:
      return "barrier";
    case Wait::kStore:
      return "store";
    case Wait::kJoin:
      return "join";
    case Wait::kEnd:
      return "end";
  }
  return "";
}

void Turns::add(size_t unit, double busy) {
  if (unit != unit_) {
    unit_ = unit;
    before_ = last_;
    run_ = 0;
  }
  // What fits beside the last operation of the run before.
  time_ += std::max(0.0, run_ + busy - before_) - std::max(0.0, run_ - before_);
  run_ += busy;
  last_ = busy;
}

double Segment::compute() const {
  double most = issue;
  for (const double b : busy) most = std::max(most, b);
  return most;
}

void Segment::shorten(double to_chain, double to_wait) {
  const double chains = chain > 0 ? to_chain / chain : 1;
  const double waits = wait > 0 ? to_wait / wait : 1;
  loop_chain *= chains;
  step_chain *= chains;
  loop_wait *= waits;
  step_wait *= waits;
  chain = to_chain;
  wait = to_wait;
}

double Segment::latency() const { return wait + std::max(0.0, chain - compute()); }

double Segment::latency_in_step(double warps) const {
  return step_wait + std::max(0.0, step_chain - warps * in_turn);
}

double count_of(const std::vector<Segment>& segments) {
  double n = 0;
  for (const Segment& s : segments) n += s.weight;
  return n;
}

}  // namespace gpusim::analysis::latency_hidden
