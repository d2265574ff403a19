#include "analysis/models/latency_hidden/own_reuse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "analysis/models/latency_hidden/path.h"

namespace gpusim::analysis::latency_hidden {
namespace {

using isa::Bank;
using isa::MicroOp;
using isa::OpKind;
using isa::RowRef;
using isa::Space;

/// A number as a sum of values that nothing is known of, each so many times, and a constant.
struct Linear {
  std::map<uint32_t, int64_t> terms;
  int64_t constant = 0;

  void add(const Linear& other, int64_t times) {
    for (const auto& [value, n] : other.terms)
      if ((terms[value] += times * n) == 0) terms.erase(value);
    constant += times * other.constant;
  }
  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  auto operator<=>(const Linear&) const = default;
};

bool is_integer(const MicroOp& op) {
  switch (op.op_class) {
    case isa::OpClass::kInt:
    case isa::OpClass::kInt64:
    case isa::OpClass::kIntMul24:
    case isa::OpClass::kIntMul:
    case isa::OpClass::kIntMulWide:
    case isa::OpClass::kIntMul64:
    case isa::OpClass::kSpecial:
      return true;
    case isa::OpClass::kCvt:
    case isa::OpClass::kCvt64:
      return op.type != isa::Type::kF32 && op.type != isa::Type::kF64;
    default:
      return false;
  }
}

bool is_global(const MicroOp& op) {
  return op.memory.space == Space::kGlobal || op.memory.space == Space::kGeneric;
}

class Walker : public PathVisitor {
 public:
  Walker(const Code& code, double sector) : code_(code), sector_(sector), rows_(code.image.num_rows) {
    for (const isa::LaunchConstant& c : code.image.launch_constants) launch_constants_.insert({c.row, &c});
    times_.push_back(1);
  }

  void operation(uint32_t pc, double probability) override {
    const MicroOp& op = code_.image.ops[pc];
    wait_for_operands(op);
    if (op.kind == OpKind::kBarrier || op.kind == OpKind::kFence)
      values_kept_.clear();  // others may have written meanwhile
    if (op.kind == OpKind::kLoad && op.op_class != isa::OpClass::kTexture && is_global(op))
      note_whether_again(op, pc, probability);
    if (goes_through_cache(op)) load(op, pc, probability);
    if (is_fixed_local(op)) {  // a register that was saved
      if (op.kind == OpKind::kStore && op.num_src > 0) saved_[op.memory.offset] = source(op, 0);
      const auto saved = saved_.find(op.memory.offset);
      if (op.kind == OpKind::kLoad && saved != saved_.end() && op.num_dst == 1) {
        write(op.dst[0], {saved->second, 0});
        return;
      }
    }
    if (op.kind == OpKind::kLoad && op.memory.space != Space::kParam) {
      const uint64_t issued = goes_through_cache(op) ? ++issued_ : 0;
      const Linear at = op.memory.has_base ? source(op, 0) : Linear{};
      const Traits of =
          op.guard == isa::kNoPredicate && alike_in_lanes(traits_of(at)) ? kOfData : kOfVaryingData;
      for (uint32_t i = 0; i < op.num_dst; ++i) write(op.dst[i], {new_value(of), issued});
      return;
    }
    for (uint32_t i = 0; i < op.num_dst; ++i) write(op.dst[i], {i == 0 ? result(op) : unknown(), 0});
  }
  void enter_loop(double rounds, bool /*bounded*/, bool /*only*/) override {
    if (times_.size() == 1) ++stage_;
    times_.push_back(times_.back() * rounds);
  }
  void next_round(double rounds) override { times_.back() = times_[times_.size() - 2] * rounds; }
  void leave_loop() override {
    times_.pop_back();
    if (times_.size() == 1) ++stage_;
  }

  OwnReuse found;

