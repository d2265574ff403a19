"""Forms that generate.py's lists leave out: set on every type, atomics, loads and stores by width, .sat of conversions,
the plain approximations, special registers, hints."""
import math
import random
from fractions import Fraction

from formats import (NAN, add_raw, bits_of, decode, decode_int, encode, flush, fma_raw, inf, legacy_mad, mask, mul_raw, saturate,
                     to_signed)
from vectors import MEMBERS, RNG, operands, values, write, write_warp

W = 0xFFFFFFFF
INTS = ["u16", "s16", "u32", "s32", "u64", "s64"]
ORDERED = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
           "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


def key(x):
    return (-math.inf if x.sign else math.inf) if x.kind == "inf" else x.value


def float_holds(t, name, a, b):
    x, y = decode(t, a), decode(t, b)
    unordered = "nan" in (x.kind, y.kind)
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    return len(name) == 3 if unordered else ORDERED[name[:2]](key(x), key(y))


def sets():
    for t in ["u16", "s16", "u64", "s64"]:
        for name, f in ORDERED.items():
            write(f"set.{name}.s32.{t}", [t, t], "s32", lambda a, b: W * int(f(decode_int(t, a), decode_int(t, b))))
    for t in ["f32", "f64"]:
        for i, name in enumerate([*ORDERED, *[k + "u" for k in ORDERED], "num", "nan"]):
            for ftz in ["", "ftz."] if t == "f32" else [""]:
                F = (lambda v: flush(t, v)) if ftz else (lambda v: v)
                to = ["s32", "f32", "u32"][i % 3]
                yes = 0x3F800000 if to == "f32" else W
                write(f"set.{name}.{ftz}{to}.{t}", [t, t], to, lambda a, b: yes * int(float_holds(t, name, F(a), F(b))))


def atomics():
    """d = the old value in the upper half, what is in memory afterwards in the lower one (64 bits: their sum)."""
    def atom(op, t, fn, three=False):
        n = bits_of(t)
        wide = "b64" if n == 32 else "b32" if n == 16 else "u64"
        join = (lambda new, old: old << n | new) if n < 64 else (lambda new, old: mask("u64", new + old))
        code = f"mov.{wide} %d, {{%new, %old}};" if n < 64 else "add.u64 %d, %new, %old;"
        third = ", %s2" if three else ""
        write(f"atom.{op}.{t}", [t] * (3 if three else 2), wide, lambda *v: join(fn(*v), v[0]),
              statement=f"{{ .reg .b{n} %old, %new; atom.global.{op}.{t} %old, [%a0], %s1{third}; "
                        f"ld.global.b{n} %new, [%a0]; {code} }}")
        if op not in ("exch", "cas"):
            write(f"red.{op}.{t}", [t, t], t, lambda a, b: fn(a, b),
                  statement=f"red.global.{op}.{t} [%a0], %s1; ld.global.b{n} %d, [%a0];")
    for t in ["u32", "s32", "u64", "s64"]:
        D = lambda v: decode_int(t, v)
        if t != "s64":
            atom("add", t, lambda a, b: mask(t, a + b))
        atom("min", t, lambda a, b: a if D(a) <= D(b) else b)
        atom("max", t, lambda a, b: a if D(a) >= D(b) else b)
    atom("inc", "u32", lambda a, b: 0 if a >= b else a + 1)
    atom("dec", "u32", lambda a, b: b if a == 0 or a > b else a - 1)
    for t in ["b32", "b64"]:
        atom("and", t, lambda a, b: a & b)
        atom("or", t, lambda a, b: a | b)
        atom("xor", t, lambda a, b: a ^ b)
        atom("exch", t, lambda a, b: b)
    for t in ["b16", "b32", "b64"]:
        atom("cas", t, lambda a, b, c: c if a == b else a, three=True)
    Z = lambda v: flush("f32", v)
    atom("add", "f32", lambda a, b: Z(add_raw("f32", Z(a), Z(b), "rn")))
    # Which NaN the memory's adders give is not measured.
    one_nan = lambda v: NAN["f64"] if decode("f64", v).kind == "nan" else v
    atom("add", "f64", lambda a, b: one_nan(add_raw("f64", a, b, "rn")))


