#include "microbench/dram_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "microbench/kernels.h"
#include "microbench/timing.h"

namespace gpusim::microbench {

namespace {

constexpr uint32_t kTrials = 5;  // the fastest counts: refreshes come in between
constexpr uint32_t kNear = 32;   // surely in the row of an aligned address, and another load
constexpr unsigned kLeastBit = 12, kMostBit = 24;
constexpr uint32_t kGranule = 128, kBatch = 256;
constexpr std::array<uint32_t, 4> kFactors = {1, 3, 5, 7};
/// Less than any DRAM needs to close a row and open another.
constexpr double kLeastConflict = 15e-9;

/// Clocks of loading, at once, an address and another `distance` behind it; addresses are fresh in each pair.
class Pairs {
 public:
  explicit Pairs(Device& device) : device_(&device) {}

  [[nodiscard]] std::vector<double> times(const std::vector<uint32_t>& distances) const {
    const uint32_t farthest = *std::max_element(distances.begin(), distances.end()) + 2 * kGranule;
    uint64_t apart = uint64_t{1} << 18;
    while (apart < farthest) apart *= 2;
    std::vector<double> best(distances.size(), 1e300);
    const uint64_t reach = std::min<uint64_t>(device_->properties().memory_bytes / 2, uint64_t{1} << 31);
    const size_t most = std::max<size_t>(1, reach / apart);
    for (size_t first = 0; first < distances.size(); first += most)
      measure({distances.begin() + static_cast<std::ptrdiff_t>(first),
               distances.begin() + static_cast<std::ptrdiff_t>(std::min(distances.size(), first + most))},
              apart, best.data() + first);
    return best;
  }

 private:
  void measure(const std::vector<uint32_t>& distances, uint64_t apart, double* best) const {
    Program p;
    p.sms = 1;
    p.ptx = kernel_file("burst", device_->properties());
    p.buffers.push_back({apart * distances.size(), {}, false});
    for (size_t i = 0; i < distances.size(); ++i) {
      const auto base = static_cast<uint32_t>(i * apart);
      p.buffers.push_back({8, {}, true});
      p.buffers.push_back({8, {base, base + distances[i]}, false});
      p.launches.push_back({"burst_list", 1, 32, 0,
                            {Argument::buffer(2 * i + 1), Argument::buffer(0), Argument::buffer(2 * i + 2),
                             Argument::number(2)}});
    }
    // Trials differ in when they meet a refresh.
    std::vector<Program> programs;
    p.buffers.push_back({8, {}, false});
    p.buffers.push_back({8, {0, 0}, false});
    for (uint32_t trial = 0; trial < kTrials; ++trial) {
      programs.push_back(p);
      p.launches.insert(p.launches.begin(),
                        {"burst_list", 1, 32, 0,
                         {Argument::buffer(p.buffers.size() - 2), Argument::buffer(0),
                          Argument::buffer(p.buffers.size() - 1), Argument::number(0)}});
    }
    for (const Outcome& o : device_->run(programs))
      for (size_t i = 0; i < distances.size(); ++i)
        best[i] = std::min(best[i], elapsed(o.buffers[2 * i + 1]));
  }

  Device* device_;
};

struct Rows {
  uint32_t bank_stride = 0, bytes = 0, span = 0;
};

Rows find_rows(Device& device) {
  const Pairs pairs(device);
  std::vector<uint32_t> distances{kNear};
  for (unsigned bit = kLeastBit; bit <= kMostBit; ++bit)
    for (const uint32_t factor : kFactors) distances.push_back(factor << bit);
  std::sort(distances.begin() + 1, distances.end());
  const std::vector<double> times = pairs.times(distances);
  const double least = times.front(), most = *std::max_element(times.begin(), times.end());
  if (most - least < kLeastConflict * device.properties().core_hz) return {};
  const double limit = least + 0.7 * (most - least);
  Rows rows;
  rows.bank_stride = distances[static_cast<size_t>(
      std::find_if(times.begin(), times.end(), [&](double t) { return t > limit; }) - times.begin())];
  // Whatever lies in the row that is `bank_stride` away conflicts too. Its pieces are regularly apart; the
  // next row of the bank is much farther.
  uint32_t last = 0, widest_gap = 0;
  for (uint32_t from = 0; from < rows.bank_stride; from += kBatch * kGranule) {
    std::vector<uint32_t> offsets;
    for (uint32_t o = from; o < std::min(from + kBatch * kGranule, rows.bank_stride); o += kGranule)
      offsets.push_back(rows.bank_stride + o);
    const std::vector<double> t = pairs.times(offsets);
    for (size_t i = 0; i < t.size(); ++i) {
      if (t[i] <= limit) continue;
      const uint32_t offset = offsets[i] - rows.bank_stride;
      if (widest_gap != 0 && offset - last > 4 * widest_gap) return rows;
      widest_gap = std::max(widest_gap, offset - last);
      last = offset;
      rows.bytes += kGranule;
      rows.span = offset + kGranule;
    }
    if (widest_gap != 0 && from + kBatch * kGranule - last > 4 * std::max(widest_gap, kGranule)) break;
  }
  return rows;
}

void add(DataSheet& sheet, const char* name, uint32_t found, const char* method) {
  Figure f;
  f.name = std::string("dram.") + name;
  if (found != 0) f.found = Value::of(static_cast<double>(found));
  f.unit = "bytes";
  f.method = found != 0 ? method : "no two loads at once that conflict were found";
  f.kernel = "burst: burst_list";
  sheet.figures.push_back(std::move(f));
}

}  // namespace

void measure_dram_rows(Device& device, DataSheet& sheet) {
  const Rows rows = find_rows(device);
  add(sheet, "row", rows.bytes, "what conflicts with a load of another row of its bank, loaded at once");
  add(sheet, "row_span", rows.span, "from the first to the last byte of a row");
  add(sheet, "bank_stride", rows.bank_stride, "smallest distance of two loads that conflict");
}

}  // namespace gpusim::microbench
