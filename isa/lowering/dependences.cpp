// What an operation of a stretch must come after: writes and reads of a variable; accesses that may touch the
// same memory; volatile accesses and atomics; operations of several lanes; barriers, but for what passes
// them. And what follows from that for each: how long the code behind it takes, and when its result is
// wanted.
#include "isa/lowering/dependences.h"

#include <algorithm>

#include "isa/lowering/schedule_rules.h"

namespace gpusim::isa::lir {
namespace {

/// What takes a register for somebody who cannot use it within these cycles is not taken while something
/// else can go on soon: a load of shared or constant memory, and a shuffle. Of sums of 16 to 32 of them ptxas
/// 13 has 5 to 7 loads of doubles on their way, 10 words in registers of one parity, which takes two for
/// each, and 6 shuffles (7.5, 8.0 and 9.0). These numbers give the registers that it takes; 20 to 70 were
/// tried. Loads from global memory are taken as they come there.
constexpr uint32_t kNearShared = 48, kNearShuffle = 28;

/// A sum of two words.
bool is_word_sum(const Op& op) {
  const auto opcode = static_cast<Opcode>(op.opcode());
  return op.kind == OpKind::kAlu && (opcode == Opcode::kAdd || opcode == Opcode::kSub) &&
         is_integer(op.type) && type_bytes(op.type) == 4 && static_cast<uint32_t>(op.key) == 0 &&
         op.guard == kNoVar && op.folded == kNone;
}

}  // namespace

DependenceFinder::DependenceFinder(const Program& program, bool lockstep)
    : program_(program),
      lockstep_(lockstep),
      uses_(program.vars.size(), 0),
      writer_(program.vars.size(), kNone),
      readers_(program.vars.size()),
      loaders_(program.vars.size()) {
  for (const Block& block : program.blocks) {
    for (const Op& op : block.ops) each_use(program, op, [&](Var v) { ++uses_[v]; });
  }
}

std::vector<Node> DependenceFinder::find(std::span<const Op> ops, const BlockEnd& end,
                                         const std::vector<bool>& alive, const std::vector<bool>& kept) {
  nodes_.assign(ops.size(), Node{});
  uint32_t barriers = 0;
  std::vector<uint32_t> heeding;  // since the last barrier
  uint32_t last_sync = kNone, last_gather = kNone;
  all_ = unparted_ = {};
  last_ordered_ = last_barrier_ = kNone;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    each_use(program_, op, [&](Var v) {
      if (writer_[v] != kNone) edge(writer_[v], i);
    });
    for_each_def(op, [&](Var v) {
      if (writer_[v] != kNone) edge(writer_[v], i);
      for (const uint32_t r : readers_[v]) edge(r, i);
    });
    const Op* access = access_of(program_, op);
    const bool heeds = heeds_barriers(op, access);
    if (access != nullptr) order_access(ops, i, *access, heeds);
    nodes_[i].barriers = barriers;
    if (is_barrier(op)) {
      ++barriers;
      for (const uint32_t h : heeding) edge(h, i);
      if (last_barrier_ != kNone) edge(last_barrier_, i);
      heeding.clear();
      drop_heeding(unparted_.loads);
      drop_heeding(unparted_.others);
      last_barrier_ = i;
    } else if (heeds) {
      if (last_barrier_ != kNone) edge(last_barrier_, i);
      heeding.push_back(i);
    }
    if (op.whole_warp) {
      if (last_gather != kNone) edge(last_gather, i);
    } else if ((op.kind == OpKind::kSync || op.op_class == OpClass::kWarp) && !is_barrier(op)) {
      if (op.only_gathers) last_gather = i;
      if (last_sync != kNone) edge(last_sync, i);
      last_sync = i;
    }
    note(op, i);
  }
  share_predicate(ops, end, kept);
  for (const Op& op : ops) {
    const auto clear = [&](Var v) {
      writer_[v] = kNone;
      readers_[v].clear();
      loaders_[v].clear();
    };
    each_use(program_, op, clear);
    for_each_def(op, clear);
  }
  places_.clear();
  find_joining(ops);
  for (auto i = static_cast<uint32_t>(ops.size()); i-- > 0;) {
    uint32_t way = nodes_[i].joins ? 0 : latency(ops[i]);
    if (end.guard != kNoVar && writes(ops[i], end.guard)) way = guard_latency(program_.machine_capability);
    for (const uint32_t n : nodes_[i].next)
      way = std::max(
          way, nodes_[n].way + (nodes_[i].joins ? 0 : latency(ops[i], ops[n], program_.machine_capability)));
    nodes_[i].way = way;
  }
  find_due(ops, alive);
  return std::move(nodes_);
}

