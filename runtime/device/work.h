// Something that a program has submitted to a stream.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "runtime/device/device.h"

namespace gpusim::runtime {

/// Time that passes in a run for values with each piece of work, so that elapsed times are no zeros.
inline constexpr double kUntimedSeconds = 1e-6;

/// Which error of the manual a fault of a kernel is.
[[nodiscard]] Code code_of_fault(isa::FaultKind fault, std::string_view message);

struct Device::Work {
  enum class Kind : uint8_t { kLaunch, kCopy, kFill, kHostFunction, kAction, kEvent, kWait };
  Kind kind = Kind::kLaunch;
  uint64_t number = 0;  ///< in the order of submission, from 1
  uint32_t stream = 0;
  std::vector<uint64_t> after;  ///< numbers of work in other streams
  core::LaunchSpec spec;        ///< kLaunch: what `launch` refers to
  comp::PreparedLaunch launch;
  Kernel* kernel = nullptr;                        ///< of a kLaunch for values that has not begun
  std::unique_ptr<comp::FunctionalRunner> runner;  ///< kLaunch for values that has begun and waits
  bool waits_for_memory = false;                   ///< of such a launch: all that is left of it does
  Copy copy;
  Fill fill;
  std::function<void()> function;           ///< kHostFunction: the program's; kAction: one of ours
  HostFunctions::Handle called;             ///< kHostFunction whose turn has come
  std::function<void(Code)> after_failure;  ///< kHostFunction: called in its place if a kernel has failed
  Event* event = nullptr;
  std::function<bool()> ready;  ///< kWait: what it waits for has happened
};

}  // namespace gpusim::runtime
