"""Straight-line programs over a pool of registers: the PTX of each item, and what it does to the values of all lanes.

Every reference comes from the opcode tests (isa/tests/opcodes); this file adds those of operations that the tests check
otherwise: carry flags, packing, predicates, shuffles, memory cells.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "opcodes"))

from formats import bits_of, decode_int, mask, to_signed  # noqa: E402
from vectors import MEMBERS, reg_type  # noqa: E402

LANES = 32
UNKNOWN = None  # value of an approximation: equal at all lowerings, not known here
CELL_BYTES = 32
SPACES = {"shared": "%sh", "local": "%lo", "global": "%gl"}  # registers with the address of a thread's cells


def ones(bits):
    return (1 << bits) - 1


def type_bits(t):
    return 32 if t == "n" else bits_of(t)


class State:
    """Values of all lanes: registers by name, the carry flag, and bytes per memory space."""

    def __init__(self, registers):
        self.values = registers
        self.carry = [0] * LANES
        self.cells = {space: [bytearray(CELL_BYTES) for _ in range(LANES)] for space in SPACES}


class Program:
    """`widths`: bits of each register, 1 for a predicate, those that start with %x hold approximations."""

    def __init__(self, widths, inputs, items, probes, registers=0):
        self.widths, self.inputs, self.items, self.probes, self.registers = widths, inputs, items, probes, registers

    def with_items(self, items):
        return Program(self.widths, self.inputs, items, self.probes, self.registers)

    def results(self):
        """What a kernel stores: all registers at its end, and the probes."""
        return [*self.widths, *(f"probe{i}" for i in range(self.probes))]

    def with_used_registers(self):
        used = set(re.findall(r"%\w+", " ".join(item.text() for item in self.items)))
        widths = {n: w for n, w in self.widths.items() if n in used}
        return Program(widths, self.inputs, self.items, self.probes, self.registers)

    def expected(self):
        state = State({name: list(self.inputs.get(name, [0] * LANES)) for name in self.results()})
        for item in self.items:
            item.run(state, range(LANES))
        return state.values


class Reg:
    """A register as an operand; only the low bits of a wider one count."""

    def __init__(self, name):
        self.name = name

    def text(self):
        return self.name

    def prepare(self):
        return ""

    def value(self, state, lane):
        return state.values[self.name][lane]


class Lane:
    """The number of the thread, which the references of special registers start from."""

    def prepare(self):
        return ""

    def value(self, state, lane):
        return lane


class Constant:
    def __init__(self, t, raw):
        self.raw = raw
        if t in ("f32", "f64"):
            self.written = f"0f{raw:08X}" if t == "f32" else f"0d{raw:016X}"
        else:
            self.written = str(decode_int(t, raw)) if t[0] == "s" else hex(raw) if raw > 9 else str(raw)

    def text(self):
        return self.written

    def prepare(self):
        return ""

    def value(self, state, lane):
        return self.raw


class CellOperand:
    """A value straight from memory, through a register of its own: what lowering may fold into the instruction."""

    def __init__(self, space, offset, bits, position):
        self.space, self.offset, self.bits = space, offset, bits
        self.name = f"%m{bits}_{position}"

    def text(self):
        return self.name

    def prepare(self):
        return f"ld.{self.space}.b{self.bits} {self.name}, [{SPACES[self.space]}+{self.offset}]; "

    def value(self, state, lane):
        return int.from_bytes(state.cells[self.space][lane][self.offset:self.offset + self.bits // 8], "little")


class Guard:
    def __init__(self, name, negated):
        self.name, self.negated = name, negated

    def text(self):
        return f"@{'!' if self.negated else ''}{self.name} "

    def passes(self, state, lane):
        return state.values[self.name][lane] != self.negated


class Item:
    """One or a few instructions with a guard. `effect(state, lane)` returns {register: value}."""

    size = 1

    def __init__(self, guard):
        self.guard = guard

    def run(self, state, lanes):
        for lane in lanes:
            if self.guard is None or self.guard.passes(state, lane):
                for name, value in self.effect(state, lane).items():
                    state.values[name][lane] = value

    def guarded(self, text):
        return (self.guard.text() if self.guard else "") + text


class Plain(Item):
    """`opcode d, a, b, c;` of a form with a reference."""

    def __init__(self, guard, form, opcode, destination, width, operands):
        super().__init__(guard)
        self.form, self.opcode, self.destination, self.width, self.operands = form, opcode, destination, width, operands

    def text(self):
        words = ", ".join([self.destination] + [o.text() for o in self.operands])
        return "".join(o.prepare() for o in self.operands) + self.guarded(f"{self.opcode} {words};")

    def effect(self, state, lane):
        return {self.destination: self.result([o.value(state, lane) for o in self.operands])}

    def result(self, raw):
        """The reference's result, extended to the destination's width by the sign of its type."""
        if self.form.tolerance is not None or UNKNOWN in raw:
            return UNKNOWN
        t = self.form.result
        r = self.form.fn(*[v & ones(type_bits(t)) for t, v in zip(self.form.sources, raw)])
        if t == "pred":
            return r
        r &= ones(bits_of(t))
        return to_signed(r, bits_of(t)) & ones(self.width) if t[0] == "s" else r


class Special(Plain):
    """mov from a special register."""

    def text(self):
        source = self.form.statement.split(", ")[1]
        return self.guarded(f"{self.opcode} {self.destination}, {source}")


class Block(Plain):
    """A form whose file has several statements: they run on copies, only the result's move is guarded."""

    def __init__(self, guard, form, destination, width, operands):
        super().__init__(guard, form, None, destination, width, operands)
        self.size = form.statement.count(";") + 1 + len(operands)

    def text(self):
        f = self.form
        names = {"%d": "%B_d", "%p": "%B_p", "%q": "%B_q", "%t": "%B_t", "%x": "%B_x", "%a0": "%B_a"}
        names |= {f"%s{i}": f"%B_s{i}" for i in range(len(f.sources))}
        declarations = [".reg .pred %B_p, %B_q; .reg .b32 %B_t; .reg .b64 %B_x, %B_a;"]
        if f.result != "pred" or "%d" in f.statement:
            declarations.append(f".reg .{'b32' if f.result == 'pred' else reg_type(f.result)} %B_d;")
        copies = []
        for i, (t, operand) in enumerate(zip(f.sources, self.operands)):
            declarations.append(f".reg .{reg_type(t)} %B_s{i};")
            copies.append(f"{operand.prepare()}mov.{reg_type(t)} %B_s{i}, {operand.text()};")
        if "%t" in f.statement:  # the thread's number in the vector files
            copies.append("mov.u32 %B_t, %tid.x;")
        if "[%a0" in f.statement:
            t = f.sources[0]
            copies.append("add.u64 %B_a, %gl, 64; st.global.u64 [%B_a], 0; "
                          f"st.global.b{type_bits(t)} [%B_a], %B_s0;")
        statement = re.sub(r"%(?:d|p|q|t|x|a0|s\d)(?![\w<])", lambda m: names.get(m[0], m[0]), f.statement)
        end = f"mov.pred {self.destination}, %B_p;" if f.result == "pred" else \
            f"mov.{reg_type(f.result)} {self.destination}, %B_d;"
        return "{ " + " ".join(declarations + copies) + " " + statement + " " + self.guarded(end) + " }"


