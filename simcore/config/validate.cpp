#include "simcore/config/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "simcore/config/clock_points.h"
#include "simcore/config/schema.h"
#include "simcore/config/voltage_curve.h"
#include "simcore/set_index.h"
#include "simcore/text/units.h"

namespace gpusim::core {
namespace {

class Validator {
 public:
  Validator(const MachineConfig& machine, const KeyPlaces& places, Messages& messages)
      : m_(machine), places_(places), messages_(messages) {}

  void run() {
    sm_limits();
    first_level();
    constant_caches();
    instruction_cache();
    texture_caches();
    memory();
    second_level();
    interconnect();
    translation();
    dram();
    voltages("core", m_.dvfs.core);
    voltages("interconnect", m_.dvfs.interconnect);
    voltages("dram", m_.dvfs.dram);
    governor();
    followed_clocks();
    pipes();
  }

 private:
  /// `what` is wrong about `key`; `others` are the keys it contradicts.
  void conflict(const std::string& key, const std::string& what, std::initializer_list<std::string> others) {
    std::string hint;
    for (const std::string& other : others) {
      const auto place = places_.find(other);
      hint += (hint.empty() ? "" : "; ") + other +
              (place == places_.end() ? " has its default value" : " stands at " + place->second.text());
    }
    // The message stands where something was written: at the key, or else at what it contradicts.
    auto place = places_.find(key);
    for (auto other = others.begin(); place == places_.end() && other != others.end(); ++other) {
      place = places_.find(*other);
    }
    messages_.error(place == places_.end() ? places_.at("") : place->second, what, hint);
  }
  void not_above(const std::string& key, int64_t value, const std::string& limit_key, int64_t limit,
                 const std::string& factor = "") {
    if (value > limit) {
      conflict(key, fmt::format("{} = {} is more than {}{} = {}", key, value, limit_key, factor, limit),
               {limit_key});
    }
  }
  void multiple(const std::string& key, int64_t value, const std::string& unit_key, int64_t unit) {
    if (unit == 0 || value % unit != 0) {
      conflict(key, fmt::format("{} = {} is not a multiple of {} = {}", key, value, unit_key, unit),
               {unit_key});
    }
  }
  void power_of_two(const std::string& key, int64_t value) {
    if (!std::has_single_bit(static_cast<uint64_t>(value))) {
      conflict(key, fmt::format("{} = {} is not a power of two", key, value), {});
    }
  }

  void sm_limits() {
    multiple("gpu.sms", m_.gpu.sms, "gpu.sms_per_cluster", m_.gpu.sms_per_cluster);
    if (m_.clusters.gpcs > m_.gpu.sms / m_.gpu.sms_per_cluster)
      conflict("block_clusters.gpcs",
               fmt::format("block_clusters.gpcs = {} is more than the {} clusters of SMs", m_.clusters.gpcs,
                           m_.gpu.sms / m_.gpu.sms_per_cluster),
               {"gpu.sms", "gpu.sms_per_cluster"});
    not_above("sm.max_threads_per_block", m_.sm.max_threads_per_block, "sm.max_threads", m_.sm.max_threads);
    not_above("sm.max_threads", m_.sm.max_threads, "sm.max_warps", int64_t{m_.sm.max_warps} * 32, " * 32");
    not_above("sm.max_block_x", m_.sm.max_block_x, "sm.max_threads_per_block", m_.sm.max_threads_per_block);
    not_above("sm.max_block_y", m_.sm.max_block_y, "sm.max_threads_per_block", m_.sm.max_threads_per_block);
    not_above("sm.max_blocks", m_.sm.max_blocks, "sm.max_warps", m_.sm.max_warps);
    multiple("sm.registers", m_.sm.registers, "sm.register_alloc_unit", m_.sm.register_alloc_unit);
    not_above("scheduler.count", m_.scheduler.count, "sm.max_warps", m_.sm.max_warps);
    if (m_.scheduler.dependences == Dependences::kControlCodes && m_.scheduler.issue_width != 1)
      conflict("scheduler.dependences",
               "scheduler.dependences = control_codes needs scheduler.issue_width = 1",
               {"scheduler.issue_width"});
    multiple("shared.size", m_.shared.bytes, "sm.shared_alloc_unit", m_.sm.shared_alloc_unit);
    power_of_two("shared.banks", m_.shared.banks);
    power_of_two("shared.bank_bytes", m_.shared.bank_bytes);
    if (m_.shared.lanes_per_access != 16 && m_.shared.lanes_per_access != 32) {
      conflict("shared.lanes_per_access",
               fmt::format("shared.lanes_per_access = {} is neither 16 nor 32", m_.shared.lanes_per_access),
               {});
    }
  }

