// Work: what is submitted, in which order it is carried out, and what it does.
#include "runtime/device/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "components/launch/occupancy_limits.h"
#include "runtime/device/children.h"
#include "runtime/device/environment.h"
#include "runtime/device/view.h"
#include "simcore/config/peaks.h"
#include "simcore/text/input_error.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::runtime {

namespace {

/// Which error of the manual a fault of a kernel is.
Code code_of_fault(isa::FaultKind fault, std::string_view message) {
  switch (fault) {
    case isa::FaultKind::kAssert:
      return Code::kAssert;
    case isa::FaultKind::kMisaligned:
      return Code::kMisalignedAddress;
    case isa::FaultKind::kStack:
      return Code::kHardwareStackError;
    case isa::FaultKind::kOutOfBounds:
    case isa::FaultKind::kReadOnly:
      return Code::kIllegalAddress;
    default:
      break;
  }
  if (message.find("the call stack of") != std::string_view::npos) return Code::kHardwareStackError;
  // What the executor does not find is a kernel that does not end, or a barrier that nobody reaches.
  const bool endless = message.find("deadlock") != std::string_view::npos ||
                       message.find("still running") != std::string_view::npos;
  return endless ? Code::kLaunchTimeout : Code::kLaunchFailure;
}

/// Time that passes in a run for values with each piece of work, so that elapsed times are no zeros.
constexpr double kUntimedSeconds = 1e-6;

/// Barriers of cooperative launches: so many may be under way.
constexpr uint64_t kCooperativeLaunches = 64, kCooperativeBytes = 256;

void copy_rows(const Copy& c) {
  const std::byte* const source = c.staged.empty() ? c.from : c.staged.data();
  const bool packed = !c.staged.empty();
  const uint64_t from_pitch = packed ? c.width : c.from_pitch;
  const uint64_t from_slice = packed ? c.width * c.height : c.from_slice;
  if (c.depth == 1 && (c.height == 1 || (c.to_pitch == c.width && from_pitch == c.width))) {
    std::memmove(c.to, source, c.width * c.height);
    return;
  }
  for (uint64_t z = 0; z < c.depth; ++z)
    for (uint64_t y = 0; y < c.height; ++y)
      std::memmove(c.to + z * c.to_slice + y * c.to_pitch, source + z * from_slice + y * from_pitch, c.width);
}

void fill_rows(const Fill& f) {
  for (uint64_t z = 0; z < f.depth; ++z) {
    for (uint64_t y = 0; y < f.height; ++y) {
      std::byte* const row = f.to + z * f.slice + y * f.pitch;
      if (f.value_bytes == 1) {
        std::memset(row, static_cast<int>(f.value & 0xff), f.width);
        continue;
      }
      for (uint64_t x = 0; x + f.value_bytes <= f.width; x += f.value_bytes)
        std::memcpy(row + x, &f.value, f.value_bytes);
    }
  }
}

/// Copies the source of a pageable copy, which the program may change at once.
void stage(Copy& c) {
  c.staged.resize(c.bytes());
  for (uint64_t z = 0; z < c.depth; ++z)
    for (uint64_t y = 0; y < c.height; ++y)
      std::memcpy(c.staged.data() + (z * c.height + y) * c.width,
                  c.from + z * c.from_slice + y * c.from_pitch, c.width);
}

bool in_range(std::string_view item, uint64_t number) {
  uint64_t first = 0, last = 0;
  const char* const end = item.data() + item.size();
  auto [at, error] = std::from_chars(item.data(), end, first);
  if (error != std::errc()) return false;
  last = first;
  if (at != end) {
    if (*at != '-') return false;
    const auto second = std::from_chars(at + 1, end, last);
    if (second.ec != std::errc() || second.ptr != end) return false;
  }
  return number >= first && number <= last;
}

}  // namespace

bool Device::is_timed(const Kernel& kernel, uint64_t number) const {
  return !options_.functional && is_chosen(kernel, number);
}

bool Device::is_chosen(const Kernel& kernel, uint64_t number) const {
  std::string_view list = options_.timed;
  if (list.empty() || list == "all") return true;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (item.starts_with("first:")) {
      uint64_t most = 0;
      std::from_chars(item.data() + 6, item.data() + item.size(), most);
      if (kernel.launches_ <= most) return true;
    } else if (in_range(item, number) || core::means_kernel(item, kernel.name())) {
      return true;
    }
  }
  return false;
}

