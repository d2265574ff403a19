// What a kernel is limited by, proved: the same run again with one resource doubled or one latency halved at
// a time. Counters say where warps stood; this says what would have helped.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "components/simulation/simulation_options.h"
#include "simcore/config/machine_config.h"

namespace gpusim::study {

/// What is done to a resource; a hash of addresses becomes another.
inline constexpr std::string_view kTwiceAsMuch = "x 2", kHalfAsMuch = "/ 2", kAnotherHash = "hash";

/// One resource of a machine, changed.
struct Change {
  std::string name;                    ///< "DRAM clock"
  std::string effect;                  ///< "x 2", "/ 2", "hash"
  std::vector<std::string> sets;       ///< "clocks.dram=1754MHz"
  std::vector<std::string> otherwise;  ///< where the machine cannot have these; may be empty
};

/// All that can be changed on this machine; what it does not have, or has at its limit, is left out.
[[nodiscard]] std::vector<Change> changes_of(const core::MachineConfig& machine);

/// Times that this machine could have half of, but for being one cycle already: "cycles between issue slots",
/// "cycles of the lsu pipe" (if that is so of one of its operations).
struct Shortest {
  std::string name;
  bool all = true;  ///< or only some operations of a pipe
};
[[nodiscard]] std::vector<Shortest> shortest_of(const core::MachineConfig& machine);

/// The value of a configuration key times `factor`, in its own unit; the text itself if there is nothing to
/// scale ("lrr", 0) or an integer cannot be smaller.
[[nodiscard]] std::string scaled(std::string_view text, double factor);

struct Gain {
  Change change;
  std::string refused;  ///< why the machine cannot be changed so, or the run failed
  uint64_t cycles = 0;  ///< of all kernels
  double factor = 1;    ///< cycles by those of the unchanged machine
};

struct Proof {
  uint64_t cycles = 0;      ///< of the unchanged machine
  std::vector<Gain> gains;  ///< fewest cycles first; refused ones last
  std::string named;        ///< the limiter that counters alone name; empty: not known
  std::string named_text;   ///< the same with its place, of the kernel that it costs most; may be empty
  std::vector<Shortest> shortest;  ///< what no change halves
  size_t missing = 0;              ///< changes that were not simulated: the proof was stopped
};
/// A gain that is worth a name.
inline constexpr double kHelps = 0.05;

/// Called when `done` of `all` simulations have ended.
using OnProved = std::function<void(size_t done, size_t all)>;

/// Simulates the run once more for each change, `parallel` at a time. Throws core::InputError if the
/// unchanged run fails, or takes other than the `recorded` core cycles of all its kernels: then it is another
/// run. Once `stop` says true, what has been simulated is the proof: nothing if the unchanged run had not
/// ended.
[[nodiscard]] Proof prove(const comp::SimulationOptions& run, unsigned parallel,
                          std::optional<uint64_t> recorded = std::nullopt, const OnProved& on_proved = {},
                          const std::function<bool()>& stop = {});

[[nodiscard]] std::string proof_text(const Proof& proof);
[[nodiscard]] std::string proof_json(const Proof& proof);

}  // namespace gpusim::study
