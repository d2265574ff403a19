"""Semantic mutations of a PTX text: each function makes one change at a random place, or none if the text has no such place."""

import random
import re
from typing import Callable

from ptx_text import Instruction, PtxText, Statement, instruction

TYPES = ("pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64 u16x2 s16x2 f32x2 tf32 e4m3x2 "
         "texref").split()
SPACES = "global shared local const param shared::cta shared::cluster param::entry param::func reg sreg tex".split()
VECTORS = "v2 v4 v8".split()
ROUNDINGS = "rn rz rm rp rni rzi rmi rpi rna".split()
COMPARISONS = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan".split()
ATOMICS = "add min max inc dec and or xor exch cas".split()
ORDERS = "weak volatile relaxed acquire release acq_rel sc mmio".split()
SCOPES = "cta cluster gpu gl sys".split()
CACHES = ("ca cg cs lu cv wb wt nc L1::evict_last L1::no_allocate L1::evict_first L2::64B L2::128B L2::256B L2::cache_hint "
          "L2::evict_last").split()
PARTS = "lo hi wide".split()
LANES = "all any uni ballot up down bfly idx".split()
OTHERS = ("ftz sat approx full cc sync aligned uni to nc wrap clamp l r shiftamt relu arrive red popc warp noftz NaN xorsign abs "
          "satfinite f4e b4e rc8 ecl ecr rc16 finite infinite number normal subnormal level L1 L2 1d 2d 3d a1d a2d unified x y z").split()
FAMILIES = (TYPES, SPACES, VECTORS, ROUNDINGS, COMPARISONS, ATOMICS, ORDERS, SCOPES, CACHES, PARTS, LANES, OTHERS)
MODIFIERS = sorted({m for family in FAMILIES for m in family})
OPCODES = ("add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi bmsk szext dp4a dp2a addc subc madc "
           "fma rcp sqrt rsqrt sin cos lg2 ex2 tanh copysign testp set setp selp slct and or xor not cnot lop3 shf shl shr mov shfl prmt "
           "ld ldu st prefetch prefetchu isspacep cvta cvt tex txq bra call ret exit bar barrier membar fence atom red vote match "
           "activemask redux elect trap brkpt nanosleep discard applypriority").split()
NUMBERS = ("0 1 -1 2 3 7 8 15 16 31 32 33 63 64 96 100 127 128 255 256 1023 1024 4095 65535 65536 2147483647 2147483648 4294967295 "
           "4294967296 -2147483649 9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 0x80000000 "
           "0xFFFFFFFFFFFFFFFF 0x1FFFFFFFFFFFFFFFF 1.0 -0.5 1e3 0f3F800000 0d3FF0000000000000 WARP_SZ 5U 017 0b101 (1+2)").split()
SPECIALS = ("%tid.x %ntid.y %ctaid.z %laneid %warpid %clock %clock64 %gridid %smid %lanemask_lt %globaltimer %tid %nctaid.w %envreg3 "
            "%pm0 %dynamic_smem_size").split()
# Names that operands and addresses may be given; declared where a mutation uses one.
REGISTERS = {"%zp": "pred", "%zh": "b16", "%zu16": "u16", "%zs16": "s16", "%zf16": "f16", "%zr": "b32", "%zu32": "u32", "%zs32": "s32",
             "%zf": "f32", "%zd": "b64", "%zu64": "u64", "%zs64": "s64", "%zfd": "f64", "%zf16x2": "f16x2", "%zq": "b128", "%zb": "b8"}
VECTOR_REGISTERS = {"%zv2": "v2 .u32", "%zv4": "v4 .f32", "%zv4b": "v4 .b16"}
VARIABLES = {"zg": ".global .align 16 .b8 zg[64]", "zc": ".const .align 16 .b32 zc[16]", "zs": ".shared .align 16 .b8 zs[64]",
             "zf": ".global .f32 zf"}

Change = Callable[[PtxText, random.Random], str | None]


def _statement(ptx: PtxText, rng: random.Random, kind: str) -> Statement | None:
    found = ptx.of_kind(kind)
    return rng.choice(found) if found else None


