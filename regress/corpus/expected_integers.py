"""Integers: division, bits."""

from typing import Callable, Iterable

from corpus import M32, M64, ffs, mix, mix64, popcount, reverse, signed, write


def quotient(a: int, b: int) -> int:
    """As C++ divides: towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    return a - quotient(a, b) * b


def division64() -> None:
    edges = [0, 1, 2, 3, 10, M32, M32 + 1, M64, M64 - 1, 1 << 63, (1 << 63) - 1, 1 << 52]
    a = edges + [mix64(3 * k) >> k % 61 for k in range(116)]
    b = edges[:0:-1] + [7] + [mix64(5 * k + 1) >> (k * 7) % 63 | 1 for k in range(116)]
    a += [x for x in edges for _ in edges]
    b += [y or 6 for _ in edges for y in edges]
    write("division64_a", "u8", a)
    write("division64_b", "u8", b)
    results, quotients, signs = [], [], []
    for x, y in zip(a, b):
        wide = x * y + x
        results += [x // y, x % y, x // 1000000007, x % 10, x * y >> 64, wide >> 37]
        quotients += [wide // (y | 1) >> 3, wide % 1000003]
        x, y = signed(x, 64), signed(y, 64)
        low, short = signed(y) | 1, signed(y, 16) | 1
        signs += [quotient(x, y), remainder(x, y), quotient(x, -7), remainder(x, 4096), x * y >> 64,
                  quotient(signed(x), low) + remainder(signed(x >> 32), short)]
    write("division64_unsigned", "u8", results)
    write("division128", "u8", quotients)
    write("division64_signed", "i8", signs)


def lanes(v: int, width: int) -> list[int]:
    return [v >> k & ((1 << width) - 1) for k in range(0, 32, width)]


def simd(width: int, f: Callable, *operands: int) -> int:
    parts = [f(*values) & ((1 << width) - 1) for values in zip(*(lanes(v, width) for v in operands))]
    return sum(p << k * width for k, p in enumerate(parts))


def fns(mask: int, base: int, offset: int) -> int:
    """Position of the offset-th set bit from base, upwards or downwards."""
    if offset == 0:
        return base if mask >> base & 1 else M32
    found = [k for k in (range(base, 32) if offset > 0 else range(base, -1, -1)) if mask >> k & 1]
    return found[abs(offset) - 1] if abs(offset) <= len(found) else M32


def bits() -> None:
    def dot(a: Iterable[int], b: Iterable[int], c: int) -> int:
        return sum(x * y for x, y in zip(a, b)) + c

    def some(values: list[int], width: int) -> list[int]:
        return [signed(v, width) for v in values]

    results, wide = [], []
    for i in range(200):
        a, b, c, w = mix(i) >> i % 33 // 2, mix(i + 77), mix(i + 1234), mix64(i) >> i % 64
        pool = lanes(a, 8) + lanes(b, 8)
        left = lambda s: (b << 32 | a) << s >> 32
        right = lambda s: (b << 32 | a) >> s
        results += [
            reverse(a, 32), 32 - a.bit_length(), popcount(a), ffs(a & ~7),
            sum(pool[c >> 4 * k & 7] << 8 * k for k in range(4)),
            left(c & 31), right(c & 31), left(min(c & 63, 32)), right(min(c & 63, 32)),
            dot(some(lanes(a, 8), 8), some(lanes(b, 8), 8), c), dot(lanes(a, 8), lanes(b, 8), c),
            dot(some(lanes(a, 16), 16), some(lanes(b, 8)[:2], 8), c), dot(lanes(a, 16), lanes(b, 8)[2:], c),
            fns(a, i % 32, i % 7 - 3), abs(signed(a) - signed(b)) + c, abs(a - b) + c, a * b >> 32,
            signed(a, 24) * signed(b, 24), (a + b >> 1) ^ (signed(a) + signed(b) + 1 >> 1),
            simd(8, lambda x, y: x + y, a, b) ^ simd(16, lambda x, y: max(x - y, 0), a, b),
            simd(16, lambda x, y: max(signed(x, 16), signed(y, 16)), a, b) ^ simd(8, lambda x, y: -(x > y), a, c),
            simd(16, lambda x, y: x + y + 1 >> 1, b, c)]
        wide += [reverse(w, 64), (64 - w.bit_length()) * 100 + popcount(w), ffs(w & ~255),
                 w << (c & 63) & M64 | signed(mix64(i), 64) >> (b & 63) & M64,
                 (w & 0xFF00FF00FF00FF) * 3 & M64 ^ ~w & M64]
    write("bits", "u4", results)
    write("bits_wide", "u8", wide)
