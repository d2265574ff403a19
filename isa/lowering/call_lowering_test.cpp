// Branches through tables, and calls through the call stack: recursion, function addresses, arguments and
// saved registers in frames.
#include <fmt/format.h>

#include <algorithm>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

// --- brx.idx ---

const std::string kSwitch = thread_kernel(".reg .b32 %r<8>; .reg .pred %p;", R"(
    mov.u32 %r1, 5;
    rem.u32 %r0, %tid0, 5;
    setp.ne.u32 %p, %r0, 4;
    T: .branchtargets A, B, JOIN, A;
    @%p brx.idx %r0, T;
    mov.u32 %r1, 44;
    bra.uni JOIN;
  A:
    mad.lo.u32 %r1, %tid0, 3, %r0;
    bra JOIN;
  B:
    mov.u32 %r1, 77;
  JOIN:
    st.global.u32 [%out], %r1;
    ret;)");

TEST(BranchTable, EveryLaneGoesToItsEntryAndAllJoinAtThePostDominator) {
  const KernelImage image = lower_ok(kSwitch, level(LoweringLevel::kClean));
  const MicroOp* branch = find_op(image, OpKind::kBranchTable);
  ASSERT_NE(branch, nullptr);
  EXPECT_EQ(branch->op_class, OpClass::kCall);
  EXPECT_EQ(std::ranges::count(image.ops, OpKind::kBranchTable, &MicroOp::kind), 1);
  ASSERT_EQ(branch->imm, 4u);
  ASSERT_EQ(image.branch_targets.size(), 4u);
  EXPECT_EQ(image.branch_targets[0], image.branch_targets[3]);
  EXPECT_EQ(image.branch_targets[2], branch->reconverge);
  EXPECT_EQ(image.ptx[image.ops[branch->reconverge].ptx_index].text, "st.global.u32 [%out], %r1");
  EXPECT_EQ(image.ptx[image.ops[image.branch_targets[1]].ptx_index].text, "mov.u32 %r1, 77");
  const Outcome o = run_image(image, 40);
  ASSERT_TRUE(o.result.finished);
  for (uint32_t t = 0; t < 40; ++t) {
    const uint32_t expected[] = {3 * t, 77, 5, 3 * t + 3, 44};
    EXPECT_EQ(o.out[t * 64ul], expected[t % 5]) << t;
  }
  expect_same_everywhere(kSwitch, 40);
}

TEST(BranchTable, MayLeadBackwardsAndKeepsTheLoopsValues) {
  expect_same_everywhere(thread_kernel(".reg .b32 %r<8>; .reg .pred %p;", R"(
    mov.u32 %r1, 0;
    mov.u32 %r2, 1;
    T: .branchtargets TOP, ODD, DONE;
  TOP:
    add.u32 %r1, %r1, 1;
    mad.lo.u32 %r2, %r2, 5, %r1;
    and.b32 %r0, %r2, 1;
    setp.gt.u32 %p, %r1, %tid0;
    @%p mov.u32 %r0, 2;
    brx.idx %r0, T;
  ODD:
    xor.b32 %r2, %r2, %tid0;
    bra TOP;
  DONE:
    st.global.u32 [%out], %r2;
    ret;)"),
                         33, 6);
}

// --- recursion ---

constexpr std::string_view kFibonacci = R"(
.func (.param .b64 rv) fib(.param .b32 n)
{
  .reg .b32 %r<4>; .reg .b64 %rd<5>; .reg .pred %p;
  ld.param.u32 %r0, [n];
  setp.lt.u32 %p, %r0, 2;
  @%p bra SMALL;
  sub.u32 %r1, %r0, 1;
  { .param .b32 a; .param .b64 q;
    st.param.b32 [a], %r1;
    call.uni (q), fib, (a);
    ld.param.b64 %rd0, [q]; }
  sub.u32 %r2, %r0, 2;
  { .param .b32 a; .param .b64 q;
    st.param.b32 [a], %r2;
    call.uni (q), fib, (a);
    ld.param.b64 %rd1, [q]; }
  add.u64 %rd2, %rd0, %rd1;
  st.param.b64 [rv], %rd2;
  ret;
SMALL:
  cvt.u64.u32 %rd3, %r0;
  st.param.b64 [rv], %rd3;
  ret;
}
)";

