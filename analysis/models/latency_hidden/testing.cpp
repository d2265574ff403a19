#include "analysis/models/latency_hidden/testing.h"

#include <utility>

#include "isa/exec/executor.h"
#include "isa/lowering/lowering.h"
#include "isa/ptx/parser/parser.h"
#include "simcore/config/load.h"
#include "simcore/text/text_file.h"

namespace gpusim::analysis::latency_hidden::test {

Code code_of(const std::string& ptx, const std::function<double(uint32_t line)>& executed,
             uint32_t registers) {
  const isa::ParseResult parsed = isa::parse_module(ptx);
  isa::LoweringOptions options;
  options.level = isa::LoweringLevel::kSchedule;
  options.register_file = 16384;
  options.largest_block = 512;
  options.register_limit = registers;
  options.address_of = [](const isa::Variable&) { return isa::kDeviceMemoryBase; };
  Code code;
  code.image =
      std::get<isa::KernelImage>(isa::lower_kernel(parsed.module, *parsed.module.entries().front(), options));
  for (const isa::MicroOp& op : code.image.ops) {
    const double n = executed(code.image.ptx[op.ptx_index].loc.line);
    const bool memory = op.memory.space == isa::Space::kGlobal;
    const bool shared = op.memory.space == isa::Space::kShared || op.op_class == isa::OpClass::kSharedOperand;
    code.counts.push_back({n, memory || shared ? 2 * n : 0, memory ? 128 * n : 0, memory ? 128 * n : 0});
  }
  return code;
}

std::string workload_text(const std::string& path) {
  return core::read_text_file(std::string(GPUSIM_SOURCE_DIR) + "/workloads/" + path);
}

Parameters c1060() {
  const core::MachineConfig machine =
      core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_c1060.cfg", {}, {});
  return measured_parameters(machine, known_data_sheet(machine.gpu.name));
}

Parameters plain_machine() {
  Parameters p;
  p.sms = 10;
  p.core_hz = 1e9;
  p.read_bytes = 100;
  p.triad_bytes = 80;
  p.copy_bytes = 50;
  p.memory_latency = 500;
  p.launch = 1000;
  p.units = {"sp"};
  p.copies = {1};
  return p;
}

Workload workload(std::vector<Segment> segments, uint64_t blocks, uint32_t warps, uint32_t per_sm) {
  Workload w;
  w.segments = std::move(segments);
  for (size_t i = 0; i < w.segments.size(); ++i) w.segments[i].first = static_cast<uint32_t>(i);
  w.shape.blocks = blocks;
  w.shape.warps_per_block = warps;
  w.blocks_per_sm = per_sm;
  return w;
}

}  // namespace gpusim::analysis::latency_hidden::test
