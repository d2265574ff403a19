// What a bad access is about, in words: which object it belongs to or misses, and by how much.
#pragma once
#include <string>

#include "components/checker/finding.h"
#include "components/checker/objects.h"
#include "components/checker/warp_addresses.h"

namespace gpusim::comp {

struct FaultPlace {
  isa::OpKind op = isa::OpKind::kLoad;
  isa::Space space = isa::Space::kNone;
  uint64_t address = 0;  ///< in `space`
  uint32_t bytes = 0;
};
struct MemoryLimits {
  uint32_t shared = 0, local = 0, param = 0;
};

/// Out of bounds, or an address of another space?
[[nodiscard]] FindingKind classify_fault(isa::FaultKind fault, const FaultPlace& place,
                                         GlobalObjects& globals);
[[nodiscard]] FindingDetail describe_memory_fault(FindingKind kind, const FaultPlace& place,
                                                  const isa::KernelImage& image, GlobalObjects& globals,
                                                  const MemoryLimits& limits);
/// An access whose address has left the variable that it was derived from.
[[nodiscard]] FindingDetail describe_stray(const FaultPlace& place, const JudgedAddress& judged,
                                           const isa::KernelImage& image);
/// `missing` of the bytes read have never been written.
[[nodiscard]] FindingDetail describe_unwritten(uint32_t missing, const FaultPlace& place,
                                               const isa::KernelImage& image, GlobalObjects& globals);
/// Name of the .shared variable that holds the byte; "" if none does.
[[nodiscard]] std::string shared_variable_at(const isa::KernelImage& image, uint64_t address);

}  // namespace gpusim::comp
