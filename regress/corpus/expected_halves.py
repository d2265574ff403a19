"""Numbers of 16 bits: half and bfloat16."""

import math
from fractions import Fraction
from typing import Callable

from corpus import mix, unit, write
from number_formats import BFLOAT, HALF, SINGLE, bfloat_bits, from_bfloat, from_half, rounded, single, to_integer


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