def memory():
    for t in ["u8", "s8", "u16", "s16", "u32", "s32", "u64"]:
        n = bits_of(t)
        for lanes in ["b32", "b64"] if n < 64 else ["b64"]:
            write(f"ld.{t}.{lanes}", ["u64"], lanes, lambda a: mask(lanes, decode_int(t, a & (1 << n) - 1)),
                  statement=f"ld.global.{t} %d, [%a0];")
            if t[0] == "u":
                write(f"st.{t}.{lanes}", ["u64", lanes], "u64", lambda a, b: a >> n << n | b & (1 << n) - 1,
                      statement=f"st.global.{t} [%a0], %s1; ld.global.u64 %d, [%a0];")
    names = ", ".join(f"%e{i}" for i in range(8))
    sums = " ".join(f"mad.lo.u16 %t0, %e{i}, {2 * i + 1}, %t0;" for i in range(8))
    write("ld.v8.u8", ["u64"], "u16", lambda a: sum((2 * i + 1) * (a >> 8 * i & 255) for i in range(8)) & 0xFFFF,
          statement=f"{{ .reg .b16 %e<8>, %t0; mov.u16 %t0, 0; ld.global.v8.u8 {{{names}}}, [%a0]; {sums} mov.u16 %d, %t0; }}")
    shifts = " ".join(f"shr.u64 %w, %s1, {8 * i}; cvt.u16.u64 %e{i}, %w;" for i in range(8))
    write("st.v8.b8", ["u64", "u64"], "u64", lambda a, b: b,
          statement=f"{{ .reg .b16 %e<8>; .reg .b64 %w; {shifts} st.global.v8.b8 [%a0], {{{names}}}; ld.global.u64 %d, [%a0]; }}")
    write("ldu.global.u32", ["u32"], "u32", lambda a: a, statement="ldu.global.u32 %d, [%a0];")


def integers():
    S = lambda v: to_signed(v, 32)
    clamp = lambda v: mask("s32", max(-(2**31), min(2**31 - 1, v)))
    write("mad.hi.sat.s32", ["s32"] * 3, "s32", lambda a, b, c: clamp((S(a) * S(b) >> 32) + S(c)))
    L = {"u32": lambda v: v & 0xFFFFFF, "s32": lambda v: to_signed(v, 24)}
    for t in ["u32", "s32"]:
        write(f"mad24.hi.{t}", [t] * 3, t, lambda a, b, c: mask(t, (L[t](a) * L[t](b) >> 16) + c))
    write("mad24.hi.sat.s32", ["s32"] * 3, "s32", lambda a, b, c: clamp(S(mask("s32", L["s32"](a) * L["s32"](b) >> 16)) + S(c)))
    for t in ["u32", "s32", "u64", "s64"]:
        n = bits_of(t)

        def shift(a):
            v = mask(t, ~a) if t[0] == "s" and a >> (n - 1) else a
            return n - v.bit_length() if v else W
        write(f"bfind.shiftamt.{t}", [t], "u32", shift)
    for t in ["u64", "s64"]:
        D = lambda v: decode_int(t, v)
        full = (1 << 64) - 1
        write(f"madc.hi.{t}", [t] * 4, t, lambda a, b, c, d: D(a) * D(b) + c + (d << 64) >> 64 & full,
              statement=f"mad.lo.cc.{t} %s2, %s0, %s1, %s2; madc.hi.{t} %d, %s0, %s1, %s3;")
        write(f"madc.lo.{t}", [t] * 4, t, lambda a, b, c, d: a * b + d + (a + c >> 64) & full,
              statement=f"add.cc.{t} %s2, %s0, %s2; madc.lo.{t} %d, %s0, %s1, %s3;")
    for t in ["u16", "s16", "u8", "s8"]:
        n = bits_of(t)
        low, high = (-(1 << n - 1), (1 << n - 1) - 1) if t[0] == "s" else (0, (1 << n) - 1)
        part = lambda v: mask(t, max(low, min(high, S(v))))
        near = [v & W for v in [low - 1, low, low + 1, high - 1, high, high + 1, 0, 5, -5, 1 << 31, (1 << 31) - 1]]
        rows = [[RNG.choice(near + [RNG.getrandbits(n + 1)]) for _ in range(2)] + [RNG.getrandbits(32)] for _ in range(64)]
        if n == 16:
            write(f"cvt.pack.sat.{t}.s32", ["s32"] * 2, "b32", lambda a, b: part(a) << 16 | part(b), rows=[r[:2] for r in rows])
        else:
            write(f"cvt.pack.sat.{t}.s32.b32", ["s32", "s32", "b32"], "b32",
                  lambda a, b, c: (c << 16 | part(a) << 8 | part(b)) & W, rows=rows)
    for t in ["u8", "s8"] + INTS:
        n = bits_of(t)
        write(f"cvt.{t}.{t}", [t], t, lambda a: a)
        operands([t])  # the operands of a form that PTX does not have; the other files stay as they are
        for f in ["f32", "f64"]:
            write(f"cvt.rn.sat.{f}.{t}", [t], f, lambda a: saturate(f, encode(f, Fraction(decode_int(t, a)))))
    edges = [[a] for a in [0, 0xFFFFFF, 0x1000000, 0x1000010, 0x1FFFFFF, 0x2000000, 0x2FFFFFF, 0x3000000, 0x10000000]]
    write("isspacep.shared.u32", ["u32"], "pred", lambda a: int(a >> 24 == 1), rows=edges, statement="isspacep.shared %p, %s0;")
    for space, window in [("shared", 1 << 24), ("local", 2 << 24), ("global", 0)]:
        offsets = [[RNG.getrandbits(20)] for _ in range(32)]
        write(f"cvta.{space}.u64", ["u64"], "u64", lambda a: a + window, rows=offsets)
        write(f"cvta.to.{space}.u64", ["u64"], "u64", lambda a: a - window, rows=[[a + window] for a, in offsets])


