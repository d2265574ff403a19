#include "isa/ptx/video.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa {

static_assert(sizeof(VideoForm) == sizeof(uint64_t));
uint64_t VideoForm::packed() const { return std::bit_cast<uint64_t>(*this); }
VideoForm VideoForm::unpacked(uint64_t bits) { return std::bit_cast<VideoForm>(bits); }

namespace {

constexpr std::array<std::pair<std::string_view, VideoOp>, 10> kNames{{{"vadd", VideoOp::kAdd},
                                                                       {"vsub", VideoOp::kSub},
                                                                       {"vavrg", VideoOp::kAverage},
                                                                       {"vabsdiff", VideoOp::kAbsDiff},
                                                                       {"vmin", VideoOp::kMin},
                                                                       {"vmax", VideoOp::kMax},
                                                                       {"vshl", VideoOp::kShl},
                                                                       {"vshr", VideoOp::kShr},
                                                                       {"vmad", VideoOp::kMad},
                                                                       {"vset", VideoOp::kSet}}};

/// What stands behind the register of each operand: "b0" of %r1.b0.
std::vector<std::string_view> parts_of(const Instruction& i) {
  std::string_view text = i.text;
  const std::string_view opcode = instruction_words(i).front();
  text.remove_prefix(std::min(text.find(opcode), text.size()));
  text.remove_prefix(std::min(text.find(' '), text.size()));
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::string_view operand = text.substr(0, text.find(','));
    const size_t dot = operand.find('.');
    std::string_view part = dot == std::string_view::npos ? std::string_view() : operand.substr(dot + 1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    text.remove_prefix(std::min(operand.size() + 1, text.size()));
  }
  return parts;
}

std::optional<VideoPart> part_of(std::string_view text) {
  if (text.empty()) return kWholeWord;
  if (text.size() != 2) return std::nullopt;
  const int number = text[1] - '0';
  if (text[0] == 'b' && number >= 0 && number < 4) return static_cast<VideoPart>(kFirstByte + number);
  if (text[0] == 'h' && number >= 0 && number < 2) return static_cast<VideoPart>(kFirstHalf + number);
  return std::nullopt;
}

/// Parts that a SIMD instruction writes: "b20" are the bytes 0 and 2.
std::optional<uint8_t> mask_of(std::string_view text, uint8_t lanes) {
  if (text.empty()) return static_cast<uint8_t>((1u << lanes) - 1);
  if (text[0] != (lanes == 4 ? 'b' : 'h')) return std::nullopt;
  uint8_t mask = 0;
  for (const char c : text.substr(1)) {
    if (c < '0' || c >= '0' + lanes) return std::nullopt;
    mask = static_cast<uint8_t>(mask | 1u << (c - '0'));
  }
  return mask;
}

/// "b7654", the bytes of b from the highest, as prmt names them; "h32" are the same.
std::optional<uint32_t> selector_of(std::string_view text, uint8_t lanes) {
  if (text.size() != lanes + 1u || text[0] != (lanes == 4 ? 'b' : 'h')) return std::nullopt;
  const auto bytes = static_cast<uint32_t>(4 / lanes), parts = 8 / bytes;
  uint32_t selector = 0;
  for (const char c : text.substr(1)) {
    const auto part = static_cast<uint32_t>(c - '0');
    if (part >= parts) return std::nullopt;
    for (uint32_t byte = bytes; byte-- > 0;) selector = selector << 4 | (part * bytes + byte);
  }
  return selector;
}

/// The signs of vmad: of the product or of what is added, and of neither in the mode that adds one more.
bool may_negate(const Instruction& i, VideoOp op, bool plus_one) {
  if (op != VideoOp::kMad || plus_one || i.operands.size() != 4 || i.operands[0].negated) return false;
  return i.operands[1].negated == i.operands[2].negated || !i.operands[3].negated;
}

bool set_parts(const std::vector<std::string_view>& parts, VideoForm& form) {
  if (parts.size() < 3) return false;
  if (form.lanes > 1) {
    const auto mask = mask_of(parts[0], form.lanes);
    const auto taken = [&](std::string_view p) {
      return p.empty() || selector_of(p, form.lanes).has_value();
    };
    if (!mask || !taken(parts[1]) || !taken(parts[2])) return false;
    form.mask = *mask;
    return true;
  }
  const auto d = part_of(parts[0]), a = part_of(parts[1]), b = part_of(parts[2]);
  if (!a || !b || !d) return false;
  form.d = *d, form.a = *a, form.b = *b;
  return true;
}

}  // namespace

std::optional<VideoForm> video_form(const Instruction& i) {
  const std::vector<std::string_view> words = instruction_words(i);
  std::string_view name = words.front();
  VideoForm form;
  if (name.ends_with('2') || name.ends_with('4')) {
    form.lanes = static_cast<uint8_t>(name.back() - '0');
    name.remove_suffix(1);
  }
  const auto found = std::ranges::find(kNames, name, [](const auto& row) { return row.first; });
  if (found == kNames.end()) return std::nullopt;
  form.op = found->second;
  const auto has = [&](std::string_view word) {
    return std::find(words.begin() + 1, words.end(), word) != words.end();
  };
  form.second = has("add")   ? VideoSecond::kAdd
                : has("min") ? VideoSecond::kMin
                : has("max") ? VideoSecond::kMax
                             : VideoSecond::kNone;
  const Modifiers& m = i.mods;
  const bool sets = form.op == VideoOp::kSet;
  const Type d = sets ? Type::kU32 : m.type, a = sets ? m.type : m.type2, b = sets ? m.type2 : m.type3;
  form.flags = static_cast<uint8_t>((is_signed(d) ? kVideoSignedD : 0) | (is_signed(a) ? kVideoSignedA : 0) |
                                    (is_signed(b) ? kVideoSignedB : 0) | (has("sat") ? kVideoSat : 0) |
                                    (has("wrap") ? kVideoWrap : 0));
  if (std::ranges::any_of(i.operands, &Operand::negated) && !may_negate(i, form.op, has("po")))
    return std::nullopt;
  return set_parts(parts_of(i), form) ? std::optional(form) : std::nullopt;
}

std::optional<uint32_t> video_selector(const Instruction& i, size_t operand) {
  const std::optional<VideoForm> form = video_form(i);
  if (!form || form->lanes == 1) return std::nullopt;
  return selector_of(parts_of(i)[operand], form->lanes);
}

}  // namespace gpusim::isa
