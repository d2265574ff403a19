"""What the modules of expected.py share: corpus.h's functions in Python, integers of a width, the files."""

import struct
from pathlib import Path
from typing import Iterable

from number_formats import half_bits

FOLDER = Path(__file__).resolve().parent
M32, M64 = (1 << 32) - 1, (1 << 64) - 1
CODES = {"i1": "b", "u2": "H", "u4": "I", "i4": "i", "u8": "Q", "i8": "q", "f2": "H", "f4": "f", "f8": "d"}


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


def reverse(v: int, bits: int) -> int:
    return int(f"{v & ((1 << bits) - 1):0{bits}b}"[::-1], 2)


def popcount(v: int) -> int:
    return bin(v).count("1")


def ffs(v: int) -> int:
    return (v & -v).bit_length()
