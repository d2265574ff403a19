#include "simcore/launch/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simcore/launch/element.h"
#include "simcore/launch/host_step.h"
#include "simcore/launch/scope.h"

namespace gpusim::core {
namespace {

/// A step and the loop that it stands in.
struct Placed {
  uint32_t order;
  ProgramStep step;
  std::optional<uint32_t> loop;
  const Where* where;
};

std::vector<Placed> placed_steps(const LaunchDescription& launch) {
  std::vector<Placed> all;
  const auto add = [&all](const auto& steps, ProgramStep::Kind kind) {
    for (uint32_t i = 0; i < steps.size(); ++i)
      all.push_back({steps[i].order, {kind, i, 0}, steps[i].loop, &steps[i].where});
  };
  add(launch.launches, ProgramStep::Kind::kLaunch);
  add(launch.copies, ProgramStep::Kind::kCopy);
  add(launch.memsets, ProgramStep::Kind::kMemset);
  add(launch.host_steps, ProgramStep::Kind::kHost);
  std::ranges::stable_sort(all, {}, &Placed::order);
  return all;
}

/// Loops around a step, the outermost first.
std::vector<uint32_t> chain_of(const LaunchDescription& launch, std::optional<uint32_t> loop) {
  std::vector<uint32_t> chain;
  for (; loop; loop = launch.loops[*loop].parent) chain.insert(chain.begin(), *loop);
  return chain;
}

class ProgramMaker {
 public:
  ProgramMaker(const LaunchDescription& launch, Messages* messages) : launch_(launch), messages_(messages) {}

  std::vector<ProgramStep> make() {
    std::vector<bool> begun(launch_.loops.size());
    for (const Placed& placed : placed_steps(launch_)) {
      const std::vector<uint32_t> chain = chain_of(launch_, placed.loop);
      size_t same = 0;
      while (same < chain.size() && same < open_.size() && chain[same] == open_[same].loop) ++same;
      close_to(same);
      for (size_t i = same; i < chain.size(); ++i) {
        if (begun[chain[i]] && messages_ != nullptr)
          messages_->error(*placed.where,
                           fmt::format("the steps of loop '{}' do not stand together: another step is "
                                       "between this one and those before",
                                       launch_.loops[chain[i]].name));
        begun[chain[i]] = true;
        open_.push_back({chain[i], static_cast<uint32_t>(program_.size())});
        program_.push_back({ProgramStep::Kind::kLoop, chain[i], 0});
      }
      program_.push_back(placed.step);
    }
    close_to(0);
    program_.push_back({});
    for (uint32_t i = 0; messages_ != nullptr && i < begun.size(); ++i)
      if (!begun[i])
        messages_->error(launch_.loops[i].where, fmt::format("loop '{}' has no steps", launch_.loops[i].name),
                         fmt::format("the steps of its body say loop = \"{}\"", launch_.loops[i].name));
    return std::move(program_);
  }

 private:
  struct Open {
    uint32_t loop, place;
  };
  void close_to(size_t count) {
    for (; open_.size() > count; open_.pop_back()) {
      program_[open_.back().place].jump = static_cast<uint32_t>(program_.size());
      program_.push_back({ProgramStep::Kind::kLoopEnd, open_.back().loop, open_.back().place});
    }
  }

