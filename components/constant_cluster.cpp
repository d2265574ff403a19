#include "components/constant_cluster.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpusim::comp {

ConstantCluster::ConstantCluster(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                                 const core::MachineConfig& machine, uint16_t port)
    : Clocked(name, domain),
      port_(port),
      latency_(domain.cycles_of_ns(machine.constant.l2_latency_ns)),
      mshrs_per_sm_(static_cast<uint32_t>(machine.constant.mshrs)),
      l2_(static_cast<uint64_t>(machine.constant.l2_bytes), static_cast<uint32_t>(machine.constant.l2_line),
          static_cast<uint32_t>(machine.constant.l2_ways)) {
  // Every SM has at most `mshrs` lines outstanding, so a table of that size per SM never overflows.
  misses_table_.resize(size_t{mshrs_per_sm_} * static_cast<size_t>(machine.gpu.sms_per_cluster));
}

core::Cycle ConstantCluster::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  // 1. Lines that came back: answer everyone who waits for them.
  while (const MemoryReply* reply = from_network_->front()) {
    const MemoryReply r = *reply;
    from_network_->pop();
    l2_.fill(r.address);
    Miss& miss = misses_table_[r.tag];
    for (const Waiter& w : miss.waiting) answers_.emplace_back(w, r.level);
    miss.waiting.clear();
    miss.line = kNone;
  }
  while (answer_one()) {
  }
  // 2. One request a cycle, SMs in turn.
  bool took = false;
  bool blocked = false;
  const auto count = static_cast<uint32_t>(sms_.size());
  for (uint32_t step = 0; step < count && !took; ++step) {
    const uint32_t sm = (next_sm_ + step) % count;
    if (sms_[sm].requests->front() == nullptr) continue;
    took = take_request(sm);
    blocked |= !took;
    if (took) next_sm_ = (sm + 1) % count;
  }
  uint64_t next = from_network_->next_visible().count();
  if (took || !blocked)
    for (const SmPort& p : sms_) next = std::min(next, p.requests->next_visible().count());
  return next == core::kNever.count() ? core::kNever : core::Cycle(std::max(next, now + 1));
}

bool ConstantCluster::answer_one() {
  for (auto it = answers_.begin(); it != answers_.end(); ++it) {
    core::Link<MemoryReply>& out = *sms_[it->first.sm].replies;
    if (!out.can_push()) continue;
    const MemoryRequest& q = it->first.request;
    out.push({q.address, q.bytes, RequestKind::kConstant, it->second, q.port, q.tag, true});
    answers_.erase(it);
    return true;
  }
  return false;
}

bool ConstantCluster::take_request(uint32_t sm) {
  const MemoryRequest request = *sms_[sm].requests->front();
  const uint64_t line = l2_.line_of(request.address);
  const bool hit = l2_.access(line);
  if (events_ != nullptr && events_->cache != nullptr)
    record_cache_event(*events_->cache, domain().now().count(), line, cluster_, 2, hit);
  if (hit) {
    if (!sms_[sm].replies->can_push()) return false;
    sms_[sm].requests->pop();
    sms_[sm].replies->push({request.address, request.bytes, RequestKind::kConstant, MemoryLevel::kConstantL2,
                            request.port, request.tag, true},
                           latency_);
    ++hits_;
    return true;
  }
  Miss* free = nullptr;
  for (Miss& miss : misses_table_) {
    if (miss.line == line) {
      miss.waiting.push_back({sm, request});
      sms_[sm].requests->pop();
      ++misses_;
      return true;
    }
    if (miss.line == kNone && free == nullptr) free = &miss;
  }
  if (!to_network_->can_push()) return false;
  free->line = line;
  free->waiting.push_back({sm, request});
  sms_[sm].requests->pop();
  to_network_->push({line, static_cast<uint16_t>(l2_.line_bytes()), RequestKind::kConstant, 0, port_,
                     static_cast<uint16_t>(free - misses_table_.data()), true});
  ++misses_;
  return true;
}

std::string ConstantCluster::waiting_for() const {
  const auto lines = std::count_if(misses_table_.begin(), misses_table_.end(),
                                   [](const Miss& m) { return m.line != kNone; });
  return lines == 0 ? std::string() : fmt::format("{} constant lines outstanding", lines);
}

}  // namespace gpusim::comp
