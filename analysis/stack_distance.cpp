#include "analysis/stack_distance.h"

#include <algorithm>

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

uint64_t StackDistance::use(uint32_t line) {
  if (line >= last_.size()) last_.resize(size_t{line} + 1, 0);
  const uint64_t before = last_[line];
  // The line that was used last stays on top.
  if (before != 0 && before == now_) return 0;
  if (now_ + 1 >= tree_.size()) renumber();
  const uint64_t then = last_[line];
  uint64_t distance = kFirst;
  if (then != 0) {
    distance = lines_ - lines_until(then);
    add(then, -1);
  } else {
    ++lines_;
  }
  last_[line] = ++now_;
  owner_[now_] = line;
  add(now_, 1);
  return distance;
}

void StackDistance::renumber() {
  constexpr uint64_t kLeast = 1024;
  uint64_t kept = 0;
  for (uint64_t t = 1; t <= now_; ++t) {
    const uint32_t line = owner_[t];
    if (last_[line] != t) continue;
    owner_[++kept] = line;
    last_[line] = kept;
  }
  now_ = kept;
  const uint64_t size = std::max(kLeast, 4 * lines_);
  owner_.resize(size, 0);
  tree_.assign(size, 0);
  // A tree of ones up to `now_`.
  for (uint64_t t = 1; t < size; ++t) {
    if (t <= now_) ++tree_[t];
    if (const uint64_t parent = t + (t & (~t + 1)); parent < size) tree_[parent] += tree_[t];
  }
}

uint64_t StackDistance::lines_until(uint64_t time) const {
  uint64_t sum = 0;
  for (; time != 0; time &= time - 1) sum += tree_[time];
  return sum;
}

void StackDistance::add(uint64_t time, int32_t change) {
  for (; time < tree_.size(); time += time & (~time + 1)) tree_[time] += static_cast<uint32_t>(change);
}

}  // namespace gpusim::analysis
