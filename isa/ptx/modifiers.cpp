#include "isa/ptx/modifiers.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>

#include "isa/ptx/diagnostics.h"
#include "isa/ptx/modifier_groups.h"

namespace gpusim::isa {
namespace {

struct Row {
  std::string_view name;
  uint64_t group;
  void (*apply)(Modifiers&);
};

void add_layout(Modifiers& m, WmmaLayout layout) {
  if (m.num_layouts < m.layouts.size()) m.layouts[m.num_layouts] = layout;
  if (m.num_layouts <= m.layouts.size()) ++m.num_layouts;
}

/// The first type of cvt.pack; a further one of these is none.
void pack_to(Modifiers& m, Type type, uint8_t bits) {
  (m.type == Type::kNone ? m.type : m.type4) = type;
  m.pack_bits = bits;
}

bool add_type(Type type, Modifiers& mods) {
  for (Type* slot : {&mods.type, &mods.type2, &mods.type3, &mods.type4}) {
    if (*slot == Type::kNone) {
      *slot = type;
      return true;
    }
  }
  return false;
}

/// Elements of a matrix that are smaller than a byte.
void add_small(Modifiers& m, Type type, uint8_t bits) {
  (void)add_type(type, m);  // small_types tells of one too many
  m.small_bits = bits;
  ++m.small_types;
}

// A name may mean different things to different opcodes; the first row whose group the opcode takes counts.
#define SET(field, value) [](Modifiers& m) { m.field = value; }
constexpr auto kNothing = [](Modifiers&) {};
const Row kRows[] = {
    {"ftz", kFtz, SET(ftz, true)},
    {"sat", kSat, SET(sat, true)},
    {"rn", kRound, SET(rounding, Rounding::kRn)},
    {"rz", kRound, SET(rounding, Rounding::kRz)},
    {"rm", kRound, SET(rounding, Rounding::kRm)},
    {"rp", kRound, SET(rounding, Rounding::kRp)},
    {"rni", kRoundInt, SET(rounding, Rounding::kRni)},
    {"rzi", kRoundInt, SET(rounding, Rounding::kRzi)},
    {"rmi", kRoundInt, SET(rounding, Rounding::kRmi)},
    {"rpi", kRoundInt, SET(rounding, Rounding::kRpi)},
    {"rna", kRoundInt, SET(rounding, Rounding::kRna)},
    {"approx", kApprox, SET(approx, true)},
    {"full", kFull, SET(full, true)},
    {"cc", kCc, SET(cc, true)},
    {"lo", kPart, SET(part, MulPart::kLo)},
    {"hi", kPart, SET(part, MulPart::kHi)},
    {"wide", kPart, SET(part, MulPart::kWide)},
    {"eq", kCompare, SET(compare, CompareOp::kEq)},
    {"ne", kCompare, SET(compare, CompareOp::kNe)},
    {"lt", kCompare, SET(compare, CompareOp::kLt)},
    {"le", kCompare, SET(compare, CompareOp::kLe)},
    {"gt", kCompare, SET(compare, CompareOp::kGt)},
    {"ge", kCompare, SET(compare, CompareOp::kGe)},
    {"lo", kCompare, SET(compare, CompareOp::kLo)},
    {"ls", kCompare, SET(compare, CompareOp::kLs)},
    {"hi", kCompare, SET(compare, CompareOp::kHi)},
    {"hs", kCompare, SET(compare, CompareOp::kHs)},
    {"equ", kCompare, SET(compare, CompareOp::kEqu)},
    {"neu", kCompare, SET(compare, CompareOp::kNeu)},
    {"ltu", kCompare, SET(compare, CompareOp::kLtu)},
    {"leu", kCompare, SET(compare, CompareOp::kLeu)},
    {"gtu", kCompare, SET(compare, CompareOp::kGtu)},
    {"geu", kCompare, SET(compare, CompareOp::kGeu)},
    {"num", kCompare, SET(compare, CompareOp::kNum)},
    {"nan", kCompare, SET(compare, CompareOp::kNan)},
    {"and", kBool, SET(bool_op, BoolOp::kAnd)},
    {"or", kBool, SET(bool_op, BoolOp::kOr)},
    {"xor", kBool, SET(bool_op, BoolOp::kXor)},
    {"const", kSpace, SET(space, Space::kConst)},
    {"global", kSpace, SET(space, Space::kGlobal)},
    {"local", kSpace, SET(space, Space::kLocal)},
    {"param", kSpace, SET(space, Space::kParam)},
    {"param::entry", kWindow, SET(space, Space::kParam)},
    {"param::func", kParamFunc, SET(space, Space::kParam)},
    {"shared", kSpace, SET(space, Space::kShared)},
    {"shared::cta", kWindow, SET(space, Space::kShared)},
    {"shared::cluster", kWindow, [](Modifiers& m) { m.space = Space::kShared, m.cluster = true; }},
    {"weak", kSemantics, SET(semantics, Semantics::kWeak)},
    {"volatile", kSemantics, SET(semantics, Semantics::kVolatile)},
    {"relaxed", kSemantics, SET(semantics, Semantics::kRelaxed)},
    {"acquire", kSemantics, SET(semantics, Semantics::kAcquire)},
    {"release", kSemantics, SET(semantics, Semantics::kRelease)},
    {"acq_rel", kSemantics, SET(semantics, Semantics::kAcqRel)},
    {"sc", kSemantics, SET(semantics, Semantics::kSc)},
    {"mmio", kMmio, SET(semantics, Semantics::kMmio)},
    {"cta", kBarCta, kNothing},
    {"cta", kScope | kMembarLevel, SET(scope, Scope::kCta)},
    {"cluster", kScope, SET(scope, Scope::kCluster)},
    {"gpu", kScope, SET(scope, Scope::kGpu)},
    {"gl", kMembarLevel, SET(scope, Scope::kGpu)},
    {"sys", kScope | kMembarLevel, SET(scope, Scope::kSys)},
    {"ca", kLoadCache, SET(cache, CacheOp::kCa)},
    {"cg", kLoadCache | kStoreCache, SET(cache, CacheOp::kCg)},
    {"cs", kLoadCache | kStoreCache, SET(cache, CacheOp::kCs)},
    {"lu", kLoadCache, SET(cache, CacheOp::kLu)},
    {"cv", kLoadCache, SET(cache, CacheOp::kCv)},
    {"wb", kStoreCache, SET(cache, CacheOp::kWb)},
    {"wt", kStoreCache, SET(cache, CacheOp::kWt)},
    {"L1::evict_normal", kEvictL1, kNothing},
    {"L1::evict_unchanged", kEvictL1, kNothing},
    {"L1::evict_first", kEvictL1, kNothing},
    {"L1::evict_last", kEvictL1, kNothing},
    {"L1::no_allocate", kEvictL1, kNothing},
    {"L2::evict_normal", kEvictL2, kNothing},
    {"L2::evict_first", kEvictL2, kNothing},
    {"L2::evict_last", kEvictL2, kNothing},
    {"L2::cache_hint", kCacheHint, kNothing},
    {"L2::64B", kPrefetchSize, kNothing},
    {"L2::128B", kPrefetchSize, kNothing},
    {"L2::256B", kPrefetchSize | kLongPrefetch, kNothing},
    {"L2", kLevel, kNothing},
    {"L1", kLevel, kNothing},
    {"v2", kVector, SET(vector, 2)},
    {"v4", kVector, SET(vector, 4)},
    {"v8", kVector, SET(vector, 8)},
    {"add", kAtomOps, SET(atom, AtomOp::kAdd)},
    {"min", kAtomOps, SET(atom, AtomOp::kMin)},
    {"max", kAtomOps, SET(atom, AtomOp::kMax)},
    {"inc", kAtomOps, SET(atom, AtomOp::kInc)},
    {"dec", kAtomOps, SET(atom, AtomOp::kDec)},
    {"and", kAtomOps | kBarRed, SET(atom, AtomOp::kAnd)},
    {"or", kAtomOps | kBarRed, SET(atom, AtomOp::kOr)},
    {"xor", kAtomOps, SET(atom, AtomOp::kXor)},
    {"exch", kAtomOps, SET(atom, AtomOp::kExch)},
    {"cas", kAtomOps, SET(atom, AtomOp::kCas)},
    {"all", kVoteOps, SET(lane_op, LaneOp::kAll)},
    {"any", kVoteOps, SET(lane_op, LaneOp::kAny)},
    {"uni", kVoteOps, SET(lane_op, LaneOp::kUni)},
    {"ballot", kVoteOps, SET(lane_op, LaneOp::kBallot)},
    {"up", kShflOps, SET(lane_op, LaneOp::kUp)},
    {"down", kShflOps, SET(lane_op, LaneOp::kDown)},
    {"bfly", kShflOps, SET(lane_op, LaneOp::kBfly)},
    {"idx", kShflOps, SET(lane_op, LaneOp::kIdx)},
    {"idx", kIdx, kNothing},
    {"f4e", kPrmtModes, SET(prmt, PrmtMode::kF4e)},
    {"b4e", kPrmtModes, SET(prmt, PrmtMode::kB4e)},
    {"rc8", kPrmtModes, SET(prmt, PrmtMode::kRc8)},
    {"ecl", kPrmtModes, SET(prmt, PrmtMode::kEcl)},
    {"ecr", kPrmtModes, SET(prmt, PrmtMode::kEcr)},
    {"rc16", kPrmtModes, SET(prmt, PrmtMode::kRc16)},
    {"uni", kUni, SET(uni, true)},
    {"sync", kSync, SET(sync, true)},
    {"to", kTo, SET(to, true)},
    {"nc", kNc, SET(nc, true)},
    {"wrap", kWrapClamp, SET(wrap, true)},
    {"clamp", kWrapClamp, SET(clamp, true)},
    {"l", kLeftRight, SET(left, true)},
    {"r", kLeftRight, SET(right, true)},
    {"shiftamt", kShiftamt, SET(shiftamt, true)},
    {"relu", kRelu, SET(relu, true)},
    {"oob", kOob, SET(oob, true)},
    {"arrive", kBarOps, SET(arrive, true)},
    {"red", kBarOps, SET(red, true)},
    {"popc", kBarRed,
     [](Modifiers& m) {
       m.popc = true;
       m.atom = AtomOp::kAdd;
     }},
    {"warp", kBarOps, SET(warp, true)},
    {"aligned", kAligned, SET(aligned, true)},
    {"noftz", kNoftz, SET(noftz, true)},
    {"NaN", kNan, SET(nan, true)},
    {"xorsign", kXorsign, SET(xorsign, true)},
    {"abs", kAbsolute, SET(abs, true)},
    {"satfinite", kSatfinite, SET(satfinite, true)},
    {"finite", kTestpOps, SET(testp, 'f')},
    {"infinite", kTestpOps, SET(testp, 'i')},
    {"number", kTestpOps, SET(testp, 'n')},
    {"notanumber", kTestpOps, SET(testp, 'N')},
    {"normal", kTestpOps, SET(testp, 'm')},
    {"subnormal", kTestpOps, SET(testp, 's')},
    {"launch_dependents", kDependency, kNothing},
    {"wait", kDependency, kNothing},
    {"inc", kIncDec, kNothing},
    {"dec", kIncDec, kNothing},
    {"mask", kMask, kNothing},
    {"1d", kTextureShapes, SET(texture, TextureShape::k1d)},
    {"2d", kTextureShapes, SET(texture, TextureShape::k2d)},
    {"3d", kTextureShapes, SET(texture, TextureShape::k3d)},
    {"a1d", kTextureShapes, SET(texture, TextureShape::kA1d)},
    {"a2d", kTextureShapes, SET(texture, TextureShape::kA2d)},
    {"cube", kTextureShapes, SET(texture, TextureShape::kCube)},
    {"acube", kTextureShapes, SET(texture, TextureShape::kACube)},
    {"base", kTextureLods, SET(lod, TextureLod::kBase)},
    {"level", kTextureLods, SET(lod, TextureLod::kLevel)},
    {"grad", kTextureLods, SET(lod, TextureLod::kGrad)},
    {"width", kTextureQueries, SET(query, TextureQuery::kWidth)},
    {"height", kTextureQueries, SET(query, TextureQuery::kHeight)},
    {"depth", kTextureQueries, SET(query, TextureQuery::kDepth)},
    {"array_size", kTextureQueries, SET(query, TextureQuery::kArraySize)},
    {"channel_data_type", kTextureQueries, SET(query, TextureQuery::kChannelDataType)},
    {"channel_order", kTextureQueries, SET(query, TextureQuery::kChannelOrder)},
    {"normalized_coords", kTextureQueries, SET(query, TextureQuery::kNormalizedCoords)},
    {"filter_mode", kTextureQueries, SET(query, TextureQuery::kFilterMode)},
    {"addr_mode_0", kTextureQueries, SET(query, TextureQuery::kAddressMode0)},
    {"addr_mode_1", kTextureQueries, SET(query, TextureQuery::kAddressMode1)},
    {"addr_mode_2", kTextureQueries, SET(query, TextureQuery::kAddressMode2)},
    {"num_mipmap_levels", kTextureQueries, SET(query, TextureQuery::kLevels)},
    {"u4", kPackSizes, [](Modifiers& m) { pack_to(m, Type::kU8, 4); }},
    {"s4", kPackSizes, [](Modifiers& m) { pack_to(m, Type::kS8, 4); }},
    {"u2", kPackSizes, [](Modifiers& m) { pack_to(m, Type::kU8, 2); }},
    {"s2", kPackSizes, [](Modifiers& m) { pack_to(m, Type::kS8, 2); }},
    {"load", kWmmaKinds, kNothing},
    {"store", kWmmaKinds, kNothing},
    {"mma", kWmmaKinds, kNothing},
    {"a", kWmmaSources, SET(matrix, WmmaMatrix::kA)},
    {"b", kWmmaSources, SET(matrix, WmmaMatrix::kB)},
    {"c", kWmmaSources, SET(matrix, WmmaMatrix::kC)},
    {"d", kWmmaResult, SET(matrix, WmmaMatrix::kD)},
    {"row", kWmmaLayouts, [](Modifiers& m) { add_layout(m, WmmaLayout::kRow); }},
    {"col", kWmmaLayouts, [](Modifiers& m) { add_layout(m, WmmaLayout::kCol); }},
    {"m16n16k16", kWmmaShapes, SET(shape, WmmaShape::kM16N16K16)},
    {"m16n16k8", kWmmaShapes, SET(shape, WmmaShape::kM16N16K8)},
    {"m8n32k16", kWmmaShapes, SET(shape, WmmaShape::kM8N32K16)},
    {"m32n8k16", kWmmaShapes, SET(shape, WmmaShape::kM32N8K16)},
    {"m8n8k4", kWmmaShapes, SET(shape, WmmaShape::kM8N8K4)},
    {"m8n8k32", kWmmaShapes, SET(shape, WmmaShape::kM8N8K32)},
    {"m8n8k128", kWmmaShapes, SET(shape, WmmaShape::kM8N8K128)},
    {"u4", kWmmaSmall, [](Modifiers& m) { add_small(m, Type::kU8, 4); }},
    {"s4", kWmmaSmall, [](Modifiers& m) { add_small(m, Type::kS8, 4); }},
    {"b1", kWmmaSmall, [](Modifiers& m) { add_small(m, Type::kB32, 1); }},
    {"and", kWmmaBits, SET(bool_op, BoolOp::kAnd)},
    {"xor", kWmmaBits, SET(bool_op, BoolOp::kXor)},
    {"popc", kWmmaBits, SET(popc, true)},
};
#undef SET

// Legal PTX of opcodes that are supported without it: told apart from a spelling mistake.
struct Unsupported {
  Opcode opcode;
  std::string_view name;
};

using enum Opcode;
constexpr Unsupported kUnsupported[] = {
    {kCvt, "e2m1x2"},      {kCvt, "e2m3x2"},
    {kCvt, "e3m2x2"},      {kCvt, "e4m3x4"},
    {kCvt, "e5m2x4"},      {kCvt, "e2m1x4"},
    {kCvt, "e2m3x4"},      {kCvt, "e3m2x4"},
    {kCvt, "ue8m0x2"},     {kCvt, "rs"},
    {kTex, "2dms"},        {kTex, "a2dms"},
    {kTxq, "num_samples"}, {kTxq, "force_unnormalized_coords"},
};

const std::unordered_multimap<std::string_view, const Row*>& row_map() {
  static const auto& map = *new auto([] {  // never destroyed, as in opcodes.cpp
    std::unordered_multimap<std::string_view, const Row*> m;
    for (const Row& row : kRows) m.emplace(row.name, &row);
    return m;
  }());
  return map;
}

const Row* find_row(std::string_view name, uint64_t groups) {
  const auto [first, last] = row_map().equal_range(name);
  const Row* found = nullptr;
  for (auto it = first; it != last; ++it) {
    if ((it->second->group & groups) != 0 && (found == nullptr || it->second < found)) found = it->second;
  }
  return found;
}

}  // namespace

ModifierFit apply_modifier(Opcode op, std::string_view name, Modifiers& mods) {
  const uint8_t place = mods.count++;
  if (const Type type = type_from_name(name); type != Type::kNone && add_type(type, mods))
    return ModifierFit::kGood;
  if (!opcode_info(op).supported) {
    if (const Row* row = find_row(name, ~uint64_t{0})) row->apply(mods);
    return ModifierFit::kGood;
  }
  if (const Row* row = find_row(name, groups_of(op))) {
    const uint64_t groups = row->group & groups_of(op);
    if ((groups & kOfTheName) != 0 && place != ((mods.seen & kBarCta) != 0 ? 1 : 0))
      return ModifierFit::kMisplaced;
    constexpr uint64_t kSpaces = kSpace | kWindow | kParamFunc, kRoundings = kRound | kRoundInt;
    const uint64_t alike = (groups & kRoundings) != 0 ? kRoundings
                           : (groups & kSpaces) != 0  ? kSpaces
                                                      : groups;
    if ((alike & mods.seen & ~kRepeatable) != 0) return ModifierFit::kSecond;
    mods.seen |= groups;
    row->apply(mods);
    return ModifierFit::kGood;
  }
  if (mods.unknown.empty()) mods.unknown = name;
  // Those of testp mean nothing elsewhere, and ptxas takes them everywhere.
  if (find_row(name, kTestpOps) != nullptr) {
    mods.otherwise_good = mods.unknown == name;
    return ModifierFit::kGood;
  }
  return is_unsupported_modifier(op, name) ? ModifierFit::kGood : ModifierFit::kNotTaken;
}

Opcode joined_opcode(Opcode op, std::string_view name) {
  struct Joined {
    Opcode first;
    std::string_view second;
    Opcode opcode;
  };
  constexpr Joined kJoined[] = {
      {kCvt, "pack", kCvtPack},
      {kWmma, "load", kWmmaLoad},
      {kWmma, "store", kWmmaStore},
      {kWmma, "mma", kWmmaMma},
      {kBarrier, "cluster", kBarrierCluster},
      {kFence, "proxy", kFenceProxy},
      {kFence, "mbarrier_init", kFenceProxy},
      {kFence, "sync_restrict::shared::cta", kFenceProxy},
      {kFence, "sync_restrict::shared::cluster", kFenceProxy},
      {kMembar, "proxy", kFenceProxy},
      {kSt, "async", kAsync},
      {kSt, "bulk", kAsync},
      {kRed, "async", kAsync},
      {kPrefetch, "tensormap", kCpAsync},
  };
  for (const Joined& j : kJoined) {
    if (j.first == op && j.second == name) return j.opcode;
  }
  return kInvalid;
}

void finish_modifiers(Opcode op, Modifiers& mods) {
  const bool memory = op == Opcode::kLd || op == Opcode::kLdu || op == Opcode::kSt || op == Opcode::kAtom ||
                      op == Opcode::kRed || op == Opcode::kPrefetch || op == Opcode::kPrefetchu ||
                      op == Opcode::kWmmaLoad || op == Opcode::kWmmaStore;
  if (memory && mods.space == Space::kNone) mods.space = Space::kGeneric;
}

ParsedOpcode parse_opcode(std::string_view text) {
  ParsedOpcode result;
  size_t dot = text.find('.');
  result.opcode = opcode_from_name(text.substr(0, dot));
  while (dot != std::string_view::npos) {
    const size_t next = text.find('.', dot + 1);
    const std::string_view name =
        text.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1);
    if (const Opcode joined = joined_opcode(result.opcode, name); joined != Opcode::kInvalid) {
      result.opcode = joined;
    } else {
      apply_modifier(result.opcode, name, result.mods);
    }
    dot = next;
  }
  finish_modifiers(result.opcode, result.mods);
  return result;
}

bool is_known_modifier(std::string_view name) {
  return type_from_name(name) != Type::kNone || row_map().count(name) != 0;
}

bool is_unsupported_modifier(Opcode op, std::string_view name) {
  return std::any_of(std::begin(kUnsupported), std::end(kUnsupported),
                     [&](const Unsupported& u) { return u.opcode == op && u.name == name; });
}

std::string_view nearest_modifier(Opcode op, std::string_view name) {
  NearestName nearest(name);
  const uint64_t groups = groups_of(op);
  for (const Row& row : kRows) {
    if ((row.group & groups) != 0) nearest.consider(row.name);
  }
  const uint64_t types = opcode_info(op).types;
  for (int t = 1; t < 64 && type_name(static_cast<Type>(t)) != ""; ++t) {
    if ((types >> t) & 1u) nearest.consider(type_name(static_cast<Type>(t)));
  }
  return nearest.best();
}

}  // namespace gpusim::isa
