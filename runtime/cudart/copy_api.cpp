// Copies and fills.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cudart/api.h"

namespace gpusim::runtime::cudart {

namespace {

Copy rows_copy(Device& device, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
               size_t height, cudaMemcpyKind kind) {
  // A single row may have no pitch.
  const bool has_pitch = height > 1 || to_pitch != 0 || from_pitch != 0;
  if (has_pitch && (width > to_pitch || width > from_pitch))
    throw Failure(height > 1 ? Code::kInvalidPitchValue : Code::kInvalidValue);
  Copy c;
  c.to = static_cast<std::byte*>(to);
  c.from = static_cast<const std::byte*>(from);
  c.width = width, c.height = height;
  c.to_pitch = to_pitch, c.from_pitch = from_pitch;
  c.to_slice = to_pitch * height, c.from_slice = from_pitch * height;
  return checked_copy(device, std::move(c), kind);
}

/// Of memory beside an array: programs give no pitch where there is one row.
size_t pitch_of_rows(size_t pitch, size_t width, size_t height) {
  return height <= 1 ? std::max(pitch, width) : pitch;
}

/// A place in an array, in bytes of x.
std::byte* place(const Array& a, size_t x_bytes, size_t y, size_t width, size_t height) {
  require(x_bytes + width <= a.row_bytes() && y + height <= a.height());
  return a.data + y * a.pitch + x_bytes;
}

/// One end of a copy of `count` bytes that fills the rows of an array one after another, from a byte of a row
/// on. Linear memory is one row without an end.
class Bytes {
 public:
  explicit Bytes(const void* memory) : at_(static_cast<std::byte*>(const_cast<void*>(memory))) {}
  Bytes(const Array& a, size_t x, size_t y, size_t count)
      : at_(a.data + y * a.pitch + x), row_(a.row_bytes()) {
    require(x < row_ && y < a.height() && count <= row_ * (a.height() - y) - x);
    x_ = x, pitch_ = a.pitch;
  }
  [[nodiscard]] std::byte* at() const { return at_; }
  [[nodiscard]] size_t left_of_row() const { return row_ - x_; }
  [[nodiscard]] bool begins_row() const { return x_ == 0; }
  [[nodiscard]] bool linear() const { return pitch_ == 0; }
  [[nodiscard]] size_t row() const { return row_; }
  /// From row to row; in linear memory that which the other end fills.
  [[nodiscard]] size_t pitch(size_t width) const { return linear() ? width : pitch_; }
  void advance(size_t bytes) {
    if (linear()) {
      at_ += bytes;
      return;
    }
    const size_t rows = (x_ + bytes) / row_, x = (x_ + bytes) % row_;
    at_ = at_ - x_ + rows * pitch_ + x;
    x_ = x;
  }

 private:
  std::byte* at_;
  size_t row_ = SIZE_MAX, pitch_ = 0, x_ = 0;
};

/// The rectangles that `count` bytes are: what is left of a row, whole rows, the begin of a row.
std::vector<Copy> bytes_copy(Device& device, Bytes to, Bytes from, size_t count, cudaMemcpyKind kind) {
  std::vector<Copy> copies;
  while (count != 0) {
    const Bytes& rows = to.linear() ? from : to;
    const bool whole = to.begins_row() && from.begins_row() && count >= rows.row() &&
                       (to.linear() || from.linear() || to.row() == from.row());
    const size_t width = whole ? rows.row() : std::min({count, to.left_of_row(), from.left_of_row()});
    const size_t height = whole ? count / width : 1;
    copies.push_back(
        rows_copy(device, to.at(), to.pitch(width), from.at(), from.pitch(width), width, height, kind));
    to.advance(width * height), from.advance(width * height);
    count -= width * height;
  }
  return copies;
}

void submit(Device& device, Copy copy, Stream& stream, bool wait) {
  submit_copy(device, std::move(copy), stream, wait);
}
/// Only the last is waited for: they are in one stream.
void submit(Device& device, std::vector<Copy> copies, Stream& stream, bool wait) {
  for (Copy& copy : copies) submit_copy(device, std::move(copy), stream, wait && &copy == &copies.back());
}

}  // namespace

// Each function comes in up to four forms: it waits or not, and a null stream is the legacy default stream
// or, for programs compiled with --default-stream per-thread (_ptds, _ptsz), the thread's.
#define GPUSIM_COPY(name, parameters, make)                                                   \
  GPUSIM_EXPORT cudaError_t name parameters {                                                 \
    return call([&](Device& device) { submit(device, make, device.legacy_stream(), true); }); \
  }                                                                                           \
  GPUSIM_EXPORT cudaError_t name##_ptds parameters {                                          \
    return call([&](Device& device) { submit(device, make, device.thread_stream(), true); }); \
  }
