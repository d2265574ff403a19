// Calls compile_and_run() of what it is linked with, or of the library that its argument names, whose names
// it keeps to itself.
#include <dlfcn.h>

#include <cstdio>

int main(int count, char** arguments) {
#ifdef GPUSIM_NAMES_NVRTC
  // As a program does that loads it without being linked with it. This one is nowhere.
  (void)dlopen("libnvrtc.so.0", RTLD_NOW);
#endif
  void* const library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : RTLD_DEFAULT;
  const auto run = reinterpret_cast<int (*)()>(dlsym(library, "compile_and_run"));
  if (run != nullptr) return run();
  std::printf("FAIL: %s\n", dlerror());
  return 1;
}
