"""Items whose references are here, since the opcode tests check them otherwise: predicates, carry flags, packing, shuffles."""
from form_items import Plain
from formats import bits_of, decode_int
from model import LANES, Item, ones, type_bits


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


class Shuffle(Item):
    """shfl.sync of the whole warp: a source lane outside of the segment gives the own value and a false predicate."""

    def __init__(self, mode, destination, predicate, source, offset, clamp):
        super().__init__(None)
        self.mode, self.destination, self.predicate = mode, destination, predicate
        self.source, self.offset, self.clamp = source, offset, clamp

    def text(self):
        words = ", ".join([f"{self.destination}|{self.predicate}", self.source.text(), self.offset.text(), self.clamp.text()])
        return f"{self.offset.prepare()}shfl.sync.{self.mode}.b32 {words}, -1;"

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