  void cache(const std::string& level, int64_t bytes, int64_t line, int64_t ways, int64_t slices) {
    const std::string prefix = "constant." + level;
    power_of_two(prefix + "_line", line);
    const int64_t way_bytes = line * ways * slices;
    if (bytes % way_bytes != 0) {
      conflict(prefix + "_size",
               fmt::format("{}_size = {} is not divisible into sets of {} ways of {} bytes{}", prefix, bytes,
                           ways, line, slices > 1 ? fmt::format(" in {} partitions", slices) : ""),
               {prefix + "_ways", prefix + "_line"});
    } else {
      const int64_t sets = bytes / way_bytes;
      if (!std::has_single_bit(static_cast<uint64_t>(sets))) {
        conflict(prefix + "_size",
                 fmt::format("{}_size = {} gives {} sets, not a power of two", prefix, bytes, sets),
                 {prefix + "_ways", prefix + "_line"});
      }
    }
  }

  void first_level() {
    if (m_.l1.bytes == 0) return;
    power_of_two("l1.line", m_.l1.line);
    power_of_two("l1.sector", m_.l1.sector);
    multiple("l1.line", m_.l1.line, "l1.sector", m_.l1.sector);
    if (m_.l1.bytes % (m_.l1.line * m_.l1.ways) != 0) {
      conflict("l1.size",
               fmt::format("l1.size = {} is not divisible into sets of {} ways of {} bytes", m_.l1.bytes,
                           m_.l1.ways, m_.l1.line),
               {"l1.ways", "l1.line"});
    } else {
      reachable_sets("l1", m_.l1.index, m_.l1.bytes, int64_t{m_.l1.line} * m_.l1.ways);
      carveout();
    }
    if (m_.coalescer.rule != CoalescingRule::kCc20) {
      conflict("l1.size", "an L1 needs coalescer.rule = cc20, whose transactions are lines",
               {"coalescer.rule"});
    }
  }

  /// "; l1.ways=24 would do", of the number of ways nearest below that makes the carve-out whole ways.
  std::string ways_that_suit() const {
    for (int64_t ways = m_.l1.ways; ways > 0; --ways)
      if (m_.l1.bytes % (m_.l1.line * ways) == 0 && m_.shared.carveout % (m_.l1.bytes / ways) == 0)
        return fmt::format("; l1.ways={} would do", ways);
    return "";
  }

  void carveout() {
    if (m_.shared.carveout == 0) return;
    const int64_t way = m_.l1.bytes / m_.l1.ways;
    if (m_.shared.carveout % way != 0)
      conflict("shared.carveout",
               fmt::format("shared.carveout = {} is no whole number of ways, which have {} bytes each{}",
                           m_.shared.carveout, way, ways_that_suit()),
               {"l1.size", "l1.ways"});
    if ((m_.shared.bytes + m_.shared.carveout - 1) / m_.shared.carveout * m_.shared.carveout >= m_.l1.bytes) {
      const int64_t most = std::max<int64_t>(m_.l1.bytes - 1, 0) / m_.shared.carveout * m_.shared.carveout;
      conflict(
          "shared.carveout",
          fmt::format("shared.size = {} leaves nothing of l1.size = {}; with an L1 of this size, at most "
                      "shared.size={} (shared memory is taken from the L1 in steps of shared.carveout)",
                      m_.shared.bytes, m_.l1.bytes, format_size(most)),
          {"shared.size", "l1.size"});
    }
    if (m_.l1.replacement == "plru")
      conflict("shared.carveout", "plru needs a fixed number of ways, which the carve-out changes",
               {"l1.replacement"});
  }

