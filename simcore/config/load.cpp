#include "simcore/config/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "simcore/config/clock_points.h"
#include "simcore/config/raw_config.h"
#include "simcore/config/schema.h"
#include "simcore/config/validate.h"
#include "simcore/config/voltage_curve.h"
#include "simcore/text/names.h"
#include "simcore/text/reachable.h"
#include "simcore/text/units.h"

namespace gpusim::core {
namespace {

const KeySpec* find_key(std::string_view section, std::string_view name) {
  for (const KeySpec& spec : schema()) {
    if (spec.section == section && spec.name == name) return &spec;
  }
  return nullptr;
}

std::vector<std::string_view> keys_of(std::string_view section) {
  std::vector<std::string_view> names;
  for (const KeySpec& spec : schema()) {
    if (spec.section == section) names.push_back(spec.name);
  }
  return names;
}

std::string show_raw(const RawValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return "\"" + *text + "\"";
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return std::get<bool>(value) ? "true" : "false";
}

std::string_view expected_form(KeyKind kind) {
  switch (kind) {
    case KeyKind::kInteger:
      return "an integer";
    case KeyKind::kSize:
      return "a size such as 512, \"16K\" or \"4G\"";
    case KeyKind::kClock:
      return "a clock such as \"1296MHz\" (a whole number of kHz)";
    case KeyKind::kRate:
      return "a rate such as \"5.5GB/s\"";
    case KeyKind::kTime:
      return "a time such as \"10ns\", or a number of ns";
    case KeyKind::kDramTime:
      return "a time such as \"10ns\" or memory cycles such as \"12ck\"";
    case KeyKind::kEnergy:
      return "an energy such as \"20pJ\" or \"1.5nJ\", or a number of pJ";
    case KeyKind::kReal:
      return "a number";
    case KeyKind::kBoolean:
      return "true or false";
    case KeyKind::kText:
      return "a string";
    case KeyKind::kChoice:
      return "one of the valid words";
    case KeyKind::kCapability:
      return "a compute capability such as \"1.3\"";
  }
  return "";
}

std::optional<int64_t> to_integer(KeyKind kind, const RawValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value); number != nullptr && kind != KeyKind::kClock) {
    return kind == KeyKind::kCapability ? std::optional<int64_t>() : *number;
  }
  if (kind == KeyKind::kCapability) {
    double real = 0;
    if (const auto* number = std::get_if<double>(&value)) real = *number;
    if (const auto* text = std::get_if<std::string>(&value)) real = parse_real(*text).value_or(0);
    const double tenths = real * 10;
    if (!(tenths > 0 && tenths < 1000) || std::abs(tenths - std::round(tenths)) > 1e-6) return std::nullopt;
    return std::llround(tenths);
  }
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return std::nullopt;
  if (kind == KeyKind::kSize) return parse_size(*text);
  if (kind == KeyKind::kClock) return parse_khz(*text);
  if (kind == KeyKind::kRate) return parse_rate(*text);
  return std::nullopt;
}

