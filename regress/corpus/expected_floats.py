"""Single and double precision: conversions, functions."""

import math
import struct
from decimal import Decimal, getcontext
from fractions import Fraction

from corpus import M32, M64, mix64, signed, unit, write
from number_formats import DOUBLE, SINGLE, rounded, single, to_integer, word

getcontext().prec = 50


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
