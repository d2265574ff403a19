#include "microbench/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "microbench/kernels.h"
#include "microbench/probe.h"
#include "simcore/text/input_error.h"

namespace gpusim::microbench {

namespace {

using cuda::Attribute;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr uint32_t kLanesOfWarp = 32;
constexpr uint64_t kLeastAlignment = 256;
/// What methods of microbenchmarks ask for at most, with what stands around it.
constexpr uint64_t kMostArena = uint64_t{5} << 30;
constexpr uint64_t kOtherData = 3;  ///< times the second level
constexpr uint64_t kCopiedTogether = 1u << 16;
constexpr double kEventStep = 1e-6;
constexpr milliseconds kWarmUp{150}, kWarmAgain{15}, kStaysWarm{30};
/// More than one in each page of 2 MB, loaded 1 KB at a time.
constexpr double kStrayLoads = 0.002;
/// The first round of straight code waits for instructions from memory.
constexpr uint32_t kCodeRounds = 3;
constexpr uint32_t kSpinRounds = 2000;
/// While the GPU is busy for so long, the next launch has been handed to it.
constexpr uint32_t kRoundsPerLaunch = 500, kQueued = 16;
constexpr uint32_t kReaderThreads = 256, kReaderBlocksPerSm = 4;

/// spin: rounds of dependent operations. read: all of p_bytes, a multiple of 16 per thread and round.
constexpr const char* kOwnKernels = R"(
	.visible .entry spin (.param .u64 p_out, .param .u32 p_rounds)
	{
	.reg .u32 %r<4>;
	.reg .u64 %rd<2>;
	.reg .f32 %f<2>;
	.reg .pred %p<3>;
	ld.param.u32 	%r1, [p_rounds];
	cvt.rn.f32.u32 	%f1, %r1;
$L_spin:
	fma.rn.f32 	%f1, %f1, %f1, %f1;
	fma.rn.f32 	%f1, %f1, %f1, %f1;
	fma.rn.f32 	%f1, %f1, %f1, %f1;
	fma.rn.f32 	%f1, %f1, %f1, %f1;
	sub.u32 	%r1, %r1, 1;
	setp.ne.u32 	%p1, %r1, 0;
	@%p1 bra 	$L_spin;
	setp.eq.f32 	%p2, %f1, 0f4CEB79A3;
	ld.param.u64 	%rd1, [p_out];
	@%p2 st.global.f32 	[%rd1], %f1;
	exit;
	}
	.visible .entry read (.param .u64 p_a, .param .u64 p_bytes)
	{
	.reg .u32 %r<12>;
	.reg .u64 %rd<8>;
	.reg .pred %p<3>;
	ld.param.u64 	%rd1, [p_a];
	ld.param.u64 	%rd2, [p_bytes];
	mov.u32 	%r1, %tid.x;
	mov.u32 	%r2, %ntid.x;
	mov.u32 	%r3, %ctaid.x;
	mov.u32 	%r4, %nctaid.x;
	mad.lo.u32 	%r5, %r3, %r2, %r1;
	mul.wide.u32 	%rd3, %r5, 16;
	mul.lo.u32 	%r6, %r4, %r2;
	mul.wide.u32 	%rd4, %r6, 16;
	mov.u32 	%r11, 0;
$L_read:
	setp.ge.u64 	%p1, %rd3, %rd2;
	@%p1 bra 	$L_read_all;
	add.u64 	%rd5, %rd1, %rd3;
	ld.global.v4.u32 	{%r7, %r8, %r9, %r10}, [%rd5];
	or.b32 	%r7, %r7, %r8;
	or.b32 	%r9, %r9, %r10;
	or.b32 	%r7, %r7, %r9;
	or.b32 	%r11, %r11, %r7;
	add.u64 	%rd3, %rd3, %rd4;
	bra 	$L_read;
$L_read_all:
	setp.eq.u32 	%p2, %r11, 123456789;
	@%p2 st.global.u32 	[%rd1], %r11;
	exit;
	}
)";

[[noreturn]] void refuse(const std::string& what) {
  throw core::InputError(fmt::format("gpusim: error: microbenchmark: {}", what));
}

/// What fails in the driver is wrong input, as what fails in the simulator is.
template <class Work>
auto reporting(Work&& work) {
  try {
    return work();
  } catch (const cuda::Error& e) {
    refuse(e.what());
  }
}

uint64_t rounded_up(uint64_t v, uint64_t to) { return (v + to - 1) / to * to; }

DeviceProperties properties_of(const cuda::Gpu& gpu) {
  const auto number = [&gpu](Attribute a) { return static_cast<uint32_t>(std::max(gpu.attribute(a), 0)); };
  DeviceProperties p;
  p.capability = gpu.capability();
  p.sms = number(Attribute::kMultiprocessors);
  p.threads_per_block = number(Attribute::kThreadsPerBlock);
  p.warps_per_sm = number(Attribute::kThreadsPerMultiprocessor) / kLanesOfWarp;
  p.shared_bytes = std::max(number(Attribute::kSharedPerBlock), number(Attribute::kSharedPerBlockOnRequest));
  p.memory_bytes = gpu.memory_bytes();
  p.core_hz = 1e3 * number(Attribute::kClockKhz);
  p.event_step = kEventStep;
  p.stray_loads = kStrayLoads;
  p.code_rounds = kCodeRounds;
  p.keeps_to_sms = false;
  return p;
}

}  // namespace