def _instruction(ptx: PtxText, rng: random.Random) -> tuple[Statement, Instruction] | None:
    for _ in range(20):
        s = _statement(ptx, rng, "instruction")
        if s is not None and (i := instruction(s)) is not None:
            return s, i
    return None


def _declared(ptx: PtxText, s: Statement, *edits: tuple[int, int, str]) -> str:
    """The changed text with declarations of the names that the changes use."""
    new = " ".join(e[2] for e in edits)
    names = set(re.findall(r"%?z\w+", new))
    inside = "".join(f" .reg .{REGISTERS[n]} {n};" for n in REGISTERS if n in names)
    inside += "".join(f" .reg .{VECTOR_REGISTERS[n]} {n};" for n in VECTOR_REGISTERS if n in names)
    inside += " .local .align 8 .b8 zl[32];" if "zl" in names else ""
    edits = edits + ((s.body, s.body, inside),) if inside and s.body >= 0 else edits
    outside = "".join(f"{VARIABLES[n]};\n" for n in VARIABLES if n in names)
    if outside:
        first = next((x for x in ptx.statements if x.kind in ("function", "variable") and x.body < 0), None)
        at = first.begin if first is not None else 0
        edits = edits + ((at, at, outside),)
    return ptx.changed(*edits)


def _other(rng: random.Random, family: list[str], name: str) -> str:
    return rng.choice([m for m in family if m != name])


def opcode(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _instruction(ptx, rng)) is None:
        return None
    op = found[1].opcode
    return ptx.changed((op.begin, op.end, _other(rng, OPCODES, op.text)))


def modifier_in_family(ptx: PtxText, rng: random.Random) -> str | None:
    """Another type for a type, another space for a space."""
    if (found := _instruction(ptx, rng)) is None or not found[1].modifiers:
        return None
    m = rng.choice(found[1].modifiers)
    families = [f for f in FAMILIES if m.text[1:] in f]
    if not families:
        return None
    return ptx.changed((m.begin + 1, m.end, _other(rng, rng.choice(families), m.text[1:])))


def type_changed(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _instruction(ptx, rng)) is None:
        return None
    types = [m for m in found[1].modifiers if m.text[1:] in TYPES]
    if not types:
        return None
    m = rng.choice(types)
    return ptx.changed((m.begin + 1, m.end, _other(rng, TYPES, m.text[1:])))


def modifier_any(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _instruction(ptx, rng)) is None or not found[1].modifiers:
        return None
    m = rng.choice(found[1].modifiers)
    return ptx.changed((m.begin + 1, m.end, _other(rng, MODIFIERS, m.text[1:])))


def modifier_dropped(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _instruction(ptx, rng)) is None or not found[1].modifiers:
        return None
    m = rng.choice(found[1].modifiers)
    return ptx.changed((m.begin, m.end, ""))


def modifier_added(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _instruction(ptx, rng)) is None:
        return None
    at = rng.choice([found[1].opcode, *found[1].modifiers]).end
    family = rng.choice([MODIFIERS, SPACES, VECTORS, ORDERS, SCOPES, CACHES, ROUNDINGS, OTHERS])
    return ptx.changed((at, at, "." + rng.choice(family)))


def modifier_twice(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _instruction(ptx, rng)) is None or not found[1].modifiers:
        return None
    m = rng.choice(found[1].modifiers)
    return ptx.changed((m.end, m.end, m.text))


def modifiers_swapped(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _instruction(ptx, rng)) is None or len(found[1].modifiers) < 2:
        return None
    a, b = sorted(rng.sample(found[1].modifiers, 2), key=lambda t: t.begin)
    return None if a.text == b.text else ptx.changed((a.begin, a.end, b.text), (b.begin, b.end, a.text))


def _operands(ptx: PtxText, rng: random.Random) -> tuple[Statement, Instruction] | None:
    for _ in range(20):
        found = _instruction(ptx, rng)
        if found is not None and found[1].operands:
            return found
    return None


def operand_dropped(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _operands(ptx, rng)) is None:
        return None
    operands = found[1].operands
    k = rng.randrange(len(operands))
    begin, end = operands[k]
    if k > 0:
        begin = operands[k - 1][1]
    elif len(operands) > 1:
        end = operands[1][0]
    return ptx.changed((begin, end, ""))


