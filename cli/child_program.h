// A program that `gpusim run` starts and waits for.
#pragma once
#include <string>

namespace gpusim::cli {

/// Runs the program and returns its exit code; if that is 0, kChecksFound if the checks have found something
/// and kBadInput if an option was in vain. Signals that come here go to the program; one that ends it ends
/// this process too. `recorded`: the file that the run is recorded in, or empty; a program that is
/// interrupted leaves nothing unfinished beside it. Throws InputError if the program cannot be started.
int run_and_wait(const std::string& file, char* const* arguments, const std::string& recorded);

}  // namespace gpusim::cli
