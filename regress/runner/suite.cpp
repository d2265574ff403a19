#include "regress/runner/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>

#include "analysis/profile/metrics.h"
#include "simcore/launch/reader.h"
#include "simcore/text/names.h"
#include "simcore/text/text_file.h"

namespace gpusim::regress {

namespace {

using core::ReadContext;
using core::TableReader;

std::vector<std::string> read_texts(const ReadContext& context, const TableReader& table,
                                    std::string_view key) {
  std::vector<std::string> texts;
  const toml::node* node = table.node(key);
  if (node == nullptr) return texts;
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    context.messages.error(table.where(key), fmt::format("'{}' must be a list of strings, found {}", key,
                                                         core::node_kind(*node)));
    return texts;
  }
  for (const toml::node& item : *array)
    if (const auto* text = item.as_string())
      texts.push_back(text->get());
    else
      context.messages.error(
          core::where_of(item, context.file),
          fmt::format("'{}' must be a list of strings, found {}", key, core::node_kind(item)));
  return texts;
}

/// Calls read(table) for each table of a list of tables.
template <class Read>
void for_tables(const ReadContext& context, const toml::table& from, std::string_view key, Read read) {
  const toml::node* node = from.get(key);
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  if (list != nullptr && list->is_array_of_tables()) {
    for (const toml::node& item : *list) read(*item.as_table());
    return;
  }
  context.messages.error(core::where_of(*node, context.file),
                         fmt::format("expected tables [[{}]], found {}", key, core::node_kind(*node)));
}

std::string required_text(const TableReader& table, std::string_view key) {
  return table.text(key, true).value_or("");
}

/// Names of models are checked here; whether a model knows the options and quantity, when it runs.
void check_model(const ReadContext& context, const TableReader& table, const std::string& model) {
  std::vector<std::string_view> names{kMetrics};
  for (const analysis::Model& m : analysis::models()) names.push_back(m.name);
  if (model.empty() || std::ranges::find(names, model) != names.end()) return;
  context.messages.error(table.where("model"), fmt::format("there is no model '{}'", model),
                         core::name_hint(model, names));
}

/// A metric has a name of the table, a value to be compared with, and no options.
void read_metric(const ReadContext& context, const TableReader& table, Check& check) {
  std::string name = check.quantity;
  if (name.ends_with(kOfPeak)) name.resize(name.size() - kOfPeak.size());
  try {
    (void)analysis::describe_metrics(std::vector{name});
  } catch (const core::InputError&) {
    context.messages.error(table.where("quantity"), fmt::format("there is no metric '{}'", name));
  }
  if (table.node("expected") == nullptr)
    context.messages.error(table.where(), "a check of a metric needs 'expected'");
  if (!check.options.values.empty())
    context.messages.error(table.where("options"), "a metric has no options");
  check.expected = table.real("expected", 0, std::numeric_limits<double>::lowest());
}

Role read_role(const TableReader& table) {
  const std::string role = table.choice("role", {"judged", "fitted", "shown"});
  return role == "fitted" ? Role::kFitted : role == "shown" ? Role::kShown : Role::kJudged;
}

Check read_check(const ReadContext& context, const TableReader& table) {
  Check check;
  check.model = required_text(table, "model");
  check.quantity = required_text(table, "quantity");
  check_model(context, table, check.model);
  check.options.kernel = table.text("kernel", false).value_or("");
  for (const std::string& option : read_texts(context, table, "options")) {
    const size_t sign = option.find('=');
    if (sign == 0 || sign == std::string::npos)
      context.messages.error(table.where("options"), fmt::format("expected NAME=VALUE, found '{}'", option));
    else
      check.options.values.insert_or_assign(option.substr(0, sign), option.substr(sign + 1));
  }
  if (check.model == kMetrics)
    read_metric(context, table, check);
  else if (table.node("expected") != nullptr)
    context.messages.error(table.where("expected"), "only metrics are compared with a value of the suite");
  check.role = read_role(table);
  if (check.role != Role::kShown && table.node("limit") == nullptr)
    context.messages.error(table.where(), "a check that is judged or fitted needs 'limit'");
  check.limit = table.real("limit", 0, 0);
  return check;
}

core::EventLevel read_events(const TableReader& table) {
  const std::string level = table.choice("events", {"summary", "memory", "all"});
  return level == "all"      ? core::EventLevel::kAll
         : level == "memory" ? core::EventLevel::kMemory
                             : core::EventLevel::kSummary;
}

/// It names files.
bool good_name(const std::string& name) {
  return !name.empty() && name.size() <= 100 && name[0] != '.' && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  });
}

