#include "analysis/models/latency_hidden/functional.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "analysis/models/reuse_distance/machine.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"
#include "simcore/text/json_document.h"
#include "simcore/text/json_text.h"
#include "simcore/text/sha256.h"

namespace gpusim::analysis::latency_hidden {
namespace {

using core::JsonValue;

constexpr std::array<double OpCounts::*, 7> kOpMembers{
    &OpCounts::executed, &OpCounts::transactions, &OpCounts::requested, &OpCounts::transferred,
    &OpCounts::words,    &OpCounts::replays,      &OpCounts::rounds};
constexpr int kForm = 5;

const JsonValue& member(const JsonValue& object, std::string_view name, JsonValue::Kind kind) {
  const JsonValue* value = object.find(name);
  if (value == nullptr || value->kind != kind)
    core::raise_input_error(value == nullptr ? object.where : value->where,
                            fmt::format("counts of a functional run have '{}' here", name),
                            "gpusim predict FILE.ptx --config MACHINE --counts FILE writes them");
  return *value;
}

double number(const JsonValue& value) {
  constexpr double kMost = 1e18;  // no count of a run is larger
  const double n = value.kind == JsonValue::Kind::kNumber ? value.number.as_double() : -1;
  if (!(n >= 0 && n <= kMost)) core::raise_input_error(value.where, "expected a number from 0 to 1e18");
  return n;
}

std::string kernel_json(const FunctionalKernel& k) {
  std::string counts, ops;
  for (const CountField& f : count_fields())
    counts += fmt::format("{}\"{}\": {}", counts.empty() ? "" : ", ", f.name,
                          core::json_number(k.counts.*f.member));
  for (const OpCounts& op : k.code.counts) {
    ops += ops.empty() ? "[" : ",\n[";
    for (const auto m : kOpMembers)
      ops += fmt::format("{}{}", m == kOpMembers.front() ? "" : ", ", core::json_number(op.*m));
    ops += "]";
  }
  std::string unmodelled;
  for (const std::string& what : k.unmodelled)
    unmodelled += fmt::format("{}{}", unmodelled.empty() ? "" : ", ", core::json_quoted(what));
  return fmt::format(
      "{{\"launch\": {}, \"name\": {}, \"grid\": {}, \"block\": {}, \"followed\": {}, \"unmodelled\": [{}],\n"
      "\"counts\": {{{}}},\n\"operations\": [{}]}}",
      k.launch, core::json_quoted(k.name), core::json_quoted(k.grid), core::json_quoted(k.block),
      core::json_number(k.followed), unmodelled, counts, ops);
}

FunctionalKernel kernel_from(const JsonValue& value) {
  FunctionalKernel k;
  k.launch = static_cast<uint64_t>(number(member(value, "launch", JsonValue::Kind::kNumber)));
  k.name = member(value, "name", JsonValue::Kind::kString).text;
  k.grid = member(value, "grid", JsonValue::Kind::kString).text;
  k.block = member(value, "block", JsonValue::Kind::kString).text;
  k.followed = number(member(value, "followed", JsonValue::Kind::kNumber));
  for (const JsonValue& what : member(value, "unmodelled", JsonValue::Kind::kArray).items)
    k.unmodelled.push_back(what.text);
  const JsonValue& counts = member(value, "counts", JsonValue::Kind::kObject);
  for (const CountField& f : count_fields())
    k.counts.*f.member = number(member(counts, f.name, JsonValue::Kind::kNumber));
  for (const JsonValue& row : member(value, "operations", JsonValue::Kind::kArray).items) {
    if (row.kind != JsonValue::Kind::kArray || row.items.size() != kOpMembers.size())
      core::raise_input_error(row.where, fmt::format("expected {} numbers", kOpMembers.size()));
    OpCounts& op = k.code.counts.emplace_back();
    for (size_t i = 0; i < kOpMembers.size(); ++i) op.*kOpMembers[i] = number(row.items[i]);
  }
  return k;
}

}  // namespace

std::string machine_identity(const core::MachineConfig& machine) {
  return fmt::format("{} {}", machine.gpu.name, core::sha256_hex(core::show_machine(machine, false)));
}

std::string functional_json(const core::MachineConfig& machine, uint64_t sms,
                            std::span<const FunctionalKernel> kernels) {
  std::string list;
  for (const FunctionalKernel& k : kernels) list += (list.empty() ? "" : ",\n") + kernel_json(k);
  return fmt::format("{{\"functional_counts\": {}, \"machine\": {}, \"sms\": {}, \"kernels\": [\n{}]}}\n",
                     kForm, core::json_quoted(machine_identity(machine)),
                     sms == 0 ? static_cast<uint64_t>(machine.gpu.sms) : sms, list);
}

FunctionalFile functional_from_json(std::string_view text, const std::string& path) {
  const JsonValue document = core::parse_json(text, path);
  if (number(member(document, "functional_counts", JsonValue::Kind::kNumber)) != kForm)
    core::raise_input_error(document.where, "counts of a functional run in another form than this program's");
  FunctionalFile file;
  file.machine = member(document, "machine", JsonValue::Kind::kString).text;
  file.sms = static_cast<uint64_t>(number(member(document, "sms", JsonValue::Kind::kNumber)));
  for (const JsonValue& k : member(document, "kernels", JsonValue::Kind::kArray).items)
    file.kernels.push_back(kernel_from(k));
  return file;
}

}  // namespace gpusim::analysis::latency_hidden
