// What a launch description can be asked.
#include <fmt/format.h>

#include <algorithm>

#include "simcore/launch/launch.h"

namespace gpusim::core {

const BufferSpec* LaunchDescription::find_buffer(std::string_view name) const {
  const auto found = std::ranges::find(buffers, name, &BufferSpec::name);
  return found == buffers.end() ? nullptr : &*found;
}

uint32_t LaunchDescription::request_variable(const std::string& variable_name, const Where& where,
                                             const std::string& requested_by) {
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].name == variable_name && buffers[i].variable) return i;
  BufferSpec spec;
  spec.name = variable_name;
  spec.where = where;
  spec.variable.emplace();
  spec.variable->requested_by = requested_by;
  buffers.push_back(std::move(spec));
  return static_cast<uint32_t>(buffers.size() - 1);
}

const Number* LaunchDescription::find_param(std::string_view name) const {
  for (const auto& [param, value] : params) {
    if (param == name) return &value;
  }
  return nullptr;
}

bool LaunchDescription::has_late() const {
  const auto waits = [](const auto& step) { return !step.late.empty(); };
  return std::ranges::any_of(launches, waits) || std::ranges::any_of(copies, waits) ||
         std::ranges::any_of(memsets, waits);
}

const BufferSpec& LaunchDescription::first_content(uint32_t buffer) const {
  const BufferSpec& spec = buffers[buffer];
  if (spec.init.given) return spec;
  const auto first = std::ranges::find_if(copies, [&](const CopySpec& c) {
    return c.buffer == buffer && c.source && c.source->bytes() == spec.bytes() &&
           c.source->init.addresses.empty();
  });
  return first == copies.end() ? spec : *first->source;
}

std::vector<std::string> LaunchDescription::data_files() const {
  std::vector<std::string> files;
  for (const BufferSpec& b : buffers) files.push_back(b.init.file);
  for (const CopySpec& c : copies)
    if (c.source) files.push_back(c.source->init.file);
  return files;
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
