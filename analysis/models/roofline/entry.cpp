#include "analysis/models/model.h"
#include "analysis/models/roofline/roofline.h"

namespace gpusim::analysis {

Model roofline_entry() {
  return {"roofline",     "rates at several numbers of SMs under measured roofs, and what the shape says",
          true,           "",
          roofline_model, 4};
}

}  // namespace gpusim::analysis
