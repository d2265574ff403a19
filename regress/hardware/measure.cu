// Runs what `gpusim export` wrote on a GPU and writes what it took as JSON (docs/correlate.md):
//
//   measure [--repeats N] [--device N] [--cache cold|warm] [--power SECONDS] --out FILE.json PLAN_FOLDER...
//   measure --profile [--device N] PLAN_FOLDER...     launches each once, for a profiler; writes nothing
//   measure --dry-run PLAN_FOLDER...     prints what would run; needs no GPU
//   measure --rehearse --out FILE.json PLAN_FOLDER...     writes the file without measuring; needs no GPU
//
// Each repetition starts from the buffers' first contents and an L2 full of other data that nobody wrote
// (with `--cache warm`, from what the same launches left in the caches a moment ago). It is run twice: with a
// kernel before and after each launch that notes the clock of every SM (an SM's clock tells how long the
// launch took in core cycles, whatever the frequency; the same around an empty kernel is taken off), and with
// events. What the core clock was is measured before and after a plan's repetitions: a kernel spins for a
// number of its SM's clocks between two events. `--power` then repeats the launches for so many seconds
// without pauses and reads the board's energy counter before and after.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>

#include "board.h"
#include "plan.h"
#include "results.h"
#include "simcore/cuda_driver/driver.h"
#include "simcore/text/sha256.h"

namespace hardware {

namespace {

using gpusim::cuda::Attribute;
using gpusim::cuda::CUdeviceptr;
using gpusim::cuda::CUfunction;
using gpusim::cuda::CUresult;
using gpusim::cuda::Driver;
using gpusim::cuda::Event;
using gpusim::cuda::FunctionAttribute;
using gpusim::cuda::Gpu;
using gpusim::cuda::Memory;
using gpusim::cuda::Module;

// The last clock of an SM before, and the first one after. `%s`: the target.
const char* const kStamps = R"(.version 6.4
.target %s
.address_size 64
.visible .entry before (.param .u64 p_out)
{
  .reg .u32 %%r<3>; .reg .u64 %%rd<6>;
  ld.param.u64 %%rd1, [p_out];
  mov.u32 %%r1, %%smid;
  mul.wide.u32 %%rd2, %%r1, 8;
  add.u64 %%rd3, %%rd1, %%rd2;
  mov.u64 %%rd4, %%clock64;
  atom.global.max.u64 %%rd5, [%%rd3], %%rd4;
  ret;
}
.visible .entry after (.param .u64 p_out)
{
  .reg .u32 %%r<3>; .reg .u64 %%rd<6>;
  mov.u64 %%rd4, %%clock64;
  ld.param.u64 %%rd1, [p_out];
  mov.u32 %%r1, %%smid;
  mul.wide.u32 %%rd2, %%r1, 8;
  add.u64 %%rd3, %%rd1, %%rd2;
  atom.global.min.u64 %%rd5, [%%rd3], %%rd4;
  ret;
}
.visible .entry empty ()
{
  ret;
}
.visible .entry spin (.param .u64 p_clocks)
{
  .reg .u64 %%rd<5>; .reg .pred %%p;
  ld.param.u64 %%rd1, [p_clocks];
  mov.u64 %%rd2, %%clock64;
again:
  mov.u64 %%rd3, %%clock64;
  sub.u64 %%rd4, %%rd3, %%rd2;
  setp.lt.u64 %%p, %%rd4, %%rd1;
  @%%p bra again;
  ret;
}
.visible .entry read_all (.param .u64 p_words, .param .u64 p_end)
{
  .reg .u32 %%r<10>; .reg .u64 %%rd<6>; .reg .pred %%p;
  ld.param.u64 %%rd1, [p_words];
  ld.param.u64 %%rd2, [p_end];
  mov.u32 %%r1, %%ctaid.x;
  mov.u32 %%r2, %%ntid.x;
  mov.u32 %%r3, %%tid.x;
  mad.lo.u32 %%r4, %%r1, %%r2, %%r3;
  mul.wide.u32 %%rd3, %%r4, 16;
  add.u64 %%rd4, %%rd1, %%rd3;
  setp.ge.u64 %%p, %%rd4, %%rd2;
  @%%p ret;
  ld.global.cg.v4.u32 {%%r5, %%r6, %%r7, %%r8}, [%%rd4];
  or.b32 %%r9, %%r5, %%r6;
  or.b32 %%r9, %%r9, %%r7;
  or.b32 %%r9, %%r9, %%r8;
  setp.ne.u32 %%p, %%r9, 0x01020304;
  @%%p ret;
  st.global.u32 [%%rd1], %%r9;
  ret;
}
)";
constexpr int kStampBlocks = 4;  // of each SM, so that each gets one
constexpr int kMostSms = 1024;
constexpr int kWarmUp = 1;  // repetitions that do not count
constexpr uint64_t kLeastFlush = 64 << 20;
constexpr uint64_t kSpinClocks = 1'000'000;
constexpr double kClockTolerance = 0.005;   // a core clock that is this near the highest is the highest
constexpr uint64_t kQueueClocks = 400'000;  // of a kernel that runs while others are queued behind it
constexpr uint64_t kQueueClocksALaunch = 40'000;
constexpr uint64_t kSpareBytes = uint64_t{2} << 30;

DeviceInfo info_of(const Gpu& gpu) {
  DeviceInfo info;
  info.name = gpu.name();
  info.driver = gpu.driver_version();
  info.memory_bytes = gpu.memory_bytes();
  info.capability = gpu.capability();
  info.sms = gpu.attribute(Attribute::kMultiprocessors);
  info.core_khz = gpu.attribute(Attribute::kClockKhz);
  info.memory_khz = gpu.attribute(Attribute::kMemoryClockKhz);
  info.l2_bytes = static_cast<uint64_t>(gpu.attribute(Attribute::kL2Bytes));
  return info;
}

/// Clocks of all SMs around launches.
class Stamps {
 public:
  explicit Stamps(const Gpu& gpu)
      : gpu_(gpu),
        module_(gpu.driver(), text(gpu.capability())),
        before_(gpu.driver(), 8 * kMostSms),
        after_(gpu.driver(), 8 * kMostSms) {}

