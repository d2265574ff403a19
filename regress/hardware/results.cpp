#include "results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace hardware {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned char>(c));
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += code;
    else
      out += c;
  }
  return out + '"';
}

std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

std::string extents(const unsigned (&e)[3]) {
  return "[" + std::to_string(e[0]) + ", " + std::to_string(e[1]) + ", " + std::to_string(e[2]) + "]";
}

/// The best method that gave something: the kernel's own clock reads, those of the SMs, events.
std::string kernel_json(const Launch& launch, const KernelTimes& t, double core_hz) {
  const char* method = "clock_buffer";
  std::vector<double> cycles = t.clock_buffer;
  if (cycles.empty()) method = "clock64", cycles = t.clock64;
  if (cycles.empty()) {
    method = "events";
    for (const double s : t.event_seconds) cycles.push_back(s * core_hz);
  }
  const auto [least, most] = std::minmax_element(cycles.begin(), cycles.end());
  return "{\"name\": " + quoted(launch.kernel) + ", \"grid\": " + extents(launch.grid) +
         ", \"block\": " + extents(launch.block) + ", \"cycles\": " + number(std::max(median(cycles), 1.0)) +
         ", \"least\": " + number(*least) + ", \"most\": " + number(std::max(*most, 1.0)) +
         ", \"repeats\": " + std::to_string(cycles.size()) + ", \"method\": \"" + method + "\"" +
         (t.registers > 0 ? ", \"registers\": " + std::to_string(t.registers) : "") +
         ", \"event_seconds\": " + number(median(t.event_seconds)) + "}";
}

std::string run_json(const Plan& plan, const RunResult& result, double core_hz) {
  std::string out = "{\"name\": " + quoted(plan.name) + ", \"ptx\": " + quoted(plan.record_ptx) +
                    ",\n   \"launch\": " + quoted(plan.record_launch) + ", \"params\": {";
  for (size_t i = 0; i < plan.params.size(); ++i)
    out += (i == 0 ? "" : ", ") + quoted(plan.params[i].first) + ": " + plan.params[i].second;
  out += "}, \"seed\": " + std::to_string(plan.seed) + ", \"fitting\": " + (plan.fitting ? "true" : "false") +
         ",\n   \"ptx_sha256\": " + quoted(plan.sha256);
  if (!result.not_run.empty()) return out + ",\n   \"not_run\": " + quoted(result.not_run) + "}";
  if (!result.cache.empty()) out += ",\n   \"cache\": " + quoted(result.cache);
  if (result.core_hz > 0)
    out += ",\n   \"core_clock\": " + quoted(number(std::round(result.core_hz / 1e6)) + "MHz");
  if (result.power_w > 0)
    out += ",\n   \"power_w\": " + number(result.power_w) + ", \"power_cache\": \"warm\"";
  out += ",\n   \"kernels\": [";
  for (size_t i = 0; i < result.kernels.size(); ++i)
    out += (i == 0 ? "\n    " : ",\n    ") + kernel_json(plan.launches[i], result.kernels[i], core_hz);
  if (result.hashes.empty()) return out + "]}";
  out += "],\n   \"buffers\": [";
  const char* separator = "\n    ";
  for (size_t i = 0; i < result.hashes.size(); ++i) {
    if (!plan.buffers[i].addresses.empty()) continue;  // addresses differ from run to run
    if (std::any_of(plan.launches.begin(), plan.launches.end(),
                    [&](const Launch& l) { return notes_clocks(plan.buffers[i], l); }))
      continue;
    out += separator + std::string("{\"name\": ") + quoted(plan.buffers[i].name) +
           ", \"sha256\": " + quoted(result.hashes[i]) + "}";
    separator = ",\n    ";
  }
  return out + "]}";
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

std::string results_json(const DeviceInfo& device, const std::string& date, const std::vector<Plan>& plans,
                         const std::vector<RunResult>& results) {
  std::string out = "{\"schema\": \"gpusim-hardware-1\",\n \"device\": {\"name\": " + quoted(device.name) +
                    ", \"compute_capability\": " + std::to_string(device.capability) +
                    ", \"sms\": " + std::to_string(device.sms) +
                    ", \"core_khz\": " + number(device.core_khz) +
                    ", \"memory_khz\": " + number(device.memory_khz) +
                    ", \"memory_bytes\": " + std::to_string(device.memory_bytes) +
                    ", \"l2_bytes\": " + std::to_string(device.l2_bytes) +
                    ", \"driver\": " + quoted(device.driver) + "},\n \"date\": " + quoted(date) +
                    ", \"source\": \"measured by regress/hardware/measure.cu\",\n \"runs\": [";
  for (size_t i = 0; i < plans.size(); ++i)
    out += (i == 0 ? "\n  " : ",\n  ") + run_json(plans[i], results[i], device.core_khz * 1e3);
  return out + "]}\n";
}

}  // namespace hardware
