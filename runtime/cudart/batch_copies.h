// Batches of copies, which the runtime and the driver library have.
#pragma once
#include "runtime/cudart/api.h"

namespace gpusim::runtime::cudart {

/// cudaMemcpy3DOperand, CUmemcpy3DOperand
struct BatchOperand {
  static constexpr int kPointer = 1, kArray = 2;
  int type;
  union {
    struct {
      void* pointer;
      size_t row, rows;  ///< elements of a row, rows of a layer; 0: those of the copy
      cudaMemLocation hint;
    } pointer;
    struct {
      cudaArray_t array;
      cudaPos offset;
    } array;
  };
};
/// cudaMemcpy3DBatchOp, CUDA_MEMCPY3D_BATCH_OP
struct BatchCopy {
  BatchOperand from, to;
  cudaExtent extent;
  int order;
  unsigned flags;
};
static_assert(sizeof(BatchCopy) == 112);

/// `failed`: null, or which one cannot be.
[[nodiscard]] cudaError_t copy_batch(void* const* to, const void* const* from, const size_t* bytes,
                                     size_t count, size_t* failed, cudaStream_t stream, Default null);
[[nodiscard]] cudaError_t copy_batch_3d(size_t count, const BatchCopy* copies, size_t* failed,
                                        unsigned long long flags, cudaStream_t stream, Default null);

}  // namespace gpusim::runtime::cudart
