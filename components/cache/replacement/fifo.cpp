// First in, first out: the line that came first goes first, however often it was used.
#include "components/cache/replacement/ages.h"

namespace gpusim::comp {

namespace {

class FirstInFirstOut final : public ReplacementPolicy {
 public:
  explicit FirstInFirstOut(const CacheSets& sets) : arrivals_(sets) {}
  void brought(uint32_t frame) override { arrivals_.renew(frame); }
  void used(uint32_t) override {}
  uint32_t victim(uint32_t first, std::span<const Frame> ways) override {
    return arrivals_.oldest(first, ways);
  }

 private:
  Ages arrivals_;
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_fifo_replacement(const CacheSets& sets) {
  return std::make_unique<FirstInFirstOut>(sets);
}

}  // namespace gpusim::comp
