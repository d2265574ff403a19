// Threads that access a few bytes each: neighbouring ones of several threads can be one access of one thread.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "analysis/advice/rules.h"
#include "analysis/advice/traffic.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

constexpr uint64_t kMostBytes = 16;  ///< bytes of a thread's access
constexpr uint64_t kWord = 4;        ///< bytes, which one operation works on
constexpr double kInLoop = 2;        ///< executions by a warp from which on an operation is in a loop

/// Accesses of threads in the order of the grid, each to an element of an array.
bool is_narrow(const Facts& f, uint64_t pc) {
  const AddressOrigin& o = f.origin(pc);
  return is_global(f.op_class(pc)) && f.executed(pc) > 0 && o.contiguous && o.bytes > 0 &&
         o.bytes < kMostBytes;
}

/// Bytes of the records of an array that a thread accesses: those of all accesses at multiples of these bytes
/// from its beginning.
double used_of_record(const Facts& f, const AddressOrigin& record) {
  std::set<uint64_t> used;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const AddressOrigin& o = f.origin(pc);
    if (!is_global(f.op_class(pc)) || o.base != record.base || o.stride != record.stride) continue;
    for (uint64_t byte = 0; byte < o.bytes; ++byte) used.insert(o.offset % o.stride + byte);
  }
  return static_cast<double>(used.size());
}

/// Elements of less than a word that lie side by side for the lanes of a warp, as the counts show, wherever
/// the program says that they begin: neighbours of a point, with borders, or fields of records that are used
/// whole, as the colours of a pixel. Words have them.
bool is_part_of_words(const Facts& f, uint64_t pc) {
  const AddressOrigin& o = f.origin(pc);
  if (!is_global(f.op_class(pc)) || f.executed(pc) <= 0 || o.bytes == 0 || o.bytes >= kWord) return false;
  if (o.of_data || o.begins_of_data || o.of_fraction || o.of_mixture || o.of_loop) return false;
  if (!o.of_block || !o.of_lane || o.base.empty()) return false;
  const bool field = o.stride > o.bytes;
  if (field && (o.stride > kMostBytes || used_of_record(f, o) < static_cast<double>(o.stride))) return false;
  const double requests = f.executed(pc) * f.requests_per_warp();
  const double span = f.count("requested_bytes", pc) / requests *
                      (field ? static_cast<double>(o.stride) / static_cast<double>(o.bytes) : 1);
  // They begin anywhere in a sector.
  return f.count("transferred_bytes", pc) <= requests * kSector * (std::ceil(span / kSector) + 1);
}

double each_warp(const Facts& f, uint64_t pc) { return f.executed(pc) / f.warps(); }

struct Narrow {
  bool loop = false;   ///< a loop goes over the arrays, instead of a thread for each element
  bool words = false;  ///< words have them, with neighbours or fields of the same array
  uint64_t bytes = 0;  ///< of the widest one
  uint64_t pc = 0;     ///< the one that is executed most
};

bool is_narrow(const Facts& f, const Narrow& n, uint64_t pc) {
  return is_narrow(f, pc) || (n.words && is_part_of_words(f, pc));
}

/// Nothing if other accesses to global memory matter, if neighbours of an element are accessed as well that
/// are no parts of words, or if threads of a block hand elements to each other.
std::optional<Narrow> narrow_accesses(const Facts& f) {
  constexpr double kNearlyAll = 0.9;
  double narrow = 0, all = 0, most = 0;
  Narrow n;
  std::set<std::string> loaded;
  bool again = false, whole = false;  // of an array that was loaded from; accesses that are no part of a word
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const std::string_view c = f.op_class(pc);
    if (is_global(c) || c == "atom_global" || c == "load_local" || c == "store_local") all += f.executed(pc);
    const bool part = is_part_of_words(f, pc);
    if (!is_narrow(f, pc) && !part) continue;
    n.words = n.words || !is_narrow(f, pc);
    whole = whole || !part;
    narrow += f.executed(pc);
    n.bytes = std::max(n.bytes, f.origin(pc).bytes);
    if (f.executed(pc) > most) most = f.executed(pc), n.pc = pc;
    again = again || (is_load(c) && (f.origin(pc).base.empty() || !loaded.insert(f.origin(pc).base).second));
  }
  n.words = n.words || again;
  if (n.words && whole) return std::nullopt;
  if (narrow <= 0 || narrow < kNearlyAll * all) return std::nullopt;
  n.loop = each_warp(f, n.pc) >= kInLoop;
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (f.op_class(pc) == "barrier" && f.executed(pc) * kInLoop > most) return std::nullopt;
  return n;
}

