// What was measured on a real GPU, or published about one: a JSON file of regress/hardware/
// (docs/correlate.md has the format). Everything is checked when it is read; problems throw core::InputError,
// all of them at once.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simcore/text/input_error.h"

namespace gpusim::correlate {

/// How a kernel's time was taken, which says what of the simulation it compares with.
enum class Method : uint8_t {
  kClockBuffer,  ///< "clock_buffer": the kernel's own clock reads, in the buffer of its name
  kClock64,      ///< "clock64": clock of each SM before and after, less that of an empty kernel
  kEvents,       ///< "events": from one event to the next, launch included
  kPublished,    ///< "published": as its source says
};
[[nodiscard]] std::string_view method_name(Method m);

/// One launch, in the order of the launch file (each repetition is one).
struct HardwareKernel {
  std::string name;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  double cycles = 0;           ///< core cycles, the median of `repeats`
  double least = 0, most = 0;  ///< of the repetitions
  uint32_t repeats = 1;
  Method method = Method::kPublished;
  uint32_t registers = 0;  ///< per thread, as the driver said; 0: not known
};

/// Final content of a buffer.
struct BufferHash {
  std::string name, sha256;
};

struct HardwareRun {
  std::string name;
  std::string ptx, launch;          ///< paths, folder included
  std::vector<std::string> params;  ///< "N=3"
  uint64_t seed = 0;
  std::string ptx_sha256;  ///< empty: not known
  bool fitting = false;    ///< configurations were fitted to it: it does not count
  std::string note;        ///< for the reader
  std::string not_run;     ///< why there are no kernels
  double flop_rate = 0;    ///< FLOP/s of the application, instead of kernels; 0: there are kernels
  std::vector<HardwareKernel> kernels;
  std::vector<BufferHash> buffers;
  core::Where where;
};

struct HardwareFile {
  std::string path, device, date, source;
  double core_hz = 0;  ///< of the clock in which cycles are counted
  std::vector<HardwareRun> runs;
};

[[nodiscard]] HardwareFile read_hardware_file(const std::string& path);
/// Reads a hardware file from its text; names of files in it start at the folder of `path`.
[[nodiscard]] HardwareFile parse_hardware_file(std::string_view text, const std::string& path);

}  // namespace gpusim::correlate
