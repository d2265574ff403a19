// Registers per thread that ptxas takes for a program whose order is final (compute capability 7.0 and up):
// each value gets registers of its own for as long as it is wanted, and the highest of them counts. Found in
// the machine code of ptxas 13, whose registers and branches were decoded (docs/studies/compiler_history.md):
// - A kernel has the highest register that it names, and two more. R1 is the stack pointer of each.
// - 64 bits stand at even registers, and what one access loads or stores at once stands side by side, from a
//   multiple of four on if it is more than 64 bits.
// - Words and parts of words that are stored to global memory, or go to an atomic there, stand at odd
//   registers if the address is in a pair of them.
// - A result stands where a source was that dies there, whatever their widths. Words that make up a pair, or
//   that a pair is taken apart to, are the pair's registers.
// - Of two words that one operation reads, one is at an even register and one at an odd one, if that does not
//   take more registers than there are anyway.
// - A load, a store, an atomic or a shuffle reads its registers some time after it was issued. As long as
//   there are enough, what follows is given others, but for what the load itself brings.
// - Constants that an instruction cannot take, for it takes one, and constants that are stored have registers
//   from their first use to the last one that is near; in small kernels those of a loop, all the way through
//   it. Factors of products stand at odd registers, or where the index is at one, at even ones.
// - From 9.0 on constants are loaded some time before they are needed, and the product that makes an address
//   takes its base from a pair of registers, in which it leaves the address. The index stands at an odd one.
// - What is the same for all threads of a launch is read from the constant bank where it is needed, and kept
//   in a register only around a loop.
#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "isa/lowering/access_data.h"
#include "isa/lowering/liveness.h"
#include "isa/lowering/machine_count.h"
#include "isa/lowering/register_groups.h"
#include "isa/lowering/register_relations.h"

namespace gpusim::isa::lir {
namespace {

/// The registers that no instruction names but the machine takes; what a kernel has that does nothing.
constexpr uint32_t kUnnamed = 2, kIdle = 4;
/// See made_even().
constexpr uint32_t kEvenUpTo = 24;
/// Operations between the load of a constant to a thread's registers and the one that needs it, from 9.0 on.
/// With probes of one to eight pointers 6 to 9 instructions; of 3 to 16 tried this is right as often as any.
constexpr uint32_t kLoadedBefore = 6;
/// The same of numbers: the move stands where the warp would wait for memory otherwise (1 to 4 tried: alike).
constexpr uint32_t kMovedBefore = 1;
/// Code that calls through the stack: the registers that its calling convention hands to the callee.
constexpr uint32_t kCalleeHas = 26;
/// In halves of an operation: within 16 operations an access has read its registers. Copies of words one
/// after the other take six registers in turn, as 10 would give; over the kernels that were studied 16 is
/// right more often.
constexpr uint32_t kAccessReads = 32;
/// The same of a shuffle, and how much a sum of doubles counts there. Chains of 2 to 24 shuffles and sums
/// take the registers that these give: of words 8 in turn, of doubles four pairs.
constexpr uint32_t kShuffleReads = 26, kOperation = 2, kOfDoubles = 3;
/// Registers up to which nobody has to save: all threads of an SM fit with them from 8.0 on.
constexpr uint32_t kPlenty = 32;
/// Operations between two uses of a constant for which it stays in its register; constants of a block, and
/// registers of a kernel, up to which those in loops stay there from one iteration to the next (least mean
/// error over the kernels that were studied).
constexpr uint32_t kStays = 16, kFewConstants = 4, kSmallKernel = 16;
/// Up to so many registers, or as many as are wanted at once, operands have banks of their own; and with so
/// many wanted at once, what a shuffle reads is not given again before it has read it (least mean error over
/// the kernels that were studied and the stored ones).
constexpr uint32_t kBanksUpTo = 10, kShufflesRestUpTo = 8;
constexpr uint32_t kStackRegister = 1;
/// From here on an access has its address in a thread's registers, though it be a number.
constexpr int kLoadsAddressesFrom = 80;

bool shuffles(const Op& op) {
  return op.op_class == OpClass::kWarp && static_cast<Opcode>(op.opcode()) == Opcode::kShfl;
}

/// Of the time until registers have been read, in halves of an operation.
uint32_t time_taken(const Op& op) {
  return parts_pair(op) ? 0 : op.op_class == OpClass::kFp64 ? kOfDoubles : kOperation;
}

class Assignment {
 public:
  /// `hoists`: constants that the operations of a loop need are made before it. `rests_shuffled`: what
  /// shuffles read is not given again before they have.
  Assignment(const Program& program, const Flow& flow, bool hoists, bool rests_shuffled)
      : program_(program),
        hoists_(hoists),
        rests_shuffled_(rests_shuffled),
        live_(compute_liveness(program, flow)),
        weights_(block_weights(program)),
        wanted_(program.vars.size()),
        resting_(program.vars.size()),
        odd_(program.vars.size(), false),
        access_(program.vars.size()) {
    find_constants();
    for (uint32_t b = 0; b < program.blocks.size(); ++b) find_spans(b);
    span_through();
    relate();
    join();
    wanted_at_once_ = count_wanted();
  }

