// Traces of warps, the input of the reuse-distance model's default mode: each warp's accesses to global and
// local memory with the addresses of its lanes, where it waits for data, barriers, and the time between
// these (WarpStep). In memory and in a file they are the same bytes, a few for each step;
// docs/models/reuse_distance.md has the format. A block's warps can be read without what stands before them.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/recording/trace_bytes.h"

namespace gpusim::analysis {

struct WarpStep {
  enum class Kind : uint8_t {
    kAccess,
    kWait,     ///< until the data of a load is there
    kBarrier,  ///< until all warps of the block are there
    kFence,    ///< until the warp's stores have been performed
    kEnd,      ///< of the warp
  };
  enum class Access : uint8_t { kLoad, kStore, kAtomic };
  static constexpr uint32_t kLanes = 32, kMostBytes = 128;
  static constexpr uint32_t kWorkUnits = 16;  ///< of a core cycle

  Kind kind = Kind::kEnd;
  uint64_t cycles = 0;  ///< core cycles since the last step, were the warp alone and memory at once
  uint64_t work = 0;    ///< of these, in kWorkUnits: how long the SM's busiest unit is taken
  uint64_t own = 0;     ///< the same of the busiest unit that the warp's scheduler has for itself
  uint32_t back = 0;    ///< kWait: for the last of the warp's loads (0), the one before (1), ...
  // kAccess
  Access access = Access::kLoad;
  bool local = false;      ///< addresses lie in the warp's own region, lanes interleaved
  bool bypasses = false;   ///< asks for data past the L1
  bool read_only = false;  ///< nobody writes there (ld.global.nc)
  bool returns = true;     ///< brings data; false for stores and for atomics without a result
  /// Each lane is a transaction: the address of a line, whose lowest bits name the sectors that are asked
  /// for, a bit for 32 bytes. Recorded runs know these and not the lanes.
  bool by_lines = false;
  uint32_t pc = 0;
  uint32_t bytes = 4;  ///< of a lane: a power of two
  uint32_t lanes = 0;  ///< bit per lane
  std::array<uint64_t, kLanes> address{};
};

/// Addresses of an access's lanes in their order. Neighbours that differ by the same are a run, so that most
/// accesses have one or two.
class LaneRuns {
 public:
  struct Run {
    uint64_t first = 0, difference = 0;
    uint32_t lanes = 0;
  };
  void clear() { count_ = 0; }
  /// The next `lanes` addresses differ by `difference` from the one before, of the first from `before`.
  void append(uint64_t before, uint64_t difference, uint32_t lanes) {
    // A lane of its own is the start of any run.
    if (count_ != 0 && runs_[count_ - 1].lanes == 1) {
      runs_[count_ - 1].difference = difference;
      runs_[count_ - 1].lanes += lanes;
    } else {
      runs_[count_++] = {before + difference, difference, lanes};
    }
  }
  [[nodiscard]] const Run* begin() const { return runs_.data(); }
  [[nodiscard]] const Run* end() const { return runs_.data() + count_; }

 private:
  uint32_t count_ = 0;
  std::array<Run, WarpStep::kLanes> runs_;
};

struct WarpTraceHeader {
  std::string kernel, machine;  ///< machine: whose times the steps have
  uint32_t block_threads = 0, block_warps = 0;
  uint64_t blocks = 0;
  uint32_t registers = 0;     ///< per thread
  uint32_t shared_bytes = 0;  ///< per block
  uint32_t local_bytes = 0;   ///< per thread
};

/// Appends steps to bytes.
class WarpEncoder {
 public:
  void append(const WarpStep& step);
  [[nodiscard]] const std::vector<uint8_t>& bytes() const { return bytes_; }
  void clear() { *this = WarpEncoder(); }

 private:
  void number(uint64_t value);
  void addresses(const WarpStep& step, bool runs);
  std::vector<uint8_t> bytes_;
  uint64_t last_ = 0;  ///< address of the last access
};

/// Reads steps from bytes, which it does not own.
class WarpCursor {
 public:
  WarpCursor() = default;
  explicit WarpCursor(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}
  /// False after the last step. Throws core::InputError if the bytes are not steps.
  bool next(WarpStep& step);
  /// Reads the next step, with the addresses of an access in `runs` instead of in `step`.
  bool next(WarpStep& step, LaneRuns& runs);

 private:
  struct Reader;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  uint64_t last_ = 0;
};

/// The bytes with which a file starts, and those of each block, in their order.
[[nodiscard]] std::string encoded_header(const WarpTraceHeader& header);
[[nodiscard]] std::string encoded_block(const std::vector<WarpEncoder>& warps);

/// The traces of a kernel's warps.
class WarpTrace {
 public:
  /// A trace to which blocks are appended in their order.
  explicit WarpTrace(WarpTraceHeader header);
  /// Reads a file's bytes. Throws core::InputError for what is no such file, or one that is cut off.
  WarpTrace(TraceBytes bytes, const std::string& name);

  [[nodiscard]] static bool has_signature(std::string_view bytes);
  [[nodiscard]] const WarpTraceHeader& header() const { return header_; }
  [[nodiscard]] WarpCursor warp(uint64_t block, uint32_t warp) const;
  /// Of the kernel only so many blocks: those that were appended.
  void set_blocks(uint64_t blocks) { header_.blocks = blocks; }
  /// One encoder for each warp of the block.
  void append_block(const std::vector<WarpEncoder>& warps);
  /// How many bytes of warps have been read.
  [[nodiscard]] uint64_t bytes_read() const { return bytes_.kept(); }

 private:
  [[nodiscard]] uint64_t end_of(uint64_t block) const {
    return block + 1 < first_.size() ? first_[block + 1] : bytes_.size();
  }
  TraceBytes bytes_;
  WarpTraceHeader header_;
  std::vector<uint64_t> first_;  ///< by block: place of its table of lengths
};

}  // namespace gpusim::analysis
