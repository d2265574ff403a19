#include "components/simulation/kernel_images.h"

#include <fmt/format.h>

#include <variant>

#include "components/simulation/program.h"
#include "isa/lowering/lowering.h"
#include "isa/ptx/diagnostics.h"
#include "simcore/text/input_error.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::comp {

const isa::Function& KernelImages::entry_of(const core::LaunchSpec& spec) const {
  const std::vector<const isa::Function*> entries = module_.entries();
  if (spec.kernel.empty()) {
    if (entries.size() > 1)
      core::raise_input_error(
          spec.kernel_where,
          fmt::format("{} has {} kernels: name the one to launch", options_.ptx_name, entries.size()),
          fmt::format("kernel = \"{}\"", entries.front()->name));
    return *entries.front();
  }
  const isa::Function* entry = module_.find_function(spec.kernel);
  if (entry == nullptr || !entry->is_entry) {
    std::vector<const isa::Function*> meant;
    for (const isa::Function* f : entries)
      if (core::means_kernel(spec.kernel, f->name)) meant.push_back(f);
    if (meant.size() == 1) return *meant.front();
    if (meant.size() > 1)
      core::raise_input_error(
          spec.kernel_where,
          fmt::format("'{}' means {} kernels of {}", spec.kernel, meant.size(), options_.ptx_name),
          fmt::format("such as '{}' or '{}'", core::demangled(meant[0]->name),
                      core::demangled(meant[1]->name)));
    isa::NearestName nearest(spec.kernel);
    std::vector<std::string> brief;
    for (const isa::Function* f : entries) brief.push_back(core::short_kernel_name(f->name));
    for (const std::string& name : brief) nearest.consider(name);
    for (const isa::Function* f : entries) nearest.consider(f->name);
    core::raise_input_error(spec.kernel_where,
                            fmt::format("{} has no kernel '{}'", options_.ptx_name, spec.kernel),
                            nearest.hint());
  }
  return *entry;
}

const KernelImages::LoweredKernel& KernelImages::of(const core::LaunchSpec& spec) {
  const isa::Function& entry = entry_of(spec);
  for (const auto& k : kernels_)
    if (k->name == entry.name && k->registers == spec.registers &&
        k->registers_taken == spec.registers_taken && k->stack == spec.stack)
      return *k;
  std::unique_ptr<isa::KernelImage> image = lower(entry, spec);
  if (checker_ != nullptr) checker_->observe(*image);
  const uint64_t address = next_code_address();
  kernels_.push_back(std::make_unique<LoweredKernel>(LoweredKernel{
      entry.name, spec.registers, spec.registers_taken, spec.stack, std::move(image), address}));
  return *kernels_.back();
}

std::variant<isa::KernelImage, isa::Diagnostics> lower_for_machine(
    const core::MachineConfig& m, isa::LoweringLevel level, const isa::Module& module,
    const isa::Function& entry, uint32_t registers, uint32_t stack,
    std::function<uint64_t(const isa::Variable&)> address_of, uint32_t alloca_bytes,
    uint32_t registers_taken) {
  isa::LoweringOptions lowering;
  lowering.level = level;
  isa::set_machine(lowering, m);
  lowering.register_limit = registers;
  lowering.registers_taken = registers_taken;
  if (stack != 0) lowering.stack_bytes = stack;
  lowering.alloca_bytes = alloca_bytes;
  lowering.address_of = std::move(address_of);
  auto lowered = isa::lower_kernel(module, entry, lowering);
  if (auto* image = std::get_if<isa::KernelImage>(&lowered); image != nullptr && registers != 0)
    image->registers = registers;
  return lowered;
}

uint64_t code_address_behind(const core::MachineConfig& machine, const KernelImages::LoweredKernel& kernel) {
  constexpr uint64_t kAlign = 4096;
  const uint64_t bytes = kernel.image->ops.size() * machine.instruction.bytes;
  return kernel.code_address + (bytes + kAlign - 1) / kAlign * kAlign;
}

std::unique_ptr<isa::KernelImage> KernelImages::lower(const isa::Function& entry,
                                                      const core::LaunchSpec& spec) {
  auto lowered = lower_for_machine(
      options_.machine, options_.lowering, module_, entry, spec.registers, spec.stack,
      [this, &entry](const isa::Variable& v) {
        if (v.space == isa::Space::kConst) constants_read_.emplace_back(&v, entry.name);
        return contents_.address_of(v);
      },
      0, spec.registers_taken);
  if (auto* errors = std::get_if<isa::Diagnostics>(&lowered))
    report_diagnostics(*errors, module_.files, options_);
  auto image = std::make_unique<isa::KernelImage>(std::move(std::get<isa::KernelImage>(lowered)));
  if (spec.registers_taken != 0) image->registers = spec.registers_taken;
  return image;
}

uint64_t KernelImages::next_code_address() const {
  return kernels_.empty() ? kFirstCodeAddress : code_address_behind(options_.machine, *kernels_.back());
}

}  // namespace gpusim::comp