  /// More bases stay around a loop than a small kernel has pairs, so that it is none: they have no places.
  [[nodiscard]] bool too_many_bases() const { return too_many_; }
  /// Most registers that are wanted at once.
  [[nodiscard]] uint32_t wanted() const { return wanted_at_once_; }

  /// Registers that are named, and where each variable stands.
  struct Places {
    uint32_t named = 0;
    std::vector<uint32_t> of_var;
  };
  /// Each value has the lowest registers that are free; the widest choose first. `rests`: and none is given
  /// again before the accesses that read it have done so.
  [[nodiscard]] Places places(bool rests) const {
    RegisterFile file(half_steps()), wanted(half_steps());
    std::vector<uint32_t> place(program_.vars.size(), kNone);
    std::multimap<uint32_t, std::pair<uint32_t, uint32_t>> constants;  // by their last reader
    for (RegisterFile* f : {&file, &wanted}) f->take(kStackRegister, {{0, half_steps() - 1}});
    for (const Together& group : placed_) {
      uint32_t step = group.width > 2 ? 4 : group.width, first = 0;
      const auto fits_at = [&](uint32_t at) { return fits(file, group, at, rests); };
      std::optional<uint32_t> bank;
      if (!group.odd || group.members.empty()) bank = other_bank(group, place, fits_at);
      if (!bank && group.odd) bank = 1;
      if (bank) {
        first = *bank;
        step = 2;
      }
      if (const uint32_t related = related_place(group, place, bank, fits_at); related != kNone)
        first = related;
      // What an access brings may stand in what it alone has read.
      std::vector<std::pair<uint32_t, uint32_t>> own;
      if (rests && group.members.size() == 1) {
        const Access& access = access_[group.members.front().first];
        for (const Var v : access.reads) own.emplace_back(place[v], thread_registers(program_, v));
        const auto [from, to] = constants.equal_range(access.at);
        for (auto it = from; it != to; ++it) own.push_back(it->second);
      }
      const auto is_own = [&](uint32_t at) {
        return std::ranges::any_of(own, [&](const auto& registers) {
          return registers.first != kNone && at >= registers.first &&
                 at + group.width <= registers.first + registers.second && fits(wanted, group, at, false);
        });
      };
      while (!fits_at(first) && !is_own(first)) first += step;
      if (group.members.empty()) constants.emplace(group.scratch.back().end, std::pair(first, group.width));
      const auto take = [&](RegisterFile& f, bool resting) {
        each(group, resting, [&](uint32_t at, const std::vector<Span>& spans) { f.take(first + at, spans); });
      };
      take(file, rests);
      if (rests) take(wanted, false);
      for (const auto& [v, at] : group.members) place[v] = first + at;
    }
    return {file.count(), std::move(place)};
  }

