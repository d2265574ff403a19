#include "shared.h"

__constant__ float table[4] = {0.5f, 1.5f, 2.5f, 3.5f};
__device__ float shape(float x) { return x < 10.0f ? x * 3.0f : x - 10.0f; }
