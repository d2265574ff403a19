// Variables of the PTX: where they lie, what the PTX and the launch file put into them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "components/launch/declared_variables.h"
#include "components/simulation/device_contents.h"
#include "isa/exec/executor.h"

namespace gpusim::comp {

std::vector<core::DeclaredVariable> declared_variables(const isa::Module& module,
                                                       const std::vector<std::string>& files) {
  std::vector<core::DeclaredVariable> all;
  for (const isa::Variable& v : module.variables) {
    core::DeclaredVariable d;
    d.name = v.name;
    d.space = std::string(isa::space_name(v.space));
    d.type = std::string(isa::type_name(v.type));
    d.bytes = v.bytes;
    d.is_extern = v.linkage == isa::Linkage::kExtern;
    d.is_texture = isa::is_texture(v);
    d.init = v.init;
    d.where = {files[v.loc.file], v.loc.line, v.loc.column};
    all.push_back(std::move(d));
  }
  return all;
}

void DeviceContents::bind_variables() {
  const size_t known = options_.launch.warnings.size();
  core::bind_variables(options_.launch, declared_variables(module_, module_.files), options_.ptx_name);
  if (!options_.on_warning) return;
  for (size_t i = known; i < options_.launch.warnings.size(); ++i)
    options_.on_warning(options_.launch.warnings[i]);
}

void DeviceContents::place_variables(const std::vector<isa::Variable>& variables) {
  for (const isa::Variable& v : variables) {
    if (isa::is_texture(v) || (v.space != isa::Space::kGlobal && v.space != isa::Space::kConst)) continue;
    const std::string& file = v.loc.file == 0 ? options_.ptx_name : options_.linked[v.loc.file - 1].name;
    const std::string where = fmt::format("{}:{}:{}", file, v.loc.line, v.loc.column);
    if (v.linkage == isa::Linkage::kExtern)
      throw core::InputError(
          fmt::format("{}: error: variable '{}' is declared .extern and defined in no file of the program",
                      where, v.name));
    const auto listed = std::ranges::find_if(options_.launch.buffers, [&v](const core::BufferSpec& b) {
      return b.variable && b.address && b.name == v.name;
    });
    variable_address_.emplace_back(&v,
                                   listed != options_.launch.buffers.end()
                                       ? *listed->address
                                       : allocate(v.bytes, std::max<uint64_t>(v.align, 1), v.name, where));
  }
}

void DeviceContents::place_variables() {
  place_variables(module_.variables);
  const size_t of_module = variable_address_.size();
  for (const isa::Function& f : module_.functions) place_variables(f.variables);
  write_initial_values(memory_, module_, variable_address_, of_module);
}

namespace {

void relocate(const isa::Module& module, const isa::Variable& variable, const core::Allocation& place,
              std::span<const PlacedModuleVariable> known) {
  for (const isa::Relocation& r : variable.relocations) {
    const auto target =
        std::ranges::find_if(known, [&r](const auto& entry) { return entry.first->name == r.symbol; });
    const isa::Function* function = target == known.end() ? module.find_function(r.symbol) : nullptr;
    if (target == known.end() && function == nullptr)
      throw core::InputError(fmt::format(
          "{}:{}:{}: error: the initial value of '{}' needs the address of '{}', which is "
          "neither a .global or .const variable nor a function",
          module.files[variable.loc.file], variable.loc.line, variable.loc.column, variable.name, r.symbol));
    const uint64_t base =
        function == nullptr ? target->second : isa::function_address(module.number_of(*function));
    const uint64_t value = ((base + static_cast<uint64_t>(r.addend)) & r.mask) >> std::countr_zero(r.mask);
    if (r.offset + r.bytes <= place.bytes) std::memcpy(place.data + r.offset, &value, r.bytes);
  }
}

}  // namespace

void write_initial_values(const core::DeviceMemory& memory, const isa::Module& module,
                          std::span<const PlacedModuleVariable> variables, size_t of_module) {
  for (const auto& [variable, address] : variables) {
    if (variable->init.empty() && variable->relocations.empty()) continue;
    const core::Allocation* a = memory.find(address);
    std::memcpy(a->data, variable->init.data(), std::min<size_t>(variable->init.size(), a->bytes));
    relocate(module, *variable, *a, variables.first(of_module));
  }
}

void DeviceContents::set_variables() {
  std::vector<core::BufferSpec>& buffers = options_.launch.buffers;
  for (size_t b = 0; b < buffers.size(); ++b) {
    if (!buffers[b].variable) continue;
    // The linker sets names apart that several files use for themselves.
    const auto placed = std::ranges::find_if(variable_address_, [&](const auto& entry) {
      const std::string& name = entry.first->name;
      return name == buffers[b].name || name.starts_with(buffers[b].name + "@@");
    });
    buffer_address_[b] = placed->second;
    if (!buffers[b].init.given) continue;
    const core::Allocation* a = memory_.find(placed->second);
    std::fill_n(a->data, a->bytes, std::byte{0});
    core::fill_buffer(buffers[b], options_.launch.seed, {a->data, a->bytes});
  }
}

void DeviceContents::write_addresses() {
  const std::vector<core::BufferSpec>& buffers = options_.launch.buffers;
  for (size_t b = 0; b < buffers.size(); ++b)
    if (!buffers[b].init.addresses.empty()) write_addresses(buffers[b], bytes_of(b).data());
  // What copies bring later is refused now.
  for (const core::CopySpec& copy : options_.launch.copies) {
    if (!copy.source || copy.source->init.addresses.empty()) continue;
    std::vector<std::byte> scratch(copy.source->bytes());
    write_addresses(*copy.source, scratch.data());
  }
}

void DeviceContents::write_addresses(const core::BufferSpec& content, std::byte* data) const {
  const auto pointer_bytes = static_cast<uint32_t>(module_.address_size / 8);
  const uint32_t step = core::element_bytes(content.type);
  for (const core::AddressElement& element : content.init.addresses) {
    if (step < pointer_bytes)  // PTX 1.x does not say which size its addresses have
      core::raise_input_error(element.where,
                              fmt::format("addresses of {} have {} bits, elements of '{}' {}",
                                          options_.ptx_name, module_.address_size, content.name, 8 * step),
                              fmt::format("type = \"u{}\"", module_.address_size));
    const uint64_t address = buffer_address_[element.target] + element.offset;
    if (step == 4 && address > 0xffffffffu)
      core::raise_input_error(
          element.where, fmt::format("'{}' lies at {:#x}, which 32 bits cannot hold", element.name, address));
    std::memcpy(data + element.index * step, &address, step);
  }
}

void DeviceContents::warn_if_unset(const isa::Variable& constant, const std::string& kernel) const {
  if (!constant.init.empty() || !constant.relocations.empty()) return;
  const std::string name = constant.name.substr(0, constant.name.find("@@"));
  if (std::ranges::any_of(options_.launch.buffers, [&name](const core::BufferSpec& b) {
        return b.variable && b.init.given && b.name == name;
      }))
    return;
  options_.on_warning(
      fmt::format("{}:{}:{}: warning: kernel '{}' reads constant variable '{}', which has no initial value "
                  "and which no [[variable]] of {} sets: it holds zeros",
                  module_.files[constant.loc.file], constant.loc.line, constant.loc.column, kernel, name,
                  options_.launch.path));
}

}  // namespace gpusim::comp
