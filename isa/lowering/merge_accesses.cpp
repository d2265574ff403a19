// Joins accesses to neighbouring words of shared memory into one of 64 or 128 bits, as ptxas 13 does for
// sm_75 and sm_90 (found by experiment; accesses to global memory it leaves alone). The words lie in one
// aligned piece of 8 or 16 bytes behind one base register. Of a 16-byte piece, three words loaded are reason
// enough for a load of 128 bits, whereas stores need all. Guarded and volatile accesses stay as they are.
//
// A load moves up to the first one of its piece. Nothing may lie between that can write shared memory or
// orders accesses to it, not even a store that provably writes elsewhere: this is what ptxas asks for. A
// store moves down to the last one of its piece, over no other access to shared memory at all.
#include <algorithm>
#include <map>

#include "isa/lowering/alignment.h"
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

constexpr uint32_t kPieceBytes = 16;
constexpr uint32_t kPieceWords = 4;

/// Loads must not pass `op`, and stores neither.
bool stops_accesses(const Op& op) {
  switch (op.kind) {
    case OpKind::kAlu:
    case OpKind::kNop:
      return op.op_class == OpClass::kSpecial;
    case OpKind::kLoad:
      return op.memory.is_volatile && op.memory.space != Space::kGlobal;
    case OpKind::kStore:
      return op.memory.space == Space::kShared || op.memory.space == Space::kGeneric;
    case OpKind::kAtomic:
      return op.memory.space != Space::kGlobal;
    case OpKind::kSync:
      return op.exec == nullptr || op.whole_warp;  // bar.warp.sync
    default:
      return true;
  }
}

bool reads_shared(const Op& op) {
  return op.kind == OpKind::kLoad && (op.memory.space == Space::kShared ||
                                      op.memory.space == Space::kGeneric || op.memory.space == Space::kNone);
}

class Merger {
 public:
  Merger(Program& program, SimdLevel level)
      : program_(program),
        level_(level),
        zero_bits_(low_zero_bits(program)),
        touched_(program.vars.size(), 0),
        written_(program.vars.size(), 0) {}

  void run() {
    for (Block& block : program_.blocks) {
      merged_ = false;
      ops_ = &block.ops;
      for (uint32_t i = 0; i < block.ops.size(); ++i) visit(i);
      close_loads();
      close_store();
      now_ += block.ops.size();
      if (merged_) drop_nops(block);
    }
  }

 private:
  /// Accesses of one piece, by the number of their first word in it.
  struct Piece {
    std::array<uint32_t, kPieceWords> member{kNone, kNone, kNone, kNone};
    uint32_t first = kNone;  ///< of its members
    uint32_t words = 1;      ///< of each
  };
  struct Key {
    Var base = kNoVar;
    uint64_t written = 0;  ///< when the base was
    int64_t offset = 0;    ///< of the piece
    uint32_t words = 1;
    ObjectId object = kNoObject;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  void visit(uint32_t i) {
    Op& op = (*ops_)[i];
    const uint64_t at = now_ + i + 1;
    const bool candidate = is_candidate(op);
    if (op.kind == OpKind::kStore && candidate) {
      close_loads();
      add_store(i);
    } else if (stops_accesses(op)) {
      close_loads();
      close_store();
    } else {
      if (reads_shared(op)) close_store();
      if (candidate) add_load(i);
    }
    for_each_use(op, [&](Var v) { touched_[v] = at; });
    for_each_def(op, [&](Var v) { touched_[v] = written_[v] = at; });
  }

