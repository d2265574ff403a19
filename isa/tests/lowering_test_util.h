// Shared by the lowering tests: text -> image with chosen options, and a run whose visible results can be
// compared.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "isa/tests/ptx_test_util.h"
#include "isa/tests/warp_runner.h"

namespace gpusim::isa::test {

inline LoweringOptions level(LoweringLevel l, uint32_t register_limit = 0, int capability = 13) {
  LoweringOptions o;
  o.level = l;
  o.register_limit = register_limit;
  o.machine_capability = capability;
  return o;
}

inline KernelImage lower_ok(std::string_view text, const LoweringOptions& options) {
  const Module module = parse_ok(text);
  auto lowered = lower_kernel(module, *module.entries().at(0), options);
  if (const auto* errors = std::get_if<Diagnostics>(&lowered)) {
    ADD_FAILURE() << messages(*errors);
    return {};
  }
  return std::get<KernelImage>(std::move(lowered));
}

/// The messages of a lowering that must fail.
inline std::string lower_error(std::string_view text) {
  const Module module = parse_ok(text);
  auto lowered = lower_kernel(module, *module.entries().at(0), LoweringOptions{});
  const auto* errors = std::get_if<Diagnostics>(&lowered);
  return errors == nullptr ? std::string() : messages(*errors);
}

struct Outcome {
  RunResult result;
  std::vector<uint32_t> out;
};

/// Runs kernel k(.param .u64 in, .param .u64 out) with `threads` threads; 64 words of input and output per
/// thread.
inline Outcome run_image(const KernelImage& image, uint32_t threads) {
  TestMemory memory;
  std::vector<uint32_t> input(threads * 64ul);
  uint32_t seed = 12345;
  for (uint32_t& v : input) v = seed = seed * 1664525u + 1013904223u;
  const uint64_t in = memory.add_values(input), out = memory.add(threads * 64ul * 4);
  BlockRunner runner(image, memory, pack_params({in, out}), threads);
  Outcome o;
  o.result = runner.run(2'000'000);
  o.out = memory.read<uint32_t>(out, threads * 64ul);
  return o;
}

/// Kernel text with the addresses of this thread's words in %in and %out (64 words each) and its number in
/// %tid0.
inline std::string thread_kernel(std::string_view declarations, std::string_view body,
                                 std::string_view target = "sm_35", std::string_view before = "") {
  const bool old = target.size() == 5 && target < "sm_60";
  return (old ? ".version 4.2\n.target " : ".version 9.0\n.target ") + std::string(target) +
         "\n.address_size 64\n" + std::string(before) +
         ".visible .entry k(.param .u64 pin, .param .u64 pout)\n{\n.reg .b64 %in, %out, %off;\n.reg .b32 "
         "%tid0;\n" +
         std::string(declarations) +
         "\nmov.u32 %tid0, %tid.x;\nmul.wide.u32 %off, %tid0, 256;\nld.param.u64 %in, [pin];\nld.param.u64 "
         "%out, [pout];\n"
         "add.s64 %in, %in, %off;\nadd.s64 %out, %out, %off;\n" +
         std::string(body) + "\n}\n";
}

/// A thread_kernel() with words of shared memory at [%r1] and [%r1+128]; stores %f3.
inline std::string shared_kernel(std::string_view body) {
  return thread_kernel(".reg .f32 %f<8>; .reg .b32 %r<8>; .shared .align 4 .b8 s[512];", std::string(R"(
    shl.b32 %r0, %tid0, 2;
    mov.u32 %r1, s;
    add.s32 %r1, %r1, %r0;
    cvt.rn.f32.u32 %f0, %tid0;
    st.shared.f32 [%r1], %f0;
    st.shared.f32 [%r1+128], %f0;
    bar.sync 0;)") + std::string(body) + "\nst.global.f32 [%out], %f3;\nret;");
}

inline const MicroOp* find_op(const KernelImage& image, OpKind kind) {
  const auto it = std::ranges::find(image.ops, kind, &MicroOp::kind);
  return it == image.ops.end() ? nullptr : &*it;
}

inline size_t count_class(const KernelImage& image, OpClass c) {
  return static_cast<size_t>(std::ranges::count(image.ops, c, &MicroOp::op_class));
}

inline uint64_t total_ptx(const KernelImage& image) {
  uint64_t n = 0;
  for (const MicroOp& op : image.ops) n += op.ptx_count;
  return n;
}

/// All lowerings of one text agree in results and in the PTX instructions they count.
inline void expect_same_everywhere(const std::string& text, uint32_t threads, uint32_t spill_limit = 12) {
  const Outcome none = run_image(lower_ok(text, level(LoweringLevel::kNone)), threads);
  ASSERT_TRUE(none.result.finished) << text;
  const LoweringOptions others[] = {level(LoweringLevel::kClean),
                                    level(LoweringLevel::kClean, 0, 20),
                                    level(LoweringLevel::kClean, spill_limit),
                                    level(LoweringLevel::kNone, spill_limit),
                                    level(LoweringLevel::kSchedule),
                                    level(LoweringLevel::kSchedule, 0, 20),
                                    level(LoweringLevel::kSchedule, 0, 75),
                                    level(LoweringLevel::kSchedule, spill_limit, 75)};
  for (const LoweringOptions& options : others) {
    const Outcome o = run_image(lower_ok(text, options), threads);
    EXPECT_TRUE(o.result.finished) << text;
    EXPECT_EQ(o.out, none.out) << "limit " << options.register_limit << "\n" << text;
    EXPECT_EQ(o.result.thread_instructions, none.result.thread_instructions) << text;
    // Lanes that make different numbers of iterations part earlier where a loop is unrolled.
    if (options.level != LoweringLevel::kSchedule || options.machine_capability < 70) {
      EXPECT_EQ(o.result.ptx_instructions, none.result.ptx_instructions) << text;
    }
  }
}

/// For a machine of this compute capability, as ptxas would.
inline KernelImage scheduled(const std::string& text, int capability = 75) {
  return lower_ok(text, level(LoweringLevel::kSchedule, 0, capability));
}

/// Of the operation that counts as the statement, if there is one, and not of those added for it.
inline size_t position(const KernelImage& image, std::string_view statement) {
  for (const bool counted : {true, false}) {
    for (size_t i = 0; i < image.ops.size(); ++i) {
      const MicroOp& op = image.ops[i];
      if (image.ptx[op.ptx_index].text == statement && (op.ptx_count != 0 || !counted)) return i;
    }
  }
  ADD_FAILURE() << "no operation of " << statement;
  return image.ops.size();
}

}  // namespace gpusim::isa::test
