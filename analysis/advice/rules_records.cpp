#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "analysis/advice/rules.h"
#include "analysis/advice/traffic.h"
#include "analysis/profile/limiter.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

/// What a thread accesses at once at most.
constexpr double kWidest = 16;

/// Accesses to one field of the records that one address register points to.
struct Field {
  double executed = 0, lanes = 0, transactions = 0, moved = 0, asked = 0;
};

/// Accesses to records at one place after another, such as those of a loop.
struct Visit {
  std::map<uint64_t, Field> fields;  ///< by their offset
  uint64_t bytes = 0;                ///< that it uses of a record
};

/// Records of one array.
struct Records {
  uint64_t stride = 0;
  std::set<uint64_t> used;  ///< bytes of a record, over all kinds of accesses
  uint64_t widest = 1;      ///< access
  std::map<std::pair<std::string, std::string>, Visit> visits;  ///< by kind and register
  double moved = 0;

  /// Bytes of a record that has only what is used: one access reads a small one.
  [[nodiscard]] uint64_t packed() const {
    const uint64_t words = (used.size() + widest - 1) / widest * widest;
    return words <= 16 ? std::bit_ceil(words) : (words + 15) / 16 * 16;
  }
};

/// The register of "ld.global.f32 %f1, [%rd5+28]".
std::string address_register(std::string_view ptx) {
  const size_t from = ptx.find('[');
  if (from == std::string_view::npos) return {};
  return std::string(ptx.substr(from + 1, ptx.find_first_of("+]", from) - from - 1));
}

bool of_records(const Facts& f, uint64_t pc) {
  const AddressOrigin& o = f.origin(pc);
  return is_global(f.op_class(pc)) && f.executed(pc) > 0 && o.of_data && o.bytes > 0 && o.stride > o.bytes &&
         o.offset + o.bytes <= o.stride;
}

std::map<std::pair<std::string, uint64_t>, Records> records_of(const Facts& f) {
  std::map<std::pair<std::string, uint64_t>, Records> all;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (!of_records(f, pc)) continue;
    const AddressOrigin& o = f.origin(pc);
    Records& r = all[{o.base, o.stride}];
    r.stride = o.stride;
    r.widest = std::max(r.widest, o.bytes);
    for (uint64_t byte = 0; byte < o.bytes; ++byte) r.used.insert(o.offset + byte);
    Visit& v =
        r.visits[{std::string(f.op_class(pc)), address_register(text_cell(f.kernel().per_pc, "ptx", pc))}];
    const auto [field, first] = v.fields.try_emplace(o.offset);
    if (first) v.bytes += o.bytes;
    field->second.executed += f.executed(pc);
    field->second.lanes += f.count("active_lanes", pc);
    field->second.transactions += f.count("transactions", pc);
    field->second.moved += f.count("transferred_bytes", pc);
    field->second.asked += f.count("requested_bytes", pc);
    r.moved += f.count("transferred_bytes", pc);
  }
  std::erase_if(all, [](const auto& r) { return r.second.packed() >= r.second.stride; });
  return all;
}

/// Pieces of memory, such as lines, that some of a number of neighbouring records lie in.
double pieces(double chosen, double neighbours, double in_a_piece) {
  if (in_a_piece <= 1) return chosen;
  return std::max(
      chosen / in_a_piece,
      neighbours / in_a_piece * (1 - std::pow(1 - std::min(1.0, chosen / neighbours), in_a_piece)));
}

/// How many neighbouring records the chosen ones are some of, if they lie in so many pieces.
double neighbours_of(double chosen, double found, double in_a_piece) {
  double least = chosen, most = chosen * (1 << 20);
  if (in_a_piece <= 1) return most;  // nothing shows it: far apart
  constexpr int kSteps = 60;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = std::sqrt(least * most);
    (pieces(chosen, middle, in_a_piece) < found ? least : most) = middle;
  }
  return most;
}

