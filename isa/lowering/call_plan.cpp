#include "isa/lowering/call_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

#include "isa/exec/executor.h"

namespace gpusim::isa::lir {
namespace {

/// The operand that names the callee: behind the list of results, if there is one.
const Operand* callee_of(const Instruction& inst) {
  const size_t at = !inst.operands.empty() && inst.operands[0].kind == Operand::Kind::kList ? 1 : 0;
  return at < inst.operands.size() ? &inst.operands[at] : nullptr;
}

/// Calls fn(symbol) for the symbols of a statement, except the callee of a direct call and call tables.
template <class Fn>
void for_each_address(const Instruction& inst, Fn fn) {
  for (const Operand& o : inst.operands) {
    if (inst.opcode != Opcode::kCall && o.kind == Operand::Kind::kSymbol) fn(o.symbol);
    for (const Operand& e : o.elements) {
      if (e.kind == Operand::Kind::kSymbol) fn(e.symbol);
    }
  }
}

class Planner {
 public:
  Planner(const Module& module, const Function& entry, uint32_t alloca_bytes, Diagnostics& errors)
      : module_(module), entry_(entry), alloca_bytes_(alloca_bytes), errors_(errors) {}

  CallPlan run() {
    plan_.module = &module_;
    reach(entry_);
    follow();
    if (!signatures_.empty()) add_address_taken();
    find_recursion();
    keep_code_small();
    plan_.uses_stack = !plan_.callables.empty() || !signatures_.empty();
    layout_variables();
    return std::move(plan_);
  }

 private:
  void reach(const Function& f) {
    if (number_.emplace(&f, reached_.size()).second) reached_.push_back(&f);
  }

  /// Direct calls and the signatures of indirect ones, of all that is reached.
  void follow() {
    for (; next_ < reached_.size(); ++next_) {
      const Function& f = *reached_[next_];
      for (const Instruction& inst : f.body) {
        if (inst.opcode == Opcode::kAlloca || inst.opcode == Opcode::kStacksave) plan_.uses_alloca = true;
        for (const Operand& o : inst.operands) {
          if (o.special == SpecialRegister::kReservedSmem) plan_.reserved_shared_bytes = kReservedSmemBytes;
        }
        if (inst.opcode != Opcode::kCall) continue;
        const Operand* callee = callee_of(inst);
        if (callee == nullptr) continue;
        if (callee->kind == Operand::Kind::kRegister) {
          const LabelTable* table = f.find_table(inst.operands.back().symbol);
          if (table != nullptr) signatures_.insert(layout_of_table(module_, *table).signature);
        } else if (const Function* to = plan_.find_function(callee->symbol);
                   to != nullptr && !to->is_declaration && !to->is_entry) {
          reach(*to);
          calls_.emplace_back(next_, number_.at(to));
        }
      }
    }
  }

  /// An address may come from anywhere in the module, through memory.
  void add_address_taken() {
    std::vector<const Function*> taken;
    std::unordered_set<std::string_view> seen;
    const auto note = [&](std::string_view symbol) {
      const Function* f = plan_.find_function(symbol);
      if (f != nullptr && !f->is_declaration && !f->is_entry && seen.insert(symbol).second)
        taken.push_back(f);
    };
    for (const Variable& v : module_.variables) {
      for (const Relocation& r : v.relocations) note(r.symbol);
    }
    for (const Function& f : module_.functions) {
      for (const Variable& v : f.variables) {
        for (const Relocation& r : v.relocations) note(r.symbol);
      }
      for (const LabelTable& t : f.tables) {
        if (t.kind != LabelTable::Kind::kCallTargets) continue;
        for (const std::string& target : t.targets) note(target);
      }
      for (const Instruction& inst : f.body) for_each_address(inst, note);
    }
    // What is called may itself call through other signatures.
    for (bool added = true; added;) {
      added = false;
      std::erase_if(taken, [&](const Function* f) {
        if (!signatures_.contains(layout_arguments(f->params, f->returns).signature)) return false;
        plan_.callables.push_back(f);
        reach(*f);
        follow();
        return added = true;
      });
    }
  }

  /// Functions on a cycle of direct calls.
  void find_recursion() {
    using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
    Graph graph(reached_.size());
    for (const auto& [from, to] : calls_) boost::add_edge(from, to, graph);
    std::vector<size_t> component(reached_.size());
    const auto map =
        boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, graph));
    std::vector<size_t> size(static_cast<size_t>(boost::strong_components(graph, map)), 0);
    for (const size_t c : component) ++size[c];
    std::vector<bool> cyclic(reached_.size(), false);
    for (size_t i = 0; i < reached_.size(); ++i) cyclic[i] = size[component[i]] > 1;
    for (const auto& [from, to] : calls_) {
      if (from == to) cyclic[from] = true;
    }
    for (size_t i = 0; i < reached_.size(); ++i) {
      if (cyclic[i]) call_through_stack(reached_[i]);
    }
  }

