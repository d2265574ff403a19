"""Straight-line programs over a pool of registers: the PTX of each item, and what it does to the values of all lanes."""
import re

from formats import bits_of, decode_int

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
