// A recording small enough to compute every metric of it by hand, written by the real recorder. Two SMs of a
// Tesla C1060, 20 cycles (10 issue slots each), four operations: a global load, an addition that waits for
// it, a shared-memory store with a conflict, a branch. Tests change members before write().
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/config/load.h"
#include "simcore/record/recorder.h"

namespace gpusim::analysis::test {

struct SmallRecording {
  using Row = std::map<std::string, uint64_t>;
  struct Operation {
    std::string ptx, op_class, source_file;
    Row values;
    std::string inlined_file{};
  };

  core::MachineConfig machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_c1060.cfg", {}, {});
  std::string config_text = core::show_machine(machine, false);
  std::string status = "complete", reason;
  std::string launch_text, command = "gpusim test", ptx = ".version 1.4\n";
  uint64_t cycles = 20, kernels = 1, finished_kernels = 1;
  std::vector<std::string> causes{"issued",         "no_warp",     "barrier",
                                  "alu_dependency", "memory_dram", "pipe_busy"};
  Row totals{{"issued", 6},         {"no_warp", 6},     {"barrier", 1},
             {"alu_dependency", 2}, {"memory_dram", 4}, {"pipe_busy", 1}};
  std::vector<std::string> sm_columns{"sm",
                                      "blocks",
                                      "inst_executed",
                                      "inst_issued",
                                      "active_cycles",
                                      "active_warp_cycles",
                                      "load_transactions",
                                      "store_transactions"};
  std::vector<Row> sms{{{"sm", 0},
                        {"inst_executed", 4},
                        {"inst_issued", 6},
                        {"active_cycles", 18},
                        {"active_warp_cycles", 36},
                        {"load_transactions", 4},
                        {"slots_issued", 4},
                        {"slots_no_warp", 1},
                        {"slots_barrier", 1},
                        {"slots_alu_dependency", 1},
                        {"slots_memory_dram", 2},
                        {"slots_pipe_busy", 1}},
                       {{"sm", 1},
                        {"inst_executed", 2},
                        {"inst_issued", 2},
                        {"active_cycles", 10},
                        {"active_warp_cycles", 10},
                        {"slots_issued", 2},
                        {"slots_no_warp", 5},
                        {"slots_alu_dependency", 1},
                        {"slots_memory_dram", 2}}};
  std::vector<std::string> pc_columns{
      "pc",           "ptx_line",        "source_line",       "executed", "active_lanes",
      "transactions", "requested_bytes", "transferred_bytes", "replays",  "awaited_memory_dram"};
  std::vector<Operation> operations{
      {"ld.global.f32 %f1, [%r1+0]",
       "load_global",
       "k.cu",
       {{"pc", 0},
        {"ptx_line", 10},
        {"source_line", 3},
        {"executed", 2},
        {"active_lanes", 48},
        {"transactions", 4},
        {"requested_bytes", 192},
        {"transferred_bytes", 256},
        {"awaited_memory_dram", 4},
        {"slots_issued", 2},
        {"slots_pipe_busy", 1}}},
      {"add.f32 %f2, %f1, %f1",
       "fp32",
       "k.cu",
       {{"pc", 1},
        {"ptx_line", 11},
        {"source_line", 4},
        {"executed", 2},
        {"active_lanes", 64},
        {"slots_issued", 2},
        {"slots_alu_dependency", 2},
        {"slots_memory_dram", 4}}},
      {"st.shared.f32 [%r2+0], %f2",
       "store_shared",
       "",
       {{"pc", 2},
        {"ptx_line", 12},
        {"executed", 1},
        {"active_lanes", 32},
        {"transactions", 4},
        {"requested_bytes", 128},
        {"replays", 2},
        {"slots_issued", 1},
        {"slots_barrier", 1}}},
      {"bra $L1",
       "branch",
       "",
       {{"pc", 3}, {"ptx_line", 13}, {"executed", 1}, {"active_lanes", 32}, {"slots_issued", 1}}}};
  std::map<std::string, double> counters{{"inst_executed", 6},
                                         {"inst_issued", 8},
                                         {"warp_instructions", 7},
                                         {"thread_instructions", 200},
                                         {"branch", 1},
                                         {"divergent_branch", 1},
                                         {"warps", 2},
                                         {"gld_request", 2},
                                         {"gst_request", 0},
                                         {"local_load", 0},
                                         {"local_store", 0},
                                         {"atom_count", 0},
                                         {"shared_load", 0},
                                         {"shared_store", 1},
                                         {"l1_shared_bank_conflict", 2},
                                         {"dram_read_transactions", 8},
                                         {"dram_write_transactions", 0}};
  core::EventLevel level = core::EventLevel::kSummary;
  std::vector<core::KernelAttribute> attributes;  ///< besides those that every kernel here has
  std::function<void(core::Recorder&)> events;    ///< writes those of each kernel that ended

  /// Writes the file and returns its path.
  [[nodiscard]] std::string write(const std::string& path) const;

 private:
  void write_tables(core::Recorder& recorder) const;
};

/// A fresh path in the test's folder.
[[nodiscard]] std::string temp_path(const std::string& name);

}  // namespace gpusim::analysis::test
