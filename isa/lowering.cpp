#include "isa/lowering.h"

#include <algorithm>

#include "isa/lowering/lir.h"

namespace gpusim::isa {
namespace {

void set_header(const Module& module, const Function& entry, const lir::Program& program,
                KernelImage& image) {
  image.name = entry.name;
  image.target_sm = module.target_sm;
  image.address_size = static_cast<uint32_t>(module.address_size);
  std::copy(std::begin(entry.maxntid), std::end(entry.maxntid), std::begin(image.maxntid));
  std::copy(std::begin(entry.reqntid), std::end(entry.reqntid), std::begin(image.reqntid));
  image.static_shared_bytes = program.static_shared_bytes;
  image.dynamic_shared_offset = program.dynamic_shared_offset;
  image.local_bytes = (program.local_bytes + 15) / 16 * 16;
  uint64_t offset = 0;
  for (const Variable& p : entry.params) {
    const uint64_t align = std::max<uint64_t>(p.align, 1);
    offset = (offset + align - 1) / align * align;
    image.params.push_back({p.name, p.type, static_cast<uint32_t>(offset), static_cast<uint32_t>(p.bytes),
                            static_cast<uint32_t>(p.align), p.is_array()});
    offset += p.bytes;
  }
  image.param_bytes = static_cast<uint32_t>(offset);
}

}  // namespace

std::variant<KernelImage, Diagnostics> lower_kernel(const Module& module, const Function& entry,
                                                    const LoweringOptions& options) {
  Diagnostics errors;
  lir::Program program = lir::select(module, entry, options, errors);
  if (!errors.empty()) return errors;
  const lir::Flow flow = lir::build_flow(program);  // the passes keep blocks and branches
  if (options.level == LoweringLevel::kClean) {
    lir::split_local_ranges(program);
    lir::propagate_copies(program, flow);
    lir::fold_addresses(program, flow);
    lir::remove_dead_code(program);
    if (options.machine_capability < 20) lir::fold_shared_operands(program);
    lir::sink_values(program, flow);
    lir::coalesce(program, flow);
  }
  const uint32_t limit = options.register_limit != 0 ? std::min(options.register_limit, options.max_registers)
                                                     : options.max_registers;
  KernelImage image;
  image.registers = lir::register_estimate(program, flow);
  if (limit != 0 && image.registers > limit) {
    image.spilled_registers = lir::spill(program, flow, limit, options.simd.value_or(best_simd_level()));
    image.registers = limit;
  }
  set_header(module, entry, program, image);
  if (!lir::allocate(program, flow, image, errors)) return errors;
  return image;
}

}  // namespace gpusim::isa
