// A program whose reads, writes and atomic additions go to all memory partitions: out of order, in order, and
// to a few words that many threads share.
#pragma once
#include <fmt/format.h>

#include <string>

namespace gpusim::comp::test {

/// b[i] = a[17 i mod 8192] + 3, and an atomic addition of it to one of 8 words that are 256 bytes apart.
inline constexpr const char* kGatherPtx = R"(
.version 1.4
.target sm_13
.entry gather(.param .u32 a, .param .u32 b, .param .u32 sums)
{
  .reg .u32 %r<16>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [a];
  ld.param.u32 %r6, [b];
  ld.param.u32 %r7, [sums];
  mul.lo.u32 %r8, %r4, 17;
  and.b32 %r8, %r8, 8191;
  shl.b32 %r8, %r8, 2;
  add.u32 %r8, %r5, %r8;
  ld.global.u32 %r9, [%r8];
  add.u32 %r9, %r9, 3;
  shl.b32 %r10, %r4, 2;
  add.u32 %r10, %r6, %r10;
  st.global.u32 [%r10], %r9;
  and.b32 %r11, %r4, 7;
  shl.b32 %r11, %r11, 8;
  add.u32 %r11, %r7, %r11;
  red.global.add.u32 [%r11], %r9;
  ret;
}
)";

/// At most 8192 threads.
inline std::string gather_launch(int blocks, int threads) {
  return fmt::format(R"toml(
[[buffer]]
name = "a"
type = "u32"
count = 8192
init = "iota(3, 5)"
[[buffer]]
name = "b"
type = "u32"
count = 8192
[[buffer]]
name = "sums"
type = "u32"
count = 512
[[launch]]
kernel = "gather"
grid = [{}]
block = [{}]
args = ["a", "b", "sums"]
)toml",
                     blocks, threads);
}

}  // namespace gpusim::comp::test
