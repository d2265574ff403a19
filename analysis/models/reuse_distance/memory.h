// Time that memory behind the L1 caches takes, for the reuse-distance model: the interconnect's
// latencies and rates, an L2 of all SMs' misses (the model's extension to shared caches: their
// streams interleave in time), DRAM's latency and bandwidth. Each rate is a queue that serves in the order of
// requests. Those in front of a partition have an end: what finds no room in them waits in its SM's queue,
// and what is behind it there waits too. Times are core cycles.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/models/reuse_distance/coalescer.h"
#include "analysis/models/reuse_distance/traffic.h"
#include "simcore/address_map.h"
#include "simcore/config/machine_config.h"
#include "simcore/divisor.h"
#include "simcore/set_index.h"

namespace gpusim::analysis {

/// SMs beside the only one that is modelled, which are taken to do alike.
struct ReuseNeighbours {
  double copies = 1;  ///< of the modelled SM's traffic that there are, itself included
  double own = 1;     ///< of the lines of each, the fraction that is not another's too
};

/// When the last so many left a queue that has room for them; 0: it has room for any number.
class QueueRoom {
 public:
  explicit QueueRoom(uint32_t entries) : left_(entries, 0) {}
  /// From when on there is room for one more.
  [[nodiscard]] double from() const { return left_.empty() ? 0 : left_[next_]; }
  /// One more will leave then.
  void put(double leaves) {
    if (left_.empty()) return;
    left_[next_] = leaves;
    next_ = next_ + 1 == left_.size() ? 0 : next_ + 1;
  }
  void clear() { std::ranges::fill(left_, 0.0); }

 private:
  std::vector<double> left_;
  size_t next_ = 0;
};

class ReuseMemory {
 public:
  /// `traffic`: sees all requests, and has pages and the time of DRAM; null: there are no pages, and DRAM has
  /// its rows and refreshes if all SMs are modelled. Beside neighbours, whose rows are not known, each
  /// channel serves one request after the other in the same time.
  ReuseMemory(const core::MachineConfig& config, uint32_t sms, const ReuseNeighbours& neighbours = {},
              ReuseTraffic* traffic = nullptr);

  /// A kernel begins: time starts again, L2 keeps its lines.
  void begin_kernel();
  void end_kernel();
  [[nodiscard]] bool has_traffic() const { return traffic_ != nullptr; }
  [[nodiscard]] bool translates() const { return dram() != nullptr && dram()->translates(); }
  /// When all pages are known of what an access of `sm` asks for; translates() holds.
  double translate(double now, uint32_t sm, const LineTransactions& transactions, uint32_t line_bytes);

  /// From when on `sm` can send another request: its queue to the interconnect has room.
  [[nodiscard]] double room(uint32_t sm) const { return sent_[sm].from(); }

  /// `sm` asks at time `now` for 32-byte `sectors` of what lies at `address`; when they are there.
  double read(double now, uint32_t sm, uint64_t address, uint32_t sectors);
  /// Writes `sectors` at `address`; returns when the write is known to be done.
  double write(double now, uint32_t sm, uint64_t address, uint32_t sectors);
  /// An atomic operation on them; when its result is there.
  double atomic(double now, uint32_t sm, uint64_t address, uint32_t sectors);

  struct Counts {  ///< in sectors of 32 bytes
    uint64_t reads = 0, read_hits = 0;
    uint64_t others = 0;                    ///< of stores and atomics
    uint64_t atomics = 0, atomic_hits = 0;  ///< of them
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Line {
    uint64_t line = 0;  ///< of the partition, and 1
    uint64_t used = 0;
    uint32_t valid = 0, dirty = 0;
    double there = 0;  ///< when the last of its sectors that was asked for comes
  };
  struct Place {
    uint32_t partition, channel;
    uint64_t local;  ///< in the partition
  };
  /// Units of one kind (ports of partitions, DRAM channels), and how long modelled SMs have taken them in
  /// all.
  struct Units {
    std::vector<double> free_from;
    double busy = 0;
  };
  /// Takes a unit for so many cycles; when it begins, and what the neighbours take in between. Their load is
  /// that of the modelled SM so far, times their number; however large it is, each SM has its share.
  double serve(Units& units, size_t unit, double now, double cycles) const;
  void make_queues(const core::MachineConfig& config, uint32_t sms);
  [[nodiscard]] Place place_of(uint64_t address) const;
  /// When a request with so many bytes arrives at its partition.
  double arrive(double now, uint32_t sm, const Place& place, uint32_t bytes_out, uint32_t bytes_back);
  Line& line_of(const Place& place, double now, bool& found);
  [[nodiscard]] Place place_at(uint64_t partition, uint64_t local) const;
  void put_back(const Line& line, const Place& place, double now);
  double fetch(double now, const Place& place, uint32_t bytes, bool write = false);
  double access(double arrived, const Place& place, uint32_t sectors, bool atomic);

  core::AddressMap map_;
  core::Divisor interleave_, partitions_, channels_, line_bytes_;
  /// Of a partition's cache, what the modelled SMs and their neighbours' common lines have.
  struct Shape {
    uint32_t sets, ways;
  };
  static Shape share_of(const core::MachineConfig& config, double parts);

  Shape shape_;
  uint32_t fetch_sectors_;
  bool cached_;
  core::SetIndex index_;
  double request_, reply_, partition_cycles_, hit_, dram_, flit_bytes_, flit_cycles_, burst_cycles_;
  double reply_flit_bytes_, header_bytes_;
  double column_ = 0;  ///< from the command that takes a request from the channel's queue to its data
  core::Divisor port_sms_;
  double port_sharers_ = 1;  ///< SMs that send as the only modelled one does through its port
  std::vector<double> port_out_, port_back_;  ///< of ports of SMs
  Units partition_in_, partition_out_, channel_;
  std::vector<double> last_sent_;                                   ///< of each SM
  std::vector<QueueRoom> sent_;                                     ///< by SM: its queue to the interconnect
  std::vector<QueueRoom> taken_, answered_, fetched_, dram_queue_;  ///< by partition, channel
  std::vector<Line> lines_;
  double copies_;
  double foreign_, brought_ = 0;  ///< of the lines that are new here, those that another SM has brought
  uint64_t clock_ = 0;
  Counts counts_;
  ReuseTraffic* traffic_;
  std::optional<ReuseTraffic> rows_;  ///< without it: the DRAM alone

  [[nodiscard]] ReuseTraffic* dram() {
    if (traffic_ != nullptr) return traffic_;
    return rows_ ? &*rows_ : nullptr;
  }
  [[nodiscard]] const ReuseTraffic* dram() const {
    if (traffic_ != nullptr) return traffic_;
    return rows_ ? &*rows_ : nullptr;
  }
};

}  // namespace gpusim::analysis
