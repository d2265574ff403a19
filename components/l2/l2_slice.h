// Slice of the L2 data cache in a memory partition: tags, miss-status holding registers, the queue
// of requests to DRAM and the answers that wait to leave. Sectored, write-back. Writes take a line without
// fetching it: a sector that is written counts as whole (hardware keeps a mask of its written bytes, messages
// name sectors only). Where only a part of each set may be modified, the line whose last write is longest
// ago is written back, and stays. Atomics are performed here, on a sector that is there or has been fetched,
// one after another. Plain class: the partition brings requests and DRAM's replies and carries away what
// results. Each request taken has its place among the answers, so DRAM's replies always sink. On a chip of
// two halves answers to the other half take longer.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "components/cache/free_list.h"
#include "components/cache/mshr_table.h"
#include "components/cache/tag_array.h"
#include "components/l2/atomic_unit.h"
#include "components/l2/data_port.h"
#include "components/l2/dirty_lines.h"
#include "components/l2/l2_stats.h"
#include "components/l2/partition_use.h"
#include "components/noc/messages.h"
#include "simcore/address_map.h"
#include "simcore/config/machine_config.h"
#include "simcore/memory/sparse_array.h"
#include "simcore/record/event_schema.h"
#include "simcore/ring.h"

namespace gpusim::comp {

/// Times of a slice, in interconnect cycles.
struct L2Times {
  uint64_t hit;       ///< from look-up to reply
  uint64_t constant;  ///< latency of a hit in the third level of the constant cache
  uint64_t far = 0;   ///< what a reply to the other half takes longer
};

class L2Slice {
 public:
  static constexpr uint64_t kNever = ~0ull;

  /// `config.bytes` is not 0. `far_ports`: by reply port, whether it is in the other half; empty: none is.
  L2Slice(const core::MachineConfig::Partition& config, uint32_t partition, const L2Times& times,
          std::vector<bool> far_ports = {});

  /// Takes the times that hold after a change of frequency.
  void set_times(const L2Times& times);

  /// Takes a request at `now`; kReservationFail: it has to come again. `again`: it was refused before.
  core::CacheResult take(const MemoryRequest& request, uint64_t now, bool again);
  /// Takes a hit in the third level of the constant cache; false if it has to come again.
  bool take_constant_hit(const MemoryRequest& request, uint64_t now);
  /// When the unit that performs atomics can begin the next one.
  [[nodiscard]] uint64_t atomic_free() const { return atomics_.free_at(); }
  /// When its data can be read or written next.
  [[nodiscard]] uint64_t data_free() const { return data_.free_at(); }
  /// A reply of DRAM: sectors that have come, or the acknowledgement of a write-back.
  void fill(const MemoryReply& reply, uint64_t now);

  [[nodiscard]] bool has_dram_request() const { return to_dram_.size() != 0; }
  [[nodiscard]] const MemoryRequest& next_dram_request() const { return to_dram_.front(); }
  MemoryRequest pop_dram_request() { return to_dram_.pop(); }
  /// When the next answer may leave.
  [[nodiscard]] uint64_t answer_at() const {
    uint64_t at = kNever;
    for (size_t i = 0; i < kinds_; ++i) at = std::min(at, answers_[i].first_at());
    return at;
  }
  /// That answer. Requires answer_at() != kNever.
  [[nodiscard]] const MemoryReply& next_answer() const;
  MemoryReply pop_answer();

  /// Forgets what is not on its way, modified sectors too: values are in device memory.
  void forget() {
    tags_.invalidate_all();
    dirty_.clear();
  }
  [[nodiscard]] const L2Stats& stats() const { return stats_; }
  /// What the request waits for that take() has refused last.
  [[nodiscard]] PartitionWait refusal() const { return refusal_; }
  /// Since the start of the simulation, in interconnect cycles: of the unit that performs atomics; of the
  /// port of its data; MSHRs in use x cycles until `now`.
  [[nodiscard]] uint64_t atomic_cycles() const { return atomics_.busy_cycles(); }
  [[nodiscard]] uint64_t data_cycles() const { return data_.busy_cycles(); }
  [[nodiscard]] uint64_t mshr_cycles(uint64_t now) const { return mshr_cycles_ + now * mshrs_.in_use(); }
  [[nodiscard]] uint64_t dirty_sectors() const;
  /// What it holds, for deadlock reports; empty if nothing.
  [[nodiscard]] std::string waiting_for() const;

