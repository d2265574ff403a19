// Reads a [[texture]] of a launch file. Include only from .cpp files (toml++).
#pragma once
#include "simcore/launch/reader.h"

namespace gpusim::core {

/// Problems go to the context's messages; a faulty texture still defines its name.
[[nodiscard]] TextureSpec read_texture(const ReadContext& context, const toml::table& table);

}  // namespace gpusim::core
