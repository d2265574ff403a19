"""Floating-point formats: rounding, bit patterns, conversion to integers."""

import math
import struct
from fractions import Fraction
from typing import Callable

# (bits of precision, smallest exponent, largest exponent)
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
