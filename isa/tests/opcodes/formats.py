"""Number formats and exact float operations on raw bits, from Python's integers and fractions alone."""
import math
from fractions import Fraction


def bits_of(t):
    width, _, count = t.lstrip("bfsu").partition("x")
    return int(width) * int(count or 1)


def to_signed(v, n):
    v &= (1 << n) - 1
    return v - (1 << n) if v >> (n - 1) else v


def decode_int(t, raw):
    n = bits_of(t)
    return to_signed(raw, n) if t[0] == "s" else raw & ((1 << n) - 1)


FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0xFFF8000000000000}


class Float:
    """A decoded float: kind 'nan' | 'inf' | 'num', sign bit, exact value."""

    def __init__(self, kind, sign=0, value=Fraction(0)):
        self.kind, self.sign, self.value = kind, sign, value


def decode(t, raw):
    e_bits, m_bits = FORMATS[t]
    sign = raw >> (e_bits + m_bits) & 1
    e = raw >> m_bits & ((1 << e_bits) - 1)
    m = raw & ((1 << m_bits) - 1)
    bias = (1 << (e_bits - 1)) - 1
    if e == (1 << e_bits) - 1:
        return Float("nan" if m else "inf", sign)
    value = Fraction(m, 1 << m_bits) + (1 if e else 0)
    value *= Fraction(2) ** ((e if e else 1) - bias)
    return Float("num", sign, -value if sign else value)


def round_int(x, mode):
    """Fraction to integer."""
    low = math.floor(x)
    if mode == "rm" or x == low:
        return low
    if mode == "rp":
        return low + 1
    if mode == "rz":
        return low if x > 0 else low + 1
    twice = 2 * (x - low)
    if twice != 1:
        return low if twice < 1 else low + 1
    return low if low % 2 == 0 else low + 1


def encode(t, x, mode="rn", zero_sign=0):
    """Exact fraction to the bits of the rounded value."""
    e_bits, m_bits = FORMATS[t]
    bias = (1 << (e_bits - 1)) - 1
    if x == 0:
        return zero_sign << (e_bits + m_bits)
    sign, mag = (1, -x) if x < 0 else (0, x)
    exp = mag.numerator.bit_length() - mag.denominator.bit_length()
    if Fraction(2) ** exp > mag:
        exp -= 1
    exp = max(exp, 1 - bias)
    scaled = mag / Fraction(2) ** (exp - m_bits)
    directed = {"rm": "rp" if sign else "rm", "rp": "rm" if sign else "rp"}.get(mode, mode)
    m = round_int(scaled, directed)
    if m >> (m_bits + 1):
        m >>= 1
        exp += 1
    if exp > bias:
        to_inf = directed in ("rn", "rp")
        top = ((1 << e_bits) - 1) << m_bits
        return sign << (e_bits + m_bits) | (top if to_inf else top - 1)
    field = m + ((exp + bias - 1) << m_bits) if m >> m_bits else m
    return sign << (e_bits + m_bits) | field


def inf(t, sign):
    e_bits, m_bits = FORMATS[t]
    return sign << (e_bits + m_bits) | ((1 << e_bits) - 1) << m_bits


def flush(t, raw):
    e_bits, m_bits = FORMATS[t]
    return raw & (1 << (e_bits + m_bits)) if not raw >> m_bits & ((1 << e_bits) - 1) else raw


def mask(t, v):
    return v & ((1 << bits_of(t)) - 1)


def nan_of(t, *operands):
    """The NaN that arithmetic gives: of f64 the first operand that is one, made quiet; else one for all results."""
    if t == "f64":
        for raw in operands:
            if decode(t, raw).kind == "nan":
                return raw | 1 << 51
    return NAN[t]


# --- exact float operations on raw bits ---
def add_raw(t, a, b, mode):
    x, y = decode(t, a), decode(t, b)
    if x.kind == "nan" or y.kind == "nan" or (x.kind == y.kind == "inf" and x.sign != y.sign):
        return nan_of(t, b, a)
    if x.kind == "inf":
        return a
    if y.kind == "inf":
        return b
    s = x.value + y.value
    zero = x.sign if x.sign == y.sign else (1 if mode == "rm" else 0)
    return encode(t, s, mode, zero)


