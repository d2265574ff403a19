// The steps of a launch file as a run goes through them: launches, copies, memsets and host steps in the
// file's order, loops as often as their conditions say. The walker evaluates what only the run knows: counts
// of loops and elements of buffers. Who carries the steps out is the caller's business.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simcore/launch/launch.h"

namespace gpusim::core {

/// One place of the program that the steps are.
struct ProgramStep {
  enum class Kind : uint8_t { kLaunch, kCopy, kMemset, kHost, kLoop, kLoopEnd, kDone };
  Kind kind = Kind::kDone;
  uint32_t index = 0;  ///< among those of its kind in the launch description
  uint32_t jump = 0;   ///< of a loop: place of its end; of an end: place of its loop
};
/// In the file's order, and kDone. Of loops whose steps do not stand together, or that have none, `messages`
/// is told.
[[nodiscard]] std::vector<ProgramStep> program_of(const LaunchDescription& launch,
                                                  Messages* messages = nullptr);

/// What a step's expressions may use: parameters, counts of the loops around it, and elements.
struct StepNames {
  const LaunchDescription& launch;
  std::optional<uint32_t> loop;  ///< innermost
  /// Not given: nothing has run yet, counts are 0 and elements are not known.
  std::function<int64_t(uint32_t loop)> count = {};
  std::function<std::span<const std::byte>(uint32_t buffer)> content = {};
  // What an expression has used, or null:
  bool* uses_count = nullptr;
  bool* reads_memory = nullptr;
};
/// Refers to `names`.
[[nodiscard]] ExpressionScope step_scope(const StepNames& names);

/// Checks ranges, sizes and types of copies, memsets and host steps, and makes the data that copies bring
/// ready. Steps on variables that are not bound yet are left for the next call.
void check_steps(LaunchDescription& launch, Messages& messages);

class StepWalker {
 public:
  using Kind = ProgramStep::Kind;
  /// Device memory by the names of the launch file.
  struct Memory {
    std::function<std::span<std::byte>(uint32_t buffer)> content;  ///< what the name means now
    std::function<void(uint32_t a, uint32_t b)> swap;              ///< the names change places
    /// A host step has written these bytes.
    std::function<void(uint32_t buffer, uint64_t offset, uint64_t bytes)> written;
  };
  StepWalker(const LaunchDescription& launch, Memory memory);

  /// To the first step again.
  void restart();
  [[nodiscard]] Kind kind() const { return program_[at_].kind; }
  [[nodiscard]] bool done() const { return kind() == Kind::kDone; }
  /// The host needs what everything before the step has done.
  [[nodiscard]] bool waits() const;
  [[nodiscard]] bool in_loop() const;
  /// Index of the launch, copy, memset, host step or loop.
  [[nodiscard]] uint32_t index() const { return program_[at_].index; }

  // Of the step that the walker stands at, with its numbers as they are now. All throw InputError.
  [[nodiscard]] LaunchSpec launch() const;
  struct Bytes {
    uint64_t offset = 0, bytes = 0, from_offset = 0;
    int64_t value = 0;
  };
  [[nodiscard]] Bytes copy() const;
  [[nodiscard]] Bytes memset() const;
  /// Carries out a host step, and what a loop's beginning or end decides, and goes on; from other steps it
  /// only goes on. Throws InputError.
  void advance();

 private:
  [[nodiscard]] std::optional<uint32_t> loop_of_step() const;
  [[nodiscard]] Number value(const LateExpression& expression, std::optional<uint32_t> loop) const;
  [[nodiscard]] int64_t integer(const LateNumber& number) const;
  void carry_out_host_step();
  void begin_loop();
  void end_iteration();

  const LaunchDescription& launch_;
  Memory memory_;
  std::vector<ProgramStep> program_;
  uint32_t at_ = 0;
  struct State {
    int64_t count = 0;
    std::optional<int64_t> times;
  };
  std::vector<State> loops_;
};

}  // namespace gpusim::core
