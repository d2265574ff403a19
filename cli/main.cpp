// gpusim: parses the command line and calls the layers. See README.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "analysis/report/guarded.h"
#include "cli/commands.h"
#include "cli/main_job.h"
#include "cli/version.h"
#include "simcore/record/recorder.h"
#include "simcore/text/input_error.h"
#include "simcore/text/names.h"

namespace {

using namespace gpusim;
using namespace gpusim::cli;

void add_commands(CLI::App& program, int& code) {
#define GPUSIM_COMMAND(name) add_##name##_command(program, code);
#include "cli/commands.inc"
#undef GPUSIM_COMMAND
}

constexpr const char* kEmpty = "is empty; give a value or leave it out";

/// What is wrong with the text of an option's value as such, whatever it means; the library's own messages do
/// not say what is expected. `type` is the library's: "UINT", or "INT:INT in [1 - 64]" with what is checked.
std::string value_mistake(const std::string& text, const std::string& type) {
  const auto is = [&text](auto number) { return CLI::detail::lexical_cast(text, number); };
  if (text.empty()) return kEmpty;
  if ((type.starts_with("INT") || type.starts_with("UINT")) && !is(int64_t{}) && !is(uint64_t{}))
    return fmt::format("'{}' is not a whole number", text);
  if (type == "UINT" && text.find('-') != std::string::npos)  // the library would take 2^64 - 1 for -1
    return fmt::format("'{}' is not a whole number of 0 or more", text);
  if (type.starts_with("FLOAT") && !is(double{})) return fmt::format("'{}' is not a number", text);
  return "";
}

/// Of every option and command. An empty value, such as an unset variable of a script gives, is a mistake and
/// does not mean that nothing was given.
void check_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() > 0)
      option->transform(CLI::Validator(  // before other checks, which say other things
          [type = option->get_type_name()](const std::string& text) { return value_mistake(text, type); },
          ""));
  for (CLI::App* command : app.get_subcommands(nullptr)) check_values(*command);
}

/// The library takes the word behind "--option=" for its value. Throws CLI::ParseError.
void refuse_empty_assignments(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("-")) {
      const auto commands =
          command->get_subcommands([&](const CLI::App* c) { return c->get_name() == word; });
      if (commands.empty() && command->get_prefix_command()) return;  // what follows is of another program
      if (!commands.empty()) command = commands.front();
      continue;
    }
    const std::string name = word.substr(0, word.find('='));
    const CLI::Option* option = command->get_option_no_throw(name);
    if (option == nullptr) continue;
    if (name.starts_with("--") && word == name + "=") throw CLI::ValidationError(name, kEmpty);
    if (word == name && option->get_items_expected_max() > 0) ++i;  // the next word is its value
  }
}

/// A first word that is neither a command nor a file is a mistyped command. Throws core::InputError.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return;
  const std::string word = argv[1];
  if (word.empty() || word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos ||
      is_there(word))
    return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return;
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  // What other programs call it.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOtherNames{
      {{"sweep", "gpusim study run: every combination of what you vary"},
       {"prove", "gpusim explain run.h5 --prove"},
       {"profile", "gpusim metrics run.h5, or gpusim explain run.h5"},
       {"diff", "gpusim compare a.h5 b.h5, or gpusim config diff A B"}}};
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto* other =
      std::ranges::find(kOtherNames, word, &std::pair<std::string_view, std::string_view>::first);
  throw core::InputError(
      fmt::format("gpusim: error: no command is called '{}', and no file\n  hint: {}", word,
                  other == kOtherNames.end() ? core::name_hint(word, views) : std::string(other->second)));
}

/// The same of the word behind a command that has commands of its own.
void refuse_unknown_part(const CLI::App& app, int argc, char** argv) {
  if (argc < 3 || argv[2][0] == '-') return;
  const auto commands = app.get_subcommands([&](const CLI::App* c) { return c->get_name() == argv[1]; });
  if (commands.empty() || commands.front()->get_require_subcommand_min() == 0) return;
  const std::string word = argv[2];
  std::vector<std::string> names;
  for (const CLI::App* c : commands.front()->get_subcommands([](const CLI::App*) { return true; })) {
    if (c->get_name() == word) return;
    if (!c->get_group().empty()) names.push_back(c->get_name());
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const bool page = word == "report" && commands.front()->get_name() == "study";
  throw core::InputError(fmt::format(
      "gpusim {}: error: there is no command '{}'\n  hint: {}", argv[1], word,
      page ? "gpusim report FOLDER -o report.html makes a page of a study's results, gpusim study "
             "show FOLDER prints them"
           : core::name_hint(word, views)));
}

/// The innermost command of the command line, and its words.
struct Given {
  const CLI::App* command;
  std::string name;
};
Given given_command(const CLI::App& app) {
  Given given{&app, "gpusim"};
  while (!given.command->get_subcommands().empty()) {
    given.command = given.command->get_subcommands().front();
    given.name += " " + given.command->get_name();
  }
  return given;
}

/// What the command line lacks; the library's own message is a name alone. Throws core::InputError.
void refuse_missing_words(const CLI::App& app) {
  const auto [command, name] = given_command(app);
  const std::string hint = fmt::format("\n  hint: {} --help", name);
  for (const CLI::Option* o :
       command->get_options([](const CLI::Option* o) { return o->get_required() && o->count() == 0; }))
    throw core::InputError(
        fmt::format("{}: error: {} is missing: {}{}", name, o->get_name(), o->get_description(), hint));
  std::string names;
  if (command->get_require_subcommand_min() > 0)
    for (const CLI::App* c :
         command->get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); }))
      names += (names.empty() ? "" : ", ") + c->get_name();
  if (!names.empty())
    throw core::InputError(fmt::format("{}: error: a command is missing: {}{}", name, names, hint));
}