  /// A set that no line goes to is memory that is never used. `divisor`: what a set takes of the size.
  void reachable_sets(const std::string& level, SetIndexKind index, int64_t bytes, int64_t divisor) {
    const uint64_t most = most_sets(index), sets = static_cast<uint64_t>(bytes / divisor);
    if (sets <= most) return;
    conflict(level + ".size",
             fmt::format("{0}.size = {1} gives {2} sets, of which {0}.index = {3} reaches {4}", level, bytes,
                         sets, word(index), most),
             {level + ".index", level + ".ways"});
  }

  void constant_caches() {
    cache("l1", m_.constant.l1_bytes, m_.constant.l1_line, m_.constant.l1_ways, 1);
    cache("l2", m_.constant.l2_bytes, m_.constant.l2_line, m_.constant.l2_ways, 1);
    cache("l3", m_.constant.l3_bytes, m_.constant.l3_line, m_.constant.l3_ways, 1);
    multiple("constant.l2_line", m_.constant.l2_line, "constant.l1_line", m_.constant.l1_line);
    multiple("constant.l3_line", m_.constant.l3_line, "constant.l2_line", m_.constant.l2_line);
    not_above("constant.l3_line", m_.constant.l3_line, "l2.interleave", m_.l2.interleave);
    set_in_each_partition("constant.l3", m_.constant.l3_bytes, m_.constant.l3_line, m_.constant.l3_ways);
  }

  /// Of a cache of all partitions together; what is no whole set in one is left out.
  void set_in_each_partition(const std::string& level, int64_t bytes, int64_t line, int64_t ways) {
    if (bytes / m_.l2.partitions >= line * ways) return;
    conflict(level + "_size",
             fmt::format("{}_size = {} has no set of {} ways of {} bytes in each of {} partitions", level,
                         bytes, ways, line, m_.l2.partitions),
             {level + "_ways", level + "_line", "l2.partitions"});
  }

  /// `bytes` of `size_key` in sets of `ways` lines.
  void whole_sets(const std::string& size_key, int64_t bytes, const std::string& line_key, int64_t line,
                  const std::string& ways_key, int64_t ways) {
    if (bytes != 0 && bytes % (line * ways) == 0) return;
    conflict(
        size_key,
        fmt::format("{} = {} is not divisible into sets of {} ways of {} bytes", size_key, bytes, ways, line),
        {ways_key, line_key});
  }

  void instruction_cache() {
    const auto& i = m_.instruction;
    if (i.l1_bytes == 0) return;
    power_of_two("instruction.bytes", i.bytes);
    power_of_two("instruction.l1_line", i.l1_line);
    multiple("instruction.l1_line", i.l1_line, "instruction.bytes", i.bytes);
    whole_sets("instruction.l1_size", i.l1_bytes, "instruction.l1_line", i.l1_line, "instruction.l1_ways",
               i.l1_ways);
    // A request lies in one line of the level behind.
    not_above("instruction.l1_line", i.l1_line, "constant.l2_line", m_.constant.l2_line);
  }

  void texture_caches() {
    const auto& t = m_.texture;
    if (t.cache == TextureCache::kL1 && m_.l1.bytes == 0)
      conflict("texture.cache", "texture.cache = l1 needs an L1 data cache, and l1.size = 0", {"l1.size"});
    if (t.cache != TextureCache::kOwn) return;
    power_of_two("texture.l1_line", t.l1_line);
    whole_sets("texture.l1_size", t.l1_bytes, "texture.l1_line", t.l1_line, "texture.l1_ways", t.l1_ways);
    not_above("texture.l1_line", t.l1_line, "l2.interleave", m_.l2.interleave);
    if (m_.l2.bytes != 0) not_above("texture.l1_line", t.l1_line, "l2.line", m_.l2.line);
    if (t.l2_bytes == 0 || m_.l2.bytes != 0) return;
    power_of_two("texture.l2_line", t.l2_line);
    multiple("texture.l2_line", t.l2_line, "texture.l1_line", t.l1_line);
    not_above("texture.l2_line", t.l2_line, "texture.l1_line", int64_t{32} * t.l1_line, " * 32");
    not_above("texture.l2_line", t.l2_line, "l2.interleave", m_.l2.interleave);
    whole_sets("texture.l2_size", t.l2_bytes, "texture.l2_line", t.l2_line, "texture.l2_ways", t.l2_ways);
    set_in_each_partition("texture.l2", t.l2_bytes, t.l2_line, t.l2_ways);
  }

