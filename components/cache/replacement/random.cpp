// Any line, the same in each run.
#include "components/cache/replacement/replacement_policy.h"
#include "simcore/divisor.h"

namespace gpusim::comp {

namespace {

class AnyLine final : public ReplacementPolicy {
 public:
  explicit AnyLine(const CacheSets& sets) : ways_(sets.ways) {}
  void brought(uint32_t) override {}
  void used(uint32_t) override {}
  uint32_t victim(uint32_t, std::span<const Frame>) override {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<uint32_t>((state_ >> 32) % ways_);
  }

 private:
  core::Divisor ways_;
  uint64_t state_ = 0x9e3779b97f4a7c15ull;
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_random_replacement(const CacheSets& sets) {
  return std::make_unique<AnyLine>(sets);
}

}  // namespace gpusim::comp
