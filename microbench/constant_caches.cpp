#include "microbench/constant_caches.h"

#include <fmt/format.h>

#include <algorithm>

#include "microbench/hierarchy.h"
#include "microbench/kernels.h"
#include "microbench/timing.h"

namespace gpusim::microbench {

namespace {

constexpr uint32_t kConstantStride = 32, kChaseStride = 256, kSteps = 128;
constexpr size_t kLevels = 3;
/// Hits of a level vary by no more: in the SM not at all, beyond it with the phase of other clocks.
constexpr uint32_t kVariesInSm = 4, kVariesBeyond = 20;

double chase(Device& device, uint32_t bytes) {
  Program p;
  p.sms = 1;
  p.ptx = constant_chase(device.properties(), std::max(bytes / kChaseStride, 2u), kChaseStride);
  p.buffers = {{8, {}, true}};
  p.launches.push_back({"chase_constant", 1, 1, 0, {Argument::buffer(0)}});
  return elapsed(device.run_one(p).buffers[0]) / kSteps;
}

void add(DataSheet& sheet, std::string name, double found, const char* unit, std::string method,
         const char* kernel) {
  Figure f;
  f.name = std::move(name);
  f.found = Value::of(found);
  f.unit = unit;
  f.method = std::move(method);
  f.kernel = kernel;
  sheet.figures.push_back(std::move(f));
}

}  // namespace

std::string constant_chase(const DeviceProperties& device, uint32_t elements, uint32_t stride) {
  const uint32_t words = stride / 8;
  // Compilers of today take a variable's own address in its contents only if it has been declared before.
  const std::string type = fmt::format(".const .align 256 .u64 ring[{}]", elements * words);
  std::string m = module_header(device);
  m += device.capability < 20 ? fmt::format("\t{} = {{\n", type)
                              : fmt::format("\t.extern {0};\n\t.visible {0} = {{\n", type);
  for (uint32_t i = 0; i < elements; ++i) {
    m += fmt::format("\t\tring+{}", (i + 1) % elements * stride);
    for (uint32_t w = 1; w < words; ++w) m += ", 0";
    m += i + 1 == elements ? "\n\t};\n" : ",\n";
  }
  m += "\t.entry chase_constant (.param .u64 p_out)\n\t{\n\t.reg .u32 %r<4>;\n\t.reg .u64 %rd<4>;\n"
       "\t.reg .pred %p<2>;\n\tmov.u64 %rd1, ring;\n";
  // What all lanes surely share is loaded in another way: it is zero that is added, of a lane's own word.
  if (device.capability >= kFirstCompiled)
    m += "\tld.param.u64 %rd2, [p_out];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd3, %r1, 8;\n"
         "\tadd.u64 %rd2, %rd2, %rd3;\n\tld.volatile.global.u64 %rd3, [%rd2];\n\tadd.u64 %rd1, %rd1, %rd3;\n";
  m += fmt::format(
      "\tmov.u32 %r1, {};\n$L_warm:\n"
      "\tld.const.u64 %rd1, [%rd1];\n\tsub.u32 %r1, %r1, 1;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra "
      "$L_warm;\n"
      "\tsetp.eq.u64 %p1, %rd1, 0;\n\t@%p1 exit;\n\tmov.u32 %r2, %clock;\n",
      elements);
  for (uint32_t i = 0; i < kSteps; ++i) m += "\tld.const.u64 %rd1, [%rd1];\n";
  return m +
         "\tsetp.eq.u64 %p1, %rd1, 0;\n\t@%p1 exit;\n\tmov.u32 %r3, %clock;\n\tld.param.u64 %rd2, [p_out];\n"
         "\tst.global.u32 [%rd2], %r2;\n\tst.global.u32 [%rd2+4], %r3;\n\texit;\n\t}\n";
}

void measure_constant_caches(Device& device, DataSheet& sheet) {
  const Probe probe(device, Path::kConstant);
  ProbeRequest first;
  first.members = {0};
  first.laps = 2;
  uint32_t hit = probe.read(first).fastest;
  uint64_t before = 0;
  for (size_t level = 1; level <= kLevels; ++level) {
    const uint32_t limit = hit + (level == 1 ? kVariesInSm : kVariesBeyond);
    const uint64_t size = largest_that_hits(probe, {kConstantStride, 1, 2, limit, probe.reach()});
    // A ring twice as long as a level misses in all of it.
    const uint64_t ring = level == 1 ? size / 2 : 2 * before;
    if (ring > size) return;
    add(sheet, fmt::format("latency.constant_l{}", level), chase(device, static_cast<uint32_t>(ring)),
        "core cycles", fmt::format("pointer chase of one thread over {} bytes", ring), "chase_constant");
    if (size == probe.reach()) return;
    add(sheet, fmt::format("constant.l{}_size", level), static_cast<double>(size), "bytes",
        "largest footprint that never takes longer in the second lap", "probe: probe_constant");
    ProbeRequest beyond;
    beyond.stride = kConstantStride;
    beyond.rounds = static_cast<uint32_t>(size + size / 2) / kConstantStride;
    beyond.laps = 3;
    hit = probe.read(beyond).slowest;
    before = size;
  }
}

}  // namespace gpusim::microbench