def moves():
    write("mov.b64.four", ["b16"] * 4, "b64", lambda *v: sum(x << 16 * i for i, x in enumerate(v)),
          statement="mov.b64 %d, {%s0, %s1, %s2, %s3};")
    write("mov.b32.four", ["b8"] * 4, "b32", lambda *v: sum(x << 8 * i for i, x in enumerate(v)), statement=bytes_of(4))
    write("mov.b16.two", ["b8"] * 2, "b16", lambda *v: sum(x << 8 * i for i, x in enumerate(v)), statement=bytes_of(2))
    write("mov.b32.unpack", ["b32"], "b16", lambda a: a & 0xFFFF ^ a >> 16,
          statement="{ .reg .b16 %lo, %hi; mov.b32 {%lo, %hi}, %s0; xor.b16 %d, %lo, %hi; }")
    write("mov.b64.unpack.four", ["b64"], "b16", lambda a: (a - (a >> 16) + 3 * (a >> 32) - 5 * (a >> 48)) & 0xFFFF,
          statement="{ .reg .b16 %e<4>; mov.b64 {%e0, %e1, %e2, %e3}, %s0; sub.u16 %d, %e0, %e1; "
                    "mad.lo.u16 %d, %e2, 3, %d; mad.lo.u16 %d, %e3, -5, %d; }")
    write("mov.b32.unpack.four", ["b32"], "b32", lambda a: a & 255 | (a >> 8 & 255) << 16 | (a >> 24) << 8,
          statement="{ .reg .b8 %e<4>; .reg .b32 %w<3>; mov.b32 {%e0, %e1, _, %e3}, %s0; cvt.u32.u8 %w0, %e0; "
                    "cvt.u32.u8 %w1, %e1; cvt.u32.u8 %w2, %e3; bfi.b32 %d, %w1, %w0, 16, 8; bfi.b32 %d, %w2, %d, 8, 8; }")
    write("mov.b16.unpack.two", ["b16"], "b32", lambda a: a >> 8 | (a & 255) << 8,
          statement="{ .reg .b8 %lo, %hi; .reg .b32 %w<2>; mov.b16 {%lo, %hi}, %s0; cvt.u32.u8 %w0, %lo; cvt.u32.u8 %w1, %hi; "
                    "bfi.b32 %d, %w0, %w1, 8, 8; }")
    write("mov.b128", ["b64", "b64"], "u64", lambda a, b: a + 3 * b & (1 << 64) - 1,
          statement="{ .reg .b128 %q<2>; mov.b128 %q0, {%s0, %s1}; mov.b128 %q1, %q0; mov.b128 {%s1, %s0}, %q1; "
                    "mad.lo.u64 %d, %s0, 3, %s1; }")
    write("ld.b128", ["b64", "b64"], "u64", lambda a, b: 3 * a + b & (1 << 64) - 1,
          statement="{ .reg .b128 %q; .local .align 16 .b64 m[4]; st.local.v2.b64 [m+16], {%s0, %s1}; ld.local.b128 %q, [m+16]; "
                    "mov.b128 {%s1, %s0}, %q; mad.lo.u64 %d, %s1, 3, %s0; }")
    write("st.b128", ["b64", "b64"], "u64", lambda a, b: 3 * a + b & (1 << 64) - 1,
          statement="{ .reg .b128 %q; .local .align 16 .b64 m[4]; mov.b128 %q, {%s0, %s1}; st.local.b128 [m], %q; "
                    "ld.local.v2.b64 {%s1, %s0}, [m]; mad.lo.u64 %d, %s1, 3, %s0; }")
    for t in ["b16", "b32", "b64"]:
        u = "u" + t[1:]
        write(f"slct.{t}.s32", [t, t, "s32"], t, lambda a, b, c: b if c >> 31 else a)
        for ftz in ["", "ftz."]:
            def pick(a, b, c):
                c = flush("f32", c) if ftz else c
                return b if decode("f32", c).kind == "nan" or (c >> 31 and c != 0x80000000) else a
            write(f"slct.{ftz}{u}.f32", [t, t, "f32"], t, pick)
    count = 48
    rows = [[i] for i in range(count)]
    lane = lambda a: 1 << a % 32
    special = {"tid.x": lambda a: a, "tid.y": lambda a: 0, "laneid": lambda a: a % 32, "lanemask_eq": lane,
               "lanemask_lt": lambda a: lane(a) - 1, "lanemask_le": lambda a: 2 * lane(a) - 1,
               "lanemask_gt": lambda a: W & -2 * lane(a), "lanemask_ge": lambda a: W & -lane(a), "warpid": lambda a: a // 32,
               "ntid.x": lambda a: count, "ntid.z": lambda a: 1, "ctaid.x": lambda a: 0, "nctaid.y": lambda a: 1}
    for name, f in special.items():
        write(f"mov.u32.{name}", ["u32"], "u32", f, rows=rows, statement=f"mov.u32 %d, %{name};")
    write("mov.u64.gridid", ["u64"], "u64", lambda a: 0, rows=rows, statement="mov.u64 %d, %gridid;")


