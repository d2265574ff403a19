#include "cli/this_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/version.h"
#include "simcore/text/sha256.h"
#include "simcore/text/text_file.h"

namespace gpusim::cli {

std::string program_identity() {
  return fmt::format("{} {}", kVersion,
                     core::sha256_hex(core::read_text_file("/proc/self/exe", core::kAnySize)));
}

unsigned processors() {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : static_cast<unsigned>(count);
}

}  // namespace gpusim::cli
