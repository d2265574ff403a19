#include "analysis/models/latency_hidden/segments.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/models/latency_hidden/path.h"
#include "analysis/models/latency_hidden/servers.h"
#include "components/sm/shared_bank_conflicts.h"

namespace gpusim::analysis::latency_hidden {
namespace {

using isa::MicroOp;
using isa::OpClass;
using isa::OpKind;
using isa::Space;

class Builder : public PathVisitor {
 public:
  Builder(const Code& code, const Parameters& parameters, const LoadLevels& levels, double warps)
      : code_(code),
        p_(parameters),
        levels_(levels),
        warps_(std::max(1.0, warps)),
        results_(code.image.num_rows + code.image.num_predicates),
        in_step_{static_cast<double>(std::max(1U, code.shape.warps_per_block)), 0, 0,
                 std::vector<double>(parameters.units.size(), 0)},
        unit_free_(parameters.units.size(), 0),
        servers_(code, parameters, levels) {
    begin(0, 1);
  }

  void operation(uint32_t pc, double probability) override {
    const MicroOp& op = code_.image.ops[pc];
    served_ = servers_.next(op, pc);
    if (op.kind == OpKind::kBarrier) {
      add(pc, probability);
      issue(op, pc, probability);
      cut(pc, Wait::kBarrier, 0, probability);
      return;
    }
    const Ready ready = op.kind == OpKind::kFence ? fenced(op) : in_flight(op, pc);
    if (ready.alone > now_) {
      const double left = ready.alone - now_;
      const double left_in_step = std::max(0.0, ready.in_step - in_step_.now);
      segments_.back().step_wait = left_in_step * relative(probability);
      cut(pc, Wait::kData, left, probability);
      in_step_.now += left_in_step;
      in_step_.began = in_step_.now;
      arrive(ready.alone);
    } else if (stores_new_value(op)) {
      cut(pc, Wait::kStore, 0, probability);
    } else if (probability > kMore * probability_) {
      cut(pc, Wait::kJoin, 0, probability);
    }
    add(pc, probability);
    issue(op, pc, probability);
  }

  void enter_loop(double rounds, bool bounded, bool only) override {
    if (loops_.empty()) ++stage_;
    loops_.push_back(
        {bounded, !bounded && only, rounds, now_, in_step_.now, segments_.size(), segments_.back()});
  }
  void next_round(double rounds) override {
    end_round();
    const bool bounded = loops_.back().bounded;
    loops_.back() = {bounded, !bounded, rounds, now_, in_step_.now, segments_.size(), segments_.back()};
  }
  void leave_loop() override {
    end_round();
    loops_.pop_back();
    if (loops_.empty()) ++stage_;
  }

  std::vector<Segment> finish() {
    const auto last = static_cast<uint32_t>(code_.image.ops.size() - 1);
    cut(last, Wait::kEnd, 0, 1);
    segments_.pop_back();
    return std::move(segments_);
  }

 private:
  struct Result {
    double ready = 0, ready_in_step = 0;
    double issued = 0, issued_in_step = 0;  ///< of a load
    Served by;                              ///< of a load
    size_t segment = ~size_t{0};            ///< in which it was computed
    size_t unit = 0;
    bool from_memory = false;
    bool arithmetic = false;
    uint8_t barrier = comp::ControlCode::kNoBarrier;  ///< of its operation's control code
  };
  /// When data are there, for a warp alone and for warps in step.
  struct Ready {
    double alone = 0, in_step = 0;
  };
  struct Round {
    bool bounded = false;
    bool grows = true;  ///< a longer warp goes round it more often: not the first round, which comes once
    double rounds = 1;
    double from = 0, from_in_step = 0;
    size_t segment = 0;  ///< segments begun until then
    Segment sums;        ///< of the last one until then
  };

