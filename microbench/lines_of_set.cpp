#include "microbench/lines_of_set.h"

#include <algorithm>
#include <random>

namespace gpusim::microbench {

namespace {

constexpr size_t kBatches = 64;      // tried together
constexpr size_t kMostTries = 2048;  // of batches
constexpr uint64_t kMostOfBatch = 4096;
constexpr uint64_t kShare = 4;  // a batch has a line of the set in about one case of so many

using Lines = std::vector<uint32_t>;

/// Whether some of the lines are of the full set: then one of its own has to go, whatever the replacement.
class SetTest {
 public:
  SetTest(const ConflictTest& test, const Lines& full) : test_(test), full_(full) {}

  [[nodiscard]] std::vector<bool> meets(const std::vector<Lines>& batches) const {
    std::vector<ProbeRequest> requests;
    for (const Lines& batch : batches) {
      ProbeRequest r;
      for (uint32_t lap = 0; lap < laps(); ++lap) append(r.members, full_);
      append(r.members, batch);
      append(r.members, full_);
      requests.push_back(std::move(r));
    }
    std::vector<bool> result;
    for (const ProbeReading& reading : test_.probe().read(requests))
      result.push_back(std::any_of(reading.members.end() - static_cast<std::ptrdiff_t>(full_.size()),
                                   reading.members.end(), [&](uint32_t c) { return c > test_.limit(); }));
    return result;
  }
  /// Lines that fit into a batch.
  [[nodiscard]] uint64_t room() const {
    const uint64_t own = (uint64_t{laps()} + 1) * full_.size(), most = test_.probe().most_members();
    return most > own ? most - own : 0;
  }

 private:
  /// A level that other kernels have used needs laps until their lines are gone.
  [[nodiscard]] uint32_t laps() const { return test_.probe().path() == Path::kCached ? 3 : 10; }
  static void append(Lines& to, const Lines& from) { to.insert(to.end(), from.begin(), from.end()); }

  const ConflictTest& test_;
  const Lines& full_;
};

/// Of each batch that meets the set, a line that does so alone.
Lines single_out(const SetTest& test, std::vector<Lines> batches) {
  const auto longest = [&] {
    size_t lines = 0;
    for (const Lines& b : batches) lines = std::max(lines, b.size());
    return lines;
  };
  while (longest() > 1) {
    std::vector<Lines> halves;
    halves.reserve(batches.size());
    for (const Lines& b : batches)
      halves.emplace_back(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(b.size() / 2));
    const std::vector<bool> meets = test.meets(halves);
    for (size_t i = 0; i < batches.size(); ++i) {
      if (batches[i].size() == 1) continue;
      if (meets[i])
        batches[i] = std::move(halves[i]);
      else
        batches[i].erase(batches[i].begin(),
                         batches[i].begin() + static_cast<std::ptrdiff_t>(halves[i].size()));
    }
  }
  const std::vector<bool> meets = test.meets(batches);
  Lines found;
  for (size_t i = 0; i < batches.size(); ++i)
    if (meets[i]) found.push_back(batches[i].front());
  return found;
}

}  // namespace

std::vector<uint64_t> lines_of_set(const ConflictTest& test, const std::vector<uint32_t>& full,
                                   const AddressSpace& space, uint64_t sets, size_t count) {
  const SetTest set(test, full);
  if (set.room() == 0) return {};
  const uint64_t lines = std::clamp<uint64_t>(sets / kShare, 1, std::min(kMostOfBatch, set.room()));
  std::mt19937 random(1);
  std::vector<uint64_t> found;
  for (size_t tries = 0; found.size() < count && tries < kMostTries; tries += kBatches) {
    std::vector<Lines> batches(kBatches);
    for (Lines& batch : batches)
      for (uint64_t i = 0; i < lines; ++i)
        batch.push_back(
            static_cast<uint32_t>((random() & ((uint64_t{1} << space.bits) - 1)) / space.line * space.line));
    const std::vector<bool> meets = set.meets(batches);
    std::vector<Lines> good;
    for (size_t i = 0; i < batches.size(); ++i)
      if (meets[i]) good.push_back(std::move(batches[i]));
    if (good.empty()) continue;
    const Lines more = single_out(set, std::move(good));
    found.insert(found.end(), more.begin(), more.end());
  }
  found.resize(std::min(found.size(), count));
  return found;
}

}  // namespace gpusim::microbench
