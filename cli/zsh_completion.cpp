#include <fmt/format.h>

#include "cli/pages.h"

namespace gpusim::cli {

namespace {

constexpr const char* kHead = R"zsh(#compdef gpusim
# Completion of gpusim for zsh, made from the program's own options.

_gpusim_machines() {
  local -a machines
  machines=(${(f)"$(_call_program machines ${(q)_gpusim_program} config list 2>/dev/null)"})
  machines=(${machines%% *})
  _alternative 'machines:machine:compadd -a machines' 'files:file:_files'
}
)zsh";

constexpr const char* kTail = "\n_gpusim \"$@\"\n";

std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// Inside single quotes, as part of a specification of _arguments.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out;
}

/// "gpusim config show" becomes _gpusim_config_show.
std::string function_name(const std::string& command) {
  std::string name = "_" + command;
  for (char& c : name)
    if (c == ' ' || c == '-') c = '_';
  return name;
}

std::string action(const OptionText& o) {
  switch (o.value) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kNumber:
      return " ";  // nothing is offered
    case ValueKind::kChoice:
      return fmt::format("({})", fmt::join(o.choices, " "));
    case ValueKind::kMachine:
      return "_gpusim_machines";
    case ValueKind::kText:
      return "_files";
  }
  return "";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void add_option(const OptionText& o, std::vector<std::string>& lines) {
  const std::string value =
      o.value == ValueKind::kNone ? "" : fmt::format(":{}:{}", quoted(o.placeholder), action(o));
  if (o.positional) {
    lines.push_back(fmt::format("'{}:{}:{}'", o.repeatable ? "*" : "", quoted(o.names.back()), action(o)));
    return;
  }
  const std::string others = o.repeatable ? "*" : fmt::format("({})", fmt::join(o.names, " "));
  for (const std::string& name : o.names) {
    const bool assigned = !value.empty() && name.starts_with("--");  // --option=value too
    lines.push_back(fmt::format("'{}{}{}[{}]{}'", others, name, assigned ? "=" : "",
                                quoted(first_line(o.description)), value));
  }
}

/// A function that completes what follows the command's name.
std::string function(const CommandText& command) {
  std::vector<std::string> options, arguments;
  for (const OptionText& o : command.options) add_option(o, o.positional ? arguments : options);
  const std::string name = function_name(command.name);
  if (command.commands.empty()) {
    options.insert(options.end(), arguments.begin(), arguments.end());
    return fmt::format("\n{}() {{\n  _arguments -s \\\n    {}\n}}\n", name, fmt::join(options, " \\\n    "));
  }
  std::string list, branches;
  for (const CommandText& c : command.commands) {
    const std::string word = c.name.substr(command.name.size() + 1);
    list += fmt::format("    {}\n", in_quotes(word + ":" + c.summary));
    branches += fmt::format("    {}) {} ;;\n", word, function_name(c.name));
  }
  // A first word that is no command is an argument of this one, whose options may follow it.
  return fmt::format(
      R"zsh(
{0}_options=(
    {1}
)
{0}_first() {{
  local -a commands
  commands=(
{2}  )
  _describe -t commands command commands{4}
}}
{0}() {{{5}
  local curcontext="$curcontext" context state state_descr line
  typeset -A opt_args
  _arguments -C -s ${0}_options ':command:{0}_first' '*:: :->rest' && return
  case $line[1] in
{3}    *) _arguments -s ${0}_options '*:file:_files' ;;
  esac
}}
)zsh",
      name, fmt::join(options, "\n    "), list, branches, arguments.empty() ? "" : "\n  _files",
      command.name == "gpusim" ? "\n  local _gpusim_program=$words[1]" : "");
}

void add_functions(const CommandText& command, std::string& text) {
  text += function(command);
  for (const CommandText& c : command.commands) add_functions(c, text);
}

}  // namespace

std::string zsh_completion(const CommandText& program) {
  std::string text = kHead;
  add_functions(program, text);
  return text + kTail;
}

}  // namespace gpusim::cli
