#include "components/checker/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "simcore/text/input_error.h"
#include "simcore/text/names.h"

namespace gpusim::comp {

namespace {

struct Name {
  std::string_view name;
  bool CheckOptions::*option;
};
constexpr std::array<Name, 5> kChecks = {{{"memory", &CheckOptions::memory},
                                          {"race", &CheckOptions::race},
                                          {"init", &CheckOptions::init},
                                          {"sync", &CheckOptions::sync},
                                          {"early_exit", &CheckOptions::early_exit}}};
constexpr size_t kOfAll = 4;  // the first ones
constexpr std::string_view kAll = "all";

[[noreturn]] void refuse(std::string_view name) {
  std::array<std::string_view, kChecks.size() + 1> names;
  std::transform(kChecks.begin(), kChecks.end(), names.begin(), [](const Name& n) { return n.name; });
  names.back() = kAll;
  throw core::InputError(fmt::format("gpusim: error: --check: no check is called '{}'\n  hint: {}", name,
                                     core::name_hint(name, names)));
}

}  // namespace

std::string CheckOptions::text() const {
  std::string list;
  for (const Name& n : kChecks)
    if (this->*n.option) list += fmt::format("{}{}", list.empty() ? "" : ",", n.name);
  return list;
}

CheckOptions parse_checks(std::string_view list) {
  CheckOptions o;
  for (bool more = !list.empty(); more;) {
    const size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    more = comma != std::string_view::npos;
    list.remove_prefix(more ? comma + 1 : list.size());
    const auto one =
        std::find_if(kChecks.begin(), kChecks.end(), [&](const Name& n) { return n.name == name; });
    if (name == kAll)
      std::for_each_n(kChecks.begin(), kOfAll, [&](const Name& n) { o.*n.option = true; });
    else if (one != kChecks.end())
      o.*one->option = true;
    else
      refuse(name);
  }
  return o;
}

}  // namespace gpusim::comp
