#include "simcore/launch/step_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "simcore/launch/host_step.h"
#include "simcore/launch/params.h"
#include "simcore/launch/scope.h"
#include "simcore/launch/steps.h"
#include "simcore/launch/variable.h"
#include "simcore/text/names.h"

namespace gpusim::core {
namespace {

constexpr int64_t kMaxIterations = 1'000'000'000;

/// What an expression of a step came to before anything has run.
struct EarlyValue {
  std::optional<Number> value;  ///< nothing: wrong, `error` says why
  bool is_late = false, reads_memory = false;
};

EarlyValue early_value(const ReadContext& context, std::string_view text, std::optional<uint32_t> loop,
                       ExpressionError& error) {
  EarlyValue early;
  bool uses_count = false;
  const StepNames names{context.launch, loop, {}, {}, &uses_count, &early.reads_memory};
  early.value = evaluate(text, step_scope(names), error);
  early.is_late = uses_count || early.reads_memory;
  // Elements that are not there yet stand in for others.
  if (!early.value && error.of_value && early.reads_memory) early.value = Number::of(1);
  return early;
}

std::optional<uint32_t> find_buffer(const ReadContext& context, const Where& where, std::string_view name) {
  const auto& buffers = context.launch.buffers;
  const auto found = std::ranges::find(buffers, name, &BufferSpec::name);
  if (found != buffers.end()) return static_cast<uint32_t>(found - buffers.begin());
  context.messages.error(where, fmt::format("undefined buffer '{}'", name),
                         buffer_hint(name, context.launch));
  return std::nullopt;
}

std::vector<std::string_view> loop_names(const LaunchDescription& launch) {
  std::vector<std::string_view> names;
  for (const LoopSpec& loop : launch.loops) names.push_back(loop.name);
  return names;
}

std::optional<uint32_t> find_loop(const ReadContext& context, const TableReader& reader) {
  const auto name = reader.text("loop", false);
  if (!name) return std::nullopt;
  const auto& loops = context.launch.loops;
  const auto found = std::ranges::find(loops, *name, &LoopSpec::name);
  if (found != loops.end()) return static_cast<uint32_t>(found - loops.begin());
  context.messages.error(
      reader.where("loop"), fmt::format("undefined loop '{}'", *name),
      loops.empty() ? "[[loop]] defines one" : name_hint(*name, loop_names(context.launch)));
  return std::nullopt;
}

class LoopReader {
 public:
  LoopReader(const ReadContext& context, LaunchDescription& launch) : context_(context), launch_(launch) {}

  void read(const std::vector<const toml::table*>& tables) {
    std::vector<const toml::table*> good;
    for (const toml::table* table : tables)
      if (read_name(*table)) good.push_back(table);
    for (size_t i = 0; i < good.size(); ++i) {
      const TableReader reader(context_, *good[i], "[[loop]]", {"name", "while", "times", "most", "loop"});
      launch_.loops[i].parent = find_loop(context_, reader);
    }
    break_circles();
    for (size_t i = 0; i < good.size(); ++i) read_rest(*good[i], static_cast<uint32_t>(i));
  }

 private:
  bool read_name(const toml::table& table) {
    const toml::node* node = table.get("name");
    LoopSpec loop;
    loop.where = where_of(node != nullptr ? *node : static_cast<const toml::node&>(table), context_.file);
    const auto* name = node != nullptr ? node->as_string() : nullptr;
    if (name == nullptr) {
      context_.messages.error(loop.where,
                              node == nullptr ? "[[loop]] has no 'name'" : "'name' must be a string");
      return false;
    }
    loop.name = name->get();
    if (!is_identifier(loop.name)) {
      context_.messages.error(loop.where,
                              fmt::format("'{}' is not a name that expressions can use", loop.name));
      return false;
    }
    for (const LoopSpec& other : launch_.loops)
      if (other.name == loop.name) {
        context_.messages.error(loop.where, fmt::format("loop '{}' is defined twice", loop.name),
                                "first at " + other.where.text());
        return false;
      }
    const bool texture =
        std::ranges::find(launch_.textures, loop.name, &TextureSpec::name) != launch_.textures.end();
    if (launch_.find_param(loop.name) != nullptr || launch_.find_buffer(loop.name) != nullptr || texture)
      context_.messages.error(
          loop.where, fmt::format("'{}' is a {} as well, and the loop's count has that name", loop.name,
                                  launch_.find_param(loop.name) != nullptr ? "parameter"
                                  : texture                                ? "texture"
                                                                           : "buffer"));
    launch_.loops.push_back(std::move(loop));
    return true;
  }

