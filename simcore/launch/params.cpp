#include "simcore/launch/params.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "simcore/launch/launch_numbers.h"
#include "simcore/launch/overrides.h"
#include "simcore/launch/scope.h"
#include "simcore/text/names.h"

namespace gpusim::core {
namespace {

/// Keys of a table in the file's order.
std::vector<std::pair<const toml::key*, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
  std::ranges::stable_sort(entries, [](const auto& a, const auto& b) {
    const auto& left = a.first->source().begin;
    const auto& right = b.first->source().begin;
    return std::pair(left.line, left.column) < std::pair(right.line, right.column);
  });
  return entries;
}

}  // namespace

bool is_identifier(std::string_view name) {
  return !name.empty() && name.size() <= 256 && !std::isdigit(static_cast<unsigned char>(name.front())) &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

void read_params(const ReadContext& context, const toml::table& document,
                 std::span<const std::string> overrides, LaunchDescription& launch) {
  const std::vector<ParamOverride> given = parse_overrides(overrides, context.messages);
  std::set<std::string> used;
  if (const toml::table* params = document["params"].as_table()) {
    for (const auto& [key, node] : in_order(*params)) {
      const std::string name(key->str());
      if (!is_identifier(name)) {
        context.messages.error(where_of(*key, context.file),
                               fmt::format("'{}' is not a name that expressions can use", name));
        continue;
      }
      const auto overriding = std::ranges::find(given, name, &ParamOverride::name);
      if (overriding != given.end()) {
        used.insert(name);
        launch.params.emplace_back(name, overriding->value);
      } else if (const auto value = read_number(context, *node, name)) {
        launch.params.emplace_back(name, *value);
      }
    }
  }
  for (const ParamOverride& item : given) {
    if (used.contains(item.name) || launch.find_param(item.name) != nullptr) continue;
    context.messages.error(item.where, fmt::format("the launch file has no parameter '{}'", item.name),
                           name_hint(item.name, param_scope(launch).names));
  }
}

void read_flops(const ReadContext& context, const toml::table& document, LaunchDescription& launch) {
  const toml::table* flops = document["flops"].as_table();
  if (flops == nullptr) return;
  for (const auto& [key, node] : in_order(*flops)) {
    const auto value = read_number(context, *node, key->str());
    if (!value) continue;
    if (!(value->as_double() >= 0)) {
      context.messages.error(where_of(*node, context.file), fmt::format("flops.{} is negative", key->str()));
    }
    launch.flops.emplace_back(std::string(key->str()), value->as_double());
  }
}

LaunchDescription parse_launch_numbers(std::string_view text, const std::string& path,
                                       std::span<const std::string> param_overrides) {
  const toml::table document = parse_toml(text, path);
  LaunchDescription launch;
  launch.path = path;
  Messages messages;
  const ReadContext context{path, messages, launch};
  read_params(context, document, param_overrides, launch);
  read_flops(context, document, launch);
  messages.raise_if_any();
  return launch;
}

namespace {

/// Of buffers that the host swaps, the name that stands for both.
std::map<std::string, std::string> swapped_buffers(const toml::table& document) {
  std::map<std::string, std::string> one;
  const auto* steps = document["host"].as_array();
  for (size_t i = 0; steps != nullptr && i < steps->size(); ++i) {
    const toml::table* step = (*steps)[i].as_table();
    const std::string text = step == nullptr ? std::string() : (*step)["step"].value_or(std::string());
    constexpr std::string_view kSwap = "swap(";
    const size_t comma = text.find(','), end = text.find(')');
    if (!text.starts_with(kSwap) || comma == std::string::npos || end == std::string::npos || end < comma)
      continue;
    const auto name = [&](size_t from, size_t to) {
      const size_t first = text.find_first_not_of(' ', from), last = text.find_last_not_of(' ', to - 1);
      return first >= to || last < first ? std::string() : text.substr(first, last - first + 1);
    };
    one.emplace(name(comma + 1, end), name(kSwap.size(), comma));
  }
  return one;
}

}  // namespace

std::vector<WrittenLaunch> written_launches(std::string_view text, const std::string& path) {
  const toml::table document = parse_toml(text, path);
  std::vector<WrittenLaunch> found;
  const toml::array* launches = document["launch"].as_array();
  if (launches == nullptr) return found;
  const std::map<std::string, std::string> swapped = swapped_buffers(document);
  for (const toml::node& node : *launches) {
    const toml::table* launch = node.as_table();
    if (launch == nullptr) continue;
    found.push_back({(*launch)["kernel"].value_or(std::string()), {}});
    const toml::array* arguments = (*launch)["args"].as_array();
    if (arguments == nullptr) continue;
    for (const toml::node& argument : *arguments) {
      std::string name = argument.value_or(std::string());
      if (const auto number = argument.value<double>()) name = fmt::format("{}", *number);
      const auto at = swapped.find(name);
      found.back().arguments.push_back(at == swapped.end() ? name : at->second);
    }
  }
  return found;
}

}  // namespace gpusim::core
