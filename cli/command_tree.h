// The commands of the program with their options, as texts: what man pages and shell completion are made of.
// Read from the CLI11 objects that parse the command line, so that none of them can differ from the program.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gpusim::cli {

/// What a shell offers for a value.
enum class ValueKind { kNone, kNumber, kChoice, kMachine, kText };

struct OptionText {
  std::vector<std::string> names;    ///< "-o", "--out"; of a positional argument, its name alone
  std::string placeholder;           ///< of the value; empty: a flag
  std::vector<std::string> choices;  ///< all that are allowed; empty: no list
  std::string range;                 ///< "1 to 64"; empty: none
  std::string description;
  ValueKind value = ValueKind::kNone;
  bool positional = false, required = false, repeatable = false;
};

struct CommandText {
  std::string name;     ///< "gpusim", "gpusim config show"
  std::string summary;  ///< first line of the description
  std::string details;  ///< its other lines
  std::string footer;
  std::vector<OptionText> options;    ///< positional ones too
  std::vector<CommandText> commands;  ///< without hidden ones
};

[[nodiscard]] CommandText command_text(const CLI::App& app, const std::string& parent = "");

}  // namespace gpusim::cli
