#include "isa/ptx/kernel_use.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace gpusim::isa {
namespace {

/// What a value may be derived from: parameters from 0 up, behind them the module's variables, behind them
/// what these hold.
using Sources = std::set<uint32_t>;
constexpr size_t kMostSources = 8;  // beyond it the guess is worth nothing
constexpr int kMostRounds = 32;     // chains of copies through loops are shorter
constexpr int kMostCalls = 64;      // deep, of functions one in another

bool merge(Sources& into, const Sources& from) {
  const size_t before = into.size();
  if (before < kMostSources) into.insert(from.begin(), from.end());
  return into.size() != before;
}

/// Operands whose value the result continues as an address.
bool carries(const Instruction& i, size_t operand) {
  switch (i.opcode) {
    case Opcode::kMov:
    case Opcode::kCvta:
    case Opcode::kCvt:
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kMin:
    case Opcode::kMax:
      return true;
    case Opcode::kSub:
      return operand == 1;
    case Opcode::kSelp:
      return operand < 3;
    case Opcode::kMad:
      return operand == 3;
    default:
      return false;
  }
}

bool is_arithmetic(Opcode op, size_t operand) {
  return op == Opcode::kMul || op == Opcode::kDiv || op == Opcode::kRem || op == Opcode::kShl ||
         op == Opcode::kShr || (op == Opcode::kMad && operand < 3);
}

class Flow {
 public:
  using Known = std::map<std::string, KernelUse>;

  Flow(const Module& module, const Function& function, Known& known, int depth)
      : module_(module),
        function_(function),
        known_(known),
        depth_(depth),
        registers_(function.registers.size()) {
    use_.params.resize(function.params.size());
    use_.variables.resize(module.variables.size());
    use_.contents.resize(module.variables.size());
  }

  KernelUse run() {
    for (size_t p = 0; p < function_.param_registers.size(); ++p)
      if (function_.param_registers[p] < registers_.size())
        registers_[function_.param_registers[p]].insert(static_cast<uint32_t>(p));
    bool changed = true;
    for (int round = 0; changed && round < kMostRounds; ++round) {
      changed = false;
      for (const Instruction& i : function_.body) changed = propagate(i) || changed;
    }
    certain_.resize(use_.params.size());
    number_.resize(use_.params.size());
    for (size_t p = 0; p < use_.params.size(); ++p) certain_[p] = function_.params[p].is_pointer;
    for (const Instruction& i : function_.body) weigh(i);
    for (const Instruction& i : function_.body) look_at(i);
    // An address that is only passed on.
    for (size_t p = 0; p < use_.params.size(); ++p)
      if (certain_[p] && use_.params[p].kind == PointerUse::Kind::kNumber)
        use_.params[p].kind = PointerUse::Kind::kAddress;
    return std::move(use_);
  }

 private:
  [[nodiscard]] uint32_t variable_source(size_t index) const {
    return static_cast<uint32_t>(function_.params.size() + index);
  }

  /// The pointer in a variable that an instruction loads by name.
  [[nodiscard]] Sources loaded_pointer(const Instruction& i, const Operand& from) const {
    for (size_t v = 0; i.opcode == Opcode::kLd && v < module_.variables.size(); ++v) {
      const Variable& variable = module_.variables[v];
      if (variable.name == from.symbol && from.offset == 0 && from.reg == kNoRegister &&
          variable.bytes == 8 && type_bytes(i.mods.type) == 8 && i.mods.vector <= 1)
        return {variable_source(module_.variables.size() + v)};
    }
    return {};
  }

  /// A parameter that is wide enough for an address.
  [[nodiscard]] const Variable* address_param(const std::string& name, uint32_t& number) const {
    for (size_t p = 0; p < function_.params.size(); ++p) {
      const Variable& v = function_.params[p];
      if (v.name != name) continue;
      number = static_cast<uint32_t>(p);
      // PTX 1.x says nothing of address sizes: 64-bit programs look like 32-bit ones.
      const bool wide = v.bytes == 8 || (v.bytes == 4 && module_.address_size == 32);
      return wide && !v.is_array() && !is_float(v.type) ? &v : nullptr;
    }
    return nullptr;
  }

  [[nodiscard]] Sources sources_of(const Operand& o) const {
    Sources all;
    if (o.reg != kNoRegister && o.reg < registers_.size()) all = registers_[o.reg];
    if (o.symbol.empty()) return all;
    for (size_t v = 0; v < module_.variables.size(); ++v)
      if (module_.variables[v].name == o.symbol) all.insert(variable_source(v));
    return all;
  }