 private:
  struct Row {
    Linear value;
    uint64_t load = 0;  ///< number of the load whose data it has; 0: of none
  };
  /// What the warp loaded of one sum of values: constants, and the load's number.
  using Places = std::map<int64_t, uint64_t>;

  /// What a value comes of: coordinates of the block (first three) and of the thread, and loaded data.
  using Traits = uint16_t;
  static constexpr Traits kOfData = 0x40;
  static constexpr Traits kIsCoordinate = 0x80;  ///< one itself, which goes from 0 to its dimension
  static constexpr Traits kVaries = 0x100;       ///< differs from lane to lane, nothing tells how

  static constexpr Traits kOfVaryingData = kOfData | kVaries;

  /// Whether all lanes of a warp have the same value.
  [[nodiscard]] bool alike_in_lanes(Traits traits) const {
    if ((traits & kVaries) != 0) return false;
    uint64_t before = 1;  // threads until the coordinate moves on
    for (int axis = 0; axis < 3; ++axis) {
      const uint64_t size = code_.shape.block[axis];
      if ((traits & (8U << axis)) != 0 && size > 1 && before < isa::kWarpSize) return false;
      before *= size;
    }
    return true;
  }
  /// A value that nothing is known of.
  Linear new_value(Traits traits) {
    ++values_;
    return of_product({values_}, traits);
  }
  Linear unknown() { return new_value(kVaries); }
  /// The same of a result of these operations' sources: only whether lanes have the same is known.
  Linear unknown_result(const MicroOp& op) {
    bool alike = op.guard == isa::kNoPredicate &&
                 std::ranges::all_of(op.pred_src, [](uint16_t p) { return p == isa::kNoPredicate; });
    for (uint32_t i = 0; i < op.num_src; ++i) alike = alike && alike_in_lanes(traits_of(source(op, i)));
    return new_value(alike ? Traits{0} : kVaries);
  }
  /// Of the product of these values, which are sorted.
  Linear of_product(const std::vector<uint32_t>& values, Traits traits) {
    const auto [at, is_new] = products_.try_emplace(values, factors_.size());
    if (is_new) {
      factors_.push_back(values);
      traits_.push_back(traits);
    }
    Linear l;
    l.terms[at->second] = 1;
    return l;
  }
  static bool is_fixed_local(const MicroOp& op) {
    return op.memory.space == Space::kLocal && !op.memory.has_base;
  }
  /// The same for the same key.
  Linear same(std::vector<int64_t> key, Traits traits) {
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    return known_.emplace(std::move(key), new_value(traits)).first->second;
  }
  [[nodiscard]] Row& row(const RowRef& ref) {
    return rows_[std::min<size_t>(ref.offset / isa::kRowBytes, rows_.size() - 1)];
  }
  void write(const RowRef& ref, Row value) {
    if (ref.bank == Bank::kRegister && !rows_.empty()) row(ref) = std::move(value);
  }

  Linear source(const MicroOp& op, uint32_t i, bool is_shift = false) {
    const RowRef& ref = op.src[i];
    if (ref.bank == Bank::kRegister) return rows_.empty() ? unknown() : row(ref).value;
    if (launch_constants_.contains(ref.offset)) return same({-1, ref.offset}, 0);
    Linear l;
    // Factors of a product with a sum, and what a shift is by, are 32-bit.
    const bool wide = isa::type_bytes(op.type) == 8 && (op.num_src != 3 || i == 2) && !(is_shift && i == 1);
    int32_t word = 0;
    std::memcpy(&word, code_.image.literals.data() + ref.offset, sizeof word);
    l.constant = word;
    if (wide) std::memcpy(&l.constant, code_.image.literals.data() + ref.offset, sizeof l.constant);
    return l;
  }

