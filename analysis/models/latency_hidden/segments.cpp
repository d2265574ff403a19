#include "analysis/models/latency_hidden/segments.h"

#include <algorithm>
#include <array>

#include "analysis/models/latency_hidden/path.h"

namespace gpusim::analysis::latency_hidden {
namespace {

using isa::MicroOp;
using isa::OpClass;
using isa::OpKind;
using isa::Space;

bool is_memory(const MicroOp& op) {
  return op.kind == OpKind::kLoad || op.kind == OpKind::kStore || op.kind == OpKind::kAtomic;
}
/// Of the memory behind the SM.
bool is_long(const MicroOp& op) {
  if (op.op_class == OpClass::kTexture) return op.kind == OpKind::kLoad;
  if (!is_memory(op)) return false;
  const Space s = op.memory.space;
  return s == Space::kGlobal || s == Space::kLocal || s == Space::kGeneric;
}
bool is_shared(const MicroOp& op) {
  return op.op_class == OpClass::kSharedOperand || (is_memory(op) && op.memory.space == Space::kShared);
}

class Builder : public PathVisitor {
 public:
  Builder(const Code& code, const Parameters& parameters, const LoadLevels& levels, double warps)
      : code_(code),
        p_(parameters),
        levels_(levels),
        warps_(std::max(1.0, warps)),
        results_(code.image.num_rows + code.image.num_predicates),
        unit_free_(parameters.units.size(), 0) {
    begin(0, 1);
  }

  void operation(uint32_t pc, double probability) override {
    const MicroOp& op = code_.image.ops[pc];
    if (op.kind == OpKind::kBarrier) {
      add(pc, probability);
      issue(op, pc, probability);
      cut(pc, Wait::kBarrier, 0, probability);
      return;
    }
    if (const double ready = op.kind == OpKind::kFence ? stored_ : in_flight(op); ready > now_) {
      const double left = ready - now_;
      cut(pc, Wait::kData, left, probability);
      arrive(ready);
    } else if (stores_new_value(op)) {
      cut(pc, Wait::kStore, 0, probability);
    } else if (probability > kMore * probability_) {
      cut(pc, Wait::kJoin, 0, probability);
    }
    add(pc, probability);
    issue(op, pc, probability);
  }

  void enter_loop(double rounds) override {
    if (loops_.empty()) ++stage_;
    loops_.push_back({rounds, now_, segments_.size(), segments_.back()});
  }
  void next_round(double rounds) override {
    end_round();
    loops_.back() = {rounds, now_, segments_.size(), segments_.back()};
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
    double ready = 0;
    double issued = 0, transactions = 0;  ///< of a load
    size_t segment = ~size_t{0};          ///< in which it was computed
    bool from_memory = false;
  };
  struct Round {
    double rounds = 1;
    double from = 0;
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
    turns_ = {};
    turned_ = 0;
    for (const Round& r : loops_) {
      s.weight *= r.rounds;
      s.passes *= r.rounds;
    }
    began_ = now_;
    segments_.push_back(std::move(s));
  }

  void cut(uint32_t pc, Wait wait, double left, double probability) {
    Segment& s = segments_.back();
    s.last = pc;
    s.end = wait;
    s.chain = now_ - began_;
    s.in_turn = std::max(s.in_turn, s.compute());
    if (!s.global) s.asks = s.chain;
    s.wait = left * relative(probability);
    now_ += left;
    begin(pc, probability);
  }

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
    repeat(now_, r.from);
    repeat(s.operations, r.sums.operations);
    repeat(s.walked, r.sums.walked);
    repeat(s.paper_ilp, r.sums.paper_ilp);
    repeat(s.issue, r.sums.issue);
    repeat(s.in_turn, r.sums.in_turn);
    repeat(s.requested, r.sums.requested);
    repeat(s.read, r.sums.read);
    repeat(s.written, r.sums.written);
    repeat(s.conflicts, r.sums.conflicts);
    for (auto& [pc, n] : s.executed) {
      const auto before = r.sums.executed.find(pc);
      repeat(n, before == r.sums.executed.end() ? 0 : before->second);
    }
    for (size_t u = 0; u < s.busy.size(); ++u) repeat(s.busy[u], r.sums.busy[u]);
  }

  /// What conflicts in shared memory add to an operation.
  double conflicts_of(const MicroOp& op, const OpCounts& c) const {
    if (!is_shared(op) || c.executed <= 0) return 0;
    return std::max(0.0, c.transactions / c.executed - p_.shared_steps) * p_.shared_step;
  }

  static double transactions_of(const OpCounts& c) {
    return c.executed > 0 ? c.transactions / c.executed : 1;
  }

  double busy_of(const MicroOp& op, const OpCounts& c) const {
    const double busy = p_.of(op.op_class).busy + conflicts_of(op, c);
    if (is_long(op) && c.executed > 0 && p_.l1_bytes > 0)
      return std::max(busy, c.transferred / c.executed / p_.l1_bytes);
    return busy;
  }

  void add(uint32_t pc, double probability) {
    const MicroOp& op = code_.image.ops[pc];
    const OpCounts& c = code_.counts[pc];
    Segment& s = segments_.back();
    const double n = probability / probability_;
    s.operations += n;
    s.walked += relative(probability);
    s.executed[pc] += n;
    s.conflicts += n * conflicts_of(op, c);
    s.issue += n * p_.issue;
    s.busy[p_.of(op.op_class).unit] += n * busy_of(op, c);
    turns_.add(p_.of(op.op_class).unit, n * std::max(p_.issue, busy_of(op, c)));
    s.in_turn += turns_.time() - turned_;
    turned_ = turns_.time();
    const PaperParameters paper;
    s.paper_ilp += n * (op.op_class == OpClass::kSharedOperand ? paper.shared_operand : paper.operation);
    s.shared = s.shared || is_shared(op);
    if (!is_long(op) || c.executed <= 0) return;
    if (!s.global) s.asks = now_ - began_;
    s.global = true;
    const double beyond = op.kind == OpKind::kLoad ? 1 - levels_.l1_share : 1;
    s.busy[p_.request_unit] += n * (beyond * transactions_of(c) * p_.request + p_.translation);
    s.requested += n * c.requested / c.executed;
    (op.kind == OpKind::kStore ? s.written : s.read) += n * c.transferred / c.executed;
  }

