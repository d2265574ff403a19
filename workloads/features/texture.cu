// Reads of texture objects: by texel number, filtered with address modes, volumes and layers; expected.py computes
// the results.
// nvcc 13: nvcc -arch=compute_75 -ptx texture.cu

extern "C" __global__ void table(float* out, cudaTextureObject_t t, const int* index, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(t, index[i]);
}

// Normalized coordinates from -1 to 2 in both dimensions.
extern "C" __global__ void image(float4* out, cudaTextureObject_t t, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height)
    out[y * width + x] = tex2D<float4>(t, -1.0f + 3.0f * x / width, -1.0f + 3.0f * y / height);
}

extern "C" __global__ void volume(float* out, cudaTextureObject_t t, const float* position, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex3D<float>(t, position[3 * i], position[3 * i + 1], position[3 * i + 2]);
}

// Every texture of its own lane: the handle differs within a warp.
extern "C" __global__ void layers(int* out, cudaTextureObject_t even, cudaTextureObject_t odd, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const short2 s = tex2DLayered<short2>(i % 2 ? odd : even, (i % 7) - 1.25f, (i % 5) - 0.5f, i % 6);
  out[i] = s.x * 65536 + (unsigned short)s.y;
}