  const LaunchDescription& launch_;
  Messages* messages_;
  std::vector<ProgramStep> program_;
  std::vector<Open> open_;
};

std::optional<Number> element_of(const StepNames& names, std::string_view name, const Number& index,
                                 ExpressionError& error) {
  const std::vector<BufferSpec>& buffers = names.launch.buffers;
  const auto found = std::ranges::find(buffers, name, &BufferSpec::name);
  const bool index_is_read = std::exchange(error.of_value, false);
  if (found == buffers.end()) {
    error = {0, fmt::format("undefined buffer '{}'", name), buffer_hint(name, names.launch)};
    return std::nullopt;
  }
  if (names.reads_memory != nullptr) *names.reads_memory = true;
  const BufferSpec& buffer = *found;
  const bool known = !buffer.variable || buffer.count != 0;
  if (!index.is_integer) {
    error = {1, fmt::format("{} is no index: it is not an integer", index.real), "", index_is_read};
    return std::nullopt;
  }
  if (known && (index.integer < 0 || static_cast<uint64_t>(index.integer) >= buffer.count)) {
    error = {1,
             fmt::format("element {} is outside of '{}', which has {} element{}", index.integer, name,
                         buffer.count, buffer.count == 1 ? "" : "s"),
             "", index_is_read};
    return std::nullopt;
  }
  if (!names.content) return element_is_float(buffer.type) ? Number::of_real(1) : Number::of(1);
  const auto content = names.content(static_cast<uint32_t>(found - buffers.begin()));
  return load_element(buffer.type,
                      content.data() + static_cast<uint64_t>(index.integer) * element_bytes(buffer.type));
}

}  // namespace

std::vector<ProgramStep> program_of(const LaunchDescription& launch, Messages* messages) {
  return ProgramMaker(launch, messages).make();
}

ExpressionScope step_scope(const StepNames& names) {
  ExpressionScope scope = param_scope(names.launch);
  for (std::optional<uint32_t> l = names.loop; l; l = names.launch.loops[*l].parent)
    scope.names.push_back(names.launch.loops[*l].name);
  scope.find = [&names](std::string_view name) -> std::optional<Number> {
    if (const Number* number = names.launch.find_param(name); number != nullptr) return *number;
    for (std::optional<uint32_t> l = names.loop; l; l = names.launch.loops[*l].parent) {
      if (names.launch.loops[*l].name != name) continue;
      if (names.uses_count != nullptr) *names.uses_count = true;
      return Number::of(names.count ? names.count(*l) : 0);
    }
    return std::nullopt;
  };
  scope.element = [&names](std::string_view name, const Number& index, ExpressionError& error) {
    return element_of(names, name, index, error);
  };
  return scope;
}

StepWalker::StepWalker(const LaunchDescription& launch, Memory memory)
    : launch_(launch),
      memory_(std::move(memory)),
      program_(program_of(launch)),
      loops_(launch.loops.size()) {}

void StepWalker::restart() {
  at_ = 0;
  std::ranges::fill(loops_, State{});
}

std::optional<uint32_t> StepWalker::loop_of_step() const {
  switch (kind()) {
    case Kind::kLaunch:
      return launch_.launches[index()].loop;
    case Kind::kCopy:
      return launch_.copies[index()].loop;
    case Kind::kMemset:
      return launch_.memsets[index()].loop;
    case Kind::kHost:
      return launch_.host_steps[index()].loop;
    default:
      return std::nullopt;
  }
}

bool StepWalker::in_loop() const { return loop_of_step().has_value(); }

bool StepWalker::waits() const {
  const auto reads = [](const std::vector<LateNumber>& late) {
    return std::ranges::any_of(late, [](const LateNumber& n) { return n.expression.reads_memory; });
  };
  switch (kind()) {
    case Kind::kLaunch:
      return reads(launch_.launches[index()].late);
    case Kind::kCopy:
      return reads(launch_.copies[index()].late);
    case Kind::kMemset:
      return reads(launch_.memsets[index()].late);
    case Kind::kHost:
      return true;
    case Kind::kLoop:
      return launch_.loops[index()].times && launch_.loops[index()].times->reads_memory;
    case Kind::kLoopEnd:
      return launch_.loops[index()].condition.has_value();
    case Kind::kDone:
      return false;
  }
  return false;
}

Number StepWalker::value(const LateExpression& expression, std::optional<uint32_t> loop) const {
  const StepNames names{launch_,
                        loop,
                        [this](uint32_t l) { return loops_[l].count; },
                        [this](uint32_t b) { return std::span<const std::byte>(memory_.content(b)); },
                        nullptr,
                        nullptr};
  ExpressionError error;
  if (const auto number = evaluate(expression.text, step_scope(names), error)) return *number;
  raise_input_error(place_of(expression.where, error), error.message, error.hint);
}

int64_t StepWalker::integer(const LateNumber& number) const {
  const Number v = value(number.expression, loop_of_step());
  if (!v.is_integer)
    raise_input_error(number.expression.where,
                      fmt::format("'{}' = {} is not an integer", number.expression.text, v.real));
  if (v.integer < number.low || v.integer > number.high)
    raise_input_error(number.expression.where,
                      fmt::format("'{}' = {} is out of range", number.expression.text, v.integer),
                      fmt::format("valid: {} to {}", number.low, number.high));
  return v.integer;
}

LaunchSpec StepWalker::launch() const {
  LaunchSpec spec = launch_.launches[index()];
  for (const LateNumber& number : spec.late) {
    if (number.field == LateNumber::Field::kArgument) {
      ArgumentSpec& argument = spec.arguments[number.index];
      argument.number = value(number.expression, spec.loop);
      continue;
    }
    const auto n = static_cast<uint32_t>(integer(number));
    if (number.field == LateNumber::Field::kGrid)
      spec.grid[number.index] = n;
    else if (number.field == LateNumber::Field::kBlock)
      spec.block[number.index] = n;
    else if (number.field == LateNumber::Field::kCluster)
      spec.cluster[number.index] = n;
    else
      spec.dynamic_shared = n;
  }
  return spec;
}

namespace {

void check_inside(const Where& where, const BufferSpec& buffer, uint64_t offset, uint64_t bytes) {
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset)
    raise_input_error(where, fmt::format("{} bytes from offset {} on exceed {} '{}', which has {} bytes",
                                         bytes, offset, buffer.kind(), buffer.name, buffer.bytes()));
}

}  // namespace

