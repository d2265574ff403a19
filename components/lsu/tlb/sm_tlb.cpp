#include "components/lsu/tlb/sm_tlb.h"

#include <algorithm>
#include <array>

namespace gpusim::comp {

static_assert(std::tuple_size_v<decltype(TransactionList::items)> <= 64, "known_ has a bit for each");

SmTlb::SmTlb(const core::MachineConfig::Tlb& config, const Links& links)
    : links_(links),
      tags_(uint64_t{config.page_bytes} * config.l1_entries, config.page_bytes, config.l1_ways),
      most_misses_(config.l1_misses),
      look_ahead_(config.look_ahead) {
  pages_.reserve(64);
  to_ask_.reserve(64);
  asked_.reserve(config.l1_misses);
  links_.page->publish_head(next_page_);
}

void SmTlb::look_up(const TransactionList& list) {
  known_ = 0;
  pages_.clear();
  for (uint32_t t = 0; t < list.count; ++t) {
    const uint64_t page = page_of(list.items[t].address);
    const auto same = std::find(pages_.begin(), pages_.end(), page);
    pages_.push_back(page);
    if (same != pages_.end() - 1) {
      known_ |= (known_ >> (same - pages_.begin()) & 1) << t;
      continue;
    }
    const bool hit = tags_.access(page);
    known_ |= uint64_t{hit} << t;
    if (hit)
      ++stats_.hits;
    else if (!look_ahead_ || !is_expected(page))
      miss(page);
  }
}

void SmTlb::ask_ahead(const TransactionList& list) {
  uint64_t last = ~uint64_t{0};
  for (uint32_t t = 0; t < list.count; ++t) {
    const uint64_t page = page_of(list.items[t].address);
    if (page == last) continue;
    last = page;
    if (tags_.find(page) == TagCache::kNowhere && !is_expected(page)) miss(page);
  }
}

void SmTlb::miss(uint64_t page) {
  ++stats_.misses;
  to_ask_.insert(to_ask_.begin(), page);
}

bool SmTlb::is_expected(uint64_t page) const {
  return std::find(to_ask_.begin(), to_ask_.end(), page) != to_ask_.end() ||
         std::find(asked_.begin(), asked_.end(), page) != asked_.end();
}

bool SmTlb::look_up_ahead(const TransactionList& list) {
  if (!idle()) return false;
  std::array<uint32_t, std::tuple_size_v<decltype(TransactionList::items)>> places;
  uint32_t count = 0;
  uint64_t last = ~uint64_t{0};
  for (uint32_t t = 0; t < list.count; ++t) {
    const uint64_t page = page_of(list.items[t].address);
    if (page == last) continue;
    last = page;
    const uint32_t place = tags_.find(page);
    if (place == TagCache::kNowhere) return false;
    const auto end = places.begin() + count;
    if (std::find(places.begin(), end, place) == end) places[count++] = place;
  }
  for (uint32_t i = 0; i < count; ++i) tags_.touch(places[i]);
  stats_.hits += count;
  known_ = ~uint64_t{0};
  pages_.clear();
  return true;
}

bool SmTlb::knows(uint32_t t, uint64_t now) {
  const bool known = (known_ >> t & 1) != 0;
  if (!known && waits_since_ == kNotWaiting) waits_since_ = now;
  return known;
}

bool SmTlb::take_pages(uint64_t now) {
  while (links_.page->front() != nullptr) {
    const uint64_t page = links_.page->pop().page;
    tags_.fill(page);
    --on_the_way_;
    if (look_ahead_) std::erase(asked_, page);
    // Whoever asked uses it even if the next page takes its place at once.
    for (size_t t = 0; t < pages_.size(); ++t) known_ |= uint64_t{pages_[t] == page} << t;
  }
  if (waits_since_ != kNotWaiting) {
    stats_.wait_cycles += now - waits_since_;
    waits_since_ = kNotWaiting;
  }
  return true;
}

void SmTlb::ask() {
  if (!links_.ask->can_push()) return;
  links_.ask->push({to_ask_.back()});
  if (look_ahead_) asked_.push_back(to_ask_.back());
  to_ask_.pop_back();
  ++on_the_way_;
}

}  // namespace gpusim::comp
