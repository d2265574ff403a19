#include "runtime/fatbin/fat_binary.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "simcore/text/input_error.h"

namespace gpusim::runtime {
namespace {

struct BinaryHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t bytes;  ///< that follow the header
};
static_assert(sizeof(BinaryHeader) == 16);

struct EntryHeader {
  uint16_t kind;
  uint16_t version;
  uint32_t header_bytes;
  uint64_t payload_bytes;  ///< padded
  uint32_t compressed_bytes;
  uint32_t options_offset;
  uint16_t minor, major;  ///< of the PTX or cubin format
  uint32_t sm;
  uint32_t name_offset, name_bytes;
  uint64_t flags;
  uint64_t reserved;
  uint64_t plain_bytes;
};
static_assert(sizeof(EntryHeader) == 64);

constexpr uint16_t kPtxKind = 1, kCubinKind = 2;
constexpr uint64_t kLz4Flag = 0x2000, kZstdFlag = 0x8000;
/// More is no PTX that anybody has written; nothing larger is allocated for a size field that is damaged.
constexpr uint64_t kMostPlainBytes = uint64_t{1} << 30;

template <class T>
T read_at(std::span<const std::byte> bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

[[noreturn]] void damaged(const std::string& what) {
  throw core::InputError(fmt::format("error: damaged fat binary: {}", what));
}

BinaryHeader checked_header(std::span<const std::byte> bytes) {
  const auto header = read_at<BinaryHeader>(bytes, 0);
  if (header.magic != kFatBinaryMagic)
    damaged(fmt::format("it begins with {:#010x} instead of {:#010x}", header.magic, kFatBinaryMagic));
  if (header.version != 1 || header.header_bytes < sizeof(BinaryHeader))
    damaged(fmt::format("version {} with a header of {} bytes is not known", header.version,
                        header.header_bytes));
  return header;
}

FatEntry entry_at(std::span<const std::byte> rest, uint64_t offset, uint64_t& next) {
  const auto header = read_at<EntryHeader>(rest, 0);
  if (header.header_bytes < sizeof(EntryHeader) || header.header_bytes > rest.size())
    damaged(fmt::format("the entry at byte {} has a header of {} bytes", offset, header.header_bytes));
  if (header.payload_bytes > rest.size() - header.header_bytes)
    damaged(fmt::format("the entry at byte {} has {} bytes, {} are left", offset, header.payload_bytes,
                        rest.size() - header.header_bytes));
  FatEntry e;
  e.kind = header.kind == kPtxKind     ? FatEntry::Kind::kPtx
           : header.kind == kCubinKind ? FatEntry::Kind::kCubin
                                       : FatEntry::Kind::kOther;
  e.sm = static_cast<int>(header.sm);
  if (header.flags & kLz4Flag) e.compression = FatEntry::Compression::kLz4;
  if (header.flags & kZstdFlag) e.compression = FatEntry::Compression::kZstd;
  uint64_t used = header.payload_bytes;
  if (e.compression != FatEntry::Compression::kNone && header.compressed_bytes != 0) {
    if (header.compressed_bytes > header.payload_bytes)
      damaged(fmt::format("the entry at byte {} has {} compressed bytes in {}", offset,
                          header.compressed_bytes, header.payload_bytes));
    used = header.compressed_bytes;
  }
  e.payload = rest.subspan(header.header_bytes, used);
  e.plain_bytes = e.compression == FatEntry::Compression::kNone ? used : header.plain_bytes;
  if (header.name_bytes != 0 && header.name_offset <= rest.size() &&
      header.name_bytes <= rest.size() - header.name_offset)
    e.name.assign(reinterpret_cast<const char*>(rest.data()) + header.name_offset, header.name_bytes);
  if (const size_t end = e.name.find('\0'); end != std::string::npos) e.name.resize(end);
  next = header.header_bytes + header.payload_bytes;
  return e;
}

/// How far this process can read from an address; as far as there are addresses where the system does not
/// say.
uint64_t readable_bytes(const std::byte* start) {
  std::ifstream maps("/proc/self/maps");
  if (!maps) return UINT64_MAX;
  const auto at = reinterpret_cast<uint64_t>(start);
  uint64_t end = at;  // mappings come in the order of their addresses
  for (std::string line; std::getline(maps, line);) {
    unsigned long long from = 0, to = 0;
    char read = '-';
    if (std::sscanf(line.c_str(), "%llx-%llx %c", &from, &to, &read) == 3 && from <= end && end < to &&
        read == 'r')
      end = to;
  }
  return end - at;
}

}  // namespace

uint64_t fat_binary_bytes(std::span<const std::byte, 16> header) {
  const BinaryHeader h = checked_header(header);
  if (h.bytes > kMostPlainBytes * 16) damaged(fmt::format("its size is {} bytes", h.bytes));
  return h.header_bytes + h.bytes;
}

std::span<const std::byte> fat_binary_at(const std::byte* start) {
  const uint64_t bytes =
      fat_binary_bytes(std::span<const std::byte, sizeof(BinaryHeader)>(start, sizeof(BinaryHeader)));
  if (const uint64_t there = readable_bytes(start); there < bytes)
    damaged(fmt::format("it should have {} bytes, and memory ends after {}", bytes, there));
  return {start, bytes};
}

std::vector<FatEntry> fat_entries(std::span<const std::byte> binary) {
  if (binary.size() < sizeof(BinaryHeader)) damaged(fmt::format("it has {} bytes", binary.size()));
  const BinaryHeader header = checked_header(binary);
  if (header.header_bytes > binary.size() || header.bytes > binary.size() - header.header_bytes)
    damaged(
        fmt::format("it should have {} bytes and has {}", header.header_bytes + header.bytes, binary.size()));
  std::vector<FatEntry> entries;
  std::span<const std::byte> rest = binary.subspan(header.header_bytes, header.bytes);
  while (rest.size() >= sizeof(EntryHeader)) {
    uint64_t next = 0;
    entries.push_back(entry_at(rest, binary.size() - rest.size(), next));
    rest = rest.subspan(next);
  }
  return entries;
}

std::string ptx_text(const FatEntry& entry) {
  std::string text;
  if (entry.compression == FatEntry::Compression::kNone) {
    text.assign(reinterpret_cast<const char*>(entry.payload.data()), entry.payload.size());
  } else {
    if (entry.plain_bytes == 0 || entry.plain_bytes > kMostPlainBytes || entry.payload.size() > INT_MAX)
      damaged(fmt::format("PTX for sm_{} of {} bytes", entry.sm, entry.plain_bytes));
    text.resize(entry.plain_bytes);
    size_t got = 0;
    if (entry.compression == FatEntry::Compression::kZstd) {
      const size_t result =
          ZSTD_decompress(text.data(), text.size(), entry.payload.data(), entry.payload.size());
      if (ZSTD_isError(result) == 0) got = result;
    } else {
      const int result =
          LZ4_decompress_safe(reinterpret_cast<const char*>(entry.payload.data()), text.data(),
                              static_cast<int>(entry.payload.size()), static_cast<int>(text.size()));
      if (result > 0) got = static_cast<size_t>(result);
    }
    if (got != text.size())
      damaged(fmt::format("PTX for sm_{} cannot be decompressed to {} bytes", entry.sm, entry.plain_bytes));
  }
  // Padding and the terminating zero.
  if (const size_t end = text.find('\0'); end != std::string::npos) text.resize(end);
  return text;
}

const FatEntry* newest_ptx(std::span<const FatEntry> entries, int compute_capability) {
  const FatEntry* best = nullptr;
  for (const FatEntry& e : entries) {
    if (e.kind != FatEntry::Kind::kPtx) continue;
    const bool fits = e.sm <= compute_capability,
               best_fits = best != nullptr && best->sm <= compute_capability;
    if (best == nullptr || (fits && !best_fits) ||
        (fits == best_fits && (fits ? e.sm > best->sm : e.sm < best->sm)))
      best = &e;
  }
  return best;
}

}  // namespace gpusim::runtime