def operand_twice(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _operands(ptx, rng)) is None:
        return None
    begin, end = rng.choice(found[1].operands)
    return ptx.changed((end, end, ", " + ptx.text[begin:end]))


def operands_swapped(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _operands(ptx, rng)) is None or len(found[1].operands) < 2:
        return None
    a, b = sorted(rng.sample(found[1].operands, 2))
    x, y = ptx.text[a[0]:a[1]], ptx.text[b[0]:b[1]]
    return None if x == y else ptx.changed((*a, y), (*b, x))


def _some_operand(rng: random.Random) -> str:
    return rng.choice([
        lambda: rng.choice(list(REGISTERS)), lambda: rng.choice(list(REGISTERS)), lambda: rng.choice(NUMBERS),
        lambda: rng.choice(SPECIALS), lambda: rng.choice(list(VARIABLES) + ["zl"]), lambda: "_", lambda: rng.choice(list(VECTOR_REGISTERS)),
        lambda: "!%zp", lambda: "%zp|%zp", lambda: "%zr|%zp", lambda: "%zundefined", lambda: rng.choice(("%zv2.x", "%zv4.w", "%zv2.z")),
        lambda: "[%zd]", lambda: "[%zr]", lambda: "{%zr, %zr}", lambda: "{%zh, %zh}", lambda: "{%zf, %zf, %zf, %zf}", lambda: "-%zr",
        lambda: rng.choice(("zg+4", "zg[4]", "zs+8", "zf"))])()


def operand_replaced(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _operands(ptx, rng)) is None:
        return None
    return _declared(ptx, found[0], (*rng.choice(found[1].operands), _some_operand(rng)))


def operand_added(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _operands(ptx, rng)) is None:
        return None
    _, end = rng.choice(found[1].operands)
    return _declared(ptx, found[0], (end, end, ", " + _some_operand(rng)))


def register_class(ptx: PtxText, rng: random.Random) -> str | None:
    """One register of an operand becomes one of another type, inside brackets and braces too."""
    if (found := _operands(ptx, rng)) is None:
        return None
    s = found[0]
    names = [t for t in s.tokens if t.kind == "name" and t.text[0] == "%" and t.begin >= found[1].operands[0][0]]
    if not names:
        return None
    t = rng.choice(names)
    return _declared(ptx, s, (t.begin, t.end, rng.choice(list(REGISTERS))))


def address_changed(ptx: PtxText, rng: random.Random) -> str | None:
    for _ in range(20):
        if (found := _operands(ptx, rng)) is None:
            return None
        addresses = [o for o in found[1].operands if ptx.text[o[0]] == "["]
        if addresses:
            break
    else:
        return None
    begin, end = rng.choice(addresses)
    inner = ptx.text[begin + 1:end - 1]
    base = inner.split("+")[0].split("-")[0].strip()
    new = rng.choice([f"{base}+{rng.choice(NUMBERS)}", f"{base}-4", f"{base}+%zr", f"{base}+-8", "%zr", "%zd", "%zu64", "%zs32", "%zf", "%zh",
                      "zg", "zs+4", "zc", "zl", "zg+zs", "4096", "0", "-4", "%tid.x", "%zv2", "%zv2.x", f"{base}, {{%zr}}", f"{base}+4+4", "%zq",
                      "zg[1]", "%zp", "%zundefined", ""])
    return _declared(ptx, found[0], (begin, end, f"[{new}]"))


def elements_changed(ptx: PtxText, rng: random.Random) -> str | None:
    """One element more or fewer in a vector."""
    places = []
    for s in ptx.of_kind("instruction"):
        if (i := instruction(s)) is not None:
            places += [(s, o) for o in i.operands if ptx.text[o[0]] == "{"]
    if not places:
        return None
    s, (begin, end) = rng.choice(places)
    parts = [p.strip() for p in ptx.text[begin + 1:end - 1].split(",")]
    how = rng.randrange(4)
    if how == 0:
        parts.pop(rng.randrange(len(parts)))
    elif how == 1:
        parts.insert(rng.randrange(len(parts) + 1), rng.choice(parts))
    elif how == 2:
        parts[rng.randrange(len(parts))] = _some_operand(rng)
    else:
        return _declared(ptx, s, (begin, end, parts[0]))
    return _declared(ptx, s, (begin, end, "{" + ", ".join(parts) + "}"))