  /// Median over the SMs of the clocks that pass between the two notes around `launch`.
  template <class Launcher>
  double around(Launcher&& launch) const {
    const Driver& d = gpu_.driver();
    d.check(d.cuMemsetD8_(before_.address, 0, 8 * kMostSms), "clearing clocks");
    d.check(d.cuMemsetD8_(after_.address, 0xff, 8 * kMostSms), "clearing clocks");
    occupy(kQueueClocks);
    note("before", before_);
    launch();
    note("after", after_);
    d.check(d.cuCtxSynchronize_(), "running a kernel");
    std::vector<uint64_t> first(kMostSms), last(kMostSms);
    d.check(d.cuMemcpyDtoH_(first.data(), before_.address, 8 * kMostSms), "reading clocks");
    d.check(d.cuMemcpyDtoH_(last.data(), after_.address, 8 * kMostSms), "reading clocks");
    std::vector<double> clocks;
    for (int i = 0; i < kMostSms; ++i)
      if (first[i] != 0 && last[i] != ~uint64_t{0} && last[i] > first[i])
        clocks.push_back(static_cast<double>(last[i] - first[i]));
    if (clocks.empty()) throw Error("no SM noted its clock before and after the kernel");
    return median(clocks);
  }
  /// Clocks per second of an SM, at this moment.
  double clock_hz() const {
    uint64_t clocks = 0;
    const auto seconds = [&](uint64_t n) {
      clocks = n;
      return seconds_of([&] { start("spin", 1, 1, {&clocks}); });
    };
    const double once = seconds(kSpinClocks);  // events and the launch are in both
    return static_cast<double>(kSpinClocks) / (seconds(2 * kSpinClocks) - once);
  }
  /// A block spins: meanwhile what follows is queued, so that no time passes between one and the next but the
  /// GPU's own.
  void occupy(uint64_t clocks) const { start("spin", 1, 1, {&clocks}); }
  /// Keeps all SMs busy, so that the clocks of a GPU that idled come up.
  void wake() const {
    uint64_t clocks = 200 * kSpinClocks;
    start("spin", static_cast<unsigned>(gpu_.attribute(Attribute::kMultiprocessors)), 128, {&clocks});
    gpu_.driver().check(gpu_.driver().cuCtxSynchronize_(), "waking the GPU");
  }
  /// From one event to the next around launches.
  template <class Launcher>
  double seconds_of(Launcher&& launch) const {
    const Driver& d = gpu_.driver();
    const Event from(d), to(d);
    occupy(kQueueClocks);
    from.record();
    launch();
    to.record();
    d.check(d.cuCtxSynchronize_(), "running kernels");
    return to.seconds_since(from);
  }
  /// Reads so many bytes through the L2, which then holds them as memory does: nothing is left to be written
  /// back.
  void read_all(CUdeviceptr from, uint64_t bytes) const {
    CUdeviceptr end = from + bytes;
    constexpr uint64_t kThreads = 256, kBytes = 16 * kThreads;
    start("read_all", static_cast<unsigned>((bytes + kBytes - 1) / kBytes), kThreads, {&from, &end});
  }
  /// Time around a kernel that does nothing: what the method itself takes.
  double empty(int repeats) const {
    std::vector<double> clocks;
    for (int i = 0; i < kWarmUp + repeats; ++i) {
      const double c = around([&] { start("empty", 1, 1, {}); });
      if (i >= kWarmUp) clocks.push_back(c);
    }
    return median(clocks);
  }

