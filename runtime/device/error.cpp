#include "runtime/device/error.h"

#include <algorithm>
#include <iterator>

namespace gpusim::runtime {
namespace {

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};
constexpr ErrorText kErrors[] = {
#include "runtime/device/error_texts.inc"
};

const ErrorText* find(int code) {
  const auto* const at = std::ranges::lower_bound(kErrors, code, {}, &ErrorText::code);
  return at != std::end(kErrors) && at->code == code ? at : nullptr;
}

}  // namespace

std::string as_error(std::string_view message) {
  constexpr std::string_view kProgram = "gpusim: ", kError = "error: ";
  if (message.starts_with(kProgram)) message.remove_prefix(kProgram.size());
  if (message.starts_with(kError)) message.remove_prefix(kError.size());
  return std::string(kError).append(message);
}

const char* error_name(int code) {
  const ErrorText* e = find(code);
  return e == nullptr ? nullptr : e->name;
}

const char* error_text(int code) {
  const ErrorText* e = find(code);
  return e == nullptr ? nullptr : e->text;
}

}  // namespace gpusim::runtime
