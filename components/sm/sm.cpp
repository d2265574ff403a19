// The stages of an SM's tick, and running ahead of it.
#include "components/sm/sm.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpusim::comp {

Sm::Sm(const sc_core::sc_module_name& name, core::ClockDomain& domain, uint32_t index,
       const SmEnvironment& environment)
    : Clocked(name, domain),
      state_(index, domain, environment),
      slots_(state_, *this),
      front_end_(state_),
      blocks_(state_, slots_, front_end_),
      operations_(state_, slots_, blocks_, front_end_) {}

void Sm::connect(const LoadStoreUnit::Links& links, core::Link<BlockStart>& starts,
                 core::Link<SmReport>& reports) {
  reply_latency_ = links.reply->latency();
  domain().on_change([this, reply = links.reply] { reply_latency_ = reply->latency(); });
  start_latency_ = starts.latency();
  const SmEnvironment& env = state_.env;
  state_.lsu = std::make_unique<LoadStoreUnit>(*env.machine, static_cast<uint16_t>(state_.index), links);
  state_.lsu->set_events(env.events);
  if (slots_.watch_l1()) state_.lsu->watch_l1();
  starts_ = &starts;
  starts_->publish_head(next_start_);
  reports_ = &reports;
}

void Sm::connect_fetch(const InstructionFetch::Links& links) {
  state_.fetch = std::make_unique<InstructionFetch>(*state_.env.machine, static_cast<uint16_t>(state_.index),
                                                    links, state_.env.events);
}

void Sm::empty_caches() {
  state_.lsu->forget_pages();
  if (state_.fetch != nullptr) state_.fetch->forget();
}

void Sm::open_cluster(const Cluster& cluster, uint32_t block_slot, uint64_t cycle) {
  openings_.push_back({cycle, &cluster, block_slot});
  state_.last_event = std::max(state_.last_event, cycle);
  wake_at(core::Cycle(cycle));
}

core::Cycle Sm::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  LoadStoreUnit& lsu = *state_.lsu;
  InstructionFetch* const fetch = state_.fetch.get();
  // 1. Replies, and lines of instructions.
  lsu.collect_replies(now, [this, now](uint32_t record) { operations_.complete_access(record, now); });
  if (fetch != nullptr)
    fetch->collect([this, now](uint32_t w) {
      slots_.settle(state_.warps[w].scheduler, now);
      front_end_.prepare(w, std::max(state_.warps[w].fetch_from, now), now);
    });
  // 2. One transaction to the interconnect, and one line of instructions asked for.
  lsu.send(now);
  if (fetch != nullptr) fetch->send(now);
  // 3. New blocks, and clusters whose barriers open.
  std::erase_if(openings_, [&](const ClusterOpening& o) {
    if (o.cycle > now) return false;
    ResidentBlock& block = state_.blocks[o.block_slot];
    if (block.control.cluster == o.cluster) operations_.release_cluster(block, now);  // else it has ended
    return true;
  });
  while (next_start_ <= cycle) blocks_.start_block(starts_->pop(), now);
  slots_.update_gates(now);
  // 4. Issue, in every slot in which some warp may be able to.
  slots_.issue(now, [this](uint32_t w, uint64_t at) { operations_.issue(w, at); });
  // 5. What leaves in the next cycles, as far as it is certain.
  lsu.send_ahead(now);
  if (blocks_.due()) blocks_.report(*reports_);
  slots_.plan(now);
  // 6. Issue what concerns nobody else ahead of time. What the L1 does concerns a policy that watches it.
  // What is done to another SM's shared memory is done in its own cycle.
  if (state_.env.run_ahead && state_.issue_width == 1 && !slots_.watch_l1() && state_.cluster_kernels == 0)
    run_ahead(now);
  // Sleep until the first warp can issue, a transaction may leave, or a message arrives.
  uint64_t next =
      std::min({slots_.next_issue(), lsu.next_send(), lsu.next_reply().count(), next_start_.count()});
  if (fetch != nullptr) next = std::min({next, fetch->next_send(), fetch->next_reply().count()});
  for (const ClusterOpening& o : openings_) next = std::min(next, o.cycle);
  return core::Cycle(std::max(next, now + 1));
}

uint64_t Sm::undisturbed_until(uint64_t now) const {
  const LoadStoreUnit& lsu = *state_.lsu;
  if (state_.open_kernels == 0 || lsu.may_open() || lsu.has_unannounced() || fetching()) return now;
  return std::min(
      {lsu.next_completion().count(), lsu.next_send(), lsu.next_surprise(now), foreseen_until(now)});
}

uint64_t Sm::foreseen_until(uint64_t now) const {
  // A message that is not in a link yet is seen after that link's latency at the earliest.
  const uint64_t start =
      std::min(next_start_.count(), state_.env.first_start(state_.index, now) + 1 + start_latency_);
  const uint64_t steady = std::min(domain().steady_until(), domain().observed_at()).count();
  return std::min({start, now + 1 + reply_latency_, steady});
}