 private:
  static std::string text(int capability) {
    char all[4096], target[16];
    // Newer GPUs take PTX for older ones.
    std::snprintf(target, sizeof target, "sm_%d", std::min(capability, 75));
    std::snprintf(all, sizeof all, kStamps, target);
    return all;
  }
  void start(const char* kernel, unsigned blocks, unsigned threads, std::vector<void*> arguments) const {
    gpusim::cuda::launch(gpu_.driver(), module_.function(kernel), {{blocks, 1, 1}, {threads, 1, 1}, 0},
                         std::move(arguments), kernel);
  }
  void note(const char* kernel, const Memory& memory) const {
    CUdeviceptr address = memory.address;
    start(kernel, static_cast<unsigned>(kStampBlocks * gpu_.attribute(Attribute::kMultiprocessors)), 1,
          {&address});
  }
  const Gpu& gpu_;
  Module module_;
  Memory before_, after_;
};

/// A plan on the GPU.
class Runner {
 public:
  Runner(const Gpu& gpu, const Stamps& stamps, const Plan& plan, bool warm)
      : gpu_(gpu),
        stamps_(stamps),
        plan_(plan),
        warm_(warm),
        module_(gpu.driver(), plan.ptx),
        flush_bytes_(
            std::max<uint64_t>(2 * static_cast<uint64_t>(gpu.attribute(Attribute::kL2Bytes)), kLeastFlush)),
        flush_(gpu.driver(), flush_bytes_) {
    check(gpu.driver().cuMemsetD8_(flush_.address, 1, flush_bytes_), "clearing what fills the cache");
    uint64_t bytes = 0;
    for (const Buffer& b : plan.buffers) {
      if (!b.is_variable) memory_.push_back(std::make_unique<Memory>(gpu.driver(), b.bytes));
      address_.push_back(b.is_variable ? module_.variable(b.name, b.bytes) : memory_.back()->address);
      bytes += b.bytes;
    }
    // First contents wait in the GPU's memory, if it has room for them twice: from the host they would take
    // long.
    const bool twice = 2 * bytes + flush_bytes_ + kSpareBytes < gpu.memory_bytes();
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      std::vector<unsigned char> content = first_content(i);
      if (twice && !content.empty()) {
        copies_.push_back(std::make_unique<Memory>(gpu.driver(), content.size()));
        check(gpu.driver().cuMemcpyHtoD_(copies_.back()->address, content.data(), content.size()),
              "writing a buffer");
        content.clear();
      } else {
        copies_.push_back(nullptr);
      }
      content_.push_back(std::move(content));
    }
    for (const Launch& l : plan.launches) {
      functions_.push_back(module_.function(l.kernel));
      gpusim::cuda::allow_shared(gpu.driver(), functions_.back(), l.shared_bytes);
    }
  }

