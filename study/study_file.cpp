#include "study/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>

#include "components/simulation/kernel_counters.h"
#include "components/sm/stall_cause.h"
#include "simcore/config/schema.h"
#include "simcore/launch/reader.h"
#include "simcore/text/names.h"
#include "simcore/text/text_file.h"
#include "simcore/text/units.h"

namespace gpusim::study {

namespace {

namespace fs = std::filesystem;
using core::ReadContext;
using core::TableReader;

struct NamedTarget {
  std::string_view name;
  Target::Kind kind;
};
constexpr std::array<NamedTarget, 7> kNamedTargets = {
    {{"sms", Target::Kind::kSms},
     {"core_clock", Target::Kind::kCoreClock},
     {"interconnect_clock", Target::Kind::kInterconnectClock},
     {"dram_clock", Target::Kind::kDramClock},
     {"lowering", Target::Kind::kLowering},
     {"cache", Target::Kind::kCache},
     {"seed", Target::Kind::kSeed}}};
constexpr std::string_view kParamPrefix = "param.";
constexpr size_t kMostValues = 4096, kLongestName = 64;

bool of_name(unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }
/// Columns of the results that are no counters.
constexpr std::array<std::string_view, 17> kColumns = {
    "point",  "machine",  "workload",     "status",   "verified",         "key",
    "launch", "kernel",   "grid",         "block",    "reason",           "time_s",
    "cycles", "energy_j", "energy_delay", "sram_kib", "warp_instructions"};
/// Those of them that an objective can be.
constexpr std::array<std::string_view, 6> kObjectives = {"time_s",       "cycles",   "energy_j",
                                                         "energy_delay", "sram_kib", "warp_instructions"};
constexpr std::string_view kSlotsPrefix = "slots_";
constexpr int64_t kMostSms = 4096;
/// In the order in which they are looked for: "<=" before "<".
constexpr std::array<std::string_view, 6> kRelations = {"<=", ">=", "==", "!=", "<", ">"};

}  // namespace

std::optional<Target> parse_target(std::string_view text, std::string& problem) {
  for (const NamedTarget& named : kNamedTargets)
    if (named.name == text) return Target{named.kind, {}};
  if (text.starts_with(kParamPrefix) && text.size() > kParamPrefix.size())
    return Target{Target::Kind::kParam, std::string(text.substr(kParamPrefix.size()))};
  const size_t dot = text.find('.');
  if (dot != std::string_view::npos && dot > 0 && dot + 1 < text.size())
    return Target{Target::Kind::kKey, std::string(text)};
  std::vector<std::string_view> names;
  names.reserve(kNamedTargets.size());
  for (const NamedTarget& named : kNamedTargets) names.push_back(named.name);
  problem = fmt::format(
      "'{}' is nothing that an axis can change: a key (l1.size), a parameter (param.N), or one of {}", text,
      fmt::join(names, ", "));
  return std::nullopt;
}

namespace {

/// How a value stands in an option: 32, "32K", true, 1.5. Nothing for lists and tables.
std::optional<std::string> value_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
  if (const auto* real = node.as_floating_point()) return core::format_real(real->get());
  if (const auto* truth = node.as_boolean()) return std::string(truth->get() ? "true" : "false");
  return std::nullopt;
}

bool is_column(std::string_view name) {
  return std::ranges::find(kColumns, name) != kColumns.end() || name.starts_with(kSlotsPrefix) ||
         comp::is_counter(name);
}

/// "l1.size" -> l1_size, param.N -> N.
std::string default_name(const Target& target) {
  std::string name = target.name.empty() || is_column(target.name) ? target_text(target) : target.name;
  std::ranges::replace(name, '.', '_');
  return name;
}

/// "l1.size=32K" -> "l1.size"
std::string_view key_of(std::string_view set) { return set.substr(0, set.find('=')); }

void check_axis_name(const Axis& axis, const core::Where& where, core::Messages& messages) {
  if (!good_name(axis.name))
    messages.error(where, fmt::format("'{}' is no name: letters, digits and '_', a letter first, at "
                                      "most 64 of them",
                                      axis.name));
  else if (is_column(axis.name))
    messages.error(where,
                   fmt::format("an axis cannot be called '{}', which is a column of the results", axis.name),
                   "give it another 'name'");
}

/// Classes of pipes and latencies are known when a machine is read; of all else the keys are known here.
void check_key(const Target& target, const core::Where& where, core::Messages& messages) {
  const size_t dot = target.name.find('.');
  const std::string_view section = std::string_view(target.name).substr(0, dot);
  if (section == "latency" || section == "pipes") return;
  if (std::ranges::find(core::section_names(), section) == core::section_names().end())
    return messages.error(where,
                          fmt::format("there is no key '{}': unknown section [{}]", target.name, section),
                          core::name_hint(section, core::section_names()));
  std::vector<std::string> keys;
  for (const core::KeySpec& spec : core::schema())
    if (spec.section == section) keys.push_back(fmt::format("{}.{}", spec.section, spec.name));
  if (std::ranges::find(keys, target.name) != keys.end()) return;
  const std::vector<std::string_view> names(keys.begin(), keys.end());
  messages.error(where, fmt::format("there is no key '{}'", target.name),
                 core::name_hint(target.name, names));
}

/// Each target is changed at one place.
void check_targets(const Study& study, core::Messages& messages) {
  for (const Axis& axis : study.axes)
    for (const Target& target : axis.targets)
      if (target.kind == Target::Kind::kKey) check_key(target, axis.where, messages);
  for (size_t a = 0; a < study.axes.size(); ++a) {
    const Axis& axis = study.axes[a];
    for (size_t t = 0; t < axis.targets.size(); ++t) {
      const std::string text = target_text(axis.targets[t]);
      const auto end = axis.targets.begin() + static_cast<ptrdiff_t>(t);
      if (std::find(axis.targets.begin(), end, axis.targets[t]) != end)
        messages.error(axis.where, fmt::format("axis '{}' changes {} twice", axis.name, text));
      for (size_t other = 0; other < a; ++other)
        if (std::ranges::find(study.axes[other].targets, axis.targets[t]) != study.axes[other].targets.end())
          messages.error(axis.where,
                         fmt::format("axis '{}' changes {}, which axis '{}' ({}) changes too", axis.name,
                                     text, study.axes[other].name, study.axes[other].where.text()));
      for (const std::string& set : study.sets)
        if (axis.targets[t].kind == Target::Kind::kKey && key_of(set) == text)
          messages.error(axis.where,
                         fmt::format("axis '{}' changes {}, which is set to one value at all points ({})",
                                     axis.name, text, set),
                         "take it out of 'set' (--set), or out of the axis");
      if (axis.targets[t].kind != Target::Kind::kSms) continue;
      for (const Axis::Value& value : axis.values) {
        const std::string& sms = value.texts[t];
        if (sms.empty() || sms.size() > 4 || sms.find_first_not_of("0123456789") != std::string::npos ||
            std::stoll(sms) < 1 || std::stoll(sms) > kMostSms)
          messages.error(axis.where, fmt::format("axis '{}': '{}' is no number of SMs from 1 to {}",
                                                 axis.name, sms, kMostSms));
      }
    }
  }
}

void check_objective(const Study& study, core::Messages& messages) {
  const std::string& objective = study.objective;
  if (std::ranges::find(kObjectives, objective) != kObjectives.end() || comp::is_counter(objective)) return;
  std::vector<std::string_view> names(kObjectives.begin(), kObjectives.end());
  for (const std::string_view name : comp::counter_names())
    if (name != "warp_instructions") names.push_back(name);  // it is there
  std::vector<std::string> slots;
  slots.reserve(comp::kNumStallCauses);
  for (const std::string_view cause : comp::kStallCauseNames)
    slots.push_back(std::string(kSlotsPrefix).append(cause));
  if (std::ranges::find(slots, objective) != slots.end()) return;
  names.insert(names.end(), slots.begin(), slots.end());
  messages.error({study.path, 0, 0}, fmt::format("objective '{}' is no column of the results", objective),
                 core::name_hint(objective, names));
}

class StudyReader {
 public:
  StudyReader(Study& study, core::Messages& messages)
      : study_(study), messages_(messages), context_{study.path, messages, no_params_} {}

