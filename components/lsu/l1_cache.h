// L1 data cache of an SM: tags, miss-status holding registers and policy. A SystemC module that has
// no tick of its own: the load/store unit asks it when a transaction is at the head of its queue, sends what
// it misses and brings what comes back. Values live in device memory, so a cache only decides what takes how
// long. Lines are not coherent over SMs: they are dropped at the start of each kernel.
#pragma once
#include <span>
#include <systemc>

#include "components/cache/mshr_table.h"
#include "components/cache/tag_array.h"
#include "components/lsu/l1_stats.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

class L1Cache : public sc_core::sc_module {
 public:
  enum class Answer : uint8_t {
    kHit,
    kWait,     ///< the record waits for a line on its way; `request` of it is to be asked for, if not 0
    kRefused,  ///< nothing has changed: again later
  };
  struct Result {
    Answer answer = Answer::kHit;
    SectorMask request = 0;  ///< 32-byte sectors of the line
    uint32_t entry = 0;      ///< kWait: for fill()
    bool opened = false;     ///< kWait: the entry was free before
  };
  /// A dirty line that has to leave.
  struct Writeback {
    uint64_t address = 0;
    SectorMask sectors = 0;  ///< of 32 bytes
  };
  /// A transaction of `record`: 32-byte sectors of the line at `address`.
  struct Access {
    uint64_t address = 0;
    SectorMask sectors = 0;
    uint32_t warp = 0;
    uint32_t record = 0;
    bool local = false;
    bool again = false;  ///< it was refused before: not counted once more
  };

  /// What a warp scheduler may want to know of: a load that found neither its line nor an entry for it, and a
  /// line that went because another one needed its frame.
  struct LineEvent {
    uint64_t line = 0;
    uint32_t warp = 0;  ///< that missed it; that had brought it
    bool evicted = false;
  };

  /// `config.bytes` is not 0. `warps`: of an SM.
  L1Cache(const sc_core::sc_module_name& name, const core::MachineConfig::FirstLevel& config, uint32_t warps);

  [[nodiscard]] uint64_t latency() const { return latency_; }
  [[nodiscard]] bool caches_global() const { return cache_global_; }
  /// Whether load() would be a hit.
  [[nodiscard]] bool holds(const Access& a) const {
    const uint32_t frame = tags_.find(tags_.line_of(a.address));
    return frame != TagArray::kNoFrame && (own(a.sectors) & ~tags_.frame(frame).valid) == 0;
  }
  /// `can_send`: a request can leave now, and there is room for a write-back.
  Result load(const Access& a, bool can_send);
  enum class Stored : uint8_t {
    kGoesOn,   ///< the data is to be sent to L2
    kKept,     ///< the line has it; another line may have to be written back
    kRefused,  ///< nothing has changed: again later
  };
  Stored store(const Access& a, bool can_send);
  /// An atomic operation at L2: what is here of the line is stale.
  void drop(const Access& a);
  /// A load that does not ask here.
  void bypass(const Access& a) { stats_->bypass_sectors += sectors_in(a.sectors); }
  /// 32-byte `sectors` of the entry's line have come; calls done(record) for each access that is complete.
  /// True if the entry is free from now on.
  template <class Done>
  bool fill(uint32_t entry, SectorMask sectors, Done done);
  /// Keeps events from now on.
  void watch();
  [[nodiscard]] std::span<const LineEvent> events() const { return line_events_; }
  void forget_events() { line_events_.clear(); }
  /// The oldest line to be written back; false if there is none.
  bool take_writeback(Writeback& w);
  [[nodiscard]] bool has_writeback() const { return !writebacks_.empty(); }

  /// A kernel starts, to which each set has `ways` ways at most. Local memory of the last one is gone:
  /// nothing is written back.
  void invalidate(uint32_t ways);
  [[nodiscard]] uint64_t line_address(uint32_t entry) const { return tags_.address_of(mshrs_.line(entry)); }
  [[nodiscard]] uint32_t mshrs_in_use() const { return mshrs_.in_use(); }
  /// What follows is counted there.
  void count_in(L1Stats& stats) { stats_ = &stats; }
  /// Which limit of its MSHRs refused the last load() or store(); kNone if another reason did, or none.
  [[nodiscard]] MshrRefusal refusal() const { return refusal_; }
  [[nodiscard]] const L1Stats& stats() const { return *stats_; }

 private:
  using Write = core::WriteHit;
  /// 32-byte sectors <-> sectors of this cache.
  [[nodiscard]] SectorMask own(SectorMask of_32) const;
  [[nodiscard]] SectorMask of_32(SectorMask own) const;
  Result refuse(const Access& a, MshrRefusal why);
  /// Sectors that are stale: those here go, those on their way are not kept.
  void forget(uint64_t line, SectorMask own);
  /// A local store that goes on leaves its data here, too, if the line has a frame or gets one.
  void keep_copy(uint64_t line, const Access& a);
  /// A frame for the line, which `warp` brings; kNoFrame if all of its set wait.
  uint32_t take_frame(uint64_t line, uint32_t warp);

  TagArray tags_;
  MshrTable mshrs_;
  uint64_t latency_;
  uint32_t ways_;   ///< of the configuration
  uint32_t parts_;  ///< 32-byte sectors of one of this cache's
  bool cache_global_;
  core::AllocateOn allocate_;
  Write write_global_, write_local_;
  std::vector<Writeback> writebacks_;
  std::vector<uint8_t> brought_by_;  ///< by frame, if events are kept
  std::vector<LineEvent> line_events_;
  L1Stats unclaimed_;  ///< until count_in() is called
  L1Stats* stats_ = &unclaimed_;
  MshrRefusal refusal_ = MshrRefusal::kNone;
};

template <class Done>
bool L1Cache::fill(uint32_t entry, SectorMask sectors, Done done) {
  const uint64_t line = mshrs_.line(entry);
  uint32_t frame = tags_.find(line);
  if (frame == TagArray::kNoFrame && allocate_ != core::AllocateOn::kMissOrPass)
    frame = take_frame(line, mshrs_.warp(entry));
  if (frame != TagArray::kNoFrame) {
    tags_.fill(frame, own(sectors));
    tags_.invalidate(frame, mshrs_.spoiled(entry) & own(sectors));
  }
  return mshrs_.fill(entry, own(sectors), done);
}

}  // namespace gpusim::comp
