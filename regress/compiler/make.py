#!/usr/bin/env python3
"""Compiles the CUDA kernels of this folder and stores what ptxas makes of them in counts.json. Needs nvcc and ptxas.

  make.py          writes FILE.ptx for every line of files.csv, and counts.json
  make.py --keep   leaves the PTX as it is and writes counts.json only

Run it again after a change of a kernel; with another release of the compiler all counts change, so say so in docs/compiler.md.
"""

import csv
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from check_ptxas import BRANCH, NOP, OPCODE_MASK, sections  # noqa: E402

ARCHITECTURES = (75, 80, 90)
LIMIT_S = 300
#: The low 9 bits of an instruction name the operation, the 3 above them where its operands come from.
OPERATION_MASK = 0x1FF
ZERO_REGISTER = 0xFF
#: By the 3 bits above the operation, where the register of the second factor stands: its lowest bit in the two words.
SECOND_FACTOR = {1: 32, 2: 64, 3: 64, 7: 64}


@dataclass(frozen=True)
class Source:
    """A line of files.csv: `compute` is the lowest capability that it compiles for."""

    file: str
    kind: str
    compute: int
    options: tuple[str, ...]

    def cuda(self) -> Path:
        return FOLDER / f"{self.file}.cu"

    def ptx(self) -> Path:
        return FOLDER / f"{self.file}.ptx"

    def architectures(self) -> list[int]:
        return [sm for sm in ARCHITECTURES if sm >= self.compute]


def sources() -> list[Source]:
    with open(FOLDER / "files.csv", newline="") as table:
        return [Source(r["file"], r["kind"], int(r["compute"]), tuple(r["options"].split()))
                for r in csv.DictReader(table)]


def classes() -> dict[int, str]:
    """The class of each operation."""
    with open(FOLDER / "opcodes.csv", newline="") as table:
        return {int(r["code"], 16): r["class"] for r in csv.DictReader(table)}


def for_target(text: str, architecture: int) -> str:
    """The module with this target: what is compiled for an older one is good for newer ones too."""
    return re.sub(r"^(\s*\.target\s+)\S+", rf"\g<1>sm_{architecture}", text, count=1, flags=re.MULTILINE)


def instructions(text: bytes) -> list[int]:
    """Of 128 bits each, without the padding behind the last one and the endless loop that stands before it."""
    code = [low | high << 64 for low, high in struct.iter_unpack("<QQ", text)]
    while code and code[-1] & OPCODE_MASK == NOP:
        code.pop()
    if code and code[-1] & OPCODE_MASK == BRANCH:
        code.pop()
    return code


def class_of(instruction: int, table: dict[int, str]) -> str:
    """A product of two zero registers is how ptxas moves a value through the multiplier."""
    operation = instruction & OPERATION_MASK
    found = table.get(operation, "other")
    if found in ("multiply", "half"):
        at = SECOND_FACTOR.get(instruction >> 9 & 7)
        if at is not None and instruction >> 24 & 0xFF == instruction >> at & 0xFF == ZERO_REGISTER:
            return "move"
    return found


def properties(messages: str) -> dict[str, dict[str, int]]:
    """Registers, stack and spills that `ptxas -v` reports, by kernel."""
    found: dict[str, dict[str, int]] = {}
    kernel = of = ""
    for line in messages.splitlines():
        if entry := re.search(r"Compiling entry function '(\S+)'", line):
            kernel = entry[1]
            found[kernel] = {}
        if function := re.search(r"Function properties for (\S+)", line):
            of = function[1]
        if (sizes := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)) and of == kernel:
            found[kernel] |= dict(zip(("stack", "spill_stores", "spill_loads"), map(int, sizes.groups())))
        if used := re.search(r"Used (\d+) registers", line):
            found[kernel]["registers"] = int(used[1])
    return found


def by_ptxas(text: str, architecture: int, table: dict[int, str]) -> dict[str, dict]:
    """Of each kernel of this PTX."""
    with tempfile.TemporaryDirectory(prefix="gpusim_compiler_") as folder:
        ptx, code = Path(folder) / "in.ptx", Path(folder) / "out.cubin"
        ptx.write_text(for_target(text, architecture))
        done = subprocess.run(["ptxas", f"-arch=sm_{architecture}", "-v", str(ptx), "-o", str(code)], capture_output=True, text=True,
                              timeout=LIMIT_S, check=False, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise SystemExit(f"ptxas for sm_{architecture}: {done.stderr[:2000]}")
        texts = sections(code.read_bytes())
    result = {}
    for kernel, sizes in sorted(properties(done.stderr).items()):
        body = instructions(texts[f".text.{kernel}"])
        counted: dict[str, int] = {}
        for instruction in body:
            name = class_of(instruction, table)
            counted[name] = counted.get(name, 0) + 1
        result[kernel] = {"registers": sizes["registers"], "instructions": len(body), "stack": sizes["stack"],
                          "spill_stores": sizes["spill_stores"], "spill_loads": sizes["spill_loads"],
                          "classes": dict(sorted(counted.items()))}
    return result


def release() -> str:
    """Of ptxas, as 13.0.88."""
    shown = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, timeout=LIMIT_S, check=True).stdout
    found = re.search(r"V([\d.]+)", shown)
    return found[1] if found else "unknown"


def compile_to_ptx(source: Source) -> None:
    command = ["nvcc", "-std=c++17", "-ptx", f"-arch=compute_{source.compute}", "-Wno-deprecated-gpu-targets", *source.options,
               source.cuda().name, "-o", source.ptx().name]
    subprocess.run(command, cwd=FOLDER, timeout=LIMIT_S, check=True, stdin=subprocess.DEVNULL)


def counts(source: Source, table: dict[int, str]) -> dict[str, dict[str, dict]]:
    """By kernel and architecture."""
    text = source.ptx().read_text()
    found: dict[str, dict[str, dict]] = {}
    for architecture in source.architectures():
        for kernel, what in by_ptxas(text, architecture, table).items():
            found.setdefault(kernel, {})[f"sm_{architecture}"] = what
    return found


def as_text(version: str, files: dict[str, dict]) -> str:
    """JSON with a line for each kernel and architecture, so that differences are readable."""
    lines = ["{", f'"ptxas": {json.dumps(version)},', '"files": {']
    for number, (file, kernels) in enumerate(files.items()):
        lines.append(f"{json.dumps(file)}: {{")
        for place, (kernel, machines) in enumerate(kernels.items()):
            lines.append(f" {json.dumps(kernel)}: {{")
            rows = [f"  {json.dumps(machine)}: {json.dumps(what)}" for machine, what in machines.items()]
            lines.append(",\n".join(rows) + "}" + ("," if place + 1 < len(kernels) else ""))
        lines.append("}" + ("," if number + 1 < len(files) else ""))
    return "\n".join([*lines, "}", "}"]) + "\n"


def main() -> int:
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1] != "--keep"):
        print(__doc__)
        return 1
    for tool in ("nvcc", "ptxas"):
        if shutil.which(tool) is None:
            sys.exit(f"make: {tool} is not in PATH")
    table, files = classes(), {}
    for source in sources():
        if len(sys.argv) == 1:
            compile_to_ptx(source)
        files[source.file] = counts(source, table)
    (FOLDER / "counts.json").write_text(as_text(release(), files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
