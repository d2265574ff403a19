// The rows of the schema, by part of the machine, in the order of a file; schema() is all of them.
#pragma once
#include <span>

#include "simcore/config/schema.h"

namespace gpusim::core {

[[nodiscard]] std::span<const KeySpec> sm_keys();
[[nodiscard]] std::span<const KeySpec> memory_keys();
[[nodiscard]] std::span<const KeySpec> power_keys();

// Columns of a row: section, key, kind, unit, default, min, max, choices, documentation, member.
using K = KeyKind;
#define AT(path) Member(+[](MachineConfig& m) { return &m.path; })
#define CHOICE(path)                                                                                 \
  Member(ChoiceMember{kWords<decltype(MachineConfig{}.path)>,                                        \
                      [](MachineConfig& m, size_t i) { m.path = static_cast<decltype(m.path)>(i); }, \
                      [](const MachineConfig& m) { return static_cast<size_t>(m.path); }})
inline constexpr double kBig = 1e12;

}  // namespace gpusim::core