std::string own_kernels(const DeviceProperties& device) { return module_header(device) + kOwnKernels; }

CudaDevice::CudaDevice(int ordinal) {
  // Kernels that are loaded when they are first launched would be so within what events time.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  reporting([&] {
    driver_ = std::make_unique<cuda::Driver>();
    gpu_ = std::make_unique<cuda::Gpu>(*driver_, ordinal);
    properties_ = properties_of(*gpu_);
    own_ = std::make_unique<cuda::Module>(*driver_, own_kernels(properties_));
    other_bytes_ = kOtherData * static_cast<uint64_t>(std::max(gpu_->attribute(Attribute::kL2Bytes), 0));
    other_ = std::make_unique<cuda::Memory>(*driver_, other_bytes_);
    if (other_bytes_ != 0)
      driver_->check(driver_->cuMemsetD8_(other_->address, 0, other_bytes_), "clearing memory");
    // One allocation for all programs: what one finds out about addresses must be true in the next.
    size_t free = 0, total = 0;
    driver_->check(driver_->cuMemGetInfo_(&free, &total), "asking for free memory");
    const uint64_t bytes = std::min<uint64_t>(free / 10 * 9, kMostArena);
    arena_ = std::make_unique<cuda::Memory>(*driver_, bytes);
    arena_begin_ = rounded_up(arena_->address, kBufferAlignment);
    arena_bytes_ = bytes - std::min<uint64_t>(bytes, arena_begin_ - arena_->address);
    warm_up();
  });
}

std::string CudaDevice::description() const {
  return reporting(
      [&] { return fmt::format("{} (driver of CUDA {})", gpu_->name(), gpu_->driver_version()); });
}

std::vector<Outcome> CudaDevice::run(std::span<const Program> programs) {
  return reporting([&] {
    std::vector<Outcome> outcomes;
    outcomes.reserve(programs.size());
    for (const Program& p : programs) outcomes.push_back(run_program(p));
    return outcomes;
  });
}

Outcome CudaDevice::run_program(const Program& p) {
  for (const Launch& l : p.launches)
    if (p.sms != 0 && l.blocks > p.sms && !l.anywhere)
      refuse(fmt::format("no program can keep {} blocks of a launch to {} SM{} of a real GPU", l.blocks,
                         p.sms, p.sms == 1 ? "" : "s"));
  const std::vector<Place> places = places_of(p);
  Outcome outcome;
  const cuda::Module& module = module_of(p.ptx);
  warm_up();
  // Straight code waits for instructions from memory when it is run for the first time.
  const bool again = last_ != &module;
  last_ = &module;
  for (int run = again ? 0 : 1; run < 2; ++run) {
    fill(p, places);
    read_other_data();
    outcome.seconds = launch_all(p, module, places);
  }
  read_back(p, places, outcome);
  idle_since_ = steady_clock::now();
  return outcome;
}

/// The first buffer begins where it begins in every program, aligned as methods take it to be.
std::vector<CudaDevice::Place> CudaDevice::places_of(const Program& p) const {
  std::vector<Place> places;
  uint64_t at = 0;
  for (const Buffer& b : p.buffers) {
    at = rounded_up(at, std::clamp(std::bit_ceil(b.bytes), kLeastAlignment, kBufferAlignment));
    places.push_back({at, at + b.bytes});
    at += b.bytes;
  }
  if (at > arena_bytes_)
    refuse(fmt::format("buffers need {} MB of memory, and {} MB can be had", at >> 20, arena_bytes_ >> 20));
  return places;
}

/// Zeros, then contents: those close to each other in one copy.
void CudaDevice::fill(const Program& p, const std::vector<Place>& places) const {
  if (places.empty() || places.back().end == 0) return;
  driver_->check(driver_->cuMemsetD8_(arena_begin_, 0, places.back().end), "clearing buffers");
  std::vector<std::byte> staged;
  uint64_t begin = 0;
  const auto write = [&] {
    if (!staged.empty())
      driver_->check(driver_->cuMemcpyHtoD_(arena_begin_ + begin, staged.data(), staged.size()),
                     "writing buffers");
    staged.clear();
  };
  for (size_t i = 0; i < places.size(); ++i) {
    const std::vector<uint32_t>& content = p.buffers[i].content;
    if (content.empty()) continue;
    if (staged.empty() || places[i].begin > begin + staged.size() + kCopiedTogether) {
      write();
      begin = places[i].begin;
    }
    const uint64_t at = places[i].begin - begin;
    const uint64_t bytes = std::min<uint64_t>(content.size() * 4, p.buffers[i].bytes);
    staged.resize(at + bytes);
    std::memcpy(staged.data() + at, content.data(), bytes);
  }
  write();
}

