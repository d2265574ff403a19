// Arithmetic that takes long, and what does the same or nearly the same sooner.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/advice/exact_functions.h"
#include "analysis/advice/ptx_text.h"
#include "analysis/advice/rules.h"
#include "analysis/advice/traffic.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

using Chosen = std::function<bool(uint64_t)>;

/// So many operations of a class more, or fewer, in the work of their pipes.
void add_operations(const Facts& f, std::string_view op_class, double operations, Work& work) {
  // Where several pipes execute a class, they share its operations.
  std::vector<std::pair<std::string, double>> pipes;
  for (const auto& pipe : f.machine().pipes)
    if (const auto at = pipe.interval.find(std::string(op_class)); at != pipe.interval.end())
      pipes.emplace_back("pipe_" + pipe.name, static_cast<double>(at->second));
  for (const auto& [pipe, cycles] : pipes) {
    const UnitLoad* u = f.kernel().unit(pipe);
    if (u == nullptr) continue;
    // Of the busiest instance, for one of all.
    const double busiest = operations * cycles / static_cast<double>(pipes.size()) /
                           static_cast<double>(std::max<uint64_t>(1, u->instances)) *
                           (u->busy > 0 && u->mean() > 0 ? u->peak() / u->mean() : 1);
    double& there = work.units[pipe];
    there = std::max(0.0, there + busiest);
  }
}

void take_issue_slots(const Facts& f, double slots, Work& work) {
  const double fewer = slots * f.issue_cycles();
  if (const auto at = work.units.find("issue"); at != work.units.end())
    at->second = std::max(0.0, at->second - f.estimator().recorded().units.at("issue") * fewer /
                                                std::max(1.0, f.work("issue")));
}

/// Work of chosen operations of one class, if they were of others that are executed one after the other.
void replace(const Facts& f, std::string_view from, const Chosen& also,
             std::initializer_list<std::string_view> to, Work& work) {
  const auto chosen = [&](uint64_t pc) { return f.op_class(pc) == from && also(pc); };
  const double executed = f.sum("executed", chosen);
  if (executed <= 0) return;
  add_operations(f, from, -executed, work);
  double latency = 0;
  for (const std::string_view c : to) {
    add_operations(f, c, executed, work);
    latency += f.latency(c);
  }
  take_issue_slots(f, f.sum("slots_issued", chosen) - executed * static_cast<double>(to.size()), work);
  // Waits for its result stand at the operation behind it.
  const double was = std::max(1.0, f.latency(from));
  for (uint64_t pc = 0; pc + 1 < f.operations(); ++pc)
    if (chosen(pc)) work.chain[pc + 1] *= std::min(1.0, latency / was);
}

/// The same of a function's sequence.
void replace(const Facts& f, const ExactFunction& function, Work& work) {
  double slots = 0, waits = 0, latency = 0;
  for (const uint64_t pc : function.operations) {
    add_operations(f, f.op_class(pc), -f.executed(pc), work);
    slots += f.count("slots_issued", pc);
    waits += std::exchange(work.chain[pc], 0);
  }
  for (const std::string_view c : function.instead) {
    add_operations(f, c, function.executed, work);
    latency += f.latency(c);
  }
  take_issue_slots(f, slots - function.executed * static_cast<double>(function.instead.size()), work);
  work.chain[function.operations.back()] = std::min(waits, latency * function.executed / f.warps());
}

void replace_class(const Facts& f, std::string_view from, std::initializer_list<std::string_view> to,
                   Work& work) {
  replace(
      f, from, [](uint64_t) { return true; }, to, work);
}

/// Operand `number` of a statement, from 0.
std::string_view operand(std::string_view ptx, size_t number) {
  constexpr std::string_view kBlank = " \t;";
  size_t at = ptx.find_first_of(kBlank);
  if (at == std::string_view::npos) return {};
  ptx.remove_prefix(at);
  for (; number > 0; --number) {
    at = ptx.find(',');
    if (at == std::string_view::npos) return {};
    ptx.remove_prefix(at + 1);
  }
  ptx = ptx.substr(0, ptx.find(','));
  const size_t first = ptx.find_first_not_of(kBlank), last = ptx.find_last_not_of(kBlank);
  return first == std::string_view::npos ? std::string_view() : ptx.substr(first, last - first + 1);
}

