// What a GPU needs to do the work of a launch file: the PTX, the buffers' first contents and the launches
// with their arguments, in a folder that regress/hardware/measure.cu reads. docs/correlate.md has the format.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace gpusim::correlate {

struct PlanRequest {
  std::string ptx;
  std::string launch;  ///< empty: the .toml beside the PTX
  std::vector<std::string> params;
  uint64_t seed = 0;
  std::string name;  ///< of the run; empty: the PTX file's
  bool fitting = false;
};

/// Writes `folder` (made if it is not there): plan.txt, the PTX, BUFFER.bin for each buffer that is not
/// zeros. Paths that the measurements will name are relative to the folder above it. Throws core::InputError:
/// what a plan cannot say (several PTX files, textures, copies, streams) is refused.
void write_plan(const PlanRequest& request, const std::string& folder);

}  // namespace gpusim::correlate
