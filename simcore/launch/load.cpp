// Launch files: TOML to LaunchDescription.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "simcore/config/limits.h"
#include "simcore/launch/element.h"
#include "simcore/launch/init.h"
#include "simcore/launch/launch.h"
#include "simcore/launch/params.h"
#include "simcore/launch/reader.h"
#include "simcore/launch/scope.h"
#include "simcore/launch/step_reader.h"
#include "simcore/launch/steps.h"
#include "simcore/launch/texture.h"
#include "simcore/launch/variable.h"
#include "simcore/reference/reference.h"
#include "simcore/text/names.h"
#include "simcore/text/units.h"

namespace gpusim::core {
namespace {

constexpr int64_t kMaxGrid = 2147483647;
constexpr int64_t kMaxBlock = 1024;
constexpr std::string_view kDefaultStream = "default_stream";

class LaunchLoader {
 public:
  LaunchLoader(std::string_view text, const std::string& path, uint64_t seed, bool allow_files)
      : document_(parse_toml(text, path)), context_{path, messages_, launch_} {
    launch_.path = path;
    launch_.text = std::string(text);
    launch_.seed = seed;
    files_ = {allow_files, std::filesystem::path(path).parent_path().string()};
  }

  LaunchDescription load(std::span<const std::string> overrides) {
    check_top_level();
    read_link();
    read_default_stream();
    read_params(context_, document_, overrides, launch_);
    read_flops(context_, document_, launch_);
    for_each("buffer", [&](const toml::table& table) { read_buffer(table); });
    for_each("texture",
             [&](const toml::table& table) { launch_.textures.push_back(read_texture(context_, table)); });
    for_each("variable", [&](const toml::table& table) { read_variable(context_, files_, table, launch_); });
    const bool good_buffers = !messages_.has_errors();
    std::vector<const toml::table*> loops;
    for_each("loop", [&](const toml::table& table) { loops.push_back(&table); });
    read_loops(context_, loops, launch_);
    for_each("launch", [&](const toml::table& table) { read_launch(table); });
    for_each("copy", [&](const toml::table& table) { read_copy(table); });
    for_each("memset", [&](const toml::table& table) { read_memset(table); });
    for_each("host", [&](const toml::table& table) {
      if (auto step = read_host_step(context_, table)) launch_.host_steps.push_back(std::move(*step));
    });
    for_each("expect", [&](const toml::table& table) { read_expect(table); });
    if (launch_.launches.empty() && !messages_.has_errors()) {
      messages_.error({launch_.path}, "no [[launch]]: nothing would run");
    }
    resolve_addresses(launch_, messages_);
    rank_steps();
    (void)program_of(launch_, &messages_);
    // Sizes of faulty buffers are not known.
    if (good_buffers) check_steps(launch_, messages_);
    messages_.raise_if_any();
    launch_.warnings = messages_.warnings();
    return std::move(launch_);
  }

 private:
  void check_top_level() {
    static constexpr std::array<std::string_view, 13> kTables{
        "params", "flops", "buffer",  "variable", "launch", "copy",        "memset",
        "loop",   "host",  "texture", "expect",   "link",   kDefaultStream};
    for (const auto& [key, node] : document_) {
      const Where where = where_of(key, launch_.path);
      if (std::ranges::find(kTables, key.str()) == kTables.end()) {
        messages_.error(
            where,
            fmt::format("unknown {} '{}'", node.is_table() || node.is_array() ? "section" : "key", key.str()),
            name_hint(key.str(), kTables));
      } else if (key.str() == "params" || key.str() == "flops") {
        if (!node.is_table())
          messages_.error(where, fmt::format("'{}' must be a table: [{}]", key.str(), key.str()));
      } else if (key.str() != "link" && key.str() != kDefaultStream && !node.is_array_of_tables()) {
        messages_.error(where,
                        fmt::format("'{}' must be an array of tables: write [[{}]]", key.str(), key.str()));
      }
    }
  }

