// The PTX opcode table as data: every base opcode, which modifiers and how many types and operands it takes,
// and the parsed modifier set of one statement. The rows stand in isa/ptx/opcodes.def. A new opcode is one
// row there, one function with its row in isa/exec/semantics, and its operand form in isa/lowering.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "isa/ptx/types.h"

namespace gpusim::isa {

enum class Opcode : uint16_t {
#define OPCODE(enumerator, ...) enumerator,
#include "isa/ptx/opcodes.def"
#undef OPCODE
  kCount
};

enum class CompareOp : uint8_t {
  kNone,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLo,
  kLs,
  kHi,
  kHs,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan
};
enum class BoolOp : uint8_t { kNone, kAnd, kOr, kXor };
/// Floating-point and float-to-integer roundings, as written.
enum class Rounding : uint8_t { kNone, kRn, kRz, kRm, kRp, kRni, kRzi, kRmi, kRpi, kRna };
enum class MulPart : uint8_t { kNone, kLo, kHi, kWide };
enum class AtomOp : uint8_t { kNone, kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExch, kCas };
enum class Semantics : uint8_t { kNone, kWeak, kVolatile, kRelaxed, kAcquire, kRelease, kAcqRel, kSc, kMmio };
enum class Scope : uint8_t { kNone, kCta, kCluster, kGpu, kSys };
enum class CacheOp : uint8_t { kNone, kCa, kCg, kCs, kLu, kCv, kWb, kWt };
enum class LaneOp : uint8_t { kNone, kAll, kAny, kUni, kBallot, kUp, kDown, kBfly, kIdx };
/// Geometry of tex: dimensions, and with an array of layers; the six faces of a cube.
enum class TextureShape : uint8_t { kNone, k1d, k2d, k3d, kA1d, kA2d, kCube, kACube };
/// How tex says which level of a texture it reads.
enum class TextureLod : uint8_t { kNone, kBase, kLevel, kGrad };
/// What txq asks for.
enum class TextureQuery : uint8_t {
  kNone,
  kWidth,
  kHeight,
  kDepth,
  kArraySize,
  kChannelDataType,
  kChannelOrder,
  kNormalizedCoords,
  kFilterMode,
  kAddressMode0,
  kAddressMode1,
  kAddressMode2,
  kLevels
};
/// Matrix of wmma.load and wmma.store.
enum class WmmaMatrix : uint8_t { kNone, kA, kB, kC, kD };
/// Rows x columns x inner dimension of a wmma operation.
enum class WmmaShape : uint8_t {
  kNone,
  kM16N16K16,
  kM8N32K16,
  kM32N8K16,
  kM8N8K4,
  kM16N16K8,
  kM8N8K32,
  kM8N8K128
};
enum class WmmaLayout : uint8_t { kNone, kRow, kCol };
enum class PrmtMode : uint8_t { kDefault, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };

/// The modifiers of one statement, parsed as a set (PTX files vary their order).
struct Modifiers {
  Type type = Type::kNone;   ///< the first type written: the operation's (cvt, set: the destination's)
  Type type2 = Type::kNone;  ///< the second type written (cvt, set, slct, dp4a: the source's)
  Type type3 = Type::kNone;
  Type type4 = Type::kNone;
  uint8_t vector = 1;     ///< .v2 .v4 .v8
  uint8_t pack_bits = 0;  ///< cvt.pack to .u4 .s4 .u2 .s2 (type: .u8 or .s8): 4 or 2
  Space space =
      Space::kNone;  ///< .global ...; kGeneric for ld/st/atom/red without one; cvta: the named space
  CompareOp compare = CompareOp::kNone;
  BoolOp bool_op = BoolOp::kNone;
  Rounding rounding = Rounding::kNone;
  MulPart part = MulPart::kNone;
  AtomOp atom = AtomOp::kNone;  ///< atom, red, redux, bar.red (kAnd, kOr; popc is kAdd)
  Semantics semantics = Semantics::kNone;
  Scope scope = Scope::kNone;  ///< also membar.cta/gl/sys (gl is kGpu)
  CacheOp cache = CacheOp::kNone;
  LaneOp lane_op = LaneOp::kNone;
  PrmtMode prmt = PrmtMode::kDefault;
  TextureShape texture = TextureShape::kNone;
  TextureLod lod = TextureLod::kNone;
  TextureQuery query = TextureQuery::kNone;
  WmmaMatrix matrix = WmmaMatrix::kNone;
  WmmaShape shape = WmmaShape::kNone;
  std::array<WmmaLayout, 2> layouts{};  ///< .row .col as written; wmma.mma: of A and of B
  uint8_t num_layouts = 0;              ///< how many were written
  uint8_t small_bits = 0;               ///< of wmma with .u4 .s4 (type .u8, .s8) or .b1 (.b32): 4 or 1
  uint8_t small_types = 0;              ///< how many of these were written
  bool ftz = false, sat = false, approx = false, full = false, cc = false, uni = false, sync = false,
       to = false;
  bool nc = false, wrap = false, clamp = false, left = false, right = false, shiftamt = false, relu = false;
  bool arrive = false, red = false, popc = false, aligned = false, noftz = false, nan = false,
       xorsign = false, abs = false, satfinite = false, oob = false;
  bool warp = false;            ///< bar.warp.sync
  bool cluster = false;         ///< .shared::cluster: shared memory of any block of the cluster
  char testp = 0;               ///< testp: f(inite) i(nfinite) n(umber) N(otanumber) m: normal s(ubnormal)
  uint64_t seen = 0;            ///< groups of modifiers (isa/ptx/modifier_groups.h) that were written
  uint8_t count = 0;            ///< modifiers and types that were written
  std::string unknown;          ///< first modifier that the table does not list; empty if none
  bool otherwise_good = false;  ///< `unknown` hides nothing: the rest of the statement is judged as usual
};

/// Static description of one base opcode.
struct OpcodeInfo {
  Opcode opcode = Opcode::kInvalid;
  std::string_view name;     ///< "add"
  uint8_t min_operands = 0;  ///< destinations included
  uint8_t max_operands = 0;
  uint8_t destinations = 0;  ///< leading operands that are written (0 for st, bra, ...)
  uint64_t types = 0;        ///< bit per isa::Type allowed as the first type; 0 = takes no type
  bool supported = true;     ///< false: parses, and is reported as not supported yet
  int ptx_version = 0;       ///< x 100, that it needs whatever its modifiers
  int sm = 10;               ///< lowest target that it needs whatever its modifiers
};

/// All rows, indexed by opcode.
[[nodiscard]] std::span<const OpcodeInfo> opcode_table();
[[nodiscard]] const OpcodeInfo& opcode_info(Opcode op);
/// Opcode of a base name ("add"); kInvalid if there is none.
[[nodiscard]] Opcode opcode_from_name(std::string_view name);
/// The valid name nearest to `name` by edit distance, empty if none is near.
[[nodiscard]] std::string_view nearest_opcode(std::string_view name);

}  // namespace gpusim::isa
