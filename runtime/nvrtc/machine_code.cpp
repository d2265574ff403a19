// Preloaded into programs that compile at run time: machine code that they ask NVRTC for is the PTX that it
// was made of, for that is what the simulated GPU runs, and what takes the one (cuModuleLoadData) takes the
// other.
#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstring>

namespace {

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
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle, name));
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
}