  Linear product(const Linear& a, const Linear& b) {
    constexpr size_t kMostTerms = 64;
    if (a.terms.size() * b.terms.size() > kMostTerms)
      return new_value((traits_of(a) | traits_of(b)) & ~kIsCoordinate);
    Linear l;
    l.add(a, b.constant);
    l.add(b, a.constant);
    l.constant = a.constant * b.constant;
    for (const auto& [x, n] : a.terms)
      for (const auto& [y, m] : b.terms) {
        std::vector<uint32_t> values = factors_[x];
        values.insert(values.end(), factors_[y].begin(), factors_[y].end());
        std::ranges::sort(values);
        l.add(of_product(values, (traits_[x] | traits_[y]) & ~kIsCoordinate), n * m);
      }
    return l;
  }
  [[nodiscard]] Traits traits_of(const Linear& l) const {
    Traits traits = 0;
    for (const auto& [value, n] : l.terms) traits |= traits_[value];
    return traits;
  }
  /// Of an operation that reads a special register.
  static Traits traits_of_special(std::string_view text) {
    constexpr std::string_view kBlock = "%ctaid.", kThread = "%tid.";
    const auto axis = [&](std::string_view name, int first) -> Traits {
      const size_t at = text.find(name);
      if (at == std::string_view::npos || at + name.size() >= text.size()) return 0;
      const char c = text[at + name.size()];
      return c >= 'x' && c <= 'z' ? static_cast<Traits>(kIsCoordinate | 1U << (first + c - 'x')) : Traits{0};
    };
    if (text.find("%warpid") != std::string_view::npos) return 0x38;
    return axis(kBlock, 0) | axis(kThread, 3);
  }
  static void append(const Linear& l, std::vector<int64_t>& key) {
    key.push_back(static_cast<int64_t>(l.terms.size()));
    key.push_back(l.constant);
    for (const auto& [value, n] : l.terms) {
      key.push_back(value);
      key.push_back(n);
    }
  }

  Linear result(const MicroOp& op) {
    const bool constant_load = op.kind == OpKind::kLoad;
    if (op.guard != isa::kNoPredicate || (!constant_load && (op.kind != OpKind::kAlu || !is_integer(op))))
      return unknown_result(op);
    const std::string_view what = mnemonic_of(code_.image.ptx[op.ptx_index].text);
    const auto of = [&](uint32_t i) { return source(op, i, what == "shl" || what == "shr"); };
    if (!constant_load && op.num_src == 2 && (what == "add" || what == "sub")) {
      Linear l = of(0);
      l.add(of(1), what == "add" ? 1 : -1);
      return l;
    }
    // Also an addition that a product became part of (isa/lowering/fuse.cpp).
    if (!constant_load && op.num_src == 3 && (what == "mad" || what == "add" || what == "mad24")) {
      Linear l = product(of(0), of(1));
      l.add(of(2), 1);
      return l;
    }
    if (!constant_load && op.num_src == 2 && (what == "mul" || what == "mul24")) return product(of(0), of(1));
    if (!constant_load && op.num_src == 2 && what == "shl") {
      const Linear by = of(1);
      Linear l;
      if (by.is_constant() && by.constant >= 0 && by.constant < 32) {
        l.add(of(0), int64_t{1} << by.constant);
        return l;
      }
    }
    if (!constant_load && op.num_src == 1 && (what == "mov" || what == "cvt" || what == "cvta")) return of(0);
    std::vector<int64_t> key{-3,
                             reinterpret_cast<intptr_t>(op.exec),  // which function it is
                             op.modifiers, static_cast<int64_t>(op.imm), op.memory.offset};
    Traits traits = op.num_src == 0 ? traits_of_special(code_.image.ptx[op.ptx_index].text) : Traits{0};
    for (uint32_t i = 0; i < op.num_src; ++i) {
      const Linear l = of(i);
      append(l, key);
      traits |= traits_of(l) & ~kIsCoordinate;
    }
    for (const uint16_t p : op.pred_src)
      if (p != isa::kNoPredicate) return unknown_result(op);
    return same(std::move(key), traits);
  }

