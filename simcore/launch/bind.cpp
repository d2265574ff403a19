// Variables of launch files meet their declarations in the PTX.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "simcore/launch/element.h"
#include "simcore/launch/init.h"
#include "simcore/launch/launch.h"
#include "simcore/launch/scope.h"
#include "simcore/launch/steps.h"
#include "simcore/reference/reference.h"
#include "simcore/text/names.h"

namespace gpusim::core {
namespace {

bool has_memory(const DeclaredVariable& d) {
  return !d.is_texture && (d.space == "global" || d.space == "const");
}

/// The linker sets names apart that several files use for themselves: `name@@2` is that of the second.
bool is_called(const DeclaredVariable& d, std::string_view name) {
  return d.name == name || (d.name.starts_with(name) && d.name.substr(name.size()).starts_with("@@"));
}

/// Compilers declare structures and arrays as bytes, whose element type the launch file knows better.
/// Otherwise the width counts, and whether it is a floating-point number; untyped elements are either.
bool types_agree(ElementType given, std::string_view declared) {
  const auto known = element_type_from_name(declared);
  if (!known || *known == ElementType::kB8) return true;
  const auto untyped = [](ElementType t) {
    return t == ElementType::kB16 || t == ElementType::kB32 || t == ElementType::kB64 ||
           t == ElementType::kB8;
  };
  if (element_bytes(given) != element_bytes(*known)) return false;
  return untyped(given) || untyped(*known) ||
         (element_is_float(given) ? given == *known : !element_is_float(*known));
}

class Binder {
 public:
  Binder(LaunchDescription& launch, std::span<const DeclaredVariable> declared, const std::string& ptx)
      : launch_(launch), declared_(declared), ptx_(ptx) {}

  void run() {
    for (BufferSpec& buffer : launch_.buffers) {
      if (!buffer.variable) continue;
      if (const DeclaredVariable* declaration = find(buffer)) bind(buffer, *declaration);
    }
    for (ExpectSpec& expect : launch_.expects)
      if (launch_.buffers[expect.buffer].variable && !messages_.has_errors()) check(expect);
    if (!messages_.has_errors()) check_steps(launch_, messages_);
    messages_.raise_if_any();
  }

 private:
  const DeclaredVariable* find(const BufferSpec& variable) {
    std::vector<const DeclaredVariable*> found;
    for (const DeclaredVariable& d : declared_)
      if (is_called(d, variable.name)) found.push_back(&d);
    if (found.empty()) return unknown(variable);
    const DeclaredVariable& first = *found.front();
    if (found.size() > 1) {
      std::string places;
      for (const DeclaredVariable* d : found) places += (places.empty() ? "" : ", ") + d->where.text();
      return refuse(
          variable,
          fmt::format("several files of the program have a variable '{}' of their own", variable.name),
          places + ": rename all but one");
    }
    if (first.is_texture)
      return refuse(variable, fmt::format("'{}' is a texture reference", variable.name),
                    "[[texture]] binds it");
    if (!has_memory(first))
      return refuse(
          variable,
          fmt::format("'{}' is a .{} variable, which only kernels can reach", variable.name, first.space),
          "a host sets .global and .const variables");
    if (first.is_extern)
      return refuse(variable,
                    fmt::format("variable '{}' is declared .extern and defined in no file of the program",
                                variable.name),
                    "declared at " + first.where.text() + "; link = [\"other.ptx\"] adds a file");
    if (first.bytes == 0)
      return refuse(
          variable,
          fmt::format("variable '{}' is declared without a size: there is nothing to set", variable.name),
          "declared at " + first.where.text());
    return &first;
  }

  const DeclaredVariable* refuse(const BufferSpec& variable, const std::string& what,
                                 const std::string& hint) {
    messages_.error(variable.where, what, hint);
    return nullptr;
  }

  const DeclaredVariable* unknown(const BufferSpec& variable) {
    std::vector<std::string_view> names;
    for (const DeclaredVariable& d : declared_)
      if (has_memory(d)) names.push_back(d.name);
    const std::string hint = names.empty() ? "it has none at all" : name_hint(variable.name, names);
    const std::string& by = variable.variable->requested_by;
    if (by == kDumpOption)
      return refuse(variable,
                    fmt::format("no buffer '{}' in {}, and no .global or .const variable of that name in {}",
                                variable.name, launch_.path, ptx_),
                    hint);
    return refuse(variable, fmt::format("{} has no .global or .const variable '{}'", ptx_, variable.name),
                  hint);
  }

