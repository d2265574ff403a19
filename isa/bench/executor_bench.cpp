// Cost of one micro-op of a full warp: the goal is 15 ns for arithmetic and 30 ns for memory.
#include <benchmark/benchmark.h>

#include "isa/ptx/parser/parser.h"
#include "isa/tests/warp_runner.h"

namespace gpusim::isa {
namespace {

/// Lowers a kernel of one statement of interest and times that micro-op alone.
class Timed {
 public:
  Timed(const std::string& target, const std::string& statement, OpClass op_class) {
    const ParseResult parsed =
        parse_module(".version 3.0\n.target " + target +
                     "\n.address_size 64\n.shared .align 4 .b8 s[128];\n.entry k(.param .u64 p) {\n"
                     ".reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd<4>;\n" +
                     statement + "\n}\n");
    LoweringOptions options;
    options.level = LoweringLevel::kNone;
    image_ = std::get<KernelImage>(lower_kernel(parsed.module, *parsed.module.entries().at(0), options));
    for (const MicroOp& op : image_.ops) {
      if (op.op_class == op_class) op_ = op;
    }
    op_.dst[0].offset = 48 * kRowBytes;  // not a source, so that values stay what they are
    rows_.resize(size_t{64} * kRowBytes);
    for (size_t i = 0; i < rows_.size(); i += 4) {
      const float v = 1.0f + static_cast<float>(i % 512) / 64;
      std::memcpy(&rows_[i], &v, 4);
    }
    buffer_ = memory_.add(1024);
    ctx_.bank[0] = rows_.data();
    ctx_.bank[1] = image_.literals.data();
    ctx_.predicates = predicates_;
    ctx_.global = &memory_;
    ctx_.shared = shared_.data();
    ctx_.shared_bytes = 128;
    if (op_.memory.space == Space::kShared && op_.num_src > 0)
      std::memset(rows_.data() + op_.src[0].offset, 0, kRowBytes);
    for (uint64_t l = 0; op_.memory.space == Space::kGlobal && l < kWarpSize; ++l) {
      const uint64_t address = buffer_ + 4 * l;
      std::memcpy(rows_.data() + op_.src[0].offset + 8 * l, &address, 8);
    }
  }
  void run(benchmark::State& state) {
    const LaneMask mask(static_cast<uint32_t>(state.range(0)));
    MemoryAccess access;
    for ([[maybe_unused]] auto _ : state) {
      if (op_.exec != nullptr)
        execute_alu(op_, ctx_, mask);
      else
        execute_memory(op_, ctx_, mask, access);
      benchmark::ClobberMemory();
    }
  }

 private:
  KernelImage image_;
  MicroOp op_;
  AlignedBytes rows_;
  uint32_t predicates_[4] = {};
  std::vector<std::byte> shared_ = std::vector<std::byte>(128);
  test::TestMemory memory_;
  uint64_t buffer_ = 0;
  WarpContext ctx_;
};

constexpr int64_t kFull = 0xffffffff, kPartial = 0x0f0ff0ff;

void add_s32(benchmark::State& s) { Timed("sm_20", "add.s32 %r0, %r1, %r2;", OpClass::kInt).run(s); }
void mad_f32(benchmark::State& s) { Timed("sm_13", "mad.f32 %f0, %f1, %f2, %f3;", OpClass::kFp32).run(s); }
void fma_f32(benchmark::State& s) { Timed("sm_20", "fma.rn.f32 %f0, %f1, %f2, %f3;", OpClass::kFp32).run(s); }
void setp_s32(benchmark::State& s) {
  Timed("sm_20", ".reg .pred %p; setp.lt.s32 %p, %r1, %r2;", OpClass::kInt).run(s);
}
void load_global(benchmark::State& s) {
  Timed("sm_20", "ld.global.f32 %f0, [%rd1];", OpClass::kLoadGlobal).run(s);
}
void store_global(benchmark::State& s) {
  Timed("sm_20", "st.global.f32 [%rd1], %f0;", OpClass::kStoreGlobal).run(s);
}
void load_shared(benchmark::State& s) {
  Timed("sm_20", "ld.shared.f32 %f0, [s+4];", OpClass::kLoadShared).run(s);
}
void load_shared_base(benchmark::State& s) {
  Timed("sm_20", "ld.shared.f32 %f0, [%r1+4];", OpClass::kLoadShared).run(s);
}

BENCHMARK(add_s32)->Arg(kFull)->Arg(kPartial);
BENCHMARK(mad_f32)->Arg(kFull)->Arg(kPartial);
BENCHMARK(fma_f32)->Arg(kFull)->Arg(kPartial);
BENCHMARK(setp_s32)->Arg(kFull);
BENCHMARK(load_global)->Arg(kFull)->Arg(kPartial);
BENCHMARK(store_global)->Arg(kFull);
BENCHMARK(load_shared)->Arg(kFull)->Arg(kPartial);
BENCHMARK(load_shared_base)->Arg(kFull);

}  // namespace
}  // namespace gpusim::isa