 private:
  [[nodiscard]] uint32_t half_steps() const {
    const size_t last = program_.blocks.size() - 1;
    return 2 * (live_.first_op[last] + static_cast<uint32_t>(program_.blocks[last].ops.size())) + 1;
  }
  [[nodiscard]] bool in_loop(uint32_t block) const { return weights_[block] > 1; }

  [[nodiscard]] uint32_t count_wanted() const {
    std::vector<int64_t> change(half_steps() + 2, 0);
    std::vector<Span> spans;
    for (const Together& group : placed_) {
      for (uint32_t r = 0; r < group.width; ++r) {
        spans = group.scratch;
        for (const auto& [v, at] : group.members) {
          if (r >= at && r < at + thread_registers(program_, v))
            spans.insert(spans.end(), wanted_[v].begin(), wanted_[v].end());
        }
        std::ranges::sort(spans, {}, &Span::begin);
        uint32_t end = 0;  // behind what is counted
        for (const Span& span : spans) {
          const uint32_t begin = std::max(span.begin, end);
          if (begin > span.end) continue;
          ++change[begin];
          --change[span.end + 1];
          end = span.end + 1;
        }
      }
    }
    int64_t now = 0, most = 0;
    for (const int64_t c : change) most = std::max(most, now += c);
    return static_cast<uint32_t>(most);
  }

  /// The bank in which what `group` is read with does not stand. None if it would take too many registers.
  template <class FitsAt>
  std::optional<uint32_t> other_bank(const Together& group, const std::vector<uint32_t>& place,
                                     FitsAt fits_at) const {
    if (group.width != 1 || group.members.size() > 1) return std::nullopt;
    std::array<uint32_t, 2> taken{};
    for (const Var v :
         group.members.empty() ? group.beside : relations_.read_with[group.members.front().first])
      if (place[v] != kNone) ++taken[place[v] % 2];
    if (taken[0] == taken[1]) return std::nullopt;
    const uint32_t bank = taken[0] > taken[1] ? 1 : 0;
    uint32_t at = bank;
    while (!fits_at(at)) at += 2;
    return at < std::max(kBanksUpTo, wanted()) ? std::optional(bank) : std::nullopt;
  }

  /// Where a source of what makes `group` stands, or what is made of it, if it can stand there and that is in
  /// the bank.
  template <class FitsAt>
  uint32_t related_place(const Together& group, const std::vector<uint32_t>& place,
                         std::optional<uint32_t> bank, FitsAt fits_at) const {
    if (group.members.empty() || group.width > 2) return kNone;
    const Var made = group.members.front().first;
    if (thread_registers(program_, made) != group.width) return kNone;
    for (const Var v : relations_.made_from[made]) {
      if (place[v] == kNone || thread_registers(program_, v) != group.width) continue;
      if ((!bank || place[v] % 2 == *bank) && fits_at(place[v])) return place[v];
    }
    for (const Var v : relations_.made_into[made]) {
      if (place[v] == kNone || thread_registers(program_, v) < group.width) continue;
      for (uint32_t r = place[v]; r < place[v] + thread_registers(program_, v); r += group.width)
        if ((!bank || r % 2 == *bank) && fits_at(r)) return r;
    }
    return kNone;
  }

  void relate() {
    std::vector<bool> once(program_.vars.size());
    for (Var v = 0; v < once.size(); ++v) once[v] = defined_[v] == 1;
    const auto in_register = [&](Var v, uint32_t block) {
      return !is_uniform({v}) && (!constant_[v] || in_loop(block));
    };
    relations_ = find_register_relations(program_, in_register, once);
  }

  /// Those that the constant bank has, and that no loop reads.
  void find_constants() {
    defined_.assign(program_.vars.size(), 0);
    readers_.assign(program_.vars.size(), 0);
    constant_.assign(program_.vars.size(), false);
    in_loop_.assign(program_.vars.size(), false);
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      for (const Op& op : program_.blocks[b].ops) {
        for_each_def(op, [&](Var v) { ++defined_[v]; });
        if (op.num_dst == 1 && op.guard == kNoVar && op.dst[0] != kNoVar && recomputable(op))
          constant_[op.dst[0]] = true;
        for_each_use(op, [&](Var v) {
          ++readers_[v];
          in_loop_[v] = in_loop_[v] || in_loop(b);
        });
      }
    }
    for (Var v = 0; v < constant_.size(); ++v) constant_[v] = constant_[v] && defined_[v] == 1;
  }

