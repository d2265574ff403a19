#!/usr/bin/env python3
"""Registers and machine instructions of `gpusim check` against ptxas' counts of the kernels in regress/compiler (docs/compiler.md).

  check_compiler.py GPUSIM [--classes] [--architecture SM]     a row for each stored kernel, and the mean absolute errors
  check_compiler.py GPUSIM [--architecture SM] --ptx FILE...   the errors over other PTX files, which ptxas must be there for

Rows of other files are printed only with --rows: who reads them while changing the estimate spoils them as a judge.
"""

import argparse
import json
import re
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from check_ptxas import Row, Size, mean_errors
from compiler.make import ARCHITECTURES, FOLDER, by_ptxas, classes, counts, for_target, release, sources
from compiler.probes import wrong
from runner import Gpusim, NoCompiler, require, require_equal

#: Guards against a step back, not goals: the mean absolute error of registers and of instructions over all kernels, rounded up to
#: the next whole percent. The goals are GOALS.
LIMITS = {75: (0.12, 0.06), 80: (0.10, 0.06), 90: (0.10, 0.07)}
GOALS = (0.08, 0.10)
#: The classes of `gpusim check` that are several of opcodes.csv; the others have the same names in both.
JOINED = {
    "integer": ("integer", "multiply", "move", "predicate", "constant", "uniform", "other"),
    "special": ("special", "conversion"),
    "control": ("control", "barrier"),
}
#: How many files are compiled again where there is the ptxas of the stored counts: every so many of files.csv.
COMPILED_AGAIN = 8


@dataclass(frozen=True)
class Compared(Row):
    """A kernel, and who spills registers of it."""

    kind: str
    spills: tuple[bool, bool]
    classes: dict[str, tuple[int, int]]  # instructions of a class: ours, ptxas'

    def with_classes(self) -> str:
        most_first = sorted(self.classes.items(), key=lambda item: -item[1][1])
        return f"{self}\n        {', '.join(f'{name} {ours} ({theirs})' for name, (ours, theirs) in most_first)}"


@dataclass(frozen=True)
class Comparison:
    """For one architecture; `refused` are the kernels that gpusim cannot run."""

    rows: list[Compared]
    refused: list[str]


def stored() -> dict[str, Any]:
    return json.loads((FOLDER / "counts.json").read_text())


def label(file: str, kernel: str) -> str:
    """An instance of a template by its name and what its arguments are mangled to."""
    mangled = re.match(r"_Z(\d+)", kernel)
    if not mangled:
        return f"{file}: {kernel}"
    name_end = mangled.end() + int(mangled[1])
    arguments = re.match(r"I(.*?)EEv", kernel[name_end:])
    return f"{file}: {kernel[mangled.end():name_end]}" + (f"<{arguments[1]}>" if arguments else "")


