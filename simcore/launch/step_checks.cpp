// Steps of launch files meet the sizes and types of what they work on.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "simcore/launch/element.h"
#include "simcore/launch/host_step.h"
#include "simcore/launch/init.h"
#include "simcore/launch/scope.h"
#include "simcore/launch/steps.h"

namespace gpusim::core {
namespace {

/// Copies, memsets and host steps meet the sizes and types of what they work on.
class StepChecker {
 public:
  StepChecker(LaunchDescription& launch, Messages& messages) : launch_(launch), messages_(messages) {}

  void run() {
    for (CopySpec& copy : launch_.copies) check(copy);
    for (const MemsetSpec& memset : launch_.memsets) check(memset);
    for (const HostStepSpec& step : launch_.host_steps) check(step);
    for (const LoopSpec& loop : launch_.loops) check(loop);
    for (const LaunchSpec& spec : launch_.launches)
      for (const LateNumber& number : spec.late) check(number.expression, spec.loop);
  }

 private:
  [[nodiscard]] bool known(uint32_t buffer) const {
    const BufferSpec& b = launch_.buffers[buffer];
    return !b.variable || b.count != 0;
  }
  [[nodiscard]] static bool is_late(const std::vector<LateNumber>& late, LateNumber::Field field) {
    return std::ranges::any_of(late, [field](const LateNumber& n) { return n.field == field; });
  }

  /// [offset, offset + bytes) lies inside of the buffer; nothing to say of what is not known yet.
  bool check_range(const ByteRange& range, const std::vector<LateNumber>& late, uint32_t buffer) {
    const BufferSpec& target = launch_.buffers[buffer];
    if (is_late(late, LateNumber::Field::kOffset)) return true;
    if (range.offset > target.bytes()) {
      messages_.error(range.offset_where,
                      fmt::format("offset {} is outside of {} '{}', which has {} bytes", range.offset,
                                  target.kind(), target.name, target.bytes()));
      return false;
    }
    if (range.bytes && !is_late(late, LateNumber::Field::kBytes) &&
        *range.bytes > target.bytes() - range.offset) {
      messages_.error(range.bytes_where,
                      fmt::format("{} bytes from offset {} on exceed {} '{}', which has {} bytes",
                                  *range.bytes, range.offset, target.kind(), target.name, target.bytes()));
      return false;
    }
    return true;
  }

  void check(CopySpec& copy) {
    if (!known(copy.buffer)) return;
    check_late(copy.late, copy.loop);
    if (!check_range(copy.range, copy.late, copy.buffer)) return;
    if (copy.source && copy.source->variable) prepare_source(copy);
    if (copy.from && known(*copy.from)) check_from(copy);
  }

  void check_from(const CopySpec& copy) {
    if (is_late(copy.late, LateNumber::Field::kOffset) || is_late(copy.late, LateNumber::Field::kBytes) ||
        is_late(copy.late, LateNumber::Field::kFromOffset))
      return;
    const BufferSpec& from = launch_.buffers[*copy.from];
    const uint64_t bytes =
        copy.range.bytes.value_or(launch_.buffers[copy.buffer].bytes() - copy.range.offset);
    if (copy.from_offset > from.bytes() || bytes > from.bytes() - copy.from_offset)
      messages_.error(copy.from_where,
                      fmt::format("{} bytes from offset {} on exceed {} '{}', which has {} bytes", bytes,
                                  copy.from_offset, from.kind(), from.name, from.bytes()),
                      "'bytes' says how many");
  }

  /// The data that the copy brings, now that the type of its target is known.
  void prepare_source(CopySpec& copy) {
    BufferSpec& source = *copy.source;
    const BufferSpec& target = launch_.buffers[copy.buffer];
    const VariableText text = std::move(*source.variable);
    source.variable.reset();
    source.type = target.type;
    const uint32_t step = element_bytes(target.type);
    const uint64_t room = target.bytes() - copy.range.offset;
    const bool brings_size = source.init.kind == InitSpec::Kind::kArray || text.init.starts_with("file:");
    for (const auto& [value, where] : {std::pair(copy.range.offset, copy.range.offset_where),
                                       std::pair(copy.range.bytes.value_or(0), copy.range.bytes_where)})
      if (value % step != 0) {
        messages_.error(where, fmt::format("{} bytes are no multiple of the {} of an element of '{}'", value,
                                           step, target.name));
        return;
      }
    const bool has_count = copy.range.bytes.has_value() || !brings_size;
    source.count = copy.range.bytes.value_or(room) / step;
    if (source.init.kind == InitSpec::Kind::kArray) {
      if (has_count && source.init.values.size() != source.count) {
        messages_.error(text.init_where, fmt::format("init has {} values, the copy {} elements",
                                                     source.init.values.size(), source.count));
        return;
      }
      source.count = source.init.values.size();
      check_values(source, text);
    } else {
      ExpressionError error;
      if (!parse_init(text.init, param_scope(launch_), {text.allow_files, text.folder}, has_count, source,
                      error)) {
        messages_.error(place_of(text.init_where, error), error.message, error.hint);
        return;
      }
    }
    if (source.bytes() > room)
      messages_.error(
          text.init_where,
          fmt::format("{} bytes from offset {} on exceed {} '{}', which has {} bytes", source.bytes(),
                      copy.range.offset, target.kind(), target.name, target.bytes()));
    copy.range.bytes = source.bytes();
  }