  void read(const toml::table& root) {
    const TableReader top(context_, root, "study", {"study", "workload", "axis", "constraints"});
    read_head(root);
    for_tables(root, "workload", [this](const toml::table& t) { read_workload(t); });
    for_tables(root, "axis", [this](const toml::table& t) { read_axis(t); });
    for (const auto& [text, where] : texts(root, "constraints")) read_constraint(text, where);
    if (study_.workloads.empty()) messages_.error({study_.path, 0, 0}, "has no [[workload]]");
    if (study_.machines.empty())
      messages_.error({study_.path, 0, 0}, "names no machine", "[study] machines = [\"tesla_v100\"]");
    check_objective(study_, messages_);
    if (!messages_.has_errors()) check_targets(study_, messages_);  // they have their values
  }

 private:
  void error(const core::Where& where, const std::string& message, const std::string& hint = "") {
    messages_.error(where, message, hint);
  }

  /// Strings of a list, or of a single one, with their places.
  std::vector<std::pair<std::string, core::Where>> texts(const toml::table& table, std::string_view key) {
    std::vector<std::pair<std::string, core::Where>> found;
    const toml::node* node = table.get(key);
    if (node == nullptr) return found;
    const auto take = [&](const toml::node& item) {
      if (const auto* text = item.as_string())
        found.emplace_back(text->get(), core::where_of(item, study_.path));
      else
        error(
            core::where_of(item, study_.path),
            fmt::format("'{}' must be a string or a list of strings, found {}", key, core::node_kind(item)));
    };
    if (const toml::array* list = node->as_array())
      for (const toml::node& item : *list) take(item);
    else
      take(*node);
    return found;
  }

