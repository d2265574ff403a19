// The largest of nine neighbouring bytes, with clamped borders: a byte a thread, and the four bytes of a word.

extern "C" __global__ void before(unsigned char* out, const unsigned char* in, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int best = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      best = max(best, (int)in[min(max(y + dy, 0), h - 1) * w + min(max(x + dx, 0), w - 1)]);
  out[y * w + x] = best;
}

extern "C" __global__ void after(unsigned* out, const unsigned* in, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, ww = w / 4;
  if (x >= ww || y >= h) return;
  unsigned result = 0;
  int best[4] = {0, 0, 0, 0};
  for (int dy = -1; dy <= 1; ++dy) {
    const unsigned* row = in + min(max(y + dy, 0), h - 1) * ww;
    unsigned c = row[x], l = x > 0 ? row[x - 1] >> 24 : c & 255, r = x < ww - 1 ? row[x + 1] & 255 : c >> 24;
    int v[6] = {(int)l, (int)(c & 255), (int)(c >> 8 & 255), (int)(c >> 16 & 255), (int)(c >> 24), (int)r};
    for (int b = 0; b < 4; ++b) best[b] = max(best[b], max(v[b], max(v[b + 1], v[b + 2])));
  }
  for (int b = 0; b < 4; ++b) result |= (unsigned)best[b] << (8 * b);
  out[y * ww + x] = result;
}