  /// Words, or pairs of words, whose piece is known.
  [[nodiscard]] bool is_candidate(const Op& op) const {
    const MemoryOperand& m = op.memory;
    const auto opcode = static_cast<Opcode>(op.opcode());
    if ((opcode != Opcode::kLd && opcode != Opcode::kSt) || m.space != Space::kShared) return false;
    if (op.guard != kNoVar || m.is_volatile || op.mem == nullptr || op.imm != 0) return false;
    const bool words = m.element_bytes == 4 && static_cast<Type>((op.key >> 32) & 0xff) == Type::kB32;
    const bool fits = (words && m.elements <= 2) || (m.element_bytes == 8 && m.elements == 1);
    if (!fits) return false;
    const int64_t size = int64_t{m.element_bytes} * m.elements;
    return m.offset % size == 0 && base_bits(op) >= (size == 8 ? 3 : 2);
  }
  [[nodiscard]] uint8_t base_bits(const Op& op) const {
    if (!op.memory.has_base) return kMostZeroBits;
    return op.src[0].is_literal() ? 0 : zero_bits_[op.src[0].var];
  }

  [[nodiscard]] Key key_of(const Op& op) const {
    Key k;
    if (op.memory.has_base) {
      k.base = op.src[0].var;
      k.written = written_[k.base];
    }
    k.offset = piece_offset(op);
    k.words = op.memory.element_bytes / 4;
    k.object = op.memory.object;
    return k;
  }
  /// Of the piece that the access is in; offsets may be negative.
  static int64_t piece_offset(const Op& op) { return op.memory.offset & ~int64_t{kPieceBytes - 1}; }
  static uint32_t place_of(const Op& op) {
    return static_cast<uint32_t>(op.memory.offset - piece_offset(op)) / op.memory.element_bytes;
  }
  static bool has_member(const Piece& piece, uint32_t place, uint32_t count) {
    for (uint32_t e = 0; e < count; ++e) {
      if (piece.member[place + e] != kNone) return true;
    }
    return false;
  }
  void put(Piece& piece, uint32_t i) {
    const Op& op = (*ops_)[i];
    if (piece.first == kNone) piece.first = i;
    piece.words = op.memory.element_bytes / 4u;
    for (uint32_t e = 0; e < op.memory.elements; ++e) piece.member[place_of(op) + e] = i;
  }

  void add_load(uint32_t i) {
    const Op& op = (*ops_)[i];
    Piece& piece = loads_[key_of(op)];
    // What it writes must not be read or written on the way up.
    bool moves = true;
    for (uint32_t d = 0; d < op.num_dst && piece.first != kNone; ++d)
      moves = moves && touched_[op.dst[d]] <= now_ + piece.first;
    for (uint32_t d = 0; d < op.num_dst; ++d) moves = moves && !is_base(op, op.dst[d]);
    if (!moves || has_member(piece, place_of(op), op.memory.elements)) {
      close(piece, op.memory.has_base ? zero_bits_[op.src[0].var] : kMostZeroBits);
      piece = Piece{};
      if (std::any_of(op.dst.begin(), op.dst.end(), [&](Var v) { return is_base(op, v); })) return;
    }
    put(piece, i);
  }
  static bool is_base(const Op& op, Var v) { return op.memory.has_base && v != kNoVar && v == op.src[0].var; }

  void add_store(uint32_t i) {
    const Op& op = (*ops_)[i];
    const Key key = key_of(op);
    bool joins =
        store_.first != kNone && key == store_key_ && !has_member(store_, place_of(op), op.memory.elements);
    for (const uint32_t m : store_.member) {  // the values must still be there
      if (m == kNone || !joins) continue;
      for_each_use((*ops_)[m], [&](Var v) { joins = joins && written_[v] <= now_ + m; });
    }
    if (!joins) close_store();
    store_key_ = key;
    put(store_, i);
  }

  void close_loads() {
    for (auto& [key, piece] : loads_) close(piece, key.base == kNoVar ? kMostZeroBits : zero_bits_[key.base]);
    loads_.clear();
  }
  void close_store() {
    if (store_.first == kNone) return;
    close(store_, store_key_.base == kNoVar ? kMostZeroBits : zero_bits_[store_key_.base]);
    store_ = Piece{};
  }

