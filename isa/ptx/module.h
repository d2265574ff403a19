// The parsed form of one PTX text: module header, variables, functions, statements. Produced by
// parse_module() (isa/ptx/parser/parser.h), checked by verify_module() (isa/ptx/verifier/verifier.h),
// consumed by lower_kernel() (isa/lowering/lowering.h). It keeps the text's own names and order; nothing is
// resolved to machine terms here. PTX ISA manual, chapters 4-11.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/ptx/opcodes.h"
#include "isa/ptx/types.h"

namespace gpusim::isa {

/// A symbol's address (plus addend) inside an initialiser.
struct Relocation {
  uint64_t offset = 0;  ///< byte offset in the initialised variable
  uint8_t bytes = 8;    ///< size of the patched field, 4 or 8
  std::string symbol;   ///< variable or function name
  int64_t addend = 0;
  bool generic = false;          ///< generic(symbol): the address in the generic space
  uint64_t mask = ~uint64_t{0};  ///< 0xFF00(symbol): only these bits, shifted to the right end
};

enum class Linkage : uint8_t { kInternal, kVisible, kExtern, kWeak, kCommon };

/// A variable in .global, .const, .shared, .local, .param or .tex space (not a register).
struct Variable {
  std::string name;
  Space space = Space::kNone;
  Type type = Type::kNone;
  uint8_t vector = 1;          ///< 1, 2 or 4 elements
  uint64_t align = 0;          ///< bytes; always filled in (natural alignment if not written)
  std::vector<uint64_t> dims;  ///< array dimensions; a dimension [] is 0
  uint64_t bytes = 0;          ///< total size; 0 for an unsized extern array
  Linkage linkage = Linkage::kInternal;
  std::vector<std::byte> init;  ///< initial bytes; shorter than `bytes` is zero-filled
  std::vector<Relocation> relocations;
  bool is_pointer = false;  ///< .param .u64 .ptr ...
  bool is_managed = false;  ///< .attribute(.managed): the host uses it by its address
  SourceLoc loc;
  [[nodiscard]] bool is_array() const { return !dims.empty(); }
};

/// A texture reference: `.global .texref t`, or `.tex .u32 t` of PTX 1.x.
[[nodiscard]] inline bool is_texture(const Variable& v) {
  return v.space == Space::kTex || (v.space == Space::kGlobal && v.type == Type::kTexRef);
}

/// A virtual register. `%r<100>` declares 100 of them; each has an entry of its own in Function::registers.
struct Register {
  std::string name;
  Type type = Type::kNone;
  uint8_t vector = 1;
};

using RegisterId = uint32_t;  ///< index into Function::registers
inline constexpr RegisterId kNoRegister = ~0u;

/// PTX special (read-only) registers, %tid.x and so on. One enumerator per component.
enum class SpecialRegister : uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kClock,
  kClockHi,
  kClock64,
  kGlobaltimer,
  kGlobaltimerLo,
  kGlobaltimerHi,
  kDynamicSmemSize,
  kTotalSmemSize,
  kEnvreg,
  kPm,
  kClusteridX,
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
  kIsExplicitCluster,
  kReservedSmem,  ///< imm: which of ReservedSmem
  kWarpSz,
  kZero,
};

/// %reserved_smem_offset_...: of the shared memory that the system keeps of each block, which lies before
/// the kernel's. What the two numbered places in it are is not published; each gets half of it here.
enum class ReservedSmem : uint8_t { kBegin, kEnd, kCap, kFirst, kSecond };
inline constexpr uint32_t kReservedSmemBytes = 1024;
constexpr uint32_t value_of(ReservedSmem r) {
  if (r == ReservedSmem::kSecond) return kReservedSmemBytes / 2;
  return r == ReservedSmem::kEnd || r == ReservedSmem::kCap ? kReservedSmemBytes : 0;
}

/// One operand of a statement.
struct Operand {
  enum class Kind : uint8_t {
    kNone,
    kRegister,   ///< reg; for `%r|%p` also reg2 (the second destination)
    kImmediate,  ///< imm (raw bits of the literal), imm_kind
    kSpecial,    ///< special (envreg number in `imm`)
    kSymbol,     ///< symbol + offset: the address of a variable or function (also a bare label name)
    kAddress,    ///< [base + offset]: base is reg, symbol, or none (absolute)
    kVector,     ///< {a, b, ...}: elements
    kSink,       ///< _
    kLabel,      ///< branch target: symbol
    kList,       ///< (a, b, ...) of a call: elements
  };
  /// How an immediate was written: kInt in 64-bit two's complement; kF32/kF64 raw IEEE bits (0f...,
  /// 0d..., 1.5 is kF64).
  enum class ImmKind : uint8_t { kInt, kF32, kF64 };

  Kind kind = Kind::kNone;
  ImmKind imm_kind = ImmKind::kInt;
  bool negated = false;  ///< `!%p` as a source predicate, `-%r` of vmad
  SpecialRegister special = SpecialRegister::kZero;
  RegisterId reg = kNoRegister;
  RegisterId reg2 = kNoRegister;
  bool is_sum = false;    ///< name+constant as written, also +0
  int8_t component = -1;  ///< %v.x .y .z .w of a vector register, else -1
  uint64_t imm = 0;
  int64_t offset = 0;
  std::string symbol;
  std::vector<Operand> elements;
  SourceLoc loc;
};

