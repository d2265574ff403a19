// Advice about a recorded run: the rules' proposals for each of its kernels, and what they would gain of the
// whole run; launches that could be one, and transfers that could overlap kernels (docs/advise.md).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice/rules.h"

namespace gpusim::analysis::advice {

struct Advice {
  std::string rule, kernel;  ///< the kernel's name; empty: of the whole run
  uint64_t launch = 0;       ///< the longest of the launches that it is about
  std::string what;          ///< to do
  std::string place;         ///< "k.cu:3 `ld.global ...`"; empty: no line
  std::string counter, unit;
  double value = 0;
  double kernel_gain = 1;   ///< predicted: cycles of that launch now, by those after the change
  double gain = 1;          ///< predicted: time of the run now, by that after the change
  double kernels_gain = 1;  ///< the same of the time of its kernels, without copies
};

/// Of a kernel: how far its estimate was off before it was calibrated.
struct KernelEstimate {
  std::string kernel;
  uint64_t launch = 0, launches = 0;
  uint64_t cycles = 0;  ///< of the longest launch
  double own_error = 0;
};

/// What costs time and no rule is about (rules.h).
struct Unjudged {
  std::string kernel, place;
  uint64_t launch = 0;
  std::string what, hint, counter;
  double sectors = 0, least = 0;  ///< of accesses: of a request
};

struct RunAdvice {
  double cycles = 0;  ///< core cycles from the first start of a kernel or copy to the last end
  bool selected =
      false;  ///< cycles are those of the launches that were asked for, with the gaps between them
  std::vector<KernelEstimate> kernels;  ///< by time
  std::vector<Advice> advice;           ///< largest gain first
  std::vector<Unjudged> unjudged;       ///< by time of their kernels
};

/// A gain below this is no advice.
inline constexpr double kLeastGain = 1.05;
/// Beyond this error of its own, the estimate's gains are said to be rough.
inline constexpr double kRough = 0.25;

/// Of the launches that `selection` names (Recording::select): gains are then of their time, else of the
/// run's.
[[nodiscard]] RunAdvice advise(const Recording& recording, const std::string& selection);

[[nodiscard]] std::string advice_text(const RunAdvice& run, size_t top);
/// Members of one object: cycles, kernels and advice.
[[nodiscard]] std::string advice_json(const RunAdvice& run);
/// Each rule, and what it is about.
[[nodiscard]] std::string describe_rules();

}  // namespace gpusim::analysis::advice