def number_changed(ptx: PtxText, rng: random.Random) -> str | None:
    numbers = [t for s in ptx.statements if s.kind in ("instruction", "variable", "registers") for t in s.tokens if t.kind == "number"]
    if not numbers:
        return None
    t = rng.choice(numbers)
    return ptx.changed((t.begin, t.end, _other(rng, NUMBERS, t.text)))


def guard_changed(ptx: PtxText, rng: random.Random) -> str | None:
    if (found := _instruction(ptx, rng)) is None:
        return None
    s, i = found
    new = rng.choice(("@%zp ", "@!%zp ", "@%zr ", "@%zundefined ", "@%zh ", "@0 ", "@!!%zp ", ""))
    begin, end = i.guard if i.guard is not None else (i.opcode.begin, i.opcode.begin)
    return _declared(ptx, s, (begin, end, new + ("" if i.guard is None else " ")))


def registers_changed(ptx: PtxText, rng: random.Random) -> str | None:
    """Another type, fewer registers, a vector of them, twice, none."""
    if (s := _statement(ptx, rng, "registers")) is None:
        return None
    types = [t for t in s.tokens if t.text[1:] in TYPES]
    how = rng.randrange(6)
    if how <= 2 and types:
        return ptx.changed((types[0].begin + 1, types[0].end, _other(rng, TYPES, types[0].text[1:])))
    if how == 3 and types:
        return ptx.changed((types[0].begin, types[0].begin, rng.choice((".v2 ", ".v4 ", ".align 8 ", ".v8 ", ".b32 ", ".global "))))
    if how == 4:
        return ptx.changed((s.end, s.end, ";\n" + ptx.text[s.begin:s.end]))
    numbers = [t for t in s.tokens if t.kind == "number"]
    if numbers:
        return ptx.changed((numbers[0].begin, numbers[0].end, rng.choice(("1", "2", "0", "1.0", "-1", "%zr", ""))))
    return ptx.changed((s.begin, s.end, ""))


def _declaration(ptx: PtxText, rng: random.Random) -> Statement | None:
    return _statement(ptx, rng, rng.choice(("variable", "function", "function")))


def _word_of_declaration(ptx: PtxText, rng: random.Random, family: list[str]) -> str | None:
    """One `.word` of a declaration that is in the family becomes another one of it."""
    if (s := _declaration(ptx, rng)) is None:
        return None
    words = [t for t in s.tokens if t.kind == "dot" and t.text[1:] in family]
    if not words:
        return None
    t = rng.choice(words)
    return ptx.changed((t.begin + 1, t.end, _other(rng, family, t.text[1:])))


def declaration_type(ptx: PtxText, rng: random.Random) -> str | None:
    return _word_of_declaration(ptx, rng, TYPES)


def declaration_space(ptx: PtxText, rng: random.Random) -> str | None:
    return _word_of_declaration(ptx, rng, SPACES)


def declaration_attribute(ptx: PtxText, rng: random.Random) -> str | None:
    """.align, .ptr, .v2 and so on behind a type or a space; or one of them dropped."""
    if (s := _declaration(ptx, rng)) is None:
        return None
    attributes = [t for t in s.tokens if t.kind == "dot"]
    if not attributes:
        return None
    t = rng.choice(attributes)
    if rng.random() < 0.25:
        return ptx.changed((t.begin, t.end, ""))
    new = rng.choice((" .align 8", " .align 3", " .align 16", " .align 0", " .align 256", " .align 8192", " .ptr", " .ptr .global .align 4",
                      " .ptr .align 16", " .v2", " .v4", " .v8", " .attribute(.managed)", " .u32", " .b8", " .ptr .shared", " .const"))
    return ptx.changed((t.end, t.end, new))