  /// From 9.0 on: an address whose base stands in the constant bank is made in the pair that the base is
  /// loaded to, for the product takes no other constant than its factor.
  [[nodiscard]] bool loads_base(const Op& op) const {
    return program_.machine_capability >= kLoadsConstantsFrom && is_address_product(op) &&
           thread_registers(program_, op.dst[0]) == 2 && !op.src[0].is_literal() && op.src[1].is_literal() &&
           op.src[2].is_literal() &&
           (op.src[2].launch_constant != kNone || program_.globals.contains(op.src[2].bits));
  }
  /// The half-step at which a constant is loaded that is needed at `at`, in a block that starts at `first`.
  [[nodiscard]] uint32_t ahead_of(uint32_t at, uint32_t first) const {
    if (program_.machine_capability < kLoadsConstantsFrom) return at;
    return std::max(first, at - std::min(at, 2 * kLoadedBefore));
  }

  /// Before each operation, in halves of one.
  static std::vector<uint32_t> times(const std::vector<Op>& ops) {
    std::vector<uint32_t> time{0};
    for (const Op& op : ops) time.push_back(time.back() + time_taken(op));
    return time;
  }
  /// The operation before which the one at `reader` has read its registers, if that takes so long.
  static uint32_t read_by(const std::vector<uint32_t>& time, uint32_t reader, uint32_t takes) {
    return static_cast<uint32_t>(std::ranges::lower_bound(time, time[reader] + takes) - time.begin());
  }

  void find_spans(uint32_t block) {
    const std::vector<Op>& ops = program_.blocks[block].ops;
    const uint32_t first = 2 * live_.first_op[block];
    const std::vector<uint32_t> time = times(ops);
    for (const Segment& s : live_.segments[block]) {
      if (s.var == program_.stack_pointer || thread_registers(program_, s.var) == 0) continue;
      Span span{s.begin, s.end};
      uint32_t early = kNone;  // where it is loaded
      if (const uint32_t i = (s.begin - first) / 2;
          s.begin % 2 == 0 && i < ops.size() && defines(ops[i], s.var)) {
        ++span.begin;  // where a row could not be shared, a register can
        if (loads_base(ops[i]) && !in_loop(block)) early = ahead_of(s.begin, first);
      }
      span.end = std::max(span.end, span.begin);
      uint32_t first_use = kNone, last_use = 0, last_access = kNone;
      for (auto& [i, access] : uses_in(ops, block, s.var)) {
        const uint32_t at = first + 2 * i;
        if (at < s.begin || at > s.end) continue;
        first_use = std::min(first_use, at);
        last_use = at;
        if (access) last_access = at;
      }
      if (constant_[s.var] && (!in_loop(block) || !in_loop_[s.var])) {
        if (first_use == kNone) continue;
        span = {first_use, last_use};
        early = ahead_of(span.begin, first);
      }
      wanted_[s.var].push_back(span);
      span.begin = std::min(span.begin, early);
      if (last_access != kNone) {
        const uint32_t block_end = first + 2 * static_cast<uint32_t>(ops.size());
        const uint32_t reader = (last_access - first) / 2;
        const uint32_t read = read_by(time, reader, shuffles(ops[reader]) ? kShuffleReads : kAccessReads);
        span.end = std::min(std::max(span.end, first + 2 * read), std::max(block_end, span.end));
      }
      resting_[s.var].push_back(span);
    }
  }