  void memory() {
    power_of_two("l2.interleave", m_.l2.interleave);
    multiple("l2.interleave", m_.l2.interleave, "dram.burst", m_.dram.burst_bytes);
    const int64_t stripe = int64_t{m_.l2.interleave} * m_.l2.partitions * m_.dram.channels;
    if (m_.memory_bytes % stripe != 0) {
      conflict("gpu.memory",
               fmt::format("gpu.memory = {} is not a multiple of l2.interleave * l2.partitions{} = {}",
                           m_.memory_bytes, m_.dram.channels == 1 ? "" : " * dram.channels", stripe),
               {"l2.interleave", "l2.partitions", "dram.channels"});
    }
  }

  void second_level() {
    halves();
    if (m_.l2.bytes == 0) return;
    power_of_two("l2.line", m_.l2.line);
    power_of_two("l2.sector", m_.l2.sector);
    multiple("l2.line", m_.l2.line, "l2.sector", m_.l2.sector);
    not_above("l2.line", m_.l2.line, "l2.interleave", m_.l2.interleave);
    if (m_.l2.bytes % (m_.l2.line * m_.l2.ways * m_.l2.partitions) != 0) {
      conflict("l2.size",
               fmt::format("l2.size = {} is not divisible into sets of {} ways of {} bytes in {} partitions",
                           m_.l2.bytes, m_.l2.ways, m_.l2.line, m_.l2.partitions),
               {"l2.ways", "l2.line", "l2.partitions"});
    } else {
      reachable_sets("l2", m_.l2.index, m_.l2.bytes, int64_t{m_.l2.line} * m_.l2.ways * m_.l2.partitions);
    }
    // A request lies in one line.
    not_above("constant.l2_line", m_.constant.l2_line, "l2.line", m_.l2.line);
    if (m_.coalescer.rule == CoalescingRule::kCc20) {
      not_above("l1.line", m_.l1.line, "l2.line", m_.l2.line);
    } else if (m_.l2.line < 128) {
      conflict("l2.line",
               fmt::format("l2.line = {} is less than the 128 bytes of the largest transaction of "
                           "coalescer.rule = {}",
                           m_.l2.line, word(m_.coalescer.rule)),
               {"coalescer.rule"});
    }
  }

  void halves() {
    if (m_.l2.halves == 1) return;
    if (m_.l2.bytes == 0) conflict("l2.halves", "l2.halves = 2 needs an L2, and l2.size = 0", {"l2.size"});
  }

  void interconnect() {
    if (m_.interconnect.sms_per_port != 0)
      multiple("gpu.sms_per_cluster", m_.gpu.sms_per_cluster, "interconnect.sms_per_port",
               m_.interconnect.sms_per_port);
    const int64_t routers = int64_t{sm_ports(m_)} + m_.l2.partitions;
    if (m_.interconnect.mesh_width > routers) {
      conflict(
          "interconnect.mesh_width",
          fmt::format(
              "interconnect.mesh_width = {} is more than the {} routers of all ports of SMs and partitions",
              m_.interconnect.mesh_width, routers),
          {"gpu.sms", "gpu.sms_per_cluster", "l2.partitions"});
    }
  }

  void translation() {
    if (m_.tlb.l1_entries == 0) return;
    power_of_two("tlb.page", m_.tlb.page_bytes);
    multiple("tlb.l1_entries", m_.tlb.l1_entries, "tlb.l1_ways", m_.tlb.l1_ways);
    if (m_.tlb.l2_entries != 0) multiple("tlb.l2_entries", m_.tlb.l2_entries, "tlb.l2_ways", m_.tlb.l2_ways);
    if (m_.tlb.table_bytes != 0)
      multiple("tlb.table", static_cast<int64_t>(m_.tlb.table_bytes), "tlb.page", m_.tlb.page_bytes);
  }