std::string fibonacci_kernel() {
  return thread_kernel(".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p, %q;", R"(
    and.b32 %r0, %tid0, 7;
    setp.gt.u32 %p, %tid0, 20;
    setp.ne.u32 %q, %r0, 3;
    mov.u64 %rd0, 99;
    { .param .b32 a; .param .b64 q;
      st.param.b32 [a], %r0;
      @%q call (q), fib, (a);
      @%q ld.param.b64 %rd0, [q]; }
    @%p add.u64 %rd0, %rd0, 1000;
    st.global.u64 [%out], %rd0;
    ret;)",
                       "sm_35", kFibonacci);
}

uint64_t fibonacci(uint64_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

TEST(Recursion, EveryLaneHasItsOwnDepth) {
  const KernelImage image = lower_ok(fibonacci_kernel(), level(LoweringLevel::kClean));
  const Outcome o = run_image(image, 40);
  ASSERT_TRUE(o.result.finished);
  for (uint32_t t = 0; t < 40; ++t) {
    const uint64_t expected = (t % 8 == 3 ? 99 : fibonacci(t % 8)) + (t > 20 ? 1000 : 0);
    EXPECT_EQ(o.out[t * 64ul], expected) << t;
    EXPECT_EQ(o.out[t * 64 + 1], 0u) << t;
  }
  expect_same_everywhere(fibonacci_kernel(), 40, 8);
}

TEST(Recursion, TheStackIsWhatWasAskedForAndItsEndIsNoticed) {
  LoweringOptions options = level(LoweringLevel::kClean);
  EXPECT_EQ(lower_ok(fibonacci_kernel(), options).stack_bytes, kDefaultStackBytes);
  options.stack_bytes = 4 * lower_ok(fibonacci_kernel(), options).functions[0].frame_bytes;
  const KernelImage image = lower_ok(fibonacci_kernel(), options);
  EXPECT_EQ(image.stack_bytes, options.stack_bytes);
  EXPECT_EQ(image.functions[0].name, "fib");
  EXPECT_GE(image.local_bytes, image.stack_end);
  EXPECT_TRUE(run_image(image, 3).result.finished) << "fib(2) needs two frames";
  const Outcome o = run_image(image, 8);
  EXPECT_FALSE(o.result.finished) << "fib(7) needs seven";
  EXPECT_EQ(o.result.failed_call, "fib");
}

TEST(Stack, AllocaTakesMemoryThatARestoreGivesBack) {
  const auto kernel = [](const std::string& bytes) {
    return thread_kernel(
        ".reg .b32 %r<6>; .reg .b64 %rd<9>;",
        "ld.global.b32 %r0, [%in];\nadd.u32 %r1, %r0, 1;\nmov.u64 %rd0, " + bytes +
            ";\n"
            "stacksave.u64 %rd1;\nalloca.u64 %rd2, %rd0, 16;\nst.local.u32 [%rd2], %r0;\n"
            "alloca.u64 %rd3, %rd0, 16;\nst.local.u32 [%rd3], %r1;\n"
            "ld.local.u32 %r2, [%rd2];\nld.local.u32 %r3, [%rd3];\n"
            "stackrestore.u64 %rd1;\nalloca.u64 %rd4, %rd0, 16;\n"
            "sub.u64 %rd5, %rd4, %rd2;\nsub.u64 %rd6, %rd3, %rd2;\ncvt.u32.u64 %r4, %rd5;\ncvt.u32.u64 %r5, "
            "%rd6;\n"
            "st.global.b32 [%out], %r2;\nst.global.b32 [%out+4], %r3;\nst.global.b32 [%out+8], %r4;\n"
            "st.global.b32 [%out+12], %r5;\nret;",
        "sm_70");
  };
  for (const LoweringLevel l : {LoweringLevel::kNone, LoweringLevel::kClean, LoweringLevel::kSchedule}) {
    const Outcome o = run_image(lower_ok(kernel("40"), level(l)), 40);
    ASSERT_TRUE(o.result.finished);
    for (size_t t = 0; t < 40; ++t) {
      EXPECT_EQ(o.out[t * 64 + 1], o.out[t * 64] + 1) << t;
      EXPECT_EQ(o.out[t * 64 + 2], 0u) << "the memory that was given back comes first";
      EXPECT_EQ(o.out[t * 64 + 3], 48u) << "40 bytes, at a multiple of 16";
    }
    const Outcome over = run_image(lower_ok(kernel("1048576"), level(l)), 40);
    EXPECT_FALSE(over.result.finished);
    EXPECT_EQ(over.result.fault, FaultKind::kStack);
  }
}

TEST(Recursion, MutualWithStructuresLocalArraysAndOldRegisterParameters) {
  const std::string functions = R"(
.func (.param .align 8 .b8 rv[16]) even(.param .align 8 .b8 s[16], .param .b32 n);
.func (.reg .b32 %ret) down(.reg .b32 %x)
{ .reg .pred %p; .reg .b32 %r<3>;
  setp.eq.u32 %p, %x, 0;
  mov.u32 %ret, 17;
  @%p ret;
  sub.u32 %r0, %x, 1;
  call (%r1), down, (%r0);
  mad.lo.u32 %ret, %r1, 3, %x;
  ret; }
.func (.param .align 8 .b8 rv[16]) odd(.param .align 8 .b8 s[16], .param .b32 n)
{ .reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .pred %p;
  .local .align 16 .b8 depot[32];
  mov.u64 %rd0, depot;
  cvta.local.u64 %rd1, %rd0;
  ld.param.u32 %r0, [n];
  ld.param.u64 %rd2, [s];
  ld.param.u32 %r1, [s+8];
  st.local.u64 [depot+8], %rd2;
  add.u64 %rd2, %rd2, 3;
  sub.u32 %r2, %r0, 1;
  { .param .align 8 .b8 t[16]; .param .b32 m; .param .align 8 .b8 q[16];
    st.param.b64 [t], %rd2; st.param.b32 [t+8], %r1; st.param.b32 [t+12], %r0; st.param.b32 [m], %r2;
    call (q), even, (t, m);
    ld.param.b64 %rd3, [q]; ld.param.b32 %r3, [q+8]; ld.param.b32 %r4, [q+12]; }
  ld.u64 %rd4, [%rd1+8];
  add.u64 %rd3, %rd3, %rd4;
  st.param.b64 [rv], %rd3; st.param.b32 [rv+8], %r3; st.param.b32 [rv+12], %r4;
  ret; }
.func (.param .align 8 .b8 rv[16]) even(.param .align 8 .b8 s[16], .param .b32 n)
{ .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;
  ld.param.u32 %r0, [n];
  ld.param.u64 %rd0, [s];
  ld.param.u32 %r1, [s+8];
  setp.eq.u32 %p, %r0, 0;
  @%p bra LAST;
  sub.u32 %r2, %r0, 1;
  add.u32 %r3, %r1, %r0;
  { .param .align 8 .b8 t[16]; .param .b32 m; .param .align 8 .b8 q[16];
    st.param.b64 [t], %rd0; st.param.b32 [t+8], %r3; st.param.b32 [m], %r2;
    call (q), odd, (t, m);
    ld.param.b64 %rd0, [q]; ld.param.b32 %r1, [q+8]; ld.param.b32 %r4, [q+12]; }
LAST:
  call (%r5), down, (%r0);
  add.u32 %r4, %r4, %r5;
  st.param.b64 [rv], %rd0; st.param.b32 [rv+8], %r1; st.param.b32 [rv+12], %r4;
  ret; }
)";
  const std::string text = thread_kernel(".reg .b32 %r<6>; .reg .b64 %rd<4>;", R"(
    and.b32 %r0, %tid0, 3;
    shl.b32 %r0, %r0, 1;
    mov.u64 %rd0, 100;
    mov.u32 %r1, 0;
    { .param .align 8 .b8 t[16]; .param .b32 m; .param .align 8 .b8 q[16];
      st.param.b64 [t], %rd0; st.param.b32 [t+8], %tid0; st.param.b32 [m], %r0;
      call (q), even, (t, m);
      ld.param.b64 %rd1, [q]; ld.param.b32 %r2, [q+8]; }
    st.global.u64 [%out], %rd1;
    st.global.u32 [%out+8], %r2;
    ret;)",
                                         "sm_35", functions);
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean)), 32);
  ASSERT_TRUE(o.result.finished);
  for (uint32_t t = 0; t < 32; ++t) {
    // On the way down odd adds 3 to the first member and even n to the second; on the way up each odd adds
    // what it got.
    uint64_t first = 100, gotten = 0;
    uint32_t second = t;
    for (uint32_t n = 2 * (t % 4); n > 0; n -= 2) {
      second += n;
      gotten += first;
      first += 3;
    }
    EXPECT_EQ(o.out[t * 64ul], first + gotten) << t;
    EXPECT_EQ(o.out[t * 64 + 2], second) << t;
  }
  expect_same_everywhere(text, 32, 10);
}

