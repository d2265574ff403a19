// SHA-256 (FIPS 180-4), to identify the inputs of a recorded run.
#pragma once
#include <string>
#include <string_view>

namespace gpusim::core {

/// 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view data);

}  // namespace gpusim::core
