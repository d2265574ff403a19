#include "analysis/recording/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "simcore/config/load.h"
#include "simcore/record/hdf5_writer.h"
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

void Recording::read_launches() {
  if (!file_->exists("/kernels")) fail("has no group /kernels; the file is damaged");
  const size_t count = file_->list("/kernels").size();
  for (size_t i = 0; i < count; ++i) {
    const std::string group = fmt::format("/kernels/{}", i);
    if (!file_->exists(group)) fail(fmt::format("/kernels has {} members, but no '{}'", count, i));
    launches_.push_back({file_->text_attribute(group, "name"), file_->has_attribute(group, "cycles")});
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
  if (done.size() == 1) return fmt::format("kernel {0} of it ended: --kernel {0} reads it", done[0]);
  if (done.back() == done.size() - 1)
    return fmt::format("kernels 0 to {} of it ended: --kernel N reads one", done.back());
  return fmt::format("kernels {} of it ended: --kernel N reads one", fmt::join(done, ", "));
}

std::vector<uint64_t> Recording::select(const std::string& selection) const {
  std::vector<uint64_t> chosen;
  uint64_t number = 0;
  const char* end = selection.data() + selection.size();
  const auto [next, error] = std::from_chars(selection.data(), end, number);
  const bool by_number = error == std::errc{} && next == end;
  for (uint64_t i = 0; i < launches_.size(); ++i)
    if (selection.empty() || (by_number ? number == i : launches_[i].name == selection)) chosen.push_back(i);
  if (selection.empty() && status_ != "complete")
    fail(fmt::format("the run is {} ({}); {}", status_, reason_, finished_hint()));
  if (chosen.empty()) {
    std::vector<std::string_view> names;
    for (const Launch& launch : launches_)
      if (std::ranges::find(names, launch.name) == names.end()) names.push_back(launch.name);
    fail(fmt::format("has no kernel '{}' ({} launches, numbered from 0); {}", selection, launches_.size(),
                     core::name_hint(selection, names)));
  }
  for (const uint64_t i : chosen)
    if (!launches_[i].finished && status_ == "complete")
      fail(fmt::format("kernel {} has no attribute 'cycles', though the run is complete; the file is damaged",
                       i));
    else if (!launches_[i].finished)
      fail(fmt::format("kernel {} '{}' did not end (the run is {}: {}); {}", i, launches_[i].name, status_,
                       reason_, finished_hint()));
  return chosen;
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

Table Recording::time_series(uint64_t index) const {
  return read_numbers(fmt::format("/kernels/{}/timeseries", index),
                      {"cycle", "inst_issued", "active_warp_cycles", "load_bytes", "store_bytes",
                       "dram_read_bytes", "dram_write_bytes"});
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

void Recording::read_counters(const std::string& name, KernelRecord& kernel) const {
  if (!file_->exists(name))
    fail(fmt::format("table '{}' is missing; every kernel that ended has one: the file is damaged", name));
  const std::vector<std::string> names = file_->texts(name, "name");
  const std::vector<double> values = file_->reals(name, "value");
  for (size_t i = 0; i < names.size(); ++i) kernel.counters[names[i]] = values[i];
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

KernelRecord Recording::kernel(uint64_t index) const {
  const std::string group = fmt::format("/kernels/{}", index);
  KernelRecord k;
  k.index = index;
  k.name = launches_.at(index).name;
  k.grid = file_->text_attribute(group, "grid");
  k.block = file_->text_attribute(group, "block");
  k.blocks_per_sm = file_->number_attribute(group, "blocks_per_sm");
  k.occupancy_limiter = file_->text_attribute(group, "occupancy_limiter");
  k.cycles = file_->number_attribute(group, "cycles");
  if (file_->has_attribute(group, "time_fs")) k.time_fs = file_->number_attribute(group, "time_fs");
  k.warp_instructions = file_->number_attribute(group, "warp_instructions");
  k.thread_instructions = file_->number_attribute(group, "thread_instructions");
  k.inst_executed = file_->number_attribute(group, "inst_executed");
  k.inst_issued = file_->number_attribute(group, "inst_issued");
  k.per_sm = read_table(group + "/per_sm", {"sm", "blocks", "inst_executed", "inst_issued", "active_cycles",
                                            "active_warp_cycles"});
  k.per_pc = read_table(group + "/per_pc",
                        {"pc", "ptx_line", "source_line", "executed", "active_lanes", "transactions",
                         "requested_bytes", "transferred_bytes", "replays", "ptx"});
  read_causes(group + "/issue_slots", k);
  read_units(group + "/units", k);
  read_counters(group + "/counters", k);
  if (const std::string wrong = check_sums(k, machine_); !wrong.empty())
    fail(fmt::format("kernel {} '{}': {}; the file is damaged", index, k.name, wrong));
  return k;
}

}  // namespace gpusim::analysis
