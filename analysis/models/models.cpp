#include <algorithm>
#include <vector>

#include "analysis/models/model.h"

namespace gpusim::analysis {

#define GPUSIM_MODEL(folder) Model folder##_entry();
#include "analysis/models.inc"
#undef GPUSIM_MODEL

std::span<const Model> models() {
  static const std::vector<Model> all = [] {
    std::vector<Model> found{
#define GPUSIM_MODEL(folder) folder##_entry(),
#include "analysis/models.inc"
#undef GPUSIM_MODEL
    };
    std::ranges::stable_sort(found, {}, &Model::place);
    return found;
  }();
  return all;
}

}  // namespace gpusim::analysis
