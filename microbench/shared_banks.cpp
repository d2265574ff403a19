#include "microbench/shared_banks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "microbench/kernels.h"
#include "microbench/timing.h"

namespace gpusim::microbench {

namespace {

constexpr uint32_t kLanes = 32, kLoads = 256, kWord = 4;
constexpr uint32_t kMostStride = 128;  // words
constexpr double kEqual = 0.01;
using Pattern = std::array<uint32_t, kLanes>;  // byte offset of each lane

/// Cycles per warp access of each pattern.
std::vector<double> times_of(Device& device, const std::vector<Pattern>& patterns) {
  const uint32_t threads = std::min(256u, device.properties().threads_per_block);
  uint32_t bytes = 0;
  for (const Pattern& p : patterns) bytes = std::max(bytes, *std::max_element(p.begin(), p.end()) + kWord);
  Program program;
  program.sms = 1;
  program.ptx = kernel_file("shared_pattern", device.properties());
  for (const Pattern& p : patterns) {
    const size_t out = program.buffers.size();
    program.buffers.push_back({threads / kLanes * 8ul, {}, true});
    program.buffers.push_back({kLanes * 4ul, {p.begin(), p.end()}, false});
    program.launches.push_back(
        {"shared_pattern", 1, threads, bytes, {Argument::buffer(out), Argument::buffer(out + 1)}});
  }
  std::vector<double> times;
  const Outcome outcome = device.run_one(program);
  const uint32_t loads = threads / kLanes * kLoads;
  times.reserve(patterns.size());
  for (size_t i = 0; i < patterns.size(); ++i) times.push_back(elapsed(outcome.buffers[2 * i]) / loads);
  return times;
}

Pattern strided(uint32_t words) {
  Pattern p;
  for (uint32_t lane = 0; lane < kLanes; ++lane) p[lane] = kWord * words * lane;
  return p;
}

void add(DataSheet& sheet, const char* name, double found, const char* unit, std::string method) {
  Figure f;
  f.name = std::string("shared.") + name;
  f.found = Value::of(found);
  f.unit = unit;
  f.method = std::move(method);
  f.kernel = "shared_pattern: shared_pattern";
  sheet.figures.push_back(std::move(f));
}

bool equal(double a, double b) { return std::abs(a - b) <= kEqual * std::max(a, b); }

/// Smallest stride, in bytes, at which all lanes meet in one bank.
uint32_t round_of_banks(Device& device) {
  std::vector<Pattern> patterns;
  const auto room = static_cast<uint32_t>(device.properties().shared_for_data() / (uint64_t{kLanes} * kWord));
  for (uint32_t words = 1; words <= std::clamp(room, 1u, kMostStride); ++words)
    patterns.push_back(strided(words));
  const std::vector<double> times = times_of(device, patterns);
  const double most = *std::max_element(times.begin(), times.end());
  const auto first = std::find_if(times.begin(), times.end(), [&](double t) { return equal(t, most); });
  return kWord * (static_cast<uint32_t>(first - times.begin()) + 1);
}

}  // namespace

void measure_shared_banks(Device& device, DataSheet& sheet) {
  const uint32_t round = round_of_banks(device);
  // Words of one bank are `round` apart. Half of the lanes in one bank, the others one bank further, or so
  // many bytes further: in the same bank until its width is passed.
  std::vector<Pattern> patterns;
  const auto shifted = [&](uint32_t shift) {
    Pattern p;
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      p[lane] = round * (lane / 2) + (lane % 2 != 0 ? round * kLanes / 2 + shift : 0);
    return p;
  };
  for (uint32_t shift = kWord; shift < round; shift *= 2) patterns.push_back(shifted(shift));
  patterns.push_back(shifted(0));
  const std::vector<double> times = times_of(device, patterns);
  uint32_t width = kWord;
  for (size_t i = 0; i + 1 < times.size() && equal(times[i], times.back()); ++i) width = (kWord << i) * 2;
  const uint32_t banks = round / width;
  add(sheet, "banks", banks, "banks", "smallest stride at which all lanes meet, in bank widths");
  add(sheet, "bank_bytes", width, "bytes", "shift of every other lane that takes it to another bank");

  // Lanes of a group conflict with each other only: two banks, each wanted by whole groups.
  uint32_t lanes = kLanes;
  for (uint32_t group = kLanes / 2; group >= 4; group /= 2) {
    Pattern apart, mixed;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      apart[lane] = round * lane + (lane / group % 2 != 0 ? width : 0);
      mixed[lane] = round * lane + (lane % 2 != 0 ? width : 0);
    }
    const std::vector<double> t = times_of(device, {apart, mixed});
    // Groups of this size one after another gain nothing from being in different banks.
    if (!equal(t[0], t[1])) lanes = group;
  }
  add(sheet, "lanes_per_access", lanes, "lanes", "whether groups of lanes in two banks overlap in time");
  const std::vector<double> t = times_of(device, {strided(round / kWord), strided(round / kWord / 2)});
  add(sheet, "conflict_cycles", (t[0] - t[1]) / (kLanes / 2.0), "core cycles", "one word more in a bank");
}

}  // namespace gpusim::microbench
