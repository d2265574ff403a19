#include "microbench/dram_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "microbench/kernels.h"
#include "microbench/timing.h"

namespace gpusim::microbench {

namespace {

constexpr uint32_t kTrials = 3, kAgain = 3;  // the fastest counts: refreshes come in between
constexpr uint32_t kNear = 32;               // surely in the row of an aligned address, and another load
/// Pairs are a multiple of this apart: whole rounds of 3, 5, 6, 10, 12, 15, ... times a power of two of
/// channels; or, where a hash of address bits chooses the channel, no bit below that.
constexpr uint64_t kRounds = 15u << 14, kBits = 1u << 18;
constexpr uint64_t kOffsets = 0xff000000;
constexpr unsigned kLeastBit = 12, kMostBit = 24;
constexpr uint32_t kGranule = 128, kBatch = 256, kMostScan = 1u << 21, kWideGap = 4, kLeastGap = 16384,
                   kPlaces = 8;
constexpr std::array<uint32_t, 4> kFactors = {1, 3, 5, 7};
/// Less than any DRAM needs to close a row and open another.
constexpr double kLeastConflict = 15e-9;

/// Clocks of loading two addresses at once, `distance` apart, the first one `start` behind an address that is
/// aligned to whatever matters. Addresses are fresh in each pair.
class Pairs {
 public:
  Pairs(Device& device, uint64_t unit) : device_(&device), unit_(unit) {}

  [[nodiscard]] std::vector<double> times(const std::vector<uint32_t>& distances, uint32_t start = 0) const {
    std::vector<double> best = measured(distances, start);
    // What seems slow is measured again, in other company: a refresh may have been in step with the trials.
    for (uint32_t again = 0; again < kAgain; ++again) {
      const auto [least, most] = std::minmax_element(best.begin(), best.end());
      const double limit = (*least + *most) / 2;
      std::vector<uint32_t> slow;
      for (size_t i = 0; i < best.size(); ++i)
        if (best[i] > limit) slow.push_back(distances[i]);
      if (slow.empty()) break;
      const std::vector<double> now = measured(slow, start);
      for (size_t i = 0, k = 0; i < best.size(); ++i)
        if (best[i] > limit) best[i] = std::min(best[i], now[k++]);
    }
    return best;
  }

 private:
  [[nodiscard]] std::vector<double> measured(const std::vector<uint32_t>& distances, uint32_t start) const {
    const uint32_t farthest = start + *std::max_element(distances.begin(), distances.end()) + 2 * kGranule;
    uint64_t apart = unit_;
    while (apart < farthest) apart *= 2;
    std::vector<double> best(distances.size(), 1e300);
    const uint64_t reach = std::min<uint64_t>(device_->properties().memory_bytes / 4 * 3, kOffsets);
    const size_t most = std::max<size_t>(1, reach / apart);
    for (size_t first = 0; first < distances.size(); first += most)
      measure({distances.begin() + static_cast<std::ptrdiff_t>(first),
               distances.begin() + static_cast<std::ptrdiff_t>(std::min(distances.size(), first + most))},
              start, apart, best.data() + first);
    return best;
  }
  void measure(const std::vector<uint32_t>& distances, uint32_t start, uint64_t apart, double* best) const {
    Program p;
    p.sms = 1;
    p.ptx = kernel_file("burst", device_->properties());
    p.buffers.push_back({apart * distances.size(), {}, false});
    for (size_t i = 0; i < distances.size(); ++i) {
      const auto base = static_cast<uint32_t>(i * apart) + start;
      p.buffers.push_back({8, {}, true});
      p.buffers.push_back({8, {base, base + distances[i]}, false});
      p.launches.push_back({"burst_list",
                            1,
                            32,
                            0,
                            {Argument::buffer(2 * i + 1), Argument::buffer(0), Argument::buffer(2 * i + 2),
                             Argument::number(2)}});
    }
    // Trials differ in when they meet a refresh.
    std::vector<Program> programs;
    p.buffers.push_back({8, {}, false});
    p.buffers.push_back({8, {0, 0}, false});
    for (uint32_t trial = 0; trial < kTrials; ++trial) {
      programs.push_back(p);
      p.launches.insert(p.launches.begin(), {"burst_list",
                                             1,
                                             32,
                                             0,
                                             {Argument::buffer(p.buffers.size() - 2), Argument::buffer(0),
                                              Argument::buffer(p.buffers.size() - 1), Argument::number(0)}});
    }
    for (const Outcome& o : device_->run(programs))
      for (size_t i = 0; i < distances.size(); ++i)
        best[i] = std::min(best[i], elapsed(o.buffers[2 * i + 1]));
  }

