#include "isa/ptx/opcodes.h"

#include <array>
#include <unordered_map>

#include "isa/ptx/diagnostics.h"

namespace gpusim::isa {
namespace {

constexpr uint64_t bit(Type t) { return uint64_t{1} << static_cast<int>(t); }
template <typename... T>
constexpr uint64_t bits(T... types) {
  return (bit(types) | ...);
}

using enum Type;
constexpr uint64_t kInts = bits(kU16, kU32, kU64, kS16, kS32, kS64);
constexpr uint64_t kInts32 = bits(kU32, kS32);
constexpr uint64_t kHalf = bits(kF16, kF16x2, kBF16, kBF16x2);
constexpr uint64_t kFloats = bits(kF32, kF64);
constexpr uint64_t kBits = bits(kB16, kB32, kB64);
constexpr uint64_t kWords = bits(kB32, kB64);
constexpr uint64_t kStored =
    bits(kB8, kB16, kB32, kB64, kB128, kU8, kU16, kU32, kU64, kS8, kS16, kS32, kS64, kF32, kF64);
constexpr uint64_t kMemory = kStored | kHalf;
constexpr uint64_t kMatrix = kMemory | bits(kTF32);
constexpr uint64_t kConverted = kInts | kFloats | kHalf | bits(kU8, kS8, kTF32, kE4M3x2, kE5M2x2);
constexpr uint64_t kCompared = kInts | kBits | kFloats | kHalf;
constexpr uint64_t kSelected = kInts | kBits | kFloats;
constexpr uint64_t kPairs = bits(kU16x2, kS16x2);
constexpr uint64_t kAnything = ~uint64_t{0};

constexpr OpcodeInfo kTable[] = {
#define OPCODE(enumerator, ...) {Opcode::enumerator, __VA_ARGS__},
#include "isa/ptx/opcodes.def"
#undef OPCODE
};

/// Further spellings of a row: the video family, and families that PTX spells with several first words.
constexpr std::pair<std::string_view, Opcode> kAliases[] = {
    {"brx", Opcode::kBrx},
    {"vsub", Opcode::kVideo},
    {"vabsdiff", Opcode::kVideo},
    {"vmin", Opcode::kVideo},
    {"vmax", Opcode::kVideo},
    {"vshl", Opcode::kVideo},
    {"vshr", Opcode::kVideo},
    {"vmad", Opcode::kVideo},
    {"vset", Opcode::kVideo},
    {"vadd2", Opcode::kVideo},
    {"vadd4", Opcode::kVideo},
    {"vsub2", Opcode::kVideo},
    {"vsub4", Opcode::kVideo},
    {"vavrg2", Opcode::kVideo},
    {"vavrg4", Opcode::kVideo},
    {"vabsdiff2", Opcode::kVideo},
    {"vabsdiff4", Opcode::kVideo},
    {"vmin2", Opcode::kVideo},
    {"vmin4", Opcode::kVideo},
    {"vmax2", Opcode::kVideo},
    {"vmax4", Opcode::kVideo},
    {"vset2", Opcode::kVideo},
    {"vset4", Opcode::kVideo},
    {"createpolicy", Opcode::kCpAsync},
    {"istypep", Opcode::kSuq},
    {"getctarank", Opcode::kMapa},
    {"clusterlaunchcontrol", Opcode::kCpAsync},
    {"tensormap.replace", Opcode::kTensormap},
};

const std::unordered_map<std::string_view, Opcode>& name_map() {
  // Never destroyed: other threads of the program go on until its very end, and use what was made last.
  static const auto& map = *new auto([] {
    std::unordered_map<std::string_view, Opcode> m;
    for (const OpcodeInfo& row : kTable) {
      if (row.opcode != Opcode::kInvalid) m.emplace(row.name, row.opcode);
    }
    for (const auto& [name, op] : kAliases) m.emplace(name, op);
    return m;
  }());
  return map;
}

}  // namespace

std::span<const OpcodeInfo> opcode_table() { return kTable; }

const OpcodeInfo& opcode_info(Opcode op) {
  const auto index = static_cast<size_t>(op);
  return kTable[index < std::size(kTable) ? index : 0];
}

Opcode opcode_from_name(std::string_view name) {
  const auto it = name_map().find(name);
  return it == name_map().end() ? Opcode::kInvalid : it->second;
}

std::string_view nearest_opcode(std::string_view name) {
  NearestName nearest(name);
  for (const OpcodeInfo& row : kTable) nearest.consider(row.name);
  for (const auto& [alias, op] : kAliases) nearest.consider(alias);
  return nearest.best();
}

}  // namespace gpusim::isa
