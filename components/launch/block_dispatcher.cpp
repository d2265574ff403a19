#include "components/launch/block_dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "components/launch/occupancy_limits.h"

namespace gpusim::comp {

namespace {

/// Cycles at `khz` that take as long as `cycles` at `other`.
uint64_t scaled(uint64_t cycles, uint64_t khz, uint64_t other) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(cycles) * khz + other - 1) / other);
}

}  // namespace

DispatchRules dispatch_rules(const core::MachineConfig& machine, const core::ClockDomain& domain) {
  DispatchRules r;
  r.launch_cycles = machine.gpu.launch_cycles;
  r.issue_cycles = machine.scheduler.issue_cycles;
  r.child_cycles = std::max<uint64_t>(domain.cycles_of_ns(machine.gpu.child_launch_ns), 1);
  r.block_interval = static_cast<uint64_t>(std::llround(machine.gpu.block_interval * DispatchRules::kParts));
  r.depth_first = machine.gpu.block_dispatch == core::BlockDispatch::kDepthFirst;
  r.in_turn = machine.gpu.kernel_dispatch == core::KernelDispatch::kInTurn;
  r.sm = whole_sm(machine);
  r.work.concurrent_kernels = machine.gpu.concurrent_kernels;
  r.work.copy_engines = machine.host.copy_engines;
  r.work.launch_queues = machine.gpu.launch_queues;
  r.work.launch_interval = domain.cycles_of_ns(machine.host.launch_interval_ns);
  r.work.launch_gap = domain.cycles_of_ns(machine.host.launch_gap_ns);
  return r;
}

BlockDispatcher::BlockDispatcher(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                                 const DispatchRules& rules)
    : Clocked(name, domain),
      rules_(rules),
      first_khz_(domain.khz()),
      khz_(domain.khz()),
      work_(rules.work),
      slot_taken_(rules.work.concurrent_kernels),
      children_([this](uint32_t grid) { complete(left_.extract(grid).mapped(), now_); },
                rules.work.launch_gap) {
  domain.on_change([this] { retime(); });
  wake_at(core::Cycle(1));
}

uint32_t BlockDispatcher::add(KernelLaunch& run, Order order, bool alone) {
  WorkQueue::Item item;
  item.run = &run;
  item.stream = order.stream;
  item.alone = alone;
  item.after = std::move(order.after);
  work_.issue_no_sooner(domain().now().count());
  return work_.add(item);
}

uint32_t BlockDispatcher::add_copy(uint64_t cycles, Order order, bool to_device, uint32_t number) {
  work_.issue_no_sooner(domain().now().count());
  return work_.add({nullptr, order.stream, cycles, to_device, number, false, false, std::move(order.after)});
}

uint32_t BlockDispatcher::add_marker(Order order, uint32_t number) {
  return work_.add({nullptr, order.stream, 0, true, number, false, true, std::move(order.after)});
}

DeviceLaunches::Number BlockDispatcher::add_child(DeviceLaunches::Item item, bool alone) {
  const uint64_t now = domain().now().count();
  item.from = now + std::max<uint64_t>(item.from, 1);
  children_alone_ = alone;
  // The dispatcher may have looked in this cycle already, or be about to.
  own_next_ = std::min(own_next_, item.from);
  wake_at(core::Cycle(item.from));
  return children_.add(std::move(item));
}

void BlockDispatcher::resume() { wake_at(tick(domain().now())); }

void BlockDispatcher::connect_sm(uint32_t sm, core::Link<BlockStart>& starts, core::Link<SmReport>& reports,
                                 uint32_t gpc) {
  Port port{};
  port.sm = sm;
  port.gpc = gpc;
  gpcs_ = std::max(gpcs_, gpc + 1);
  port.starts = &starts;
  port.reports = &reports;
  port.held.resize(slot_taken_.size());
  if (port_of_sm_.size() <= sm) port_of_sm_.resize(sm + 1);
  port_of_sm_[sm] = static_cast<uint32_t>(ports_.size());
  ports_.push_back(std::move(port));
}