def declaration_array(ptx: PtxText, rng: random.Random) -> str | None:
    """Dimensions of a variable or parameter."""
    if (s := _declaration(ptx, rng)) is None:
        return None
    new = rng.choice(("[]", "[0]", "[1]", "[4]", "[-1]", "[3][]", "[][3]", "[2][2]", "[4294967296]", "[x]", "[1.5]", "[5000]", ""))
    opens = [k for k, t in enumerate(s.tokens) if t.text == "["]
    if opens:
        k = rng.choice(opens)
        close = next((t for t in s.tokens[k:] if t.text == "]"), None)
        return None if close is None else ptx.changed((s.tokens[k].begin, close.end, new))
    names = [t for k, t in enumerate(s.tokens) if t.kind == "name" and k > 0 and s.tokens[k - 1].kind == "dot" and t.text not in OPCODES]
    return ptx.changed((names[-1].end, names[-1].end, new)) if names else None


def variable_initialised(ptx: PtxText, rng: random.Random) -> str | None:
    if (s := _statement(ptx, rng, "variable")) is None:
        return None
    values = ("5", "-1", "1.0", "0f3F800000", "{1, 2}", "{}", "{1, 2, 3, 4, 5}", "{1.0}", "{{1}}", "zg", "zundefined", "{zg}", "{zg+4}",
              "generic(zg)", "300", '"a"', "1+2", "0d3FF0000000000000", "{0x1FFFFFFFFF}")
    equals = next((t for t in s.tokens if t.text == "="), None)
    edit = (equals.begin if equals is not None else s.end, s.end, f" = {rng.choice(values)}")
    return _declared(ptx, s, edit)


def linkage(ptx: PtxText, rng: random.Random) -> str | None:
    if (s := _declaration(ptx, rng)) is None:
        return None
    first = s.tokens[0]
    new = rng.choice((".visible ", ".extern ", ".weak ", ".common ", ".visible .extern ", ""))
    drop = first.text in (".visible", ".extern", ".weak", ".common")
    if not drop and not new:
        return None
    return ptx.changed((first.begin, first.end if drop else first.begin, new))


def variable_added(ptx: PtxText, rng: random.Random) -> str | None:
    """A declaration that stands alone, outside or inside a function."""
    space = rng.choice(SPACES)
    line = (f"{rng.choice(('', '', '.visible ', '.extern ', '.weak ', '.common '))}.{space} {rng.choice(('', '', '.align 8 ', '.v2 ', '.v4 '))}"
            f".{rng.choice(TYPES)} zadded{rng.choice(('', '[4]', '[]', '[2][2]', '[0]'))}"
            f"{rng.choice(('', '', '', ' = 1', ' = {1, 2}', ' = 1.0'))};\n")
    bodies = sorted({s.body for s in ptx.statements if s.body >= 0})
    first = next((x for x in ptx.statements if x.kind in ("function", "variable") and x.body < 0), None)
    places = bodies[:1] + ([first.begin] if first is not None else [])
    return ptx.changed((at := rng.choice(places), at, line)) if places else None


def directive_changed(ptx: PtxText, rng: random.Random) -> str | None:
    wanted = {".version": ["1.0", "1.4", "2.0", "3.1", "3.2", "4.3", "5.0", "6.0", "6.3", "6.5", "7.0", "7.8", "8.0", "8.6", "9.0", "9.9", "10.0"],
              ".target": ["sm_10", "sm_20", "sm_30", "sm_35", "sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a",
                          "sm_100", "sm_100a", "sm_120", "sm_77", "compute_75", "sm_75, debug", "sm_75, texmode_independent",
                          "sm_75, map_f64_to_f32", "sm_75, sm_80"],
              ".address_size": ["32", "64", "16"]}
    found = [s for s in ptx.of_kind("directive") if s.tokens[0].text in wanted]
    if not found:
        return None
    s = rng.choice(found)
    how = rng.randrange(6)
    if how == 0:
        return ptx.changed((s.begin, s.end, ""))
    if how == 1:
        return ptx.changed((s.end, s.end, "\n" + ptx.text[s.begin:s.end]))
    return ptx.changed((s.tokens[0].end, s.end, " " + rng.choice(wanted[s.tokens[0].text])))


