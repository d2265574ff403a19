#include "components/services/device_heap.h"

namespace gpusim::comp {

void DeviceHeap::place(uint64_t base, uint64_t bytes) {
  base_ = base;
  bytes_ = bytes / kAlign * kAlign;
  reset();
}

void DeviceHeap::reset() {
  free_.clear();
  by_size_.clear();
  used_.clear();
  if (bytes_ != 0) add_free(base_, bytes_);
}

void DeviceHeap::add_free(uint64_t begin, uint64_t bytes) {
  free_.emplace(begin, bytes);
  by_size_.emplace(bytes, begin);
}

uint64_t DeviceHeap::allocate(uint64_t bytes) {
  if (bytes == 0 || bytes > bytes_) return 0;
  const uint64_t needed = kGap + (bytes + kAlign - 1) / kAlign * kAlign;
  const auto found = by_size_.lower_bound({needed, 0});
  if (found == by_size_.end()) return 0;
  const auto [room, begin] = *found;
  by_size_.erase(found);
  free_.erase(begin);
  if (room > needed) add_free(begin + needed, room - needed);
  used_.emplace(begin + kGap, Taken{bytes, needed});
  return begin + kGap;
}

bool DeviceHeap::release(uint64_t address) {
  const auto at = used_.find(address);
  if (at == used_.end()) return false;
  uint64_t begin = address - kGap, bytes = at->second.range;
  used_.erase(at);
  if (auto next = free_.lower_bound(begin); next != free_.end() && next->first == begin + bytes) {
    bytes += next->second;
    by_size_.erase({next->second, next->first});
    free_.erase(next);
  }
  if (auto next = free_.lower_bound(begin); next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      begin = before->first;
      bytes += before->second;
      by_size_.erase({before->second, before->first});
      free_.erase(before);
    }
  }
  add_free(begin, bytes);
  return true;
}

DeviceHeap::Block DeviceHeap::block_before(uint64_t address) const {
  const auto after = used_.upper_bound(address);
  if (after == used_.begin()) return {};
  const auto at = std::prev(after);
  return {at->first, at->second.asked};
}

}  // namespace gpusim::comp
