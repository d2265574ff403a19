// Stands for NVRTC in a test: compiles nothing, and has the functions that what is preloaded calls, and those
// that call them.
#include <cstddef>
#include <cstring>
#include <string_view>

extern "C" int cuGetExportTable(const void** table, const void* identifier);

namespace {
constexpr std::string_view kText =
    ".version 8.0 .target sm_70 .address_size 64 .visible .entry fill(.param .u64 to) { .reg .u64 %rd<2>; "
    ".reg .u32 %r<2>; "
    "ld.param.u64 %rd0, [to]; mov.u32 %r0, 42; st.global.u32 [%rd0], %r0; ret; }";
constexpr std::string_view kMachineCode =
    "\x7f"
    "ELF and what only a GPU reads";
bool is_virtual = false;
}  // namespace

extern "C" {

/// `options` in the place of a program: that the architecture is a virtual one.
int nvrtcCompileProgram(void*, int options, const char* const*) {
  is_virtual = options != 0;
  const void* table = nullptr;
  constexpr char kIdentifier[16] = {};
  return cuGetExportTable(&table, kIdentifier) == 0 ? 11 : 0;
}
int nvrtcGetPTXSize(void*, size_t* size) {
  *size = kText.size() + 1;
  return 0;
}
int nvrtcGetPTX(void*, char* text) {
  std::memcpy(text, kText.data(), kText.size() + 1);
  return 0;
}
int nvrtcGetCUBINSize(void*, size_t* size) {
  *size = is_virtual ? 0 : kMachineCode.size();
  return 0;
}
int nvrtcGetCUBIN(void*, char* code) {
  if (is_virtual) return 4;
  std::memcpy(code, kMachineCode.data(), kMachineCode.size());
  return 0;
}
}
