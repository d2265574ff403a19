#include "simcore/config/added_policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>

#include "simcore/config/schema_rows.h"
#include "simcore/text/units.h"

namespace gpusim::core {
namespace {

constexpr std::string_view kSection = "scheduler", kChoosingKey = "policy";
constexpr double kLargestWhole = 9007199254740992.0;  // 2^53: from there on, a range of reals has gaps

/// Rows refer to texts, which stay where they are.
struct Added {
  std::vector<std::string> words;
  struct Key {
    AddedKey key;
    std::string default_text;
  };
  std::deque<Key> keys;
  std::string choices;  ///< all words, once the schema is made
  bool closed = false;
};
Added& added() {
  static auto& all = *new Added;  // never destroyed, as the schema
  return all;
}

bool is_choosing_row(const KeySpec& row) { return row.section == kSection && row.name == kChoosingKey; }

bool is_name(std::string_view text) {
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_word(std::string_view word) {
  const auto row = std::ranges::find_if(sm_keys(), is_choosing_row);
  return fmt::format("|{}|", row->choices).find(fmt::format("|{}|", word)) != std::string::npos ||
         std::ranges::find(added().words, word) != added().words.end();
}

bool is_key(std::string_view name) {
  return std::ranges::any_of(
             sm_keys(), [&](const KeySpec& row) { return row.section == kSection && row.name == name; }) ||
         std::ranges::any_of(added().keys, [&](const Added::Key& a) { return a.key.name == name; });
}

void check_key(std::string_view word, const AddedKey& key, std::vector<std::string_view>& names) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(fmt::format("policy '{}': key '{}' {}", word, key.name, why));
  };
  if (!is_name(key.name)) refuse("is no name: small letters, digits and '_', a letter first");
  if (is_key(key.name) || std::ranges::find(names, key.name) != names.end())
    refuse("is a key of [scheduler] already");
  names.push_back(key.name);
  if (key.doc.empty()) refuse("has no documentation");
  if (!std::isfinite(key.least) || !std::isfinite(key.most) || key.least > key.most) refuse("has no range");
  const double fallback = std::visit([](auto number) { return static_cast<double>(number); }, key.fallback);
  if (!(fallback >= key.least && fallback <= key.most))
    refuse(fmt::format("has the default {}, which is not in its range from {} to {}", format_real(fallback),
                       format_real(key.least), format_real(key.most)));
  if (std::holds_alternative<int64_t>(key.fallback) && (key.least < 0 || key.most > kLargestWhole))
    refuse("is a whole number, whose range lies between 0 and 2^53");
}

KeySpec row_of(const Added::Key& a) {
  const bool whole = std::holds_alternative<int64_t>(a.key.fallback);
  return {kSection,
          a.key.name,
          whole ? K::kInteger : K::kReal,
          a.key.unit,
          a.default_text,
          a.key.least,
          a.key.most,
          "",
          a.key.doc,
          whole ? Member(AddedInteger{a.key.name}) : Member(AddedReal{a.key.name})};
}

}  // namespace

void add_scheduler_policy(std::string_view word, std::vector<AddedKey> keys) {
  if (!is_name(word))
    throw std::invalid_argument(
        fmt::format("policy '{}': the word is no name: small letters, digits and '_', a letter first", word));
  if (is_word(word))
    throw std::invalid_argument(fmt::format("policy '{}': there is a policy of that name already", word));
  std::vector<std::string_view> names;
  for (const AddedKey& key : keys) check_key(word, key, names);
  if (added().closed)
    throw std::logic_error(fmt::format(
        "policy '{}' is added after a configuration was loaded, which was checked without it; add "
        "policies first",
        word));
  added().words.emplace_back(word);
  for (AddedKey& key : keys) {
    const auto* whole = std::get_if<int64_t>(&key.fallback);
    const std::string text =
        whole != nullptr ? fmt::format("{}", *whole) : format_real(std::get<double>(key.fallback));
    added().keys.push_back({std::move(key), text});
  }
}

void insert_added_policies(std::vector<KeySpec>& rows) {
  Added& all = added();
  all.closed = true;
  const auto row = std::ranges::find_if(rows, is_choosing_row);
  all.choices = row->choices;
  for (const std::string& word : all.words) all.choices += "|" + word;
  row->choices = all.choices;
  std::vector<KeySpec> own;
  for (const Added::Key& key : all.keys) own.push_back(row_of(key));
  rows.insert(row + 1, own.begin(), own.end());
}

}  // namespace gpusim::core
