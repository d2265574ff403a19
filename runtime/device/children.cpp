#include "runtime/device/children.h"

#include <algorithm>
#include <bit>

#include "simcore/config/peaks.h"
#include "simcore/record/child_streams.h"
#include "simcore/text/input_error.h"

namespace gpusim::runtime {

namespace {
constexpr uint64_t kSmallestBuffer = 256, kChunk = uint64_t{64} << 10;
}  // namespace

// --- parameter buffers ---

uint64_t Device::Children::take_buffer(uint64_t bytes) {
  const uint64_t size = std::bit_ceil(std::max(bytes, kSmallestBuffer));
  std::vector<uint64_t>& free = free_buffers_[size];
  if (free.empty()) {
    const uint64_t chunk = std::max(kChunk, size);
    uint64_t base = 0;
    try {
      base = device_.memory_.allocate(chunk, core::DeviceMemory::kAlign, "parameters of launches by kernels");
    } catch (const core::InputError& error) {
      throw Failure(Code::kMemoryAllocation, error.what());
    }
    device_.watch_memory(base, comp::GlobalObject::Kind::kBuffer, true);
    for (uint64_t at = chunk; at >= size; at -= size) free.push_back(base + at - size);
  }
  const uint64_t address = free.back();
  free.pop_back();
  return address;
}

void Device::Children::free_buffer(uint64_t address) {
  const auto at = buffers_.find(address);
  if (at == buffers_.end()) return;
  prepared_ -= at->second.kernel != nullptr;
  free_buffers_[std::bit_ceil(std::max(at->second.bytes, kSmallestBuffer))].push_back(address);
  buffers_.erase(at);
}

// --- what was launched ---

Device::Children::Number Device::Children::add(const Caller& caller, const Target& target,
                                               Launched launched) {
  comp::DeviceLaunches::Item item;
  item.parent = caller.number;
  item.order = target.order;
  item.is_grid = launched.kernel != nullptr;
  item.grid = launched.number;
  if (target.stream != nullptr) item.after = std::exchange(target.stream->waits, {});
  const bool event = launched.kernel == nullptr && launched.work == nullptr;
  if (caller.grid.timed) {
    const Number number = device_.live_->add_child(std::move(item), event);
    launched_.emplace(number, std::move(launched));
    return number;
  }
  // What the grid that ran last has launched goes first: depth before breadth.
  item.from = ~generation_ - 1;
  const Number number = values_.add(std::move(item));
  launched_for_values_.emplace(number, std::move(launched));
  return number;
}

void Device::Children::submit_work(const Caller& caller, std::unique_ptr<Work> work, uint64_t stream) {
  Launched launched;
  launched.parent = caller.number;
  launched.work = std::move(work);
  add(caller, target_of(caller, stream), std::move(launched));
}

void Device::Children::close(uint32_t number) {
  const auto grid = grids_.find(number);
  if (grid == grids_.end()) return;
  for (const uint64_t buffer : grid->second.buffers) free_buffer(buffer);
  grids_.erase(grid);
}

void Device::Children::prepare(Launched& l, bool timed) {
  l.launch = device_.prepared(l.spec, l.number, *l.kernel->lowered_, std::move(l.parameters), timed);
  l.launch.parent = l.parent;
}

// --- for values ---

void Device::Children::run_for_values(Kernel& kernel, comp::KernelLaunch& run, uint32_t stream) {
  if (!may_launch(*run.image)) return device_.run_for_values(run, *device_.runner_);
  run_grid(kernel, run, stream, 0);
  drain(0);
}

void Device::Children::run_grid(Kernel& kernel, comp::KernelLaunch& run, uint32_t stream, uint32_t depth) {
  const bool launches = may_launch(*run.image);
  if (launches) {
    begin(run.id, kernel, false, stream);
    grids_[run.id].depth = depth;
  }
  ++generation_;
  comp::FunctionalRunner& runner = depth_ == 0 ? *device_.runner_ : *device_.inner_runner_;
  ++depth_;
  try {
    device_.run_for_values(run, runner);
  } catch (...) {
    --depth_;
    throw;
  }
  --depth_;
  close(run.id);
  values_.grid_ended(run.id, 0);
}

bool Device::Children::between_blocks(bool stuck) {
  // Only the first of the runs inside each other has its blocks interrupted: there is one runner for others.
  if (depth_ != 1 || values_.pending() == 0) return false;
  if (!stuck && values_.pending() < most_pending / 2) return false;
  const uint64_t before = values_.pending();
  drain(stuck ? 0 : most_pending / 4);
  return values_.pending() != before;
}

void Device::Children::drain(uint64_t pending) {
  constexpr uint64_t kAnyTime = comp::DeviceLaunches::kNothing - 1;
  while (pending == 0 || values_.pending() > pending) {
    const auto number = values_.start_next(kAnyTime);
    if (!number) return;
    auto node = launched_for_values_.extract(*number);
    Launched& l = node.mapped();
    if (l.kernel == nullptr) {
      if (l.work != nullptr) device_.move_bytes(*l.work);
      values_.done(*number, 0);
    } else {
      carry_out(l);
    }
  }
}

/// A grid of values_ runs: cycle by cycle, if it is chosen and the machine stands still.
void Device::Children::carry_out(Launched& l) {
  if (!l.timed) {
    prepare(l, false);
    return run_grid(*l.kernel, *l.launch.run, l.spec.stream, l.depth);
  }
  auto work = std::make_unique<Work>();
  work->spec = l.spec;
  work->launch = device_.prepared(work->spec, l.number, *l.kernel->lowered_, std::move(l.parameters), true);
  work->launch.parent = l.parent;
  if (may_launch(*work->launch.run->image)) {
    begin(l.number, *l.kernel, true, l.spec.stream);
    grids_[l.number].depth = l.depth;
  }
  device_.submit(std::move(work), device_.legacy_);
  device_.flush();
  values_.grid_ended(l.number, 0);
}

// --- in a timed run ---

comp::LiveRun::Hooks::Child Device::Children::start(uint64_t number) {
  // Of grids that have ended long ago nobody has anything any more.
  constexpr size_t kMostEnded = 256;
  if (ended_.size() > kMostEnded) {
    const auto old_end = ended_.begin() + kMostEnded / 2;
    running_.remove_if(
        [&](const Launched& l) { return std::find(ended_.begin(), old_end, l.number) != old_end; });
    ended_.erase(ended_.begin(), old_end);
  }
  Launched& l = launched_.at(number);
  if (l.kernel == nullptr) {
    const Work* const work = l.work.get();
    if (work == nullptr) return {};
    const bool fills = work->kind == Work::Kind::kFill;
    const double bytes = static_cast<double>(fills ? work->fill.bytes() : 2 * work->copy.bytes());
    return {nullptr, bytes / std::max(core::dram_peak(device_.machine()), 1.0)};
  }
  if (!l.timed) return {};
  running_.push_back(std::move(l));
  launched_.erase(number);
  Launched& runs = running_.back();
  runs.host_stream = runs.spec.stream;
  const auto lane = std::ranges::find(lanes_, false);
  runs.spec.stream = core::kFirstChildStream + static_cast<uint32_t>(lane - lanes_.begin());
  if (lane == lanes_.end())
    lanes_.push_back(true);
  else
    *lane = true;
  prepare(runs, true);
  if (may_launch(*runs.launch.run->image)) {
    begin(runs.number, *runs.kernel, true, runs.host_stream);
    grids_[runs.number].depth = runs.depth;
  }
  return {&runs.launch, 0};
}

void Device::Children::done(uint64_t number) {
  auto node = launched_.extract(number);
  Launched& l = node.mapped();
  if (l.work != nullptr) device_.move_bytes(*l.work);
  if (l.kernel == nullptr) return;
  prepare(l, false);
  run_grid(*l.kernel, *l.launch.run, l.spec.stream, l.depth);
  drain(0);
}

void Device::Children::end(uint32_t number) {
  close(number);
  const auto grid = std::ranges::find(running_, number, &Launched::number);
  if (grid == running_.end()) return;
  ended_.push_back(number);
  lanes_[grid->spec.stream - core::kFirstChildStream] = false;
}

uint32_t Device::Children::host_stream(const comp::KernelResult& ended) const {
  const auto grid = std::ranges::find(running_, ended.launch, &Launched::number);
  return grid == running_.end() ? ended.stream : grid->host_stream;
}

void Device::Children::reset() {
  grids_.clear();
  values_ = comp::DeviceLaunches([](uint32_t) {});
  launched_for_values_.clear();
  buffers_.clear();
  prepared_ = 0;
  free_buffers_.clear();
  texts_.clear();
}

}  // namespace gpusim::runtime