  Device* device_;
  uint64_t unit_;
};

struct Piece {
  int64_t begin, end;  ///< bytes behind the place that conflicted
};
struct Rows {
  uint32_t conflict = 0;      ///< smallest distance that conflicts
  bool is_stride = false;     ///< all its multiples conflict: it is the distance of two rows of a bank
  std::vector<Piece> pieces;  ///< of the row at `conflict`, in bytes behind its first
  [[nodiscard]] uint32_t bytes() const {
    int64_t sum = 0;
    for (const Piece& p : pieces) sum += p.end - p.begin;
    return static_cast<uint32_t>(sum);
  }
  /// From piece to piece, if all are as long and as far apart; else 0.
  [[nodiscard]] uint32_t period() const {
    if (pieces.size() < 2) return 0;
    const Piece first = pieces.front();
    const int64_t period = pieces[1].begin - first.begin;
    // Rows of a bank lie whole rounds apart, unless channels are hashed.
    if (!is_stride || conflict % period != 0) return 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const int64_t shift = static_cast<int64_t>(i) * period;
      if (pieces[i].begin != first.begin + shift || pieces[i].end != first.end + shift) return 0;
    }
    return static_cast<uint32_t>(period);
  }
  [[nodiscard]] uint32_t piece() const { return static_cast<uint32_t>(pieces[0].end - pieces[0].begin); }
};

/// Distances of rows of one bank where channels go round in order.
std::vector<uint32_t> likely_distances() {
  std::vector<uint32_t> distances;
  for (unsigned bit = kLeastBit; bit <= kMostBit; ++bit)
    for (const uint32_t factor : kFactors) distances.push_back(factor << bit);
  std::sort(distances.begin(), distances.end());
  distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
  return distances;
}

std::vector<uint32_t> all_distances(uint32_t from, uint32_t granule) {
  std::vector<uint32_t> distances;
  for (uint32_t i = 0; i < kBatch; ++i) distances.push_back(from + i * granule);
  return distances;
}

class RowSearch {
 public:
  RowSearch(Device& device, bool hashed)
      : pairs_(device, hashed ? kBits : kRounds),
        hashed_(hashed),
        near_(pairs_.times({kNear}).front()),
        least_conflict_(near_ + kLeastConflict * device.properties().core_hz) {}

  [[nodiscard]] Rows find() {
    Rows rows;
    if (!hashed_) {
      rows.is_stride = look(likely_distances(), rows) && everywhere(rows.conflict);
      if (!rows.is_stride) return {};
    }
    for (uint32_t from = kGranule; hashed_ && rows.conflict == 0 && from < kMostScan;
         from += kBatch * kGranule)
      look(all_distances(from, kGranule), rows);
    if (rows.conflict != 0) collect(rows);
    return rows;
  }

