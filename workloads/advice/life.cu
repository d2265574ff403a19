// A generation of the game of life on a torus, a byte a cell: a cell a thread, and four cells of a word, whose neighbours are
// counted side by side.

extern "C" __global__ void before(unsigned char* next, const unsigned char* now, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int n = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) n += now[(y + dy + h) % h * w + (x + dx + w) % w];
  next[y * w + x] = n == 3 || (n == 2 && now[y * w + x]);
}

extern "C" __global__ void after(unsigned* next, const unsigned* now, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, ww = w / 4;
  if (x >= ww || y >= h) return;
  int left = (x + ww - 1) % ww, right = (x + 1) % ww;
  unsigned sum = 0, self = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    const unsigned* row = now + (y + dy + h) % h * ww;
    unsigned c = row[x], l = row[left], r = row[right];
    unsigned before = (c << 8) | (l >> 24), behind = (c >> 8) | (r << 24);
    sum += before + behind;
    if (dy) sum += c; else self = c;
  }
  unsigned result = 0;
  for (int b = 0; b < 4; ++b) {
    unsigned n = (sum >> (8 * b)) & 255, alive = (self >> (8 * b)) & 255;
    result |= (unsigned)(n == 3 || (n == 2 && alive)) << (8 * b);
  }
  next[y * ww + x] = result;
}
