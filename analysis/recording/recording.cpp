#include "analysis/recording/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "simcore/config/load.h"
#include "simcore/record/hdf5_writer.h"
#include "simcore/text/kernel_name.h"
#include "simcore/text/names.h"
#include "simcore/text/sha256.h"
#include "simcore/text/text_file.h"

namespace gpusim::analysis {
namespace {

constexpr const char* kExpected = "expected a file that `gpusim --config ... --out FILE.h5` recorded";

/// What HDF5 would only call "cannot be opened".
void require_hdf5(const std::string& path) {
  const auto refuse = [&path](const std::string& what) {
    throw core::RecordError(fmt::format("'{}': {}; {}", path, what, kExpected));
  };
  const core::InputFile file(path, refuse);
  constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
  std::array<char, kSignature.size()> start{};
  if (std::string_view(start.data(), file.read(0, start.data(), start.size())) != kSignature)
    refuse("is not an HDF5 file");
}

std::unique_ptr<core::RecordedFile> open_recording(const std::string& path) {
  require_hdf5(path);
  try {
    return std::make_unique<core::RecordedFile>(path);
  } catch (const core::RecordError&) {
    throw core::RecordError(fmt::format(
        "'{}': starts as an HDF5 file but cannot be opened: cut off or damaged; {}", path, kExpected));
  }
}

double share(uint64_t busy, uint64_t capacity) {
  return capacity == 0 ? 0 : static_cast<double>(busy) / static_cast<double>(capacity);
}

}  // namespace

std::string slots_column(std::string_view cause) { return fmt::format("slots_{}", cause); }

uint64_t KernelRecord::slots_of(std::string_view cause) const {
  for (const CauseSlots& c : causes)
    if (c.name == cause) return c.slots;
  return 0;
}

double UnitLoad::mean() const {
  return instances == 0 ? 0 : share(busy, capacity) / static_cast<double>(instances);
}
double UnitLoad::peak() const { return share(most, capacity); }

const UnitLoad* KernelRecord::unit(std::string_view wanted) const {
  const auto at = std::ranges::find(units, wanted, &UnitLoad::unit);
  return at == units.end() ? nullptr : &*at;
}

uint64_t KernelRecord::idle_slots() const {
  return slots_of("no_warp") + slots_of("launch") + slots_of("drain");
}

uint64_t KernelRecord::total_slots() const {
  uint64_t sum = 0;
  for (const CauseSlots& c : causes) sum += c.slots;
  return sum;
}

void Recording::fail(const std::string& what) const {
  throw core::RecordError(fmt::format("'{}': {}", path_, what));
}

Recording::Recording(const std::string& path) : path_(path), file_(open_recording(path)) {
  if (!file_->has_attribute("/", "program") || !file_->has_attribute("/", "schema_version") ||
      file_->text_attribute("/", "program") != "gpusim")
    fail(fmt::format(
        "is an HDF5 file, but not a gpusim recording (no root attribute program = \"gpusim\"); {}",
        kExpected));
  if (const uint64_t version = file_->number_attribute("/", "schema_version");
      version != core::kSchemaVersion)
    fail(fmt::format("has schema version {}, this program reads version {}", version, core::kSchemaVersion));
  status_ = file_->text_attribute("/", "status");
  reason_ = file_->text_attribute("/", "reason");
  const std::string config = file_->text("/inputs/config");
  if (core::sha256_hex(config) != file_->text_attribute("/", "config_sha256"))
    fail("its /inputs/config is not the text that config_sha256 was computed from; the file is damaged");
  try {
    machine_ = core::parse_recorded_machine(config, path + ":/inputs/config");
  } catch (const core::InputError& e) {
    fail(fmt::format("its /inputs/config is not a machine description this program understands:\n{}",
                     e.what()));
  }
  read_launches();
}

/// The last of the states that were recorded while the kernel ran, and whole.
std::string Recording::interim_of(const std::string& kernel) const {
  const std::string all = kernel + "/interim";
  if (!file_->exists(all)) return "";
  for (size_t n = file_->list(all).size(); n-- > 0;) {
    const std::string group = fmt::format("{}/{}", all, n);
    const auto there = [&](const char* table) { return file_->exists(fmt::format("{}/{}", group, table)); };
    if (there("per_sm") && there("per_pc") && there("issue_slots") && there("counters") && there("state"))
      return group;
  }
  return "";
}

void Recording::read_launches() {
  if (!file_->exists("/kernels")) fail("has no group /kernels; the file is damaged");
  const size_t count = file_->list("/kernels").size();
  for (size_t i = 0; i < count; ++i) {
    const std::string group = fmt::format("/kernels/{}", i);
    if (!file_->exists(group)) fail(fmt::format("/kernels has {} members, but no '{}'", count, i));
    launches_.push_back(
        {file_->text_attribute(group, "name"), file_->has_attribute(group, "cycles"), interim_of(group)});
    if (launches_.back().finished) launches_.back().interim.clear();
  }
  if (!launches_.empty()) return;
  fail(status_ == "complete" ? "recorded no kernel"
                             : fmt::format("recorded no kernel; the run is {}: {}", status_, reason_));
}

std::string Recording::finished_hint() const {
  std::vector<size_t> done;
  for (size_t i = 0; i < launches_.size(); ++i)
    if (launches_[i].finished) done.push_back(i);
  if (done.empty()) return "no kernel of it ended";
  if (done.size() == 1) return fmt::format("kernel {} of it ended", done[0]);
  if (done.back() == done.size() - 1) return fmt::format("kernels 0 to {} of it ended", done.back());
  return fmt::format("kernels {} of it ended", fmt::join(done, ", "));
}

std::string Recording::partial_note(bool with_unfinished) const {
  if (complete()) return "";
  std::string note = fmt::format("the run is {} ({}): {}", status_, reason_, finished_hint());
  std::vector<size_t> begun;
  for (size_t i = 0; i < launches_.size(); ++i)
    if (with_unfinished && !launches_[i].interim.empty()) begun.push_back(i);
  if (begun.size() == 1)
    note += fmt::format(", kernel {} is shown as far as it was recorded", begun[0]);
  else if (!begun.empty())
    note += fmt::format(", kernels {} are shown as far as they were recorded", fmt::join(begun, ", "));
  return note;
}

std::vector<uint64_t> Recording::select(const std::string& selection, bool with_unfinished) const {
  std::vector<uint64_t> chosen;
  uint64_t number = 0;
  const char* end = selection.data() + selection.size();
  const auto [next, error] = std::from_chars(selection.data(), end, number);
  const bool by_number = error == std::errc{} && next == end;
  for (uint64_t i = 0; i < launches_.size(); ++i)
    if (selection.empty() || (by_number ? number == i : core::means_kernel(selection, launches_[i].name)))
      chosen.push_back(i);
  if (chosen.empty()) {
    std::vector<std::string_view> names;
    for (const Launch& launch : launches_)
      if (std::ranges::find(names, launch.name) == names.end()) names.push_back(launch.name);
    std::vector<std::string> brief;
    for (const std::string_view name : names) brief.push_back(core::short_kernel_name(name));
    for (const std::string_view name : brief)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    fail(fmt::format("has no kernel '{}' ({} launches, numbered from 0); {}", selection, launches_.size(),
                     core::name_hint(selection, names)));
  }
  for (const uint64_t i : chosen)
    if (!launches_[i].finished && complete())
      fail(fmt::format("kernel {} has no attribute 'cycles', though the run is complete; the file is damaged",
                       i));
  const uint64_t first = chosen.front();
  std::erase_if(chosen, [&](uint64_t i) {
    return with_unfinished ? !launches_[i].readable() : !launches_[i].finished;
  });
  if (chosen.empty())
    fail(fmt::format("kernel {} '{}' did not end{} (the run is {}: {}); {}", first, launches_[first].name,
                     with_unfinished ? ", and nothing was recorded of it" : "", status_, reason_,
                     finished_hint()));
  return chosen;
}

bool Recording::of_program() const { return command_line().starts_with("run "); }

std::vector<Recording::ProgramText> Recording::program_texts() const {
  std::vector<ProgramText> all;
  if (std::string text = ptx(); !text.empty()) all.push_back({"", std::move(text)});
  constexpr const char* kTexts = "/program_ptx";
  if (!file_->exists(kTexts)) return all;
  for (const std::string& n : file_->list(kTexts)) {
    const std::string name = fmt::format("{}/{}", kTexts, n);
    const Table table = read_table(name, {"file", "text"});
    if (table.rows != 1) fail(fmt::format("table '{}' has {} rows; the file is damaged", name, table.rows));
    all.push_back({table.texts.find("file")->second[0], table.texts.find("text")->second[0]});
  }
  return all;
}

Table Recording::read_table(const std::string& name, std::initializer_list<const char*> expected) const {
  if (!file_->exists(name))
    fail(fmt::format("table '{}' is missing; every kernel that ended has one: the file is damaged", name));
  core::RecordedTable read = file_->table(name);
  Table table{read.rows, std::move(read.numbers), std::move(read.texts)};
  for (const char* column : expected)
    if (!table.has(column) && !table.texts.contains(column))
      fail(fmt::format("table '{}' has no column '{}'; the file is damaged", name, column));
  return table;
}

Table Recording::events(uint64_t index, const std::string& name, const char* level,
                        std::initializer_list<const char*> columns) const {
  const std::string path = fmt::format("/kernels/{}/events/{}", index, name);
  if (!file_->exists(path))
    fail(fmt::format("has no events/{} of kernel {}; a run with `--events {}` records it", name, index,
                     level));
  return read_numbers(path, columns);
}

Table Recording::read_numbers(const std::string& path, std::initializer_list<const char*> columns) const {
  if (!file_->exists(path)) fail(fmt::format("table '{}' is missing; the file is damaged", path));
  Table table;
  table.rows = file_->rows(path);
  const std::vector<std::string> present = file_->columns(path);
  for (const char* column : columns) {
    if (std::ranges::find(present, column) == present.end())
      fail(fmt::format("table '{}' has no column '{}'; the file is damaged", path, column));
    table.numbers[column] = file_->numbers(path, column);
  }
  return table;
}

bool Recording::has_events(uint64_t index, const std::string& name) const {
  return file_->exists(fmt::format("/kernels/{}/events/{}", index, name));
}

bool Recording::has_event_column(uint64_t index, const std::string& name, const std::string& column) const {
  const std::string path = fmt::format("/kernels/{}/events/{}", index, name);
  if (!file_->exists(path)) return false;
  const std::vector<std::string> present = file_->columns(path);
  return std::ranges::find(present, column) != present.end();
}

Table Recording::time_series(uint64_t index) const {
  const std::string path = fmt::format("/kernels/{}/timeseries", index);
  Table table = read_numbers(path, {"cycle", "inst_issued", "active_warp_cycles", "load_bytes", "store_bytes",
                                    "dram_read_bytes", "dram_write_bytes"});
  // Slots by cause are missing in files of older versions.
  for (const std::string& column : file_->columns(path))
    if (column.starts_with(slots_column(""))) table.numbers[column] = file_->numbers(path, column);
  return table;
}

bool Recording::has_time_series(uint64_t index) const {
  return file_->exists(fmt::format("/kernels/{}/timeseries", index));
}

Table Recording::timeline() const {
  if (!file_->exists("/timeline")) return {};
  Table table =
      read_table("/timeline", {"start", "end", "stream", "kind", "kernel", "engine", "bytes", "name"});
  for (uint64_t i = 0; i < table.rows; ++i)
    if (table["end"][i] < table["start"][i])
      fail("/timeline has an end before its start; the file is damaged");
  return table;
}

std::optional<double> Recording::system_power() const {
  if (!file_->exists("/system")) return std::nullopt;
  const std::vector<double> power = file_->reals("/system", "power");
  if (power.size() != 1 || !std::isfinite(power[0]) || power[0] <= 0)
    fail("table '/system' is not one row with a power; the file is damaged");
  return power[0];
}

uint64_t Recording::attribute(uint64_t index, const std::string& name) const {
  return file_->number_attribute(fmt::format("/kernels/{}", index), name);
}

std::string Recording::text_attribute(uint64_t index, const std::string& name) const {
  return file_->text_attribute(fmt::format("/kernels/{}", index), name);
}

bool Recording::has_attribute(uint64_t index, const std::string& name) const {
  return file_->has_attribute(fmt::format("/kernels/{}", index), name);
}

std::vector<Recording::Fingerprint> Recording::fingerprints() const {
  std::vector<Fingerprint> all;
  if (!file_->exists("/fingerprints")) return all;
  const Table table = read_table("/fingerprints", {"bytes", "fingerprint", "name"});
  for (uint64_t i = 0; i < table.rows; ++i)
    all.push_back({table.texts.find("name")->second[i], table["bytes"][i], table["fingerprint"][i]});
  return all;
}

void Recording::read_counters(const std::string& name, KernelRecord& kernel) const {
  if (!file_->exists(name))
    fail(fmt::format("table '{}' is missing; every kernel that ended has one: the file is damaged", name));
  const std::vector<std::string> names = file_->texts(name, "name");
  const std::vector<double> values = file_->reals(name, "value");
  const std::vector<std::string> units = file_->texts(name, "unit");
  for (size_t i = 0; i < names.size(); ++i) {
    kernel.counters[names[i]] = values[i];
    kernel.counter_units[names[i]] = units[i];
  }
}

void Recording::read_causes(const std::string& name, KernelRecord& kernel) const {
  const Table table = read_table(name, {"slots", "cause"});
  const std::vector<std::string>& causes = table.texts.find("cause")->second;
  for (size_t i = 0; i < causes.size(); ++i) {
    for (const CauseSlots& other : kernel.causes)
      if (other.name == causes[i])
        fail(fmt::format("table '{}' has cause '{}' twice; the file is damaged", name, causes[i]));
    const std::string column = slots_column(causes[i]);
    if (!kernel.per_sm.has(column) || !kernel.per_pc.has(column))
      fail(fmt::format(
          "table '{}' has cause '{}', but per_sm or per_pc has no column '{}'; the file is damaged", name,
          causes[i], column));
    kernel.causes.push_back({causes[i], table["slots"][i]});
  }
}

void Recording::read_units(const std::string& name, KernelRecord& kernel) const {
  if (!file_->exists(name)) return;
  const Table table = read_table(
      name, {"instances", "capacity", "busy", "most", "busiest", "near", "unit", "place", "meaning"});
  for (uint64_t i = 0; i < table.rows; ++i) {
    const auto text = [&](std::string_view column) { return table.texts.find(column)->second[i]; };
    kernel.units.push_back({text("unit"), text("place"), text("meaning"), table["instances"][i],
                            table["capacity"][i], table["busy"][i], table["most"][i], table["busiest"][i],
                            table["near"][i]});
    const UnitLoad& u = kernel.units.back();
    // All of them together are as busy as the busiest at least, and as that many of it at most.
    if (u.instances == 0 || u.near > u.instances || u.most > u.busy || u.busy / u.instances > u.most)
      fail(fmt::format("table '{}' has a row '{}' whose instances do not add up; the file is damaged", name,
                       u.unit));
  }
}

/// Counts of a launch that ended stand in attributes.
void Recording::read_numbers_of(const std::string& group, KernelRecord& k) const {
  k.occupancy_limiter = file_->text_attribute(group, "occupancy_limiter");
  k.cycles = file_->number_attribute(group, "cycles");
  if (file_->has_attribute(group, "time_fs")) k.time_fs = file_->number_attribute(group, "time_fs");
  k.warp_instructions = file_->number_attribute(group, "warp_instructions");
  k.thread_instructions = file_->number_attribute(group, "thread_instructions");
  k.inst_executed = file_->number_attribute(group, "inst_executed");
  k.inst_issued = file_->number_attribute(group, "inst_issued");
}

/// Those of one that did not stand in a table.
void Recording::read_state(const std::string& group, KernelRecord& k) const {
  const Table state = read_table(group + "/state", {"cycles", "time_fs", "warp_instructions",
                                                    "thread_instructions", "inst_executed", "inst_issued"});
  if (state.rows != 1)
    fail(fmt::format("table '{}/state' has {} rows; the file is damaged", group, state.rows));
  k.cycles = state["cycles"][0];
  k.time_fs = state["time_fs"][0];
  k.warp_instructions = state["warp_instructions"][0];
  k.thread_instructions = state["thread_instructions"][0];
  k.inst_executed = state["inst_executed"][0];
  k.inst_issued = state["inst_issued"][0];
}

/// Slots that had passed and were not booked: of warps that still waited, and without a warp. More booked
/// than passed give a number that no sum fits.
static void add_pending(KernelRecord& k, const core::MachineConfig& machine) {
  const uint64_t of_sm = k.cycles / static_cast<uint64_t>(machine.scheduler.issue_cycles) *
                         machine.scheduler.count * machine.scheduler.issue_width;
  const std::string column = slots_column(kPendingCause);
  std::vector<uint64_t>& pending = k.per_sm.numbers[column];
  pending.assign(k.per_sm.rows, of_sm);
  for (uint64_t row = 0; row < k.per_sm.rows; ++row)
    for (const CauseSlots& cause : k.causes) pending[row] -= k.per_sm[slots_column(cause.name)][row];
  k.per_pc.numbers[column].assign(k.per_pc.rows, 0);
  uint64_t sum = 0;
  for (const uint64_t slots : pending) sum += slots;
  k.causes.push_back({std::string(kPendingCause), sum});
}

KernelRecord Recording::kernel(uint64_t index) const {
  const std::string group = fmt::format("/kernels/{}", index);
  const Launch& launch = launches_.at(index);
  const std::string tables = launch.finished ? group : launch.interim;
  KernelRecord k;
  k.index = index;
  k.launch = has_attribute(index, "launch") ? attribute(index, "launch") : index;
  k.finished = launch.finished;
  k.name = launch.name;
  k.grid = file_->text_attribute(group, "grid");
  k.block = file_->text_attribute(group, "block");
  k.blocks_per_sm = file_->number_attribute(group, "blocks_per_sm");
  if (has_attribute(index, "spilled_registers")) k.spilled_registers = attribute(index, "spilled_registers");
  if (k.finished) read_numbers_of(group, k);
  k.per_sm = read_table(tables + "/per_sm", {"sm", "blocks", "inst_executed", "inst_issued", "active_cycles",
                                             "active_warp_cycles"});
  k.per_pc = read_table(tables + "/per_pc",
                        {"pc", "ptx_line", "source_line", "executed", "active_lanes", "transactions",
                         "requested_bytes", "transferred_bytes", "replays", "ptx"});
  read_causes(tables + "/issue_slots", k);
  read_units(tables + "/units", k);
  read_counters(tables + "/counters", k);
  if (!k.finished) {
    read_state(tables, k);
    add_pending(k, machine_);
  }
  if (const std::string wrong = check_sums(k, machine_); !wrong.empty())
    fail(fmt::format("kernel {} '{}': {}; the file is damaged", index, k.name, wrong));
  return k;
}

}  // namespace gpusim::analysis
