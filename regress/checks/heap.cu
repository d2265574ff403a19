// Blocks of malloc(): written past their end, read after free(), freed twice, and an address that is none.
extern "C" __global__ void heap(int* out) {
  int* block = (int*)malloc(4 * sizeof(int));
  block[threadIdx.x] = 3;  // 4 threads are too many by one
  out[threadIdx.x] = block[0];
  free(block);
  out[threadIdx.x] += block[1];
  free(block);
  free(out);
}