class WarpBlock(Block):
    """An operation of all lanes in MEMBERS; it must stand where the warp is whole."""

    def run(self, state, lanes):
        raw = [self.operands[0].value(state, lane) for lane in range(LANES)]
        rows = [[v & ones(type_bits(self.form.sources[0]))] for v in raw]
        members = [r[0] for i, r in enumerate(rows) if MEMBERS >> i & 1]
        results = [self.form.warp(rows, members, r[0]) & ones(self.width) if MEMBERS >> i & 1 else 0
                   for i, r in enumerate(rows)]
        for lane in lanes:
            if self.guard is None or self.guard.passes(state, lane):
                state.values[self.destination][lane] = results[lane]


class Shuffle(Item):
    """shfl.sync of the whole warp: a source lane outside of the segment gives the own value and a false predicate."""

    def __init__(self, mode, destination, predicate, source, offset, clamp):
        super().__init__(None)
        self.mode, self.destination, self.predicate = mode, destination, predicate
        self.source, self.offset, self.clamp = source, offset, clamp

    def text(self):
        return (f"{self.offset.prepare()}shfl.sync.{self.mode}.b32 {self.destination}|{self.predicate}, {self.source.text()}, {self.offset.text()}, "
                f"{self.clamp.text()}, -1;")

    def run(self, state, lanes):
        raw = [self.source.value(state, lane) for lane in range(LANES)]
        for lane, (value, ok) in enumerate([self.moved(state, raw, lane) for lane in range(LANES)]):
            state.values[self.destination][lane], state.values[self.predicate][lane] = value, ok

    def moved(self, state, raw, lane):
        b, c = self.offset.value(state, lane) & 31, self.clamp.value(state, lane)
        segment, c = c >> 8 & 31, c & 31
        low, high = lane & segment, lane & segment | c & ~segment & 31
        j = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": low | b & ~segment & 31}[self.mode]
        ok = j >= high if self.mode == "up" else j <= high
        return raw[j] if ok else raw[lane], int(ok)


