"""Random programs from the forms that have a reference."""
import random
import re

from catalog import all_forms
from cell_items import Load, Store
from form_items import Block, Plain, Special, WarpBlock
from formats import bits_of
from generate_half import TRUE
from model import CELL_BYTES, LANES, SPACES, CellOperand, Constant, Guard, Lane, Probe, Program, Reg, Region, type_bits
from own_items import Carry, Compare, CompareSet, Lop3, Pack, Permute, PredicateLogic, Select, Shuffle, Unpack
from vectors import RNG, SHIFTS, reg_type, values

# Forms that a random operand does not suit.
EXCLUDED = {
    "a special register's value depends on the launch": r"mov\.u(32|64)\.(ntid\.x|gridid)",
    "an address outside of the window is undefined": r"cvta",
    "changes more than a result": r"discard|setmaxnreg|griddepcontrol",
    "only in PTX before 1.4": r"div\.f32$",
    "its vectors are for large divisors": r"div\.approx\.f32$",
    "shared memory of its own in each place": r"atom\.(exch|cas)\.b128",
    "Compare makes them of every setp and set": r"set(p\.(le\.xor|lt\.and|second)|\.gtu\.or)\.",
    "Carry makes chains of any length": r"addc|subc|madc|add\.cc|sub\.cc",
}
SIMPLE = re.compile(r"(\S+) %[dp], (%s\d(?:, %s\d)*);$")
SPECIAL = re.compile(r"mov\.u\d+ %d, %(?!s\d)")
WHOLE_WARP = re.compile(r"barrier|bar\.")
CONSTANTS = {"b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64", "n"}
OLD_OPCODES = {"add", "sub", "mul", "mad", "mul24", "mad24", "sad", "div", "rem", "abs", "neg", "min", "max", "set", "setp", "and",
               "or", "xor", "not", "cnot", "shl", "shr", "mov", "cvt", "selp", "slct"}
