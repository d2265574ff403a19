// NumPy .npy files, versions 1.0 to 3.0, C order, little endian: header reading, whole-content reading,
// writing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/launch/launch.h"

namespace gpusim::core {

struct NpyHeader {
  char kind = 'f';  ///< f, i, u or b
  uint32_t item_bytes = 0;
  uint64_t count = 0;  ///< product of the shape
  uint64_t data_offset = 0;
};

/// Parses the header in the first bytes of a file. Throws InputError; `path` is for messages.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view bytes, const std::string& path);
/// Reads a file's header and checks that its length holds the data. Throws InputError.
[[nodiscard]] NpyHeader read_npy_header(const std::string& path);
/// True if elements of the file can fill a buffer of `type` bit by bit (same width; integer signs may differ;
/// b types take anything of their width; bf16 takes 2-byte integers).
[[nodiscard]] bool npy_matches(const NpyHeader& header, ElementType type);

}  // namespace gpusim::core
