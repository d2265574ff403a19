// List scheduling inside basic blocks: what takes long starts early, as far as registers allow. Operations
// are taken one after the other from those whose inputs are there: the one with the longest way to the end
// of its stretch of code, or, where each would need more registers than the limit, the first one.
// Order is kept between writes and reads of a variable; between accesses that may touch the same memory;
// around volatile accesses and atomics; between operations of several lanes; and around whatever is no
// plain computation or access (branches, fences, calls, exits, reads of a clock): nothing passes those. From
// compute capability 7.0 on, what cannot see other threads' writes passes barriers. So every value is the
// same as before, and a clock still brackets what it did. Each operation keeps its PTX statement and count.
#include <algorithm>
#include <span>

#include "isa/lowering/liveness.h"
#include "isa/lowering/schedule_rules.h"

namespace gpusim::isa::lir {
namespace {

/// Longer stretches are scheduled piece by piece, which bounds the time.
constexpr uint32_t kLongest = 16384;

/// Cycles from an access to memory to the next operation: sub-cores share the load/store unit. It decides how
/// many loads fill the latency of the first one, and so how many registers they need.
constexpr uint32_t kAccessCycles = 3;

/// Registers above the limit that it may take for a moment (from compute capability 7.0 on) where the
/// alternative is to wait for global memory: the address of one more load, which the load gives back.
constexpr int kLoan = 4;

/// What takes a register for code behind a barrier passes it if it is wanted within these cycles, or while
/// the warp waits for global memory. Of 20 to 200 tried with the kernels of regress/compiler, 40 to 60 give
/// the registers of those that have barriers best.
constexpr uint32_t kNear = 60;

/// What takes a register for somebody who cannot use it within these cycles is not taken while something
/// else can go on soon: a load of shared or constant memory, and a shuffle. Of sums of 16 to 32 of them ptxas
/// 13 has 5 to 7 loads of doubles on their way, 10 words in registers of one parity, which takes two for
/// each, and 6 shuffles (7.5, 8.0 and 9.0). These numbers give the registers that it takes; 20 to 70 were
/// tried. Loads from global memory are taken as they come there.
constexpr uint32_t kNearShared = 48, kNearShuffle = 28;

/// Predicates of a thread: P0 to P6 (PT is always true).
constexpr int kPredicates = 7;

/// A sum of two words.
bool is_word_sum(const Op& op) {
  const auto opcode = static_cast<Opcode>(op.opcode());
  return op.kind == OpKind::kAlu && (opcode == Opcode::kAdd || opcode == Opcode::kSub) &&
         is_integer(op.type) && type_bytes(op.type) == 4 && static_cast<uint32_t>(op.key) == 0 &&
         op.guard == kNoVar && op.folded == kNone;
}

class BlockScheduler {
 public:
  BlockScheduler(const Program& program, const ScheduleOptions& options)
      : program_(program),
        limit_(options.limit),
        lockstep_(options.lockstep),
        only_loads_(options.only_loads),
        window_(options.window),
        alive_(program.vars.size(), false),
        wanted_(program.vars.size(), 0),
        kept_(program.vars.size(), false),
        writer_(program.vars.size(), kNone),
        readers_(program.vars.size()),
        uses_(program.vars.size(), 0) {
    for (const Block& block : program.blocks) {
      for (const Op& op : block.ops) each_use(op, [&](Var v) { ++uses_[v]; });
    }
  }

  /// `in` and `out`: variables alive at the block's start and end.
  void run(Block& block, const std::vector<Var>& in, const std::vector<Var>& out) {
    begin(block, in, out);
    std::vector<Op> ordered;
    ordered.reserve(block.ops.size());
    const int capability = program_.machine_capability;
    size_t at = 0;
    while (at < block.ops.size()) {
      size_t end = at;
      for (bool branches = false;
           end < block.ops.size() && end - at < kLongest && !is_wall(block.ops[end], capability) && !branches;
           ++end)
        branches = capability >= 70 && branches_inside(block.ops[end]);
      if (end - at > 1) {
        stretch(std::span(block.ops).subspan(at, end - at), ordered);
      } else if (end > at) {
        take(block.ops[at], ordered);
      }
      at = end;
      for (; at < block.ops.size() && is_wall(block.ops[at], capability); ++at) take(block.ops[at], ordered);
    }
    block.ops = std::move(ordered);
    for (const Var v : touched_) {
      alive_[v] = kept_[v] = false;
      wanted_[v] = 0;
    }
    touched_.clear();
  }