def bytes_of(count):
    total = 8 * count
    moves_in = " ".join(f"cvt.u8.u16 %e{i}, %s{i};" for i in range(count))
    names = ", ".join(f"%e{i}" for i in range(count))
    return f"{{ .reg .b8 %e<{count}>; {moves_in} mov.b{total} %d, {{{names}}}; }}"


def floats():
    F = lambda v: flush("f32", v)
    two, three = ["f32"] * 2, ["f32"] * 3
    full = lambda v: saturate("f32", F(v))
    write("add.ftz.sat.f32", two, "f32", lambda a, b: full(add_raw("f32", F(a), F(b), "rn")))
    write("sub.sat.f32", two, "f32", lambda a, b: saturate("f32", add_raw("f32", a, b ^ 1 << 31, "rn")))
    write("sub.ftz.sat.f32", two, "f32", lambda a, b: full(add_raw("f32", F(a), F(b) ^ 1 << 31, "rn")))
    write("mul.ftz.sat.f32", two, "f32", lambda a, b: full(mul_raw("f32", F(a), F(b), "rn")))
    write("fma.rn.ftz.sat.f32", three, "f32", lambda a, b, c: full(fma_raw("f32", F(a), F(b), F(c), "rn")))
    write("cvt.ftz.f64.f32", ["f32"], "f64", lambda a: widened(F(a)))
    write("cvt.sat.f64.f64", ["f64"], "f64", lambda a: saturate("f64", a))
    write("mad.sat.f32", three, "f32", lambda a, b, c: saturate("f32", legacy_mad(a, b, c)), target="sm_13")


