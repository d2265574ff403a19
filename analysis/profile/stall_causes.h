// The causes of lost issue slots in words, and how they group: one row per cause that components may record
// (components/sm/stall_cause.h). A cause without a row is shown under its recorded name, in group "other".
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace gpusim::analysis {

struct CauseInfo {
  std::string_view name;   ///< as in issue_slots
  std::string_view group;  ///< first level of the top-down stack
  std::string_view stall;  ///< the nvprof metric it belongs to; empty: not a stall of a warp
  std::string_view meaning;
};

[[nodiscard]] std::span<const CauseInfo> cause_table();
/// Groups in the order in which they are printed.
[[nodiscard]] std::span<const std::string_view> cause_groups();
[[nodiscard]] CauseInfo cause_info(std::string_view name);
/// True for slots without a candidate warp: they stand at no operation.
[[nodiscard]] bool has_no_warp(std::string_view cause);
/// True for waits for data of a memory access.
[[nodiscard]] bool waits_for_memory(const CauseInfo& cause);
/// All causes with their meaning, as `gpusim explain --describe` prints them.
[[nodiscard]] std::string describe_causes();

}  // namespace gpusim::analysis
