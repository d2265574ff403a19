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
// Rows of the keys that policies declare (components/policy.h), in section POLICY_SECTION, whose members are
// those of POLICY_KEYS.
#define POLICY_INTEGER(name, unit, fallback, least, most, doc) \
  {POLICY_SECTION, #name, K::kInteger, unit, #fallback, least, most, "", doc, AT(POLICY_KEYS.name)},
#define POLICY_REAL(name, unit, fallback, least, most, doc) \
  {POLICY_SECTION, #name, K::kReal, unit, #fallback, least, most, "", doc, AT(POLICY_KEYS.name)},
inline constexpr double kBig = 1e12;

}  // namespace gpusim::core