std::vector<double> CudaDevice::launch_all(const Program& p, const cuda::Module& module,
                                           const std::vector<Place>& places) {
  std::map<std::string, cuda::CUfunction, std::less<>> functions;
  std::map<std::string, uint32_t, std::less<>> shared;
  for (const Launch& l : p.launches) {
    functions.try_emplace(l.kernel, nullptr);
    shared[l.kernel] = std::max(shared[l.kernel], l.shared_bytes);
  }
  for (auto& [name, function] : functions) {
    function = module.function(name);
    cuda::allow_shared(*driver_, function, shared[name]);
  }
  while (events_.size() <= p.launches.size()) events_.push_back(std::make_unique<cuda::Event>(*driver_));
  finish("clearing caches");
  // Launches wait for each other, not for whoever hands them over.
  spin(1, kRoundsPerLaunch * static_cast<uint32_t>(std::min<size_t>(p.launches.size() + 1, kQueued)));
  for (size_t i = 0; i < p.launches.size(); ++i) {
    const Launch& l = p.launches[i];
    std::vector<uint64_t> values;
    for (const Argument& a : l.arguments)
      values.push_back(a.is_buffer ? arena_begin_ + places[a.value].begin : a.value);
    std::vector<void*> arguments;
    for (uint64_t& v : values) arguments.push_back(&v);
    events_[i]->record();
    cuda::launch(*driver_, functions.find(l.kernel)->second,
                 {{l.blocks, 1, 1}, {l.threads, 1, 1}, l.shared_bytes}, std::move(arguments), l.kernel);
  }
  events_[p.launches.size()]->record();
  finish("running the kernels");
  std::vector<double> seconds;
  for (size_t i = 0; i < p.launches.size(); ++i)
    seconds.push_back(events_[i + 1]->seconds_since(*events_[i]));
  return seconds;
}

void CudaDevice::read_back(const Program& p, const std::vector<Place>& places, Outcome& outcome) const {
  std::vector<std::byte> copied;
  uint64_t begin = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    outcome.buffers.emplace_back(p.buffers[i].read_back ? p.buffers[i].bytes / 4 : 0);
    std::vector<uint32_t>& words = outcome.buffers.back();
    if (words.empty()) continue;
    if (copied.empty() || places[i].end > begin + copied.size()) {
      // All that is read and lies close together, in one copy.
      begin = places[i].begin;
      uint64_t end = places[i].end;
      for (size_t k = i + 1; k < places.size() && places[k].begin <= end + kCopiedTogether; ++k)
        if (p.buffers[k].read_back) end = places[k].end;
      copied.resize(end - begin);
      driver_->check(driver_->cuMemcpyDtoH_(copied.data(), arena_begin_ + begin, copied.size()),
                     "reading buffers");
    }
    std::memcpy(words.data(), copied.data() + (places[i].begin - begin), words.size() * 4);
  }
}

const cuda::Module& CudaDevice::module_of(const std::string& ptx) {
  auto found = modules_.find(ptx);
  if (found == modules_.end())
    found = modules_.emplace(ptx, std::make_unique<cuda::Module>(*driver_, ptx)).first;
  return *found->second;
}

void CudaDevice::warm_up() {
  const auto begin = steady_clock::now();
  const bool first = idle_since_ == steady_clock::time_point();
  if (!first && begin - idle_since_ < kStaysWarm) return;
  while (steady_clock::now() - begin < (first ? kWarmUp : kWarmAgain)) {
    spin(properties_.sms, kSpinRounds);
    finish("warming up");
  }
  idle_since_ = steady_clock::now();
}

void CudaDevice::spin(uint32_t blocks, uint32_t rounds) const {
  uint64_t out = other_->address;
  cuda::launch(*driver_, own_->function("spin"), {{blocks, 1, 1}, {kLanesOfWarp, 1, 1}, 0}, {&out, &rounds},
               "spin");
}

/// Fills the second level with clean lines of something else.
void CudaDevice::read_other_data() const {
  uint64_t address = other_->address, bytes = other_bytes_;
  if (bytes == 0) return;
  cuda::launch(*driver_, own_->function("read"),
               {{kReaderBlocksPerSm * properties_.sms, 1, 1}, {kReaderThreads, 1, 1}, 0}, {&address, &bytes},
               "read");
}

void CudaDevice::finish(const char* what) const { driver_->check(driver_->cuCtxSynchronize_(), what); }

}  // namespace gpusim::microbench
