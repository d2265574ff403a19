// The memory partition with a slice of the L2 between the interconnect and its DRAM channels.
#pragma once
#include "components/l2/l2_slice.h"
#include "components/l2/memory_partition.h"

namespace gpusim::comp {

class L2Partition final : public MemoryPartition {
 public:
  L2Partition(const sc_core::sc_module_name& name, core::ClockDomain& domain,
              const core::MachineConfig& machine, uint32_t index, const EventSink* events);

  void empty_caches() override {
    MemoryPartition::empty_caches();
    l2_.forget();
  }
  [[nodiscard]] const L2Stats* l2_stats() const override { return &l2_.stats(); }
  [[nodiscard]] uint64_t l2_dirty_sectors() const override { return l2_.dirty_sectors(); }
  [[nodiscard]] std::string waiting_for() const override;
  [[nodiscard]] PartitionUse use(uint64_t now) const override;

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  [[nodiscard]] L2Times times(const core::MachineConfig& machine) const;
  void send_answer();
  /// False if the oldest request has to wait.
  [[nodiscard]] bool take_request(uint64_t now);

  L2Slice l2_;
  bool refused_ = false;  ///< the oldest request was looked at and has to wait
};

}  // namespace gpusim::comp