OLD_TYPES = {"b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "u8", "s8", "n", "pred"}
TARGETS = {"sm_90": "8.6", "sm_100": "8.8", "sm_13": "3.0"}
FLAVOURS = {16: ["u16", "f16", "bf16"], 32: ["u32", "f32", "f16x2", "bf16x2", "n"], 64: ["u64", "f64", "f32x2"]}
LETTER = {16: "h", 32: "w", 64: "d"}


def name_of(form):
    """Forms that differ in operands only are one."""
    return re.sub(r"\.case\d$|\.midpoints$", "", form.form) + ("" if form.target == "sm_90" else " " + form.target)


def is_old(form):
    """What an sm_13 module may use with the reference of later targets: integers."""
    types = set(form.sources + [form.result])
    return (form.form.split(".")[0] in OLD_OPCODES and types <= OLD_TYPES and form.statement is None
            and not re.search(r"relu|\.cc|x2|\.pack|\.f32$|\.f64$", form.form))


def usable(forms, target):
    seen, chosen = set(), []
    for f in forms:
        if any(re.match(pattern, f.form) for pattern in EXCLUDED.values()) or name_of(f) in seen:
            continue
        fits = f.target == target or (f.target == "sm_90" and (is_old(f) if target == "sm_13" else target == "sm_100"))
        if fits:
            seen.add(name_of(f))
            chosen.append(f)
    return chosen


def widens(opcode):
    """An integer of cvt may be in a wider register, except beside bf16."""
    return opcode is not None and re.match(r"cvt\.(?!pack)", opcode) and "bf16" not in opcode


class Catalogue:
    def __init__(self):
        self.forms = [f for f in all_forms()]
        self.by_target = {}
        for target in TARGETS:
            forms = usable(self.forms, target)
            heads = {}
            for f in forms:
                heads.setdefault(f.form.split(".")[0], []).append(f)
            compares = [f for f in forms if f.statement is None and re.match(r"setp\.\w+\.(ftz\.)?\w+$", f.form)
                        and not f.form.endswith("x2")]
            sets = [f for f in forms if f.statement is None and re.match(r"set\.\w+\.(ftz\.)?\w+\.\w+$", f.form)
                    and not f.sources[0].endswith("x2") and f.result in TRUE]
            self.by_target[target] = (forms, list(heads.values()), compares, sets)


def corner_values(rng, flavour):
    if flavour == "n":
        return SHIFTS + list(range(34))
    if flavour.endswith("x2"):
        part, n = flavour[:-2], bits_of(flavour) // 2
        pool = values(part, 30)
        return [rng.choice(pool) | rng.choice(pool) << n for _ in range(40)]
    return values(flavour, 40)


def inputs_of(rng, width):
    if width == 1:
        return rng.choice([[rng.getrandbits(1) for _ in range(LANES)], [rng.getrandbits(1)] * LANES])
    pool = corner_values(rng, rng.choice(FLAVOURS[width]))
    few = pool if rng.random() < 0.8 else rng.sample(pool, 2)
    if width == 64 and rng.random() < 0.2:  # values that share a half
        words = [rng.choice(pool) >> rng.choice([0, 32]) & 0xFFFFFFFF for _ in range(4)]
        few = [low | high << 32 for low in words[:2] for high in words[2:]]
    return [rng.choice(few) if rng.random() < 0.85 else rng.getrandbits(width) for _ in range(LANES)]


class Chooser:
    """Makes one program of `length` instructions."""

    def __init__(self, catalogue, target, seed):
        self.rng = random.Random(seed)
        RNG.seed(self.rng.getrandbits(32))
        self.target = target
        self.forms, self.heads, self.compares, self.sets = catalogue.by_target[target]
        counts = {16: self.rng.randint(3, 6), 32: self.rng.randint(4, 10), 64: self.rng.randint(3, 7), 1: self.rng.randint(3, 5)}
        self.pools = {w: [f"%{LETTER.get(w, 'p')}{i}" for i in range(n)] for w, n in counts.items()}
        self.labels = self.probes = 0
        self.constants = self.rng.choice([0.05, 0.2, 0.5])
        self.cells = self.rng.choice([0, 0.05, 0.2])
        self.guards = self.rng.choice([0, 0.1, 0.4])

    def program(self, length):
        widths = {name: w for w, names in self.pools.items() for name in names}
        inputs = {name: inputs_of(self.rng, w) for name, w in widths.items()}
        widths |= {f"%x{LETTER[w]}": w for w in LETTER}
        items = self.items(length, top=True)
        limit = self.rng.choice([0, 0, 0, 10, 16, 24])
        return Program(widths, inputs, items, self.probes, limit)

    def items(self, length, top):
        items, size = [], 0
        while size < length:
            items.append(self.item(top, length))
            size += items[-1].size
            register = getattr(items[-1], "destination", None)
            if register and self.rng.random() < 0.3:
                width = next((w for w, names in self.pools.items() if register in names), None)
                if width:  # not of an approximation
                    items.append(Probe(self.probes, register, width))
                    self.probes += 1
        return items

    def item(self, top, length):
        if top and length > 20 and self.rng.random() < 0.02:
            self.labels += 1
            label = f"L{self.labels}"
            return Region(self.guard(always=True), self.items(self.rng.randint(1, 15), top=False), label)
        modern = self.target != "sm_13"
        kinds = [(70, self.form), (4, self.compare), (2, self.compare_set), (3, self.select), (3, self.logic), (4, self.pack),
                 (3, self.unpack), (4, self.store), (4, self.load)]
        if modern:
            kinds += [(8, self.carry), (2, self.permute), (2, self.lop3)]
        if modern and top:
            kinds.append((2, self.shuffle))
        return self.rng.choices([k for _, k in kinds], [w for w, _ in kinds])[0](top)

    # --- operands ---
    def guard(self, always=False):
        if not always and self.rng.random() >= self.guards:
            return None
        return Guard(self.rng.choice(self.pools[1]), self.rng.random() < 0.5)

    def register(self, width):
        return self.rng.choice(self.pools[width])

    def operand(self, t, position=0, widths=None):
        width = self.rng.choice(widths) if widths else int(reg_type(t)[1:])
        draw = self.rng.random()
        if draw < self.constants and t in CONSTANTS:
            pool = SHIFTS + list(range(34)) if t == "n" else values(t, 24)
            return Constant("b32" if t == "n" else t, self.rng.choice(pool))
        if draw > 1 - self.cells and type_bits(t) == width:
            offset = self.rng.randrange(CELL_BYTES * 8 // width) * width // 8
            return CellOperand(self.rng.choice(list(SPACES)), offset, width, position)
        return Reg(self.register(width))

    def operands(self, form, opcode):
        wide = widens(opcode)
        chosen = []
        for i, t in enumerate(form.sources):
            widths = [w for w in LETTER if w >= bits_of(t)] if wide and t[0] in "us" and not t.endswith("x2") else None
            if t[0] == "b" and form.form.endswith((".f32", ".f64")) and form.form.startswith("mov."):
                t = form.form[-3:]  # moves bits, but a constant is written as the type wants it
            chosen.append(self.operand(t, i, widths))
            if form.form.startswith("bf") and isinstance(chosen[-1], Constant) and t == "n":
                chosen[-1] = Constant("u32", chosen[-1].raw & 255)
        if form.form.startswith("fns"):  # a base above 31 is undefined
            chosen[1] = Constant("u32", self.rng.randrange(32))
        return chosen

    def destination(self, form, opcode):
        """Register and width. Approximations go where no exact result looks at them."""
        t = form.result
        if form.tolerance is not None:
            width = int(reg_type(t)[1:])
            return f"%x{LETTER[width]}", width
        width = 1 if t == "pred" else int(reg_type(t)[1:])
        if widens(opcode) and t[0] in "us":
            width = self.rng.choice([w for w in LETTER if w >= bits_of(t)])
        return self.register(width), width

    # --- items ---
    def form(self, top):
        form = self.rng.choice(self.forms if self.rng.random() < 0.6 else self.rng.choice(self.heads))
        if not top and (form.warp or WHOLE_WARP.search(form.text())):
            return self.form(top)
        simple = SIMPLE.match(form.text())
        opcode = simple[1] if simple else None
        if SPECIAL.match(form.text()):
            width = bits_of(form.result)
            return Special(self.guard(), form, "mov." + form.result, self.register(width), width, [Lane()])
        destination, width = self.destination(form, opcode)
        operands = self.operands(form, opcode)
        if form.warp:
            return WarpBlock(self.guard(), form, destination, width, operands)
        if simple is None:
            return Block(self.guard(), form, destination, width, operands)
        return Plain(self.guard(), form, opcode, destination, width, operands)

    def compare(self, top):
        form = self.rng.choice(self.compares)
        first, second = self.rng.sample(self.pools[1], 2)
        if form.form.endswith("f16") or self.rng.random() < 0.5:  # half precision writes one predicate
            second = None
        operation = self.rng.choice([None, "and", "or", "xor"])
        return Compare(self.guard(), form, form.form, operation, first, second,
                             self.operands(form, None), self.register(1), self.rng.random() < 0.5)

    def compare_set(self, top):
        form = self.rng.choice(self.sets)
        destination = self.register(int(reg_type(form.result)[1:]))
        return CompareSet(TRUE[form.result], self.guard(), form, form.form, self.rng.choice(["and", "or", "xor"]), destination,
                                None, self.operands(form, None), self.register(1), self.rng.random() < 0.5)

    def select(self, top):
        t = self.rng.choice(["b16", "u16", "b32", "u32", "s32", "f32", "b64", "s64", "f64"])
        return Select(self.guard(), t, self.register(bits_of(t)), [self.operand(t, i) for i in range(2)], self.register(1))

    def logic(self, top):
        op = self.rng.choice(["and", "or", "xor", "not", "mov"])
        sources = [self.register(1) for _ in range(1 if op in ("not", "mov") else 2)]
        return PredicateLogic(self.guard(), op, self.register(1), sources)

    def carry(self, top):
        op = self.rng.choice(["add", "addc", "sub", "subc", "mad.lo", "mad.hi", "madc.lo", "madc.hi"])
        t = self.rng.choice(["u32", "s32", "u64", "s64"])
        writes = not op.split(".")[0].endswith("c") or self.rng.random() < 0.6
        count = 3 if op.startswith("mad") else 2
        return Carry(self.guard(), op, t, writes, self.register(bits_of(t)), [self.operand(t, i) for i in range(count)])

    def parts(self):
        whole, part = self.rng.choice([(32, 16), (64, 32), (64, 16)])
        return whole, part, whole // part

    def pack(self, top):
        whole, part, count = self.parts()
        return Pack(self.guard(), whole, self.register(whole), [self.register(part) for _ in range(count)])

    def unpack(self, top):
        whole, part, count = self.parts()
        count_used = min(count, len(self.pools[part]))
        destinations = self.rng.sample(self.pools[part], count_used) + ["_"] * (count - count_used)
        if self.target != "sm_13" and self.rng.random() < 0.2:
            destinations[self.rng.randrange(count - 1)] = "_"
        if count_used < count and self.target == "sm_13":
            return self.pack(top)
        return Unpack(self.guard(), whole, destinations, self.register(whole))

    def access(self):
        """Space, type, offset, registers, the part of the offset that an `add` makes, the registers' width."""
        t = self.rng.choice(["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"])
        step = bits_of(t) // 8
        width = self.rng.choice([w for w in LETTER if w >= bits_of(t)])
        count = self.rng.choice([n for n in (1, 1, 1, 2, 4) if n <= len(self.pools[width]) and n * step <= 16])
        offset = self.rng.randrange(CELL_BYTES // (step * count)) * step * count
        base = self.rng.choice([0, 0, offset, 8, -24])
        return self.rng.choice(list(SPACES)), t, offset, self.rng.sample(self.pools[width], count), base, width

    def store(self, top):
        return Store(self.guard(), *self.access()[:-1])

    def load(self, top):
        return Load(self.guard(), *self.access())

    def permute(self, top):
        opcode = "prmt.b32." + self.rng.choice(list(Permute.TABLE))
        return Permute(self.guard(), None, opcode, self.register(32), 32, [self.operand("b32", i) for i in range(3)])

    def lop3(self, top):
        return Lop3(self.guard(), self.rng.getrandbits(8), self.register(32), [self.operand("b32", i) for i in range(3)])

    def shuffle(self, top):
        mode = self.rng.choice(["up", "down", "bfly", "idx"])
        clamp = Constant("b32", self.rng.choice([0, 0x1F, 0x181F, 0x1C03, 0x1000, self.rng.getrandbits(13)]))
        return Shuffle(mode, self.register(32), self.register(1), Reg(self.register(32)), self.operand("n"), clamp)
