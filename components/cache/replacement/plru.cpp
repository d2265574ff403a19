// Pseudo-LRU: a binary tree of bits for each set, which point away from the last uses.
#include <bit>
#include <vector>

#include "components/cache/replacement/replacement_policy.h"
#include "simcore/config/limits.h"
#include "simcore/divisor.h"

namespace gpusim::comp {

static_assert(core::kMaxTreeWays <= 64, "a word holds the tree of a set");

namespace {

class TreePseudoLru final : public ReplacementPolicy {
 public:
  explicit TreePseudoLru(const CacheSets& sets)
      : ways_(sets.ways), tree_ways_(std::bit_ceil(sets.ways)), tree_(sets.sets) {}
  void brought(uint32_t frame) override { used(frame); }
  void used(uint32_t frame) override {
    const auto way = static_cast<uint32_t>(frame % ways_);
    uint64_t& tree = tree_[frame / ways_];
    // Node 1 is the root, the children of n are 2n and 2n + 1; ways beyond the last do not exist.
    uint32_t node = 1, first = 0;
    for (uint32_t half = tree_ways_ / 2; half != 0; half /= 2) {
      const bool right = way >= first + half;
      const uint64_t bit = uint64_t{1} << node;
      tree = right ? tree & ~bit : tree | bit;
      node = 2 * node + (right ? 1 : 0);
      first += right ? half : 0;
    }
  }
  uint32_t victim(uint32_t first_frame, std::span<const Frame> ways) override {
    const uint64_t tree = tree_[first_frame / ways_];
    uint32_t node = 1, first = 0;
    for (uint32_t half = tree_ways_ / 2; half != 0; half /= 2) {
      const bool right = (tree >> node & 1) != 0 && first + half < ways.size();
      node = 2 * node + (right ? 1 : 0);
      first += right ? half : 0;
    }
    return first;
  }

 private:
  core::Divisor ways_;
  uint32_t tree_ways_;          ///< ways rounded up to a power of two
  std::vector<uint64_t> tree_;  ///< per set: bit n set: the older half of node n is the right one
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_plru_replacement(const CacheSets& sets) {
  return std::make_unique<TreePseudoLru>(sets);
}

}  // namespace gpusim::comp
