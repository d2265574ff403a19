// The verifier's classes, private to this folder: symbols of the module (verifier.cpp),
// operands of a statement (operand.cpp; of accesses address.cpp, of mov mov.cpp),
// rules of single opcodes (rules.cpp), what a .target allows (target.cpp), modifiers of
// accesses (memory.cpp), wmma (wmma.cpp).
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "isa/ptx/module.h"
#include "isa/ptx/verifier/verifier.h"

namespace gpusim::isa {

/// .relaxed or a stronger order is written.
[[nodiscard]] inline bool is_ordered(const Modifiers& m) { return m.semantics >= Semantics::kRelaxed; }
[[nodiscard]] inline int written_types(const Modifiers& m) {
  return (m.type != Type::kNone) + (m.type2 != Type::kNone) + (m.type3 != Type::kNone) +
         (m.type4 != Type::kNone);
}

struct ModuleSymbols {
  std::unordered_map<std::string_view, const Variable*> variables;
  std::unordered_map<std::string_view, const Function*> functions;
};

class FunctionVerifier {
 public:
  FunctionVerifier(const Module& module, const ModuleSymbols& symbols, const Function& function,
                   Diagnostics& out);
  void verify();

 private:
  void verify_instruction(const Instruction& i);
  void error(SourceLoc loc, std::string message, std::string hint = {});
  void error(std::string message, std::string hint = {}) {
    error(current_->loc, std::move(message), std::move(hint));
  }
  [[nodiscard]] std::string name() const { return opcode_text(*current_); }

  // Types and modifiers (rules.cpp); false stops the checks of the statement.
  bool check_types(const Instruction& i);
  bool check_operand_count(const Instruction& i);
  void check_modifiers(const Instruction& i);
  void check_rounding(const Instruction& i);
  void check_arithmetic_modifiers(const Instruction& i);
  void check_redux(const Instruction& i);
  void check_setmaxnreg(const Instruction& i);
  void check_cvt(const Instruction& i);
  void check_half(const Instruction& i);
  void check_half_arithmetic(const Instruction& i);
  void check_half_cvt(const Instruction& i);
  void check_extreme(const Instruction& i);
  void check_compare(const Instruction& i);
  void check_atom(const Instruction& i);
  void check_warp_ops(const Instruction& i);
  void check_bar(const Instruction& i);
  void check_target(const Instruction& i);  // target.cpp
  // memory.cpp
  void check_memory_modifiers(const Instruction& i);
  void check_order(const Instruction& i);
  void check_cache_modifiers(const Instruction& i);
  void check_cache_hint(const Instruction& i, size_t operands);
  void check_cache_control(const Instruction& i);
  static std::string_view name_of_level(const Instruction& i);

  // Operands (operand.cpp)
  void check_operands(const Instruction& i);
  void check_role(const Instruction& i, const Operand& o, char role, size_t index);
  void check_destination(const Instruction& i, const Operand& o, Type type, bool may_be_wider);
  void check_source(const Instruction& i, const Operand& o, Type type, bool may_be_wider);
  void check_register(const Instruction& i, const Operand& o, Type type, bool may_be_wider);
  void check_immediate(const Operand& o, Type type);
  void check_special(const Operand& o, Type type);
  void check_symbol_value(const Instruction& i, const Operand& o);
  bool check_function_value(const Instruction& i, const Operand& o, const Function& function);
  void check_address(const Instruction& i, const Operand& o);
  void check_memory_value(const Instruction& i, const Operand& o, bool destination);
  void check_elements_alike(const Operand& vector);
  void check_wide_access(const Instruction& i);
  void check_mov(const Instruction& i);
  void check_mov_elements(const Instruction& i);
  [[nodiscard]] size_t vector_size(const Operand& o) const;
  void check_mov_vector(const Instruction& i, const Operand& vector, const Operand& other, bool unpack);
  void check_function_operand(const Instruction& i, const Operand& o, Type type);
  void check_vector_register(const Instruction& i, const Operand& vector, const Operand& other);
  void check_label(const Operand& o);
  void check_table(const Operand& o);
  void check_call(const Instruction& i);
  void check_indirect_call(const Instruction& i, size_t returns, size_t arguments);
  void check_argument_sizes(const Operand& list, const std::vector<Variable>& formals);
  void check_bar_operands(const Instruction& i);
  void check_bar_constants(const Instruction& i, size_t number);
  // texture.cpp
  void check_tex(const Instruction& i);
  void check_txq(const Instruction& i);
  void check_texture_name(const Operand& o);
  void check_coordinates(const Instruction& i, const Operand& o, Type coordinate);
  void check_lod(const Instruction& i);
  void check_texture_offset(const Instruction& i, const Operand& o);
  // spelled.cpp
  void check_cvt_tf32(const Instruction& i);
  void check_spelled(const Instruction& i);
  void check_surface(const Instruction& i);
  void check_gather(const Instruction& i);
  void check_cvt_float8(const Instruction& i);
  void check_cluster_address(const Instruction& i);
  void check_async_copy(const Instruction& i);
  void check_multimem(const Instruction& i);
  void check_bulk_copy(const Instruction& i);
  void check_tensor_copy(const Instruction& i);
  void check_tensor_map(const Instruction& i);
  void check_mbarrier(const Instruction& i);
  void check_matrix_move(const Instruction& i);
  void check_mma(const Instruction& i);
  void check_places(const Instruction& i, size_t operand, size_t lanes);
  void check_wgmma(const Instruction& i);
  void check_vector_of(const Instruction& i, const Operand& o, size_t count, Type type, bool destination);
  // wmma.cpp
  void check_wmma(const Instruction& i);
  void check_wmma_transfer(const Instruction& i);
  void check_wmma_mma(const Instruction& i);
  void check_wmma_bits(const Instruction& i);
  void check_wmma_vector(const Instruction& i, const Operand& o, WmmaMatrix matrix, Type element);
  void check_wmma_target(Type type, WmmaShape shape);
  void check_store_space(const Instruction& i, const Operand& o);

  struct Found {
    const Variable* variable = nullptr;
    const Function* function = nullptr;
    bool is_param = false;
  };
  [[nodiscard]] bool is_call_argument(const Found& f) const;
  void check_argument_guard(const Instruction& i, const Operand& o, const Found& f);
  [[nodiscard]] Found find_symbol(std::string_view name) const;
  void undefined_symbol(const Operand& o);

  const Module& module_;
  const ModuleSymbols& symbols_;
  const Function& function_;
  Diagnostics& out_;
  const Instruction* current_ = nullptr;
  std::unordered_map<std::string_view, const Variable*> locals_;
  std::unordered_set<std::string_view> params_;
  std::unordered_set<std::string_view> labels_;
  std::unordered_map<std::string_view, const LabelTable*> tables_;
};

/// May a register of type `reg` stand for an operand of type `type`?
[[nodiscard]] bool compatible(Type reg, Type type, bool may_be_wider);

/// "a register", "a constant": for messages.
[[nodiscard]] std::string_view kind_name(Operand::Kind kind);

/// The form of an instruction that is_spelled(), in quotes, if it is not simulated; else empty.
/// Whether tex or tld4 has a depth to compare with behind its level and offset.
[[nodiscard]] bool compares_depth(const Instruction& i);
/// Operands of tex for its level.
[[nodiscard]] size_t level_operands(const Instruction& i);
[[nodiscard]] std::string unsupported_form(const Instruction& i);

/// Version as one number: 1.4 is 104.
[[nodiscard]] inline int ptx_version(const Module& m) { return m.version_major * 100 + m.version_minor; }

}  // namespace gpusim::isa
