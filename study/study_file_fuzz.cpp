// Study files: any text is refused in order or read.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "study/study_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    (void)gpusim::study::parse_study({reinterpret_cast<const char*>(data), size}, "study.toml");
  } catch (const gpusim::core::InputError&) {
  }
  return 0;
}
