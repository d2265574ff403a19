// Instruction selection: walks a function's statements and emits micro-ops over virtual variables. A direct
// call of a function without a frame emits the callee's body in place (select_call.cpp, call_plan.h).
// Values follow Module::target_sm.
#pragma once
#include <optional>
#include <unordered_map>

#include "isa/exec/device_services.h"
#include "isa/exec/executor.h"
#include "isa/exec/stack.h"
#include "isa/lowering/call_plan.h"
#include "isa/lowering/lir.h"
#include "isa/ptx/wmma.h"

namespace gpusim::isa {
struct MmaForm;
struct WgmmaTile;
}  // namespace gpusim::isa

namespace gpusim::isa::lir {

/// One form an arithmetic statement maps to: the table key and the type of each operand.
struct AluForm {
  uint64_t key = 0;
  Type dst = Type::kNone;
  std::array<Type, 4> src{};
  uint64_t imm = 0;
  uint8_t modifiers = 0;
};
/// Form of a statement whose operands are one destination register and plain sources; nullopt if there is
/// none. `legacy` is true for sm_1x targets (select_form.cpp).
[[nodiscard]] std::optional<AluForm> alu_form(const Modifiers& mods, Opcode opcode, bool legacy);
/// Types of the same size without sign ("b32"), used by moves, logic and memory.
[[nodiscard]] Type untyped(Type t);
[[nodiscard]] Type unsigned_of(Type t);

[[nodiscard]] WmmaSum mma_sum(const Modifiers& mods, Type multiplicand, int target);  // select_wmma.cpp

class Selector {
 public:
  Selector(const Module& module, const Function& root, const CallPlan& plan, const LoweringOptions& options,
           Statements& statements, Diagnostics& errors);
  Program run();

 private:
  /// Where a .param variable of a call lives: one variable per scalar, local memory for arrays (structs).
  struct ParamSlot {
    Var var = kNoVar;
    Type type = Type::kNone;
    uint32_t local_offset = 0;
    uint32_t bytes = 0;
  };
  /// One (inlined) activation of a function.
  struct Frame {
    const Function* function = nullptr;
    std::vector<Var> registers;  ///< first variable of each PTX register
    std::unordered_map<std::string_view, ParamSlot> slots;
    struct Local {
      uint32_t offset = 0;
      ObjectId object = kNoObject;
    };
    std::unordered_map<const Variable*, Local> locals;
    std::unordered_map<std::string_view, const Variable*>
        names;                                              ///< params, returns, function-scope variables
    std::unordered_map<std::string_view, uint32_t> labels;  ///< block ids
    uint32_t return_block = kNone;                          ///< kNone: the entry, `ret` leaves the kernel
    uint32_t scope = 0;                                     ///< see KernelImage::scopes
    Var carry = kNoVar;
    Var stack = kNoVar;  ///< of a function with alloca: the stack pointer at its start
  };
  struct Address {
    Value base;
    bool has_base = false;
    int64_t offset = 0;
    Space space = Space::kNone;
    ObjectId object = kNoObject;  ///< of `offset`
  };

  struct CallSite {
    const Instruction& inst;
    std::vector<Operand> returns, arguments;
    const Function* callee;  ///< null: indirect
  };
  enum class Direction : uint8_t { kToCallee, kFromCallee };

  // select.cpp: blocks, functions
  uint32_t new_block();
  void place(uint32_t block);
  void kernel(Frame& frame);
  void open_frame(Frame& frame, const Function& function);
  void add_local(Frame& frame, const Variable& variable);
  [[nodiscard]] uint32_t new_scope(uint32_t outer);
  [[nodiscard]] ObjectId object_of(Frame& frame, const Variable& variable);
  void emit_function(Frame& frame);
  void statement(Frame& frame, const Instruction& inst);
  uint32_t statement_index(const Instruction& inst);
  void finish_blocks();

  // select_call.cpp
  void call(Frame& frame, const Instruction& inst);
  bool agrees(const CallSite& site, const std::string& name, const std::vector<Variable>& params,
              const std::vector<Variable>& returns);
  bool jump_over_call(uint32_t after);
  void assertion_failed(Frame& frame, const CallSite& site);
  void call_system(Frame& frame, const CallSite& site, SystemCall call);
  void open_stack(Frame& frame);
  void close_stack(const Frame& frame);
  void call_runtime(Frame& frame, const CallSite& site, RuntimeCall call);
  void call_inline(Frame& frame, const CallSite& site);
  void bind(Frame& caller, Frame& callee, const Operand& actual, const Variable& formal, Var formal_register,
            bool is_argument);
  void copy_result(Frame& caller, const Operand& actual, const Variable& formal, Var from);
  void call_indirect(Frame& frame, const CallSite& site, const Operand& address);
  void call_through_stack(Frame& frame, const CallSite& site, std::optional<Value> address,
                          const std::vector<Variable>& params, const std::vector<Variable>& returns);
  void pass(Frame& frame, const Operand& actual, const Variable& formal, uint32_t offset,
            Direction direction);
  void move_argument(OpKind kind, Var v, Type type, uint32_t offset, bool outgoing);
  void called_function(Frame& frame);
  void move_register(const Frame& frame, OpKind kind, const Variable& formal,
                     const std::vector<RegisterId>& ids, size_t index, uint32_t offset);
  /// Place in the frame of the function being selected.
  [[nodiscard]] Address frame_address(uint32_t offset) const;

