// Loops that time what a configuration states of an SM and of the memory behind it, on a real GPU or on the simulator
// (docs/correlate.md, "Loops"):
//
//   nvcc -O2 -std=c++17 -cudart shared -arch=sm_90 loops.cu -o loops
//   ./loops 1 2 3 4 5 8 9
//   gpusim run --config h200 --sms 4 -- ./loops short 1 5 8 9
//
// 1: pointer chases by footprint; 2: streams, and loads by warps of an SM; 3: sectors of the L2 drawn by lot and by stride; 4: launches and
// blocks; 5: shared memory, barriers, shuffles, shared atomics; 8: branches and calls; 9: instruction caches. "short": fewer repetitions
// and smaller data, for the simulator. What is printed is in core cycles of 1980 MHz where it is no time.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
typedef unsigned u32;
typedef unsigned long long u64;
#define CHECKED(x)                                       \
  do {                                                   \
    cudaError_t e_ = (x);                                \
    if (e_) {                                            \
      printf("ERR %s %s\n", #x, cudaGetErrorString(e_)); \
      fflush(stdout);                                    \
      exit(1);                                           \
    }                                                    \
  } while (0)
__global__ void spin(long long n) {
  long long t = clock64();
  while (clock64() - t < n)
    ;
}
__global__ void readall(const uint4* p, size_t n, u32* o) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) {
    uint4 v = __ldcg(p + i);
    if ((v.x | v.y | v.z | v.w) == 0x12345) o[0] = 1;
  }
}
constexpr double kCyclesPerMs = 1.98e6;
static char* flushbuf;
static size_t FL = 128u << 20;
static u32* dump;
static bool few;
static void flush() {
  if (few) return;
  readall<<<(unsigned)(FL / 16 / 256), 256>>>((uint4*)flushbuf, FL / 16, dump);
}
template <class F>
float ms(F f) {
  cudaEvent_t a, b;
  CHECKED(cudaEventCreate(&a));
  CHECKED(cudaEventCreate(&b));
  spin<<<1, 1>>>(few ? 2000 : 300000);
  CHECKED(cudaEventRecord(a));
  f();
  CHECKED(cudaEventRecord(b));
  CHECKED(cudaDeviceSynchronize());
  float t;
  CHECKED(cudaEventElapsedTime(&t, a, b));
  CHECKED(cudaEventDestroy(a));
  CHECKED(cudaEventDestroy(b));
  return t;
}
// E1: chase
__global__ void chase(u32* p, u32 start, int n, long long* out) {
  u32 j = start;
  for (int i = 0; i < 8; i++) j = __ldcg(p + j);
  long long t = clock64();
  for (int i = 0; i < n; i++) j = __ldcg(p + j);
  long long e = clock64();
  out[0] = e - t;
  out[1] = j;
}
__global__ void chasel1(u32* p, u32 start, int n, long long* out) {
  u32 j = start;
  for (int i = 0; i < n; i++) j = p[j];
  long long t = clock64();
  for (int i = 0; i < n; i++) j = p[j];
  long long e = clock64();
  out[0] = e - t;
  out[1] = j;
}
void chases() {
  size_t maxb = few ? (64u << 20) : (4ull << 30);
  u32* p;
  CHECKED(cudaMalloc(&p, maxb));
  long long* o;
  CHECKED(cudaMalloc(&o, 16));
  long long h[2];
  for (int kind = 0; kind < 3; kind++)
    for (size_t fp = 16384; fp <= maxb; fp *= 2) {
      if (few && fp != 16384 && fp != (4u << 20) && fp != (32u << 20) && fp != (64u << 20)) continue;
      // kind 0: sequential stride 128; 1: random permutation of lines(128); 2: stride 4224
      size_t stride = kind == 2 ? 4224 : 128;
      size_t n = fp / stride;
      if (n < 16) continue;
      size_t steps = std::min<size_t>(n, few ? 200 : 2000);
      std::vector<u32> v(fp / 4, 0);
      if (kind != 1)
        for (size_t i = 0; i < n; i++) v[i * stride / 4] = (u32)(((i + 1) % n) * stride / 4);
      else {
        std::vector<u32> q(n);
        for (size_t i = 0; i < n; i++) q[i] = i;
        u64 s = 12345;
        for (size_t i = n - 1; i > 0; i--) {
          s = s * 6364136223846793005ull + 1442695040888963407ull;
          std::swap(q[i], q[(s >> 33) % (i + 1)]);
        }
        for (size_t i = 0; i < n; i++) v[(size_t)q[i] * 32] = q[(i + 1) % n] * 32;
      }
      CHECKED(cudaMemcpy(p, v.data(), fp, cudaMemcpyHostToDevice));
      flush();
      for (int pass = 0; pass < 2; pass++) {  // cold; warm
        chase<<<1, 1>>>(p, 0, (int)steps, o);
        CHECKED(cudaMemcpy(h, o, 16, cudaMemcpyDeviceToHost));
        printf("chase kind %d bytes %zu steps %zu pass %d: %.1f\n", kind, fp, steps, pass, (double)h[0] / steps);
      }
      if (fp <= (256u << 10)) {
        chasel1<<<1, 1>>>(p, 0, (int)std::min<size_t>(n, 2000), o);
        CHECKED(cudaMemcpy(h, o, 16, cudaMemcpyDeviceToHost));
        printf("chaseL1 kind %d bytes %zu: %.1f\n", kind, fp, (double)h[0] / std::min<size_t>(n, 2000));
      }
    }
  CHECKED(cudaFree(p));
  CHECKED(cudaFree(o));
}
// E2: bandwidth against warps in flight
template <int U>
__global__ void rd(const float4* p, size_t n, float* o) {
  size_t i = blockIdx.x * (size_t)blockDim.x * U + threadIdx.x;
  float4 v[U];
#pragma unroll
  for (int k = 0; k < U; k++) v[k] = (i + k * blockDim.x < n) ? __ldcg(p + i + k * blockDim.x) : make_float4(0, 0, 0, 0);
  float s = 0;
#pragma unroll
  for (int k = 0; k < U; k++) s += v[k].x + v[k].y + v[k].z + v[k].w;
  if (s == 12345.f) o[0] = s;
}
__global__ void rdloop(const float* p, size_t n, int iters, float* o) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  size_t st = gridDim.x * (size_t)blockDim.x;
  float s = 0;
  for (int k = 0; k < iters; k++) {
    s += __ldcg(p + i);
    i += st;
  }
  if (s == 12345.f) o[0] = s;
}
__global__ void wr(float4* p, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) p[i] = make_float4(1, 2, 3, 4);
}
__global__ void cp(const float4* p, float4* q, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) q[i] = p[i];
}
void streams() {
  size_t N = few ? (16u << 20) : (1u << 30);
  float* p;
  CHECKED(cudaMalloc(&p, N));
  float* q;
  CHECKED(cudaMalloc(&q, N));
  CHECKED(cudaMemset(p, 0, N));
  CHECKED(cudaMemset(q, 0, N));
  for (size_t b = few ? (16u << 20) : (8u << 20); b <= N; b *= 2) {
    size_t n = b / 16;
    flush();
    float t = ms([&] { rd<1><<<(unsigned)((n + 255) / 256), 256>>>((float4*)p, n, (float*)dump); });
    flush();
    float t4 = ms([&] { rd<4><<<(unsigned)((n + 1023) / 1024), 256>>>((float4*)p, n, (float*)dump); });
    flush();
    float w = ms([&] { wr<<<(unsigned)((n + 255) / 256), 256>>>((float4*)p, n); });
    flush();
    float c = ms([&] { cp<<<(unsigned)((n + 255) / 256), 256>>>((float4*)p, (float4*)q, n); });
    float r2 = 0;
    if (b <= (32u << 20)) {
      ms([&] { rd<4><<<(unsigned)((n + 1023) / 1024), 256>>>((float4*)p, n, (float*)dump); });
      r2 = ms([&] { rd<4><<<(unsigned)((n + 1023) / 1024), 256>>>((float4*)p, n, (float*)dump); });
    }
    printf(
        "stream %zu MB: read %.1f us (%.0f GB/s) read4 %.1f us (%.0f) write %.1f us (%.0f) copy %.1f us (%.0f) warm read4 %.1f us (%.0f)\n",
        b >> 20, 1e3 * t, b / t / 1e6, 1e3 * t4, b / t4 / 1e6, 1e3 * w, b / w / 1e6, 1e3 * c, 2 * b / c / 1e6, 1e3 * r2,
        r2 ? b / r2 / 1e6 : 0);
  }
  for (int wps = 1; wps <= 64; wps *= 2) {
    int bl = 132, th = 32 * std::min(wps, 32);
    if (wps > 32) bl *= 2;
    size_t per = (size_t)bl * th;
    int it = few ? 8 : std::min<size_t>(64, N / 4 / per);
    flush();
    float t = ms([&] { rdloop<<<bl, th>>>(p, N / 4, it, (float*)dump); });
    float t2 = ms([&] { rdloop<<<bl, th>>>(p, N / 4, it, (float*)dump); });
    printf("loop %d warps an SM, %d loads each: cold %.0f cycles a load (%.0f GB/s), again %.0f\n", wps, it, t * kCyclesPerMs / it,
           per * 4.0 * it / t / 1e6, t2 * kCyclesPerMs / it);
  }
  for (int sms = 1; sms <= 132; sms *= 4) {
    int it = few ? 16 : 64;
    size_t per = (size_t)sms * 1024;
    float t = ms([&] { rdloop<<<sms, 1024>>>(p, N / 4, it, (float*)dump); });
    float t2 = ms([&] { rdloop<<<sms, 1024>>>(p, N / 4, it, (float*)dump); });
    printf("loop on %d SMs of 32 warps: first %.0f B/cycle/SM, L2 %.1f B/cycle/SM\n", sms, per * 4.0 * it / (t * kCyclesPerMs) / sms,
           per * 4.0 * it / (t2 * kCyclesPerMs) / sms);
  }
  CHECKED(cudaFree(p));
  CHECKED(cudaFree(q));
}
// E3: L2 throughput of scattered sectors
__global__ void scat(const u32* p, u32 mask, int iters, u32 mul, u32* o) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  u32 s = 0, x = i * 2654435761u;
  for (int k = 0; k < iters; k++) {
    x = x * 1664525u + 1013904223u;
    u32 a = ((x >> 8) * mul) & mask;
    s += __ldcg(p + a);
  }
  if (s == 12345) o[0] = s;
}
__global__ void strd(const u32* p, u32 mask, int iters, u32 stride, u32* o) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  u32 s = 0;
  u32 a = i * stride;
  for (int k = 0; k < iters; k++) {
    s += __ldcg(p + (a & mask));
    a += gridDim.x * blockDim.x * stride;
  }
  if (s == 12345) o[0] = s;
}
__global__ void scatw(u32* p, u32 mask, int iters, u32 mul) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  u32 x = i * 2654435761u;
  for (int k = 0; k < iters; k++) {
    x = x * 1664525u + 1013904223u;
    p[((x >> 8) * mul) & mask] = x;
  }
}
__global__ void scata(u32* p, u32 mask, int iters, u32 mul) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  u32 x = i * 2654435761u;
  for (int k = 0; k < iters; k++) {
    x = x * 1664525u + 1013904223u;
    atomicAdd(p + (((x >> 8) * mul) & mask), x);
  }
}
void sectors() {
  u32* p;
  size_t B = 256u << 20;
  if (few) B = 32u << 20;
  CHECKED(cudaMalloc(&p, B));
  CHECKED(cudaMemset(p, 0, B));
  int bl = 132 * 8, th = 256;
  int it = few ? 4 : 32;
  double acc = (double)bl * th * it;
  for (size_t b : {1u << 20, 4u << 20, 16u << 20, 32u << 20, 128u << 20}) {
    if (b > B) continue;
    u32 mask = (u32)(b / 4 - 1);
    float t = 0;
    for (int r = 0; r < 3; r++) t = ms([&] { scat<<<bl, th>>>(p, mask, it, 8, dump); });
    printf("random sectors in %zu MB: %.1f sectors a core cycle\n", b >> 20, acc / (t * kCyclesPerMs));
  }
  for (u32 st : {1u, 2u, 4u, 8u, 16u, 32u, 33u, 64u, 1024u}) {
    u32 mask = (u32)((16u << 20) / 4 - 1);
    float t = 0;
    for (int r = 0; r < 3; r++) t = ms([&] { strd<<<bl, th>>>(p, mask, it, st, dump); });
    printf("stride %u words in 16 MB of L2: %.2f requests(warps) a core cycle\n", st, acc / 32 / (t * kCyclesPerMs));
  }
  for (size_t b : {1u << 20, 16u << 20, 128u << 20}) {
    if (b > B) continue;
    u32 mask = (u32)(b / 4 - 1);
    float t = 0;
    for (int r = 0; r < 3; r++) t = ms([&] { scatw<<<bl, th>>>(p, mask, it, 8); });
    printf("random writes in %zu MB: %.1f sectors a core cycle\n", b >> 20, acc / (t * kCyclesPerMs));
    for (int r = 0; r < 3; r++) t = ms([&] { scata<<<bl, th>>>(p, mask, it, 8); });
    printf("random atomics in %zu MB: %.1f a core cycle\n", b >> 20, acc / (t * kCyclesPerMs));
  }
  CHECKED(cudaFree(p));
}
// E4: launches and blocks
__global__ void empty() {}
__global__ void little(u32* o) {
  if (threadIdx.x == 0x7fff) o[0] = 1;
}
void launches() {
  for (int th : {32, 128, 256, 1024})
    for (int bl : {1, 132, 1320, 13200}) {
      if (few && bl > 1320) continue;
      float t = 0;
      for (int r = 0; r < 3; r++) t = ms([&] { little<<<bl, th>>>(dump); });
      int K = few ? 3 : 20;
      float k = 0;
      for (int r = 0; r < 2; r++)
        k = ms([&] {
          for (int i = 0; i < K; i++) little<<<bl, th>>>(dump);
        });
      printf("blocks %d of %d: one launch %.0f cycles between events, one of %d in a row %.0f cycles\n", bl, th, t * kCyclesPerMs, K,
             k * kCyclesPerMs / K);
    }
}
// E5: shared memory
__global__ void lds(u32* o, int n, int stride) {
  __shared__ u32 s[8192];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) s[i] = (i + stride) & 8191;
  __syncthreads();
  u32 j = threadIdx.x;
  long long t = clock64();
  for (int i = 0; i < n; i++) j = s[j];
  long long e = clock64();
  if (threadIdx.x == 0) {
    o[0] = (u32)(e - t);
  }
  if (j == 99999) o[1] = j;
}
__global__ void bars(u32* o, int n) {
  long long t = clock64();
  for (int i = 0; i < n; i++) __syncthreads();
  long long e = clock64();
  if (threadIdx.x == 0) o[0] = (u32)(e - t);
}
__global__ void shfl(u32* o, int n) {
  u32 v = threadIdx.x;
  long long t = clock64();
#pragma unroll 8
  for (int i = 0; i < n; i++) v = __shfl_sync(0xffffffff, v, (v + 1) & 31);
  long long e = clock64();
  if (threadIdx.x == 0) o[0] = (u32)(e - t);
  if (v == 999) o[1] = v;
}
__global__ void shatom(u32* o, int n, int spread) {
  __shared__ u32 s[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = 0;
  __syncthreads();
  u32 a = (threadIdx.x % spread);
  long long t = clock64();
  for (int i = 0; i < n; i++) {
    atomicAdd(&s[(a + i * 32) & 1023], a);
  }
  __syncthreads();
  long long e = clock64();
  if (threadIdx.x == 0) o[0] = (u32)(e - t);
  if (s[5] == 0x7fffffff) o[1] = 1;
}
void shared_memory() {
  u32 h;
  auto get = [&] {
    CHECKED(cudaMemcpy(&h, dump, 4, cudaMemcpyDeviceToHost));
    return h;
  };
  int n = few ? 64 : 512;
  for (int r = 0; r < 2; r++) {
    lds<<<1, 1>>>(dump, n, 1);
    get();
  }
  printf("LDS chase: %.2f\n", (double)h / n);
  for (int r = 0; r < 2; r++) {
    lds<<<1, 32>>>(dump, n, 32);
    get();
  }
  printf("LDS chase, a warp: %.2f\n", (double)h / n);
  for (int w : {1, 2, 4, 8, 16, 32}) {
    for (int r = 0; r < 2; r++) {
      bars<<<1, 32 * w>>>(dump, n);
      get();
    }
    printf("bar.sync of %d warps: %.2f\n", w, (double)h / n);
  }
  for (int r = 0; r < 2; r++) {
    shfl<<<1, 32>>>(dump, n);
    get();
  }
  printf("shfl chain (with add, and): %.2f\n", (double)h / n);
  for (int sp : {1, 2, 4, 8, 16, 32})
    for (int w : {1, 8, 32}) {
      for (int r = 0; r < 2; r++) {
        shatom<<<1, 32 * w>>>(dump, n, sp);
        get();
      }
      printf("shared atomics, %d words a warp, %d warps: %.2f cycles an instruction\n", sp, w, (double)h / n / w);
    }
}
// E8: branches
__global__ void brloop(u32* o, int n, int a) {
  int x = a;
  long long t = clock64();
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    x = x * a + i;
    asm volatile("" ::"r"(x));
  }
  long long e = clock64();
  if (threadIdx.x == 0) o[0] = (u32)(e - t);
  if (x == 99999) o[1] = x;
}
__global__ void brdiv(u32* o, int n, int a, u32 m) {
  int x = a + threadIdx.x;
  long long t = clock64();
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    if ((threadIdx.x >> i % 5) & m) {
      x = x * 3 + i;
      asm volatile("" : "+r"(x));
      x ^= a;
      asm volatile("" : "+r"(x));
      x = x * 5;
      asm volatile("" : "+r"(x));
      x += i;
      asm volatile("" : "+r"(x));
      x = x * 7;
      asm volatile("" : "+r"(x));
      x ^= i;
      asm volatile("" : "+r"(x));
      x = x * 9;
      asm volatile("" : "+r"(x));
      x += a;
    } else {
      x = x * 5 - i;
      asm volatile("" : "+r"(x));
      x += a;
      asm volatile("" : "+r"(x));
      x = x * 3;
      asm volatile("" : "+r"(x));
      x ^= i;
      asm volatile("" : "+r"(x));
      x = x * 11;
      asm volatile("" : "+r"(x));
      x += i;
      asm volatile("" : "+r"(x));
      x = x * 13;
      asm volatile("" : "+r"(x));
      x ^= a;
    }
    asm volatile("" : "+r"(x));
  }
  long long e = clock64();
  if (threadIdx.x == 0) o[0] = (u32)(e - t);
  if (x == 99999) o[1] = x;
}
__device__ __noinline__ int callee(int x) {
  asm volatile("" : "+r"(x));
  return x * 3;
}
__global__ void calls(u32* o, int n, int a) {
  int x = a;
  long long t = clock64();
#pragma unroll 1
  for (int i = 0; i < n; i++) x = callee(x);
  long long e = clock64();
  if (threadIdx.x == 0) o[0] = (u32)(e - t);
  if (x == 99999) o[1] = x;
}
__global__ void sw(u32* o, int n, int a) {
  int x = a;
  long long t = clock64();
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    switch ((x + i) & 7) {
      case 0:
        asm volatile("add.s32 %0,%0,1;" : "+r"(x));
        break;
      case 1:
        asm volatile("xor.b32 %0,%0,5;" : "+r"(x));
        break;
      case 2:
        asm volatile("mul.lo.s32 %0,%0,3;" : "+r"(x));
        break;
      case 3:
        asm volatile("sub.s32 %0,%0,7;" : "+r"(x));
        break;
      case 4:
        asm volatile("add.s32 %0,%0,11;" : "+r"(x));
        break;
      case 5:
        asm volatile("xor.b32 %0,%0,77;" : "+r"(x));
        break;
      case 6:
        asm volatile("mul.lo.s32 %0,%0,9;" : "+r"(x));
        break;
      default:
        asm volatile("sub.s32 %0,%0,3;" : "+r"(x));
    }
  }
  long long e = clock64();
  if (threadIdx.x == 0) o[0] = (u32)(e - t);
  if (x == 99999) o[1] = x;
}
void branches() {
  u32 h;
  int n = few ? 64 : 1024;
  auto get = [&] {
    CHECKED(cudaMemcpy(&h, dump, 4, cudaMemcpyDeviceToHost));
    return h;
  };
  for (int w : {1, 4, 16}) {
    for (int r = 0; r < 2; r++) {
      brloop<<<1, 32 * w>>>(dump, n, 3);
      get();
    }
    printf("loop of 1 multiply-add, %d warps: %.2f an iteration\n", w, (double)h / n);
    for (int r = 0; r < 2; r++) {
      brdiv<<<1, 32 * w>>>(dump, n, 3, 1);
      get();
    }
    printf("divergent if/else, %d warps: %.2f\n", w, (double)h / n);
    for (int r = 0; r < 2; r++) {
      brdiv<<<1, 32 * w>>>(dump, n, 3, 0);
      get();
    }
    printf("uniform if/else, %d warps: %.2f\n", w, (double)h / n);
    for (int r = 0; r < 2; r++) {
      calls<<<1, 32 * w>>>(dump, n, 3);
      get();
    }
    printf("call and return, %d warps: %.2f\n", w, (double)h / n);
    for (int r = 0; r < 2; r++) {
      sw<<<1, 32 * w>>>(dump, n, 3);
      get();
    }
    printf("switch of 8, %d warps: %.2f\n", w, (double)h / n);
  }
}
// E9: instruction caches
template <int K>
__global__ void code(u32* o, int n, int a) {
  int x = a, y = a + 1;
  long long t = clock64(), first = 0;
#pragma unroll 1
  for (int i = 0; i < n; i++) {
#pragma unroll
    for (int k = 0; k < K; k++) {
      asm volatile("mad.lo.s32 %0,%0,%1,%2;" : "+r"(x) : "r"(a), "r"(k));
      asm volatile("mad.lo.s32 %0,%0,%1,%2;" : "+r"(y) : "r"(a), "r"(k));
    }
    if (i == 0) first = clock64();
  }
  long long e = clock64();
  if (threadIdx.x == 0) {
    o[0] = (u32)(e - first);
    o[1] = (u32)(first - t);
  }
  if (x + y == 99999) o[2] = x;
}
template <int K>
void code_of() {
  u32 h[2];
  int n = few ? 3 : 9;
  flush();
  CHECKED(cudaDeviceSynchronize());
  for (int w : {1, 4}) {
    code<K><<<1, 32 * w>>>(dump, n, 3);
    CHECKED(cudaMemcpy(h, dump, 8, cudaMemcpyDeviceToHost));
    printf("code of %d instructions, %d warps: first %.2f cycles an instruction, then %.2f\n", 2 * K, w, h[1] / (2.0 * K),
           h[0] / (2.0 * K * (n - 1)));
  }
}
void code_sizes() {
  code_of<32>();
  code_of<128>();
  code_of<512>();
  code_of<1024>();
  code_of<2048>();
  code_of<4096>();
  if (!few) {
    code_of<8192>();
  }
}
int main(int c, char** v) {
  few = c > 1 && !strcmp(v[1], "short");
  CHECKED(cudaMalloc(&dump, 4096));
  CHECKED(cudaMalloc(&flushbuf, few ? 16 : FL));
  if (!few) {
    CHECKED(cudaMemset(flushbuf, 1, FL));
    spin<<<132, 128>>>(300000000);
    CHECKED(cudaDeviceSynchronize());
  }
  for (int i = few ? 2 : 1; i < c; i++) switch (v[i][0]) {
      case '1':
        chases();
        break;
      case '2':
        streams();
        break;
      case '3':
        sectors();
        break;
      case '4':
        launches();
        break;
      case '5':
        shared_memory();
        break;
      case '8':
        branches();
        break;
      case '9':
        code_sizes();
        break;
    }
  return 0;
}