  template <class Read>
  void for_tables(const toml::table& from, std::string_view key, Read read) {
    const toml::node* node = from.get(key);
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list != nullptr && list->is_array_of_tables()) {
      for (const toml::node& item : *list) read(*item.as_table());
      return;
    }
    error(core::where_of(*node, study_.path),
          fmt::format("expected tables [[{}]], found {}", key, core::node_kind(*node)));
  }

  void read_head(const toml::table& root) {
    const toml::node* node = root.get("study");
    if (node == nullptr) return;
    const toml::table* table = node->as_table();
    if (table == nullptr) return error(core::where_of(*node, study_.path), "expected a table [study]");
    const TableReader head(context_, *table, "study",
                           {"name", "machines", "set", "objective", "maximise", "max_cycles"});
    if (const auto name = head.text("name", false)) {
      study_.name = *name;
      if (name->empty() || name->find('/') != std::string::npos)
        error(core::where_of(*table->get("name"), study_.path),
              fmt::format("'{}' is no name of a study", *name),
              "a text without '/': results go to the folder NAME.study");
    }
    for (auto& [name, where] : texts(*table, "machines")) {
      if (std::ranges::find(study_.machines, name) != study_.machines.end())
        error(where, fmt::format("machine '{}' stands twice", name));
      study_.machines.push_back(std::move(name));
      study_.machine_places.push_back(where);
    }
    std::vector<std::string> keys;
    for (auto& [set, where] : texts(*table, "set")) {
      if (set.find('=') == std::string::npos)
        error(where, fmt::format("expected SECTION.KEY=VALUE, found '{}'", set));
      keys.push_back(set.substr(0, set.find('=')));
      if (std::ranges::count(keys, keys.back()) == 2)
        error(where, fmt::format("'{}' is set twice", keys.back()));
      study_.sets.push_back(std::move(set));
      study_.set_places.push_back(where);
    }
    study_.objective = head.text("objective", false).value_or(study_.objective);
    study_.maximise = head.boolean("maximise", false);
    study_.max_cycles = static_cast<uint64_t>(head.integer("max_cycles", kDefaultMaxCycles, 1, INT64_MAX));
  }

  std::string beside(const std::string& file) const {
    return file.empty() ? file : (fs::path(study_.path).parent_path() / file).lexically_normal().string();
  }

  void check_name(const std::string& name, const core::Where& where) {
    if (!good_name(name))
      error(where, fmt::format("'{}' is no name: letters, digits and '_', a letter first, at most 64 of them",
                               name));
  }

  void read_workload(const toml::table& t) {
    const TableReader table(context_, t, "workload", {"name", "ptx", "launch", "params"});
    Workload w;
    w.where = table.where();
    w.ptx = beside(table.text("ptx", true).value_or(""));
    w.launch = beside(table.text("launch", false).value_or(""));
    w.name =
        table.text("name", false).value_or(fs::path(w.launch.empty() ? w.ptx : w.launch).stem().string());
    if (!w.ptx.empty()) check_name(w.name, table.node("name") != nullptr ? table.where("name") : w.where);
    if (const toml::node* node = table.node("params")) {
      const toml::table* params = node->as_table();
      if (params == nullptr)
        error(core::where_of(*node, study_.path), "'params' must be a table { NAME = VALUE }");
      else
        for (const auto& [key, value] : *params) {
          const auto text = value_text(value);
          if (!text)
            error(core::where_of(value, study_.path),
                  fmt::format("parameter '{}' must be a number", key.str()));
          w.params.push_back(fmt::format("{}={}", key.str(), text.value_or("0")));
        }
    }
    for (const Workload& other : study_.workloads)
      if (other.name == w.name)
        error(w.where, fmt::format("there are two workloads '{}'", w.name), "give them a 'name'");
    study_.workloads.push_back(std::move(w));
  }