  void begin(uint32_t pc, double probability) {
    Segment s;
    s.first = pc;
    s.stage = stage_;
    s.busy.assign(p_.units.size(), 0);
    probability_ = std::min(probability, 1.0);
    s.weight = probability_;
    s.passes = on_path(probability_);
    turns_ = first_turns_ = {};
    turned_ = first_turned_ = 0;
    for (const Round& r : loops_) {
      s.weight *= r.rounds;
      s.passes *= r.rounds;
    }
    began_ = now_;
    in_step_.began = in_step_.now;
    segments_.push_back(std::move(s));
  }

  void cut(uint32_t pc, Wait wait, double left, double probability) {
    Segment& s = segments_.back();
    s.last = pc;
    s.end = wait;
    s.chain = now_ - began_;
    s.step_chain = in_step_.now - in_step_.began;
    s.in_turn = std::max(s.in_turn, s.compute());
    s.sooner = std::clamp(s.sooner, 0.0, s.in_turn * (1 - 1 / p_.in_order));
    if (!s.global) s.asks = s.chain;
    s.wait = left * relative(probability);
    if (in_growing_loop()) s.loop_wait = s.wait;
    now_ += left;
    begin(pc, probability);
  }

  [[nodiscard]] bool in_growing_loop() const { return std::ranges::any_of(loops_, &Round::grows); }
  /// How likely it is that one of the warps executes what each does with this probability.
  [[nodiscard]] double on_path(double probability) const { return std::min(1.0, probability * warps_); }
  /// How likely a warp that has begun the segment is to execute an operation of this probability.
  [[nodiscard]] double relative(double probability) const {
    return std::min(1.0, on_path(probability) / on_path(probability_));
  }

  /// An iteration in which nothing waits stands for several within its segment; of one that has a wait, what
  /// comes before it belongs to the segment only once.
  void end_round() {
    const Round& r = loops_.back();
    if (r.segment != segments_.size()) return;
    Segment& s = segments_.back();
    const auto repeat = [&](double& sum, double before) { sum += (r.rounds - 1) * (sum - before); };
    const double once = now_;
    repeat(now_, r.from);
    repeat(in_step_.now, r.from_in_step);
    if (s.stored >= r.from - began_) s.stored += now_ - once;
    repeat(s.operations, r.sums.operations);
    repeat(s.walked, r.sums.walked);
    repeat(s.loop_walked, r.sums.loop_walked);
    repeat(s.loop_chain, r.sums.loop_chain);
    repeat(s.paper_ilp, r.sums.paper_ilp);
    repeat(s.issue, r.sums.issue);
    repeat(s.in_turn, r.sums.in_turn);
    repeat(s.sooner, r.sums.sooner);
    repeat(s.requested, r.sums.requested);
    repeat(s.read, r.sums.read);
    repeat(s.written, r.sums.written);
    for (auto& [pc, n] : s.executed) {
      const auto before = r.sums.executed.find(pc);
      repeat(n, before == r.sums.executed.end() ? 0 : before->second);
    }
    for (size_t u = 0; u < s.busy.size(); ++u) repeat(s.busy[u], r.sums.busy[u]);
    for (size_t u = 0; u < s.behind.size(); ++u) repeat(s.behind[u], r.sums.behind[u]);
  }

  /// What conflicts in shared memory, and words wider than a bank, add to an operation. One whose guard no
  /// lane passes has no steps, and takes the time of one without conflicts.
  double conflicts_of(const MicroOp& op, const OpCounts& c) const {
    if (!is_shared(op) || c.executed <= 0) return 0;
    const double wide = std::max(0.0, (c.transactions - c.replays) / c.executed - p_.shared_steps);
    return (c.replays / c.executed + wide) * p_.shared_step;
  }

