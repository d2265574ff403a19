// Launches: what becomes of one, and how it runs for its values.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/device/children.h"
#include "runtime/device/work.h"
#include "simcore/text/input_error.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::runtime {

namespace {

/// Barriers of cooperative launches: so many may be under way.
constexpr uint64_t kCooperativeLaunches = 64, kCooperativeBytes = 256;

}  // namespace

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

uint64_t Device::check_cooperative(const LaunchRequest& r, const isa::KernelImage& image,
                                   const SmPart* part) {
  const uint64_t threads = uint64_t{r.block.x} * r.block.y * r.block.z;
  const uint64_t blocks = uint64_t{r.grid.x} * r.grid.y * r.grid.z;
  const uint64_t sms = part != nullptr     ? part->sms.size()
                       : options_.sms != 0 ? options_.sms
                                           : machine().gpu.sms;
  const auto together =
      static_cast<uint64_t>(blocks_per_sm(*r.kernel, static_cast<uint32_t>(threads), r.dynamic_shared));
  if (blocks > together * sms)
    throw Failure(Code::kCooperativeLaunchTooLarge,
                  fmt::format("kernel '{}': {} blocks, {} fit the machine at a time",
                              core::demangled(image.name), blocks, together * sms));
  if (cooperative_ == 0)
    cooperative_ = memory_.allocate(kCooperativeLaunches * kCooperativeBytes, core::DeviceMemory::kAlign,
                                    "barriers of cooperative launches");
  return cooperative_ + launch_count_ % kCooperativeLaunches * kCooperativeBytes;
}

core::LaunchSpec Device::spec_of(const LaunchRequest& r, const isa::KernelImage& image,
                                 const Stream& stream) {
  core::LaunchSpec spec;
  spec.kernel = image.name;
  spec.grid[0] = r.grid.x, spec.grid[1] = r.grid.y, spec.grid[2] = r.grid.z;
  spec.block[0] = r.block.x, spec.block[1] = r.block.y, spec.block[2] = r.block.z;
  spec.dynamic_shared = r.dynamic_shared;
  if (const auto cluster = cluster_of(r, image))
    spec.cluster[0] = cluster->x, spec.cluster[1] = cluster->y, spec.cluster[2] = cluster->z;
  spec.non_portable_cluster = r.kernel->non_portable_cluster;
  spec.stream = stream.number;
  return spec;
}

void Device::launch(const LaunchRequest& r, Stream& stream) {
  check();
  if (finished_) throw Failure(Code::kInitializationError);
  services_.flush();
  Kernel& kernel = *r.kernel;
  const isa::KernelImage& image = check_launch(r);
  const SmPart* const part = part_of(stream);
  if (part != nullptr) check_part(r, image, *part);
  const uint64_t barrier = r.cooperative ? check_cooperative(r, image, part) : 0;
  core::LaunchSpec spec = spec_of(r, image, stream);
  ++kernel.launches_;
  const uint64_t number = launch_count_++;
  const bool timed = is_timed(kernel, number);
  note_launch(kernel, {nullptr, r.grid, r.block, stream.number, timed});
  try {
    services_.prepare(image, memory_);
  } catch (const core::InputError& error) {
    throw Failure(Code::kMemoryAllocation, error.what());
  }
  if (!timed && open_.empty()) {
    flush();
    comp::KernelLaunch& run = launch_for_values(kernel, spec, number, parameters_of(r, image));
    run.grid_workspace = barrier;
    return launch_now(kernel, image, run, number, stream);
  }
  auto work = std::make_unique<Work>();
  work->spec = std::move(spec);
  work->launch = prepared(work->spec, number, *kernel.lowered_, parameters_of(r, image), timed);
  work->launch.run->grid_workspace = barrier;
  if (timed) {
    if (part != nullptr) work->launch.run->part = part->mask;
    if (Children::may_launch(image))
      children_->begin(static_cast<uint32_t>(number), kernel, true, stream.number);
    ++timed_count_;
  } else {
    work->kernel = &kernel;
  }
  submit(std::move(work), stream);
}

void Device::launch_now(Kernel& kernel, const isa::KernelImage& image, comp::KernelLaunch& run,
                        uint64_t number, Stream& stream) {
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

}  // namespace gpusim::runtime
