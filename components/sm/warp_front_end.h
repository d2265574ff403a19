// Front end of an SM: gives a warp its next operation as soon as that has been fetched, and tells the warp
// table what the operation waits for.
#pragma once
#include <cstdint>

#include "components/sm/sm_state.h"

namespace gpusim::comp {

class WarpFrontEnd {
 public:
  explicit WarpFrontEnd(SmState& sm) : sm_(sm) {}

  /// Warp `w` goes on where its stack stands, in no cycle before `earliest`.
  void prepare(uint32_t w, uint64_t earliest, uint64_t now);
  /// As prepare(): until `earliest` it is `cause` that holds the warp back, unless its operands come later.
  void prepare(uint32_t w, uint64_t earliest, StallCause cause, uint64_t now) {
    prepare(w, earliest, now);
    if (sm_.warps[w].wait == WarpWait::kNone && sm_.table.cause(w) == StallCause::kBlockStart)
      sm_.table.set_cause(w, cause);
  }

 private:
  /// False if the warp has to wait for its next operation to be fetched.
  bool fetched(uint32_t w, uint64_t earliest, uint64_t now);
  /// What has to be open for the operation to issue.
  [[nodiscard]] WarpTable::Gate gate_of(const isa::MicroOp& op) const;

  SmState& sm_;
};

}  // namespace gpusim::comp
