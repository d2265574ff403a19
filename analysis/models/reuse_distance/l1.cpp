#include "analysis/models/reuse_distance/l1.h"

#include <bit>

namespace gpusim::analysis {

void ReuseMisses::add(const ReuseMisses& other, uint64_t times) {
  for (const auto kind : {&ReuseMisses::hits, &ReuseMisses::compulsory, &ReuseMisses::latency,
                          &ReuseMisses::written, &ReuseMisses::capacity, &ReuseMisses::associativity})
    this->*kind += times * (other.*kind);
}

void WayStacks::load(uint64_t line, bool counts) {
  std::vector<uint64_t>& stack = stacks_[index_(line)];
  auto at = std::ranges::find(stack, line);
  if (at != stack.end() && counts) ++hits_[static_cast<size_t>(at - stack.begin())];
  // What lies above moves down, as far as the line's own place or the first hole.
  const auto hole = std::find(stack.begin(), at, kHole);
  if (hole != at) {
    // Deeper caches than the hole lose the line from its old place, which is the hole now.
    if (at != stack.end()) *at = kHole;
    at = hole;
  } else if (at == stack.end()) {
    if (stack.size() < most_ways_) stack.push_back(line);
    at = stack.end() - 1;
  }
  std::move_backward(stack.begin(), at, at + 1);
  stack.front() = line;
}

void WayStacks::put_out(uint64_t line) {
  std::vector<uint64_t>& stack = stacks_[index_(line)];
  if (const auto at = std::ranges::find(stack, line); at != stack.end()) *at = kHole;
}

uint64_t WayStacks::hits(uint32_t ways) const {
  uint64_t sum = 0;
  for (uint32_t d = 0; d < ways; ++d) sum += hits_[d];
  return sum;
}

namespace {

/// Where classes of distances begin, but for the first, and the number of the cache's lines.
std::vector<uint64_t> limits_of(uint64_t capacity) {
  std::vector<uint64_t> limits{capacity};
  for (uint32_t k = 1; k <= 32; ++k) limits.push_back((uint64_t{1} << k) - 1);
  std::ranges::sort(limits);
  limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
  return limits;
}

constexpr uint32_t kFewWays = 8;  ///< that are looked through sooner than a table

}  // namespace

ReuseL1::ReuseL1(const ReuseMachine& machine)
    : machine_(machine),
      index_(machine.index, machine.with.associativity ? machine.sets : 1),
      stack_(limits_of(uint64_t{machine.sets} * machine.ways)),
      frames_(size_t{machine.sets} * machine.ways),
      of_warp_(machine.most_warps, 0),
      distances_(64, 0) {
  class_of_.push_back(0);
  for (const uint64_t limit : limits_of(frames_.size())) {
    const bool is_class = std::has_single_bit(limit + 1);
    class_of_.push_back(class_of_.back() + (is_class ? 1 : 0));
    if (limit == frames_.size()) beyond_ = static_cast<uint32_t>(class_of_.size()) - 1;
  }
  for (const uint32_t sets : machine.sets_at_once)
    stacks_.emplace_back(machine.index, sets, machine.most_ways);
  if (!machine.with.associativity) {
    machine_.ways *= machine_.sets;
    machine_.sets = 1;
  }
}

uint32_t ReuseL1::whole(uint32_t sectors) const {
  const uint32_t parts = machine_.sector / 32;
  if (parts == 1) return sectors;
  uint32_t all = 0;
  const uint32_t unit = (1u << parts) - 1;
  for (uint32_t s = 0; sectors >> s != 0; s += parts)
    if ((sectors >> s & unit) != 0) all |= unit << s;
  return all;
}

uint32_t ReuseL1::number_of(uint64_t line) {
  bool is_new = false;
  const uint32_t number = table_.number_of(line, is_new);
  if (is_new) {
    lines_.emplace_back();
    addresses_.push_back(line);
  }
  return number;
}

ReuseL1::Frame* ReuseL1::frame_of(uint64_t line, uint32_t set) {
  if (machine_.ways > kFewWays) {
    const uint32_t frame = lines_[number_of(line)].frame;
    return frame == kNone ? nullptr : &frames_[frame];
  }
  Frame* const first = &frames_[size_t{set} * machine_.ways];
  for (Frame* f = first; f != first + machine_.ways; ++f)
    if (f->address == line && f->line != kNone) return f;
  return nullptr;
}

uint32_t ReuseL1::use(uint32_t line) {
  const uint32_t group = stack_.use(line);
  if (group != StackDistance::kFirst) ++distances_[class_of_[group]];
  return group;
}

void ReuseL1::advance(double now) {
  for (; !fills_.empty() && fills_.top().at <= now; fills_.pop()) fill(fills_.top());
}

void ReuseL1::fill(const Fill& f) {
  Entry& entry = entries_[f.entry];
  Line& line = lines_[entry.line];
  if (line.frame == kNone && machine_.allocate != core::AllocateOn::kMissOrPass)
    take_frame(entry.line, addresses_[entry.line]);
  if (line.frame != kNone) {
    Frame& frame = frames_[line.frame];
    frame.pending &= ~f.sectors;
    frame.valid |= f.sectors & ~entry.spoiled;
    if (frame.valid == 0 && frame.pending == 0) {
      frame = Frame();
      line.frame = kNone;
    }
  }
  entry.asked &= ~f.sectors;
  entry.spoiled &= ~f.sectors;
  if (entry.asked != 0) {
    // Who waits for none of the others has left.
    for (uint32_t& waits_for : entry.waiters) waits_for &= ~f.sectors;
    std::erase(entry.waiters, 0u);
    return;
  }
  line.entry = kNone;
  if (entry.warp < of_warp_.size()) --of_warp_[entry.warp];
  --in_flight_;
  free_entries_.push_back(f.entry);
}

uint32_t ReuseL1::take_frame(uint32_t line, uint64_t address) {
  const uint32_t first = index_(address) * machine_.ways;
  uint32_t chosen = kNone;
  for (uint32_t f = first; f < first + machine_.ways; ++f) {
    if (frames_[f].line == kNone) {
      chosen = f;
      break;
    }
    if (frames_[f].pending == 0 && (chosen == kNone || frames_[f].used < frames_[chosen].used)) chosen = f;
  }
  if (chosen == kNone) return kNone;
  Frame& frame = frames_[chosen];
  if (frame.line != kNone) lines_[frame.line].frame = kNone;
  if (machine_.writes_back && frame.dirty != 0) writebacks_.push_back({frame.address, frame.dirty});
  frame = Frame();
  frame.address = address;
  frame.line = line;
  frame.used = ++clock_;
  lines_[line].frame = chosen;
  return chosen;
}

uint64_t ReuseMisses::*ReuseL1::kind_of(const Line& line, uint32_t missing, uint32_t group) const {
  if (line.entry != kNone && (missing & entries_[line.entry].asked) != 0) return &ReuseMisses::latency;
  if ((missing & ~line.seen) != 0) return &ReuseMisses::compulsory;
  if ((missing & line.put_out) != 0) return &ReuseMisses::written;
  return group >= beyond_ ? &ReuseMisses::capacity : &ReuseMisses::associativity;
}

double ReuseL1::load(const Access& a, double now, bool can_ask, const Fetch& fetch) {
  advance(now);
  for (WayStacks& s : stacks_) s.load(a.line, !a.local);
  const uint32_t wanted = whole(a.sectors);
  Frame* const frame = frame_of(a.line, index_(a.line));
  if (frame == nullptr) return miss(a, wanted, now, can_ask, fetch);
  const uint32_t missing = wanted & ~frame->valid;
  if (missing != 0) return miss(a, missing, now, can_ask, fetch);
  frame->used = ++clock_;
  count(&ReuseMisses::hits, a.local);
  use(frame->line);
  return now + machine_.hit_cycles;
}

double ReuseL1::miss(const Access& a, uint32_t missing, double now, bool can_ask, const Fetch& fetch) {
  const uint32_t number = number_of(a.line);
  Line& line = lines_[number];
  const bool merges = line.entry != kNone;
  const bool of_warp = machine_.warp_mshrs != 0 && a.warp < of_warp_.size();
  const bool refused =
      merges ? entries_[line.entry].waiters.size() >= machine_.merges
             : in_flight_ >= machine_.mshrs || (of_warp && of_warp_[a.warp] >= machine_.warp_mshrs);
  if (refused && machine_.with.mshrs) {
    limited_ = true;
    return kRefused;
  }
  const uint32_t request = merges ? missing & ~entries_[line.entry].asked : missing;
  if (request != 0 && !can_ask && machine_.with.latency) return kNoRoom;
  const bool takes_frame = line.frame == kNone && machine_.allocate != core::AllocateOn::kFill;
  if (takes_frame && take_frame(number, a.line) == kNone && machine_.allocate == core::AllocateOn::kMiss)
    return kRefused;
  count(kind_of(line, missing, use(number)), a.local);
  line.seen |= missing;
  line.put_out &= ~missing;
  if (line.frame != kNone) frames_[line.frame].used = ++clock_;
  if (!machine_.with.latency) {
    if (line.frame == kNone) take_frame(number, a.line);
    frames_[line.frame].valid |= missing;
    return now + machine_.hit_cycles;
  }
  const double there = request == 0 ? 0 : fetch(a.line, request);
  if (!merges) {
    if (free_entries_.empty()) {
      free_entries_.push_back(static_cast<uint32_t>(entries_.size()));
      entries_.emplace_back();
    }
    line.entry = free_entries_.back();
    free_entries_.pop_back();
    Entry& taken = entries_[line.entry];
    taken.line = number, taken.warp = a.warp;
    taken.asked = taken.spoiled = 0;
    taken.parts.clear();
    taken.waiters.clear();
    ++in_flight_;
    if (a.warp < of_warp_.size()) ++of_warp_[a.warp];
  }
  Entry& entry = entries_[line.entry];
  entry.waiters.push_back(missing);
  if (request != 0) {
    entry.asked |= request;
    entry.parts.push_back({request, there});
    if (line.frame != kNone) frames_[line.frame].pending |= request;
    fills_.push({there, ++orders_, line.entry, request});
  }
  double all_there = 0;
  for (const Part& part : entry.parts)
    if ((part.sectors & missing) != 0) all_there = std::max(all_there, part.there);
  return all_there;
}

bool ReuseL1::store(const Access& a, double now, bool atomic) {
  advance(now);
  using Write = ReuseMachine::Write;
  const uint32_t number = number_of(a.line), sectors = whole(a.sectors);
  Line& line = lines_[number];
  const Write policy = atomic ? Write::kEvict : a.local ? machine_.write_local : machine_.write_global;
  if (policy == Write::kThrough) return true;
  for (WayStacks& s : stacks_) policy == Write::kEvict ? s.put_out(a.line) : s.load(a.line, false);
  if (policy == Write::kEvict) {
    if (line.entry != kNone) {
      entries_[line.entry].spoiled |= sectors & entries_[line.entry].asked;
      line.put_out |= sectors & entries_[line.entry].asked;
    }
    if (line.frame == kNone) return true;
    Frame& frame = frames_[line.frame];
    line.put_out |= frame.valid & sectors;
    frame.valid &= ~sectors;
    if (frame.valid == 0 && frame.pending == 0) {
      frame = Frame();
      line.frame = kNone;
    }
    return true;
  }
  if (line.frame == kNone && take_frame(number, a.line) == kNone) return true;
  Frame& frame = frames_[line.frame];
  frame.used = ++clock_;
  frame.valid |= sectors;
  if (policy == Write::kBack) frame.dirty |= sectors;
  line.seen |= sectors;
  stack_.use(number);
  return policy == Write::kBoth;
}

}  // namespace gpusim::analysis
