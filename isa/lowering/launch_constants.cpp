#include "isa/lowering/launch_constants.h"

#include <algorithm>
#include <cstring>

#include "isa/ptx/module.h"

namespace gpusim::isa {

namespace {

void fill(AlignedBytes& rows, const LaunchConstant& c, const std::byte (&value)[8]) {
  const size_t bytes = c.wide ? 8 : 4;
  for (size_t l = 0; l < kWarpSize; ++l) std::memcpy(rows.data() + c.row + l * bytes, value, bytes);
}

}  // namespace

AlignedBytes bind_literals(const KernelImage& image, std::span<const std::byte> params,
                           const uint32_t (&block)[3], const uint32_t (&grid)[3]) {
  AlignedBytes rows = image.literals;
  for (const LaunchConstant& c : image.launch_constants) {
    if (c.source == LaunchConstant::Source::kConstantMemory) continue;
    const size_t bytes = c.wide ? 8 : 4;
    std::byte value[8] = {};
    if (c.source == LaunchConstant::Source::kParameter) {
      if (c.from < params.size())
        std::memcpy(value, params.data() + c.from, std::min(bytes, params.size() - c.from));
    } else {
      const auto first_of_grid = static_cast<uint32_t>(SpecialRegister::kNctaidX);
      const bool of_grid = c.from >= first_of_grid;
      const uint64_t axis =
          c.from - (of_grid ? first_of_grid : static_cast<uint32_t>(SpecialRegister::kNtidX));
      std::memcpy(value, of_grid ? &grid[axis] : &block[axis], sizeof(uint32_t));
    }
    fill(rows, c, value);
  }
  return rows;
}

void bind_constant_memory(const KernelImage& image, const GlobalMemory& memory, AlignedBytes& rows) {
  for (const LaunchConstant& c : image.launch_constants) {
    if (c.source != LaunchConstant::Source::kConstantMemory) continue;
    const MemoryWindow window = memory.window(c.from);
    const size_t bytes = c.wide ? 8 : 4;
    std::byte value[8] = {};
    if (window.data != nullptr && c.from + bytes <= window.end)
      std::memcpy(value, window.data + (c.from - window.begin), bytes);
    fill(rows, c, value);
  }
}

}  // namespace gpusim::isa