/// Roots of which only the reciprocal is used, nearby: one operation, rsqrt, gives that.
struct ReciprocalRoots {
  std::set<uint64_t> roots, reciprocals, divisions;
};
ReciprocalRoots reciprocal_roots(const Facts& f) {
  constexpr uint64_t kNear = 8;
  ReciprocalRoots found;
  const auto text = [&](uint64_t pc) -> std::string_view { return text_cell(f.kernel().per_pc, "ptx", pc); };
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (f.op_class(pc) != "fp32_sqrt_rn") continue;
    const std::string_view root = operand(text(pc), 0);
    for (uint64_t user = pc + 1; !root.empty() && user < std::min(f.operations(), pc + 1 + kNear); ++user) {
      const std::string_view c = f.op_class(user);
      if (c == "fp32_rcp_rn" && operand(text(user), 1) == root)
        found.reciprocals.insert(user);
      else if (c == "fp32_div_rn" && operand(text(user), 2) == root)
        found.divisions.insert(user);
      else
        continue;
      found.roots.insert(pc);
      break;
    }
  }
  return found;
}

/// Calls fn with each register that a statement writes, one or those in braces.
template <class Fn>
void for_each_written(std::string_view ptx, Fn fn) {
  constexpr std::string_view kEnds = " \t,;|}";
  if (ptx.starts_with('@')) ptx.remove_prefix(std::min(ptx.size(), ptx.find_first_of(" \t") + 1));
  ptx.remove_prefix(std::min(ptx.size(), ptx.find_first_of(" \t")));
  const size_t first = ptx.find_first_not_of(" \t");
  if (first == std::string_view::npos) return;
  ptx = ptx.substr(first, ptx.find(ptx[first] == '{' ? '}' : ',') - first);
  for (size_t at = ptx.find('%'); at != std::string_view::npos; at = ptx.find('%', at + 1))
    fn(ptx.substr(at, ptx.find_first_of(kEnds, at) - at));
}

/// Divisions whose divisor is not written as often as they divide: a compiler makes its reciprocal once,
/// before their loop.
std::set<uint64_t> divisions_by_what_stays(const Facts& f) {
  const auto text = [&](uint64_t pc) -> std::string_view { return text_cell(f.kernel().per_pc, "ptx", pc); };
  std::unordered_map<std::string_view, double> written;  // by register, the most that one operation does
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    for_each_written(text(pc), [&](std::string_view name) {
      double& most = written[name];
      most = std::max(most, f.executed(pc));
    });
  }
  std::set<uint64_t> found;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (f.op_class(pc) != "fp32_div_rn") continue;
    const auto by = written.find(operand(text(pc), 2));
    if (by == written.end() || by->second < f.executed(pc)) found.insert(pc);
  }
  return found;
}

/// Conversions between single and double precision, of values that are no arrays' of doubles: they are none
/// when all is computed in single precision.
std::set<uint64_t> needless_conversions(const Facts& f) {
  const auto text = [&](uint64_t pc) { return text_cell(f.kernel().per_pc, "ptx", pc); };
  std::set<std::string> in_memory;  // registers that are loaded or stored
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const bool load = is_load(f.op_class(pc)), store = f.op_class(pc).starts_with("store_");
    const std::string statement = text(pc);
    if ((!load && !store) || statement.find(".f64") == std::string::npos) continue;
    const size_t address = statement.find('['), behind = statement.find(']');
    for (size_t at = statement.find('%'); at != std::string::npos; at = statement.find('%', at + 1))
      if (at < address || at > behind)
        in_memory.insert(statement.substr(at, statement.find_first_of(" ,;}", at) - at));
  }
  std::set<uint64_t> found;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const std::string statement = text(pc);
    const bool widens = statement.find(".f64.f32") != std::string::npos;
    const bool narrows = statement.find(".f32.f64") != std::string::npos;
    if (f.op_class(pc) != "cvt64" || (!widens && !narrows)) continue;
    if (!in_memory.contains(std::string(operand(statement, widens ? 0 : 1)))) found.insert(pc);
  }
  return found;
}

constexpr std::array<std::string_view, 2> kIntegerDivisions{"int_div_u32", "int_div_s32"};