  bool give(const Operand& to, const Sources& sources) {
    bool changed = false;
    if (to.reg != kNoRegister && to.reg < registers_.size()) changed = merge(registers_[to.reg], sources);
    for (const Operand& e : to.elements) changed = give(e, sources) || changed;
    return changed;
  }

  bool propagate(const Instruction& i) {
    if (i.opcode == Opcode::kCall) return propagate_call(i);
    if (i.operands.size() < 2) return false;
    const Operand &first = i.operands[0], &second = i.operands[1];
    if (i.opcode == Opcode::kLd && i.mods.space == Space::kParam) {
      uint32_t number = 0;
      if (address_param(second.symbol, number) != nullptr) return give(first, {number});
      return give(first, locals_[second.symbol]);
    }
    if (i.opcode == Opcode::kSt && i.mods.space == Space::kParam)
      return merge(locals_[first.symbol], sources_of(second));
    bool changed = give(first, loaded_pointer(i, second));
    for (size_t k = 1; k < i.operands.size(); ++k)
      if (carries(i, k)) changed = give(first, sources_of(i.operands[k])) || changed;
    return changed;
  }

  /// What an argument of a call is derived from.
  [[nodiscard]] Sources argument(const Operand& o) const {
    Sources all = sources_of(o);
    if (const auto at = locals_.find(o.symbol); at != locals_.end())
      all.insert(at->second.begin(), at->second.end());
    return all;
  }

  struct Call {
    const Function* callee = nullptr;
    const Operand* result = nullptr;
    const Operand* arguments = nullptr;
  };
  [[nodiscard]] Call parts_of(const Instruction& i) const {
    Call call;
    for (const Operand& o : i.operands) {
      if (o.kind == Operand::Kind::kList)
        (call.callee == nullptr ? call.result : call.arguments) = &o;
      else if (call.callee == nullptr && !o.symbol.empty())
        call.callee = module_.find_function(o.symbol);
    }
    return call;
  }

  /// What a function returns may be any address that it got.
  bool propagate_call(const Instruction& i) {
    const Call call = parts_of(i);
    if (call.arguments == nullptr || call.result == nullptr) return false;
    bool changed = false;
    for (const Operand& a : call.arguments->elements)
      for (const Operand& r : call.result->elements) {
        changed = give(r, argument(a)) || changed;
        if (!r.symbol.empty()) changed = merge(locals_[r.symbol], argument(a)) || changed;
      }
    return changed;
  }

  [[nodiscard]] bool is_content(uint32_t source) const {
    return source >= variable_source(module_.variables.size());
  }
  [[nodiscard]] bool is_param(uint32_t source) const { return source < function_.params.size(); }

  /// Which parameters are addresses for sure (the text says so) and which are calculated with.
  void weigh(const Instruction& i) {
    for (size_t k = 1; k < i.operands.size(); ++k) {
      const Sources sources = sources_of(i.operands[k]);
      if (sources.size() != 1 || !is_param(*sources.begin())) continue;
      if (i.opcode == Opcode::kCvta)
        certain_[*sources.begin()] = true;
      else if (is_arithmetic(i.opcode, k))
        number_[*sources.begin()] = true;
    }
  }

  /// Of the sources of an address: the base, not what was added to it.
  [[nodiscard]] Sources bases(Sources sources) const {
    // A narrow one beside a wide one is an index.
    const auto is_wide = [this](uint32_t s) { return !is_param(s) || function_.params[s].bytes == 8; };
    if (std::ranges::any_of(sources, is_wide))
      std::erase_if(sources, [&](uint32_t s) { return !is_wide(s); });
    if (sources.size() < 2) return sources;
    Sources kept;
    for (const uint32_t s : sources)
      if (is_param(s) ? certain_[s] : !is_content(s)) kept.insert(s);
    if (!kept.empty()) return kept;
    for (const uint32_t s : sources)
      if (!is_param(s) || !number_[s]) kept.insert(s);
    return kept.empty() ? sources : kept;
  }

  PointerUse& of(uint32_t source) {
    if (is_param(source)) return use_.params[source];
    const size_t variable = source - function_.params.size(), variables = module_.variables.size();
    return variable < variables ? use_.variables[variable] : use_.contents[variable - variables];
  }

