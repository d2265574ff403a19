"""f32 and f64: arithmetic, approximations, comparisons, conversions."""
import itertools
import math
import struct
from fractions import Fraction

from formats import (NAN, add_raw, bits_of, decode, decode_int, div_raw, encode, flush, fma_raw, inf, legacy_mad, mask, minmax_raw,
                     mul_raw, round_int, saturate, sqrt_raw, sub_raw, to_signed)
from vectors import operands, values, write


def floats():
    for t in ["f32", "f64"]:
        for mode in ["", "rn", "rz", "rm", "rp"]:
            for ftz in ["", "ftz"] if t == "f32" else [""]:
                m, F = mode or "rn", (lambda v: flush("f32", v)) if ftz else (lambda v: v)
                dots = "".join("." + x for x in [mode, ftz, t] if x)
                write(f"add{dots}", [t, t], t, lambda a, b: F(add_raw(t, F(a), F(b), m)))
                if mode in ("", "rz"):
                    write(f"sub{dots}", [t, t], t, lambda a, b: F(sub_raw(t, F(a), F(b), m)))
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
            N = lambda v: NAN["f32"] if t == "f32" and decode(t, v).kind == "nan" else v
            write(f"abs.{ftz}{t}", [t], t, lambda a: N(F(a) & (top - 1)))
            write(f"neg.{ftz}{t}", [t], t, lambda a: N(F(a) ^ top))
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


def nans():
    """f64: which operand's NaN a result is, quiet and signalling ones."""
    pool = [0x7FF8000000000001, 0xFFF0000000012345, 0x7FF4000000000777, 0xFFFFFFFFFFFFFFFF, 0x3FF8000000000000, 0x7FF0000000000000]
    div, add, sub = (lambda m: lambda a, b: div_raw("f64", a, b, m)), (lambda m: lambda a, b: add_raw("f64", a, b, m)), (
        lambda m: lambda a, b: sub_raw("f64", a, b, m))
    mul, fma = (lambda m: lambda a, b: mul_raw("f64", a, b, m)), (lambda m: lambda a, b, c: fma_raw("f64", a, b, c, m))
    rcp, sqrt = (lambda m: lambda a: div_raw("f64", encode("f64", Fraction(1)), a, m)), (lambda m: lambda a: sqrt_raw("f64", a, m))
    for op, count, fn in [("add", 2, add), ("sub", 2, sub), ("mul", 2, mul), ("div", 2, div), ("fma", 3, fma), ("rcp", 1, rcp),
                          ("sqrt", 1, sqrt)]:
        for mode in ["rn", "rz"]:
            rows = list(itertools.product(pool if count < 3 else pool[1:4] + pool[5:], repeat=count))
            form = f"{op}.{mode}.f64"
            sources = ", ".join(f"%s{i}" for i in range(count))
            write(f"{form}.nans", ["f64"] * count, "f64", fn(mode), rows=rows, statement=f"{form} %d, {sources};")
    for op in ["min", "max"]:
        write(f"{op}.f64.nans", ["f64", "f64"], "f64", lambda a, b: minmax_raw("f64", a, b, op == "max"),
              rows=list(itertools.product(pool, repeat=2)), statement=f"{op}.f64 %d, %s0, %s1;")


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
                rows = operands([s])  # drawn for each pair, so that the other files stay as they are
                if low(s) < low(d) or high(s) > high(d):  # otherwise PTX has no .sat
                    write(f"cvt.sat.{d}.{s}", [s], d, lambda a: mask(d, clamp(d, decode_int(s, a))), rows=rows)
        for f in ["f32", "f64"]:
            for mode in ["rn", "rz", "rm", "rp"]:
                write(f"cvt.{mode}.{f}.{d}", [d], f, lambda a: encode(f, Fraction(decode_int(d, a)), mode))

                def to_int(a):
                    x = decode(f, a)
                    if x.kind == "nan":
                        return 1 << (bits_of(d) - 1) if 64 in (bits_of(d), bits_of(f)) else 0
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
