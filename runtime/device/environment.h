// Names of the environment variables by which `gpusim run` tells the runtime libraries what to do.
#pragma once

namespace gpusim::runtime {

/// Process that the recorded file's name belongs to.
inline constexpr char kOwnerVariable[] = "GPUSIM_OWNER";

/// Descriptor at which `gpusim run` waits to hear, if it was given an option that may end in something to be
/// told by its exit code, and what it hears: the checks have found something; no launch was one that --timed
/// names, or --export has written nothing.
inline constexpr char kFindingsVariable[] = "GPUSIM_FINDINGS";
inline constexpr char kToldFindings = 'f', kToldInVain = 'v';

class Device;
/// The device of the process is finished when the process ends: before what was set up earlier is torn down,
/// so that it is called again when the recorded file has been opened (HDF5 ends itself at exit).
void finish_at_exit(const Device& device);
/// What nobody has waited for is done when the process ends, before what exists now is destroyed. The device
/// goes on: what the program itself does at its end, if that was set up earlier, comes after this.
void flush_at_exit(const Device& device);

}  // namespace gpusim::runtime
