#include "analysis/recording/warp_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "simcore/text/input_error.h"

namespace gpusim::analysis {
namespace {

constexpr std::string_view kSignature("gpusimWT\x02\0\0\0", 12);  ///< and the version
constexpr uint32_t kMostNames = 4096;
constexpr uint64_t kMostBlockThreads = 2048;

// First byte of a step: its kind; of an access also what it is. Second byte of an access.
constexpr uint32_t kKindBits = 3;
constexpr uint8_t kWholeWarp = 0x20, kLocal = 0x40, kReturns = 0x80;
constexpr uint8_t kSizeBits = 0x07, kBypasses = 0x08, kReadOnly = 0x10, kRuns = 0x20, kByLines = 0x40;

uint64_t zigzag(uint64_t difference) {
  return difference << 1 ^ static_cast<uint64_t>(static_cast<int64_t>(difference) >> 63);
}
uint64_t unzigzag(uint64_t n) { return n >> 1 ^ (~(n & 1) + 1); }

[[noreturn]] void damaged(const char* what) {
  throw core::InputError(fmt::format("trace of warps: error: {}: the file is damaged", what));
}

template <class Out>
void put_number(Out& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<typename Out::value_type>(value | 0x80));
  out.push_back(static_cast<typename Out::value_type>(value));
}

/// True if differences of neighbouring lanes' addresses leave a bit of a number free.
bool leaves_a_bit(const WarpStep& s, uint64_t before) {
  for (uint32_t bits = s.lanes; bits != 0; bits &= bits - 1) {
    const uint64_t a = s.address[static_cast<size_t>(std::countr_zero(bits))];
    if (zigzag(a - before) >> 63 != 0) return false;
    before = a;
  }
  return true;
}

}  // namespace

void WarpEncoder::number(uint64_t value) { put_number(bytes_, value); }

void WarpEncoder::append(const WarpStep& s) {
  auto first = static_cast<uint8_t>(s.kind);
  if (s.kind != WarpStep::Kind::kAccess) {
    bytes_.push_back(first);
    number(s.cycles);
    number(s.work);
    number(s.own);
    if (s.kind == WarpStep::Kind::kWait) number(s.back);
    return;
  }
  first |= static_cast<uint8_t>(static_cast<uint32_t>(s.access) << kKindBits);
  if (s.lanes == ~0u) first |= kWholeWarp;
  if (s.local) first |= kLocal;
  if (s.returns) first |= kReturns;
  const bool runs = leaves_a_bit(s, last_);
  auto second = static_cast<uint8_t>(std::countr_zero(s.bytes));
  if (s.bypasses) second |= kBypasses;
  if (s.read_only) second |= kReadOnly;
  if (runs) second |= kRuns;
  if (s.by_lines) second |= kByLines;
  bytes_.push_back(first);
  bytes_.push_back(second);
  number(s.cycles);
  number(s.work);
  number(s.own);
  number(s.pc);
  if (s.lanes != ~0u) number(s.lanes);
  addresses(s, runs);
}

void WarpEncoder::addresses(const WarpStep& s, bool runs) {
  // Differences from lane to lane; one that comes again and again is a run.
  uint64_t before = last_, difference = 0, times = 0;
  const auto flush = [&] {
    if (times == 0) return;
    number(zigzag(difference) << 1 | (times > 1 ? 1 : 0));
    if (times > 1) number(times);
  };
  for (uint32_t bits = s.lanes; bits != 0; bits &= bits - 1) {
    const uint64_t a = s.address[static_cast<size_t>(std::countr_zero(bits))];
    if (!runs) {
      number(zigzag(a - before));
    } else if (times != 0 && a - before == difference) {
      ++times;
    } else {
      flush();
      difference = a - before;
      times = 1;
    }
    before = a;
  }
  if (runs) flush();
  last_ = s.address[static_cast<size_t>(std::countr_zero(s.lanes))];
}

/// Numbers from a place on.
struct WarpCursor::Reader {
  const char* at;
  const char* end;
  uint8_t byte() {
    if (at == end) damaged("a step is cut off");
    return static_cast<uint8_t>(*at++);
  }
  uint64_t number() {
    const uint8_t first = byte();
    return first < 0x80 ? first : long_number(first & 0x7f);
  }
  uint64_t long_number(uint64_t value) {
    for (uint32_t shift = 7; shift < 64; shift += 7) {
      const uint8_t b = byte();
      value |= uint64_t{b & 0x7fu} << shift;
      if ((b & 0x80) == 0) return value;
    }
    damaged("a number has too many digits");
  }
};