BOOLEAN = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}


class Compare(Plain):
    """setp with a second destination or a predicate to combine with: p = c op q, second = (not c) op q."""

    def __init__(self, guard, form, opcode, operation, first, second, operands, source, negated):
        super().__init__(guard, form, opcode, first, 1, operands)
        self.operation, self.second, self.source, self.negated = operation, second, source, negated

    def text(self):
        words = [f"{self.destination}|{self.second}" if self.second else self.destination] + [o.text() for o in self.operands]
        opcode = self.opcode
        if self.operation:
            head, comparison, rest = opcode.split(".", 2)
            opcode = f"{head}.{comparison}.{self.operation}.{rest}"
            words.append(("!" if self.negated else "") + self.source)
        return "".join(o.prepare() for o in self.operands) + self.guarded(f"{opcode} {', '.join(words)};")

    def effect(self, state, lane):
        c = int(self.result([o.value(state, lane) for o in self.operands]) != 0)
        combine = lambda v: v
        if self.operation:
            q = state.values[self.source][lane] ^ self.negated
            combine = lambda v: BOOLEAN[self.operation](v, q)
        effects = {self.destination: self.outcome(combine(c))}
        if self.second:
            effects[self.second] = combine(1 - c)
        return effects

    def outcome(self, c):
        return c


class CompareSet(Compare):
    """set with a predicate to combine with; `true` is what the type writes for true."""

    def __init__(self, true, *arguments):
        super().__init__(*arguments)
        self.true = true

    def outcome(self, c):
        return self.true * c


class Select(Item):
    def __init__(self, guard, t, destination, operands, source):
        super().__init__(guard)
        self.t, self.destination, self.operands, self.source = t, destination, operands, source

    def text(self):
        words = ", ".join([self.destination] + [o.text() for o in self.operands] + [self.source])
        return "".join(o.prepare() for o in self.operands) + self.guarded(f"selp.{self.t} {words};")

    def effect(self, state, lane):
        chosen = self.operands[0 if state.values[self.source][lane] else 1]
        return {self.destination: chosen.value(state, lane) & ones(type_bits(self.t))}


class PredicateLogic(Item):
    def __init__(self, guard, op, destination, sources):
        super().__init__(guard)
        self.op, self.destination, self.sources = op, destination, sources

    def text(self):
        return self.guarded(f"{self.op}.pred {', '.join([self.destination] + self.sources)};")

    def effect(self, state, lane):
        v = [state.values[s][lane] for s in self.sources]
        return {self.destination: v[0] if self.op == "mov" else 1 - v[0] if self.op == "not" else BOOLEAN[self.op](*v)}


class Carry(Item):
    """add, sub, mad with .cc, addc, subc, madc: one flag, which a subtraction sets if it does not borrow."""

    def __init__(self, guard, op, t, writes, destination, operands):
        super().__init__(guard)
        self.op, self.t, self.writes, self.destination, self.operands = op, t, writes, destination, operands

    def text(self):
        words = ", ".join([self.destination] + [o.text() for o in self.operands])
        cc = ".cc" if self.writes else ""
        return "".join(o.prepare() for o in self.operands) + self.guarded(f"{self.op}{cc}.{self.t} {words};")

    def effect(self, state, lane):
        n = bits_of(self.t)
        raw = [o.value(state, lane) & ones(n) for o in self.operands]
        base = self.op.split(".")[0]
        flag = state.carry[lane] if base.endswith("c") else 1 if base == "sub" else 0
        if base.startswith("mad"):
            a, b = (decode_int(self.t, v) for v in raw[:2])
            product = a * b >> n if ".hi" in self.op else a * b
            total = (product & ones(n)) + raw[2] + flag
        elif base.startswith("sub"):
            total = raw[0] + (ones(n) ^ raw[1]) + flag
        else:
            total = raw[0] + raw[1] + flag
        if self.writes:
            state.carry[lane] = total >> n & 1
        return {self.destination: total & ones(n)}


class Pack(Item):
    """mov of several registers into one."""

    def __init__(self, guard, bits, destination, sources):
        super().__init__(guard)
        self.bits, self.destination, self.sources = bits, destination, sources

    def text(self):
        return self.guarded(f"mov.b{self.bits} {self.destination}, {{{', '.join(self.sources)}}};")

    def effect(self, state, lane):
        part = self.bits // len(self.sources)
        return {self.destination: sum(state.values[s][lane] << part * i for i, s in enumerate(self.sources))}


