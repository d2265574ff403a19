#!/usr/bin/env python3
"""Writes one .ptx per instruction form into this folder: a kernel and its `// vector:` lines (inputs -> result, raw bits).

The expected values are computed here with Python's unbounded integers and exact fractions, independently of the
simulator's C++. Run it again after changing it; its output is checked in. `// tolerance: x` asks for |result - expected|
<= x * max(|expected|, floor) instead of equal bits.
"""
import functools
import math
import random
import struct
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).parent
RNG = random.Random(20)


# --- number formats ---
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


# --- exact float operations on raw bits ---
def add_raw(t, a, b, mode):
    x, y = decode(t, a), decode(t, b)
    if x.kind == "nan" or y.kind == "nan" or (x.kind == y.kind == "inf" and x.sign != y.sign):
        return NAN[t]
    if x.kind == "inf":
        return a
    if y.kind == "inf":
        return b
    s = x.value + y.value
    zero = x.sign if x.sign == y.sign else (1 if mode == "rm" else 0)
    return encode(t, s, mode, zero)


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
    return NAN[t] if p.kind == "nan" else inf(t, p.sign) if p.kind == "inf" else encode(t, p.value, mode, p.sign)


def fma_raw(t, a, b, c, mode):
    p, z = mul_value(decode(t, a), decode(t, b)), decode(t, c)
    if p.kind == "nan" or z.kind == "nan" or (p.kind == z.kind == "inf" and p.sign != z.sign):
        return NAN[t]
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
        return NAN[t]
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
        return NAN[t]
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
        return NAN[t] if y.kind == "nan" else b
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


# --- operand values ---
SPECIAL = {
    "f32": [0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00001, 0xFFC12345, 0x00000001,
            0x807FFFFF, 0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F000000, 0x40490FDB, 0x4B000001, 0x3F7FFFFF],
    "f64": [0, 1 << 63, 0x3FF0000000000000, 0xBFF0000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000001,
            1, 0x800FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF, 0x400921FB54442D18, 0x41E0000000000000],
    "f16": [0, 0x8000, 0x3C00, 0x7C00, 0xFC00, 0x7E00, 1, 0x83FF, 0x0400, 0x7BFF],
    "bf16": [0, 0x8000, 0x3F80, 0x7F80, 0xFF80, 0x7FC0, 1, 0x807F, 0x0080, 0x7F7F],
}


