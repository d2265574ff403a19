// Stands for a CUDA runtime that a program brings along: it finds no device.
extern "C" int cudaGetDeviceCount(int* count) {
  *count = 0;
  return 100;
}
