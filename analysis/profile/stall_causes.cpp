#include "analysis/profile/stall_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/recording/recording.h"
#include "analysis/report/text.h"

namespace gpusim::analysis {
namespace {

constexpr std::string_view kMemory = "memory dependency";

constexpr std::array<std::string_view, 11> kGroups{
    "issued",          "launch",    "drain",           "no warp",           kMemory,  "execution dependency",
    "synchronisation", "pipe busy", "memory throttle", "instruction fetch", "control"};

constexpr std::array<CauseInfo, 21> kCauses{{
    {"issued", "issued", "", "an instruction of a warp issued: useful work"},
    {"no_warp", "no warp", "",
     "the scheduler had no resident warp of this kernel, or the slot went to a kernel beside it: too few "
     "blocks for the machine, fewer warps on an SM than it has schedulers, an uneven last round, or blocks "
     "that wait for their turn to start"},
    {"launch", "launch", "",
     "no block of the kernel had started yet on any SM: the time that it takes to start a kernel"},
    {"drain", "drain", "",
     "all blocks of the kernel had ended on all SMs, but not all of its stores and atomics: they were on "
     "their way to memory"},
    {"memory_dram", kMemory, "stall_memory_dependency",
     "the warp waited for data of a global, local, texture or atomic access that device memory served"},
    {"memory_l1", kMemory, "stall_memory_dependency",
     "the warp waited for data of a global or local access that the SM's L1 data cache had"},
    {"memory_l2", kMemory, "stall_memory_dependency",
     "the warp waited for data of a global, local, texture or atomic access that the L2 had"},
    {"memory_tex_l1", kMemory, "stall_memory_dependency",
     "the warp waited for data of a texture or read-only access that the texture cache had"},
    {"memory_tex_l2", kMemory, "stall_memory_dependency",
     "the warp waited for data of a texture or read-only access that the second texture level had"},
    {"memory_shared", kMemory, "stall_exec_dependency", "the warp waited for data from shared memory"},
    {"memory_const_l1", kMemory, "stall_constant_memory_dependency",
     "the warp waited for a constant that the SM's own constant cache had"},
    {"memory_const_l2", kMemory, "stall_constant_memory_dependency",
     "the warp waited for a constant from the second constant cache level"},
    {"memory_const_l3", kMemory, "stall_constant_memory_dependency",
     "the warp waited for a constant from the third constant cache level, or from device memory behind it"},
    {"alu_dependency", "execution dependency", "stall_exec_dependency",
     "the warp waited for the result of its own earlier arithmetic: too few warps or too little independent "
     "work to fill the latency"},
    {"barrier", "synchronisation", "stall_sync",
     "the warp waited at a barrier for the other warps of its block"},
    {"fence", "synchronisation", "stall_sync",
     "the warp waited at a memory fence for its own stores, or slept (nanosleep)"},
    {"pipe_busy", "pipe busy", "stall_pipe_busy",
     "the warp's operands were ready, but the pipe that executes the operation was busy: throughput of that "
     "pipe, or replays by bank conflicts, is the limit"},
    {"memory_throttle", "memory throttle", "stall_memory_throttle",
     "the warp's operands were ready, but the load/store queue or the constant miss registers were full: "
     "more transactions than the memory system takes"},
    {"texture_throttle", "memory throttle", "stall_texture",
     "the warp's operands were ready, but the texture path was full: more texture reads than it holds"},
    {"inst_fetch", "instruction fetch", "stall_inst_fetch",
     "the warp's next instruction was not in the instruction cache: the code, or what the SM's warps execute "
     "of "
     "it at one time, is larger than the cache, or runs for the first time"},
    {"control", "control", "stall_other", "the warp's block was starting, or its branch was being resolved"},
}};

}  // namespace

std::span<const CauseInfo> cause_table() { return kCauses; }
std::span<const std::string_view> cause_groups() { return kGroups; }

CauseInfo cause_info(std::string_view name) {
  const auto* row = std::ranges::find(kCauses, name, &CauseInfo::name);
  if (row != kCauses.end()) return *row;
  // Only of a kernel that did not end.
  if (name == kPendingCause)
    return {
        kPendingCause, "other", "",
        "the run was cut off before the cause was known: a warp still waited for memory, or the SM had none"};
  return {name, "other", "stall_other", "a cause that this version of the program has no words for"};
}

bool has_no_warp(std::string_view cause) {
  return cause == "no_warp" || cause == "launch" || cause == "drain";
}
bool waits_for_memory(const CauseInfo& cause) { return cause.group == kMemory; }

std::string describe_causes() {
  std::string out;
  for (const CauseInfo& cause : kCauses) {
    out +=
        fmt::format("{} ({}{}{})\n", cause.name, cause.group, cause.stall.empty() ? "" : "; ", cause.stall);
    out += indented(cause.meaning);
  }
  return out;
}

}  // namespace gpusim::analysis