/// Divisions of integers whose divisor is the same for all threads and all the time, as the program says.
std::set<uint64_t> divisions_by_what_all_share(const Facts& f) {
  std::vector<uint64_t> divisions;
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (f.executed(pc) > 0 && std::ranges::find(kIntegerDivisions, f.op_class(pc)) != kIntegerDivisions.end())
      divisions.push_back(pc);
  if (divisions.empty()) return {};
  const std::vector<std::string> statements = statements_of(f.ptx(), f.kernel().name);
  // An access at the divisor as its place: places that all threads share are no bytes apart.
  constexpr size_t kDivisor = 2;
  std::vector<std::string> accesses;
  std::erase_if(divisions, [&](uint64_t pc) {  // a function's registers are its own
    return std::ranges::find(statements, text_cell(f.kernel().per_pc, "ptx", pc)) == statements.end();
  });
  for (const uint64_t pc : divisions)
    accesses.push_back(
        fmt::format("ld.global.u8 %byte, [{}]", operand(text_cell(f.kernel().per_pc, "ptx", pc), kDivisor)));
  const std::vector<AddressOrigin> places = address_origins(statements, accesses);
  std::set<uint64_t> found;
  for (size_t i = 0; i < divisions.size(); ++i)
    if (places[i].stride == 0) found.insert(divisions[i]);
  return found;
}

}  // namespace

std::optional<Proposal> precision(const Facts& f) {
  constexpr double kBusy = 0.3;
  const std::string pipe = f.pipe_of("fp64"), converts = f.pipe_of("cvt64");
  const auto is_double = [&](uint64_t pc) { return f.op_class(pc).starts_with("fp64"); };
  const double executed = f.sum("executed", is_double);
  if (pipe.empty() || executed <= 0) return std::nullopt;
  const std::set<uint64_t> needless = needless_conversions(f);
  const auto goes = [&](uint64_t pc) { return needless.contains(pc); };
  // Of the time of the pipe of conversions, that of these.
  const double conversions =
      converts.empty() || f.work(converts) <= 0
          ? 0
          : f.busy(converts) *
                std::min(1.0, f.sum("executed", goes) * f.pipe_cycles("cvt64") / f.work(converts));
  if (std::max(f.busy(pipe), conversions) < kBusy) return std::nullopt;
  Proposal p;
  p.pc = f.largest(
      [&](uint64_t pc) { return is_double(pc) ? f.executed(pc) * f.pipe_cycles(f.op_class(pc)) : 0.0; });
  p.what = "compute in single precision what does not need more, and write its constants with an f";
  const bool mostly_converts = conversions > f.busy(pipe);
  p.counter = fmt::format(
      "busy share of the {} pipe, with {}", (mostly_converts ? converts : pipe).substr(5),
      mostly_converts ? "conversions between single and double precision" : "operations in double precision");
  p.unit = "% of the time";
  p.value = 100 * std::max(f.busy(pipe), conversions);
  p.after = f.estimator().recorded();
  replace_class(f, "fp64", {"fp32"}, p.after);
  replace_class(f, "fp64_div", {"fp32_div"}, p.after);
  replace_class(f, "fp64_sqrt", {"sfu_sqrt"}, p.after);
  replace(f, "cvt64", goes, {}, p.after);
  return p;
}

