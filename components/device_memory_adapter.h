// Device memory of simcore as the executor's GlobalMemory: one window per allocation.
#pragma once
#include "isa/executor.h"
#include "simcore/memory/device_memory.h"

namespace gpusim::comp {

class DeviceMemoryAdapter : public isa::GlobalMemory {
 public:
  explicit DeviceMemoryAdapter(const core::DeviceMemory& memory) : memory_(memory) {}
  [[nodiscard]] isa::MemoryWindow window(uint64_t address) const override {
    const core::Allocation* a = memory_.find(address);
    if (a == nullptr) return {};
    return {a->base, a->end(), a->data, a->writable};
  }

  [[nodiscard]] std::string describe(uint64_t address) const override { return memory_.describe(address); }

 private:
  const core::DeviceMemory& memory_;
};

}  // namespace gpusim::comp