def pairs_and_mixed():
    """Two f32 values in 64 bits; f32 arithmetic with sources of half precision."""
    two = lambda v: (v & W, v >> 32)
    some = lambda n: operands(["f32"] * n)
    rows = {n: [[low | high << 32 for low, high in zip(*r)] for r in zip(some(n), reversed(some(n)))] for n in (2, 3)}
    both = lambda fn: lambda *v: fn(*[two(x)[0] for x in v]) | fn(*[two(x)[1] for x in v]) << 32
    negate = 1 << 31
    for mode in ["rn", "rz", "rm", "rp"]:
        for ftz in ["", ".ftz"]:
            F = (lambda v: flush("f32", v)) if ftz else (lambda v: v)
            three = ["f32x2"] * 3
            for op, n, fn in [("add", 2, lambda a, b: add_raw("f32", F(a), F(b), mode)),
                              ("sub", 2, lambda a, b: add_raw("f32", F(a), F(b) ^ negate, mode)),
                              ("mul", 2, lambda a, b: mul_raw("f32", F(a), F(b), mode)),
                              ("fma", 3, lambda a, b, c: fma_raw("f32", F(a), F(b), F(c), mode))]:
                write(f"{op}.{mode}{ftz}.f32x2", three[:n], "f32x2", both(lambda *v: F(fn(*v))), rows=rows[n], target="sm_100")
        for t in ["f16", "bf16"]:
            for sat in ["", ".sat"]:
                E = (lambda v: saturate("f32", v)) if sat else (lambda v: v)
                U = lambda v: widened(v, t, "f32")
                for op, n, fn in [("add", 1, lambda a, c: add_raw("f32", U(a), c, mode)),
                                  ("sub", 1, lambda a, c: add_raw("f32", U(a), c ^ negate, mode)),
                                  ("fma", 2, lambda a, b, c: fma_raw("f32", U(a), U(b), c, mode))]:
                    write(f"{op}.{mode}{sat}.f32.{t}", [t] * n + ["f32"], "f32", lambda *v: E(fn(*v)), target="sm_100")


def widened(a, t="f32", to="f64"):
    x = decode(t, a)
    return NAN[to] if x.kind == "nan" else inf(to, x.sign) if x.kind == "inf" else encode(to, x.value, "rn", x.sign)


def number(t, raw):
    x = decode(t, raw)
    if x.kind == "nan":
        return math.nan
    return math.copysign(math.inf if x.kind == "inf" else float(abs(x.value)), -1 if x.sign else 1)


def coded(t, v):
    if math.isnan(v):
        return NAN[t]
    return inf(t, v < 0) if math.isinf(v) else encode(t, Fraction(v), "rn", int(math.copysign(1, v) < 0))