std::optional<double> to_real(KeyKind kind, const RawValue& value, int64_t dram_khz) {
  if (const auto* number = std::get_if<int64_t>(&value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr || kind == KeyKind::kReal) return std::nullopt;
  if (kind == KeyKind::kDramTime) {
    if (auto cycles = parse_clocks(*text)) return *cycles * 1e6 / static_cast<double>(dram_khz);
  }
  return kind == KeyKind::kEnergy ? parse_pj(*text) : parse_ns(*text);
}

/// Stores one value; on a wrong one adds a message and leaves the member.
void store(const KeySpec& spec, const RawValue& value, const Where& where, MachineConfig& machine,
           Messages& messages) {
  const std::string name = fmt::format("{}.{}", spec.section, spec.name);
  const auto wrong = [&](const std::string& hint = "") {
    messages.error(where, fmt::format("{} = {} is not {}", name, show_raw(value), expected_form(spec.kind)),
                   hint);
  };
  const auto in_range = [&](double number) {
    if (number >= spec.min && number <= spec.max) return true;
    messages.error(
        where, fmt::format("{} = {} is out of range", name, show_raw(value)),
        fmt::format("valid: {} to {} {}", format_real(spec.min), format_real(spec.max), spec.unit));
    return false;
  };
  if (whole_number(spec, machine)) {
    const auto number = to_integer(spec.kind, value);
    if (!number) return wrong();
    if (in_range(static_cast<double>(*number))) set_whole_number(spec, machine, *number);
  } else if (double* const real = real_number(spec, machine)) {
    const auto number = to_real(spec.kind, value, machine.clocks.dram_khz);
    if (!number || !std::isfinite(*number)) return wrong();
    if (in_range(*number)) *real = *number;
  } else if (const auto* at_bool = std::get_if<bool* (*)(MachineConfig&)>(&spec.member)) {
    const auto* flag = std::get_if<bool>(&value);
    if (flag == nullptr) return wrong();
    *(*at_bool)(machine) = *flag;
  } else {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return wrong();
    if (spec.kind == KeyKind::kChoice) {
      std::vector<std::string_view> choices;
      for (std::string_view rest = spec.choices; !rest.empty();) {
        const size_t bar = rest.find('|');
        choices.push_back(rest.substr(0, bar));
        rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
      }
      if (std::ranges::find(choices, *text) == choices.end()) return wrong(name_hint(*text, choices));
    }
    if (const auto* choice = std::get_if<ChoiceMember>(&spec.member))
      choice->set(machine,
                  static_cast<size_t>(std::ranges::find(choice->words, *text) - choice->words.begin()));
    else
      *std::get<std::string* (*)(MachineConfig&)>(spec.member)(machine) = *text;
  }
}

/// Default as a raw value, for the same path as a file's.
RawValue default_value(const KeySpec& spec) {
  const std::string text(spec.default_text);
  switch (spec.kind) {
    case KeyKind::kInteger:
      return parse_size(text).value_or(0);
    case KeyKind::kEnergy:
    case KeyKind::kReal:
      return parse_real(text).value_or(0);
    case KeyKind::kBoolean:
      return text == "true";
    default:
      return text;
  }
}

class Loader {
 public:
  /// `recorded`: keys of earlier versions are left out.
  Loader(const RawConfig& raw, const std::string& file, Messages& messages, bool recorded)
      : raw_(raw), messages_(messages), recorded_(recorded) {
    places_[""] = {file};
  }

  /// Of a machine that is complete: only what the entries say is looked at.
  void check(const MachineConfig& machine) {
    machine_ = machine;
    for (const RawEntry& entry : raw_.entries()) take(entry);
    for (const auto& [spec, entry] : chosen_) assign(*spec);
  }

  MachineConfig build() {
    for (const RawEntry& entry : raw_.entries()) take(entry);
    // The memory clock first: DRAM times may be given in its cycles.
    for (const KeySpec& spec : schema()) {
      if (spec.section == "clocks") assign(spec);
    }
    for (const KeySpec& spec : schema()) {
      if (spec.section != "clocks") assign(spec);
    }
    for (MachineConfig::Pipe& pipe : machine_.pipes) {
      std::erase_if(pipe.interval, [](const auto& item) { return item.second == 0; });
    }
    for (const ComposedClass& composed : composed_classes()) compose(composed);
    for (std::string_view name : timing_classes())
      machine_.latency.try_emplace(std::string(name), kDefaultLatencyCycles);
    std::erase_if(machine_.pipes, [](const MachineConfig::Pipe& pipe) { return pipe.interval.empty(); });
    if (!messages_.has_errors()) validate_machine(machine_, places_, messages_);
    if (!messages_.has_errors()) {
      for (auto* curve : {&machine_.dvfs.core, &machine_.dvfs.interconnect, &machine_.dvfs.dram})
        end_of_table(*curve);
    }
    return std::move(machine_);
  }

 private:
  /// A class that no pipe takes goes to the pipes of its parts, one part behind the other.
  void compose(const ComposedClass& composed) {
    const std::string name(composed.name), part(composed.part);
    for (const MachineConfig::Pipe& pipe : machine_.pipes) {
      if (pipe.interval.contains(name)) return;
    }
    int64_t shortest = kMaxLatencyCycles;
    for (MachineConfig::Pipe& pipe : machine_.pipes) {
      const auto interval = pipe.interval.find(part);
      if (interval == pipe.interval.end()) continue;
      shortest = std::min(shortest, interval->second);
      pipe.interval[name] = std::min(interval->second * composed.parts, kMaxLatencyCycles);
    }
    const auto latency = machine_.latency.find(part);
    const int64_t last = latency == machine_.latency.end() ? kDefaultLatencyCycles : latency->second;
    machine_.latency.try_emplace(name, std::min(last + (composed.parts - 1) * shortest, kMaxLatencyCycles));
  }

  /// The highest clock and voltage of a table, also where nobody wrote them.
  static void end_of_table(MachineConfig::VoltageCurve& curve) {
    if (curve.points.empty()) return;
    const VoltageCurve table(curve, 0);
    curve.max_khz = table.max_khz();
    curve.voltage = table.max_volts();
  }

  void take(const RawEntry& entry) {
    if (entry.section == "latency" || entry.section.starts_with("pipes.")) return take_class(entry);
    if (std::ranges::find(section_names(), entry.section) == section_names().end()) {
      if (unknown_sections_.insert(entry.section).second) {
        messages_.error(entry.key_where, fmt::format("unknown section [{}]", entry.section),
                        name_hint(entry.section, section_names()));
      }
      return;
    }
    if (entry.section == "pipes") {
      messages_.error(entry.key_where, fmt::format("'{}' stands directly in [pipes]", entry.key),
                      "name the pipe: [pipes.sp], with a line CLASS = cycles for each timing class");
      return;
    }
    const KeySpec* spec = find_key(entry.section, entry.key);
    if (spec == nullptr) {
      // A key of a policy that the recording program had added.
      if (recorded_ && entry.section == "scheduler") return;
      const auto retired = std::ranges::find_if(retired_keys(), [&](const RetiredKey& key) {
        return key.section == entry.section && key.name == entry.key;
      });
      if (retired != retired_keys().end()) {
        if (!recorded_)
          messages_.error(entry.key_where,
                          fmt::format("'{}' is no longer a key of [{}]", entry.key, entry.section),
                          std::string(retired->advice));
        return;
      }
      messages_.error(entry.key_where, fmt::format("unknown key '{}' in [{}]", entry.key, entry.section),
                      name_hint(entry.key, keys_of(entry.section)));
      return;
    }
    chosen_[spec] = &entry;
  }

  void take_class(const RawEntry& entry) {
    if (entry.key == "per_scheduler" && entry.section != "latency") {
      const auto* value = std::get_if<bool>(&entry.value);
      if (value == nullptr) {
        messages_.error(entry.where, fmt::format("{}.per_scheduler = {} is neither true nor false",
                                                 entry.section, show_raw(entry.value)));
      } else if (MachineConfig::Pipe* pipe = pipe_of(entry); pipe != nullptr) {
        pipe->per_scheduler = *value;
      }
      return;
    }
    if (std::ranges::find(timing_classes(), entry.key) == timing_classes().end()) {
      messages_.error(entry.key_where,
                      fmt::format("unknown timing class '{}' in [{}]", entry.key, entry.section),
                      name_hint(entry.key, timing_classes()));
      return;
    }
    const auto* cycles = std::get_if<int64_t>(&entry.value);
    const int64_t lowest = entry.section == "latency" ? 1 : 0;
    if (cycles == nullptr || *cycles < lowest || *cycles > kMaxLatencyCycles) {
      messages_.error(entry.where,
                      fmt::format("{}.{} = {} is not a number of core cycles", entry.section, entry.key,
                                  show_raw(entry.value)),
                      fmt::format("valid: integers from {} to {}", lowest, kMaxLatencyCycles));
      return;
    }
    places_[entry.section + "." + entry.key] = entry.where;
    if (entry.section == "latency") {
      machine_.latency[entry.key] = *cycles;
      return;
    }
    if (MachineConfig::Pipe* pipe = pipe_of(entry); pipe != nullptr) pipe->interval[entry.key] = *cycles;
  }

  /// The pipe of a [pipes.NAME] entry, a new one if need be; nullptr if there are too many.
  MachineConfig::Pipe* pipe_of(const RawEntry& entry) {
    const std::string name = entry.section.substr(6);
    const auto pipe = std::ranges::find(machine_.pipes, name, &MachineConfig::Pipe::name);
    if (pipe != machine_.pipes.end()) return &*pipe;
    if (machine_.pipes.size() >= kMaxPipes) {
      messages_.error(entry.key_where, fmt::format("more than {} pipes", kMaxPipes));
      return nullptr;
    }
    return &machine_.pipes.emplace_back(MachineConfig::Pipe{name, {}, false});
  }

  void assign(const KeySpec& spec) {
    const auto entry = chosen_.find(&spec);
    const std::string name = fmt::format("{}.{}", spec.section, spec.name);
    if (entry == chosen_.end()) {
      store(spec, default_value(spec), {"default of " + name}, machine_, messages_);
    } else {
      places_[name] = entry->second->where;
      // The policy may be one that the recording program had added.
      if (const auto* word = std::get_if<std::string>(&entry->second->value);
          recorded_ && name == "scheduler.policy" && word != nullptr) {
        machine_.scheduler.policy = *word;
        return;
      }
      store(spec, entry->second->value, entry->second->where, machine_, messages_);
    }
  }

  const RawConfig& raw_;
  Messages& messages_;
  bool recorded_;
  MachineConfig machine_;
  std::map<const KeySpec*, const RawEntry*> chosen_;
  KeyPlaces places_;
  std::set<std::string> unknown_sections_;
};

MachineConfig finish(RawConfig& raw, const std::string& file, std::span<const std::string> sets,
                     Messages& messages, bool recorded = false) {
  for (const std::string& set : sets) raw.add_set(set, messages);
  MachineConfig machine = Loader(raw, file, messages, recorded).build();
  messages.raise_if_any();
  return machine;
}

std::string resolve_name(const std::string& name, std::span<const std::string> folders) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_regular_file(name, ignored)) return name;
  if (name.find('/') == std::string::npos && !name.empty()) {
    for (const std::string& folder : folders) {
      for (const std::string& file : {name, name + ".cfg"}) {
        const fs::path candidate = fs::path(folder) / file;
        if (fs::is_regular_file(candidate, ignored)) return candidate.string();
      }
    }
  }
  // A name that is no machine's, but something else's. A folder may be called as a machine is meant.
  const bool folder = fs::is_directory(name, ignored);
  const bool like_a_machine =
      folder && fs::path(name).extension().empty() && name.find_first_of("./") == std::string::npos;
  if (fs::exists(name, ignored) && !like_a_machine)
    raise_input_error({name}, folder ? "is a folder, not a file" : "cannot read: not a regular file");
  refuse_unreachable(name);
  const std::vector<MachineListing> machines = list_machines(folders);
  std::vector<std::string_view> names;
  names.reserve(machines.size());
  for (const MachineListing& machine : machines) names.push_back(machine.name);
  const std::string stem = fs::path(name).stem().string();
  std::string closed;
  for (const std::string& place : folders)
    if (const std::string why = why_closed(place); !why.empty())
      closed += fmt::format(", and {} cannot be opened: {}", place, why);
  raise_input_error({},
                    fmt::format("no machine configuration '{}'{}{}", name,
                                folder ? " (a folder is called so)" : "", closed),
                    names.empty()
                        ? fmt::format("none is in {}; GPUSIM_DATA names the folder that has configs/ "
                                      "(it comes with gpusim), or give the path of a .cfg",
                                      fmt::join(folders, ", "))
                        : name_hint(stem, names));
}

}  // namespace

