#include "runtime/device/progress.h"

#include <fmt/format.h>

#include <cstdio>

#include "simcore/text/kernel_name.h"
#include "simcore/text/terminal_line.h"

namespace gpusim::runtime {

void ProgressLine::update(uint64_t launches, std::string_view kernel, uint64_t blocks, uint64_t of) {
  using std::chrono::milliseconds;
  constexpr milliseconds kPatience{1000}, kInterval{250};
  if (!waits_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - since_ < kPatience || (drawn_ && now - last_ < kInterval)) return;
  drawn_ = true;
  last_ = now;
  const std::string part = of == 0 ? "" : fmt::format(", {} of {} blocks", blocks, of);
  fmt::print(stderr, "\r\033[K{}",
             core::fitted(fmt::format("gpusim: {} launch{} so far: {}{}", launches, launches == 1 ? "" : "es",
                                      core::short_kernel_name(kernel), part)));
  std::fflush(stderr);
}

void ProgressLine::clear() {
  waits_ = false;
  if (!drawn_) return;
  drawn_ = false;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace gpusim::runtime