def approximations():
    """Without .ftz: denormals take part. The f64 forms keep 20 bits of the mantissa at least."""
    wide = [[v] for v in values("f32", 80)]
    near = lambda t, fn: lambda *raw: coded(t, fn(*[number(t, r) for r in raw]))
    signed_inf = lambda x: math.copysign(math.inf, x)
    rcp = lambda x: signed_inf(x) if x == 0 else 1 / x
    root = lambda x: x if x == 0 else math.nan if x < 0 else math.sqrt(x)
    rsqrt = lambda x: signed_inf(x) if x == 0 else math.nan if x < 0 else 1 / math.sqrt(x)
    log = lambda x: -math.inf if x == 0 else math.nan if x < 0 else x if x == math.inf else math.log2(x)
    bad = lambda x: math.isinf(x) or math.isnan(x)
    for name, fn, tolerance, floor in [("rcp", rcp, 2.0**-22, 2.0**-126), ("sqrt", root, 2.0**-22, 2.0**-126),
                                       ("rsqrt", rsqrt, 2.0**-22, 0), ("lg2", log, 2.0**-22, 1.0)]:
        write(f"{name}.approx.f32", ["f32"], "f32", near("f32", fn), rows=wide, tolerance=tolerance, floor=floor)
    exponents = [[encode("f32", Fraction(i, 7))] for i in range(-1060, 900, 23)]
    exponents += [[0], [1 << 31], [0x7F800000], [0xFF800000], [0x7FC00000], [1], [0x80000001]]
    power = lambda x: x if math.isnan(x) else math.inf if x >= 128 else 0.0 if x < -200 else 2.0**x
    write("ex2.approx.f32", ["f32"], "f32", near("f32", power), rows=exponents, tolerance=2.0**-22, floor=2.0**-126)
    angles = [[encode("f32", Fraction(i, 9))] for i in range(-28, 29, 2)] + [[0], [1 << 31], [0x7F800000], [0x7FC00000], [1]]
    for name, fn in [("sin", math.sin), ("cos", math.cos)]:
        write(f"{name}.approx.f32", ["f32"], "f32", near("f32", lambda x: math.nan if bad(x) else fn(x)), rows=angles,
              tolerance=2.0**-20.9, floor=1.0)
    quotients = [r for r in operands(["f32", "f32"], 80) if not 2.0**126 < abs(number("f32", r[1])) < math.inf]

    def div(a, b):
        if b == 0:
            return math.nan if a == 0 or math.isnan(a) else signed_inf(a) * math.copysign(1, b)
        q = a / b if not (math.isinf(a) and math.isinf(b)) else math.nan
        return signed_inf(q) if abs(q) > 3.4028235677973366e38 else q
    write("div.full.f32", ["f32", "f32"], "f32", near("f32", div), rows=quotients, tolerance=2.0**-22, floor=2.0**-126)
    doubles = [[v] for v in values("f64", 48) if number("f64", v) == 0 or not 0 < abs(number("f64", v)) < 2.0**-1000]
    small = [r for r in doubles if abs(number("f64", *r)) < 2.0**1000 or bad(number("f64", *r))]
    write("rcp.approx.ftz.f64", ["f64"], "f64", near("f64", rcp), rows=small, tolerance=2.0**-20)
    write("rsqrt.approx.f64", ["f64"], "f64", near("f64", rsqrt), rows=doubles, tolerance=2.0**-20)


def warps():
    ballot = lambda rows: sum(1 << i for i, r in enumerate(rows) if MEMBERS >> i & 1 and r[0] & 1)
    odd = "and.b32 %s0, %s0, 1; setp.ne.u32 %p, %s0, 0; "
    result = " selp.b32 %d, 1, 0, %p;"
    write_warp("vote.sync.ballot.b32", "b32", "b32", lambda rows, m, own: ballot(rows),
               guarded("vote.sync.ballot.b32 %d, %p", odd))
    for name, f in [("all", lambda b: b == MEMBERS), ("any", lambda b: b != 0), ("uni", lambda b: b in (0, MEMBERS))]:
        write_warp(f"vote.sync.{name}.pred", "b32", "b32", lambda rows, m, own: int(f(ballot(rows))),
                   guarded(f"vote.sync.{name}.pred %p, %p", odd) + " @%q" + result)
    write_warp("activemask.b32", "b32", "b32", lambda rows, m, own: MEMBERS, "activemask.b32 %d;")
    leader = (MEMBERS & -MEMBERS).bit_length() - 1
    write_warp("elect.sync", "b32", "b32", lambda rows, m, own: leader, f"elect.sync %d|%p, {MEMBERS:#x};")


def guarded(statement, before):
    """write_warp() guards the first statement; the operation itself needs the guard too."""
    return f"{before}@%q {statement}, {MEMBERS:#x};"


def hints():
    """They change no value (discard throws away what is not read again)."""
    for name, statement in {
        "prefetch.global.L1": "prefetch.global.L1 [%a0];", "prefetch.L2": "prefetch.L2 [%a0];",
        "prefetchu.L1": "prefetchu.L1 [%a0];",
        "pmevent": "pmevent 3;", "nanosleep.u32": "nanosleep.u32 20;", "discard.global.L2": "discard.global.L2 [%a3], 128;",
        "applypriority.global.L2": "applypriority.global.L2::evict_normal [%a0], 128;",
        "setmaxnreg.inc": "setmaxnreg.inc.sync.aligned.u32 64;", "griddepcontrol.wait": "griddepcontrol.wait;",
        "griddepcontrol.launch_dependents": "griddepcontrol.launch_dependents;", "membar.gl": "membar.gl;",
        "fence.acq_rel.gpu": "fence.acq_rel.gpu;", "bar.warp.sync": "bar.warp.sync -1;", "barrier.sync": "barrier.sync 0;",
    }.items():
        target = "sm_90a" if name == "setmaxnreg.inc" else "sm_90"
        write(name, ["u32"], "u32", lambda a: a, statement=f"{statement} ld.global.u32 %d, [%a0];", target=target)


