#include "components/simulation/device_contents.h"

#include <fmt/format.h>

#include <algorithm>

#include "simcore/memory/host_memory.h"
#include "simcore/text/input_error.h"

namespace gpusim::comp {

DeviceContents::DeviceContents(SimulationOptions& options, const isa::Module& module)
    : options_(options), module_(module), memory_(static_cast<uint64_t>(options.machine.memory_bytes)) {
  bind_variables();
  place_buffers();
  place_textures();
  place_variables();
  set_variables();
  write_addresses();
  first_address_ = buffer_address_;
}

void DeviceContents::place_buffers() {
  core::check_memory(options_.launch, static_cast<uint64_t>(options_.machine.memory_bytes));
  core::check_host_memory(options_.launch, core::available_host_memory());
  place_fixed();
  for (const core::BufferSpec& b : options_.launch.buffers) {
    buffer_address_.push_back(b.variable ? 0
                              : b.address
                                  ? *b.address
                                  : allocate(b.bytes(), core::DeviceMemory::kAlign, b.name, b.where.text()));
    if (b.variable || b.bytes() == 0) continue;
    const core::Allocation* a = memory_.find(buffer_address_.back());
    core::fill_buffer(b, options_.launch.seed, {a->data, a->bytes});
  }
}

void DeviceContents::place_fixed() {
  for (const core::BufferSpec& b : options_.launch.buffers) {
    if (!b.address || b.bytes() == 0) continue;
    bool placed = false;
    try {
      placed = memory_.allocate_at(*b.address, b.bytes(), b.name);
    } catch (const core::InputError& error) {
      throw core::InputError(fmt::format("{}: {}", b.address_where.text(), error.what()));
    }
    if (placed) continue;
    const core::Allocation* other = memory_.nearest(*b.address);
    core::raise_input_error(
        b.address_where, fmt::format("'{}' ({} bytes) cannot lie at {:#x}", b.name, b.bytes(), *b.address),
        other == nullptr
            ? fmt::format("addresses of device memory go from {:#x} to 2^47", core::DeviceMemory::kBase)
            : fmt::format("'{}' lies at {:#x} to {:#x}", other->name, other->base, other->end()));
  }
}

uint64_t DeviceContents::allocate(uint64_t bytes, uint64_t align, const std::string& name,
                                  const std::string& place) {
  try {
    return memory_.allocate(bytes, align, name);
  } catch (const core::InputError& error) {
    throw core::InputError(fmt::format("{}: {}", place, error.what()));
  }
}

std::span<const std::byte> DeviceContents::buffer(size_t index) const {
  if (options_.launch.buffers[index].bytes() == 0) return {};
  const core::Allocation* a = memory_.find(buffer_address_[index]);
  return {a->data, a->bytes};
}

std::span<std::byte> DeviceContents::bytes_of(size_t index) {
  if (options_.launch.buffers[index].bytes() == 0) return {};
  const core::Allocation* a = memory_.find(buffer_address_[index]);
  return {a->data, a->bytes};
}

void DeviceContents::fill(const core::BufferSpec& source, std::span<std::byte> out) const {
  std::ranges::fill(out, std::byte{0});
  core::fill_buffer(source, options_.launch.seed, out);
  write_addresses(source, out.data());
}

uint64_t DeviceContents::address_of(const isa::Variable& variable) const {
  for (const auto& [placed, address] : variable_address_)
    if (placed == &variable) return address;
  return 0;
}

}  // namespace gpusim::comp
