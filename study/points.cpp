#include "study/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "simcore/config/load.h"
#include "simcore/launch/expression.h"
#include "simcore/text/text_file.h"
#include "simcore/text/units.h"

namespace gpusim::study {

namespace {

namespace fs = std::filesystem;

double side_value(const Study& study, const Constraint& c, const std::string& side, const Point& point) {
  core::ExpressionScope scope;
  scope.find = [&](std::string_view name) -> std::optional<core::Number> {
    for (size_t i = 0; i < study.axes.size(); ++i) {
      if (study.axes[i].name != name) continue;
      const std::string& text = study.axes[i].values[point.values[i]].texts.front();
      double value = 0;
      if (!numeric_value(text, value))
        core::raise_input_error(
            c.where,
            fmt::format("constraint '{}': the value '{}' of axis '{}' is no number", c.text, text, name));
      return core::Number::of_real(value);
    }
    return std::nullopt;
  };
  core::ExpressionError problem;
  const auto value = core::evaluate(side, scope, problem);
  if (!value)
    core::raise_input_error(
        c.where, fmt::format("constraint '{}' at {}: {}", c.text, point_text(study, point), problem.message));
  return value->as_double();
}

bool holds(const Study& study, const Constraint& c, const Point& point) {
  const double left = side_value(study, c, c.left, point), right = side_value(study, c, c.right, point);
  if (c.relation == "<=") return left <= right;
  if (c.relation == ">=") return left >= right;
  if (c.relation == "<") return left < right;
  if (c.relation == ">") return left > right;
  return (left == right) == (c.relation == "==");
}

int64_t clock_of(const std::string& text, const core::Where& where) {
  if (text.empty()) return 0;
  const auto khz = core::parse_khz(text);
  if (!khz || *khz < core::kLowestKhz || *khz > core::kHighestKhz)
    core::raise_input_error(where, fmt::format("'{}' is no clock", text),
                            "a clock from 1MHz to 100GHz such as 1050MHz");
  return *khz;
}

uint64_t natural(const std::string& text, const core::Where& where, const char* what) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
    core::raise_input_error(where, fmt::format("{}: '{}' is no natural number", what, text));
  return std::stoull(text);
}

/// What the axes make of an identity at a point.
void apply_axes(const Study& study, const Point& point, Identity& id) {
  for (size_t i = 0; i < study.axes.size(); ++i) {
    const Axis& axis = study.axes[i];
    const Axis::Value& value = axis.values[point.values[i]];
    for (size_t t = 0; t < axis.targets.size(); ++t) {
      const std::string& text = value.texts[t];
      switch (axis.targets[t].kind) {
        case Target::Kind::kKey:
          id.sets.push_back(axis.targets[t].name + "=" + text);
          break;
        case Target::Kind::kParam:
          id.params.push_back(axis.targets[t].name + "=" + text);
          break;
        case Target::Kind::kSms:
          id.sms = static_cast<uint32_t>(std::min<uint64_t>(natural(text, axis.where, "sms"), UINT32_MAX));
          break;
        case Target::Kind::kCoreClock:
          id.core_clock = text;
          break;
        case Target::Kind::kInterconnectClock:
          id.interconnect_clock = text;
          break;
        case Target::Kind::kDramClock:
          id.dram_clock = text;
          break;
        case Target::Kind::kLowering:
          id.lowering = text;
          break;
        case Target::Kind::kCache:
          id.cache = text;
          break;
        case Target::Kind::kSeed:
          id.seed = natural(text, axis.where, "seed");
          break;
      }
    }
  }
}

isa::LoweringLevel lowering_of(const std::string& text, const core::Where& where) {
  if (std::ranges::find(isa::kLoweringLevels, text) == isa::kLoweringLevels.end())
    core::raise_input_error(where, fmt::format("there is no lowering '{}'", text),
                            fmt::format("{}", fmt::join(isa::kLoweringLevels, ", ")));
  return isa::lowering_level(text);
}

}  // namespace

std::string point_text(const Study& study, const Point& point) {
  std::string text =
      fmt::format("{} on {}", study.workloads[point.workload].name, machine_name(study, point.machine));
  for (size_t i = 0; i < study.axes.size(); ++i)
    text += fmt::format(", {}={}", study.axes[i].name, study.axes[i].values[point.values[i]].label);
  return text;
}

