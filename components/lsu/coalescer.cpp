#include "components/lsu/coalescer.h"

#include <algorithm>

#include "components/cache/frame.h"

namespace gpusim::comp {

namespace {

constexpr int kHalfWarp = 16;
constexpr uint32_t kMinTransaction = 32;

/// Segment size of the first step on 1.2/1.3 for one thread's word.
uint32_t segment_bytes(uint32_t word) {
  if (word == 1) return 32;
  if (word == 2) return 64;
  return 128;
}

/// A whole half-warp whose words lie in one segment, the common case: all of them are looked at together.
bool coalesce_cc12_regular(const uint64_t* address, uint64_t segment, uint32_t lanes, TransactionList& out) {
  const uint64_t base = address[0] & ~(segment - 1);
  uint64_t any = 0, all = ~0ull;  // of the offsets in the segment, bit by bit
  for (int lane = 0; lane < kHalfWarp; ++lane) {
    any |= address[lane] ^ base;
    all &= address[lane] ^ base;
  }
  if (any >= segment) return false;
  // An aligned word lies in the half that its address bit names.
  uint64_t start = base, bytes = segment;
  for (uint64_t half = segment / 2; bytes > kMinTransaction; half /= 2) {
    if ((any & half) != 0 && (all & half) == 0) break;
    start += all & half;
    bytes = half;
  }
  out.add(start, static_cast<uint32_t>(bytes), lanes);
  return true;
}

void coalesce_cc12_half(const isa::MemoryAccess& access, int first_lane, uint32_t lanes,
                        TransactionList& out) {
  const uint32_t word = access.bytes;
  const uint64_t segment = segment_bytes(word);
  if (lanes == 0xffffu << first_lane &&
      coalesce_cc12_regular(&access.address[first_lane], segment, lanes, out))
    return;
  while (lanes != 0) {
    const uint64_t base = access.address[std::countr_zero(lanes)] & ~(segment - 1);
    uint64_t low = ~0ull, high = 0;
    uint32_t rest = 0;
    for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
      const int lane = std::countr_zero(bits);
      const uint64_t a = access.address[lane];
      if ((a & ~(segment - 1)) == base) {
        low = std::min(low, a);
        high = std::max(high, a + word);
      } else {
        rest |= uint32_t{1} << lane;
      }
    }
    uint64_t address = base;
    uint64_t bytes = segment;
    while (bytes > kMinTransaction) {
      const uint64_t half = bytes / 2;
      if (high <= address + half) {
        bytes = half;
      } else if (low >= address + half) {
        address += half;
        bytes = half;
      } else {
        break;
      }
    }
    out.add(address, static_cast<uint32_t>(bytes), lanes & ~rest);
    lanes = rest;
  }
}

void coalesce_cc10_half(const isa::MemoryAccess& access, int first_lane, uint32_t lanes,
                        TransactionList& out) {
  const uint32_t word = access.bytes;
  bool coalesced = word == 4 || word == 8 || word == 16;
  const uint64_t segment = uint64_t{kHalfWarp} * word;
  const int lowest = std::countr_zero(lanes);
  const uint64_t base = access.address[lowest] - static_cast<uint64_t>(lowest - first_lane) * word;
  if (base % segment != 0) coalesced = false;
  for (uint32_t bits = lanes; bits != 0 && coalesced; bits &= bits - 1) {
    const int lane = std::countr_zero(bits);
    coalesced = access.address[lane] == base + static_cast<uint64_t>(lane - first_lane) * word;
  }
  if (coalesced) {
    for (uint64_t offset = 0; offset < segment; offset += 128)
      out.add(base + offset, static_cast<uint32_t>(std::min<uint64_t>(segment - offset, 128)), lanes);
    return;
  }
  // Every thread gets a transaction of its own.
  for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
    const int lane = std::countr_zero(bits);
    out.add(access.address[lane] & ~uint64_t{kMinTransaction - 1}, kMinTransaction, uint32_t{1} << lane);
  }
}

