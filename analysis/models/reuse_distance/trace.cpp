#include "analysis/models/reuse_distance/trace.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "simcore/text/input_error.h"

namespace gpusim::analysis {
namespace {

constexpr uint64_t kMaxThreads = uint64_t{1} << 22;
constexpr uint64_t kMaxBlockThreads = 1536;  ///< what a core of the model holds

/// Numbers of a text, with the place of each.
class Reader {
 public:
  Reader(std::string_view text, const std::string& name)
      : at_(text.data()), end_(at_ + text.size()), name_(name) {}

  [[nodiscard]] bool at_end() const { return at_ == end_; }
  void expect_word(std::string_view word) {
    if (std::string_view(at_, static_cast<size_t>(end_ - at_)).substr(0, word.size()) != word)
      fail(fmt::format("expected '{}'", word));
    at_ += word.size();
    column_ += static_cast<uint32_t>(word.size());
  }
  uint64_t number(const char* what, uint64_t least, uint64_t most) {
    skip_blanks();
    uint64_t value = 0;
    const auto [next, error] = std::from_chars(at_, end_, value);
    if (error == std::errc::invalid_argument) fail(fmt::format("expected {}, a whole number", what));
    if (error != std::errc() || value < least || value > most)
      fail(fmt::format("{} must be from {} to {}", what, least, most));
    if (next != end_ && *next != ' ' && *next != '\t' && *next != '\r' && *next != '\n')
      fail(fmt::format("expected {}, a whole number", what));
    column_ += static_cast<uint32_t>(next - at_);
    at_ = next;
    return value;
  }
  void end_line() {
    skip_blanks();
    if (at_ != end_ && *at_ == '\r') ++at_;
    if (at_ != end_ && *at_ != '\n') fail("expected the end of the line");
    if (at_ != end_) ++at_;
    ++line_;
    column_ = 1;
  }
  /// Lines with nothing on them, e.g. the last one.
  bool skip_empty_line() {
    skip_blanks();
    if (at_ != end_ && *at_ != '\n' && *at_ != '\r') return false;
    if (at_ != end_) end_line();
    return true;
  }
  [[noreturn]] void fail(const std::string& what) const {
    core::raise_input_error({name_, line_, column_}, what);
  }

 private:
  void skip_blanks() {
    for (; at_ != end_ && (*at_ == ' ' || *at_ == '\t'); ++at_) ++column_;
  }
  const char* at_;
  const char* end_;
  const std::string& name_;
  uint32_t line_ = 1, column_ = 1;
};

}  // namespace

Trace parse_trace(std::string_view text, const std::string& name) {
  Reader in(text, name);
  Trace trace;
  in.expect_word("blocksize:");
  uint64_t threads = 1;
  for (const char* side : {"the block's width", "the block's height", "the block's depth"})
    threads *= in.number(side, 1, kMaxBlockThreads);
  if (threads > kMaxBlockThreads)
    in.fail(fmt::format("a block of {} threads: at most {} fit", threads, kMaxBlockThreads));
  trace.block_threads = static_cast<uint32_t>(threads);
  in.end_line();
  while (!in.at_end()) {
    if (in.skip_empty_line()) continue;
    const uint64_t thread = in.number("the thread", 0, kMaxThreads - 1);
    const bool store = in.number("the direction", 0, 1) == 1;
    const uint64_t address = in.number("the address", 0, ~uint64_t{0});
    const auto bytes = static_cast<uint32_t>(in.number("the number of bytes", 1, 16));
    if (!std::has_single_bit(bytes)) in.fail("an access has 1, 2, 4, 8 or 16 bytes");
    in.end_line();
    if (store) continue;
    if (thread >= trace.threads.size()) trace.threads.resize(thread + 1);
    trace.threads[thread].push_back({address, bytes});
  }
  if (trace.threads.empty()) throw core::InputError(fmt::format("{}: error: the trace has no loads", name));
  return trace;
}

WarpTrace warps_of(const Trace& trace, const std::string& name) {
  constexpr uint32_t kWarp = WarpStep::kLanes;
  WarpTraceHeader h;
  h.kernel = name;
  h.block_threads = trace.block_threads;
  h.block_warps = (trace.block_threads + kWarp - 1) / kWarp;
  h.blocks = (trace.threads.size() + trace.block_threads - 1) / trace.block_threads;
  WarpTrace out(h);
  std::vector<WarpEncoder> warps(h.block_warps);
  WarpStep access, wait;
  access.kind = WarpStep::Kind::kAccess;
  wait.kind = WarpStep::Kind::kWait;
  for (uint64_t block = 0; block < h.blocks; ++block) {
    for (uint32_t w = 0; w < h.block_warps; ++w) {
      warps[w].clear();
      const uint64_t first = block * trace.block_threads + uint64_t{w} * kWarp;
      const uint32_t lanes = std::min(kWarp, trace.block_threads - w * kWarp);
      for (size_t k = 0;; ++k) {
        access.lanes = 0;
        access.bytes = 1;
        for (uint32_t l = 0; l < lanes && first + l < trace.threads.size(); ++l) {
          if (k >= trace.threads[first + l].size()) continue;
          access.lanes |= 1u << l;
          access.address[l] = trace.threads[first + l][k].address;
          access.bytes = std::max(access.bytes, trace.threads[first + l][k].bytes);
        }
        if (access.lanes == 0) break;
        warps[w].append(access);
        warps[w].append(wait);
      }
    }
    out.append_block(warps);
  }
  return out;
}

}  // namespace gpusim::analysis