bool WarpCursor::next(WarpStep& s) {
  LaneRuns runs;
  if (!next(s, runs)) return false;
  if (s.kind != WarpStep::Kind::kAccess) return true;
  uint32_t bits = s.lanes;
  for (const LaneRuns::Run& run : runs)
    for (uint32_t i = 0; i < run.lanes; ++i, bits &= bits - 1)
      s.address[static_cast<size_t>(std::countr_zero(bits))] = run.first + i * run.difference;
  return true;
}

bool WarpCursor::next(WarpStep& s, LaneRuns& runs) {
  if (at_ == end_) return false;
  Reader in{at_, end_};
  const uint8_t first = in.byte();
  const uint32_t kind = first & ((1u << kKindBits) - 1);
  if (kind > static_cast<uint32_t>(WarpStep::Kind::kEnd)) damaged("a step of an unknown kind");
  s.kind = static_cast<WarpStep::Kind>(kind);
  if (s.kind != WarpStep::Kind::kAccess) {
    s.cycles = in.number();
    s.work = in.number();
    s.own = in.number();
    if (s.kind == WarpStep::Kind::kWait) s.back = static_cast<uint32_t>(in.number());
    at_ = in.at;
    return true;
  }
  const uint32_t access = first >> kKindBits & 3;
  if (access > static_cast<uint32_t>(WarpStep::Access::kAtomic)) damaged("an access of an unknown kind");
  s.access = static_cast<WarpStep::Access>(access);
  s.local = (first & kLocal) != 0;
  s.returns = (first & kReturns) != 0;
  const uint8_t second = in.byte();
  s.bytes = 1u << (second & kSizeBits);
  if (s.bytes > WarpStep::kMostBytes) damaged("an access of too many bytes");
  s.bypasses = (second & kBypasses) != 0;
  s.read_only = (second & kReadOnly) != 0;
  s.by_lines = (second & kByLines) != 0;
  s.cycles = in.number();
  s.work = in.number();
  s.own = in.number();
  s.pc = static_cast<uint32_t>(in.number());
  s.lanes = (first & kWholeWarp) != 0 ? ~0u : static_cast<uint32_t>(in.number());
  if (s.lanes == 0) damaged("an access of no lane");
  const bool in_runs = (second & kRuns) != 0;
  runs.clear();
  uint64_t a = last_;
  for (uint32_t left = s.lanes == ~0u ? WarpStep::kLanes : static_cast<uint32_t>(std::popcount(s.lanes));
       left != 0;) {
    const uint64_t n = in.number(), difference = unzigzag(in_runs ? n >> 1 : n);
    const uint64_t times = in_runs && (n & 1) != 0 ? in.number() : 1;
    if (times == 0) damaged("a run of no lane");
    const auto lanes = static_cast<uint32_t>(std::min<uint64_t>(times, left));
    runs.append(a, difference, lanes);
    a += lanes * difference;
    left -= lanes;
  }
  last_ = runs.begin()->first;
  at_ = in.at;
  return true;
}

bool WarpTrace::has_signature(std::string_view bytes) { return bytes.starts_with(kSignature.substr(0, 8)); }

std::string encoded_header(const WarpTraceHeader& header) {
  std::string bytes(kSignature);
  for (const std::string& name : {header.kernel, header.machine}) {
    put_number(bytes, name.size());
    bytes += name;
  }
  for (const uint64_t n :
       {uint64_t{header.block_threads}, uint64_t{header.block_warps}, header.blocks,
        uint64_t{header.registers}, uint64_t{header.shared_bytes}, uint64_t{header.local_bytes}})
    put_number(bytes, n);
  return bytes;
}

std::string encoded_block(const std::vector<WarpEncoder>& warps) {
  std::string bytes;
  for (const WarpEncoder& w : warps) {
    const auto length = static_cast<uint32_t>(w.bytes().size());
    for (uint32_t shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(length >> shift));
  }
  for (const WarpEncoder& w : warps)
    bytes.append(reinterpret_cast<const char*>(w.bytes().data()), w.bytes().size());
  return bytes;
}

WarpTrace::WarpTrace(WarpTraceHeader header) : bytes_(encoded_header(header)), header_(std::move(header)) {}