void coalesce_cc20_group(const isa::MemoryAccess& access, uint32_t lanes, uint32_t line_bytes,
                         TransactionList& out) {
  const uint32_t first = out.count;
  uint32_t t = first;
  for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
    const int lane = std::countr_zero(bits);
    const uint64_t address = access.address[lane], line = address & ~uint64_t{line_bytes - 1};
    // Neighbours mostly share a line.
    if (t == out.count || out.items[t].address != line)
      for (t = first; t < out.count && out.items[t].address != line;) ++t;
    if (t == out.count) out.add(line, 0, 0);
    Transaction& item = out.items[t];
    item.lanes |= uint32_t{1} << lane;
    const uint64_t end = std::min<uint64_t>(address - line + access.bytes, line_bytes);
    item.sectors |= static_cast<uint8_t>((2u << (end - 1) / kMinTransaction) -
                                         (1u << (address - line) / kMinTransaction));
  }
  for (t = first; t < out.count; ++t) out.items[t].bytes = bytes_of(out.items[t].sectors);
}

/// Words of 8 and 16 bytes: half a warp, a quarter of one at a time.
void coalesce_cc20(const isa::MemoryAccess& access, uint32_t line_bytes, TransactionList& out) {
  const int group = access.bytes <= 4 ? isa::kWarpSize : std::max(isa::kWarpSize * 4 / access.bytes, 1);
  for (int first = 0; first < isa::kWarpSize; first += group) {
    const uint32_t lanes = access.lanes.bits() & (isa::LaneMask::first(group).bits() << first);
    if (lanes != 0) coalesce_cc20_group(access, lanes, line_bytes, out);
  }
}

}  // namespace

void coalesce(CoalescingRule rule, const isa::MemoryAccess& access, TransactionList& out, uint32_t line) {
  if (rule == CoalescingRule::kCc20) return coalesce_cc20(access, line, out);
  for (int first = 0; first < isa::kWarpSize; first += kHalfWarp) {
    const uint32_t lanes = access.lanes.bits() & (0xffffu << first);
    if (lanes == 0) continue;
    if (rule == CoalescingRule::kCc12)
      coalesce_cc12_half(access, first, lanes, out);
    else
      coalesce_cc10_half(access, first, lanes, out);
  }
}

void split_into_runs(const isa::MemoryAccess& access, TransactionList& list) {
  for (uint32_t t = 0; t < list.count; ++t) {
    Transaction& item = list.items[t];
    const uint32_t sectors = item.sectors;
    const uint32_t run = sectors & ~(sectors + (sectors & -sectors));
    if (run == sectors) continue;
    Transaction& rest = list.items[list.count++];
    rest = item;
    rest.lanes = 0;
    for (uint32_t bits = item.lanes; bits != 0; bits &= bits - 1) {
      const int lane = std::countr_zero(bits);
      const uint64_t sector = (access.address[lane] - item.address) / kMinTransaction;
      if ((run >> sector & 1) == 0) rest.lanes |= uint32_t{1} << lane;
    }
    item.lanes &= ~rest.lanes;
    item.sectors = static_cast<uint8_t>(run);
    item.bytes = bytes_of(run);
    rest.sectors = static_cast<uint8_t>(sectors & ~run);
    rest.bytes = bytes_of(rest.sectors);
  }
}

namespace {

constexpr uint64_t kSectorBytes = 32;

/// Of `lanes`, those with an address in the sector of the first one.
uint32_t lanes_of_sector(const isa::MemoryAccess& access, uint32_t lanes) {
  const uint64_t sector = access.address[std::countr_zero(lanes)] / kSectorBytes;
  uint32_t found = 0;
  for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
    const int lane = std::countr_zero(bits);
    if (access.address[lane] / kSectorBytes == sector) found |= 1u << lane;
  }
  return found;
}

/// Of `lanes`, how many have the word that most have.
uint32_t busiest_word(const isa::MemoryAccess& access, uint32_t lanes) {
  uint32_t busiest = 1;
  for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
    const uint64_t a = access.address[std::countr_zero(bits)];
    uint32_t same = 0;
    for (uint32_t others = bits; others != 0; others &= others - 1)
      same += access.address[std::countr_zero(others)] == a;
    busiest = std::max(busiest, same);
  }
  return busiest;
}

}  // namespace

void count_atomic_operations(CoalescingRule rule, const isa::MemoryAccess& access, TransactionList& list) {
  for (uint32_t t = 0; t < list.count; ++t) {
    Transaction& item = list.items[t];
    uint32_t operations = 0;
    for (uint32_t lanes = item.lanes; lanes != 0;) {
      const uint32_t together = rule == CoalescingRule::kCc20 ? lanes_of_sector(access, lanes) : lanes;
      operations += busiest_word(access, together);
      lanes &= ~together;
    }
    item.operations = static_cast<uint8_t>(operations);
  }
}

}  // namespace gpusim::comp
