#include "correlate/hardware_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "correlate/object_reader.h"
#include "correlate/profile_counters.h"
#include "simcore/config/load.h"
#include "simcore/text/names.h"
#include "simcore/text/text_file.h"
#include "simcore/text/units.h"

namespace gpusim::correlate {

namespace {

using core::JsonValue;
using Need = ObjectReader::Need;

constexpr std::string_view kSchema = "gpusim-hardware-1";
constexpr std::array<std::string_view, 4> kMethods = {"clock_buffer", "clock64", "events", "published"};
constexpr std::array<std::string_view, 4> kRoles = {"", "fit", "judge", "fitting"};
constexpr uint64_t kMostExtent = (uint64_t{1} << 31) - 1;

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string sha256_of(ObjectReader& o, std::string_view name, Need need) {
  std::string text = o.text(name, need);
  if (!text.empty() && !is_sha256(text))
    o.error(o.value(name)->where, fmt::format("'{}' is 64 lower-case hexadecimal digits", name));
  return text;
}

Method method_of(ObjectReader& o) {
  const std::string name = o.text("method", Need::kRequired);
  const auto at = std::find(kMethods.begin(), kMethods.end(), name);
  if (at != kMethods.end()) return static_cast<Method>(at - kMethods.begin());
  if (!name.empty())
    o.error(o.value("method")->where, fmt::format("there is no method '{}'", name),
            core::name_hint(name, kMethods));
  return Method::kPublished;
}

void read_extents(ObjectReader& o, std::string_view name, std::array<uint32_t, 3>& extents) {
  const JsonValue* v = o.value(name, Need::kRequired);
  if (v == nullptr) return;
  const bool good = v->kind == JsonValue::Kind::kArray && !v->items.empty() && v->items.size() <= 3 &&
                    std::all_of(v->items.begin(), v->items.end(), [](const JsonValue& e) {
                      return e.kind == JsonValue::Kind::kNumber && e.number.is_integer &&
                             e.number.integer >= 1 && static_cast<uint64_t>(e.number.integer) <= kMostExtent;
                    });
  if (!good)
    return o.error(v->where, fmt::format("'{}' is an array of one to three integers from 1 on", name));
  for (size_t i = 0; i < v->items.size(); ++i) extents[i] = static_cast<uint32_t>(v->items[i].number.integer);
}

HardwareKernel read_kernel(const JsonValue& value, core::Messages& messages) {
  ObjectReader o(value, "a kernel", messages);
  HardwareKernel k;
  k.name = o.text("name", Need::kRequired);
  read_extents(o, "grid", k.grid);
  read_extents(o, "block", k.block);
  if (o.value("cycles", Need::kRequired) != nullptr) k.cycles = o.real("cycles", 1, 1);
  k.least = o.real("least", 0, k.cycles);
  k.most = o.real("most", 0, k.cycles);
  if (k.least > k.cycles || k.most < k.cycles)
    o.error(o.where(), "'cycles', the median, does not lie between 'least' and 'most'");
  k.repeats = static_cast<uint32_t>(o.integer("repeats", 1, 1'000'000, 1));
  k.method = method_of(o);
  k.registers = static_cast<uint32_t>(o.integer("registers", 1, 1024, 0));
  (void)o.value("event_seconds");  // for the reader of the file
  o.finish();
  return k;
}

/// One of the words, or `otherwise` if the member is not there.
template <class Words>
size_t word_of(ObjectReader& o, std::string_view name, const Words& words, size_t otherwise) {
  const std::string text = o.text(name);
  if (text.empty()) return otherwise;
  const auto at = std::ranges::find(words, text);
  if (at != std::end(words)) return static_cast<size_t>(at - std::begin(words));
  const std::vector<std::string_view> names(std::begin(words), std::end(words));
  o.error(o.value(name)->where, fmt::format("there is no {} '{}'", name, text), core::name_hint(text, names));
  return otherwise;
}

std::vector<std::string> read_sets(ObjectReader& o) {
  std::vector<std::string> sets;
  for (const JsonValue& v : o.array("set")) {
    if (v.kind == JsonValue::Kind::kString && v.text.find('=') != std::string::npos)
      sets.push_back(v.text);
    else
      o.error(v.where, "'set' lists texts such as \"clocks.core=1380MHz\"");
  }
  return sets;
}

/// "core_clock": "705MHz"; 0 if it is not there.
int64_t clock_of(ObjectReader& o, std::string_view name) {
  const std::string text = o.text(name);
  if (text.empty()) return 0;
  const auto khz = core::parse_khz(text);
  if (khz && *khz >= core::kLowestKhz && *khz <= core::kHighestKhz) return *khz;
  o.error(o.value(name)->where, fmt::format("'{}' is a clock such as \"1050MHz\"", name));
  return 0;
}

void read_counters(ObjectReader& o, HardwareRun& run) {
  const JsonValue* v = o.value("counters");
  if (v == nullptr) return;
  if (v->kind != JsonValue::Kind::kObject)
    return o.error(v->where, "'counters' is an object: names and numbers");
  for (const JsonValue::Member& m : v->members) {
    if (m.value.kind != JsonValue::Kind::kNumber)
      o.error(m.value.where, fmt::format("counter '{}' is a number", m.name));
    else if (!is_profile_counter(m.name))
      o.error(m.value.where, fmt::format("there is no counter '{}'", m.name),
              core::name_hint(m.name, profile_counter_names()));
    else
      run.counters.emplace_back(m.name, m.value.number.as_double());
  }
}

/// The figure of a run that has one for all its launches.
std::optional<WholeRun> read_whole(ObjectReader& o) {
  constexpr std::array<std::string_view, 4> kMembers = {"cycles", "seconds", "bytes_per_second", "flop_rate"};
  constexpr double kLeast[] = {1, 1e-9, 1, 1};
  std::optional<WholeRun> whole;
  for (size_t i = 0; i < kMembers.size(); ++i) {
    if (!o.has(kMembers[i])) continue;
    if (whole) o.error(o.where(), fmt::format("'{}' and another figure are given", kMembers[i]));
    whole = WholeRun{};
    whole->kind = static_cast<WholeRun::Kind>(i);
    whole->value = o.real(kMembers[i], kLeast[i], 0);
  }
  const bool rate = whole && whole->kind == WholeRun::Kind::kBytesPerSecond;
  if (o.has("bytes") != rate)
    o.error(o.where(), "'bytes_per_second' and 'bytes', those that all launches move, belong together");
  if (!whole) return whole;
  whole->bytes = o.real("bytes", 1, 0);
  whole->overhead_seconds = o.real("overhead_seconds", 0, 0);
  whole->part = o.real("part", 1e-9, 1);
  if (whole->part > 1) o.error(o.where(), "'part' is at most 1");
  if (whole->overhead_seconds > 0 &&
      (whole->kind != WholeRun::Kind::kSeconds || whole->overhead_seconds >= whole->value))
    o.error(o.where(), "'overhead_seconds' is part of 'seconds'");
  whole->pause_seconds = o.has("pause_seconds") ? o.real("pause_seconds", 0, 0) : whole->overhead_seconds;
  return whole;
}

void read_params(ObjectReader& o, HardwareRun& run, core::Messages& messages) {
  const JsonValue* v = o.value("params");
  if (v == nullptr) return;
  if (v->kind != JsonValue::Kind::kObject)
    return o.error(v->where, "'params' is an object: names and numbers");
  for (const JsonValue::Member& m : v->members) {
    if (m.value.kind != JsonValue::Kind::kNumber)
      messages.error(m.value.where, fmt::format("parameter '{}' is a number", m.name));
    else if (m.value.number.is_integer)
      run.params.push_back(fmt::format("{}={}", m.name, m.value.number.integer));
    else
      run.params.push_back(fmt::format("{}={}", m.name, m.value.number.real));
  }
}

HardwareRun read_run(const JsonValue& value, const std::filesystem::path& folder, core::Messages& messages) {
  ObjectReader o(value, "a run", messages);
  HardwareRun run;
  run.where = value.where;
  run.name = o.text("name", Need::kRequired);
  const auto file = [&](std::string_view name) {
    const std::string text = o.text(name, Need::kRequired);
    return text.empty() ? text : (folder / text).lexically_normal().string();
  };
  run.ptx = file("ptx");
  run.launch = file("launch");
  read_params(o, run, messages);
  run.seed = o.integer("seed", 0, INT64_MAX, 0);
  run.ptx_sha256 = sha256_of(o, "ptx_sha256", Need::kOptional);
  run.sets = read_sets(o);
  run.clocks = {clock_of(o, "core_clock"), clock_of(o, "interconnect_clock"), clock_of(o, "dram_clock")};
  run.role = static_cast<Role>(word_of(o, "role", kRoles, 0));
  if (o.truth("fitting")) run.role = Role::kFitting;
  run.caches = static_cast<comp::CacheState>(word_of(o, "cache", comp::kCacheStates, 0));
  run.note = o.text("note");
  run.not_run = o.text("not_run");
  run.whole = read_whole(o);
  if (o.has("power_w")) run.power_w = o.real("power_w", 0.1, 0);
  if (o.has("power_cache") && run.power_w == 0) o.error(o.where(), "'power_cache' is of 'power_w'");
  run.power_caches = static_cast<comp::CacheState>(
      word_of(o, "power_cache", comp::kCacheStates, static_cast<size_t>(run.caches)));
  read_counters(o, run);
  for (const JsonValue& k : o.array("kernels")) run.kernels.push_back(read_kernel(k, messages));
  for (const JsonValue& b : o.array("buffers")) {
    ObjectReader buffer(b, "a buffer", messages);
    std::string name = buffer.text("name", Need::kRequired);
    run.buffers.push_back({std::move(name), sha256_of(buffer, "sha256", Need::kRequired)});
    buffer.finish();
  }
  const int given = !run.kernels.empty() + run.whole.has_value() + !run.not_run.empty();
  if (value.kind == JsonValue::Kind::kObject && given != 1)
    o.error(
        value.where,
        "a run has one of 'kernels' (not empty), 'cycles', 'seconds', 'bytes_per_second', 'flop_rate' and "
        "'not_run'");
  o.finish();
  return run;
}

void read_device(ObjectReader& top, HardwareFile& file, core::Messages& messages) {
  const JsonValue* v = top.value("device", Need::kRequired);
  if (v == nullptr) return;
  ObjectReader o(*v, "the device", messages);
  file.device = o.text("name", Need::kRequired);
  if (o.value("core_khz", Need::kRequired) != nullptr) file.core_hz = 1e3 * o.real("core_khz", 1, 1);
  for (const char* name : {"compute_capability", "sms", "memory_khz", "memory_bytes", "l2_bytes", "driver"})
    (void)o.value(name);  // for the reader of the file
  o.finish();
}

}  // namespace

std::string_view role_name(Role r) { return kRoles[static_cast<size_t>(r)]; }
std::string_view method_name(Method m) { return kMethods[static_cast<size_t>(m)]; }

HardwareFile parse_hardware_file(std::string_view text, const std::string& path) {
  const JsonValue document = core::parse_json(text, path);
  core::Messages messages;
  ObjectReader top(document, "a file of measurements", messages);
  HardwareFile file;
  file.path = path;
  const JsonValue* schema = top.value("schema", Need::kRequired);
  if (schema != nullptr && schema->text != kSchema)
    top.error(schema->where,
              fmt::format("'schema' is not \"{}\", which is what this program reads", kSchema));
  read_device(top, file, messages);
  file.date = top.text("date", Need::kRequired);
  file.source = top.text("source", Need::kRequired);
  file.machine = top.text("machine");
  file.sets = read_sets(top);
  std::set<std::string> names;
  for (const JsonValue& v : top.array("runs", Need::kRequired)) {
    file.runs.push_back(read_run(v, std::filesystem::path(path).parent_path(), messages));
    const std::string& name = file.runs.back().name;
    if (!name.empty() && !names.insert(name).second)
      messages.error(v.where, fmt::format("there is a run '{}' already", name));
  }
  top.finish();
  messages.raise_if_any();
  return file;
}

HardwareFile read_hardware_file(const std::string& path) {
  return parse_hardware_file(core::read_text_file(path), path);
}

}  // namespace gpusim::correlate