  /// Data of loads come in their order: who waits for one has those before it.
  void wait_for_operands(const MicroOp& op) {
    for (uint32_t i = 0; i < op.num_src; ++i)
      if (op.src[i].bank == Bank::kRegister && !rows_.empty())
        arrived_ = std::max(arrived_, row(op.src[i]).load);
  }

  void note_whether_again(const MicroOp& op, uint32_t pc, double probability) {
    Linear at = op.memory.has_base ? source(op, 0) : Linear{};
    at.constant += op.memory.offset;
    double& before = values_kept_[at];
    const bool again = before >= probability;
    if (op.guard == isa::kNoPredicate) before = std::max(before, probability);
    const auto [known, is_new] = found.again.emplace(pc, again);
    known->second = known->second && again;
  }

  void load(const MicroOp& op, uint32_t pc, double probability) {
    const OpCounts& c = code_.counts[pc];
    const double weight =
        times_.back() * probability * (c.executed > 0 ? std::max(1.0, c.transactions / c.executed) : 1);
    Linear at = op.memory.has_base ? source(op, 0) : Linear{};
    at.constant += op.memory.offset;
    const Traits traits = traits_of(at);
    const bool alike = alike_in_lanes(traits);
    // Data that all lanes have only moves what the lanes compute; where it is all that there is, as along a
    // chain of pointers, nothing is known.
    const bool computed = (traits & kOfData) == 0 || ((traits & kVaries) == 0 && !alike);
    const int64_t place = at.constant;
    at.constant = 0;
    uint64_t before = 0;
    const double fresh = nearest(loaded_[at], place, before) / sector_;
    loaded_[at][place] = issued_ + 1;
    at.constant = place;
    Linear of_others = without_coordinates(at);
    const int64_t other_place = of_others.constant;
    of_others.constant = 0;
    uint64_t by_whom = 0;
    const double first = nearest(loaded_by_any_[of_others], other_place, by_whom) / sector_;
    loaded_by_any_[of_others][other_place] = issued_ + 1;
    found.visits.push_back({fresh, std::min(fresh, first), computed, alike, issued_ + 1 - before, stage_});
    found.distinct.resize(stage_ + 1);
    found.transactions += weight;
    if (computed && c.executed > 0)
      // Lanes that are at one place ask for it once, whatever number of transactions that is.
      found.distinct[stage_] += times_.back() * probability * std::min(fresh, first) * c.transferred /
                                (alike ? std::max(c.executed, c.transactions) : c.executed) *
                                distinct_share(traits);
    if (!computed && c.executed > 0)
      found.by_data += times_.back() * probability * fresh * c.transferred / c.executed;
    (before > arrived_ ? found.riding : found.reused) += weight * (1 - fresh);
    if (fresh < 1 && before <= arrived_) found.reused_since[issued_ + 1 - before] += weight * (1 - fresh);
  }

  /// Bytes to the nearest place that was loaded, at most a sector. Sectors begin anywhere: one in so many
  /// steps of this length comes to the next.
  double nearest(const Places& places, int64_t place, uint64_t& load) const {
    double distance = sector_;
    const auto consider = [&](Places::const_iterator p) {
      const auto d = static_cast<double>(std::abs(p->first - place));
      if (d >= distance) return;
      distance = d;
      load = p->second;
    };
    const auto behind = places.lower_bound(place);
    if (behind != places.end()) consider(behind);
    if (behind != places.begin()) consider(std::prev(behind));
    return distance;
  }