  void note(uint32_t source, const PointerUse& seen) {
    PointerUse& use = of(source);
    if (use.kind == PointerUse::Kind::kTexture) return;
    const auto untyped = [](Type t) {
      return t == Type::kNone || t == Type::kB8 || t == Type::kB16 || t == Type::kB32 || t == Type::kB64;
    };
    const bool better = use.element == Type::kNone || (untyped(use.element) && !untyped(seen.element) &&
                                                       type_bytes(use.element) == type_bytes(seen.element));
    const Type element = better ? seen.element : use.element;
    const uint8_t vector = std::max(use.vector, seen.vector);
    use = seen;
    use.element = element;
    use.vector = vector;
  }

  void look_at(const Instruction& i) {
    if (i.opcode == Opcode::kCall) return look_at_call(i);
    PointerUse seen;
    const bool texture = i.opcode == Opcode::kTex || i.opcode == Opcode::kTxq;
    seen.kind = texture ? PointerUse::Kind::kTexture : PointerUse::Kind::kAddress;
    seen.element = i.mods.type;
    seen.vector = std::max<uint8_t>(i.mods.vector, 1);
    seen.shape = i.mods.texture;
    seen.coordinate = texture ? i.mods.type2 : Type::kNone;
    const bool reaches =
        i.mods.space != Space::kShared && i.mods.space != Space::kParam && i.mods.space != Space::kLocal;
    for (const Operand& o : i.operands) {
      look_at_operand(o);
      if (o.kind == Operand::Kind::kAddress && reaches)
        for (const uint32_t s : bases(sources_of(o))) note(s, seen);
    }
  }

  void look_at_operand(const Operand& o) {
    if (o.kind == Operand::Kind::kSpecial) look_at_special(o.special);
    if (!o.symbol.empty()) look_at_symbol(o.symbol);
    for (const Operand& e : o.elements) look_at_operand(e);
  }

  void look_at_special(SpecialRegister s) {
    const bool block_z = s == SpecialRegister::kCtaidZ, block_y = s == SpecialRegister::kCtaidY;
    if (s == SpecialRegister::kTidZ || block_z) use_.dimensions = 3;
    if (s == SpecialRegister::kTidY || block_y) use_.dimensions = std::max(use_.dimensions, 2);
    if (block_z) use_.grid_dimensions = 3;
    if (block_y) use_.grid_dimensions = std::max(use_.grid_dimensions, 2);
  }

  void look_at_symbol(const std::string& name) {
    for (const auto* list : {&function_.variables, &module_.variables})
      for (const Variable& v : *list)
        if (v.name == name && v.space == Space::kShared && v.bytes == 0) use_.dynamic_shared = true;
  }

  void look_at_call(const Instruction& i) {
    const Call call = parts_of(i);
    if (call.callee == nullptr || call.callee->is_declaration) return;
    const KernelUse& callee = use_of_function(*call.callee);
    use_.dimensions = std::max(use_.dimensions, callee.dimensions);
    use_.grid_dimensions = std::max(use_.grid_dimensions, callee.grid_dimensions);
    use_.dynamic_shared = use_.dynamic_shared || callee.dynamic_shared;
    for (size_t v = 0; v < callee.variables.size(); ++v) {
      if (callee.variables[v].kind != PointerUse::Kind::kNumber)
        note(variable_source(v), callee.variables[v]);
      if (callee.contents[v].kind != PointerUse::Kind::kNumber)
        note(variable_source(module_.variables.size() + v), callee.contents[v]);
    }
    if (call.arguments == nullptr) return;
    const auto& arguments = call.arguments->elements;
    for (size_t a = 0; a < std::min(arguments.size(), callee.params.size()); ++a)
      if (callee.params[a].kind != PointerUse::Kind::kNumber)
        for (const uint32_t s : bases(argument(arguments[a]))) note(s, callee.params[a]);
  }

  const KernelUse& use_of_function(const Function& f) {
    const auto [at, is_new] = known_.try_emplace(f.name);
    // Recursion sees what is known so far: nothing.
    if (is_new && depth_ < kMostCalls) at->second = Flow(module_, f, known_, depth_ + 1).run();
    return at->second;
  }

  const Module& module_;
  const Function& function_;
  Known& known_;
  int depth_;
  KernelUse use_;
  std::vector<Sources> registers_;
  std::map<std::string, Sources> locals_;  ///< .param variables of calls
  std::vector<bool> certain_, number_;
};

}  // namespace

KernelUse use_of(const Module& module, const Function& kernel) {
  Flow::Known known;
  return Flow(module, kernel, known, 0).run();
}

}  // namespace gpusim::isa