#define GPUSIM_COPY_ASYNC(name, parameters, make)                                                           \
  GPUSIM_EXPORT cudaError_t name parameters {                                                               \
    return call([&](Device& device) { submit(device, make, stream_of(device, stream), false); });           \
  }                                                                                                         \
  GPUSIM_EXPORT cudaError_t name##_ptsz parameters {                                                        \
    return call(                                                                                            \
        [&](Device& device) { submit(device, make, stream_of(device, stream, Default::kThread), false); }); \
  }

GPUSIM_COPY(cudaMemcpy, (void* to, const void* from, size_t bytes, cudaMemcpyKind kind),
            linear_copy(device, to, from, bytes, kind))
GPUSIM_COPY_ASYNC(cudaMemcpyAsync,
                  (void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
                  linear_copy(device, to, from, bytes, kind))
GPUSIM_COPY(cudaMemcpy2D,
            (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
             cudaMemcpyKind kind),
            rows_copy(device, to, to_pitch, from, from_pitch, width, height, kind))
GPUSIM_COPY_ASYNC(cudaMemcpy2DAsync,
                  (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                   size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                  rows_copy(device, to, to_pitch, from, from_pitch, width, height, kind))

namespace {
Copy checked_3d(Device& device, const cudaMemcpy3DParms* p) {
  require(p != nullptr);
  return copy_3d(device, *p);
}
Copy peer_3d(Device& device, const cudaMemcpy3DPeerParms* p) {
  require(p != nullptr);
  require(p->srcDevice == 0 && p->dstDevice == 0, Code::kInvalidDevice);
  return copy_3d(device, {p->srcArray, p->srcPos, p->srcPtr, p->dstArray, p->dstPos, p->dstPtr, p->extent,
                          cudaMemcpyDefault});
}
Copy peer_copy(Device& device, void* to, int to_device, const void* from, int from_device, size_t bytes) {
  require(to_device == 0 && from_device == 0, Code::kInvalidDevice);
  return linear_copy(device, to, from, bytes, cudaMemcpyDeviceToDevice);
}
Copy to_array(Device& device, cudaArray_t array, size_t x, size_t y, const void* from, size_t pitch,
              size_t width, size_t height, cudaMemcpyKind kind) {
  const Array& a = array_of(device, array);
  require(kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyHostToHost, Code::kInvalidMemcpyDirection);
  require(height <= 1 || width <= pitch, Code::kInvalidPitchValue);
  return rows_copy(device, place(a, x, y, width, height), a.pitch, from, pitch_of_rows(pitch, width, height),
                   width, height, kind);
}
Copy from_array(Device& device, void* to, size_t pitch, cudaArray_const_t array, size_t x, size_t y,
                size_t width, size_t height, cudaMemcpyKind kind) {
  const Array& a = array_of(device, array);
  require(kind != cudaMemcpyHostToDevice && kind != cudaMemcpyHostToHost, Code::kInvalidMemcpyDirection);
  require(height <= 1 || width <= pitch, Code::kInvalidPitchValue);
  return rows_copy(device, to, pitch_of_rows(pitch, width, height), place(a, x, y, width, height), a.pitch,
                   width, height, kind);
}
Copy array_to_array(Device& device, cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                    size_t from_x, size_t from_y, size_t width, size_t height, cudaMemcpyKind kind) {
  const Array &t = array_of(device, to), &f = array_of(device, from);
  return rows_copy(device, place(t, to_x, to_y, width, height), t.pitch,
                   place(f, from_x, from_y, width, height), f.pitch, width, height, kind);
}
std::vector<Copy> bytes_to_array(Device& device, cudaArray_t array, size_t x, size_t y, const void* from,
                                 size_t bytes, cudaMemcpyKind kind) {
  require(kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyHostToHost, Code::kInvalidMemcpyDirection);
  return bytes_copy(device, Bytes(array_of(device, array), x, y, bytes), Bytes(from), bytes, kind);
}
std::vector<Copy> bytes_from_array(Device& device, void* to, cudaArray_const_t array, size_t x, size_t y,
                                   size_t bytes, cudaMemcpyKind kind) {
  require(kind != cudaMemcpyHostToDevice && kind != cudaMemcpyHostToHost, Code::kInvalidMemcpyDirection);
  return bytes_copy(device, Bytes(to), Bytes(array_of(device, array), x, y, bytes), bytes, kind);
}
std::vector<Copy> bytes_between_arrays(Device& device, cudaArray_t to, size_t to_x, size_t to_y,
                                       cudaArray_const_t from, size_t from_x, size_t from_y, size_t bytes,
                                       cudaMemcpyKind kind) {
  return bytes_copy(device, Bytes(array_of(device, to), to_x, to_y, bytes),
                    Bytes(array_of(device, from), from_x, from_y, bytes), bytes, kind);
}
}  // namespace

GPUSIM_COPY(cudaMemcpy3D, (const cudaMemcpy3DParms* p), checked_3d(device, p))
GPUSIM_COPY_ASYNC(cudaMemcpy3DAsync, (const cudaMemcpy3DParms* p, cudaStream_t stream), checked_3d(device, p))
GPUSIM_COPY(cudaMemcpy3DPeer, (const cudaMemcpy3DPeerParms* p), peer_3d(device, p))
GPUSIM_COPY_ASYNC(cudaMemcpy3DPeerAsync, (const cudaMemcpy3DPeerParms* p, cudaStream_t stream),
                  peer_3d(device, p))
GPUSIM_COPY(cudaMemcpyPeer, (void* to, int to_device, const void* from, int from_device, size_t bytes),
            peer_copy(device, to, to_device, from, from_device, bytes))
GPUSIM_COPY_ASYNC(cudaMemcpyPeerAsync,
                  (void* to, int to_device, const void* from, int from_device, size_t bytes,
                   cudaStream_t stream),
                  peer_copy(device, to, to_device, from, from_device, bytes))
GPUSIM_COPY(cudaMemcpyToSymbol,
            (const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind),
            to_symbol(device, symbol, from, bytes, offset, kind))
GPUSIM_COPY_ASYNC(cudaMemcpyToSymbolAsync,
                  (const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                   cudaStream_t stream),
                  to_symbol(device, symbol, from, bytes, offset, kind))
GPUSIM_COPY(cudaMemcpyFromSymbol,
            (void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind),
            from_symbol(device, to, symbol, bytes, offset, kind))
GPUSIM_COPY_ASYNC(cudaMemcpyFromSymbolAsync,
                  (void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                   cudaStream_t stream),
                  from_symbol(device, to, symbol, bytes, offset, kind))
GPUSIM_COPY(cudaMemcpy2DToArray,
            (cudaArray_t array, size_t x, size_t y, const void* from, size_t pitch, size_t width,
             size_t height, cudaMemcpyKind kind),
            to_array(device, array, x, y, from, pitch, width, height, kind))
GPUSIM_COPY_ASYNC(cudaMemcpy2DToArrayAsync,
                  (cudaArray_t array, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                   size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                  to_array(device, array, x, y, from, pitch, width, height, kind))
GPUSIM_COPY(cudaMemcpy2DFromArray,
            (void* to, size_t pitch, cudaArray_const_t array, size_t x, size_t y, size_t width, size_t height,
             cudaMemcpyKind kind),
            from_array(device, to, pitch, array, x, y, width, height, kind))
GPUSIM_COPY_ASYNC(cudaMemcpy2DFromArrayAsync,
                  (void* to, size_t pitch, cudaArray_const_t array, size_t x, size_t y, size_t width,
                   size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                  from_array(device, to, pitch, array, x, y, width, height, kind))
GPUSIM_COPY(cudaMemcpy2DArrayToArray,
            (cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y,
             size_t width, size_t height, cudaMemcpyKind kind),
            array_to_array(device, to, to_x, to_y, from, from_x, from_y, width, height, kind))
GPUSIM_COPY(cudaMemcpyArrayToArray,
            (cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y,
             size_t bytes, cudaMemcpyKind kind),
            bytes_between_arrays(device, to, to_x, to_y, from, from_x, from_y, bytes, kind))
GPUSIM_COPY(cudaMemcpyToArray,
            (cudaArray_t array, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind),
            bytes_to_array(device, array, x, y, from, bytes, kind))
GPUSIM_COPY_ASYNC(cudaMemcpyToArrayAsync,
                  (cudaArray_t array, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind,
                   cudaStream_t stream),
                  bytes_to_array(device, array, x, y, from, bytes, kind))
GPUSIM_COPY(cudaMemcpyFromArray,
            (void* to, cudaArray_const_t array, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind),
            bytes_from_array(device, to, array, x, y, bytes, kind))
GPUSIM_COPY_ASYNC(cudaMemcpyFromArrayAsync,
                  (void* to, cudaArray_const_t array, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind,
                   cudaStream_t stream),
                  bytes_from_array(device, to, array, x, y, bytes, kind))

// Fills

namespace {
Fill checked_fill(Device& device, void* to, size_t pitch, int value, size_t width, size_t height,
                  size_t depth = 1, size_t rows_of_slice = 0) {
  Fill f;
  f.to = static_cast<std::byte*>(to);
  f.width = width, f.height = height, f.depth = depth;
  f.pitch = pitch;
  f.slice = pitch * (rows_of_slice == 0 ? height : rows_of_slice);
  f.value = static_cast<uint32_t>(value) & 0xff;
  if (f.bytes() == 0) return f;
  require(height == 1 || width <= pitch);
  require(depth == 1 || rows_of_slice == 0 || height <= rows_of_slice);
  check_reach(device, to, span_of_rows(width, height, depth, pitch, f.slice), true);
  return f;
}
}  // namespace

#define GPUSIM_FILL(name, parameters, make)                                                        \
  GPUSIM_EXPORT cudaError_t name parameters {                                                      \
    return call([&](Device& device) { submit_fill(device, make, device.legacy_stream(), true); }); \
  }                                                                                                \
  GPUSIM_EXPORT cudaError_t name##_ptds parameters {                                               \
    return call([&](Device& device) { submit_fill(device, make, device.thread_stream(), true); }); \
  }
#define GPUSIM_FILL_ASYNC(name, parameters, make)                                                      \
  GPUSIM_EXPORT cudaError_t name parameters {                                                          \
    return call([&](Device& device) { submit_fill(device, make, stream_of(device, stream), false); }); \
  }                                                                                                    \
  GPUSIM_EXPORT cudaError_t name##_ptsz parameters {                                                   \
    return call([&](Device& device) {                                                                  \
      submit_fill(device, make, stream_of(device, stream, Default::kThread), false);                   \
    });                                                                                                \
  }

GPUSIM_FILL(cudaMemset, (void* to, int value, size_t bytes), checked_fill(device, to, bytes, value, bytes, 1))
GPUSIM_FILL_ASYNC(cudaMemsetAsync, (void* to, int value, size_t bytes, cudaStream_t stream),
                  checked_fill(device, to, bytes, value, bytes, 1))
GPUSIM_FILL(cudaMemset2D, (void* to, size_t pitch, int value, size_t width, size_t height),
            checked_fill(device, to, pitch, value, width, height))
GPUSIM_FILL_ASYNC(cudaMemset2DAsync,
                  (void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
                  checked_fill(device, to, pitch, value, width, height))
GPUSIM_FILL(cudaMemset3D, (cudaPitchedPtr p, int value, cudaExtent extent),
            checked_fill(device, p.ptr, p.pitch, value, extent.width, extent.height, extent.depth, p.ysize))
GPUSIM_FILL_ASYNC(cudaMemset3DAsync, (cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream),
                  checked_fill(device, p.ptr, p.pitch, value, extent.width, extent.height, extent.depth,
                               p.ysize))

}  // namespace gpusim::runtime::cudart
