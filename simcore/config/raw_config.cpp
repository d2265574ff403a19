#include "simcore/config/raw_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <span>

#include "simcore/text/names.h"
#include "simcore/text/reachable.h"
#include "simcore/text/toml_document.h"

namespace gpusim::core {
namespace {

constexpr size_t kMaxExtends = 16, kMaxBases = 64;
constexpr const char* kEnding = ".cfg";

std::optional<RawValue> scalar(const toml::node& node) {
  if (auto v = node.as_integer()) return RawValue(v->get());
  if (auto v = node.as_floating_point()) return RawValue(v->get());
  if (auto v = node.as_boolean()) return RawValue(v->get());
  if (auto v = node.as_string()) return RawValue(v->get());
  return std::nullopt;
}

void add_scalar(const std::string& section, const toml::key& key, const toml::node& node,
                const std::string& file, std::vector<RawEntry>& out, Messages& messages) {
  auto value = scalar(node);
  if (!value) {
    messages.error(where_of(node, file),
                   fmt::format("'{}.{}' must be a number, a string or a boolean, not {}", section, key.str(),
                               node_kind(node)));
    return;
  }
  out.push_back(
      {section, std::string(key.str()), std::move(*value), where_of(node, file), where_of(key, file)});
}

/// Entries of one section; only [pipes.NAME] nests.
void add_section(const toml::key& key, const toml::table& table, const std::string& file,
                 std::vector<RawEntry>& out, Messages& messages) {
  const std::string section(key.str());
  for (const auto& [inner, node] : table) {
    const toml::table* nested = node.as_table();
    if (section != "pipes" || nested == nullptr) {
      add_scalar(section, inner, node, file, out, messages);
      continue;
    }
    for (const auto& [name, value] : *nested) {
      add_scalar("pipes." + std::string(inner.str()), name, value, file, out, messages);
    }
  }
}

/// A configuration of these folders whose name is near: 'tesla_v100.cfg' for tesla_v100.
std::string configuration_hint(const std::string& name, std::span<const std::filesystem::path> folders) {
  std::set<std::string> names;
  for (const std::filesystem::path& folder : folders) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
      if (entry.path().extension() == kEnding) names.insert(entry.path().filename().string());
  }
  if (names.contains(name + kEnding))
    return fmt::format("did you mean '{}{}'? A file is extended by its whole name", name, kEnding);
  const std::vector<std::string_view> views(names.begin(), names.end());
  return name_hint(name, views);
}

bool stands_before(const RawEntry& a, const RawEntry& b) {
  return std::pair(a.key_where.line, a.key_where.column) < std::pair(b.key_where.line, b.key_where.column);
}

}  // namespace

void RawConfig::add_document(std::string_view text, const std::string& name, bool may_extend,
                             Messages& messages) {
  const toml::table document = parse_toml(text, name);
  std::vector<RawEntry> own;
  for (const auto& [key, node] : document) {
    if (key.str() == "extends") {
      if (!may_extend) {
        messages.error(where_of(node, name), "'extends' is not allowed here: the text has no folder");
        continue;
      }
      const auto extend = [&](const toml::node& base) {
        if (const auto* file = base.as_string())
          add_base(file->get(), where_of(base, name), messages);
        else
          messages.error(
              where_of(base, name),
              fmt::format("'extends' must be a string or an array of strings, not {}", node_kind(base)));
      };
      if (const toml::array* bases = node.as_array())
        for (const toml::node& base : *bases) extend(base);
      else
        extend(node);
    } else if (const toml::table* table = node.as_table()) {
      add_section(key, *table, name, own, messages);
    } else {
      messages.error(where_of(key, name), fmt::format("'{}' stands outside any section", key.str()),
                     "only 'extends' may; keys stand under a [section] line");
    }
  }
  std::stable_sort(own.begin(), own.end(),
                   stands_before);  // toml++ sorts by name; pipes need the file's order
  std::move(own.begin(), own.end(), std::back_inserter(entries_));
}

void RawConfig::add_base(const std::string& base, const Where& where, Messages& messages) {
  const auto is_there = [](const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
  };
  std::filesystem::path file = std::filesystem::path(where.file).parent_path() / base;
  for (const std::string& folder : search_folders_) {
    if (is_there(file)) break;
    if (const auto other = std::filesystem::path(folder) / base; is_there(other)) file = other;
  }
  if (const std::string why = why_unreachable(file.string()); !why.empty())
    raise_input_error(where, fmt::format("cannot extend '{}': {}", base, why));
  if (!is_there(file)) {
    std::vector<std::filesystem::path> folders = {file.parent_path()};
    folders.insert(folders.end(), search_folders_.begin(), search_folders_.end());
    raise_input_error(where, fmt::format("cannot extend '{}': there is no such file", base),
                      configuration_hint(base, folders));
  }
  try {
    if (++bases_ > kMaxBases)
      raise_input_error({}, fmt::format("more than {} files are extended", kMaxBases));
    add_file(file.string(), messages);
  } catch (const InputError& error) {
    raise_input_error(where, fmt::format("cannot extend '{}'", base),
                      std::string("it says: ") + error.what());
  }
}

void RawConfig::add_text(std::string_view text, const std::string& name, Messages& messages) {
  add_document(text, name, false, messages);
}

void RawConfig::add_file(const std::string& path, Messages& messages) {
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(path, error);
  const std::string identity = error ? path : canonical.string();
  if (std::ranges::find(open_files_, identity) != open_files_.end()) {
    raise_input_error({path}, "the file extends itself, directly or through others");
  }
  if (open_files_.size() >= kMaxExtends) {
    raise_input_error({path}, fmt::format("more than {} files extend each other", kMaxExtends));
  }
  open_files_.push_back(identity);
  add_document(read_text_file(path), path, true, messages);
  open_files_.pop_back();
}

void RawConfig::add_set(const std::string& set, const Where& where, Messages& messages) {
  const size_t equals = set.find('=');
  const size_t dot = set.substr(0, equals).rfind('.');
  if (equals == std::string::npos || dot == std::string::npos || dot == 0 || dot + 1 == equals) {
    messages.error(where, "expected section.key=value",
                   "such as l1.mshrs=64. `gpusim config describe` lists the keys; SMs, clocks and parameters "
                   "are none of them: --sms, --core-clock, --param");
    return;
  }
  const std::string text = set.substr(equals + 1);
  // A TOML scalar (12, 1.5, true, "text") or else the bare text (16K, 1296MHz, lrr).
  RawValue value = text;
  if (!text.empty() && text.size() < 4096 && text.find_first_of("\n\r#") == std::string::npos) {
    try {
      const toml::table parsed = parse_toml("v = " + text, set);
      const toml::node* node = parsed.size() == 1 ? parsed.get("v") : nullptr;
      if (node != nullptr) value = scalar(*node).value_or(RawValue(text));
    } catch (const InputError&) {  // no TOML value: taken as the text it is
    }
  }
  entries_.push_back(
      {set.substr(0, dot), set.substr(dot + 1, equals - dot - 1), std::move(value), where, where});
}

}  // namespace gpusim::core
