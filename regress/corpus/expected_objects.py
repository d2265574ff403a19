"""Objects and functions."""

from functools import reduce
from itertools import permutations
from typing import Sequence

from corpus import M32, M64, mix, mix64, popcount, reverse, signed, write


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