void Device::check_shape(const LaunchRequest& r, const isa::KernelImage& image) const {
  const auto& sm = machine().sm;
  const uint64_t threads = uint64_t{r.block.x} * r.block.y * r.block.z;
  const bool block_fits = threads != 0 && threads <= sm.max_threads_per_block &&
                          r.block.x <= sm.max_block_x && r.block.y <= sm.max_block_y &&
                          r.block.z <= sm.max_block_z;
  const bool grid_fits = r.grid.x != 0 && r.grid.y != 0 && r.grid.z != 0 && r.grid.x <= sm.max_grid_x &&
                         r.grid.y <= sm.max_grid_y && r.grid.z <= sm.max_grid_z;
  if (!block_fits || !grid_fits)
    throw Failure(Code::kInvalidConfiguration,
                  fmt::format("kernel '{}': grid {}x{}x{}, block {}x{}x{}: the machine has no such launch",
                              core::demangled(image.name), r.grid.x, r.grid.y, r.grid.z, r.block.x, r.block.y,
                              r.block.z));
  if (image.maxntid[0] != 0 &&
      threads > uint64_t{image.maxntid[0]} * std::max(1u, image.maxntid[1]) * std::max(1u, image.maxntid[2]))
    throw Failure(Code::kInvalidValue, fmt::format("kernel '{}': {} threads in a block exceed its bounds",
                                                   core::demangled(image.name), threads));
  const uint32_t(&required)[3] = image.reqntid;
  if (required[0] != 0 && (r.block.x != required[0] || r.block.y != std::max(1u, required[1]) ||
                           r.block.z != std::max(1u, required[2])))
    throw Failure(Code::kInvalidValue,
                  fmt::format("kernel '{}': a block has {}x{}x{} threads, not {}x{}x{}",
                              core::demangled(image.name), required[0], std::max(1u, required[1]),
                              std::max(1u, required[2]), r.block.x, r.block.y, r.block.z));
}

std::optional<Size3> Device::cluster_of(const LaunchRequest& r, const isa::KernelImage& image) {
  const auto size = [](const auto& s) {
    return Size3{std::max<uint32_t>(s[0], 1), std::max<uint32_t>(s[1], 1), std::max<uint32_t>(s[2], 1)};
  };
  const auto given = [](const auto& s) { return s[0] != 0 || s[1] != 0 || s[2] != 0; };
  if (r.cluster) return r.cluster;
  if (given(image.cluster)) return size(image.cluster);
  if (given(r.kernel->cluster)) return size(r.kernel->cluster);
  return std::nullopt;
}

void Device::check_cluster_size(const LaunchRequest& r, const isa::KernelImage& image) {
  LaunchRequest without = r;
  without.cluster.reset();
  const std::optional<Size3>&given = r.cluster, fixed = cluster_of(without, image);
  if (!given || !fixed || (given->x == fixed->x && given->y == fixed->y && given->z == fixed->z)) return;
  throw Failure(
      Code::kInvalidClusterSize,
      fmt::format("kernel '{}': clusters of {}x{}x{} blocks: the kernel has those of {}x{}x{}",
                  core::demangled(image.name), given->x, given->y, given->z, fixed->x, fixed->y, fixed->z));
}

void Device::check_cluster(const LaunchRequest& r, const isa::KernelImage& image) const {
  const std::optional<Size3> c = cluster_of(r, image);
  const auto refuse = [&](const std::string& what, Code code = Code::kInvalidClusterSize) {
    throw Failure(code, fmt::format("kernel '{}': {}", core::demangled(image.name), what));
  };
  if (!c) {
    if (image.explicit_cluster) refuse("its launch must say how many blocks a cluster has");
    return;
  }
  const uint64_t blocks = uint64_t{c->x} * c->y * c->z, most = most_cluster_blocks(*r.kernel);
  const std::string text = fmt::format("clusters of {}x{}x{} blocks", c->x, c->y, c->z);
  if (blocks == 0) refuse(text);
  if (blocks > 1 && machine().clusters.gpcs == 0)
    refuse(fmt::format("{}: machine '{}' has none", text, machine().gpu.name), Code::kNotSupported);
  if (blocks > most) refuse(fmt::format("{}: a cluster may have {}", text, most));
  check_cluster_size(r, image);
  const bool counts_clusters = image.blocks_are_clusters && !r.cluster;
  if (!counts_clusters && (r.grid.x % c->x != 0 || r.grid.y % c->y != 0 || r.grid.z % c->z != 0))
    refuse(fmt::format("{}: the grid {}x{}x{} is not divisible", text, r.grid.x, r.grid.y, r.grid.z));
}