def small_parts_and_parameters():
    own = random.Random(21)  # so that the files of the other functions stay as they are
    for t, n in [("u4", 4), ("s4", 4), ("u2", 2), ("s2", 2)]:
        low, high = (-(1 << n - 1), (1 << n - 1) - 1) if t[0] == "s" else (0, (1 << n) - 1)
        part = lambda v: max(low, min(high, to_signed(v, 32))) & (1 << n) - 1
        near = [v & W for v in [low - 1, low, low + 1, high - 1, high, high + 1, 0, 9, -9, 1 << 31, (1 << 31) - 1]]
        rows = [[own.choice(near), own.choice(near), own.getrandbits(32)] for _ in range(64)]
        write(f"cvt.pack.sat.{t}.s32.b32", ["s32", "s32", "b32"], "b32",
              lambda a, b, c: (c << 2 * n | part(a) << n | part(b)) & W, rows=rows)
    write("isspacep.param.u64", ["u64"], "pred", lambda a: int(a >> 24 == 5), statement="isspacep.param %p, %s0;",
          rows=[[a] for a in [0, 0x4FFFFFF, 0x5000000, 0x5000010, 0x5FFFFFF, 0x6000000, 5 << 32]])
    offsets = [[own.getrandbits(15)] for _ in range(32)]
    write("cvta.param.u64", ["u64"], "u64", lambda a: a + (5 << 24), rows=offsets)
    write("cvta.to.param.u64", ["u64"], "u64", lambda a: a - (5 << 24), rows=[[a + (5 << 24)] for a, in offsets])


def wide_atomics():
    """d = a sum of the old value and of what is in memory afterwards, all halves told apart."""
    own = random.Random(22)
    told = lambda old, new: old[0] + 3 * old[1] + 5 * new[0] + 7 * new[1] & (1 << 64) - 1
    before = ("{ .shared .align 16 .b8 slots[4096]; .reg .b128 %q<3>; .reg .b64 %e<5>; mov.u64 %e0, slots; "
              "mad.wide.u32 %e0, %t, 16, %e0; st.shared.v2.u64 [%e0], {%s0, %s1}; mov.b128 %q0, {%s2, %s3}; ")
    after = ("mov.b128 {%e1, %e2}, %q1; ld.shared.v2.u64 {%e3, %e4}, [%e0]; mad.lo.u64 %e1, %e2, 3, %e1; "
             "mad.lo.u64 %e1, %e3, 5, %e1; mad.lo.u64 %d, %e4, 7, %e1; }")
    rows = [[own.getrandbits(64) for _ in range(4)] for _ in range(32)]
    write("atom.exch.b128", ["u64"] * 4, "u64", lambda a, b, c, d: told((a, b), (c, d)), rows=rows,
          statement=before + "atom.shared.exch.b128 %q1, [%e0], %q0; " + after)
    for row in rows[:24]:  # equal in both halves, in one of them
        row[2:] = [[row[0], row[1]], [row[0], row[3]], [row[2], row[1]]][own.randrange(3)]
    write("atom.cas.b128", ["u64"] * 4, "u64", lambda a, b, c, d: told((a, b), (d, a) if (a, b) == (c, d) else (a, b)),
          rows=rows, statement=before + "mov.b128 %q2, {%s3, %s0}; atom.shared.cas.b128 %q1, [%e0], %q0, %q2; " + after)


def forms():
    sets()
    atomics()
    memory()
    integers()
    moves()
    floats()
    pairs_and_mixed()
    approximations()
    warps()
    hints()
    small_parts_and_parameters()
    wide_atomics()
