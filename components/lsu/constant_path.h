// Way of an SM's constant loads: its L1 of constants, and the lines that it asks of the constant cache of its
// cluster. A load that finds all its lines takes no record; the lines that it misses are asked for one a
// cycle, and those beyond the free MSHRs wait. Plain class owned by the load/store unit, which calls it in
// its stages. Sizes: configuration [constant].
#pragma once
#include <cstdint>
#include <vector>

#include "components/cache/tag_cache.h"
#include "components/lsu/access_table.h"
#include "components/noc/messages.h"
#include "components/simulation/event_sink.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

class ConstantPath {
 public:
  struct Links {
    core::Link<MemoryRequest>* request = nullptr;  ///< to the cluster's constant cache
    core::Link<MemoryReply>* reply = nullptr;
  };
  ConstantPath(const core::MachineConfig::Constant& config, uint16_t sm, const Links& links,
               AccessTable& accesses);
  ConstantPath(const ConstantPath&) = delete;  // the link of replies writes into it
  ConstantPath& operator=(const ConstantPath&) = delete;
  ~ConstantPath() = default;

  void prepare();
  void set_events(const EventSink* events) { events_ = events; }
  /// True if a load may issue: a record is free and no earlier miss waits for an MSHR.
  [[nodiscard]] bool can_accept() const { return deferred_.empty() && accesses_.free_records() != 0; }
  /// Returns AccessTable::kNoRecord if all lines are in the L1, else the record's index. `distinct`:
  /// addresses of its lanes.
  uint32_t submit(const isa::MicroOp& op, uint32_t warp, uint32_t pc, const isa::MemoryAccess& access,
                  uint32_t& distinct, uint64_t now);
  /// Takes the lines that have come.
  void collect(uint64_t now) {
    if (next_reply_.count() <= now) take_lines();
  }
  /// Asks for a line if there is one to ask for.
  void send() {
    if (!unsent_.empty()) ask();
  }
  [[nodiscard]] bool wants_to_send() const { return !unsent_.empty(); }
  /// True while a line is on its way or has to be asked for.
  [[nodiscard]] bool outstanding() const { return outstanding_ != 0; }
  /// When a line comes that is known to.
  [[nodiscard]] core::Cycle next_reply() const { return next_reply_; }
  void invalidate() { l1_.invalidate(); }

 private:
  static constexpr uint64_t kNone = ~0ull;
  struct Miss {
    uint64_t line = kNone;
    std::vector<uint32_t> waiting;  ///< records; capacity fixed by prepare()
  };
  struct Deferred {
    uint64_t line;
    uint32_t record;
  };
  [[nodiscard]] bool wait_for_line(uint64_t line, uint32_t record);
  void take_lines();
  void ask();

  core::Cycle next_reply_ = core::kNever;  ///< when the oldest message of links_.reply is visible
  uint32_t outstanding_ = 0;               ///< lines, those not asked for yet included
  std::vector<uint16_t> unsent_;           ///< misses whose request has not left yet, oldest first
  std::vector<Deferred> deferred_;         ///< misses of one warp beyond the free MSHRs
  Links links_;
  AccessTable& accesses_;
  const EventSink* events_ = nullptr;
  TagCache l1_;
  uint16_t sm_;
  std::vector<Miss> mshrs_;
};

}  // namespace gpusim::comp
