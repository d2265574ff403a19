// [[copy]], [[memset]], [[loop]] and [[host]] of launch files, and numbers of steps that only a run knows.
// Include only from .cpp files (toml++).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/launch/init.h"
#include "simcore/launch/reader.h"

namespace gpusim::core {

inline constexpr int64_t kMaxStream = 1023;

/// Where a number of a step goes, and what it may be.
struct NumberPlace {
  std::string_view what;  ///< for messages
  LateNumber::Field field = LateNumber::Field::kArgument;
  uint32_t index = 0;
  int64_t low = 0, high = 0;
};
/// An integer that may have counts of loops and elements of buffers: then it is added to `late`, and what is
/// returned stands for it until its turn comes.
[[nodiscard]] std::optional<int64_t> read_step_integer(const ReadContext& context, const toml::node& node,
                                                       std::optional<uint32_t> loop, const NumberPlace& place,
                                                       std::vector<LateNumber>& late);
/// The expression of an argument, likewise; fills `error` if it is none.
[[nodiscard]] std::optional<Number> read_step_argument(const ReadContext& context, const toml::node& node,
                                                       std::string_view text, std::optional<uint32_t> loop,
                                                       uint32_t index, std::vector<LateNumber>& late,
                                                       ExpressionError& error);

/// Fills launch.loops.
void read_loops(const ReadContext& context, const std::vector<const toml::table*>& tables,
                LaunchDescription& launch);
/// The loop that the step's `loop` names.
[[nodiscard]] std::optional<uint32_t> loop_of(const ReadContext& context, const TableReader& reader);
/// `buffer` is what the step works on.
[[nodiscard]] CopySpec read_copy(const ReadContext& context, const FileAccess& files,
                                 const TableReader& reader, std::optional<uint32_t> buffer);
[[nodiscard]] MemsetSpec read_memset(const ReadContext& context, const TableReader& reader,
                                     std::optional<uint32_t> buffer);
/// Nothing if the step is wrong.
[[nodiscard]] std::optional<HostStepSpec> read_host_step(const ReadContext& context,
                                                         const toml::table& table);

}  // namespace gpusim::core
