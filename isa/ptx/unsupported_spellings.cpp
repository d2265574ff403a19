#include "isa/ptx/unsupported_spellings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace gpusim::isa {
namespace {

/// Which targets of a generation have an instruction: all, or those with a letter.
enum class Letters : uint8_t { kAll, kWithLetter, kOnly90a, kTensorMemory };

struct Spelling {
  std::string_view name;  ///< the words that stand first, in this order
  std::string_view
      modifiers;  ///< the others, in any order: `a|b` is one of both, `?` may be left out, `*` any
  size_t min_operands, max_operands;
  int sm, version;
  Letters letters = Letters::kAll;
};

// Of the rows whose name fits an instruction, those with the longest name count; one of them must fit it. An
// alternative with a dot is several words that stand in a row.
constexpr Spelling kSpellings[] = {
    {"cvt", "rna satfinite? tf32.f32", 2, 2, 80, 700},
    {"cvt", "rn|rz relu? tf32.f32", 2, 2, 90, 708},
    {"cvt", "rn|rz relu? satfinite tf32.f32", 2, 2, 100, 806},
    {"cvt", "rn satfinite relu? e4m3x2.f32|e5m2x2.f32", 3, 3, 89, 708},
    {"cvt", "rn satfinite relu? e4m3x2.f16x2|e5m2x2.f16x2", 2, 2, 89, 708},
    {"cvt", "rn relu? f16x2.e4m3x2|f16x2.e5m2x2", 2, 2, 89, 708},
    {"cvt", "rn satfinite relu? e2m1x2.f32|e2m3x2.f32|e3m2x2.f32", 3, 3, 100, 806, Letters::kWithLetter},
    {"cvt", "rn relu? f16x2.e2m1x2|f16x2.e2m3x2|f16x2.e3m2x2", 2, 2, 100, 806, Letters::kWithLetter},
    {"cvt", "rz|rp satfinite? ue8m0x2.f32", 3, 3, 100, 806, Letters::kWithLetter},
    {"cvt", "rz|rp satfinite? ue8m0x2.bf16x2", 2, 2, 100, 806, Letters::kWithLetter},
    {"cvt", "rn bf16x2.ue8m0x2", 2, 2, 100, 806, Letters::kWithLetter},
    {"cvt", "rs relu? satfinite? f16x2.f32|bf16x2.f32", 4, 4, 100, 807, Letters::kWithLetter},
    {"cvt", "rs relu? satfinite e4m3x4.f32|e5m2x4.f32|e2m1x4.f32|e2m3x4.f32|e3m2x4.f32", 3, 3, 100, 807,
     Letters::kWithLetter},
    {"barrier.cluster.arrive", "aligned?", 0, 0, 90, 708},
    {"barrier.cluster.arrive", "release|relaxed aligned?", 0, 0, 90, 800},
    {"barrier.cluster.wait", "aligned?", 0, 0, 90, 708},
    {"barrier.cluster.wait", "acquire aligned?", 0, 0, 90, 800},
    {"fence.proxy", "alias", 0, 0, 70, 705},
    {"fence.proxy", "async|async.global|async.shared::cta|async.shared::cluster", 0, 0, 90, 800},
    {"fence.proxy", "tensormap::generic release cta|cluster|gpu|sys", 0, 0, 90, 803},
    {"fence.proxy", "tensormap::generic acquire cta|cluster|gpu|sys", 2, 2, 90, 803},
    {"fence.proxy", "async::generic acquire sync_restrict::shared::cluster cluster", 0, 0, 90, 806},
    {"fence.proxy", "async::generic release sync_restrict::shared::cta cluster", 0, 0, 90, 806},
    {"fence.mbarrier_init", "release cluster", 0, 0, 90, 800},
    {"fence.acquire", "sync_restrict::shared::cluster cluster", 0, 0, 90, 806},
    {"fence.release", "sync_restrict::shared::cta cluster", 0, 0, 90, 806},
    {"membar.proxy", "alias", 0, 0, 60, 705},
    {"membar.proxy", "async|async.global|async.shared::cta|async.shared::cluster", 0, 0, 90, 800},
    {"cp.async", "ca|cg shared|shared::cta global L2::64B|L2::128B|L2::256B?", 3, 4, 80, 700},
    {"cp.async", "ca|cg shared|shared::cta global L2::cache_hint L2::64B|L2::128B|L2::256B?", 4, 5, 80, 704},
    {"cp.async.commit_group", "", 0, 0, 80, 700},
    {"cp.async.wait_group", "", 1, 1, 80, 700},
    {"cp.async.wait_all", "", 0, 0, 80, 700},
    {"cp.async.mbarrier.arrive", "noinc? shared|shared::cta? b64", 1, 1, 80, 700},
    {"cp.async.bulk", "*", 0, 16, 90, 800},
    {"cp.async.bulk", "shared::cluster global mbarrier::complete_tx::bytes", 4, 4, 90, 800},
    {"cp.async.bulk.commit_group", "", 0, 0, 90, 800},
    {"cp.async.bulk.wait_group", "read?", 1, 1, 90, 800},
    {"cp.async.bulk.prefetch", "*", 2, 16, 90, 800},
    {"cp.async.bulk.prefetch.tensor",
     "1d|2d|3d|4d|5d L2 global tile|im2col|im2col::w|im2col::w::128|tile::gather4? L2::cache_hint?", 1, 3, 90,
     800},
    {"cp.async.bulk.tensor",
     "1d|2d|3d|4d|5d shared::cluster.global tile|im2col? mbarrier::complete_tx::bytes multicast::cluster? "
     "L2::cache_hint?",
     3, 6, 90, 800},
    {"cp.async.bulk.tensor",
     "1d|2d|3d|4d|5d shared::cta.global tile|im2col? mbarrier::complete_tx::bytes L2::cache_hint?", 3, 5, 90,
     806},
    {"cp.async.bulk.tensor",
     "1d|2d|3d|4d|5d shared::cluster.global|shared::cta.global "
     "tile::gather4|im2col::w|im2col::w::128|tile|im2col? "
     "mbarrier::complete_tx::bytes multicast::cluster? cta_group::1|cta_group::2? L2::cache_hint?",
     3, 6, 100, 806, Letters::kWithLetter},
    {"cp.async.bulk.tensor",
     "1d|2d|3d|4d|5d global.shared::cta tile|im2col_no_offs? bulk_group L2::cache_hint?", 2, 3, 90, 800},
    {"cp.async.bulk.tensor", "2d global.shared::cta tile::scatter4 bulk_group L2::cache_hint?", 2, 3, 100,
     806, Letters::kWithLetter},
    {"cp.reduce.async.bulk", "*", 0, 16, 90, 800},
    {"cp.reduce.async.bulk.tensor",
     "1d|2d|3d|4d|5d global.shared::cta add|min|max|inc|dec|and|or|xor tile|im2col_no_offs? bulk_group "
     "L2::cache_hint?",
     2, 3, 90, 800},
    {"prefetch", "param|const? tensormap", 1, 1, 90, 800},
    {"createpolicy", "*", 1, 16, 80, 704},
    {"clusterlaunchcontrol", "*", 1, 16, 100, 806},
    {"st.async", "*", 2, 16, 90, 801},
    {"red.async", "*", 2, 16, 90, 801},
    {"st.bulk", "*", 2, 16, 100, 806},
    {"mbarrier.init", "shared|shared::cta? b64", 2, 2, 80, 700},
    {"mbarrier.inval", "shared|shared::cta? b64", 1, 1, 80, 700},
    {"mbarrier.arrive", "*", 1, 4, 80, 700},
    {"mbarrier.arrive_drop", "*", 1, 4, 80, 700},
    {"mbarrier.expect_tx", "*", 2, 2, 90, 800},
    {"mbarrier.complete_tx", "*", 2, 2, 90, 800},
    {"mbarrier.test_wait", "*", 3, 3, 80, 700},
    {"mbarrier.try_wait", "*", 3, 4, 90, 708},
    {"mbarrier.pending_count", "b64", 2, 2, 80, 700},
    {"ldmatrix", "sync aligned m8n8 x1|x2|x4 trans? shared|shared::cta? b16", 2, 2, 75, 605},
    {"ldmatrix", "sync aligned m16n16|m8n16 x1|x2|x4 trans? shared|shared::cta? b8 *", 2, 2, 100, 806,
     Letters::kWithLetter},
    {"stmatrix", "sync aligned m8n8 x1|x2|x4 trans? shared|shared::cta? b16", 2, 2, 90, 708},
    {"stmatrix", "sync aligned m16n8 x1|x2|x4 trans shared|shared::cta? b8", 2, 2, 100, 806,
     Letters::kWithLetter},
    {"movmatrix", "sync aligned m8n8 trans b16", 2, 2, 75, 708},
    {"mapa", "shared::cluster? u32|u64", 3, 3, 90, 708},
    {"getctarank", "shared::cluster? u32|u64", 2, 2, 90, 708},
    {"mma", "*", 3, 16, 70, 604},
    {"wgmma.fence", "sync aligned?", 0, 0, 90, 800, Letters::kOnly90a},
    {"wgmma.commit_group", "sync aligned?", 0, 0, 90, 800, Letters::kOnly90a},
    {"wgmma.wait_group", "sync aligned?", 1, 1, 90, 800, Letters::kOnly90a},
    {"wgmma.mma_async", "*", 3, 16, 90, 800, Letters::kOnly90a},
    {"tcgen05", "*", 0, 16, 100, 806, Letters::kTensorMemory},
    {"tensormap.replace",
     "tile global_address|rank|elemtype|interleave_layout|swizzle_mode|fill_mode global|shared::cta? b1024 "
     "b32|b64",
     2, 2, 90, 803, Letters::kWithLetter},
    {"tensormap.replace",
     "tile box_dim|global_dim|global_stride|element_stride global|shared::cta? b1024 b32|b64", 3, 3, 90, 803,
     Letters::kWithLetter},
    {"tensormap.replace", "tile swizzle_atomicity global|shared::cta? b1024 b32", 2, 2, 100, 806,
     Letters::kWithLetter},
    {"tensormap.cp_fenceproxy",
     "global shared::cta tensormap::generic release cta|cluster|gpu|sys sync aligned", 3, 3, 90, 803},
    {"multimem.ld_reduce", "weak|relaxed|acquire? cta|cluster|gpu|sys? global? add u32|s32|u64|f32|f64", 2, 2,
     90, 801},
    {"multimem.ld_reduce", "weak|relaxed|acquire? cta|cluster|gpu|sys? global? min|max u32|s32|u64|s64", 2, 2,
     90, 801},
    {"multimem.ld_reduce", "weak|relaxed|acquire? cta|cluster|gpu|sys? global? and|or|xor b32|b64", 2, 2, 90,
     801},
    {"multimem.ld_reduce", "weak|relaxed|acquire? cta|cluster|gpu|sys? global? add f32 v2|v4", 2, 2, 90, 801},
    {"multimem.ld_reduce",
     "weak|relaxed|acquire? cta|cluster|gpu|sys? global? add|min|max f16x2|bf16x2 v2|v4?", 2, 2, 90, 801},
    {"multimem.ld_reduce", "weak|relaxed|acquire? cta|cluster|gpu|sys? global? add|min|max f16|bf16 v2|v4|v8",
     2, 2, 90, 801},
    {"multimem.ld_reduce",
     "weak|relaxed|acquire? cta|cluster|gpu|sys? global? add acc::f32 f16x2|bf16x2 v2|v4?", 2, 2, 90, 802},
    {"multimem.ld_reduce",
     "weak|relaxed|acquire? cta|cluster|gpu|sys? global? add acc::f32 f16|bf16 v2|v4|v8", 2, 2, 90, 802},
    {"multimem.red", "relaxed|release? cta|cluster|gpu|sys? global? add u32|s32|u64|f32|f64", 2, 2, 90, 801},
    {"multimem.red", "relaxed|release? cta|cluster|gpu|sys? global? min|max u32|s32|u64|s64", 2, 2, 90, 801},
    {"multimem.red", "relaxed|release? cta|cluster|gpu|sys? global? and|or|xor b32|b64", 2, 2, 90, 801},
    {"multimem.red", "relaxed|release? cta|cluster|gpu|sys? global? add f32 v2|v4", 2, 2, 90, 801},
    {"multimem.red", "relaxed|release? cta|cluster|gpu|sys? global? add f16x2|bf16x2 v2|v4?", 2, 2, 90, 801},
    {"multimem.red", "relaxed|release? cta|cluster|gpu|sys? global? add f16|bf16 v2|v4|v8", 2, 2, 90, 801},
    {"multimem.st", "weak|relaxed|release? cta|cluster|gpu|sys? global? b32|b64|u32|u64|s32|s64|f32|f64", 2,
     2, 90, 801},
    {"multimem.st", "weak|relaxed|release? cta|cluster|gpu|sys? global? f32 v2|v4", 2, 2, 90, 801},
    {"multimem.st", "weak|relaxed|release? cta|cluster|gpu|sys? global? f16x2|bf16x2 v2|v4?", 2, 2, 90, 801},
    {"multimem.st", "weak|relaxed|release? cta|cluster|gpu|sys? global? f16|bf16 v2|v4|v8", 2, 2, 90, 801},
    {"multimem.ld_reduce",
     "weak|relaxed|acquire? cta|cluster|gpu|sys? global? add|min|max acc::f16? v2|v4|v8? "
     "e4m3|e4m3x2|e4m3x4|e5m2|e5m2x2|e5m2x4",
     2, 2, 100, 806, Letters::kWithLetter},
    {"multimem.st",
     "weak|relaxed|release? cta|cluster|gpu|sys? global? v2|v4|v8? e4m3|e4m3x2|e4m3x4|e5m2|e5m2x2|e5m2x4", 2,
     2, 100, 806, Letters::kWithLetter},
    {"suld.b", "1d|2d|3d|a1d|a2d ca|cg|cs|cv? v2|v4? b8|b16|b32|b64 trap|clamp|zero", 2, 2, 20, 105},
    {"sust.b", "1d|2d|3d|a1d|a2d wb|cg|cs|wt? v2|v4? b8|b16|b32|b64 trap|clamp|zero", 2, 2, 20, 105},
    {"sust.p", "1d|2d|3d|a1d|a2d wb|cg|cs|wt? v2|v4? b32 trap|clamp|zero", 2, 2, 20, 105},
    {"sured.b", "add 1d|2d|3d u32|s32|u64 trap|clamp|zero", 2, 2, 20, 300},
    {"sured.b", "min|max 1d|2d|3d u32|s32|u64|s64 trap|clamp|zero", 2, 2, 20, 300},
    {"sured.b", "and|or 1d|2d|3d b32 trap|clamp|zero", 2, 2, 20, 300},
    {"sured.p", "add|and|or 1d|2d|3d b32 trap|clamp|zero", 2, 2, 20, 300},
    {"sured.p", "min|max 1d|2d|3d b32|b64 trap|clamp|zero", 2, 2, 20, 300},
    {"suq", "width|height|depth|channel_data_type|channel_order|array_size|memory_layout b32", 2, 2, 20, 105},
    {"tld4", "r|g|b|a 2d|a2d|cube|acube v4 u32.f32|s32.f32|f32.f32", 2, 4, 20, 302},
    {"vadd", "u32|s32 u32|s32 u32|s32 sat? add|min|max?", 3, 4, 20, 200},
    {"vsub", "u32|s32 u32|s32 u32|s32 sat? add|min|max?", 3, 4, 20, 200},
    {"vabsdiff", "u32|s32 u32|s32 u32|s32 sat? add|min|max?", 3, 4, 20, 200},
    {"vmin", "u32|s32 u32|s32 u32|s32 sat? add|min|max?", 3, 4, 20, 200},
    {"vmax", "u32|s32 u32|s32 u32|s32 sat? add|min|max?", 3, 4, 20, 200},
    {"vshl", "u32|s32 u32|s32 u32 sat? clamp|wrap add|min|max?", 3, 4, 20, 200},
    {"vshr", "u32|s32 u32|s32 u32 sat? clamp|wrap add|min|max?", 3, 4, 20, 200},
    {"vmad", "u32|s32 u32|s32 u32|s32 po? sat? shr7|shr15?", 4, 4, 20, 200},
    {"vset", "u32|s32 u32|s32 eq|ne|lt|le|gt|ge add|min|max?", 3, 4, 20, 200},
    {"vadd2", "u32|s32 u32|s32 u32|s32 sat? add?", 4, 4, 30, 300},
    {"vsub2", "u32|s32 u32|s32 u32|s32 sat? add?", 4, 4, 30, 300},
    {"vavrg2", "u32|s32 u32|s32 u32|s32 sat? add?", 4, 4, 30, 300},
    {"vabsdiff2", "u32|s32 u32|s32 u32|s32 sat? add?", 4, 4, 30, 300},
    {"vmin2", "u32|s32 u32|s32 u32|s32 sat? add?", 4, 4, 30, 300},
    {"vmax2", "u32|s32 u32|s32 u32|s32 sat? add?", 4, 4, 30, 300},
    {"vset2", "u32|s32 u32|s32 eq|ne|lt|le|gt|ge add?", 4, 4, 30, 300},
    {"vadd4", "u32|s32 u32|s32 u32|s32 sat? add?", 4, 4, 30, 300},
    {"vsub4", "u32|s32 u32|s32 u32|s32 sat? add?", 4, 4, 30, 300},
    {"vavrg4", "u32|s32 u32|s32 u32|s32 sat? add?", 4, 4, 30, 300},
    {"vabsdiff4", "u32|s32 u32|s32 u32|s32 sat? add?", 4, 4, 30, 300},
    {"vmin4", "u32|s32 u32|s32 u32|s32 sat? add?", 4, 4, 30, 300},
    {"vmax4", "u32|s32 u32|s32 u32|s32 sat? add?", 4, 4, 30, 300},
    {"vset4", "u32|s32 u32|s32 eq|ne|lt|le|gt|ge add?", 4, 4, 30, 300},
};

/// Supported instructions that only targets with a letter have.
constexpr Opcode kWithLetter[] = {Opcode::kSetmaxnreg};

using Words = std::vector<std::string_view>;

/// Opcodes of the table of which some or all instructions are simulated.
constexpr Opcode kSpelled[] = {
    Opcode::kSuld,    Opcode::kSust,     Opcode::kSured,      Opcode::kSuq,      Opcode::kTld4,
    Opcode::kCpAsync, Opcode::kMbarrier, Opcode::kLdmatrix,   Opcode::kStmatrix, Opcode::kMovmatrix,
    Opcode::kMma,     Opcode::kVideo,    Opcode::kFenceProxy, Opcode::kMapa,     Opcode::kBarrierCluster,
    Opcode::kAsync,   Opcode::kWgmma,    Opcode::kTensormap,  Opcode::kMultimem};

Words split(std::string_view text, char separator) {
  Words words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// Opcode and modifiers as written, without the guard: blanks may stand before a dot.
Words words_of(std::string_view text) {
  if (text.starts_with('@')) {
    text.remove_prefix(std::min(text.find_first_not_of("@! "), text.size()));
    text.remove_prefix(std::min(text.find(' '), text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  Words words;
  for (;;) {
    const size_t end = std::min(text.find_first_of(". \t{[(;"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (!text.starts_with('.')) return words;
    text.remove_prefix(1);
  }
}

bool starts_with(const Words& words, const Words& first) {
  return words.size() >= first.size() && std::equal(first.begin(), first.end(), words.begin());
}

/// How many words at `from` one of the alternatives of `slot` takes; 0: none fits.
size_t taken(const Words& words, size_t from, std::string_view slot) {
  size_t most = 0;
  for (const std::string_view alternative : split(slot, '|')) {
    const Words wanted = split(alternative, '.');
    const bool fits = words.size() - from >= wanted.size() &&
                      std::equal(wanted.begin(), wanted.end(), words.begin() + static_cast<ptrdiff_t>(from));
    if (fits) most = std::max(most, wanted.size());
  }
  return most;
}

/// Every word belongs to a slot of its own, and only slots with `?` stay empty.
bool fits(const Words& words, size_t from, std::string_view modifiers) {
  Words slots = split(modifiers, ' ');
  const bool any = std::erase(slots, "*") != 0;
  while (from < words.size()) {
    size_t count = 0;
    for (auto slot = slots.begin(); slot != slots.end() && count == 0; ++slot) {
      std::string_view alternatives = *slot;
      if (alternatives.ends_with('?')) alternatives.remove_suffix(1);
      count = taken(words, from, alternatives);
      if (count == 0) continue;
      slots.erase(slot);
      break;
    }
    if (count == 0 && !any) return false;
    from += std::max<size_t>(count, 1);
  }
  return std::ranges::all_of(slots, [](std::string_view slot) { return slot.ends_with('?'); });
}

bool has_letters(const Module& m, Letters letters) {
  switch (letters) {
    case Letters::kAll:
      return true;
    case Letters::kWithLetter:
      return m.target_letter != 0;
    case Letters::kOnly90a:
      return m.target_letter != 0 && m.target_sm == 90;
    case Letters::kTensorMemory:
      return m.target_letter != 0 && m.target_sm < 120;
  }
  return false;
}

std::string_view example(Letters letters) {
  return letters == Letters::kTensorMemory ? "sm_100a"
         : letters == Letters::kOnly90a    ? "sm_90a only"
                                           : "sm_90a";
}

/// What the target or version of the file lacks for `row`.
std::string target_error(const Module& m, const Spelling& row, std::string_view name) {
  if (m.target_sm != 0 && m.target_sm < row.sm)
    return fmt::format("'{}' needs .target sm_{} or higher, the file has sm_{}", name, row.sm, m.target_sm);
  if (m.target_sm != 0 && !has_letters(m, row.letters))
    return fmt::format("'{}' is not for .target sm_{}, but for such as {}", name, m.target_sm,
                       example(row.letters));
  const int version = m.version_major * 100 + m.version_minor;
  if (version < row.version)
    return fmt::format("'{}' needs PTX {}.{} or later", name, row.version / 100, row.version % 100);
  return {};
}

}  // namespace

std::string spelling_error(const Module& module, const Instruction& i) {
  const Words words = words_of(i.text);
  const auto named = [&](const Spelling& row) { return starts_with(words, split(row.name, '.')); };
  size_t longest = 0;
  bool is_listed = false;  // the table has the first word, so it has all instructions that begin with it
  for (const Spelling& row : kSpellings) {
    is_listed = is_listed || split(row.name, '.')[0] == words[0];
    if (named(row)) longest = std::max(longest, split(row.name, '.').size());
  }
  const std::string name = fmt::format("{}", fmt::join(words, ".")).substr(0, 80);
  if (!is_listed) return {};
  if (longest == 0) return fmt::format("there is no instruction '{}'", name);
  std::string wrong;
  for (const Spelling& row : kSpellings) {
    if (!named(row) || split(row.name, '.').size() != longest || !fits(words, longest, row.modifiers))
      continue;
    const size_t n = i.operands.size();
    wrong = n < row.min_operands || n > row.max_operands
                ? fmt::format("'{}' does not take {} operands", name, n)
                : target_error(module, row, name);
    if (wrong.empty()) return {};
  }
  return wrong.empty() ? fmt::format("'{}' does not have these modifiers", name) : wrong;
}

bool is_spelled(Opcode op) { return std::ranges::find(kSpelled, op) != std::end(kSpelled); }

std::vector<std::string_view> instruction_words(const Instruction& i) { return words_of(i.text); }

bool has_word(const Instruction& i, std::string_view word) {
  const Words words = words_of(i.text);
  return std::ranges::find(words, word) != words.end();
}

AtomOp named_reduction(const Instruction& i) {
  constexpr std::pair<std::string_view, AtomOp> kOperations[] = {
      {"add", AtomOp::kAdd}, {"min", AtomOp::kMin}, {"max", AtomOp::kMax}, {"inc", AtomOp::kInc},
      {"dec", AtomOp::kDec}, {"and", AtomOp::kAnd}, {"or", AtomOp::kOr},   {"xor", AtomOp::kXor}};
  for (const auto& [name, operation] : kOperations)
    if (has_word(i, name)) return operation;
  return AtomOp::kNone;
}

std::string letter_error(const Module& module, const Instruction& i) {
  if (std::ranges::find(kWithLetter, i.opcode) == std::end(kWithLetter)) return {};
  if (module.target_sm == 0 || has_letters(module, Letters::kWithLetter)) return {};
  return fmt::format("'{}' is not for .target sm_{}, but for such as {}", opcode_info(i.opcode).name,
                     module.target_sm, example(Letters::kWithLetter));
}

}  // namespace gpusim::isa