std::optional<Proposal> fast_math(const Facts& f) {
  constexpr std::array<std::string_view, 3> kExact{"fp32_div_rn", "fp32_sqrt_rn", "fp32_rcp_rn"};
  const auto exact = [&](uint64_t pc) { return std::ranges::find(kExact, f.op_class(pc)) != kExact.end(); };
  const double executed = f.sum("executed", exact);
  const std::vector<ExactFunction> functions = exact_functions(f);
  if (executed <= 0 && functions.empty()) return std::nullopt;
  Proposal p;
  const auto cycles = [&](uint64_t pc) { return f.executed(pc) * f.pipe_cycles(f.op_class(pc)); };
  p.pc = f.largest([&](uint64_t pc) { return exact(pc) ? cycles(pc) : 0.0; });
  double most = p.pc < f.operations() ? cycles(p.pc) : 0;
  p.value = f.sum("slots_issued", exact);
  p.after = f.estimator().recorded();
  std::set<std::string> names;
  std::set<uint64_t> gone;
  for (const ExactFunction& function : functions) {
    double all = 0;
    gone.insert(function.operations.begin(), function.operations.end());
    for (const uint64_t pc : function.operations) {
      all += cycles(pc);
      p.value += f.count("slots_issued", pc);
    }
    if (all > most) most = all, p.pc = function.operations.front();
    names.emplace(function.name == "__sinf" ? "__sinf or __cosf" : function.name);
    replace(f, function, p.after);
  }
  if (!gone.empty())
    leave_out(
        f, [&](uint64_t pc) { return gone.contains(pc); }, p.after);
  if (executed > 0) names.emplace("__fdividef, rsqrtf");
  p.what = fmt::format(
      "use {} or -use_fast_math, if a few units in the last place do not matter{}", fmt::join(names, ", "),
      !names.contains("__sinf or __cosf") ? ""
      : std::ranges::any_of(functions, &ExactFunction::far)
          ? ", and arguments are within a few turns: some here are so large that they take a "
            "long way of their own, so bring them into one turn first"
          : ", and arguments are within a few turns");
  p.counter = functions.empty() ? "issue slots of divisions and roots that are rounded to the nearest"
              : executed > 0    ? "issue slots of exact divisions, roots and functions"
                                : "issue slots of functions that are exact to a few units in the last place";
  p.unit = "slots";
  const ReciprocalRoots found = reciprocal_roots(f);
  const auto in = [](const std::set<uint64_t>& pcs, bool wanted) {
    return [&pcs, wanted](uint64_t pc) { return pcs.contains(pc) == wanted; };
  };
  std::set<uint64_t> products = divisions_by_what_stays(f);
  products.insert(found.divisions.begin(), found.divisions.end());
  replace(f, "fp32_sqrt_rn", in(found.roots, true), {"sfu_rsqrt"}, p.after);
  replace(f, "fp32_rcp_rn", in(found.reciprocals, true), {}, p.after);
  replace(f, "fp32_div_rn", in(products, true), {"fp32_mul"}, p.after);
  replace(f, "fp32_div_rn", in(products, false), {"sfu_rcp", "fp32_mul"}, p.after);
  replace(f, "fp32_sqrt_rn", in(found.roots, false), {"sfu_sqrt"}, p.after);
  replace(f, "fp32_rcp_rn", in(found.reciprocals, false), {"sfu_rcp"}, p.after);
  return p;
}

std::optional<Proposal> integer_division(const Facts& f) {
  const auto text = [&](uint64_t pc) -> std::string_view { return text_cell(f.kernel().per_pc, "ptx", pc); };
  const std::set<uint64_t> found = divisions_by_what_all_share(f);
  if (found.empty()) return std::nullopt;
  const auto chosen = [&](uint64_t pc) { return found.contains(pc); };
  const auto remainder = [&](uint64_t pc) { return text(pc).find("rem.") != std::string_view::npos; };
  const auto cycles = [&](uint64_t pc) { return f.executed(pc) * f.pipe_cycles(f.op_class(pc)); };
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) { return chosen(pc) ? cycles(pc) : 0.0; });
  if (p.pc == f.operations()) return std::nullopt;
  p.what =
      "divide by what is the same for all threads without a division: the host finds a factor and a shift "
      "for "
      "it, and __umulhi(x, factor) >> shift is the quotient; a template parameter lets the compiler do so, "
      "and an index of more dimensions can need no quotient";
  const std::string pipe = f.pipe_of(f.op_class(p.pc));
  double busy = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (chosen(pc) && f.pipe_of(f.op_class(pc)) == pipe) busy += cycles(pc);
  p.counter = fmt::format("busy share of the {} pipe, with divisions of integers by such values",
                          pipe.empty() ? pipe : pipe.substr(5));
  p.unit = "% of the time";
  p.value = f.work(pipe) > 0 ? 100 * f.busy(pipe) * std::min(1.0, busy / f.work(pipe)) : 0;
  p.after = f.estimator().recorded();
  // The upper half of a product and a shift; with all 32 bits the factor has one more, which takes two
  // shifts, a sum and a difference. A remainder is what the quotient's product leaves.
  for (const std::string_view c : kIntegerDivisions)
    for (const bool whole : {true, false}) {
      const auto these = [&](uint64_t pc) { return chosen(pc) && remainder(pc) != whole; };
      if (c == "int_div_s32" && whole)
        replace(f, c, these, {"int_mul", "int"}, p.after);
      else if (c == "int_div_s32")
        replace(f, c, these, {"int_mul", "int", "int_mul"}, p.after);
      else if (whole)
        replace(f, c, these, {"int_mul", "int", "int", "int", "int"}, p.after);
      else
        replace(f, c, these, {"int_mul", "int", "int", "int", "int", "int_mul"}, p.after);
    }
  return p;
}

}  // namespace gpusim::analysis::advice
