// What lies in the device memory of a run: buffers and textures of the launch file, variables of the program,
// and the addresses that they hold of each other. Filled before the first launch.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "components/simulation/simulation_options.h"
#include "isa/exec/texture.h"
#include "isa/ptx/module.h"
#include "simcore/memory/device_memory.h"

namespace gpusim::comp {

/// A .global or .const variable of a module or of one of its functions, and its device address.
using PlacedModuleVariable = std::pair<const isa::Variable*, uint64_t>;
/// Writes the initial values that the PTX gives. Symbols in them are those of the first `of_module`
/// variables, and functions. Throws core::InputError.
void write_initial_values(const core::DeviceMemory& memory, const isa::Module& module,
                          std::span<const PlacedModuleVariable> variables, size_t of_module);

class DeviceContents {
 public:
  /// Binds the launch description's variables to the module's. Both must outlive this object. Throws
  /// core::InputError.
  DeviceContents(SimulationOptions& options, const isa::Module& module);
  DeviceContents(const DeviceContents&) = delete;
  DeviceContents& operator=(const DeviceContents&) = delete;

  [[nodiscard]] core::DeviceMemory& memory() { return memory_; }
  [[nodiscard]] const core::DeviceMemory& memory() const { return memory_; }
  /// As the launch file lists them.
  [[nodiscard]] const std::vector<isa::Texture>& textures() const { return textures_; }
  /// Device address of a buffer or variable of the launch file.
  [[nodiscard]] uint64_t buffer_address(size_t index) const { return buffer_address_.at(index); }
  [[nodiscard]] std::span<const std::byte> buffer(size_t index) const;
  [[nodiscard]] std::span<std::byte> bytes_of(size_t index);
  /// The two buffers change their names: hosts swap pointers.
  void swap_names(size_t a, size_t b) { std::swap(buffer_address_.at(a), buffer_address_.at(b)); }
  /// All buffers have their first names again.
  void restore_names() { buffer_address_ = first_address_; }
  /// Data that a copy brings; `out` is as long as they are. Throws core::InputError.
  void fill(const core::BufferSpec& source, std::span<std::byte> out) const;
  /// Device address of a variable of the module or of one of its functions, handle of a texture reference; 0
  /// for any other.
  [[nodiscard]] uint64_t address_of(const isa::Variable& variable) const;
  /// Calls fn(variable, address) for each variable that has one.
  template <class Fn>
  void for_each_variable(Fn fn) const {
    for (const auto& [variable, address] : variable_address_) fn(*variable, address);
  }
  /// A warning if the constant variable, which the kernel reads, has been given no value.
  void warn_if_unset(const isa::Variable& constant, const std::string& kernel) const;

 private:
  /// Device memory; what is wrong with it is said of `place`, where it is declared.
  uint64_t allocate(uint64_t bytes, uint64_t align, const std::string& name, const std::string& place);
  void place_buffers();
  /// Buffers and variables whose addresses the launch file gives.
  void place_fixed();
  // device_variables.cpp
  void bind_variables();
  void place_variables();
  void place_variables(const std::vector<isa::Variable>& variables);
  /// Values that the launch file gives.
  void set_variables();
  /// Addresses in the initial values of buffers and variables, now that all have theirs.
  void write_addresses();
  /// Those of one initial value, which lies at `data`.
  void write_addresses(const core::BufferSpec& content, std::byte* data) const;
  // device_textures.cpp
  void place_textures();
  /// Each texture is a reference of the PTX, or some launch passes it.
  void check_textures() const;

  SimulationOptions& options_;
  const isa::Module& module_;
  core::DeviceMemory memory_;
  std::vector<uint64_t> buffer_address_;                ///< of the launch's buffers and variables
  std::vector<uint64_t> first_address_;                 ///< before any has been swapped
  std::vector<PlacedModuleVariable> variable_address_;  ///< module's and functions'
  std::vector<isa::Texture> textures_;
};

}  // namespace gpusim::comp
