// Much control flow: interpreters, state machines, calls of functions that are not inlined, ways out on
// errors.

enum Op : unsigned char {
  kPush,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kDup,
  kSwap,
  kDrop,
  kLoad,
  kJump,
  kJumpZero,
  kLess,
  kHalt
};

struct Code {
  Op op;
  short argument;
};

// A stack machine; its stack is in local memory.
extern "C" __global__ void stack_machine(const Code* program, int length, const int* inputs, int* results,
                                         int* status, int n, int fuel) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int stack[16], top = 0, pc = 0, error = 0;
  while (fuel-- > 0 && pc < length && error == 0) {
    const Code c = program[pc++];
    if ((c.op >= kAdd && c.op <= kMax && top < 2) || top > 15) {
      error = 1;
      break;
    }
    switch (c.op) {
      case kPush:
        stack[top++] = c.argument;
        break;
      case kAdd:
        --top;
        stack[top - 1] += stack[top];
        break;
      case kSub:
        --top;
        stack[top - 1] -= stack[top];
        break;
      case kMul:
        --top;
        stack[top - 1] *= stack[top];
        break;
      case kDiv:
        --top;
        if (stack[top] == 0)
          error = 2;
        else
          stack[top - 1] /= stack[top];
        break;
      case kMin:
        --top;
        stack[top - 1] = min(stack[top - 1], stack[top]);
        break;
      case kMax:
        --top;
        stack[top - 1] = max(stack[top - 1], stack[top]);
        break;
      case kDup:
        stack[top] = stack[top - 1];
        ++top;
        break;
      case kSwap: {
        const int t = stack[top - 1];
        stack[top - 1] = stack[top - 2];
        stack[top - 2] = t;
        break;
      }
      case kDrop:
        --top;
        break;
      case kLoad:
        stack[top++] = inputs[c.argument * n + i];
        break;
      case kJump:
        pc = c.argument;
        break;
      case kJumpZero:
        if (stack[--top] == 0) pc = c.argument;
        break;
      case kLess:
        --top;
        stack[top - 1] = stack[top - 1] < stack[top];
        break;
      case kHalt:
        fuel = 0;
        break;
      default:
        error = 3;
    }
  }
  results[i] = top > 0 ? stack[top - 1] : 0;
  status[i] = error;
}

// Four registers, a word an instruction.
extern "C" __global__ void register_machine(const unsigned* code, const uint4* start, uint4* end, int n,
                                            int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 r = start[i];
  unsigned pc = 0;
  auto get = [&](unsigned k) { return k == 0 ? r.x : k == 1 ? r.y : k == 2 ? r.z : r.w; };
  for (int step = 0; step < limit; ++step) {
    const unsigned word = code[pc];
    const unsigned a = get(word >> 8 & 3), b = word & 0x8000u ? word >> 16 : get(word >> 10 & 3);
    unsigned result = 0;
    bool write = true;
    ++pc;
    switch (word & 15) {
      case 0:
        result = a + b;
        break;
      case 1:
        result = a - b;
        break;
      case 2:
        result = a * b;
        break;
      case 3:
        result = a & b;
        break;
      case 4:
        result = a | b;
        break;
      case 5:
        result = a ^ b;
        break;
      case 6:
        result = a << (b & 31);
        break;
      case 7:
        result = a >> (b & 31);
        break;
      case 8:
        result = a < b;
        break;
      case 9:
        result = __popc(a);
        break;
      case 10:
        write = false;
        if (a != 0) pc = word >> 16;
        break;
      default:
        end[i] = r;
        return;
    }
    if (!write) continue;
    switch (word >> 12 & 3) {
      case 0:
        r.x = result;
        break;
      case 1:
        r.y = result;
        break;
      case 2:
        r.z = result;
        break;
      default:
        r.w = result;
    }
  }
  end[i] = r;
}