std::vector<Point> points_of(const Study& study) {
  size_t combinations = 1;
  for (const Axis& axis : study.axes) {
    combinations *= std::max<size_t>(axis.values.size(), 1);
    if (combinations > kMostPoints) break;
  }
  if (combinations * study.machines.size() * study.workloads.size() > kMostPoints)
    core::raise_input_error({study.path, 0, 0}, fmt::format("has more than {} points", kMostPoints));
  std::vector<Point> points;
  Point point;
  for (point.machine = 0; point.machine < study.machines.size(); ++point.machine)
    for (point.workload = 0; point.workload < study.workloads.size(); ++point.workload)
      for (size_t n = 0; n < combinations; ++n) {
        point.values.assign(study.axes.size(), 0);
        size_t rest = n;
        for (size_t i = study.axes.size(); i-- > 0; rest /= study.axes[i].values.size())
          point.values[i] = static_cast<uint32_t>(rest % study.axes[i].values.size());
        if (std::ranges::all_of(study.constraints,
                                [&](const Constraint& c) { return holds(study, c, point); }))
          points.push_back(point);
      }
  if (points.empty()) core::raise_input_error({study.path, 0, 0}, "has no point: the constraints allow none");
  return points;
}

double sram_kib(const core::MachineConfig& m, uint32_t sms) {
  const double count = sms == 0 ? m.gpu.sms : sms;
  double per_sm = 4.0 * static_cast<double>(m.sm.registers) + static_cast<double>(m.l1.bytes);
  // One memory for both is l1.size where a carve-out is taken from it.
  if (m.shared.carveout == 0) per_sm += static_cast<double>(m.shared.bytes);
  return (count * per_sm + static_cast<double>(m.l2.bytes)) / 1024;
}

namespace {

/// All of a point that its files do not say.
Identity identity_of(const Study& study, const Point& point) {
  const Workload& workload = study.workloads[point.workload];
  Identity id;
  id.machine = study.machines[point.machine];
  id.sets = study.sets;
  id.params = workload.params;
  id.max_cycles = study.max_cycles;
  id.lowering = std::string(isa::kLoweringLevels.back());
  id.cache = std::string(comp::kCacheStates.front());
  apply_axes(study, point, id);
  return id;
}

core::MachineConfig machine_of(const Identity& id, const core::Where& where,
                               std::span<const std::string> config_folders) {
  core::MachineConfig machine = core::load_machine(id.machine, id.sets, config_folders);
  core::set_clocks(machine,
                   {clock_of(id.core_clock, where), clock_of(id.interconnect_clock, where),
                    clock_of(id.dram_clock, where)},
                   {id.machine, 0, 0});
  if (id.sms > machine.gpu.sms)
    core::raise_input_error({id.machine, 0, 0},
                            fmt::format("has {} SMs, the point asks for {}", machine.gpu.sms, id.sms));
  return machine;
}

}  // namespace

core::MachineConfig machine_at(const Study& study, const Point& point,
                               std::span<const std::string> config_folders) {
  return machine_of(identity_of(study, point), study.workloads[point.workload].where, config_folders);
}

std::string launch_file_of(const Workload& workload) {
  return workload.launch.empty() ? fs::path(workload.ptx).replace_extension(".toml").string()
                                 : workload.launch;
}

PreparedPoint prepare(const Study& study, const Point& point, std::span<const std::string> config_folders,
                      const std::string& program) {
  const Workload& workload = study.workloads[point.workload];
  PreparedPoint p;
  p.identity = identity_of(study, point);
  Identity& id = p.identity;
  id.program = program;

  comp::SimulationOptions& o = p.options;
  o.machine = machine_of(id, workload.where, config_folders);
  o.sms = id.sms;
  o.max_cycles = id.max_cycles;
  o.ptx_name = workload.ptx;
  o.ptx_text = core::read_text_file(workload.ptx, core::kMaxPtxBytes);
  o.launch = core::load_launch(launch_file_of(workload), id.params, id.seed);
  for (const std::string& file : o.launch.link)
    o.linked.push_back({file, core::read_text_file(file, core::kMaxPtxBytes)});
  o.lowering = lowering_of(id.lowering, workload.where);
  const auto cache = comp::cache_state(id.cache);
  if (!cache)
    core::raise_input_error(workload.where, fmt::format("there is no cache state '{}'", id.cache),
                            fmt::format("{}", fmt::join(comp::kCacheStates, ", ")));
  o.caches = *cache;
  o.events = core::EventLevel::kOff;
  o.threads = 0;
  o.program_version = program;

  complete(id, o);
  p.sram_kib = sram_kib(o.machine, id.sms);
  return p;
}

}  // namespace gpusim::study
