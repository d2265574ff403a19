"""Loads and stores of a thread's memory cells."""
from formats import bits_of, decode_int
from model import SPACES, Item, ones


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