core::Cycle BlockDispatcher::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  // 1. Reports of SMs, 2. the ends of kernels and transfers, 3. the starts of others, 4. one block.
  now_ = now;
  collect_reports();
  finish(now);
  finish_children(now);
  start_items(now);
  start_children(now);
  while (work_.unfinished() < more_below_) {
    more_below_ = 0;
    hooks_.more();
    start_items(now);
  }
  if (work_.all_done()) {
    hooks_.all_done();
    return core::kNever;
  }
  const bool too_early = start_from_ > now * DispatchRules::kParts;
  own_next_ = next_event(now, too_early || dispatch_one(now));
  uint64_t next = own_next_;
  for (const Port& p : ports_) next = std::min(next, p.reports->next_visible().count());
  return core::Cycle(next);
}

void BlockDispatcher::start_items(uint64_t now) {
  while (const auto item = work_.start_next(now)) {
    if (const KernelLaunch* run = work_.item(*item).run; run != nullptr) {
      begin(*work_.item(*item).run, *item, hooks_.set_clocks && hooks_.set_clocks(*run) ? now + 1 : now);
    } else if (work_.item(*item).marker) {
      hooks_.marker(work_.item(*item).number);
      work_.finish(*item, now);
    } else {
      begin_copy(*item, now);
    }
  }
}

void BlockDispatcher::start_children(uint64_t now) {
  while (const auto number = children_.start_next(now, work_.has_room(children_alone_))) {
    const ChildStart child = hooks_.child(*number);
    if (child.run == nullptr) {
      child_work_.push_back({*number, now + std::max<uint64_t>(child.cycles, 1)});
      continue;
    }
    work_.take_room(children_alone_);
    begin(*child.run, kNoItem, now);
  }
}

void BlockDispatcher::finish_children(uint64_t now) {
  // What is done may start more, in a later cycle.
  for (size_t i = 0; i < child_work_.size();) {
    if (child_work_[i].end > now) {
      ++i;
      continue;
    }
    const DeviceLaunches::Number number = child_work_[i].number;
    child_work_.erase(child_work_.begin() + static_cast<std::ptrdiff_t>(i));
    hooks_.child_done(number);
    children_.done(number, now);
  }
}

void BlockDispatcher::complete(uint32_t item, uint64_t now) { work_.finish(item, now); }

uint64_t BlockDispatcher::next_event(uint64_t now, bool dispatched) const {
  uint64_t next = work_.next_issue();
  for (const Open& k : open_) {
    if (k.next_block == k.run->num_blocks) continue;
    if (now < k.from) next = std::min(next, k.from);
    if (dispatched && now >= k.from)
      next = std::min(next,
                      std::max(now + 1, (start_from_ + DispatchRules::kParts - 1) / DispatchRules::kParts));
  }
  for (const Transfer& t : transfers_) next = std::min(next, t.end);
  for (const ChildWork& w : child_work_) next = std::min(next, w.end);
  const uint64_t child = children_.next_start(work_.has_room(children_alone_));
  return std::min(next, child == DeviceLaunches::kNothing ? child : std::max(child, now + 1));
}

void BlockDispatcher::begin(KernelLaunch& run, uint32_t item, uint64_t now) {
  run.slot = static_cast<uint32_t>(std::ranges::find(slot_taken_, false) - slot_taken_.begin());
  slot_taken_[run.slot] = true;
  for (Port& p : ports_) p.held[run.slot] = Held{};
  if (open_.empty()) next_port_ = next_gpc_ = 0;
  run.start = core::Cycle(whole_slots(now));
  open_.push_back({&run, item, run.start.count() + rules_.launch_cycles, 0, 0});
  hooks_.begin(run);
}

void BlockDispatcher::begin_copy(uint32_t item, uint64_t now) {
  const WorkQueue::Item& copy = work_.item(item);
  const uint32_t engine = work_.engine_of(copy);
  const uint64_t start = whole_slots(now);
  const uint64_t cycles = khz_ == first_khz_ ? copy.cycles : scaled(copy.cycles, khz_, first_khz_);
  transfers_[engine] = {item, start, start + cycles};
  if (hooks_.copy) hooks_.copy({copy.number, engine, start, start + cycles});
}

