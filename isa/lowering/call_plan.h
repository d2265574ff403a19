// Which functions of a kernel are called through the call stack, and how arguments lie there. A direct call
// of a function that is not recursive is inlined, unless that makes too much code. Recursive functions, such
// as would be inlined too often, and those whose address is taken and which an indirect call of the kernel
// could mean, get code of their own and a frame in local memory: first the parameters, then the results, each
// at its natural alignment, then what the function itself needs.
#pragma once
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isa/exec/stack.h"
#include "isa/ptx/module.h"

namespace gpusim::isa::lir {

/// The first multiple of `align` that is not below `v`; 0 aligns nothing.
[[nodiscard]] constexpr uint64_t align_up(uint64_t v, uint64_t align) {
  return align < 2 ? v : (v + align - 1) / align * align;
}

struct ArgumentLayout {
  std::vector<uint32_t> params, returns;  ///< offsets in the callee's frame
  uint32_t bytes = 0;
  uint32_t align = 1;
  uint64_t signature = 0;  ///< of sizes and offsets: two sides of a call that agree have the same
};
[[nodiscard]] ArgumentLayout layout_arguments(const std::vector<Variable>& params,
                                              const std::vector<Variable>& returns);
/// The layout that an indirect call through `table` of `function` means; nullptr-like (bytes 0, signature 0)
/// if there is none.
[[nodiscard]] ArgumentLayout layout_of_table(const Module& module, const LabelTable& table);

struct CallPlan {
  std::vector<const Function*> callables;      ///< called through the stack
  bool uses_stack = false;                     ///< there is such a call, if only one that no function fits
  std::unordered_set<const Function*> called;  ///< so by direct calls, too
  const Module* module = nullptr;
  // Shared memory of the kernel and of all that it reaches.
  std::unordered_map<const Variable*, uint32_t> shared;
  uint32_t reserved_shared_bytes = 0;  ///< of the system, before the kernel's, if it is asked where they are
  uint32_t static_shared_bytes = 0;
  uint32_t dynamic_shared_offset = 0;
  /// Local variables outside functions (before PTX 3.0) that the kernel or what it reaches uses.
  std::unordered_map<const Variable*, uint32_t> local;
  uint32_t local_bytes = 0;
  /// The kernel or what it reaches has alloca: its stack lies behind these variables.
  bool uses_alloca = false;
  StackPlace stack;

  [[nodiscard]] const Function* find_function(std::string_view name) const {
    return module->find_function(name);
  }
};
[[nodiscard]] CallPlan plan_calls(const Module& module, const Function& entry, uint32_t alloca_bytes,
                                  Diagnostics& errors);

}  // namespace gpusim::isa::lir
