#include "cli/command_tree.h"

#include <algorithm>
#include <sstream>

namespace gpusim::cli {

namespace {

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

/// CLI11 describes an option's type and checks as "TEXT:{none,clean}" or "INT:INT in [1 - 64]".
void read_type(const std::string& type, OptionText& text) {
  const size_t colon = type.find(':');
  text.placeholder = type.substr(0, colon);
  if (text.placeholder.empty()) text.placeholder = "VALUE";
  const bool number = text.placeholder == "INT" || text.placeholder == "UINT" || text.placeholder == "FLOAT";
  text.value = number ? ValueKind::kNumber : ValueKind::kText;
  if (colon == std::string::npos) return;
  const std::string check = type.substr(colon + 1);
  const size_t open = check.find('['), dash = check.find(" - ");
  if (check.starts_with('{') && check.ends_with('}')) {
    text.choices = split_at_commas(check.substr(1, check.size() - 2));
    text.value = ValueKind::kChoice;
  } else if (open != std::string::npos && dash != std::string::npos && check.ends_with(']')) {
    text.range =
        check.substr(open + 1, dash - open - 1) + " to " + check.substr(dash + 3, check.size() - dash - 4);
  }
}

OptionText option_text(const CLI::Option& option) {
  OptionText text;
  text.positional = option.nonpositional() == false;
  if (text.positional) {
    text.names.push_back(option.get_name(true));
  } else {
    for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  }
  text.description = option.get_description();
  text.required = option.get_required();
  text.repeatable = option.get_items_expected_max() > 1;
  if (option.get_items_expected_max() == 0) return text;
  read_type(option.get_type_name(), text);
  // In all commands, what has one of these names takes a machine.
  const std::string& name = text.names.back();
  if (name == "--config" || name == "machine" || name == "other_machine") {
    text.placeholder = "MACHINE";
    text.value = ValueKind::kMachine;
  }
  return text;
}

}  // namespace

CommandText command_text(const CLI::App& app, const std::string& parent) {
  CommandText text;
  text.name = parent.empty() ? app.get_name() : parent + " " + app.get_name();
  const std::string description = app.get_description();
  const size_t end = std::min(description.find('\n'), description.size());
  text.summary = description.substr(0, end);
  if (end < description.size()) text.details = description.substr(end + 1);
  text.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) text.options.push_back(option_text(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) text.commands.push_back(command_text(*command, text.name));
  return text;
}

}  // namespace gpusim::cli