  /// A loop that stands in itself stands nowhere.
  void break_circles() {
    for (LoopSpec& loop : launch_.loops) {
      size_t steps = 0;
      for (std::optional<uint32_t> l = loop.parent; l && steps <= launch_.loops.size(); ++steps)
        l = launch_.loops[*l].parent;
      if (steps <= launch_.loops.size()) continue;
      context_.messages.error(loop.where, fmt::format("loop '{}' stands in itself", loop.name));
      loop.parent.reset();
    }
  }

  void read_rest(const toml::table& table, uint32_t index) {
    // Unknown keys have been reported.
    const TableReader reader(context_, table, "[[loop]]", {"name", "while", "times", "most", "loop"}, true);
    LoopSpec& loop = launch_.loops[index];
    loop.most =
        static_cast<uint64_t>(reader.integer("most", static_cast<int64_t>(loop.most), 1, kMaxIterations));
    if (const toml::node* times = reader.node("times")) read_times(*times, loop);
    if (const auto condition = reader.text("while", false))
      read_condition(*reader.node("while"), *condition, index);
    if (reader.node("while") == nullptr && reader.node("times") == nullptr)
      context_.messages.error(
          loop.where, fmt::format("loop '{}' has neither 'while' nor 'times': it would never end", loop.name),
          "while = \"changed[0] != 0\", or times = 10");
  }

  void read_times(const toml::node& node, LoopSpec& loop) {
    LateExpression times;
    times.where = where_of(node, context_.file);
    if (const auto* text = node.as_string()) {
      times.text = text->get();
      times.where = inside_string(node, context_.file, 0);
      ExpressionError error;
      const EarlyValue early = early_value(context_, times.text, loop.parent, error);
      if (!early.value) return report(context_, node, 0, error);
      times.reads_memory = early.reads_memory;
      if (!early.is_late && !check_times(times.where, *early.value, loop)) return;
    } else if (const auto value = read_number(context_, node, "times")) {
      if (!check_times(times.where, *value, loop)) return;
      times.text = fmt::format("{}", value->integer);
    } else {
      return;
    }
    loop.times = std::move(times);
  }

  bool check_times(const Where& where, const Number& times, const LoopSpec& loop) {
    if (!times.is_integer)
      context_.messages.error(where, fmt::format("times = {} is not an integer", times.real));
    else if (times.integer < 0 || static_cast<uint64_t>(times.integer) > loop.most)
      context_.messages.error(where, fmt::format("times = {} is out of range", times.integer),
                              fmt::format("valid: 0 to {}, what 'most' allows", loop.most));
    else
      return true;
    return false;
  }

  void read_condition(const toml::node& node, const std::string& text, uint32_t index) {
    ExpressionError error;
    const auto parts = split_comparison(text, error);
    if (!parts) return report(context_, node, 0, error);
    LoopSpec::Condition condition;
    condition.text = text;
    condition.relation = parts->relation;
    const auto side = [&](std::string_view part, size_t offset, LateExpression& out) {
      out.text = part;
      out.where = inside_string(node, context_.file, offset);
      const EarlyValue early = early_value(context_, part, index, error);
      if (!early.value) report(context_, node, offset, error);
      out.reads_memory = early.reads_memory;
      return early.value.has_value();
    };
    const bool left = side(parts->left, 0, condition.left);
    const bool right = side(parts->right, parts->right_offset, condition.right);
    if (!left || !right) return;
    if (!condition.left.reads_memory && !condition.right.reads_memory)
      context_.messages.error(condition.left.where,
                              fmt::format("'{}' reads no element of a buffer or variable", text),
                              "while = \"changed[0] != 0\"; a fixed number of iterations is times = N");
    launch_.loops[index].condition = std::move(condition);
  }

