// A line on the terminal that says how far a program's launches are, while one of them takes long. It is gone
// whenever the program goes on, so that it does not get into the program's output.
#pragma once
#include <chrono>
#include <cstdint>
#include <string_view>

namespace gpusim::runtime {

class ProgressLine {
 public:
  /// `enabled` false: nothing is ever written.
  explicit ProgressLine(bool enabled) : enabled_(enabled) {}
  /// The program waits from now on.
  void begin() {
    waits_ = enabled_;
    if (enabled_) since_ = std::chrono::steady_clock::now();
  }
  /// Writes the line anew if it is time to. `launches`: that the program has issued so far; `blocks` of `of`
  /// of the present kernel are done (0 of 0: unknown).
  void update(uint64_t launches, std::string_view kernel, uint64_t blocks, uint64_t of);
  /// The program goes on.
  void clear();

 private:
  bool enabled_, waits_ = false, drawn_ = false;
  std::chrono::steady_clock::time_point since_, last_;
};

}  // namespace gpusim::runtime
