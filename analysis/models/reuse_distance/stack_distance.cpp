#include "analysis/models/reuse_distance/stack_distance.h"

#include <algorithm>
#include <utility>

namespace gpusim::analysis {

uint32_t LineTable::number_of(uint64_t line, bool& is_new) {
  if (lines_.size() * 2 >= slots_.size()) grow();
  const size_t mask = slots_.size() - 1;
  size_t s = (line * 0x9e3779b97f4a7c15ull >> 20) & mask;
  while (slots_[s] != 0 && lines_[slots_[s] - 1] != line) s = (s + 1) & mask;
  is_new = slots_[s] == 0;
  if (is_new) {
    lines_.push_back(line);
    slots_[s] = static_cast<uint32_t>(lines_.size());
  }
  return slots_[s] - 1;
}

void LineTable::grow() {
  constexpr size_t kLeast = 1024;
  slots_.assign(std::max(kLeast, slots_.size() * 2), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < lines_.size(); ++i) {
    size_t s = (lines_[i] * 0x9e3779b97f4a7c15ull >> 20) & mask;
    while (slots_[s] != 0) s = (s + 1) & mask;
    slots_[s] = static_cast<uint32_t>(i + 1);
  }
}

StackDistance::StackDistance(std::vector<uint64_t> limits) : limits_(std::move(limits)) {}

uint32_t StackDistance::use_another(uint32_t number) {
  if (number >= lines_.size()) lines_.resize(std::max(size_t{number} + 1, 2 * lines_.size()));
  Line& line = lines_[number];
  const uint32_t group = line.group;
  // The last line of each full group in front moves on; what is then the last was before it.
  const auto end = std::min(group, static_cast<uint32_t>(last_.size()));
  for (uint32_t g = 0; g < end; ++g) {
    Line& moves = lines_[last_[g]];
    moves.group = g + 1;
    last_[g] = moves.before == kNone ? number : moves.before;
  }
  if (group < last_.size() && last_[group] == number) last_[group] = line.before;
  if (group != kFirst) {
    lines_[line.before].behind = line.behind;
    (line.behind != kNone ? lines_[line.behind].before : tail_) = line.before;
  } else {
    ++count_;
    if (tail_ == kNone) tail_ = number;
  }
  if (head_ != kNone) lines_[head_].before = number;
  line = {kNone, head_, 0};
  head_ = number;
  if (last_.size() < limits_.size() && count_ == limits_[last_.size()]) last_.push_back(tail_);
  return group;
}

}  // namespace gpusim::analysis
