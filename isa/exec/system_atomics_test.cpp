// Atomic operations that are atomic towards the host, too.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

TEST(SystemAtomics, TheScopeIsThatOfTheInstruction) {
  for (const auto& [text, scope] : {std::pair{"atom.global.sys.add.u32 %r0, [%out], 1;", kSystemScope},
                                    {"red.sys.add.u32 [%out], 1;", kSystemScope},
                                    {"atom.global.add.u32 %r0, [%out], 1;", uint64_t{0}},
                                    {"atom.global.gpu.add.u32 %r0, [%out], 1;", uint64_t{0}},
                                    {"atom.shared.sys.add.u32 %r0, [s], 1;", uint64_t{0}}}) {
    const KernelImage image =
        lower_ok(thread_kernel(".reg .b32 %r<4>; .shared .align 4 .b8 s[8];",
                               std::string(text) + " st.global.u32 [%out+8], %r0; ret;", "sm_70"),
                 level(LoweringLevel::kClean));
    const MicroOp* const op = find_op(image, OpKind::kAtomic);
    ASSERT_NE(op, nullptr) << text;
    EXPECT_EQ(op->imm, scope) << text;
  }
}

/// Adds one to a word of memory from one lane, again and again, while a thread of the host does the same.
/// True if nothing is lost.
template <class T>
bool adds_up(Type type) {
  constexpr uint64_t kLeast = 3'000'000;  // of each: some at the same time, even on one processor
  TestMemory memory;
  const uint64_t address = memory.add(64);
  AlignedBytes rows(8ul * kRowBytes);
  WarpContext context;
  context.bank[0] = rows.data();
  context.global = &memory;
  MicroOp op;
  op.kind = OpKind::kAtomic;
  op.mem =
      find_form(form_key(Opcode::kAtom, type, Type::kNone, atom_variant(AtomOp::kAdd)), best_simd_level())
          ->mem;
  op.imm = kSystemScope;
  op.memory.space = Space::kGlobal;
  op.memory.type = type;
  op.memory.element_bytes = sizeof(T);
  op.memory.has_base = op.memory.base_is_64 = true;
  op.num_src = 2;
  op.num_dst = 1;  // reads and writes by different instructions
  op.dst[0].offset = 4 * kRowBytes;
  op.src[1].offset = 2 * kRowBytes;
  const T one = 1;
  std::memcpy(rows.data(), &address, sizeof address);
  std::memcpy(rows.data() + 2ul * kRowBytes, &one, sizeof one);

  T& word = *reinterpret_cast<T*>(memory.data(address));
  std::atomic<bool> ends = false;
  std::atomic<uint64_t> by_host = 0;
  std::thread host([&] {
    for (; !ends; by_host.fetch_add(1, std::memory_order_relaxed)) std::atomic_ref<T>(word).fetch_add(1);
  });
  MemoryAccess access;
  uint64_t by_kernel = 0;
  for (; by_kernel < kLeast || by_host < kLeast; ++by_kernel) op.mem(op, context, LaneMask(1), access);
  ends = true;
  host.join();
  return word == static_cast<T>(by_host + by_kernel);
}

TEST(SystemAtomics, WhatTheHostAddsAtTheSameTimeIsNotLost) {
  EXPECT_TRUE(adds_up<uint32_t>(Type::kU32));
  EXPECT_TRUE(adds_up<uint64_t>(Type::kU64));
}

}  // namespace
}  // namespace gpusim::isa
