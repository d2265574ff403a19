#!/usr/bin/env python3
"""Writes the inputs and the expected results (NAME.npy) of this folder: Python integers, exact fractions, libm."""

import math
import struct
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import reduce
from itertools import permutations
from pathlib import Path
from typing import Callable, Iterable, Sequence

FOLDER = Path(__file__).resolve().parent
M32, M64 = (1 << 32) - 1, (1 << 64) - 1
CODES = {"i1": "b", "u2": "H", "u4": "I", "i4": "i", "u8": "Q", "i8": "q", "f2": "H", "f4": "f", "f8": "d"}
getcontext().prec = 50


def write(name: str, kind: str, values: Iterable) -> None:
    """One dimension, little endian; `kind` is numpy's. Integers are wrapped to their width."""
    values = list(values)
    if kind[0] in "iu":
        bits = 8 * int(kind[1])
        values = [signed(v, bits) if kind[0] == "i" else v & ((1 << bits) - 1) for v in values]
    if kind == "f2":
        values = list(map(half_bits, values))
    descr = ("|" if kind[1] == "1" else "<") + kind
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    (FOLDER / f"{name}.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                                         + struct.pack(f"<{len(values)}{CODES[kind]}", *values))


def signed(v: int, bits: int = 32) -> int:
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> (bits - 1) else v


def mix(x: int) -> int:
    x &= M32
    x = (x ^ x >> 16) * 0x7FEB352D & M32
    x = (x ^ x >> 15) * 0x846CA68B & M32
    return x ^ x >> 16


def mix64(x: int) -> int:
    return mix(x) << 32 | mix(x + 0x9E3779B9)


def unit(i: int) -> float:
    return mix(i) / 2**32


def quotient(a: int, b: int) -> int:
    """As C++ divides: towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    return a - quotient(a, b) * b


def reverse(v: int, bits: int) -> int:
    return int(f"{v & ((1 << bits) - 1):0{bits}b}"[::-1], 2)


def popcount(v: int) -> int:
    return bin(v).count("1")


def ffs(v: int) -> int:
    return (v & -v).bit_length()


# Floating-point formats: (bits of precision, smallest exponent, largest exponent)
HALF, BFLOAT, SINGLE, DOUBLE = (11, -14, 15), (8, -126, 127), (24, -126, 127), (53, -1022, 1023)


def rounded(value: Fraction | float | int, form: tuple[int, int, int], mode: str = "rn") -> float:
    """The value in this format, rounded rn, rz, ru or rd."""
    if isinstance(value, float) and not math.isfinite(value):
        return value
    value = Fraction(value)
    if value == 0:
        return 0.0
    precision, low, high = form
    exponent = math.frexp(value.numerator / value.denominator)[1] - 1
    if abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    elif abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    step = Fraction(2) ** (max(exponent, low) - precision + 1)
    count = {"rn": round, "rz": math.trunc, "ru": math.ceil, "rd": math.floor}[mode](value / step)
    result = count * step
    largest = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** high
    if abs(result) > largest:
        away = mode == "rn" or (mode == "ru") == (value > 0) and mode != "rz"
        return math.copysign(math.inf if away else float(largest), value)
    return float(result)


def half_bits(v: float) -> int:
    """NaN as instructions write it."""
    return 0x7FFF if math.isnan(v) else struct.unpack("<H", struct.pack("<e", v))[0]


def from_half(bits: int) -> float:
    return struct.unpack("<e", struct.pack("<H", bits))[0]


def bfloat_bits(v: float) -> int:
    return 0x7FFF if math.isnan(v) else struct.unpack("<I", struct.pack("<f", v))[0] >> 16


def from_bfloat(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def single(v: float) -> float:
    return rounded(v, SINGLE)


def word(v: float) -> int:
    return struct.unpack("<I", struct.pack("<f", v))[0]


def to_integer(v: float, bits: int, is_signed: bool, how: Callable) -> int:
    """As cvt does: clamped, NaN gives zero (32 bits and less) or the sign bit (64)."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    if math.isinf(v):
        return high if v > 0 else low
    return max(low, min(high, how(Fraction(v))))


# Objects and functions


def virtual_calls() -> None:
    def add(amount: int) -> tuple:
        value = lambda x: x + amount & M32
        return value, lambda x: value(value(x))

    def scale(factor: int, name: int) -> tuple:
        value = lambda x: x * factor + name * 3 + factor & M32
        return value, lambda x: value(value(x))

    def diamond(name: int) -> tuple:
        value = lambda x: (x ^ 5) + name & M32
        return value, lambda x: value(value(x))

    def chain(a: tuple, b: tuple) -> tuple:
        return lambda x: b[0](a[0](x)), lambda x: a[1](x) ^ b[1](x)

    results = []
    for i in range(200):
        factor = i % 5 + 2
        first, second, last = add(i * 3 + 1), scale(factor, i), diamond(i + 11)
        both = chain(first, second)
        node = [first, second, both, last, chain(both, last)][mix(i) % 5]
        results.append(node[0](i) + 7 * node[1](i) + (3 * i + factor if i % 2 else i + 11))
    write("virtual_calls_local", "u4", results)
    nodes = [add(t)[0] if mix(t) & 1 else scale(t + 1, 2 * t)[0] for t in range(64)]
    write("virtual_calls_shared", "u4", (reduce(lambda s, k: s * 5 + nodes[(t + k * k) % 64](block + k), range(8), 0)
                                         for block in range(3) for t in range(64)))


def lambdas() -> None:
    def collatz(x: int) -> int:
        return 0 if x <= 1 else 1 + collatz(3 * x + 1 if x & 1 else x // 2)

    results = []
    for i in range(200):
        calls = i % 9 + 1
        narrow, wide = (i * 257 % 65536 + i) ** 2, (0x123456789 + i) ** 2 & M64
        first = i * 3 + 1
        plain = i * 13 + 1 if mix(i) & 1 else i - 13
        results += [reduce(lambda a, k: a * 31 + (k ^ i) & M32, range(calls), i), calls, narrow,
                    wide >> 32 ^ wide & M32, (first ^ (first * 3 + 1) << 1) + plain, collatz(i % 30 + 1)]
    write("lambdas", "u4", results)


def templates() -> None:
    primes = [n for n in range(2, 60) if all(n % d for d in range(2, n))]
    results = []
    for i in range(200):
        row, column = i & 1, i % 4
        product = sum(mix(i + 3 * row + c) * (i * (4 * c + column) + 1) for c in range(3)) & M32
        k = i % 3
        results.append(product << 32 | (i + k + mix(2 * i + k) + 7 + k) & M32)
        results.append(i * 5 % 256 - i + i + (3 << i % 60))
        results.append(3**30 * primes[i % 16])
        results.append(reverse(mix64(i), 64) ^ reverse(mix(i), 32) ^ reverse(i, 16) ^ reverse(i, 8))
    write("templates", "u8", results)


def local_arrays() -> None:
    def entries(i: int) -> int:
        made = []
        for k in range(i % 12 + 1):
            m = mix(i * 12 + k)
            made.append((signed(m & ~15 | k, 16), m >> 16 & 255, mix64(m)))
        return reduce(lambda r, e: r * 1099511628211 + (e[2] ^ e[1]) + e[0] & M64, sorted(made), 0)

    def machine(i: int) -> int:
        stack = []
        for k in range(40):
            m = mix(i * 64 + k)
            if len(stack) < 2 or m & 3 == 0:
                if len(stack) < 16:
                    stack.append(signed(m) >> 20)
                continue
            b, a = stack.pop(), stack.pop()
            stack.append(signed([0, a + b, a - b, a * (b | 1)][m & 3]))
        return reduce(lambda r, v: r * 17 + v, reversed(stack), len(stack))

    def counts(i: int) -> int:
        count = [0] * 64
        for k in range(64):
            m = mix(i + 1000 * k)
            count[(m & 3) * 16 + (m >> 2 & 15)] += 1
        last = mix(i + 1000 * (48 + i % 16))
        return reduce(lambda r, c: r * 3 + c, count, 0) + signed(last >> 8, 8)

    write("local_arrays_sorted", "u8", map(entries, range(150)))
    write("local_arrays_stack", "i4", map(machine, range(150)))
    write("local_arrays_bytes", "u4", map(counts, range(150)))


def recursion() -> None:
    def parity(n: int) -> int:
        value = 1  # even(0), where the calls of even and odd numbers end
        for k in range(1, n + 1):
            value = (value ^ k * 5 if k & 1 else value * 3 + k) & M32
        return value

    def hash_of(items: Sequence[int]) -> int:
        h = reduce(lambda r, v: r * 7 + v, items, 0)
        return h ^ h >> 3

    fibonacci = [0, 1]
    while len(fibonacci) < 90:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    counts = []
    for i in range(90):
        items = [mix(i + k) & 255 for k in range(i % 4 + 1)]
        counts += [[2, 10, 4][i % 3], parity(i), sum(map(hash_of, permutations(items)))]
    write("recursion_numbers", "u8", fibonacci)
    write("recursion_counts", "u4", counts)


def switches() -> None:
    def step(op: int, a: int, b: int) -> int:
        shift = b & 31
        if 6 <= op <= 9:
            a = a + 3 if op == 6 else a
            a = a * 3 if op <= 7 else a
            return (a ^ b if op <= 8 else a) - 1
        return {0: a + b, 1: a - b, 2: a * b, 3: a ^ b, 4: a & ~b, 5: a | b, 10: a << shift, 11: a >> shift,
                12: b - a, 13: a * 5 + b, 14: (a ^ b) * 9, 15: max(a, b), 16: min(a, b), 17: a // 18, 18: a // 19,
                19: a // 20, 20: a % 1000 + b, 21: mix(a) + b, 22: a ^ mix(b), 23: a * a, 24: popcount(a) * b,
                25: a // (b | 1), 26: a % (b | 1), 27: a + (b >> 16), 28: (a << 16 | a >> 16) ^ b,
                29: 1 if a == b else a, 30: ~a}.get(op, a + op)

    def run(i: int) -> int:
        a, b = i, mix(i)
        for k in range(24):
            a = step(mix(i * 24 + k) >> 27, a, b) & M32
            b = b + (a >> 5) & M32
        return a + b

    def scan(text: str) -> int:
        number = state = total = 0
        for c in text:
            if c.isdigit():
                number, state = (number * 10 + int(c)) & M32, 1
            elif c in "+-*/":
                total, number, state = total + state * number, ord(c), 2
            elif c != " ":
                total = total * 2 + number if c == ";" else total
                number = state = 0
        return total + number * 3 + state

    n = 160
    write("switches", "u4", map(run, range(n)))
    keys = [-5000000000, -77, 0, 1000, 4294967296, 4294967297, 9000000000000000000, 1]
    known = {key: k + 1 for k, key in enumerate(keys[:-1])}
    write("switches_found", "i4", (known.get(keys[i & 7] + (i >> 3) % 2, -1) for i in range(n)))
    text = "".join("0123456789+-*/ ;x"[mix(k) % 17] for k in range(96))
    write("switches_text", "i1", text.encode())
    write("switches_scan", "u4", (scan(text[i:]) for i in range(96)))


def function_pointers() -> None:
    table = [lambda a, b: a + b, lambda a, b: a * b, lambda a, b: (a << (b & 31) | a >> 32 - (b & 31)),
             lambda a, b: a * 3 ^ b, lambda a, b: a * 5 ^ b, lambda a, b: a * 7 ^ b]
    results, reals = [], []
    for i in range(150):
        m = mix(i)
        f, g, count, value, state = table[m % 6], table[(m >> 8) % 6], i % 5 + 1, i, i
        for k in range(count):
            value = g(f(value, k) & M32, count) & M32
        for k in range(6):
            state = (state // 3 ^ k + i if m >> k & 1 else state * 33 + k + i) & M32
        results += [value, state, table[i % 6](i, m) if m & 16 else 12345]
        c = i - 40
        sign = 1 if m & 32 else -1
        reals.append(i * 0.5 + 1.25 + sign * c if i & 1 else i * 0.5 * 1.25 + c if m & 32 else i * 0.5 - 1.25 * c)
    write("function_pointers", "u4", results)
    write("function_pointers_reals", "f8", reals)


def structs() -> None:
    weights, inner = [0.5, -1.25, 2.0, 3.75, -8.0], [(200, -300, 1.5), (7, 1234, -0.0625)]
    small, tail, wide = (250, 17, 99), (5, 90, 200), [mix64(k) for k in range(9)]
    reals, results = [], []
    for i in range(100):
        a, b, c = inner[i & 1]
        reals.append(weights[i % 5] * c + b + a)
        k = mix(i) % 9
        other = (tail[0], tail[i % 3], i & 255)
        color = (small[0] + other[1] & 255) | (small[1] ^ other[2]) << 8 | (small[2] - other[0] & 255) << 16
        results.append((wide[(k + i) % 9] + k) * 3 + color)
    write("structs_reals", "f8", reals)
    write("structs", "u8", results)


# Integers


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


# Threads together


def shuffles(blocks: int) -> None:
    results, wide, reals = [], [], []
    for i in range(64 * blocks):
        lane, base = i % 32, i - i % 32
        m = lambda l: mix(base + l)

        def near(target: int, width: int) -> int:
            """The lane itself where the target lies outside its segment."""
            return m(target) if target // width == lane // width and target >= 0 else m(lane)

        segment = lane // 8 * 8
        results += [m(mix(i) >> 8 & 31), near(lane - 3, 32), near(lane + 5, 32), m(lane ^ 0x15),
                    m(segment + (lane + 1) % 8), near(lane - 2, 16), near(lane + 1, 4),
                    # xor 6 with segments of 4: only a target below the segment's end is taken
                    m(lane ^ 6) if (lane ^ 6) <= (lane | 3) else m(lane)]
        wide.append(mix64(base + (lane ^ 9)))
        reals.append(sum(map(m, range(32))) * 0.25 if lane == 0 else 0.0)
    write("warp_shuffles", "u4", results)
    write("warp_wide", "u8", wide)
    write("warp_reals", "f8", reals)


def votes(blocks: int) -> None:
    results, barriers = [], []
    for i in range(64 * blocks):
        lane, base, start = i % 32, i - i % 32, i - i % 64
        m = [mix(base + l) for l in range(32)]
        block = [mix(start + t) for t in range(64)]
        ballot = lambda p: sum(1 << l for l in range(32) if p(l))
        low = (1 << lane) - 1
        odd = ballot(lambda l: m[l] & 1)
        first = ffs(odd) - 1
        if m[lane] & 1:
            part = [popcount(odd) + 100 * popcount(odd & low), m[first], ballot(lambda l: l & 2) & odd]
        else:
            part = [sum(v for v in m if not v & 1), ffs(~odd & M32), ~odd >> 31 & 1]
        results += [ballot(lambda l: m[l] & 4), any(v % 40 == 0 for v in m) << 1 | all(v % 32 != 5 for v in m),
                    ballot(lambda l: m[l] % 5 == m[lane] % 5), M32 ^ 1, ballot(lambda l: m[l] % 3 == m[lane] % 3),
                    sum(m), min(map(signed, m)), *part, low * 3 + (~low & M32)]
        barriers.append(sum(v & 2 != 0 for v in block) * 4 + any(v % 100 == 0 for v in block) * 2
                        + all(v % 50 for v in block))
    write("warp_votes", "u4", results)
    write("barrier_reductions", "u4", barriers)


def cooperative() -> None:
    results, votes, together = [], [], []
    for i in range(128):
        t, lane, base = i % 64, i % 32, i - i % 32
        m = [mix(base + l) & 0xFFFF for l in range(32)]
        rank, start = lane % 8, lane // 8 * 8
        tile, pair = m[start:start + 8], m[lane & ~1:(lane & ~1) + 2]
        results += [
            sum(m), max(tile), reduce(lambda a, b: a ^ b, tile), min(pair) - 30000, tile[5] + tile[rank ^ 3],
            (m[lane + 7] if lane < 25 else m[lane]) ^ (tile[rank - 2] if rank >= 2 else tile[rank]),
            rank << 16 | lane // 8 << 8 | 2, sum(tile[:rank + 1]), sum(m[:lane]), t + 64000 + i // 64 * 100000]
        votes += [sum((v & 1) << k for k, v in enumerate(tile)), any(v % 9 == 0 for v in tile),
                  all(v % 5 for v in tile),
                  sum(1 << k for k, v in enumerate(tile) if v & 3 == tile[rank] & 3)]
        full = [mix(base + l) for l in range(32)]
        chosen = [l for l in range(32) if full[l] % 3 == 0]
        if lane in chosen:
            together.append(len(chosen) * 100 + chosen.index(lane) + full[chosen[0]] % 1000 * 10000)
        else:
            together.append(sum(v % 1000 for v in full if v % 3))
    write("cooperative_tiles", "u4", results)
    write("tile_votes", "u4", votes)
    write("cooperative_coalesced", "u4", together)
    write("cooperative_counter", "u4", [sum(mix(i) % 3 == 0 for i in range(128))])
    write("cooperative_sums", "u4", (sum(mix(128 * b + t) for t in range(128)) for b in range(3)))


def atomics() -> None:
    n = 300
    groups = [[i for i in range(n) if i % 4 == k] for k in range(4)]

    def folded(f: Callable, start: int, value: Callable) -> list[int]:
        return [reduce(f, (value(i) for i in group), start) for group in groups]

    def wound(old: int, limit: int, count: int, down: bool) -> int:
        for _ in range(count):
            old = (limit if old == 0 or old > limit else old - 1) if down else (0 if old >= limit else old + 1)
        return old

    add, both, either, differ = (lambda a, b: a + b), (lambda a, b: a & b), (lambda a, b: a | b), (lambda a, b: a ^ b)
    words = folded(add, 1, mix) + folded(lambda a, b: a - b, 1, mix) + folded(min, M32, mix)
    words += folded(max, -(1 << 31), lambda i: signed(mix(i)))
    words += folded(both, M32, lambda i: mix(i) | 0xFF00FF00 >> i % 4) + folded(either, 0, lambda i: 1 << (mix(i) & 31))
    words += folded(differ, 0, mix)
    words += [wound(3, 12 + k, len(groups[k]), False) for k in range(4)]
    words += [wound(30, 12 + k, len(groups[k]), True) for k in range(4)]
    write("atomics_words", "u4", words)
    write("atomics_words_start", "u4", [1] * 8 + [M32] * 4 + [1 << 31] * 4 + [M32] * 4 + [0] * 8 + [3] * 4 + [30] * 4)
    longs = folded(add, 9, mix64) + folded(min, (1 << 63) - 1, lambda i: signed(mix64(i), 64)) + folded(max, 0, mix64)
    longs += folded(differ, 0, mix64) + folded(both, M64, lambda i: mix64(i) | 0xFFFFFFFF0)
    write("atomics_longs", "u8", longs)
    write("atomics_longs_start", "u8", [9] * 4 + [(1 << 63) - 1] * 4 + [0] * 8 + [M64] * 4)
    write("atomics_floats", "f4", folded(add, 0, lambda i: mix(i) % 64 * 0.25))
    write("atomics_doubles", "f8", folded(add, 0, lambda i: mix(i) * 0.5) + folded(max, 0, lambda i: mix(i) * 1e-3))
    write("atomics_halves", "u2", folded(lambda a, b: a * b, 1, lambda i: mix(i) | 1))
    write("atomics_taken", "u4", [1] * 500)
    n = 1000
    bins = [sum(mix(i) & 15 == k for i in range(n)) for k in range(15)] + [3 * 0xABCD]
    write("atomics_bins", "u4", bins)
    write("atomics_sums", "u8", (sum(mix64(i) for i in range(n) if mix(i) >> 4 & 3 == k) for k in range(4)))
    write("atomics_scaled", "f4", (0.125 * sum(mix(i) >> 6 & 3 == k for i in range(n)) for k in range(4)))


def memory_spaces() -> None:
    text = b"corpus\0"
    limits = [3, 1, 4, 1, 5, 9, 2, 6]

    def total(values: Sequence[int]) -> int:
        return reduce(lambda s, v: s * 3 + v, values, 0)

    results, reals = [], []
    for block in range(3):
        thread = [64 * block + t for t in range(64)]
        dynamic = [[thread[t], mix(thread[t]), t * t, limits[t & 7]] for t in range(64)]
        words = sum(dynamic, [])
        fixed = [mix(t) + block for t in range(33)]
        for t in range(64):
            source = [[thread[t], mix(thread[t]), t], fixed[t % 30:], words[4 * (63 - t):], limits[t % 5:]][mix(t) & 3]
            data, offset = ([1, 2], 7) if t & 1 else ([20, 30], -3)
            results += [total(source[:3]), words[(t * 7 + 3) & 255] + (mix(thread[t ^ 5]) >> 3 & 255),
                        total(data) + offset + text[t % 7], reduce(lambda a, b: a ^ b, dynamic[t ^ 33])]
            reals.append((-2.25 if t & 1 else 1.5) * t)
    write("memory_spaces", "u4", results)
    write("memory_spaces_reals", "f4", reals)
    write("memory_spaces_transposed", "f4", (16 * column + row for row in range(16) for column in range(16)))


# Floating point


def conversions() -> None:
    singles = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.75, 2147483520.0, 2147483648.0, -2147483648.0,
               4294967040.0, 4294967296.0, 9.2e18, 1.8e19, 1e30, -1e30, math.inf, -math.inf, 1e-40]
    singles = [single(v) for v in singles] + [single((unit(k) - 0.5) * 2.0 ** (k % 66)) for k in range(80)]
    narrow, wide = [], []
    for v in singles:
        away = lambda bits, is_signed, how: to_integer(v, bits, is_signed, how)
        low = away(32, True, math.trunc)
        narrow += [away(32, True, round), low, away(32, True, math.ceil), away(32, True, math.floor),
                   away(32, False, math.trunc), away(32, False, round), signed(low, 16), word(min(max(v, 0.0), 1.0))]
        wide += [away(64, True, round), away(64, True, math.floor), away(64, False, math.ceil),
                 struct.unpack("<q", struct.pack("<d", v))[0]]
    write("conversions_singles", "f4", singles)
    write("conversions_from_single", "i4", narrow)
    write("conversions_from_single_wide", "i8", wide)
    integers = [0, 1, -1, (1 << 24) + 1, (1 << 53) + 1, -(1 << 53) - 1, (1 << 63) - 1, -(1 << 63)]
    integers += [signed(mix64(k) >> k % 64, 64) * (-1) ** k for k in range(90)]
    integers = [signed(v, 64) for v in integers]
    narrow, wide = [], []
    for v in integers:
        narrow += [rounded(v, SINGLE), rounded(v, SINGLE, "rz"), rounded(v, SINGLE, "ru"),
                   rounded(v & M64, SINGLE, "rd"), rounded(signed(v), SINGLE), float(signed(v, 8))]
        high = v >> 32 & 0x7FEFFFFF
        wide += [float(v), rounded(v & M64, DOUBLE, "ru"),
                 struct.unpack("<d", struct.pack("<Q", high << 32 | v & M32))[0]]
    write("conversions_integers", "i8", integers)
    write("conversions_from_integer", "f4", narrow)
    write("conversions_from_integer_wide", "f8", wide)
    doubles = [float(v) for v in singles[:-80] if v] + [1.0 + 2.0**-24, 1.0 + 2.0**-25, -1e-42, 3.5e38, -3.5e38, 5e-324]
    doubles += [(unit(k + 1000) - 0.5) * 2.0 ** (k * 3 % 200 - 100) for k in range(80)]
    narrow, wide, single_results = [], [], []
    for v in doubles:
        narrow += [to_integer(v, 32, True, round), to_integer(v, 32, False, math.trunc)]
        wide += [to_integer(v, 64, True, math.ceil), to_integer(v, 64, False, math.trunc)]
        single_results += [rounded(v, SINGLE, mode) for mode in ("rn", "rz", "ru", "rd")]
    write("conversions_doubles", "f8", doubles)
    write("conversions_from_double", "i4", narrow)
    write("conversions_from_double_wide", "i8", wide)
    write("conversions_from_double_single", "f4", single_results)


def cube_root(v: float) -> float:
    return math.copysign(float(Decimal(abs(v)) ** (Decimal(1) / 3)), v) if v else v


def inverse_root(v: float) -> float:
    return float(1 / Decimal(v).sqrt())


def double_math() -> None:
    x = [0.0, -0.0, 1.0, -1.0, 1e-10, 0.5, 3.141592653589793, 100.0] + [(unit(k) - 0.5) * 60 for k in range(90)]
    y = [1.0, 2.0, 3.0, -0.5, 7.0, 1e-3, 8.0, 3.0] + [(unit(k + 500) - 0.5) * 60 for k in range(90)]
    unary, binary, exact = [], [], []
    for v in x:
        p = abs(v) + 1e-3
        unary += [math.sin(v), math.cos(v), math.tan(v), math.exp(v / 8), 2.0 ** (v / 4), math.expm1(v / 16),
                  math.log(p), math.log2(p), math.log10(p), math.log1p(p), math.sqrt(p), cube_root(v),
                  math.asin(v / 1000), math.acos(v / 1000), math.atan(v), math.sinh(v / 10), math.cosh(v / 10),
                  math.tanh(v / 10), math.asinh(v), math.acosh(p + 1), math.atanh(v / 1000), math.erf(v / 4),
                  math.erfc(v / 100)]
    for i, (a, b) in enumerate(zip(x, y)):
        p = abs(a) + 1e-3
        binary += [p ** (b / 8), math.atan2(a, b), math.hypot(a, b), inverse_root(p)]
        mantissa, exponent = math.frexp(a)
        away = math.copysign(math.floor(abs(Fraction(a)) + Fraction(1, 2)), a)
        exact += [a / b, math.sqrt(abs(a)), float(Fraction(a) * Fraction(b) - Fraction(a)), math.fmod(a, b),
                  math.floor(a) + math.ceil(b), float(round(a) - math.trunc(b)), away, mantissa + exponent,
                  math.ldexp(b, i % 40 - 20), a, math.copysign(max(a, b), min(a, b)),
                  rounded(Fraction(a) + Fraction(b), DOUBLE, "rz")]
    write("double_x", "f8", x)
    write("double_y", "f8", y)
    write("double_unary", "f8", unary)
    write("double_binary", "f8", binary)
    write("double_exact", "f8", exact)


def single_functions(v: float) -> list[float]:
    p = single(abs(v) + 0.125)
    return [math.sin(v), math.cos(v), math.exp(v / 8), 2.0 ** (v / 4), math.log(p), math.log2(p), math.log10(p),
            math.sqrt(p), inverse_root(p), p**0.75, math.tan(v / 32), math.floor(v) + math.trunc(v / 2), 1.0 / p,
            cube_root(p), math.atan(v), math.asin(v / 64), math.erf(v / 8), math.expm1(p / 16), math.log1p(p),
            math.erfc(v / 16)]


def single_math() -> None:
    # Multiples of 2^-20: the sum with 1/8 is exact, so that only the functions round.
    ordinary = [0.0, 1.0, -1.0, 0.5, 32.0] + [math.floor((unit(k) - 0.5) * 2**16) / 1024 for k in range(100)]
    small = [0.0, 1.0, -1.0, 0.5, 3.0] + [math.floor((unit(k + 300) - 0.5) * 6 * 2**16) / 2**16 for k in range(100)]
    for name, x in (("single", ordinary), ("fast", small)):
        write(f"{name}_x", "f4", x)
        write(f"{name}_results", "f4", (r for v in x for r in single_functions(v)))
        write(f"{name}_hyperbolic", "f4", (math.tanh(v / 8) for v in x))
    tiny = 2.0**-126
    cases = [(1.5, 2 * tiny), (0.25, tiny), (1e20, tiny / 2), (1e30, -tiny / 1024), (0.75, tiny), (3.0, 5.0),
             (tiny / 8, 1e38), (2.0**-70, 2.0**-60), (2.0**-63, 2.0**-63), (tiny, 1.0)]
    cases = [(single(a), single(b)) for a, b in cases]
    flush = lambda v: v if abs(v) >= tiny else 0.0
    write("fast_flush_x", "f4", (a for a, _ in cases))
    write("fast_flush_y", "f4", (b for _, b in cases))
    write("fast_flush", "f4", (flush(rounded(Fraction(flush(a)) * Fraction(flush(b)), SINGLE)) for a, b in cases))


def ieee(f: Callable, form: tuple[int, int, int], *operands: float) -> float:
    """f on exact fractions, rounded once; on floats where an operand is no number."""
    if all(map(math.isfinite, operands)):
        return rounded(f(*map(Fraction, operands)), form)
    return f(*operands)


def divided(a: float, b: float, form: tuple[int, int, int]) -> float:
    if b == 0:
        negative = math.copysign(1, a) != math.copysign(1, b)
        return math.nan if a == 0 or math.isnan(a) else -math.inf if negative else math.inf
    return ieee(lambda x, y: x / y, form, a, b)


def greater(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else max(a, b)


def lesser(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else min(a, b)


def half() -> None:
    edges = [0x0000, 0x8000, 0x0001, 0x03FF, 0x0400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7FFF, 0x3555]
    patterns = [(a, b) for a in edges for b in edges]
    patterns += [(mix(k) & 0xBFFF | 0x1000, mix(k + 99) & 0xBFFF) for k in range(150)]
    add, sub, mul = (lambda x, y: x + y), (lambda x, y: x - y), (lambda x, y: x * y)
    fma = lambda x, y: x * y + x
    results, paired = [], []
    for a_bits, b_bits in patterns:
        a, b = from_half(a_bits), from_half(b_bits)
        total = ieee(add, HALF, a, b)
        unordered = math.isnan(a) or math.isnan(b)
        flags = (a < b) | (a >= b) << 1 | (a == b) << 2 | math.isnan(a) << 3 | (unordered or a > b) << 4
        root = math.sqrt(abs(a)) if math.isfinite(a) else abs(a)
        down = float(math.floor(a)) if math.isfinite(a) else a
        near = float(round(b)) if math.isfinite(b) else b
        results += [total, ieee(sub, HALF, a, b), ieee(mul, HALF, a, b), divided(a, b, HALF), ieee(fma, HALF, a, b),
                    -abs(a), greater(a, b), lesser(a, b), 0.0 if math.isnan(total) else min(max(total, 0.0), 1.0),
                    from_half(flags), rounded(root, HALF), ieee(add, HALF, near, down)]
        paired.append([ieee(add, HALF, a, b), ieee(mul, HALF, a, b), ieee(fma, HALF, a, b), ieee(sub, HALF, a, b), a,
                       float(a > b)])
    for name, values in (("x", [a for a, _ in patterns]), ("y", [b for _, b in patterns])):
        write(f"half_{name}", "u2", values)
    write("half_results", "f2", results)
    count = len(patterns) // 2
    pairs = []
    for k in range(count):
        low, high = paired[2 * k], paired[2 * k + 1]
        for f in range(6):
            pairs += [high[f], low[f]] if f == 4 else [low[f], high[f]]
    write("half_pairs", "f2", pairs)
    x = [0.0, 1.0, -2.5, 0.1, 65504.0, 65519.9, 65520.0, 1e6, -1e6, 6e-8, 2.9e-8, 6.1e-5, -32769.5, 2.5, 3.5]
    x = [single(v) for v in x] + [single((unit(k) - 0.5) * 2.0 ** (k % 40 - 24)) for k in range(80)]
    shorts, singles, integers = [], [], []
    for v in x:
        h = rounded(v, HALF)
        shorts += [rounded(v, HALF, mode) for mode in ("rn", "rz", "ru", "rd")]
        shorts += [rounded(math.trunc(v), HALF), rounded(Fraction(v) * Fraction(1.0009765625), HALF)]
        singles.append(h * 2)
        integers += [to_integer(h, 32, True, round), to_integer(h, 16, True, math.trunc),
                     to_integer(h, 32, False, math.ceil)]
    write("half_singles", "f4", x)
    write("half_converted", "f2", shorts)
    write("half_widened", "f4", singles)
    write("half_integers", "i4", integers)


def bfloat16() -> None:
    edges = [0x0000, 0x8000, 0x3F80, 0xBF80, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0, 0x0080, 0x4049]
    patterns = [(a, b) for a in edges for b in edges]
    patterns += [(mix(k) & 0x8FFF | 0x3000, mix(k + 99) & 0x8FFF | 0x3000) for k in range(220)]
    add, sub, mul, fma = (lambda x, y: x + y), (lambda x, y: x - y), (lambda x, y: x * y), (lambda x, y: x * y + x)

    def rounds_once(a: float, b: float) -> bool:
        """Before compute capability 8 an fma is one in single precision, rounded a second time."""
        return not math.isfinite(a + b) or rounded(ieee(fma, SINGLE, a, b), BFLOAT) == ieee(fma, BFLOAT, a, b)

    patterns = [p for p in patterns if rounds_once(from_bfloat(p[0]), from_bfloat(p[1]))]
    patterns = patterns[:len(patterns) & ~1]
    results, paired = [], []
    for a_bits, b_bits in patterns:
        a, b = from_bfloat(a_bits), from_bfloat(b_bits)
        both = [ieee(add, BFLOAT, a, b), ieee(mul, BFLOAT, a, b), ieee(fma, BFLOAT, a, b), greater(a, b)]
        flags = (a < b) | (a >= b) << 1 | (a == b) << 2
        values = [both[0], ieee(sub, BFLOAT, a, b), both[1], both[2], -abs(a), both[3], lesser(a, b)]
        results += [*map(bfloat_bits, values), flags]
        paired.append(list(map(bfloat_bits, both)))
    write("bfloat16_x", "u2", [a for a, _ in patterns])
    write("bfloat16_y", "u2", [b for _, b in patterns])
    write("bfloat16_results", "u2", results)
    write("bfloat16_pairs", "u2", (paired[2 * k + side][f] for k in range(len(patterns) // 2) for f in range(4)
                                   for side in range(2)))
    x = [0.0, 1.0, -2.5, 0.1, 3.4e38, -3.4e38, 1e-38, 1e-40, 1.00390625, 1.01171875]
    x = [single(v) for v in x] + [single((unit(k) - 0.5) * 2.0 ** (k % 60 - 24)) for k in range(80)]
    write("bfloat16_singles", "f4", x)
    modes = ("rn", "rz", "ru", "rd")
    write("bfloat16_converted", "u2", (bfloat_bits(rounded(v, BFLOAT, mode)) for v in x for mode in modes))
    doubled = [rounded(rounded(v, BFLOAT) * 2, SINGLE) for v in x]
    write("bfloat16_widened", "f4", doubled)
    write("bfloat16_integers", "i4", (to_integer(rounded(v, BFLOAT), 32, True, math.trunc) for v in x))


def waiting_lanes() -> None:
    write("waiting_lanes_order", "u4", (3 * (31 - turn) + 1 for turn in range(32)))
    sums = [sum(mix(20 * pair + i) for i in range(20)) for pair in range(16)]
    write("waiting_lanes_sums", "u4", (sums[lane // 2] for lane in range(32)))


def main() -> None:
    for part in (virtual_calls, lambdas, templates, local_arrays, recursion, switches, function_pointers, structs,
                 division64, bits, cooperative, atomics, memory_spaces, conversions, double_math, single_math, half,
                 bfloat16, waiting_lanes):
        part()
    shuffles(2)
    votes(2)


if __name__ == "__main__":
    main()
