#include "microbench/dram_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "microbench/bank_mates.h"
#include "microbench/kernels.h"
#include "microbench/probe.h"
#include "microbench/timing.h"

namespace gpusim::microbench {

namespace {

constexpr uint32_t kRowTrials = 3, kRowAgain = 3;  // the fastest counts: refreshes come in between
/// Pairs are a multiple of this apart: whole rounds of 3, 5, 6, 10, 12, 15, ... times a power of two of
/// channels.
constexpr uint64_t kRowRounds = 15u << 14;
constexpr uint64_t kOffsets = 0xff000000;
constexpr unsigned kLeastBit = 12, kMostBit = 27;
constexpr uint32_t kGranule = 128, kRowBatch = 256, kMostScan = 1u << 21, kWideGap = 4, kPlaces = 8;
/// Bytes in which any bank has several rows.
constexpr uint64_t kNearby = 1u << 26;
/// Between pieces of a row; of many channels behind a hash.
constexpr int64_t kLeastGap = 16384, kLeastHashedGap = 65536;
constexpr std::array<uint32_t, 4> kFactors = {1, 3, 5, 7};

/// Clocks of loading two addresses at once, `distance` apart, the first one `start` behind an address that is
/// aligned to whatever matters. Addresses are fresh in each pair; without a cache that would keep them
/// (`twice`) the second time counts, in which no page has to be walked for.
class Pairs {
 public:
  Pairs(Device& device, uint64_t unit, bool twice) : device_(&device), unit_(unit), twice_(twice) {}

