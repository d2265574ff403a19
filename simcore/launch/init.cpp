#include "simcore/launch/init.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "simcore/launch/element.h"
#include "simcore/launch/npy.h"
#include "simcore/text/names.h"
#include "simcore/text/text_file.h"

namespace gpusim::core {
namespace {

using Kind = InitSpec::Kind;

struct Generator {
  std::string_view name;
  Kind kind;
  size_t min_arguments, max_arguments;
  double default_a, default_b;
};
constexpr std::array<Generator, 7> kGenerators{{{"zeros", Kind::kZeros, 0, 0, 0, 0},
                                                {"fill", Kind::kFill, 1, 1, 0, 0},
                                                {"iota", Kind::kIota, 0, 2, 0, 1},
                                                {"uniform", Kind::kUniform, 0, 2, 0, 1},
                                                {"normal", Kind::kNormal, 0, 2, 0, 1},
                                                {"randint", Kind::kRandint, 2, 2, 0, 0},
                                                {"row_starts", Kind::kRowStarts, 1, 1, 0, 0}}};

bool fail(ExpressionError& error, size_t offset, std::string message, std::string hint = "") {
  error = {offset, std::move(message), std::move(hint)};
  return false;
}

bool fits(ElementType type, const Number& value) {
  std::byte scratch[8];
  return store_element(type, value, scratch);
}

/// Values that can be refused before anything is generated.
bool check_values(const BufferSpec& buffer, ExpressionError& error) {
  const InitSpec& init = buffer.init;
  const std::string_view type = element_type_name(buffer.type);
  switch (init.kind) {
    case Kind::kFill:
      if (!fits(buffer.type, init.a)) {
        return fail(error, 0, misfit_text(buffer.type, init.a));
      }
      return true;
    case Kind::kUniform:
    case Kind::kNormal:
      if (!element_is_float(buffer.type)) {
        return fail(error, 0, fmt::format("uniform and normal need a floating-point type, not {}", type),
                    "randint(lo, hi) makes integers");
      }
      if (init.kind == Kind::kUniform && !(init.a.as_double() <= init.b.as_double())) {
        return fail(error, 0, "uniform(lo, hi) needs lo <= hi");
      }
      if (init.kind == Kind::kNormal && !(init.b.as_double() >= 0)) {
        return fail(error, 0, "normal(mu, sigma) needs sigma >= 0");
      }
      return true;
    case Kind::kRandint:
      if (!init.a.is_integer || !init.b.is_integer || init.a.integer >= init.b.integer) {
        return fail(error, 0, "randint(lo, hi) needs integers lo < hi; hi itself does not occur");
      }
      if (!fits(buffer.type, init.a) || !fits(buffer.type, Number::of(init.b.integer - 1))) {
        const Number last = Number::of(init.b.integer - 1);
        return fail(error, 0, misfit_text(buffer.type, fits(buffer.type, init.a) ? last : init.a));
      }
      return true;
    case Kind::kRowStarts:
      if (!init.a.is_integer || init.a.integer < 0 || !fits(buffer.type, init.a)) {
        return fail(error, 0,
                    fmt::format("row_starts(total) needs an integer >= 0 that fits into type {}", type));
      }
      return true;
    default:
      return true;
  }
}

bool parse_file(std::string_view name, const FileAccess& files, bool has_count, BufferSpec& buffer,
                ExpressionError& error) {
  constexpr size_t kPrefix = 5;  // "file:"
  if (!files.allowed) return fail(error, kPrefix, "files are not allowed here");
  const bool is_npy = name.ends_with(".npy");
  if (!is_npy && !name.ends_with(".bin")) {
    return fail(error, kPrefix, fmt::format("'{}' is neither .npy nor .bin", name));
  }
  buffer.init.kind = is_npy ? Kind::kNpy : Kind::kBin;
  buffer.init.file = resolve_file(files, name);
  uint64_t count = 0;
  if (is_npy) {
    NpyHeader header;
    try {
      header = read_npy_header(buffer.init.file);
    } catch (const InputError& problem) {
      return fail(error, kPrefix, problem.what());
    }
    if (!npy_matches(header, buffer.type)) {
      return fail(error, kPrefix,
                  fmt::format("'{}' holds {}{} elements, the {}'s type is {}", name, header.kind,
                              header.item_bytes, buffer.kind(), element_type_name(buffer.type)));
    }
    count = header.count;
  } else {
    uint64_t size = 0;
    try {
      size = InputFile(buffer.init.file).bytes();
    } catch (const InputError& problem) {
      return fail(error, kPrefix, problem.what());
    }
    if (size == 0) return fail(error, kPrefix, fmt::format("'{}' is empty", buffer.init.file));
    count = size / element_bytes(buffer.type);
    if (size % element_bytes(buffer.type) != 0) {
      return fail(
          error, kPrefix,
          fmt::format("'{}' has {} bytes, not a multiple of {}", name, size, element_bytes(buffer.type)));
    }
  }
  if (!has_count) buffer.count = count;
  if (buffer.count != count) {
    return fail(error, kPrefix,
                fmt::format("'{}' holds {} elements, the {} {}", name, count, buffer.kind(), buffer.count));
  }
  return true;
}

}  // namespace

std::string resolve_file(const FileAccess& files, std::string_view name) {
  const std::filesystem::path path(name);
  return path.is_absolute() || files.folder.empty() ? path.string()
                                                    : (std::filesystem::path(files.folder) / path).string();
}

bool parse_init(std::string_view text, const ExpressionScope& scope, const FileAccess& files, bool has_count,
                BufferSpec& buffer, ExpressionError& error) {
  if (text.starts_with("file:")) return parse_file(text.substr(5), files, has_count, buffer, error);
  if (!has_count) return fail(error, 0, "the buffer needs a 'count'");
  const auto parts = split_call(text, error);
  if (!parts) return false;
  const auto generator = std::ranges::find(kGenerators, parts->name, &Generator::name);
  if (generator == kGenerators.end()) {
    std::vector<std::string_view> names;
    names.reserve(kGenerators.size());
    for (const Generator& known : kGenerators) names.push_back(known.name);
    names.push_back("file:NAME");
    return fail(error, 0, fmt::format("unknown initial value '{}'", parts->name),
                name_hint(parts->name, names));
  }
  const size_t given = parts->arguments.size();
  if (given < generator->min_arguments || given > generator->max_arguments) {
    return fail(error, 0,
                fmt::format("{} takes {} to {} values, found {}", generator->name, generator->min_arguments,
                            generator->max_arguments, given));
  }
  Number values[2] = {Number::of(static_cast<int64_t>(generator->default_a)),
                      Number::of(static_cast<int64_t>(generator->default_b))};
  for (size_t i = 0; i < given; ++i) {
    const auto value = evaluate(parts->arguments[i].text, scope, error);
    if (!value) {
      error.offset += parts->arguments[i].offset;
      return false;
    }
    values[i] = *value;
  }
  buffer.init.kind = generator->kind;
  buffer.init.a = values[0];
  buffer.init.b = values[1];
  return check_values(buffer, error);
}

}  // namespace gpusim::core