  /// What lives through blocks that do not mention it. A constant that no loop reads is in no register there.
  void span_through() {
    const std::vector<Var>& variables = live_.crossings.variables;
    BitSet outside(variables.size()), inside(variables.size());
    for (size_t n = 0; n < variables.size(); ++n) {
      const Var v = variables[n];
      if (v == program_.stack_pointer || thread_registers(program_, v) == 0) continue;
      if (!constant_[v]) outside.set(n);
      if (!constant_[v] || in_loop_[v]) inside.set(n);
    }
    const auto counts = [&](uint32_t b) -> const BitSet& { return in_loop(b) ? inside : outside; };
    for_each_through(program_, live_, counts, [&](const Segment& s) {
      wanted_[s.var].push_back({s.begin, s.end});
      resting_[s.var].push_back({s.begin, s.end});
    });
  }

  [[nodiscard]] bool reads_late(const Op& op) const {
    return op.is_memory() ? op.memory.space != Space::kParam : rests_shuffled_ && shuffles(op);
  }
  [[nodiscard]] bool is_uniform(const Value& v) const {
    return !v.is_literal() && v.var < program_.uniform.size() && program_.uniform[v.var];
  }
  /// A store or an atomic whose data are in other registers than its address: even ones and odd ones.
  [[nodiscard]] bool wants_odd(const Op& op) const {
    const bool global = op.memory.space == Space::kGlobal || op.memory.space == Space::kGeneric;
    if ((op.kind != OpKind::kStore && op.kind != OpKind::kAtomic) || !global) return false;
    return op.memory.has_base ? !is_uniform(op.src[0]) : loads_address(op);
  }
  /// From 8.0 on: the address is a number, which an access has in a pair of the thread's registers.
  [[nodiscard]] bool loads_address(const Op& op) const {
    const bool global = op.memory.space == Space::kGlobal || op.memory.space == Space::kGeneric;
    return program_.machine_capability >= kLoadsAddressesFrom && op.is_memory() && global &&
           !op.memory.has_base;
  }
  [[nodiscard]] bool dies(Var v, uint32_t at) const {
    return std::ranges::any_of(wanted_[v], [at](const Span& s) { return s.end == at; });
  }
  void note_access(const Op& op, uint32_t at) {
    if (loads_base(op)) odd_[op.src[0].var] = true;
    // A sum of floats in shared memory is a loop, which has registers of its own.
    const bool is_loop = op.memory.space == Space::kShared && is_float(op.type);
    if ((op.kind == OpKind::kLoad || (op.kind == OpKind::kAtomic && !is_loop && !is_aggregated(op))) &&
        op.num_dst == 1 && op.dst[0] != kNoVar) {
      Access& access = access_[op.dst[0]];
      access.at = at;
      for (int k = 0; k < op.num_src; ++k)
        if (!op.src[k].is_literal() &&
            (readers_[op.src[k].var] == 1 || (op.kind == OpKind::kAtomic && dies(op.src[k].var, at))))
          access.reads.push_back(op.src[k].var);
    }
    if (!wants_odd(op)) return;
    for (const Value& v : access_data(op).values)
      if (!v.is_literal()) odd_[v.var] = true;
  }

  static bool defines(const Op& op, Var var) {
    return std::find(op.dst.begin(), op.dst.begin() + op.num_dst, var) != op.dst.begin() + op.num_dst;
  }

  struct Use {
    uint32_t op;
    bool access;
  };
  /// Of a variable in a block, ascending.
  const std::vector<Use>& uses_in(const std::vector<Op>& ops, uint32_t block, Var var) {
    if (uses_of_ != block) {
      for (const Var v : used_) uses_[v].clear();
      used_.clear();
      uses_.resize(program_.vars.size());
      for (uint32_t i = 0; i < ops.size(); ++i) {
        for (int k = 0; k < ops[i].num_src; ++k) {
          if (ops[i].src[k].is_literal()) continue;
          const Var v = ops[i].src[k].var;
          if (uses_[v].empty()) used_.push_back(v);
          uses_[v].push_back({i, reads_late(ops[i])});
        }
      }
      uses_of_ = block;
    }
    return uses_[var];
  }