  void call_through_stack(const Function* f) {
    plan_.called.insert(f);
    if (std::find(plan_.callables.begin(), plan_.callables.end(), f) == plan_.callables.end())
      plan_.callables.push_back(f);
  }

  /// Inlining multiplies what calls each other several times over. Where too much would come of it, the
  /// functions that it repeats most get code of their own, as ptxas gives it to all.
  void keep_code_small() {
    Calls calls = inlined_calls();
    while (true) {
      const Expansion e = expand(calls);
      if (e.statements <= kMostStatements) return;
      size_t best = reached_.size();
      uint64_t saved = 0;
      for (size_t i = 1; i < reached_.size(); ++i) {
        const uint64_t repeated = e.copies[i] < 2 ? 0 : saturated((e.copies[i] - 1), e.size[i]);
        if (repeated <= saved || !may_be_called(*reached_[i])) continue;
        best = i;
        saved = repeated;
      }
      if (best == reached_.size()) return;
      call_through_stack(reached_[best]);
      calls.called[best] = calls.root[best] = 1;
    }
  }

  /// Calls that are inlined unless functions get code of their own.
  struct Calls {
    std::vector<std::vector<size_t>> of;  ///< each function
    std::vector<size_t> order;            ///< callees before their callers: no such call leads round a cycle
    std::vector<uint8_t> called, root;    ///< through the stack by all; has code of its own
  };
  Calls inlined_calls() const {
    const size_t n = reached_.size();
    Calls calls{
        std::vector<std::vector<size_t>>(n), {}, std::vector<uint8_t>(n, 0), std::vector<uint8_t>(n, 0)};
    calls.root[0] = 1;
    for (const Function* f : plan_.callables) calls.root[number_.at(f)] = 1;
    for (const Function* f : plan_.called) calls.called[number_.at(f)] = 1;
    for (const auto& [from, to] : calls_)
      if (calls.called[to] == 0) calls.of[from].push_back(to);
    std::vector<size_t> next(n, 0);
    std::vector<bool> seen(n, false);
    for (size_t root = 0; root < n; ++root) {
      std::vector<size_t> stack;
      if (!seen[root]) stack.push_back(root);
      seen[root] = true;
      while (!stack.empty()) {
        const size_t f = stack.back();
        if (next[f] == calls.of[f].size()) {
          calls.order.push_back(f);
          stack.pop_back();
        } else if (const size_t to = calls.of[f][next[f]++]; !seen[to]) {
          seen[to] = true;
          stack.push_back(to);
        }
      }
    }
    return calls;
  }

  /// What inlining makes of the functions that are reached.
  struct Expansion {
    std::vector<uint64_t> size;    ///< statements of each, with those of what is inlined there
    std::vector<uint64_t> copies;  ///< of each that is inlined
    uint64_t statements = 0;       ///< of all code
  };
  Expansion expand(const Calls& calls) const {
    Expansion e{std::vector<uint64_t>(reached_.size(), 0), std::vector<uint64_t>(reached_.size(), 0), 0};
    for (const size_t f : calls.order) {
      e.size[f] = reached_[f]->body.size();
      for (const size_t to : calls.of[f])
        if (calls.called[to] == 0) e.size[f] = std::min(e.size[f] + e.size[to], kEndless);
    }
    for (size_t i = calls.order.size(); i-- > 0;) {
      const size_t f = calls.order[i];
      const uint64_t of_its_own = calls.root[f];
      if (of_its_own != 0) e.statements = std::min(e.statements + e.size[f], kEndless);
      for (const size_t to : calls.of[f])
        if (calls.called[to] == 0) e.copies[to] = std::min(e.copies[to] + e.copies[f] + of_its_own, kEndless);
    }
    return e;
  }
  static uint64_t saturated(uint64_t a, uint64_t b) {
    return a > kEndless / std::max<uint64_t>(b, 1) ? kEndless : a * b;
  }

  /// Predicates, and arrays without a size, do not lie in a frame.
  static bool may_be_called(const Function& f) {
    const auto lies = [](const Variable& v) { return v.type != Type::kPred && v.bytes != 0; };
    return std::ranges::all_of(f.params, lies) && std::ranges::all_of(f.returns, lies);
  }

  void layout_variables() {
    const std::vector<const Variable*> used = used_variables();
    layout_shared(used);
    layout_local(used);
  }

  /// Static variables come first, dynamic (.extern, unsized) ones share what follows.
  void layout_shared(const std::vector<const Variable*>& used) {
    uint64_t top = plan_.reserved_shared_bytes, dynamic_align = 8;
    for (const Variable* v : used) {
      if (v->space != Space::kShared) continue;
      if (v->bytes == 0) {
        dynamic_align = std::max(dynamic_align, v->align);
        continue;
      }
      if (!place(*v, top, plan_.shared)) return;
    }
    plan_.static_shared_bytes = static_cast<uint32_t>(top) - plan_.reserved_shared_bytes;
    plan_.dynamic_shared_offset = static_cast<uint32_t>(align_up(top, dynamic_align));
  }

