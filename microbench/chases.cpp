#include "microbench/chases.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "microbench/kernels.h"
#include "microbench/timing.h"

namespace gpusim::microbench {

namespace {

constexpr uint32_t kSteps = 128, kSharedSteps = 64;
constexpr uint32_t kElement = 128;
constexpr uint64_t kSmall = 2048;
/// Elements from one step to the next: another row, bank and partition; odd, so that a chase meets all.
constexpr uint32_t kStep = 67;
constexpr uint32_t kThreads = 256;

/// Cycles per step in a footprint of `bytes`, a power of two, after going round it once if `warm`.
double chase(Device& device, uint64_t bytes, bool warm) {
  Program p;
  p.ptx = kernel_file("chase", device.properties());
  const auto elements = static_cast<uint32_t>(bytes / kElement);
  p.buffers = {{bytes, {}, false}, {8, {}, true}};
  p.launches.push_back({"link",
                        (elements + kThreads - 1) / kThreads,
                        kThreads,
                        0,
                        {Argument::buffer(0), Argument::number(elements - 1), Argument::number(kElement),
                         Argument::number(kStep)}});
  p.launches.push_back(
      {"chase", 1, 1, 0, {Argument::buffer(1), Argument::buffer(0), Argument::number(warm ? elements : 0)}});
  return elapsed(device.run_one(p).buffers[1]) / kSteps;
}

void add(DataSheet& sheet, std::string name, double cycles, std::string method, std::string kernel) {
  Figure f;
  f.name = std::move(name);
  f.found = Value::of(cycles);
  f.unit = "core cycles";
  f.method = std::move(method);
  f.kernel = std::move(kernel);
  sheet.figures.push_back(std::move(f));
}

/// Bytes past L1, well within L2.
uint64_t within_l2(const Hierarchy& h) {
  return std::clamp(std::bit_ceil(4 * std::max(h.l1.capacity, kSmall)), kSmall,
                    std::bit_floor(std::max(h.l2.capacity / 2, kSmall)));
}
uint64_t beyond_l2(uint64_t capacity) { return std::bit_ceil(2 * capacity + (uint64_t{4} << 20)); }

}  // namespace

bool alike_to_chases(uint64_t least, uint64_t most) {
  return std::bit_floor(std::max(least / 2, kSmall)) == std::bit_floor(std::max(most / 2, kSmall)) &&
         beyond_l2(least) == beyond_l2(most);
}

void measure_chases(Device& device, const Hierarchy& h, DataSheet& sheet) {
  const auto method = [](uint64_t bytes) {
    return fmt::format("pointer chase of one thread over {} KB", bytes / 1024);
  };
  const auto chase_over = [&](const char* name, uint64_t bytes, bool warm) {
    attempt(sheet, name,
            [&] { add(sheet, name, chase(device, bytes, warm), method(bytes), "chase: chase"); });
  };
  if (h.l1.present) chase_over("latency.l1", kSmall, true);
  if (h.l2.present) chase_over("latency.l2", within_l2(h), true);
  // The steps' own lines must have left L2 since they were linked.
  chase_over("latency.dram", beyond_l2(h.l2.capacity), false);
  attempt(sheet, "latency.shared", [&] {
    Program p;
    p.sms = 1;
    p.ptx = kernel_file("shared_pattern", device.properties());
    p.buffers = {{8, {}, true}};
    p.launches.push_back({"shared_chase", 1, 1, 1024, {Argument::buffer(0)}});
    add(sheet, "latency.shared", elapsed(device.run_one(p).buffers[0]) / kSharedSteps,
        "pointer chase of one thread", "shared_pattern: shared_chase");
  });
}

}  // namespace gpusim::microbench
