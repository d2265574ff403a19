#include "microbench/cache_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <random>

#include "microbench/lines_of_set.h"
#include "microbench/set_index_form.h"

namespace gpusim::microbench {

namespace {

constexpr uint32_t kRegion = 1u << 20;              // apart enough to be other lines of anything
constexpr uint32_t kSmallest = 8, kLargest = 4096;  // line and sector
/// Of the sets under "modulo", that strides go up to: hashes take in high bits.
constexpr uint32_t kPeriods = 1024;
constexpr uint32_t kPicks = 480, kRounds = 64;

/// Bytes that a miss brings: a load this far behind a first one misses too. The lines are fresh in each try.
uint32_t sector_of(const Probe& probe, uint32_t limit) {
  std::vector<ProbeRequest> requests;
  uint32_t base = 0;
  for (uint32_t offset = kSmallest; offset <= kLargest; offset *= 2, base += kRegion) {
    ProbeRequest r;
    r.members = {base, base + offset};
    requests.push_back(std::move(r));
  }
  const auto readings = probe.read(requests);
  for (size_t i = 0; i < readings.size(); ++i)
    if (readings[i].members[1] > limit) return kSmallest << i;
  return 0;
}

/// A full set takes another address without loss if its line is one of the set's.
uint32_t line_of(const ConflictTest& test, const std::vector<uint32_t>& conflicting) {
  std::vector<Group> groups;
  for (uint32_t offset = kSmallest; offset <= kLargest; offset *= 2) {
    Group g{0, 0, conflicting};
    g.members.back() += offset;
    groups.push_back(std::move(g));
  }
  const std::vector<bool> overflows = test.overflow(groups);
  const auto first = std::find(overflows.begin(), overflows.end(), false) - overflows.begin();
  return static_cast<size_t>(first) == groups.size() ? 0 : kSmallest << first;
}

std::string index_of(const ConflictTest& test, const CacheStructure& c) {
  const AddressSpace space{c.line, address_bits(test.probe().reach())};
  const std::vector<uint32_t> full(c.conflicting.begin(), c.conflicting.end() - 1);
  return set_index_form(space, c.sets, lines_of_set(test, full, space, c.sets, samples_for_form(space)));
}

std::string replacement_by_picks(const ConflictTest& test, const CacheStructure& c) {
  std::mt19937 random(1);
  std::vector<uint32_t> picks;
  ProbeRequest r;
  for (uint32_t i = 0; i < kPicks; ++i) {
    picks.push_back(static_cast<uint32_t>(random() % c.conflicting.size()));
    r.members.push_back(c.conflicting[picks.back()]);
  }
  const auto misses = [&](const ProbeRequest& request) {
    std::vector<bool> missed;
    for (const uint32_t clocks : test.probe().read(request).members) missed.push_back(clocks > test.limit());
    return missed;
  };
  std::string policy = replacement_of(c.ways, picks, misses(r));
  if (!policy.empty()) return policy;
  // No policy that is known: what round after round of the same loads does not repeat is drawn by lot.
  r.members.clear();
  for (uint32_t i = 0; i < kRounds * c.conflicting.size(); ++i)
    r.members.push_back(c.conflicting[i % c.conflicting.size()]);
  const std::vector<bool> missed = misses(r);
  const auto later = missed.begin() + static_cast<std::ptrdiff_t>(missed.size() / 2);
  for (size_t period = 1; period <= kRounds / 4; ++period)
    if (std::equal(later, missed.end(), later - static_cast<std::ptrdiff_t>(period * c.conflicting.size())))
      return "unknown";
  return "random";
}

/// Twice as many lines as a set has ways, at strides from a line to far beyond where all share a set under
/// "modulo": which part of the loads misses, lap after lap.
std::string stride_test(const ConflictTest& test, const CacheStructure& c) {
  std::vector<ProbeRequest> requests;
  const uint32_t lines = 2 * c.ways;
  const uint64_t widest = std::min<uint64_t>(c.line * c.sets * kPeriods, test.probe().reach() / lines);
  for (uint64_t stride = c.line; stride <= widest; stride *= 2) {
    ProbeRequest r;
    r.stride = static_cast<uint32_t>(stride);
    r.rounds = lines;
    r.laps = 10;
    r.limit = test.limit();
    requests.push_back(std::move(r));
  }
  std::string words;
  const auto readings = test.probe().read(requests);
  for (size_t i = 0; i < readings.size(); ++i)
    words +=
        fmt::format("{}{}:{:.0f}", i == 0 ? "" : " ", requests[i].stride, 100.0 * readings[i].slow / lines);
  return words;
}

}  // namespace

CacheStructure find_structure(const Probe& probe, const Level& level, std::vector<uint32_t> conflicting) {
  CacheStructure c;
  const ConflictTest test(probe, level.limit);
  c.sector = sector_of(probe, level.limit);
  c.conflicting = std::move(conflicting);
  if (c.conflicting.size() < 2) return c;
  c.ways = static_cast<uint32_t>(c.conflicting.size()) - 1;
  c.line = line_of(test, c.conflicting);
  // All lines of a cache with one set conflict: the line follows from the number of them.
  if (c.line == 0 || uint64_t{c.line} * c.ways > level.capacity)
    c.line = static_cast<uint32_t>(level.capacity / c.ways);
  c.sets = level.capacity / (uint64_t{c.line} * c.ways);
  if (!std::has_single_bit(c.line) || c.sets == 0) return c;
  c.index = index_of(test, c);
  c.replacement = replacement_by_picks(test, c);
  c.stride_misses = stride_test(test, c);
  return c;
}

void add_structure(const std::string& prefix, const Probe& probe, const Level& level, const CacheStructure& c,
                   DataSheet& sheet) {
  const auto add = [&](const char* name, std::optional<Value> found, const char* unit, std::string method) {
    Figure f;
    f.name = prefix + "." + name;
    f.method = found || c.ways != 0 ? std::move(method)
                                    : fmt::format("no {} lines at even distances overflow a set", kMostLines);
    f.found = std::move(found);
    f.unit = unit;
    f.kernel = probe.kernel();
    sheet.figures.push_back(std::move(f));
  };
  const auto number = [](uint64_t v) {
    return v == 0 ? std::optional<Value>() : Value::of(static_cast<double>(v));
  };
  const auto words = [](const std::string& w) {
    return w.empty() ? std::optional<Value>() : Value::of_words(w);
  };
  if (!level.present) {
    add("size", Value::of(0), "bytes", "a word loaded again takes as long as past this level");
    return;
  }
  add("size", Value::of(static_cast<double>(level.capacity)), "bytes",
      "largest footprint without a miss in the second lap");
  add("ways", number(c.ways), "ways", "smallest group of lines that do not fit together, less one");
  add("line", number(c.line), "bytes", "reach of an address that does not fit into a full set");
  add("sector", number(c.sector), "bytes", "distance behind a miss at which a load misses again");
  add("sets", number(c.sets), "sets", "size / (line * ways)");
  add("index", words(c.index), "",
      "sums of address bits that lines of one set, drawn by lot, have in common");
  add("replacement", words(c.replacement), "",
      fmt::format("misses of {} random loads of ways + 1 lines of a set", kPicks));
  add("stride_misses", words(c.stride_misses), "stride:percent", "2 * ways lines round and round");
}

}  // namespace gpusim::microbench
