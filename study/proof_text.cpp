#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simcore/text/json_text.h"
#include "study/prove.h"
#include "study/prove_meaning.h"

namespace gpusim::study {

namespace {

std::string gains_text(const Proof& proof) {
  std::string out;
  size_t without = 0;
  for (const Gain& g : proof.gains) {
    if (!g.refused.empty()) continue;
    if (std::abs(g.factor - 1) < 0.005) {
      ++without;
      continue;
    }
    out += fmt::format("  {:<46} {:<4} {:>14}  {:>+7.1f} %{}\n", g.change.name, g.change.effect, g.cycles,
                       100 * (g.factor - 1), meaning_of(g.change.name).compound ? "  (several units)" : "");
  }
  if (without > 0) out += fmt::format("  {} others change less than 0.5 %\n", without);
  for (const Gain& g : proof.gains)
    if (!g.refused.empty())
      out += fmt::format("  {:<46} {:<4} not possible: {}\n", g.change.name, g.change.effect, g.refused);
  return out;
}

/// What half a time would relieve, by the name of a limiter.
std::string halved_of_limiter(std::string_view named) {
  constexpr std::string_view kPipe = "pipe_";
  if (named == "issue") return "cycles between issue slots";
  if (named == "lsu") return "cycles of a transaction in the coalescer";
  return named.starts_with(kPipe) ? pipe_change(named.substr(kPipe.size())) : std::string();
}

/// What the table leaves out, for no time is shorter than a cycle.
std::string shortest_text(const Proof& proof) {
  std::vector<std::string_view> names;
  for (const Shortest& s : proof.shortest)
    if (s.all) names.push_back(s.name);
  std::string out;
  if (!names.empty()) out += fmt::format("  one cycle already, so not halved: {}\n", fmt::join(names, ", "));
  const std::string wanted = halved_of_limiter(proof.named);
  const auto at = std::ranges::find(proof.shortest, wanted, &Shortest::name);
  if (wanted.empty() || at == proof.shortest.end()) return out;
  return out + fmt::format(
                   "  what the counters name as the limiter {}: {}; a program that needs fewer of them "
                   "relieves it\n",
                   at->all ? "has no row" : "is halved in part only",
                   at->all ? wanted + " are one each" : wanted + " are one for some operations");
}

/// One command line, which a shell continues where it is folded.
std::string repeat_text(const Change& change) {
  constexpr size_t kWidth = 110;
  std::string out = "  repeat it:";
  size_t line = out.size();
  for (const std::string& set : change.sets) {
    const std::string option = fmt::format(" --set {}", set);
    if (line + option.size() > kWidth) {
      out += " \\\n            ";
      line = 12;
    }
    out += option;
    line += option.size();
  }
  return out + "\n";
}

std::string meaning_text(const Change& change) {
  const std::string_view text = meaning_of(change.name).text;
  return text.empty() ? std::string() : fmt::format("  {}\n", text);
}

/// The first that helps, of those that change one kind of unit or of those that change several.
const Gain* best_of(const Proof& proof, bool compound) {
  const auto at = std::ranges::find_if(proof.gains, [&](const Gain& g) {
    return g.refused.empty() && meaning_of(g.change.name).compound == compound;
  });
  return at == proof.gains.end() || at->factor >= 1 - kHelps ? nullptr : &*at;
}

/// Changes of one kind of unit that save as much as the best of them does, or nearly: both may be the same
/// unit, as a clock is that of all that it drives.
std::string ties_text(const Proof& proof, const Gain& best) {
  constexpr double kAlike = 0.002, kNearly = 0.95;
  std::vector<std::string_view> names;
  std::string nearly;
  for (const Gain& g : proof.gains) {
    if (&g == &best || !g.refused.empty() || meaning_of(g.change.name).compound) continue;
    if (g.factor - best.factor <= kAlike)
      names.push_back(g.change.name);
    else if (1 - g.factor >= kNearly * (1 - best.factor))
      nearly += fmt::format("and nearly as much by: {}\n", g.change.name) + meaning_text(g.change);
  }
  return (names.empty() ? std::string() : fmt::format("and as much by: {}\n", fmt::join(names, ", "))) +
         nearly;
}

/// More of a resource that makes the run slower, as much as a gain that is worth a name: then it is the order
/// of things that changed, and gains are no larger than what that alone does may be chance.
std::string order_text(const Proof& proof, const Gain* best) {
  const Gain* slowest = nullptr;
  size_t slower = 0;
  for (const Gain& g : proof.gains) {
    // Another hash of addresses is not more of anything.
    if (!g.refused.empty() || g.change.effect == kAnotherHash || g.factor < 1.005) continue;
    ++slower;
    if (slowest == nullptr || g.factor > slowest->factor) slowest = &g;
  }
  if (slowest == nullptr || slowest->factor < 1 + kHelps) return "";
  std::string out = fmt::format(
      "{} of these make the run slower, by {:.1f} % at most ({}), although none takes anything from the "
      "machine: the time also\n  depends on the order in which blocks, warps and requests go, and smaller "
      "gains may be chance; gpusim compare\n  with a run of --set {} says what took longer\n",
      slower, 100 * (slowest->factor - 1), slowest->change.name, fmt::join(slowest->change.sets, " --set "));
  if (best != nullptr && 1 - best->factor < slowest->factor - 1)
    out += "  the gain named above is smaller than that\n";
  return out;
}

}  // namespace

std::string proof_text(const Proof& proof) {
  if (proof.cycles == 0) return "interrupted before the unchanged run had ended: nothing is proved\n";
  std::string out =
      fmt::format("what would have helped: {} cycles, and with one thing changed\n", proof.cycles) +
      gains_text(proof) + shortest_text(proof);
  if (proof.missing > 0)
    out += fmt::format("interrupted: {} changes were not simulated; what follows is about the others\n",
                       proof.missing);
  if (!proof.named.empty())
    out += fmt::format("named from counters alone: {}{}\n", proof.named,
                       proof.named_text.empty() ? "" : fmt::format(" ({})", proof.named_text));
  if (proof.named == "other_blocks")
    out +=
        "  blocks take turns: what saves time below is part of a turn, and more warps hide none of it; fewer "
        "turns do "
        "(gpusim advise)\n";
  const Gain *single = best_of(proof, false), *several = best_of(proof, true);
  if (single != nullptr)
    out += fmt::format("limited most by: {}\n", single->change.name) + meaning_text(single->change) +
           repeat_text(single->change) + ties_text(proof, *single);
  else
    out += fmt::format("nothing helps alone: no single change saves {:.0f} %\n", 100 * kHelps);
  // Only where it tells more than the change of one kind does.
  if (several != nullptr && (single == nullptr || several->cycles < single->cycles))
    out += fmt::format(
               "{}{}, which changes several units at once, saves {:.1f} %; which of these is full, "
               "the counters say\n",
               several->change.effect == kTwiceAsMuch ? "twice as many " : "", several->change.name,
               100 * (1 - several->factor)) +
           meaning_text(several->change) + repeat_text(several->change);
  return out + order_text(proof, single);
}

std::string proof_json(const Proof& proof) {
  std::string out =
      fmt::format("{{\"cycles\": {}, \"named\": {}, \"not_simulated\": {}, \"one_cycle_already\": [",
                  proof.cycles, proof.named.empty() ? "null" : core::json_quoted(proof.named), proof.missing);
  for (size_t i = 0; i < proof.shortest.size(); ++i)
    out += fmt::format("{}{{\"name\": {}, \"all\": {}}}", i == 0 ? "" : ", ",
                       core::json_quoted(proof.shortest[i].name), proof.shortest[i].all);
  out += "], \"changes\": [";
  for (size_t i = 0; i < proof.gains.size(); ++i) {
    const Gain& g = proof.gains[i];
    out += fmt::format("{}{{\"name\": {}, \"effect\": \"{}\", \"set\": [", i == 0 ? "" : ", ",
                       core::json_quoted(g.change.name), g.change.effect);
    for (size_t s = 0; s < g.change.sets.size(); ++s)
      out += (s == 0 ? "" : ", ") + core::json_quoted(g.change.sets[s]);
    out += fmt::format("], \"compound\": {}, \"means\": {}", meaning_of(g.change.name).compound,
                       core::json_quoted(meaning_of(g.change.name).text));
    out += g.refused.empty()
               ? fmt::format(", \"cycles\": {}, \"factor\": {}}}", g.cycles, core::json_number(g.factor))
               : fmt::format(", \"refused\": {}}}", core::json_quoted(g.refused));
  }
  return out + "]}\n";
}

}  // namespace gpusim::study