  template <class Fn>
  static void for_each_operand(const MicroOp& op, Fn fn) {
    for (uint32_t i = 0; i < op.num_sb_reads; ++i) fn(op.sb_reads[i]);
    for (uint32_t i = 0; i < op.num_sb_writes; ++i) fn(op.sb_writes[i]);
  }

  /// When the last of its operands comes that is data of memory: that of the slowest of all their
  /// transactions.
  double in_flight(const MicroOp& op) const {
    double issued = -1, transactions = 0, ready = 0;
    std::array<double, 16> loads{};  // by when they were issued
    size_t count = 0;
    for_each_operand(op, [&](uint16_t id) {
      const Result& r = results_[id];
      if (!r.from_memory ||
          std::find(loads.begin(), loads.begin() + count, r.issued) != loads.begin() + count)
        return;
      if (count < loads.size()) loads[count++] = r.issued;
      issued = std::max(issued, r.issued);
      transactions += r.transactions;
      ready = std::max(ready, r.ready);
    });
    return issued < 0 ? 0 : std::max(ready, issued + levels_.latency(transactions));
  }

  /// A warp waits for all data that come at about the same time only once.
  void arrive(double ready) {
    for (Result& r : results_)
      if (r.from_memory && r.ready <= ready + p_.memory_latency * kAtOnce) {
        r.ready = std::min(r.ready, ready);
        r.from_memory = false;
      }
  }

  /// As the paper counts: a store to memory of what the segment computes is a segment of its own.
  bool stores_new_value(const MicroOp& op) const {
    if (op.kind != OpKind::kStore || op.memory.space != Space::kGlobal) return false;
    const int value = op.memory.has_base ? 1 : 0;
    if (op.num_src <= value || op.src[value].bank != isa::Bank::kRegister) return false;
    return results_[op.src[value].offset / isa::kRowBytes].segment == segments_.size();
  }

  void issue(const MicroOp& op, uint32_t pc, double probability) {
    const ClassCost& cost = p_.of(op.op_class);
    double at = now_;
    for_each_operand(op, [&](uint16_t id) { at = std::max(at, results_[id].ready); });
    const double busy = busy_of(op, code_.counts[pc]) * p_.units_per_class;
    at = std::max(at, unit_free_[cost.unit]);
    const bool turns = op.kind == OpKind::kBranch || op.kind == OpKind::kBarrier;
    const double next = at + (turns ? cost.latency : p_.warp_issue);
    unit_free_[cost.unit] = at + busy;
    now_ += relative(probability) * (next - now_);
    if (op.kind == OpKind::kStore && is_long(op)) stored_ = at + p_.memory_latency;
    const bool memory = is_long(op) && op.kind != OpKind::kStore;
    for (uint32_t i = 0; i < op.num_sb_writes; ++i) {
      Result& r = results_[op.sb_writes[i]];
      r.from_memory = memory;
      r.issued = at;
      r.transactions = memory ? transactions_of(code_.counts[pc]) : 0;
      r.ready = at + (memory ? levels_.latency(r.transactions) : cost.latency);
      r.segment = segments_.size();
    }
  }

  static constexpr double kAtOnce = 0.1;  ///< of the memory's latency
  static constexpr double kMore = 1.5;    ///< times as many warps
  const Code& code_;
  const Parameters& p_;
  const LoadLevels& levels_;
  double warps_;
  std::vector<Result> results_;
  std::vector<double> unit_free_;
  std::vector<Round> loops_;
  std::vector<Segment> segments_;
  uint32_t stage_ = 0;
  Turns turns_;
  double turned_ = 0;       ///< of that, what the segment has
  double probability_ = 1;  ///< of the segment
  double now_ = 0, began_ = 0;
  double stored_ = 0;  ///< when the last store is answered
};

}  // namespace

const char* wait_name(Wait wait) {
  switch (wait) {
    case Wait::kData:
      return "data";
    case Wait::kBarrier:
      return "barrier";
    case Wait::kStore:
      return "store";
    case Wait::kJoin:
      return "join";
    case Wait::kEnd:
      return "end";
  }
  return "";
}

void Turns::add(size_t unit, double busy) {
  if (unit != unit_) {
    unit_ = unit;
    before_ = last_;
    run_ = 0;
  }
  // What fits beside the last operation of the run before.
  time_ += std::max(0.0, run_ + busy - before_) - std::max(0.0, run_ - before_);
  run_ += busy;
  last_ = busy;
}

double Segment::compute() const {
  double most = issue;
  for (const double b : busy) most = std::max(most, b);
  return most;
}

double Segment::latency() const { return wait + std::max(0.0, chain - compute()); }

std::vector<Segment> find_segments(const Code& code, const Parameters& parameters, const LoadLevels& levels,
                                   double warps) {
  Builder builder(code, parameters, levels, warps);
  walk_path(code, builder);
  return builder.finish();
}

double count_of(const std::vector<Segment>& segments) {
  double n = 0;
  for (const Segment& s : segments) n += s.weight;
  return n;
}

}  // namespace gpusim::analysis::latency_hidden
