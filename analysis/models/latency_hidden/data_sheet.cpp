#include "analysis/models/latency_hidden/data_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/data_sheets.h"
#include "simcore/config/load.h"
#include "simcore/record/recorder.h"
#include "simcore/text/json_document.h"
#include "simcore/text/names.h"
#include "simcore/text/text_file.h"

namespace gpusim::analysis::latency_hidden {
namespace {

using core::JsonValue;

/// Resolved configurations, in the order of kKnownSheets.
constexpr std::string_view kSheetConfigs[] = {
#include "analysis/sheet_configs.inc"
};
static_assert(std::size(kSheetConfigs) == std::size(kKnownSheets));

const JsonValue& member(const JsonValue& object, std::string_view name, JsonValue::Kind kind,
                        const char* expected) {
  const JsonValue* value = object.find(name);
  if (value == nullptr || value->kind != kind)
    core::raise_input_error(value == nullptr ? object.where : value->where,
                            fmt::format("a data sheet has '{}' here, {}", name, expected),
                            "gpusim microbench --config MACHINE --json prints one");
  return *value;
}

}  // namespace

std::optional<double> DataSheet::find(std::string_view name) const {
  const auto at = figures.find(name);
  if (at == figures.end()) return std::nullopt;
  return at->second;
}

double DataSheet::require(std::string_view name) const {
  if (const auto value = find(name)) return *value;
  throw core::InputError(fmt::format(
      "{}: error: the data sheet has no figure '{}'\n  hint: gpusim microbench --config MACHINE --json "
      "--only operations,latency,bandwidth,tlb,shared",
      path, name));
}

DataSheet parse_data_sheet(std::string_view text, const std::string& path) {
  const JsonValue document = core::parse_json(text, path);
  DataSheet sheet;
  sheet.path = path;
  sheet.machine = member(document, "machine", JsonValue::Kind::kString, "the machine's name").text;
  for (const JsonValue& f : member(document, "figures", JsonValue::Kind::kArray, "a list of figures").items) {
    const std::string& name = member(f, "name", JsonValue::Kind::kString, "the figure's name").text;
    const JsonValue* found = f.find("found");
    if (found == nullptr) core::raise_input_error(f.where, fmt::format("figure '{}' has no 'found'", name));
    if (found->kind != JsonValue::Kind::kNumber) continue;  // not found, or a word
    const double value = found->number.as_double();
    if (!std::isfinite(value) || value <= 0)
      core::raise_input_error(found->where, fmt::format("figure '{}' is not above 0", name));
    sheet.figures[name] = value;
  }
  return sheet;
}

DataSheet read_data_sheet(const std::string& path) {
  return parse_data_sheet(core::read_text_file(path), path);
}

core::MachineConfig machine_of_known_sheet(const std::string& machine) {
  const auto known = std::ranges::find(kKnownSheets, machine, &KnownSheet::machine);
  return core::parse_machine(kSheetConfigs[known - std::begin(kKnownSheets)], "data sheet of " + machine);
}

std::string note_of_known_sheet(const core::MachineConfig& machine) {
  constexpr size_t kNamed = 5;
  std::string keys;
  size_t count = 0;
  for (const auto& [key, shipped, here] :
       core::differences(machine_of_known_sheet(machine.gpu.name), machine)) {
    if (key == "gpu.description") continue;
    if (++count <= kNamed)
      keys += fmt::format("{}{} = {} instead of {}", count == 1 ? "" : ", ", key, here, shipped);
  }
  if (count == 0) return "";
  if (count > kNamed) keys += fmt::format(", and {} other keys", count - kNamed);
  return fmt::format(
      "the machine is not the {} that the data sheet was measured on, and most figures are that one's: {}; "
      "`parameters` gives another sheet",
      machine.gpu.name, keys);
}

std::string note_of_sheet(const DataSheet& sheet, const core::MachineConfig& machine) {
  if (sheet.machine == machine.gpu.name) return "";
  return fmt::format("the data sheet was measured on the {}, not on the {}", sheet.machine, machine.gpu.name);
}

DataSheet known_data_sheet(const std::string& machine) {
  std::vector<std::string_view> names;
  for (const KnownSheet& known : kKnownSheets) {
    if (known.machine == machine)
      return parse_data_sheet(known.text, fmt::format("data sheet of {}", machine));
    names.push_back(known.machine);
  }
  throw core::RecordError(fmt::format(
      "there is no data sheet of machine '{}'; {}\n  hint: gpusim microbench --config MACHINE --json "
      "--only operations,latency,bandwidth,tlb,shared > sheet.json makes one; `parameters` (an option of "
      "predict, --option of analyze) gives it",
      machine, core::name_hint(machine, names)));
}

}  // namespace gpusim::analysis::latency_hidden