void BlockDispatcher::retime() {
  const uint64_t before = khz_, now = domain().now().count();
  khz_ = domain().khz();
  for (uint32_t engine = 0; engine < transfers_.size(); ++engine) {
    Transfer& t = transfers_[engine];
    if (t.end == kIdle || t.end <= now) continue;
    t.end = now + scaled(t.end - now, khz_, before);
    if (hooks_.copy) hooks_.copy({work_.item(t.item).number, engine, t.start, t.end});
    wake_at(core::Cycle(t.end));
  }
  for (ChildWork& w : child_work_) {
    if (w.end <= now) continue;
    w.end = now + scaled(w.end - now, khz_, before);
    wake_at(core::Cycle(w.end));
  }
}

void BlockDispatcher::collect_reports() {
  for (Port& p : ports_) {
    while (p.reports->front() != nullptr) {
      const SmReport r = p.reports->pop();
      const auto kernel = std::ranges::find_if(open_, [&](const Open& k) { return k.run->slot == r.kernel; });
      Held& held = p.held[r.kernel];
      held.blocks -= r.blocks_finished;
      p.blocks -= r.blocks_finished;
      p.used = p.used - kernel->run->share * r.blocks_finished;
      kernel->finished += r.blocks_finished;
      if (r.drained && !held.drained) --p.undrained;
      held.drained = r.drained;
    }
  }
}

void BlockDispatcher::finish(uint64_t now) {
  for (size_t i = 0; i < open_.size();) {
    if (!finished(open_[i])) {
      ++i;
      continue;
    }
    const Open done = open_[i];
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
    done.run->end = core::Cycle(whole_slots(now));
    hooks_.end(*done.run);
    slot_taken_[done.run->slot] = false;
    if (done.item == kNoItem) {
      work_.give_room();
      children_.grid_ended(done.run->id, now);
      continue;
    }
    // Before its end is known: it may be the last that something waits for.
    if (children_.empty()) {
      work_.finish(done.item, now);
      continue;
    }
    left_[done.run->id] = done.item;
    work_.leave(done.item);
    if (children_.grid_ended(done.run->id, now) && left_.erase(done.run->id) != 0)
      work_.finish(done.item, now);
  }
  for (uint32_t engine = 0; engine < transfers_.size(); ++engine) {
    Transfer& t = transfers_[engine];
    if (t.end > now) continue;
    copied_[engine] += t.end - t.start;
    t.end = kIdle;
    if (hooks_.copied) hooks_.copied(work_.item(t.item).number);
    work_.finish(t.item);
  }
}

bool BlockDispatcher::dispatch_one(uint64_t now) {
  const auto count = static_cast<uint32_t>(open_.size());
  for (uint32_t step = 0; step < count; ++step) {
    const uint32_t i = rules_.in_turn ? (next_turn_ + step) % count : step;
    if (!open_[i].has_blocks(now)) continue;
    // Nobody overtakes the oldest kernel that has blocks left, but where that may not run.
    if (!rules_.in_turn && std::any_of(open_.begin(), open_.begin() + i, [&](const Open& older) {
          return older.has_blocks(now) && older.run->shares_sms_with(*open_[i].run);
        }))
      continue;
    const bool started = start_block_of(open_[i]);
    if (started) {
      next_turn_ = i + 1;
      // A start in the cycle in which it became possible counts from that part of the cycle.
      const uint64_t cycle_end = (now + 1) * DispatchRules::kParts;
      start_from_ = std::max(start_from_ + 2 * DispatchRules::kParts, cycle_end + 1) -
                    2 * DispatchRules::kParts + rules_.block_interval * open_[i].run->cluster_blocks();
    }
    if (started || (!rules_.in_turn && open_[i].run->part == nullptr)) return started;
  }
  return false;
}

bool BlockDispatcher::has_room(const Port& p, const KernelLaunch& run, uint32_t placed) const {
  if (!run.may_run_on(p.sm)) return false;
  const Held& held = p.held[run.slot];
  if (held.blocks + placed >= run.blocks_per_sm) return false;
  if (p.undrained == 0) return true;  // the first block shapes the SM for the kernel
  if (p.blocks == held.blocks) return run.carved <= p.carved;
  const SmShare together = p.used + run.share * (placed + 1);
  return together.fits(rules_.sm) && static_cast<uint64_t>(together.shared) <= p.carved;
}