  [[nodiscard]] bool is_odd(Var v) const { return odd_[v] && thread_registers(program_, v) == 1; }

  [[nodiscard]] Var only_word(const Op& op) const {
    Var found = kNoVar;
    for (int k = 0; k < op.num_src; ++k) {
      if (op.src[k].is_literal() || thread_registers(program_, op.src[k].var) != 1) continue;
      if (found != kNoVar) return kNoVar;
      found = op.src[k].var;
    }
    return found;
  }
  /// `first`: where the block starts; `read`: when an access at `at` has read its registers.
  void note_constants(const Op& op, uint32_t at, uint32_t first, uint32_t read,
                      ConstantRegisters& constants) {
    const bool product = static_cast<Opcode>(op.opcode()) == Opcode::kMad;
    const bool of_warp = op.num_dst == 1 && op.dst[0] != kNoVar && is_uniform({op.dst[0]});
    const bool early = program_.machine_capability >= kLoadsConstantsFrom;
    const uint32_t moved = early ? std::max(first, at - std::min(at, 2 * kMovedBefore)) : at;
    for (int k = 0; k < op.num_src && !of_warp && !loads_base(op); ++k)
      if (holds_constant(op, k))
        constants.note(constant_of(op.src[k], 1), {moved, at, 0, product, only_word(op)});
    if (loads_address(op))
      constants.note({variable_at(op.memory.offset), kNone, kNoObject, 2}, {ahead_of(at, first), at, read});
    const AccessData data = access_data(op);
    if (data.values.size() != 1 || !data.values.front().is_literal()) return;
    constants.note(constant_of(data.values.front(), data.width),
                   {moved, at, read, wants_odd(op) && data.width == 1});
  }
  /// The first byte of the variable in global memory that `address` lies in, if it lies in one.
  [[nodiscard]] uint64_t variable_at(int64_t address) const {
    const auto at = static_cast<uint64_t>(address);
    const auto behind = program_.globals.upper_bound(at);
    if (behind == program_.globals.begin()) return at;
    const auto& [begin, bytes] = *std::prev(behind);
    return at - begin < bytes ? begin : at;
  }
  /// What addresses in loops start from has a pair all the way through its loop, in small kernels.
  void place_bases() {
    std::map<std::pair<uint32_t, Constant>, Span> bases;  // by first block
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      if (!in_loop(b)) continue;
      const auto [first, last] = loop_around(b);
      for (const Op& op : program_.blocks[b].ops)
        if (loads_base(op)) bases[{first, constant_of(op.src[2], 2)}] = {first_step(first), end_step(last)};
    }
    std::map<uint32_t, uint32_t> of_loop;
    for (const auto& [base, span] : bases) too_many_ = too_many_ || 2 * ++of_loop[base.first] > kSmallKernel;
    if (too_many_) return;
    for (const auto& [base, span] : bases) placed_.push_back({2, span.begin, false, {}, {span}, {span}, {}});
  }
  /// The blocks of the outermost loop around `block`.
  [[nodiscard]] std::pair<uint32_t, uint32_t> loop_around(uint32_t block) const {
    uint32_t first = block, last = block;
    while (first > 0 && in_loop(first - 1)) --first;
    while (last + 1 < program_.blocks.size() && in_loop(last + 1)) ++last;
    return {first, last};
  }
  [[nodiscard]] uint32_t first_step(uint32_t block) const { return 2 * live_.first_op[block]; }
  [[nodiscard]] uint32_t end_step(uint32_t block) const {
    return first_step(block) + 2 * static_cast<uint32_t>(program_.blocks[block].ops.size());
  }

