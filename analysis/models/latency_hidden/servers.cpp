#include "analysis/models/latency_hidden/servers.h"

#include <algorithm>
#include <cmath>

namespace gpusim::analysis::latency_hidden {

using isa::MicroOp;
using isa::OpKind;

Servers::Servers(const Code& code, const Parameters& parameters, const LoadLevels& levels)
    : code_(code), p_(parameters), levels_(levels) {
  if (p_.cache_sector <= 0) return;
  reuse_ = own_reuse(code, p_.cache_sector);
  if (reuse_.transactions > 0) hits_ = hits_of(reuse_, levels);
  set_own_hits();
  set_cold();
}

/// The run's hits are of sectors that the warp has had first of all; the others' are what is left.
Servers::Hits Servers::hits_of(const OwnReuse& reuse, const LoadLevels& levels) {
  const double left = reuse.transactions - reuse.reused - reuse.riding;
  const auto split = [](double hits, double own, double others, double& of_own, double& of_others) {
    of_own = own > 0 ? std::min(1.0, hits / own) : 1;
    of_others = others > 0 ? std::clamp((hits - own) / others, 0.0, 1.0) : of_own;
  };
  Hits h;
  split(levels.l1_share * reuse.transactions, reuse.reused, left, h.own, h.others);
  split(levels.l2_share * reuse.transactions, (1 - h.own) * reuse.reused, (1 - h.others) * left, h.own_second,
        h.others_second);
  return h;
}

/// What a warp has just loaded is most likely still there: hits are of the nearest loads first.
void Servers::set_own_hits() {
  double left = hits_.own * reuse_.reused;
  for (const auto& [since, transactions] : reuse_.reused_since) {
    own_hits_[since] = transactions > 0 ? std::min(1.0, left / transactions) : hits_.own;
    left = std::max(0.0, left - transactions);
  }
}

/// What memory read is what the stages' loads are the first to ask for, one stage after the other.
void Servers::set_cold() {
  double left = levels_.of_memory;
  for (const double distinct : reuse_.distinct) {
    cold_.push_back(distinct > 0 ? std::min(1.0, left / distinct) : 1);
    left = std::max(0.0, left - distinct);
  }
  // What else the L2 lacked is of loads that go where data say.
  double others = levels_.beyond_l2;
  for (const double distinct : reuse_.distinct) others -= distinct;
  if (reuse_.by_data > 0) cold_by_data_ = std::clamp(others / reuse_.by_data, 0.0, 1.0);
  double fresh = 0, warm = 0;
  for (const OwnReuse::Visit& v : reuse_.visits) {
    fresh += v.fresh;
    warm += v.fresh - cold_[v.stage] * v.first;
  }
  if (warm > 0) warm_hits_ = std::min(1.0, hits_.others * fresh / warm);
}

Served Servers::next(const MicroOp& op, uint32_t pc) {
  Served by = levels_of(op, pc);
  if (is_long(op) && op.kind != OpKind::kStore && by.none_memory < 1) {
    by.later = wait_for_refresh(by.missed, p_.refresh, p_.refreshed);
  }
  return by;
}

Served Servers::levels_of(const MicroOp& op, uint32_t pc) {
  if (!is_long(op) || op.kind == OpKind::kStore) return {};
  double n = std::max(1.0, transactions_of(code_.counts[pc]));
  const double second = levels_.l1_share < 1 ? levels_.l2_share / (1 - levels_.l1_share) : 0;
  const auto all = [&n](double hits, double behind) {
    const double known = std::min(1.0, hits + (1 - hits) * behind), none = std::pow(known, n);
    return Served{std::pow(hits, n), none, hits, none < 1 ? n * (1 - known) / (1 - none) : 1};
  };
  // The L2 performs atomics, which warps also use to look at flags until another block has set them: what it
  // has of their words is not what it has of all that is loaded.
  if (op.kind == OpKind::kAtomic) return all(0, levels_.l2_share_of_atomics);
  if (p_.cache_sector <= 0) return all(levels_.l1_share, second);
  if (op.memory.bypasses_l1) return all(0, second);
  if (!goes_through_cache(op) || visited_ >= reuse_.visits.size()) return all(levels_.l1_share, second);
  const OwnReuse::Visit& visit = reuse_.visits[visited_++];
  if (visit.alike) n = 1;
  const auto near = own_hits_.find(visit.since);
  const double own_hits = near == own_hits_.end() ? hits_.own : near->second;
  const auto mixed = [&](double own, double others) {
    return (1 - visit.fresh) * own + visit.fresh * others;
  };
  if (!visit.computed) {  // lanes go where their data say, each by itself
    const double hits = mixed(own_hits, hits_.others);
    // What lanes that go apart find in a cache is what others, or the warp itself, had brought there: all
    // of a load's transactions miss while it is new, and hit later.
    const OpCounts& c = code_.counts[pc];
    const double known = c.transferred > 2 * c.requested ? 1 - cold_by_data_ : 0;
    const double behind = std::max(
        known - hits, mixed((1 - own_hits) * hits_.own_second, (1 - hits_.others) * hits_.others_second));
    Served each = all(hits, hits < 1 ? behind / (1 - hits) : 0);
    const Served own = all(own_hits, hits_.own_second), others = all(hits_.others, hits_.others_second);
    // ... or side by side: nothing tells.
    each.all_l1 = (each.all_l1 + mixed(own.all_l1, others.all_l1)) / 2;
    const double beside = std::max(known, mixed(own.none_memory, others.none_memory));
    const double some = 2 - each.none_memory - beside;
    if (some > 0) each.missed = ((1 - each.none_memory) * each.missed + (1 - beside) * n) / some;
    each.none_memory = (each.none_memory + beside) / 2;
    return each;
  }
  const Served own = all(own_hits, hits_.own_second), others = all(hits_.others, hits_.others_second);
  // Of warps that share data and have begun together one is the first to come to them, and waits for them
  // longest; those behind it find them in a cache and catch up, but pass it only to be the first
  // themselves.
  const double cold = visit.fresh > 0 ? cold_[visit.stage] * visit.first / visit.fresh : 0;
  const Served leader{(1 - cold) * std::pow(warm_hits_, n), 1 - cold, others.hits, n};
  const auto of = [&](double Served::*m) {
    return mixed(own.*m, levels_.first_round * leader.*m + (1 - levels_.first_round) * others.*m);
  };
  return {of(&Served::all_l1), of(&Served::none_memory), of(&Served::hits), of(&Served::missed)};
}

}  // namespace gpusim::analysis::latency_hidden
