#include <fmt/format.h>

#include "cli/pages.h"

namespace gpusim::cli {

namespace {

/// Finds the command that the words before the cursor choose, then what can stand at the cursor. Readline
/// breaks words at '=' too, so that a value may be two words behind its option.
constexpr const char* kBody = R"bash(
_gpusim_machines() {
  "$1" config list 2>/dev/null | cut -d ' ' -f 1
}

_gpusim() {
  local program="$1" current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous="${COMP_WORDS[COMP_CWORD-2]}"
  fi
  local command="gpusim" word index
  for ((index = 1; index < COMP_CWORD; ++index)); do
    word="${COMP_WORDS[index]}"
    if [[ $word == -* ]]; then
      [[ ${COMP_WORDS[index+1]} == "=" ]] && ((++index))
      [[ -n $(_gpusim_value "$command" "$word") ]] && ((++index))
    elif [[ " $(_gpusim_commands "$command") " == *" $word "* ]]; then
      command+=" $word"
    fi
  done

  local kind="" words="" files=yes
  if [[ $previous == -* ]]; then
    kind="$(_gpusim_value "$command" "$previous")"
  elif [[ $current != -* ]]; then
    kind="$(_gpusim_argument "$command")"
    words="$(_gpusim_commands "$command")"
  fi
  case "$kind" in
    number)
      files=""
      compopt +o default +o bashdefault 2>/dev/null
      ;;
    machine) words+=" $(_gpusim_machines "$program")" ;;
    "choice "*)
      words="${kind#choice }"
      files=""
      ;;
    "")
      if [[ $current == -* ]]; then
        words="$(_gpusim_options "$command")"
        files=""
      fi
      ;;
  esac
  mapfile -t COMPREPLY < <(
    compgen -W "$words" -- "$current"
    if [[ -n $files ]]; then compgen -f -- "$current"; fi
  )
  if [[ -n $files ]]; then compopt -o filenames 2>/dev/null; fi
  return 0
}
complete -o bashdefault -o default -F _gpusim gpusim
)bash";

/// What the shell is told of a value; nothing of a flag.
std::string kind_text(const OptionText& o) {
  switch (o.value) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kNumber:
      return "number";
    case ValueKind::kChoice:
      return fmt::format("choice {}", fmt::join(o.choices, " "));
    case ValueKind::kMachine:
      return "machine";
    case ValueKind::kText:
      return "text";
  }
  return "";
}

/// The branches of four functions, each of which prints what its first argument, a command, has.
struct Branches {
  std::string commands, options, values, arguments;
};

void add_command(const CommandText& command, Branches& branches) {
  const auto branch = [&command](const std::string& words) {
    return fmt::format("    '{}') echo '{}' ;;\n", command.name, words);
  };
  std::vector<std::string> inner, options;
  inner.reserve(command.commands.size());
  for (const CommandText& c : command.commands) inner.push_back(c.name.substr(command.name.size() + 1));
  for (const OptionText& o : command.options) {
    if (o.positional) {
      if (o.value == ValueKind::kMachine) branches.arguments += branch("machine");
      continue;
    }
    options.insert(options.end(), o.names.begin(), o.names.end());
    if (o.value == ValueKind::kNone) continue;
    for (const std::string& name : o.names)
      branches.values += fmt::format("    '{} {}') echo '{}' ;;\n", command.name, name, kind_text(o));
  }
  if (!inner.empty()) branches.commands += branch(fmt::format("{}", fmt::join(inner, " ")));
  branches.options += branch(fmt::format("{}", fmt::join(options, " ")));
  for (const CommandText& c : command.commands) add_command(c, branches);
}

std::string function(const std::string& name, const std::string& key, const std::string& branches) {
  return fmt::format("{}() {{\n  case \"{}\" in\n{}  esac\n}}\n", name, key, branches);
}

}  // namespace

std::string bash_completion(const CommandText& program) {
  Branches branches;
  add_command(program, branches);
  return "# Completion of gpusim for bash, made from the program's own options.\n\n" +
         function("_gpusim_commands", "$1", branches.commands) +
         function("_gpusim_options", "$1", branches.options) +
         function("_gpusim_value", "$1 $2", branches.values) +
         function("_gpusim_argument", "$1", branches.arguments) + kBody;
}

}  // namespace gpusim::cli
