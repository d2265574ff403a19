// All microbenchmarks, one after the other: how a device is built, as far as programs can see it.
#pragma once
#include "microbench/data_sheet.h"
#include "microbench/device.h"

namespace gpusim::microbench {

/// Measures everything (or the sections of `only`, if it is not empty).
[[nodiscard]] DataSheet discover(Device& device, const std::vector<std::string>& only = {});

/// Names that `only` can have.
[[nodiscard]] std::span<const std::string_view> section_names();

}  // namespace gpusim::microbench