  /// default_stream = "per_thread" or "legacy": the two meanings that stream 0 has in CUDA
  void read_default_stream() {
    const toml::node* node = document_.get(kDefaultStream);
    if (node == nullptr) return;
    const auto* text = node->as_string();
    launch_.legacy_default_stream = text != nullptr && text->get() == "legacy";
    if (text == nullptr || (!launch_.legacy_default_stream && text->get() != "per_thread"))
      messages_.error(where_of(*node, launch_.path), "'default_stream' must be \"per_thread\" or \"legacy\"");
  }

  /// link = ["other.ptx", ...]
  void read_link() {
    const toml::node* node = document_.get("link");
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    const auto wrong = [&](const toml::node& at, const char* what) {
      messages_.error(where_of(at, launch_.path), what, "link = [\"other.ptx\"]");
    };
    if (list == nullptr) return wrong(*node, "'link' must be an array of PTX files");
    for (const toml::node& element : *list) {
      const auto* name = element.as_string();
      if (name == nullptr || name->get().empty())
        wrong(element, "'link' must be an array of PTX files");
      else if (!files_.allowed)
        wrong(element, "files are not allowed here");
      else
        launch_.link.push_back(resolve_file(files_, name->get()));
    }
  }

  template <typename Read>
  void for_each(std::string_view key, Read read) {
    const toml::node* node = document_.get(key);
    const toml::array* array = node != nullptr ? node->as_array() : nullptr;
    if (array == nullptr || !array->is_array_of_tables()) return;
    for (const toml::node& element : *array) {
      if (const toml::table* table = element.as_table()) read(*table);
    }
  }

  void read_buffer(const toml::table& table) {
    const TableReader reader(context_, table, "[[buffer]]", {"name", "type", "count", "init", "address"});
    BufferSpec buffer;
    buffer.where = reader.where("name");
    const auto name = reader.text("name", true);
    const auto type_name = reader.text("type", true);
    bool good = name.has_value() && type_name.has_value();
    if (name) {
      buffer.name = *name;
      good = check_buffer_name(buffer) && good;
    }
    if (type_name) {
      if (const auto type = element_type_from_name(*type_name)) {
        buffer.type = *type;
      } else {
        messages_.error(reader.where("type"), fmt::format("unknown element type '{}'", *type_name),
                        name_hint(*type_name, element_type_names()));
        good = false;
      }
    }
    const toml::node* count = reader.node("count");
    if (count != nullptr) {
      const auto value = read_integer(context_, *count, "count", 0, kMaxElements);
      good = value.has_value() && good;
      buffer.count = static_cast<uint64_t>(value.value_or(0));
    }
    read_device_address(context_, reader, buffer);
    if (good) read_init(reader, count != nullptr, buffer);
    // A faulty buffer still defines its name, so that its uses are not reported as well.
    total_bytes_ += std::min(buffer.bytes(), kMaxBufferBytes);
    if (total_bytes_ > kMaxBufferBytes) {
      messages_.error(buffer.where,
                      fmt::format("the buffers together need more than {} bytes", kMaxBufferBytes));
      total_bytes_ = 0;
    }
    if (name) launch_.buffers.push_back(std::move(buffer));
  }

  bool check_buffer_name(const BufferSpec& buffer) {
    if (!is_identifier(buffer.name)) {
      messages_.error(buffer.where, fmt::format("'{}' is not a valid buffer name", buffer.name),
                      "letters, digits and _, not beginning with a digit");
    } else if (const BufferSpec* other = launch_.find_buffer(buffer.name)) {
      messages_.error(buffer.where, fmt::format("buffer '{}' is defined twice", buffer.name),
                      "first at " + other->where.text());
    } else if (launch_.find_param(buffer.name) != nullptr) {
      messages_.error(buffer.where,
                      fmt::format("'{}' is a parameter as well: arguments would be ambiguous", buffer.name));
    } else {
      return true;
    }
    return false;
  }

