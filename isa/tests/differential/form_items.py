"""Items made from the forms of the opcode tests, with the references that are there (isa/tests/opcodes)."""
import re

from formats import bits_of, to_signed
from model import LANES, UNKNOWN, Item, ones, type_bits
from vectors import MEMBERS, reg_type


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
