// What the commands of the `gpusim` program share. A command is one file, cli/NAME_command.cpp, that defines
// add_NAME_command: it adds the command with its options to the program, and what runs the command sets
// `code` to an exit code: 0 good, 1 wrong usage or input, 2 the simulated program failed, 3 a result differs
// from `expect`, 4 `--check` found something, 130 interrupted. The build finds the files
// (cmake/Commands.cmake).
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/report/text.h"
#include "cli/data_folders.h"

namespace CLI {
class App;
}

namespace gpusim::cli {

inline constexpr int kGood = 0, kBadInput = 1, kProgramFailed = 2, kWrongResult = 3, kChecksFound = 4,
                     kInterruptedExit = 130;

#define GPUSIM_COMMAND(name) void add_##name##_command(CLI::App& program, int& code);
#include "cli/commands.inc"
#undef GPUSIM_COMMAND

/// Of any text, also one that is too long to name a file.
bool is_there(const std::string& path);
bool is_folder(const std::string& path);
/// Throws core::InputError if what an option names for writing cannot be written there: it is no regular
/// file, protected against writing, or one of `inputs`.
void check_output(const std::string& option, const std::string& path, const std::vector<std::string>& inputs);
/// What a kind of output begins with, by which one that this program has written is known.
struct OutputForm {
  std::string_view begins, name;  ///< "an HTML page"
};
/// The same, and a file that is there already is replaced only if it is empty or has this form, unless
/// `force`.
void check_output(const std::string& option, const std::string& path, const std::vector<std::string>& inputs,
                  const OutputForm& form, bool force);
/// CUDA source, a program or a recorded file where PTX is wanted: says what to do with it. Throws
/// core::InputError.
void refuse_what_is_no_ptx(const std::string& path);

/// Prints to stderr; a stderr that is closed or full does not change what the program does.
void write_error(std::string_view text);
/// The same of a message, which may quote files that others have written: bytes that a terminal would obey
/// are not among what it prints.
template <class... Args>
void print_error(fmt::format_string<Args...> format, Args&&... args) {
  write_error(analysis::printable_lines(fmt::format(format, std::forward<Args>(args)...)));
}

/// What empties the line of a terminal that the cursor is in.
inline constexpr std::string_view kEmptyLine = "\r\x1b[K";

}  // namespace gpusim::cli
