#include "analysis/profile/traffic_lines.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "analysis/source/source_lines.h"

namespace gpusim::analysis {
namespace {

enum class Kind : uint8_t { kNone, kLoad, kStore, kLocalStore, kAtomic };

class Accesses {
 public:
  explicit Accesses(const KernelRecord& kernel) : kernel_(kernel), t_(kernel.per_pc) {}
  [[nodiscard]] uint64_t operations() const { return t_.rows; }
  [[nodiscard]] Kind kind(uint64_t pc) const {
    const std::string_view c = text_cell(t_, "class", pc);
    if (c == "load_global" || c == "load_local" || c == "texture") return Kind::kLoad;
    if (c == "store_global") return Kind::kStore;
    if (c == "store_local") return Kind::kLocalStore;
    return c == "atom_global" ? Kind::kAtomic : Kind::kNone;
  }
  [[nodiscard]] double count(std::string_view column, uint64_t pc) const {
    return t_.has(column) ? static_cast<double>(t_[column][pc]) : 0;
  }
  [[nodiscard]] double sum(std::string_view column, std::initializer_list<Kind> kinds) const {
    double all = 0;
    for (uint64_t pc = 0; pc < operations(); ++pc)
      if (std::ranges::find(kinds, kind(pc)) != kinds.end()) all += count(column, pc);
    return all;
  }
  /// Nothing in files of older versions.
  [[nodiscard]] double counter(std::string_view name, double otherwise) const {
    const auto at = kernel_.counters.find(name);
    return at == kernel_.counters.end() ? otherwise : at->second;
  }
  /// What loads moved that did not end before, by where their data came from as far as warps waited for them:
  /// the sum is `all`, if any of it came so far.
  [[nodiscard]] std::vector<double> loads_from(std::initializer_list<const char*> waits,
                                               std::string_view column, double all) const {
    const std::initializer_list<const char*> any = {"awaited_memory_l1", "awaited_memory_l2",
                                                    "awaited_memory_dram"};
    const auto slots = [&](std::initializer_list<const char*> columns, uint64_t pc) {
      double n = 0;
      for (const char* c : columns) n += count(c, pc);
      return n;
    };
    double far = 0, awaited = 0;
    for (uint64_t pc = 0; pc < operations(); ++pc)
      if (kind(pc) == Kind::kLoad) far += slots(waits, pc), awaited += slots(any, pc);
    const double mean = awaited > 0 && far > 0 ? far / awaited : 1;
    std::vector<double> moved(operations(), 0);
    double sum = 0;
    for (uint64_t pc = 0; pc < operations(); ++pc) {
      if (kind(pc) != Kind::kLoad) continue;
      const double own = slots(any, pc);
      sum += moved[pc] = count(column, pc) * (own > 0 && far > 0 ? slots(waits, pc) / own : mean);
    }
    for (double& m : moved) m *= sum > 0 ? all / sum : 0;
    return moved;
  }

 private:
  const KernelRecord& kernel_;
  const Table& t_;
};

std::vector<uint64_t> whole(const std::vector<double>& shares) {
  constexpr double kPrecise = 1024;  // of packets and bytes, of which a place may have less than one
  std::vector<uint64_t> numbers;
  for (const double s : shares) numbers.push_back(static_cast<uint64_t>(std::llround(kPrecise * s)));
  return numbers;
}

/// The busiest of the units is the partition of words on which many atomics are, and is busy with them.
bool crowded_by_atomics(const KernelRecord& kernel, const UnitLoad& unit) {
  constexpr double kCrowded = 2;
  const UnitLoad* atomics = kernel.unit("l2_atomics");
  return atomics != nullptr && unit.place == "partition" && atomics->place == unit.place &&
         atomics->busiest == unit.busiest && unit.peak() >= kCrowded * unit.mean() &&
         atomics->peak() >= kCrowded * atomics->mean() && atomics->peak() >= unit.peak() / kCrowded;
}

}  // namespace

std::vector<uint64_t> traffic_of(const KernelRecord& kernel, const core::MachineConfig& machine,
                                 const UnitLoad& unit) {
  const Accesses a(kernel);
  std::vector<double> shares(a.operations(), 0);
  if (crowded_by_atomics(kernel, unit)) {
    const char* const column = kernel.per_pc.has("atomic_words") ? "atomic_words" : "transactions";
    for (uint64_t pc = 0; pc < a.operations(); ++pc)
      if (a.kind(pc) == Kind::kAtomic) shares[pc] = a.count(column, pc);
    return whole(shares);
  }
  // Packets: of an L1 that keeps local stores only its write-backs, and of loads what is left of all.
  const bool keeps = machine.l1.bytes != 0 && machine.l1.write_local == core::WriteHit::kBack;
  const double local = a.sum("transactions", {Kind::kLocalStore});
  const double written_back = keeps ? std::min(local, a.counter("l1_writebacks", local)) : local;
  const double others = a.sum("transactions", {Kind::kStore, Kind::kAtomic}) + written_back;
  const double loads = a.sum("transactions", {Kind::kLoad});
  const std::vector<double> of_loads =
      a.loads_from({"awaited_memory_l2", "awaited_memory_dram"}, "transactions",
                   std::clamp(a.counter("noc_requests", others + loads) - others, 0.0, loads));
  const auto& net = machine.interconnect;
  const bool replies = unit.unit.starts_with("reply_");
  const double flit = replies && net.reply_flit_bytes != 0 ? net.reply_flit_bytes : net.flit_bytes;
  for (uint64_t pc = 0; pc < a.operations(); ++pc) {
    const Kind kind = a.kind(pc);
    const double transactions = a.count("transactions", pc);
    if (kind == Kind::kNone || transactions <= 0) continue;
    const double packets = kind == Kind::kLoad         ? of_loads[pc]
                           : kind == Kind::kLocalStore ? transactions * written_back / local
                                                       : transactions;
    // Loads bring data with the reply, stores with the request.
    const double bytes = a.count("transferred_bytes", pc) / transactions;
    const bool carries = (kind == Kind::kLoad) == replies;
    shares[pc] =
        packets * (unit.unit == "l2_data"
                       ? bytes
                       : std::max(1.0, std::ceil((net.header_bytes + (carries ? bytes : 0)) / flit)));
  }
  return whole(shares);
}

std::vector<uint64_t> traffic_with_dram(const KernelRecord& kernel) {
  const Accesses a(kernel);
  const double loads = a.sum("transferred_bytes", {Kind::kLoad});
  const double stores = a.sum("transferred_bytes", {Kind::kStore, Kind::kLocalStore, Kind::kAtomic});
  const double read = a.counter("dram_read_bytes", loads), written = a.counter("dram_write_bytes", stores);
  std::vector<double> shares = a.loads_from({"awaited_memory_dram"}, "transferred_bytes", read);
  for (uint64_t pc = 0; pc < a.operations(); ++pc)
    if (const Kind kind = a.kind(pc); kind != Kind::kNone && kind != Kind::kLoad && stores > 0)
      shares[pc] = written * a.count("transferred_bytes", pc) / stores;
  return whole(shares);
}

}  // namespace gpusim::analysis
