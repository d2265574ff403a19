// Binding of launch arguments to a kernel's parameters.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "simcore/launch/element.h"
#include "simcore/launch/launch.h"

namespace gpusim::core {
namespace {

std::string slot_list(std::span<const ParameterSlot> slots) {
  std::string list;
  for (const ParameterSlot& slot : slots)
    list += fmt::format("{}.{} {}", list.empty() ? "" : ", ", slot.type, slot.name);
  return list.empty() ? "none" : list;
}

class Packer {
 public:
  Packer(const LaunchDescription& launch, std::vector<std::byte>& block, Messages& messages)
      : launch_(launch), block_(block), messages_(messages) {}

  void pack(const ArgumentSpec& argument, const ParameterSlot& slot,
            const std::function<uint64_t(uint32_t)>& address_of,
            const std::function<uint64_t(uint32_t)>& handle_of) {
    if (slot.offset + uint64_t{slot.bytes} > block_.size()) {
      wrong(argument, slot, "lies outside the parameter block");
    } else if (argument.kind == ArgumentSpec::Kind::kBytes) {
      pack_bytes(argument, slot);
    } else if (slot.is_array) {
      wrong(argument, slot, fmt::format("is {} bytes by value", slot.bytes),
            fmt::format("write {{ bytes = [..] }} with {} bytes", slot.bytes));
    } else if (argument.kind == ArgumentSpec::Kind::kBuffer) {
      pack_address(argument, slot, address_of(argument.buffer));
    } else if (argument.kind == ArgumentSpec::Kind::kTexture) {
      pack_handle(argument, slot, handle_of(argument.texture));
    } else {
      pack_number(argument, slot);
    }
  }

 private:
  void wrong(const ArgumentSpec& argument, const ParameterSlot& slot, const std::string& what,
             const std::string& hint = "") {
    messages_.error(argument.where,
                    fmt::format("parameter '{}' (.{}) {}; the argument is '{}'", slot.name, slot.type, what,
                                argument.text),
                    hint);
  }

  void pack_bytes(const ArgumentSpec& argument, const ParameterSlot& slot) {
    if (argument.bytes.size() != slot.bytes) {
      wrong(argument, slot, fmt::format("has {} bytes, {} are given", slot.bytes, argument.bytes.size()));
      return;
    }
    if (!argument.bytes.empty())
      std::memcpy(block_.data() + slot.offset, argument.bytes.data(), argument.bytes.size());
  }

  void pack_address(const ArgumentSpec& argument, const ParameterSlot& slot, uint64_t address) {
    const auto type = element_type_from_name(slot.type);
    if ((type && element_is_float(*type)) || (slot.bytes != 4 && slot.bytes != 8)) {
      wrong(argument, slot, "cannot hold an address");
    } else if (slot.bytes == 4 && address > 0xffffffffu) {
      wrong(argument, slot,
            fmt::format("has 32 bits, buffer '{}' lies at {:#x}", launch_.buffers[argument.buffer].name,
                        address),
            "use smaller buffers, or a PTX with 64-bit addresses");
    } else {
      std::memcpy(block_.data() + slot.offset, &address, slot.bytes);
    }
  }

  void pack_handle(const ArgumentSpec& argument, const ParameterSlot& slot, uint64_t handle) {
    const auto type = element_type_from_name(slot.type);
    if (slot.bytes == 8 && type && !element_is_float(*type))
      std::memcpy(block_.data() + slot.offset, &handle, slot.bytes);
    else
      wrong(argument, slot, "cannot hold a texture object", "it has 64 bits");
  }

  void pack_number(const ArgumentSpec& argument, const ParameterSlot& slot) {
    auto type = element_type_from_name(slot.type);
    if (!type || element_bytes(*type) != slot.bytes) {
      wrong(argument, slot, "cannot take a number");
      return;
    }
    std::byte* at = block_.data() + slot.offset;
    // Untyped parameters take reals as floats of their width. C integers arrive as .u32: negative ones are
    // fine.
    if (!argument.number.is_integer && *type == ElementType::kB32) type = ElementType::kF32;
    if (!argument.number.is_integer && *type == ElementType::kB64) type = ElementType::kF64;
    static constexpr ElementType kUntyped[] = {ElementType::kB8, ElementType::kB16, ElementType::kB32,
                                               ElementType::kB64};
    if (!element_is_float(*type)) {
      if (!argument.number.is_integer && argument.number.real != std::floor(argument.number.real)) {
        wrong(argument, slot, "needs an integer");
        return;
      }
      const int log2_bytes = slot.bytes == 1 ? 0 : slot.bytes == 2 ? 1 : slot.bytes == 4 ? 2 : 3;
      type = kUntyped[log2_bytes];
    }
    if (!store_element(*type, argument.number, at))
      wrong(argument, slot, "cannot hold it: " + misfit_text(*type, argument.number));
  }

  const LaunchDescription& launch_;
  std::vector<std::byte>& block_;
  Messages& messages_;
};

}  // namespace

std::vector<std::byte> pack_arguments(const LaunchDescription& launch, const LaunchSpec& spec,
                                      std::span<const ParameterSlot> slots, uint32_t param_bytes,
                                      const std::function<uint64_t(uint32_t)>& address_of,
                                      const std::function<uint64_t(uint32_t)>& handle_of) {
  std::vector<std::byte> block(param_bytes);
  Messages messages;
  if (spec.arguments.size() != slots.size()) {
    messages.error(spec.arguments.empty() ? spec.where : spec.arguments.back().where,
                   fmt::format("{} takes {} argument{}, the launch gives {}",
                               spec.kernel.empty() ? "the kernel" : fmt::format("kernel '{}'", spec.kernel),
                               slots.size(), slots.size() == 1 ? "" : "s", spec.arguments.size()),
                   "parameters: " + slot_list(slots));
  } else {
    Packer packer(launch, block, messages);
    for (size_t i = 0; i < slots.size(); ++i) packer.pack(spec.arguments[i], slots[i], address_of, handle_of);
  }
  messages.raise_if_any();
  return block;
}

}  // namespace gpusim::core