// --- function addresses ---

constexpr std::string_view kOperations = R"(
.func (.param .b32 rv) add_them(.param .b32 a, .param .b32 b)
{ .reg .b32 %r<3>; ld.param.u32 %r0, [a]; ld.param.u32 %r1, [b]; add.u32 %r2, %r0, %r1; st.param.b32 [rv], %r2; ret; }
.func (.param .b32 rv) multiply(.param .b32 a, .param .b32 b)
{ .reg .b32 %r<3>; .reg .pred %p; ld.param.u32 %r0, [a]; ld.param.u32 %r1, [b];
  setp.lt.u32 %p, %r0, 10; @%p bra L; mul.lo.u32 %r2, %r0, %r1; st.param.b32 [rv], %r2; ret;
L: st.param.b32 [rv], 1; ret; }
.func (.param .b32 rv) negate(.param .b32 a)
{ .reg .b32 %r<3>; ld.param.u32 %r0, [a]; neg.s32 %r1, %r0; st.param.b32 [rv], %r1; ret; }
.extern .func (.param .b32 rv) elsewhere(.param .b32 a, .param .b32 b);
)";

std::string pointer_kernel(std::string_view address, std::string_view table = "P") {
  return thread_kernel(".reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p, %q;",
                       fmt::format(R"(
    and.b32 %r0, %tid0, 1;
    setp.eq.u32 %p, %r0, 0;
    mov.u64 %rd0, add_them;
    mov.u64 %rd1, multiply;
    mov.u64 %rd4, negate;
    {}
    add.u32 %r1, %tid0, 100;
    {{ .param .b32 a; .param .b32 b; .param .b32 q;
      st.param.b32 [a], %tid0; st.param.b32 [b], 7;
      P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
      C: .calltargets add_them, multiply;
      call (q), %rd2, (a, b), {};
      ld.param.b32 %r2, [q]; }}
    @%p add.u32 %r2, %r2, %r1;
    st.global.u32 [%out], %r2;
    ret;)",
                                   address, table),
                       "sm_35", kOperations);
}

