// What a launch description can be asked.
#include <fmt/format.h>

#include <algorithm>

#include "simcore/launch/launch.h"

namespace gpusim::core {

const BufferSpec* LaunchDescription::find_buffer(std::string_view name) const {
  const auto found = std::ranges::find(buffers, name, &BufferSpec::name);
  return found == buffers.end() ? nullptr : &*found;
}

const Number* LaunchDescription::find_param(std::string_view name) const {
  for (const auto& [param, value] : params) {
    if (param == name) return &value;
  }
  return nullptr;
}

uint64_t LaunchDescription::total_buffer_bytes() const {
  uint64_t total = 0;
  for (const BufferSpec& buffer : buffers) total += buffer.bytes();
  return total;
}

void check_memory(const LaunchDescription& launch, uint64_t memory_bytes) {
  if (launch.total_buffer_bytes() <= memory_bytes) return;
  const auto largest = std::ranges::max_element(launch.buffers, {}, &BufferSpec::bytes);
  raise_input_error(largest->where,
                    fmt::format("the buffers need {} bytes, the machine has {} bytes of device memory",
                                launch.total_buffer_bytes(), memory_bytes),
                    fmt::format("the largest is '{}' with {} bytes", largest->name, largest->bytes()));
}

void check_host_memory(const LaunchDescription& launch, uint64_t available_bytes) {
  const auto filled = [](const BufferSpec& b) {
    return b.init.kind == InitSpec::Kind::kZeros ? uint64_t{0} : b.bytes();
  };
  uint64_t total = 0;
  for (const BufferSpec& buffer : launch.buffers) total += filled(buffer);
  if (total <= available_bytes) return;
  const auto largest = std::ranges::max_element(launch.buffers, {}, filled);
  raise_input_error(largest->where,
                    fmt::format("the buffers' initial values need {} bytes, this computer has {} bytes of "
                                "memory available",
                                total, available_bytes),
                    fmt::format("the largest is '{}' with {} bytes", largest->name, largest->bytes()));
}

}  // namespace gpusim::core
