// Slice of the second texture level in a memory partition (GT200, which caches nothing else of device memory
// there): lines of sectors, each as large as a line of the texture caches in front of it. A hit is answered
// after a fixed latency; a miss is read from DRAM, and its sector kept. Plain class; the partition calls it.
// Sizes: configuration [texture]; addresses are places in the partition, so that all sets are used.
#pragma once
#include <algorithm>
#include <cstdint>

#include "components/cache/tag_array.h"
#include "components/noc/messages.h"
#include "simcore/config/machine_config.h"
#include "simcore/ring.h"

namespace gpusim::comp {

struct TextureL2Stats {
  uint64_t hits = 0, misses = 0;  ///< sectors
};

class TextureL2 {
 public:
  static constexpr bool kExists = true;
  static constexpr uint64_t kNever = ~0ull;
  /// `latency`: interconnect cycles from look-up to reply.
  TextureL2(const core::MachineConfig& machine, uint64_t latency)
      : latency_(latency), most_answers_(latency + 1), tags_(slice(machine)), answers_(most_answers_) {}

  /// Takes the latency that holds after a change of frequency.
  void set_latency(uint64_t latency) {
    latency_ = latency;
    most_answers_ = latency + 1;
    answers_.reserve(most_answers_);
  }

  /// True if the sector at `place` is there, which is then the most recently used line.
  [[nodiscard]] bool find(uint64_t place) {
    const uint32_t frame = tags_.find(tags_.line_of(place));
    if (frame == TagArray::kNoFrame || (tags_.frame(frame).valid & tags_.sectors_of(place, 1)) == 0)
      return false;
    tags_.touch(frame);
    return true;
  }
  /// True if a hit can be answered.
  [[nodiscard]] bool can_answer() const { return answers_.size() < most_answers_; }
  /// The request, taken at `now`, found its sector.
  void answer(const MemoryRequest& r, uint64_t now) {
    ++stats_.hits;
    answers_.push(
        {now + latency_, {r.address, r.bytes, r.kind, MemoryLevel::kTextureL2, r.port, r.tag, true}});
  }
  void count_miss() { ++stats_.misses; }
  /// The sector at `place` has come from DRAM.
  void fill(uint64_t place) {
    const uint64_t line = tags_.line_of(place);
    uint32_t frame = tags_.find(line);
    if (frame == TagArray::kNoFrame) frame = tags_.allocate(line).frame;
    tags_.fill(frame, tags_.sectors_of(place, 1));
  }
  void forget() { tags_.invalidate_all(); }
  /// When the oldest answer may leave.
  [[nodiscard]] uint64_t answer_at() const { return answers_.size() == 0 ? kNever : answers_.front().at; }
  [[nodiscard]] MemoryReply pop_answer() { return answers_.pop().reply; }
  [[nodiscard]] const TextureL2Stats& stats() const { return stats_; }

 private:
  /// Whole sets, at least one.
  static CacheShape slice(const core::MachineConfig& machine) {
    const auto& t = machine.texture;
    const uint32_t set = t.l2_line * t.l2_ways;
    const uint32_t sets = std::max(t.l2_bytes / machine.l2.partitions / set, 1u);
    CacheShape shape;
    shape.bytes = uint64_t{sets} * set;
    shape.line_bytes = t.l2_line;
    shape.sector_bytes = t.l1_line;
    shape.ways = t.l2_ways;
    return shape;
  }
  struct Answer {
    uint64_t at = 0;
    MemoryReply reply;
  };
  uint64_t latency_;
  uint64_t most_answers_;
  TagArray tags_;
  core::Ring<Answer> answers_;
  TextureL2Stats stats_;
};

/// Stands in its place on a machine without such a level: nothing is ever there.
class NoTextureL2 {
 public:
  static constexpr bool kExists = false;
  NoTextureL2(const core::MachineConfig& /*machine*/, uint64_t /*latency*/) {}
  void set_latency(uint64_t /*latency*/) {}
  [[nodiscard]] bool find(uint64_t /*place*/) { return false; }
  [[nodiscard]] bool can_answer() const { return false; }
  void answer(const MemoryRequest& /*r*/, uint64_t /*now*/) {}
  void count_miss() {}
  void fill(uint64_t /*place*/) {}
  void forget() {}
  [[nodiscard]] uint64_t answer_at() const { return TextureL2::kNever; }
  [[nodiscard]] MemoryReply pop_answer() { return {}; }
  [[nodiscard]] TextureL2Stats stats() const { return {}; }
};

}  // namespace gpusim::comp
