// Why a kernel took its cycles: every issue slot by cause (a CPI stack of integers that sums exactly), the
// largest causes with the statements where they occur and the accesses they wait for, and the operations at
// which most slots went. Computed from issue_slots, per_sm and per_pc alone.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/profile/stall_causes.h"
#include "analysis/recording/recording.h"
#include "analysis/source/code_places.h"

namespace gpusim::analysis {

struct CauseGroup {
  std::string_view name;
  uint64_t slots = 0;
  std::vector<CauseSlots> causes;  ///< those with slots
};

struct TopCause {
  std::string name;
  uint64_t slots = 0;
  std::vector<CodePlace> at;        ///< where the waiting warps stood, most slots first
  std::vector<CodePlace> awaiting;  ///< the accesses whose data they waited for (if recorded)
};

struct HotOperation {
  uint64_t pc = 0;
  uint64_t slots = 0;
  std::vector<CauseSlots> causes;  ///< those with slots, most first
};

struct Explanation {
  uint64_t slots = 0;              ///< all issue slots of the kernel
  std::vector<CauseGroup> groups;  ///< sums to `slots`
  std::vector<TopCause> top;       ///< without issued, most slots first
  std::vector<HotOperation> hot;   ///< most slots first
};

/// `limit`: causes, places of each and hot operations at most.
[[nodiscard]] Explanation explain(const KernelRecord& kernel, size_t limit);

}  // namespace gpusim::analysis