  void read_axis(const toml::table& t) {
    const TableReader table(context_, t, "axis", {"name", "of", "values"});
    Axis axis;
    axis.where = table.where();
    if (table.node("of") == nullptr) error(axis.where, "an axis needs 'of', what it changes");
    for (const auto& [text, where] : texts(t, "of")) {
      std::string problem;
      if (const auto target = parse_target(text, problem))
        axis.targets.push_back(*target);
      else
        error(where, problem);
    }
    if (table.node("name") != nullptr)
      axis.name = table.text("name", false).value_or("");
    else if (!axis.targets.empty())
      axis.name = default_name(axis.targets.front());
    if (!axis.targets.empty())
      check_axis_name(axis, table.node("name") != nullptr ? table.where("name") : axis.where, messages_);
    for (const Axis& other : study_.axes)
      if (other.name == axis.name) error(axis.where, fmt::format("there are two axes '{}'", axis.name));
    read_values(table, axis);
    study_.axes.push_back(std::move(axis));
  }

  void read_values(const TableReader& table, Axis& axis) {
    const toml::node* node = table.node("values");
    const toml::array* list = node == nullptr ? nullptr : node->as_array();
    if (list == nullptr || list->empty() || list->size() > kMostValues)
      return error(node == nullptr ? axis.where : core::where_of(*node, study_.path),
                   fmt::format("an axis needs 'values', a list of one to {}", kMostValues));
    for (const toml::node& item : *list) {
      Axis::Value value;
      value.where = core::where_of(item, study_.path);
      if (const auto text = value_text(item)) {
        value.texts.assign(std::max<size_t>(axis.targets.size(), 1), *text);
        value.label = *text;
      } else if (const toml::array* several = item.as_array()) {
        for (const toml::node& one : *several)
          if (const auto of_target = value_text(one)) value.texts.push_back(*of_target);
        value.label = fmt::format("{}", fmt::join(value.texts, "/"));
        if (value.texts.size() != axis.targets.size() || value.texts.size() != several->size())
          error(core::where_of(item, study_.path),
                fmt::format("expected a value for each of the {} targets of the axis", axis.targets.size()));
      } else {
        error(core::where_of(item, study_.path),
              fmt::format("expected a value, found {}", core::node_kind(item)));
      }
      if (std::ranges::find(axis.values, value.label, &Axis::Value::label) != axis.values.end())
        error(core::where_of(item, study_.path), fmt::format("the value {} stands twice", value.label));
      axis.values.push_back(std::move(value));
    }
  }

  void read_constraint(const std::string& text, const core::Where& where) {
    for (const std::string_view relation : kRelations) {
      const size_t at = text.find(relation);
      if (at == std::string::npos) continue;
      Constraint c{text, text.substr(0, at), std::string(relation), text.substr(at + relation.size()), where};
      core::ExpressionScope scope;
      scope.find = [this](std::string_view name) -> std::optional<core::Number> {
        if (std::ranges::find(study_.axes, name, &Axis::name) == study_.axes.end()) return std::nullopt;
        return core::Number::of_real(1);
      };
      for (const Axis& axis : study_.axes) scope.names.push_back(axis.name);
      for (const std::string& side : {c.left, c.right}) {
        core::ExpressionError problem;
        // Only its form is checked: what a value makes of it (a division by zero) is known at the points.
        if (!core::evaluate(side, scope, problem) && problem.message.find("zero") == std::string::npos)
          error(where, fmt::format("constraint '{}': {}", text, problem.message), problem.hint);
      }
      study_.constraints.push_back(std::move(c));
      return;
    }
    error(where, fmt::format("constraint '{}' has none of {}", text, fmt::join(kRelations, " ")));
  }

  Study& study_;
  core::Messages& messages_;
  core::LaunchDescription no_params_;
  ReadContext context_;
};

}  // namespace

