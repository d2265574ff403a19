#include "microbench/outstanding.h"

#include <fmt/format.h>

#include <algorithm>

#include "microbench/kernels.h"
#include "microbench/timing.h"

namespace gpusim::microbench {

namespace {

constexpr uint32_t kTrials = 3;  // the fastest counts: refreshes of DRAM come in between
constexpr uint32_t kMostThreads = 1024;
constexpr uint32_t kStride = 16;  // bursts between two that are tried at first
constexpr size_t kLonger = 4;
constexpr double kJump = 0.15;  // of the time of one load

/// Who misses at once: lanes of a block's warps, each with one load, or one lane with several.
struct Burst {
  const char* kernel;
  uint32_t threads;
};

/// Clocks of bursts of so many misses on lines that nobody has loaded before.
std::vector<double> bursts(Device& device, uint32_t line, const Burst& burst,
                           const std::vector<uint32_t>& counts) {
  std::vector<Program> programs;
  for (uint32_t trial = 0; trial < kTrials; ++trial) {
    Program p;
    p.sms = 1;
    p.ptx = kernel_file("burst", device.properties());
    for (const uint32_t n : counts) {
      const size_t out = p.buffers.size();
      p.buffers.push_back({burst.threads / 32 * 8ul, {}, true});
      p.buffers.push_back({uint64_t{n} * line, {}, false});
      p.launches.push_back(
          {burst.kernel,
           1,
           burst.threads,
           0,
           {Argument::buffer(out), Argument::buffer(out + 1), Argument::number(line), Argument::number(n)}});
    }
    // Trials differ in when they meet a refresh.
    for (uint32_t i = 0; i < trial; ++i) p.launches.insert(p.launches.begin(), p.launches.back());
    programs.push_back(std::move(p));
  }
  std::vector<double> best(counts.size(), 1e300);
  for (const Outcome& o : device.run(programs))
    for (size_t i = 0; i < counts.size(); ++i) best[i] = std::min(best[i], elapsed(o.buffers[2 * i]));
  return best;
}

/// Loads that can be on their way at once, of at most `most`; 0 if all of them can. Every kStride-th burst is
/// tried first, and all where those take longer by as much as one that has to wait.
uint32_t most_at_once(Device& device, uint32_t line, const Burst& burst, uint32_t most) {
  std::vector<uint32_t> coarse;
  for (uint32_t n = 1; n < most; n += kStride) coarse.push_back(n);
  coarse.push_back(most);
  const std::vector<double> times = bursts(device, line, burst, coarse);
  for (size_t i = 1; i < coarse.size(); ++i) {
    if (times[i] - times[i - 1] <= kJump * times.front()) continue;
    std::vector<uint32_t> fine;
    const uint32_t last = std::min(most, coarse[i] + static_cast<uint32_t>(kLonger));
    for (uint32_t n = coarse[i - 1]; n <= last; ++n) fine.push_back(n);
    const uint32_t jump = first_jump(bursts(device, line, burst, fine), times.front());
    if (jump != 0) return coarse[i - 1] + jump - 1;
  }
  return 0;
}

Figure figure(const char* name, const char* unit, uint32_t found, const Burst& burst) {
  Figure f;
  f.name = name;
  if (found != 0) f.found = Value::of(static_cast<double>(found));
  f.unit = unit;
  f.kernel = fmt::format("burst: {}", burst.kernel);
  return f;
}

}  // namespace

uint32_t first_jump(const std::vector<double>& times, double one) {
  // All longer bursts wait too; a burst that meets a refresh stands alone.
  for (size_t i = 1; i < times.size(); ++i) {
    const auto from = times.begin() + static_cast<std::ptrdiff_t>(i);
    const auto to = times.begin() + static_cast<std::ptrdiff_t>(std::min(i + kLonger, times.size()));
    if (*std::min_element(from, to) - times[i - 1] > kJump * one) return static_cast<uint32_t>(i);
  }
  return 0;
}

void measure_outstanding(Device& device, uint32_t line, DataSheet& sheet) {
  const uint32_t one = 32;
  const Burst loads{"burst_loads", one};
  const uint32_t of_warp = most_at_once(device, line, loads, one);
  Figure warp = figure("mshrs.warp", "loads", of_warp, loads);
  warp.method = of_warp != 0
                    ? "a lane loads a line each time: the time jumps with one load more"
                    : fmt::format("no jump up to {} loads of a lane, each of a line of its own", one);
  sheet.figures.push_back(std::move(warp));
  const uint32_t threads = std::min(device.properties().threads_per_block, kMostThreads);
  // More than the warps may ask for, each for itself, tells nothing about the SM.
  const uint32_t warps = threads / 32;
  const uint32_t most = std::min(threads, of_warp == 0 ? threads : of_warp * warps);
  const Burst lanes{"burst", threads};
  const uint32_t of_sm = most_at_once(device, line, lanes, most);
  Figure sm = figure("mshrs.sm", "lines", of_sm, lanes);
  const char* const plural = warps == 1 ? "" : "s";
  sm.method = of_sm != 0
                  ? fmt::format("{} warp{} miss at once: the time jumps with one line more", warps, plural)
                  : fmt::format("no jump up to {} lines of {} warp{}", most, warps, plural);
  sheet.figures.push_back(std::move(sm));
}

}  // namespace gpusim::microbench