  /// What an access loads or stores at once becomes one group, everything else its own.
  void join() {
    std::vector<bool> placed(program_.vars.size(), false);
    const auto usable = [&](Var v) { return !placed[v] && !wanted_[v].empty(); };
    std::map<std::pair<uint32_t, Constant>, ConstantPlace> of_loops;
    std::optional<std::pair<uint32_t, uint32_t>> loop;  // the last one that has a constant
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      const std::vector<Op>& ops = program_.blocks[b].ops;
      ConstantRegisters constants(2 * kStays);
      const std::vector<uint32_t> time = times(ops);
      for (uint32_t i = 0; i < ops.size(); ++i) {
        const Op& op = ops[i];
        const uint32_t at = first_step(b) + 2 * i;
        const uint32_t read = std::min(first_step(b) + 2 * read_by(time, i, kAccessReads), end_step(b));
        if (const uint32_t more = own_registers(op); more > 0)
          placed_.insert(placed_.end(), more, Together{1, at, false, {}, {{at, at + 1}}, {{at, at + 1}}, {}});
        note_constants(op, at, first_step(b), read, constants);
        note_access(op, at);
        join_access(op, at, read, placed);
      }
      const bool hoisted = hoists_ && in_loop(b) && constants.last().size() <= kFewConstants;
      placed_.insert(placed_.end(), constants.ended().begin(), constants.ended().end());
      for (const auto& [constant, place] : constants.last()) {
        if (!hoisted) {
          placed_.push_back(place.group(constant));
          continue;
        }
        if (!loop || b > loop->second) loop = loop_around(b);
        ConstantPlace& whole = of_loops[{loop->first, constant}];
        whole.span = {first_step(loop->first), end_step(loop->second)};
        whole.odd = whole.odd || place.odd;
        whole.beside.insert(whole.beside.end(), place.beside.begin(), place.beside.end());
      }
    }
    join_halves(placed);
    for (const auto& [constant, place] : of_loops) placed_.push_back(place.group(constant.second));
    if (hoists_) place_bases();
    for (Var v = 0; v < program_.vars.size(); ++v) {
      if (usable(v)) placed_.push_back({thread_registers(program_, v), ~0u, is_odd(v), {{v, 0}}, {}, {}, {}});
    }
    for (Together& group : placed_) {
      for (const auto& [v, at] : group.members)
        for (const Span& s : wanted_[v]) group.start = std::min(group.start, s.begin);
    }
    std::stable_sort(placed_.begin(), placed_.end(), [](const Together& a, const Together& b) {
      if (a.width != b.width) return a.width > b.width;
      return a.width != 1 && a.odd != b.odd ? a.odd : a.start < b.start;
    });
  }

  /// What the access at `at` loads, or reads besides its address, becomes a group if it stands side by side.
  void join_access(const Op& op, uint32_t at, uint32_t read, std::vector<bool>& placed) {
    AccessData data = access_data(op);
    if (op.kind == OpKind::kLoad && op.memory.elements > 1 && op.num_dst == op.memory.elements) {
      data.side_by_side = true;
      for (int k = 0; k < op.num_dst; ++k) data.values.push_back({op.dst[k], false, 0});
    }
    if (!data.side_by_side || data.values.empty()) return;
    Together group;
    for (const Value& v : data.values) {
      if (v.is_literal() && op.kind != OpKind::kLoad) {
        group.scratch = {{at, at}};
        group.resting = {{at, read}};
        group.width += data.width;
        continue;
      }
      const bool twice =
          std::ranges::find(group.members, v.var, &std::pair<Var, uint32_t>::first) != group.members.end();
      if (v.var == kNoVar || placed[v.var] || wanted_[v.var].empty() || twice) return;
      group.members.emplace_back(v.var, group.width);
      group.width += thread_registers(program_, v.var);
    }
    for (const auto& [v, offset] : group.members) placed[v] = true;
    if (group.members.empty()) group.start = at;
    placed_.push_back(std::move(group));
  }

  /// Words become members of the group that has their pair.
  void join_halves(std::vector<bool>& placed) {
    std::vector<std::pair<uint32_t, uint32_t>> at(program_.vars.size(),
                                                  {kNone, 0});  // group, and where in it
    for (uint32_t g = 0; g < placed_.size(); ++g)
      for (const auto& [v, offset] : placed_[g].members) at[v] = {g, offset};
    for (const HalfOfPair& half : relations_.halves) {
      const auto usable = [&](Var v) { return !placed[v] && !wanted_[v].empty() && !constant_[v]; };
      if (!usable(half.word)) continue;
      auto& [group, offset] = at[half.pair];
      if (group == kNone) {
        if (!usable(half.pair)) continue;
        placed[half.pair] = true;
        group = static_cast<uint32_t>(placed_.size());
        placed_.push_back({2, ~0u, false, {{half.pair, 0}}, {}, {}, {}});
      }
      placed[half.word] = true;
      at[half.word] = {group, offset + half.at};
      placed_[group].members.emplace_back(half.word, offset + half.at);
    }
  }

  /// Calls fn(distance from the first register, half-steps) for each register of `group`.
  template <class Fn>
  void each(const Together& group, bool rests, Fn fn) const {
    for (const auto& [v, at] : group.members) {
      for (uint32_t k = 0; k < thread_registers(program_, v); ++k)
        fn(at + k, (rests ? resting_ : wanted_)[v]);
    }
    for (uint32_t k = 0; k < group.width && !group.scratch.empty(); ++k)
      fn(k, rests ? group.resting : group.scratch);
  }
  [[nodiscard]] bool fits(const RegisterFile& file, const Together& group, uint32_t first, bool rests) const {
    bool free = true;
    each(group, rests, [&](uint32_t at, const std::vector<Span>& spans) {
      free = free && file.is_free(first + at, spans);
    });
    return free;
  }

  const Program& program_;
  bool hoists_, rests_shuffled_;
  bool too_many_ = false;
  const Liveness live_;
  const std::vector<double> weights_;
  std::vector<std::vector<Span>> wanted_, resting_;  // of each variable
  std::vector<uint32_t> defined_, readers_;          // how often
  std::vector<bool> constant_, in_loop_, odd_;
  /// That brings a variable: where it stands, and what it reads and nothing else.
  struct Access {
    uint32_t at = kNone;
    std::vector<Var> reads;
  };
  std::vector<Access> access_;
  RegisterRelations relations_;
  std::vector<Together> placed_;
  uint32_t wanted_at_once_ = 0;
  uint32_t uses_of_ = kNone;
  std::vector<std::vector<Use>> uses_;
  std::vector<Var> used_;
};

}  // namespace