  /// The address without what differs from warp to warp: where two loads have the same, one goes for some
  /// warp where the other goes for another. A distance that is so many steps of a coordinate is left out too,
  /// if the coordinate goes as far.
  [[nodiscard]] Linear without_coordinates(const Linear& address) const {
    constexpr Traits kCoordinates = 0x3f;
    const LaunchShape& shape = code_.shape;
    struct Step {
      std::vector<uint32_t> factors;
      int64_t length = 0, steps = 1;
    };
    std::vector<Step> steps;
    Linear rest;
    rest.constant = address.constant;
    for (const auto& [product, n] : address.terms) {
      if ((traits_[product] & kCoordinates) == 0) {
        rest.terms[product] = n;
        continue;
      }
      Step step{{}, std::abs(n), 1};
      for (const uint32_t value : factors_[product]) {
        const Traits of = traits_[products_.at({value})];
        if ((of & kCoordinates) != 0 && (of & kIsCoordinate) == 0)
          step.length = 0;  // how far it goes is not known
        if ((of & kCoordinates) == 0) step.factors.push_back(value);
        for (int axis = 0; axis < 3; ++axis) {
          if ((of & (1U << axis)) != 0) step.steps *= static_cast<int64_t>(shape.grid[axis]);
          if ((of & (8U << axis)) != 0) step.steps *= static_cast<int64_t>(shape.block[axis]);
        }
      }
      steps.push_back(std::move(step));
    }
    const auto is_so_many = [](const Step& s, int64_t n) {
      return s.length != 0 && n % s.length == 0 && std::abs(n / s.length) < s.steps;
    };
    for (const Step& s : steps) {
      if (s.factors.empty()) {
        if (is_so_many(s, rest.constant)) rest.constant = 0;
        continue;
      }
      const auto product = products_.find(s.factors);
      if (product == products_.end()) continue;
      const auto term = rest.terms.find(product->second);
      if (term != rest.terms.end() && is_so_many(s, term->second)) rest.terms.erase(term);
    }
    return rest;
  }

  /// Different addresses of an operation, for one of all warps: coordinates that the address does not have
  /// are those of warps that share it.
  [[nodiscard]] double distinct_share(Traits traits) const {
    const LaunchShape& shape = code_.shape;
    double share = 1;
    for (int axis = 0; axis < 3; ++axis)
      if ((traits & (1U << axis)) == 0) share /= static_cast<double>(std::max<uint64_t>(1, shape.grid[axis]));
    std::set<std::array<uint64_t, 3>> places;  // first threads of warps
    for (uint64_t warp = 0; warp < shape.warps_per_block; ++warp) {
      const uint64_t thread = warp * isa::kWarpSize;
      std::array<uint64_t, 3> at{thread % shape.block[0], thread / shape.block[0] % shape.block[1],
                                 thread / shape.block[0] / shape.block[1]};
      for (int axis = 0; axis < 3; ++axis)
        if ((traits & (8U << axis)) == 0) at[axis] = 0;
      places.insert(at);
    }
    return share * static_cast<double>(std::max<size_t>(1, places.size())) /
           std::max<uint32_t>(1, shape.warps_per_block);
  }

  const Code& code_;
  double sector_;
  std::vector<Row> rows_;
  std::map<uint32_t, const isa::LaunchConstant*> launch_constants_;
  std::map<std::vector<int64_t>, Linear> known_;
  std::map<std::vector<uint32_t>, uint32_t> products_;
  std::vector<std::vector<uint32_t>> factors_;  ///< of products
  std::map<Linear, Places> loaded_, loaded_by_any_;
  /// Addresses whose data the warp has had since the last barrier, and how likely it is to have had them.
  std::map<Linear, double> values_kept_;
  std::vector<double> times_;
  uint32_t values_ = 0;
  std::vector<Traits> traits_;  ///< of products
  std::map<int64_t, Linear> saved_;
  uint32_t stage_ = 0;
  uint64_t issued_ = 0, arrived_ = 0;
};

}  // namespace

bool goes_through_cache(const MicroOp& op) {
  return op.kind == OpKind::kLoad && op.op_class != isa::OpClass::kTexture && !op.memory.bypasses_l1 &&
         is_global(op);
}

OwnReuse own_reuse(const Code& code, double sector) {
  Walker walker(code, sector);
  walk_path(code, walker);
  return std::move(walker.found);
}

}  // namespace gpusim::analysis::latency_hidden