  [[nodiscard]] uint32_t waits() const { return waits_; }  ///< for global memory, so far

 private:
  struct Node {
    std::vector<uint32_t> next;
    uint32_t waits = 0;     // predecessors that are not taken yet
    uint32_t way = 0;       // cycles to the end of the stretch
    uint32_t ready_at = 0;  // cycle at which the inputs are there
    uint32_t due = 0;       // the first cycle at which somebody may wait for the result
    uint32_t barriers = 0;  // before it in the stretch
    uint32_t horizon = 0;   // cycles; how far ahead of its use it starts, 0: as others
    bool joins = false;     // is one instruction with its reader
    bool taken = false;     // is one instruction with what it reads
  };

  /// What `op` reads, and the shared load that is folded into it.
  template <class Fn>
  void each_use(const Op& op, Fn fn) const {
    if (op.folded == kNone) return for_each_use(op, fn);
    const Op& load = program_.folded[op.folded];
    for_each_use(op, [&](Var v) {
      if (v != load.dst[0]) fn(v);
    });
    for_each_use(load, fn);
  }
  template <class Fn>
  void each(const Op& op, Fn fn) const {
    each_use(op, fn);
    for_each_def(op, fn);
  }
  /// The memory operation that `op` is or has; nullptr if none.
  [[nodiscard]] const Op* access_of(const Op& op) const {
    if (op.folded != kNone) return &program_.folded[op.folded];
    return op.is_memory() ? &op : nullptr;
  }

  void begin(const Block& block, const std::vector<Var>& in, const std::vector<Var>& out) {
    pressure_ = {};
    end_guard_ = program_.machine_capability >= 70 ? block.ops.back().guard : kNoVar;
    const Op& last = block.ops.back();
    const auto own = static_cast<size_t>(&block - program_.blocks.data());
    loop_guard_ = last.kind == OpKind::kBranch && last.target <= own ? end_guard_ : kNoVar;
    if (program_.stack_pointer != kNoVar) {
      touched_.push_back(program_.stack_pointer);
      alive_[program_.stack_pointer] = kept_[program_.stack_pointer] = true;
    }
    for (const Var v : in) {
      touched_.push_back(v);
      alive_[v] = true;
      pressure_ += cost(v);
    }
    for (const Var v : out) {
      touched_.push_back(v);
      kept_[v] = true;
    }
    for (const Op& op : block.ops) {
      each(op, [&](Var v) {
        touched_.push_back(v);
        ++wanted_[v];
      });
    }
  }

  /// Of registers and predicates, how many are occupied.
  struct Occupied {
    int registers = 0, predicates = 0;
    Occupied& operator+=(const Occupied& o) {
      registers += o.registers;
      predicates += o.predicates;
      return *this;
    }
    Occupied& operator-=(const Occupied& o) {
      registers -= o.registers;
      predicates -= o.predicates;
      return *this;
    }
  };
  [[nodiscard]] Occupied cost(Var v) const {
    return {static_cast<int>(thread_registers(program_, v)),
            program_.vars[v] == VarClass::kPredicate ? 1 : 0};
  }

  /// How many more `op` leaves occupied.
  [[nodiscard]] Occupied growth(const Op& op) const {
    Occupied change;
    for_each_def(op, [&](Var v) {
      if (!alive_[v]) change += cost(v);
    });
    mentioned_.clear();
    each(op, [&](Var v) { mentioned_.push_back(v); });
    for (size_t i = 0; i < mentioned_.size(); ++i) {
      const Var v = mentioned_[i];
      const auto rest = mentioned_.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::find(mentioned_.begin(), rest, v) != rest || kept_[v]) continue;
      const auto times = static_cast<uint32_t>(std::count(rest, mentioned_.end(), v));
      if (wanted_[v] == times) change -= cost(v);
    }
    return change;
  }

  void take(Op& op, std::vector<Op>& ordered) {
    pressure_ += growth(op);
    for_each_def(op, [&](Var v) { alive_[v] = true; });
    each(op, [&](Var v) {
      if (--wanted_[v] == 0 && !kept_[v]) alive_[v] = false;
    });
    ordered.push_back(op);
  }

  /// How far ahead of need `op` starts; 0: as for others. `access`: the memory operation that it is or has.
  [[nodiscard]] uint32_t horizon(const Op& op, const Op* access) const {
    if (program_.machine_capability < 70) return 0;
    if (access == nullptr) return op.op_class == OpClass::kWarp && !op.whole_warp ? kNearShuffle : 0;
    const bool near = access->memory.space == Space::kShared || access->op_class == OpClass::kLoadConst;
    return access->kind == OpKind::kLoad && near ? kNearShared : 0;
  }

