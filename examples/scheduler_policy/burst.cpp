// A warp-scheduler policy outside of gpusim, all of it in this file: a warp keeps the scheduler for at most
// burst_length operations, then the next ready warp has its turn. Length 1 is round-robin; a long burst comes
// near greedy scheduling. With burst_oldest = 1 the oldest ready warp comes next instead.
#include "components/sm/policies/issue_policy.h"

namespace {

namespace comp = gpusim::comp;

class Burst final : public comp::IssuePolicy {
 public:
  Burst(uint32_t length, bool oldest) : length_(length), oldest_(oldest) {}

  [[nodiscard]] uint32_t choose(uint64_t warps, const comp::WarpTable& table) const override {
    const bool may_stay = issued_ < length_ && (warps >> last_ & 1) != 0;
    if (may_stay) return last_;
    const uint64_t others = warps & ~(uint64_t{1} << last_);  // not empty: `warps` are two at least
    return oldest_ ? comp::oldest_of(others, table) : comp::first_from(last_, others);
  }
  void issued(uint32_t warp) override {
    issued_ = warp == last_ ? issued_ + 1 : 1;
    last_ = warp;
  }
  void reset() override {
    last_ = comp::kMaxWarps - 1;
    issued_ = length_;
  }

 private:
  uint32_t length_;
  bool oldest_;
  uint32_t last_ = comp::kMaxWarps - 1;
  uint32_t issued_ = 0;  ///< operations that warp last_ has issued in a row
};

// Done before main() starts. From then on [scheduler] has the word "burst" and the two keys.
const bool kRegistered = comp::register_issue_policy(
    "burst",
    {{"burst_length", "operations", int64_t{4}, 1, 1024, "that a warp may issue in a row, with policy burst"},
     {"burst_oldest", "", int64_t{0}, 0, 1, "1: the oldest ready warp comes next, with policy burst"}},
    [](const gpusim::core::MachineConfig::Scheduler& config) -> std::unique_ptr<comp::IssuePolicy> {
      return std::make_unique<Burst>(static_cast<uint32_t>(config.added_keys.integer("burst_length")),
                                     config.added_keys.integer("burst_oldest") != 0);
    });

}  // namespace
