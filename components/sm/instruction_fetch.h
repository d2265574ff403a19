// Instruction cache of an SM, or of each of its schedulers: decides whether a warp's next operation is there.
// A warp keeps the line that it executes from; a look-up is made when it comes to another one. A line that is
// missing is asked of the cluster's second constant level, with the next few behind it, and all warps that
// need it wait. Plain class; the SM calls it in its own stages and wakes for lines that come. Sizes:
// configuration [instruction]; operation n of a kernel lies n * instruction.bytes behind
// KernelLaunch::code_address.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "components/cache/tag_cache.h"
#include "components/noc/messages.h"
#include "components/simulation/event_sink.h"
#include "components/sm/warp_table.h"
#include "simcore/bits.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

class InstructionFetch {
 public:
  struct Links {
    core::Link<MemoryRequest>* request = nullptr;  ///< to the cluster's second constant level
    core::Link<MemoryReply>* reply = nullptr;
  };
  InstructionFetch(const core::MachineConfig& machine, uint16_t sm, const Links& links,
                   const EventSink* events);

  /// Warp slot `w` starts anew: it has no line.
  void reset(uint32_t w) { line_of_warp_[w] = kNone; }
  /// Forgets all lines that it has.
  void forget() {
    for (TagCache& cache : caches_) cache.invalidate();
  }
  /// True if warp `w` executes from the line of `address` already.
  [[nodiscard]] bool has(uint32_t w, uint64_t address) const { return line_of(address) == line_of_warp_[w]; }
  /// It comes to another line, of code that ends at `end`: true if the line is there, else the warp waits for
  /// collect().
  [[nodiscard]] bool look_up(uint32_t w, uint64_t address, uint64_t end, uint64_t now);
  /// Bytes of `operations` operations.
  [[nodiscard]] uint64_t bytes(uint64_t operations) const { return operations * bytes_; }

  /// Takes the lines that have come; calls ready(w) for each warp that waited for one.
  template <class Ready>
  void collect(Ready ready);
  /// Asks for a line, one a cycle.
  void send(uint64_t now);
  /// Next cycle at which send() has something to do of its own accord; kUnknownCycle if only an event can
  /// help.
  [[nodiscard]] uint64_t next_send() const {
    return blocked_ || unsent_.empty() || on_the_way_ == mshrs_ ? kUnknownCycle
                                                                : misses_[unsent_.front()].from;
  }
  [[nodiscard]] core::Cycle next_reply() const { return links_.reply->next_visible(); }
  /// True while a line is missing: warps may become ready at any time.
  [[nodiscard]] bool outstanding() const { return on_the_way_ != 0 || !unsent_.empty(); }

 private:
  static constexpr uint64_t kNone = ~0ull;
  struct Miss {
    uint64_t line = kNone;  ///< kNone: the entry is free
    uint64_t warps = 0;     ///< that wait, a bit each; none: a prefetch
    uint64_t from = 0;      ///< cycle from which it can be asked for
    uint32_t cache = 0;
  };
  [[nodiscard]] uint64_t line_of(uint64_t address) const { return address & ~line_mask_; }
  /// The line is on its way to the cache, or is asked for now, and `warps` wait for it.
  void miss(uint32_t cache, uint64_t line, uint64_t warps, uint64_t now);

  Links links_;
  const EventSink* events_;
  uint64_t bytes_, line_mask_;
  uint32_t prefetch_, mshrs_;
  uint16_t sm_;
  uint32_t on_the_way_ = 0;
  bool blocked_ = false;  ///< the link had no room: it wakes the SM
  std::array<uint64_t, kMaxWarps> line_of_warp_;
  std::vector<TagCache> caches_;  ///< one, or one of each scheduler
  std::vector<Miss> misses_;
  std::vector<uint16_t> unsent_;  ///< entries not asked for yet, oldest first
};

template <class Ready>
void InstructionFetch::collect(Ready ready) {
  while (links_.reply->front() != nullptr) {
    Miss& m = misses_[links_.reply->pop().tag];
    --on_the_way_;
    caches_[m.cache].fill(m.line);
    const uint64_t line = std::exchange(m.line, kNone);
    for (const uint32_t w : core::Bits(std::exchange(m.warps, 0))) {
      line_of_warp_[w] = line;
      ready(w);
    }
  }
}

}  // namespace gpusim::comp
