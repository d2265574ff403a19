// libFuzzer target: any text as a memory trace, and the model on small ones.
#include "analysis/models/reuse_distance/reference.h"
#include "simcore/text/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  using namespace gpusim;
  try {
    const analysis::Trace trace =
        analysis::parse_trace({reinterpret_cast<const char*>(data), size}, "fuzz.trc");
    if (trace.threads.size() < 10'000) (void)analysis::reference_reuse(trace, {});
  } catch (const core::InputError&) {  // the only way out for wrong input
  }
  return 0;
}