/// "gpusim study run", if a command below or beside this one has the option.
std::string command_with(const CLI::App& command, const std::string& option) {
  if (command.get_parent() != nullptr)
    for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
      if (below->get_option_no_throw(option) != nullptr)
        return fmt::format("gpusim {} {}", command.get_name(), below->get_name());
  const CLI::App* parent = command.get_parent();
  if (parent == nullptr || parent->get_parent() == nullptr) return {};
  for (const CLI::App* other : parent->get_subcommands([](const CLI::App*) { return true; }))
    if (other->get_option_no_throw(option) != nullptr)
      return fmt::format("gpusim {} {}", parent->get_name(), other->get_name());
  return {};
}

/// The first word that the command line does not take, with the option that was perhaps meant. The library's
/// own message lists all words that are left, also those behind it. Throws core::InputError.
void refuse_extra_words(const CLI::App& app) {
  const auto [command, name] = given_command(app);
  const std::vector<std::string> words = app.remaining(true);
  const auto option = std::ranges::find_if(words, [](const std::string& w) { return w.starts_with("-"); });
  if (option == words.end()) {
    if (words.empty()) return;
    throw core::InputError(fmt::format("{}: error: there is one argument too many: '{}'\n  hint: {} --help",
                                       name, words.front(), name));
  }
  const std::string given = option->substr(0, option->find('='));
  std::vector<std::string> names;
  for (const CLI::Option* o : command->get_options())
    for (const std::string& long_name : o->get_lnames()) names.push_back("--" + long_name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  if (const std::string other = command_with(*command, given); !other.empty())
    throw core::InputError(
        fmt::format("{}: error: there is no option '{}'\n  hint: {} has it", name, given, other));
  const std::string_view nearest = core::nearest_name(given, views);
  throw core::InputError(fmt::format("{}: error: there is no option '{}'\n  hint: {}", name, given,
                                     nearest.empty() ? fmt::format("{} --help lists them", name)
                                                     : fmt::format("did you mean '{}'?", nearest)));
}

int guarded_main(int argc, char** argv) {
  CLI::App app{"gpusim: a cycle-level GPU simulator that executes PTX", "gpusim"};
  app.set_version_flag("--version", std::string(kVersion));
  app.footer(
      "Exit codes: 0 good, 1 wrong usage or input, 2 simulated program failed, 3 result differs from expect, "
      "4 --check found something, 130 interrupted.");
  MainJobArguments job;
  add_main_job(app, job);
  int code = kGood;
  add_commands(app, code);
  check_values(app);
  refuse_unknown_command(app, argc, argv);
  refuse_unknown_part(app, argc, argv);
  try {
    refuse_empty_assignments(app, argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& e) {
    refuse_extra_words(app);
    return app.exit(e) == 0 ? kGood : kBadInput;
  } catch (const CLI::RequiredError& e) {
    refuse_extra_words(app);  // a mistyped option is missing
    refuse_missing_words(app);
    return app.exit(e) == 0 ? kGood : kBadInput;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kGood : kBadInput;
  }
  if (!app.get_subcommands().empty()) return code;
  return run_main_job(job);
}

/// Of the standard streams, those that are closed stay so for whoever reads or writes them (EBADF), but their
/// descriptors are taken: the next file that is opened would get them, and what is printed.
void keep_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (fcntl(stream, F_GETFD) < 0) (void)open("/", O_PATH);  // the lowest descriptor that is free
}

void print_lost_output(const std::string& why) {
  print_error("gpusim: error: {}\n", analysis::lost_output(why));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace gpusim::cli;
  keep_closed_streams();
  // Some daemons leave it ignored to what they start, and then nobody learns how a child has ended.
  std::signal(SIGCHLD, SIG_DFL);
  try {
    const int code = guarded_main(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    print_lost_output(std::strerror(errno));
    return code == kGood ? kBadInput : code;
  } catch (const core::InputError& e) {
    print_error("{}\n", e.what());
  } catch (const core::RecordError& e) {
    print_error("gpusim: error: {}\n", e.what());
  } catch (const std::bad_alloc&) {
    print_error("gpusim: error: out of memory\n");
  } catch (const std::filesystem::filesystem_error& e) {
    print_error("{}: error: {}\n", e.path1().empty() ? "current folder" : e.path1().string(),
                e.code().message());
  } catch (const std::system_error& e) {
    // A text that is longer than the stream's buffer fails while it is printed, a shorter one at the end.
    if (std::ferror(stdout) != 0)
      print_lost_output(e.code().message());
    else
      print_error("gpusim: error: {}\n", e.what());
  } catch (const std::exception& e) {
    print_error("gpusim: error: {}\n", e.what());
  }
  return kBadInput;
}