std::vector<std::byte> Device::parameters_of(const LaunchRequest& r, const isa::KernelImage& image) const {
  std::vector<std::byte> block(image.param_bytes);
  if (r.arguments == nullptr) {
    std::copy_n(r.parameters.begin(), std::min(block.size(), r.parameters.size()), block.begin());
    return block;
  }
  for (size_t i = 0; i < image.params.size(); ++i) {
    const isa::KernelParam& p = image.params[i];
    if (r.arguments[i] == nullptr) throw Failure(Code::kInvalidValue);
    std::memcpy(block.data() + p.offset, r.arguments[i], p.bytes);
  }
  return block;
}

const isa::KernelImage& Device::check_launch(const LaunchRequest& r) {
  Kernel& kernel = *r.kernel;
  const isa::KernelImage& image = kernel.image_for(uint64_t{r.block.x} * r.block.y * r.block.z);
  check_shape(r, image);
  check_cluster(r, image);
  if (r.dynamic_shared > most_dynamic_shared(kernel))
    throw Failure(Code::kInvalidValue,
                  fmt::format("kernel '{}': {} bytes of dynamic shared memory, it may have {}",
                              core::demangled(image.name), r.dynamic_shared, most_dynamic_shared(kernel)));
  return image;
}

const SmPart* Device::part_of(const Stream& stream) const {
  if (stream.owner == nullptr && owner_of_new_streams() == nullptr) return nullptr;
  const auto mine = thread_streams_.find(std::this_thread::get_id());
  const bool of_every_context =
      &stream == &legacy_ || (mine != thread_streams_.end() && mine->second == &stream);
  const SmPart* const part = of_every_context ? owner_of_new_streams() : stream.owner;
  return part == nullptr || part->mask == nullptr || options_.sms != 0 ? nullptr : part;
}

void Device::check_part(const LaunchRequest& r, const isa::KernelImage& image, const SmPart& part) {
  const std::optional<Size3> c = cluster_of(r, image);
  const uint32_t blocks = c ? c->x * c->y * c->z : 1, threads = r.block.x * r.block.y * r.block.z;
  if (blocks == 1) return;
  const auto on_sm = static_cast<uint32_t>(blocks_per_sm(*r.kernel, threads, r.dynamic_shared));
  if (comp::clusters_together(machine(), part.sms, on_sm, blocks) == 0)
    throw Failure(
        Code::kInvalidClusterSize,
        fmt::format("kernel '{}': a cluster of {} blocks has no room on the {} multiprocessors of the "
                    "green context",
                    core::demangled(image.name), blocks, part.sms.size()));
}