/// One instruction statement.
struct Instruction {
  Opcode opcode = Opcode::kInvalid;
  Modifiers mods;
  std::vector<Operand> operands;   ///< in PTX order, destination(s) first
  RegisterId guard = kNoRegister;  ///< @%p
  bool guard_negated = false;      ///< @!%p
  SourceLoc loc;                   ///< of the opcode
  std::string text;                ///< the statement as written, white space collapsed, without the `;`
  uint32_t source_file = 0;        ///< .loc: file number, 0 if none
  uint32_t source_line = 0;        ///< .loc: line
  uint32_t inlined_file = 0;  ///< .loc inlined_at: file of the call that is not inlined itself, 0 if none
  uint32_t inlined_line = 0;  ///< .loc inlined_at: its line
  uint32_t unused_bytes = 0;  ///< of a load: bit per byte that .pragma "used_bytes_mask" leaves out
  bool no_unroll = false;     ///< .pragma "nounroll" stands before it: the first of a loop
};

struct Label {
  std::string name;        ///< unique within the function (inner scopes that redeclare a label get a suffix)
  uint32_t statement = 0;  ///< index into Function::body it stands before (may equal body.size())
  SourceLoc loc;
};

/// .branchtargets / .calltargets / .callprototype.
struct LabelTable {
  enum class Kind : uint8_t { kBranchTargets, kCallTargets, kCallPrototype };
  std::string name;
  Kind kind = Kind::kBranchTargets;
  std::vector<std::string> targets;       ///< labels or functions
  std::vector<Variable> returns, params;  ///< kCallPrototype
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false;  ///< no body
  Linkage linkage = Linkage::kInternal;
  std::vector<Variable>
      params;  ///< .param space (or .reg parameters of old .func: space == kReg, and `registers` has them)
  std::vector<Variable> returns;
  std::vector<Register> registers;
  std::vector<Variable> variables;  ///< function-scope .shared, .local, .param, .global
  std::vector<Label> labels;
  std::vector<LabelTable> tables;
  std::vector<Instruction> body;
  uint32_t maxntid[3] = {0, 0, 0};  ///< .maxntid, 0 = not given
  uint32_t reqntid[3] = {0, 0, 0};
  uint32_t cluster[3] = {0, 0, 0};   ///< .reqnctapercluster; a dimension of 0: not given
  uint32_t max_cluster = 0;          ///< .maxclusterrank: blocks of a cluster; 0: not given
  bool explicit_cluster = false;     ///< .explicitcluster: the launch or the kernel gives a size
  bool blocks_are_clusters = false;  ///< .blocksareclusters: the launch's grid counts clusters
  uint32_t maxnreg = 0;              ///< most registers of a thread; 0: not given
  uint32_t minnctapersm = 0;         ///< blocks that an SM has to hold at a time; 0: not given
  SourceLoc loc;
  std::vector<RegisterId> param_registers;  ///< .func with .reg parameters: the register of each parameter
  std::vector<RegisterId> return_registers;

  [[nodiscard]] const Label* find_label(std::string_view label) const;
  [[nodiscard]] const LabelTable* find_table(std::string_view table) const;
};

/// One PTX text.
struct Module {
  int version_major = 0;
  int version_minor = 0;
  int target_sm = 0;        ///< 10, 13, 20, 70, 90, ...
  char target_letter = 0;   ///< a or f of sm_90a, sm_100f; 0: none
  std::string target_text;  ///< as written: "sm_13, map_f64_to_f32"
  bool map_f64_to_f32 = false;
  int address_size = 0;               ///< 32 or 64; found from the statements where the directive is missing
  bool has_any_address_size = false;  ///< nothing in the text tells it: links with either
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<std::string> source_files;  ///< .file entries, index = number
  struct Alias {
    std::string name, target;
    SourceLoc loc;
  };
  std::vector<Alias> aliases;      ///< .alias; link_modules() resolves them
  std::vector<std::string> files;  ///< of linked modules, by SourceLoc::file

  /// By name; a definition goes before declarations. Fast after index_symbols().
  [[nodiscard]] const Function* find_function(std::string_view name) const;
  [[nodiscard]] const Variable* find_variable(std::string_view name) const;
  /// Sorts the names, as parse_module() and link_modules() do at their end; whoever renames or moves symbols
  /// does it again.
  void index_symbols();
  /// Number of one of `functions`: what its address is made from (isa/exec/executor.h).
  [[nodiscard]] uint32_t number_of(const Function& f) const {
    return static_cast<uint32_t>(&f - functions.data());
  }
  /// Entry functions in file order.
  [[nodiscard]] std::vector<const Function*> entries() const;

 private:
  std::vector<uint32_t> functions_by_name_, variables_by_name_;
};

}  // namespace gpusim::isa
