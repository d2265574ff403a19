// libFuzzer target: any bytes as a JSON document.
#include "simcore/text/json_document.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  try {
    (void)gpusim::core::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz.json");
  } catch (const gpusim::core::InputError&) {  // the only way out for wrong input
  }
  return 0;
}
