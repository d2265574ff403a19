// Discrete Fourier transforms of N complex numbers each, N a power of two: radix 2, decimation in time, log2
// N stages in shared memory, one block of N / 2 threads for each transform. fft.ptx is what nvcc 13 makes of
// this: nvcc -ptx -arch=compute_75

extern "C" __global__ void fft(float2* out, const float2* in, int N, int log2_N) {
  extern __shared__ float2 x[];
  const int tid = threadIdx.x, half = N / 2;
  in += blockIdx.x * N;
  out += blockIdx.x * N;
  for (int i = tid; i < N; i += half) x[__brev(i) >> (32 - log2_N)] = in[i];
  for (int span = 1; span < N; span *= 2) {
    __syncthreads();
    const int k = tid & (span - 1), low = 2 * tid - k;
    float sine, cosine;
    sincospif(-static_cast<float>(k) / span, &sine, &cosine);
    const float2 a = x[low], b = x[low + span];
    const float2 turned = {b.x * cosine - b.y * sine, b.x * sine + b.y * cosine};
    x[low] = {a.x + turned.x, a.y + turned.y};
    x[low + span] = {a.x - turned.x, a.y - turned.y};
  }
  __syncthreads();
  for (int i = tid; i < N; i += half) out[i] = x[i];
}
