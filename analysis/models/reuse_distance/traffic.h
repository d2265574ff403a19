// What the requests of all SMs meet on their way to memory, in the order of the reuse-distance model's times:
// pages that translation look-aside buffers lack, partitions that get more than their share, rows of DRAM
// that have to be opened. A channel chooses among a window of requests as the machine's controller does, so
// that a row serves what waits for it. Counts for models that predict a kernel's time without a timed run;
// times are core cycles.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "simcore/config/machine_config.h"
#include "simcore/divisor.h"

namespace gpusim::analysis {

struct TrafficCounts {
  uint64_t pages = 0;           ///< of warp accesses
  uint64_t sm_page_misses = 0;  ///< that the SM's buffer lacked
  uint64_t page_misses = 0;     ///< and the second level too
  uint64_t requests = 0;        ///< to partitions
  uint64_t to_busiest = 0;      ///< of each window of them, those to the partition that gets the most
  uint64_t rows_opened = 0;
  uint64_t dram_requests = 0, dram_read_bytes = 0, dram_written_bytes = 0;
  uint64_t dram_to_busiest = 0;  ///< of each window of them, those to the channel that gets the most
};

/// Requests to units of one kind, in windows as PortBalance of components/noc has them: of each window those
/// to the unit that gets the most.
class BusiestOf {
 public:
  explicit BusiestOf(uint64_t units) : in_window_(units, 0) { clear(); }
  void add(uint64_t unit) {
    most_ = std::max(most_, ++in_window_[unit]);
    if (--left_ == 0) end_window();
  }
  /// No more come; a window that is not full counts, too.
  void end() {
    to_busiest_ += most_;
    most_ = 0;
  }
  void clear();
  [[nodiscard]] uint64_t to_busiest() const { return to_busiest_; }

 private:
  void end_window();
  std::vector<uint32_t> in_window_;
  uint64_t left_ = 0, to_busiest_ = 0;
  uint32_t most_ = 0;
};

/// Pages that a translation look-aside buffer knows: sets of those used last.
class PageBuffer {
 public:
  PageBuffer(uint32_t entries, uint32_t ways);
  /// When the page's translation is there, if it is known; negative if it is not.
  double find(uint64_t page);
  /// The page used longest ago of its set makes room.
  void put(uint64_t page, double there);

 private:
  struct Entry {
    uint64_t page = ~uint64_t{0}, used = 0;
    double there = 0;
  };
  Entry* set_of(uint64_t page) { return &entries_[page % sets_ * ways_]; }
  uint32_t ways_;
  core::Divisor sets_;
  uint64_t clock_ = 0;
  std::vector<Entry> entries_;
};

/// A DRAM channel: banks with a row each, one bus, and a window of requests of which those that hit an open
/// row go first.
class RowWindow {
 public:
  explicit RowWindow(const core::MachineConfig& config);
  struct Request {
    double arrival = 0;
    uint64_t row = 0;
    uint32_t bank = 0;
    double cycles = 0;  ///< of the bus
    bool write = false;
  };
  /// Takes a request that comes at r.arrival; about when its data will have been moved.
  double add(const Request& r);
  /// Nothing else comes.
  void drain();
  /// Time starts again, and with it the count; rows stay open.
  void reset();
  [[nodiscard]] uint64_t rows_opened() const { return rows_opened_; }

 private:
  static constexpr uint64_t kNoRow = ~uint64_t{0};
  struct Bank {
    uint64_t row = kNoRow;
    double next_activate = 0, next_precharge = 0, next_column = 0;
  };
  void serve_one();
  void refresh(double now);
  void refresh_banks(double now);
  [[nodiscard]] double first_refresh() const {
    return banks_in_turn_ ? refi_ / static_cast<double>(banks_.size()) : refi_;
  }
  /// When the first data of the request can come: its row is opened before, if it has to be.
  [[nodiscard]] double ready(const Request& r) const;

  uint64_t rows_opened_ = 0;
  size_t most_;
  uint32_t write_high_, write_low_;
  bool closes_;  ///< rows nobody waits for
  bool in_order_;
  bool banks_in_turn_;  ///< a refresh takes one of them
  double rcd_, rp_, ras_, rc_, rrd_, cl_, wl_, rtw_, cdlr_, wr_, refi_, rfc_;
  std::vector<Bank> banks_;
  std::vector<Request> window_;  ///< oldest first
  uint32_t writes_ = 0;
  uint64_t in_turn_ = 0;  ///< the bank that is refreshed next
  bool draining_ = false, last_was_write_ = false;
  double bus_free_ = 0, next_activate_ = 0, next_refresh_ = 0;
  double cost_ = 0;  ///< bus time of a request lately, with what it waited for
};

class ReuseTraffic {
 public:
  ReuseTraffic(const core::MachineConfig& config, uint32_t sms);

  /// Time starts again; buffers keep their pages, rows stay open.
  void begin_kernel();
  void end_kernel();
  [[nodiscard]] bool translates() const { return !sm_pages_.empty(); }
  [[nodiscard]] uint64_t page_of(uint64_t address) const { return address / page_bytes_; }
  /// When `page`, of which an access of `sm` has to know, is known.
  double translate(double now, uint32_t sm, uint64_t page);
  void request(uint32_t partition);
  /// A channel moves so many bytes at the offset `local` of a partition; about when it will have.
  double move(double now, uint32_t channel, uint64_t local, uint32_t bytes, bool write);
  /// Since begin_kernel().
  [[nodiscard]] TrafficCounts counts() const;

 private:
  /// Of a walk for `page` that begins now; its line of the page table is read from now on.
  double walk_of(uint64_t page);

  TrafficCounts counts_;  ///< but for the rows, which channels count
  // Translation.
  core::Divisor page_bytes_;
  std::vector<PageBuffer> sm_pages_, shared_pages_;
  uint32_t sms_per_buffer_ = 1;
  bool has_second_level_ = false;
  double second_latency_ = 0, walk_ = 0;
  double table_walk_ = 0;  ///< where another walk has read the page table's line
  core::Divisor pages_of_line_;
  std::vector<uint64_t> table_lines_;  ///< that have been read, in order
  std::vector<double> walkers_;        ///< free from
  BusiestOf partitions_, busiest_channel_;
  // DRAM: DramPlaces of components/dram.
  core::Divisor interleave_, channels_of_, groups_, group_bytes_, blocks_per_row_, banks_per_group_, banks_;
  bool hash_;
  double burst_bytes_, burst_cycles_;
  std::vector<RowWindow> channels_;
};

}  // namespace gpusim::analysis