void Device::launch(const LaunchRequest& r, Stream& stream) {
  check();
  if (finished_) throw Failure(Code::kInitializationError);
  services_.flush();
  Kernel& kernel = *r.kernel;
  const isa::KernelImage& image = check_launch(r);
  const uint64_t threads = uint64_t{r.block.x} * r.block.y * r.block.z;
  const SmPart* const part = part_of(stream);
  if (part != nullptr) check_part(r, image, *part);
  if (r.cooperative) {
    const uint64_t sms = part != nullptr     ? part->sms.size()
                         : options_.sms != 0 ? options_.sms
                                             : machine().gpu.sms;
    const auto together =
        static_cast<uint64_t>(blocks_per_sm(kernel, static_cast<uint32_t>(threads), r.dynamic_shared));
    if (uint64_t{r.grid.x} * r.grid.y * r.grid.z > together * sms)
      throw Failure(
          Code::kCooperativeLaunchTooLarge,
          fmt::format("kernel '{}': {} blocks, {} fit the machine at a time", core::demangled(image.name),
                      uint64_t{r.grid.x} * r.grid.y * r.grid.z, together * sms));
    if (cooperative_ == 0)
      cooperative_ = memory_.allocate(kCooperativeLaunches * kCooperativeBytes, core::DeviceMemory::kAlign,
                                      "barriers of cooperative launches");
  }
  core::LaunchSpec spec;
  spec.kernel = image.name;
  spec.grid[0] = r.grid.x, spec.grid[1] = r.grid.y, spec.grid[2] = r.grid.z;
  spec.block[0] = r.block.x, spec.block[1] = r.block.y, spec.block[2] = r.block.z;
  spec.dynamic_shared = r.dynamic_shared;
  if (const auto cluster = cluster_of(r, image))
    spec.cluster[0] = cluster->x, spec.cluster[1] = cluster->y, spec.cluster[2] = cluster->z;
  spec.non_portable_cluster = kernel.non_portable_cluster;
  spec.stream = stream.number;
  ++kernel.launches_;
  const uint64_t number = launch_count_++;
  const bool timed = is_timed(kernel, number);
  note_launch(kernel, {nullptr, r.grid, r.block, stream.number, timed});
  try {
    services_.prepare(image, memory_);
  } catch (const core::InputError& error) {
    throw Failure(Code::kMemoryAllocation, error.what());
  }
  const uint64_t barrier =
      r.cooperative ? cooperative_ + number % kCooperativeLaunches * kCooperativeBytes : 0;
  if (!timed) {
    if (!open_.empty()) {
      auto work = std::make_unique<Work>();
      work->spec = std::move(spec);
      work->launch = prepared(work->spec, number, *kernel.lowered_, parameters_of(r, image), false);
      work->launch.run->grid_workspace = barrier;
      work->kernel = &kernel;
      submit(std::move(work), stream);
      return;
    }
    flush();
    comp::KernelLaunch& run = launch_for_values(kernel, spec, number, parameters_of(r, image));
    run.grid_workspace = barrier;
    const auto launch = [&] {
      if (Children::may_launch(image)) {
        children_->run_for_values(kernel, run, stream.number);
        return note_done(stream.number, now_s());
      }
      progress_.begin();
      const comp::FunctionalRunner::Outcome outcome = runner_->run(run, operations_at_once());
      progress_.clear();
      if (may_put_aside(*runner_, outcome)) {
        auto work = std::make_unique<Work>();
        work->spec = kernel.reusable_spec_;
        work->launch = std::exchange(kernel.reusable_, {});
        work->launch.spec = &work->spec;
        work->runner = std::exchange(runner_, make_runner());
        work->waits_for_memory = outcome == comp::FunctionalRunner::Outcome::kDeadlock;
        put_aside(std::move(work), stream);
      } else {
        end_values(run, *runner_, outcome);
        note_launched(stream.number, done_s(stream), *runner_);
      }
    };
    try {
      if (export_ == nullptr)
        launch();
      else
        run_exported(kernel, number, run, launch);
    } catch (const Failure&) {
      // A kernel runs later than its launch, for a program: what it does wrong, the next call says.
      if (!fault_) throw;
      fault_is_known_ = false;
    }
    return;
  }
  auto work = std::make_unique<Work>();
  work->spec = std::move(spec);
  work->launch = prepared(work->spec, number, *kernel.lowered_, parameters_of(r, image), true);
  work->launch.run->grid_workspace = barrier;
  if (part != nullptr) work->launch.run->part = part->mask;
  if (Children::may_launch(image))
    children_->begin(static_cast<uint32_t>(number), kernel, true, stream.number);
  ++timed_count_;
  submit(std::move(work), stream);
}

comp::PreparedLaunch Device::prepared(const core::LaunchSpec& spec, uint64_t number,
                                      const comp::KernelImages::LoweredKernel& kernel,
                                      std::vector<std::byte> parameters, bool timed) const {
  try {
    comp::PreparedLaunch made = comp::prepare_launch(machine(), spec, static_cast<uint32_t>(number), kernel,
                                                     std::move(parameters), timed, options_.sms);
    // Where hardware ends a block's shared memory is not published. It takes whole units of up to 256 bytes,
    // and public programs that run on GPUs go up to 96 bytes behind the end of theirs (FPcompress).
    constexpr uint32_t kReach = 1024;
    if (checker_ == nullptr) made.run->shared_bytes = (made.run->shared_bytes + kReach - 1) / kReach * kReach;
    return made;
  } catch (const core::InputError& error) {
    throw Failure(Code::kLaunchOutOfResources, error.what());
  }
}

