// Stands in the place of an SmTlb on a machine whose addresses need no translation: every page is known.
#pragma once
#include <cstdint>

#include "components/lsu/tlb/sm_tlb.h"

namespace gpusim::comp {

class NoTlb {
 public:
  static constexpr bool kTranslates = false;
  NoTlb(const core::MachineConfig::Tlb& /*config*/, const SmTlb::Links& /*links*/) {}
  void enter(const TransactionList& /*list*/) {}
  void look_up(const TransactionList& /*list*/) {}
  [[nodiscard]] bool look_up_ahead(const TransactionList& /*list*/) { return true; }
  [[nodiscard]] bool idle() const { return true; }
  [[nodiscard]] bool knows(uint32_t /*t*/, uint64_t /*now*/) { return true; }
  bool collect(uint64_t /*now*/) { return false; }
  void send() {}
  [[nodiscard]] core::Cycle next_page() const { return core::kNever; }
  [[nodiscard]] bool has_to_ask() const { return false; }
  void forget() {}
  [[nodiscard]] const SmTlbStats& stats() const { return stats_; }

 private:
  SmTlbStats stats_;
};

}  // namespace gpusim::comp
