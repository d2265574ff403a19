// Programs on the device: PTX texts, their variables, their kernels.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "isa/exec/device_services.h"
#include "isa/ptx/diagnostics.h"
#include "isa/ptx/linker.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"
#include "runtime/device/children.h"
#include "runtime/device/device.h"
#include "simcore/text/input_error.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::runtime {

namespace {

std::string errors_of(const isa::Diagnostics& diagnostics, const std::vector<std::string>& files) {
  std::string text;
  for (const isa::Diagnostic& d : diagnostics)
    if (d.severity == isa::Diagnostic::Severity::kError)
      text += (text.empty() ? "" : "\n") + isa::format_diagnostic(files[d.loc.file], d);
  return text;
}

/// Functions of device code that no PTX of the program defines, because they come with the CUDA toolkit's
/// library for relocatable device code: where the program calls one, this is linked.
struct LibraryFunction {
  std::string_view name, ptx;
};
constexpr LibraryFunction kLibrary[] = {
    // The handle of a condition is the address of its value (runtime/cudart/graph_condition.h).
    {"cudaGraphSetConditional", R"(.version 6.0
.target sm_30
.address_size 64
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
  .reg .b32 %r;
  .reg .b64 %rd;
  ld.param.u64 %rd, [handle];
  ld.param.u32 %r, [value];
  st.global.u32 [%rd], %r;
  ret;
}
)"},
    // Grids that wait for all their blocks, as device code of CUDA 9 and 10 and of numba has them: the
    // barrier is
    // that of cooperative_groups.h, whose place %envreg1 and %envreg2 give (cooperative_groups/details).
    {"cudaCGGetIntrinsicHandle", R"(.version 6.0
.target sm_30
.address_size 64
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .pred %other;
  .reg .b32 %low, %high, %scope;
  .reg .b64 %handle;
  mov.u32 %high, %envreg1;
  mov.u32 %low, %envreg2;
  mov.b64 %handle, {%low, %high};
  ld.param.u32 %scope, [scope];
  setp.ne.u32 %other, %scope, 1;
  @%other mov.u64 %handle, 0;
  st.param.b64 [handle], %handle;
  ret;
}
)"},
    {"cudaCGSynchronize", R"(.version 6.0
.target sm_30
.address_size 64
.visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p;
  .reg .b32 %error, %x, %y, %z, %blocks, %step, %before, %now;
  .reg .b64 %barrier;
  ld.param.u64 %barrier, [handle];
  mov.u32 %error, 1;
  setp.eq.u64 %p, %barrier, 0;
  @%p bra done;
  bar.sync 0;
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  mov.u32 %z, %tid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.ne.u32 %p, %x, 0;
  @%p bra join;
  mov.u32 %x, %nctaid.x;
  mov.u32 %y, %nctaid.y;
  mov.u32 %z, %nctaid.z;
  mul.lo.u32 %blocks, %x, %y;
  mul.lo.u32 %blocks, %blocks, %z;
  mov.u32 %x, %ctaid.x;
  mov.u32 %y, %ctaid.y;
  mov.u32 %z, %ctaid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.eq.u32 %p, %x, 0;
  sub.u32 %step, 0x80000001, %blocks;
  @!%p mov.u32 %step, 1;
  membar.gl;
  atom.global.add.u32 %before, [%barrier+4], %step;
wait:
  ld.volatile.global.u32 %now, [%barrier+4];
  xor.b32 %now, %now, %before;
  setp.ge.s32 %p, %now, 0;
  @%p bra wait;
  membar.gl;
join:
  bar.sync 0;
  mov.u32 %error, 0;
done:
  st.param.b32 [error], %error;
  ret;
}
)"}};

}  // namespace

void Module::check(const Text& text) {
  const isa::ParseResult parsed = isa::parse_module(text.ptx);
  for (const isa::Diagnostics& found : {parsed.diagnostics, isa::verify_module(parsed.module)})
    if (const std::string errors = errors_of(found, {text.name}); !errors.empty())
      throw Failure(Code::kInvalidPtx, errors);
}

void Module::link() {
  if (linked_) return;
  if (!failure_.empty()) throw Failure(Code::kInvalidPtx, failure_);
  std::vector<isa::Module> modules;
  std::vector<std::string> names;
  const auto check = [this](const isa::Diagnostics& diagnostics, const std::vector<std::string>& files) {
    failure_ = errors_of(diagnostics, files);
    if (!failure_.empty()) throw Failure(Code::kInvalidPtx, failure_);
  };
  for (Text& text : texts_) {
    isa::ParseResult parsed = isa::parse_module(text.ptx);
    check(parsed.diagnostics, {text.name});
    check(isa::verify_module(parsed.module), {text.name});
    modules.push_back(std::move(parsed.module));
    names.push_back(text.name);
  }
  if (made_ == Made::kWhole) define_unresolved_variables(modules.front(), names.front());
  for (const LibraryFunction& function : kLibrary) {
    const auto called = [&function](const isa::Module& m) {
      const isa::Function* f = m.find_function(function.name);
      return f != nullptr && f->is_declaration;
    };
    if (std::ranges::none_of(modules, called)) continue;
    modules.push_back(std::move(isa::parse_module(function.ptx).module));
    names.emplace_back("device library");
  }
  isa::LinkResult linked = isa::link_modules(std::move(modules), names);
  check(linked.diagnostics, names);
  if (made_ != Made::kByToolkit)
    check(isa::unresolved_functions(
              linked.module, made_ == Made::kWhole ? isa::ProgramKind::kWhole : isa::ProgramKind::kLinked,
              isa::is_of_system),
          names);
  module_ = std::move(linked.module);
  linked_ = true;
}

