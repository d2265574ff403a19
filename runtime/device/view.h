// The device's memory and textures as the executor sees them.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"

namespace gpusim::runtime {

class Device::Memory : public isa::GlobalMemory {
 public:
  Memory(const core::DeviceMemory& memory, const std::vector<std::unique_ptr<isa::Texture>>& textures,
         isa::DeviceServices& services, std::function<void(const core::Allocation&)> on_stray)
      : memory_(memory), textures_(textures), services_(services), on_stray_(std::move(on_stray)) {}
  [[nodiscard]] isa::DeviceServices* services() const override { return &services_; }
  [[nodiscard]] isa::MemoryWindow window(uint64_t address) const override {
    const core::Allocation* a = memory_.find(address);
    if (a == nullptr) return outside(address);
    return {a->base, a->end(), a->data, a->writable};
  }
  [[nodiscard]] isa::MemoryWindow window_beyond(uint64_t address) const override;
  ~Memory() override { forget_strays(); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  /// All allocations are gone.
  void forget_strays();
  [[nodiscard]] std::string describe(uint64_t address) const override { return memory_.describe(address); }
  [[nodiscard]] const isa::Texture* texture(uint64_t handle) const override {
    const uint64_t offset = handle - isa::kTextureWindowBase, number = offset / isa::kTextureStride;
    if (number >= textures_.size() || offset % isa::kTextureStride != 0) return nullptr;
    const isa::Texture* const texture = textures_[number].get();
    return texture == nullptr || texture->data == nullptr ? nullptr : texture;  // null: its memory was freed
  }

 private:
  /// What lies outside of allocations in their pages: a GPU does not notice who goes there. Not if nobody
  /// wants to be told.
  [[nodiscard]] isa::MemoryWindow outside(uint64_t address) const;
  /// Behind an allocation of the device, in its last large page.
  [[nodiscard]] isa::MemoryWindow behind_the_end(uint64_t address, const core::Allocation& a) const;

  const core::DeviceMemory& memory_;
  const std::vector<std::unique_ptr<isa::Texture>>& textures_;
  isa::DeviceServices& services_;
  std::function<void(const core::Allocation&)> on_stray_;
  mutable std::vector<void*> pages_;  ///< that were mapped for what lies between allocations
};

}  // namespace gpusim::runtime