  RunResult run(int repeats, double empty) {
    RunResult result;
    result.kernels.resize(plan_.launches.size());
    for (size_t i = 0; i < functions_.size(); ++i)
      check(gpu_.driver().cuFuncGetAttribute_(&result.kernels[i].registers, FunctionAttribute::kRegisters,
                                              functions_[i]),
            "asking for registers");
    std::vector<double> clocks_per_second = {stamps_.clock_hz()};
    for (int r = 0; r < kWarmUp + repeats; ++r) {
      const std::vector<double> clocks = by_clocks();
      note_buffers(result, r == 0 && !warm_, r >= kWarmUp);
      const std::vector<double> seconds = by_events();
      for (size_t i = 0; r >= kWarmUp && i < clocks.size(); ++i) {
        result.kernels[i].clock64.push_back(std::max(clocks[i] - empty, 1.0));
        result.kernels[i].event_seconds.push_back(seconds[i]);
      }
    }
    clocks_per_second.push_back(stamps_.clock_hz());
    result.core_hz = median(clocks_per_second);
    return result;
  }
  /// Repeats the launches, one after the other, for at least so many seconds; and before, as long as it takes
  /// to be warm.
  void draw_power(const Board& board, double seconds, RunResult& result) {
    restore();
    const double once = std::max(stamps_.seconds_of([&] { start_all(); }), 1e-6);
    const auto batch = static_cast<uint64_t>(std::clamp(kBatchSeconds / once, 1.0, 20000.0));
    uint64_t repeats = 0;
    double taken = 0;
    for (bool counts : {false, true}) {
      const double limit = counts ? seconds : kHeatSeconds;
      repeats = 0, taken = 0;
      const double before = board.joules();
      const auto begin = std::chrono::steady_clock::now();
      do {
        stamps_.seconds_of([&] {
          for (uint64_t i = 0; i < batch; ++i) start_all();
        });
        repeats += batch;
        taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      } while (taken < limit);
      result.power_w = (board.joules() - before) / taken;
    }
    result.power_seconds = taken / static_cast<double>(repeats);
    result.power_core_hz = stamps_.clock_hz();
  }
  /// For a profiler.
  void once() const {
    restore();
    start_all();
    check(gpu_.driver().cuCtxSynchronize_(), "running the kernels");
  }

 private:
  static constexpr double kBatchSeconds = 0.05, kHeatSeconds = 0.4;

