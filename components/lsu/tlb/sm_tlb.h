// First-level translation look-aside buffer of an SM, in front of its load/store unit: the pages of all
// transactions of a warp access are looked up together when the access comes to the head of the queue; each
// that is missing is asked of the second level, and each transaction waits for its own page. Time only:
// addresses are not changed. Plain class; the load/store unit calls it in its own stages, and the link wakes
// the SM when a page comes. Sources of the sizes: configuration [tlb].
#pragma once
#include <cstdint>
#include <vector>

#include "components/cache/tag_cache.h"
#include "components/lsu/coalescer.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"
#include "simcore/stats/counters.h"

namespace gpusim::comp {

/// SM to second level: translate a page; and back: it is translated.
struct PageMessage {
  uint64_t page = 0;  ///< address of its first byte
};

#define GPUSIM_SM_TLB_COUNTERS(COUNTER)                                             \
  COUNTER(hits, "tlb_l1_hits", "1", "pages of warp accesses found in the SM's TLB") \
  COUNTER(misses, "tlb_l1_misses", "1", "pages of warp accesses not found there")   \
  COUNTER(wait_cycles, "tlb_l1_wait_cycles", "core cycles",                         \
          "in which an SM's oldest access waited for a page, all SMs")

struct SmTlbStats {
  GPUSIM_COUNTERS(SmTlbStats, GPUSIM_SM_TLB_COUNTERS)
};

class SmTlb {
 public:
  struct Links {
    core::Link<PageMessage>* ask = nullptr;  ///< to the second level
    core::Link<PageMessage>* page = nullptr;
  };
  static constexpr bool kTranslates = true;  ///< NoTlb does not
  SmTlb(const core::MachineConfig::Tlb& config, const Links& links);
  SmTlb(const SmTlb&) = delete;  // the link of pages writes into it
  SmTlb& operator=(const SmTlb&) = delete;
  ~SmTlb() = default;

  /// A new access enters the queue: with tlb.look_ahead, asks for the pages that are missing.
  void enter(const TransactionList& list) {
    if (look_ahead_) ask_ahead(list);
  }
  /// A new access is at the head of the queue: looks its pages up.
  void look_up(const TransactionList& list);
  /// Looks pages up before the access comes to the head, if that can make no difference: all its pages are
  /// known and none is on its way. Otherwise false, and nothing is looked up.
  [[nodiscard]] bool look_up_ahead(const TransactionList& list);
  /// True if no page is on its way or has to be asked for.
  [[nodiscard]] bool idle() const { return on_the_way_ == 0 && to_ask_.empty(); }
  /// True if the page of transaction `t` of that access is known; else the access waits from `now` on.
  [[nodiscard]] bool knows(uint32_t t, uint64_t now);
  /// Takes the pages that have come; true if there was one.
  bool collect(uint64_t now) { return next_page_.count() <= now && take_pages(now); }
  /// Asks for a page if the link has room.
  void send() {
    if (has_to_ask()) ask();
  }
  /// When a page comes that has been translated already.
  [[nodiscard]] core::Cycle next_page() const { return next_page_; }
  /// True if a page has not been asked for yet.
  [[nodiscard]] bool has_to_ask() const { return !to_ask_.empty() && on_the_way_ < most_misses_; }
  /// Forgets all translations that it has.
  void forget() { tags_.invalidate(); }
  [[nodiscard]] const SmTlbStats& stats() const { return stats_; }

 private:
  static constexpr uint64_t kNotWaiting = ~0ull;
  [[nodiscard]] uint64_t page_of(uint64_t address) const { return tags_.line_of(address); }

  bool take_pages(uint64_t now);
  void ask();
  void ask_ahead(const TransactionList& list);
  void miss(uint64_t page);
  /// True if the page has been asked for, or will be.
  [[nodiscard]] bool is_expected(uint64_t page) const;

  core::Cycle next_page_ = core::kNever;  ///< when the oldest message of links_.page is visible
  Links links_;
  TagCache tags_;
  uint32_t most_misses_;
  bool look_ahead_;
  uint32_t on_the_way_ = 0;
  uint64_t known_ = 0;            ///< transactions of the access whose page is known, a bit each
  std::vector<uint64_t> pages_;   ///< of its transactions
  std::vector<uint64_t> to_ask_;  ///< missing pages, the next to ask for last
  std::vector<uint64_t> asked_;   ///< with tlb.look_ahead, those on their way
  uint64_t waits_since_ = kNotWaiting;
  SmTlbStats stats_;
};

}  // namespace gpusim::comp