def values(t, count):
    n = bits_of(t)
    if t in FORMATS:
        pool = list(SPECIAL[t])
        e_bits, m_bits = FORMATS[t]
        bias = (1 << (e_bits - 1)) - 1
        while len(pool) < count:
            e = RNG.randint(bias - 30, bias + 35) if t != "f16" else RNG.randint(0, 30)
            pool.append(RNG.getrandbits(1) << (n - 1) | e << m_bits | RNG.getrandbits(m_bits))
        return pool
    pool = [0, 1, 2, (1 << n) - 1, 1 << (n - 1), (1 << (n - 1)) - 1, (1 << n) - 2, 31 % (1 << n), 32 % (1 << n), 33 % (1 << n),
            0xAA55AA55AA55AA55 & ((1 << n) - 1)]
    while len(pool) < count:
        pool.append(RNG.getrandbits(n) >> RNG.choice([0, 0, n // 2, n - 7]))
    return pool


SHIFTS = [0, 1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 0x80000000, 0xFFFFFFFF]


def operands(types, count=48):
    """Rows of operands: special values against each other, then random ones. 'n' is a shift amount."""
    pools = [SHIFTS + [RNG.getrandbits(6) for _ in range(count)] if t == "n" else values(t, count) for t in types]
    rows = []
    for i in range(count):
        rows.append([p[i % len(p)] if k == 0 else RNG.choice(p if RNG.random() < 0.5 else p[:12]) for k, p in enumerate(pools)])
    return rows


# --- files ---
def reg_type(t):
    return "b32" if t in ("n", "pred") else "b%d" % max(bits_of(t), 16)


def write(form, sources, result, fn, target="sm_90", statement=None, rows=None, tolerance=None, floor=0):
    """One file. `statement` is the PTX with %d, %s0.. and %p as the predicate destination."""
    n = len(sources)
    body = []
    for i, t in enumerate(sources):
        width = 32 if t == "n" else bits_of(t)
        body.append(f"  ld.global.b{width} %s{i}, [%a{i}];")
    srcs = ", ".join(f"%s{i}" for i in range(n))
    if statement is None:
        statement = f"{form} %d, {srcs};" if result != "pred" else f"{form} %p, {srcs};"
    body.append("  " + statement)
    if result == "pred":
        body.append("  selp.b32 %d, 1, 0, %p;")
    out_bits = 32 if result == "pred" else bits_of(result)
    body.append(f"  st.global.b{out_bits} [%o], %d;")
    rows = rows if rows is not None else operands(sources)
    lines = [f"// form: {form}", f"// sources: {' '.join(sources)} result: {result}"]
    if tolerance is not None:
        lines.append(f"// tolerance: {tolerance!r} floor: {floor!r}")
    for row in rows:
        expected = fn(*row)
        if expected is None:
            continue
        lines.append("// vector: " + " ".join(f"{v:x}" for v in row) + f" -> {expected:x}")
    regs = [f"  .reg .{reg_type(t)} %s{i};" for i, t in enumerate(sources)]
    ptx = f""".version 8.0
.target {target}
.address_size 64
.visible .entry test(.param .u64 in, .param .u64 out)
{{
  .reg .b64 %a<4>, %i, %o, %x;
  .reg .b32 %t;
  .reg .pred %p, %q;
  .reg .{reg_type(result)} %d;
""" + "\n".join(regs) + """
  mov.u32 %t, %tid.x;
  mul.wide.u32 %x, %t, 8;
  ld.param.u64 %i, [in];
  ld.param.u64 %o, [out];
  add.s64 %o, %o, %x;
  add.s64 %a0, %i, %x;
  add.s64 %a1, %a0, 65536;
  add.s64 %a2, %a1, 65536;
  add.s64 %a3, %a2, 65536;
""" + "\n".join(body) + "\n  ret;\n}\n"
    version = {"sm_10": "3.0", "sm_13": "3.0", "sm_100": "8.8"}.get(target, "8.0")
    if version == "8.0" and any(new in statement for new in ("satfinite", "lop3.", ".v2.", "b128")):
        version = "8.3"
    ptx = ptx.replace(".version 8.0", f".version {version}")
    suffix = "" if target == "sm_90" else "." + target
    path = HERE / (form.replace("::", "_") + suffix + ".ptx")
    assert not path.exists(), f"{path} is written twice"
    path.write_text("\n".join(lines) + "\n" + ptx)


def mask(t, v):
    return v & ((1 << bits_of(t)) - 1)


def trunc_div(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def integers():
    for t in ["u16", "s16", "u32", "s32", "u64", "s64"]:
        n = bits_of(t)
        D = lambda v, t=t: decode_int(t, v)
        M = lambda v, t=t: mask(t, v)
        write(f"add.{t}", [t, t], t, lambda a, b: M(a + b))
        write(f"sub.{t}", [t, t], t, lambda a, b: M(a - b))
        write(f"mul.lo.{t}", [t, t], t, lambda a, b: M(a * b))
        write(f"mul.hi.{t}", [t, t], t, lambda a, b: M(D(a) * D(b) >> n))
        write(f"mad.lo.{t}", [t, t, t], t, lambda a, b, c: M(a * b + c))
        write(f"mad.hi.{t}", [t, t, t], t, lambda a, b, c: M((D(a) * D(b) >> n) + c))
        write(f"min.{t}", [t, t], t, lambda a, b: M(min(D(a), D(b))))
        write(f"max.{t}", [t, t], t, lambda a, b: M(max(D(a), D(b))))
        write(f"sad.{t}", [t, t, t], t, lambda a, b, c: M(c + abs(D(a) - D(b))))
        write(f"div.{t}", [t, t], t, lambda a, b: M(trunc_div(D(a), D(b)) if D(b) else -1))
        write(f"rem.{t}", [t, t], t, lambda a, b: M(D(a) - D(b) * trunc_div(D(a), D(b)) if D(b) else a))
        write(f"shr.{t}", [t, "n"], t, lambda a, s: M(D(a) >> min(s, 200)))
        if n < 64:
            w = t[0] + str(2 * n)
            write(f"mul.wide.{t}", [t, t], w, lambda a, b: mask(w, D(a) * D(b)))
            write(f"mad.wide.{t}", [t, t, w], w, lambda a, b, c: mask(w, D(a) * D(b) + c))
        if t[0] == "s":
            write(f"abs.{t}", [t], t, lambda a: M(abs(D(a))))
            write(f"neg.{t}", [t], t, lambda a: M(-a))
    low24 = {"u32": lambda v: v & 0xFFFFFF, "s32": lambda v: to_signed(v, 24)}
    for t in ["u32", "s32"]:
        L = low24[t]
        write(f"mul24.lo.{t}", [t, t], t, lambda a, b: mask(t, L(a) * L(b)))
        write(f"mul24.hi.{t}", [t, t], t, lambda a, b: mask(t, L(a) * L(b) >> 16))
        write(f"mad24.lo.{t}", [t, t, t], t, lambda a, b, c: mask(t, L(a) * L(b) + c))
    clamp = lambda v: mask("s32", max(-(2**31), min(2**31 - 1, v)))
    S = lambda v: to_signed(v, 32)
    write("add.sat.s32", ["s32", "s32"], "s32", lambda a, b: clamp(S(a) + S(b)))
    write("sub.sat.s32", ["s32", "s32"], "s32", lambda a, b: clamp(S(a) - S(b)))


def bit_operations():
    for t in ["b16", "b32", "b64"]:
        n = bits_of(t)
        M = lambda v, t=t: mask(t, v)
        write(f"and.{t}", [t, t], t, lambda a, b: a & b)
        write(f"or.{t}", [t, t], t, lambda a, b: a | b)
        write(f"xor.{t}", [t, t], t, lambda a, b: a ^ b)
        write(f"not.{t}", [t], t, lambda a: M(~a))
        write(f"cnot.{t}", [t], t, lambda a: int(a == 0))
        write(f"shl.{t}", [t, "n"], t, lambda a, s: M(a << min(s, 200)))
        write(f"mov.{t}", [t], t, lambda a: a)
    for t in ["b32", "b64"]:
        n = bits_of(t)
        write(f"popc.{t}", [t], "u32", lambda a: bin(a).count("1"))
        write(f"clz.{t}", [t], "u32", lambda a: n - a.bit_length())
        write(f"brev.{t}", [t], t, lambda a: int(f"{a:0{n}b}"[::-1], 2))

        def bfi(a, b, c, d, n=n):
            for i in range(d & 255):
                if (c & 255) + i < n:
                    b = b & ~(1 << ((c & 255) + i)) | (a >> i & 1) << ((c & 255) + i) if i < n else b
            return b
        write(f"bfi.{t}", [t, t, "n", "n"], t, bfi)
    for t in ["u32", "s32", "u64", "s64"]:
        n = bits_of(t)

        def bfind(a, n=n, t=t):
            v = a
            if t[0] == "s" and a >> (n - 1):
                v = mask(t, ~a)
            return v.bit_length() - 1 & 0xFFFFFFFF
        write(f"bfind.{t}", [t], "u32", bfind)

        def bfe(a, b, c, n=n, t=t):
            pos, length, r = b & 255, c & 255, 0
            sign = 0 if t[0] == "u" or length == 0 else a >> min(pos + length - 1, n - 1) & 1
            for i in range(n):
                r |= (a >> (pos + i) & 1 if i < length and pos + i < n else sign) << i
            return r
        write(f"bfe.{t}", [t, "n", "n"], t, bfe)

    def lop(a, b, c):
        return sum(((0xE8 >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1)) & 1) << i for i in range(32))
    write("lop3.b32", ["b32", "b32", "b32"], "b32", lop, statement="lop3.b32 %d, %s0, %s1, %s2, 0xE8;")

    def prmt(a, b, c):
        data, r = b << 32 | a, 0
        for i in range(4):
            s = c >> 4 * i & 15
            v = data >> 8 * (s & 7) & 255
            r |= (255 * (v >> 7) if s & 8 else v) << 8 * i
        return r
    write("prmt.b32", ["b32", "b32", "b32"], "b32", prmt)
    both = lambda a, b: b << 32 | a
    write("shf.l.clamp.b32", ["b32", "b32", "n"], "b32", lambda a, b, c: (both(a, b) << min(c, 32)) >> 32 & 0xFFFFFFFF)
    write("shf.r.clamp.b32", ["b32", "b32", "n"], "b32", lambda a, b, c: both(a, b) >> min(c, 32) & 0xFFFFFFFF)
    write("shf.l.wrap.b32", ["b32", "b32", "n"], "b32", lambda a, b, c: (both(a, b) << (c & 31)) >> 32 & 0xFFFFFFFF)
    write("shf.r.wrap.b32", ["b32", "b32", "n"], "b32", lambda a, b, c: both(a, b) >> (c & 31) & 0xFFFFFFFF)
    for t in ["b16", "b32", "b64", "s32", "u32", "f32", "f64"]:
        u = "b%d" % bits_of(t)
        write(f"selp.{t}", [u, u, "b32"], u, lambda a, b, c: a if c & 1 else b,
              statement=f"and.b32 %s2, %s2, 1; setp.ne.u32 %p, %s2, 0; selp.{t} %d, %s0, %s1, %p;")
    write("slct.u32.s32", ["b32", "b32", "s32"], "b32", lambda a, b, c: a if not c >> 31 else b)
    write("slct.b64.f32", ["b64", "b64", "f32"], "b64",
          lambda a, b, c: b if decode("f32", c).kind == "nan" or (c >> 31 and c != 0x80000000) else a)
    for t in ["u16", "u32", "s32", "s64", "u64", "f32", "f64"]:
        u = "b%d" % bits_of(t)
        write(f"mov.{t}", [u], u, lambda a: a)
    write("mov.b64.pack", ["b32", "b32"], "b64", lambda a, b: b << 32 | a, statement="mov.b64 %d, {%s0, %s1};")
    write("mov.b64.unpack", ["b64"], "b32", lambda a: (a >> 32) ^ (a & 0xFFFFFFFF),
          statement="{ .reg .b32 %lo, %hi; mov.b64 {%lo, %hi}, %s0; xor.b32 %d, %lo, %hi; }")
    write("mov.b32.pack", ["b16", "b16"], "b32", lambda a, b: b << 16 | a, statement="mov.b32 %d, {%s0, %s1};")
    write("add.cc.u32", ["u32", "u32", "u32"], "u32", lambda a, b, c: (a + b >> 32) + c & 0xFFFFFFFF,
          statement="add.cc.u32 %s1, %s0, %s1; addc.u32 %d, %s2, 0;")
    write("sub.cc.u32", ["u32", "u32", "u32"], "u32", lambda a, b, c: c - (a < b) & 0xFFFFFFFF,
          statement="sub.cc.u32 %s1, %s0, %s1; subc.u32 %d, %s2, 0;")
    for op, f in [("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)]:
        write(f"{op}.pred", ["b32", "b32"], "pred", lambda a, b, f=f: f(a & 1, b & 1),
              statement="and.b32 %s0, %s0, 1; and.b32 %s1, %s1, 1; setp.ne.u32 %p, %s0, 0; setp.ne.u32 %q, %s1, 0; "
                        f"{op}.pred %p, %p, %q;")
    write("not.pred", ["b32"], "pred", lambda a: int(a == 0), statement="setp.ne.u32 %q, %s0, 0; not.pred %p, %q;")
    write("mov.pred", ["b32"], "pred", lambda a: int(a != 0), statement="setp.ne.u32 %q, %s0, 0; mov.pred %p, %q;")


def floats():
    for t in ["f32", "f64"]:
        for mode in ["", "rn", "rz", "rm", "rp"]:
            for ftz in ["", "ftz"] if t == "f32" else [""]:
                m, F = mode or "rn", (lambda v: flush("f32", v)) if ftz else (lambda v: v)
                dots = "".join("." + x for x in [mode, ftz, t] if x)
                write(f"add{dots}", [t, t], t, lambda a, b: F(add_raw(t, F(a), F(b), m)))
                if mode in ("", "rz"):
                    write(f"sub{dots}", [t, t], t, lambda a, b: F(add_raw(t, F(a), F(b) ^ 1 << (bits_of(t) - 1), m)))
                write(f"mul{dots}", [t, t], t, lambda a, b: F(mul_raw(t, F(a), F(b), m)))
                if not mode:
                    continue
                write(f"fma{dots}", [t, t, t], t, lambda a, b, c: F(fma_raw(t, F(a), F(b), F(c), m)))
                write(f"div{dots}", [t, t], t, lambda a, b: F(div_raw(t, F(a), F(b), m)))
                write(f"rcp{dots}", [t], t, lambda a: F(div_raw(t, encode(t, Fraction(1)), F(a), m)))
                write(f"sqrt{dots}", [t], t, lambda a: F(sqrt_raw(t, F(a), m)))
        for ftz in ["", "ftz."] if t == "f32" else [""]:
            F = (lambda v: flush("f32", v)) if ftz else (lambda v: v)
            write(f"min.{ftz}{t}", [t, t], t, lambda a, b: minmax_raw(t, F(a), F(b), False))
            write(f"max.{ftz}{t}", [t, t], t, lambda a, b: minmax_raw(t, F(a), F(b), True))
            top = 1 << (bits_of(t) - 1)
            write(f"abs.{ftz}{t}", [t], t, lambda a: F(a) & (top - 1))
            write(f"neg.{ftz}{t}", [t], t, lambda a: F(a) ^ top)
        write(f"copysign.{t}", [t, t], t, lambda a, b: a & top | b & (top - 1))
    write("add.sat.f32", ["f32", "f32"], "f32", lambda a, b: saturate("f32", add_raw("f32", a, b, "rn")))
    write("mul.sat.f32", ["f32", "f32"], "f32", lambda a, b: saturate("f32", mul_raw("f32", a, b, "rn")))
    write("fma.rn.sat.f32", ["f32", "f32", "f32"], "f32", lambda a, b, c: saturate("f32", fma_raw("f32", a, b, c, "rn")))
    Z = lambda v: flush("f32", v)
    write("mad.f32", ["f32", "f32", "f32"], "f32", legacy_mad, target="sm_13")
    write("mad.rn.f64", ["f64", "f64", "f64"], "f64", lambda a, b, c: fma_raw("f64", a, b, c, "rn"))
    write("add.f32", ["f32", "f32"], "f32", lambda a, b: Z(add_raw("f32", Z(a), Z(b), "rn")), target="sm_13")
    write("mul.f32", ["f32", "f32"], "f32", lambda a, b: Z(mul_raw("f32", Z(a), Z(b), "rn")), target="sm_13")
    exact_tests = {"finite": lambda x, r: x.kind == "num", "infinite": lambda x, r: x.kind == "inf",
                   "number": lambda x, r: x.kind != "nan", "notanumber": lambda x, r: x.kind == "nan"}
    for name, f in exact_tests.items():
        write(f"testp.{name}.f32", ["f32"], "pred", lambda a: int(f(decode("f32", a), a)))


def as_double(raw):
    return struct.unpack("<f", struct.pack("<I", raw))[0]


def approximations():
    """Within the manual's error; special values exactly."""
    def near(fn):
        def f(*raw):
            v = fn(*[as_double(Z(r)) for r in raw])
            return None if v is None else Z(f32(v))
        return f

    def f32(v):
        if math.isnan(v):
            return NAN["f32"]
        if math.isinf(v):
            return inf("f32", v < 0)
        return encode("f32", Fraction(v), "rn", int(math.copysign(1, v) < 0))
    Z = lambda v: flush("f32", v)
    nan = math.nan
    rel = 2.0**-22
    sane = [[v] for v in values("f32", 64)]
    write("rcp.approx.ftz.f32", ["f32"], "f32", near(lambda x: math.copysign(math.inf, x) if x == 0 else 1 / x), rows=sane,
          tolerance=rel)
    write("rsqrt.approx.ftz.f32", ["f32"], "f32",
          near(lambda x: math.copysign(math.inf, x) if x == 0 else nan if x < 0 else 1 / math.sqrt(x)), rows=sane, tolerance=rel)
    write("sqrt.approx.ftz.f32", ["f32"], "f32", near(lambda x: x if x == 0 else nan if x < 0 else math.sqrt(x)), rows=sane,
          tolerance=rel)
    write("lg2.approx.ftz.f32", ["f32"], "f32",
          near(lambda x: -math.inf if x == 0 else nan if x < 0 else x if x == math.inf else math.log2(x)), rows=sane,
          tolerance=rel, floor=1.0)
    small = [[encode("f32", Fraction(v))] for v in [0.5, -0.5, 3.25, -7.75, 100.1, -100.3, 127.9, 128.0, -126.0, 1e-30, 140.0]]
    write("ex2.approx.ftz.f32", ["f32"], "f32", near(lambda x: math.inf if x >= 128 else 0.0 if x < -126 else 2.0**x),
          rows=small + [[0], [1 << 31], [inf("f32", 0)], [inf("f32", 1)], [0x7FC00000]], tolerance=rel)
    angles = [[encode("f32", Fraction(v))] for v in [0.1, 0.78, 0.79, 1.57, 1.6, 2.4, 3.1, 3.2, 4.7, 4.8, 6.28, -0.3, -2.0, -5.5]]
    edge = [[0], [1 << 31], [inf("f32", 0)], [inf("f32", 1)], [0x7FC00000]]
    bad = lambda x: math.isinf(x) or math.isnan(x)
    write("sin.approx.ftz.f32", ["f32"], "f32", near(lambda x: nan if bad(x) else math.sin(x)), rows=angles + edge,
          tolerance=2.0**-20.9, floor=1.0)
    write("cos.approx.ftz.f32", ["f32"], "f32", near(lambda x: nan if bad(x) else math.cos(x)), rows=angles + edge,
          tolerance=2.0**-20.9, floor=1.0)
    write("tanh.approx.f32", ["f32"], "f32", near(lambda x: math.tanh(x)), rows=angles + edge[:4], tolerance=2.0**-11)

    def div(a, b):
        if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or (a == 0 and b == 0):
            return nan
        if b == 0:
            return math.copysign(math.inf, a) * math.copysign(1, b)
        q = a / b
        return math.inf if q > 3.4028235677973366e38 else -math.inf if q < -3.4028235677973366e38 else q
    ok = [r for r in operands(["f32", "f32"]) if not 2.0**126 < abs(as_double(r[1])) < math.inf]
    write("div.approx.ftz.f32", ["f32", "f32"], "f32", near(div), rows=ok, tolerance=rel)
    write("div.full.ftz.f32", ["f32", "f32"], "f32", near(div), rows=ok, tolerance=rel)
    write("div.f32", ["f32", "f32"], "f32", near(div), rows=ok, tolerance=rel, target="sm_13")
    big = [[0x3F800000, 0x7F000001], [0x7F800000, 0x7F000001], [0xBF800000, 0x7F400000]]
    write("div.approx.f32", ["f32", "f32"], "f32",
          lambda a, b: NAN["f32"] if a == 0x7F800000 else (a ^ b) & 1 << 31, rows=big)


def comparisons():
    ordered = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
               "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
    for t in ["s16", "u16", "s32", "u32", "s64", "u64"]:
        for name, f in ordered.items():
            write(f"setp.{name}.{t}", [t, t], "pred", lambda a, b: int(f(decode_int(t, a), decode_int(t, b))))
            if bits_of(t) == 32:
                write(f"set.{name}.u32.{t}", [t, t], "u32",
                      lambda a, b: 0xFFFFFFFF * int(f(decode_int(t, a), decode_int(t, b))))
    for name, f in [("lo", "lt"), ("ls", "le"), ("hi", "gt"), ("hs", "ge")]:
        write(f"setp.{name}.u32", ["u32", "u32"], "pred", lambda a, b: int(ordered[f](a, b)))
    key = lambda x: (-math.inf if x.sign else math.inf) if x.kind == "inf" else x.value
    for t in ["f32", "f64"]:
        for name in list(ordered) + [k + "u" for k in ordered] + ["num", "nan"]:
            for ftz in ["", "ftz."] if t == "f32" else [""]:
                def compare(a, b):
                    if ftz:
                        a, b = flush(t, a), flush(t, b)
                    x, y = decode(t, a), decode(t, b)
                    unordered = x.kind == "nan" or y.kind == "nan"
                    if name in ("num", "nan"):
                        return int(unordered == (name == "nan"))
                    if unordered:
                        return int(len(name) == 3)
                    return int(ordered[name[:2]](key(x), key(y)))
                write(f"setp.{name}.{ftz}{t}", [t, t], "pred", compare)
    write("set.lt.f32.f32", ["f32", "f32"], "f32",
          lambda a, b: 0x3F800000 if "nan" not in (decode("f32", a).kind, decode("f32", b).kind)
          and key(decode("f32", a)) < key(decode("f32", b)) else 0)
    write("setp.lt.and.s32", ["s32", "s32", "s32"], "pred",
          lambda a, b, c: int(decode_int("s32", a) < decode_int("s32", b) and c == 0),
          statement="setp.ne.s32 %q, %s2, 0; setp.lt.and.s32 %p|%q, %s0, %s1, !%q;")
    write("setp.second.s32", ["s32", "s32", "s32"], "pred",
          lambda a, b, c: int(not decode_int("s32", a) < decode_int("s32", b) or c != 0),
          statement="setp.ne.s32 %q, %s2, 0; setp.lt.or.s32 %q|%p, %s0, %s1, %q;")


def conversions():
    ints = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]
    low = lambda t: -(1 << bits_of(t) - 1) if t[0] == "s" else 0
    high = lambda t: (1 << bits_of(t) - (t[0] == "s")) - 1
    clamp = lambda t, v: max(low(t), min(high(t), v))
    for d in ints:
        for s in ints:
            if d != s:
                write(f"cvt.{d}.{s}", [s], d, lambda a: mask(d, decode_int(s, a)))
                write(f"cvt.sat.{d}.{s}", [s], d, lambda a: mask(d, clamp(d, decode_int(s, a))))
        for f in ["f32", "f64"]:
            for mode in ["rn", "rz", "rm", "rp"]:
                write(f"cvt.{mode}.{f}.{d}", [d], f, lambda a: encode(f, Fraction(decode_int(d, a)), mode))

                def to_int(a):
                    x = decode(f, a)
                    if x.kind == "nan":
                        return 0
                    if x.kind == "inf":
                        return mask(d, low(d) if x.sign else high(d))
                    return mask(d, clamp(d, round_int(x.value, mode)))
                write(f"cvt.{mode}i.{d}.{f}", [f], d, to_int)
    for f in ["f32", "f64"]:
        for mode in ["rn", "rz", "rm", "rp"]:
            def integral(a):
                x = decode(f, a)
                if x.kind != "num":
                    return NAN[f] if x.kind == "nan" else a
                return encode(f, Fraction(round_int(x.value, mode)), "rn", x.sign)
            write(f"cvt.{mode}i.{f}.{f}", [f], f, integral)

    def convert(d, s, mode):
        def f(a):
            x = decode(s, a)
            return NAN[d] if x.kind == "nan" else inf(d, x.sign) if x.kind == "inf" else encode(d, x.value, mode, x.sign)
        return f
    write("cvt.f64.f32", ["f32"], "f64", convert("f64", "f32", "rn"))
    for mode in ["rn", "rz", "rm", "rp"]:
        write(f"cvt.{mode}.f32.f64", ["f64"], "f32", convert("f32", "f64", mode))
    write("cvt.rn.ftz.f32.f64", ["f64"], "f32", lambda a: flush("f32", convert("f32", "f64", "rn")(a)))
    write("cvt.sat.f32.f32", ["f32"], "f32", lambda a: saturate("f32", a))
    write("cvt.f32.f16", ["f16"], "f32", convert("f32", "f16", "rn"))
    write("cvt.rn.f16.f32", ["f32"], "f16", convert("f16", "f32", "rn"))
    write("cvt.rz.f16.f32", ["f32"], "f16", convert("f16", "f32", "rz"))
    write("cvt.s64.s32.wide", ["s32"], "s64", lambda a: mask("s64", to_signed(a, 32)), statement="cvt.s64.s32 %d, %s0;")
    write("cvt.u8.u32.wide", ["u32"], "u32", lambda a: a & 255, statement="cvt.u8.u32 %d, %s0;")
    write("cvt.s8.s32.wide", ["s32"], "s64", lambda a: mask("s64", to_signed(a, 8)), statement="cvt.s8.s32 %d, %s0;")


def integer_specials():
    """dp4a, dp2a, fns, bmsk, szext, carry chains, isspacep."""
    W = 0xFFFFFFFF

    def parts(t, raw, width):
        return [decode_int(t[0] + str(width), raw >> i & (1 << width) - 1) for i in range(0, 32, width)]
    for ta in ["u32", "s32"]:
        for tb in ["u32", "s32"]:
            write(f"dp4a.{ta}.{tb}", [ta, tb, "u32"], "u32",
                  lambda a, b, c: c + sum(x * y for x, y in zip(parts(ta, a, 8), parts(tb, b, 8))) & W)
            for half in ["lo", "hi"]:
                at = 0 if half == "lo" else 2
                write(f"dp2a.{half}.{ta}.{tb}", [ta, tb, "u32"], "u32",
                      lambda a, b, c: c + sum(x * y for x, y in zip(parts(ta, a, 16), parts(tb, b, 8)[at:])) & W)

    def fns(m, base, offset):
        step = to_signed(offset, 32)
        if step == 0:
            return base if m >> base & 1 else W
        order = range(base, 32) if step > 0 else range(base, -1, -1)
        found = [i for i in order if m >> i & 1]
        return found[abs(step) - 1] if abs(step) <= len(found) else W
    rows = [[RNG.getrandbits(32) & RNG.getrandbits(32), RNG.randrange(32), RNG.randint(-9, 9) & W] for _ in range(48)]
    rows += [[W, 0, 32], [W, 0, 33], [W, 31, -32 & W], [W, 31, -33 & W], [0, 5, 1], [W, 7, 1 << 31], [W, 7, (1 << 31) - 1]]
    write("fns.b32", ["b32", "u32", "s32"], "b32", fns, rows=rows)

    for mode in ["clamp", "wrap"]:
        def ones(position, width):
            if mode == "clamp":
                position, width = min(position, 32), min(width, 32)
            else:
                position, width = position % 32, width % 32
            return ((1 << width) - 1 << position) & W
        write(f"bmsk.{mode}.b32", ["n", "n"], "b32", ones)
        for t in ["u32", "s32"]:
            def extend(a, width):
                width = min(width, 32) if mode == "clamp" else width % 32
                low = a & (1 << width) - 1
                return mask("u32", to_signed(low, width)) if t == "s32" and width > 0 else low
            write(f"szext.{mode}.{t}", [t, "n"], t, extend)

    for t in ["u32", "u64"]:
        n = bits_of(t)
        full = (1 << n) - 1
        four = [t] * 4
        pair = lambda low, high: low + (high << n)
        write(f"addc.{t}", four, t, lambda a, b, c, d: pair(a, c) + pair(b, d) >> n & full,
              statement=f"add.cc.{t} %s0, %s0, %s1; addc.{t} %d, %s2, %s3;")
        write(f"addc.cc.{t}", four, t, lambda a, b, c, d: pair(a, c) + pair(b, d) >> 2 * n,
              statement=f"add.cc.{t} %s0, %s0, %s1; addc.cc.{t} %s1, %s2, %s3; addc.{t} %d, 0, 0;")
        write(f"subc.{t}", four, t, lambda a, b, c, d: pair(a, c) - pair(b, d) >> n & full,
              statement=f"sub.cc.{t} %s0, %s0, %s1; subc.{t} %d, %s2, %s3;")
        write(f"subc.cc.{t}", four, t, lambda a, b, c, d: full * (pair(a, c) < pair(b, d)),
              statement=f"sub.cc.{t} %s0, %s0, %s1; subc.cc.{t} %s1, %s2, %s3; subc.{t} %d, 0, 0;")
        # One flag for all: set by a carry, and by a subtraction that did not borrow (nvcc's 128-bit division).
        write(f"addc.{t}.after_sub", [t] * 3, t, lambda a, b, c: c + (a >= b) & full,
              statement=f"sub.cc.{t} %s0, %s0, %s1; addc.{t} %d, %s2, 0;")
        write(f"subc.{t}.after_add", [t] * 3, t, lambda a, b, c: c - 1 + (a + b >> n) & full,
              statement=f"add.cc.{t} %s0, %s0, %s1; subc.{t} %d, %s2, 0;")
    for t in ["u32", "s32"]:
        D = lambda v: decode_int(t, v)
        write(f"madc.hi.{t}", [t] * 4, t, lambda a, b, c, d: D(a) * D(b) + c + (d << 32) >> 32 & W,
              statement=f"mad.lo.cc.{t} %s2, %s0, %s1, %s2; madc.hi.{t} %d, %s0, %s1, %s3;")
        write(f"madc.lo.{t}", [t] * 4, t, lambda a, b, c, d: a * b + d + (a + c >> 32) & W,
              statement=f"add.cc.{t} %s2, %s0, %s2; madc.lo.{t} %d, %s0, %s1, %s3;")
        write(f"madc.hi.cc.{t}", [t] * 4, t,
              lambda a, b, c, d: ((D(a) * D(b) >> 32 & W) + d + ((a * b & W) + c >> 32)) >> 32,
              statement=f"mad.lo.cc.{t} %s2, %s0, %s1, %s2; madc.hi.cc.{t} %s2, %s0, %s1, %s3; addc.{t} %d, 0, 0;")

    # The windows of isa/executor.h: shared from 2^24, local from 2^25, 2^24 bytes each; the rest is global.
    edges = [[a] for a in [0, 0xFFFFFF, 0x1000000, 0x1000010, 0x1FFFFFF, 0x2000000, 0x2FFFFFF, 0x3000000, 0x10000000,
                           0x101000000, 1 << 63 | 0x1000000]]
    write("isspacep.shared", ["u64"], "pred", lambda a: int(a >> 24 == 1), rows=edges)
    write("isspacep.local", ["u64"], "pred", lambda a: int(a >> 24 == 2), rows=edges)
    write("isspacep.global", ["u64"], "pred", lambda a: int(a >> 24 not in (1, 2)), rows=edges)


def packed_and_marked():
    """Packed 16-bit integers, .relu, and what min, max, testp and lop3 of single values have beyond the plain forms."""
    W = 0xFFFFFFFF
    for t in ["u16", "s16"]:
        pair = f"{t}x2"
        part = lambda v, i: decode_int(t, v >> i & 0xFFFF)
        each = lambda fn, a, b: sum(mask(t, fn(part(a, i), part(b, i))) << i for i in (0, 16))
        edges = values(t, 24)
        rows = [[RNG.choice(edges) | RNG.choice(edges) << 16 for _ in range(2)] for _ in range(64)]
        for op, f in [("add", lambda a, b: a + b), ("min", min), ("max", max)]:
            write(f"{op}.{pair}", [pair, pair], pair, lambda a, b: each(f, a, b), rows=rows)
            if t == "s16" and op != "add":
                write(f"{op}.relu.{pair}", [pair, pair], pair, lambda a, b: each(lambda x, y: max(f(x, y), 0), a, b), rows=rows)
    S = lambda v: to_signed(v, 32)
    for op, f in [("min", min), ("max", max)]:
        write(f"{op}.relu.s32", ["s32", "s32"], "s32", lambda a, b: max(f(S(a), S(b)), 0))
        for ftz in ["", ".ftz"]:
            for nan in ["", ".NaN"]:
                F = (lambda v: flush("f32", v)) if ftz else (lambda v: v)

                def pick(a, b):
                    if nan and "nan" in (decode("f32", a).kind, decode("f32", b).kind):
                        return NAN["f32"]
                    return minmax_raw("f32", a, b, op == "max")

                def signed(a, b):
                    a, b = F(a), F(b)
                    r = pick(a & W >> 1, b & W >> 1)
                    return r if decode("f32", r).kind == "nan" else r | (a ^ b) & ~(W >> 1)
                dots = ftz + nan
                three = ["f32"] * 3
                if nan:
                    write(f"{op}{dots}.f32", ["f32", "f32"], "f32", lambda a, b: pick(F(a), F(b)))
                write(f"{op}{dots}.xorsign.abs.f32", ["f32", "f32"], "f32", signed)
                write(f"{op}{dots}.f32", three, "f32", lambda a, b, c: pick(pick(F(a), F(b)), F(c)), target="sm_100")
                low = lambda v: F(v) & W >> 1
                write(f"{op}{dots}.abs.f32", three, "f32", lambda a, b, c: pick(pick(low(a), low(b)), low(c)), target="sm_100")
    for t in ["f32", "f64"]:
        e_bits, m_bits = FORMATS[t]
        field = lambda a: a >> m_bits & (1 << e_bits) - 1
        write(f"testp.normal.{t}", [t], "pred", lambda a: int(0 < field(a) < (1 << e_bits) - 1))
        write(f"testp.subnormal.{t}", [t], "pred", lambda a: int(field(a) == 0 and a & (1 << m_bits) - 1 != 0))
    for name, f in [("or", lambda p, q: p | q), ("and", lambda p, q: p & q)]:
        rows = [[RNG.choice([0, W, RNG.getrandbits(32)]) for _ in range(3)] for _ in range(48)]
        write(f"lop3.{name}.b32", ["b32"] * 3, "pred", lambda a, b, c: f(int(a & b & c != 0), int(a & 1 == 0)), rows=rows,
              statement=f"and.b32 %t, %s0, 1; setp.ne.u32 %q, %t, 0; lop3.{name}.b32 %d|%p, %s0, %s1, %s2, 0x80, !%q;")


MEMBERS = 0x52309CF1  # some of the lanes that opcode_test.cpp always runs


def write_warp(form, source, result, fn, statement):
    """A warp operation: the lanes in MEMBERS give `fn(values of the members, own value)`, the others 0."""
    pool = values(source, 16)
    for kind, pick in enumerate([lambda i: pool[0], lambda i: RNG.choice(pool[:3]), lambda i: RNG.choice(pool)]):
        rows = [[pick(i)] for i in range(32)]
        member_values = [r[0] for i, r in enumerate(rows) if MEMBERS >> i & 1]
        lanes = iter(range(32))

        def lane(own):
            return fn(rows, member_values, own) if MEMBERS >> next(lanes) & 1 else 0
        guarded = (f"mov.u32 %t, %laneid; shr.u32 %t, {MEMBERS:#x}, %t; and.b32 %t, %t, 1; setp.ne.u32 %q, %t, 0; "
                   f"mov.b32 %d, 0; @%q {statement}")
        write(f"{form}.case{kind}", [source], result, lane, statement=guarded, rows=rows)


def warp_operations():
    W = 0xFFFFFFFF
    equal = lambda rows, own: sum(1 << i for i, r in enumerate(rows) if MEMBERS >> i & 1 and r[0] == own)
    for t in ["b32", "b64"]:
        write_warp(f"match.any.sync.{t}", t, "b32", lambda rows, m, own: equal(rows, own),
                   f"match.any.sync.{t} %d, %s0, {MEMBERS:#x};")
        write_warp(f"match.all.sync.{t}", t, "b32", lambda rows, m, own: MEMBERS if len(set(m)) == 1 else 0,
                   f"match.all.sync.{t} %d, %s0, {MEMBERS:#x};")
        write_warp(f"match.all.sync.pred.{t}", t, "b32", lambda rows, m, own: int(len(set(m)) == 1),
                   f"match.all.sync.{t} %d|%p, %s0, {MEMBERS:#x}; @%q selp.b32 %d, 1, 0, %p;")
    for t in ["u32", "s32"]:
        for op, f in [("add", sum), ("min", min), ("max", max)]:
            write_warp(f"redux.sync.{op}.{t}", t, t, lambda rows, m, own: mask(t, f(decode_int(t, v) for v in m)),
                       f"redux.sync.{op}.{t} %d, %s0, {MEMBERS:#x};")
    for op, f in [("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)]:
        write_warp(f"redux.sync.{op}.b32", "b32", "b32", lambda rows, m, own: functools.reduce(f, m) & W,
                   f"redux.sync.{op}.b32 %d, %s0, {MEMBERS:#x};")


if __name__ == "__main__":
    for old in HERE.glob("*.ptx"):
        old.unlink()
    integers()
    bit_operations()
    floats()
    approximations()
    comparisons()
    conversions()
    integer_specials()
    warp_operations()
    packed_and_marked()
    import generate_forms  # these use this file's functions, so they are read when they are there
    import generate_half
    generate_half.halves()
    generate_forms.forms()
