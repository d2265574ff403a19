// What a machine can do at most, measured by runs of workloads/roofline/ceilings.ptx: arithmetic by type of
// number, with and without fused multiply-add, and the bandwidth of each level of memory. The roof of a
// kernel is that of the operations that it executes.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

/// Types of numbers whose arithmetic has a ceiling of its own.
enum class Arithmetic : uint8_t { kFp32, kFp64, kFp16 };
inline constexpr size_t kArithmetics = 3;
/// "FP32", "FP64", "FP16".
[[nodiscard]] std::string_view arithmetic_name(Arithmetic kind);

/// Threads that executed operations of one type, summed: with two floating-point operations or more (fused
/// multiply-adds, pairs) and with one.
struct Lanes {
  double fused = 0, single = 0;
  [[nodiscard]] double all() const { return fused + single; }
};

/// The floating-point operations that a kernel executed.
struct OperationMix {
  std::array<Lanes, kArithmetics> lanes{};
  double flops = 0;     ///< of these
  double matrices = 0;  ///< FLOPs of matrix operations, which no ceiling measures
  void add(const KernelRecord& kernel);
  /// "97 % FP64 (62 % of them fused), 3 % FP32": of its operations. Empty without any.
  [[nodiscard]] std::string text() const;
};

/// Measured at a number of SMs. 0: not measured, or the machine has no such level.
struct Ceiling {
  struct Rates {
    double fma = 0, add = 0;                   ///< FLOP/s with fused multiply-add and without
    double fused_lanes = 0, single_lanes = 0;  ///< threads' operations a second
    std::string pipe;                          ///< that executes them
  };
  uint32_t sms = 0;
  std::array<Rates, kArithmetics> rates{};
  double bandwidth = 0, l2 = 0, l1 = 0;  ///< bytes/s from DRAM, L2 and L1

  [[nodiscard]] const Rates& of(Arithmetic kind) const { return rates[static_cast<size_t>(kind)]; }
  /// "FP64": these operations have it, and its ceilings were not measured. Empty if there is none.
  [[nodiscard]] std::string_view lacks(const OperationMix& mix) const;
  /// FLOP/s of these operations if nothing else takes time; infinity if there are none that are measured.
  [[nodiscard]] double arithmetic(const OperationMix& mix) const;
  /// What a kernel of these operations and this intensity (FLOP/byte of DRAM) can reach at most, FLOP/s.
  [[nodiscard]] double roof(const OperationMix& mix, double intensity) const;
};

/// A kernel of ceilings.ptx.
[[nodiscard]] bool is_ceiling(std::string_view kernel);
/// Ceilings by number of SMs, from recordings that have the kernels of single precision and of DRAM at least.
/// Other kernels are passed over.
[[nodiscard]] std::vector<Ceiling> ceilings(std::span<const Recording> recordings);

}  // namespace gpusim::analysis
