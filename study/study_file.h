// A what-if study: workloads x machines x axes, as a TOML file says it (docs/study.md). Reading it checks
// everything that can be known without a machine or a program; which keys and parameters there are is known
// when its points are made (study/points.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simcore/text/input_error.h"

namespace gpusim::study {

/// A program with its launch file.
struct Workload {
  std::string name;
  std::string ptx, launch;          ///< paths; `launch` may be empty: beside the PTX
  std::vector<std::string> params;  ///< "N=1024"
  core::Where where;
};

/// One thing that an axis changes.
struct Target {
  enum class Kind {
    kKey,
    kParam,
    kSms,
    kCoreClock,
    kInterconnectClock,
    kDramClock,
    kLowering,
    kCache,
    kSeed
  };
  Kind kind = Kind::kKey;
  std::string name;  ///< of a key ("l1.size") or parameter ("N")
  friend bool operator==(const Target&, const Target&) = default;
};
/// As in a study file: "l1.size", "param.N", "sms", "core_clock", ...
[[nodiscard]] std::string target_text(const Target& target);
/// Nothing, and why in `problem`, if the text is no target.
[[nodiscard]] std::optional<Target> parse_target(std::string_view text, std::string& problem);

/// What is varied. Several targets move together.
struct Axis {
  struct Value {
    std::string label;               ///< how results show it
    std::vector<std::string> texts;  ///< one for each target
    core::Where where;
  };
  std::string name;
  std::vector<Target> targets;
  std::vector<Value> values;
  core::Where where;
};

/// A relation between axes that every point must fulfil, "l1 + shared <= 131072".
struct Constraint {
  std::string text, left, relation, right;
  core::Where where;
};

/// What a kernel's run may take where nothing else is said, as for a single run.
inline constexpr uint64_t kDefaultMaxCycles = 10'000'000'000;

struct Study {
  std::string name;  ///< of the file, without folder and ending
  std::string path, text;
  std::vector<std::string> machines, sets;
  std::vector<core::Where> machine_places;  ///< of the file's machines; options have none
  std::vector<core::Where> set_places;      ///< of the file's sets; those of options come behind them
  std::vector<Workload> workloads;
  std::vector<Axis> axes;
  std::vector<Constraint> constraints;
  std::string objective = "time_s";  ///< a column of the results
  bool maximise = false;
  uint64_t max_cycles = kDefaultMaxCycles;  ///< core cycles of a kernel: one that takes more has failed
};

/// Throws core::InputError with every problem of the file. Paths in it start at its own folder.
[[nodiscard]] Study load_study(const std::string& path);
[[nodiscard]] Study parse_study(std::string_view text, const std::string& path);
/// Checks what load_study() does and what options can break: names of axes that are columns of the results,
/// keys that two axes or an axis and `sets` change, numbers of SMs, the objective. Throws core::InputError.
void check_study(const Study& study);
/// How results name a machine: its file's name where `machines` holds a path.
[[nodiscard]] std::string machine_name(const Study& study, size_t machine);

/// From the command line: "l1.size=16K,32K,64K" (a target, or several joined by '+', which all get the
/// value). A parameter whose name is a column of the results makes an axis "param_NAME". Throws
/// core::InputError.
[[nodiscard]] Axis axis_from_option(const std::string& text);

/// The value of a text as a constraint or a plot takes it: a number, a size (bytes), a clock (kHz), a time
/// (ns); false if it is a word.
[[nodiscard]] bool numeric_value(std::string_view text, double& value);

/// Names that axes, workloads and studies may have: they become columns and files.
[[nodiscard]] bool good_name(std::string_view name);
/// A good name for a file's stem: '_' for every run of other bytes.
[[nodiscard]] std::string name_from(std::string_view stem);

}  // namespace gpusim::study
