"""The half-precision part of generate.py: f16, bf16 and their packed forms, in exact fractions like the rest."""
import functools
import math
from fractions import Fraction

from formats import (NAN, add_raw, bits_of, decode, decode_int, encode, flush, fma_raw, inf, mask, minmax_raw, mul_raw, round_int,
                     saturate)
from vectors import RNG, SPECIAL, values, write

HALVES = ["f16", "bf16"]
EDGES = {
    **SPECIAL,
    "f16": [0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0xFD01, 1, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x8400, 0x7BFF, 0xFBFF,
            0x3C01, 0x3BFF, 0x3555, 0xC248, 0x1000, 0x6400],
    "bf16": [0, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0xFF81, 1, 0x8001, 0x007F, 0x807F, 0x0080, 0x8080, 0x7F7F, 0xFF7F,
             0x3F81, 0x3F7F, 0x3EAB, 0xC049, 0x0100, 0x4B00],
}
COUNT = 96
SIGN = 0x8000
ROUNDINGS = ["rn", "rz", "rm", "rp"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]


def relu(t, raw):
    return 0 if raw & SIGN and decode(t, raw).kind != "nan" else raw


def satfinite(t, raw):
    return raw - 1 if decode(t, raw).kind == "inf" else raw


def quiet(t, raw):
    return NAN[t] if decode(t, raw).kind == "nan" else raw


