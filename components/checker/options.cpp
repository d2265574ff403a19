#include "components/checker/options.h"

#include <fmt/format.h>

#include <array>

#include "simcore/text/input_error.h"
#include "simcore/text/names.h"

namespace gpusim::comp {

namespace {
constexpr std::array<std::string_view, 5> kNames = {"memory", "race", "init", "sync", "all"};
}

std::string CheckOptions::text() const {
  std::string list;
  const auto add = [&list](bool on, std::string_view name) {
    if (on) list += fmt::format("{}{}", list.empty() ? "" : ",", name);
  };
  add(memory, kNames[0]);
  add(race, kNames[1]);
  add(init, kNames[2]);
  add(sync, kNames[3]);
  return list;
}

CheckOptions parse_checks(std::string_view list) {
  CheckOptions o;
  for (bool more = !list.empty(); more;) {
    const size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    more = comma != std::string_view::npos;
    list.remove_prefix(more ? comma + 1 : list.size());
    const bool all = name == kNames[4];
    if (!all && name != kNames[0] && name != kNames[1] && name != kNames[2] && name != kNames[3])
      throw core::InputError(fmt::format("gpusim: error: --check: no check is called '{}'\n  hint: {}", name,
                                         core::name_hint(name, kNames)));
    o.memory |= all || name == kNames[0];
    o.race |= all || name == kNames[1];
    o.init |= all || name == kNames[2];
    o.sync |= all || name == kNames[3];
  }
  return o;
}

}  // namespace gpusim::comp