  void check_values(const BufferSpec& source, const VariableText& text) {
    std::byte scratch[8];
    for (size_t i = 0; i < source.init.values.size() && messages_.errors() < Messages::kMaxMessages; ++i) {
      if (store_element(source.type, source.init.values[i], scratch)) continue;
      const auto& [line, column] = text.value_places[i];
      messages_.error({launch_.path, line, column},
                      fmt::format("element {}: {}", i, misfit_text(source.type, source.init.values[i])));
    }
    check_address_type(source, messages_);
  }

  void check(const MemsetSpec& memset) {
    if (!known(memset.buffer)) return;
    check_late(memset.late, memset.loop);
    if (!check_range(memset.range, memset.late, memset.buffer)) return;
    const uint64_t all = launch_.buffers[memset.buffer].bytes() - memset.range.offset;
    for (const auto& [value, where, late] :
         {std::tuple(memset.range.offset, memset.range.offset_where,
                     is_late(memset.late, LateNumber::Field::kOffset)),
          std::tuple(memset.range.bytes.value_or(all),
                     memset.range.bytes ? memset.range.bytes_where : memset.where,
                     is_late(memset.late, LateNumber::Field::kBytes))})
      if (!late && value % memset.width != 0)
        messages_.error(
            where, fmt::format("{} bytes are no multiple of the pattern's width, {}", value, memset.width));
  }

  void check(const HostStepSpec& step) {
    if (!std::ranges::all_of(step.buffers, [this](uint32_t b) { return known(b); })) return;
    for (const LateExpression& e : step.numbers) check(e, step.loop);
    if (const auto problem = check_operands(step, launch_.buffers))
      messages_.error(step.where, fmt::format("'{}': {}", step.text, *problem));
    check_index(step);
  }

  /// An index that is known already lies inside.
  void check_index(const HostStepSpec& step) {
    const std::string_view arguments =
        std::ranges::find(host_step_forms(), step.action, &HostStepForm::action)->arguments;
    if (!arguments.starts_with("bn") || step.action == HostAction::kFill ||
        step.action == HostAction::kScale || step.action == HostAction::kAxpy)
      return;
    bool reads = false;
    const StepNames names{launch_, step.loop, {}, {}, nullptr, &reads};
    ExpressionError error;
    const auto index = evaluate(step.numbers[0].text, step_scope(names), error);
    const BufferSpec& target = launch_.buffers[step.buffers[0]];
    if (!index || reads) return;
    if (!index->is_integer || index->integer < 0 || static_cast<uint64_t>(index->integer) >= target.count)
      messages_.error(step.numbers[0].where,
                      fmt::format("element {} is outside of '{}', which has {} element{}", index->as_double(),
                                  target.name, target.count, target.count == 1 ? "" : "s"));
  }

  void check(const LoopSpec& loop) {
    if (loop.times) check(*loop.times, loop.parent);
    if (!loop.condition) return;
    const auto self = static_cast<uint32_t>(&loop - launch_.loops.data());
    check(loop.condition->left, self);
    check(loop.condition->right, self);
  }

  void check_late(const std::vector<LateNumber>& late, std::optional<uint32_t> loop) {
    for (const LateNumber& number : late) check(number.expression, loop);
  }
  /// Indices of elements.
  void check(const LateExpression& expression, std::optional<uint32_t> loop) {
    bool reads = false;
    const StepNames names{launch_, loop, {}, {}, nullptr, &reads};
    ExpressionError error;
    if (!evaluate(expression.text, step_scope(names), error) && !(error.of_value && reads))
      messages_.error(place_of(expression.where, error), error.message, error.hint);
  }

  LaunchDescription& launch_;
  Messages& messages_;
};

}  // namespace

void check_steps(LaunchDescription& launch, Messages& messages) { StepChecker(launch, messages).run(); }

}  // namespace gpusim::core
