// What a program's run recorded, as vectors: for tests that compare it with a count of their own.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "components/testing/run_program.h"

namespace gpusim::comp::test {

struct RecordedKernel {
  struct Issue {
    uint64_t cycle, pc, warp;
  };
  struct Read {
    uint64_t issue, complete, pc, level;
  };
  std::vector<Issue> issues;          ///< in order of time (one SM)
  std::vector<Read> memory;           ///< warp accesses in order of completion
  std::vector<std::string> op_class;  ///< by pc
  std::map<std::string, double> counters;
  std::map<std::string, uint64_t> slots;
  uint64_t cycles = 0;

  /// Cycles at which `warp` issued operations of this class.
  [[nodiscard]] std::vector<uint64_t> cycles_of(const std::string& name, uint64_t warp = 0) const {
    std::vector<uint64_t> list;
    for (const Issue& i : issues)
      if (i.warp == warp && op_class[i.pc] == name) list.push_back(i.cycle);
    return list;
  }
  [[nodiscard]] uint64_t all_slots() const {
    uint64_t sum = 0;
    for (const auto& [cause, count] : slots) sum += count;
    return sum;
  }
};

/// Runs the program in a process of its own on one SM, with all events, and brings back its kernels.
inline std::vector<RecordedKernel> record_run(SimulationOptions options) {
  options.out = testing::TempDir() + "/recorded_" + std::to_string(getpid()) + ".h5";
  options.events = core::EventLevel::kAll;
  options.sms = 1;
  const Outcome o = run_apart(options);
  EXPECT_EQ(o.status, "complete") << o.reason;
  std::vector<RecordedKernel> kernels;
  if (o.status != "complete") return kernels;
  const core::RecordedFile file(options.out);
  for (const std::string& name : file.list("/kernels")) {
    const std::string group = "/kernels/" + name;
    RecordedKernel k;
    const auto cycle = file.numbers(group + "/events/issue", "cycle"),
               pc = file.numbers(group + "/events/issue", "pc"),
               warp = file.numbers(group + "/events/issue", "warp");
    for (size_t i = 0; i < cycle.size(); ++i) k.issues.push_back({cycle[i], pc[i], warp[i]});
    const std::string memory = group + "/events/memory";
    const auto issue = file.numbers(memory, "issue"), complete = file.numbers(memory, "complete"),
               at = file.numbers(memory, "pc"), level = file.numbers(memory, "level");
    for (size_t i = 0; i < issue.size(); ++i) k.memory.push_back({issue[i], complete[i], at[i], level[i]});
    k.op_class = file.texts(group + "/per_pc", "class");
    const auto names = file.texts(group + "/counters", "name");
    const auto values = file.reals(group + "/counters", "value");
    for (size_t i = 0; i < names.size(); ++i) k.counters[names[i]] = values[i];
    const auto causes = file.texts(group + "/issue_slots", "cause");
    const auto slots = file.numbers(group + "/issue_slots", "slots");
    for (size_t i = 0; i < causes.size(); ++i) k.slots[causes[i]] = slots[i];
    k.cycles = file.number_attribute(group, "cycles");
    kernels.push_back(std::move(k));
  }
  unlink(options.out.c_str());
  return kernels;
}

}  // namespace gpusim::comp::test