  void bind(BufferSpec& variable, const DeclaredVariable& declaration) {
    VariableText& text = *variable.variable;
    if (!text.has_type) {
      variable.type = element_type_from_name(declaration.type).value_or(ElementType::kB8);
    } else if (!types_agree(variable.type, declaration.type)) {
      messages_.error(text.type_where,
                      fmt::format("variable '{}' has elements of type {}, not {}", variable.name,
                                  declaration.type, element_type_name(variable.type)),
                      "declared at " + declaration.where.text());
      return;
    }
    const uint64_t step = element_bytes(variable.type), elements = declaration.bytes / step;
    if (declaration.bytes % step != 0)
      messages_.error(text.type_where,
                      fmt::format("variable '{}' has {} bytes, not a multiple of the {} of {}", variable.name,
                                  declaration.bytes, step, element_type_name(variable.type)));
    else if (text.has_count && variable.count != elements)
      wrong_size(text.count_where, variable, elements, declaration);
    else if (variable.init.kind == InitSpec::Kind::kArray && variable.init.values.size() != elements)
      wrong_size(text.init_where, variable, elements, declaration);
    else
      set_content(variable, elements, declaration);
  }

  void wrong_size(const Where& where, const BufferSpec& variable, uint64_t elements,
                  const DeclaredVariable& declaration) {
    const uint64_t given = variable.init.kind == InitSpec::Kind::kArray && !variable.variable->has_count
                               ? variable.init.values.size()
                               : variable.count;
    messages_.error(where,
                    fmt::format("variable '{}' has {} element{} of type {}, not {}", variable.name, elements,
                                elements == 1 ? "" : "s", element_type_name(variable.type), given),
                    fmt::format(".{} {} of {} bytes, declared at {}{}", declaration.space, declaration.type,
                                declaration.bytes, declaration.where.text(),
                                declaration.type == "b8" && !variable.variable->has_type
                                    ? "; 'type' says what the bytes are"
                                    : ""));
  }

  void set_content(BufferSpec& variable, uint64_t elements, const DeclaredVariable& declaration) {
    const VariableText& text = *variable.variable;
    variable.count = elements;
    if (!variable.init.given) {
      variable.init.kind = InitSpec::Kind::kBytes;
      variable.init.bytes = declaration.init;
    } else if (variable.init.kind == InitSpec::Kind::kArray) {
      check_values(variable);
    } else {
      ExpressionError error;
      if (!parse_init(text.init, param_scope(launch_), {text.allow_files, text.folder}, true, variable,
                      error)) {
        Where where = text.init_where;
        where.column += static_cast<uint32_t>(error.offset);
        messages_.error(where, error.message, error.hint);
      }
    }
  }

  void check_values(const BufferSpec& variable) {
    std::byte scratch[8];
    const VariableText& text = *variable.variable;
    for (size_t i = 0; i < variable.init.values.size() && messages_.errors() < Messages::kMaxMessages; ++i) {
      if (store_element(variable.type, variable.init.values[i], scratch)) continue;
      const auto& [line, column] = text.value_places[i];
      messages_.error({launch_.path, line, column}, misfit_text(variable.type, variable.init.values[i]),
                      text.has_type ? "" : "'type' says what the variable's elements are");
    }
    check_address_type(variable, messages_);
  }

  /// What load() checks for buffers.
  void check(ExpectSpec& expect) {
    const BufferSpec& variable = launch_.buffers[expect.buffer];
    if (expect.kind == ExpectSpec::Kind::kValues && expect.values.size() > variable.count) {
      messages_.error(expect.content_where,
                      fmt::format("{} values, variable '{}' has {} element{} of type {}",
                                  expect.values.size(), variable.name, variable.count,
                                  variable.count == 1 ? "" : "s", element_type_name(variable.type)));
    } else if (expect.kind == ExpectSpec::Kind::kFile) {
      BufferSpec as_file = variable;
      ExpressionError error;
      if (!parse_init("file:" + expect.file, param_scope(launch_), {true, ""}, true, as_file, error))
        messages_.error(expect.content_where, error.message, error.hint);
    }
  }

