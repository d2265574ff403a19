// The model `energy` of `gpusim analyze`.
#pragma once
#include <span>

#include "analysis/models/model.h"

namespace gpusim::analysis::energy {

[[nodiscard]] ModelReport run_model(std::span<const Recording> recordings, const ModelOptions& options);

}  // namespace gpusim::analysis::energy
