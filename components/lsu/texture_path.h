// Way of an SM's texture reads to the texture cache: splits a warp's read into the lines that it touches,
// asks for one of them a cycle, and says when all have come. Plain class owned by the load/store unit, which
// calls it in its stages; the room for every reply is reserved before its line is asked for, so replies
// always sink. Sizes: configuration [texture].
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "components/noc/messages.h"
#include "isa/exec/executor.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

class TexturePath {
 public:
  struct Links {
    core::Link<MemoryRequest>* request = nullptr;  ///< to the texture cache
    core::Link<MemoryReply>* reply = nullptr;
  };
  TexturePath(const core::MachineConfig::Texture& config, uint16_t sm, const Links& links);

  /// True if the operation goes this way.
  [[nodiscard]] bool takes(const isa::MicroOp& op) const {
    return op.op_class == isa::OpClass::kTexture || (read_only_ && op.memory.read_only);
  }
  /// Warp reads that it can hold.
  [[nodiscard]] size_t capacity() const { return reads_.size(); }
  [[nodiscard]] bool has_room() const { return !free_.empty(); }
  /// What a read asks for.
  struct Request {
    uint16_t lines = 0;
    uint32_t bytes = 0;  ///< in 32-byte sectors of these lines
    uint64_t first_address = 0;
  };
  /// Takes a warp's read of device memory, known by `record`. Requires has_room().
  Request submit(uint32_t record, const isa::MemoryAccess& access);
  /// Takes the replies that have come; calls done(record, level) for each line.
  template <class Done>
  void collect(Done done);
  /// Asks for a line if there is one to ask for.
  void send();
  /// True if send() has something to do of its own accord.
  [[nodiscard]] bool wants_to_send() const {
    return !blocked_ && !to_send_.empty() && in_flight_ < most_in_flight_;
  }
  /// True while a reply is on its way, at an unknown time.
  [[nodiscard]] bool outstanding() const { return free_.size() != reads_.size(); }
  [[nodiscard]] core::Cycle next_reply() const { return links_.reply->next_visible(); }

 private:
  static constexpr size_t kMostLines = 2 * isa::kWarpSize;  ///< of a word that lies in two
  struct Read {
    uint32_t record = 0;
    uint16_t count = 0, sent = 0, back = 0;
    std::array<uint64_t, kMostLines> lines;
  };
  /// Adds the lines and sectors of the bytes [address, end).
  void add(Read& read, uint64_t address, uint64_t end);

  Links links_;
  uint64_t line_bytes_;
  uint32_t most_in_flight_;
  uint32_t in_flight_ = 0;  ///< lines asked for
  uint16_t sm_;
  bool read_only_;
  bool blocked_ = false;  ///< the link had no room: it wakes the SM
  std::vector<Read> reads_;
  std::vector<uint16_t> free_;
  std::vector<uint16_t> to_send_;              ///< reads with lines to ask for, oldest first
  std::array<uint8_t, kMostLines> sectors_{};  ///< scratch of submit(): by line, those that are read
};

template <class Done>
void TexturePath::collect(Done done) {
  while (links_.reply->front() != nullptr) {
    const MemoryReply r = links_.reply->pop();
    Read& read = reads_[r.tag];
    --in_flight_;
    const uint32_t record = read.record;
    if (++read.back == read.count) free_.push_back(r.tag);
    done(record, r.level);
  }
}

}  // namespace gpusim::comp
