"""Integers: arithmetic, bits, extended precision, and their special instructions."""
from formats import bits_of, decode, decode_int, mask, to_signed
from vectors import RNG, write


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
        write(f"rem.{t}", [t, t], t, lambda a, b: M(D(a) - D(b) * trunc_div(D(a), D(b)) if D(b) else -1))
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