  [[nodiscard]] std::vector<double> times(const std::vector<uint32_t>& distances, uint32_t start = 0) const {
    std::vector<double> best = measured(distances, start);
    // What seems slow is measured again, in other company: a refresh may have been in step with the trials.
    for (uint32_t again = 0; again < kRowAgain; ++again) {
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
    std::vector<double> best(distances.size(), 1e300);
    const uint64_t reach = std::min<uint64_t>(device_->properties().memory_bytes / 4 * 3, kOffsets);
    for (size_t first = 0, end = 0; first < distances.size(); first = end) {
      const uint64_t apart = apart_of(distances[first], start);
      const size_t most = std::max<size_t>(1, reach / apart);
      while (end < distances.size() && end - first < most && apart_of(distances[end], start) == apart) ++end;
      measure({distances.begin() + static_cast<std::ptrdiff_t>(first),
               distances.begin() + static_cast<std::ptrdiff_t>(end)},
              start, apart, best.data() + first);
    }
    return best;
  }
  /// Between places with room for a pair.
  [[nodiscard]] uint64_t apart_of(uint32_t distance, uint32_t start) const {
    uint64_t apart = unit_;
    while (apart < uint64_t{distance} + start + 2ul * kGranule) apart *= 2;
    return apart;
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
      if (twice_) p.launches.push_back(p.launches.back());
    }
    // Trials differ in when they meet a refresh.
    std::vector<Program> programs;
    p.buffers.push_back({8, {}, false});
    p.buffers.push_back({8, {0, 0}, false});
    for (uint32_t trial = 0; trial < kRowTrials; ++trial) {
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
  bool twice_;
};

struct Piece {
  int64_t begin, end;  ///< bytes behind the place that conflicted
};
/// A row of a bank, at a place of it that conflicts with another row.
struct Row {
  std::vector<Piece> pieces;
  uint32_t stride = 0;  ///< distance of two rows of a bank wherever they are; 0: none was found
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
    // Rows of a bank lie whole rounds apart, unless channels are hashed; of two pieces the distance is always
    // the same.
    if (stride != 0 ? stride % period != 0 : pieces.size() == 2) return 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const int64_t shift = static_cast<int64_t>(i) * period;
      if (pieces[i].begin != first.begin + shift || pieces[i].end != first.end + shift) return 0;
    }
    return static_cast<uint32_t>(period);
  }
  [[nodiscard]] uint32_t piece() const { return static_cast<uint32_t>(pieces[0].end - pieces[0].begin); }
};

/// Answers about places so many bytes behind one that conflicts with a row of its bank.
class RowNeighbours {
 public:
  virtual ~RowNeighbours() = default;
  /// Of each place, whether it conflicts with that row too.
  [[nodiscard]] virtual std::vector<bool> conflict(const std::vector<int64_t>& offsets) const = 0;
  /// Of places that do, whether they are in another row than offset 0.
  [[nodiscard]] virtual std::vector<bool> other_row(const std::vector<int64_t>& offsets) const = 0;
  /// Bytes in front of the place that can be asked for.
  [[nodiscard]] virtual int64_t before() const = 0;
};

/// Whatever lies in the row of offset 0, which may be anywhere in it, conflicts as it does, but not with it.
/// What does conflict with it is in another row of the bank: this one is over. So it is when nothing has come
/// for several times the widest gap, at least `least_gap` bytes.
void collect(const RowNeighbours& row, bool upwards, int64_t least_gap, std::vector<Piece>& pieces) {
  int64_t widest_gap = least_gap, last = 0;
  const int64_t most = std::min<int64_t>(kMostScan, upwards ? kMostScan : row.before());
  for (int64_t from = upwards ? 0 : kGranule; from < most; from += int64_t{kRowBatch} * kGranule) {
    std::vector<int64_t> offsets;
    for (int64_t o = from; o < std::min<int64_t>(most, from + int64_t{kRowBatch} * kGranule); o += kGranule)
      offsets.push_back(upwards ? o : -o);
    const std::vector<bool> conflict = row.conflict(offsets);
    std::vector<int64_t> slow;
    for (size_t i = 0; i < offsets.size(); ++i)
      if (conflict[i]) slow.push_back(offsets[i]);
    const std::vector<bool> other = row.other_row(slow);
    for (size_t i = 0; i < slow.size(); ++i) {
      if (other[i]) return;
      pieces.push_back({slow[i], slow[i] + kGranule});
      widest_gap = std::max(widest_gap, std::abs(slow[i] - last) - kGranule);
      last = slow[i];
    }
    if (from + int64_t{kRowBatch} * kGranule - std::abs(last) > kWideGap * widest_gap) return;
  }
}

std::vector<Piece> pieces_of(const RowNeighbours& row, int64_t least_gap) {
  std::vector<Piece> pieces, joined;
  collect(row, true, least_gap, pieces);
  collect(row, false, least_gap, pieces);
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  // Granules that follow each other are one piece.
  for (const Piece& p : pieces) {
    if (!joined.empty() && joined.back().end == p.begin)
      joined.back().end = p.end;
    else
      joined.push_back(p);
  }
  return joined;
}

/// Where channels go round in order and no hash moves banks: the same distances conflict everywhere.
class StrideSearch : public RowNeighbours {
 public:
  StrideSearch(Device& device, bool cached)
      : pairs_(device, kRowRounds, !cached),
        memory_(device.properties().memory_bytes),
        near_(pairs_.times({kNextInRow}).front()),
        least_conflict_(near_ + kLeastRowConflict * device.properties().core_hz) {}

  [[nodiscard]] Row find() {
    const std::vector<uint32_t> distances = likely_distances();
    const std::vector<double> times = pairs_.times(distances);
    const double most = *std::max_element(times.begin(), times.end());
    if (most < least_conflict_) return {};
    limit_ = near_ + 0.7 * (most - near_);
    for (size_t i = 0; i < distances.size(); ++i) {
      if (times[i] <= limit_ || !everywhere(distances[i])) continue;
      stride_ = distances[i];
      return {pieces_of(*this, kLeastGap), stride_};
    }
    return {};
  }