  void dram() {
    power_of_two("dram.banks", m_.dram.banks);
    power_of_two("dram.row", m_.dram.row_bytes);
    power_of_two("dram.burst", m_.dram.burst_bytes);
    multiple("dram.row", m_.dram.row_bytes, "dram.burst", m_.dram.burst_bytes);
    multiple("dram.burst", m_.dram.burst_bytes, "dram.bus", m_.dram.bus_bytes);
    bank_groups();
    not_above("dram.write_high", m_.dram.write_high, "dram.queue", m_.dram.queue);
    if (m_.dram.write_low >= m_.dram.write_high) {
      conflict("dram.write_low",
               fmt::format("dram.write_low = {} is not below dram.write_high = {}", m_.dram.write_low,
                           m_.dram.write_high),
               {"dram.write_high"});
    }
    if (m_.dram.rc_ns < m_.dram.ras_ns) {
      conflict("dram.rc",
               fmt::format("dram.rc = {} ns is below dram.ras = {} ns", m_.dram.rc_ns, m_.dram.ras_ns),
               {"dram.ras"});
    }
    if (m_.dram.refi_ns > 0 && m_.dram.rfc_ns >= m_.dram.refi_ns) {
      conflict("dram.rfc",
               fmt::format("dram.rfc = {} ns leaves no time within dram.refi = {} ns", m_.dram.rfc_ns,
                           m_.dram.refi_ns),
               {"dram.refi"});
    }
    refresh_leaves_time();
  }

  void bank_groups() {
    const auto& d = m_.dram;
    power_of_two("dram.bank_groups", d.bank_groups);
    not_above("dram.bank_groups", d.bank_groups, "dram.banks", d.banks);
    const auto at_least = [&](const std::string& key, double value, const std::string& least_key,
                              double least) {
      if (value == 0 || value >= least) return;
      conflict(key, fmt::format("{} = {} ns is below {} = {} ns", key, value, least_key, least), {least_key});
    };
    at_least("dram.ccd_l", d.ccd_l_ns, "dram.ccd", d.ccd_ns);
    at_least("dram.rrd_l", d.rrd_l_ns, "dram.rrd", d.rrd_ns);
    if (d.group_interleave == 0) return;
    power_of_two("dram.group_interleave", d.group_interleave);
    not_above("dram.group_interleave", d.group_interleave, "dram.row", d.row_bytes);
    // A request lies in one row of one bank.
    const int64_t longest = std::max<int64_t>(128, m_.l2.bytes != 0 ? m_.l2.line : 0);
    if (d.group_interleave < longest) {
      conflict("dram.group_interleave",
               fmt::format("dram.group_interleave = {} is less than the {} bytes of the largest request",
                           d.group_interleave, longest),
               {"l2.line"});
    }
  }

  /// A refresh closes all rows: one must be opened and read before the next, in whole memory clocks.
  void refresh_leaves_time() {
    const auto& d = m_.dram;
    if (d.refi_ns <= 0 || m_.clocks.dram_khz <= 0) return;
    const double clock_ns = 1e6 / static_cast<double>(m_.clocks.dram_khz);
    const auto whole = [&](double ns) { return std::ceil(ns / clock_ns - 1e-6) * clock_ns; };
    const double cycle = whole(d.rfc_ns) + whole(std::max(d.rp_ns, d.rrd_ns)) + whole(d.rcd_ns) +
                         whole(d.ccd_ns) + 2 * clock_ns;
    if (cycle < d.refi_ns) return;
    conflict("dram.refi",
             fmt::format("dram.refi = {} ns leaves no time for an access: refresh, precharge and activation "
                         "take {:.6g} ns at {:.6g} MHz",
                         d.refi_ns, cycle, static_cast<double>(m_.clocks.dram_khz) / 1e3),
             {"dram.rfc", "dram.rcd", "dram.rp", "clocks.dram"});
  }

