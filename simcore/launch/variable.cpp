#include "simcore/launch/variable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "simcore/launch/element.h"
#include "simcore/launch/scope.h"
#include "simcore/text/names.h"

namespace gpusim::core {
namespace {

constexpr std::string_view kAddress = "address(";

/// A PTX identifier; compilers make names with `$`.
bool is_variable_name(std::string_view name) {
  return !name.empty() && name.size() <= 1024 && !std::isdigit(static_cast<unsigned char>(name.front())) &&
         std::ranges::all_of(
             name, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '$' || c == '%'; });
}

bool check_name(const ReadContext& context, const TableReader& reader, const std::string& name) {
  if (!is_variable_name(name)) {
    context.messages.error(reader.where("name"), fmt::format("'{}' is not a name that PTX allows", name));
  } else if (const BufferSpec* other = context.launch.find_buffer(name)) {
    context.messages.error(reader.where("name"),
                           other->variable ? fmt::format("variable '{}' is listed twice", name)
                                           : fmt::format("'{}' is a buffer as well", name),
                           "first at " + other->where.text());
  } else if (context.launch.find_param(name) != nullptr) {
    context.messages.error(reader.where("name"),
                           fmt::format("'{}' is a parameter as well: arguments would be ambiguous", name));
  } else {
    return true;
  }
  return false;
}

/// address(NAME) or address(NAME, BYTES)
void read_address(const ReadContext& context, const toml::node& node, std::string_view text, uint64_t index,
                  InitSpec& init) {
  ExpressionError error;
  const auto parts = split_call(text, error);
  if (!parts) return report(context, node, 0, error);
  AddressElement element;
  element.index = index;
  element.where = inside_string(node, context.file, 0);
  if (parts->arguments.empty() || parts->arguments.size() > 2) {
    context.messages.error(element.where, "expected address(NAME) or address(NAME, BYTES)");
    return;
  }
  element.name = parts->arguments[0].text;
  if (parts->arguments.size() == 2) {
    const auto bytes = evaluate(parts->arguments[1].text, param_scope(context.launch), error);
    if (!bytes) return report(context, node, parts->arguments[1].offset, error);
    if (!bytes->is_integer || bytes->integer < 0) {
      context.messages.error(inside_string(node, context.file, parts->arguments[1].offset),
                             "bytes behind an address are an integer from 0 up");
      return;
    }
    element.offset = static_cast<uint64_t>(bytes->integer);
  }
  element.where = inside_string(node, context.file, parts->arguments[0].offset);
  init.addresses.push_back(std::move(element));
}

}  // namespace

void read_variable_init(const ReadContext& context, const toml::node& node, BufferSpec& variable) {
  VariableText& text = *variable.variable;
  variable.init.given = true;
  text.init_where = where_of(node, context.file);
  if (const toml::array* array = node.as_array()) {
    variable.init.kind = InitSpec::Kind::kArray;
    read_elements(context, *array, variable.init);
    for (const toml::node& value : *array)
      text.value_places.emplace_back(value.source().begin.line, value.source().begin.column);
  } else if (const auto* written = node.as_string(); written != nullptr && !is_address(written->get())) {
    text.init = written->get();
    text.init_where = inside_string(node, context.file, 0);
  } else {  // a scalar needs no array around its value
    variable.init.kind = InitSpec::Kind::kArray;
    variable.init.values.resize(1);
    text.value_places.emplace_back(text.init_where.line, text.init_where.column);
    if (written != nullptr)
      read_address(context, node, written->get(), 0, variable.init);
    else if (const auto value = read_number(context, node, "init"))
      variable.init.values[0] = *value;
  }
}

bool is_address(std::string_view text) { return text.starts_with(kAddress); }

void read_elements(const ReadContext& context, const toml::array& array, InitSpec& init) {
  init.values.reserve(array.size());
  for (const toml::node& node : array) {
    const auto* text = node.as_string();
    std::optional<Number> value;
    if (text != nullptr && is_address(text->get())) {
      value = Number::of(0);
      read_address(context, node, text->get(), init.values.size(), init);
    } else {
      value = read_number(context, node, "init");
    }
    if (!value && context.messages.errors() > Messages::kMaxMessages) break;
    init.values.push_back(value.value_or(Number{}));
  }
}

void read_device_address(const ReadContext& context, const TableReader& reader, BufferSpec& buffer) {
  const toml::node* node = reader.node("address");
  if (node == nullptr) return;
  buffer.address_where = reader.where("address");
  const auto address = read_integer(context, *node, "address", 0, int64_t{1} << 47);
  if (address) buffer.address = static_cast<uint64_t>(*address);
}

void read_variable(const ReadContext& context, const FileAccess& files, const toml::table& table,
                   LaunchDescription& launch) {
  const TableReader reader(context, table, "[[variable]]", {"name", "type", "count", "init", "address"});
  const auto name = reader.text("name", true);
  if (!name || !check_name(context, reader, *name)) return;
  BufferSpec variable;
  variable.name = *name;
  variable.where = reader.where("name");
  read_device_address(context, reader, variable);
  VariableText& text = variable.variable.emplace();
  text.folder = files.folder;
  text.allow_files = files.allowed;
  if (const auto type = reader.text("type", false)) {
    text.has_type = true;
    text.type_where = reader.where("type");
    if (const auto known = element_type_from_name(*type))
      variable.type = *known;
    else
      context.messages.error(text.type_where, fmt::format("unknown element type '{}'", *type),
                             name_hint(*type, element_type_names()));
  }
  if (const toml::node* count = reader.node("count")) {
    text.has_count = true;
    text.count_where = reader.where("count");
    variable.count =
        static_cast<uint64_t>(read_integer(context, *count, "count", 0, kMaxElements).value_or(0));
  }
  if (const toml::node* init = reader.node("init")) read_variable_init(context, *init, variable);
  // What regression runs hash to see whether inputs have changed.
  if (text.init.starts_with("file:")) variable.init.file = resolve_file(files, text.init.substr(5));
  launch.buffers.push_back(std::move(variable));
}

void resolve_addresses(LaunchDescription& launch, Messages& messages) {
  const auto resolve = [&](BufferSpec& buffer) {
    for (AddressElement& element : buffer.init.addresses) {
      const auto target = std::ranges::find(launch.buffers, element.name, &BufferSpec::name);
      if (target == launch.buffers.end())
        messages.error(element.where, fmt::format("undefined buffer '{}'", element.name),
                       name_hint(element.name, buffer_names(launch)));
      element.target = static_cast<uint32_t>(target - launch.buffers.begin());
    }
  };
  for (BufferSpec& buffer : launch.buffers) resolve(buffer);
  for (CopySpec& copy : launch.copies)
    if (copy.source) resolve(*copy.source);
}

}  // namespace gpusim::core