MachineConfig load_machine(const std::string& path_or_name, std::span<const std::string> sets,
                           std::span<const std::string> search_folders) {
  Messages messages;
  RawConfig raw(search_folders);
  const std::string path = resolve_name(path_or_name, search_folders);
  raw.add_file(path, messages);
  return finish(raw, path, sets, messages);
}

void check_set(const std::string& set, const MachineConfig& machine, const Where& where, Messages& messages) {
  RawConfig raw;
  raw.add_set(set, where, messages);
  Loader(raw, where.file, messages, /*recorded=*/false).check(machine);
}

int64_t interconnect_clock(const MachineConfig& machine, const ClockChoice& clocks) {
  if (clocks.interconnect_khz != 0 || clocks.core_khz == 0 || !machine.clocks.interconnect_follows)
    return clocks.interconnect_khz;
  return std::max<int64_t>(machine.clocks.interconnect_khz * clocks.core_khz / machine.clocks.core_khz, 1);
}

int64_t dram_clock(const MachineConfig& machine, const ClockChoice& clocks) {
  if (clocks.dram_khz != 0 || clocks.core_khz == 0 || machine.clocks.dram_follows.empty())
    return clocks.dram_khz;
  return dram_clock_beside(
      parse_clock_points(machine.clocks.dram_follows).value_or(std::vector<ClockPoint>{}), clocks.core_khz,
      machine.clocks.dram_khz);
}

