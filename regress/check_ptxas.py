"""Registers and code size of `--lowering schedule` against ptxas for sm_75, over the workloads that ptxas takes.

  check_ptxas.py GPUSIM [PTX...]   prints the tables of all lowering levels (default: every workload)
"""

import re
import shutil
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from runner import RUN_LIMIT_S, Gpusim, NoCompiler, require, require_equal

LIMIT = 0.15  # mean absolute relative error, of each
INSTRUCTION_BYTES = 16
# The lowest 12 bits of an instruction: a jump to itself ends the code, and nops fill it up.
OPCODE_MASK, NOP, BRANCH = 0xFFF, 0x918, 0x947


@dataclass(frozen=True)
class Size:
    """Of one kernel."""

    registers: int
    instructions: int


def sections(elf: bytes) -> dict[str, bytes]:
    """Sections of a 64-bit little-endian ELF file by name."""
    table, = struct.unpack_from("<Q", elf, 40)
    entry_bytes, count, names_index = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + i * entry_bytes) for i in range(count)]
    names = headers[names_index][4]
    return {elf[names + h[0]:elf.index(b"\0", names + h[0])].decode(): elf[h[4]:h[4] + h[5]] for h in headers}


def count_instructions(text: bytes) -> int:
    """Without the padding behind the last instruction and the endless loop that stands before it."""
    opcodes = [word & OPCODE_MASK for word, _ in struct.iter_unpack("<QQ", text)]
    while opcodes and opcodes[-1] == NOP:
        opcodes.pop()
    if opcodes and opcodes[-1] == BRANCH:
        opcodes.pop()
    return len(opcodes)


def for_sm_75(text: str) -> str:
    """The module with a target and a version that ptxas knows, if they are older."""
    version = re.search(r"^\s*\.version\s+(\d+)", text, re.MULTILINE)
    if version and int(version[1]) < 6:
        text = re.sub(r"^(\s*\.version\s+)\S+", r"\g<1>6.3", text, count=1, flags=re.MULTILINE)
    return re.sub(r"^(\s*\.target\s+).*$", r"\g<1>sm_75", text, count=1, flags=re.MULTILINE)