/// What a visit's accesses do now, and with packed records.
struct Moves {
  double transactions = 0, moved = 0, asked = 0;
  double first_transactions = 0, first_moved = 0;  ///< of one of its accesses: an L1 can have the others
};
struct Change {
  Moves before, after;
};
Change packed(const Facts& f, const Records& r, const Visit& v) {
  Change c;
  double executed = 0, accesses = 0, lanes = 0;
  for (const auto& [offset, field] : v.fields) {
    c.before.transactions += field.transactions;
    c.before.moved += field.moved;
    c.before.asked += field.asked;
    executed = std::max(executed, field.executed);
    accesses += field.executed;
    lanes += field.lanes;
  }
  const auto record = static_cast<double>(r.packed()), stride = static_cast<double>(r.stride);
  // Of one access of a warp, or of a half warp.
  const double requests = f.requests_per_warp();
  const double lines = c.before.transactions / accesses / requests;
  const double chosen =
      std::max(1.0, std::min(lanes / accesses / requests, lines * std::max(1.0, kLine / stride)));
  const double neighbours = neighbours_of(chosen, lines, kLine / stride);
  const double times = std::min<double>(static_cast<double>(v.fields.size()),
                                        std::ceil(static_cast<double>(v.bytes) / kWidest));
  c.after.first_transactions =
      executed * requests * std::min(lines, pieces(chosen, neighbours, kLine / record));
  c.after.first_moved = executed * requests * kSector * pieces(chosen, neighbours, kSector / record);
  c.after.transactions = std::min(c.before.transactions, times * c.after.first_transactions);
  c.after.moved = std::min(c.before.moved, times * c.after.first_moved);
  c.after.asked = c.before.asked;
  return c;
}

/// Bytes that DRAM reads when `before`, which the L2 is asked for, become `after`, of `smaller` times as much
/// memory. What random accesses find in the L2 is the share of their memory that fits it.
double dram_read(const Facts& f, double before, double after, double smaller) {
  const double read = f.counter("dram_read_bytes"), all = kSector * f.counter("l2_read_sectors");
  if (all <= 0) return read * ratio(after, before);
  const double of_these = read * std::min(1.0, before / all);
  const double hits = kSector * (f.counter("l2_read_hit_sectors") + f.counter("l2_merged_misses"));
  const double found = std::min(0.9, hits / std::max(1.0, before)), finds = std::min(1.0, found / smaller);
  const double missed = of_these / std::max(1.0, before) / (1 - found);
  const double once = found > 0 ? static_cast<double>(f.machine().l2.bytes) * smaller / found : after;
  const double again = std::max(missed * after * (1 - finds), finds >= 1 ? std::min(after, once) : 0.0);
  return read - of_these + std::min(of_these, again);
}

}  // namespace

std::optional<Proposal> packing(const Facts& f) {
  const auto all = records_of(f);
  if (all.empty()) return std::nullopt;
  const Traffic now = recorded_traffic(f);
  Traffic then = now;
  Moves before, after;
  double smaller = 0, before_moved = 0, not_stored = 0;
  const Records* largest = nullptr;
  for (const auto& [where, r] : all) {
    if (largest == nullptr || r.moved > largest->moved) largest = &r;
    for (const auto& [kind, visit] : r.visits) {
      const bool load = kind.first == "load_global";
      const Change c = packed(f, r, visit);
      add(then, kind.first, c.after.transactions - c.before.transactions, c.after.moved - c.before.moved, 0);
      if (!load) {
        not_stored += c.before.moved - c.after.moved;
        continue;
      }
      before.transactions += c.before.transactions;
      before_moved += c.before.moved;
      after.first_transactions += c.after.first_transactions;
      after.first_moved += c.after.first_moved;
      smaller += c.before.moved * static_cast<double>(r.packed()) / static_cast<double>(r.stride);
    }
  }
  smaller = before_moved > 0 ? smaller / before_moved : 1;
  // Of what leaves an SM, the others' accesses are those that they make, as far as an L1 does not have them.
  const double l2_reads = kSector * f.counter("l2_read_sectors");
  const bool counted = l2_reads > 0 && f.counter("noc_requests") > 0;
  Traffic asked = now, asks = then;
  double these = before_moved;
  if (counted) {
    const double others = now.load_transactions - before.transactions;
    const double requests =
        std::max(after.first_transactions, f.counter("noc_requests") - now.store_transactions - others);
    these = std::max(after.first_moved, l2_reads - (now.load_bytes - before_moved));
    asked.load_transactions = others + requests;
    asked.load_bytes = now.load_bytes - before_moved + these;
    asks.load_transactions = others + after.first_transactions;
    asks.load_bytes = now.load_bytes - before_moved + after.first_moved;
  }
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) {
    return of_records(f, pc) && all.contains({f.origin(pc).base, f.origin(pc).stride})
               ? f.count("transferred_bytes", pc)
               : 0.0;
  });
  if (p.pc == f.operations()) return std::nullopt;
  p.what = fmt::format(
      "keep the {} bytes that are used here of a record of {} in an array of their own, {} bytes a record{}: "
      "which records are used is a matter of the data, but what lies beside a field is not",
      largest->used.size(), largest->stride, largest->packed(),
      largest->used.size() > largest->widest ? ", and access them together" : "");
  p.counter = "bytes of a record that are used, where loaded values say which record";
  p.unit = fmt::format("of {}", largest->stride);
  p.value = static_cast<double>(largest->used.size());
  p.after = f.estimator().recorded();
  set_sm_traffic(now, then, p.after);
  set_network_traffic(f, asked, asks, p.after);
  p.after.burst = std::max(1.0, p.after.burst * ratio(then.transactions(), now.transactions()));
  const double l2_asked = counted ? after.first_moved : then.load_bytes - (now.load_bytes - before_moved);
  set_dram(f, dram_read(f, these, l2_asked, smaller),
           f.counter("dram_write_bytes") * ratio(now.store_bytes - not_stored, now.store_bytes), p.after);
  return p;
}

