#include "microbench/discover.h"

#include <algorithm>
#include <array>

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
constexpr uint32_t kUsualLine = 128;

}  // namespace

std::span<const std::string_view> section_names() { return kSections; }

DataSheet discover(Device& device, const std::vector<std::string>& only) {
  const auto wanted = [&](std::string_view section) {
    return only.empty() || std::find(only.begin(), only.end(), section) != only.end();
  };
  DataSheet sheet;
  if (wanted("operations")) measure_operations(device, sheet);
  const bool hierarchy = wanted("latency") || wanted("bandwidth") || wanted("l1") || wanted("l2") ||
                         wanted("tlb") || wanted("mshrs");
  const Hierarchy h = hierarchy ? find_hierarchy(device) : Hierarchy{};
  if (wanted("latency")) measure_chases(device, h, sheet);
  if (wanted("bandwidth")) measure_bandwidths(device, h, sheet);
  const Probe cached(device, Path::kCached), past(device, Path::kPastL1);
  CacheStructure l1;
  if (h.l1.present && (wanted("l1") || wanted("mshrs"))) l1 = find_structure(cached, h.l1);
  if (wanted("l1")) add_structure("l1", cached, h.l1, l1, sheet);
  if (wanted("l2"))
    add_structure("l2", past, h.l2, h.l2.present ? find_structure(past, h.l2) : CacheStructure{}, sheet);
  if (wanted("tlb")) measure_tlb(device, h, sheet);
  if (wanted("mshrs")) measure_outstanding(device, l1.line != 0 ? l1.line : kUsualLine, sheet);
  if (wanted("shared")) measure_shared_banks(device, sheet);
  if (wanted("constant")) measure_constant_caches(device, sheet);
  if (wanted("dram")) measure_dram_rows(device, sheet);
  return sheet;
}

}  // namespace gpusim::microbench