 private:
  bool look(const std::vector<uint32_t>& distances, Rows& rows) {
    const std::vector<double> times = pairs_.times(distances);
    const double most = *std::max_element(times.begin(), times.end());
    if (most < least_conflict_) return false;
    limit_ = near_ + 0.7 * (most - near_);
    const auto first = std::find_if(times.begin(), times.end(), [&](double t) { return t > limit_; });
    rows.conflict = distances[static_cast<size_t>(first - times.begin())];
    return true;
  }
  /// With a hash, a distance may conflict in one place and not in others.
  [[nodiscard]] bool everywhere(uint32_t distance) const {
    const std::vector<double> times = pairs_.times(std::vector<uint32_t>(kPlaces, distance));
    return *std::min_element(times.begin(), times.end()) > limit_;
  }
  /// Whatever lies in the row at `conflict` conflicts with the first address too, but not with that row. What
  /// does conflict with it is in another row of the bank: this one is over. `conflict` may lie anywhere in
  /// it.
  void collect(Rows& rows) const {
    collect(rows, true);
    collect(rows, false);
    std::sort(rows.pieces.begin(), rows.pieces.end(),
              [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    // Granules that follow each other are one piece.
    std::vector<Piece> joined;
    for (const Piece& p : rows.pieces) {
      if (!joined.empty() && joined.back().end == p.begin)
        joined.back().end = p.end;
      else
        joined.push_back(p);
    }
    rows.pieces = std::move(joined);
  }
  void collect(Rows& rows, bool upwards) const {
    int64_t widest_gap = 0, last = 0;
    const int64_t most = std::min<int64_t>(kMostScan, upwards ? kMostScan : rows.conflict);
    for (int64_t from = upwards ? 0 : kGranule; from < most; from += kBatch * kGranule) {
      std::vector<int64_t> offsets;
      for (int64_t o = from; o < std::min<int64_t>(most, from + kBatch * kGranule); o += kGranule)
        offsets.push_back(upwards ? o : -o);
      const std::vector<double> times = pairs_.times(distances(offsets, rows.conflict));
      std::vector<int64_t> slow;
      for (size_t i = 0; i < offsets.size(); ++i)
        if (times[i] > limit_) slow.push_back(offsets[i]);
      const std::vector<bool> other = other_rows(slow, rows.conflict);
      for (size_t i = 0; i < slow.size(); ++i) {
        if (other[i]) return;
        rows.pieces.push_back({slow[i], slow[i] + kGranule});
        widest_gap = std::max(widest_gap, std::abs(slow[i] - last) - kGranule);
        last = slow[i];
      }
      // Where channels go round in order, gaps are equal; a row without any is over long before the next.
      const int64_t ahead = from + kBatch * kGranule - std::abs(last);
      if (rows.is_stride && ahead > kWideGap * std::max<int64_t>(widest_gap, kLeastGap)) return;
    }
  }
  /// Of places in rows of the bank, whether they are in another than `conflict`.
  [[nodiscard]] std::vector<bool> other_rows(const std::vector<int64_t>& offsets, uint32_t conflict) const {
    std::vector<bool> other;
    for (const int64_t o : offsets) {
      const auto start = static_cast<uint32_t>(conflict + std::min<int64_t>(o, 0));
      other.push_back(o != 0 && pairs_.times({static_cast<uint32_t>(std::abs(o))}, start).front() > limit_);
    }
    return other;
  }
  static std::vector<uint32_t> distances(const std::vector<int64_t>& offsets, uint32_t conflict) {
    std::vector<uint32_t> result;
    for (const int64_t o : offsets) result.push_back(static_cast<uint32_t>(conflict + o));
    return result;
  }

  Pairs pairs_;
  bool hashed_;
  double near_, least_conflict_, limit_ = 0;
};

void add(DataSheet& sheet, const char* name, uint32_t found, const char* unit, const char* method,
         const char* why_not) {
  Figure f;
  f.name = std::string("dram.") + name;
  if (found != 0) f.found = Value::of(found);
  f.unit = unit;
  f.method = found != 0 ? method : why_not;
  f.kernel = "burst: burst_list";
  sheet.figures.push_back(std::move(f));
}

}  // namespace

void measure_dram_rows(Device& device, DataSheet& sheet) {
  Rows rows = RowSearch(device, false).find();
  if (rows.conflict == 0) rows = RowSearch(device, true).find();
  const uint32_t row = rows.bytes(), period = rows.period();
  const uint32_t interleave = period == 0 ? 0 : rows.piece(),
                 channels = period == 0 ? 0 : period / interleave;
  const char* const none = "no two loads at once that conflict were found";
  const char* const hashed = rows.conflict == 0 ? none : "the row's pieces are not regularly apart";
  add(sheet, "row", row, "bytes", "what conflicts with a load of another row of its bank, loaded at once",
      none);
  add(sheet, "interleave", interleave, "bytes", "bytes of a row that follow each other", hashed);
  add(sheet, "channels", channels, "channels", "distance of these pieces, in their lengths", hashed);
  add(sheet, "bank_period", channels != 0 ? rows.conflict / (row * channels) : 0, "rows",
      "from a row to the next one of its bank", hashed);
}

}  // namespace gpusim::microbench
