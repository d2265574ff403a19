// Preloaded into programs that compile at run time: machine code that they ask NVRTC for is the PTX that it
// was made of, for that is what the simulated GPU runs, and what takes the one (cuModuleLoadData) takes the
// other. Programs that look the functions up by name (dlsym), as Python's do, find those that are here. Those
// that load another CUDA runtime or driver library by its path (dlopen), as Python's packages do, get ours.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstring>

namespace {

using LookUp = void* (*)(void*, const char*);

/// The C library's dlsym.
LookUp look_up() {
  static std::atomic<LookUp> found{nullptr};
  LookUp function = found.load(std::memory_order_relaxed);
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5"})
    if (function == nullptr) function = reinterpret_cast<LookUp>(dlvsym(RTLD_NEXT, "dlsym", version));
  found.store(function, std::memory_order_relaxed);
  return function;
}

/// As strcmp() would say it. A sanitizer looks up with dlsym() what its own strcmp() is to call.
bool is_name(const char* name, const char* other) {
  while (*name != '\0' && *name == *other) ++name, ++other;
  return *name == *other;
}

using Load = void* (*)(const char*, int);

/// The C library's dlopen.
Load load() {
  static std::atomic<Load> found{nullptr};
  Load function = found.load(std::memory_order_relaxed);
  if (function == nullptr) function = reinterpret_cast<Load>(look_up()(RTLD_NEXT, "dlopen"));
  found.store(function, std::memory_order_relaxed);
  return function;
}

/// The name of ours that a library with this path has in ours' place, which LD_LIBRARY_PATH finds; null for
/// others, and for names without a path.
const char* own_library(const char* file) {
  const char* const slash = file == nullptr ? nullptr : std::strrchr(file, '/');
  if (slash == nullptr) return nullptr;
  struct Library {
    const char *begin, *own;
  };
  for (const Library& l : {Library{"libcudart.so.13", "libcudart.so.13"},
                           {"libcudart.so.12", "libcudart.so.12"},
                           {"libcudart.so.11", "libcudart.so.11.0"},
                           {"libcuda.so", "libcuda.so.1"}}) {
    const size_t length = std::strlen(l.begin);
    const bool begins = std::strncmp(slash + 1, l.begin, length) == 0;
    if (begins && (slash[1 + length] == '\0' || slash[1 + length] == '.')) return l.own;
  }
  return std::strcmp(slash + 1, "libcudart.so") == 0 ? "libcudart.so" : nullptr;
}

constexpr int kInternalError = 11;  // NVRTC_ERROR_INTERNAL_ERROR

/// The NVRTC that is loaded. If only a library has loaded it, as those of scripts do, no search order
/// (RTLD_NEXT) finds it.
void* compiler() {
  const char* file = nullptr;
  const auto look = [](dl_phdr_info* object, size_t, void* found) {
    constexpr const char kName[] = "libnvrtc.so";
    const char* const slash = std::strrchr(object->dlpi_name, '/');
    const char* const name = slash == nullptr ? object->dlpi_name : slash + 1;
    if (std::strncmp(name, kName, sizeof kName - 1) != 0) return 0;
    *static_cast<const char**>(found) = object->dlpi_name;
    return 1;
  };
  dl_iterate_phdr(look, &file);
  return file == nullptr ? nullptr : dlopen(file, RTLD_NOLOAD | RTLD_LAZY);
}

template <class... Arguments>
int call(const char* name, Arguments... arguments) {
  void* const handle = compiler();
  if (handle == nullptr) return kInternalError;
  const auto function = reinterpret_cast<int (*)(Arguments...)>(look_up()(handle, name));
  const int result = function == nullptr ? kInternalError : function(arguments...);
  dlclose(handle);
  return result;
}

/// 0: compiled for a virtual architecture, which gives PTX alone.
int size_of_machine_code(void* program, size_t* size) { return call("nvrtcGetCUBINSize", program, size); }

}  // namespace

extern "C" {

int nvrtcGetCUBINSize(void* program, size_t* size) {
  const int result = size_of_machine_code(program, size);
  return result != 0 || *size == 0 ? result : call("nvrtcGetPTXSize", program, size);
}

int nvrtcGetCUBIN(void* program, char* code) {
  size_t size = 0;
  const int result = size_of_machine_code(program, &size);
  return call(result != 0 || size == 0 ? "nvrtcGetCUBIN" : "nvrtcGetPTX", program, code);
}

/// What RTLD_NEXT means depends on who asks: the compiler makes a jump of the last call (CMakeLists.txt), so
/// that it is the caller still.
void* dlsym(void* handle, const char* name) {
  void* own = nullptr;
  if (is_name(name, "nvrtcGetCUBIN")) own = reinterpret_cast<void*>(nvrtcGetCUBIN);
  if (is_name(name, "nvrtcGetCUBINSize")) own = reinterpret_cast<void*>(nvrtcGetCUBINSize);
  const LookUp real = look_up();
  if (own != nullptr && real(handle, name) != nullptr) return own;
  return real(handle, name);
}

/// As dlsym(): the folders in which a name without a path is searched depend on who asks.
void* dlopen(const char* file, int mode) {
  const char* const own = own_library(file);
  return load()(own == nullptr ? file : own, mode);
}
}