  void check(CUresult result, const std::string& what) const { gpu_.driver().check(result, what); }
  /// Empty: zeros.
  std::vector<unsigned char> first_content(size_t i) const {
    const Buffer& b = plan_.buffers[i];
    std::vector<unsigned char> content = b.content;
    if (b.of_module || !b.addresses.empty()) content.resize(b.bytes);
    if (b.of_module)
      check(gpu_.driver().cuMemcpyDtoH_(content.data(), address_[i], b.bytes), "reading a variable");
    for (const Address& a : b.addresses) {
      const CUdeviceptr value = address_[a.target] + a.offset;
      std::memcpy(content.data() + a.at, &value, sizeof value);
    }
    return content;
  }
  void restore() const {
    const Driver& d = gpu_.driver();
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      const Buffer& b = plan_.buffers[i];
      if (b.bytes == 0) continue;
      if (copies_[i] != nullptr)
        check(d.cuMemcpyDtoD_(address_[i], copies_[i]->address, b.bytes), "writing a buffer");
      else if (content_[i].empty())
        check(d.cuMemsetD8_(address_[i], 0, b.bytes), "clearing a buffer");
      else
        check(d.cuMemcpyHtoD_(address_[i], content_[i].data(), b.bytes), "writing a buffer");
    }
    if (warm_)
      start_all();
    else
      stamps_.read_all(flush_.address, flush_bytes_);
    check(d.cuCtxSynchronize_(), "writing buffers");
  }
  void start(size_t i) const {
    const Launch& l = plan_.launches[i];
    std::vector<CUdeviceptr> addresses(l.arguments.size());
    std::vector<void*> values;
    for (size_t a = 0; a < l.arguments.size(); ++a) {
      if (l.arguments[a].is_buffer) addresses[a] = address_[l.arguments[a].buffer];
      values.push_back(l.arguments[a].is_buffer ? static_cast<void*>(&addresses[a])
                                                : const_cast<unsigned char*>(l.arguments[a].bytes.data()));
    }
    gpusim::cuda::launch(
        gpu_.driver(), functions_[i],
        {{l.grid[0], l.grid[1], l.grid[2]}, {l.block[0], l.block[1], l.block[2]}, l.shared_bytes},
        std::move(values), l.kernel);
  }
  void start_all() const {
    for (size_t i = 0; i < functions_.size(); ++i) start(i);
  }
  std::vector<double> by_clocks() const {
    restore();
    std::vector<double> clocks;
    for (size_t i = 0; i < functions_.size(); ++i) clocks.push_back(stamps_.around([&] { start(i); }));
    return clocks;
  }
  std::vector<double> by_events() const {
    const Driver& d = gpu_.driver();
    restore();
    std::vector<std::unique_ptr<Event>> events;
    for (size_t i = 0; i <= functions_.size(); ++i) events.push_back(std::make_unique<Event>(d));
    stamps_.occupy(kQueueClocks + kQueueClocksALaunch * functions_.size());
    for (size_t i = 0; i < functions_.size(); ++i) {
      events[i]->record();
      start(i);
    }
    events.back()->record();
    check(d.cuCtxSynchronize_(), "running the kernels");
    std::vector<double> seconds;
    for (size_t i = 0; i < functions_.size(); ++i)
      seconds.push_back(events[i + 1]->seconds_since(*events[i]));
    return seconds;
  }
  /// Hashes of what came out, and clocks from kernels that note their own (a buffer with the kernel's name).
  void note_buffers(RunResult& result, bool hashes, bool counts) const {
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      const bool clocks =
          counts && std::any_of(plan_.launches.begin(), plan_.launches.end(),
                                [&](const Launch& l) { return notes_clocks(plan_.buffers[i], l); });
      if (!hashes && !clocks) continue;
      std::vector<unsigned char> content(plan_.buffers[i].bytes);
      if (!content.empty())
        check(gpu_.driver().cuMemcpyDtoH_(content.data(), address_[i], content.size()), "reading a buffer");
      if (hashes)
        result.hashes.push_back(
            gpusim::core::sha256_hex({reinterpret_cast<const char*>(content.data()), content.size()}));
      for (size_t k = 0; clocks && k < plan_.launches.size(); ++k)
        if (notes_clocks(plan_.buffers[i], plan_.launches[k]))
          result.kernels[k].clock_buffer.push_back(elapsed(content));
    }
  }
  static double elapsed(const std::vector<unsigned char>& content) {
    std::vector<uint32_t> words(content.size() / 4);
    std::memcpy(words.data(), content.data(), content.size());
    int64_t first = 0, last = 0;
    for (size_t i = 0; i < words.size(); i += kClockWords) {
      first = std::min<int64_t>(first, static_cast<int32_t>(words[i] - words[0]));
      last = std::max<int64_t>(last, static_cast<int32_t>(words[i + 1] - words[0]));
    }
    return static_cast<double>(last - first);
  }

  const Gpu& gpu_;
  const Stamps& stamps_;
  const Plan& plan_;
  bool warm_;
  Module module_;
  uint64_t flush_bytes_;
  Memory flush_;
  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<CUdeviceptr> address_;             // of the plan's buffers and variables
  std::vector<std::unique_ptr<Memory>> copies_;  // of their first contents; null: in content_
  std::vector<std::vector<unsigned char>> content_;
  std::vector<CUfunction> functions_;
};