namespace {

/// Times that are so many cycles of a clock, when that changes from `before` to `after` (0: it does not).
void keep_cycles(std::initializer_list<double*> times, int64_t before, int64_t after) {
  if (after == 0 || after == before) return;
  for (double* ns : times) *ns *= static_cast<double>(before) / static_cast<double>(after);
}

/// Of each clock, the latencies that its domain's stages make. dram.refi is not one: cells lose their charge
/// at any clock.
void keep_latencies(MachineConfig& m, int64_t core, int64_t interconnect, int64_t dram) {
  keep_cycles(
      {&m.constant.l2_latency_ns, &m.tlb.l2_latency_ns, &m.tlb.walk_latency_ns, &m.tlb.table_latency_ns},
      m.clocks.core_khz, core);
  keep_cycles(
      {&m.interconnect.request_latency_ns, &m.interconnect.reply_latency_ns, &m.l2.latency_ns,
       &m.l2.hit_latency_ns, &m.l2.far_latency_ns, &m.constant.l3_latency_ns, &m.texture.l2_latency_ns},
      m.clocks.interconnect_khz, interconnect);
  auto& d = m.dram;
  keep_cycles({&d.latency_ns, &d.cl_ns, &d.rcd_ns, &d.rp_ns, &d.ras_ns, &d.rc_ns, &d.rrd_ns, &d.rrd_l_ns,
               &d.faw_ns, &d.wl_ns, &d.ccd_ns, &d.ccd_l_ns, &d.wr_ns, &d.cdlr_ns, &d.rtw_ns, &d.rfc_ns},
              m.clocks.dram_khz, dram);
}

}  // namespace

