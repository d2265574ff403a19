// What kernels come from: modules of PTX, and the kernels in them.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "components/simulation/kernel_images.h"
#include "components/simulation/prepared_launch.h"
#include "isa/ptx/module.h"

namespace gpusim::runtime {

class Device;

/// A program of one or several PTX texts, linked. Loaded when something of it is first needed.
class Module {
 public:
  struct Text {
    std::string name, ptx;
  };
  /// What has made a program of the texts. The toolkit's linker has found all functions that are used, also
  /// in machine code, whose kernels are refused by themselves.
  enum class Made : uint8_t { kWhole, kByLinker, kByToolkit };
  Module(Device& device, std::vector<Text> texts, Made made)
      : device_(device), texts_(std::move(texts)), made_(made) {}
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Throws Failure (kInvalidPtx) with what is wrong with a text by itself, whatever others define.
  static void check(const Text& text);
  /// Throws Failure (kInvalidPtx) with everything that is wrong with the texts, and places nothing.
  void link();
  /// As link(), and its variables have their places.
  void load();
  [[nodiscard]] const isa::Module& ptx() {
    load();
    return module_;
  }
  struct Global {
    uint64_t address = 0, bytes = 0;
    bool managed = false;
  };
  /// A .global or .const variable; nothing if there is none of that name.
  [[nodiscard]] std::optional<Global> global(const std::string& name);
  /// Of a texture reference: its handle.
  [[nodiscard]] uint64_t address_of(const isa::Variable& variable) const;
  /// Of its constant variables.
  [[nodiscard]] uint64_t constant_bytes();
  /// The handle of a texture reference; nothing if there is none of that name.
  [[nodiscard]] std::optional<uint64_t> texture_reference(const std::string& name);

 private:
  friend class Device;
  friend class Kernel;
  /// A text that is a program by itself defines what it declares .extern, as ptxas does: OpenCL's pocl gets
  /// the constant memory of its kernels so.
  void define_unresolved_variables(isa::Module& module, const std::string& name) const;
  void place_variables();

  Device& device_;
  std::vector<Text> texts_;
  Made made_;
  bool linked_ = false, loaded_ = false;
  bool recorded_ = false;  ///< its texts are among those that the recording will hold
  std::string failure_;    ///< of a load that failed: it fails again
  isa::Module module_;
  std::vector<comp::PlacedModuleVariable> variables_;
  std::map<const isa::Variable*, uint64_t> textures_;  ///< handles of texture references
};

/// An entry function. The image is made at the first launch or question about it.
class Kernel {
 public:
  Kernel(Device& device, Module& module, std::string name)
      : device_(device), module_(module), name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Module& module() const { return module_; }
  /// Throws Failure: kInvalidDeviceFunction if the module has no such kernel, kInvalidPtx if it cannot be
  /// compiled.
  const isa::KernelImage& image();
  /// The same for a block of so many threads. Where the registers that we estimate let no such block run, the
  /// kernel is compiled for fewer, and spills: the compiler of a GPU needs fewer than our estimate.
  const isa::KernelImage& image_for(uint64_t threads);
  [[nodiscard]] bool exists();
  [[nodiscard]] bool is_compiled() const { return lowered_ != nullptr; }
  /// As cudaFuncSetAttribute sets them.
  std::optional<uint32_t> max_dynamic_shared;  ///< nothing: what a block may have without asking
  int carveout = -1;
  bool non_portable_cluster = false;         ///< clusters of more blocks than every machine holds
  std::array<uint32_t, 3> cluster{0, 0, 0};  ///< blocks of a cluster where the launch does not say; 0: one
  int cluster_policy = 0;

 private:
  friend class Device;
  const isa::KernelImage& lower(uint32_t registers);
  /// Before another image is made.
  void retire_image();

  Device& device_;
  Module& module_;
  std::string name_;
  std::unique_ptr<comp::KernelImages::LoweredKernel> lowered_;
  comp::PreparedLaunch reusable_;  ///< of launches for values, whose tables are made once
  core::LaunchSpec reusable_spec_;
  uint64_t launches_ = 0;
  const std::string* launched_name_ = nullptr;  ///< its name in Device::names_
  uint64_t stack_ = 0;                          ///< limit for which the image was made
};

}  // namespace gpusim::runtime
