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
constexpr uint64_t kConverted = kInts | kFloats | kHalf | bits(kU8, kS8);
constexpr uint64_t kCompared = kInts | kBits | kFloats | kHalf;
constexpr uint64_t kSelected = kInts | kBits | kFloats;
constexpr uint64_t kPairs = bits(kU16x2, kS16x2);
constexpr uint64_t kAnything = ~uint64_t{0};

// {opcode, name, min operands, max operands, destinations, first types, supported}
constexpr OpcodeInfo kTable[] = {
    {Opcode::kInvalid, "", 0, 0, 0, 0, false},
    // 9.7.1, 9.7.2 integer and extended-precision arithmetic; 9.7.3-9.7.5 floating point share the names
    {Opcode::kAdd, "add", 3, 3, 1, kInts | kPairs | kFloats | kHalf | bits(kF32x2), true},
    {Opcode::kSub, "sub", 3, 3, 1, kInts | kFloats | kHalf | bits(kF32x2), true},
    {Opcode::kMul, "mul", 3, 3, 1, kInts | kFloats | kHalf | bits(kF32x2), true},
    {Opcode::kMad, "mad", 4, 4, 1, kInts | kFloats, true},
    {Opcode::kMul24, "mul24", 3, 3, 1, kInts32, true},
    {Opcode::kMad24, "mad24", 4, 4, 1, kInts32, true},
    {Opcode::kSad, "sad", 4, 4, 1, kInts, true},
    {Opcode::kDiv, "div", 3, 3, 1, kInts | kFloats, true},
    {Opcode::kRem, "rem", 3, 3, 1, kInts, true},
    {Opcode::kAbs, "abs", 2, 2, 1, bits(kS16, kS32, kS64) | kFloats | kHalf, true},
    {Opcode::kNeg, "neg", 2, 2, 1, bits(kS16, kS32, kS64) | kFloats | kHalf, true},
    {Opcode::kMin, "min", 3, 4, 1, kInts | kPairs | kFloats | kHalf, true},
    {Opcode::kMax, "max", 3, 4, 1, kInts | kPairs | kFloats | kHalf, true},
    {Opcode::kPopc, "popc", 2, 2, 1, kWords, true},
    {Opcode::kClz, "clz", 2, 2, 1, kWords, true},
    {Opcode::kBfind, "bfind", 2, 2, 1, bits(kU32, kU64, kS32, kS64), true},
    {Opcode::kFns, "fns", 4, 4, 1, bits(kB32), true},
    {Opcode::kBrev, "brev", 2, 2, 1, kWords, true},
    {Opcode::kBfe, "bfe", 4, 4, 1, bits(kU32, kU64, kS32, kS64), true},
    {Opcode::kBfi, "bfi", 5, 5, 1, kWords, true},
    {Opcode::kBmsk, "bmsk", 3, 3, 1, bits(kB32), true},
    {Opcode::kSzext, "szext", 3, 3, 1, kInts32, true},
    {Opcode::kDp4a, "dp4a", 4, 4, 1, kInts32, true},
    {Opcode::kDp2a, "dp2a", 4, 4, 1, kInts32, true},
    {Opcode::kAddc, "addc", 3, 3, 1, bits(kU32, kS32, kU64, kS64), true},
    {Opcode::kSubc, "subc", 3, 3, 1, bits(kU32, kS32, kU64, kS64), true},
    {Opcode::kMadc, "madc", 4, 4, 1, bits(kU32, kS32, kU64, kS64), true},
    {Opcode::kFma, "fma", 4, 4, 1, kFloats | kHalf | bits(kF32x2), true},
    {Opcode::kRcp, "rcp", 2, 2, 1, kFloats, true},
    {Opcode::kSqrt, "sqrt", 2, 2, 1, kFloats, true},
    {Opcode::kRsqrt, "rsqrt", 2, 2, 1, kFloats, true},
    {Opcode::kSin, "sin", 2, 2, 1, bits(kF32), true},
    {Opcode::kCos, "cos", 2, 2, 1, bits(kF32), true},
    {Opcode::kLg2, "lg2", 2, 2, 1, bits(kF32), true},
    {Opcode::kEx2, "ex2", 2, 2, 1, bits(kF32) | kHalf, true},
    {Opcode::kTanh, "tanh", 2, 2, 1, bits(kF32) | kHalf, true},
    {Opcode::kCopysign, "copysign", 3, 3, 1, kFloats, true},
    {Opcode::kTestp, "testp", 2, 2, 1, kFloats, true},
    // 9.7.6, 9.7.7 comparison and selection
    {Opcode::kSet, "set", 3, 4, 1, bits(kU32, kS32, kF32, kU16, kS16) | kHalf, true},
    {Opcode::kSetp, "setp", 3, 4, 1, kCompared, true},
    {Opcode::kSelp, "selp", 4, 4, 1, kSelected, true},
    {Opcode::kSlct, "slct", 4, 4, 1, kSelected, true},
    // 9.7.8 logic and shift
    {Opcode::kAnd, "and", 3, 3, 1, kBits | bits(kPred), true},
    {Opcode::kOr, "or", 3, 3, 1, kBits | bits(kPred), true},
    {Opcode::kXor, "xor", 3, 3, 1, kBits | bits(kPred), true},
    {Opcode::kNot, "not", 2, 2, 1, kBits | bits(kPred), true},
    {Opcode::kCnot, "cnot", 2, 2, 1, kBits, true},
    {Opcode::kLop3, "lop3", 5, 6, 1, bits(kB32), true},
    {Opcode::kShf, "shf", 4, 4, 1, bits(kB32), true},
    {Opcode::kShl, "shl", 3, 3, 1, kBits, true},
    {Opcode::kShr, "shr", 3, 3, 1, kBits | kInts, true},
    // 9.7.9 data movement and conversion
    {Opcode::kMov, "mov", 2, 2, 1, kStored | bits(kPred), true},
    {Opcode::kShfl, "shfl", 4, 5, 1, bits(kB32), true},
    {Opcode::kPrmt, "prmt", 4, 4, 1, bits(kB32), true},
    {Opcode::kLd, "ld", 2, 3, 1, kStored, true},
    {Opcode::kLdu, "ldu", 2, 2, 1, kStored, true},
    {Opcode::kSt, "st", 2, 3, 0, kStored, true},
    {Opcode::kPrefetch, "prefetch", 1, 1, 0, 0, true},
    {Opcode::kPrefetchu, "prefetchu", 1, 1, 0, 0, true},
    {Opcode::kIsspacep, "isspacep", 2, 2, 1, 0, true},
    {Opcode::kCvta, "cvta", 2, 2, 1, bits(kU32, kU64), true},
    {Opcode::kCvt, "cvt", 2, 4, 1, kConverted, true},
    {Opcode::kCvtPack, "cvt.pack", 3, 4, 1, bits(kU8, kS8, kU16, kS16), true},
    {Opcode::kMapa, "mapa", 3, 3, 1, bits(kU32, kU64), false},
    // 9.7.10, 9.7.11 texture and surface
    {Opcode::kTex, "tex", 2, 8, 1, bits(kU32, kS32, kF32, kF16, kF16x2), true},
    {Opcode::kTld4, "tld4", 2, 8, 1, kMemory, false},
    {Opcode::kTxq, "txq", 2, 2, 1, bits(kB32), true},
    {Opcode::kSuld, "suld", 2, 2, 1, kMemory, false},
    {Opcode::kSust, "sust", 2, 2, 0, kMemory, false},
    {Opcode::kSured, "sured", 2, 2, 0, kMemory, false},
    {Opcode::kSuq, "suq", 2, 2, 1, bits(kB32), false},
    // 9.7.12 control flow
    {Opcode::kBra, "bra", 1, 1, 0, 0, true},
    {Opcode::kBrx, "brx.idx", 2, 2, 0, 0, true},
    {Opcode::kCall, "call", 1, 4, 0, 0, true},
    {Opcode::kRet, "ret", 0, 0, 0, 0, true},
    {Opcode::kExit, "exit", 0, 0, 0, 0, true},
    // 9.7.13 parallel synchronisation and communication
    {Opcode::kBar, "bar", 0, 4, 0, bits(kU32, kPred), true},
    {Opcode::kBarrier, "barrier", 0, 4, 0, bits(kU32, kPred), true},
    {Opcode::kMembar, "membar", 0, 0, 0, 0, true},
    {Opcode::kFence, "fence", 0, 2, 0, 0, true},
    {Opcode::kAtom, "atom", 3, 5, 1, kMemory, true},
    {Opcode::kRed, "red", 2, 3, 0, kMemory, true},
    {Opcode::kVote, "vote", 2, 3, 1, bits(kPred, kB32), true},
    {Opcode::kMatch, "match", 3, 3, 1, kWords, true},
    {Opcode::kActivemask, "activemask", 1, 1, 1, bits(kB32), true},
    {Opcode::kRedux, "redux", 3, 3, 1, bits(kU32, kS32, kB32, kF32), true},
    {Opcode::kElect, "elect", 2, 2, 1, 0, true},
    {Opcode::kGriddepcontrol, "griddepcontrol", 0, 0, 0, 0, true},
    // 9.7.19 miscellaneous, 9.7.16 stack manipulation
    {Opcode::kTrap, "trap", 0, 0, 0, 0, true},
    {Opcode::kBrkpt, "brkpt", 0, 0, 0, 0, true},
    {Opcode::kPmevent, "pmevent", 1, 1, 0, 0, true},
    {Opcode::kNanosleep, "nanosleep", 1, 1, 0, bits(kU32), true},
    {Opcode::kDiscard, "discard", 2, 2, 0, 0, true},
    {Opcode::kApplypriority, "applypriority", 2, 2, 0, 0, true},
    {Opcode::kStacksave, "stacksave", 1, 1, 1, bits(kU32, kU64), false},
    {Opcode::kStackrestore, "stackrestore", 1, 1, 0, bits(kU32, kU64), false},
    {Opcode::kAlloca, "alloca", 2, 3, 1, bits(kU32, kU64), false},
    {Opcode::kSetmaxnreg, "setmaxnreg", 1, 1, 0, bits(kU32), true},
    // known by name only
    {Opcode::kCpAsync, "cp", 0, 16, 0, kAnything, false},
    {Opcode::kAsync, "st.async", 0, 16, 0, kAnything, false},
    {Opcode::kFenceProxy, "fence.proxy", 0, 16, 0, kAnything, false},
    {Opcode::kBarrierCluster, "barrier.cluster", 0, 16, 0, kAnything, false},
    {Opcode::kMbarrier, "mbarrier", 0, 16, 0, kAnything, false},
    {Opcode::kLdmatrix, "ldmatrix", 0, 16, 0, kAnything, false},
    {Opcode::kStmatrix, "stmatrix", 0, 16, 0, kAnything, false},
    {Opcode::kMovmatrix, "movmatrix", 0, 16, 0, kAnything, false},
    {Opcode::kMma, "mma", 0, 16, 0, kAnything, false},
    {Opcode::kWmma, "wmma", 0, 16, 0, 0, true},
    {Opcode::kWmmaLoad, "wmma.load", 2, 3, 1, kMemory, true},
    {Opcode::kWmmaStore, "wmma.store", 2, 3, 0, kMemory, true},
    {Opcode::kWmmaMma, "wmma.mma", 4, 4, 1, kMemory, true},
    {Opcode::kWgmma, "wgmma", 0, 16, 0, kAnything, false},
    {Opcode::kTcgen05, "tcgen05", 0, 16, 0, kAnything, false},
    {Opcode::kTensormap, "tensormap", 0, 16, 0, kAnything, false},
    {Opcode::kMultimem, "multimem", 0, 16, 0, kAnything, false},
    {Opcode::kVideo, "vadd", 0, 16, 0, kAnything, false},
};
static_assert(std::size(kTable) == static_cast<size_t>(Opcode::kCount));
static_assert([] {
  for (size_t i = 0; i < std::size(kTable); ++i) {
    if (kTable[i].opcode != static_cast<Opcode>(i)) return false;
  }
  return true;
}());

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
  static const auto map = [] {
    std::unordered_map<std::string_view, Opcode> m;
    for (const OpcodeInfo& row : kTable) {
      if (row.opcode != Opcode::kInvalid) m.emplace(row.name, row.opcode);
    }
    for (const auto& [name, op] : kAliases) m.emplace(name, op);
    return m;
  }();
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
