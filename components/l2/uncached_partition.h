// The memory partition of a machine that caches nothing of global memory: requests go to the channel of their
// address, atomics one after the other. Texture reads may have a second level of their own here (GT200).
#pragma once
#include "components/l2/atomic_unit.h"
#include "components/l2/memory_partition.h"
#include "components/l2/texture_l2.h"

namespace gpusim::comp {

/// `TextureLevel`: TextureL2, or NoTextureL2.
template <class TextureLevel>
class UncachedPartition final : public MemoryPartition {
 public:
  UncachedPartition(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                    const core::MachineConfig& machine, uint32_t index, const EventSink* events);

  void empty_caches() override {
    MemoryPartition::empty_caches();
    textures_.forget();
  }
  [[nodiscard]] TextureL2Stats texture_stats() const override { return textures_.stats(); }
  [[nodiscard]] PartitionUse use(uint64_t /*now*/) const override {
    PartitionUse use = use_;
    use.atomic_cycles = atomics_.busy_cycles();
    return use;
  }

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  /// What its channels answer next may be for any port: it waits until each of its links has room.
  [[nodiscard]] bool replies_can_push();
  /// One reply goes back: a texture line that was here, or one of a channel. False if it cannot yet.
  [[nodiscard]] bool send_reply(core::Cycle cycle);
  /// False if the oldest request has to wait.
  [[nodiscard]] bool take_request(uint64_t now);
  [[nodiscard]] bool answer_constant(uint64_t now);
  [[nodiscard]] bool answer_texture(uint64_t now);
  [[nodiscard]] bool pass_on(uint64_t now);

  AtomicUnit atomics_;
  TextureLevel textures_;
};

}  // namespace gpusim::comp
