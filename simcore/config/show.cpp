// `gpusim config show | list | describe | diff`: all printed from the schema table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "simcore/config/load.h"
#include "simcore/config/memory_times.h"
#include "simcore/config/raw_config.h"
#include "simcore/config/schema.h"
#include "simcore/text/names.h"
#include "simcore/text/text_file.h"
#include "simcore/text/units.h"

namespace gpusim::core {
namespace {

std::string toml_string(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

/// A value as a .cfg file writes it; reading it back gives the same value.
std::string value_text(const KeySpec& spec, MachineConfig& machine) {
  if (const std::optional<int64_t> number = whole_number(spec, machine)) {
    const int64_t value = *number;
    switch (spec.kind) {
      case KeyKind::kSize:
        return value % 1024 == 0 && value > 0 ? toml_string(format_size(value)) : fmt::format("{}", value);
      case KeyKind::kClock:
        return toml_string(format_khz(value));
      case KeyKind::kCapability:
        return fmt::format("\"{}.{}\"", value / 10, value % 10);
      default:
        return fmt::format("{}", value);
    }
  }
  if (const double* number = real_number(spec, machine)) return format_real(*number);
  if (const auto* at = std::get_if<bool* (*)(MachineConfig&)>(&spec.member))
    return *(*at)(machine) ? "true" : "false";
  if (const auto* choice = std::get_if<ChoiceMember>(&spec.member))
    return toml_string(std::string(choice->words[choice->get(machine)]));
  return toml_string(*std::get<std::string* (*)(MachineConfig&)>(spec.member)(machine));
}

/// Key for a [pipes.NAME] header: bare if TOML allows it.
std::string bare_or_quoted(const std::string& name) {
  const bool bare = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return bare ? name : toml_string(name);
}

std::string class_lines(const std::map<std::string, int64_t>& cycles) {
  std::string text;
  for (std::string_view name : timing_classes()) {
    const auto entry = cycles.find(std::string(name));
    if (entry != cycles.end()) text += fmt::format("{} = {}\n", name, entry->second);
  }
  return text;
}

/// The line with its comment behind it, in as many lines as it takes to stay within the width of a page.
std::string commented(const std::string& line, std::string_view comment) {
  constexpr size_t kWidth = 130, kColumn = 32, kLeast = 40;
  std::string text;
  std::string_view before = line;
  while (!comment.empty() || text.empty()) {
    const size_t used = std::max(before.size(), kColumn) + 3;
    const size_t room = std::max(kWidth - std::min(used, kWidth), kLeast);
    size_t end = comment.size();
    if (end > room) {
      end = comment.rfind(' ', room);
      if (end == std::string_view::npos || end == 0) end = std::min(comment.find(' '), comment.size());
    }
    text += fmt::format("{:<{}} # {}\n", before, kColumn, comment.substr(0, end));
    comment.remove_prefix(std::min(end + 1, comment.size()));
    before = {};
  }
  return text;
}

/// A time of DRAM in memory cycles, if it is a whole number of them and reads back as the same time.
std::string in_memory_cycles(const KeySpec& spec, MachineConfig& machine) {
  const double ns = *real_number(spec, machine), khz = static_cast<double>(machine.clocks.dram_khz);
  const double cycles = std::round(ns * khz / 1e6);
  return cycles * 1e6 / khz == ns ? toml_string(fmt::format("{}ck", format_real(cycles)))
                                  : value_text(spec, machine);
}

std::string section_text(std::string_view section, MachineConfig& machine, bool comments,
                         const std::set<std::string>& in_clocks = {}) {
  std::string text;
  if (section == "pipes") {
    for (const MachineConfig::Pipe& pipe : machine.pipes) {
      text += fmt::format("\n[pipes.{}]{}\n", bare_or_quoted(pipe.name),
                          comments ? "  # core cycles per warp operation" : "");
      if (pipe.per_scheduler) text += "per_scheduler = true\n";
      text += class_lines(pipe.interval);
    }
    return text;
  }
  text = fmt::format("\n[{}]\n", section);
  if (section == "latency") {
    if (comments) text += "# core cycles from issue to the first issue of a dependent operation\n";
    return text + class_lines(machine.latency);
  }
  for (const KeySpec& spec : schema()) {
    if (spec.section != section) continue;
    const bool cycles = spec.kind == KeyKind::kDramTime && in_clocks.contains(std::string(spec.name));
    const std::string line = fmt::format(
        "{} = {}", spec.name, cycles ? in_memory_cycles(spec, machine) : value_text(spec, machine));
    text += comments ? commented(line,
                                 fmt::format("{}{}", spec.unit.empty() ? "" : fmt::format("[{}] ", spec.unit),
                                             spec.doc))
                     : line + "\n";
  }
  return text;
}

/// Every value by its full key, for diff.
std::map<std::string, std::string> flatten(MachineConfig machine) {
  std::map<std::string, std::string> values;
  for (const KeySpec& spec : schema()) {
    values[fmt::format("{}.{}", spec.section, spec.name)] = value_text(spec, machine);
  }
  for (const auto& [name, cycles] : machine.latency) values["latency." + name] = std::to_string(cycles);
  std::string order;
  for (const MachineConfig::Pipe& pipe : machine.pipes) {
    order += (order.empty() ? "" : " ") + pipe.name;
    values[fmt::format("pipes.{}.per_scheduler", pipe.name)] = pipe.per_scheduler ? "true" : "false";
    for (const auto& [name, cycles] : pipe.interval) {
      values[fmt::format("pipes.{}.{}", pipe.name, name)] = std::to_string(cycles);
    }
  }
  values["pipes (order)"] = order;
  return values;
}

std::string range_text(const KeySpec& spec) {
  switch (spec.kind) {
    case KeyKind::kChoice:
      return std::string(spec.choices);
    case KeyKind::kBoolean:
      return "true|false";
    case KeyKind::kText:
      return "text";
    case KeyKind::kCapability:
      return "1.0 to 9.9";
    case KeyKind::kSize:
      return format_size(static_cast<int64_t>(spec.min)) + " to " +
             format_size(static_cast<int64_t>(spec.max));
    case KeyKind::kClock:
      return format_khz(static_cast<int64_t>(spec.min)) + " to " + format_khz(static_cast<int64_t>(spec.max));
    default:
      return format_real(spec.min) + " to " + format_real(spec.max);
  }
}

}  // namespace

std::string show_machine(const MachineConfig& machine, bool with_comments) {
  MachineConfig copy = machine;
  std::string text;
  for (std::string_view section : section_names()) text += section_text(section, copy, with_comments);
  return text.substr(text.find_first_not_of('\n'));
}

std::string show_machine_with_clocks(const MachineConfig& machine, const std::set<std::string>& in_clocks) {
  MachineConfig copy = machine;
  std::string text;
  for (std::string_view section : section_names()) text += section_text(section, copy, true, in_clocks);
  return text.substr(text.find_first_not_of('\n'));
}

std::vector<MachineListing> list_machines(std::span<const std::string> search_folders) {
  namespace fs = std::filesystem;
  std::map<std::string, MachineListing> machines;
  for (const std::string& folder : search_folders) {
    std::error_code ignored;
    std::map<std::string, std::string> found;
    for (fs::directory_iterator item(folder, ignored), end; !ignored && item != end;
         item.increment(ignored)) {
      if (item->path().extension() == ".cfg") found[item->path().stem().string()] = item->path().string();
    }
    for (const auto& [name, path] : found) {
      if (machines.contains(name)) continue;
      MachineListing listing{name, path, ""};
      try {
        listing.description = load_machine(path, {}, {}).gpu.description;
      } catch (const InputError& error) {
        const std::string message = error.what();
        listing.description = "does not load: " + message.substr(0, message.find('\n'));
      }
      machines[name] = std::move(listing);
    }
  }
  std::vector<MachineListing> list;
  list.reserve(machines.size());
  for (auto& [name, listing] : machines) list.push_back(std::move(listing));
  return list;
}

std::string describe_keys(std::string_view key) {
  const size_t dot = key.find('.');
  const std::string_view section = key.substr(0, dot);
  const std::string_view name = dot == std::string_view::npos ? std::string_view() : key.substr(dot + 1);
  if (!key.empty() && std::ranges::find(section_names(), section) == section_names().end()) {
    raise_input_error({}, fmt::format("no section [{}]", section), name_hint(section, section_names()));
  }
  std::string text =
      fmt::format("{:<30} {:<20} {:<12} {:<26} {}\n", "key", "unit", "default", "range", "meaning");
  const size_t header = text.size();
  std::vector<std::string_view> names;
  for (const KeySpec& spec : schema()) {
    if (!key.empty() && spec.section != section) continue;
    names.push_back(spec.name);
    if (!name.empty() && spec.name != name) continue;
    text += fmt::format("{:<30} {:<20} {:<12} {:<26} {}\n", fmt::format("{}.{}", spec.section, spec.name),
                        spec.unit, spec.default_text, range_text(spec), spec.doc);
  }
  const auto class_row = [&](std::string_view where, std::string_view meaning, std::string_view fallback,
                             int lowest) {
    text += fmt::format("{:<30} {:<20} {:<12} {:<26} {}\n", where, "core cycles", fallback,
                        fmt::format("{} to {}", lowest, kMaxLatencyCycles), meaning);
  };
  if (key.empty() || section == "pipes") {
    class_row("pipes.NAME.CLASS", "a pipe is busy that long for one warp operation; 0 takes the class out",
              "", 0);
    text +=
        fmt::format("{:<30} {:<20} {:<12} {:<26} {}\n", "pipes.NAME.per_scheduler", "", "false", "true|false",
                    "every scheduler has such a pipe of its own (sub-cores); false: the SM has one");
  }
  if (key.empty() || section == "latency") {
    class_row("latency.CLASS", "from issue to the first issue of a dependent operation",
              std::to_string(kDefaultLatencyCycles), 1);
  }
  if (key.empty() || section == "pipes" || section == "latency") {
    text += "CLASS is one of:";
    for (std::string_view timing_class : timing_classes()) text += " " + std::string(timing_class);
    text += "\n";
  }
  if (text.size() == header) {
    raise_input_error({}, fmt::format("no key '{}' in [{}]", name, section), name_hint(name, names));
  }
  return text;
}

namespace {

/// What bounds the same thing as the key does, and is easily taken for it.
constexpr std::pair<std::string_view, std::string_view> kNotes[] = {
    {"l1.mshrs",
     "What an SM has on its way is bounded by lsu.mshrs too: a line on its way holds one of these, and each "
     "request for its sectors one of lsu.mshrs. More of these than of those help only loads that wait for a "
     "line already asked for."},
    {"lsu.mshrs",
     "On a machine with an L1, what the L1 asks for is bounded by l1.mshrs too: each line on its way holds "
     "one "
     "of them. Loads that pass by the L1, and atomics, need these only."}};

/// The text in lines of at most `width` characters, each after `indent` spaces.
std::string paragraph(std::string_view text, size_t indent, size_t width) {
  std::string out;
  size_t column = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (column == 0 || column + 1 + word.size() > width) {
      out += (column == 0 ? "" : "\n") + std::string(indent, ' ');
      column = indent;
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

/// Where a machine's file, or one that it extends, sets the key; none: it has the default.
std::optional<Where> place_of(const std::string& path, std::string_view section, std::string_view key,
                              std::span<const std::string> search_folders) {
  RawConfig raw(search_folders);
  Messages messages;
  raw.add_file(path, messages);
  std::optional<Where> place;
  for (const RawEntry& entry : raw.entries())
    if (entry.section == section && entry.key == key) place = entry.where;
  return place;
}

/// The comment at the end of that line; empty without one.
std::string comment_at(const Where& place) {
  const std::string text = read_text_file(place.file);
  size_t begin = 0;
  for (uint32_t line = 1; line < place.line && begin < text.size(); ++line)
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  // Values in quotes may hold a #.
  bool quoted = false;
  for (size_t at = begin; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '"') quoted = !quoted;
    if (text[at] != '#' || quoted) continue;
    const size_t from = text.find_first_not_of("# ", at);
    const size_t end = std::min(text.find('\n', at), text.size());
    return from < end ? text.substr(from, end - from) : "";
  }
  return "";
}

/// A machine's value of the key, and why it is that; empty if it has no such key.
std::string machine_line(const MachineListing& listing, std::string_view section, std::string_view key,
                         std::span<const std::string> search_folders) {
  try {
    const auto values = flatten(load_machine(listing.path, {}, search_folders));
    const auto value = values.find(fmt::format("{}.{}", section, key));
    if (value == values.end()) return {};
    const std::optional<Where> place = place_of(listing.path, section, key, search_folders);
    if (!place) return fmt::format("    {:<16} {:<12} default\n", listing.name, value->second);
    const std::string file = std::filesystem::path(place->file).filename().string();
    const std::string comment = comment_at(*place);
    return fmt::format("    {:<16} {:<12} {}:{}{}\n", listing.name, value->second, file, place->line,
                       comment.empty() ? "" : ": " + comment);
  } catch (const InputError&) {
    return fmt::format("    {:<16} {}\n", listing.name, listing.description);
  }
}

std::string machine_lines(std::string_view section, std::string_view key,
                          std::span<const std::string> search_folders) {
  std::string lines;
  for (const MachineListing& listing : list_machines(search_folders))
    lines += machine_line(listing, section, key, search_folders);
  return lines.empty() ? lines : "  machines, and what their files say of the value:\n" + lines;
}

/// A key that stands in no table, as its name is that of a pipe or of a class of operations; empty if it is
/// none.
std::string explain_class_key(std::string_view key, std::span<const std::string> search_folders) {
  const size_t dot = std::min(key.rfind('.'), key.size());
  const std::string_view section = key.substr(0, dot);
  const std::string_view name = key.substr(std::min(dot + 1, key.size()));
  const bool is_class = std::ranges::find(timing_classes(), name) != timing_classes().end();
  std::string text;
  if (section == "latency" && is_class)
    text = fmt::format(
        "  from issue to the first issue of a dependent operation\n  unit       core cycles\n"
        "  default    {}\n  range      1 to {}\n",
        kDefaultLatencyCycles, kMaxLatencyCycles);
  else if (section.starts_with("pipes.") && name == "per_scheduler")
    text =
        "  every scheduler has such a pipe of its own (sub-cores); false: the SM has one\n"
        "  default    false\n  range      true|false\n";
  else if (section.starts_with("pipes.") && is_class)
    text = fmt::format(
        "  the pipe is busy that long for one warp operation of this class; 0 takes the class out\n"
        "  unit       core cycles\n  default    none: it does not execute the class\n  range      0 to {}\n",
        kMaxLatencyCycles);
  else
    return {};
  const std::string lines = machine_lines(section, name, search_folders);
  if (lines.empty()) raise_input_error({}, fmt::format("no machine has a key '{}'", key), {});
  return fmt::format("{}\n{}{}", key, text, lines);
}

}  // namespace

std::string explain_key(std::string_view key, std::span<const std::string> search_folders) {
  const size_t dot = std::min(key.find('.'), key.size());
  const std::string_view section = key.substr(0, dot);
  const std::string_view name = key.substr(std::min(dot + 1, key.size()));
  const auto rows = schema();
  const auto spec = std::ranges::find_if(
      rows, [&](const KeySpec& row) { return row.section == section && row.name == name; });
  std::vector<std::string> others;
  for (const KeySpec& row : rows)
    if (row.name == (name.empty() ? section : name) && (row.section != section || name.empty()))
      others.push_back(fmt::format("{}.{}", row.section, row.name));
  if (spec == rows.end()) {
    if (name.empty() && others.size() == 1) return explain_key(others.front(), search_folders);
    if (name.empty() && !others.empty())
      raise_input_error({}, fmt::format("'{}' is a key of {} sections", key, others.size()),
                        fmt::format("such as 'gpusim config explain {}'; the others: {}", others[0],
                                    fmt::join(others.begin() + 1, others.end(), ", ")));
    if (std::string text = explain_class_key(key, search_folders); !text.empty()) return text;
    (void)describe_keys(key);  // says which section or key there is not
    raise_input_error({}, fmt::format("'{}' is not one key of the table", key),
                      "such as l1.size, latency.fp32, pipes.sp.fp32 or pipes.sp.per_scheduler; gpusim config "
                      "describe prints whole sections");
  }
  std::string text = fmt::format("{}\n{}", key, paragraph(spec->doc, 2, 100));
  if (!spec->unit.empty()) text += fmt::format("  unit       {}\n", spec->unit);
  text += fmt::format("  default    {}\n  range      {}\n",
                      spec->default_text.empty() ? "none" : spec->default_text, range_text(*spec));
  if (!others.empty()) text += fmt::format("  not to be confused with {}\n", fmt::join(others, ", "));
  for (const auto& [noted, note] : kNotes)
    if (noted == key) text += paragraph(note, 2, 100);
  return text + machine_lines(section, name, search_folders);
}

std::vector<KeyDifference> differences(const MachineConfig& a, const MachineConfig& b) {
  const auto left = flatten(a);
  const auto right = flatten(b);
  std::map<std::string, KeyDifference> rows;
  for (const auto& [key, value] : left) rows[key] = {key, value, "-"};
  for (const auto& [key, value] : right)
    rows.try_emplace(key, KeyDifference{key, "-", ""}).first->second.in_b = value;
  std::vector<KeyDifference> list;
  for (auto& [key, row] : rows) {
    if (row.in_a != row.in_b) list.push_back(std::move(row));
  }
  return list;
}

std::string diff_machines(const MachineConfig& a, const MachineConfig& b) {
  std::string text;
  for (const KeyDifference& row : differences(a, b))
    text += fmt::format("{:<32} {:<24} {}\n", row.key, row.in_a, row.in_b);
  return text;
}

}  // namespace gpusim::core