bool has_no_order(const Facts& f, uint64_t pc) {
  const AddressOrigin& o = f.origin(pc);
  return o.of_data || o.of_fraction || o.of_mixture;
}

std::optional<LeftAside> left_aside(const Facts& f) {
  const auto extra = [&](uint64_t pc) {
    return is_global(f.op_class(pc)) && !f.polls(pc) && has_no_order(f, pc)
               ? f.count("transferred_bytes", pc) - least_of(f, pc).bytes
               : 0.0;
  };
  const Traffic all = recorded_traffic(f);
  double more = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) more += extra(pc);
  if (more < kWorthwhile * (all.load_bytes + all.store_bytes)) return std::nullopt;
  LeftAside l;
  l.pc = f.largest(extra);
  if (l.pc == f.operations()) return std::nullopt;
  l.sectors = f.count("transferred_bytes", l.pc) / kSector / std::max(1.0, f.executed(l.pc));
  l.least = least_of(f, l.pc).bytes / kSector / std::max(1.0, f.executed(l.pc));
  if (f.origin(l.pc).of_data) {
    l.what = "the order of accesses whose places follow from loaded values";
    l.hint = "another order of the data, or of the work on them, can bring them together";
  } else if (f.origin(l.pc).of_mixture) {
    l.what = "the order of accesses at places that are mixed, as hashes and random numbers are";
    l.hint =
        "what is found there can be kept in shared memory if it is small, or work be sorted by its place";
  } else {
    l.what = "the order of accesses whose places follow from numbers with fractions";
    l.hint = "blocks of another shape, or a texture, can bring together what lies side by side";
  }
  l.counter = fmt::format("sectors per request: {:.4g} sectors of 32 bytes (at least {:.1f} needed)",
                          l.sectors, l.least);
  return l;
}

std::optional<LeftAside> left_aside_banks(const Facts& f) {
  const auto of_data = [&](uint64_t pc) { return banks_of_data(f, pc); };
  const double replays = f.sum("replays", of_data);
  if (replays <= 0 || replays < kWorthwhile * f.sum("executed", of_data)) return std::nullopt;
  LeftAside l;
  l.pc = f.largest([&](uint64_t pc) { return of_data(pc) ? f.count("replays", pc) : 0.0; });
  l.what = "bank conflicts at places in shared memory that follow from loaded values";
  l.hint =
      "several copies of a table, each for a few lanes and beginning in another bank, or smaller words part "
      "them";
  l.counter = fmt::format("further steps of shared memory for each access: {:.4g} steps",
                          f.count("replays", l.pc) / std::max(1.0, f.executed(l.pc)));
  return l;
}

bool tries_to_lock(const Facts& f, uint64_t pc) {
  // Others leave the word as it is: adding 0 is a way of reading.
  const std::string_view opcode = f.statement(pc).opcode;
  return f.op_class(pc) == "atom_global" && f.polls(pc) &&
         (opcode.find(".cas.") != opcode.npos || opcode.find(".exch.") != opcode.npos);
}

std::optional<LeftAside> left_aside_blocks(const Facts& f) {
  const std::optional<BlocksThatWait> w = blocks_that_wait(f.kernel(), f.machine());
  if (!w) return std::nullopt;
  LeftAside l;
  l.pc = w->asks;
  l.what = "blocks that wait for other blocks";
  l.hint =
      "fewer turns take less: more work for a block, or a warp that looks at what many blocks before have "
      "written, each of "
      "which writes its own part at once instead of waiting";
  if (tries_to_lock(f, l.pc)) {
    l.what = "threads that wait for a lock";
    l.hint =
        "sums, counts and maxima need none: atomic operations do each of them at once where the word is; "
        "and of what a block or a warp has to change, one thread can change all while it holds the lock";
  }
  l.counter =
      fmt::format("times that warps ask for what another block is to write: {:.0f} each wait", w->times);
  return l;
}

}  // namespace gpusim::analysis::advice