  void read_init(const TableReader& reader, bool has_count, BufferSpec& buffer) {
    const toml::node* node = reader.node("init");
    buffer.init.given = node != nullptr;
    if (node == nullptr) {
      if (!has_count) messages_.error(reader.where(), fmt::format("buffer '{}' has no 'count'", buffer.name));
    } else if (const toml::array* array = node->as_array()) {
      buffer.init.kind = InitSpec::Kind::kArray;
      read_elements(context_, *array, buffer.init);
      if (has_count && buffer.count != array->size()) {
        messages_.error(reader.where("init"), fmt::format("init has {} values, the buffer {} elements",
                                                          array->size(), buffer.count));
      }
      buffer.count = array->size();
      check_array(*array, buffer);
    } else if (const auto* text = node->as_string()) {
      ExpressionError error;
      if (is_address(text->get()))
        messages_.error(reader.where("init"), "addresses stand in an array", "init = [\"address(NAME)\"]");
      else if (!parse_init(text->get(), param_scope(launch_), files_, has_count, buffer, error))
        report(context_, *node, 0, error);
    } else {
      messages_.error(reader.where("init"),
                      fmt::format("'init' must be a string or an array, not {}", node_kind(*node)));
    }
  }

  void check_array(const toml::array& array, const BufferSpec& buffer) {
    std::byte scratch[8];
    for (size_t i = 0; i < buffer.init.values.size() && messages_.errors() < Messages::kMaxMessages; ++i) {
      if (store_element(buffer.type, buffer.init.values[i], scratch)) continue;
      messages_.error(where_of(array[i], launch_.path),
                      fmt::format("element {}: {}", i, misfit_text(buffer.type, buffer.init.values[i])));
    }
    check_address_type(buffer, messages_);
  }

  void read_dimensions(const TableReader& reader, const NumberPlace& place, LaunchSpec& spec,
                       uint32_t (&out)[3]) {
    const std::string_view key = place.what;
    const toml::node* node = reader.node(key);
    if (node == nullptr) {
      messages_.error(reader.where(), fmt::format("[[launch]] has no '{}'", key));
      return;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr) {
      if (const auto value = read_step_integer(context_, *node, spec.loop, place, spec.late))
        out[0] = static_cast<uint32_t>(*value);
      return;
    }
    if (array->empty() || array->size() > 3) {
      messages_.error(reader.where(key),
                      fmt::format("'{}' has {} dimensions, expected 1 to 3", key, array->size()));
      return;
    }
    for (size_t i = 0; i < array->size(); ++i) {
      NumberPlace at = place;
      at.index = static_cast<uint32_t>(i);
      if (const auto value = read_step_integer(context_, (*array)[i], spec.loop, at, spec.late))
        out[i] = static_cast<uint32_t>(*value);
    }
  }