extern "C" __global__ void parse_numbers(const char* text, const int* starts, double* values, int* errors,
                                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = starts[i];
  const int end = starts[i + 1];
  bool negative = false, digits = false;
  if (at < end && (text[at] == '-' || text[at] == '+')) negative = text[at++] == '-';
  unsigned long long mantissa = 0;
  int exponent = 0;
  for (; at < end && text[at] >= '0' && text[at] <= '9'; ++at, digits = true)
    mantissa = mantissa * 10 + (text[at] - '0');
  if (at < end && text[at] == '.')
    for (++at; at < end && text[at] >= '0' && text[at] <= '9'; ++at, digits = true, --exponent)
      mantissa = mantissa * 10 + (text[at] - '0');
  if (at < end && (text[at] | 32) == 'e') {
    ++at;
    bool minus = false;
    if (at < end && (text[at] == '-' || text[at] == '+')) minus = text[at++] == '-';
    int e = 0;
    for (; at < end && text[at] >= '0' && text[at] <= '9'; ++at) e = min(e * 10 + (text[at] - '0'), 999);
    exponent += minus ? -e : e;
  }
  if (!digits || at != end) {
    errors[i] = at - starts[i] + 1;
    return;
  }
  double scale = 1, base = 10;
  for (int e = abs(exponent); e != 0; e >>= 1, base *= base)
    if (e & 1) scale *= base;
  const double v = exponent < 0 ? mantissa / scale : mantissa * scale;
  values[i] = negative ? -v : v;
  errors[i] = 0;
}

extern "C" __global__ void utf8_decode(const unsigned char* text, const int* starts, unsigned* points,
                                       int* counts, int n, int pitch) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int found = 0, need = 0;
  unsigned point = 0, least = 0;
  for (int at = starts[i]; at < starts[i + 1]; ++at) {
    const unsigned b = text[at];
    if (need > 0) {
      if ((b & 0xc0) != 0x80) {
        counts[i] = -1;
        return;
      }
      point = point << 6 | (b & 0x3f);
      if (--need > 0) continue;
      if (point < least || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
        counts[i] = -2;
        return;
      }
    } else if (b < 0x80) {
      point = b;
    } else if (b >= 0xc2 && b < 0xe0) {
      need = 1, point = b & 31, least = 0x80;
      continue;
    } else if ((b & 0xf0) == 0xe0) {
      need = 2, point = b & 15, least = 0x800;
      continue;
    } else if (b >= 0xf0 && b < 0xf5) {
      need = 3, point = b & 7, least = 0x10000;
      continue;
    } else {
      counts[i] = -3;
      return;
    }
    points[found++ * pitch + i] = point;
  }
  counts[i] = need == 0 ? found : -4;
}

__device__ __noinline__ float material(int kind, float angle, float roughness) {
  switch (kind) {
    case 0:
      return fmaxf(angle, 0.f);
    case 1:
      return powf(fmaxf(angle, 0.f), 1.f / fmaxf(roughness, 1e-3f));
    case 2:
      return angle > 0.5f ? 1.f : 0.2f;
    case 3:
      return 0.5f + 0.5f * angle;
    default:
      return roughness * expf(-angle * angle);
  }
}

extern "C" __global__ void shade_calls(const int* kind, const float* angle, const float* roughness,
                                       float* out, int n, int layers) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.f, weight = 1.f;
  for (int k = 0; k < layers; ++k) {
    sum += weight * material(kind[k * n + i], angle[i], roughness[i] + 0.1f * k);
    weight *= 0.5f;
  }
  out[i] = sum;
}

__device__ __noinline__ int checked(const int* data, int at, int size, int* error) {
  if (at < 0 || at >= size) {
    atomicCAS(error, 0, at | 0x40000000);
    return 0;
  }
  return data[at];
}

extern "C" __global__ void linked_walk(const int* next, const int* value, int* sum, int* error, int size,
                                       int walks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= walks) return;
  int at = i, total = 0;
  for (int k = 0; k < size && at != -1 && *(volatile int*)error == 0; ++k) {
    total += checked(value, at, size, error);
    at = checked(next, at, size, error);
  }
  sum[i] = total;
}

// A queue of tasks in global memory that blocks take from until it is empty.
extern "C" __global__ void task_queue(const int4* tasks, int* head, int count, float* data, int width) {
  __shared__ int4 task;
  __shared__ bool more;
  while (true) {
    if (threadIdx.x == 0) {
      const int at = atomicAdd(head, 1);
      more = at < count;
      if (more) task = tasks[at];
    }
    __syncthreads();
    if (!more) return;
    const int4 t = task;
    for (int i = threadIdx.x; i < t.z; i += blockDim.x) {
      float* p = data + (size_t)t.y * width + i;
      switch (t.x) {
        case 0:
          *p = 0.f;
          break;
        case 1:
          *p *= __int_as_float(t.w);
          break;
        case 2:
          *p += data[(size_t)t.w * width + i];
          break;
        case 3:
          *p = fmaxf(*p, 0.f);
          break;
        case 4:
          *p = sqrtf(fabsf(*p));
          break;
        case 5:
          *p = data[(size_t)t.w * width + (t.z - 1 - i)];
          break;
        default:
          break;
      }
    }
    __syncthreads();
  }
}