 private:
  /// Distances of rows of one bank that are likely.
  [[nodiscard]] std::vector<uint32_t> likely_distances() const {
    std::vector<uint32_t> distances;
    for (unsigned bit = kLeastBit; bit <= kMostBit; ++bit)
      for (const uint32_t factor : kFactors)
        if (uint64_t{factor} << bit <= memory_ / kPlaces) distances.push_back(factor << bit);
    std::sort(distances.begin(), distances.end());
    distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
    return distances;
  }
  /// With a hash, a distance may conflict in one place and not in others.
  [[nodiscard]] bool everywhere(uint32_t distance) const {
    const std::vector<double> times = pairs_.times(std::vector<uint32_t>(kPlaces, distance));
    return *std::min_element(times.begin(), times.end()) > limit_;
  }
  [[nodiscard]] std::vector<bool> conflict(const std::vector<int64_t>& offsets) const override {
    std::vector<uint32_t> distances;
    distances.reserve(offsets.size());
    for (const int64_t o : offsets) distances.push_back(static_cast<uint32_t>(stride_ + o));
    std::vector<bool> slow;
    for (const double t : pairs_.times(distances)) slow.push_back(t > limit_);
    return slow;
  }
  [[nodiscard]] std::vector<bool> other_row(const std::vector<int64_t>& offsets) const override {
    std::vector<bool> other;
    for (const int64_t o : offsets) {
      const auto start = static_cast<uint32_t>(stride_ + std::min<int64_t>(o, 0));
      other.push_back(o != 0 && pairs_.times({static_cast<uint32_t>(std::abs(o))}, start).front() > limit_);
    }
    return other;
  }
  [[nodiscard]] int64_t before() const override { return stride_; }

  Pairs pairs_;
  uint64_t memory_;
  double near_, least_conflict_, limit_ = 0;
  uint32_t stride_ = 0;
};

/// Wherever rows lie: around an address that conflicts with the anchor of `mates`.
class AroundMate : public RowNeighbours {
 public:
  AroundMate(const BankMates& mates, uint32_t place) : mates_(mates), place_(place) {}
  [[nodiscard]] std::vector<bool> conflict(const std::vector<int64_t>& offsets) const override {
    return mates_.conflicts(addresses(offsets));
  }
  [[nodiscard]] std::vector<bool> other_row(const std::vector<int64_t>& offsets) const override {
    return mates_.conflicts_with(place_, addresses(offsets));
  }
  [[nodiscard]] int64_t before() const override { return place_; }

 private:
  [[nodiscard]] std::vector<uint32_t> addresses(const std::vector<int64_t>& offsets) const {
    std::vector<uint32_t> result;
    result.reserve(offsets.size());
    for (const int64_t o : offsets) result.push_back(static_cast<uint32_t>(place_ + o));
    return result;
  }
  const BankMates& mates_;
  uint32_t place_;
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

void measure_dram_rows(Device& device, const Hierarchy& h,
                       const std::function<std::vector<uint32_t>()>& crowd, DataSheet& sheet) {
  Row row = StrideSearch(device, h.l2.present).find();
  if (row.stride == 0) {
    const std::vector<uint32_t> lines = crowd();
    if (!lines.empty()) {
      const BankMates mates(device, lines);
      const uint64_t reach = std::min<uint64_t>(reach_of_probe(device.properties().memory_bytes), kNearby);
      if (const uint32_t place = mates.find(reach - kMostScan); place != 0)
        row.pieces = pieces_of(AroundMate(mates, place), kLeastHashedGap);
    }
  }
  const uint32_t bytes = row.bytes(), period = row.period();
  const uint32_t interleave = period == 0 ? 0 : row.piece(), channels = period == 0 ? 0 : period / interleave;
  const char* const none = "no two loads at once that conflict were found";
  const char* const hashed = bytes == 0 ? none : "the row's pieces are not regularly apart";
  add(sheet, "row", bytes, "bytes", "what conflicts with a load of another row of its bank, loaded at once",
      none);
  add(sheet, "interleave", interleave, "bytes", "bytes of a row that follow each other", hashed);
  add(sheet, "channels", channels, "channels", "distance of these pieces, in their lengths", hashed);
  add(sheet, "bank_period", channels != 0 ? row.stride / (bytes * channels) : 0, "rows",
      "from a row to the next one of its bank",
      channels != 0 ? "no distance was found at which two rows are in one bank everywhere" : hashed);
}

}  // namespace gpusim::microbench
