// [params] and [flops] of a launch file. Include only from .cpp files (toml++).
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "simcore/launch/reader.h"

namespace gpusim::core {

[[nodiscard]] bool is_identifier(std::string_view name);

/// Into launch.params, in file order; overrides must name one of them.
void read_params(const ReadContext& context, const toml::table& document,
                 std::span<const std::string> overrides, LaunchDescription& launch);
/// Into launch.flops; its expressions may use the parameters.
void read_flops(const ReadContext& context, const toml::table& document, LaunchDescription& launch);

}  // namespace gpusim::core
