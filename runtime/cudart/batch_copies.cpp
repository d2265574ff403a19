// Batches of copies, linear and of three dimensions: the whole is in the order of the stream.
#include "runtime/cudart/batch_copies.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace gpusim::runtime::cudart {

#if GPUSIM_CUDART >= 12
namespace {

/// All are checked before the first is submitted; `failed` says which one cannot be, or SIZE_MAX.
template <class Make>
cudaError_t submit_batch(size_t count, size_t* failed, cudaStream_t stream, Default null, Make make) {
  return call([&](Device& device) {
    if (failed != nullptr) *failed = SIZE_MAX;
    require(count != 0);
    Stream& s = stream_of(device, stream, null);
    std::vector<Copy> copies;
    for (size_t i = 0; i < count; ++i) {
      if (failed != nullptr) *failed = i;
      copies.push_back(make(device, i));
    }
    if (failed != nullptr) *failed = SIZE_MAX;
    for (Copy& copy : copies) submit_copy(device, std::move(copy), s, false);
  });
}

/// Lengths are in elements: those of the array, if one end is in an array, else bytes.
void set_end(const Device& device, const BatchOperand& from, const cudaExtent& extent, uint64_t element,
             cudaArray_t& array, cudaPos& position, cudaPitchedPtr& memory) {
  if (from.type == BatchOperand::kArray) {
    (void)array_of(device, from.array.array);
    array = from.array.array;
    position = from.array.offset;
    return;
  }
  require(from.type == BatchOperand::kPointer && from.pointer.pointer != nullptr);
  const size_t row = from.pointer.row == 0 ? extent.width : from.pointer.row;
  const size_t rows = from.pointer.rows == 0 ? extent.height : from.pointer.rows;
  require(row >= extent.width && rows >= extent.height);
  memory = {from.pointer.pointer, row * element, row * element, rows};
}

Copy described_copy(Device& device, const BatchCopy& c) {
  constexpr int kInStreamOrder = 1, kAnyOrder = 3;
  require(c.order >= kInStreamOrder && c.order <= kAnyOrder);
  require(c.extent.width != 0 && c.extent.height != 0 && c.extent.depth != 0);
  uint64_t element = 1;
  for (const BatchOperand* end : {&c.from, &c.to})
    if (end->type == BatchOperand::kArray) element = array_of(device, end->array.array).texel_bytes();
  cudaMemcpy3DParms p{};
  p.extent = c.extent;
  p.kind = cudaMemcpyDefault;
  set_end(device, c.from, c.extent, element, p.srcArray, p.srcPos, p.srcPtr);
  set_end(device, c.to, c.extent, element, p.dstArray, p.dstPos, p.dstPtr);
  return copy_3d(device, p);
}

}  // namespace

cudaError_t copy_batch(void* const* to, const void* const* from, const size_t* bytes, size_t count,
                       size_t* failed, cudaStream_t stream, Default null) {
  return submit_batch(count, failed, stream, null, [&](Device& device, size_t i) {
    require(to != nullptr && from != nullptr && bytes != nullptr);
    return linear_copy(device, to[i], from[i], bytes[i], cudaMemcpyDefault);
  });
}

cudaError_t copy_batch_3d(size_t count, const BatchCopy* copies, size_t* failed, unsigned long long flags,
                          cudaStream_t stream, Default null) {
  return submit_batch(count, failed, stream, null, [&](Device& device, size_t i) {
    require(copies != nullptr && flags == 0);
    return described_copy(device, copies[i]);
  });
}
#endif

// Attributes say from when on the sources may change and where they lie, which is known.
#if GPUSIM_CUDART >= 13
GPUSIM_EXPORT cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes,
                                               size_t count, const void*, const size_t*, size_t,
                                               cudaStream_t stream) {
  return copy_batch(to, from, bytes, count, nullptr, stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaMemcpyBatchAsync_ptsz(void* const* to, const void* const* from,
                                                    const size_t* bytes, size_t count, const void*,
                                                    const size_t*, size_t, cudaStream_t stream) {
  return copy_batch(to, from, bytes, count, nullptr, stream, Default::kThread);
}
#elif GPUSIM_CUDART == 12
GPUSIM_EXPORT cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes,
                                               size_t count, const void*, const size_t*, size_t,
                                               size_t* failed, cudaStream_t stream) {
  return copy_batch(to, from, bytes, count, failed, stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaMemcpyBatchAsync_ptsz(void* const* to, const void* const* from,
                                                    const size_t* bytes, size_t count, const void*,
                                                    const size_t*, size_t, size_t* failed,
                                                    cudaStream_t stream) {
  return copy_batch(to, from, bytes, count, failed, stream, Default::kThread);
}
#endif
#if GPUSIM_CUDART >= 13
GPUSIM_EXPORT cudaError_t cudaMemcpy3DBatchAsync(size_t count, const BatchCopy* copies,
                                                 unsigned long long flags, cudaStream_t stream) {
  return copy_batch_3d(count, copies, nullptr, flags, stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaMemcpy3DBatchAsync_ptsz(size_t count, const BatchCopy* copies,
                                                      unsigned long long flags, cudaStream_t stream) {
  return copy_batch_3d(count, copies, nullptr, flags, stream, Default::kThread);
}
#elif GPUSIM_CUDART == 12
GPUSIM_EXPORT cudaError_t cudaMemcpy3DBatchAsync(size_t count, const BatchCopy* copies, size_t* failed,
                                                 unsigned long long flags, cudaStream_t stream) {
  return copy_batch_3d(count, copies, failed, flags, stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaMemcpy3DBatchAsync_ptsz(size_t count, const BatchCopy* copies, size_t* failed,
                                                      unsigned long long flags, cudaStream_t stream) {
  return copy_batch_3d(count, copies, failed, flags, stream, Default::kThread);
}
#endif

}  // namespace gpusim::runtime::cudart