  /// Until a dependent operation can issue: in shared memory behind all steps, and all rounds of a loop.
  double latency_of(const MicroOp& op, const OpCounts& c) const {
    const double latency = p_.of(op.op_class).latency;
    if (!is_shared(op) || c.executed <= 0) return latency;
    const auto of = [this](OpClass op_class) { return p_.of(op_class).latency; };
    const double looped = c.rounds > 0 ? c.rounds / c.executed * comp::round_of_sums(op, of) : latency;
    return looped + conflicts_of(op, c);
  }

  double busy_of(const MicroOp& op, uint32_t pc) const {
    const OpCounts& c = code_.counts[pc];
    const ClassCost& cost = p_.of(op.op_class);
    const bool fetches = op.kind == OpKind::kAlu && !code_.bank_delays.empty();
    const double fetch = fetches ? code_.bank_delays[pc] / p_.copies[cost.unit] : 0;
    const double busy = cost.busy + fetch + conflicts_of(op, c);
    if (is_long(op) && c.executed > 0 && p_.l1_bytes > 0)
      return std::max({busy, c.transferred / c.executed / p_.l1_bytes, transactions_of(c) * p_.lookup});
    return busy;
  }

  static double slots_of(const MicroOp& op) { return 1.0 + op.further_slots; }

  void add(uint32_t pc, double probability) {
    const MicroOp& op = code_.image.ops[pc];
    const OpCounts& c = code_.counts[pc];
    Segment& s = segments_.back();
    const double n = probability / probability_;
    s.operations += n;
    s.walked += relative(probability);
    if (in_growing_loop()) s.loop_walked += relative(probability);
    s.executed[pc] += n;
    s.issue += n * slots_of(op) * p_.issue;
    s.busy[p_.of(op.op_class).unit] += n * busy_of(op, pc);
    const size_t unit = p_.of(op.op_class).unit;
    const double busy = busy_of(op, pc), turn = n * std::max(slots_of(op) * p_.issue, busy);
    turns_.add(unit, turn);
    s.in_turn += turns_.time() - turned_;
    // Of a unit that schedulers share, the first one's warps have as much as it can issue for.
    const bool shared = p_.in_order > 1 && p_.copies[unit] <= 1;
    first_turns_.add(unit, shared ? n * std::max(slots_of(op) * p_.warp_issue, busy) / p_.in_order : turn);
    s.sooner += turns_.time() - turned_ - (first_turns_.time() - first_turned_);
    turned_ = turns_.time();
    first_turned_ = first_turns_.time();
    const PaperParameters paper;
    s.paper_ilp += n * (op.op_class == OpClass::kSharedOperand ? paper.shared_operand : paper.operation);
    s.shared = s.shared || is_shared(op);
    if (!is_long(op) || c.executed <= 0) return;
    if (!s.global) s.asks = now_ - began_;
    s.global = true;
    if (op.kind != OpKind::kLoad) s.stored = now_ - began_;
    const double beyond = op.kind == OpKind::kLoad ? 1 - served_.hits : 1;
    s.busy[p_.request_unit] += n * (beyond * transactions_of(c) * p_.request + p_.translation);
    const double sent = n * beyond * (goes_through_cache(op) ? levels_.sent : 1);
    add_flits(op, c, sent, s);
    if (op.kind == OpKind::kAtomic)
      s.behind[kAtomics] +=
          n * (transactions_of(c) * p_.atomic_access +
               c.words / c.executed * (isa::is_float(op.memory.type) ? p_.atomic_float : p_.atomic_word));
    if (op.kind != OpKind::kStore && p_.cache_lines > 0) {
      const double second = levels_.l1_share < 1 ? levels_.l2_share / (1 - levels_.l1_share) : 0;
      s.behind[kLines] +=
          sent * transactions_of(c) / p_.cache_lines * (second * levels_.l2 + (1 - second) * levels_.memory);
    }
    s.requested += n * c.requested / c.executed;
    (op.kind == OpKind::kStore ? s.written : s.read) += n * c.transferred / c.executed;
  }