  void read_launch(const toml::table& table) {
    const TableReader reader(
        context_, table, "[[launch]]",
        {"kernel", "grid", "block", "cluster", "non_portable_cluster", "dynamic_shared", "registers", "stack",
         "args", "repeat", "stream", "core_clock", "interconnect_clock", "dram_clock", "loop"});
    LaunchSpec spec;
    spec.where = reader.where();
    spec.kernel_where = reader.where("kernel");
    const std::optional<std::string> kernel = reader.text("kernel", false);
    spec.kernel = kernel.value_or("");
    if (kernel && kernel->empty())
      messages_.error(spec.kernel_where, "the kernel's name is empty",
                      "without `kernel` it is the only one of the PTX file");
    spec.loop = loop_of(context_, reader);
    read_dimensions(reader, {"grid", LateNumber::Field::kGrid, 0, 1, kMaxGrid}, spec, spec.grid);
    read_dimensions(reader, {"block", LateNumber::Field::kBlock, 0, 1, kMaxBlock}, spec, spec.block);
    if (reader.node("cluster") != nullptr) {
      for (uint32_t& size : spec.cluster) size = 1;
      read_dimensions(reader, {"cluster", LateNumber::Field::kCluster, 0, 1, kMaxClusterBlocks}, spec,
                      spec.cluster);
    }
    spec.non_portable_cluster = reader.boolean("non_portable_cluster", false);
    if (const toml::node* node = reader.node("dynamic_shared"))
      spec.dynamic_shared = static_cast<uint32_t>(
          read_step_integer(context_, *node, spec.loop,
                            {"dynamic_shared", LateNumber::Field::kDynamicShared, 0, 0, 1 << 24}, spec.late)
              .value_or(0));
    spec.registers = static_cast<uint32_t>(reader.integer("registers", 0, 0, 1024));
    spec.stack = static_cast<uint32_t>(reader.integer("stack", 0, 0, 1 << 20));
    spec.repeat = static_cast<uint32_t>(reader.integer("repeat", 1, 1, 1000000));
    spec.stream = static_cast<uint32_t>(reader.integer("stream", 0, 0, kMaxStream));
    spec.clocks.core_khz = read_clock(reader, "core_clock");
    spec.clocks.interconnect_khz = read_clock(reader, "interconnect_clock");
    spec.clocks.dram_khz = read_clock(reader, "dram_clock");
    if (const toml::node* args = reader.node("args")) {
      if (const toml::array* array = args->as_array()) {
        for (const toml::node& node : *array) read_argument(node, spec);
      } else {
        messages_.error(reader.where("args"),
                        fmt::format("'args' must be an array, not {}", node_kind(*args)));
      }
    }
    launch_.launches.push_back(std::move(spec));
  }

  /// kHz; 0 if it is not there.
  int64_t read_clock(const TableReader& reader, std::string_view key) {
    const auto text = reader.text(key, false);
    if (!text) return 0;
    const auto khz = parse_khz(*text);
    if (khz && *khz >= kLowestKhz && *khz <= kHighestKhz) return *khz;
    messages_.error(reader.where(key), fmt::format("'{}' = \"{}\" is no clock", key, *text),
                    "a clock from 1MHz to 100GHz such as \"1050MHz\", a whole number of kHz");
    return 0;
  }

  void read_argument(const toml::node& node, LaunchSpec& spec) {
    ArgumentSpec argument;
    argument.where = where_of(node, launch_.path);
    if (const toml::table* table = node.as_table()) {
      argument.kind = ArgumentSpec::Kind::kBytes;
      argument.text = "{ bytes }";
      read_bytes(*table, argument);
    } else if (const auto* text = node.as_string()) {
      argument.text = text->get();
      if (!read_named_argument(node, text->get(), spec, argument)) return;
    } else if (const auto value = read_number(context_, node, "argument")) {
      argument.number = *value;
      argument.text = value->is_integer ? fmt::format("{}", value->integer) : fmt::format("{}", value->real);
    }
    spec.arguments.push_back(std::move(argument));
  }

  bool read_named_argument(const toml::node& node, const std::string& text, LaunchSpec& spec,
                           ArgumentSpec& argument) {
    const auto buffer = std::ranges::find(launch_.buffers, text, &BufferSpec::name);
    if (buffer != launch_.buffers.end()) {
      argument.kind = ArgumentSpec::Kind::kBuffer;
      argument.buffer = static_cast<uint32_t>(buffer - launch_.buffers.begin());
      return true;
    }
    const auto texture = std::ranges::find(launch_.textures, text, &TextureSpec::name);
    if (texture != launch_.textures.end()) {
      argument.kind = ArgumentSpec::Kind::kTexture;
      argument.texture = static_cast<uint32_t>(texture - launch_.textures.begin());
      return true;
    }
    ExpressionError error;
    const auto value = read_step_argument(context_, node, text, spec.loop,
                                          static_cast<uint32_t>(spec.arguments.size()), spec.late, error);
    if (!value) {
      if (error.message.starts_with("undefined name")) {
        error.message += launch_.textures.empty() ? " (neither a buffer nor a parameter)"
                                                  : " (neither a buffer, a texture nor a parameter)";
        if (const std::string hint = argument_hint(text); !hint.empty()) error.hint = hint;
      }
      report(context_, node, 0, error);
      return false;
    }
    argument.number = *value;
    return true;
  }

