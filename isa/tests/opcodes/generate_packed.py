"""Packed 16-bit integers, .relu, .NaN, .xorsign and operations between the lanes of a warp."""
import functools

from formats import FORMATS, NAN, bits_of, decode, decode_int, flush, mask, minmax_raw, to_signed
from vectors import MEMBERS, RNG, values, write, write_warp


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
        write(f"testp.normal.{t}", [t], "pred", lambda a: int(field(a) < (1 << e_bits) - 1 and (field(a) > 0 or a & (1 << m_bits) - 1 == 0)))
        write(f"testp.subnormal.{t}", [t], "pred", lambda a: int(field(a) == 0 and a & (1 << m_bits) - 1 != 0))
    for name, f in [("or", lambda p, q: p | q), ("and", lambda p, q: p & q)]:
        rows = [[RNG.choice([0, W, RNG.getrandbits(32)]) for _ in range(3)] for _ in range(48)]
        write(f"lop3.{name}.b32", ["b32"] * 3, "pred", lambda a, b, c: f(int(a & b & c != 0), int(a & 1 == 0)), rows=rows,
              statement=f"and.b32 %t, %s0, 1; setp.ne.u32 %q, %t, 0; lop3.{name}.b32 %d|%p, %s0, %s1, %s2, 0x80, !%q;")


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
