#include "microbench/tlb.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <vector>

namespace gpusim::microbench {

namespace {

constexpr std::array<uint32_t, 4> kStrides = {4096, 16384, 65536, 262144};
constexpr uint32_t kFirst = 16;   ///< loads that are tried first
constexpr uint32_t kVaries = 12;  ///< clocks by which equal loads differ, with the phase of other clocks
constexpr uint32_t kLaps = 3, kLapsInDram = 2;
constexpr uint32_t kPageLine = 128,
                   kSpare = 8;  ///< a part of the second level's lines stays wherever they lie
/// Any buffer knows all pages of these bytes.
constexpr uint32_t kKnown = 65536, kLoadsOfKnown = 128;
/// Without a second level every load comes from DRAM. The loads of known pages must then meet the wrong row
/// open, as those of many pages do; and a load counts as slow only if it is so every time, not if it met a
/// refresh. All that takes time, so the pieces are not the finest.
constexpr uint32_t kKnownInDram = 1 << 20, kFinestInDram = 16384, kTimesInDram = 10;

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

/// Loads of a line each in so many pieces of `stride` bytes, round and round, of which none takes longer than
/// the others.
struct Reach {
  uint32_t stride = 0;
  uint32_t loads = 0;  ///< 0: none takes longer,
  uint64_t tried = 0;  ///< over that many bytes
};

class PageTest {
 public:
  PageTest(Device& device, const Hierarchy& h)
      : probe(device, Path::kPastL1),
        most_loads_(h.l2.present ? static_cast<uint32_t>(std::min<uint64_t>(
                                       h.l2.capacity / (uint64_t{kPageLine} * kSpare), probe.most_members()))
                                 : probe.most_members()),
        finest_(h.l2.present ? 0 : kFinestInDram),
        known_(h.l2.present ? kKnown : kKnownInDram),
        times_(h.l2.present ? 1 : kTimesInDram),
        laps_(h.l2.present ? kLaps : kLapsInDram) {}

  /// What the slowest load takes of pages that are surely known, wherever the lines lie.
  [[nodiscard]] uint32_t slowest_of_known() const {
    const uint32_t loads = std::min(kLoadsOfKnown, most_loads_);
    return slowest(known_ / kLoadsOfKnown, loads);
  }
  [[nodiscard]] uint32_t slowest(uint32_t stride, uint32_t loads) const {
    const std::vector<uint32_t> clocks = clocks_of(0, loads, stride);
    return *std::max_element(clocks.begin(), clocks.end());
  }
  /// `page`: if it is known. Loads farther apart would leave some pages out, and closer ones tell no more of
  /// a page. As long as it is not known, the farthest loads of all tell whether there is anything to be
  /// found.
  [[nodiscard]] Reach reach(uint32_t limit, uint64_t page) const {
    std::vector<uint32_t> strides;
    if (page != 0) strides.push_back(static_cast<uint32_t>(page));
    if (page == 0 && all_fast(0, most_at(kStrides.back()), kStrides.back(), limit))
      return {0, 0, uint64_t{most_at(kStrides.back())} * kStrides.back()};
    if (page == 0)
      std::copy_if(kStrides.begin(), kStrides.end(), std::back_inserter(strides),
                   [this](uint32_t stride) { return stride >= finest_; });
    uint64_t tried = 0;
    for (const uint32_t stride : strides) {
      const uint32_t most = most_at(stride);
      const auto fits = [&](uint32_t loads) { return all_fast(0, loads, stride, limit); };
      uint32_t good = 1, bad = std::min(kFirst, most);
      while (fits(bad)) {
        good = bad;
        if (good == most) break;
        bad = std::min(2 * bad, most);
      }
      tried = std::max(tried, uint64_t{bad} * stride);
      if (good == bad) continue;
      while (bad - good > 1) {
        const uint32_t middle = good + (bad - good) / 2;
        (fits(middle) ? good : bad) = middle;
      }
      return {stride, good, tried};
    }
    return {0, 0, tried};
  }
  /// With one load more some page is lost. It is not if the first page is left out: this many loads are in
  /// it.
  [[nodiscard]] uint32_t loads_of_page(const Reach& r, uint32_t limit) const {
    uint32_t in_page = 0, beyond = r.loads;
    while (beyond - in_page > 1) {
      const uint32_t first = in_page + (beyond - in_page) / 2;
      (all_fast(first, r.loads + 1, r.stride, limit) ? beyond : in_page) = first;
    }
    return beyond;
  }

