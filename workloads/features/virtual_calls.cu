// Calls whose target is known only at run time: virtual functions of objects that each thread builds, function
// pointers from a table in global memory, and pointers that are selected in registers.
// nvcc 13: nvcc -arch=compute_75 -ptx virtual_calls.cu

struct Shape {
  __device__ virtual int area() const = 0;
  __device__ virtual int scaled(int factor) const { return area() * factor; }
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
struct Rectangle : Shape {
  int width, height;
  __device__ Rectangle(int w, int h) : width(w), height(h) {}
  __device__ int area() const override { return width * height; }
  __device__ int scaled(int factor) const override { return (width + factor) * (height + factor); }
};
struct Staircase : Shape {
  int steps;
  __device__ explicit Staircase(int s) : steps(s) {}
  __device__ int area() const override {
    int sum = 0;
    for (int k = 1; k <= steps; ++k) sum += k;
    return sum;
  }
};

extern "C" __global__ void shapes(int* out, const int* kind, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Square square(i % 13);
  const Rectangle rectangle(i % 5, i % 11);
  const Staircase staircase(i % 17);
  const Shape* const all[3] = {&square, &rectangle, &staircase};
  int total = 0;
  for (int k = 0; k < 3; ++k) {
    const Shape* s = all[(kind[i] + k * k) % 3];
    total = total * 7 + s->scaled(k + 1) + s->area();
  }
  out[i] = total;
}

using Operation = unsigned (*)(unsigned, unsigned);
__device__ __noinline__ unsigned add(unsigned a, unsigned b) { return a + b; }
__device__ __noinline__ unsigned rotate(unsigned a, unsigned b) { return a << (b & 31) | a >> (-b & 31); }
__device__ __noinline__ unsigned power(unsigned a, unsigned b) {
  unsigned result = 1;
  for (b &= 15; b != 0; b >>= 1, a *= a)
    if (b & 1) result *= a;
  return result;
}
__device__ Operation operations[3] = {add, rotate, power};

// Calls through a pointer that it is given, while values of its own live across the call.
__device__ __noinline__ unsigned twice(Operation f, unsigned a, unsigned b) {
  const unsigned first = f(a, b);
  return f(first, b) + 31 * first + a;
}

extern "C" __global__ void pointers(unsigned* out, const int* kind, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int k = kind[i];
  const Operation selected = k > 4 ? add : k > 1 ? power : rotate;
  out[i] = twice(operations[k % 3], i, k) ^ twice(selected, k, i);
}