  LaunchDescription& launch_;
  std::span<const DeclaredVariable> declared_;
  const std::string& ptx_;
  Messages messages_;
};

template <class Fn>
void for_each_late(const LaunchDescription& launch, Fn fn) {
  const auto of_step = [&fn](const auto& steps) {
    for (const auto& step : steps)
      for (const LateNumber& number : step.late) fn(number.expression);
  };
  of_step(launch.launches);
  of_step(launch.copies);
  of_step(launch.memsets);
  for (const HostStepSpec& step : launch.host_steps)
    for (const LateExpression& e : step.numbers) fn(e);
  for (const LoopSpec& loop : launch.loops) {
    if (loop.times) fn(*loop.times);
    if (!loop.condition) continue;
    fn(loop.condition->left);
    fn(loop.condition->right);
  }
}

/// The text has an element of the buffer: its name, and then a bracket.
bool names_element(std::string_view text, std::string_view name) {
  const auto part_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t next = text.find_first_not_of(" \t", at + name.size());
    if ((at == 0 || !part_of_name(text[at - 1])) && next != std::string_view::npos && text[next] == '[')
      return true;
  }
  return false;
}

/// By buffer: whether a kernel can reach it or a result is compared with it, and whether it is copied.
struct Uses {
  std::vector<bool> meant;
  std::vector<bool> copied;
};
Uses uses_of(const LaunchDescription& launch) {
  Uses uses{std::vector<bool>(launch.buffers.size()), std::vector<bool>(launch.buffers.size())};
  for (const LaunchSpec& spec : launch.launches)
    for (const ArgumentSpec& a : spec.arguments)
      if (a.kind == ArgumentSpec::Kind::kBuffer) uses.meant[a.buffer] = true;
  for (const TextureSpec& t : launch.textures) uses.meant[t.buffer] = true;
  for (const BufferSpec& b : launch.buffers)
    for (const AddressElement& e : b.init.addresses) uses.meant[e.target] = true;
  for (const CopySpec& c : launch.copies) {
    uses.copied[c.buffer] = true;
    if (c.from) uses.copied[*c.from] = true;
    if (c.source)
      for (const AddressElement& e : c.source->init.addresses) uses.meant[e.target] = true;
  }
  for (const MemsetSpec& m : launch.memsets) uses.copied[m.buffer] = true;
  for (const HostStepSpec& h : launch.host_steps)
    for (const uint32_t b : h.buffers) uses.meant[b] = true;
  for_each_late(launch, [&](const LateExpression& e) {
    for (size_t i = 0; i < launch.buffers.size(); ++i)
      if (names_element(e.text, launch.buffers[i].name)) uses.meant[i] = true;
  });
  for (const ExpectSpec& e : launch.expects) {
    uses.meant[e.buffer] = true;
    ExpressionError error;
    if (e.kind != ExpectSpec::Kind::kReference) continue;
    if (const auto call = parse_reference(e.reference, launch, error))
      for (const auto& a : call->arguments)
        if (a.is_buffer) uses.meant[a.buffer] = true;
  }
  return uses;
}

void warn_unused(LaunchDescription& launch, std::span<const DeclaredVariable> declared) {
  const Uses uses = uses_of(launch);
  Messages messages;
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    const BufferSpec& buffer = launch.buffers[i];
    if (buffer.variable || uses.meant[i]) continue;
    const auto same = std::ranges::find_if(
        declared, [&](const DeclaredVariable& d) { return has_memory(d) && is_called(d, buffer.name); });
    if (same != declared.end())
      messages.warning(buffer.where,
                       fmt::format("no kernel gets buffer '{}'; the .{} variable '{}' of the PTX is another "
                                   "thing, which [[variable]] sets",
                                   buffer.name, same->space, buffer.name));
    else if (!uses.copied[i])
      messages.warning(
          buffer.where,
          fmt::format("buffer '{}' is not used: no launch, copy, expect or texture names it", buffer.name));
  }
  launch.warnings.insert(launch.warnings.end(), messages.warnings().begin(), messages.warnings().end());
}

}  // namespace

void bind_variables(LaunchDescription& launch, std::span<const DeclaredVariable> declared,
                    const std::string& ptx) {
  Binder(launch, declared, ptx).run();
  warn_unused(launch, declared);
}

}  // namespace gpusim::core