constexpr char kDigits[] = "0123456789abcdef";

void print_plans(const std::vector<Plan>& plans) {
  for (const Plan& p : plans) {
    std::cout << p.name << ": " << p.record_ptx << ", " << p.record_launch
              << (p.fitting ? ", for fitting" : "") << "\n";
    for (const Buffer& b : p.buffers)
      std::cout << (b.is_variable ? "  variable " : "  buffer ") << b.name << ": " << b.bytes << " bytes"
                << (b.of_module         ? " as the module has them"
                    : b.content.empty() ? " of zeros"
                                        : "")
                << "\n";
    for (const Launch& l : p.launches) {
      std::cout << "  kernel " << l.kernel << ": grid " << l.grid[0] << "," << l.grid[1] << "," << l.grid[2]
                << " block " << l.block[0] << "," << l.block[1] << "," << l.block[2] << " shared "
                << l.shared_bytes << " (";
      for (size_t i = 0; i < l.arguments.size(); ++i) {
        std::cout << (i == 0 ? "" : ", ");
        if (l.arguments[i].is_buffer)
          std::cout << p.buffers[l.arguments[i].buffer].name;
        else
          for (const unsigned char b : l.arguments[i].bytes) std::cout << kDigits[b >> 4] << kDigits[b & 15];
      }
      std::cout << ")\n";
    }
  }
}

struct Options {
  bool dry_run = false, rehearse = false, profile = false, warm = false;
  int repeats = 11, device = 0, power_seconds = 0;
  std::string out;
  std::vector<std::string> folders;
};

constexpr const char* kUsage =
    "usage: measure [--repeats N] [--device N] [--cache cold|warm] [--power SECONDS] --out FILE.json "
    "PLAN_FOLDER...\n"
    "       measure --profile [--device N] PLAN_FOLDER...\n"
    "       measure --dry-run PLAN_FOLDER...\n"
    "       measure --rehearse --out FILE.json PLAN_FOLDER...\n";

int natural(const std::string& option, const std::string& text, int least) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least || value > 1000000)
    throw Error(option + ": '" + text + "' is not a number from " + std::to_string(least) + " to 1000000");
  return static_cast<int>(value);
}

Options options_of(int argc, char** argv) {
  Options o;
  const auto value = [&](int& i) -> std::string {
    if (i + 1 == argc) throw Error(std::string(argv[i]) + " needs a value\n" + kUsage);
    return argv[++i];
  };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--dry-run")
      o.dry_run = true;
    else if (word == "--rehearse")
      o.rehearse = true;
    else if (word == "--profile")
      o.profile = true;
    else if (word == "--power")
      o.power_seconds = natural(word, value(i), 1);
    else if (word == "--cache") {
      const std::string state = value(i);
      if (state != "cold" && state != "warm")
        throw Error("--cache: '" + state + "' is neither 'cold' nor 'warm'");
      o.warm = state == "warm";
    } else if (word == "--repeats")
      o.repeats = natural(word, value(i), 1);
    else if (word == "--device")
      o.device = natural(word, value(i), 0);
    else if (word == "--out")
      o.out = value(i);
    else if (word.rfind("-", 0) == 0)
      throw Error("unknown option '" + word + "'\n" + kUsage);
    else
      o.folders.push_back(word);
  }
  if (o.folders.empty() || (o.out.empty() && !o.dry_run && !o.profile))
    throw Error(std::string("what is to be measured?\n") + kUsage);
  return o;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

