// libFuzzer target: any bytes as a trace of warps, and the model on small ones.
#include "analysis/models/reuse_distance/model.h"
#include "analysis/recording/warp_trace.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  using namespace gpusim;
  static const core::MachineConfig machine =
      core::load_machine(GPUSIM_SOURCE_DIR "/configs/gtx470.cfg", {}, {});
  try {
    const analysis::WarpTrace trace(
        analysis::TraceBytes(std::string(reinterpret_cast<const char*>(data), size)), "fuzz");
    if (trace.header().blocks < 100) (void)analysis::predict_reuse(machine, trace);
  } catch (const core::InputError&) {  // the only way out for wrong input
  }
  return 0;
}