def joined(ours: dict[str, int], theirs: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Both counts of each class that one of them has."""
    both = {name: (count, sum(theirs.get(part, 0) for part in JOINED.get(name, (name,)))) for name, count in ours.items()}
    require_equal("instructions of known classes", sum(count for _, count in both.values()), sum(theirs.values()))
    return {name: counts for name, counts in both.items() if any(counts)}


def by_class(rows: list[Compared]) -> list[str]:
    """A line for each class: instructions of all kernels, and the mean absolute difference of a kernel's, relative to all that it has."""
    lines = []
    for name in dict.fromkeys(name for row in rows for name in row.classes):
        pairs = [(*row.classes.get(name, (0, 0)), row.theirs.instructions) for row in rows]
        ours, theirs = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
        apart = statistics.mean(abs(mine - its) / all_of_it for mine, its, all_of_it in pairs)
        lines.append(f"  {name:8} {ours:6} for {theirs:6} of ptxas, {apart:5.1%} of a kernel's instructions apart")
    return lines


def by_gpusim(gpusim: Gpusim, texts: dict[str, str], architecture: int) -> dict[tuple[str, str], dict[str, Any]]:
    """By file and kernel. The target of the PTX says which machine is meant; kernels that gpusim does not support are not among them."""
    files = []
    for name, text in texts.items():
        files.append(gpusim.scratch / f"{name}.ptx")
        files[-1].write_text(for_target(text, architecture))
    programs = gpusim.run("check", "--json", "--lowering", "schedule", *files).json()["programs"]
    require_equal("checked files", len(programs), len(files))
    return {(file.stem, k["name"]): k for file, program in zip(files, programs) for k in program["kernels"]}


def compare(gpusim: Gpusim, architecture: int) -> Comparison:
    texts = {source.file: source.ptx().read_text() for source in sources() if architecture in source.architectures()}
    kinds = {source.file: source.kind for source in sources()}
    theirs = {(file, kernel): machines[f"sm_{architecture}"] for file, kernels in stored()["files"].items()
              for kernel, machines in kernels.items() if f"sm_{architecture}" in machines}
    return side_by_side(by_gpusim(gpusim, texts, architecture), theirs, kinds)


def compare_others(gpusim: Gpusim, files: list[Path], architecture: int) -> Comparison:
    """Of files that ptxas compiles now. Those that it refuses are left out, and said so."""
    texts, theirs = {}, {}
    for file in files:
        try:
            kernels = by_ptxas(file.read_text(), architecture, classes())
        except SystemExit as refused:
            print(f"{file}: {refused}", file=sys.stderr)
            continue
        texts[file.stem] = file.read_text()
        theirs |= {(file.stem, kernel): what for kernel, what in kernels.items()}
    return side_by_side(by_gpusim(gpusim, texts, architecture), theirs, dict.fromkeys(texts, "other"))


def side_by_side(ours: dict[tuple[str, str], dict[str, Any]], all_theirs: dict[tuple[str, str], dict[str, Any]],
                 kinds: dict[str, str]) -> Comparison:
    rows, refused = [], []
    for (file, kernel), theirs in all_theirs.items():
        if (mine := ours.get((file, kernel))) is None or "registers" not in mine:
            refused.append(label(file, kernel))
            continue
        rows.append(Compared(label(file, kernel), Size(mine["registers"], mine["machine_instructions"]),
                             Size(theirs["registers"], theirs["instructions"]), kinds[file],
                             (mine["spilled_registers"] > 0, theirs["spill_stores"] > 0),
                             joined(mine["classes"], theirs["classes"])))
    return Comparison(rows, refused)


def summary(what: str, rows: list[Compared]) -> str:
    """Mean absolute errors; behind them the medians, which a few far ones do not move, and the means with their signs."""
    parts = []
    for i, (name, mean) in enumerate(zip(("registers", "instructions"), mean_errors(rows))):
        each = [row.errors()[i] for row in rows]
        middle = statistics.median(map(abs, each))
        parts.append(f"{name} {mean:6.1%} (median {middle:5.1%}, signed {sum(each) / len(each):+6.1%})")
    return f"{what:20} {len(rows):3} kernels   {'   '.join(parts)}"


def describe(architecture: int, result: Comparison, with_rows: bool = True, with_classes: bool = False) -> str:
    lines = [f"sm_{architecture}: ours, ptxas"]
    if with_rows:
        lines += [row.with_classes() if with_classes else str(row) for row in result.rows]
        lines += [f"not supported: {name}" for name in result.refused]
    elif result.refused:
        lines.append(f"not supported: {len(result.refused)}")
    lines.append(f"sm_{architecture}: mean absolute errors")
    by_kind: dict[str, list[Compared]] = {}
    for row in result.rows:
        by_kind.setdefault(row.kind, []).append(row)
    if len(by_kind) > 1:
        lines += [summary(f"  {kind}", rows) for kind, rows in by_kind.items()]
    lines += [summary("all", result.rows), "instructions by class:", *by_class(result.rows)]
    pairs = [row.spills for row in result.rows]
    lines.append(f"kernels that ptxas spills: {sum(theirs for _, theirs in pairs)}, gpusim: {sum(ours for ours, _ in pairs)}, "
                 f"both: {sum(ours and theirs for ours, theirs in pairs)}")
    return "\n".join(lines)


def check_counts(gpusim: Gpusim) -> None:
    """The errors do not grow."""
    too_large = []
    for architecture in ARCHITECTURES:
        result = compare(gpusim, architecture)
        print(describe(architecture, result) + "\n")
        require(len(result.rows) >= 200, f"sm_{architecture}: only {len(result.rows)} kernels were compared")
        for what, error, limit in zip(("registers", "instructions"), mean_errors(result.rows), LIMITS[architecture]):
            if error > limit:
                too_large.append(f"sm_{architecture}: {what} {error:.1%}, at most {limit:.0%}")
    print(f"the goals are {GOALS[0]:.0%} for registers and {GOALS[1]:.0%} for instructions")
    require(not too_large, f"mean absolute errors: {'; '.join(too_large)}")


def check_stored(_: Gpusim) -> None:
    """The stored counts belong to the stored PTX; where there is the ptxas that made them, it still says so."""
    data, every = stored(), sources()
    require_equal("files with counts", list(data["files"]), [source.file for source in every])
    known = set(classes().values())
    for source in every:
        require(source.cuda().exists(), f"{source.file}: no source")
        entries = re.findall(r"\.entry\s+(\w+)", source.ptx().read_text())
        kernels = data["files"][source.file]
        require_equal(f"kernels of {source.file}", sorted(kernels), sorted(entries))
        for kernel, machines in kernels.items():
            require_equal(f"architectures of {kernel}", list(machines), [f"sm_{sm}" for sm in source.architectures()])
            for what in machines.values():
                require_equal(f"{kernel}: sum of classes", sum(what["classes"].values()), what["instructions"])
                require(set(what["classes"]) <= known, f"{kernel}: unknown classes among {list(what['classes'])}")
    if shutil.which("ptxas") is None:
        print("no ptxas: the counts were not made again")
    elif (version := release()) != data["ptxas"]:
        print(f"ptxas {version} is not the {data['ptxas']} of the counts: they were not made again")
    else:
        again = every[::COMPILED_AGAIN]
        for source in again:
            now, then = counts(source, classes()), data["files"][source.file]
            different = [label(source.file, kernel) for kernel in then if now.get(kernel) != then[kernel]]
            require(not different, f"ptxas {version} now makes something else of {', '.join(different)}")
        print(f"ptxas {version} makes the same of {len(again)} files")


def check_opcodes(_: Gpusim) -> None:
    """The table that classes are counted with is right where a tiny program can show it."""
    if shutil.which("ptxas") is None:
        raise NoCompiler("ptxas is not in PATH")
    if (version := release()) != (known := stored()["ptxas"]):
        raise NoCompiler(f"ptxas {version} may choose other operations than {known}, for which the probes were written")
    found = wrong()
    require(not found, "\n".join(found))


CHECKS = {"counts": check_counts, "stored": check_stored, "opcodes": check_opcodes}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", type=Path, help="the program")
    parser.add_argument("--classes", action="store_true", help="below each row, ptxas' instructions by class")
    parser.add_argument("--architecture", type=int, choices=ARCHITECTURES, action="append", help="75, 80 or 90 (default: all)")
    parser.add_argument("--ptx", type=Path, nargs="+", default=[], help="compare these files, compiled for 7.5 or less, instead of the stored kernels")
    parser.add_argument("--rows", action="store_true", help="with --ptx: a row for each kernel")
    arguments = parser.parse_args()
    if arguments.ptx and shutil.which("ptxas") is None:
        parser.error("--ptx needs ptxas in PATH")
    if len({file.stem for file in arguments.ptx}) != len(arguments.ptx):
        parser.error("--ptx: two files have the same name")
    for architecture in arguments.architecture or ARCHITECTURES:
        with tempfile.TemporaryDirectory(prefix="gpusim_compiler_") as scratch:
            gpusim = Gpusim(arguments.gpusim.resolve(), FOLDER.parent.parent, Path(scratch))
            if arguments.ptx:
                result, rows = compare_others(gpusim, arguments.ptx, architecture), arguments.rows
            else:
                result, rows = compare(gpusim, architecture), True
            if result.rows:
                print(describe(architecture, result, rows, arguments.classes) + "\n")
            else:
                print(f"sm_{architecture}: no kernel to compare")
    return 0


if __name__ == "__main__":
    sys.exit(main())
