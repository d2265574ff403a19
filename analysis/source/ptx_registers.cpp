#include "analysis/source/ptx_registers.h"

#include <cctype>

namespace gpusim::analysis {

std::vector<std::string_view> registers_in(std::string_view text) {
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  };
  std::vector<std::string_view> found;
  for (size_t at = text.find('%'); at < text.size(); at = text.find('%', at)) {
    size_t end = at + 1;
    while (end < text.size() && in_name(text[end])) ++end;
    found.push_back(text.substr(at, end - at));
    at = end;
  }
  return found;
}

}  // namespace gpusim::analysis
