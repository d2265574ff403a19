// The table of executable instruction forms: {opcode, types, variant} -> semantic function, timing class,
// flops. The functions are compiled three times (baseline x86-64, AVX2, AVX-512) from the *.inc files of this
// folder; each set has the same rows and gives the same bits. Lowering asks for a form once; nothing here is
// on the hot path.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "isa/exec/micro_op.h"
#include "isa/ptx/opcodes.h"

namespace gpusim::isa {

/// Instruction sets that the semantic functions are compiled for.
enum class SimdLevel : uint8_t { kBaseline, kAvx2, kAvx512 };
inline constexpr int kSimdLevels = 3;

/// True if this build has functions of `level` and this CPU can run them.
[[nodiscard]] bool simd_supported(SimdLevel level);
/// The widest level this CPU has.
[[nodiscard]] SimdLevel best_simd_level();
[[nodiscard]] std::string_view simd_level_name(SimdLevel level);

/// Variant bits of a form key: the modifiers that select another function. What is rare (directed roundings)
/// is instead read at run time from MicroOp::modifiers.
inline constexpr uint32_t kVarNone = 0;
inline constexpr uint32_t kVarFtz = 1u << 0;
inline constexpr uint32_t kVarSat = 1u << 1;
inline constexpr uint32_t kVarDirected =
    1u << 2;  ///< rounding, .ftz and .sat taken from MicroOp::modifiers (kMod*)
inline constexpr uint32_t kVarApprox = 1u << 3;
inline constexpr uint32_t kVarFull = 1u << 4;
inline constexpr uint32_t kVarLegacy = 1u << 5;  ///< mad.f32 of sm_1x: truncated product
inline constexpr uint32_t kVarHi = 1u << 6;
inline constexpr uint32_t kVarWide = 1u << 7;
inline constexpr uint32_t kVarNan = 1u << 8;
inline constexpr uint32_t kVarCarryIn = 1u << 9;
inline constexpr uint32_t kVarCarryOut = 1u << 10;
inline constexpr uint32_t kVarXorsign = 1u << 11;  ///< min, max: .xorsign.abs
inline constexpr uint32_t kVarAbs = 1u << 12;      ///< min, max of three: .abs
inline constexpr uint32_t kVarRelu = 1u << 13;
inline constexpr uint32_t kVarOob = 1u << 30;       ///< fma of halves: .oob
inline constexpr uint32_t kVarSeparate = 1u << 31;  ///< mad: the product is rounded as well
inline constexpr uint32_t kVarCompareShift = 14;    ///< CompareOp or AtomOp from here

/// Besides the type of C in the variant of a matrix operation on 8-bit integers: B is signed where A is not.
/// Of 8-bit floating point: B has the other format.
inline constexpr uint32_t kMmaOtherSign = 1u << 8;
/// Other matrix operations of mma.
inline constexpr uint32_t kMmaFourBits = 1u << 9;  ///< integers of 4 bits, not of 8
inline constexpr uint32_t kMmaSparse = 1u << 10;
inline constexpr uint32_t kMmaXor = 1u << 11;  ///< of single bits: those that differ count

/// MicroOp::modifiers of kVarDirected and of half-precision forms: rounding in the low bits, then flags.
enum RuntimeModifier : uint8_t {
  kModRn = 0,
  kModRz = 1,
  kModRm = 2,
  kModRp = 3,
  kModRoundMask = 3,
  kModFtz = 4,
  kModSat = 8,
  kModRelu = 16,
  kModNan = 32,
  kModXorsign = 64,
  kModSatfinite = 128,
};
/// Each 16 bits of what a copy puts where its box leaves a tensor whose map fills with a NaN, and the factor
/// of halves that fma.oob knows by it. The manual gives "OOB NaN" no bits; these are what public programs
/// measured on GPUs of compute capability 10.0 and 12.0.
inline constexpr uint16_t kOutsideTensor = 0x7ff7;
/// MicroOp::modifiers of kVarSeparate.
inline constexpr uint8_t kModNegateProduct = 1, kModNegateAddend = 2;

[[nodiscard]] constexpr uint64_t form_key(Opcode op, Type type, Type type2 = Type::kNone,
                                          uint32_t variant = 0) {
  return uint64_t(op) << 48 | uint64_t(type) << 40 | uint64_t(type2) << 32 | variant;
}
[[nodiscard]] constexpr uint32_t compare_variant(CompareOp c) { return uint32_t(c) << kVarCompareShift; }
[[nodiscard]] constexpr uint32_t atom_variant(AtomOp a) { return uint32_t(a) << kVarCompareShift; }

/// One executable form; exactly one of exec and mem is set.
struct SemanticRow {
  uint64_t key = 0;
  ExecFn exec = nullptr;
  MemFn mem = nullptr;
  OpClass op_class = OpClass::kNop;
  uint8_t flops = 0;
};

/// Makes each of `count` elements at `to` what red makes of it in global memory with the one at `from`.
using ReduceFn = void (*)(std::byte* to, const std::byte* from, uint32_t count);
/// Of the elements that cp.reduce.async.bulk takes; nullptr: they have no such operation.
[[nodiscard]] ReduceFn find_reduction(Type type, AtomOp operation);

/// The row of `key` compiled for `level`; nullptr if there is none.
[[nodiscard]] const SemanticRow* find_form(uint64_t key, SimdLevel level);
/// All rows of one level (tests compare the levels through it).
[[nodiscard]] std::span<const SemanticRow> all_forms(SimdLevel level);

}  // namespace gpusim::isa