Case read_case(const ReadContext& context, const TableReader& table, const toml::table& node) {
  Case c;
  c.name = required_text(table, "name");
  c.config = required_text(table, "config");
  c.ptx = required_text(table, "ptx");
  c.launch = table.text("launch", false).value_or("");
  c.params = read_texts(context, table, "params");
  c.sets = read_texts(context, table, "sets");
  c.sms = static_cast<uint32_t>(table.integer("sms", 0, 0, 4096));
  c.events = read_events(table);
  c.max_cycles = static_cast<uint64_t>(
      table.integer("max_cycles", 0, table.node("max_cycles") == nullptr ? 0 : 1, INT64_MAX));
  c.golden = table.boolean("golden", true);
  for_tables(context, node, "check", [&](const toml::table& check) {
    c.checks.push_back(read_check(
        context, TableReader(context, check, "check",
                             {"model", "quantity", "kernel", "options", "expected", "limit", "role"})));
  });
  return c;
}

std::string with_value(std::string text, const std::string& value) {
  for (size_t at = 0; (at = text.find('$', at)) != std::string::npos; at += value.size())
    text.replace(at, 1, value);
  return text;
}

/// The case that a table describes, or one for each of its `values`.
std::vector<Case> read_cases(const ReadContext& context, const toml::table& node) {
  const TableReader table(context, node, "case",
                          {"name", "config", "ptx", "launch", "params", "sets", "sms", "events", "max_cycles",
                           "golden", "values", "check"});
  const Case described = read_case(context, table, node);
  std::vector<Case> cases;
  for (const std::string& value : read_texts(context, table, "values")) {
    Case c = described;
    c.name = with_value(c.name, value);
    for (std::string& text : c.params) text = with_value(text, value);
    for (std::string& text : c.sets) text = with_value(text, value);
    cases.push_back(std::move(c));
  }
  if (cases.empty()) cases.push_back(described);
  for (const Case& c : cases) {
    if (!c.name.empty() && !good_name(c.name))
      context.messages.error(table.where("name"),
                             "a name is of letters, digits, '_', '-' and '.', at most 100 of them");
    if (c.name == "outcome")
      context.messages.error(table.where("name"), "the outcome's files have this name");
  }
  return cases;
}

std::vector<std::string> cases_of(const std::string& name, const std::vector<Case>& cases) {
  std::vector<std::string> found;
  for (const Case& c : cases)
    if (name_means(name, c.name)) found.push_back(c.name);
  return found;
}

Study read_study(const ReadContext& context, const toml::table& node, const std::vector<Case>& cases) {
  const TableReader table(
      context, node, "study",
      {"name", "cases", "model", "quantity", "kernel", "options", "expected", "limit", "role"});
  Study study;
  study.name = required_text(table, "name");
  study.check = read_check(context, table);
  std::vector<std::string_view> names;
  names.reserve(cases.size());
  for (const Case& c : cases) names.push_back(c.name);
  const std::vector<std::string> given = read_texts(context, table, "cases");
  if (given.empty()) context.messages.error(table.where(), "a study needs 'cases', a list of names");
  for (const std::string& name : given) {
    const std::vector<std::string> found = cases_of(name, cases);
    if (found.empty())
      context.messages.error(table.where("cases"), fmt::format("there is no case '{}'", name),
                             core::name_hint(name, names));
    study.cases.insert(study.cases.end(), found.begin(), found.end());
  }
  return study;
}

std::optional<double> read_bound(const TableReader& table, std::string_view key) {
  if (table.node(key) == nullptr) return std::nullopt;
  return table.real(key, 0, std::numeric_limits<double>::lowest());
}