def sub_raw(t, a, b, mode):
    """A NaN keeps its sign."""
    if decode(t, b).kind == "nan":
        return nan_of(t, b)
    return add_raw(t, a, b ^ 1 << (bits_of(t) - 1), mode)


def mul_value(x, y):
    """Product as (kind, sign, value)."""
    sign = x.sign ^ y.sign
    if x.kind == "nan" or y.kind == "nan":
        return Float("nan")
    if x.kind == "inf" or y.kind == "inf":
        other = y if x.kind == "inf" else x
        return Float("nan") if other.kind == "num" and other.value == 0 else Float("inf", sign)
    return Float("num", sign, x.value * y.value)


def mul_raw(t, a, b, mode):
    p = mul_value(decode(t, a), decode(t, b))
    return nan_of(t, b, a) if p.kind == "nan" else inf(t, p.sign) if p.kind == "inf" else encode(t, p.value, mode, p.sign)


def fma_raw(t, a, b, c, mode):
    p, z = mul_value(decode(t, a), decode(t, b)), decode(t, c)
    if p.kind == "nan" or z.kind == "nan" or (p.kind == z.kind == "inf" and p.sign != z.sign):
        return nan_of(t, b, c, a)
    if p.kind == "inf":
        return inf(t, p.sign)
    if z.kind == "inf":
        return c
    zero = p.sign if p.sign == z.sign else (1 if mode == "rm" else 0)
    return encode(t, p.value + z.value, mode, zero)


def div_raw(t, a, b, mode):
    x, y = decode(t, a), decode(t, b)
    sign = x.sign ^ y.sign
    if x.kind == "nan" or y.kind == "nan" or (x.kind == y.kind == "inf"):
        return nan_of(t, a, b)
    if y.kind == "inf":
        return encode(t, Fraction(0), mode, sign)
    if x.kind == "inf":
        return inf(t, sign)
    if y.value == 0:
        return NAN[t] if x.value == 0 else inf(t, sign)
    return encode(t, x.value / y.value, mode, sign)


def sqrt_raw(t, a, mode):
    x = decode(t, a)
    if x.kind == "nan" or (x.sign and not (x.kind == "num" and x.value == 0)):
        return nan_of(t, a)
    if x.kind == "inf" or x.value == 0:
        return a
    # An integer square root with 200 spare bits, plus a sticky bit, rounds like the real one.
    scale = 800
    n = x.value * Fraction(2) ** (2 * scale)
    whole = n.numerator // n.denominator
    root = math.isqrt(whole)
    value = Fraction(root, 1)
    if root * root != n:
        value += Fraction(1, 4)
    return encode(t, value / Fraction(2) ** scale, mode)


def legacy_mad(a, b, c):
    a, b, c = (flush("f32", v) for v in (a, b, c))
    if decode("f32", c).kind == "num" and decode("f32", c).value == 0:
        return flush("f32", add_raw("f32", flush("f32", mul_raw("f32", a, b, "rn")), c, "rn"))
    p, z = mul_value(decode("f32", a), decode("f32", b)), decode("f32", c)
    if p.kind != "num" or z.kind != "num" or p.value == 0:
        return flush("f32", fma_raw("f32", a, b, c, "rn"))
    mag = abs(p.value)
    exp = mag.numerator.bit_length() - mag.denominator.bit_length()
    if Fraction(2) ** exp > mag:
        exp -= 1
    unit = Fraction(2) ** (exp - 23)
    cut = math.floor(mag / unit) * unit * (-1 if p.value < 0 else 1)
    return flush("f32", encode("f32", cut + z.value, "rn", 0))


def minmax_raw(t, a, b, want_max):
    x, y = decode(t, a), decode(t, b)
    if x.kind == "nan":
        return nan_of(t, b) if y.kind == "nan" else b
    if y.kind == "nan":
        return a
    key = lambda v: ((-math.inf if v.sign else math.inf) if v.kind == "inf" else v.value, -v.sign)
    return (a if key(x) >= key(y) else b) if want_max else (a if key(x) <= key(y) else b)


def saturate(t, raw):
    x = decode(t, raw)
    if x.kind == "nan" or x.sign:
        return 0
    one = encode(t, Fraction(1))
    return one if x.kind == "inf" or x.value > 1 else raw
