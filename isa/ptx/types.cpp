#include "isa/ptx/types.h"

#include <array>
#include <utility>

namespace gpusim::isa {
namespace {

constexpr std::array<std::pair<std::string_view, Type>, 29> kTypeNames{{
    {"pred", Type::kPred},       {"b8", Type::kB8},
    {"b16", Type::kB16},         {"b32", Type::kB32},
    {"b64", Type::kB64},         {"b128", Type::kB128},
    {"u8", Type::kU8},           {"u16", Type::kU16},
    {"u32", Type::kU32},         {"u64", Type::kU64},
    {"s8", Type::kS8},           {"s16", Type::kS16},
    {"s32", Type::kS32},         {"s64", Type::kS64},
    {"f16", Type::kF16},         {"f16x2", Type::kF16x2},
    {"bf16", Type::kBF16},       {"bf16x2", Type::kBF16x2},
    {"f32", Type::kF32},         {"f64", Type::kF64},
    {"texref", Type::kTexRef},   {"samplerref", Type::kSamplerRef},
    {"surfref", Type::kSurfRef}, {"u16x2", Type::kU16x2},
    {"s16x2", Type::kS16x2},     {"f32x2", Type::kF32x2},
    {"tf32", Type::kTF32},       {"e4m3x2", Type::kE4M3x2},
    {"e5m2x2", Type::kE5M2x2},
}};

}  // namespace

std::string_view type_name(Type t) {
  for (const auto& [name, type] : kTypeNames) {
    if (type == t) return name;
  }
  return "";
}

Type type_from_name(std::string_view name) {
  for (const auto& [text, type] : kTypeNames) {
    if (text == name) return type;
  }
  return Type::kNone;
}

std::string_view space_name(Space s) {
  switch (s) {
    case Space::kNone:
      return "";
    case Space::kReg:
      return "reg";
    case Space::kSreg:
      return "sreg";
    case Space::kConst:
      return "const";
    case Space::kGlobal:
      return "global";
    case Space::kLocal:
      return "local";
    case Space::kParam:
      return "param";
    case Space::kShared:
      return "shared";
    case Space::kTex:
      return "tex";
    case Space::kGeneric:
      return "generic";
  }
  return "";
}

}  // namespace gpusim::isa
