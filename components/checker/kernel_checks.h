// A kernel whose memory and .sync operations are observed: their own functions, and what the checks have to
// know of each operation.
#pragma once
#include <vector>

#include "isa/exec/executor.h"

namespace gpusim::comp {

struct CheckedOp {
  isa::MemFn mem = nullptr;
  isa::ExecFn exec = nullptr;
  bool system_call = false;    ///< printf() and the like
  bool writes_shared = false;  ///< a load that goes to shared memory
  bool plain = false;          ///< each lane accesses consecutive bytes at its address
  bool reads = false;          ///< what it reads can have an effect (not: an exchange without result)
  bool strong = false;         ///< atom, red, and ld or st with memory semantics
  bool is_volatile = false;    ///< ld.volatile, st.volatile
  bool warp_sync = false;      ///< .sync operation of a warp
  bool exchanges = false;      ///< of these, one that takes values of the other lanes
  bool copies = false;         ///< moves its source, or one of two, as it is
  bool members = false;        ///< its last source is the member mask
  bool aligned = true;         ///< barrier: not barrier.sync without .aligned
  /// .sync operation of a warp: accesses of memory, by their place in the image, that each lane comes to
  /// after it, and from which no lane comes to it again. A lane that has executed one has gone past the
  /// operation.
  std::vector<uint32_t> behind;
};

class KernelChecks {
 public:
  /// Makes the memory and .sync operations of `image` observed ones; with `arithmetic` all others. `past`:
  /// finds what is behind each .sync operation.
  KernelChecks(isa::KernelImage& image, bool arithmetic, bool past);
  [[nodiscard]] const isa::KernelImage& image() const { return image_; }
  /// `op` is one of the image's.
  [[nodiscard]] const CheckedOp& of(const isa::MicroOp& op) const;
  /// Whether there are .sync operations that lanes can be seen to have gone past.
  [[nodiscard]] bool knows_past() const { return knows_past_; }
  /// Its place in the image; kNoTarget for a load that is folded into another operation.
  [[nodiscard]] uint32_t index_of(const isa::MicroOp& op) const;

 private:
  [[nodiscard]] std::vector<uint32_t> accesses_behind(uint32_t sync) const;
  const isa::KernelImage& image_;
  std::vector<CheckedOp> ops_, folded_;
  bool knows_past_ = false;
};

}  // namespace gpusim::comp