/// `plans` gets what it needs to write the results; contents, which can be large, are held for one plan at a
/// time.
std::vector<RunResult> measure(const Gpu& gpu, const Options& o, std::vector<Plan>& plans) {
  const Stamps stamps(gpu);
  const double highest_khz = gpu.attribute(Attribute::kClockKhz);
  std::unique_ptr<Board> board;
  if (o.power_seconds != 0) board = std::make_unique<Board>(gpu.bus_id());
  stamps.wake();
  const double empty = stamps.empty(o.repeats);
  std::vector<RunResult> results;
  for (const std::string& folder : o.folders) {
    plans.push_back(read_plan(folder));
    Plan& p = plans.back();
    RunResult result;
    try {
      stamps.wake();
      Runner runner(gpu, stamps, p, o.warm);
      result = runner.run(o.repeats, empty);
      if (board != nullptr) runner.draw_power(*board, o.power_seconds, result);
      result.cache = o.warm ? "warm" : "cold";
      if (std::abs(result.core_hz / (1e3 * highest_khz) - 1) < kClockTolerance) result.core_hz = 0;
      std::fprintf(stderr, "%s: %.1f MHz", p.name.c_str(),
                   (result.core_hz > 0 ? result.core_hz : 1e3 * highest_khz) / 1e6);
      if (board != nullptr)
        std::fprintf(stderr, ", %.1f W at %.1f MHz, %.3f us a repetition", result.power_w,
                     result.power_core_hz / 1e6, 1e6 * result.power_seconds);
      std::fprintf(stderr, "\n");
    } catch (const std::runtime_error& e) {
      // A kernel that fails leaves a context that takes no further work; what the GPU does not take does not.
      result = RunResult();
      result.not_run = e.what();
      std::fprintf(stderr, "%s: not run: %s\n", p.name.c_str(), e.what());
    }
    results.push_back(std::move(result));
    for (Buffer& b : p.buffers) b.content = {};
  }
  return results;
}

void profile(const Gpu& gpu, const Options& o) {
  const Stamps stamps(gpu);
  for (const std::string& folder : o.folders) {
    const Plan p = read_plan(folder);
    std::printf("plan %s\n", p.name.c_str());
    std::fflush(stdout);
    try {
      Runner(gpu, stamps, p, false).once();
    } catch (const std::runtime_error& e) {
      std::fprintf(stderr, "%s: not run: %s\n", p.name.c_str(), e.what());
    }
  }
}

/// What every launch would give if it took 1000 cycles and wrote nothing.
std::vector<RunResult> rehearsal(const std::vector<Plan>& plans, int repeats) {
  std::vector<RunResult> results(plans.size());
  for (size_t i = 0; i < plans.size(); ++i) {
    results[i].kernels.resize(plans[i].launches.size());
    for (KernelTimes& k : results[i].kernels) {
      k.clock64.assign(static_cast<size_t>(repeats), 1000);
      k.event_seconds.assign(static_cast<size_t>(repeats), 1e-6);
    }
    for (const Buffer& b : plans[i].buffers)
      results[i].hashes.push_back(gpusim::core::sha256_hex(
          b.content.empty() ? std::string(b.bytes, '\0') : std::string(b.content.begin(), b.content.end())));
  }
  return results;
}

int run(int argc, char** argv) {
  const Options o = options_of(argc, argv);
  std::vector<Plan> plans;
  std::string json;
  if (o.dry_run || o.rehearse) {
    for (const std::string& folder : o.folders) plans.push_back(read_plan(folder));
    if (o.dry_run) {
      print_plans(plans);
      return 0;
    }
    DeviceInfo none;
    none.name = "none (rehearsal)";
    none.core_khz = 1e6;
    json = results_json(none, today(), plans, rehearsal(plans, o.repeats));
  } else {
    const Driver driver;
    const Gpu gpu(driver, o.device);
    if (o.profile) {
      profile(gpu, o);
      return 0;
    }
    const std::vector<RunResult> results = measure(gpu, o, plans);
    json = results_json(info_of(gpu), today(), plans, results);
  }
  std::ofstream file(o.out, std::ios::binary | std::ios::trunc);
  file << json;
  file.close();
  if (!file) throw Error(o.out + ": error: cannot be written");
  return 0;
}

}  // namespace

}  // namespace hardware

int main(int argc, char** argv) {
  try {
    return hardware::run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "measure: " << e.what() << "\n";
    return 1;
  }
}