std::string target_text(const Target& target) {
  if (target.kind == Target::Kind::kKey) return target.name;
  if (target.kind == Target::Kind::kParam) return std::string(kParamPrefix) + target.name;
  return std::string(std::ranges::find(kNamedTargets, target.kind, &NamedTarget::kind)->name);
}

std::string name_from(std::string_view stem) {
  std::string name;
  for (const char c : stem)
    if (const bool good = of_name(static_cast<unsigned char>(c)); good || !name.ends_with('_'))
      name += good ? c : '_';
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name[0])) == 0) name = "workload_" + name;
  return name.substr(0, kLongestName);
}

bool good_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::isalpha(static_cast<unsigned char>(name[0])) != 0 && std::ranges::all_of(name, of_name);
}

bool numeric_value(std::string_view text, double& value) {
  if (const auto real = core::parse_real(text)) return value = *real, true;
  if (const auto size = core::parse_size(text)) return value = static_cast<double>(*size), true;
  if (const auto khz = core::parse_khz(text)) return value = static_cast<double>(*khz), true;
  if (const auto ns = core::parse_ns(text)) return value = *ns, true;
  return false;
}

Study parse_study(std::string_view text, const std::string& path) {
  Study study;
  study.path = path;
  study.text = text;
  study.name = fs::path(path).stem().string();
  const toml::table root = core::parse_toml(text, path);
  core::Messages messages;
  StudyReader(study, messages).read(root);
  messages.raise_if_any();
  return study;
}

void check_study(const Study& study) {
  core::Messages messages;
  for (const Axis& axis : study.axes) check_axis_name(axis, axis.where, messages);
  for (size_t a = 0; a < study.axes.size(); ++a)
    for (size_t other = 0; other < a; ++other)
      if (study.axes[other].name == study.axes[a].name)
        messages.error(study.axes[a].where, fmt::format("there are two axes '{}'", study.axes[a].name));
  for (size_t m = 0; m < study.machines.size(); ++m)
    for (size_t other = 0; other < m; ++other)
      if (study.machines[other] == study.machines[m])
        messages.error({study.path, 0, 0}, fmt::format("machine '{}' stands twice", study.machines[m]));
  check_targets(study, messages);
  check_objective(study, messages);
  messages.raise_if_any();
}

std::string machine_name(const Study& study, size_t machine) {
  const auto stem = [](const std::string& text) {
    return text.find('/') == std::string::npos && !text.ends_with(".cfg") ? text
                                                                          : fs::path(text).stem().string();
  };
  const std::string name = stem(study.machines[machine]);
  const bool unique =
      std::ranges::count_if(study.machines, [&](const std::string& m) { return stem(m) == name; }) == 1;
  return unique ? name : study.machines[machine];
}

Study load_study(const std::string& path) { return parse_study(core::read_text_file(path), path); }

Axis axis_from_option(const std::string& text) {
  const auto fail = [&text](const std::string& why) {
    throw core::InputError(
        fmt::format("gpusim: error: --axis '{}': {}\n  hint: --axis l1.size=16K,32K,64K, --axis "
                    "param.N=256,512, or --axis "
                    "lsu.mshrs+l1.mshrs=64,128, whose keys move together",
                    text, why));
  };
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) fail("is not TARGET=VALUE,VALUE,...");
  Axis axis;
  axis.where = {"--axis '" + text + "'", 0, 0};
  const auto split = [](std::string_view list, char separator) {
    std::vector<std::string> parts;
    for (size_t at = 0; at <= list.size();) {
      const size_t end = std::min(list.find(separator, at), list.size());
      std::string_view part = list.substr(at, end - at);  // "16K, 32K"
      while (part.starts_with(' ')) part.remove_prefix(1);
      while (part.ends_with(' ')) part.remove_suffix(1);
      parts.emplace_back(part);
      at = end + 1;
    }
    return parts;
  };
  for (const std::string& name : split(std::string_view(text).substr(0, equals), '+')) {
    std::string problem;
    const auto target = parse_target(name, problem);
    if (!target) fail(problem);
    axis.targets.push_back(*target);
  }
  axis.name = default_name(axis.targets.front());
  for (const std::string& value : split(std::string_view(text).substr(equals + 1), ',')) {
    if (value.empty()) fail("has an empty value");
    if (std::ranges::find(axis.values, value, &Axis::Value::label) != axis.values.end())
      fail(fmt::format("the value {} stands twice", value));
    axis.values.push_back({value, std::vector<std::string>(axis.targets.size(), value), axis.where});
  }
  return axis;
}

}  // namespace gpusim::study