  /// What an argument that is one word might have meant; empty for an expression.
  [[nodiscard]] std::string argument_hint(const std::string& text) const {
    if (!std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }))
      return {};
    std::vector<std::string_view> names;
    for (const BufferSpec& buffer : launch_.buffers) names.push_back(buffer.name);
    for (const TextureSpec& texture : launch_.textures) names.push_back(texture.name);
    for (const auto& [name, value] : launch_.params) names.push_back(name);
    return name_hint(text, names);
  }

  void read_bytes(const toml::table& table, ArgumentSpec& argument) {
    const TableReader reader(context_, table, "an argument by value", {"bytes"});
    const toml::node* node = reader.node("bytes");
    const toml::array* array = node != nullptr ? node->as_array() : nullptr;
    if (array == nullptr) {
      messages_.error(argument.where, "an argument by value is { bytes = [..] }");
      return;
    }
    for (const toml::node& element : *array) {
      const auto value = read_integer(context_, element, "byte", 0, 255);
      argument.bytes.push_back(static_cast<std::byte>(value.value_or(0)));
    }
  }

  /// Index of what `buffer` or `variable` names. A variable need not be listed: the PTX may have it.
  std::optional<uint32_t> buffer_or_variable(const TableReader& reader, const std::string& what) {
    if (reader.node("variable") == nullptr) return reader.buffer("buffer");
    if (reader.node("buffer") != nullptr)
      messages_.error(reader.where("variable"), fmt::format("{} has a 'buffer' and a 'variable'", what));
    const auto name = reader.text("variable", true);
    if (!name) return std::nullopt;
    if (const BufferSpec* buffer = launch_.find_buffer(*name); buffer != nullptr && !buffer->variable) {
      messages_.error(reader.where("variable"), fmt::format("'{}' is a buffer", *name),
                      fmt::format("buffer = \"{}\"", *name));
      return std::nullopt;
    }
    return launch_.request_variable(*name, reader.where("variable"), what);
  }

  void read_copy(const toml::table& table) {
    const TableReader reader(context_, table, "[[copy]]",
                             {"buffer", "variable", "direction", "stream", "init", "from", "from_offset",
                              "offset", "bytes", "loop"});
    const auto buffer = buffer_or_variable(reader, "[[copy]]");
    CopySpec copy = core::read_copy(context_, files_, reader, buffer);
    if (buffer) launch_.copies.push_back(std::move(copy));
  }

  void read_memset(const toml::table& table) {
    const TableReader reader(context_, table, "[[memset]]",
                             {"buffer", "variable", "value", "width", "offset", "bytes", "stream", "loop"});
    const auto buffer = buffer_or_variable(reader, "[[memset]]");
    MemsetSpec memset = core::read_memset(context_, reader, buffer);
    if (buffer) launch_.memsets.push_back(std::move(memset));
  }

