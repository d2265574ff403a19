#include "study/run_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "components/simulation/simulation.h"
#include "components/sm/stall_cause.h"
#include "simcore/process/child_process.h"
#include "simcore/text/json_document.h"
#include "simcore/text/json_text.h"
#include "simcore/text/text_file.h"
#include "simcore/text/whole_file.h"
#include "study/time_estimate.h"

namespace gpusim::study {

namespace {

namespace fs = std::filesystem;
using Status = PointResult::Status;

constexpr std::array<std::string_view, 5> kStatusNames = {"missing", "complete", "wrong", "failed",
                                                          "refused"};
/// In the first line of a stored result; another form of file is not read.
constexpr std::string_view kSchema = "gpusim-study-point-1";

std::string extents(const comp::Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

double counter(const comp::KernelResult& kernel, std::string_view name) {
  const auto at = std::ranges::find(kernel.counters, name, &core::Counter::name);
  return at == kernel.counters.end() ? 0 : at->value;
}

PointResult simulate(PreparedPoint point) {
  PointResult result;
  result.key = point.identity.key;
  result.sram_kib = point.sram_kib;
  const bool expects = !point.options.launch.expects.empty();
  comp::Simulation simulation(std::move(point.options));
  comp::SimulationResult r = simulation.run();
  std::ranges::stable_sort(r.kernels, {}, &comp::KernelResult::launch);
  for (const comp::KernelResult& k : r.kernels) {
    KernelRow row{k.name, extents(k.grid), extents(k.block), k.cycles, k.time_s, {}};
    for (size_t c = 0; c < comp::kNumStallCauses; ++c)
      row.counters.emplace_back(fmt::format("slots_{}", comp::kStallCauseNames[c]),
                                static_cast<double>(k.total.slots[c]));
    for (const core::Counter& c : k.counters) row.counters.emplace_back(c.name, c.value);
    result.energy_j += counter(k, "energy");
    result.kernels.push_back(std::move(row));
  }
  result.time_s = r.time_s;
  result.cycles = r.cycles;
  result.warp_instructions = r.warp_instructions;
  result.verified = !expects ? "not verified" : r.expectations_met() ? "yes" : "no";
  result.status = Status::kComplete;
  if (r.status != comp::SimulationResult::Status::kComplete) {
    result.status = Status::kFailed;
    result.reason = r.reason.empty() ? "interrupted" : r.reason;
  } else if (!r.expectations_met()) {
    result.status = Status::kWrong;
    for (const core::ExpectResult& e : r.expects)
      if (!e.pass && result.reason.empty()) result.reason = e.message;
  }
  return result;
}

fs::path file_of(const RunOptions& options, const std::string& key) {
  return fs::path(options.store) / (key + ".json");
}

/// What is stored under a key: nothing if it is not there, or damaged.
std::optional<PointResult> find_stored(const RunOptions& options, const std::string& key) {
  const fs::path file = file_of(options, key);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  try {
    PointResult result = read_result(core::read_text_file(file.string(), core::kAnySize), file.string());
    if (result.key == key) return result;
  } catch (const core::InputError&) {  // simulated again
  }
  if (options.on_damaged) options.on_damaged(file.string());
  return std::nullopt;
}

void store(const RunOptions& options, const Identity& identity, const PointResult& result) {
  core::write_whole_file(file_of(options, identity.key).string(),
                         fmt::format("{{\"schema\": \"{}\",\n\"identity\": {},\n{}", kSchema,
                                     identity_json(identity), result_json(result).substr(1)));
}

/// An answer of a child begins with one of them.
constexpr std::string_view kStored = "stored\n", kNotStored = "not stored\n";

/// Simulates and stores a point. That no file can be written is no failure of the point, which would stay
/// failed when there is room again: the parent then stores the result, or says why it cannot.
std::string simulate_and_store(const RunOptions& options, const PreparedPoint& prepared,
                               const HostClock& clock) {
  const Identity identity = prepared.identity;
  const PointResult result = simulate(prepared);
  bool stored = true;
  try {
    store_host_time(options.store, identity.key, clock.now());
    store(options, identity, result);
  } catch (const core::InputError&) {
    stored = false;
  }
  return fmt::format("{}{}", stored ? kStored : kNotStored, result_json(result));
}

PointResult refused(const std::string& reason) {
  PointResult result;
  result.status = Status::kRefused;
  result.reason = reason;
  return result;
}

/// The identity of a point and what is known of it; a refused point is known at once.
struct Known {
  Identity identity;
  PointResult result;
};
Known look_up(const Study& study, const Point& point, const RunOptions& options) {
  Known known;
  try {
    PreparedPoint prepared = prepare(study, point, options.config_folders, options.program);
    known.identity = std::move(prepared.identity);
    known.result.key = known.identity.key;
    known.result.sram_kib = prepared.sram_kib;
    if (auto stored = find_stored(options, known.identity.key)) known.result = std::move(*stored);
  } catch (const core::InputError& e) {
    known.result = refused(e.what());
  }
  return known;
}

bool failed(const PointResult& result) {
  return result.status == Status::kFailed || result.status == Status::kWrong;
}

}  // namespace

std::string_view status_name(Status status) { return kStatusNames[static_cast<size_t>(status)]; }

std::string result_json(const PointResult& r) {
  std::string out = fmt::format(
      "{{\"status\": \"{}\", \"reason\": {}, \"key\": \"{}\", \"verified\": {}, \"sram_kib\": {}, "
      "\"time_s\": {}, "
      "\"cycles\": {}, \"energy_j\": {}, \"warp_instructions\": {},\n\"kernels\": [",
      status_name(r.status), core::json_quoted(r.reason), r.key, core::json_quoted(r.verified),
      core::json_number(r.sram_kib), core::json_number(r.time_s), r.cycles, core::json_number(r.energy_j),
      r.warp_instructions);
  for (size_t i = 0; i < r.kernels.size(); ++i) {
    const KernelRow& k = r.kernels[i];
    out += fmt::format(
        "{}\n{{\"name\": {}, \"grid\": \"{}\", \"block\": \"{}\", \"cycles\": {}, \"time_s\": {}, "
        "\"counters\": {{",
        i == 0 ? "" : ",", core::json_quoted(k.name), k.grid, k.block, k.cycles, core::json_number(k.time_s));
    for (size_t c = 0; c < k.counters.size(); ++c)
      out += fmt::format("{}\"{}\": {}", c == 0 ? "" : ", ", k.counters[c].first,
                         core::json_number(k.counters[c].second));
    out += "}}";
  }
  return out + "]}\n";
}

PointResult read_result(const std::string& text, const std::string& name) {
  const core::JsonValue root = core::parse_json(text, name);
  using Kind = core::JsonValue::Kind;
  const auto member = [&name](const core::JsonValue& of, std::string_view key,
                              Kind kind) -> const core::JsonValue& {
    const core::JsonValue* v = of.find(key);
    if (v == nullptr || v->kind != kind)
      core::raise_input_error(
          {name, 0, 0}, fmt::format("is no result of a study: '{}' is missing or of another kind", key));
    return *v;
  };
  const auto refuse = [&name](std::string_view key, double value) {
    core::raise_input_error({name, 0, 0}, fmt::format("is no result of a study: '{}' is {}", key, value));
  };
  const auto real = [&](const core::JsonValue& of, std::string_view key) {
    const double value = member(of, key, Kind::kNumber).number.as_double();
    if (!std::isfinite(value) || value < 0) refuse(key, value);
    return value;
  };
  const auto whole = [&](const core::JsonValue& of, std::string_view key) {
    const double value = real(of, key);
    if (!member(of, key, Kind::kNumber).number.is_integer) refuse(key, value);
    return static_cast<uint64_t>(value);
  };
  PointResult r;
  const std::string status = member(root, "status", Kind::kString).text;
  const auto at = std::ranges::find(kStatusNames, status);
  if (at == kStatusNames.end())
    core::raise_input_error({name, 0, 0}, fmt::format("there is no status '{}'", status));
  r.status = static_cast<Status>(at - kStatusNames.begin());
  r.reason = member(root, "reason", Kind::kString).text;
  r.key = member(root, "key", Kind::kString).text;
  r.verified = member(root, "verified", Kind::kString).text;
  r.sram_kib = real(root, "sram_kib");
  r.time_s = real(root, "time_s");
  r.cycles = whole(root, "cycles");
  r.energy_j = real(root, "energy_j");
  r.warp_instructions = whole(root, "warp_instructions");
  for (const core::JsonValue& k : member(root, "kernels", Kind::kArray).items) {
    KernelRow row;
    row.name = member(k, "name", Kind::kString).text;
    row.grid = member(k, "grid", Kind::kString).text;
    row.block = member(k, "block", Kind::kString).text;
    row.cycles = whole(k, "cycles");
    row.time_s = real(k, "time_s");
    for (const auto& c : member(k, "counters", Kind::kObject).members)
      row.counters.emplace_back(c.name, c.value.kind == Kind::kNumber ? c.value.number.as_double() : 0.0);
    r.kernels.push_back(std::move(row));
  }
  const bool ended = r.status == Status::kComplete || r.status == Status::kWrong;
  if (ended && !r.kernels.empty() && r.cycles == 0) refuse("cycles", 0);
  if (ended && !r.kernels.empty() && r.time_s == 0) refuse("time_s", 0);
  return r;
}

std::vector<PointResult> stored_results(const Study& study, std::span<const Point> points,
                                        const RunOptions& options) {
  std::vector<PointResult> results;
  results.reserve(points.size());
  for (const Point& point : points) results.push_back(look_up(study, point, options).result);
  return results;
}

std::vector<PointResult> run_points(const Study& study, std::span<const Point> points,
                                    std::span<const size_t> which, const RunOptions& options) {
  std::error_code error;
  fs::create_directories(options.store, error);
  if (error || !fs::is_directory(options.store))
    core::raise_input_error({options.store, 0, 0}, "is no folder that can be used");
  std::vector<PointResult> results(which.size());
  std::vector<Identity> identities(which.size());
  std::vector<std::function<std::string()>> works;
  std::vector<size_t> open;                ///< places in `which` of the works
  std::map<std::string, size_t> first_of;  ///< key -> place: two points may be one simulation
  std::vector<std::pair<size_t, size_t>> twins;
  for (size_t i = 0; i < which.size(); ++i) {
    Known known = look_up(study, points[which[i]], options);
    results[i] = std::move(known.result);
    identities[i] = std::move(known.identity);
    if (results[i].status != Status::kMissing && !(options.again && failed(results[i]))) {
      if (options.on_done) options.on_done(which[i], results[i]);
      continue;
    }
    const auto [at, is_new] = first_of.emplace(identities[i].key, i);
    if (!is_new) {
      twins.emplace_back(i, at->second);
      continue;
    }
    open.push_back(i);
    works.emplace_back([&study, &options, &point = points[which[i]]] {
      const HostClock clock;
      const PreparedPoint prepared = prepare(study, point, options.config_folders, options.program);
      return simulate_and_store(options, prepared, clock);
    });
  }
  const auto take = [&](size_t work, const core::ChildAnswer& answer) {
    const size_t i = open[work];
    if (answer.good) {
      const bool stored = answer.text.starts_with(kStored);
      results[i] = read_result(answer.text.substr((stored ? kStored : kNotStored).size()), "answer");
      if (!stored) store(options, identities[i], results[i]);
    } else {
      results[i].status = Status::kFailed;
      results[i].reason = answer.text;
      store(options, identities[i], results[i]);
    }
    if (options.on_done) options.on_done(which[i], results[i]);
  };
  if (options.on_start) options.on_start();
  (void)core::run_in_children(works, options.parallel, take);
  for (const auto& [i, twin] : twins) {
    results[i] = results[twin];
    if (options.on_done) options.on_done(which[i], results[i]);
  }
  return results;
}

Counted count_warp_instructions(PreparedPoint point) {
  point.options.functional = true;
  point.options.caches = comp::CacheState::kCold;
  point.options.max_cycles = kMostCounted;
  comp::Simulation simulation(std::move(point.options));
  const comp::SimulationResult result = simulation.run();
  return {result.warp_instructions, result.status == comp::SimulationResult::Status::kComplete};
}

}  // namespace gpusim::study
