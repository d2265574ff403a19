// Every variable starts with the best guess, which its writes then take back until nothing changes: a sweep
// over the code can only lower the numbers, and code needs about as many sweeps as its loops are deep.
#include "isa/lowering/alignment.h"

#include <algorithm>
#include <bit>

namespace gpusim::isa::lir {
namespace {

/// Code that is not settled by then is taken to have no zero bits, which bounds the time.
constexpr int kMostSweeps = 32;

class ZeroBits {
 public:
  explicit ZeroBits(const Program& program) : program_(program), bits_(program.vars.size(), 0) {
    for (const Block& block : program.blocks) {
      for (const Op& op : block.ops) for_each_def(op, [&](Var v) { bits_[v] = kMostZeroBits; });
    }
  }

  std::vector<uint8_t> run() {
    bool changed = true;
    for (int sweep = 0; changed && sweep < kMostSweeps; ++sweep) {
      changed = false;
      for (const Block& block : program_.blocks) {
        for (const Op& op : block.ops) {
          const uint8_t known = of_result(op);
          for_each_def(op, [&](Var v) {
            changed = changed || known < bits_[v];
            bits_[v] = std::min(bits_[v], known);
          });
        }
      }
    }
    if (changed) bits_.assign(bits_.size(), 0);
    return std::move(bits_);
  }

 private:
  [[nodiscard]] uint8_t of(const Value& v) const {
    if (!v.is_literal()) return bits_[v.var];
    if (v.launch_constant != kNone) return 0;
    return static_cast<uint8_t>(std::min<int>(std::countr_zero(v.bits), kMostZeroBits));
  }
  static uint8_t sum(uint64_t a, uint64_t b) {
    return static_cast<uint8_t>(std::min<uint64_t>(a + b, kMostZeroBits));
  }

  [[nodiscard]] uint8_t of_result(const Op& op) const {
    if (op.kind != OpKind::kAlu || op.num_dst != 1 || op.folded != kNone || !is_whole(op)) return 0;
    const auto opcode = static_cast<Opcode>(op.opcode());
    const auto type2 = static_cast<Type>((op.key >> 32) & 0xff);
    const auto variant = static_cast<uint32_t>(op.key);
    if (variant != 0 && variant != kVarWide) return 0;
    const std::array<Value, 10>& s = op.src;
    switch (opcode) {
      case Opcode::kMov:
        return op.num_src == 1 && type2 == Type::kNone ? of(s[0]) : 0;
      case Opcode::kCvt:
        return op.num_src == 1 && is_integer(type2) ? of(s[0]) : 0;
      case Opcode::kAdd:
      case Opcode::kSub:
      case Opcode::kOr:
      case Opcode::kXor:
      case Opcode::kSelp:
        return op.num_src == 2 ? std::min(of(s[0]), of(s[1])) : 0;
      case Opcode::kAnd:
        return op.num_src == 2 ? std::max(of(s[0]), of(s[1])) : 0;
      case Opcode::kShl: {
        const bool known = s[1].is_literal() && s[1].launch_constant == kNone;
        return sum(of(s[0]), known ? s[1].bits : 0);
      }
      case Opcode::kMul:
      case Opcode::kMul24:
        return op.num_src == 2 ? sum(of(s[0]), of(s[1])) : 0;
      case Opcode::kMad:
      case Opcode::kMad24:
        return op.num_src == 3 ? std::min(sum(of(s[0]), of(s[1])), of(s[2])) : 0;
      case Opcode::kLop3:
        return op.num_src == 3 ? of_lop3(op) : 0;
      default:
        return 0;
    }
  }
  /// A bit of the result is zero if the table (indexed by a << 2 | b << 1 | c) has zeros for all that its
  /// sources may be there.
  [[nodiscard]] uint8_t of_lop3(const Op& op) const {
    const std::array<uint8_t, 3> zeros{of(op.src[0]), of(op.src[1]), of(op.src[2])};
    uint8_t bit = 0;
    for (; bit < kMostZeroBits; ++bit) {
      for (uint32_t index = 0; index < 8; ++index) {
        const bool possible = ((index & 4) == 0 || bit >= zeros[0]) &&
                              ((index & 2) == 0 || bit >= zeros[1]) && ((index & 1) == 0 || bit >= zeros[2]);
        if (possible && (op.imm >> index & 1) != 0) return bit;
      }
    }
    return bit;
  }
  /// On integers, or on bits of any kind.
  static bool is_whole(const Op& op) { return !is_float(op.type) && op.type != Type::kPred; }

  const Program& program_;
  std::vector<uint8_t> bits_;
};

}  // namespace

std::vector<uint8_t> low_zero_bits(const Program& program) { return ZeroBits(program).run(); }

}  // namespace gpusim::isa::lir
