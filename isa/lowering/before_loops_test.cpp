// What stands in front of a loop and is read in it: which operations become part of what reads them, and
// which addresses stay in registers of the warp.
#include <fmt/format.h>

#include <algorithm>

#include "isa/lowering/loop_nest.h"
#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

lir::Program with_loops(uint32_t blocks, const std::vector<std::pair<uint32_t, uint32_t>>& loops) {
  lir::Program program;
  program.blocks.resize(blocks);
  for (const auto& [begin, end] : loops) {
    lir::Op back;
    back.kind = OpKind::kBranch;
    back.target = begin;
    program.blocks[end].ops.push_back(back);
  }
  return program;
}

TEST(LoopNest, ALoopIsEnteredFromOutsideOfIt) {
  const std::vector<std::pair<uint32_t, uint32_t>> loops = {{2, 7}, {4, 5}, {9, 9}, {0, 11}, {4, 7}};
  const lir::Program program = with_loops(13, loops);
  const lir::LoopNest nest(program);
  for (uint32_t from = 0; from < 13; ++from) {
    for (uint32_t to = 0; to < 13; ++to) {
      const auto holds = [](const auto& loop, uint32_t b) { return loop.first <= b && b <= loop.second; };
      const bool enters =
          std::ranges::any_of(loops, [&](const auto& loop) { return holds(loop, to) && !holds(loop, from); });
      EXPECT_EQ(nest.enters(from, to), enters) << from << " to " << to;
    }
  }
}

/// Words %a, %b and the parts of the address are what the thread loads; `made` stands in front of a loop, or
/// of a branch, in which `read` is.
std::string before(std::string_view made, std::string_view read, bool loop) {
  return thread_kernel(
      ".reg .b32 %a, %b, %x, %p, %y, %i; .reg .pred %q;",
      fmt::format("ld.global.u32 %a, [%in]; ld.global.u32 %b, [%in+4]; ld.global.u32 %x, [%in+8];\n{}\n"
                  "mov.u32 %i, 0; setp.gt.u32 %q, %tid0, 20;\n{}\n{}\nst.global.u32 [%out], %y;\n"
                  "{}\nDONE: st.global.u32 [%out+4], %x;\nret;",
                  made, loop ? "LOOP: .pragma \"nounroll\";" : "@%q bra DONE; bar.warp.sync -1;", read,
                  loop ? "xor.b32 %x, %x, %y; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 5; @%q bra LOOP;"
                       : "bar.warp.sync -1; xor.b32 %x, %x, %y;"));
}

bool has(const KernelImage& image, std::string_view statement) {
  return std::ranges::any_of(image.ops,
                             [&](const MicroOp& op) { return image.ptx[op.ptx_index].text == statement; });
}

TEST(BeforeLoops, WhatTwoRegistersMakeIsMadeOnce) {
  // Probes of ptxas 13 for 7.5 and 9.0: a product of two values in front of a loop is made there, and the
  // loop adds it; one with a number or a parameter becomes a multiply-add in the loop. So do bitwise
  // functions. In front of a branch both become part of what reads them.
  const std::pair<const char*, const char*> cases[] = {
      {"mul.lo.u32 %p, %a, {}", "add.u32 %y, %x, %p;"},
      {"xor.b32 %p, %a, {}", "and.b32 %y, %x, %p;"},
  };
  for (const auto& [made, read] : cases) {
    for (const int capability : {75, 90}) {
      for (const bool loop : {false, true}) {
        for (const bool both : {false, true}) {
          const std::string statement = fmt::format(fmt::runtime(made), both ? "%b" : "4660");
          const std::string text = before(statement + ";", read, loop);
          EXPECT_EQ(has(scheduled(text, capability), statement), loop && both)
              << statement << " for " << capability << (loop ? " before a loop" : " before a branch");
          expect_same_everywhere(text, 32);
        }
      }
    }
  }
}

TEST(BeforeLoops, SumsOfThreeAreMadeInOneBlock) {
  // Behind a branch, or in a loop, ptxas 13 adds what was added before, unless that was a number and no loop
  // is entered.
  const auto instructions = [](std::string_view made, std::string_view read, bool loop) {
    return scheduled(before(made, read, loop)).machine_instructions();
  };
  const char* const sum = "shr.u32 %y, %x, %a; add.u32 %y, %y, %p;";
  const uint32_t loop_alone = instructions("mov.u32 %p, %b;", sum, true);
  EXPECT_EQ(instructions("add.u32 %p, %b, 77;", sum, true), loop_alone + 1);
  EXPECT_EQ(instructions("add.u32 %p, %b, %a;", sum, true), loop_alone + 1);
  const uint32_t alone = instructions("mov.u32 %p, %b;", sum, false);
  EXPECT_EQ(instructions("add.u32 %p, %b, 77;", sum, false), alone);
  EXPECT_EQ(instructions("add.u32 %p, %b, %a;", sum, false), alone + 1);
}

/// Adds up what it loads from `pointers` places that are the same for all threads of a block, in a loop,
/// which adds a number made from what they are made from, too; and once behind the loop.
std::string from_places(int pointers, bool loop) {
  std::string places, loads;
  for (int i = 0; i < pointers; ++i) {
    const int before = i == 0 ? 63 : i - 1;
    places += fmt::format("add.s64 %d{}, %d{}, %stride;\n", i, before);
    loads += fmt::format("ld.global.u32 %v{}, [%d{}]; mad.lo.u32 %x, %x, %x, %v{};\n", i, i, i);
  }
  return fmt::format(
      ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 o, .param "
      ".u32 n)\n{{\n.reg .b64 %d<64>, %o, %stride; .reg .b32 %n, %t, %w, %x, %v<64>; .reg .pred %p;\n"
      "ld.param.u64 %d63, [a]; ld.param.u64 %o, [o]; ld.param.u32 %n, [n]; mov.u32 %t, %ctaid.x;\n"
      "mul.lo.u32 %w, %t, %n; mul.wide.u32 %stride, %w, 4096; add.u32 %w, %w, 3; add.s64 %d63, %d63, "
      "%stride; mov.u32 %x, 1;\n{}"
      "mov.u32 %t, %tid.x;\nL: .pragma \"nounroll\";\n{}add.u32 %x, %x, %w; add.u32 %t, %t, 1; setp.lt.u32 "
      "%p, %t, %n; {}\n"
      "ld.global.u32 %v0, [%d0]; add.u32 %x, %x, %v0; st.global.u32 [%o], %x;\nret;\n}}\n",
      places, loads, loop ? "@%p bra L;" : "");
}

TEST(BeforeLoops, AddressesOfTheBlockStayInTheWarpsRegistersWhereOthersAreFew) {
  // As ptxas 13 does from 8.0 on: each access has a copy of its own, which lives until it begins. Here twenty
  // addresses would take forty registers. Where they fit, they are made once for each thread.
  for (const int capability : {80, 90}) {
    const KernelImage many = scheduled(from_places(20, true), capability);
    EXPECT_LE(many.registers, 32u) << capability;
    const auto copies = [](const KernelImage& image) {
      return std::ranges::count_if(image.ops, [&](const MicroOp& op) {
        return op.ptx_count == 0 && op.kind == OpKind::kAlu &&
               image.ptx[op.ptx_index].text.starts_with("ld.global");
      });
    };
    EXPECT_EQ(copies(many), 21) << capability;
    EXPECT_EQ(copies(scheduled(from_places(3, true), capability)), 0) << capability;
    EXPECT_EQ(copies(scheduled(from_places(20, false), capability)), 0) << capability;
  }
}

}  // namespace
}  // namespace gpusim::isa