TEST(FunctionPointers, LanesCallTheirOwnTargetThroughMemoryAndSelection) {
  for (const std::string_view table : {"P", "C"}) {
    const std::string text = pointer_kernel(R"(
    selp.b64 %rd2, %rd0, %rd1, %p;
    st.global.u64 [%out+8], %rd2;
    ld.global.u64 %rd2, [%out+8];)",
                                            table);
    const KernelImage image = lower_ok(text, level(LoweringLevel::kClean));
    const Outcome o = run_image(image, 32);
    ASSERT_TRUE(o.result.finished);
    for (uint32_t t = 0; t < 32; ++t) {
      const uint32_t result = t % 2 == 0 ? t + 7 + t + 100 : t < 10 ? 1 : 7 * t;
      EXPECT_EQ(o.out[t * 64ul], result) << t;
    }
    expect_same_everywhere(text, 32, 8);
  }
}

TEST(FunctionPointers, WithoutRecursionTheStackIsWhatTheDeepestCallNeeds) {
  const KernelImage image = lower_ok(pointer_kernel("mov.u64 %rd2, %rd0;"), level(LoweringLevel::kClean));
  const Module module = parse_ok(pointer_kernel(""));
  uint32_t most = 0;
  for (const std::string_view name : {"add_them", "multiply"}) {
    const CallTarget& f = image.functions[module.number_of(*module.find_function(name))];
    EXPECT_EQ(f.name, name);
    EXPECT_NE(f.entry, kNoTarget);
    EXPECT_GE(f.frame_bytes, 12u);
    most = std::max(most, f.frame_bytes);
  }
  EXPECT_EQ(image.stack_bytes, most);
  EXPECT_EQ(image.functions[module.number_of(*module.find_function("negate"))].entry, kNoTarget)
      << "no call of the kernel could mean it";
}

TEST(FunctionPointers, BadAddressesAreNotFollowed) {
  for (const std::string_view address :
       {"mov.u64 %rd2, 0;", "add.u64 %rd2, %rd0, 4;", "mov.u64 %rd2, %rd4;", "mov.u64 %rd2, elsewhere;"}) {
    for (const LoweringLevel l : {LoweringLevel::kNone, LoweringLevel::kClean})
      EXPECT_FALSE(run_image(lower_ok(pointer_kernel(address), level(l)), 32).result.finished) << address;
  }
}

