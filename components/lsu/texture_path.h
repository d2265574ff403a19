// Way of an SM's texture reads to the texture cache: splits a warp's read into the lines that it touches,
// asks for one of them a cycle, and says when all have come. Plain class owned by the load/store unit, which
// calls it in its stages; the room for every reply is reserved before its line is asked for, so replies
// always sink. Where textures have no cache of their own no operation goes this way, and the path has no
// room. Sizes: configuration [texture].
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "components/cache/free_list.h"
#include "components/lsu/access_table.h"
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
  /// `links`: none if textures have no cache of their own.
  TexturePath(const core::MachineConfig::Texture& config, uint16_t sm, const Links& links,
              AccessTable& accesses);
  TexturePath(const TexturePath&) = delete;  // the link of replies writes into it
  TexturePath& operator=(const TexturePath&) = delete;
  ~TexturePath() = default;

  /// True if the operation goes this way.
  [[nodiscard]] bool takes(const isa::MicroOp& op) const {
    return (textures_ && op.op_class == isa::OpClass::kTexture) || (read_only_ && op.memory.read_only);
  }
  /// Warp reads that it can hold.
  [[nodiscard]] size_t capacity() const { return reads_.size(); }
  [[nodiscard]] bool has_room() const { return !free_.empty(); }
  /// Takes a warp's read of device memory; returns its record. Requires has_room().
  uint32_t submit(const isa::MicroOp& op, uint32_t warp, uint32_t pc, const isa::MemoryAccess& access,
                  uint64_t now);
  /// Takes the lines that have come.
  void collect(uint64_t now) {
    if (next_reply_.count() <= now) take_lines();
  }
  /// Asks for a line if there is one to ask for.
  void send() {
    blocked_ = false;
    if (wants_to_send()) ask();
  }
  /// True if send() has something to do of its own accord.
  [[nodiscard]] bool wants_to_send() const {
    return !blocked_ && !to_send_.empty() && in_flight_ < most_in_flight_;
  }
  /// True while a reply is on its way, at an unknown time.
  [[nodiscard]] bool outstanding() const { return free_.size() != reads_.size(); }
  /// When a line comes that is known to.
  [[nodiscard]] core::Cycle next_reply() const { return next_reply_; }

 private:
  static constexpr size_t kMostLines = size_t{2} * isa::kWarpSize;  ///< of a word that lies in two
  struct Read {
    uint32_t record = 0;
    uint16_t count = 0, sent = 0, back = 0;
    std::array<uint64_t, kMostLines> lines;
  };
  /// Adds the lines and sectors of the bytes [address, end).
  void add(Read& read, uint64_t address, uint64_t end);
  void take_lines();
  void ask();

  core::Cycle next_reply_ = core::kNever;  ///< when the oldest message of links_.reply is visible
  Links links_;
  AccessTable& accesses_;
  uint32_t line_bytes_;
  uint32_t most_in_flight_;
  uint32_t in_flight_ = 0;  ///< lines asked for
  uint16_t sm_;
  bool textures_, read_only_;  ///< what goes this way
  bool blocked_ = false;       ///< the link had no room: it wakes the SM
  std::vector<Read> reads_;
  FreeList<uint16_t> free_;
  std::vector<uint16_t> to_send_;              ///< reads with lines to ask for, oldest first
  std::array<uint8_t, kMostLines> sectors_{};  ///< scratch of submit(): by line, those that are read
};

}  // namespace gpusim::comp