Claim read_claim(const ReadContext& context, const toml::table& node, const Suite& suite) {
  const TableReader table(context, node, "claim",
                          {"source", "claim", "printed", "command", "cause", "model", "quantity", "kernel",
                           "places", "value", "over", "at_least", "at_most", "verdict"});
  Claim claim;
  claim.source = required_text(table, "source");
  claim.text = required_text(table, "claim");
  claim.printed = table.text("printed", false).value_or("");
  claim.command = table.text("command", false).value_or("");
  claim.cause = table.text("cause", false).value_or("");
  claim.model = required_text(table, "model");
  claim.quantity = required_text(table, "quantity");
  claim.kernel = table.text("kernel", false).value_or("");
  check_model(context, table, claim.model);
  claim.places = read_texts(context, table, "places");
  std::vector<std::string_view> names;
  for (const Case& c : suite.cases) names.push_back(c.name);
  for (const Study& s : suite.studies) names.push_back(s.name);
  for (const std::string& place : claim.places)
    if (std::ranges::none_of(names, [&](std::string_view n) { return name_means(place, std::string(n)); }))
      context.messages.error(table.where("places"), fmt::format("there is no case or study '{}'", place),
                             core::name_hint(place, names));
  const std::string value = table.choice("value", {"error", "bias", "predicted", "simulated"});
  claim.value = value == "bias"        ? Claim::Value::kBias
                : value == "predicted" ? Claim::Value::kPredicted
                : value == "simulated" ? Claim::Value::kSimulated
                                       : Claim::Value::kError;
  const std::string over = table.choice("over", {"mean", "most", "least"});
  claim.over = over == "most"    ? Claim::Over::kMost
               : over == "least" ? Claim::Over::kLeast
                                 : Claim::Over::kMean;
  claim.at_least = read_bound(table, "at_least");
  claim.at_most = read_bound(table, "at_most");
  claim.known_short = table.choice("verdict", {"holds", "short"}) == "short";
  if (claim.at_least && claim.at_most && *claim.at_least > *claim.at_most)
    context.messages.error(table.where("at_least"), "'at_least' is more than 'at_most'");
  if (claim.known_short && claim.shown())
    context.messages.error(table.where("verdict"), "a claim that is short needs 'at_least' or 'at_most'");
  if (claim.known_short && claim.cause.empty())
    context.messages.error(table.where("verdict"),
                           "a claim that is short needs 'cause': what is known of why");
  return claim;
}

/// Cases and studies of other suites of the folder, without their golden values.
void include(const ReadContext& context, const TableReader& top, const std::string& path, Suite& suite) {
  const std::vector<std::string> left_out = read_texts(context, top, "leave_out");
  std::vector<bool> used(left_out.size(), false);
  const auto stays = [&](const std::string& name) {
    bool kept = true;
    for (size_t i = 0; i < left_out.size(); ++i)
      if (name_means(left_out[i], name)) used[i] = true, kept = false;
    return kept;
  };
  for (const std::string& name : read_texts(context, top, "include")) {
    if (!good_name(name)) {
      context.messages.error(top.where("include"),
                             fmt::format("expected the name of a suite of this folder, found '{}'", name));
      continue;
    }
    const std::filesystem::path file = std::filesystem::path(path).parent_path() / (name + ".toml");
    if (file.lexically_normal() == std::filesystem::path(path).lexically_normal()) {
      context.messages.error(top.where("include"), "a suite cannot include itself");
      continue;
    }
    const std::string text = core::read_text_file(file.string());
    if (core::parse_toml(text, file.string()).contains("include")) {
      context.messages.error(top.where("include"), fmt::format("'{}' includes suites itself", name));
      continue;
    }
    Suite other = load_suite(file.string());
    for (Case& c : other.cases) {
      c.golden = false;
      if (!stays(c.name)) continue;
      if (std::ranges::find(suite.cases, c.name, &Case::name) != suite.cases.end())
        context.messages.error(top.where("include"),
                               fmt::format("'{}' brings a second case '{}'", name, c.name));
      suite.cases.push_back(std::move(c));
    }
    for (Study& s : other.studies) {
      if (!stays(s.name) || !std::ranges::all_of(s.cases, stays)) continue;
      if (std::ranges::find(suite.studies, s.name, &Study::name) != suite.studies.end())
        context.messages.error(top.where("include"),
                               fmt::format("'{}' brings a second study '{}'", name, s.name));
      suite.studies.push_back(std::move(s));
    }
  }
  for (size_t i = 0; i < left_out.size(); ++i)
    if (!used[i])
      context.messages.error(top.where("leave_out"),
                             fmt::format("no case or study that is included is called '{}'", left_out[i]));
}

}  // namespace

