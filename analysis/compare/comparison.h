// Two recorded runs side by side. The difference in cycles is a sum of terms that add up exactly: every issue
// slot of every scheduler has one cause and stands at one operation (docs/statistics.md), so a kernel's
// cycles are the sum over causes, and over operations, of slots x issue cycles / (schedulers x issues of a
// scheduler x SMs). On each machine with its own numbers: a slot of 30 SMs with one scheduler is a larger
// part of a cycle than one of 80 SMs with four. Terms are whole numbers of a common fraction of a core cycle.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/recording/recording.h"
#include "simcore/config/load.h"

namespace gpusim::analysis {

/// Of Comparison::denominator-ths of a core cycle. 128 bits hold every sum.
__extension__ using CycleParts = __int128;

struct CycleTerm {
  uint64_t slots_a = 0, slots_b = 0;
  CycleParts a = 0, b = 0;
  [[nodiscard]] CycleParts change() const { return b - a; }
};
struct CauseTerm {
  std::string cause;
  CycleTerm term;
};
/// A line of the source, or a statement of the PTX.
struct LineTerm {
  std::string file;   ///< empty: unknown, or the program's only PTX file
  uint64_t line = 0;  ///< in b, if it is there
  std::string ptx;    ///< of a statement
  bool in_a = false, in_b = false;
  CycleTerm term;
  std::vector<CauseTerm> causes;  ///< that have slots here, the largest change first
};
struct CounterChange {
  std::string name, unit;
  double a = 0, b = 0;
  /// Change by the larger of the two: 0 to 2.
  [[nodiscard]] double relative() const;
};

/// A launch of one of the runs.
struct ComparedLaunch {
  uint64_t index = 0, launch = 0;
  std::string name, grid, block;
  uint64_t cycles = 0;
  double seconds = 0;
};
struct KernelComparison {
  ComparedLaunch a, b;
  CycleTerm total;
  std::vector<CauseTerm> causes;        ///< adds up to `total`, the largest change first
  std::vector<LineTerm> statements;     ///< with what stands nowhere adds up to `total`, likewise
  std::vector<LineTerm> lines;          ///< likewise; empty if no line of the source is known
  CycleTerm nowhere;                    ///< slots without a warp, which stand at no operation
  std::vector<CounterChange> counters;  ///< that changed, the largest relative change first
};

struct ComparedRun {
  std::string path, machine;
  std::string command;  ///< of a program; others: "a launch file"
  std::string note;     ///< of a run that did not end
  double core_mhz = 0;
};

/// A buffer or variable whose bytes are others, or that one run has not (0 bytes).
struct DifferentBuffer {
  std::string name;
  uint64_t bytes_a = 0, bytes_b = 0;
};

struct Comparison {
  ComparedRun a, b;
  /// Nothing if a recording holds no PTX.
  std::optional<bool> same_ptx;
  /// The same launch file, or, of programs that gpusim run ran, the same command.
  bool same_launch = false;
  bool of_programs = false;  ///< gpusim run recorded at least one of them
  enum class Results { kSame, kDifferent, kUnknown } results = Results::kUnknown;
  std::string results_why;  ///< in words
  std::vector<DifferentBuffer> different;
  std::vector<core::KeyDifference> keys;
  uint64_t denominator = 1;
  std::vector<KernelComparison> kernels;       ///< in the order of a
  std::vector<ComparedLaunch> only_a, only_b;  ///< that ended, without a counterpart
  std::vector<std::string> not_compared;       ///< launches that did not end, in words
  CycleTerm total;                             ///< of all kernels of both, those without a counterpart too
  std::vector<CauseTerm> causes;               ///< likewise
};

/// Launches of a kernel are paired in the order of the launch file. `kernel`: empty, or the kernels compared
/// (number in a, or name). Throws core::RecordError.
[[nodiscard]] Comparison compare(const Recording& a, const Recording& b, const std::string& kernel);

/// For people: `top` lines, statements and counters of each kernel.
[[nodiscard]] std::string comparison_text(const Comparison& c, size_t top);
/// One JSON object with everything.
[[nodiscard]] std::string comparison_json(const Comparison& c);
/// A row for each statement and cause.
[[nodiscard]] std::string comparison_csv(const Comparison& c);

/// Whole numbers near `parts` / `denominator` that add up to the sum of `parts` / `denominator`, which is
/// rounded if it is no whole number: each lies less than one away.
[[nodiscard]] std::vector<int64_t> whole_cycles(const std::vector<CycleParts>& parts, uint64_t denominator);

}  // namespace gpusim::analysis
