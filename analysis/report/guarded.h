// Work on a file that nobody vouches for. The HDF5 library checks little of what it reads: some damaged files
// make it crash or loop. So the work runs in a process of its own, and what would have been a crash or a hang
// becomes an error that names the file.
#pragma once
#include <functional>
#include <string>

namespace gpusim::analysis {

/// Message about a result that could not be printed.
[[nodiscard]] std::string lost_output(const std::string& why);

/// Runs `work` in a child process and returns its result, which must be an exit code. Its exceptions are
/// thrown here as core::RecordError or core::InputError with the same message. A crash, or more than
/// `cpu_seconds` of computation, is a core::RecordError that calls `file` damaged.
int guarded(const std::string& file, const std::function<int()>& work, unsigned cpu_seconds = 120);

/// The same for work that simulates what it has read: it may take any time, says on standard error how far it
/// is, and does itself what is to be done when Ctrl-C is pressed.
int guarded_simulations(const std::string& file, const std::function<int()>& work);

}  // namespace gpusim::analysis