  // select_operand.cpp
  Type mapped(Type t) const;
  static VarClass class_of(Type t);
  Var register_var(const Frame& frame, const Operand& operand) const;
  Value value(Frame& frame, const Operand& operand, Type type);
  Value literal(const Operand& operand, Type type) const;
  Value resized(Value v, bool wide);
  /// Reads a special register, into `into` or a new variable.
  Value special(const Operand& operand, bool wide, Var into = kNoVar);
  Var predicate(Frame& frame, const Operand& operand);
  std::optional<Address> symbol_address(Frame& frame, const std::string& name, const SourceLoc& loc);
  std::optional<Address> address(Frame& frame, const Operand& operand, Space space);
  const Variable* find_variable(const Frame& frame, std::string_view name) const;
  void note_shared(const Variable& variable);
  std::vector<Operand> elements(const Frame& frame, const Operand& operand) const;
  /// Variable that takes a result of `type`; write_back() extends it into a wider register afterwards.
  Var destination(Frame& frame, const Operand& operand, Type type);
  void write_back(Frame& frame, const Operand& operand, Type type, Var temporary);

  // select_alu.cpp
  void alu(Frame& frame, const Instruction& inst);
  Value widened_half(Frame& frame, const Operand& operand, Type half);
  void extreme_of_three(Frame& frame, const Instruction& inst);
  void move(Frame& frame, const Instruction& inst);
  void move_elements(Frame& frame, const std::vector<Operand>& to, const std::vector<Operand>& from,
                     Type type);
  void compare(Frame& frame, const Instruction& inst);
  void predicate_logic(Frame& frame, const Instruction& inst);
  void carry_arithmetic(Frame& frame, const Instruction& inst);
  void select_predicate(Frame& frame, const Instruction& inst);
  void convert_address(Frame& frame, const Instruction& inst);
  void test_value(Frame& frame, const Instruction& inst);
  void lookup(Frame& frame, const Instruction& inst);

  // select_warp.cpp
  void vote(Frame& frame, const Instruction& inst);
  void shuffle(Frame& frame, const Instruction& inst);
  void match_or_redux(Frame& frame, const Instruction& inst);
  void elect(Frame& frame, const Instruction& inst);
  /// Kind of an operation with a member mask: only independent lanes have to wait for each other.
  [[nodiscard]] OpKind sync_kind() const;
  void warp_barrier(Frame& frame, const Instruction& inst);
  void sleep(Frame& frame, const Instruction& inst);
  void fence(const Instruction& inst);
  void fence_before_release(const Instruction& inst, Space space);
  void gather(const Value& members, bool orders_accesses = false);
  void barrier(Frame& frame, const Instruction& inst);
  void emit_barrier(Frame& frame, const Instruction& inst, Op op);
  void leave(Frame& frame, const Instruction& inst);
  void branch(Frame& frame, const Instruction& inst);
  void branch_table(Frame& frame, const Instruction& inst);

