// Device memory of simcore as the executor's GlobalMemory: one window per allocation, the launch's textures,
// and who carries out system calls.
#pragma once
#include <span>

#include "isa/exec/executor.h"
#include "isa/exec/texture.h"
#include "simcore/memory/device_memory.h"

namespace gpusim::comp {

class DeviceMemoryAdapter : public isa::GlobalMemory {
 public:
  explicit DeviceMemoryAdapter(const core::DeviceMemory& memory, std::span<const isa::Texture> textures = {},
                               isa::DeviceServices* services = nullptr)
      : memory_(memory), textures_(textures), services_(services) {}
  [[nodiscard]] isa::MemoryWindow window(uint64_t address) const override {
    const core::Allocation* a = memory_.find(address);
    if (a == nullptr) return {};
    return {a->base, a->end(), a->data, a->writable};
  }

  [[nodiscard]] isa::DeviceServices* services() const override { return services_; }
  [[nodiscard]] std::string describe(uint64_t address) const override { return memory_.describe(address); }
  [[nodiscard]] const isa::Texture* texture(uint64_t handle) const override {
    const uint64_t offset = handle - isa::kTextureWindowBase, number = offset / isa::kTextureStride;
    return number < textures_.size() && offset % isa::kTextureStride == 0 ? &textures_[number] : nullptr;
  }

 private:
  const core::DeviceMemory& memory_;
  std::span<const isa::Texture> textures_;
  isa::DeviceServices* services_;
};

}  // namespace gpusim::comp