  void voltages(const std::string& domain, const MachineConfig::VoltageCurve& c) {
    const std::string key = "dvfs." + domain;
    if (!c.points.empty()) return voltage_table(key, c);
    const auto below = [&](const std::string& name, double value) {
      if (value < c.voltage) return;
      conflict(key + name,
               fmt::format("{}{} = {} V is not below {}_voltage = {} V", key, name, value, key, c.voltage),
               {key + "_voltage"});
    };
    below("_threshold", c.threshold);
    below("_floor", c.floor);
  }

  /// A table stands instead of the formula: what the file says of both must agree.
  void voltage_table(const std::string& key, const MachineConfig::VoltageCurve& c) {
    const auto points = parse_voltage_points(c.points);
    if (!points) {
      conflict(key + "_points",
               fmt::format("{}_points = \"{}\" is no list of clocks and voltages such as \"300MHz 0.9V, "
                           "600MHz 1.1V\"",
                           key, c.points),
               {});
      return;
    }
    for (size_t i = 0; i < points->size(); ++i) {
      const VoltagePoint& p = (*points)[i];
      const bool in_order = i == 0 || (p.khz > (*points)[i - 1].khz && p.volts >= (*points)[i - 1].volts);
      if (p.khz > 0 && p.volts > 0 && in_order) continue;
      conflict(key + "_points",
               fmt::format("{}_points: {} {} V is not a clock above the one before with no lower voltage",
                           key, format_khz(p.khz), p.volts),
               {});
      return;
    }
    const VoltagePoint& last = points->back();
    if (places_.contains(key + "_max") && c.max_khz != 0 && c.max_khz != last.khz)
      conflict(key + "_max",
               fmt::format("{}_max = {} is not the last clock of {}_points, {}", key, format_khz(c.max_khz),
                           key, format_khz(last.khz)),
               {key + "_points"});
    if (places_.contains(key + "_voltage") && c.voltage != last.volts)
      conflict(key + "_voltage",
               fmt::format("{}_voltage = {} V is not the last voltage of {}_points, {} V", key, c.voltage,
                           key, last.volts),
               {key + "_points"});
  }

  void followed_clocks() {
    if (m_.clocks.dram_follows.empty() || parse_clock_points(m_.clocks.dram_follows)) return;
    conflict("clocks.dram_follows",
             fmt::format("clocks.dram_follows = \"{}\" is no list of rising core and memory clocks such as "
                         "\"600MHz 420MHz, 900MHz 877MHz\"",
                         m_.clocks.dram_follows),
             {});
  }

  void governor() {
    if (m_.dvfs.governor == Governor::kFixed || messages_.has_errors()) return;
    if (m_.dvfs.low >= m_.dvfs.high)
      conflict("dvfs.low",
               fmt::format("dvfs.low = {} is not below dvfs.high = {}", m_.dvfs.low, m_.dvfs.high),
               {"dvfs.high"});
    const std::vector<int64_t> clocks = governor_clocks(m_);
    if (clocks.front() < clocks.back()) return;
    conflict("dvfs.governor",
             fmt::format("dvfs.governor = {} has no two clocks to choose among", word(m_.dvfs.governor)),
             {"dvfs.lowest", "dvfs.core_max", "dvfs.core_points"});
  }

  void pipes() {
    std::string missing;
    for (std::string_view name : timing_classes()) {
      const bool served = std::ranges::any_of(m_.pipes, [&](const MachineConfig::Pipe& pipe) {
        return pipe.interval.contains(std::string(name));
      });
      if (!served && !is_control_class(name)) missing += (missing.empty() ? "" : ", ") + std::string(name);
    }
    if (!missing.empty()) {
      messages_.error(places_.at(""), "no pipe executes these timing classes: " + missing,
                      "add CLASS = cycles to a [pipes.NAME] section, or extend a machine that has them");
    }
  }

  const MachineConfig& m_;
  const KeyPlaces& places_;
  Messages& messages_;
};

}  // namespace

void validate_machine(const MachineConfig& machine, const KeyPlaces& places, Messages& messages) {
  Validator(machine, places, messages).run();
}

}  // namespace gpusim::core