class Unpack(Item):
    def __init__(self, guard, bits, destinations, source):
        super().__init__(guard)
        self.bits, self.destinations, self.source = bits, destinations, source

    def text(self):
        return self.guarded(f"mov.b{self.bits} {{{', '.join(self.destinations)}}}, {self.source};")

    def effect(self, state, lane):
        part, v = self.bits // len(self.destinations), state.values[self.source][lane]
        return {d: v >> part * i & ones(part) for i, d in enumerate(self.destinations) if d != "_"}


class Access(Item):
    """ld or st of one or a few registers in a thread's cells; `base` bytes of the offset are added to a pointer before."""

    def __init__(self, guard, space, t, offset, registers, base):
        super().__init__(guard)
        self.space, self.t, self.offset, self.registers, self.base = space, t, offset, registers, base

    def words(self, opcode):
        """Opcode, address and registers."""
        names = ", ".join(self.registers)
        vector = f".v{len(self.registers)}" if len(self.registers) > 1 else ""
        pointer = SPACES[self.space]
        before = "" if self.base == 0 else f"add.s64 %at, {pointer}, {self.base}; "
        address = f"[{'%at' if before else pointer}+{self.offset - self.base}]"
        return before, f"{opcode}.{self.space}{vector}.{self.t}", address, f"{{{names}}}" if vector else names

    def places(self):
        """Register and its bytes."""
        step = bits_of(self.t) // 8
        for i, register in enumerate(self.registers):
            at = self.offset + i * step
            yield register, slice(at, at + step)


class Store(Access):
    def text(self):
        before, opcode, address, names = self.words("st")
        return before + self.guarded(f"{opcode} {address}, {names};")

    def effect(self, state, lane):
        n, cells = bits_of(self.t), state.cells[self.space][lane]
        for register, place in self.places():
            cells[place] = (state.values[register][lane] & ones(n)).to_bytes(n // 8, "little")
        return {}


class Load(Access):
    def __init__(self, guard, space, t, offset, registers, base, width):
        super().__init__(guard, space, t, offset, registers, base)
        self.width = width

    def text(self):
        before, opcode, address, names = self.words("ld")
        return before + self.guarded(f"{opcode} {names}, {address};")

    def effect(self, state, lane):
        cells = state.cells[self.space][lane]
        return {register: decode_int(self.t, int.from_bytes(cells[place], "little")) & ones(self.width)
                for register, place in self.places()}


class Probe(Item):
    """Stores a register at once, so that a wrong value shows even if nothing comes of it."""

    def __init__(self, number, register, width):
        super().__init__(None)
        self.number, self.register, self.width = number, register, width

    def text(self):
        at = f"[%pr+{self.number * LANES * 8}]"
        if self.width == 1:
            return f"selp.u32 %tid_, 1, 0, {self.register}; st.global.u32 {at}, %tid_;"
        return f"st.global.b{self.width} {at}, {self.register};"

    def effect(self, state, lane):
        return {f"probe{self.number}": state.values[self.register][lane]}


class Region(Item):
    """Items that some lanes jump over."""

    def __init__(self, guard, items, label):
        super().__init__(guard)
        self.items, self.label = items, label

    @property
    def size(self):
        return 1 + sum(i.size for i in self.items)

    def text(self):
        over = Guard(self.guard.name, not self.guard.negated).text()
        return "\n  ".join([f"{over}bra {self.label};"] + [i.text() for i in self.items] + [self.label + ":"])

    def run(self, state, lanes):
        inside = [lane for lane in lanes if self.guard.passes(state, lane)]
        for item in self.items:
            item.run(state, inside)


class Permute(Plain):
    """prmt with a mode: the manual's table of bytes, most significant first, by the low two bits of c."""

    TABLE = {"f4e": ["3210", "4321", "5432", "6543"], "b4e": ["5670", "6701", "7012", "0123"],
             "rc8": ["0000", "1111", "2222", "3333"], "ecl": ["3210", "3211", "3222", "3333"],
             "ecr": ["0000", "1110", "2210", "3210"], "rc16": ["1010", "3232", "1010", "3232"]}

    def result(self, raw):
        a, b, c = raw
        data = (b & ones(32)) << 32 | a & ones(32)
        row = self.TABLE[self.opcode.split(".")[-1]][c & 3]
        return sum((data >> 8 * int(digit) & 255) << 8 * (3 - i) for i, digit in enumerate(row))


class Lop3(Plain):
    """lop3 with a table of its own behind the operands."""

    def __init__(self, guard, table, destination, operands):
        super().__init__(guard, None, "lop3.b32", destination, 32, operands)
        self.table = table

    def text(self):
        return super().text()[:-1] + f", {self.table:#x};"

    def result(self, raw):
        a, b, c = raw
        return sum((self.table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i for i in range(32))
