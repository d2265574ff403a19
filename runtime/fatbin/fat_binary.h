// Fat binaries: what nvcc embeds into a host program for the device, one entry for each architecture, as PTX
// or as machine code of a real GPU ("cubin"). Layout as cuobjdump shows it and as `fatbinary` writes it: a
// header (magic 0xBA55ED50, version 1, size of what follows), then entries, each a header of its own and a
// payload that may be compressed by LZ4 or Zstandard.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gpusim::runtime {

inline constexpr uint32_t kFatBinaryMagic = 0xBA55ED50;
/// Of the structure that a host program hands to __cudaRegisterFatBinary().
inline constexpr uint32_t kFatBinaryWrapperMagic = 0x466243B1;

struct FatEntry {
  enum class Kind : uint8_t { kPtx, kCubin, kOther };
  enum class Compression : uint8_t { kNone, kLz4, kZstd };
  Kind kind = Kind::kOther;
  Compression compression = Compression::kNone;
  int sm = 0;        ///< architecture: 75, 90, ...
  std::string name;  ///< of the source file; often empty
  std::span<const std::byte> payload;
  uint64_t plain_bytes = 0;  ///< of the payload once it is decompressed
};

/// The length of the fat binary that starts at `header` (of which 16 bytes are readable), header included.
/// Throws core::InputError if it is none.
[[nodiscard]] uint64_t fat_binary_bytes(std::span<const std::byte, 16> header);
/// All of the fat binary that starts at an address, whose length it says itself. Throws core::InputError if
/// it is none, or says that it is longer than memory reaches there, which a damaged one may.
[[nodiscard]] std::span<const std::byte> fat_binary_at(const std::byte* start);
/// Entries in their order; payloads lie in `binary`. Throws core::InputError for what is damaged.
[[nodiscard]] std::vector<FatEntry> fat_entries(std::span<const std::byte> binary);
/// PTX text of an entry of that kind. Throws core::InputError if it cannot be decompressed.
[[nodiscard]] std::string ptx_text(const FatEntry& entry);
/// Of the PTX entries the one with the highest architecture that the machine takes; if all are above it, the
/// lowest. Null if there is no PTX.
[[nodiscard]] const FatEntry* newest_ptx(std::span<const FatEntry> entries, int compute_capability);

}  // namespace gpusim::runtime