  void stretch(std::span<Op> ops, std::vector<Op>& ordered) {
    depend(ops);
    barriers_ = 0;
    std::vector<uint32_t> ready;
    std::vector<bool> done(ops.size(), false);
    uint32_t oldest = 0, seen = 0;  // the first operation that is not taken; behind those of the window
    const auto look_further = [&] {
      while (oldest < ops.size() && done[oldest]) ++oldest;
      for (; seen < ops.size() && seen < oldest + window_; ++seen) {
        if (nodes_[seen].waits == 0) ready.push_back(seen);
      }
    };
    look_further();
    for (uint32_t now = 0; !ready.empty();) {
      const size_t at = choose(ops, ready, now);
      const uint32_t i = ready[at];
      ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(at));
      done[i] = true;
      if (is_barrier(ops[i])) ++barriers_;
      if (nodes_[i].ready_at >= now + kGlobalLatency / 2) ++waits_;
      now = std::max(now, nodes_[i].ready_at);
      for (const uint32_t n : nodes_[i].next) {
        nodes_[n].ready_at = std::max(nodes_[n].ready_at, now + gap(ops, i, n));
        if (--nodes_[n].waits == 0 && n < seen) ready.push_back(n);
      }
      look_further();
      if (!nodes_[i].joins) now += access_of(ops[i]) != nullptr ? kAccessCycles : 1;
      take(ops[i], ordered);
    }
  }

  /// Cycles from the start of operation i to that of n, which must come after it.
  [[nodiscard]] uint32_t gap(std::span<const Op> ops, uint32_t i, uint32_t n) const {
    if (!reads_from(ops[n], ops[i])) return 1;
    return nodes_[i].joins ? 0 : latency(ops[i], ops[n], program_.machine_capability);
  }

