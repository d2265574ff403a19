// Time that memory behind the L1 caches takes, for the reuse-distance model: the interconnect's
// latencies and rates, an L2 of all SMs' misses (the model's extension to shared caches: their
// streams interleave in time), DRAM's latency and bandwidth. Each rate is a queue without an end that serves
// in the order of requests. Times are core cycles.
#pragma once
#include <cstdint>
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

class ReuseMemory {
 public:
  /// `traffic`: sees all requests, and has pages, places in memory and the time of DRAM; null: addresses go
  /// round the partitions in turn, and each channel serves one request after the other.
  ReuseMemory(const core::MachineConfig& config, uint32_t sms, const ReuseNeighbours& neighbours = {},
              ReuseTraffic* traffic = nullptr);

  /// A kernel begins: time starts again, L2 keeps its lines.
  void begin_kernel();
  void end_kernel();
  [[nodiscard]] bool has_traffic() const { return traffic_ != nullptr; }
  [[nodiscard]] bool translates() const { return traffic_ != nullptr && traffic_->translates(); }
  /// When all pages are known of what an access of `sm` asks for; translates() holds.
  double translate(double now, uint32_t sm, const LineTransactions& transactions, uint32_t line_bytes);

  /// `sm` asks at time `now` for 32-byte `sectors` of what lies at `address`; when they are there.
  double read(double now, uint32_t sm, uint64_t address, uint32_t sectors);
  /// Writes `sectors` at `address`; returns when the write is known to be done.
  double write(double now, uint32_t sm, uint64_t address, uint32_t sectors);
  /// An atomic operation on them; when its result is there.
  double atomic(double now, uint32_t sm, uint64_t address, uint32_t sectors);

  struct Counts {  ///< in sectors of 32 bytes
    uint64_t reads = 0, read_hits = 0;
    uint64_t others = 0;  ///< of stores and atomics
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
  [[nodiscard]] Place place_of(uint64_t address) const;
  /// When a request with so many bytes arrives at its partition.
  double arrive(double now, uint32_t sm, const Place& place, uint32_t bytes_out, uint32_t bytes_back);
  Line& line_of(const Place& place, double now, bool& found);
  [[nodiscard]] Place place_at(uint64_t partition, uint64_t local) const;
  void put_back(const Line& line, const Place& place, double now);
  double fetch(double now, const Place& place, uint32_t bytes, bool write = false);
  double access(double arrived, const Place& place, uint32_t sectors, bool counts);

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
  std::vector<double> port_out_, port_back_;
  Units partition_in_, partition_out_, channel_;
  std::vector<Line> lines_;
  double copies_;
  double foreign_, brought_ = 0;  ///< of the lines that are new here, those that another SM has brought
  uint64_t clock_ = 0;
  Counts counts_;
  ReuseTraffic* traffic_;
};

}  // namespace gpusim::analysis
