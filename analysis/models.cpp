// The table of models: a new one is added here.
#include <array>

#include "analysis/model.h"
#include "analysis/roofline.h"

namespace gpusim::analysis {

std::span<const Model> models() {
  static constexpr std::array kModels{
      Model{"roofline", "rates at several numbers of SMs under measured roofs, and what the shape says", true,
            roofline_model}};
  return kModels;
}

}  // namespace gpusim::analysis
