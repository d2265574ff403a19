// Which line of a set goes when another one needs its frame. One file NAME.cpp of this folder is one policy,
// "NAME" in the configuration; the build finds it: it defines make_NAME_replacement(), and nothing else has
// to know it. Frames are numbered set by set: frame / ways is the set.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "components/cache/frame.h"
#include "components/policy.h"

namespace gpusim::comp {

/// The frames that a policy has to do with.
struct CacheSets {
  uint32_t sets = 1, ways = 1;
  core::ReplacementPolicyKeys policy_keys = {};  ///< of the cache's section
};

class ReplacementPolicy {
 public:
  virtual ~ReplacementPolicy() = default;
  /// A line came into the frame.
  virtual void brought(uint32_t frame) = 0;
  /// The frame's line was used.
  virtual void used(uint32_t frame) = 0;
  /// The way to take of a full set, whose first frame is `first`; `ways` are its frames, one of which at
  /// least is replaceable(). A way that is not stands for the next one that is, around the set.
  virtual uint32_t victim(uint32_t first, std::span<const Frame> ways) = 0;
};

/// The policy of that name for these sets.
[[nodiscard]] std::unique_ptr<ReplacementPolicy> make_replacement(const std::string& name,
                                                                  const CacheSets& sets);

}  // namespace gpusim::comp
