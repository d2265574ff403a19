#include "microbench/discover.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "microbench/bandwidths.h"
#include "microbench/cache_structure.h"
#include "microbench/chases.h"
#include "microbench/constant_caches.h"
#include "microbench/dram_rows.h"
#include "microbench/hierarchy.h"
#include "microbench/operations.h"
#include "microbench/outstanding.h"
#include "microbench/shared_banks.h"
#include "microbench/tlb.h"

namespace gpusim::microbench {

namespace {

constexpr std::array<std::string_view, 10> kSections = {
    "operations", "latency", "bandwidth", "l1", "l2", "tlb", "mshrs", "shared", "constant", "dram"};
/// Those that need the exact capacity of L2.
constexpr std::array<std::string_view, 6> kExact = {"bandwidth", "l1", "l2", "tlb", "mshrs", "dram"};
constexpr uint32_t kUsualLine = 128;

}  // namespace

std::span<const std::string_view> section_names() { return kSections; }

DataSheet discover(Device& device, const std::vector<std::string>& only) {
  const auto wanted = [&](std::string_view section) {
    return only.empty() || std::find(only.begin(), only.end(), section) != only.end();
  };
  DataSheet sheet;
  const auto section = [&](const char* name, const std::function<void()>& measure) {
    if (wanted(name)) attempt(sheet, name, measure);
  };
  section("operations", [&] { measure_operations(device, sheet); });
  // Found once, when a section needs it, and no more exactly than the sections that are wanted need it.
  const bool exact = std::any_of(kExact.begin(), kExact.end(), wanted);
  std::optional<Hierarchy> found;
  const auto hierarchy = [&]() -> const Hierarchy& {
    if (!found) found = find_hierarchy(device, exact ? Alike() : Alike(alike_to_chases));
    return *found;
  };
  const Probe cached(device, Path::kCached), past(device, Path::kPastL1);
  std::optional<CacheStructure> found_l1;
  const auto l1 = [&]() -> const CacheStructure& {
    const Level& level = hierarchy().l1;
    if (!found_l1)
      found_l1 = level.present
                     ? find_structure(cached, level, smallest_overflow(ConflictTest(cached, level.limit)))
                     : CacheStructure{};
    return *found_l1;
  };
  std::optional<std::vector<uint32_t>> found_crowd;
  const auto l2_crowd = [&]() -> const std::vector<uint32_t>& {
    if (!found_crowd) found_crowd = smallest_overflow(ConflictTest(past, hierarchy().l2.limit));
    return *found_crowd;
  };
  section("latency", [&] { measure_chases(device, hierarchy(), sheet); });
  section("bandwidth", [&] { measure_bandwidths(device, hierarchy(), sheet); });
  section("l1", [&] { add_structure("l1", cached, hierarchy().l1, l1(), sheet); });
  section("l2", [&] {
    const Level& level = hierarchy().l2;
    add_structure("l2", past, level,
                  level.present ? find_structure(past, level, l2_crowd()) : CacheStructure{}, sheet);
  });
  section("tlb", [&] { measure_tlb(device, hierarchy(), sheet); });
  section("mshrs", [&] { measure_outstanding(device, l1().line != 0 ? l1().line : kUsualLine, sheet); });
  section("shared", [&] { measure_shared_banks(device, sheet); });
  section("constant", [&] { measure_constant_caches(device, sheet); });
  section("dram", [&] {
    // Without an L2 any address can be loaded again and again from memory.
    const auto crowd = [&] { return hierarchy().l2.present ? l2_crowd() : std::vector<uint32_t>{0}; };
    measure_dram_rows(device, hierarchy(), crowd, sheet);
  });
  return sheet;
}

}  // namespace gpusim::microbench
