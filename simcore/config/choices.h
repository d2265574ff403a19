// Keys that take one of a few words: an enum each, whose enumerators stand in the order of kWords.
// load_machine() turns the word into the enumerator, once.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "simcore/set_index.h"

namespace gpusim::core {

enum class BlockDispatch : uint8_t { kBreadthFirst, kDepthFirst };
enum class KernelDispatch : uint8_t { kOldest, kInTurn };
enum class Dependences : uint8_t { kScoreboard, kControlCodes };
/// Compute capability 1.0/1.1, 1.2/1.3, and 2.0 or later.
enum class CoalescingRule : uint8_t { kCc10, kCc12, kCc20 };
/// When a missing line takes its frame.
enum class AllocateOn : uint8_t {
  kMiss,        ///< as it is asked for: while all frames of its set wait for lines, a load has to wait
  kMissOrPass,  ///< the same, but then the line comes for those who asked for it and is not kept
  kFill,        ///< as it comes
};
/// What a store does to a line that is there: it goes on to the L2 and updates the line, goes on and evicts
/// it, or stays.
enum class WriteHit : uint8_t { kThrough, kEvict, kBack, kBoth };
enum class TextureCache : uint8_t { kNone, kOwn, kL1 };
enum class TextureScope : uint8_t { kSm, kCluster };
/// How an output of the interconnect takes its inputs in turn.
enum class Arbitration : uint8_t {
  kRoundRobin,  ///< the next after the one it took last
  kOldest,      ///< the message that has been in the network for longest; of equals the first input's
};
enum class PartitionHash : uint8_t { kModulo, kXor, kPolynomial, kScatter };
enum class TlbScope : uint8_t { kGpu, kCluster };
enum class Governor : uint8_t { kFixed, kUtilisation, kMemoryStall };

/// The words of E. Only enums of configuration keys have some.
template <class E>
inline constexpr int kWords = 0;
#define GPUSIM_WORDS(E, ...) \
  template <>                \
  inline constexpr auto kWords<E> = std::to_array<std::string_view>({__VA_ARGS__})
GPUSIM_WORDS(BlockDispatch, "breadth_first", "depth_first");
GPUSIM_WORDS(KernelDispatch, "oldest", "in_turn");
GPUSIM_WORDS(Dependences, "scoreboard", "control_codes");
GPUSIM_WORDS(CoalescingRule, "cc10", "cc12", "cc20");
GPUSIM_WORDS(AllocateOn, "miss", "miss_or_pass", "fill");
GPUSIM_WORDS(WriteHit, "through", "evict", "back", "both");
GPUSIM_WORDS(TextureCache, "none", "own", "l1");
GPUSIM_WORDS(TextureScope, "sm", "cluster");
GPUSIM_WORDS(Arbitration, "round_robin", "oldest");
GPUSIM_WORDS(PartitionHash, "modulo", "xor", "polynomial", "scatter");
GPUSIM_WORDS(TlbScope, "gpu", "cluster");
GPUSIM_WORDS(Governor, "fixed", "utilisation", "memory_stall");
GPUSIM_WORDS(SetIndexKind, "modulo", "xor", "fermi");
#undef GPUSIM_WORDS

/// The word of a value, for messages.
template <class E>
[[nodiscard]] constexpr std::string_view word(E value) {
  return kWords<E>[static_cast<size_t>(value)];
}

}  // namespace gpusim::core
