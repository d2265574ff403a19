// Loads CUDA libraries by their paths, as Python's packages do with those that they bring along: ours come in
// their place.
#include <dlfcn.h>

#include <cstdio>
#include <string>

int main(int count, char** arguments) {
  const std::string folder = count > 1 ? arguments[1] : "";
  for (const char* name : {"/libcudart.so.13", "/libcudart.so.12.9.79", "/libcudart.so"}) {
    void* const library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto devices =
        library == nullptr ? nullptr : reinterpret_cast<int (*)(int*)>(dlsym(library, "cudaGetDeviceCount"));
    int found = 0;
    if (devices == nullptr || devices(&found) != 0 || found != 1) {
      std::printf("FAIL: %s: %d devices\n", name, found);
      return 1;
    }
  }
  void* const driver = dlopen((folder + "/libcuda.so.580.95").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr || dlsym(driver, "cuInit") == nullptr) {
    std::printf("FAIL: no driver library\n");
    return 1;
  }
  if (dlopen((folder + "/libcudartist.so.13").c_str(), RTLD_NOW) != nullptr) {
    std::printf("FAIL: what is none of CUDA's is there\n");
    return 1;
  }
  std::printf("PASS\n");
  return 0;
}