comp::KernelLaunch& Device::launch_for_values(Kernel& kernel, const core::LaunchSpec& spec, uint64_t number,
                                              std::vector<std::byte> parameters) {
  const core::LaunchSpec& last = kernel.reusable_spec_;
  if (kernel.reusable_.run != nullptr && std::ranges::equal(last.grid, spec.grid) &&
      std::ranges::equal(last.block, spec.block) && std::ranges::equal(last.cluster, spec.cluster) &&
      last.dynamic_shared == spec.dynamic_shared) {
    comp::set_parameters(*kernel.reusable_.run, std::move(parameters));
    kernel.reusable_.run->id = static_cast<uint32_t>(number);
  } else {
    kernel.reusable_spec_ = spec;
    kernel.reusable_ =
        prepared(kernel.reusable_spec_, number, *kernel.lowered_, std::move(parameters), false);
  }
  return *kernel.reusable_.run;
}

void Device::run_for_values(comp::KernelLaunch& run, comp::FunctionalRunner& runner) {
  progress_.begin();
  const comp::FunctionalRunner::Outcome outcome = runner.run(run);
  progress_.clear();
  end_values(run, runner, outcome);
}

void Device::end_values(comp::KernelLaunch& run, comp::FunctionalRunner& runner,
                        comp::FunctionalRunner::Outcome outcome) {
  untimed_s_ += kUntimedSeconds;
  if (checker_ != nullptr) {
    checker_->end_launch(run);
    if (outcome == comp::FunctionalRunner::Outcome::kDeadlock) checker_->report_stuck_barriers();
    tell_findings();
  }
  if (outcome != comp::FunctionalRunner::Outcome::kDone)
    fail(code_of_fault(runner.fault(), runner.error()), runner.error());
}

void Device::copy(Copy c, Stream& stream, bool wait) {
  check();
  if (c.bytes() == 0) {
    if (wait) synchronize(stream);
    return;
  }
  auto work = std::make_unique<Work>();
  work->kind = Work::Kind::kCopy;
  work->copy = std::move(c);
  // Memory that is not pinned is read before the call returns.
  const bool later = !options_.functional || !open_.empty();
  if (!wait && later && work->copy.staged.empty() && work->copy.direction == Copy::Direction::kHostToDevice &&
      pointer_kind(work->copy.from).memory == PointerKind::Memory::kUnregistered)
    stage(work->copy);
  submit(std::move(work), stream);
  if (wait) synchronize(stream);
}

bool Device::always_waits(const Copy& c) const {
  if ((options_.functional && open_.empty()) || c.bytes() == 0) return false;
  if (std::ranges::any_of(aside_, [](const auto& work) { return work->waits_for_memory; })) return false;
  return c.direction == Copy::Direction::kHostToHost ||
         (c.direction == Copy::Direction::kDeviceToHost &&
          pointer_kind(c.to).memory == PointerKind::Memory::kUnregistered);
}

void Device::fill(const Fill& f, Stream& stream, bool wait) {
  check();
  if (f.bytes() != 0) {
    auto work = std::make_unique<Work>();
    work->kind = Work::Kind::kFill;
    work->fill = f;
    submit(std::move(work), stream);
  }
  if (wait) synchronize(stream);
}

void Device::host_function(std::function<void()> function, Stream& stream,
                           std::function<void(Code)> after_failure) {
  if (fault_ && after_failure && !fault_is_known_) return call_after_failure({std::move(after_failure)});
  check();
  auto work = std::make_unique<Work>();
  work->kind = Work::Kind::kHostFunction;
  work->function = std::move(function);
  work->after_failure = std::move(after_failure);
  submit(std::move(work), stream);
}

void Device::action(std::function<void()> function, Stream& stream) {
  check();
  auto work = std::make_unique<Work>();
  work->kind = Work::Kind::kAction;
  work->function = std::move(function);
  submit(std::move(work), stream);
}

void Device::wait_until(std::function<bool()> ready, Stream& stream) {
  check();
  if (!options_.functional || export_ != nullptr) {
    flush();
    if (ready()) return;
    throw Failure(Code::kNotSupported,
                  "in a timed run and in one with --export a stream cannot wait for a value that is written "
                  "after it was told to wait");
  }
  auto work = std::make_unique<Work>();
  work->kind = Work::Kind::kWait;
  work->ready = std::move(ready);
  submit(std::move(work), stream);
}

void Device::record(Event& event, Stream& stream) {
  check();
  auto work = std::make_unique<Work>();
  work->kind = Work::Kind::kEvent;
  work->event = &event;
  for (const auto* list : {&pending_, &carried_out_})
    for (const auto& earlier : *list)
      if (earlier->event == &event) earlier->event = nullptr;
  event.recorded = true;
  event.reached = false;
  event.work = submit(std::move(work), stream);
  if (event.interprocess) synchronize(event);
}