  void read_expect(const toml::table& table) {
    const TableReader reader(context_, table, "[[expect]]",
                             {"buffer", "variable", "file", "values", "reference", "rtol", "atol"});
    ExpectSpec expect;
    expect.where = reader.where();
    const auto buffer = buffer_or_variable(reader, "[[expect]]");
    expect.buffer = buffer.value_or(0);
    expect.rtol = reader.real("rtol", 0, 0);
    expect.atol = reader.real("atol", 0, 0);
    const int forms = (reader.node("file") != nullptr ? 1 : 0) + (reader.node("values") != nullptr ? 1 : 0) +
                      (reader.node("reference") != nullptr ? 1 : 0);
    if (forms != 1) {
      messages_.error(
          expect.where,
          fmt::format("[[expect]] needs exactly one of 'file', 'values' and 'reference', found {}", forms));
    } else if (reader.node("values") != nullptr) {
      read_values(reader, buffer, expect);
    } else if (const auto reference = reader.text("reference", false)) {
      expect.kind = ExpectSpec::Kind::kReference;
      expect.reference = *reference;
      ExpressionError error;
      if (!parse_reference(*reference, launch_, error)) report(context_, *reader.node("reference"), 0, error);
    } else if (const auto file = reader.text("file", false)) {
      expect.kind = ExpectSpec::Kind::kFile;
      read_expected_file(reader, buffer, *file, expect);
    }
    if (buffer) launch_.expects.push_back(std::move(expect));
  }

  void read_values(const TableReader& reader, std::optional<uint32_t> buffer, ExpectSpec& expect) {
    const toml::array* array = reader.node("values")->as_array();
    if (array == nullptr) {
      messages_.error(reader.where("values"), "'values' must be an array of numbers");
      return;
    }
    expect.values = read_numbers(context_, *array, "values");
    expect.content_where = reader.where("values");
    if (buffer && !launch_.buffers[*buffer].variable &&
        expect.values.size() > launch_.buffers[*buffer].count) {
      messages_.error(reader.where("values"),
                      fmt::format("{} values, buffer '{}' has {} elements", expect.values.size(),
                                  launch_.buffers[*buffer].name, launch_.buffers[*buffer].count));
    }
  }

  /// Applies the checks of a buffer that is initialised from the file.
  void read_expected_file(const TableReader& reader, std::optional<uint32_t> buffer, const std::string& file,
                          ExpectSpec& expect) {
    if (!buffer) return;
    expect.content_where = reader.where("file");
    if (launch_.buffers[*buffer].variable) {
      if (!files_.allowed) messages_.error(expect.content_where, "files are not allowed here");
      expect.file = resolve_file(files_, file);
      return;  // bind_variables() opens it
    }
    BufferSpec as_buffer = launch_.buffers[*buffer];
    ExpressionError error;
    if (parse_init("file:" + file, param_scope(launch_), files_, true, as_buffer, error)) {
      expect.file = as_buffer.init.file;
    } else {
      error.offset -= std::min<size_t>(error.offset, 5);
      report(context_, *reader.node("file"), 0, error);
    }
  }

  /// Steps run in the order in which the file lists them.
  void rank_steps() {
    std::vector<std::pair<std::pair<uint32_t, uint32_t>, uint32_t*>> steps;
    for (LaunchSpec& spec : launch_.launches)
      steps.push_back({{spec.where.line, spec.where.column}, &spec.order});
    for (CopySpec& copy : launch_.copies)
      steps.push_back({{copy.where.line, copy.where.column}, &copy.order});
    for (MemsetSpec& memset : launch_.memsets)
      steps.push_back({{memset.where.line, memset.where.column}, &memset.order});
    for (HostStepSpec& step : launch_.host_steps)
      steps.push_back({{step.where.line, step.where.column}, &step.order});
    std::ranges::stable_sort(steps, {}, [](const auto& step) { return step.first; });
    for (uint32_t i = 0; i < steps.size(); ++i) *steps[i].second = i;
  }

  toml::table document_;
  LaunchDescription launch_;
  Messages messages_;
  FileAccess files_;
  uint64_t total_bytes_ = 0;
  ReadContext context_;
};

}  // namespace

LaunchDescription parse_launch(std::string_view text, const std::string& path,
                               std::span<const std::string> param_overrides, uint64_t seed,
                               bool allow_files) {
  return LaunchLoader(text, path, seed, allow_files).load(param_overrides);
}

LaunchDescription load_launch(const std::string& path, std::span<const std::string> param_overrides,
                              uint64_t seed) {
  return parse_launch(read_text_file(path), path, param_overrides, seed);
}

}  // namespace gpusim::core