void WarpTrace::append_block(const std::vector<WarpEncoder>& warps) {
  first_.push_back(bytes_.size());
  bytes_.append(encoded_block(warps));
}

namespace {

uint64_t length_at(std::string_view bytes, uint64_t place) {
  uint64_t length = 0;
  for (uint32_t i = 0; i < 4; ++i) length |= uint64_t{static_cast<uint8_t>(bytes[place + i])} << 8 * i;
  return length;
}

/// Reads the header's numbers and names.
class HeaderReader {
 public:
  HeaderReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}
  [[nodiscard]] uint64_t at() const { return at_; }
  uint64_t number(const char* what, uint64_t most) {
    uint64_t value = 0;
    for (uint32_t shift = 0;; shift += 7) {
      if (at_ == bytes_.size() || shift > 56) fail("is cut off in its header");
      const auto b = static_cast<uint8_t>(bytes_[at_++]);
      value |= uint64_t{b & 0x7fu} << shift;
      if ((b & 0x80) == 0) break;
    }
    if (value > most)
      fail(fmt::format("has {} {}, at most {} are possible: it is damaged", value, what, most));
    return value;
  }
  std::string text(const char* what) {
    const uint64_t length = number(what, kMostNames);
    if (bytes_.size() - at_ < length) fail("is cut off in its header");
    at_ += length;
    return std::string(bytes_.substr(at_ - length, length));
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw core::InputError(
        fmt::format("'{}': error: {}; expected a file of `gpusim trace W.ptx --warps -o FILE`", name_, what));
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
  uint64_t at_ = kSignature.size();
};

}  // namespace

WarpTrace::WarpTrace(TraceBytes bytes, const std::string& name) : bytes_(std::move(bytes)) {
  constexpr uint64_t kMostHeader = 4ul * kMostNames;
  HeaderReader in(bytes_.glance(0, std::min(kMostHeader, bytes_.size())), name);
  const std::string_view start = bytes_.glance(0, std::min<uint64_t>(kSignature.size(), bytes_.size()));
  if (!has_signature(start)) in.fail("is not a trace of warps");
  if (start != kSignature) in.fail("is a trace of warps of another version");
  header_.kernel = in.text("bytes in a name");
  header_.machine = in.text("bytes in a name");
  header_.block_threads = static_cast<uint32_t>(in.number("threads in a block", kMostBlockThreads));
  header_.block_warps = static_cast<uint32_t>(in.number("warps in a block", kMostBlockThreads / 32));
  header_.blocks = in.number("blocks", uint64_t{1} << 40);
  header_.registers = static_cast<uint32_t>(in.number("registers", 1024));
  header_.shared_bytes = static_cast<uint32_t>(in.number("bytes of shared memory", uint64_t{1} << 31));
  header_.local_bytes = static_cast<uint32_t>(in.number("bytes of local memory", uint64_t{1} << 31));
  if (header_.block_warps == 0 || (header_.block_threads + 31) / 32 != header_.block_warps)
    in.fail(fmt::format("has {} warps for {} threads: it is damaged", header_.block_warps,
                        header_.block_threads));
  uint64_t at = in.at();
  const uint64_t table = uint64_t{4} * header_.block_warps;
  for (uint64_t block = 0; block < header_.blocks; ++block) {
    uint64_t length = table;
    if (bytes_.size() - at < table) in.fail(fmt::format("ends before block {}", block));
    const std::string_view lengths = bytes_.glance(at, table);
    for (uint32_t w = 0; w < header_.block_warps; ++w) length += length_at(lengths, uint64_t{4} * w);
    if (bytes_.size() - at < length) in.fail(fmt::format("ends within block {}", block));
    first_.push_back(at);
    at += length;
  }
  if (at != bytes_.size()) in.fail(fmt::format("has {} bytes behind its last block", bytes_.size() - at));
}

WarpCursor WarpTrace::warp(uint64_t block, uint32_t warp) const {
  const std::string_view bytes = bytes_.keep(first_[block], end_of(block) - first_[block]);
  uint64_t at = uint64_t{4} * header_.block_warps;
  for (uint32_t w = 0; w < warp; ++w) at += length_at(bytes, uint64_t{4} * w);
  return WarpCursor(bytes.substr(at, length_at(bytes, uint64_t{4} * warp)));
}

}  // namespace gpusim::analysis
