// Atomic operations that one lane does for its warp: which ones, as ptxas 13 decides, that values stay the
// same, and what the memory system sees. The counts of operations are those of ptxas's code.
#include <fmt/format.h>

#include <functional>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder
using Aggregation = MemoryOperand::Aggregation;

/// %p: the address of what all threads update, %q: of a word of the warp's own, %n: a word that is the same
/// in all lanes, %r0: one that differs. %r8 is stored.
std::string updating(std::string_view body) {
  return thread_kernel(
      ".reg .b64 %p, %q, %o, %rd<4>; .reg .b32 %n, %r<10>; .reg .pred %pr; .shared .b32 s[4];", std::string(
                                                                                                    R"(
    ld.param.u64 %p, [pout];
    shr.u32 %r1, %tid0, 5;
    mul.wide.u32 %o, %r1, 8192;
    add.u64 %q, %p, %o;
    mov.u32 %n, %ntid.x;
    ld.global.u32 %r0, [%in];
    mov.u32 %r8, 7;
    bar.sync 0;
    )") + std::string(body) + "\nst.global.u32 [%out+64], %r8; ret;");
}

const MicroOp& atomic_of(const KernelImage& image) {
  const MicroOp* op = find_op(image, OpKind::kAtomic);
  static const MicroOp none;
  EXPECT_NE(op, nullptr);
  return op == nullptr ? none : *op;
}
Aggregation how(const std::string& body, int capability = 75) {
  return atomic_of(lower_ok(updating(body), level(LoweringLevel::kSchedule, 0, capability)))
      .memory.aggregation;
}
/// Operations of the statement besides the access.
size_t added(const std::string& body, int capability = 75) {
  const KernelImage image = lower_ok(updating(body), level(LoweringLevel::kSchedule, 0, capability));
  const uint32_t statement = atomic_of(image).ptx_index;
  return static_cast<size_t>(std::ranges::count(image.ops, statement, &MicroOp::ptx_index)) - 1;
}

TEST(AggregateAtomics, NotWhatOneLaneDoesAnyway) {
  // By ptxas 13 for sm_75 and sm_80.
  const std::string red = "red.global.add.u32 [%p], %n;";
  const auto behind = [&red](std::string_view test) {
    return fmt::format("{}; @%pr bra END; bar.sync 0; {} END:", test, red);
  };
  using enum MemoryOperand::Aggregation;
  const std::string global = "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, %n, %tid0; ";
  for (const int capability : {75, 80}) {
    SCOPED_TRACE(capability);
    EXPECT_EQ(how(behind("setp.ne.u32 %pr, %tid0, 0"), capability), kNone);
    EXPECT_EQ(how(behind("setp.ne.s32 %pr, %tid0, 5"), capability), kNone);
    EXPECT_EQ(how(behind(global + "setp.ne.u32 %pr, %r3, %n"), capability), kNone);
    EXPECT_EQ(how("setp.eq.u32 %pr, %tid0, 0; @%pr " + red, capability), kNone);
    EXPECT_EQ(how("setp.ne.u32 %pr, %tid0, 0; @!%pr " + red, capability), kNone);
    // Several lanes, or what ptxas does not see to be one.
    EXPECT_EQ(how(behind("setp.eq.u32 %pr, %tid0, 0"), capability), kAlways);
    EXPECT_EQ(how("setp.ne.u32 %pr, %tid0, 0; @%pr " + red, capability), kAlways);
    EXPECT_EQ(how(behind("setp.gt.u32 %pr, %tid0, 1"), capability), kAlways);
    EXPECT_EQ(how(behind("and.b32 %r2, %tid0, 31; setp.ne.u32 %pr, %r2, 0"), capability), kAlways);
    EXPECT_EQ(how(behind("setp.ne.u32 %pr, %r0, 0"), capability), kAlways);
    EXPECT_EQ(how(behind("setp.ne.u32 %pr, %n, 32"), capability), kAlways);
  }
  // In each iteration another lane, and behind the loop all that left it.
  EXPECT_EQ(how("mov.u32 %r2, 0; LOOP: setp.eq.u32 %pr, %tid0, %r2; add.u32 %r2, %r2, 1; @%pr bra OUT; "
                "bar.sync 0; bra.uni LOOP; OUT: " +
                red),
            kAlways);
}

TEST(AggregateAtomics, WhatPtxasAggregates) {
  struct Expected {
    std::string_view body;
    Aggregation before_80, from_80;
  };
  using enum MemoryOperand::Aggregation;
  for (const auto& [body, before_80, from_80] : {
           Expected{"red.global.add.u32 [%p], 1;", kAlways, kAlways},
           Expected{"red.global.add.u32 [%p], %n;", kAlways, kAlways},
           Expected{"red.global.add.u32 [%p], %r0;", kFullWarp, kAlways},
           Expected{"red.global.add.u64 [%p], 3;", kAlways, kAlways},
           Expected{"red.global.add.u64 [%p], %o;", kNone, kNone},
           Expected{"red.add.u32 [%p], 1;", kAlways, kAlways},
           Expected{"red.shared.add.u32 [s], 1;", kAlways, kEachAddress},
           Expected{"and.b32 %r2, %r0, 12; red.shared.add.u32 [%r2], 1;", kNone, kEachAddress},
           Expected{"and.b32 %r2, %r0, 12; atom.shared.add.u32 %r3, [%r2], 1;", kNone, kEachAddress},
           Expected{"and.b32 %r2, %r0, 12; atom.shared.add.u32 %r8, [%r2], 1;", kNone, kNone},
           Expected{"and.b32 %r2, %r0, 12; red.shared.add.u32 [%r2], 2;", kNone, kNone},
           Expected{"and.b32 %r2, %r0, 12; red.shared.add.u64 [%r2], 1;", kNone, kNone},
           Expected{"red.shared.max.u32 [s], %r0;", kFullWarp, kAlways},
           Expected{"red.global.min.s32 [%p], %r0;", kFullWarp, kAlways},
           Expected{"red.global.max.u32 [%p], %n;", kFullWarp, kAlways},
           Expected{"red.global.or.b32 [%p], 5;", kFullWarp, kAlways},
           Expected{"red.global.xor.b32 [%p], %r0;", kFullWarp, kAlways},
           Expected{"atom.global.add.u32 %r8, [%p], 1;", kAlways, kAlways},
           Expected{"atom.global.add.u32 %r8, [%p], %r0;", kFullWarp, kFullWarp},
           Expected{"atom.global.max.u32 %r8, [%p], %r0;", kNone, kNone},
           Expected{"atom.global.max.u32 %r1, [%p], %r0;", kFullWarp, kAlways},  // nobody reads %r1 any more
           Expected{"atom.global.inc.u32 %r1, [%p], %n;", kNone, kNone},
           Expected{"atom.global.exch.b32 %r8, [%p], %r0;", kNone, kNone},
           Expected{"atom.global.cas.b32 %r8, [%p], %r0, 5;", kNone, kNone},
           Expected{"red.global.add.f32 [%p], 0f3F800000;", kNone, kNone},
           Expected{"red.global.add.u32 [%q], 1;", kNone,
                    kNone},  // the same in a warp, which ptxas does not see
           Expected{"ld.global.u64 %rd0, [%p+1024]; and.b64 %rd0, %rd0, 0; add.u64 %rd1, %p, %rd0; "
                    "red.global.add.u32 [%rd1], 1;",
                    kAlways, kAlways},
           Expected{"setp.lt.u32 %pr, %tid0, 40; @%pr red.global.add.u32 [%p], 1;", kAlways, kAlways},
       }) {
    EXPECT_EQ(how(std::string(body)), before_80) << body;
    EXPECT_EQ(how(std::string(body), 80), from_80) << body;
    EXPECT_EQ(how(std::string(body), 60), kNone) << body;
  }
}

TEST(AggregateAtomics, AnAddressChosenByABranchDiffersIfTheConditionDoes) {
  const auto chosen = [](const std::string& condition) {
    return how("mov.u64 %rd0, %p; setp.lt.u32 %pr, " + condition +
               "; @%pr bra JOIN; add.u64 %rd0, %p, 512; JOIN: red.global.add.u32 [%rd0], 1;");
  };
  EXPECT_EQ(chosen("%n, 5"), Aggregation::kAlways);
  EXPECT_EQ(chosen("%tid0, 5"), Aggregation::kNone);
  // What a loop counts differs behind it if lanes leave it at different times.
  const auto counted = [](const std::string& end) {
    return how(
        "mov.u32 %r2, 0; LOOP: add.u32 %r2, %r2, 1; xor.b32 %r8, %r8, %r2; setp.lt.u32 %pr, %r2, " + end +
        "; @%pr bra LOOP; mul.wide.u32 %rd0, %r2, 4; add.u64 %rd1, %p, %rd0; red.global.add.u32 [%rd1], 1;");
  };
  EXPECT_EQ(counted("%n"), Aggregation::kAlways);
  EXPECT_EQ(counted("%tid0"), Aggregation::kNone);
}

TEST(AggregateAtomics, SequencesAreAsLongAsThoseOfPtxas) {
  EXPECT_EQ(added("red.global.add.u32 [%p], 1;"), 5u);           // vote, flo, popc, s2r, isetp
  EXPECT_EQ(added("red.global.add.u32 [%p], %n;"), 6u);          // and imad
  EXPECT_EQ(added("atom.global.add.u32 %r8, [%p], 1;"), 10u);    // and s2r, lop3, popc; shfl, imad
  EXPECT_EQ(added("red.global.add.u32 [%p], %r0;"), 14u);        // vote, 2 isetp, s2r, 5 times shfl and iadd
  EXPECT_EQ(added("red.global.add.u32 [%p], %r0;", 80), 5u);     // vote, flo, s2r, isetp, redux
  EXPECT_EQ(added("atom.global.add.u32 %r8, [%p], %r0;"), 17u);  // and shfl, shfl, imad
  EXPECT_EQ(added("red.global.max.u32 [%p], %n;"), 4u);          // vote, 2 isetp, s2r
  EXPECT_EQ(added("red.shared.add.u32 [s], 1;", 80), 0u);        // atoms.popc.inc
}

TEST(AggregateAtomics, WhatIsKnownOfTheLanesIsNotAskedAgain) {
  const auto operations = [](const std::string& body) {
    const KernelImage image = lower_ok(updating(body), level(LoweringLevel::kSchedule, 0, 75));
    return count_class(image, OpClass::kWarp) + count_class(image, OpClass::kBitCount);
  };
  const std::string add = "red.global.add.u32 [%p], 1;", guarded = "@%pr red.global.add.u32 [%p], 1;";
  const std::string compare = "setp.lt.u32 %pr, %tid0, 20;", again = "setp.lt.u32 %pr, %tid0, 40;";
  EXPECT_EQ(operations(add), 3u);
  EXPECT_EQ(operations(add + add + add), 3u);
  EXPECT_EQ(operations(compare + guarded + guarded), 3u);
  EXPECT_EQ(operations(compare + guarded + add), 6u);
  EXPECT_EQ(operations(compare + guarded + again + guarded), 6u);
  EXPECT_EQ(operations(add + "bar.sync 0;" + add), 6u);
  expect_same_everywhere(updating(compare + guarded + add + again + guarded), 64);
}

TEST(AggregateAtomics, ValuesStay) {
  for (const std::string body :
       {"red.global.add.u32 [%p], 1;", "red.global.add.u32 [%p], %r0;", "atom.global.add.u32 %r8, [%p], 3;",
        "atom.global.add.u32 %r8, [%p], %r0;", "red.global.min.s32 [%p], %r0;",
        "red.global.xor.b32 [%p], %r0;", "red.global.add.u64 [%p], 70000;",
        "setp.gt.u32 %pr, %tid0, 40; @%pr atom.global.add.u32 %r8, [%p], %n;",
        "setp.gt.u32 %pr, %r0, 0x50000000; @!%pr bra JOIN; atom.global.add.u32 %r8, [%p], 2; JOIN:",
        "atom.global.add.u64 %rd0, [%p], 9; cvt.u32.u64 %r8, %rd0;", "atom.global.or.b32 %r1, [%p], %r0;"}) {
    const std::string text = updating(body);
    for (const uint32_t threads : {1u, 45u, 96u}) {
      expect_same_everywhere(text, threads);
      const Outcome plain = run_image(lower_ok(text, level(LoweringLevel::kNone)), threads);
      EXPECT_EQ(run_image(lower_ok(text, level(LoweringLevel::kSchedule, 0, 80)), threads).out, plain.out)
          << body;
    }
  }
}

/// Lanes that the memory system sees of the atomic operation of `text` for `lanes` active ones, of which lane
/// i has word `word_of(i)`.
uint32_t lanes_seen(
    const std::string& body, uint32_t lanes, int capability = 75,
    const std::function<uint32_t(uint32_t)>& word_of = [](uint32_t) { return 0; }) {
  const KernelImage image = lower_ok(updating(body), level(LoweringLevel::kSchedule, 0, capability));
  const MicroOp& op = atomic_of(image);
  TestMemory memory;
  const uint64_t global = memory.add(4096);
  std::vector<std::byte> shared(4096);
  AlignedBytes literals = bind_literals(image, pack_params({global, global}), {32, 1, 1}, {1, 1, 1});
  AlignedBytes rows(size_t{image.num_rows} * kRowBytes, std::byte{0});
  WarpContext context;
  context.global = &memory;
  context.shared = shared.data();
  context.shared_bytes = static_cast<uint32_t>(shared.size());
  context.bank[0] = rows.data();
  context.bank[1] = literals.data();
  for (uint32_t lane = 0; lane < kWarpSize && op.memory.has_base; ++lane) {
    const uint64_t address = (op.memory.space == Space::kShared ? 0 : global) + 4 * word_of(lane);
    const size_t bytes = op.memory.space == Space::kShared ? 4 : 8;
    std::memcpy(rows.data() + op.src[0].offset + bytes * lane, &address, bytes);
  }
  std::vector<uint32_t> predicates(image.num_predicates + 1ul, ~0u);
  context.predicates = predicates.data();
  MemoryAccess access;
  op.mem(op, context, LaneMask(lanes), access);
  EXPECT_EQ(access.fault, FaultKind::kNone);
  return access.lanes.bits();
}

TEST(AggregateAtomics, TheMemorySystemSeesOneLane) {
  const std::string counted = "red.global.add.u32 [%p], 1;", summed = "red.global.add.u32 [%p], %r0;";
  EXPECT_EQ(lanes_seen(counted, ~0u), 1u);
  EXPECT_EQ(lanes_seen(counted, 0xff00u), 0x100u);
  EXPECT_EQ(lanes_seen(counted, ~0u, 60), ~0u);
  EXPECT_EQ(lanes_seen(summed, ~0u), 1u);
  EXPECT_EQ(lanes_seen(summed, 0xff00u), 0xff00u);  // shuffles need all lanes
  EXPECT_EQ(lanes_seen(summed, 0xff00u, 80), 0x100u);
}

TEST(AggregateAtomics, TheMemorySystemSeesOneLaneOfEachSharedWordThatIsCounted) {
  const std::string body = "and.b32 %r2, %r0, 1020; red.shared.add.u32 [%r2], 1;";
  const auto seen = [&](uint32_t lanes, const std::function<uint32_t(uint32_t)>& word_of,
                        int capability = 80) { return lanes_seen(body, lanes, capability, word_of); };
  EXPECT_EQ(seen(~0u, [](uint32_t) { return 5; }), 1u);
  EXPECT_EQ(seen(~0u, [](uint32_t lane) { return lane; }), ~0u);
  EXPECT_EQ(seen(~0u, [](uint32_t lane) { return lane / 8; }), 0x01010101u);
  EXPECT_EQ(seen(~0u, [](uint32_t lane) { return 32 * (lane % 4); }), 0xfu);  // all in one bank
  EXPECT_EQ(seen(0xfff0u, [](uint32_t lane) { return lane % 2; }), 0x30u);
  EXPECT_EQ(seen(
                ~0u, [](uint32_t lane) { return lane / 8; }, 75),
            ~0u);
}

}  // namespace
}  // namespace gpusim::isa