  const ReadContext& context_;
  LaunchDescription& launch_;
};

void read_range(const ReadContext& context, const TableReader& reader, std::optional<uint32_t> loop,
                ByteRange& range, std::vector<LateNumber>& late) {
  range.offset_where = reader.where("offset");
  range.bytes_where = reader.where("bytes");
  if (const toml::node* node = reader.node("offset"))
    range.offset = static_cast<uint64_t>(
        read_step_integer(context, *node, loop,
                          {"offset", LateNumber::Field::kOffset, 0, 0, static_cast<int64_t>(kMaxBufferBytes)},
                          late)
            .value_or(0));
  if (const toml::node* node = reader.node("bytes")) {
    const auto bytes = read_step_integer(
        context, *node, loop,
        {"bytes", LateNumber::Field::kBytes, 0, 0, static_cast<int64_t>(kMaxBufferBytes)}, late);
    range.bytes = static_cast<uint64_t>(bytes.value_or(0));
  }
}

bool has_late(const std::vector<LateNumber>& late, LateNumber::Field field) {
  return std::ranges::any_of(late, [field](const LateNumber& n) { return n.field == field; });
}

/// init = ... of a copy: made ready by check_steps().
void read_source(const ReadContext& context, const FileAccess& files, const TableReader& reader,
                 CopySpec& copy) {
  const toml::node& init = *reader.node("init");
  if (has_late(copy.late, LateNumber::Field::kBytes)) {
    context.messages.error(copy.range.bytes_where,
                           "the size of data from the host is the same in each iteration",
                           "'bytes' of a copy with 'init' has no count of a loop and no elements");
    return;
  }
  if (!copy.range.bytes && has_late(copy.late, LateNumber::Field::kOffset) && !init.is_array()) {
    context.messages.error(copy.range.offset_where,
                           "the copy needs 'bytes': its offset is known only when it runs");
    return;
  }
  const BufferSpec& target = context.launch.buffers[copy.buffer];
  BufferSpec source;
  source.name = target.name;
  source.where = reader.where("init");
  VariableText& text = source.variable.emplace();
  text.folder = files.folder;
  text.allow_files = files.allowed;
  read_variable_init(context, init, source);
  if (text.init.starts_with("file:")) source.init.file = resolve_file(files, text.init.substr(5));
  copy.source = std::move(source);
}

}  // namespace

std::optional<int64_t> read_step_integer(const ReadContext& context, const toml::node& node,
                                         std::optional<uint32_t> loop, const NumberPlace& place,
                                         std::vector<LateNumber>& late) {
  const auto* text = node.as_string();
  if (text == nullptr) return read_integer(context, node, place.what, place.low, place.high);
  ExpressionError error;
  const EarlyValue early = early_value(context, text->get(), loop, error);
  if (!early.value) {
    report(context, node, 0, error);
    return std::nullopt;
  }
  if (!early.is_late) return read_integer(context, node, place.what, place.low, place.high);
  late.push_back({place.field,
                  place.index,
                  place.low,
                  place.high,
                  {text->get(), inside_string(node, context.file, 0), early.reads_memory}});
  if (early.reads_memory) return place.low;
  if (!early.value->is_integer || early.value->integer < place.low || early.value->integer > place.high) {
    context.messages.error(where_of(node, context.file),
                           fmt::format("{} = {} in the first iteration: it is an integer from {} to {}",
                                       place.what, early.value->as_double(), place.low, place.high));
    return std::nullopt;
  }
  return early.value->integer;
}

std::optional<Number> read_step_argument(const ReadContext& context, const toml::node& node,
                                         std::string_view text, std::optional<uint32_t> loop, uint32_t index,
                                         std::vector<LateNumber>& late, ExpressionError& error) {
  const EarlyValue early = early_value(context, text, loop, error);
  if (early.value && early.is_late)
    late.push_back({LateNumber::Field::kArgument,
                    index,
                    0,
                    0,
                    {std::string(text), inside_string(node, context.file, 0), early.reads_memory}});
  return early.value;
}

void read_loops(const ReadContext& context, const std::vector<const toml::table*>& tables,
                LaunchDescription& launch) {
  LoopReader(context, launch).read(tables);
}

std::optional<uint32_t> loop_of(const ReadContext& context, const TableReader& reader) {
  return find_loop(context, reader);
}

CopySpec read_copy(const ReadContext& context, const FileAccess& files, const TableReader& reader,
                   std::optional<uint32_t> buffer) {
  CopySpec copy;
  copy.where = reader.where();
  copy.loop = find_loop(context, reader);
  copy.to_device = reader.choice("direction", {"to_device", "from_device"}) == "to_device";
  copy.stream = static_cast<uint32_t>(reader.integer("stream", 0, 0, kMaxStream));
  copy.buffer = buffer.value_or(0);
  read_range(context, reader, copy.loop, copy.range, copy.late);
  for (const char* key : {"init", "from"})
    if (reader.node(key) != nullptr && !copy.to_device)
      context.messages.error(
          reader.where(key),
          fmt::format("'{}' says what arrives in device memory: the copy goes to the host", key));
  if (reader.node("init") != nullptr && reader.node("from") != nullptr)
    context.messages.error(reader.where("from"), "[[copy]] has an 'init' and a 'from'");
  else if (reader.node("init") != nullptr && buffer)
    read_source(context, files, reader, copy);
  if (const auto from = reader.text("from", false)) {
    copy.from_where = inside_string(*reader.node("from"), context.file, 0);
    copy.from = find_buffer(context, copy.from_where, *from);
  }
  if (const toml::node* node = reader.node("from_offset")) {
    if (reader.node("from") == nullptr)
      context.messages.error(reader.where("from_offset"), "[[copy]] has a 'from_offset' and no 'from'");
    copy.from_offset = static_cast<uint64_t>(read_step_integer(context, *node, copy.loop,
                                                               {"from_offset", LateNumber::Field::kFromOffset,
                                                                0, 0, static_cast<int64_t>(kMaxBufferBytes)},
                                                               copy.late)
                                                 .value_or(0));
  }
  return copy;
}

MemsetSpec read_memset(const ReadContext& context, const TableReader& reader,
                       std::optional<uint32_t> buffer) {
  MemsetSpec memset;
  memset.where = reader.where();
  memset.loop = find_loop(context, reader);
  memset.buffer = buffer.value_or(0);
  memset.stream = static_cast<uint32_t>(reader.integer("stream", 0, 0, kMaxStream));
  int64_t width = reader.integer("width", 1, 1, 4);
  if (width == 3) {
    context.messages.error(reader.where("width"), "width = 3: a pattern has 1, 2 or 4 bytes");
    width = 1;
  }
  memset.width = static_cast<uint32_t>(width);
  const int64_t values = int64_t{1} << (8 * width);
  if (const toml::node* value = reader.node("value"))
    memset.value =
        read_step_integer(context, *value, memset.loop,
                          {"value", LateNumber::Field::kValue, 0, -values / 2, values - 1}, memset.late)
            .value_or(0);
  else
    context.messages.error(memset.where, "[[memset]] has no 'value'");
  read_range(context, reader, memset.loop, memset.range, memset.late);
  return memset;
}

std::optional<HostStepSpec> read_host_step(const ReadContext& context, const toml::table& table) {
  const TableReader reader(context, table, "[[host]]", {"step", "loop"});
  HostStepSpec step;
  step.where = reader.where();
  step.loop = find_loop(context, reader);
  const auto text = reader.text("step", true);
  if (!text) return std::nullopt;
  const toml::node& node = *reader.node("step");
  step.where = where_of(node, context.file);
  step.text = *text;
  ExpressionError error;
  const auto call = split_call(*text, error);
  if (!call) {
    report(context, node, 0, error);
    return std::nullopt;
  }
  const auto forms = host_step_forms();
  const auto form = std::ranges::find(forms, call->name, &HostStepForm::name);
  if (form == forms.end()) {
    std::vector<std::string_view> names;
    for (const HostStepForm& f : forms) names.push_back(f.name);
    const size_t offset = text->find(call->name);
    report(context, node, 0,
           {offset, fmt::format("unknown host step '{}'", call->name), name_hint(call->name, names)});
    return std::nullopt;
  }
  step.action = form->action;
  const size_t most = form->arguments.size(), least = most - (form->arguments.ends_with('?') ? 1 : 0);
  if (call->arguments.size() < least || call->arguments.size() > most) {
    context.messages.error(
        step.where,
        fmt::format("{} takes {} arguments, found {}", form->name,
                    least == most ? fmt::format("{}", most) : fmt::format("{} or {}", least, most),
                    call->arguments.size()),
        std::string(form->usage));
    return std::nullopt;
  }
  bool good = true;
  for (size_t i = 0; i < call->arguments.size(); ++i) {
    const CallParts::Argument& argument = call->arguments[i];
    const Where where = inside_string(node, context.file, argument.offset);
    if (form->arguments[i] != 'b') {
      step.numbers.push_back({std::string(argument.text), where, false});
      continue;
    }
    const auto buffer = find_buffer(context, where, argument.text);
    good = good && buffer.has_value();
    step.buffers.push_back(buffer.value_or(0));
  }
  if (!good) return std::nullopt;
  return step;
}

}  // namespace gpusim::core