  /// What an operation's transactions keep the SM's ports, which its neighbours may share.
  void add_flits(const MicroOp& op, const OpCounts& c, double times, Segment& s) const {
    const double transactions = transactions_of(c);
    if (p_.flit <= 0 || transactions <= 0) return;
    const double bytes = c.transferred / c.executed / transactions;
    const auto flits = [&](double data, double flit) {
      return std::max(1.0, std::ceil((data + p_.header) / flit));
    };
    const bool store = op.kind == OpKind::kStore;
    const double replied = goes_through_cache(op) ? std::max(bytes, p_.cache_sector) : bytes;
    const double busy = times * transactions * p_.flit;
    s.behind[kRequestPort] += busy * flits(store ? bytes : 0, p_.request_flit);
    s.behind[kReplyPort] += busy * flits(store ? 0 : replied, p_.reply_flit);
  }

  template <class Fn>
  static void for_each_operand(const MicroOp& op, Fn fn) {
    for (uint32_t i = 0; i < op.num_sb_reads; ++i) fn(op.sb_reads[i]);
    for (uint32_t i = 0; i < op.num_sb_writes; ++i) fn(op.sb_writes[i]);
  }

  /// When the warp's stores are performed, and the time of the fence itself has passed.
  Ready fenced(const MicroOp& op) const {
    const bool for_copies = op.op_class != OpClass::kFence && op.op_class != OpClass::kFenceBlock;
    const double done = for_copies ? stored_ : std::max(stored_, now_ + p_.of(op.op_class).latency);
    return {done, done - now_ + in_step_.now};
  }

  /// When the last of its operands comes that is data of memory: with the slowest transaction of all loads
  /// that come at about the same time, whose data are waited for at once.
  Ready in_flight(const MicroOp& op, uint32_t pc) const {
    double ready = -1, issued = 0, issued_in_step = 0, ready_in_step = 0;
    const auto wait_for = [&](const Result& r) {
      if (!r.from_memory) return;
      ready = std::max(ready, r.ready);
      ready_in_step = std::max(ready_in_step, r.ready_in_step);
      issued = std::max(issued, r.issued);
      issued_in_step = std::max(issued_in_step, r.issued_in_step);
    };
    for_each_operand(op, [&](uint16_t id) { wait_for(results_[id]); });
    for_each_barrier(op, pc,
                     [&](const std::vector<Result>& results) { std::ranges::for_each(results, wait_for); });
    if (is_limited(op) && loads_.size() >= p_.warp_loads) wait_for(loads_[loads_.size() - p_.warp_loads]);
    if (ready < 0) return {0, 0};
    Served by{1, 1, 1};
    std::array<double, 16> loads{};  // by when they were issued
    size_t count = 0;
    for (const Result& r : results_) {
      if (!r.from_memory || r.ready > at_once_with(ready) ||
          std::find(loads.begin(), loads.begin() + count, r.issued) != loads.begin() + count)
        continue;
      if (count < loads.size()) loads[count++] = r.issued;
      by.all_l1 *= r.by.all_l1;
      by.none_memory *= r.by.none_memory;
    }
    const double latency = levels_.latency(by);
    return {std::max(ready, issued + latency), std::max(ready_in_step, issued_in_step + latency)};
  }
  /// Of the loads that a warp may have only so many of on their way.
  [[nodiscard]] bool is_limited(const MicroOp& op) const {
    return p_.warp_loads != 0 && (op.op_class == OpClass::kLoadGlobal || op.op_class == OpClass::kLoadLocal);
  }

  /// Dependency barriers that the operation waits for: those of its control code, and that of a result of
  /// another block of code which is still on its way.
  template <class Fn>
  void for_each_barrier(const MicroOp& op, uint32_t pc, Fn fn) const {
    if (code_.codes.empty()) return;
    uint32_t waits = code_.codes[pc].waits;
    for_each_operand(op, [&](uint16_t id) {
      const Result& r = results_[id];
      if (r.from_memory && r.barrier != comp::ControlCode::kNoBarrier) waits |= 1U << r.barrier;
    });
    for (size_t b = 0; b < barriers_.size(); ++b)
      if ((waits >> b & 1U) != 0) fn(barriers_[b]);
  }

