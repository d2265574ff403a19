// The policies of a DRAM channel by name. The build lists them, GPUSIM_POLICY(name) for each.
#include <stdexcept>

#include "components/dram/refresh/dram_refresh.h"
#include "components/dram/row_policy/row_policy.h"
#include "components/dram/scheduler/dram_scheduler.h"

namespace gpusim::comp {

std::unique_ptr<DramScheduler> make_dram_scheduler(const core::MachineConfig::Dram& config) {
#define GPUSIM_POLICY(name)                                                                      \
  std::unique_ptr<DramScheduler> make_##name##_dram_scheduler(const core::MachineConfig::Dram&); \
  if (config.scheduler == #name) return make_##name##_dram_scheduler(config);
#include "policies/dram_scheduler.inc"
#undef GPUSIM_POLICY
  throw std::invalid_argument("no DRAM scheduler '" + config.scheduler + "'");
}

std::unique_ptr<RowPolicy> make_row_policy(const core::MachineConfig::Dram& config) {
#define GPUSIM_POLICY(name)                                                              \
  std::unique_ptr<RowPolicy> make_##name##_row_policy(const core::MachineConfig::Dram&); \
  if (config.page == #name) return make_##name##_row_policy(config);
#include "policies/row_policy.inc"
#undef GPUSIM_POLICY
  throw std::invalid_argument("no row policy '" + config.page + "'");
}

std::unique_ptr<DramRefresh> make_dram_refresh(const core::MachineConfig::Dram& config,
                                               const DramTiming& timing) {
#define GPUSIM_POLICY(name)                                                                 \
  std::unique_ptr<DramRefresh> make_##name##_dram_refresh(const core::MachineConfig::Dram&, \
                                                          const DramTiming&);               \
  if (config.refresh == #name) return make_##name##_dram_refresh(config, timing);
#include "policies/dram_refresh.inc"
#undef GPUSIM_POLICY
  throw std::invalid_argument("no refresh policy '" + config.refresh + "'");
}

}  // namespace gpusim::comp