def launch_bounds(ptx: PtxText, rng: random.Random) -> str | None:
    """A performance directive behind a function's header."""
    if (s := _statement(ptx, rng, "function")) is None:
        return None
    name = rng.choice((".maxntid", ".reqntid", ".maxnreg", ".minnctapersm", ".maxnctapersm", ".noreturn", ".pragma", ".reqnctapercluster",
                       ".explicitcluster", ".maxclusterrank", ".blah", ".minnctapersm 1 .maxntid", ".maxntid 64 .reqntid"))
    value = rng.choice(("1", "32", "128, 2", "8, 8, 8", "1, 1, 1, 1", "0", "-1", "2048", "", '"nounroll";', "1.5", "65536"))
    return ptx.changed((s.end, s.end, f"\n{name} {value}\n"))


def label_changed(ptx: PtxText, rng: random.Random) -> str | None:
    """A branch to a label that is not there, or a label twice, or one dropped."""
    labels = [m for m in re.finditer(r"^\s*([$\w]+):", ptx.text, re.MULTILINE)]
    if not labels:
        return None
    m = rng.choice(labels)
    new = rng.choice((m[0] + "\n" + m[0], "", m[0].replace(m[1], m[1] + "x"), m[0].replace(":", "")))
    return ptx.changed((m.start(), m.end(), new))


def token_dropped(ptx: PtxText, rng: random.Random) -> str | None:
    t = rng.choice(ptx.tokens)
    return ptx.changed((t.begin, t.end, ""))


def token_twice(ptx: PtxText, rng: random.Random) -> str | None:
    t = rng.choice(ptx.tokens)
    return ptx.changed((t.end, t.end, " " + t.text))


def tokens_swapped(ptx: PtxText, rng: random.Random) -> str | None:
    k = rng.randrange(len(ptx.tokens) - 1)
    a, b = ptx.tokens[k], ptx.tokens[k + 1]
    return None if a.text == b.text else ptx.changed((a.begin, a.end, b.text), (b.begin, b.end, a.text))


def statement_dropped(ptx: PtxText, rng: random.Random) -> str | None:
    s = rng.choice(ptx.statements)
    return ptx.changed((s.begin, s.end, ""))


def statement_moved(ptx: PtxText, rng: random.Random) -> str | None:
    """A statement once more in front of another: duplicates, declarations behind their use, code outside of functions."""
    a, b = rng.choice(ptx.statements), rng.choice(ptx.statements)
    end = "\n" if a.kind == "directive" else ";\n"
    return ptx.changed((b.begin, b.begin, ptx.text[a.begin:a.end] + end))


#: name: (share of the mutations, change)
KINDS: dict[str, tuple[int, Change]] = {
    "opcode": (4, opcode), "modifier in family": (8, modifier_in_family), "type": (10, type_changed), "modifier": (6, modifier_any),
    "modifier dropped": (5, modifier_dropped), "modifier added": (7, modifier_added), "modifier twice": (2, modifier_twice),
    "modifiers swapped": (2, modifiers_swapped), "operand dropped": (4, operand_dropped), "operand twice": (3, operand_twice),
    "operands swapped": (4, operands_swapped), "operand": (12, operand_replaced), "operand added": (3, operand_added),
    "register class": (8, register_class), "address": (6, address_changed), "elements": (3, elements_changed), "number": (5, number_changed),
    "guard": (3, guard_changed), "registers": (6, registers_changed), "declaration type": (5, declaration_type),
    "declaration space": (4, declaration_space), "declaration attribute": (4, declaration_attribute), "array": (4, declaration_array),
    "initial value": (3, variable_initialised), "linkage": (3, linkage), "variable": (4, variable_added), "directive": (5, directive_changed),
    "launch bounds": (3, launch_bounds), "label": (2, label_changed), "token dropped": (4, token_dropped), "token twice": (3, token_twice),
    "tokens swapped": (3, tokens_swapped), "statement dropped": (3, statement_dropped), "statement moved": (3, statement_moved),
}


def mutate(ptx: PtxText, rng: random.Random, kinds: list[str]) -> tuple[str, str] | None:
    """Kind and text of a mutation; nothing if the chosen kind finds no place."""
    kind = rng.choices(kinds, [KINDS[k][0] for k in kinds])[0]
    text = KINDS[kind][1](ptx, rng)
    return None if text is None or text == ptx.text else (kind, text)