  [[nodiscard]] double at_once_with(double ready) const { return ready + p_.memory_latency * kAtOnce; }

  /// A warp waits for all data that come at about the same time only once.
  void arrive(double ready) {
    const auto arrived = [&](Result& r) {
      if (!r.from_memory || r.ready > at_once_with(ready)) return;
      r.ready = std::min(r.ready, ready);
      r.ready_in_step = std::min(r.ready_in_step, in_step_.now);
      r.from_memory = false;
    };
    std::ranges::for_each(results_, arrived);
    std::ranges::for_each(loads_, arrived);
    std::erase_if(loads_, [](const Result& r) { return !r.from_memory; });
    for (std::vector<Result>& results : barriers_) std::ranges::for_each(results, arrived);
  }

  /// As the paper counts: a store to memory of what the segment computes is a segment of its own.
  bool stores_new_value(const MicroOp& op) const {
    if (op.kind != OpKind::kStore || op.memory.space != Space::kGlobal) return false;
    const int value = op.memory.has_base ? 1 : 0;
    if (op.num_src <= value || op.src[value].bank != isa::Bank::kRegister) return false;
    return results_[op.src[value].offset / isa::kRowBytes].segment == segments_.size();
  }

  /// What a compiler leaves between an arithmetic result and its reader, at least: it depends on the reader.
  [[nodiscard]] double least_latency(const MicroOp& op, uint16_t id, const Result& r) const {
    if (!r.arithmetic) return 0;
    const ReaderLatencies& least = p_.least;
    if (op.guard != isa::kNoPredicate && id == code_.image.num_rows + op.guard) return least.guard;
    if (is_access(op) || op.op_class == OpClass::kWarp || op.op_class == OpClass::kTexture)
      return least.memory;
    switch (op.op_class) {
      case OpClass::kSfuRcp:
      case OpClass::kSfuRsqrt:
      case OpClass::kSfuSqrt:
      case OpClass::kSfuSin:
      case OpClass::kCvt:
      case OpClass::kCvt64:
      case OpClass::kBitCount:
        return least.special;
      default:
        return op.kind == OpKind::kAlu && p_.of(op.op_class).unit != r.unit ? least.other_unit : 0;
    }
  }

