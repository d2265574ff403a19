#!/usr/bin/env python3
"""Writes the expected results (NAME.npy) of the workloads of this folder, computed with Python's integers."""

import struct
from functools import cache
from pathlib import Path
from typing import Iterable

FOLDER = Path(__file__).resolve().parent
MASK = 0xFFFFFFFF


def write(name: str, kind: str, values: Iterable[int]) -> None:
    """One dimension, little endian; `kind` is numpy's, such as u4."""
    values = list(values)
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    code = {"u4": "I", "i4": "i", "u8": "Q"}[kind]
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


def main() -> None:
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