  // select_texture.cpp
  void texture_read(Frame& frame, const Instruction& inst);
  void texture_query(Frame& frame, const Instruction& inst);
  // select_async.cpp
  void async_group(const Instruction& inst);
  void async_arrive(Frame& frame, const Instruction& inst);
  void async_copy(Frame& frame, const Instruction& inst);
  void mbarrier(Frame& frame, const Instruction& inst);
  // select_bulk.cpp
  std::optional<Value> whole_address(Frame& frame, const Operand& operand, Space space);
  void complete_remote(Frame& frame, const Operand& barrier, const Value& bytes);
  void copy_loop(const Instruction& inst, Op op, Var moved, Var more);
  void bulk_copy(Frame& frame, const Instruction& inst);
  void remote_store(Frame& frame, const Instruction& inst);
  void tensor_copy(Frame& frame, const Instruction& inst);  // select_tensor.cpp
  Value packed_halves(Frame& frame, std::span<const Operand> operands);
  void tensor_map(Frame& frame, const Instruction& inst);
  void video(Frame& frame, const Instruction& inst);     // select_video.cpp
  void multimem(Frame& frame, const Instruction& inst);  // select_multimem.cpp
  // select_cluster.cpp
  void cluster_address(Frame& frame, const Instruction& inst);
  void cluster_barrier(const Instruction& inst);
  // select_mma.cpp
  void matrix_move(Frame& frame, const Instruction& inst);
  void mma(Frame& frame, const Instruction& inst);
  struct MmaRegisters;
  static Op whole_step(Op op, const MmaForm& form, const MmaRegisters& r);
  std::vector<Op> double_steps(const Op& step, const MmaForm& form, const MmaRegisters& r);
  static std::vector<Op> half_steps(const Op& step, const MmaForm& form, WmmaSum sum, const MmaRegisters& r);
  /// A step of a matrix multiplication, without its registers; nothing if there is no such form.
  /// select_wmma.cpp
  [[nodiscard]] std::optional<Op> matrix_step(uint64_t key, Type result, const WmmaSum& sum) const;
  // select_wgmma.cpp
  void wgmma(Frame& frame, const Instruction& inst);
  std::vector<Value> wgmma_load(const Value& descriptor, const WgmmaTile& tile, size_t count);
  // select_surface.cpp
  bool add_coordinates(Frame& frame, const Instruction& inst, const Operand& place, Type type, Op& op);
  void surface_access(Frame& frame, const Instruction& inst);
  void surface_query(Frame& frame, const Instruction& inst);
  void texture_gather(Frame& frame, const Instruction& inst);
  std::optional<Value> texture_handle_of(Frame& frame, const Operand& operand);
  Op texture_op(const Instruction& inst, MemFn function, uint64_t what, const Value& handle);
  bool add_offsets(Frame& frame, const Instruction& inst, size_t operand, Op& op);

  // select_wmma.cpp
  void wmma_transfer(Frame& frame, const Instruction& inst);
  [[nodiscard]] bool as_matrices(const Instruction& inst, const Address& where) const;
  Op matrices_access(const Address& where, const Value& stride, std::span<const WmmaTile> tiles);
  Op wmma_access(const Instruction& inst, const Address& where, const Value& stride, WmmaTile tile,
                 int count);
  void wmma_results(const WmmaFragment& fragment, std::span<const Var> loaded, std::span<const Var> results);
  void wmma_mma(Frame& frame, const Instruction& inst);
  void wmma_small(const Modifiers& m, Type multiplicand, const Value& row, const Value& column,
                  std::span<const Value> sums, std::span<const Var> results);
  void wmma_emit(std::vector<Op> ops, std::span<const Var> results, bool wide);

  // select_memory.cpp
  void load_store(Frame& frame, const Instruction& inst);
  void stack(Frame& frame, const Instruction& inst);
  void emit_stack(StackOp what, std::optional<Value> source, Var result, uint32_t align = 1);
  void param_slot_access(Frame& frame, const Instruction& inst, const ParamSlot& slot);
  void atomic(Frame& frame, const Instruction& inst);
  void atomic_element(const Instruction& inst, const Address& where, std::span<const Value> sources, Var old,
                      uint8_t align_mask);
  void atomic_pair(Frame& frame, const Instruction& inst, const Address& where);
  Op memory_op(OpKind kind, Space space, Type element, bool wide_lanes, const Address& address, int elements);

  // emission
  void begin_helpers(const Instruction* inst);
  Op* emit(Op op);
  /// Emits an arithmetic op of table form `key`; reports an error if the table has no such form.
  Op* emit_form(uint64_t key, std::initializer_list<Var> dst, std::span<const Value> src);
  void emit_control(OpKind kind, OpClass op_class, uint32_t target = kNone);
  void error(const SourceLoc& loc, std::string message, std::string hint = {});
  void unsupported(const Instruction& inst, const char* what);
  void refuse_size();

  const Module& module_;
  const Function& root_;
  const CallPlan& plan_;
  const LoweringOptions& options_;
  Statements& statements_;
  Diagnostics& errors_;
  Program program_;
  SimdLevel level_;
  bool legacy_;  ///< sm_1x value rules
  bool f64_as_f32_;
  uint32_t current_ = 0;                ///< block being filled
  std::vector<const Variable*> named_;  ///< in shared memory, in block named_in_
  uint32_t named_in_ = kNone;
  std::vector<uint32_t> layout_;
  std::vector<const Function*> stack_;
  uint32_t local_top_ = 0;
  size_t emitted_ = 0;
  bool too_large_ = false;  ///< reported once; nothing more is emitted
  // Of the statement being selected
  const Instruction* inst_ = nullptr;
  Var guard_ = kNoVar;
  bool guard_negated_ = false;
  bool counted_ = false;   ///< an op of this statement already carries its PTX count
  bool reachable_ = true;  ///< control can reach the current position
  uint32_t last_index_ = 0;
  uint32_t scope_ = 0;  ///< of the function being emitted
};

}  // namespace gpusim::isa::lir
