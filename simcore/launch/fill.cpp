// First contents of buffers (docs/launch_file.md, "Initial values").
#include <fmt/format.h>

#include <algorithm>

#include "simcore/launch/element.h"
#include "simcore/launch/launch.h"
#include "simcore/launch/npy.h"
#include "simcore/launch/random.h"
#include "simcore/text/text_file.h"

namespace gpusim::core {
namespace {

void store_checked(const BufferSpec& buffer, const Number& value, uint64_t index, std::byte* out) {
  if (store_element(buffer.type, value, out)) return;
  raise_input_error(buffer.where, fmt::format("{} '{}': element {}: {}", buffer.kind(), buffer.name, index,
                                              misfit_text(buffer.type, value)));
}

Number iota_value(const InitSpec& init, uint64_t index) {
  if (init.a.is_integer && init.b.is_integer) {
    const __int128 value =
        init.a.integer + static_cast<__int128>(init.b.integer) * static_cast<__int128>(index);
    const auto integer = static_cast<int64_t>(value);
    return integer == value ? Number::of(integer) : Number::of_real(static_cast<double>(value));
  }
  return Number::of_real(init.a.as_double() + init.b.as_double() * static_cast<double>(index));
}

void read_file(const BufferSpec& buffer, uint64_t offset, std::span<std::byte> out) {
  if (InputFile(buffer.init.file).read(offset, out.data(), out.size()) != out.size())
    raise_input_error(buffer.where, fmt::format("cannot read {} bytes of '{}' for {} '{}'", out.size(),
                                                buffer.init.file, buffer.kind(), buffer.name));
}

void fill_random(const BufferSpec& buffer, uint64_t seed, std::byte* out) {
  const InitSpec& init = buffer.init;
  const BufferRandom random(seed, buffer.name);
  const uint32_t step = element_bytes(buffer.type);
  const double a = init.a.as_double();
  const double b = init.b.as_double();
  for (uint64_t i = 0; i < buffer.count; ++i, out += step) {
    if (init.kind == InitSpec::Kind::kUniform) {
      store_real(buffer.type, a + random.unit(i) * (b - a), out);
    } else if (init.kind == InitSpec::Kind::kNormal) {
      store_real(buffer.type, a + b * random.normal(i), out);
    } else {
      store_checked(buffer, Number::of(random.integer(i, init.a.integer, init.b.integer)), i, out);
    }
  }
}

/// Where rows of a sparse matrix with `total` values begin: 0, then one random cut in each cell of
/// total / rows, then total.
int64_t row_start(const BufferRandom& random, uint64_t index, uint64_t rows, int64_t total) {
  if (index == 0 || index == rows) return index == 0 ? 0 : total;
  using Wide = unsigned __int128;
  const Wide place = (Wide{index - 1} << 32) + (random.bits(index) >> 32);
  return static_cast<int64_t>(place * static_cast<Wide>(total) / rows >> 32);
}

void fill_row_starts(const BufferSpec& buffer, uint64_t seed, std::byte* out) {
  const BufferRandom random(seed, buffer.name);
  const uint32_t step = element_bytes(buffer.type);
  for (uint64_t i = 0; i < buffer.count; ++i, out += step)
    store_checked(buffer, Number::of(row_start(random, i, buffer.count - 1, buffer.init.a.integer)), i, out);
}

}  // namespace

void fill_buffer(const BufferSpec& buffer, uint64_t seed, std::span<std::byte> out) {
  if (out.size() != buffer.bytes()) {
    raise_input_error(buffer.where, fmt::format("{} '{}' has {} bytes, its storage {}", buffer.kind(),
                                                buffer.name, buffer.bytes(), out.size()));
  }
  const uint32_t step = element_bytes(buffer.type);
  switch (buffer.init.kind) {
    case InitSpec::Kind::kZeros:
      return;  // the storage is zero already; writing would make its pages real
    case InitSpec::Kind::kFill:
      for (uint64_t i = 0; i < buffer.count; ++i)
        store_checked(buffer, buffer.init.a, i, out.data() + i * step);
      return;
    case InitSpec::Kind::kIota:
      for (uint64_t i = 0; i < buffer.count; ++i)
        store_checked(buffer, iota_value(buffer.init, i), i, out.data() + i * step);
      return;
    case InitSpec::Kind::kArray:
      for (uint64_t i = 0; i < buffer.count; ++i)
        store_checked(buffer, buffer.init.values[i], i, out.data() + i * step);
      return;
    case InitSpec::Kind::kUniform:
    case InitSpec::Kind::kNormal:
    case InitSpec::Kind::kRandint:
      return fill_random(buffer, seed, out.data());
    case InitSpec::Kind::kRowStarts:
      return fill_row_starts(buffer, seed, out.data());
    case InitSpec::Kind::kNpy:
      return read_file(buffer, read_npy_header(buffer.init.file).data_offset, out);
    case InitSpec::Kind::kBin:
      return read_file(buffer, 0, out);
    case InitSpec::Kind::kBytes:
      std::ranges::copy_n(buffer.init.bytes.begin(),
                          static_cast<ptrdiff_t>(std::min(buffer.init.bytes.size(), out.size())),
                          out.begin());
      return;
  }
}

}  // namespace gpusim::core
