#include "components/lsu/texture_path.h"

#include <algorithm>
#include <bit>

#include "components/cache/frame.h"

namespace gpusim::comp {

namespace {
constexpr uint64_t kTextureSector = 32;
}

TexturePath::TexturePath(const core::MachineConfig::Texture& config, uint16_t sm, const Links& links,
                         AccessTable& accesses)
    : links_(links),
      accesses_(accesses),
      line_bytes_(config.l1_line),
      most_in_flight_(config.fetches),
      sm_(sm),
      textures_(links.reply != nullptr),
      read_only_(textures_ && config.read_only_loads),
      reads_(textures_ ? config.queue : 0),
      free_(reads_.size()) {
  to_send_.reserve(reads_.size());
  if (textures_) links_.reply->publish_head(next_reply_);
}

void TexturePath::add(Read& read, uint64_t address, uint64_t end) {
  while (address < end) {
    const uint64_t line = address & ~uint64_t{line_bytes_ - 1};
    const uint64_t next = std::min(end, line + line_bytes_);
    uint16_t i = 0;
    while (i < read.count && read.lines[i] != line) ++i;
    if (i == read.count) {
      read.lines[read.count++] = line;
      sectors_[i] = 0;
    }
    sectors_[i] |= static_cast<uint8_t>((2u << (next - 1 - line) / kTextureSector) -
                                        (1u << (address - line) / kTextureSector));
    address = next;
  }
}

uint32_t TexturePath::submit(const isa::MicroOp& op, uint32_t warp, uint32_t pc,
                             const isa::MemoryAccess& access, uint64_t now) {
  const uint16_t index = free_.take();
  Read& read = reads_[index];
  read.record = accesses_.open(op, warp, pc, now);
  read.count = read.sent = read.back = 0;
  for (uint32_t bits = access.lanes.bits(); bits != 0; bits &= bits - 1) {
    const uint64_t address = access.address[std::countr_zero(bits)];
    add(read, address, address + access.bytes);
  }
  to_send_.push_back(index);
  AccessRecord& r = accesses_[read.record];
  r.awaited = true;
  r.remaining = r.transactions = read.count;
  r.first_address = read.lines[0];
  for (uint16_t i = 0; i < read.count; ++i) r.bytes += bytes_of(sectors_[i]);
  return read.record;
}

void TexturePath::take_lines() {
  while (links_.reply->front() != nullptr) {
    const MemoryReply r = links_.reply->pop();
    Read& read = reads_[r.tag];
    --in_flight_;
    const uint32_t record = read.record;
    if (++read.back == read.count) free_.give_back(r.tag);
    accesses_.answer(record, r.level);
  }
}

void TexturePath::ask() {
  blocked_ = !links_.request->can_push();
  if (blocked_) return;
  const uint16_t index = to_send_.front();
  Read& read = reads_[index];
  links_.request->push({read.lines[read.sent], static_cast<uint16_t>(line_bytes_), RequestKind::kTexture, 0,
                        sm_, index, true});
  ++in_flight_;
  if (++read.sent == read.count) to_send_.erase(to_send_.begin());
}

}  // namespace gpusim::comp
