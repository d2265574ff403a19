#!/usr/bin/env python3
"""Writes the expected results (NAME.npy) of the workloads of this folder, computed with Python's integers and
fractions."""

import struct
from fractions import Fraction
from functools import cache
from itertools import product
from math import floor
from pathlib import Path
from typing import Callable, Iterable, Optional

FOLDER = Path(__file__).resolve().parent
MASK = 0xFFFFFFFF


def write(name: str, kind: str, values: Iterable) -> None:
    """One dimension, little endian; `kind` is numpy's, such as u4."""
    values = list(values)
    order = "|" if kind == "u1" else "<"
    header = f"{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    code = {"u1": "B", "i2": "h", "u4": "I", "i4": "i", "u8": "Q", "f2": "e", "f4": "f"}[kind]
    (FOLDER / f"{name}.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                                         + struct.pack(f"<{len(values)}{code}", *values))


def signed(v: int) -> int:
    v &= MASK
    return v - (1 << 32) if v >> 31 else v


# switch_table


def operate(operation: int, a: int, b: int) -> int:
    if operation == 5:
        for _ in range((b & 7) + 1):
            a = a * 3 + b
        return a & MASK
    return {0: a + b, 1: a - b, 2: a * b, 3: a ^ b, 4: min(a, b)}.get(operation, a) & MASK


def interpret(program: int, i: int, steps: int) -> int:
    state = a = program
    b = i
    for s in range(steps):
        a = operate(state >> 29, a, b)
        b = a ^ (b + s & MASK)
        state = (state * 1664525 + 1013904223) & MASK
    return (a + b) & MASK


# recursion


@cache
def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    return ackermann(m - 1, ackermann(m, n - 1) if n else 1)


def walk(value: list[int], node: int, size: int) -> tuple[int, int, int]:
    if node >= size:
        return 0, 0, 0
    left, right = walk(value, 2 * node + 1, size), walk(value, 2 * node + 2, size)
    return (3 * left[0] + 5 * right[0] + value[node], left[1] + right[1] + 1, max(left[2], right[2]) + 1)


# virtual_calls


def shapes(i: int, kind: int) -> int:
    side, width, height, steps = i % 13, i % 5, i % 11, i % 17
    areas = [side * side, width * height, steps * (steps + 1) // 2]
    total = 0
    for k in range(3):
        which, factor = (kind + k * k) % 3, k + 1
        scaled = (width + factor) * (height + factor) if which == 1 else areas[which] * factor
        total = total * 7 + scaled + areas[which]
    return signed(total)


def rotate(a: int, b: int) -> int:
    b &= 31
    return (a << b | a >> (32 - b)) & MASK


OPERATIONS = [lambda a, b: (a + b) & MASK, rotate, lambda a, b: pow(a, b & 15, 1 << 32)]


def twice(f, a: int, b: int) -> int:
    first = f(a, b)
    return (f(first, b) + 31 * first + a) & MASK


def pointers(i: int, kind: int) -> int:
    selected = OPERATIONS[0 if kind > 4 else 2 if kind > 1 else 1]
    return twice(OPERATIONS[kind % 3], i, kind) ^ twice(selected, kind, i)


# linked_main


def linked(i: int) -> int:
    a, b = 3 * i + 1, (2, 3, 5, 7, 11, 13, 17, 19)[i % 8]
    return a * b + (a ^ 0x55) + sum(map(int, str(i)))


# texture


def texel(mode: str, i: int, size: int) -> Optional[int]:
    """Texel number after the address mode; None is outside."""
    if mode == "border":
        return i if 0 <= i < size else None
    if mode == "clamp":
        return min(max(i, 0), size - 1)
    if mode == "wrap":
        return i % size
    i %= 2 * size
    return i if i < size else 2 * size - 1 - i


Tap = tuple[Optional[int], Fraction]


def linear(mode: str, x: Fraction, size: int) -> list[Tap]:
    """The two texels of a dimension with weights in 1/256."""
    x -= Fraction(1, 2)
    low = floor(x)
    weight = Fraction(floor((x - low) * 256 + Fraction(1, 2)), 256)
    return [(texel(mode, low, size), 1 - weight), (texel(mode, low + 1, size), weight)]


def filtered(value: Callable[..., Fraction], *taps: list[Tap]) -> Fraction:
    total = Fraction(0)
    for corner in product(*taps):
        if any(index is None for index, _ in corner):
            continue
        weight = Fraction(1)
        for _, w in corner:
            weight *= w
        total += weight * value(*(index for index, _ in corner))
    return total


def image(pixels: list[int], width: int, height: int) -> Iterable[Fraction]:
    """Ten by five pixels of four bytes in rows of 48 bytes."""
    for y, x in product(range(height), range(width)):
        u, v = (Fraction(3 * k, n) - 1 for k, n in ((x, width), (y, height)))
        columns, rows = linear("mirror", u * 10, 10), linear("wrap", v * 5, 5)
        for c in range(4):
            yield filtered(lambda i, j: Fraction(pixels[48 * j + 4 * i + c], 255), columns, rows)


def volume(cells: list[Fraction], x: Fraction, y: Fraction, z: Fraction) -> Fraction:
    taps = [linear(mode, p, size) for mode, p, size in (("border", x, 5), ("clamp", y, 4), ("border", z, 3))]
    return filtered(lambda i, j, k: cells[(k * 4 + j) * 5 + i], *taps)


def layer(pairs: list[int], i: int) -> int:
    mode, layers = ("clamp", 4) if i % 2 else ("border", 5)
    x = texel(mode, floor(Fraction(i % 7) - Fraction(5, 4)), 4)
    y = texel(mode, floor(Fraction(i % 5) - Fraction(1, 2)), 3)
    if x is None or y is None:
        return 0
    at = 2 * ((min(i % 6, layers - 1) * 3 + y) * 4 + x)
    return signed(pairs[at] * 65536 + (pairs[at + 1] & 0xFFFF))


def textures() -> None:
    n = 700
    index = [i * 7919 % 521 - 10 for i in range(n)]
    write("texture_index", "i4", index)
    write("texture_from_table", "f4", (-7.5 + 0.25 * k if 0 <= k < 500 else 0 for k in index))
    pixels = [k * k * 31 % 256 for k in range(4 * 12 * 5)]
    write("texture_pixels", "u1", pixels)
    write("texture_from_image", "f4", map(float, image(pixels, 64, 48)))
    cells = [Fraction(k * k * 37 % 1009 - 500, 16) for k in range(60)]
    write("texture_cells", "f4", map(float, cells))
    position = [Fraction(k * 7919 % 4001, 512) - 1 for k in range(3 * n)]
    write("texture_position", "f4", map(float, position))
    write("texture_from_volume", "f4", (float(volume(cells, *position[3 * i:3 * i + 3])) for i in range(n)))
    pairs = [k * k * 4099 % 65536 - 32768 for k in range(2 * 4 * 3 * 5)]
    write("texture_pairs", "i2", pairs)
    write("texture_from_layers", "i4", (layer(pairs, i) for i in range(n)))


def texture_references() -> None:
    n = 300
    write("texture_numbers", "u4", (4000000000 + 11 * k & MASK if 0 <= k < 600 else 0
                                    for k in (3 * i - 5 for i in range(n))))
    picture = [Fraction(k * k * 13 % 101 - 50, 8) for k in range(54)]
    write("texture_picture", "f2", map(float, picture))
    values = []
    for i in range(n):
        columns, rows = linear("clamp", Fraction(3 * i, 8) - 2, 9), linear("clamp", Fraction(i, 16) - 1, 6)
        values.append(filtered(lambda x, y: picture[9 * y + x], columns, rows))
        entry = -128 + 25 * texel("wrap", floor((Fraction(i, 64) - 1) * 11), 11)
        values.append(max(Fraction(entry, 127), Fraction(-1)))
    write("texture_values", "f4", map(float, values))


# wmma


def exponent(v: Fraction, lowest: int) -> int:
    """Of a number in a format with this lowest exponent."""
    e = v.numerator.bit_length() - v.denominator.bit_length()
    if abs(v) < Fraction(2) ** e:
        e -= 1
    return max(e, lowest)


def cut(v: Fraction, unit: int) -> Fraction:
    """Towards zero, to a multiple of 2^unit."""
    scale = Fraction(2) ** unit
    return int(v / scale) * scale


def tensor_sum(a: list[Fraction], b: list[Fraction], c: Fraction, block: int, bits: int) -> Fraction:
    """`block` products and the sum so far, each cut off `bits` below the largest, their sum cut off to f32: the tensor
    cores in "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores"."""
    for k in range(0, len(a), block):
        factors = zip(a[k:k + block], b[k:k + block])
        terms = [(x * y, exponent(x, -14) + exponent(y, -14)) for x, y in factors if x and y]
        terms += [(c, exponent(c, -126))] if c else []
        if not terms:
            continue
        unit = max(e for _, e in terms) - bits
        total = sum((cut(v, unit) for v, _ in terms), Fraction(0))
        c = cut(total, exponent(total, -126) - 23) if total else total
    return c


def matrices() -> None:
    rows, columns, inner = 48, 32, 64

    def halves(count: int, seed: int) -> list[Fraction]:
        """Eleven bits and exponents apart from each other; some zeros."""
        values = (k * k * seed + 977 * k for k in range(count))
        return [Fraction(v * 7919 % 4095 - 2047, 2 ** (v // 3 % 13)) * (v % 11 > 0) / 16 for v in values]

    a, b = halves(rows * inner, 31), halves(inner * columns, 57)
    c = [Fraction(k * k * 104729 % 33554431 - 16777215, 2 ** (10 + k % 9)) for k in range(rows * columns)]
    c = [cut(v, exponent(v, -126) - 23) for v in c]
    write("wmma_a", "f2", map(float, a))
    write("wmma_b", "f2", map(float, b))
    write("wmma_c", "f4", map(float, c))
    for name, block, bits in ("wmma_sums", 8, 24), ("wmma_sums.sm_90", 16, 25):
        sums = (tensor_sum(a[i * inner:(i + 1) * inner], b[j * inner:(j + 1) * inner], c[i * columns + j], block, bits)
                for i, j in product(range(rows), range(columns)))
        write(name, "f4", (float(max(v, Fraction(0))) for v in sums))
    left, right = ([k * k * 7 % 251 + k % 5 for k in range(64 * n)] for n in (inner, columns))
    write("wmma_left", "u1", left)
    write("wmma_right", "u1", right)
    write("wmma_counts", "i4", (sum(left[i * inner + k] * right[k * columns + j] for k in range(inner))
                                for j, i in product(range(columns), range(64))))


def main() -> None:
    textures()
    matrices()
    texture_references()
    n, steps = 1000, 20
    programs = [i * 2654435761 & MASK for i in range(n)]
    write("switch_program", "u4", programs)
    write("switch_table", "u4", (interpret(p, i, steps) for i, p in enumerate(programs)))
    n = 300
    write("recursion_ackermann", "u4", (ackermann(i % 3, i % 7) for i in range(n)))
    data = [signed(1000003 * k * k % 65521 - 30000) for k in range(16 * n)]
    write("recursion_data", "i4", data)
    write("recursion_sorted", "i4", (v for i in range(n) for v in sorted(data[16 * i:16 * i + 16])))
    value = [7 + 1000 * k for k in range(20)]
    trees = [walk(value, 0, i % 20) for i in range(n)]
    write("recursion_sum", "u8", (t[0] for t in trees))
    write("recursion_shape", "u4", (t[1] << 16 | t[2] for t in trees))
    n = 500
    kinds = [k * k % 7 for k in range(n)]
    write("virtual_kinds", "i4", kinds)
    write("virtual_shapes", "i4", (shapes(i, kinds[i]) for i in range(n)))
    results = [linked(i) for i in range(n)]
    write("linked_results", "u4", results)
    write("linked_total", "u4", [1000 + sum(r & 1 for r in results)])
    write("virtual_pointers", "u4", (pointers(i, kinds[i]) for i in range(n)))


if __name__ == "__main__":
    main()
