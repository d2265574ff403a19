#include "runtime/fatbin/fat_binary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cstring>

#include "simcore/text/input_error.h"

namespace gpusim::runtime {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
void put(Bytes& bytes, T value) {
  const auto* p = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), p, p + sizeof value);
}

/// An entry as nvcc writes it: header of 64 bytes, payload padded to 8.
Bytes entry(uint16_t kind, uint32_t sm, uint64_t flags, const std::string& payload, uint64_t plain) {
  const uint64_t padded = (payload.size() + 7) / 8 * 8;
  Bytes b;
  put<uint16_t>(b, kind), put<uint16_t>(b, 0x101), put<uint32_t>(b, 64), put<uint64_t>(b, padded);
  put<uint32_t>(b, flags & 0xa000 ? static_cast<uint32_t>(payload.size()) : 0);
  put<uint32_t>(b, 0), put<uint16_t>(b, 0), put<uint16_t>(b, 9), put<uint32_t>(b, sm);
  put<uint32_t>(b, 0), put<uint32_t>(b, 0), put<uint64_t>(b, flags), put<uint64_t>(b, 0);
  put<uint64_t>(b, plain);
  const size_t start = b.size();
  b.resize(start + padded);
  std::memcpy(b.data() + start, payload.data(), payload.size());
  return b;
}

Bytes binary(std::initializer_list<Bytes> entries) {
  Bytes body;
  for (const Bytes& e : entries) body.insert(body.end(), e.begin(), e.end());
  Bytes b;
  put<uint32_t>(b, kFatBinaryMagic), put<uint16_t>(b, 1), put<uint16_t>(b, 16), put<uint64_t>(b, body.size());
  b.insert(b.end(), body.begin(), body.end());
  return b;
}

const std::string kText = ".version 7.0\n.target sm_70\n.address_size 64\n" + std::string(500, ' ');

std::string lz4(const std::string& text) {
  std::string out(static_cast<size_t>(LZ4_compressBound(static_cast<int>(text.size()))), '\0');
  out.resize(static_cast<size_t>(LZ4_compress_default(text.data(), out.data(), static_cast<int>(text.size()),
                                                      static_cast<int>(out.size()))));
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

TEST(FatBinary, PtxOfEveryCompression) {
  const Bytes b = binary({entry(1, 70, 0x11, kText, 0), entry(1, 75, 0x2011, lz4(kText), kText.size()),
                          entry(1, 90, 0x8011, zstd(kText), kText.size()),
                          entry(2, 90, 0x11,
                                "\x7f"
                                "ELF",
                                0)});
  const auto entries = fat_entries(b);
  ASSERT_EQ(entries.size(), 4u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(entries[i].kind, FatEntry::Kind::kPtx);
    EXPECT_EQ(ptx_text(entries[i]), kText) << i;
  }
  EXPECT_EQ(entries[3].kind, FatEntry::Kind::kCubin);
  EXPECT_EQ(fat_binary_bytes(std::span<const std::byte, 16>(b.data(), 16)), b.size());
}

TEST(FatBinary, TakesTheNewestPtxOfTheMachine) {
  const Bytes b = binary({entry(1, 75, 0x11, kText, 0), entry(1, 90, 0x11, kText, 0),
                          entry(2, 100, 0x11, "x", 0), entry(1, 80, 0x11, kText, 0)});
  const auto entries = fat_entries(b);
  EXPECT_EQ(newest_ptx(entries, 90)->sm, 90);
  EXPECT_EQ(newest_ptx(entries, 89)->sm, 80);
  EXPECT_EQ(newest_ptx(entries, 120)->sm, 90);
  EXPECT_EQ(newest_ptx(entries, 70)->sm, 75);  // all above: the nearest
  EXPECT_EQ(newest_ptx(std::span(entries).subspan(2, 1), 100), nullptr);
}

TEST(FatBinary, DamageIsToldAndNeverRead) {
  const Bytes good = binary({entry(1, 75, 0x2011, lz4(kText), kText.size())});
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_THROW((void)fat_entries(std::span(good).first(size)), core::InputError) << size;
  Bytes wrong_size = good;
  wrong_size[16 + 56] = std::byte{1};  // bytes once decompressed
  const auto entries = fat_entries(wrong_size);
  EXPECT_THROW((void)ptx_text(entries.front()), core::InputError);
  Bytes wrong_magic = good;
  wrong_magic[0] = std::byte{0};
  EXPECT_THROW((void)fat_entries(wrong_magic), core::InputError);
  Bytes long_payload = good;
  long_payload[16 + 15] = std::byte{0x7f};
  EXPECT_THROW((void)fat_entries(long_payload), core::InputError);
}

TEST(FatBinary, ALengthBeyondTheMemoryIsDamage) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const first = static_cast<std::byte*>(memory);
  ASSERT_EQ(mprotect(first + 2 * page, page, PROT_NONE), 0);
  const auto error_of = [first](uint64_t bytes) -> std::string {
    Bytes header;
    put<uint32_t>(header, kFatBinaryMagic), put<uint16_t>(header, 1), put<uint16_t>(header, 16);
    put<uint64_t>(header, bytes - 16);
    std::memcpy(first, header.data(), header.size());
    try {
      return fat_binary_at(first).size() == bytes ? "" : "another size";
    } catch (const core::InputError& e) {
      return e.what();
    }
  };
  EXPECT_EQ(error_of(2 * page), "");
  EXPECT_EQ(error_of(2 * page + 1),
            fmt::format("error: damaged fat binary: it should have {} bytes, and memory ends after {}",
                        2 * page + 1, 2 * page));
  munmap(memory, 3 * page);
}

}  // namespace
}  // namespace gpusim::runtime
