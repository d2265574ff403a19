// What a change of `gpusim explain --prove` stands for. Nobody can double the SMs or a clock of a chip: what
// a program can do about the same thing is said beside them.
#pragma once
#include <string>
#include <string_view>

namespace gpusim::study {

struct Meaning {
  std::string_view change;  ///< its name
  std::string_view text;    ///< what it drives, and what a program can do instead; empty: not known
  /// Units of many kinds become more at once: that helps, but does not say which of them limits.
  bool compound = false;
};

/// The name of the change that halves a pipe's times: "cycles of the fp32 pipe".
[[nodiscard]] std::string pipe_change(std::string_view pipe);
[[nodiscard]] Meaning meaning_of(std::string_view change);

}  // namespace gpusim::study