bool name_means(const std::string& pattern, const std::string& name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

std::string_view role_name(Role role) {
  return role == Role::kFitted ? "fitted" : role == Role::kShown ? "shown" : "judged";
}

Suite load_suite(const std::string& path) {
  Suite suite;
  suite.name = std::filesystem::path(path).stem().string();
  suite.given = path;
  const toml::table root = core::parse_toml(core::read_text_file(path), path);
  core::Messages messages;
  const core::LaunchDescription no_params;
  const ReadContext context{path, messages, no_params};
  const TableReader top(context, root, "suite", {"include", "leave_out", "case", "study", "mean", "claim"});
  include(context, top, path, suite);
  for_tables(context, root, "case", [&](const toml::table& t) {
    for (Case& c : read_cases(context, t)) {
      if (std::ranges::find(suite.cases, c.name, &Case::name) != suite.cases.end())
        messages.error(core::where_of(t, path), fmt::format("there are two cases '{}'", c.name));
      suite.cases.push_back(std::move(c));
    }
  });
  for_tables(context, root, "study", [&](const toml::table& t) {
    Study study = read_study(context, t, suite.cases);
    if (!study.name.empty() &&
        std::ranges::find(suite.studies, study.name, &Study::name) != suite.studies.end())
      messages.error(core::where_of(*t.get("name"), path),
                     fmt::format("there are two studies '{}'", study.name));
    if (!study.name.empty() && std::ranges::find(suite.cases, study.name, &Case::name) != suite.cases.end())
      messages.error(core::where_of(*t.get("name"), path), fmt::format("there is a case '{}'", study.name));
    suite.studies.push_back(std::move(study));
  });
  for_tables(context, root, "mean", [&](const toml::table& t) {
    const TableReader table(context, t, "mean", {"model", "quantity", "limit", "constant_fails"});
    MeanLimit mean;
    mean.model = required_text(table, "model");
    mean.quantity = required_text(table, "quantity");
    check_model(context, table, mean.model);
    mean.limit = table.real("limit", 0, 0);
    mean.constant_fails = table.boolean("constant_fails", false);
    if (table.node("limit") == nullptr) messages.error(table.where(), "a mean needs 'limit'");
    suite.means.push_back(mean);
  });
  for_tables(context, root, "claim",
             [&](const toml::table& t) { suite.claims.push_back(read_claim(context, t, suite)); });
  if (suite.cases.empty() && !messages.has_errors()) messages.error({path, 0, 0}, "has no [[case]]");
  messages.raise_if_any();
  return suite;
}

void select(Suite& suite, const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const Case& c : suite.cases) known.push_back(c.name);
  for (const Study& s : suite.studies) known.push_back(s.name);
  for (const std::string& name : names)
    if (std::ranges::none_of(known, [&](std::string_view k) { return name_means(name, std::string(k)); }))
      throw core::InputError(fmt::format("gpusim: error: suite '{}' has no case or study '{}'; {}",
                                         suite.name, name, core::name_hint(name, known)));
  const auto wanted = [&names](const std::string& name) {
    return std::ranges::any_of(names, [&](const std::string& n) { return name_means(n, name); });
  };
  // A part of a claim's rows says nothing of it.
  std::erase_if(suite.claims, [&](const Claim& claim) {
    const auto of_claim = [&](std::string_view name) {
      return std::ranges::any_of(
          claim.places, [&](const std::string& place) { return name_means(place, std::string(name)); });
    };
    return claim.places.empty() || std::ranges::any_of(known, [&](std::string_view name) {
             return of_claim(name) && !wanted(std::string(name));
           });
  });
  std::erase_if(suite.studies, [&](const Study& s) { return !wanted(s.name); });
  std::erase_if(suite.cases, [&](const Case& c) {
    return !wanted(c.name) && std::ranges::none_of(suite.studies, [&](const Study& s) {
      return std::ranges::find(s.cases, c.name) != s.cases.end();
    });
  });
  suite.means.clear();
}

}  // namespace gpusim::regress
