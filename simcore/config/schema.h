// The schema of machine configurations: one row per key with kind, unit, default, range, documentation and
// the member of MachineConfig it fills. Parsing, validation, `gpusim config show`, `describe` and `diff` are
// all driven by it; a new key is one new row in schema_sm.cpp, schema_memory.cpp or schema_power.cpp.
// [pipes.NAME] and [latency] take timing classes as keys and are described apart.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "simcore/config/limits.h"
#include "simcore/config/machine_config.h"

namespace gpusim::core {

enum class KeyKind : uint8_t {
  kInteger,   ///< plain integer
  kSize,      ///< bytes; 16K
  kClock,     ///< kHz; 1296MHz
  kRate,      ///< bytes per second; 5.5GB/s
  kTime,      ///< ns; 10ns, 1.5us
  kDramTime,  ///< ns, or memory clock cycles: 12ck
  kEnergy,    ///< pJ; 20pJ, 1.5nJ
  kReal,
  kBoolean,
  kText,
  kChoice,      ///< one of `choices`: an enum, or the name of a policy (text)
  kCapability,  ///< compute capability, "1.3", stored x 10
};

/// A member that is an enum of simcore/config/choices.h.
struct ChoiceMember {
  std::span<const std::string_view> words;  ///< in the order of the enumerators
  void (*set)(MachineConfig&, size_t);
  size_t (*get)(const MachineConfig&);
};
/// A key of a policy that the program has added (simcore/config/added_policies.h).
struct AddedInteger {
  std::string_view name;
  int64_t* operator()(MachineConfig& machine) const {
    return &machine.scheduler.added_keys.integers[std::string(name)];
  }
};
struct AddedReal {
  std::string_view name;
  double* operator()(MachineConfig& machine) const {
    return &machine.scheduler.added_keys.reals[std::string(name)];
  }
};
/// The member of a MachineConfig that a key fills.
using Member =
    std::variant<uint32_t* (*)(MachineConfig&), uint64_t* (*)(MachineConfig&), int64_t* (*)(MachineConfig&),
                 double* (*)(MachineConfig&), bool* (*)(MachineConfig&), std::string* (*)(MachineConfig&),
                 ChoiceMember, AddedInteger, AddedReal>;

struct KeySpec {
  std::string_view section;
  std::string_view name;
  KeyKind kind;
  std::string_view unit;          ///< for documentation
  std::string_view default_text;  ///< as it would stand in a file, without quotes
  double min, max;                ///< numbers only, in stored units
  std::string_view choices;       ///< kChoice: "a|b"
  std::string_view doc;
  Member member;
};

/// The value of a member that is a whole number, whatever its type; none of another member.
[[nodiscard]] std::optional<int64_t> whole_number(const KeySpec& spec, MachineConfig& machine);
/// Sets such a member to a value that lies in the key's range; false for another member.
bool set_whole_number(const KeySpec& spec, MachineConfig& machine, int64_t value);
/// A member that is a real number; nullptr for another one.
[[nodiscard]] double* real_number(const KeySpec& spec, MachineConfig& machine);

/// All keys, grouped by section in file order.
[[nodiscard]] std::span<const KeySpec> schema();
/// A key of earlier versions, and what to do instead of writing it.
struct RetiredKey {
  std::string_view section, name, advice;
};
[[nodiscard]] std::span<const RetiredKey> retired_keys();
[[nodiscard]] std::span<const std::string_view> section_names();  ///< includes "pipes" and "latency"

/// Timing classes valid in [latency] and [pipes.*], in the order of isa::OpClass.
[[nodiscard]] std::span<const std::string_view> timing_classes();
/// A class whose work, on a machine without a pipe for it, is done by operations of another one.
struct ComposedClass {
  std::string_view name;
  std::string_view part;
  int64_t parts;
};
[[nodiscard]] std::span<const ComposedClass> composed_classes();
/// Classes that need no pipe: the control logic of the SM handles them.
[[nodiscard]] bool is_control_class(std::string_view timing_class);

inline constexpr int64_t kDefaultLatencyCycles = 24;  ///< of a class that [latency] does not name

}  // namespace gpusim::core
