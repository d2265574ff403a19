// The thread in which functions of the program run that streams call (cudaLaunchHostFunc), as on a GPU, so
// that one may wait for what the program does next. They run one after another, in the order in which they
// are called.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace gpusim::runtime {

class HostFunctions {
 public:
  struct Call {
    std::function<void()> function;
    std::exception_ptr thrown;
    bool done = false;
  };
  using Handle = std::shared_ptr<Call>;

  HostFunctions() = default;
  ~HostFunctions();
  HostFunctions(const HostFunctions&) = delete;
  HostFunctions& operator=(const HostFunctions&) = delete;

  [[nodiscard]] Handle call(std::function<void()> function);
  /// Waits for its end, but not longer than `most`. True if it is done; throws what it has thrown.
  bool wait_for(const Call& call, std::chrono::microseconds most) const;
  /// Some function was called and is not done.
  [[nodiscard]] bool runs() const;
  /// The caller is such a function.
  [[nodiscard]] bool is_this_thread() const { return thread_.get_id() == std::this_thread::get_id(); }

 private:
  void run(const std::stop_token& stop);

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::deque<Handle> calls_;  ///< the first one is under way
  int process_ = 0;           ///< that the thread belongs to
  std::jthread thread_;
};

/// A thread that takes no signals of the program but for what it does itself. Throws std::system_error.
[[nodiscard]] std::jthread thread_without_signals(std::function<void(const std::stop_token&)> body);

}  // namespace gpusim::runtime
