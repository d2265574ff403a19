"""Tiny programs that show which opcode is which: probes.txt against opcodes.csv. Needs ptxas."""

import csv
import re
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from check_ptxas import sections
from compiler.make import ARCHITECTURES, FOLDER, LIMIT_S, OPERATION_MASK

HEAD = """.version 7.8
.target sm_{architecture}
.address_size 64
.shared .align 16 .b8 sh[1024];
.const .align 16 .b8 cn[1024];
"""
KERNEL = """.visible .entry probe{number}(.param .u64 from, .param .u64 to) {{
.local .align 4 .b8 lo[512];
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<32>; .reg .b64 %d<32>; .reg .f32 %f<32>; .reg .f64 %g<32>;
ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to];{spaces}
mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 32; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
{body}
ret; }}
"""
#: Register letters, their types and sizes.
KINDS = {"r": ("u32", 4), "f": ("f32", 4), "g": ("f64", 8), "d": ("u64", 8)}
GLOBAL = " cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2;"


@dataclass(frozen=True)
class Probe:
    name: str
    first: int
    last: int
    statements: str

    def architectures(self) -> list[int]:
        return [sm for sm in ARCHITECTURES if self.first <= sm <= self.last]

    def kernel(self, number: int) -> str:
        """The kernel `probe<number>`. Generic accesses need addresses of which ptxas does not know the space."""
        generic = re.search(r"\b(ld|st|atom\.\w+)\.[ub]32 ", self.statements)
        space = "" if generic else ".global"
        loads = [f"ld{space}.{kind} %{letter}{number}, [%d1+{(number - 2) * size}];" for letter, (kind, size) in KINDS.items()
                 for number in (2, 3, 4) if letter != "d" and f"%{letter}{number}" in self.statements]
        stores = [f"st{space}.{kind} [%d2], %{letter}9;" for letter, (kind, _) in KINDS.items() if f"%{letter}9" in self.statements]
        return KERNEL.format(number=number, spaces="" if generic else GLOBAL,
                             body="\n".join([*loads, self.statements, *stores]))


def probes() -> list[Probe]:
    found = []
    for line in (FOLDER / "probes.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, first, last, statements = line.split(maxsplit=3)
            found.append(Probe(name, int(first), int(last), statements))
    return found


def named() -> dict[str, tuple[set[int], bool]]:
    """The codes of each name of opcodes.csv, and whether a probe has to show it."""
    names: dict[str, tuple[set[int], bool]] = {}
    with open(FOLDER / "opcodes.csv", newline="") as table:
        for row in csv.DictReader(table):
            codes, probed = names.get(row["name"], (set(), False))
            names[row["name"]] = (codes | {int(row["code"], 16)}, probed or row["source"] == "probe")
    return names


def operations(kernels: dict[int, str], architecture: int) -> dict[int, set[int]] | str:
    """The operations of each kernel of a module with all of them, or what ptxas has against it."""
    with tempfile.TemporaryDirectory(prefix="gpusim_probe_") as folder:
        ptx, code = Path(folder) / "in.ptx", Path(folder) / "out.cubin"
        ptx.write_text(HEAD.format(architecture=architecture) + "\n".join(kernels.values()))
        done = subprocess.run(["ptxas", f"-arch=sm_{architecture}", str(ptx), "-o", str(code)], capture_output=True, text=True,
                              timeout=LIMIT_S, check=False, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            return done.stderr
        texts = sections(code.read_bytes())
    return {number: {low & OPERATION_MASK for low, _ in struct.iter_unpack("<QQ", texts[f".text.probe{number}"])} for number in kernels}


def all_operations(kernels: dict[int, str], architecture: int) -> dict[int, set[int] | str]:
    """Of each kernel. ptxas takes longer to start than for a kernel: it gets all at once, and each alone only if it refuses one."""
    together = operations(kernels, architecture)
    if not isinstance(together, str):
        return dict(together)
    found: dict[int, set[int] | str] = {}
    for number, text in kernels.items():
        alone = operations({number: text}, architecture)
        found[number] = alone if isinstance(alone, str) else alone[number]
    return found


def wrong() -> list[str]:
    """What the probes do not confirm."""
    names, found, every = named(), [], probes()
    for architecture in ARCHITECTURES:
        there = all_operations({i: p.kernel(i) for i, p in enumerate(every) if architecture in p.architectures()}, architecture)
        for number, codes in there.items():
            name = every[number].name
            if isinstance(codes, str):
                found.append(f"{name}, sm_{architecture}: {codes[:500]}")
            elif not codes & names[name][0]:
                found.append(f"{name}, sm_{architecture}: only {sorted(map(hex, codes))}")
    probed = {name for name, (_, by_probe) in names.items() if by_probe}
    return found + [f"{name}: a probe is missing, or opcodes.csv does not say so" for name in probed ^ {p.name for p in probes()}]
