#include "microbench/tlb.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace gpusim::microbench {

namespace {

// Less than a page and a line: so the lines lie in many sets of the second level.
constexpr std::array<uint32_t, 4> kStrides = {4096 + 128, 16384 + 128, 65536 + 128, 262144 + 128};
constexpr uint32_t kVaries = 12;  ///< clocks by which equal loads differ, with the phase of other clocks
constexpr uint32_t kLaps = 3;
constexpr uint32_t kLine = 128,
                   kSpare = 16;  ///< a part of the second level's lines stays wherever they lie

void add(DataSheet& sheet, std::string name, uint64_t found, const char* unit, std::string method,
         const Probe& probe) {
  Figure f;
  f.name = std::move(name);
  if (found != 0) f.found = Value::of(static_cast<double>(found));
  f.unit = unit;
  f.method = std::move(method);
  f.kernel = probe.kernel();
  sheet.figures.push_back(std::move(f));
}

/// Loads `stride` apart, round and round, of which none takes longer than the others.
struct Reach {
  uint32_t stride = 0;
  uint64_t loads = 0;  ///< 0: none takes longer,
  uint64_t tried = 0;  ///< over that many bytes
};

class PageTest {
 public:
  PageTest(Device& device, const Hierarchy& h)
      : probe(device, Path::kPastL1),
        most_loads_(std::min<uint64_t>(h.l2.capacity / (kLine * kSpare), probe.most_members())) {}

  [[nodiscard]] uint32_t slowest(const Reach& r, uint64_t loads) const {
    ProbeRequest request;
    request.stride = r.stride;
    request.rounds = static_cast<uint32_t>(loads);
    request.laps = kLaps;
    return probe.read(request).slowest;
  }
  [[nodiscard]] Reach reach(uint32_t limit) const {
    uint64_t tried = 0;
    for (const uint32_t stride : kStrides) {
      const uint64_t most = std::bit_floor(std::min<uint64_t>(most_loads_, probe.reach() / stride));
      const uint64_t loads = largest_that_hits(probe, {stride, 1, kLaps, limit, most * stride}) / stride;
      tried = std::max(tried, most * stride);
      if (loads < most) return {stride, loads, tried};
    }
    return {0, 0, tried};
  }
  /// With one load more some page is lost. It is not if the first page is left out: this many loads are in
  /// it.
  [[nodiscard]] uint32_t loads_of_page(const Reach& r, uint32_t limit) const {
    uint32_t in_page = 0, beyond = static_cast<uint32_t>(r.loads);
    while (beyond - in_page > 1) {
      const uint32_t first = in_page + (beyond - in_page) / 2;
      ProbeRequest request;
      for (uint32_t k = first; k <= r.loads; ++k) request.members.push_back(k * r.stride);
      request.laps = kLaps;
      request.limit = limit;
      (probe.read(request).slow == 0 ? beyond : in_page) = first;
    }
    return beyond;
  }

  const Probe probe;

 private:
  uint64_t most_loads_;
};

}  // namespace

void measure_tlb(Device& device, const Hierarchy& h, DataSheet& sheet) {
  const PageTest test(device, h);
  if (!h.l2.present) {
    add(sheet, "tlb.l1_entries", 0, "pages", "not looked for without a second-level cache", test.probe);
    return;
  }
  uint32_t before = test.slowest({kStrides[0], 2, 0}, 2);
  uint64_t page = 0;
  for (int level = 1; level <= 2; ++level) {
    const uint32_t limit = before + kVaries;
    const Reach reach = test.reach(limit);
    if (reach.loads == 0) {
      add(sheet, fmt::format("tlb.l{}_entries", level), 0, "pages",
          fmt::format("no load takes longer in {} MB", reach.tried >> 20), test.probe);
      return;
    }
    if (level == 1) {
      page = std::bit_floor(uint64_t{test.loads_of_page(reach, limit)} * reach.stride);
      add(sheet, "tlb.page", page, "bytes", "loads that must be left out for one more to find room",
          test.probe);
    }
    add(sheet, fmt::format("tlb.l{}_entries", level), reach.loads * reach.stride / page, "pages",
        fmt::format("loads {} bytes apart of which none takes longer", reach.stride), test.probe);
    const uint32_t now = test.slowest(reach, reach.loads + reach.loads / 2);
    add(sheet, fmt::format("latency.tlb_l{}_miss", level), now - before, "core cycles",
        "what the slowest of half as many loads more takes longer", test.probe);
    before = now;
  }
}

}  // namespace gpusim::microbench
