// Dynamic programming and string problems: alignment, edit distance, subsequences, knapsack, automata.

extern "C" __global__ void smith_waterman_diagonal(const char* a, const char* b, const int* before,
                                                   const int* last, int* now, int* best, int na, int nb,
                                                   int diagonal, int match, int mismatch, int gap) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + max(0, diagonal - nb + 1);
  if (i > min(diagonal, na - 1)) return;
  const int j = diagonal - i;
  const int score = a[i] == b[j] ? match : mismatch;
  const int corner = i > 0 && j > 0 ? before[i - 1] : 0;
  const int up = i > 0 ? last[i - 1] : 0, left = j > 0 ? last[i] : 0;
  const int h = max(max(0, corner + score), max(up, left) - gap);
  now[i] = h;
  if (h > *best) atomicMax(best, h);
}

// One pair a thread, affine gaps; the row lies in global memory, interleaved over the threads.
extern "C" __global__ void gotoh(const unsigned char* queries, const unsigned char* targets, short2* rows,
                                 int* scores, int pairs, int nq, int nt, int open, int extend) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pairs) return;
  for (int j = 0; j < nt; ++j) rows[j * pairs + p] = make_short2(0, -30000);
  int best = 0;
  for (int i = 0; i < nq; ++i) {
    const unsigned char q = queries[i * pairs + p];
    int h_left = 0, h_corner = 0, e = -30000;
    for (int j = 0; j < nt; ++j) {
      const short2 above = rows[j * pairs + p];
      const int f = max(above.y - extend, above.x - open);
      e = max(e - extend, h_left - open);
      int h = h_corner + (q == targets[j * pairs + p] ? 5 : -4);
      h = max(max(h, 0), max(e, f));
      h_corner = above.x;
      h_left = h;
      best = max(best, h);
      rows[j * pairs + p] = make_short2(h, f);
    }
  }
  scores[p] = best;
}

extern "C" __global__ void lcs_block(const int* a, const int* b, int* length, int n) {
  extern __shared__ int row[];
  int *before = row, *last = row + n + 1, *now = row + 2 * (n + 1);
  for (int i = threadIdx.x; i < 3 * (n + 1); i += blockDim.x) row[i] = 0;
  __syncthreads();
  for (int d = 2; d <= 2 * n; ++d) {
    const int first = max(1, d - n), end = min(n, d - 1);
    for (int i = first + threadIdx.x; i <= end; i += blockDim.x) {
      const int j = d - i;
      now[i] = a[i - 1] == b[j - 1] ? before[i - 1] + 1 : max(last[i - 1], last[i]);
    }
    __syncthreads();
    int* t = before;
    before = last;
    last = now;
    now = t;
  }
  if (threadIdx.x == 0) *length = last[n];
}

// Myers' bit-parallel edit distance, patterns of up to 64 letters.
extern "C" __global__ void edit_distance_myers(const unsigned long long* masks, const unsigned char* text,
                                               const int* starts, int* distance, int m, int texts) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= texts) return;
  unsigned long long pv = ~0ull, mv = 0;
  const unsigned long long top = 1ull << (m - 1);
  int score = m;
  for (int i = starts[t]; i < starts[t + 1]; ++i) {
    const unsigned long long eq = masks[text[i]];
    const unsigned long long xv = eq | mv;
    const unsigned long long xh = (((eq & pv) + pv) ^ pv) | eq;
    unsigned long long ph = mv | ~(xh | pv), mh = pv & xh;
    if (ph & top) ++score;
    if (mh & top) --score;
    ph = ph << 1 | 1;
    mh <<= 1;
    pv = mh | ~(xv | ph);
    mv = ph & xv;
  }
  distance[t] = score;
}

extern "C" __global__ void knapsack_row(const int* before, int* now, int weight, int value, int capacity) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c > capacity) return;
  int best = before[c];
  if (c >= weight) best = max(best, before[c - weight] + value);
  now[c] = best;
}

extern "C" __global__ void pathfinder(const int* wall, const int* from, int* to, int columns, int start,
                                      int rounds) {
  __shared__ int previous[256], result[256];
  const int tx = threadIdx.x, border = rounds;
  const int block_start = (256 - 2 * border) * blockIdx.x - border;
  const int x = block_start + tx;
  const int first = max(0, -block_start), last = min(255, columns - 1 - block_start);
  const bool valid = tx >= first && tx <= last;
  if (valid) previous[tx] = from[x];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < rounds; ++i) {
    computed = false;
    if (tx >= i + 1 && tx <= 254 - i && valid) {
      computed = true;
      const int shortest = min(min(previous[max(tx - 1, first)], previous[tx]), previous[min(tx + 1, last)]);
      result[tx] = shortest + wall[columns * (start + i) + x];
    }
    __syncthreads();
    if (i == rounds - 1) break;
    if (computed) previous[tx] = result[tx];
    __syncthreads();
  }
  if (computed) to[x] = result[tx];
}

extern "C" __global__ void dfa_match(const unsigned char* text, const int* starts,
                                     const unsigned short* table, const unsigned char* classes,
                                     const unsigned* accepting, int* where, int texts, int letters) {
  __shared__ unsigned char class_of[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) class_of[i] = classes[i];
  __syncthreads();
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= texts) return;
  int state = 0, found = -1;
  for (int i = starts[t], end = starts[t + 1]; i < end && state != 0xffff; ++i) {
    state = table[state * letters + class_of[text[i]]];
    if (accepting[state >> 5] >> (state & 31) & 1) {
      found = i;
      break;
    }
  }
  where[t] = found;
}

extern "C" __global__ void viterbi(const float* transition, const float* emission, const int* observed,
                                   float* score, unsigned char* back, int states, int steps) {
  extern __shared__ float old[];
  const int s = threadIdx.x;
  float mine = s == 0 ? 0.f : -1e30f;
  for (int t = 0; t < steps; ++t) {
    if (s < states) old[s] = mine;
    __syncthreads();
    if (s < states) {
      float best = -1e30f;
      int from = 0;
      for (int p = 0; p < states; ++p) {
        const float v = old[p] + transition[p * states + s];
        if (v > best) {
          best = v;
          from = p;
        }
      }
      mine = best + emission[observed[t] * states + s];
      back[t * states + s] = from;
    }
    __syncthreads();
  }
  if (s < states) score[s] = mine;
}
