#include "microbench/configured.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string_view>

#include "microbench/operation_classes.h"
#include "microbench/probe.h"
#include "microbench/set_index_form.h"
#include "simcore/address_map.h"
#include "simcore/set_index.h"

namespace gpusim::microbench {

namespace {

constexpr double kWarp = 32;

/// Operations per cycle and SM that the pipes of a class and the schedulers allow.
double throughput_of(const core::MachineConfig& m, const std::string& timing_class) {
  double rate = 0;
  for (const auto& pipe : m.pipes)
    if (const auto cycles = pipe.interval.find(timing_class);
        cycles != pipe.interval.end() && cycles->second != 0)
      rate += kWarp * static_cast<double>(pipe.per_scheduler ? m.scheduler.count : 1) /
              static_cast<double>(cycles->second);
  const double issue = kWarp * static_cast<double>(m.scheduler.count * m.scheduler.issue_width) /
                       static_cast<double>(m.scheduler.issue_cycles);
  return std::min(rate, issue);
}

void set(Figure& f, double value, double tolerance = 0) {
  f.configured = Value::of(value);
  f.tolerance = tolerance;
}

void add_operation(const core::MachineConfig& m, Figure& f) {
  const auto name = std::string_view(f.name).substr(f.name.find('.') + 1);
  for (const OperationRow& row : operation_rows()) {
    if (row.name != name) continue;
    const std::string timing_class(row.timing_class);
    if (f.name.starts_with("latency."))
      set(f, static_cast<double>(m.latency.at(timing_class)), 0.02);
    else
      set(f, throughput_of(m, timing_class), 0.02);
  }
}

AddressSpace space_of(const core::MachineConfig& m, uint64_t line) {
  return {line, address_bits(reach_of_probe(static_cast<uint64_t>(m.memory_bytes)))};
}

using SetOf = std::function<uint64_t(uint64_t address)>;

/// The index in the words of the data sheet, by asking the function instead of a cache.
std::string index_form(const AddressSpace& space, uint64_t sets, const SetOf& set_of) {
  std::vector<uint64_t> of_one_set;
  const size_t count = samples_for_form(space);
  std::mt19937_64 random(1);
  // Any set holds one address in `sets`.
  for (uint64_t tries = 0; of_one_set.size() < count && tries < 4 * count * sets; ++tries) {
    const uint64_t address = (random() & ((uint64_t{1} << space.bits) - 1)) / space.line * space.line;
    if (set_of(address) == set_of(0)) of_one_set.push_back(address);
  }
  return set_index_form(space, sets, of_one_set);
}

void add_l1(const core::MachineConfig& m, std::string_view key, Figure& f) {
  const core::MachineConfig::FirstLevel& c = m.l1;
  const int64_t sets = c.bytes / (c.line * c.ways);
  if (key == "size") set(f, static_cast<double>(c.bytes));
  if (c.bytes == 0) return;
  if (key == "ways") set(f, static_cast<double>(c.ways));
  if (key == "line") set(f, static_cast<double>(c.line));
  if (key == "sector") set(f, static_cast<double>(c.sector));
  if (key == "sets") set(f, static_cast<double>(sets));
  if (key == "replacement") f.configured = Value::of_words(c.ways == 1 ? "one way" : c.replacement);
  if (key == "index") {
    const core::SetIndex index(c.index, static_cast<uint64_t>(sets));
    const auto line = static_cast<uint64_t>(c.line);
    f.configured = Value::of_words(index_form(space_of(m, line), static_cast<uint64_t>(sets),
                                              [&](uint64_t a) { return index(a / line); }));
  }
}

void add_l2(const core::MachineConfig& m, std::string_view key, Figure& f) {
  const core::MachineConfig::Partition& c = m.l2;
  if (key == "size") set(f, static_cast<double>(c.bytes));
  if (c.bytes == 0) return;
  const int64_t of_slice = c.bytes / c.partitions / (c.line * c.ways), sets = of_slice * c.partitions;
  if (key == "ways") set(f, static_cast<double>(c.ways));
  if (key == "line") set(f, static_cast<double>(c.line));
  if (key == "sector") set(f, static_cast<double>(c.sector));
  if (key == "sets") set(f, static_cast<double>(sets));
  if (key == "replacement") f.configured = Value::of_words(c.ways == 1 ? "one way" : c.replacement);
  // Bits that a scattered address is drawn from have no form to print.
  if (key == "index" && c.hash != core::PartitionHash::kScatter) {
    const core::AddressMap map(c);
    const core::SetIndex index(c.index, static_cast<uint64_t>(of_slice));
    const auto line = static_cast<uint64_t>(c.line);
    f.configured =
        Value::of_words(index_form(space_of(m, line), static_cast<uint64_t>(sets), [&](uint64_t a) {
          return uint64_t{map.partition(a)} << 32 | index(map.local(a) / line);
        }));
  }
}

void add_other(const core::MachineConfig& m, Figure& f) {
  constexpr int64_t kWarpLanes = 32;
  const int64_t mshrs = m.l1.bytes == 0 ? m.lsu.mshrs : std::min(m.l1.mshrs, m.lsu.mshrs);
  int64_t of_warp = mshrs;
  if (m.l1.bytes != 0 && m.l1.warp_mshrs != 0) of_warp = std::min<int64_t>(of_warp, m.l1.warp_mshrs);
  if (m.scheduler.warp_loads != 0) of_warp = std::min<int64_t>(of_warp, m.scheduler.warp_loads);
  if (f.name == "mshrs.sm") set(f, static_cast<double>(mshrs));
  if (f.name == "mshrs.warp" && of_warp < kWarpLanes) set(f, static_cast<double>(of_warp));
  if (f.name == "shared.banks") set(f, static_cast<double>(m.shared.banks));
  if (f.name == "shared.bank_bytes") set(f, static_cast<double>(m.shared.bank_bytes));
  if (f.name == "shared.lanes_per_access") set(f, static_cast<double>(m.shared.lanes_per_access));
  if (f.name == "shared.conflict_cycles") set(f, static_cast<double>(m.shared.cycles_per_access), 0.01);
  if (m.tlb.l1_entries != 0) {
    if (f.name == "tlb.l1_entries") set(f, static_cast<double>(m.tlb.l1_entries));
    if (f.name == "tlb.page") set(f, static_cast<double>(m.tlb.page_bytes));
    if (f.name == "tlb.l2_entries" && m.tlb.l2_entries != 0) set(f, static_cast<double>(m.tlb.l2_entries));
  }
  if (f.name == "constant.l1_size") set(f, static_cast<double>(m.constant.l1_bytes));
  if (f.name == "constant.l2_size") set(f, static_cast<double>(m.constant.l2_bytes));
  if (f.name == "constant.l3_size") set(f, static_cast<double>(m.constant.l3_bytes));
  if (f.name == "latency.constant_l1") set(f, static_cast<double>(m.latency.at("load_const")), 0.05);
  if (f.name == "dram.row") set(f, static_cast<double>(m.dram.row_bytes));
  // Where partitions are hashed, a row's pieces lie irregularly. Channels of a partition, and bank groups
  // where they alternate within a row, take turns as partitions do.
  const bool groups =
      m.dram.bank_groups > 1 && m.dram.group_interleave != 0 && m.dram.group_interleave < m.dram.row_bytes;
  const int64_t turns = int64_t{m.l2.partitions} * m.dram.channels * (groups ? m.dram.bank_groups : 1);
  const int64_t piece = groups ? std::min(m.l2.interleave, m.dram.group_interleave) : m.l2.interleave;
  const int64_t banks = groups ? m.dram.banks / m.dram.bank_groups : m.dram.banks;
  const bool even =
      !groups || (piece == m.dram.group_interleave && piece * m.dram.bank_groups % m.l2.interleave == 0);
  const bool regular = m.l2.hash == core::PartitionHash::kModulo && m.dram.row_bytes > piece && even;
  if (regular && f.name == "dram.interleave") set(f, static_cast<double>(piece));
  if (regular && f.name == "dram.channels") set(f, static_cast<double>(turns));
  if (regular && f.name == "dram.bank_period")
    set(f,
        static_cast<double>(m.dram.bank_hash ? banks * m.dram.banks * m.dram.banks * m.dram.banks : banks));
  if (f.name == "latency.l1") set(f, static_cast<double>(m.l1.latency), 0.1);
  if (f.name == "latency.shared") set(f, static_cast<double>(m.latency.at("load_shared")), 0.02);
}

}  // namespace

void add_configured(const core::MachineConfig& m, DataSheet& sheet) {
  for (Figure& f : sheet.figures) {
    const auto key = std::string_view(f.name).substr(f.name.find('.') + 1);
    if (f.name.starts_with("latency.") || f.name.starts_with("throughput.")) add_operation(m, f);
    if (f.name.starts_with("l1.")) add_l1(m, key, f);
    if (f.name.starts_with("l2.")) add_l2(m, key, f);
    add_other(m, f);
  }
}

}  // namespace gpusim::microbench