void Device::wait(Stream& stream, const Event& event) {
  check();
  if (!event.recorded) return;
  if (event.reached)
    note_done(stream.number, event.done_s);
  else
    stream.waits.push_back(event.work);
}

void Device::record_all(Event& event) {
  if (joined_ == nullptr || !is_stream(joined_)) joined_ = &add_stream(false, 0, 0);
  const auto waits_for = [&](const Stream& s) {
    if (s.last_work != 0) joined_->waits.push_back(s.last_work);
  };
  waits_for(legacy_);
  for (const auto& [key, stream] : streams_) waits_for(*stream);
  record(event, *joined_);
}

void Device::wait_all(const Event& event) {
  wait(legacy_, event);
  for (const auto& [key, stream] : streams_) wait(*stream, event);
  std::erase_if(waits_of_new_streams_, [this](uint64_t number) {
    return options_.functional ? !open_.contains(number)
                               : pending_.empty() || number < pending_.front()->number;
  });
  if (event.recorded && !event.reached) waits_of_new_streams_.push_back(event.work);
}

uint64_t Device::take_number(Work& work, Stream& stream) {
  work.number = ++work_count_;
  work.stream = stream.number;
  work.after = std::exchange(stream.waits, {});
  if (&stream == &legacy_) {
    for (const auto& [key, other] : streams_)
      if (other->blocking && other->last_work != 0) work.after.push_back(other->last_work);
    legacy_barrier_ = work.number;
  } else if (stream.blocking && legacy_barrier_ != 0) {
    work.after.push_back(legacy_barrier_);
  }
  if (options_.functional) work.after.push_back(stream.last_work);
  stream.last_work = work.number;
  return work.number;
}

uint64_t Device::submit(std::unique_ptr<Work> work, Stream& stream) {
  const uint64_t number = take_number(*work, stream);
  const bool is_next = options_.functional && open_.empty() && !has_to_wait(*work);
  if (is_next && (work->kind != Work::Kind::kHostFunction || call_back(*work))) {
    carry_out(*work);
    note_carried_out(*work, done_s(stream));
    return number;
  }
  if (options_.functional) open_.insert(number);
  pending_.push_back(std::move(work));
  if (options_.functional) {
    begin_beside();
    go_on();
    return number;
  }
  constexpr size_t kMostPending = 4096;
  if (pending_.size() > kMostPending) flush();
  return number;
}

void Device::move_bytes(Work& work) {
  if (work.kind == Work::Kind::kCopy) copy_rows(work.copy);
  if (work.kind == Work::Kind::kFill) fill_rows(work.fill);
  mark_written(work);
}

/// Of a run for values.
void Device::carry_out(Work& work) {
  untimed_s_ += kUntimedSeconds;
  move_bytes(work);
  if (work.kind == Work::Kind::kAction) work.function();
  if (work.kind == Work::Kind::kEvent && work.event != nullptr) {
    work.event->reached = true;
    work.event->seconds = untimed_s_;
    work.event->done_s = 0;
  }
}

double Device::copy_seconds(Copy::Direction direction, uint64_t bytes) const {
  const auto& host = machine().host;
  if (direction == Copy::Direction::kDeviceToDevice)
    return 2.0 * static_cast<double>(bytes) / std::max(core::dram_peak(machine()), 1.0);
  return host.link_latency_ns * 1e-9 +
         static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(host.link_bytes_per_s, 1));
}