void Module::load() {
  if (loaded_) return;
  link();
  if (!failure_.empty()) throw Failure(Code::kInvalidPtx, failure_);
  if (const auto most = device_.machine().gpu.compute_capability; module_.target_sm > most)
    device_.warn(
        fmt::format("{}: note: the PTX is for sm_{}, the machine has compute capability {}.{}: values "
                    "follow the PTX, timing follows the machine",
                    texts_.front().name, module_.target_sm, most / 10, most % 10));
  try {
    place_variables();
  } catch (const core::InputError& error) {
    failure_ = error.what();
    throw Failure(Code::kMemoryAllocation, failure_);
  }
  loaded_ = true;
}

void Module::define_unresolved_variables(isa::Module& module, const std::string& name) const {
  std::set<std::string, std::less<>> defined;  // elsewhere in the text, too: what it declares first
  for (const isa::Variable& v : module.variables)
    if (v.linkage != isa::Linkage::kExtern) defined.insert(v.name);
  for (isa::Variable& v : module.variables) {
    const bool placed = v.space == isa::Space::kGlobal || v.space == isa::Space::kConst;
    if (v.linkage != isa::Linkage::kExtern || !placed || v.bytes == 0 || isa::is_texture(v)) continue;
    if (!defined.insert(v.name).second) continue;
    device_.warn(fmt::format(
        "{}: warning: variable '{}' is declared .extern and defined nowhere: defined here", name, v.name));
    v.linkage = isa::Linkage::kVisible;
  }
}

void Module::place_variables() {
  const auto place = [this](const std::vector<isa::Variable>& variables) {
    for (const isa::Variable& v : variables) {
      if (isa::is_texture(v)) textures_[&v] = device_.reserve_texture();
      if (isa::is_texture(v) || (v.space != isa::Space::kGlobal && v.space != isa::Space::kConst)) continue;
      if (v.linkage == isa::Linkage::kExtern) {
        failure_ = fmt::format(
            "error: variable '{}' is declared .extern and defined in no file of the program", v.name);
        throw Failure(Code::kInvalidPtx, failure_);
      }
      variables_.emplace_back(&v, device_.memory_.allocate(v.bytes, std::max<uint64_t>(v.align, 1), v.name));
    }
  };
  place(module_.variables);
  const size_t of_module = variables_.size();
  for (const isa::Function& f : module_.functions) place(f.variables);
  comp::write_initial_values(device_.memory_, module_, variables_, of_module);
  for (const auto& [variable, address] : variables_) {
    if (variable->is_managed) device_.host_memory_[address] = {PointerKind::Memory::kManaged, 0};
    device_.watch_memory(address,
                         variable->space == isa::Space::kConst ? comp::GlobalObject::Kind::kConstant
                                                               : comp::GlobalObject::Kind::kVariable,
                         variable->is_managed, isa::type_name(variable->type));
  }
}

uint64_t Module::address_of(const isa::Variable& variable) const {
  if (const auto texture = textures_.find(&variable); texture != textures_.end()) return texture->second;
  const auto at = std::ranges::find(variables_, &variable, &comp::PlacedModuleVariable::first);
  return at == variables_.end() ? 0 : at->second;
}

std::optional<Module::Global> Module::global(const std::string& name) {
  load();
  const auto at = std::ranges::find_if(variables_, [&name](const auto& placed) {
    // The linker sets names apart that several files use for themselves.
    return placed.first->name == name || placed.first->name.starts_with(name + "@@");
  });
  if (at == variables_.end()) return std::nullopt;
  return Global{at->second, at->first->bytes, at->first->is_managed};
}

uint64_t Module::constant_bytes() {
  load();
  uint64_t bytes = 0;
  for (const auto& [variable, address] : variables_)
    if (variable->space == isa::Space::kConst) bytes += variable->bytes;
  return bytes;
}

std::optional<uint64_t> Module::texture_reference(const std::string& name) {
  load();
  const auto at = std::ranges::find_if(textures_, [&name](const auto& t) { return t.first->name == name; });
  if (at == textures_.end()) return std::nullopt;
  return at->second;
}