void DependenceFinder::edge(uint32_t from, uint32_t to) {
  if (from == to) return;
  std::vector<uint32_t>& next = nodes_[from].next;
  if (!next.empty() && next.back() == to) return;
  next.push_back(to);
  ++nodes_[to].waits;
}

DependenceFinder::Place DependenceFinder::place_of(const Op& access) const {
  const MemoryOperand& m = access.memory;
  Place place;
  place.space = m.space;
  place.anywhere =
      m.space == Space::kGeneric || m.space == Space::kNone || access.op_class == OpClass::kTexture;
  place.load = access.kind == OpKind::kLoad;
  place.begin = m.offset;
  place.end = m.offset + int64_t{m.element_bytes} * m.elements;
  // Each lane accesses what others have the address of; another lane's offset may make up for it.
  const bool of_others = access.whole_warp || (lockstep_ && m.space != Space::kLocal);
  if (of_others || (m.has_base && access.src[0].is_literal()))
    place.base = Place::kUnknown;
  else if (m.has_base)  // the variable, and who wrote it
    place.base = (uint64_t{writer_[access.src[0].var]} + 1) << 32 | access.src[0].var;
  else
    place.base = kNoVar;
  return place;
}

void DependenceFinder::append(std::vector<Access>& list, Access access) {
  const auto at = static_cast<uint32_t>(list.size());
  access.first_beside = at;
  access.of_these = access.place;
  if (at != 0 && access.place.is_beside(list.back().place)) {
    access.first_beside = list.back().first_beside;
    access.of_these.begin = std::min(access.of_these.begin, list.back().of_these.begin);
    access.of_these.end = std::max(access.of_these.end, list.back().of_these.end);
  }
  list.push_back(access);
}

void DependenceFinder::drop_heeding(std::vector<Access>& list) {
  std::vector<Access> old;
  old.swap(list);
  for (const Access& a : old)
    if (!a.heeds) append(list, a);
}

/// Nothing writes there while the kernel runs (ld.global.nc): ptxas 13 moves such loads across stores,
/// atomics and volatile accesses (probes for 7.5 and 9.0). Of the compilers for older machines nothing is
/// known.
bool DependenceFinder::is_of_constant_data(const Op& access) const {
  return program_.machine_capability >= 70 && access.kind == OpKind::kLoad && access.memory.read_only;
}

/// Looks at accesses from the last one on, and no further than where all before come before it anyhow: then
/// code of many accesses has no edge for each two of them.
void DependenceFinder::order_access(std::span<const Op> ops, uint32_t i, const Op& access, bool heeds) {
  const Accesses& earlier = heeds ? unparted_ : all_;
  const Place place = place_of(access);
  places_.resize(ops.size());
  places_[i] = place;
  if (is_of_constant_data(access)) return;
  const bool ordered = is_ordered(access);
  uint32_t behind_all = 0, free = i;  // the first access that need not come before it
  if (!ordered && last_ordered_ != kNone) {
    edge(last_ordered_, i);
    behind_all = last_ordered_;
  }
  size_t loads = place.load && !ordered ? 0 : earlier.loads.size(), others = earlier.others.size();
  while (loads != 0 || others != 0) {
    const bool from_loads =
        others == 0 || (loads != 0 && earlier.loads[loads - 1].op > earlier.others[others - 1].op);
    const std::vector<Access>& list = from_loads ? earlier.loads : earlier.others;
    size_t& left = from_loads ? loads : others;
    const Access& a = list[left - 1];
    if (a.op < behind_all) break;
    if (ordered || a.place.conflicts(place)) {
      edge(a.op, i);
      behind_all = std::max(behind_all, a.behind_all);
      --left;
    } else {
      if (place.is_beside(a.of_these) && !place.overlaps(a.of_these)) left = a.first_beside + size_t{1};
      free = std::min(free, list[left - 1].op);
      --left;
    }
  }
  if (place.load && !ordered) {
    const auto next = std::ranges::lower_bound(earlier.loads, behind_all, {}, &Access::op);
    if (next != earlier.loads.end()) free = std::min(free, next->op);
  }
  free = std::max(free, behind_all);
  // Who wrote a variable that this one reads keeps it waiting, even if another wrote it since.
  each_use(program_, ops[i], [&](Var v) {
    for (const uint32_t a : loaders_[v]) {
      if (a >= behind_all) break;
      const bool parted = heeds && last_barrier_ != kNone && a < last_barrier_ &&
                          heeds_barriers(ops[a], access_of(program_, ops[a]));
      if (!parted && (ordered || places_[a].conflicts(place))) edge(a, i);
    }
  });
  const Access self{i, free, heeds, place, 0, {}};
  for (Accesses* list : {&all_, &unparted_}) append(place.load ? list->loads : list->others, self);
  if (ordered) last_ordered_ = i;
}