  /// Which sums are one instruction with the only sum that reads them (iadd3).
  void find_joining(std::span<const Op> ops) {
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

  bool reads_from(const Op& reader, const Op& writer) const {
    bool reads = false;
    for_each_def(writer, [&](Var v) { each_use(reader, [&](Var u) { reads = reads || u == v; }); });
    return reads;
  }

  /// Index into `ready`.
  size_t choose(std::span<const Op> ops, const std::vector<uint32_t>& ready, uint32_t now) const {
    size_t best = 0;
    Rank best_rank;
    for (size_t k = 0; k < ready.size(); ++k) {
      const uint32_t i = ready[k];
      const auto [more, predicates] = growth(ops[i]);
      Rank r;
      r.over = std::max(0, pressure_.registers + more - static_cast<int>(limit_));
      if (only_loads_) {
        r.way = nodes_[i].way >= kGlobalLatency ? 1 : 0;
      } else {
        const uint32_t stall = nodes_[i].ready_at <= now ? 0 : nodes_[i].ready_at - now;
        const bool early =
            more > 0 && nodes_[i].due >= now + (nodes_[i].horizon != 0 ? nodes_[i].horizon : kGlobalLatency);
        const bool ahead = more > 0 && nodes_[i].barriers > barriers_ && nodes_[i].due >= now + kNear;
        const bool no_predicate =
            !lockstep_ && predicates > 0 && pressure_.predicates + predicates > kPredicates;
        r.late = no_predicate                                  ? kNoPredicate
                 : r.over > kLoan || (r.over > 0 && lockstep_) ? kOver
                 : r.over > 0                                  ? kLoaned
                 : ahead                                       ? kAhead
                 : early && !lockstep_                         ? kEarly
                 : stall >= kGlobalLatency / 2 && !lockstep_   ? kWaits
                                                               : kFits;
        r.stall = r.over > 0 ? 0 : stall;
        if (r.late == kOver && !lockstep_)
          r.over = 0;  // what frees a register now may take more later, so the order is kept
        else
          r.way = nodes_[i].way;
      }
      r.index = i;
      if (k == 0 || r.before(best_rank)) {
        best = k;
        best_rank = r;
      }
    }
    return best;
  }
  /// How well an operation suits, best first: it fits; it fits with a loan; it takes a register for code
  /// behind a barrier; it waits for global memory; no predicate is free; it takes a register for somebody who
  /// cannot use it soon; registers are not enough.
  enum Suits : uint8_t { kFits, kLoaned, kAhead, kWaits, kNoPredicate, kEarly, kOver };
  struct Rank {
    int over = 0;
    Suits late = kFits;
    uint32_t stall = 0, way = 0, index = 0;
    [[nodiscard]] bool before(const Rank& b) const {
      if (late != b.late) return late < b.late;
      if (over != b.over) return over < b.over;
      if (stall != b.stall) return stall < b.stall;
      if (way != b.way) return way > b.way;
      return index < b.index;
    }
  };

  void edge(uint32_t from, uint32_t to) {
    if (from == to) return;
    std::vector<uint32_t>& next = nodes_[from].next;
    if (!next.empty() && next.back() == to) return;
    next.push_back(to);
    ++nodes_[to].waits;
  }

  void depend(std::span<const Op> ops) {
    nodes_.assign(ops.size(), Node{});
    barriers_ = 0;
    std::vector<uint32_t> accesses, heeding;  // the latter since the last barrier
    std::vector<uint32_t> unparted;           // accesses that no barrier parts from those behind the last one
    uint32_t last_sync = kNone, last_ordered = kNone, last_barrier = kNone, last_gather = kNone;
    for (uint32_t i = 0; i < ops.size(); ++i) {
      const Op& op = ops[i];
      each_use(op, [&](Var v) {
        if (writer_[v] != kNone) edge(writer_[v], i);
      });
      for_each_def(op, [&](Var v) {
        if (writer_[v] != kNone) edge(writer_[v], i);
        for (const uint32_t r : readers_[v]) edge(r, i);
      });
      if (const Op* access = access_of(op)) {
        const std::vector<uint32_t>& earlier = heeds_barriers(op, access) ? unparted : accesses;
        for (const uint32_t a : earlier) {
          const Op& before = *access_of(ops[a]);
          const bool reads_only = before.kind == OpKind::kLoad && access->kind == OpKind::kLoad;
          if (!reads_only && may_overlap(before, *access, same_base(before, *access, base_written_[a])))
            edge(a, i);
        }
        accesses.push_back(i);
        unparted.push_back(i);
        if (is_ordered(*access)) {
          for (const uint32_t a : unparted) edge(a, i);
          last_ordered = i;
        } else if (last_ordered != kNone) {
          edge(last_ordered, i);
        }
      }
      nodes_[i].barriers = barriers_;
      if (is_barrier(op)) {
        ++barriers_;
        for (const uint32_t h : heeding) edge(h, i);
        if (last_barrier != kNone) edge(last_barrier, i);
        heeding.clear();
        std::erase_if(unparted, [&](uint32_t a) { return heeds_barriers(ops[a], access_of(ops[a])); });
        last_barrier = i;
      } else if (heeds_barriers(op, access_of(op))) {
        if (last_barrier != kNone) edge(last_barrier, i);
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
    share_predicate(ops);
    for (const Op& op : ops) {
      each(op, [&](Var v) {
        writer_[v] = kNone;
        readers_[v].clear();
      });
    }
    base_written_.clear();
    find_joining(ops);
    for (auto i = static_cast<uint32_t>(ops.size()); i-- > 0;) {
      uint32_t way = nodes_[i].joins ? 0 : latency(ops[i]);
      if (end_guard_ != kNoVar && writes(ops[i], end_guard_))
        way = guard_latency(program_.machine_capability);
      for (const uint32_t n : nodes_[i].next)
        way = std::max(way, nodes_[n].way +
                                (nodes_[i].joins ? 0 : latency(ops[i], ops[n], program_.machine_capability)));
      nodes_[i].way = way;
    }
    find_due(ops);
  }

  /// From compute capability 7.0 on ptxas 13 gives predicates their registers before the final order: the
  /// test that closes a loop has the one of the code under a condition before it, if there is only one such
  /// piece, and waits until that has read it. Then its own latency is seen in each iteration.
  void share_predicate(std::span<const Op> ops) {
    if (loop_guard_ == kNoVar) return;
    std::vector<uint32_t> guarded;
    uint32_t test = kNone;
    for (uint32_t i = 0; i < ops.size(); ++i) {
      if (writes(ops[i], loop_guard_)) test = i;
      const Var guard = ops[i].guard;
      if (guard == kNoVar || writer_[guard] == kNone) continue;
      if (!guarded.empty() && (ops[guarded.front()].guard != guard)) return;
      if (test == kNone) guarded.push_back(i);
    }
    if (test == kNone || guarded.empty() || kept_[ops[guarded.front()].guard]) return;
    for (const uint32_t g : guarded) edge(g, test);
  }

  /// When the result of each operation is needed if every other starts as soon as what it depends on allows:
  /// an access that must wait for a store before it has no use for an address until then. A new value that
  /// only later code needs is made while others wait, which costs no time.
  void find_due(std::span<const Op> ops) {
    const auto after = [&](uint32_t i, uint32_t n) { return gap(ops, i, n); };
    std::vector<uint32_t> first(ops.size(), 0);
    uint32_t end = 0;
    for (uint32_t i = 0; i < ops.size(); ++i) {
      for (const uint32_t n : nodes_[i].next) first[n] = std::max(first[n], first[i] + after(i, n));
      end = std::max(end, first[i]);
    }
    for (auto i = static_cast<uint32_t>(ops.size()); i-- > 0;) {
      bool leaves = false;
      if (nodes_[i].next.empty()) for_each_def(ops[i], [&](Var v) { leaves = leaves || !alive_[v]; });
      const Op* access = access_of(ops[i]);
      nodes_[i].horizon = horizon(ops[i], access);
      uint32_t due = (access != nullptr && nodes_[i].horizon == 0) || leaves ? first[i] : end;
      for (const uint32_t n : nodes_[i].next)
        due = std::min(due, std::max(nodes_[n].due, after(i, n)) - after(i, n));
      nodes_[i].due = std::max(due, first[i]);
    }
  }

  void note(const Op& op, uint32_t i) {
    const Op* access = access_of(op);
    const bool based = access != nullptr && access->memory.has_base && !access->src[0].is_literal();
    base_written_.push_back(based ? writer_[access->src[0].var] : kNone);
    each_use(op, [&](Var v) { readers_[v].push_back(i); });
    for_each_def(op, [&](Var v) {
      writer_[v] = i;
      readers_[v].clear();
    });
  }

  /// The base register of `a` holds the same value at `b`, which comes later and whose base was last written
  /// where `a`'s was.
  bool same_base(const Op& a, const Op& b, uint32_t written) const {
    if (a.whole_warp || b.whole_warp) return false;  // each lane accesses what others have the address of
    if (lockstep_ && a.memory.space != Space::kLocal)
      return false;  // another lane's offset may make up for it
    if (!a.memory.has_base || !b.memory.has_base) return a.memory.has_base == b.memory.has_base;
    const Value &x = a.src[0], &y = b.src[0];
    return !x.is_literal() && !y.is_literal() && x.var == y.var && writer_[y.var] == written;
  }

  const Program& program_;
  uint32_t limit_;
  bool lockstep_, only_loads_;
  uint32_t window_;
  uint32_t waits_ = 0;
  uint32_t barriers_ = 0;  // of the stretch, taken so far
  Occupied pressure_;
  Var end_guard_ = kNoVar;   // of the block's last operation, where its latency counts
  Var loop_guard_ = kNoVar;  // the same if that operation closes a loop
  std::vector<bool> alive_;
  std::vector<uint32_t> wanted_;  // mentions that are still to come in the block
  std::vector<bool> kept_;        // alive at the block's end
  std::vector<Var> touched_;
  mutable std::vector<Var> mentioned_;
  // Of a stretch
  std::vector<Node> nodes_;
  std::vector<uint32_t> writer_;                // last so far
  std::vector<std::vector<uint32_t>> readers_;  // since then
  std::vector<uint32_t> uses_;                  // in the whole program
  std::vector<uint32_t> base_written_;          // of each op: who wrote the base it used
};

}  // namespace

std::vector<uint32_t> schedule(Program& program, const Flow& flow, const ScheduleOptions& options,
                               const std::vector<bool>& which) {
  const Liveness live = compute_liveness(program, flow);
  BlockScheduler scheduler(program, options);
  std::vector<uint32_t> waits(program.blocks.size(), 0);
  std::vector<Var> in, out;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    Block& block = program.blocks[b];
    if (block.ops.empty() || !which[b]) continue;
    const uint32_t first = 2 * live.first_op[b];
    const auto last = first + 2 * static_cast<uint32_t>(block.ops.size()) - 1;
    in.clear();
    out.clear();
    for (const Segment& s : live.segments[b]) {
      if (s.var == program.stack_pointer) continue;
      if (s.begin == first) in.push_back(s.var);
      if (s.end >= last) out.push_back(s.var);
    }
    const uint32_t before = scheduler.waits();
    scheduler.run(block, in, out);
    waits[b] = scheduler.waits() - before;
  }
  return waits;
}

}  // namespace gpusim::isa::lir