void set_clocks(MachineConfig& machine, const ClockChoice& clocks, const Where& where) {
  const int64_t interconnect = interconnect_clock(machine, clocks), dram = dram_clock(machine, clocks);
  if (machine.clocks.latencies_follow) keep_latencies(machine, clocks.core_khz, interconnect, dram);
  const auto set = [](int64_t khz, int64_t& clock, MachineConfig::VoltageCurve& curve) {
    if (khz == 0) return;
    if (curve.max_khz == 0) curve.max_khz = clock;
    clock = khz;
  };
  set(clocks.core_khz, machine.clocks.core_khz, machine.dvfs.core);
  set(interconnect, machine.clocks.interconnect_khz, machine.dvfs.interconnect);
  set(dram, machine.clocks.dram_khz, machine.dvfs.dram);
  Messages messages;
  validate_machine(machine, {{"", where}}, messages);
  messages.raise_if_any();
}

MachineConfig parse_machine(std::string_view text, const std::string& name,
                            std::span<const std::string> sets) {
  Messages messages;
  RawConfig raw;
  raw.add_text(text, name, messages);
  return finish(raw, name, sets, messages);
}

MachineConfig parse_recorded_machine(std::string_view text, const std::string& name) {
  Messages messages;
  RawConfig raw;
  raw.add_text(text, name, messages);
  return finish(raw, name, {}, messages, /*recorded=*/true);
}

std::span<const std::string_view> op_class_names() { return timing_classes(); }

}  // namespace gpusim::core
