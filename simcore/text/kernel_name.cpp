#include "simcore/text/kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace gpusim::core {
namespace {

/// Without the parameters: up to the parenthesis that the last one closes.
std::string_view without_parameters(std::string_view name) {
  // What stands behind them is const, &, or [clone ...].
  const size_t last = name.rfind(')');
  if (last == std::string_view::npos) return name;
  int depth = 0;
  for (size_t at = last + 1; at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at == 0 ? name : name.substr(0, at);
  }
  return name;
}

/// Without the type of the result, which functions made of templates have: behind the last space that stands
/// in no brackets.
std::string_view without_result(std::string_view name) {
  int depth = 0;
  for (size_t at = name.size(); at-- > 0;) {
    const char c = name[at];
    if (c == '>' || c == ')' || c == '}' || c == ']') ++depth;
    if (c == '<' || c == '(' || c == '{' || c == '[') --depth;
    if (c == ' ' && depth == 0) return name.substr(at + 1);
  }
  return name;
}

/// Without the template arguments at its end.
std::string_view without_arguments(std::string_view name) {
  if (!name.ends_with('>')) return name;
  int depth = 0;
  for (size_t at = name.size(); at-- > 0;) {
    if (name[at] == '>') ++depth;
    if (name[at] == '<' && --depth == 0) return at == 0 ? name : name.substr(0, at);
  }
  return name;
}

}  // namespace

std::string demangled(std::string_view name) {
  // Types alone, such as "i", have mangled names too: a function's begins with _Z.
  if (!name.starts_with("_Z")) return std::string(name);
  int status = 0;
  const std::string terminated(name);
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(terminated.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : terminated;
}

std::string short_kernel_name(std::string_view name) {
  const std::string whole = demangled(name);
  return whole == name ? whole : std::string(without_result(without_parameters(whole)));
}

bool means_kernel(std::string_view text, std::string_view name) {
  if (text == name) return true;
  const std::string whole = demangled(name), brief = short_kernel_name(name);
  return whole != name && (text == whole || text == brief || text == without_arguments(brief) ||
                           text == without_parameters(whole));
}

}  // namespace gpusim::core
