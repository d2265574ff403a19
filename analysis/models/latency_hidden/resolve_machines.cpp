// Run by the build: writes the resolved configurations of the machines that have a built-in data sheet, in
// the order of their paths, as strings of a header. Arguments: the header, then the .cfg files.
#include <cstdio>

#include "simcore/config/load.h"
#include "simcore/text/whole_file.h"

int main(int argc, char** argv) {
  using namespace gpusim;
  try {
    std::string text;
    for (int i = 2; i < argc; ++i) {
      const core::MachineConfig machine = core::load_machine(argv[i], {}, {});
      text += "R\"cfg(" + core::show_machine(machine, /*with_comments=*/false) + ")cfg\",\n";
    }
    core::write_whole_file(argv[1], text);
  } catch (const core::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