 private:
  /// Index of the kind that has the next answer.
  [[nodiscard]] size_t first_answers() const;
  struct Answer {
    uint64_t at = 0;
    MemoryReply reply;
  };
  /// Answers that take the same time, in their order.
  struct Answers {
    core::Ring<Answer> waiting{1};
    uint64_t cycles = 0;
    [[nodiscard]] uint64_t first_at() const { return waiting.size() == 0 ? kNever : waiting.front().at; }
  };
  /// Answers to requests that waited for DRAM, to hits, and to hits in the third level of the constant cache:
  /// those to this half of the chip, then those to the other.
  enum AnswerKind : uint8_t { kFilled, kHits, kConstantHits, kAnswerKinds };
  [[nodiscard]] Answers& answers_to(const MemoryRequest& r, AnswerKind kind) {
    const bool crosses = !replicated_ || (r.kind == RequestKind::kAtomic && r.wants_data);
    const bool far = crosses && !far_ports_.empty() && far_ports_[r.port];
    return answers_[far ? kAnswerKinds + kind : kind];
  }
  /// True if a hit has a place among the answers.
  [[nodiscard]] bool can_answer(const MemoryRequest& r, AnswerKind kind) {
    const Answers& a = answers_to(r, kind);
    return a.waiting.size() <= a.cycles;
  }
  void answer(const MemoryRequest& r, AnswerKind kind, MemoryLevel level, uint64_t now);
  /// A request and where it looks.
  struct Access {
    const MemoryRequest& request;
    uint64_t line;
    SectorMask sectors;
    bool again;
  };
  [[nodiscard]] bool queue_has_room() const { return to_dram_.size() + most_runs_ <= kQueue; }
  [[nodiscard]] SectorMask sectors_of(const MemoryRequest& r) const;
  /// All sectors of the units that are fetched as one.
  [[nodiscard]] SectorMask fetched_with(SectorMask sectors) const;
  core::CacheResult write(const Access& a, uint64_t now);
  core::CacheResult hit(const Access& a, uint32_t frame, uint64_t now);
  core::CacheResult miss(const Access& a, uint32_t frame, SectorMask missing, uint64_t now);
  core::CacheResult refuse(const Access& a, PartitionWait why);
  /// Writes sectors of a line that is there; others of its set are written back if too many are.
  void modify(uint32_t frame, SectorMask sectors);
  void write_back(uint64_t line, SectorMask sectors);
  /// A frame for the line, whose last owner is written back; kNoFrame if all of its set wait.
  uint32_t take_frame(uint64_t line);
  void occupy_atomic_unit(const MemoryRequest& r, uint64_t now);
  void ask_dram(RequestKind kind, uint64_t line, SectorMask sectors, uint32_t tag);
  void count(const Access& a, SectorMask found);

  static constexpr uint32_t kSector = 32;
  static constexpr uint32_t kQueue = 16;  ///< requests that wait for the link to DRAM

  core::AddressMap map_;
  uint32_t partition_;
  TagArray tags_;  ///< of sectors of 32 bytes
  DirtyLines dirty_;
  MshrTable mshrs_;
  uint32_t fetch_;      ///< sectors that are fetched as one
  uint32_t most_runs_;  ///< DRAM requests of one miss: those of its sectors and of the line that leaves
  AtomicUnit atomics_;
  DataPort data_;
  core::SparseArray<MemoryRequest> waiting_;  ///< requests that wait for sectors
  FreeList<uint32_t> free_waiting_;
  std::vector<bool> far_ports_;
  bool replicated_;  ///< of MachineConfig::Partition
  size_t kinds_;     ///< used of answers_
  std::array<Answers, size_t{2} * kAnswerKinds> answers_;
  core::Ring<MemoryRequest> to_dram_;
  L2Stats stats_;
  PartitionWait refusal_ = PartitionWait::kNone;
  uint64_t mshr_cycles_ = 0;
};

}  // namespace gpusim::comp
