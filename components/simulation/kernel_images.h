// The kernels of a program in machine form: each is lowered once for the registers and stack that a launch
// gives it, and has its place behind all data, where the instruction cache reads it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "components/checker/checker.h"
#include "components/simulation/device_contents.h"
#include "components/simulation/simulation_options.h"
#include "isa/exec/micro_op.h"
#include "isa/lowering/lowering.h"
#include "isa/ptx/module.h"

namespace gpusim::comp {

class KernelImages {
 public:
  /// `checker`: of a run with --check, else null; sees every image before it runs.
  KernelImages(const SimulationOptions& options, const isa::Module& module, const DeviceContents& contents,
               Checker* checker)
      : options_(options), module_(module), contents_(contents), checker_(checker) {}

  struct LoweredKernel {
    std::string name;
    uint32_t registers, registers_taken, stack;  ///< as the launch gives them
    std::unique_ptr<isa::KernelImage> image;
    uint64_t code_address;  ///< timing only
  };
  /// The kernel that the launch names; the only one if it names none. Throws core::InputError.
  const LoweredKernel& of(const core::LaunchSpec& spec);
  /// Constant variables that the images made so far read, and the kernel that does.
  [[nodiscard]] const std::vector<std::pair<const isa::Variable*, std::string>>& constants_read() const {
    return constants_read_;
  }

 private:
  [[nodiscard]] const isa::Function& entry_of(const core::LaunchSpec& spec) const;
  [[nodiscard]] std::unique_ptr<isa::KernelImage> lower(const isa::Function& entry,
                                                        const core::LaunchSpec& spec);
  /// Behind all data and the kernels so far.
  [[nodiscard]] uint64_t next_code_address() const;

  const SimulationOptions& options_;
  const isa::Module& module_;
  const DeviceContents& contents_;
  Checker* checker_;
  std::vector<std::unique_ptr<LoweredKernel>> kernels_;
  std::vector<std::pair<const isa::Variable*, std::string>> constants_read_;
};

/// The kernel as the machine's compiler would make it, for `registers` and `stack` bytes per thread (0: what
/// it needs); or why it cannot be.
[[nodiscard]] std::variant<isa::KernelImage, isa::Diagnostics> lower_for_machine(
    const core::MachineConfig& machine, isa::LoweringLevel level, const isa::Module& module,
    const isa::Function& entry, uint32_t registers, uint32_t stack,
    std::function<uint64_t(const isa::Variable&)> address_of, uint32_t alloca_bytes = 0,
    uint32_t registers_taken = 0);
/// Where the code of the first kernel lies, behind all data; and of the one after `kernel`.
inline constexpr uint64_t kFirstCodeAddress = uint64_t{1} << 41;
[[nodiscard]] uint64_t code_address_behind(const core::MachineConfig& machine,
                                           const KernelImages::LoweredKernel& kernel);

}  // namespace gpusim::comp