  /// Joins what can be joined.
  void close(const Piece& piece, uint8_t bits) {
    if (piece.first == kNone) return;
    const bool load = (*ops_)[piece.first].kind == OpKind::kLoad;
    const auto words = static_cast<uint32_t>(
        std::count_if(piece.member.begin(), piece.member.end(), [](uint32_t m) { return m != kNone; }));
    if (piece.words == 2) {
      if (words == 2 && bits >= 4) join(piece, 0, 2);
      return;
    }
    if (bits >= 4 && (words == kPieceWords || (load && words == kPieceWords - 1)))
      return join(piece, 0, kPieceWords);
    for (uint32_t half = 0; half < kPieceWords; half += 2) {
      if (bits >= 3 && piece.member[half] != kNone && piece.member[half + 1] != kNone) join(piece, half, 2);
    }
  }

  /// One access for `count` elements from number `begin` of the piece.
  void join(const Piece& piece, uint32_t begin, uint32_t count) {
    uint32_t first = kNone, last = 0;
    for (uint32_t e = begin; e < begin + count; ++e) {
      if (piece.member[e] == kNone) continue;
      first = std::min(first, piece.member[e]);
      last = std::max(last, piece.member[e]);
    }
    if (first == last) return;  // is one already
    const bool load = (*ops_)[first].kind == OpKind::kLoad;
    // A last word that nobody reads may lie behind the end of the memory: it is left out.
    if (piece.member[begin + count - 1] == kNone) --count;
    const Op joined = joined_access(piece, begin, count, (*ops_)[load ? first : last]);
    if (joined.mem == nullptr) return;
    for (uint32_t e = begin; e < begin + count; ++e) {
      if (piece.member[e] != kNone) (*ops_)[piece.member[e]].kind = OpKind::kNop;
    }
    (*ops_)[load ? first : last] = joined;
    merged_ = true;
  }

  Op joined_access(const Piece& piece, uint32_t begin, uint32_t count, const Op& place) {
    Op op = place;
    const auto bytes = static_cast<int64_t>(piece.words) * 4;
    const bool load = op.kind == OpKind::kLoad;
    op.memory.offset = piece_offset(op) + begin * bytes;
    op.memory.elements = static_cast<uint8_t>(count);
    op.memory.align_mask = static_cast<uint8_t>((count > 2 ? kPieceWords : count) * bytes - 1);
    op.num_dst = 0;
    op.num_src = op.memory.has_base ? 1 : 0;
    op.accesses = 0;
    uint32_t counted = kNone;
    for (uint32_t e = begin; e < begin + count; ++e) {
      if (piece.member[e] == kNone) {  // nobody reads it
        op.dst[op.num_dst++] = program_.new_var(VarClass::kRow32);
        touched_.push_back(0);
        written_.push_back(0);
        op.imm |= ((uint64_t{1} << bytes) - 1) << (static_cast<int64_t>(e - begin) * bytes);
        continue;
      }
      const Op& part = (*ops_)[piece.member[e]];
      if (piece.member[e] != counted) op.accesses += part.accesses;
      counted = piece.member[e];
      const uint32_t element = e - place_of(part);
      if (load)
        op.dst[op.num_dst++] = part.dst[element];
      else
        op.src[op.num_src++] = part.src[(part.memory.has_base ? 1 : 0) + element];
    }
    const SemanticRow* row = find_form(op.key, level_);
    op.mem = row == nullptr ? nullptr : row->mem;
    return op;
  }

  Program& program_;
  SimdLevel level_;
  std::vector<uint8_t> zero_bits_;
  std::vector<Op>* ops_ = nullptr;  // of the block
  uint64_t now_ = 0;                // operations in the blocks before
  // When each variable was last read or written, counted from 1.
  std::vector<uint64_t> touched_, written_;
  std::map<Key, Piece> loads_;
  Piece store_;
  Key store_key_;
  bool merged_ = false;
};

}  // namespace

void merge_accesses(Program& program, SimdLevel level) { Merger(program, level).run(); }

}  // namespace gpusim::isa::lir
