#include <fmt/format.h>

#include <cctype>

#include "cli/data_folders.h"
#include "cli/pages.h"
#include "cli/version.h"

namespace gpusim::cli {

namespace {

/// Text of one line of a page: nothing in it is a request or an escape of roff.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else
      out += c;
  }
  if (out.starts_with('.')) out.insert(0, "\\&");
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string joined_name(const std::string& name) {
  std::string file = name;
  for (char& c : file)
    if (c == ' ') c = '-';
  return file;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

/// "gpusim regress [options] file ...".
std::string synopsis(const CommandText& command) {
  std::string line = bold(command.name);
  for (const OptionText& o : command.options)
    if (!o.positional && o.required)
      line += fmt::format(" {} {}", bold(o.names.back()), italic(o.placeholder));
  if (!command.commands.empty() && command.name.find(' ') != std::string::npos)
    return line + " " + italic("command") + " [" + italic("options") + "]\n";
  line += " [" + italic("options") + "]";
  for (const OptionText& o : command.options) {
    if (!o.positional) continue;
    const std::string name = italic(o.names.back()) + (o.repeatable ? " ..." : "");
    line += o.required ? " " + name : " [" + name + "]";
  }
  return line + "\n";
}

/// What values are allowed, as a sentence.
std::string limits(const OptionText& o) {
  if (o.value == ValueKind::kChoice)
    return fmt::format("One of {}.\n", roff(fmt::format("{}", fmt::join(o.choices, ", "))));
  if (!o.range.empty()) return fmt::format("A value from {}.\n", roff(o.range));
  return "";
}

std::string entry(const OptionText& o) {
  std::string names;
  for (const std::string& name : o.names)
    names += (names.empty() ? "" : ", ") + (o.positional ? italic(name) : bold(name));
  if (!o.positional && !o.placeholder.empty()) names += " " + italic(o.placeholder);
  const std::string end = o.description.ends_with('.') ? "\n" : ".\n";
  return fmt::format(".TP\n{}\n{}{}{}", names, roff(o.description), end, limits(o));
}

std::string entries(const CommandText& command, bool positional) {
  std::string text;
  for (const OptionText& o : command.options)
    if (o.positional == positional) text += entry(o);
  return text;
}

std::string section(const std::string& title, const std::string& text) {
  return text.empty() ? "" : fmt::format(".SH {}\n{}", title, text);
}

/// The commands inside a command: "config show" and its like share the page of "config".
std::string inner_commands(const CommandText& command) {
  std::string text;
  for (const CommandText& c : command.commands)
    text += fmt::format(".SS {}\n{}.\n.PP\n{}{}{}", roff(c.name), roff(c.summary), synopsis(c),
                        entries(c, true), entries(c, false));
  return text;
}

/// Each command of the program, which has a page of its own.
std::string command_list(const CommandText& program) {
  std::string text;
  for (const CommandText& c : program.commands)
    text += fmt::format(".TP\n{}(1)\n{}.\n", bold(joined_name(c.name)), roff(c.summary));
  return text;
}

std::string environment() {
  std::string text;
  for (const Variable& v : kEnvironment) text += fmt::format(".TP\n{}\n{}\n", bold(v.name), roff(v.meaning));
  return text;
}

std::string see_also(const CommandText& command, const CommandText& program) {
  std::vector<std::string> pages;
  if (command.name != program.name) pages.push_back(bold(program.name) + "(1)");
  for (const CommandText& c : program.commands)
    if (c.name != command.name) pages.push_back(bold(joined_name(c.name)) + "(1)");
  return fmt::format("{}\n", fmt::join(pages, ",\n"));
}

}  // namespace

std::string page_name(const CommandText& command) { return joined_name(command.name) + ".1"; }

std::string man_page(const CommandText& command, const CommandText& program) {
  const bool whole = command.name == program.name;
  std::string summary = command.summary;
  const std::string prefix = program.name + ": ";
  if (summary.starts_with(prefix)) summary.erase(0, prefix.size());
  std::string synopses = synopsis(command);
  if (whole)
    synopses += fmt::format(".PP\n{} {} [{}]\n", bold(program.name), italic("command"), italic("arguments"));
  std::string description = roff(whole ? program.name + " is " + summary : summary) + ".\n";
  if (!command.details.empty()) {
    description += ".PP\n.nf\n";
    std::string line;
    for (const char c : command.details + "\n") {
      if (c != '\n') {
        line += c;
        continue;
      }
      description += roff(line) + "\n";
      line.clear();
    }
    description += ".fi\n";
  }
  return fmt::format(".TH {} 1 \"{}\" \"{} {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                     roff(upper(joined_name(command.name))), kVersionDate, program.name, kVersion,
                     roff(joined_name(command.name)), roff(summary)) +
         section("SYNOPSIS", synopses) + section("DESCRIPTION", description) +
         section("ARGUMENTS", entries(command, true)) + section("OPTIONS", entries(command, false)) +
         section("COMMANDS", whole ? command_list(command) : inner_commands(command)) +
         section("EXIT STATUS", roff(program.footer) + "\n") + section("ENVIRONMENT", environment()) +
         section("SEE ALSO", see_also(command, program));
}

}  // namespace gpusim::cli