void Device::flush() {
  if (!open_.empty()) return go_on_until([this] { return open_.empty(); });
  wait_for_machine();
  if (pending_.empty() || fault_) return;
  if (live_ == nullptr) {
    comp::LiveRun::Hooks hooks;
    hooks.copied = [this](uint32_t n) {
      move_bytes(*transfers_[n]);
      note_done(transfers_[n]->stream, now_s());
    };
    hooks.marker = [this](uint32_t n, double seconds) {
      Work& w = *markers_[n];
      note_done(w.stream, seconds + untimed_s_);
      if (w.kind == Work::Kind::kHostFunction)
        call_back_and_wait(w);
      else if (w.function)
        w.function();
      if (w.event == nullptr) return;
      w.event->reached = true;
      w.event->seconds = w.event->done_s = seconds + untimed_s_;
    };
    hooks.kernel_ended = [this](const comp::KernelResult& k) {
      tell_findings();
      note_time(k);
      note_done(children_->host_stream(k), k.start_s + k.time_s + untimed_s_);
      children_->end(k.launch);
    };
    hooks.child = [this](uint64_t n) { return children_->start(n); };
    hooks.child_done = [this](uint64_t n) { children_->done(n); };
    try {
      live_ = std::make_unique<comp::LiveRun>(simulation_, *view_, std::move(hooks), checker_.get(),
                                              &host_ranges_);
    } catch (const std::exception& error) {
      in_vain_ = in_vain_ || !options_.out.empty();
      fail(Code::kInitializationError, error.what());
    }
    finish_at_exit(*this);
  }
  asked_.clear();
  // What hooks submit is carried out by the next flush.
  // What is carried out stays until the next flush: of a kernel that fails, the record is written at the end.
  carried_out_ = std::exchange(pending_, {});
  transfers_.clear(), markers_.clear();
  for (const auto& work : carried_out_) {
    comp::LiveRun::Order order{work->stream, {}};
    for (const uint64_t number : work->after)
      if (const auto at = order_.find(number); at != order_.end()) order.after.push_back(at->second);
    uint32_t item = 0;
    if (work->kind == Work::Kind::kLaunch) {
      item = live_->add(work->launch, std::move(order));
    } else if (work->kind == Work::Kind::kCopy || work->kind == Work::Kind::kFill) {
      comp::CopyResult r;
      const bool fill = work->kind == Work::Kind::kFill;
      const void* const place = fill ? work->fill.to
                                : work->copy.direction == Copy::Direction::kDeviceToHost
                                    ? static_cast<const void*>(work->copy.from)
                                    : work->copy.to;
      const core::Allocation* a = memory_.find(reinterpret_cast<uint64_t>(place));
      r.buffer = a == nullptr ? "host memory" : a->name;
      r.stream = work->stream;
      r.to_device = fill || work->copy.direction != Copy::Direction::kDeviceToHost;
      r.bytes = fill ? work->fill.bytes() : work->copy.bytes();
      r.time_s = fill ? static_cast<double>(r.bytes) / std::max(core::dram_peak(machine()), 1.0)
                      : copy_seconds(work->copy.direction, r.bytes);
      const auto number = static_cast<uint32_t>(transfers_.size());
      transfers_.push_back(work.get());
      item = live_->add_copy(std::move(r), std::move(order), number);
    } else {
      const auto number = static_cast<uint32_t>(markers_.size());
      markers_.push_back(work.get());
      item = live_->add_marker(std::move(order), number);
    }
    order_[work->number] = item;
  }
  bool good = false;
  progress_.begin();
  try {
    children_->machine_runs = true;
    machine_thread_ = std::this_thread::get_id();
    // Before the kernels end: a program that is killed leaves the texts of what was simulated.
    live_->record([this](core::Recorder& recorder) { write_new_texts(recorder); });
    good = live_->run();
    children_->machine_runs = false;
    progress_.clear();
  } catch (const Failure& failure) {
    progress_.clear();
    children_->machine_runs = false;
    if (fault_) throw;  // of something that ran for values meanwhile
    fail(failure.code(), failure.what());
  } catch (const std::exception& error) {
    progress_.clear();
    children_->machine_runs = false;
    fail(Code::kUnknown, error.what());
  }
  order_.clear();
  if (std::exchange(names_run_, names_.size()) != names_.size())
    flush_at_exit(*this);  // before what the first run of a kernel has made is destroyed
  if (!good) fail(code_of_fault(live_->result().fault, live_->failure()), live_->failure());
  if (!pending_.empty()) flush();
}

void Device::synchronize() {
  check();
  flush();
  waited(std::max(now_s(), done_s_.empty() ? 0 : *std::ranges::max_element(done_s_)));
  services_.flush();
}

void Device::synchronize(const Stream& stream) {
  check();
  if (open_.empty())
    flush();  // all that comes before it, and what runs beside it
  else
    go_on_until([&] { return !is_waiting(stream); });
  waited(done_s(stream));
  services_.flush();
}

void Device::synchronize(const Event& event) {
  check();
  if (!open_.empty())
    go_on_until([&] { return !event.recorded || event.reached; });
  else if (!event.reached)
    flush();
  waited(event.done_s);
  services_.flush();
}

double Device::now_s() const { return untimed_s_ + (live_ == nullptr ? 0 : live_->now_s()); }

}  // namespace gpusim::runtime
