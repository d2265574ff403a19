#include "components/lsu/texture_path.h"

#include <algorithm>
#include <bit>

namespace gpusim::comp {

namespace {
constexpr uint64_t kTextureSector = 32;
}

TexturePath::TexturePath(const core::MachineConfig::Texture& config, uint16_t sm, const Links& links)
    : links_(links),
      line_bytes_(static_cast<uint64_t>(config.l1_line)),
      most_in_flight_(static_cast<uint32_t>(config.fetches)),
      sm_(sm),
      read_only_(config.read_only_loads),
      reads_(static_cast<size_t>(config.queue)) {
  for (size_t i = reads_.size(); i-- > 0;) free_.push_back(static_cast<uint16_t>(i));
  to_send_.reserve(reads_.size());
}

void TexturePath::add(Read& read, uint64_t address, uint64_t end) {
  while (address < end) {
    const uint64_t line = address & ~(line_bytes_ - 1);
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

TexturePath::Request TexturePath::submit(uint32_t record, const isa::MemoryAccess& access) {
  const uint16_t index = free_.back();
  free_.pop_back();
  Read& read = reads_[index];
  read.record = record;
  read.count = read.sent = read.back = 0;
  for (uint32_t bits = access.lanes.bits(); bits != 0; bits &= bits - 1) {
    const uint64_t address = access.address[std::countr_zero(bits)];
    add(read, address, address + access.bytes);
  }
  to_send_.push_back(index);
  Request r;
  r.lines = read.count;
  r.first_address = read.lines[0];
  for (uint16_t i = 0; i < read.count; ++i)
    r.bytes += static_cast<uint32_t>(kTextureSector) * static_cast<uint32_t>(std::popcount(sectors_[i]));
  return r;
}

void TexturePath::send() {
  blocked_ = false;
  if (!wants_to_send()) return;
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