/// True for operations that touch their SM's registers and shared memory only.
static bool is_local(const isa::MicroOp& op) {
  switch (op.kind) {
    case isa::OpKind::kAlu:
    case isa::OpKind::kSync:
      return op.op_class != isa::OpClass::kSpecial;
    case isa::OpKind::kLoad:
    case isa::OpKind::kStore:
    case isa::OpKind::kAtomic:
      if (op.memory.asynchronous)
        return false;  // cp.async names shared memory, and takes the load/store unit
      return op.memory.space == isa::Space::kShared || op.memory.space == isa::Space::kParam;
    case isa::OpKind::kBranch:
    case isa::OpKind::kBarrier:
    case isa::OpKind::kNop:
      return true;
    default:
      return false;
  }
}

void Sm::run_ahead(uint64_t now) {
  // A block or a kernel that ends is reported in its own cycle.
  if (state_.open_kernels != 0 && !blocks_.ending() && state_.lsu->foresees())
    return run_ahead_with_memory(now);
  const uint64_t limit = undisturbed_until(now);
  while (slots_.next_issue() < limit && !fetching())
    if (!issue_ahead(slots_.next_issue())) return;
}

void Sm::run_ahead_with_memory(uint64_t now) {
  const uint64_t limit = foreseen_until(now);
  LoadStoreUnit& lsu = *state_.lsu;
  for (uint64_t cycle = now; lsu.foresees();) {
    // What issues ahead is nothing to the load/store unit: its next cycle stays.
    const uint64_t reply = lsu.next_foreseen_reply();
    const uint64_t memory = std::max(std::min(lsu.next_foreseen_send(), reply), cycle + 1);
    while (slots_.next_issue() < std::min(memory, limit))
      if (fetching() || !issue_ahead(slots_.next_issue())) return;
    cycle = memory;
    if (cycle >= limit || fetching()) return;
    if (reply <= cycle)
      lsu.collect_foreseen(cycle, [this, cycle](uint32_t r) { operations_.complete_access(r, cycle); });
    lsu.send_at(cycle);
    slots_.update_gates(cycle);
    slots_.plan(cycle - 1);
    if (slots_.next_issue() <= cycle && !issue_ahead(cycle)) return;
  }
}

bool Sm::issue_ahead(uint64_t cycle) {
  return slots_.issue_ahead(
      cycle, [this](uint32_t w) { return is_local(*state_.warps[w].op); },
      [this](uint32_t w, uint64_t at) { operations_.issue(w, at); });
}

bool Sm::all_wait(uint64_t& since, uint64_t& until) const {
  since = std::max(since, state_.last_event);
  for (const uint32_t w : core::Bits(state_.table.resident())) {
    const ResidentWarp& warp = state_.warps[w];
    if (warp.wait == WarpWait::kBarrier) continue;
    since = std::max(since, warp.watch.unchanged_since());
    until = std::min(until, warp.watch.unchanged_until());
  }
  return since < until;
}

std::string Sm::waiting_for() const {
  std::string text;
  uint32_t shown = 0;
  for (const uint32_t w : core::Bits(state_.table.resident())) {
    if (shown++ == 4) break;
    if (!text.empty()) text += "; ";
    text += waiting_for(state_.warps[w]);
  }
  const LoadStoreUnit* const lsu = state_.lsu.get();
  if (text.empty() && lsu != nullptr && !lsu->idle())
    text = fmt::format("{} transactions without a reply, {} accesses queued", lsu->mshrs_in_use(),
                       lsu->queued());
  return text;
}

static const char* waits_how(WarpWait wait) {
  switch (wait) {
    case WarpWait::kBarrier:
      return "waits at a barrier";
    case WarpWait::kFence:
      return "waits at a memory fence";
    case WarpWait::kCopies:
      return "waits for asynchronous copies";
    case WarpWait::kMemory:
      return "waits for memory";
    case WarpWait::kFetch:
      return "waits for its next instruction";
    case WarpWait::kNone:
      break;
  }
  return "is ready";
}

std::string Sm::waiting_for(const ResidentWarp& warp) const {
  const bool at_barrier = warp.wait == WarpWait::kBarrier;
  const char* what = waits_how(warp.wait);
  uint32_t pc = warp.stack.pc();
  isa::LaneMask lanes = at_barrier ? warp.at_barrier : warp.stack.mask();
  const isa::LaneMask alive = BlockControl::alive(warp);
  isa::LaneMask missing = alive & ~lanes;
  std::string never = "never arrive: the barrier is divergent";
  if (at_barrier && lanes.none()) {
    const DivergentGroups::Waiting group = warp.groups.longest_waiting();
    pc = group.pc;
    lanes = group.lanes;
    missing = alive & ~lanes;
    if (group.at_sync) what = "waits at a .sync operation";
    never = "wait elsewhere";
  }
  const uint32_t number = warp.context.warp_in_block;
  std::string text =
      fmt::format("warp {} {}: {}", number, what,
                  describe_location(*warp.kernel->run, pc, state_.blocks[warp.block_slot].index, number,
                                    lanes.lowest() % 32));
  if (at_barrier && lanes == warp.at_barrier && warp.barrier == kClusterBarrier)
    return text + " (the barrier of its cluster)";
  if (at_barrier && missing.any()) text += fmt::format(" (its lanes {:#010x} {})", missing.bits(), never);
  return text;
}

}  // namespace gpusim::comp