bool BlockDispatcher::take(Port& p, const KernelLaunch& run) {
  Held& held = p.held[run.slot];
  const bool fresh = p.undrained == 0 && (!held.has_been || p.carved < run.carved);
  if (fresh) p.carved = run.carved;
  ++held.blocks;
  ++p.blocks;
  p.undrained += held.drained;
  held.drained = false;
  held.has_been = true;
  p.used = p.used + run.share;
  return fresh;
}

bool BlockDispatcher::place_cluster(const KernelLaunch& run, uint32_t gpc) {
  // An SM gets a second block when all others of the part have one, or no room.
  const uint32_t size = run.cluster_blocks();
  const auto count = static_cast<uint32_t>(ports_.size());
  cluster_ports_.clear();
  for (bool placed = true; placed && cluster_ports_.size() < size;) {
    placed = false;
    for (uint32_t step = 0; step < count && cluster_ports_.size() < size; ++step) {
      const uint32_t at = (next_port_ + step) % count;
      Port& p = ports_[at];
      if (p.gpc != gpc) continue;
      const auto placed_here = static_cast<uint32_t>(std::ranges::count(cluster_ports_, at));
      if (!has_room(p, run, placed_here) || !p.starts->can_push()) continue;
      cluster_ports_.push_back(at);
      placed = true;
    }
  }
  return cluster_ports_.size() == size;
}

bool BlockDispatcher::start_cluster_of(Open& kernel) {
  KernelLaunch& run = *kernel.run;
  for (uint32_t step = 0; step < gpcs_; ++step) {
    const uint32_t gpc = (next_gpc_ + step) % gpcs_;
    if (!place_cluster(run, gpc)) continue;
    Cluster& cluster = run.clusters.begin(run.cluster_blocks(), run.threads_per_block);
    for (const uint32_t at : cluster_ports_) {
      const bool fresh = take(ports_[at], run);
      ports_[at].starts->push({&run, run.block_in_order(kernel.next_block++), fresh, &cluster});
    }
    next_port_ = rules_.depth_first ? cluster_ports_.back()
                                    : (cluster_ports_.back() + 1) % static_cast<uint32_t>(ports_.size());
    next_gpc_ = rules_.depth_first ? gpc : (gpc + 1) % gpcs_;
    return true;
  }
  return false;
}

bool BlockDispatcher::start_block_of(Open& kernel) {
  KernelLaunch& run = *kernel.run;
  if (run.cluster_blocks() != 1) return start_cluster_of(kernel);
  const auto count = static_cast<uint32_t>(ports_.size());
  for (uint32_t step = 0; step < count; ++step) {
    const uint32_t at = (next_port_ + step) % count;
    Port& p = ports_[at];
    if (!has_room(p, run) || !p.starts->can_push()) continue;
    const bool fresh = take(p, run);
    Cluster* const alone = run.has_clusters() ? &run.clusters.begin(1, run.threads_per_block) : nullptr;
    p.starts->push({&run, kernel.next_block++, fresh, alone});
    next_port_ = rules_.depth_first ? at : (at + 1) % count;
    return true;
  }
  return false;
}

uint64_t BlockDispatcher::first_start(uint32_t sm, uint64_t now) const {
  const Port& p = ports_[port_of_sm_[sm]];
  if (!p.reports->empty()) return now;
  // A kernel that begins now has its first block then. Of the others the SM has as much as it can hold, if
  // there is no room: only its own reports make some.
  uint64_t first = now + rules_.launch_cycles;
  for (const Open& k : open_)
    if (k.next_block != k.run->num_blocks && has_room(p, *k.run))
      first = std::min(first, std::max(now, k.from));
  return first;
}

bool BlockDispatcher::finished(const Open& kernel) const {
  return kernel.finished == kernel.run->num_blocks &&
         std::ranges::all_of(ports_, [&](const Port& p) { return p.held[kernel.run->slot].drained; });
}

std::string BlockDispatcher::waiting_for() const {
  std::string text;
  for (const Open& k : open_)
    text += fmt::format("{}kernel '{}': {} of {} blocks started, {} finished", text.empty() ? "" : "; ",
                        k.run->image->name, k.next_block, k.run->num_blocks, k.finished);
  return text;
}

}  // namespace gpusim::comp
