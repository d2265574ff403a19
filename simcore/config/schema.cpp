#include "simcore/config/schema.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <type_traits>
#include <vector>

#include "simcore/config/added_policies.h"
#include "simcore/config/schema_rows.h"

namespace gpusim::core {
namespace {

constexpr RetiredKey kRetired[] = {
    {"coalescer", "half_warps_per_cycle",
     "it never had an effect; leave the line out, and see coalescer.cycles_per_transaction"},
    {"constant", "l1_latency",
     "it never had an effect; leave the line out: an L1 hit takes latency.load_const"}};

constexpr std::string_view kSections[] = {
    "gpu",     "block_clusters", "host",      "clocks", "sm",   "scheduler", "instruction",
    "pipes",   "latency",        "coalescer", "lsu",    "l1",   "shared",    "constant",
    "texture", "interconnect",   "l2",        "tlb",    "dram", "dvfs",      "energy"};

constexpr std::string_view kTimingClasses[] = {
    "int",          "int64",       "int_mul24",      "int_mul",      "int_mul_wide", "int_mul64",
    "int_div_u32",  "int_div_s32", "int_div64",      "bit_count",    "fp32",         "fp32_mul",
    "half",         "fp32_div",    "fp32_div_rn",    "fp32_sqrt_rn", "fp32_rcp_rn",  "sfu_rcp",
    "sfu_rsqrt",    "sfu_sqrt",    "sfu_sin",        "fp64",         "fp64_div",     "fp64_sqrt",
    "cvt",          "cvt64",       "shared_operand", "warp",         "mma_half",     "mma_int8",
    "mma_fp64",     "wgmma_half",  "wgmma_int8",     "wgmma_load",   "special",      "load_global",
    "store_global", "atom_global", "load_local",     "store_local",  "load_shared",  "store_shared",
    "atom_shared",  "load_const",  "load_param",     "texture",      "branch",       "call",
    "barrier",      "fence",       "exit",           "nop",          "reconverge",   "fence_block"};

}  // namespace

std::span<const KeySpec> schema() {
  // Never destroyed: other threads of the program go on until its very end.
  static const auto& keys = *new auto([] {
    std::vector<KeySpec> all;
    for (const auto part : {sm_keys(), memory_keys(), power_keys()})
      all.insert(all.end(), part.begin(), part.end());
    insert_added_policies(all);
    return all;
  }());
  return keys;
}

namespace {

/// Calls fn(number) with a reference to the member if it is a whole number; true then.
template <class Fn>
bool visit_whole_number(const KeySpec& spec, MachineConfig& machine, Fn fn) {
  return std::visit(
      [&](const auto& member) {
        if constexpr (requires {
                        requires std::integral<std::remove_pointer_t<decltype(member(machine))>>;
                      }) {
          if constexpr (!std::is_same_v<decltype(member(machine)), bool*>) {
            fn(*member(machine));
            return true;
          }
        }
        return false;
      },
      spec.member);
}

}  // namespace

std::optional<int64_t> whole_number(const KeySpec& spec, MachineConfig& machine) {
  int64_t value = 0;
  const bool is = visit_whole_number(spec, machine, [&](auto& n) { value = static_cast<int64_t>(n); });
  return is ? std::optional(value) : std::nullopt;
}

bool set_whole_number(const KeySpec& spec, MachineConfig& machine, int64_t value) {
  return visit_whole_number(
      spec, machine, [value](auto& n) { n = static_cast<std::remove_reference_t<decltype(n)>>(value); });
}

double* real_number(const KeySpec& spec, MachineConfig& machine) {
  if (const auto* at = std::get_if<double* (*)(MachineConfig&)>(&spec.member)) return (*at)(machine);
  if (const auto* added = std::get_if<AddedReal>(&spec.member)) return (*added)(machine);
  return nullptr;
}

std::span<const RetiredKey> retired_keys() { return kRetired; }
std::span<const std::string_view> section_names() { return kSections; }
std::span<const std::string_view> timing_classes() { return kTimingClasses; }

std::span<const ComposedClass> composed_classes() {
  // Multiply-adds of one operation over the 32 lanes: 16 x 8 results of 16 products, f64 8 x 8 of 4.
  static constexpr ComposedClass kComposed[] = {
      {"int_mul_wide", "int_mul", 1},  {"half", "fp32", 1},
      {"call", "branch", 1},           {"reconverge", "branch", 1},
      {"fence_block", "fence", 1},     {"mma_half", "fp32", 64},
      {"mma_int8", "int_mul24", 64},   {"mma_fp64", "fp64", 8},
      {"wgmma_half", "mma_half", 1},   {"wgmma_int8", "mma_int8", 1},
      {"wgmma_load", "load_shared", 1}};
  return kComposed;
}

bool is_control_class(std::string_view timing_class) {
  static constexpr std::array<std::string_view, 8> kControl{"branch", "call", "barrier",    "fence",
                                                            "exit",   "nop",  "reconverge", "fence_block"};
  return std::ranges::find(kControl, timing_class) != kControl.end();
}

}  // namespace gpusim::core
