// Reads of scattered texels: TextureRepeatedRandomAccess of SHOC's DeviceMemory (vetter/shoc). The same: a
// texture of two dimensions with four floats a texel in an array, point sampling, a thread for each texel in
// blocks of 16 x 8, each going from (x, y) to (3 x + 29, 5 y + 11) modulo the texture's size, sixteen bytes
// counted for each read although the sum takes one channel. The suite tries textures of 16 KB to 4 MB and
// reports the best. Different: fewer reads a thread.
extern "C" __global__ void read_texels(cudaTextureObject_t texels, float* out, int reads, int width,
                                       int height) {
  int x = threadIdx.x + blockDim.x * blockIdx.x;
  int y = threadIdx.y + blockDim.y * blockIdx.y;
  const int i = y * width + x;
  float sum = 0;
#pragma unroll 1
  for (int r = 0; r < reads; ++r) {
    const float4 texel = tex2D<float4>(texels, static_cast<float>(x), static_cast<float>(y));
    x = (3 * x + 29) & (width - 1);
    y = (5 * y + 11) & (height - 1);
    sum += texel.x;
  }
  out[i] = sum;
}
