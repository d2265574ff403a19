#include "components/sm/simt/cluster.h"

#include <algorithm>

namespace gpusim::comp {

void Cluster::begin(uint32_t blocks, uint32_t threads) {
  *this = Cluster{};
  blocks_ = left_ = blocks;
  live_ = blocks * threads;
}

void Cluster::begin_block(uint32_t rank, std::byte* shared) {
  memory.shared[rank] = shared;
  running_ |= 1u << rank;
}

bool Cluster::end_block(uint32_t rank) {
  memory.shared[rank] = nullptr;
  checks[rank] = nullptr;
  running_ &= ~(1u << rank);
  return --left_ == 0;
}

bool Cluster::arrive(uint32_t threads, uint64_t time) {
  arrived_ += threads;
  latest_ = std::max(latest_, time);
  return open_if_complete();
}

bool Cluster::leave(uint32_t threads, uint32_t arrived, uint64_t time) {
  live_ -= threads;
  arrived_ -= arrived;
  latest_ = std::max(latest_, time);
  return open_if_complete();
}

bool Cluster::open_if_complete() {
  if (arrived_ == 0 || arrived_ != live_) return false;
  arrived_ = 0;
  ++phases_;
  opened_ = latest_;
  return true;
}

Cluster& Clusters::begin(uint32_t blocks, uint32_t threads) {
  if (idle_.empty()) idle_.push_back(std::make_unique<Cluster>());
  running_.push_back(std::move(idle_.back()));
  idle_.pop_back();
  running_.back()->begin(blocks, threads);
  return *running_.back();
}

void Clusters::end(const Cluster& cluster) {
  const auto it =
      std::ranges::find_if(running_, [&](const std::unique_ptr<Cluster>& c) { return c.get() == &cluster; });
  idle_.push_back(std::move(*it));
  *it = std::move(running_.back());
  running_.pop_back();
}

}  // namespace gpusim::comp
