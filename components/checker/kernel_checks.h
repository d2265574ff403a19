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
};

class KernelChecks {
 public:
  /// Makes the memory and .sync operations of `image` observed ones; with `arithmetic` all others.
  KernelChecks(isa::KernelImage& image, bool arithmetic);
  [[nodiscard]] const isa::KernelImage& image() const { return image_; }
  /// `op` is one of the image's.
  [[nodiscard]] const CheckedOp& of(const isa::MicroOp& op) const;

 private:
  const isa::KernelImage& image_;
  std::vector<CheckedOp> ops_, folded_;
};

}  // namespace gpusim::comp
