"""Operand values, and the place where every instruction form with its reference function passes through: write().

generate.py turns each form into a file of vectors; catalog.py collects the same forms for the differential fuzzer.
"""
import random
from pathlib import Path
from typing import Callable, NamedTuple, Optional

from formats import FORMATS, bits_of

HERE = Path(__file__).parent
RNG = random.Random(20)

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


def reg_type(t):
    return "b32" if t in ("n", "pred") else "b%d" % max(bits_of(t), 16)


class Form(NamedTuple):
    """One instruction form with its reference. Types are PTX's, `n` (a shift amount) and `pred`."""

    form: str
    sources: list  # types
    result: str  # type
    fn: Callable  # raw bits of the sources -> raw bits of the result; None: no vector for these sources
    target: str = "sm_90"
    statement: Optional[str] = None  # PTX with %d, %s0.. and %p as the predicate destination; None: the form itself
    rows: Optional[list] = None  # operands; None: operands(sources)
    tolerance: Optional[float] = None
    floor: float = 0
    warp: Optional[Callable] = None  # of an operation of the whole warp, see write_warp()

    def text(self):
        """The statement."""
        sources = ", ".join(f"%s{i}" for i in range(len(self.sources)))
        return self.statement or f"{self.form} %{'p' if self.result == 'pred' else 'd'}, {sources};"

    def version(self):
        version = {"sm_10": "3.0", "sm_13": "3.0", "sm_100": "8.8"}.get(self.target, "8.0")
        new = ("satfinite", "lop3.", ".v2.", "b128", ".oob")
        return "8.3" if version == "8.0" and any(word in self.text() for word in new) else version


def write(*arguments, **named):
    """Every form of the generate_*.py files comes here; the arguments are Form's."""
    receive(Form(*arguments, **named))


receive = None  # set by catalog.describe_all()


def write_file(f):
    body = []
    for i, t in enumerate(f.sources):
        width = 32 if t == "n" else bits_of(t)
        body.append(f"  ld.global.b{width} %s{i}, [%a{i}];")
    body.append("  " + f.text())
    if f.result == "pred":
        body.append("  selp.b32 %d, 1, 0, %p;")
    out_bits = 32 if f.result == "pred" else bits_of(f.result)
    body.append(f"  st.global.b{out_bits} [%o], %d;")
    lines = [f"// form: {f.form}", f"// sources: {' '.join(f.sources)} result: {f.result}"]
    if f.tolerance is not None:
        lines.append(f"// tolerance: {f.tolerance!r} floor: {f.floor!r}")
    for row in f.rows if f.rows is not None else operands(f.sources):
        expected = f.fn(*row)
        if expected is not None:
            lines.append("// vector: " + " ".join(f"{v:x}" for v in row) + f" -> {expected:x}")
    regs = [f"  .reg .{reg_type(t)} %s{i};" for i, t in enumerate(f.sources)]
    ptx = f""".version {f.version()}
.target {f.target}
.address_size 64
.visible .entry test(.param .u64 in, .param .u64 out)
{{
  .reg .b64 %a<4>, %i, %o, %x;
  .reg .b32 %t;
  .reg .pred %p, %q;
  .reg .{reg_type(f.result)} %d;
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
    suffix = "" if f.target == "sm_90" else "." + f.target
    path = HERE / (f.form.replace("::", "_") + suffix + ".ptx")
    assert not path.exists(), f"{path} is written twice"
    path.write_text("\n".join(lines) + "\n" + ptx)


MEMBERS = 0x52309CF1  # some of the lanes that opcode_test.cpp always runs


def write_warp(form, source, result, fn, statement):
    """A warp operation: the lanes in MEMBERS give `fn(rows of all lanes, values of the members, own value)`, the others 0."""
    pool = values(source, 16)
    n = bits_of(source)
    picks = [lambda i: pool[0], lambda i: RNG.choice(pool[:3]), lambda i: RNG.choice(pool), lambda i: 1 << n - 1 | 65 | i % 5 << 2]
    if n == 64:  # values that differ in one half only
        picks.append(lambda i: [5, 5 | 1 << 32, 7][i % 7 % 3])
    for kind, pick in enumerate(picks):
        rows = [[pick(i)] for i in range(32)]
        member_values = [r[0] for i, r in enumerate(rows) if MEMBERS >> i & 1]
        lanes = iter(range(32))

        def lane(own):
            return fn(rows, member_values, own) if MEMBERS >> next(lanes) & 1 else 0
        guarded = (f"mov.u32 %t, %laneid; shr.u32 %t, {MEMBERS:#x}, %t; and.b32 %t, %t, 1; setp.ne.u32 %q, %t, 0; "
                   f"mov.b32 %d, 0; @%q {statement}")
        write(f"{form}.case{kind}", [source], result, lane, statement=guarded, rows=rows, warp=fn)
