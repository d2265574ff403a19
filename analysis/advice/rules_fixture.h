// A recorded kernel that a test fills, for tests of rules.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analysis/advice/advise.h"
#include "simcore/config/load.h"

namespace gpusim::analysis::advice {

/// A V100 with a kernel of 32,000 warps, whose units a test fills.
class RulesTest : public testing::Test {
 protected:
  static constexpr uint64_t kCycles = 100'000, kWarps = 32'000, kSms = 80;

  RulesTest() {
    kernel.cycles = kCycles;
    kernel.counters = {{"warps", kWarps}, {"noc_requests", 0}, {"noc_requests_to_busiest", 0}};
    kernel.occupancy_limiter = "warps";
    kernel.per_sm.rows = kSms;
    for (uint64_t sm = 0; sm < kSms; ++sm) {
      kernel.per_sm.numbers["active_cycles"].push_back(kCycles);
      kernel.per_sm.numbers["active_warp_cycles"].push_back(kCycles * 64);
      kernel.per_sm.numbers["warps"].push_back(kWarps / kSms);
      kernel.per_sm.numbers["inst_executed"].push_back(1000);
    }
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
  }
  void unit(const char* name, const char* place, uint64_t instances, double share) {
    const auto busy = static_cast<uint64_t>(share * kCycles);
    kernel.units.push_back({name, place, "", instances, kCycles, busy * instances, busy, 0, instances});
  }
  /// An operation that all warps execute `times` times.
  void operation(const char* op_class, const char* ptx, uint64_t times,
                 const std::map<std::string, uint64_t>& counts = {}) {
    Table& t = kernel.per_pc;
    for (const char* column :
         {"executed", "active_lanes", "transactions", "requested_bytes", "transferred_bytes", "replays",
          "divergent", "slots_issued", "awaited_memory_dram", "awaited_memory_l1", "source_line", "ptx_line",
          "atomic_words"}) {
      t.numbers[column].push_back(0);
      if (const auto at = counts.find(column); at != counts.end())
        t.numbers[column].back() = at->second * kWarps;
    }
    t.numbers["executed"].back() = times * kWarps;
    if (!counts.contains("active_lanes")) t.numbers["active_lanes"].back() = 32 * times * kWarps;
    t.texts["ptx"].emplace_back(ptx);
    t.texts["class"].emplace_back(op_class);
    t.texts["source_file"].emplace_back("k.cu");
    ++t.rows;
  }
  [[nodiscard]] Facts facts() const { return {kernel, machine, resources, program}; }
  /// Names of the rules that propose something with a gain that is worth it.
  [[nodiscard]] std::vector<std::string> named() const {
    const Facts f = facts();
    std::vector<std::string> names;
    for (const Rule& rule : rules())
      if (const auto p = rule.propose(f); p && kCycles > kLeastGain * f.estimator().cycles(p->after))
        names.emplace_back(rule.name);
    return names;
  }
  /// For each operation, whether loaded values say its place.
  [[nodiscard]] static std::vector<bool> gathers(const Facts& f) {
    std::vector<bool> found;
    for (uint64_t pc = 0; pc < f.operations(); ++pc) found.push_back(f.origin(pc).of_data);
    return found;
  }
  [[nodiscard]] static double gain(const Facts& f, const Proposal& p) {
    return kCycles / f.estimator().cycles(p.after);
  }

  core::MachineConfig machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", {}, {});
  KernelRecord kernel;
  LaunchResources resources{256, 32, 0, 0};
  std::string program;  ///< its PTX
};

}  // namespace gpusim::analysis::advice
