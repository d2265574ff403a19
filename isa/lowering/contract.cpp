// A product and a sum of floating-point numbers as one multiply-add, where ptxas 13 contracts them (found by
// experiment for sm_75): neither statement names a rounding, both flush denormals or neither does, the
// product does not saturate, and all that read the product are such sums in the same block, each with another
// addend. The operation takes the place of one fma but still rounds the product (kVarSeparate), for results
// never depend on the level of lowering.
#include <algorithm>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

/// The modifiers in its key.
uint32_t modifiers_of(const Op& op) { return static_cast<uint32_t>(op.key); }
bool has_opcode(const Op& op, Opcode opcode) { return static_cast<Opcode>(op.opcode()) == opcode; }

bool may_contract(const Op& op) {
  return op.kind == OpKind::kAlu && op.contractible && op.folded == kNone && op.num_src == 2 &&
         op.num_dst == 1 && (op.type == Type::kF32 || op.type == Type::kF64);
}
bool is_product(const Op& op) {
  return may_contract(op) && has_opcode(op, Opcode::kMul) && op.guard == kNoVar &&
         (modifiers_of(op) & ~kVarFtz) == 0;
}
bool is_sum(const Op& op) {
  return may_contract(op) && (has_opcode(op, Opcode::kAdd) || has_opcode(op, Opcode::kSub)) &&
         (modifiers_of(op) & ~(kVarFtz | kVarSat)) == 0;
}

class Contractor {
 public:
  Contractor(Program& program, SimdLevel level)
      : program_(program),
        level_(level),
        exposed_(program.vars.size(), false),
        product_of_(program.vars.size(), kNone),
        written_at_(program.vars.size(), 0) {
    std::vector<uint32_t> written_in(program.vars.size(), kNone);
    for (uint32_t b = 0; b < program.blocks.size(); ++b) {
      for (const Op& op : program.blocks[b].ops) {
        const auto note = [&](Var v) { exposed_[v] = exposed_[v] || written_in[v] != b; };
        for_each_use(op, note);
        if (op.guard != kNoVar) for_each_def(op, note);  // other lanes keep what was there
        for_each_def(op, [&](Var v) { written_in[v] = b; });
      }
    }
  }

  void run() {
    for (Block& block : program_.blocks) {
      products_.clear();
      block_ = &block.ops;
      for (uint32_t i = 0; i < block.ops.size(); ++i) visit(block.ops[i], i);
      for (Product& p : products_) {
        const Var v = block.ops[p.op].dst[0];
        const bool last = product_of_[v] != kNone && products_[product_of_[v]].op == p.op;
        if (last && exposed_[v]) p.fits = false;
      }
      for (const Product& p : products_) {
        product_of_[block.ops[p.op].dst[0]] = kNone;
        if (!p.fits) continue;
        for (const uint32_t sum : p.sums) contract(block.ops[sum], block.ops[p.op]);
      }
      now_ += block.ops.size();
    }
  }

 private:
  struct Product {
    uint32_t op = 0;
    bool fits = true;            ///< sums are all that reads it
    std::vector<uint32_t> sums;  ///< operations of the block
  };

  void visit(const Op& op, uint32_t i) {
    for_each_use(op, [&](Var v) {
      if (product_of_[v] == kNone) return;
      Product& p = products_[product_of_[v]];
      if (takes(op, v, p))
        p.sums.push_back(i);
      else
        p.fits = false;
    });
    for_each_def(op, [&](Var v) {
      if (op.guard != kNoVar && product_of_[v] != kNone) products_[product_of_[v]].fits = false;
      product_of_[v] = kNone;
      written_at_[v] = now_ + i + 1;
    });
    if (!is_product(op)) return;
    product_of_[op.dst[0]] = static_cast<uint32_t>(products_.size());
    const bool overwrites = std::any_of(op.src.begin(), op.src.begin() + op.num_src,
                                        [&](const Value& v) { return v.var == op.dst[0]; });
    products_.push_back({i, !overwrites, {}});
  }

  /// Whether `op` is a sum of `v`, the product, and something else, and the factors are as they were.
  [[nodiscard]] bool takes(const Op& op, Var v, const Product& p) const {
    const Op& product = (*block_)[p.op];
    if (!is_sum(op) || op.type != product.type || ((op.key ^ product.key) & kVarFtz) != 0) return false;
    if ((op.src[0].var == v) == (op.src[1].var == v)) return false;
    bool same = true;
    for_each_use(product, [&](Var u) { same = same && written_at_[u] <= now_ + p.op; });
    return same;
  }

  /// `sum` with the factors instead of their product, unless it has taken another one.
  void contract(Op& sum, const Op& product) {
    if (!is_sum(sum)) return;
    const int place = sum.src[0].var == product.dst[0] ? 0 : 1;
    const SemanticRow* row =
        find_form(form_key(Opcode::kMad, sum.type, Type::kNone, modifiers_of(sum) | kVarSeparate), level_);
    if (row == nullptr) return;
    const bool minus = has_opcode(sum, Opcode::kSub);
    const Value rest = sum.src[1 - place];
    sum.key = row->key;
    sum.exec = row->exec;
    sum.op_class = row->op_class;
    sum.flops = row->flops;
    sum.modifiers = !minus ? 0 : place == 0 ? kModNegateAddend : kModNegateProduct;
    sum.src[0] = product.src[0];
    sum.src[1] = product.src[1];
    sum.src[2] = rest;
    sum.num_src = 3;
  }

  Program& program_;
  SimdLevel level_;
  std::vector<bool> exposed_;         // read in some block before that block writes it
  std::vector<uint32_t> product_of_;  // of each variable: index into products_, if it holds that product now
  std::vector<uint64_t> written_at_;  // counted from 1
  std::vector<Product> products_;     // of the block
  const std::vector<Op>* block_ = nullptr;
  uint64_t now_ = 0;  // operations in the blocks before
};

}  // namespace

void contract_products(Program& program, SimdLevel level) { Contractor(program, level).run(); }

}  // namespace gpusim::isa::lir
