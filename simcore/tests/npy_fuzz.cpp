// libFuzzer target: any bytes as the beginning of a .npy file.
#include "simcore/launch/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  try {
    (void)gpusim::core::parse_npy_header({reinterpret_cast<const char*>(data), size}, "fuzz.npy");
  } catch (const gpusim::core::InputError&) {  // the only way out for wrong input
  }
  return 0;
}
