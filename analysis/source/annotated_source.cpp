#include "analysis/source/annotated_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <tuple>

#include "simcore/text/input_error.h"
#include "simcore/text/text_file.h"

namespace gpusim::analysis {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSectorBytes = 32, kMostSourceBytes = uint64_t{64} << 20;

bool is_global_access(std::string_view op_class) {
  constexpr std::array<std::string_view, 6> kClasses{"load_global", "store_global", "load_local",
                                                     "store_local", "atom_global",  "texture"};
  return std::ranges::find(kClasses, op_class) != kClasses.end();
}
bool is_shared_access(std::string_view op_class) {
  return op_class.ends_with("_shared") || op_class == "shared_operand";
}

void add_operation(LineCounts& c, const KernelRecord& kernel, uint64_t pc) {
  const Table& t = kernel.per_pc;
  const auto optional = [&](std::string_view column) { return t.has(column) ? t[column][pc] : 0; };
  const std::string_view op_class = text_cell(t, "class", pc);
  c.executed += t["executed"][pc];
  c.active_lanes += t["active_lanes"][pc];
  c.divergent += optional("divergent");
  if (is_global_access(op_class)) {
    c.requests += t["executed"][pc];
    c.sectors += t["transferred_bytes"][pc] / kSectorBytes;
    c.asked_bytes += t["requested_bytes"][pc];
    c.moved_bytes += t["transferred_bytes"][pc];
  }
  if (op_class == "atom_global") {
    c.atomics += t["executed"][pc];
    c.atomic_lanes += t["active_lanes"][pc];
    c.atomic_transactions += t["transactions"][pc];
    c.atomic_words += optional("atomic_words");
  }
  (is_shared_access(op_class) ? c.bank_conflicts : c.other_replays) += t["replays"][pc];
  for (const auto& [column, values] : t.numbers)
    if (column.starts_with("awaited_")) c.awaited += values[pc];
  for (const CauseSlots& cause : kernel.causes) {
    const uint64_t slots = t[slots_column(cause.name)][pc];
    if (slots == 0) continue;
    c.slots += slots;
    const auto at = std::ranges::find(c.causes, cause.name, &CauseSlots::name);
    if (at == c.causes.end())
      c.causes.push_back({cause.name, slots});
    else
      at->slots += slots;
  }
}

using Key = std::tuple<SourceLine, std::string>;

template <class KeyOf>
std::vector<AnnotatedLine> sum_by(const KernelRecord& kernel, const KeyOf& key_of) {
  std::map<Key, LineCounts> sums;
  const UnitLoad* unit = kernel.unit("l2_atomics");
  uint64_t words = 0;
  if (kernel.per_pc.has("atomic_words"))
    for (const uint64_t of_operation : kernel.per_pc["atomic_words"]) words += of_operation;
  for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc) add_operation(sums[key_of(pc)], kernel, pc);
  std::vector<AnnotatedLine> lines;
  for (auto& [key, counts] : sums) {
    std::ranges::stable_sort(counts.causes, std::ranges::greater{}, &CauseSlots::slots);
    if (words != 0 && unit != nullptr)
      counts.atomic_time =
          unit->peak() * static_cast<double>(counts.atomic_words) / static_cast<double>(words);
    lines.push_back({std::get<0>(key), std::get<1>(key), std::move(counts)});
  }
  return lines;
}

}  // namespace

AnnotatedSource annotate(const KernelRecord& kernel) {
  const Table& t = kernel.per_pc;
  AnnotatedSource source;
  source.slots = kernel.total_slots();
  source.nowhere = source.slots;
  source.statements = sum_by(kernel, [&](uint64_t pc) {
    return Key{{text_cell(t, "ptx_file", pc), t["ptx_line"][pc]}, text_cell(t, "ptx", pc)};
  });
  for (const AnnotatedLine& line : source.statements) source.nowhere -= line.counts.slots;
  bool known = false;
  for (uint64_t pc = 0; pc < t.rows; ++pc) known = known || user_line(t, pc).line != 0;
  if (known) source.lines = sum_by(kernel, [&](uint64_t pc) { return Key{user_line(t, pc), ""}; });
  return source;
}

std::vector<std::string> SourceTexts::lines(const std::string& file) const {
  if (file.empty()) return {};
  std::vector<fs::path> places;
  for (const std::string& folder : folders_) {
    places.push_back(fs::path(folder) / fs::path(file).relative_path());
    places.push_back(fs::path(folder) / fs::path(file).filename());
  }
  places.emplace_back(file);
  for (const fs::path& place : places) {
    std::error_code error;
    if (!fs::is_regular_file(place, error)) continue;
    std::string text;
    try {
      text = core::read_text_file(place.string(), kMostSourceBytes);
    } catch (const core::InputError&) {
      continue;  // what cannot be read is as if it were not there
    }
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
      if (lines.back().ends_with('\r')) lines.back().pop_back();
      at = end + 1;
    }
    return lines;
  }
  return {};
}

}  // namespace gpusim::analysis
