// What the energy of a run is made of: one term per coefficient of [energy], each in the clock domain whose
// voltage it depends on. Events cost (V / Vmax)^2 of their coefficient, for which the highest voltage of the
// domain's curve holds (switching energy C V^2); static power goes with V / Vmax (a leakage current that does
// not change); the board's share has no domain and does not scale. docs/statistics.md, "Energy".
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simcore/config/machine_config.h"

namespace gpusim::core {

enum class PowerDomain : uint8_t { kCore, kInterconnect, kDram, kBoard };
inline constexpr size_t kNumPowerDomains = 4;
inline constexpr std::array<std::string_view, kNumPowerDomains> kPowerDomainNames = {"core", "interconnect",
                                                                                     "dram", "board"};

enum class EnergyTerm : uint8_t {
  kIssue,
  kInt,
  kIntMul,
  kFp32,
  kHalf,
  kFp64,
  kSfu,
  kMmaHalf,
  kMmaInt8,
  kMmaFp64,
  kLaneAccess,
  kRegister,
  kShared,
  kL1,
  kConstant,
  kTexture,
  kCoreActive,
  kCoreClock,
  kCoreStatic,
  kL2,
  kFlit,
  kInterconnectClock,
  kInterconnectStatic,
  kDramActivate,
  kDramRead,
  kDramWrite,
  kDramRefresh,
  kDramClock,
  kDramStatic,
  kBoard,
  kCount
};
inline constexpr size_t kNumEnergyTerms = static_cast<size_t>(EnergyTerm::kCount);
/// A number per term: events since the start of the simulation, or joules.
using EnergyAmounts = std::array<double, kNumEnergyTerms>;

/// How a term grows.
enum class TermKind : uint8_t {
  kEvents,   ///< pJ for each event that is counted
  kActive,   ///< pJ for each cycle of each SM that holds a warp: counted like an event, but it goes with time
  kClock,    ///< pJ for each cycle of its domain while a kernel runs
  kRefresh,  ///< pJ for each refresh that falls due while a kernel runs
  kStatic,   ///< W while a kernel runs
};

struct TermInfo {
  const char* counter;  ///< name of the counter of a kernel
  PowerDomain domain;
  TermKind kind;
  double MachineConfig::Energy::*coefficient;  ///< pJ, or W
  const char* meaning;
};
/// In the order of EnergyTerm.
[[nodiscard]] const std::array<TermInfo, kNumEnergyTerms>& energy_terms();

/// The sum of all terms, or of those of one domain.
[[nodiscard]] double total(const EnergyAmounts& joules);
[[nodiscard]] double total(const EnergyAmounts& joules, PowerDomain domain);

}  // namespace gpusim::core
