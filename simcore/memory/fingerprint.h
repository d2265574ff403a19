// A number that stands for the bytes of a buffer: equal bytes have equal fingerprints, and others have
// another one but for one chance in 2^64. Not meant against anybody who looks for two that are equal.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace gpusim::core {

/// The same on every computer. About as fast as memory is read.
[[nodiscard]] uint64_t fingerprint(std::span<const std::byte> bytes);

}  // namespace gpusim::core