  void issue(const MicroOp& op, uint32_t pc, double probability) {
    const ClassCost& cost = p_.of(op.op_class);
    double at = now_, at_in_step = in_step_.now;
    const auto wait_for = [&](const Result& r, double least) {
      at = std::max(at, std::max(r.ready, r.issued + least));
      at_in_step = std::max(at_in_step, std::max(r.ready_in_step, r.issued_in_step + least));
    };
    for_each_operand(op, [&](uint16_t id) {
      const Result& r = results_[id];
      wait_for(r, r.from_memory ? 0 : least_latency(op, id, r));
    });
    for_each_barrier(op, pc, [&](const std::vector<Result>& results) {
      for (const Result& r : results) wait_for(r, 0);
    });
    if (op.kind == OpKind::kBarrier && p_.barrier_awaits_stores) {
      at = std::max(at, shared_stored_.alone);
      at_in_step = std::max(at_in_step, shared_stored_.in_step);
    }
    const double busy = busy_of(op, pc);
    at = std::max(at, unit_free_[cost.unit]);
    at_in_step = std::max(at_in_step, in_step_.unit_free[cost.unit]);
    const double latency_alone = latency_of(op, code_.counts[pc]);
    const bool turns = op.kind == OpKind::kBranch || op.kind == OpKind::kBarrier;
    const bool loops = is_shared(op) && code_.counts[pc].rounds > 0;  // the warp is in it until it ends
    const double held = turns ? cost.latency : loops ? latency_alone : 0;
    const double next = at + (held > 0 ? held : slots_of(op) * p_.warp_issue);
    const double all_issued = slots_of(op) * std::max(p_.warp_issue, in_step_.warps * p_.issue);
    const double next_in_step = at_in_step + std::max(all_issued, held);
    const bool arithmetic = op.kind == OpKind::kAlu;
    unit_free_[cost.unit] = at + busy * p_.copies[cost.unit];
    in_step_.unit_free[cost.unit] = at_in_step + busy * std::max(p_.copies[cost.unit], in_step_.warps);
    const double passed = relative(probability) * (next - now_);
    now_ += passed;
    if (in_growing_loop()) segments_.back().loop_chain += passed;
    in_step_.now += relative(probability) * (next_in_step - in_step_.now);
    if (op.kind == OpKind::kStore && is_long(op)) stored_ = at + p_.memory_latency;
    if (is_shared(op) && op.kind != OpKind::kLoad && !op.memory.asynchronous)
      shared_stored_ = {std::max(shared_stored_.alone, at + latency_alone),
                        std::max(shared_stored_.in_step, at_in_step + latency_alone)};
    const bool memory = is_long(op) && op.kind != OpKind::kStore;
    const uint8_t barrier = code_.codes.empty() ? comp::ControlCode::kNoBarrier : code_.codes[pc].sets;
    for (uint32_t i = 0; i < op.num_sb_writes; ++i) {
      Result& r = results_[op.sb_writes[i]];
      r.barrier = barrier;
      r.from_memory = memory;
      r.issued = at;
      r.issued_in_step = at_in_step;
      r.arithmetic = arithmetic;
      r.unit = cost.unit;
      r.by = served_;
      const double latency = memory ? levels_.latency(served_) : latency_alone;
      r.ready = at + latency;
      r.ready_in_step = at_in_step + latency;
      r.segment = segments_.size();
    }
    if (is_limited(op) && op.num_sb_writes > 0) loads_.push_back(results_[op.sb_writes[0]]);
    if (barrier == comp::ControlCode::kNoBarrier || op.num_sb_writes == 0) return;
    // What has come holds nothing back.
    std::erase_if(barriers_[barrier], [&](const Result& r) { return r.ready <= now_; });
    barriers_[barrier].push_back(results_[op.sb_writes[0]]);
  }

  static constexpr double kAtOnce = 0.1;  ///< of the memory's latency
  static constexpr double kMore = 1.5;    ///< times as many warps
  const Code& code_;
  const Parameters& p_;
  const LoadLevels& levels_;
  double warps_;
  std::vector<Result> results_;
  std::array<std::vector<Result>, 8> barriers_;  ///< what sets each of them
  std::vector<Result> loads_;                    ///< on their way, where their number is limited
  /// Of warps in step: all do an operation before the first does the next.
  struct InStep {
    double warps = 1;
    double now = 0, began = 0;
    std::vector<double> unit_free;
  } in_step_;
  std::vector<double> unit_free_;
  std::vector<Round> loops_;
  std::vector<Segment> segments_;
  Servers servers_;
  Served served_;  ///< of the operation
  uint32_t stage_ = 0;
  Turns turns_, first_turns_;
  double turned_ = 0, first_turned_ = 0;  ///< of these, what the segment has
  double probability_ = 1;                ///< of the segment
  double now_ = 0, began_ = 0;
  double stored_ = 0;    ///< when the last store is answered
  Ready shared_stored_;  ///< when all stores to shared memory are done
};

}  // namespace

std::vector<Segment> find_segments(const Code& code, const Parameters& parameters, const LoadLevels& levels,
                                   double warps) {
  Builder builder(code, parameters, levels, warps);
  walk_path(code, builder);
  return builder.finish();
}

}  // namespace gpusim::analysis::latency_hidden
