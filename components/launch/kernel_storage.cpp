#include "components/launch/kernel_storage.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "components/sm/warp_table.h"

namespace gpusim::comp {

namespace {
constexpr size_t kRowBytes = 128;
}  // namespace

KernelStorage::~KernelStorage() { unmap_local(); }

void KernelStorage::unmap_local() {
  if (local_ != nullptr) munmap(local_, local_mapped_);
  local_ = nullptr;
}

bool KernelStorage::configure(const KernelLaunch& run, core::PageArena& arena) {
  run_ = &run;
  const isa::KernelImage& image = *run.image;
  const uint32_t warps = std::min(run.blocks_per_sm * run.warps_per_block, kMaxWarps);
  row_stride_ = size_t{image.num_rows} * kRowBytes;
  registers_ = registers_store_.reserve(arena, row_stride_ * warps);
  predicates_.assign(size_t{warps} * std::max(1u, image.num_predicates), 0);
  shared_ = shared_store_.reserve(arena, size_t{run.shared_bytes} * run.blocks_per_sm);
  unmap_local();
  if (image.local_bytes == 0) return true;
  local_mapped_ = size_t{image.local_bytes} * isa::kWarpSize * warps;
  void* p = mmap(nullptr, local_mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  if (p == MAP_FAILED) return false;
  local_ = static_cast<std::byte*>(p);
  return true;
}

std::byte* KernelStorage::shared(uint32_t place) {
  std::byte* const begin = shared_ + size_t{run_->shared_bytes} * place;
  if (run_->shared_bytes != 0) std::memset(begin, 0, run_->shared_bytes);
  return begin;
}

void KernelStorage::bind(uint32_t place, uint32_t warp_in_block, isa::WarpContext& context) {
  const isa::KernelImage& image = *run_->image;
  const size_t warp = size_t{place} * run_->warps_per_block + warp_in_block;
  context.bank[0] = registers_ + row_stride_ * warp;
  context.predicates = &predicates_[warp * std::max(1u, image.num_predicates)];
  context.local = local_ == nullptr ? nullptr : local_ + size_t{image.local_bytes} * isa::kWarpSize * warp;
  context.local_bytes = image.local_bytes;
  // Registers hold no defined value at start; zero keeps runs equal to each other.
  if (row_stride_ != 0) std::memset(context.bank[0], 0, row_stride_);
  std::fill_n(context.predicates, image.num_predicates, 0u);
}

}  // namespace gpusim::comp
