// The video instructions (PTX ISA, "Video Instructions"): what one does, from its words and the parts of its
// operands (%r1.b0), which only its text has.
#pragma once
#include <cstdint>
#include <optional>

#include "isa/ptx/module.h"

namespace gpusim::isa {

enum class VideoOp : uint8_t { kAdd, kSub, kAverage, kAbsDiff, kMin, kMax, kShl, kShr, kMad, kSet };
enum class VideoSecond : uint8_t { kNone, kAdd, kMin, kMax };
/// Part of a word: 0 all of it, 1 to 4 the bytes from the lowest, 5 and 6 the halves.
using VideoPart = uint8_t;
inline constexpr VideoPart kWholeWord = 0, kFirstByte = 1, kFirstHalf = 5;

/// What a video instruction does.
struct VideoForm {
  VideoOp op = VideoOp::kAdd;
  VideoSecond second = VideoSecond::kNone;
  uint8_t lanes = 1;  ///< 1: scalar; 2, 4
  VideoPart d = kWholeWord, a = kWholeWord, b = kWholeWord;
  uint8_t mask = 0;   ///< SIMD: parts that are written
  uint8_t flags = 0;  ///< kVideo...
  [[nodiscard]] uint64_t packed() const;
  [[nodiscard]] static VideoForm unpacked(uint64_t bits);
};
inline constexpr uint8_t kVideoSignedD = 1, kVideoSignedA = 2, kVideoSignedB = 4, kVideoSat = 8,
                         kVideoWrap = 16;  ///< of a shift: its distance is taken modulo 32
/// Of vmad. Signs of both factors are none.
inline constexpr uint8_t kVideoPlusOne = 1, kVideoShift7 = 2, kVideoShift15 = 4, kVideoMinusProduct = 8,
                         kVideoMinusC = 16;

/// Nothing if its operands have parts that the instruction does not have.
[[nodiscard]] std::optional<VideoForm> video_form(const Instruction& i);
/// Selector by which prmt takes the parts of SIMD operand `operand` (1: a, 2: b) from a and b, as %r1.b7654
/// names them; nothing if it is the operand as it stands.
[[nodiscard]] std::optional<uint32_t> video_selector(const Instruction& i, size_t operand);

}  // namespace gpusim::isa