/// From compute capability 7.0 on ptxas 13 gives predicates their registers before the final order: the
/// test that closes a loop has the one of the code under a condition before it, if there is only one such
/// piece, and waits until that has read it. Then its own latency is seen in each iteration.
void DependenceFinder::share_predicate(std::span<const Op> ops, const BlockEnd& end,
                                       const std::vector<bool>& kept) {
  if (end.loop_guard == kNoVar) return;
  std::vector<uint32_t> guarded;
  uint32_t test = kNone;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    if (writes(ops[i], end.loop_guard)) test = i;
    const Var guard = ops[i].guard;
    if (guard == kNoVar || writer_[guard] == kNone) continue;
    if (!guarded.empty() && (ops[guarded.front()].guard != guard)) return;
    if (test == kNone) guarded.push_back(i);
  }
  if (test == kNone || guarded.empty() || kept[ops[guarded.front()].guard]) return;
  for (const uint32_t g : guarded) edge(g, test);
}

/// When the result of each operation is needed if every other starts as soon as what it depends on allows:
/// an access that must wait for a store before it has no use for an address until then. A new value that
/// only later code needs is made while others wait, which costs no time.
void DependenceFinder::find_due(std::span<const Op> ops, const std::vector<bool>& alive) {
  const auto after = [&](uint32_t i, uint32_t n) { return gap(ops, nodes_, i, n); };
  std::vector<uint32_t> first(ops.size(), 0);
  uint32_t end = 0;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    for (const uint32_t n : nodes_[i].next) first[n] = std::max(first[n], first[i] + after(i, n));
    end = std::max(end, first[i]);
  }
  for (auto i = static_cast<uint32_t>(ops.size()); i-- > 0;) {
    bool leaves = false;
    if (nodes_[i].next.empty()) for_each_def(ops[i], [&](Var v) { leaves = leaves || !alive[v]; });
    const Op* access = access_of(program_, ops[i]);
    nodes_[i].horizon = horizon(ops[i], access);
    uint32_t due = (access != nullptr && nodes_[i].horizon == 0) || leaves ? first[i] : end;
    for (const uint32_t n : nodes_[i].next)
      due = std::min(due, std::max(nodes_[n].due, after(i, n)) - after(i, n));
    nodes_[i].due = std::max(due, first[i]);
  }
}

void DependenceFinder::note(const Op& op, uint32_t i) {
  const Op* access = access_of(program_, op);
  each_use(program_, op, [&](Var v) { readers_[v].push_back(i); });
  for_each_def(op, [&](Var v) {
    writer_[v] = i;
    readers_[v].clear();
    if (access != nullptr) loaders_[v].push_back(i);
  });
}

/// How far ahead of need `op` starts; 0: as for others. `access`: the memory operation that it is or has.
uint32_t DependenceFinder::horizon(const Op& op, const Op* access) const {
  if (program_.machine_capability < 70) return 0;
  if (access == nullptr) return op.op_class == OpClass::kWarp && !op.whole_warp ? kNearShuffle : 0;
  const bool near = access->memory.space == Space::kShared || access->op_class == OpClass::kLoadConst;
  return access->kind == OpKind::kLoad && near ? kNearShared : 0;
}

uint32_t DependenceFinder::gap(std::span<const Op> ops, const std::vector<Node>& nodes, uint32_t i,
                               uint32_t n) const {
  if (!reads_from(ops[n], ops[i])) return 1;
  return nodes[i].joins ? 0 : latency(ops[i], ops[n], program_.machine_capability);
}

/// Which sums are one instruction with the only sum that reads them (iadd3).
void DependenceFinder::find_joining(std::span<const Op> ops) {
  if (program_.machine_capability < 70) return;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    if (!is_word_sum(ops[i]) || uses_[ops[i].dst[0]] != 1) continue;
    for (const uint32_t n : nodes_[i].next) {
      if (!is_word_sum(ops[n]) || nodes_[n].taken || !reads_from(ops[n], ops[i])) continue;
      const bool second = nodes_[i].taken;
      nodes_[i].joins = !second;
      nodes_[n].taken = !second;
    }
  }
}

bool DependenceFinder::reads_from(const Op& reader, const Op& writer) const {
  bool reads = false;
  for_each_def(writer, [&](Var v) { each_use(program_, reader, [&](Var u) { reads = reads || u == v; }); });
  return reads;
}

}  // namespace gpusim::isa::lir
