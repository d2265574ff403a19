// libFuzzer target: any text as a machine configuration; what loads must survive show and reload.
#include <cstdlib>

#include "simcore/config/load.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  using namespace gpusim::core;
  try {
    const MachineConfig machine = parse_machine({reinterpret_cast<const char*>(data), size}, "fuzz.cfg");
    if (!(parse_machine(show_machine(machine), "shown") == machine)) std::abort();
  } catch (const InputError&) {  // the only way out for wrong input
  }
  return 0;
}
