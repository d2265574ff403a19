// Each thread interprets its own program for a machine with eight operations: neighbouring lanes take different ways
// at every step and join behind it. nvcc writes a dense switch as a tree of compares (kernel interpret_switch); the
// branch through a table that other compilers write stands in an asm statement (kernel interpret_table).
// nvcc 13: nvcc -arch=compute_75 -ptx switch_table.cu

__device__ __forceinline__ unsigned step_table(unsigned operation, unsigned a, unsigned b) {
  unsigned result = 0;
  asm volatile(
      "{\n"
      "  .reg .pred again;\n"
      "  .reg .u32 count;\n"
      "  targets: .branchtargets op_add, op_sub, op_mul, op_xor, op_min, op_loop, op_keep, op_keep;\n"
      "  brx.idx %1, targets;\n"
      "op_add:\n"
      "  add.u32 %0, %2, %3;\n"
      "  bra.uni joined;\n"
      "op_sub:\n"
      "  sub.u32 %0, %2, %3;\n"
      "  bra.uni joined;\n"
      "op_mul:\n"
      "  mul.lo.u32 %0, %2, %3;\n"
      "  bra.uni joined;\n"
      "op_xor:\n"
      "  xor.b32 %0, %2, %3;\n"
      "  bra.uni joined;\n"
      "op_min:\n"
      "  min.u32 %0, %2, %3;\n"
      "  bra.uni joined;\n"
      "op_loop:\n"
      "  and.b32 count, %3, 7;\n"
      "  mov.u32 %0, %2;\n"
      "op_loop_body:\n"
      "  mad.lo.u32 %0, %0, 3, %3;\n"
      "  setp.ne.u32 again, count, 0;\n"
      "  sub.u32 count, count, 1;\n"
      "  @again bra op_loop_body;\n"
      "  bra.uni joined;\n"
      "op_keep:\n"
      "  mov.u32 %0, %2;\n"
      "joined:\n"
      "}"
      : "+r"(result)
      : "r"(operation), "r"(a), "r"(b));
  return result;
}

__device__ __forceinline__ unsigned step_switch(unsigned operation, unsigned a, unsigned b) {
  switch (operation) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return a ^ b;
    case 4:
      return min(a, b);
    case 5:
      for (unsigned count = 0; count <= (b & 7); ++count) a = a * 3 + b;
      return a;
    default:
      return a;
  }
}

template <unsigned (*kStep)(unsigned, unsigned, unsigned)>
__device__ void interpret(unsigned* out, const unsigned* program, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned state = program[i], a = state, b = i;
  for (int s = 0; s < steps; ++s) {
    a = kStep(state >> 29, a, b);
    b = a ^ (b + s);
    state = state * 1664525u + 1013904223u;
  }
  out[i] = a + b;
}

extern "C" __global__ void interpret_table(unsigned* out, const unsigned* program, int n, int steps) {
  interpret<step_table>(out, program, n, steps);
}
extern "C" __global__ void interpret_switch(unsigned* out, const unsigned* program, int n, int steps) {
  interpret<step_switch>(out, program, n, steps);
}