def operands(t, count):
    """Special values against each other, then random ones over the whole range and near 1."""
    special = EDGES[t]
    rows = [[special[(i * (k + 1) + i // len(special)) % len(special)] for k in range(count)] for i in range(2 * len(special))]
    while len(rows) < COUNT:
        rows.append([RNG.choice([RNG.getrandbits(16), RNG.choice(values(t, 64))]) for _ in range(count)])
    return rows


def is_midpoint(t, x):
    """Halfway between two neighbours of the format."""
    return x != 0 and encode(t, x, "rm") != encode(t, x, "rp") and all(
        decode(t, encode(t, x, m)).kind == "num" for m in ("rm", "rp")) and 2 * x == sum(
        decode(t, encode(t, x, m)).value for m in ("rm", "rp"))


def double_rounding(t):
    """fma rows whose product is a midpoint, or nearly c, and a c too small for a double to hold their sum."""
    rows = []
    while len(rows) < 40:
        a, b = RNG.getrandbits(15), RNG.getrandbits(15)
        x, y = decode(t, a), decode(t, b)
        if x.kind == y.kind == "num" and is_midpoint(t, x.value * y.value):
            sign = RNG.getrandbits(1) << 15
            rows += [[a ^ sign, b, c] for c in (0, 1, SIGN | 1, RNG.getrandbits(7))]
    for c in (EDGES[t][2], decode_top(t), 1):
        rows += [[1, 1, c], [1, SIGN | 1, c], [SIGN | 1, 2, c | SIGN]]
    return rows


def decode_top(t):
    return inf(t, 0) - 1


def small_products(t):
    """Rows whose product is subnormal or next to underflow."""
    rows = []
    while len(rows) < 32:
        a, b = RNG.getrandbits(16), RNG.getrandbits(16)
        p = decode(t, mul_raw(t, a, b, "rz"))
        if p.kind == "num" and (p.value == 0 or abs(p.value) < Fraction(2) ** (-13 if t == "f16" else -125)):
            rows.append([a, b])
    return rows


def both(form, t, count, fn, rows=None, tolerance=None, floor=0, pair_type=None):
    """The scalar and the packed file of one form."""
    rows = rows or operands(t, count)
    write(f"{form}.{t}", [t] * count, t, fn, rows=rows, tolerance=tolerance, floor=floor)
    packed(form, t + "x2", t + "x2", count, fn, rows, tolerance, floor)


def packed(form, t, result, count, fn, rows, tolerance=None, floor=0):
    upper = rows[:]
    RNG.shuffle(upper)
    pairs = [[low | high << 16 for low, high in zip(*both_rows)] for both_rows in zip(rows, upper)]

    def each(*words):
        return fn(*[w & 0xFFFF for w in words]) | fn(*[w >> 16 for w in words]) << 16
    write(f"{form}.{t}", [t] * count, result, each, rows=pairs, tolerance=tolerance, floor=floor)


def arithmetic():
    for t in HALVES:
        variants = ["", "ftz", "sat", "ftz.sat"] if t == "f16" else [""]
        for name in variants:
            F = (lambda v: flush("f16", v)) if "ftz" in name else (lambda v: v)
            end = (lambda v: saturate("f16", F(v))) if "sat" in name else F
            dot = "." + name if name else ""
            for rounding in ["", ".rn"]:
                both(f"add{rounding}{dot}", t, 2, lambda a, b: end(add_raw(t, F(a), F(b), "rn")))
                both(f"sub{rounding}{dot}", t, 2, lambda a, b: end(add_raw(t, F(a), F(b) ^ SIGN, "rn")))
                both(f"mul{rounding}{dot}", t, 2, lambda a, b: end(mul_raw(t, F(a), F(b), "rn")),
                     rows=operands(t, 2) + small_products(t))
            rows = operands(t, 3) + double_rounding(t)
            both(f"fma.rn{dot}", t, 3, lambda a, b, c: end(fma_raw(t, F(a), F(b), F(c), "rn")), rows=rows)
            if "sat" not in name:
                both(f"fma.rn{dot}.relu", t, 3, lambda a, b, c: relu(t, end(fma_raw(t, F(a), F(b), F(c), "rn"))), rows=rows)
                both(f"neg{dot}", t, 1, lambda a: quiet(t, F(a) ^ SIGN))
                both(f"abs{dot}", t, 1, lambda a: quiet(t, F(a) & ~SIGN))
                extremes(t, dot, F)


def outside_tensors():
    """fma.oob: a factor that is the NaN of what lies outside of a tensor makes the result +0, any other NaN does not."""
    outside = 0x7FF7
    for t in HALVES:
        near = [outside, outside ^ SIGN, outside - 1, outside + 8, NAN[t], EDGES[t][2], inf(t, 0), 0, SIGN]
        rows = [[a, b, c] for a in near for b in near for c in (EDGES[t][3], outside, 0)] + operands(t, 3) + double_rounding(t)
        for name, end in {"": lambda t, v: v, ".relu": relu, ".sat": saturate}.items():
            if name == ".sat" and t != "f16":
                continue

            def fused(a, b, c, t=t, end=end):
                return 0 if outside in (a, b) else end(t, fma_raw(t, a, b, c, "rn"))
            both(f"fma.rn.oob{name}", t, 3, fused, rows=rows)


def extremes(t, dot, F):
    for nan in ["", ".NaN"]:
        for xorsign in ["", ".xorsign.abs"]:
            for op in ["min", "max"]:
                def pick(a, b):
                    a, b = F(a), F(b)
                    sign = (a ^ b) & SIGN if xorsign else 0
                    if xorsign:
                        a, b = a & ~SIGN, b & ~SIGN
                    if nan and "nan" in (decode(t, a).kind, decode(t, b).kind):
                        return NAN[t]
                    return quiet(t, minmax_raw(t, a, b, op == "max") | sign)
                both(f"{op}{dot}{nan}{xorsign}", t, 2, pick)


def approximations():
    """ex2 and tanh within the manual's error of the exact value rounded to the format."""
    def near(t, fn, ftz):
        def f(raw):
            x = decode(t, flush(t, raw) if ftz else raw)
            if x.kind == "nan":
                return NAN[t]
            v = fn((-1 if x.sign else 1) * math.inf if x.kind == "inf" else math.copysign(float(x.value), -x.sign or 1))
            r = inf(t, 0) if v == math.inf else encode(t, Fraction(v), "rn", int(math.copysign(1, v) < 0))
            return flush(t, r) if ftz else r
        return f

    def ex2(x):
        return math.inf if x > 200 else 0.0 if x < -200 else 2.0**x
    for t, ftz, error in [("f16", "", 2.0**-9.9), ("bf16", ".ftz", 2.0**-7)]:
        spread = {"f16": [encode(t, Fraction(i, 7)) for i in range(-180, 120, 5)],
                  "bf16": [encode(t, Fraction(i, 3)) for i in range(-400, 400, 11)]}[t]
        rows = [[v] for v in EDGES[t] + spread]
        tiny = 2.0**-14 if t == "f16" else 2.0**-126
        both(f"ex2.approx{ftz}", t, 1, near(t, ex2, ftz), rows=rows, tolerance=error, floor=tiny)
    for t, error in [("f16", 2.0**-10.987), ("bf16", 2.0**-8)]:
        rows = [[v] for v in EDGES[t] + [encode(t, Fraction(i, 13)) for i in range(-60, 60, 3)] + values(t, 60)[20:]]
        both("tanh.approx", t, 1, near(t, math.tanh, False), rows=rows, tolerance=error, floor=2.0**-14)


def holds(t, name, a, b):
    x, y = decode(t, a), decode(t, b)
    unordered = x.kind == "nan" or y.kind == "nan"
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    if unordered:
        return name.endswith("u")
    key = lambda v: (-math.inf if v.sign else math.inf) if v.kind == "inf" else v.value
    p, q = key(x), key(y)
    return {"eq": p == q, "ne": p != q, "lt": p < q, "le": p <= q, "gt": p > q, "ge": p >= q}[name[:2]]


TRUE = {"u16": 0xFFFF, "s16": 0xFFFF, "u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000}


def comparisons():
    for t in HALVES:
        for i, name in enumerate(COMPARISONS):
            for ftz in ["", ".ftz"] if t == "f16" else [""]:
                F = (lambda v: flush(t, v)) if ftz else (lambda v: v)
                test = lambda a, b: int(holds(t, name, F(a), F(b)))
                rows = operands(t, 2)
                write(f"setp.{name}{ftz}.{t}", [t, t], "pred", test, rows=rows)
                two = (f"setp.{name}{ftz}.{t}x2 %p|%q, %s0, %s1; selp.b32 %d, 1, 0, %p; "
                       "selp.b32 %t, 0x10000, 0, %q; or.b32 %d, %d, %t;")
                write_pair_test(f"setp.{name}{ftz}", t, test, rows, two)
                to = ["u32", "s32", "u16", "s16", t][i % 5]
                write(f"set.{name}{ftz}.{to}.{t}", [t, t], to, lambda a, b: TRUE[to] * test(a, b), rows=rows)
                wide = ["u32", "s32", t + "x2"][i % 3]
                one = 0xFFFF if wide[-2:] == "32" else TRUE[t]
                packed(f"set.{name}{ftz}.{wide}", t + "x2", wide, 2, lambda a, b: one * test(a, b), rows)
        rows = [r + [RNG.getrandbits(1)] for r in operands(t, 2)]
        write(f"setp.le.xor.{t}", [t, t, "b32"], "pred", lambda a, b, c: int(holds(t, "le", a, b)) ^ 1 - c, rows=rows,
              statement=f"setp.ne.u32 %q, %s2, 0; setp.le.xor.{t} %p, %s0, %s1, !%q;")
        write(f"set.gtu.or.{t}.{t}", [t, t, "b32"], t, lambda a, b, c: TRUE[t] * (holds(t, "gtu", a, b) or c), rows=rows,
              statement=f"setp.ne.u32 %q, %s2, 0; set.gtu.or.{t}.{t} %d, %s0, %s1, %q;")
        for s in ["f32", "f64", "s32", "u64", "b16"]:
            equal = (lambda a, b: a == b) if s[0] != "f" else functools.partial(holds, s, "eq")
            write(f"set.eq.{t}.{s}", [s, s], t, lambda a, b: TRUE[t] * int(equal(a, b)))
    write("set.lt.bf16.f16", ["f16", "f16"], "bf16", lambda a, b: TRUE["bf16"] * int(holds("f16", "lt", a, b)),
          rows=operands("f16", 2))


def write_pair_test(form, t, fn, rows, statement):
    upper = rows[:]
    RNG.shuffle(upper)
    pairs = [[low | high << 16 for low, high in zip(*r)] for r in zip(rows, upper)]
    fn2 = lambda a, b: fn(a & 0xFFFF, b & 0xFFFF) | fn(a >> 16, b >> 16) << 16
    write(f"{form}.{t}x2", [t + "x2"] * 2, "b32", fn2, rows=pairs, statement=statement)


def around(target, source):
    """Values of `source` at, between and next to values of `target`."""
    pool = list(EDGES[source])
    for k in range(56):
        raw = RNG.choice([RNG.getrandbits(7), RNG.getrandbits(10), RNG.getrandbits(15), decode_top(target)])
        low = decode(target, raw)
        if low.kind != "num":
            continue
        high = decode(target, raw + 1)
        top = high.value if high.kind == "num" else low.value + (low.value - decode(target, raw - 1).value)
        middle, step = (low.value + top) / 2, (top - low.value) / 2**11
        x = [low.value, middle, middle - step, middle + step, low.value + step][k % 5]
        pool.append(encode(source, -x if RNG.getrandbits(1) else x, "rn"))
    return [[v] for v in pool]


def convert(to, source, raw, mode):
    x = decode(source, raw)
    if x.kind == "nan":
        return NAN[to]
    return inf(to, x.sign) if x.kind == "inf" else encode(to, x.value, mode, x.sign)


def float_conversions():
    for t in HALVES:
        for s in ["f32", "f64"]:
            for mode in ROUNDINGS:
                exact = lambda a: convert(t, s, a, mode)
                write(f"cvt.{mode}.{t}.{s}.midpoints", [s], t, exact, rows=around(t, s),
                      statement=f"cvt.{mode}.{t}.{s} %d, %s0;")
                if t == "f16":
                    write(f"cvt.{mode}.sat.{t}.{s}", [s], t, lambda a: saturate(t, exact(a)), rows=around(t, s))
                if s == "f64" or mode in ("rm", "rp"):
                    continue
                modifiers = {"relu": relu, "satfinite": satfinite, "relu.satfinite": lambda t, r: relu(t, satfinite(t, r))}
                for name, f in modifiers.items():
                    write(f"cvt.{mode}.{name}.{t}.{s}", [s], t, lambda a: f(t, exact(a)), rows=around(t, s))
                for name, f in {"": lambda t, r: r, **modifiers}.items():
                    rows = [a + b for a, b in zip(around(t, s), reversed(around(t, s)))]
                    write(f"cvt.{mode}{'.' + name if name else ''}.{t}x2.{s}", [s, s], t + "x2",
                          lambda a, b: f(t, exact(a)) << 16 | f(t, exact(b)), rows=rows)
            if (s, t) != ("f32", "f16"):
                write(f"cvt.{s}.{t}", [t], s, lambda a: convert(s, t, a, "rn"), rows=operands(t, 1))
        for mode in ROUNDINGS:
            def integral(a):
                x = decode(t, a)
                return quiet(t, a) if x.kind != "num" else encode(t, Fraction(round_int(x.value, mode)), "rn", x.sign)
            write(f"cvt.{mode}i.{t}.{t}", [t], t, integral, rows=operands(t, 1))
            other = "bf16" if t == "f16" else "f16"
            write(f"cvt.{mode}.{t}.{other}", [other], t, lambda a: convert(t, other, a, mode), rows=around(t, other))
    write("cvt.rn.ftz.f16.f32", ["f32"], "f16", lambda a: convert("f16", "f32", flush("f32", a), "rn"), rows=around("f16", "f32"))
    write("cvt.rp.ftz.f16.f32", ["f32"], "f16", lambda a: convert("f16", "f32", flush("f32", a), "rp"), rows=around("f16", "f32"))
    write("cvt.ftz.f32.bf16", ["bf16"], "f32", lambda a: flush("f32", convert("f32", "bf16", a, "rn")), rows=operands("bf16", 1))
    write("cvt.sat.f32.f16", ["f16"], "f32", lambda a: saturate("f32", convert("f32", "f16", a, "rn")), rows=operands("f16", 1))
    write("cvt.sat.f64.f16", ["f16"], "f64", lambda a: saturate("f64", convert("f64", "f16", a, "rn")), rows=operands("f16", 1))
    write("cvt.sat.f16.f16", ["f16"], "f16", lambda a: saturate("f16", a), rows=operands("f16", 1))
    write("cvt.bf16.bf16", ["bf16"], "bf16", lambda a: a, rows=[r for r in operands("bf16", 1)])


def integers_near(t, target):
    """Integers at and next to midpoints of the half format, and the type's ends."""
    n = bits_of(t)
    pool = values(t, 24)
    for _ in range(56):
        keep = (11 if target == "f16" else 8) + 1
        middle = (RNG.getrandbits(keep) | 1 | 1 << (keep - 1)) << RNG.randrange(max(n - keep, 1))
        v = middle + RNG.choice([-1, 0, 0, 1])
        pool.append(mask(t, -v if t[0] == "s" and RNG.getrandbits(1) else v))
    return [[v] for v in pool]


def integer_conversions():
    low = lambda t: -(1 << bits_of(t) - 1) if t[0] == "s" else 0
    high = lambda t: (1 << bits_of(t) - (t[0] == "s")) - 1
    for t in HALVES:
        for i in (["u8", "s8"] if t == "f16" else []) + ["u16", "s16", "u32", "s32", "u64", "s64"]:
            for mode in ROUNDINGS:
                exact = lambda a: encode(t, Fraction(decode_int(i, a)), mode)
                write(f"cvt.{mode}.{t}.{i}", [i], t, exact, rows=integers_near(i, t))

                def to_int(a):
                    x = decode(t, a)
                    if x.kind == "nan":
                        return 1 << 63 if bits_of(i) == 64 else 0
                    if x.kind == "inf":
                        return mask(i, low(i) if x.sign else high(i))
                    return mask(i, max(low(i), min(high(i), round_int(x.value, mode))))
                write(f"cvt.{mode}i.{i}.{t}", [t], i, to_int, rows=operands(t, 1))
    write("cvt.rn.sat.f16.s32", ["s32"], "f16", lambda a: saturate("f16", encode("f16", Fraction(decode_int("s32", a)))))


def atomics():
    """The new value in memory below the old one that atom returns."""
    for t in HALVES:
        rows = operands(t, 2)
        add = lambda a, b: add_raw(t, a, b, "rn")
        for width, wide, word in [(16, "b32", t), (32, "b64", t + "x2")]:
            half = lambda fn, a, b: fn(a, b) if width == 16 else fn(a & 0xFFFF, b & 0xFFFF) | fn(a >> 16, b >> 16) << 16
            some = rows if width == 16 else [[a | RNG.choice(rows)[0] << 16, b | RNG.choice(rows)[1] << 16] for a, b in rows]
            old = f".reg .b{width} %old, %new, %w, %x1; "
            read = f"ld.global.b{width} %new, [%a0]; "
            write(f"atom.add.noftz.{word}", [word, word], wide, lambda a, b: half(add, a, b) | a << width, rows=some,
                  statement=f"{{ {old}atom.global.add.noftz.{word} %old, [%a0], %s1; {read}mov.{wide} %d, {{%new, %old}}; }}")
            write(f"red.add.noftz.{word}", [word, word], word, lambda a, b: half(add, a, b), rows=some,
                  statement=f"red.global.add.noftz.{word} [%a0], %s1; ld.global.b{width} %d, [%a0];")
            for op in ["min", "max"]:
                pick = lambda a, b: quiet(t, minmax_raw(t, a, b, op == "max"))
                # A vector of two: this value, and the bytes next to it, which take part with themselves.
                write(f"atom.{op}.noftz.v2.{word}", [word, word], wide, lambda a, b: half(pick, a, b) | a << width, rows=some,
                      statement=f"{{ {old}ld.global.b{width} %w, [%a0+{width // 8}]; atom.global.{op}.noftz.v2.{word} "
                                f"{{%old, %x1}}, [%a0], {{%s1, %w}}; {read}mov.{wide} %d, {{%new, %old}}; }}")


def halves():
    arithmetic()
    approximations()
    comparisons()
    float_conversions()
    integer_conversions()
    atomics()
