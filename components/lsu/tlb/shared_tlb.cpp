#include "components/lsu/tlb/shared_tlb.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace gpusim::comp {

SharedTlb::SharedTlb(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                     const core::MachineConfig::Tlb& config, uint32_t sms)
    : Clocked(name, domain),
      has_tags_(config.l2_entries != 0),
      tags_(uint64_t{config.page_bytes} * std::max(config.l2_entries, config.l2_ways), config.page_bytes,
            config.l2_ways),
      latency_(domain.latency_cycles(config.l2_latency_ns)),
      walk_latency_(domain.latency_cycles(config.walk_latency_ns)),
      table_latency_(domain.latency_cycles(config.table_latency_ns)),
      table_bytes_(config.table_bytes),
      walker_free_(config.walkers) {
  domain.on_change(
      [this, level = config.l2_latency_ns, walk = config.walk_latency_ns, table = config.table_latency_ns] {
        latency_ = this->domain().latency_cycles(level);
        walk_latency_ = this->domain().latency_cycles(walk);
        table_latency_ = this->domain().latency_cycles(table);
      });
  answers_.reserve(size_t{sms} * config.l1_misses);
}

core::Cycle SharedTlb::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  // 1. Pages that are translated go to their SMs, 2. one request is looked up.
  answer(now);
  const bool took = look_up(now);
  uint64_t next = answers_.empty() ? core::kNever.count() : answers_.front().at;
  if (took)
    next = now + 1;
  else
    for (const SmPort& p : sms_) next = std::min(next, p.asks->next_visible().count());
  return next == core::kNever.count() ? core::kNever : core::Cycle(std::max(next, now + 1));
}

void SharedTlb::answer(uint64_t now) {
  while (!answers_.empty() && answers_.front().at <= now) {
    const Answer a = answers_.front();
    if (a.walked && has_tags_) tags_.fill(a.page);
    // One message a cycle to each SM: the next is sent in the next one.
    if (!sms_[a.sm].pages->can_push()) return;
    sms_[a.sm].pages->push({a.page});
    std::pop_heap(answers_.begin(), answers_.end(), std::greater<>{});
    answers_.pop_back();
  }
}

bool SharedTlb::look_up(uint64_t now) {
  const auto count = static_cast<uint32_t>(sms_.size());
  for (uint32_t step = 0; step < count; ++step) {
    const uint32_t sm = (next_sm_ + step) % count;
    if (sms_[sm].asks->front() == nullptr) continue;
    const uint64_t page = sms_[sm].asks->pop().page;
    next_sm_ = (sm + 1) % count;
    const bool hit = has_tags_ && tags_.access(page);
    ++(hit ? stats_.hits : stats_.misses);
    const uint64_t at = now + latency_;
    answers_.push_back({hit ? at : walk(page, at), requests_++, page, sm, !hit});
    std::push_heap(answers_.begin(), answers_.end(), std::greater<>{});
    return true;
  }
  return false;
}

uint64_t SharedTlb::walk(uint64_t page, uint64_t from) {
  for (const Answer& a : answers_)
    if (a.page == page && a.walked) return std::max(a.at, from);
  ++stats_.walks;
  uint64_t& free = *std::min_element(walker_free_.begin(), walker_free_.end());
  free = std::max(free, from) + latency_of_walk(page);
  return free;
}

uint64_t SharedTlb::latency_of_walk(uint64_t page) {
  if (table_bytes_ == 0) return walk_latency_;
  const uint64_t line = page / table_bytes_;
  const auto place = std::lower_bound(table_lines_.begin(), table_lines_.end(), line);
  if (place != table_lines_.end() && *place == line) return table_latency_;
  table_lines_.insert(place, line);
  return walk_latency_;
}

std::string SharedTlb::waiting_for() const {
  return answers_.empty() ? std::string() : fmt::format("{} pages to be translated", answers_.size());
}

}  // namespace gpusim::comp
