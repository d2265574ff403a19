// Eigenvalues of a symmetric tridiagonal matrix by bisection in one block: bisectKernel of the sample
// eigenvalues (small matrices), as timed on a V100 (blackjack2015/NV-DVFS-Benchmark). The same: one block, a
// thread for each of at most 512 intervals; each level counts the eigenvalues below every interval's middle
// by a recurrence over all rows, which divides (rounded to nearest) once a row and reads the matrix from
// shared memory, where the interval bounds lie otherwise; children that hold eigenvalues stay, second
// children are moved to the end by a prefix sum over the active threads (only on levels that have some);
// until every interval is as narrow as asked or a single number. Data: diagonals uniform from -1 to 1.
constexpr unsigned kMost = 512;
constexpr float kLeast = 5.0e-37f;

struct Intervals {
  float left[kMost];
  float right[kMost];
  unsigned left_count[kMost];
  unsigned right_count[kMost];
};

__device__ __forceinline__ float middle(float left, float right) {
  return (left < 0) == (right < 0) ? left + (right - left) * 0.5f : (left + right) * 0.5f;
}

__device__ __forceinline__ void store(Intervals& all, unsigned at, float left, float right,
                                      unsigned left_count, unsigned right_count, float precision) {
  all.left_count[at] = left_count;
  all.right_count[at] = right_count;
  const float width = fabsf(right - left);
  if (width <= fmaxf(kLeast, fmaxf(fabsf(left), fabsf(right)) * precision))
    left = right = middle(left, right);
  all.left[at] = left;
  all.right[at] = right;
}

__device__ __forceinline__ unsigned count_below(const float* diagonal, const float* beside, unsigned rows,
                                                float x, bool wanted, Intervals& all) {
  __syncthreads();
  if (threadIdx.x < rows) {
    all.left[threadIdx.x] = diagonal[threadIdx.x];
    all.right[threadIdx.x] = beside[threadIdx.x];
  }
  __syncthreads();
  unsigned count = 0;
  float pivot = 1;
  if (wanted) {
    for (unsigned k = 0; k < rows; ++k) {
      pivot = all.left[k] - x - all.right[k] * all.right[k] / pivot;
      count += pivot < 0 ? 1 : 0;
    }
  }
  return count;
}

__device__ __forceinline__ void sum_before(unsigned* flags, unsigned many) {
  unsigned distance = 1;
  for (unsigned pairs = many / 2; pairs > 0; pairs /= 2) {
    __syncthreads();
    if (threadIdx.x < pairs)
      flags[distance * (2 * threadIdx.x + 2) - 1] += flags[distance * (2 * threadIdx.x + 1) - 1];
    distance *= 2;
  }
  for (unsigned pairs = 2; pairs < many; pairs *= 2) {
    distance /= 2;
    __syncthreads();
    if (threadIdx.x < pairs - 1) {
      const unsigned from = distance * (threadIdx.x + 1) - 1;
      flags[from + distance / 2] += flags[from];
    }
  }
  __syncthreads();
}

extern "C" __global__ void bisect(float* diagonal, float* beside, const unsigned rows, float* values,
                                  unsigned* order, const float least, const float most, float precision) {
  __shared__ Intervals all;
  __shared__ unsigned seconds[kMost + 1];
  __shared__ unsigned any_second;
  __shared__ unsigned done;
  __shared__ unsigned active;
  __shared__ unsigned scanned;
  const unsigned me = threadIdx.x;
  float left = 0;
  float right = 0;
  float mid = 0;
  unsigned left_count = 0;
  unsigned right_count = 0;
  seconds[me] = 0;
  all.left[me] = 0;
  all.right[me] = 0;
  all.left_count[me] = 0;
  all.right_count[me] = 0;
  __syncthreads();
  if (me == 0) {
    all.left[0] = least;
    all.right[0] = most;
    all.right_count[0] = rows;
    any_second = 0;
    active = 1;
    scanned = 1;
  }
  while (true) {
    done = 1;
    __syncthreads();
    bool second = false;
    if (me < active) {
      left = all.left[me];
      right = all.right[me];
      left_count = all.left_count[me];
      right_count = all.right_count[me];
      if (left != right) {
        mid = middle(left, right);
        done = 0;
      }
    }
    __syncthreads();
    if (done == 1) break;
    __syncthreads();
    const unsigned mid_count = count_below(diagonal, beside, rows, mid, me < active && left != right, all);
    __syncthreads();
    if (me < active) {
      if (left == right) {
        store(all, me, left, right, left_count, right_count, precision);
        seconds[me + 1] = 0;
      } else if (left_count != mid_count && mid_count != right_count) {
        store(all, me, left, mid, left_count, mid_count, precision);
        second = true;
        seconds[me + 1] = 1;
        any_second = 1;
      } else {
        seconds[me + 1] = 0;
        if (left_count != mid_count) {
          store(all, me, left, mid, left_count, mid_count, precision);
        } else {
          store(all, me, mid, right, mid_count, right_count, precision);
        }
      }
    }
    __syncthreads();
    if (any_second > 0) {
      sum_before(seconds + 1, scanned);
      if (me < active && second) {
        const unsigned at = active + seconds[me];
        all.left[at] = mid;
        all.right[at] = right;
        all.left_count[at] = mid_count;
        all.right_count[at] = right_count;
      }
    }
    __syncthreads();
    if (me == 0) {
      active += seconds[active];
      scanned = 1;
      while (scanned < active) scanned *= 2;
      any_second = 0;
    }
    __syncthreads();
  }
  __syncthreads();
  if (me < rows) {
    values[me] = all.left[me];
    order[me] = all.left_count[me];
  }
}
