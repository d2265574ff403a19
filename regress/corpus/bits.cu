// Bit intrinsics and small SIMD.
#include "corpus.h"

extern "C" __global__ void bits(unsigned* out, unsigned long long* wide, unsigned n) {
  unsigned i = thread_index();
  if (i >= n) return;
  unsigned a = mix(i) >> i % 33 / 2, b = mix(i + 77), c = mix(i + 1234);
  unsigned long long w = mix64(i) >> i % 64;
  unsigned* o = out + 22 * i;
  o[0] = __brev(a);
  o[1] = __clz(static_cast<int>(a));
  o[2] = __popc(a);
  o[3] = __ffs(static_cast<int>(a & ~7u));
  o[4] = __byte_perm(a, b, c);
  o[5] = __funnelshift_l(a, b, c);
  o[6] = __funnelshift_r(a, b, c);
  o[7] = __funnelshift_lc(a, b, c & 63);
  o[8] = __funnelshift_rc(a, b, c & 63);
  o[9] = static_cast<unsigned>(__dp4a(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c)));
  o[10] = __dp4a(a, b, c);
  o[11] = static_cast<unsigned>(__dp2a_lo(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c)));
  o[12] = __dp2a_hi(a, b, c);
  o[13] = __fns(a, i % 32, static_cast<int>(i % 7) - 3);
  o[14] = __sad(static_cast<int>(a), static_cast<int>(b), c);
  o[15] = __usad(a, b, c);
  o[16] = __umulhi(a, b);
  o[17] = static_cast<unsigned>(__mul24(static_cast<int>(a), static_cast<int>(b)));
  o[18] = __uhadd(a, b) ^ static_cast<unsigned>(__rhadd(static_cast<int>(a), static_cast<int>(b)));
  o[19] = __vadd4(a, b) ^ __vsubus2(a, b);
  o[20] = __vmaxs2(a, b) ^ __vcmpgtu4(a, c);
  o[21] = __vavgu2(b, c);
  wide[5 * i] = __brevll(w);
  wide[5 * i + 1] = __clzll(static_cast<long long>(w)) * 100 + __popcll(w);
  wide[5 * i + 2] = __ffsll(static_cast<long long>(w & ~0xffull));
  wide[5 * i + 3] =
      w << (c & 63) | static_cast<unsigned long long>(static_cast<long long>(mix64(i)) >> (b & 63));
  wide[5 * i + 4] = (w & 0xff00ff00ff00ffull) * 3 ^ ~w;
}
