// What was measured on a real GPU, or published about one: a JSON file of regress/hardware/
// (docs/correlate.md has the format). Everything is checked when it is read; problems throw core::InputError,
// all of them at once.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "components/simulation/simulation_options.h"
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

/// What a run's figure may be used for.
enum class Role : uint8_t {
  kNone,     ///< nothing is said of it: it counts
  kFit,      ///< "fit": parameters may be chosen with it in sight
  kJudge,    ///< "judge": for tables of errors alone
  kFitting,  ///< `"fitting": true`: a microbenchmark to which configurations are fitted; it does not count
};
[[nodiscard]] std::string_view role_name(Role r);

/// One figure for all launches of a run together.
struct WholeRun {
  enum class Kind : uint8_t { kCycles, kSeconds, kBytesPerSecond, kFlopRate };
  Kind kind = Kind::kCycles;
  double value = 0;
  double bytes = 0;             ///< of kBytesPerSecond: moved by all launches
  double overhead_seconds = 0;  ///< part of kSeconds that is none of the launches' (events between them)
  double part = 1;              ///< share of the measured work that the launch file does
  double pause_seconds = 0;  ///< from the last launch's end to the next one's start while the power was taken
};

struct HardwareRun {
  std::string name;
  std::string ptx, launch;          ///< paths, folder included
  std::vector<std::string> params;  ///< "N=3"
  uint64_t seed = 0;
  std::string ptx_sha256;         ///< empty: not known
  std::vector<std::string> sets;  ///< "section.key=value", after those of the file
  core::ClockChoice clocks;       ///< as a launch sets them: voltages follow
  Role role = Role::kNone;
  comp::CacheState caches = comp::CacheState::kCold;
  std::string note;                                         ///< for the reader
  std::string not_run;                                      ///< why there are no kernels
  std::optional<WholeRun> whole;                            ///< instead of kernels
  double power_w = 0;                                       ///< average of the board; 0: not known
  comp::CacheState power_caches = comp::CacheState::kCold;  ///< when the power was taken
  std::vector<std::pair<std::string, double>> counters;     ///< of all launches, by profile_counters() name
  std::vector<HardwareKernel> kernels;
  std::vector<BufferHash> buffers;
  core::Where where;
};

struct HardwareFile {
  std::string path, device, date, source;
  std::string machine;            ///< configuration that stands for the device; empty: none is named
  std::vector<std::string> sets;  ///< overrides of it that all runs share
  double core_hz = 0;             ///< of the clock in which cycles are counted
  std::vector<HardwareRun> runs;
};

[[nodiscard]] HardwareFile read_hardware_file(const std::string& path);
/// Reads a hardware file from its text; names of files in it start at the folder of `path`.
[[nodiscard]] HardwareFile parse_hardware_file(std::string_view text, const std::string& path);

}  // namespace gpusim::correlate