TEST(FunctionPointers, SharedVariablesOfFunctionsThatOnlyAPointerReachesAreLaidOut) {
  const std::string text = thread_kernel(".reg .b64 %rd<3>;", R"(
    ld.global.u64 %rd0, [%in];
    { P: .callprototype _ ();
      call %rd0, P; }
    ret;)",
                                         "sm_35", R"(
.shared .align 4 .b32 counter;
.func touch() { .reg .b32 %r<2>; atom.shared.add.u32 %r0, [counter], 1; ret; }
.global .u64 table[1] = {touch};
)");
  EXPECT_EQ(lower_ok(text, level(LoweringLevel::kClean)).static_shared_bytes, 4u);
}

TEST(FunctionPointers, ArgumentsMustAgreeWithTheTable) {
  const auto error_of = [](std::string_view call) {
    const std::string text =
        thread_kernel(".reg .b64 %rd;",
                      fmt::format("mov.u64 %rd, f;\nP: .callprototype _ (.param .b32 _);\n{}\nret;", call),
                      "sm_35", ".func f(.param .b32 a) { ret; }\n");
    const ParseResult parsed = parse_module(text);
    return messages(parsed.diagnostics) + messages(verify_module(parsed.module));
  };
  EXPECT_EQ(error_of("{ .param .b32 a; call %rd, (a), P; }"), "");
  EXPECT_THAT(error_of("call %rd, P;"), testing::HasSubstr("'P' takes 1 arguments, found 0"));
  EXPECT_THAT(error_of("{ .param .b32 a; .param .b32 q; call (q), %rd, (a), P; }"),
              testing::HasSubstr("'P' returns 0 values, found 1"));
  EXPECT_THAT(error_of("{ .param .b32 a; call %rd, (a); }"),
              testing::HasSubstr("needs the label of a .callprototype or .calltargets"));
}

// --- shared memory of the system ---

TEST(ReservedSharedMemory, LiesBeforeTheKernelsIfAFunctionAsksWhereItIs) {
  const auto text = [](std::string_view statement) {
    return thread_kernel(".reg .b32 %r<8>; .shared .align 4 .b8 own[12];",
                         "call asks; mov.u32 %r1, own; mov.u32 %r2, more;\n"
                         "st.global.u32 [%out], %r1; st.global.u32 [%out+4], %r2; ret;",
                         "sm_80",
                         fmt::format(".extern .shared .align 16 .b8 more[];\n"
                                     ".func asks() {{ .reg .b32 %r<2>; {} ret; }}\n",
                                     statement));
  };
  const KernelImage without = lower_ok(text(""), level(LoweringLevel::kClean));
  EXPECT_EQ(without.reserved_shared_bytes, 0u);
  EXPECT_EQ(without.dynamic_shared_offset, 16u);
  const KernelImage with =
      lower_ok(text("mov.u32 %r1, %reserved_smem_offset_1;"), level(LoweringLevel::kClean));
  EXPECT_EQ(with.reserved_shared_bytes, 1024u);
  EXPECT_EQ(with.static_shared_bytes, without.static_shared_bytes);
  EXPECT_EQ(with.fixed_shared_bytes(), without.fixed_shared_bytes());
  const Outcome o = run_image(with, 1);
  ASSERT_TRUE(o.result.finished);
  EXPECT_EQ(o.out[0], 1024u);
  EXPECT_EQ(o.out[1], 1040u);
}

TEST(ReservedSharedMemory, ItsPlacesAreInOrder) {
  const std::string text = thread_kernel(".reg .b32 %r<8>;", R"(
    mov.u32 %r0, %reserved_smem_offset_begin; st.global.u32 [%out], %r0;
    mov.u32 %r0, %reserved_smem_offset_0; st.global.u32 [%out+4], %r0;
    mov.u32 %r0, %reserved_smem_offset_1; st.global.u32 [%out+8], %r0;
    mov.u32 %r0, %reserved_smem_offset_end; st.global.u32 [%out+12], %r0;
    mov.u32 %r1, %reserved_smem_offset_cap; st.global.u32 [%out+16], %r1;
    ld.shared.u32 %r2, [%r0+-4]; st.global.u32 [%out+20], %r2;
    ret;)",
                                         "sm_80");
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean)), 1);
  ASSERT_TRUE(o.result.finished);
  const std::vector<uint32_t> expected = {0, 0, 512, 1024, 1024, 0};
  EXPECT_EQ(std::vector<uint32_t>(o.out.begin(), o.out.begin() + 6), expected);
}

}  // namespace
}  // namespace gpusim::isa