bool Kernel::exists() {
  const isa::Function* entry = module_.ptx().find_function(name_);
  return entry != nullptr && entry->is_entry;
}

const isa::KernelImage& Kernel::image() {
  if (lowered_ == nullptr) return lower(0);
  const isa::KernelImage& present = *lowered_->image;
  // cudaLimitStackSize may have changed since.
  const bool has_stack = present.stack_bytes != 0 || present.alloca_bytes != 0;
  if (!has_stack || stack_ == device_.limit(Device::Limit::kStack) || device_.children_->machine_runs)
    return present;
  retire_image();
  return lower(0);
}

void Kernel::retire_image() {
  if (!device_.children_->machine_runs) device_.flush();
  // What runs keeps what it was prepared with.
  device_.retired_.push_back(std::move(lowered_));
  device_.retired_launches_.push_back(std::move(reusable_));
  reusable_ = {};
}

const isa::KernelImage& Kernel::image_for(uint64_t threads) {
  const isa::KernelImage& present = image();
  const auto& sm = device_.machine().sm;
  const uint64_t warps = (threads + isa::kWarpSize - 1) / isa::kWarpSize, whole = warps * isa::kWarpSize;
  constexpr uint64_t kUnit = 8, kFewest = 16;  // registers of a thread are allocated in eights
  const uint64_t most = whole == 0 ? 0 : static_cast<uint64_t>(sm.registers) / whole / kUnit * kUnit;
  const uint64_t needed = (present.registers + kUnit - 1) / kUnit * kUnit;
  if (needed <= most || most < kFewest || threads > static_cast<uint64_t>(sm.max_threads_per_block))
    return present;
  const uint64_t before = present.registers;
  retire_image();
  const isa::KernelImage& smaller = lower(static_cast<uint32_t>(most));
  device_.warn(
      fmt::format("note: kernel '{}': {} registers are estimated, with which no block of {} threads runs; {} "
                  "are used",
                  core::demangled(name_), before, threads, smaller.registers));
  return smaller;
}

const isa::KernelImage& Kernel::lower(uint32_t registers) {
  stack_ = device_.limit(Device::Limit::kStack);
  const isa::Module& ptx = module_.ptx();
  const isa::Function* entry = ptx.find_function(name_);
  if (entry == nullptr || !entry->is_entry)
    throw Failure(Code::kInvalidDeviceFunction, fmt::format("the program has no PTX of kernel '{}'", name_));
  auto lowered = comp::lower_for_machine(
      device_.machine(), device_.simulation_.lowering, ptx, *entry, registers,
      static_cast<uint32_t>(std::max<uint64_t>(stack_, isa::kDefaultStackBytes)),
      [this](const isa::Variable& v) { return module_.address_of(v); },
      static_cast<uint32_t>(std::max<uint64_t>(stack_, 1)));
  if (const auto* errors = std::get_if<isa::Diagnostics>(&lowered))
    throw Failure(Code::kInvalidPtx, errors_of(*errors, ptx.files));
  lowered_ = std::make_unique<comp::KernelImages::LoweredKernel>();
  lowered_->name = name_;
  lowered_->image = std::make_unique<isa::KernelImage>(std::move(std::get<isa::KernelImage>(lowered)));
  if (lowered_->image->files.empty()) lowered_->image->files = ptx.files;
  if (device_.checker_ != nullptr) device_.checker_->observe(*lowered_->image);
  lowered_->code_address = device_.next_code_;
  device_.next_code_ = comp::code_address_behind(device_.machine(), *lowered_);
  return *lowered_->image;
}

Module& Device::add_module(std::vector<Module::Text> texts, Module::Made made) {
  return modules_.emplace_back(*this, std::move(texts), made);
}

void Device::remove_module(Module& module) {
  if (!finished_) flush();
  services_.flush();
  for (const auto& [variable, address] : module.variables_) {
    forget_memory(address);
    host_memory_.erase(address);
    memory_.release(address);
  }
  for (const auto& [variable, handle] : module.textures_)
    if (!finished_) release_texture(handle);
  for (const auto& [key, kernel] : kernels_)
    if (key.first == &module) retire(*kernel);
  std::erase_if(kernels_, [&module](const auto& entry) { return entry.first.first == &module; });
  modules_.remove_if([&module](const Module& m) { return &m == &module; });
}

bool Device::is_module(const Module* module) const {
  return std::ranges::any_of(modules_, [module](const Module& m) { return &m == module; });
}

Kernel* Device::kernel_at(const void* address) const {
  const auto at =
      std::ranges::find_if(kernels_, [address](const auto& entry) { return entry.second.get() == address; });
  return at == kernels_.end() ? nullptr : at->second.get();
}

Kernel& Device::kernel(Module& module, const std::string& name) {
  auto& kernel = kernels_[{&module, name}];
  if (kernel == nullptr) kernel = std::make_unique<Kernel>(*this, module, name);
  return *kernel;
}

}  // namespace gpusim::runtime
