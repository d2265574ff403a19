// Lowering: a verified PTX entry function becomes a KernelImage. The passes, in order (each a function in
// isa/lowering/):
//   plan calls -> inline calls, select micro-ops -> [schedule, 7.0 and up: decide conditions on numbers,
//   predicate short branches, unroll loops] -> [clean and schedule: split local ranges, propagate copies and
//   constants, fold address arithmetic into [reg+imm], remove dead code, (schedule, 7.0 and up: fuse
//   operations, contract products and sums, join accesses to neighbouring words of shared memory, have one
//   lane do the atomic operations of a warp), fold shared operands (compute capability 1.x), (schedule, 1.x:
//   addresses of 64 bits cost as much as those of 32), sink cheap values to their use if that saves
//   registers, (schedule, 1.x: add the instructions that it needs for addresses and selections), (schedule:
//   bind parameters as operands (2.0 and up), reorder inside blocks), coalesce] -> [save registers around
//   calls through the stack] -> liveness and register estimate
//   -> [spill above the limit] -> allocate register rows -> resolve branch targets and reconvergence points
//   (immediate post-dominators).
// Functions that are called through the stack (isa/lowering/call_plan.h) go through the same passes, each for
// itself, and are appended to the kernel's code.
// Results never depend on the level: where a product and a sum become one operation, it rounds twice.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "isa/exec/micro_op.h"
#include "isa/exec/semantics/table.h"
#include "isa/ptx/module.h"

namespace gpusim::isa {

/// `none`: as written; `clean`: what removes needless operations; `schedule`: also what makes the code and
/// its registers like ptxas's.
enum class LoweringLevel : uint8_t { kNone, kClean, kSchedule };
inline constexpr std::array<std::string_view, 3> kLoweringLevels{"none", "clean", "schedule"};
/// kClean if there is no such name.
[[nodiscard]] LoweringLevel lowering_level(std::string_view name);

inline constexpr uint32_t kDefaultStackBytes = 4096;

struct LoweringOptions {
  LoweringLevel level = LoweringLevel::kClean;
  int machine_capability = 13;  ///< compute capability x 10 of the machine: decides shared-operand folding
  uint32_t register_limit =
      0;  ///< per thread; above it registers spill to local memory. 0: the machine's maximum
  /// Registers per thread that a real compiler's code takes, if that is known: the schedule may use as many.
  uint32_t registers_taken = 0;
  uint32_t max_registers = 124;  ///< the machine's maximum per thread (124 on 1.x, 63 on 2.x, 255 later)
  /// Level kSchedule keeps so many registers free of use that a block of the largest size fits an SM: of an
  /// SM, and threads of such a block.
  uint32_t register_file = 65536, largest_block = 1024;
  uint32_t threads_per_sm = 2048;
  /// Level kSchedule puts an operation where lanes meet that a branch may have parted, as machines from 7.0
  /// on have it (bsync): each group of lanes executes it when it comes there.
  bool reconverge_operations = false;
  /// IEEE divisions and roots are marked that call a subroutine for some operands (MicroOp::has_subroutine).
  bool special_operands = false;
  /// Call stack per thread for kernels with recursion (others get what their deepest calls need).
  uint32_t stack_bytes = kDefaultStackBytes;
  /// Stack per thread that alloca takes from, if the kernel has it; 0: stack_bytes.
  uint32_t alloca_bytes = 0;
  /// Device address of a module-scope .global or .const variable; required if the kernel uses one.
  std::function<uint64_t(const Variable&)> address_of;
  /// Instruction set of the semantic functions; the widest of this CPU if not given (all give the same
  /// values).
  std::optional<SimdLevel> simd;
};

/// What a machine (core::MachineConfig, which this folder does not know) says of itself.
template <class Machine>
void set_machine(LoweringOptions& options, const Machine& machine) {
  options.machine_capability = static_cast<int>(machine.gpu.compute_capability);
  options.max_registers = machine.sm.max_registers_per_thread;
  options.register_file = machine.sm.registers;
  options.largest_block = machine.sm.max_threads_per_block;
  options.threads_per_sm = machine.sm.max_threads;
  options.reconverge_operations = machine.scheduler.reconverge_operations;
  options.special_operands = machine.scheduler.special_operands;
}

/// Most threads that an SM of a compute capability holds (CUDA programming guide, technical specifications).
[[nodiscard]] constexpr uint32_t threads_per_sm(int capability) {
  if (capability < 20) return capability < 12 ? 768 : 1024;
  if (capability < 30) return 1536;
  if (capability == 75) return 1024;
  if (capability == 86 || capability == 87 || capability == 89 || capability >= 110) return 1536;
  return 2048;
}

/// Addresses for LoweringOptions::address_of where no variable has one, because nothing will run: each its
/// own.
[[nodiscard]] std::function<uint64_t(const Variable&)> stand_in_addresses();

/// Lowers one entry. On failure returns the messages (not supported opcode, ...), never throws.
[[nodiscard]] std::variant<KernelImage, Diagnostics> lower_kernel(const Module& module, const Function& entry,
                                                                  const LoweringOptions& options);

}  // namespace gpusim::isa
