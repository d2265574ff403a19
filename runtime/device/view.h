// The device's memory and textures as the executor sees them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"

namespace gpusim::runtime {

class Device::Memory : public isa::GlobalMemory {
 public:
  Memory(const core::DeviceMemory& memory, const std::vector<std::unique_ptr<isa::Texture>>& textures,
         isa::DeviceServices& services)
      : memory_(memory), textures_(textures), services_(services) {}
  [[nodiscard]] isa::DeviceServices* services() const override { return &services_; }
  [[nodiscard]] isa::MemoryWindow window(uint64_t address) const override {
    const core::Allocation* a = memory_.find(address);
    if (a == nullptr) return {};
    return {a->base, a->end(), a->data, a->writable};
  }
  [[nodiscard]] std::string describe(uint64_t address) const override { return memory_.describe(address); }
  [[nodiscard]] const isa::Texture* texture(uint64_t handle) const override {
    const uint64_t offset = handle - isa::kTextureWindowBase, number = offset / isa::kTextureStride;
    return number < textures_.size() && offset % isa::kTextureStride == 0 ? textures_[number].get() : nullptr;
  }

 private:
  const core::DeviceMemory& memory_;
  const std::vector<std::unique_ptr<isa::Texture>>& textures_;
  isa::DeviceServices& services_;
};

}  // namespace gpusim::runtime