def by_ptxas(ptxas: str, file: Path) -> dict[str, Size] | str:
    """Of each kernel; or what ptxas has against the file."""
    code = file.with_suffix(".cubin")
    done = subprocess.run([ptxas, "-arch=sm_75", "-v", str(file), "-o", str(code)], capture_output=True, text=True,
                          timeout=RUN_LIMIT_S, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        wrong = [line for line in done.stderr.splitlines() if "error" in line or "fatal" in line]
        return re.sub(r"^ptxas \S+, ", "", (wrong or [done.stderr])[0])
    registers: dict[str, int] = {}
    name = ""
    for line in done.stderr.splitlines():
        if entry := re.search(r"Compiling entry function '(\S+)'", line):
            name = entry[1]
        if (used := re.search(r"Used (\d+) registers", line)) and name:
            registers[name], name = int(used[1]), ""
    texts = sections(code.read_bytes())
    return {kernel: Size(used, count_instructions(texts[f".text.{kernel}"])) for kernel, used in registers.items()}


def by_gpusim(gpusim: Gpusim, files: list[Path], level: str) -> list[dict[str, Size]]:
    """Of each kernel of each file."""
    programs = gpusim.run("check", "--json", "--lowering", level, *files).require_code(0).json()["programs"]
    return [{k["name"]: Size(k["registers"], k["machine_instructions"]) for k in program["kernels"]} for program in programs]


@dataclass(frozen=True)
class Row:
    kernel: str
    ours: Size
    theirs: Size

    def errors(self) -> tuple[float, float]:
        return (self.ours.registers / self.theirs.registers - 1, self.ours.instructions / self.theirs.instructions - 1)

    def __str__(self) -> str:
        registers, instructions = self.errors()
        return (f"{self.kernel:40} registers {self.ours.registers:4} {self.theirs.registers:4} {registers:+7.1%}   "
                f"instructions {self.ours.instructions:5} {self.theirs.instructions:5} {instructions:+7.1%}")


def compare(gpusim: Gpusim, files: list[Path], level: str) -> tuple[list[Row], list[str]]:
    """A row per kernel, ours and ptxas's; and the files that ptxas does not take, with its reason."""
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        raise NoCompiler("ptxas is not in PATH")
    refused = []
    judged: dict[Path, dict[str, Size]] = {}  # copies of files, with what ptxas makes of them
    for number, file in enumerate(files):
        copy = gpusim.scratch / f"{number}_{file.stem}.ptx"
        copy.write_text(for_sm_75(file.read_text()))
        theirs = by_ptxas(ptxas, copy)
        if isinstance(theirs, str):
            refused.append(f"{file.name}: {theirs}")
            continue
        if theirs:
            judged[copy] = theirs
    rows = [Row(f"{copy.stem.split('_', 1)[1]}: {name}", ours[name], size)
            for (copy, theirs), ours in zip(judged.items(), by_gpusim(gpusim, list(judged), level)) for name, size in theirs.items()]
    return rows, refused


def mean_errors(rows: list[Row]) -> tuple[float, float]:
    """Mean absolute relative errors of registers and instructions."""
    each = [row.errors() for row in rows]
    registers, instructions = (sum(abs(e[i]) for e in each) / len(each) for i in (0, 1))
    return registers, instructions


def workloads(source: Path) -> list[Path]:
    """Without the microbenchmarks: kernels that read a clock keep their operations, which ptxas changes."""
    return sorted(file for file in (source / "workloads").glob("*/*.ptx") if file.parent.name != "micro")


def check_ptxas(gpusim: Gpusim) -> None:
    rows, refused = compare(gpusim, workloads(gpusim.source), "schedule")
    require(len(rows) >= 50, f"only {len(rows)} kernels were compared; ptxas refused\n" + "\n".join(refused))
    print("\n".join([*map(str, rows), *(f"not compared: {text}" for text in refused)]))
    registers, instructions = mean_errors(rows)
    summary = f"{len(rows)} kernels: mean absolute error of registers {registers:.1%}, of instructions {instructions:.1%}"
    print(summary)
    require(registers <= LIMIT and instructions <= LIMIT, f"{summary}; at most {LIMIT:.0%} each")


def check_report(gpusim: Gpusim) -> None:
    """What `check --json` says of good and bad files; needs no ptxas."""
    good = gpusim.source / "workloads" / "bfs" / "bfs.ptx"
    sizes = {level: by_gpusim(gpusim, [good], level)[0] for level in ("none", "clean", "schedule")}
    require_equal("kernels", {level: sorted(kernels) for level, kernels in sizes.items()},
                  dict.fromkeys(sizes, ["expand_all", "expand_queue", "start"]))
    for name, plain in sizes["none"].items():
        require(sizes["schedule"][name].instructions < sizes["clean"][name].instructions < plain.instructions,
                f"{name}: instructions at levels none, clean, schedule: {[s[name].instructions for s in sizes.values()]}")
    bad = gpusim.source / "regress" / "bad" / "syntax.ptx"
    report = gpusim.run("check", "--json", good, bad).require_code(1).json()
    require_equal("files", [p["files"] for p in report["programs"]], [[str(good)], [str(bad)]])
    require_equal("verdicts", [p["good"] for p in report["programs"]], [True, False])
    require_equal("messages of the good one", report["programs"][0]["messages"], [])
    run = gpusim.run("check", "--json", bad, "nothere.ptx").require_code(1)
    reasons, missing = (p["messages"] for p in run.json()["programs"])
    for message in reasons:
        text = f"{message['file']}:{message['line']}:{message['column']}: {message['severity']}: {message['message']}"
        require(text in run.err, f"'{text}' is not what stderr says:\n{run.err}")
    require(any(m["severity"] == "error" for m in reasons), f"no reason: {reasons}")
    require(missing[0]["file"] == "nothere.ptx" and missing[0]["message"].startswith("cannot open"), f"{missing}")
    gpusim.run("check", "--lowering", "best", good).require_code(1).require_error("none", "clean", "schedule")


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__)
        return 1
    source = Path(__file__).resolve().parent.parent
    files = [Path(argument) for argument in sys.argv[2:]] or workloads(source)
    with tempfile.TemporaryDirectory(prefix="gpusim_ptxas_") as scratch:
        gpusim = Gpusim(Path(sys.argv[1]).resolve(), source, Path(scratch))
        for level in ("none", "clean", "schedule"):
            rows, refused = compare(gpusim, files, level)
            print(f"--lowering {level}: ours, ptxas")
            print("\n".join(map(str, rows)))
            registers, instructions = mean_errors(rows)
            print(f"{len(rows)} kernels: mean absolute error of registers {registers:.1%}, of instructions "
                  f"{instructions:.1%}\n")
        print("\n".join(f"not compared: {text}" for text in refused))
    return 0


if __name__ == "__main__":
    sys.exit(main())
