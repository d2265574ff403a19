// Which modifiers each opcode takes, by groups of names; private to isa/ptx/modifiers.cpp and
// isa/ptx/verifier/verifier*.cpp. PTX ISA manual, chapter 9, syntax of each instruction.
#pragma once
#include "isa/ptx/opcodes.h"

namespace gpusim::isa {

/// Groups of modifiers that opcodes take or refuse together.
enum Group : uint64_t {
  kFtz = 1u << 0,
  kSat = 1u << 1,
  kRound = 1u << 2,     // rn rz rm rp
  kRoundInt = 1u << 3,  // rni rzi rmi rpi
  kApprox = 1u << 4,
  kFull = 1u << 5,
  kCc = 1u << 6,
  kPart = 1u << 7,  // lo hi wide
  kCompare = 1u << 8,
  kBool = 1u << 9,
  kSpace = 1u << 10,
  kSemantics = 1u << 11,
  kScope = 1u << 12,
  kLoadCache = 1u << 13,  // cache operators of loads
  kVector = 1u << 14,
  kAtomOps = 1u << 15,
  kVoteOps = 1u << 16,
  kShflOps = 1u << 17,
  kPrmtModes = 1u << 18,
  kUni = 1u << 19,
  kSync = 1u << 20,
  kTo = 1u << 21,
  kNc = 1u << 22,
  kWrapClamp = 1u << 23,
  kLeftRight = 1u << 24,
  kShiftamt = 1u << 25,
  kRelu = 1u << 26,
  kBarOps = 1u << 27,  // arrive red warp
  kNoftz = 1u << 28,
  kNan = 1u << 29,
  kXorsign = 1u << 30,
  kTestpOps = uint64_t{1} << 31,
  kBarRed = uint64_t{1} << 32,  // popc and or of bar.red
  kIdx = uint64_t{1} << 33,
  kLevel = uint64_t{1} << 34,       // L1 L2
  kDependency = uint64_t{1} << 35,  // launch_dependents wait
  kIncDec = uint64_t{1} << 36,
  kAligned = uint64_t{1} << 37,
  kMask = uint64_t{1} << 38,
  kWmmaShapes = uint64_t{1} << 39,  // m16n16k16 ...
  kSatfinite = uint64_t{1} << 40,
  kTextureShapes = uint64_t{1} << 41,
  kTextureQueries = uint64_t{1} << 42,
  kWmmaKinds = uint64_t{1} << 43,    // load store mma
  kWmmaSources = uint64_t{1} << 44,  // a b c
  kWmmaResult = uint64_t{1} << 45,   // d
  kWmmaLayouts = uint64_t{1} << 46,  // row col
  kPackSizes = uint64_t{1} << 48,    // u4 s4 u2 s2
  kWmmaBits = uint64_t{1} << 47,     // and xor popc, of single bits
  kStoreCache = uint64_t{1} << 49,
  kEvictL1 = uint64_t{1} << 50,
  kEvictL2 = uint64_t{1} << 51,
  kPrefetchSize = uint64_t{1} << 52,
  kCacheHint = uint64_t{1} << 53,
  kAbsolute = uint64_t{1} << 54,
  kBarCta = uint64_t{1} << 55,  // bar.cta, barrier.cta
  kMembarLevel = uint64_t{1} << 56,
  kMmio = uint64_t{1} << 57,
  kWindow = uint64_t{1} << 58,        // shared::cta shared::cluster param::entry
  kParamFunc = uint64_t{1} << 59,     // param::func
  kLongPrefetch = uint64_t{1} << 60,  // L2::256B, a kPrefetchSize too
  kTextureLods = uint64_t{1} << 61,   // base level grad
  kWmmaSmall = uint64_t{1} << 62,     // u4 s4 b1
  kOob = uint64_t{1} << 63,
};

/// One of each may be written twice.
constexpr uint64_t kRepeatable = kSat | kCc | kApprox | kRelu | kNan | kSatfinite | kSync | kUni | kShiftamt |
                                 kWmmaLayouts | kWmmaBits | kWmmaSmall;
/// Part of the instruction's name: they stand right behind the opcode.
constexpr uint64_t kOfTheName = kPart | kTo | kLeftRight | kFull | kBarOps | kBarCta | kIdx | kMask | kIncDec;

constexpr uint64_t groups_of(Opcode op) {
  switch (op) {
    using enum Opcode;
    case kAdd:
    case kSub:
      return kFtz | kSat | kRound | kCc;
    case kMul:
      return kPart | kFtz | kSat | kRound;
    case kMad:
      return kPart | kFtz | kSat | kRound | kCc;
    case kMul24:
      return kPart;
    case kMad24:
      return kPart | kSat;
    case kDiv:
      return kRound | kApprox | kFull | kFtz;
    case kAbs:
    case kNeg:
      return kFtz;
    case kMin:
    case kMax:
      return kFtz | kNan | kXorsign | kAbsolute | kRelu;
    case kBfind:
      return kShiftamt;
    case kBmsk:
    case kSzext:
      return kWrapClamp;
    case kDp2a:
      return kPart;
    case kAddc:
    case kSubc:
      return kCc;
    case kMadc:
      return kPart | kCc;
    case kFma:
      return kRound | kFtz | kSat | kRelu | kOob;
    case kRcp:
    case kSqrt:
      return kRound | kApprox | kFtz;
    case kRsqrt:
    case kSin:
    case kCos:
    case kLg2:
    case kEx2:
      return kApprox | kFtz;
    case kTanh:
      return kApprox;
    case kMov:
      return kVector;
    case kTestp:
      return kTestpOps;
    case kSet:
    case kSetp:
      return kCompare | kBool | kFtz;
    case kSlct:
      return kFtz;
    case kLop3:
      return kBool;
    case kShf:
      return kLeftRight | kWrapClamp;
    case kShfl:
      return kSync | kShflOps;
    case kPrmt:
      return kPrmtModes;
    case kLd:
      return kSemantics | kMmio | kScope | kSpace | kWindow | kParamFunc | kLoadCache | kEvictL1 | kEvictL2 |
             kPrefetchSize | kLongPrefetch | kCacheHint | kVector | kNc;
    case kLdu:
      return kSpace | kVector;
    case kSt:
      return kSemantics | kMmio | kScope | kSpace | kWindow | kParamFunc | kStoreCache | kEvictL1 | kEvictL2 |
             kCacheHint | kVector;
    case kTex:
      return kTextureShapes | kTextureLods | kVector;
    case kTxq:
      return kTextureQueries | kTextureLods;
    case kPrefetch:
      return kSpace | kLevel | kEvictL2;
    case kPrefetchu:
      return kLevel;
    case kIsspacep:
      return kSpace | kWindow;
    case kCvta:
      return kTo | kSpace | kWindow;
    case kCvt:
      return kRound | kRoundInt | kFtz | kSat | kRelu | kSatfinite;
    case kCvtPack:
      return kSat | kPackSizes;
    case kBra:
    case kCall:
    case kRet:
      return kUni;
    case kBrx:
      return kUni | kIdx;
    case kBar:
    case kBarrier:
      return kSync | kBarOps | kBarRed | kBarCta | (op == kBarrier ? uint64_t{kAligned} : 0);
    case kMembar:
      return kMembarLevel;
    case kFence:
      return kSemantics | kScope;
    case kAtom:
    case kRed:
      return kSemantics | kScope | kSpace | kWindow | kAtomOps | kVector | kCacheHint | kNoftz;
    case kVote:
    case kMatch:
      return kSync | kVoteOps;
    case kRedux:
      return kSync | kAtomOps | kNan | kAbsolute;
    case kElect:
      return kSync;
    case kGriddepcontrol:
      return kDependency;
    case kPmevent:
      return kMask;
    case kDiscard:
      return kSpace | kLevel;
    case kApplypriority:
      return kSpace | kEvictL2;
    case kSetmaxnreg:
      return kIncDec | kSync | kAligned;
    case kWmma:
      return kWmmaKinds;
    case kWmmaLoad:
      return kSync | kAligned | kSpace | kWmmaLayouts | kWmmaShapes | kWmmaSources | kWmmaSmall;
    case kWmmaStore:
      return kSync | kAligned | kSpace | kWmmaLayouts | kWmmaShapes | kWmmaResult;
    case kWmmaMma:
      return kSync | kAligned | kRound | kSatfinite | kWmmaLayouts | kWmmaShapes | kWmmaBits | kWmmaSmall;
    default:
      return 0;
  }
}

}  // namespace gpusim::isa
