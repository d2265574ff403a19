// Registers, predicates, shared and local memory of the blocks that one kernel may have on an SM at a time:
// where their values are. Sized for a launch when its first block comes to the SM; a block has a place in it.
#pragma once
#include <cstddef>
#include <vector>

#include "components/launch/kernel_launch.h"
#include "isa/exec/executor.h"
#include "simcore/memory/page_arena.h"

namespace gpusim::comp {

class KernelStorage {
 public:
  KernelStorage() = default;
  ~KernelStorage();
  KernelStorage(const KernelStorage&) = delete;
  KernelStorage& operator=(const KernelStorage&) = delete;

  /// Room for blocks_per_sm blocks of the launch. False: the host has no memory for their local memory.
  [[nodiscard]] bool configure(const KernelLaunch& run, core::PageArena& arena);
  /// Shared memory of the block at `place`, zeros.
  [[nodiscard]] std::byte* shared(uint32_t place);
  /// Gives warp `warp_in_block` of the block at `place` its registers and predicates, zeros, and its local
  /// memory.
  void bind(uint32_t place, uint32_t warp_in_block, isa::WarpContext& context);

 private:
  void unmap_local();

  const KernelLaunch* run_ = nullptr;
  core::PageStore registers_store_, shared_store_;
  std::byte *registers_ = nullptr, *shared_ = nullptr;
  std::vector<uint32_t> predicates_;
  std::byte* local_ = nullptr;  ///< mapped lazily
  size_t local_mapped_ = 0;
  size_t row_stride_ = 0;  ///< bytes of registers per warp
};

}  // namespace gpusim::comp
