// Work in child processes: SystemC elaborates once per process, so whoever simulates more than once does it
// in children, each of which answers through a pipe. The calling process must have a single thread.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace gpusim::core {

struct ChildAnswer {
  bool good = false;
  std::string text;  ///< what the work returned (any bytes), or why it failed: an exception's text, a signal
};

/// Runs each work in a process of its own, at most `parallel` at the same time; answers in the order of the
/// works. Throws InputError if a process cannot be started.
[[nodiscard]] std::vector<ChildAnswer> run_in_children(std::span<const std::function<std::string()>> works,
                                                       unsigned parallel);

}  // namespace gpusim::core
