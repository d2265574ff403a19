// libFuzzer target: any bytes as a file of measurements.
#include "correlate/hardware_file.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  try {
    (void)gpusim::correlate::parse_hardware_file({reinterpret_cast<const char*>(data), size}, "fuzz.json");
  } catch (const gpusim::core::InputError&) {  // the only way out for wrong input
  }
  return 0;
}
