// `gpusim pages`: writes the man pages and the shell completion of the program. For the build, so it is in no
// list of commands.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/pages.h"
#include "simcore/text/whole_file.h"

namespace gpusim::cli {

namespace {

namespace fs = std::filesystem;

void write_in(const fs::path& folder, const std::string& name, const std::string& text) {
  fs::create_directories(folder);
  core::write_whole_file((folder / name).string(), text);
}

int write_pages(const CLI::App& app, const fs::path& folder) {
  const CommandText program = command_text(app);
  write_in(folder / "man1", page_name(program), man_page(program, program));
  for (const CommandText& command : program.commands)
    write_in(folder / "man1", page_name(command), man_page(command, program));
  write_in(folder / "bash", "gpusim", bash_completion(program));
  write_in(folder / "zsh", "_gpusim", zsh_completion(program));
  return kGood;
}

}  // namespace

void add_pages_command(CLI::App& program, int& code) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* pages = program.add_subcommand("pages", "Write man pages and shell completion into a folder");
  pages->group("");  // hidden
  pages->add_option("folder", *folder, "Folder to write")->required();
  pages->callback([folder, &program, &code] { code = write_pages(program, *folder); });
}

}  // namespace gpusim::cli