/// Arithmetic on one value of 16 bits: an operation can do two.
bool is_single_half(const Facts& f, uint64_t pc) {
  return f.op_class(pc) == "half" &&
         text_cell(f.kernel().per_pc, "ptx", pc).find("16x2") == std::string::npos;
}
bool has_single_halves(const Facts& f, const Narrow& n) {
  return n.bytes == 2 && f.sum("executed", [&](uint64_t pc) { return is_single_half(f, pc); }) > 0;
}

/// The kernel with `times` elements in each access.
Work with_wide_accesses(const Facts& f, const Narrow& n, double times) {
  Work after = f.estimator().recorded();
  const auto changes = [&](uint64_t pc) { return !n.loop || each_warp(f, pc) >= kInLoop; };
  std::map<std::string, double> less, all;
  const bool halves = has_single_halves(f, n);
  const Traffic before = recorded_traffic(f);
  Traffic traffic;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const std::string_view c = f.op_class(pc);
    const double executed = f.executed(pc), cycles = executed * f.pipe_cycles(c),
                 slots = f.count("slots_issued", pc);
    const bool narrow = is_narrow(f, n, pc);
    // What is done with an element is done as often as now; addresses, comparisons and branches are for all
    // of an access.
    const bool once = changes(pc) && (narrow || !f.uses_data(pc));
    all[f.pipe_of(c)] += cycles;
    all["issue"] += slots;
    // For each element, how much is left.
    const double left = once ? 1 / times : halves && changes(pc) && is_single_half(f, pc) ? 0.5 : 1;
    less[f.pipe_of(c)] += (1 - left) * cycles;
    less["issue"] += (1 - left) * slots;
    const double wait = after.chain[pc], issue = left * each_warp(f, pc) * f.issue_cycles();
    if (n.loop && changes(pc)) after.chain[pc] /= times;
    // Elements of one access wait beside each other, and only follow each other when they issue.
    if (!once)
      after.chain[pc] = std::min(n.loop ? wait : times * wait,
                                 after.chain[pc] + (n.loop ? 1 - 1 / times : times - 1) * issue);
    if (narrow && f.origin(pc).bytes < 4 && !halves) {
      // Elements of less than a register are taken out of it, or put into it.
      less[f.pipe_of("int")] -= executed * f.pipe_cycles("int");
      less["issue"] -= executed;
      after.chain[pc] += (n.loop ? 1 : times) * issue;
    }
    if (!in_memory(c)) continue;
    double transactions = f.count("transactions", pc);
    if (narrow) transactions = std::max(transactions / times, f.count("transferred_bytes", pc) / kLine);
    add(traffic, c, transactions, f.count("transferred_bytes", pc), f.count("requested_bytes", pc));
  }
  for (const auto& [unit, work] : less)
    if (const auto at = all.find(unit); at != all.end() && at->second > 0)
      after.scale(unit, 1 - work / at->second);
  set_traffic(f, before, traffic, after);
  if (!n.loop) {
    after.scale("dispatcher", 1 / times);
    after.rounds = std::max(1.0, after.rounds / times);
  }
  return after;
}

}  // namespace

std::optional<Proposal> wide_accesses(const Facts& f) {
  constexpr double kWorthIt = 0.97;  // more registers and fewer threads, for no more than this
  const std::optional<Narrow> n = narrow_accesses(f);
  if (!n) return std::nullopt;
  double best = HUGE_VAL;
  uint64_t times = 0;
  Proposal p;
  for (const uint64_t t : {2, 4, 8, 16}) {
    if (t * n->bytes > (n->words ? kWord : kMostBytes)) break;
    Work after = with_wide_accesses(f, *n, static_cast<double>(t));
    const double cycles = f.estimator().cycles(after);
    if (cycles > kWorthIt * best) continue;
    best = cycles;
    times = t;
    p.after = std::move(after);
  }
  if (times == 0) return std::nullopt;
  p.pc = n->pc;
  const char* const of = n->loop ? "turns of the loop" : "threads";
  p.what = n->words ? fmt::format(
                          "let a thread load and store words of {0} bytes, with the words beside them where "
                          "neighbours are needed, and do the work of {1} of the present {2} on the {1} "
                          "elements of a word",
                          times * n->bytes, times, of)
                    : fmt::format(
                          "let a thread access {} neighbouring elements at once, as one vector of {} bytes "
                          "(uchar4, float4, ...), and do the work of {} of the present {}",
                          times, times * n->bytes, times, of);
  if (has_single_halves(f, *n)) p.what += ", with arithmetic on pairs (__half2, __hfma2, ...)";
  p.counter = "bytes that a thread accesses at once";
  p.unit = fmt::format("bytes (up to {})", n->words ? kWord : kMostBytes);
  p.value = static_cast<double>(n->bytes);
  return p;
}

}  // namespace gpusim::analysis::advice