  const Probe probe;

 private:
  [[nodiscard]] uint32_t most_at(uint32_t stride) const {
    return static_cast<uint32_t>(std::min<uint64_t>(most_loads_, probe.reach() / stride));
  }
  /// A line of the k-th piece, which one is drawn by lot: at even distances lines could fall into few sets of
  /// the second level, whatever the hash.
  static uint32_t line_in(uint32_t k, uint32_t stride) {
    std::minstd_rand random(k + 1);
    random.discard(2);
    return k * stride + static_cast<uint32_t>(random() % (stride / kPageLine)) * kPageLine;
  }
  /// Clocks of each of these loads, round and round; the least of several times. Each begins with another
  /// load, 0, 1, 3, 6, ... on: the same ones would meet a refresh every time if it were none, or even steps.
  [[nodiscard]] std::vector<uint32_t> clocks_of(uint32_t first, uint32_t end, uint32_t stride) const {
    std::vector<ProbeRequest> requests(times_);
    const uint32_t loads = end - first;
    const auto load_at = [loads](uint32_t k, uint32_t time) { return (k + time * (time + 1) / 2) % loads; };
    for (uint32_t time = 0; time < times_; ++time) {
      for (uint32_t k = 0; k < loads; ++k)
        requests[time].members.push_back(line_in(first + load_at(k, time), stride));
      requests[time].laps = laps_;
    }
    const std::vector<ProbeReading> readings = probe.read(requests);
    std::vector<uint32_t> least = readings.front().members;
    for (uint32_t time = 1; time < times_; ++time)
      for (uint32_t k = 0; k < loads; ++k) {
        uint32_t& of_load = least[load_at(k, time)];
        of_load = std::min(of_load, readings[time].members[k]);
      }
    return least;
  }
  [[nodiscard]] bool all_fast(uint32_t first, uint32_t end, uint32_t stride, uint32_t limit) const {
    const std::vector<uint32_t> clocks = clocks_of(first, end, stride);
    return std::all_of(clocks.begin(), clocks.end(), [&](uint32_t c) { return c <= limit; });
  }

  uint32_t most_loads_;
  uint32_t finest_;  ///< bytes of the smallest pieces
  uint32_t known_;   ///< bytes
  uint32_t times_;
  uint32_t laps_;
};

}  // namespace

void measure_tlb(Device& device, const Hierarchy& h, DataSheet& sheet) {
  const PageTest test(device, h);
  uint32_t before = test.slowest_of_known();
  uint64_t page = 0;
  for (int level = 1; level <= 2; ++level) {
    const uint32_t limit = before + kVaries;
    const Reach reach = test.reach(limit, page);
    if (reach.loads == 0) {
      add(sheet, fmt::format("tlb.l{}_entries", level), 0, "pages",
          fmt::format("no load takes longer in {} MB", reach.tried >> 20), test.probe);
      return;
    }
    if (level == 1) {
      page = uint64_t{test.loads_of_page(reach, limit)} * reach.stride;
      add(sheet, "tlb.page", page, "bytes", "loads that must be left out for one more to find room",
          test.probe);
    }
    add(sheet, fmt::format("tlb.l{}_entries", level), uint64_t{reach.loads} * reach.stride / page, "pages",
        fmt::format("loads in pieces of {} bytes of which none takes longer", reach.stride), test.probe);
    const uint32_t now = test.slowest(reach.stride, reach.loads + reach.loads / 2);
    add(sheet, fmt::format("latency.tlb_l{}_miss", level), now - before, "core cycles",
        "what the slowest of half as many loads more takes longer", test.probe);
    before = now;
  }
}

}  // namespace gpusim::microbench
