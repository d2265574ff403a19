// `--param NAME=VALUE` texts.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "simcore/launch/number.h"
#include "simcore/text/input_error.h"

namespace gpusim::core {

struct ParamOverride {
  std::string name;
  Number value;
  Where where;
};

/// Values are numbers or expressions without names. Wrong texts are reported and left out; of equal names the
/// last wins.
[[nodiscard]] std::vector<ParamOverride> parse_overrides(std::span<const std::string> texts,
                                                         Messages& messages);

}  // namespace gpusim::core