StepWalker::Bytes StepWalker::copy() const {
  const CopySpec& spec = launch_.copies[index()];
  const BufferSpec& target = launch_.buffers[spec.buffer];
  Bytes b{spec.range.offset, spec.range.bytes.value_or(0), spec.from_offset, 0};
  for (const LateNumber& number : spec.late) {
    const auto n = static_cast<uint64_t>(integer(number));
    (number.field == LateNumber::Field::kOffset  ? b.offset
     : number.field == LateNumber::Field::kBytes ? b.bytes
                                                 : b.from_offset) = n;
  }
  if (!spec.range.bytes) b.bytes = target.bytes() - std::min(b.offset, target.bytes());
  check_inside(spec.where, target, b.offset, b.bytes);
  if (spec.from) check_inside(spec.where, launch_.buffers[*spec.from], b.from_offset, b.bytes);
  return b;
}

StepWalker::Bytes StepWalker::memset() const {
  const MemsetSpec& spec = launch_.memsets[index()];
  const BufferSpec& target = launch_.buffers[spec.buffer];
  Bytes b{spec.range.offset, spec.range.bytes.value_or(0), 0, spec.value};
  for (const LateNumber& number : spec.late) {
    const int64_t n = integer(number);
    if (number.field == LateNumber::Field::kValue)
      b.value = n;
    else
      (number.field == LateNumber::Field::kOffset ? b.offset : b.bytes) = static_cast<uint64_t>(n);
  }
  if (!spec.range.bytes) b.bytes = target.bytes() - std::min(b.offset, target.bytes());
  check_inside(spec.where, target, b.offset, b.bytes);
  if (b.offset % spec.width != 0 || b.bytes % spec.width != 0)
    raise_input_error(spec.where, fmt::format("{} bytes from offset {} on are no whole patterns of {} bytes",
                                              b.bytes, b.offset, spec.width));
  return b;
}

void StepWalker::carry_out_host_step() {
  const HostStepSpec& step = launch_.host_steps[index()];
  if (step.action == HostAction::kSwap) {
    memory_.swap(step.buffers[0], step.buffers[1]);
    return;
  }
  std::vector<HostOperand> operands;
  for (const uint32_t b : step.buffers) operands.push_back({launch_.buffers[b].type, memory_.content(b)});
  std::vector<Number> numbers;
  for (const LateExpression& e : step.numbers) numbers.push_back(value(e, step.loop));
  if (const auto problem = core::carry_out(step.action, operands, numbers))
    raise_input_error(step.where, fmt::format("'{}': {}", step.text, *problem));
  const auto [first, count] = elements_written(step.action, operands, numbers);
  const uint64_t bytes = element_bytes(operands[0].type);
  memory_.written(step.buffers[0], first * bytes, count * bytes);
}

void StepWalker::begin_loop() {
  const LoopSpec& loop = launch_.loops[index()];
  State& state = loops_[index()];
  state = {};
  if (loop.times) {
    const Number n = value(*loop.times, loop.parent);
    if (!n.is_integer || n.integer < 0 || static_cast<uint64_t>(n.integer) > loop.most)
      raise_input_error(loop.times->where,
                        fmt::format("loop '{}': times = {} is no integer from 0 to {}", loop.name,
                                    n.as_double(), loop.most),
                        "'most' is the limit");
    state.times = n.integer;
  }
  at_ = state.times == 0 ? program_[at_].jump + 1 : at_ + 1;
}

void StepWalker::end_iteration() {
  const LoopSpec& loop = launch_.loops[index()];
  State& state = loops_[index()];
  // The condition belongs to the iteration that ends.
  bool again = !loop.condition || holds(value(loop.condition->left, index()), loop.condition->relation,
                                        value(loop.condition->right, index()));
  ++state.count;
  if (state.times && state.count >= *state.times) again = false;
  if (again && static_cast<uint64_t>(state.count) >= loop.most)
    raise_input_error(loop.where,
                      fmt::format("loop '{}' has run {} times and would go on: {}", loop.name, loop.most,
                                  loop.condition->text),
                      "most = N allows more");
  at_ = again ? program_[at_].jump + 1 : at_ + 1;
}

void StepWalker::advance() {
  switch (kind()) {
    case Kind::kLoop:
      return begin_loop();
    case Kind::kLoopEnd:
      return end_iteration();
    case Kind::kHost:
      carry_out_host_step();
      break;
    default:
      break;
  }
  if (!done()) ++at_;
}

}  // namespace gpusim::core
