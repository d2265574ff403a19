// [[host]] step = "...": what a host program does with the contents of buffers between launches.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simcore/launch/launch.h"

namespace gpusim::core {

/// A step's name and what it takes: `b` a buffer, `n` a number, `?` a number that may be left out (the last).
struct HostStepForm {
  std::string_view name;
  HostAction action;
  std::string_view arguments;
  std::string_view usage;
};
[[nodiscard]] std::span<const HostStepForm> host_step_forms();

/// What a step works on, in the order of its call.
struct HostOperand {
  ElementType type = ElementType::kF32;
  std::span<std::byte> content;
  [[nodiscard]] uint64_t count() const { return content.size() / element_bytes(type); }
};
/// Carries out a step; not kSwap. `numbers` are the values of the step's. Returns nothing, or what is wrong:
/// an index outside, a value that its type cannot hold. Nothing is written then but elements before the wrong
/// one.
[[nodiscard]] std::optional<std::string> carry_out(HostAction action, std::span<const HostOperand> buffers,
                                                   std::span<const Number> numbers);
/// First and number of the elements of its first buffer that a step has written.
[[nodiscard]] std::pair<uint64_t, uint64_t> elements_written(HostAction action,
                                                             std::span<const HostOperand> buffers,
                                                             std::span<const Number> numbers);
/// What is wrong with the step's buffers, types and sizes, whatever the numbers are.
[[nodiscard]] std::optional<std::string> check_operands(const HostStepSpec& step,
                                                        std::span<const BufferSpec> buffers);

}  // namespace gpusim::core