  /// Local variables of the module lie below the stack: every function finds them at the same place.
  void layout_local(const std::vector<const Variable*>& used) {
    uint64_t top = 0;
    for (const Variable* v : used) {
      if (v->space == Space::kLocal && !place(*v, top, plan_.local)) return;
    }
    if (plan_.uses_alloca) {
      constexpr uint32_t kMost = 0xffff;  // units
      plan_.stack.word = static_cast<uint32_t>(align_up(top, StackPlace::kUnit));
      plan_.stack.units =
          static_cast<uint16_t>(std::min((alloca_bytes_ + StackPlace::kUnit - 1) / StackPlace::kUnit, kMost));
      top = plan_.stack.end();
    }
    plan_.local_bytes = static_cast<uint32_t>(top);
  }

  /// Puts `v` at the next place at or behind `top`, which then is its end.
  bool place(const Variable& v, uint64_t& top, std::unordered_map<const Variable*, uint32_t>& places) {
    top = align_up(top, v.align);
    places[&v] = static_cast<uint32_t>(top);
    top += v.bytes;
    if (top < kWindowBytes) return true;
    errors_.push_back({Diagnostic::Severity::kError,
                       v.loc,
                       fmt::format("more than {} bytes of {} variables are not supported yet: '{}'",
                                   kWindowBytes, space_name(v.space), v.name),
                       {}});
    return false;
  }

  /// Shared variables, and local ones of the module, of the kernel and of all functions that it names or may
  /// call, in order of discovery.
  std::vector<const Variable*> used_variables() const {
    std::vector<const Variable*> found;
    const auto note = [&](const Variable* v, bool of_module) {
      if (v != nullptr && (v->space == Space::kShared || (of_module && v->space == Space::kLocal)) &&
          std::find(found.begin(), found.end(), v) == found.end()) {
        found.push_back(v);
      }
    };
    std::unordered_set<std::string_view> names;
    std::unordered_set<const Function*> seen{&entry_};
    std::vector<const Function*> functions{&entry_};
    const auto add = [&](const Function* f) {
      if (f != nullptr && !f->is_declaration && seen.insert(f).second) functions.push_back(f);
    };
    const auto visit = [&](const std::string& symbol) {
      if (symbol.empty() || !names.insert(symbol).second) return;
      note(module_.find_variable(symbol), true);
      add(plan_.find_function(symbol));
    };
    for (size_t i = 0; i < functions.size(); ++i) {
      for (const Variable& v : functions[i]->variables) note(&v, false);
      for (const Instruction& inst : functions[i]->body) {
        for (const Operand& o : inst.operands) {
          visit(o.symbol);
          for (const Operand& e : o.elements) visit(e.symbol);
        }
      }
      if (i + 1 == functions.size()) {
        for (const Function* f : plan_.callables) add(f);
      }
    }
    return found;
  }

  static constexpr uint64_t kMostStatements = 100'000, kEndless = uint64_t{1} << 40;
  const Module& module_;
  const Function& entry_;
  uint32_t alloca_bytes_;
  Diagnostics& errors_;
  CallPlan plan_;
  std::vector<const Function*> reached_;
  std::unordered_map<const Function*, size_t> number_;  // index into reached_
  std::vector<std::pair<size_t, size_t>> calls_;        // direct, by index into reached_
  std::unordered_set<uint64_t> signatures_;             // of indirect calls
  size_t next_ = 0;
};

}  // namespace

ArgumentLayout layout_arguments(const std::vector<Variable>& params, const std::vector<Variable>& returns) {
  ArgumentLayout layout;
  uint64_t top = 0, signature = 0xcbf29ce484222325ull;
  const auto mix = [&](uint64_t v) { signature = (signature ^ v) * 0x100000001b3ull; };
  const auto place = [&](const std::vector<Variable>& list, std::vector<uint32_t>& offsets) {
    mix(list.size());
    for (const Variable& v : list) {
      const uint64_t align = std::max<uint64_t>(v.align, 1), bytes = std::max<uint64_t>(v.bytes, 1);
      top = align_up(top, align);
      offsets.push_back(static_cast<uint32_t>(top));
      mix(top);
      mix(bytes);
      top = std::min(top + bytes, kWindowBytes);
      layout.align = std::max(layout.align, static_cast<uint32_t>(align));
    }
  };
  place(params, layout.params);
  place(returns, layout.returns);
  layout.bytes = static_cast<uint32_t>(top);
  layout.signature = signature;
  return layout;
}

ArgumentLayout layout_of_table(const Module& module, const LabelTable& table) {
  if (table.kind == LabelTable::Kind::kCallPrototype) return layout_arguments(table.params, table.returns);
  const Function* first = table.targets.empty() ? nullptr : module.find_function(table.targets.front());
  return first == nullptr ? ArgumentLayout{} : layout_arguments(first->params, first->returns);
}

CallPlan plan_calls(const Module& module, const Function& entry, uint32_t alloca_bytes, Diagnostics& errors) {
  return Planner(module, entry, alloca_bytes, errors).run();
}

}  // namespace gpusim::isa::lir