uint32_t assigned_registers(Program& program, const Flow& flow, uint32_t limit) {
  std::optional<Assignment> plain(std::in_place, program, flow, false, false);
  const bool rests_shuffled = plain->wanted() <= kShufflesRestUpTo;
  if (rests_shuffled) plain.emplace(program, flow, false, true);
  std::optional<Assignment> hoisted;
  if (plain->wanted() + kUnnamed <= kSmallKernel) hoisted.emplace(program, flow, true, rests_shuffled);
  const bool hoists =
      hoisted && !hoisted->too_many_bases() && hoisted->places(false).named + kUnnamed <= kSmallKernel;
  const Assignment& assignment = hoists ? *hoisted : *plain;
  const bool calls =
      program.is_function || std::ranges::any_of(program.blocks, [](const Block& block) {
        return std::ranges::any_of(block.ops, [](const Op& op) { return op.kind == OpKind::kCall; });
      });
  const uint32_t wanted = assignment.wanted();
  if (wanted == 0 && !calls) return kIdle;
  Assignment::Places dense = assignment.places(false);
  uint32_t registers = dense.named + kUnnamed;
  program.places = std::move(dense.of_var);
  // Where it must, ptxas finds an assignment without gaps.
  if (wanted + 1 <= limit) registers = std::min(registers, limit);
  if (calls) registers = std::max(registers, kCalleeHas);
  if (registers >= kPlenty) return registers;
  Assignment::Places rested = assignment.places(true);
  if (rested.named + kUnnamed <= kPlenty) program.places = std::move(rested.of_var);
  registers = std::max(registers, rested.named + kUnnamed);
  return std::min(made_even(registers, kEvenUpTo), kPlenty);
}

}  // namespace gpusim::isa::lir
