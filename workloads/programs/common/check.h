// What the programs share: a call that must succeed, and the verdict.
#pragma once
#include <cstdio>
#include <cstdlib>

#define MUST(call)                                                                          \
  do {                                                                                      \
    const cudaError_t must_ = (call);                                                       \
    if (must_ != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(must_)); \
      std::exit(1);                                                                         \
    }                                                                                       \
  } while (false)

inline int verdict(bool good) {
  std::printf(good ? "PASS\n" : "FAIL\n");
  return good ? 0 : 1;
}
