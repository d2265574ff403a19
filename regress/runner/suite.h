// A suite of the regression: which workloads run on which machine, which counters are compared with golden
// values, and which models are compared with the simulation, within which limits (docs/regress.md).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/models/model.h"
#include "simcore/record/recorder.h"

namespace gpusim::regress {

/// What the limit of a check is for.
enum class Role : uint8_t {
  kJudged,  ///< exceeding the limit is a breach
  kFitted,  ///< the model was fitted or chosen on it; the limit holds, but it counts in no mean
  kShown,   ///< for comparison only
};
[[nodiscard]] std::string_view role_name(Role role);

/// The name that stands for a model where what a metric is follows without one: from a text, or from the
/// program's arithmetic.
inline constexpr std::string_view kMetrics = "metrics";
/// Behind a metric's name: the fraction that it is of what the machine can do at most.
inline constexpr std::string_view kOfPeak = " of peak";

/// One quantity of one model, for every kernel of a case.
struct Check {
  std::string model, quantity;
  analysis::ModelOptions options;
  double expected = 0;  ///< of kMetrics: what the metric is, in its unit
  double limit =
      0;  ///< of the absolute error: a fraction of the simulated value, or a difference of fractions
  Role role = Role::kJudged;
};

/// One simulation.
struct Case {
  std::string name;
  std::string config;       ///< name or path of the machine
  std::string ptx, launch;  ///< relative to the root; launch empty: beside the PTX
  std::vector<std::string> params, sets;
  uint32_t sms = 0;
  core::EventLevel events = core::EventLevel::kSummary;
  uint64_t max_cycles = 0;  ///< of a kernel; 0: as the simulator has it
  bool golden = true;       ///< counters are compared
  std::vector<Check> checks;
};

/// A model that needs several runs.
struct Study {
  std::string name;
  std::vector<std::string> cases;  ///< in the order in which the model gets them
  Check check;
};

/// Limit of a mean over the judged checks of a model.
struct MeanLimit {
  std::string model, quantity;
  double limit = 0;
  /// What changes too little shows nothing of a model: that the run which predicts stays as it is
  /// (Prediction::constant) must exceed the limit.
  bool constant_fails = false;
};

/// What a source text of the models says, and which rows of the outcome say how it is here.
struct Claim {
  /// Of a row: its error without sign, with it, or one of the two values that it compares.
  enum class Value : uint8_t { kError, kBias, kPredicted, kSimulated };
  enum class Over : uint8_t { kMean, kMost, kLeast };

  std::string source;         ///< the text, which has a table of its own
  std::string text, printed;  ///< the claim, and its figure as the text has it; empty: it has none
  std::string command;        ///< that shows the claim; empty: that of the suite
  std::string cause;          ///< why it is short, for people
  std::string model, quantity;
  std::string kernel;               ///< empty: all
  std::vector<std::string> places;  ///< cases and studies, as select() takes names; empty: all
  Value value = Value::kError;
  Over over = Over::kMean;
  std::optional<double> at_least, at_most;  ///< neither: it is shown and not judged
  bool known_short = false;                 ///< it is not expected to hold

  [[nodiscard]] bool shown() const { return !at_least && !at_most; }
};

struct Suite {
  std::string name;
  std::string given;  ///< what --suite takes for it
  std::vector<Case> cases;
  std::vector<Study> studies;
  std::vector<MeanLimit> means;
  std::vector<Claim> claims;
};

/// Whether `pattern` is the name, or ends with '*' and the name begins as it does in front of that.
[[nodiscard]] bool name_means(const std::string& pattern, const std::string& name);

/// Reads a suite file (TOML). Throws core::InputError with every problem of the file.
[[nodiscard]] Suite load_suite(const std::string& path);

/// Leaves the cases and studies that `names` mean (each one, or all that begin as it does in front of a '*'),
/// and the cases that these studies need. Means are of whole suites: none is left. Of the claims those are
/// left all of whose places are. Throws core::InputError for a name that means nothing.
void select(Suite& suite, const std::vector<std::string>& names);

}  // namespace gpusim::regress
