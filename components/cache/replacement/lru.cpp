// Least recently used.
#include "components/cache/replacement/ages.h"

namespace gpusim::comp {

namespace {

class LeastRecentlyUsed final : public ReplacementPolicy {
 public:
  explicit LeastRecentlyUsed(const CacheSets& sets) : uses_(sets) {}
  void brought(uint32_t frame) override { uses_.renew(frame); }
  void used(uint32_t frame) override { uses_.renew(frame); }
  uint32_t victim(uint32_t first, std::span<const Frame> ways) override { return uses_.oldest(first, ways); }

 private:
  Ages uses_;
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_lru_replacement(const CacheSets& sets) {
  return std::make_unique<LeastRecentlyUsed>(sets);
}

}  // namespace gpusim::comp
