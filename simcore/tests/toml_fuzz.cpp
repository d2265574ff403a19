// libFuzzer target: any text as TOML. No condition of toml++ may break: its assertions throw std::logic_error
// here (simcore/text/toml_document.h), and UndefinedBehaviorSanitizer sees the rest.
#include "simcore/text/toml_document.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  try {
    (void)gpusim::core::parse_toml({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  } catch (const gpusim::core::InputError&) {  // the only way out for wrong input
  }
  return 0;
}
