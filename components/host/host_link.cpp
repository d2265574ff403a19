#include "components/host/host_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gpusim::comp {

namespace {
constexpr uint32_t kSector = 32;
constexpr uint64_t kLine = 128;
constexpr size_t kMostPartitions = 1024;
}  // namespace

HostLink::HostLink(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                   const core::MachineConfig& machine)
    : Clocked(name, domain),
      machine_(machine),
      most_(machine.host.mapped_requests),
      ps_per_byte_(1e12 / static_cast<double>(std::max<int64_t>(machine.host.link_bytes_per_s, 1))),
      reads_(most_),
      writes_(kMostWrites),
      tags_(most_) {
  ports_.reserve(kMostPartitions);  // links write into them
  set_times();
  domain.on_change([this] { set_times(); });
}

void HostLink::set_times() {
  latency_ = domain().cycles_of_ns(machine_.host.mapped_latency_ns);
  const double cycles_per_byte = static_cast<double>(domain().cycles_of_ns(1e6)) * ps_per_byte_ * 1e-9;
  parts_per_byte_ =
      std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(cycles_per_byte * double{kParts})));
}

void HostLink::connect(core::Link<MemoryRequest>& from, core::Link<MemoryReply>& to) {
  ports_.push_back({&from, &to});
  from.publish_head(ports_.back().next_request);
}

HostLink::Tag* HostLink::tag_of(uint64_t address) {
  Tag* free = nullptr;
  for (Tag& t : tags_) {
    if (t.requests == 0)
      free = free == nullptr ? &t : free;
    else if (t.line == address / kLine)
      return &t;
  }
  return free;
}

void HostLink::take(uint32_t port, uint64_t now) {
  const MemoryRequest r = ports_[port].from->pop();
  if (r.kind != RequestKind::kWrite) {
    Tag& tag = *tag_of(r.address);
    tag.line = r.address / kLine;
    ++tag.requests;
  }
  const uint64_t start = now * kParts, carries = r.bytes * parts_per_byte_;
  const auto busy = static_cast<uint64_t>(std::llround(r.bytes * ps_per_byte_));
  uint64_t done = start;
  if (r.kind != RequestKind::kWrite) {
    done = to_gpu_free_ = std::max(to_gpu_free_, start + latency_ * kParts) + carries;
    stats_.read_busy_ps += busy;
  }
  if (r.kind == RequestKind::kWrite || r.kind == RequestKind::kAtomic) {
    to_host_free_ = std::max(to_host_free_, start) + carries;
    stats_.write_busy_ps += busy;
    done = std::max(done, to_host_free_);
  }
  if (r.kind == RequestKind::kAtomic)
    ++stats_.atomics;
  else
    (r.kind == RequestKind::kWrite ? stats_.write_sectors : stats_.read_sectors) += r.bytes / kSector;
  core::Ring<Answer>& answers = r.kind == RequestKind::kWrite ? writes_ : reads_;
  answers.push({(done + kParts - 1) / kParts,
                port,
                {r.address, r.bytes, r.kind, MemoryLevel::kDram, r.port, r.tag,
                 r.kind != RequestKind::kWrite && r.wants_data}});
}

bool HostLink::send(core::Ring<Answer>& answers, uint64_t now) {
  while (answers.size() != 0 && answers.front().at <= now) {
    core::Link<MemoryReply>& to = *ports_[answers.front().port].to;
    if (!to.can_push()) return false;
    const MemoryReply reply = answers.pop().reply;
    if (reply.kind != RequestKind::kWrite) --tag_of(reply.address)->requests;
    to.push(reply);
  }
  return true;
}

core::Cycle HostLink::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  // 1. What is due leaves.
  const bool reads_leave = send(reads_, now), writes_leave = send(writes_, now);
  // 2. One request of each partition is taken.
  const auto count = static_cast<uint32_t>(ports_.size());
  const uint32_t first = first_port_;
  uint64_t next = core::kNever.count();
  for (uint32_t step = 0; step < count; ++step) {
    const uint32_t port = (first + step) % count;
    Port& p = ports_[port];
    if (p.next_request <= cycle && can_take(*p.from->front())) {
      take(port, now);
      first_port_ = (port + 1) % count;
    }
    // What finds no room is looked at again when an answer leaves, and links wake what they refused.
    if (p.next_request > cycle || can_take(*p.from->front())) next = std::min(next, p.next_request.count());
  }
  if (reads_leave && reads_.size() != 0) next = std::min(next, reads_.front().at);
  if (writes_leave && writes_.size() != 0) next = std::min(next, writes_.front().at);
  return next == core::kNever.count() ? core::kNever : core::Cycle(std::max(next, now + 1));
}

std::string HostLink::waiting_for() const {
  uint32_t requests = 0;
  for (const Port& p : ports_) requests += p.from->size();
  if (requests + reads_.size() + writes_.size() == 0) return {};
  return fmt::format("{} requests wait, {} reads and {} writes on their way", requests, reads_.size(),
                     writes_.size());
}

}  // namespace gpusim::comp
