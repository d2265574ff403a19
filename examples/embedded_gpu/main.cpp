// A program that has a simulated GPU in it, without CUDA: y = a x + y in pieces on two streams, so that one
// piece is copied while another is computed. Prints what each launch took and how much time the streams
// saved.
#include <gpusim/gpu.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr uint32_t kElements = 1 << 18, kPieces = 8, kThreads = 256;

// saxpy(float* y, const float* x, float a, int n), as a compiler would write it.
constexpr char kPtx[] = R"(
.version 6.0
.target sm_70
.address_size 64
.visible .entry saxpy(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .f32 %f<4>;
  .reg .b64 %d<4>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  ld.param.u32 %r4, [n];
  setp.ge.u32 %p, %r3, %r4;
  @%p bra DONE;
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [y];
  ld.param.f32 %f0, [a];
  mad.wide.u32 %d2, %r3, 4, %d0;
  mad.wide.u32 %d3, %r3, 4, %d1;
  ld.global.f32 %f1, [%d2];
  ld.global.f32 %f2, [%d3];
  fma.rn.f32 %f3, %f0, %f1, %f2;
  st.global.f32 [%d3], %f3;
DONE:
  ret;
}
)";

/// Simulated seconds; throws std::runtime_error if a result is wrong.
double saxpy(gpusim::Gpu& gpu, uint32_t program, uint32_t streams) {
  constexpr uint32_t kPiece = kElements / kPieces, kBytes = kPiece * sizeof(float);
  std::vector<float> x(kElements), y(kElements), result(kElements);
  for (uint32_t i = 0; i < kElements; ++i) {
    x[i] = static_cast<float>(i % 97);
    y[i] = static_cast<float>(i % 13);
  }
  auto* const on_gpu_x = static_cast<float*>(gpu.allocate(x.size() * sizeof(float)));
  auto* const on_gpu_y = static_cast<float*>(gpu.allocate(y.size() * sizeof(float)));
  const double before = gpu.seconds();
  for (uint32_t piece = 0; piece < kPieces; ++piece) {
    const uint32_t first = piece * kPiece, stream = 1 + piece % streams;
    gpu.copy_to_device(on_gpu_x + first, x.data() + first, kBytes, stream);
    gpu.copy_to_device(on_gpu_y + first, y.data() + first, kBytes, stream);
    const float* const piece_x = on_gpu_x + first;
    float* const piece_y = on_gpu_y + first;
    const float a = 2;
    const std::vector<const void*> arguments{&piece_y, &piece_x, &a, &kPiece};
    gpu.launch(program, "saxpy", {kPiece / kThreads}, {kThreads}, arguments, 0, stream);
  }
  gpu.synchronize();
  const double took = gpu.seconds() - before;
  gpu.copy_to_host(result.data(), on_gpu_y, result.size() * sizeof(float));
  for (uint32_t i = 0; i < kElements; ++i)
    if (result[i] != 2 * x[i] + y[i]) throw std::runtime_error("element " + std::to_string(i) + " is wrong");
  gpu.release(on_gpu_x);
  gpu.release(on_gpu_y);
  return took;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    gpusim::GpuOptions options;
    options.config = argc > 1 ? argv[1] : "tesla_v100";
    options.config_folders = {std::string(GPUSIM_DATA) + "/configs"};
    gpusim::Gpu gpu(options);
    const uint32_t program = gpu.load("saxpy.ptx", kPtx);
    const double alone = saxpy(gpu, program, 1), together = saxpy(gpu, program, 2);
    const std::vector<gpusim::KernelTime> kernels = gpu.kernels();
    uint64_t cycles = 0;
    for (const gpusim::KernelTime& k : kernels) cycles += k.cycles;
    std::printf("%zu launches, %llu cycles each on average\n", kernels.size(),
                static_cast<unsigned long long>(cycles / kernels.size()));
    std::printf("one stream %.1f us, two streams %.1f us\n", alone * 1e6, together * 1e6);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "embedded_gpu: error: %s\n", error.what());
    return 1;
  }
}
