#!/usr/bin/env python3
"""Shows that a wrong constant in a model makes the regression fail: changes one at a time in a copy of the source, builds it, and
runs `gpusim regress`, which has to find a breach of that model.

    regress/mutants.py build/mutants [--only energy]

The folder gets the copy and its build (the first takes minutes; ccache is used if it is there). Exit code 1 if a change is not
noticed.
"""

import argparse
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Mutant:
    model: str
    file: str
    right: str
    wrong: str


MUTANTS = (
    Mutant("latency-hidden", "analysis/latency_hidden/extended.cpp", "kSharpness = 4;", "kSharpness = 1;"),
    Mutant("latency-hidden", "analysis/latency_hidden/data_sheets/tesla_c1060.json", '"latency.dram", "found": 560.8',
           '"latency.dram", "found": 1160.8'),
    Mutant("latency-hidden", "analysis/latency_hidden/parameters.cpp", "p.issue = p.warp_issue / schedulers;",
           "p.issue = 3 * p.warp_issue / schedulers;"),
    Mutant("reuse-distance", "analysis/reuse_machine.cpp", "r.sets = number(m.l1.bytes / (m.l1.line * m.l1.ways));",
           "r.sets = number(m.l1.bytes / (m.l1.line * m.l1.ways) / 2);"),
    Mutant("reuse-distance", "analysis/reuse_machine.cpp", "r.mshrs = number(m.l1.mshrs);", "r.mshrs = 1;"),
    Mutant("energy", "analysis/energy/clock_parts.h", "kJointNorm = 4;", "kJointNorm = 0.5;"),
    Mutant("energy", "analysis/energy/power.cpp", "scaled[i] = joules[i] * v * v * clock * time;",
           "scaled[i] = joules[i] * 2.5 * clock * time;"),
    Mutant("energy", "analysis/energy/blocks.cpp", "return 2 * std::log2(static_cast<double>(leaves)) + 1;",
           "return 2 * static_cast<double>(leaves) + 1;"),
    Mutant("roofline", "analysis/roofline.cpp", "kWarpEfficiency = 0.8", "kWarpEfficiency = 0.08"),
    Mutant("roofline", "analysis/roofline.cpp", "kCoalescing = 0.5", "kCoalescing = 0.05"),
    Mutant("roofline", "analysis/roofline.cpp", "kOccupancyLoss = 0.75", "kOccupancyLoss = 0.01"),
    Mutant("roofline", "analysis/roofline.cpp", "kIntensityLoss = 0.75", "kIntensityLoss = 0.05"),
)


def _copy(copy: Path) -> None:
    """The files that git knows, as they are now; those that are the same already stay, so that little is built again."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        content = (SOURCE / name).read_bytes()
        if not (copy / name).exists() or (copy / name).read_bytes() != content:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)


def _build(copy: Path) -> None:
    command = ["cmake", "--preset", "release", "-DGPUSIM_TESTS=OFF", "-DGPUSIM_BENCHMARKS=OFF"]
    if shutil.which("ccache"):
        command += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DCMAKE_C_COMPILER_LAUNCHER=ccache"]
    for step in (command, ["ninja", "-C", "build/release", "gpusim"]):
        done = subprocess.run(step, cwd=copy, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"mutants: {' '.join(step)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def _breaches(copy: Path) -> tuple[int, dict[str, int]]:
    """Exit code, and breaches by model."""
    work = copy / "build/work"
    shutil.rmtree(work, ignore_errors=True)
    done = subprocess.run([copy / "build/release/bin/gpusim", "regress", "--root", SOURCE, "--work", work], capture_output=True,
                          text=True)
    outcome = json.loads((work / "outcome.json").read_text())
    count: dict[str, int] = {}
    for row in outcome["rows"]:
        if row["verdict"] == "BREACH":
            count[row["model"]] = count.get(row["model"], 0) + 1
    for mean in outcome["models"]:
        if mean["breach"]:
            count[mean["model"]] = count.get(mean["model"], 0) + 1
    return done.returncode, count


def _show(name: str, code: int, count: dict[str, int], good: bool) -> None:
    found = ", ".join(f"{model} {n}" for model, n in sorted(count.items())) or "none"
    print(f"{'as it should be' if good else 'NOT NOTICED':<16} exit {code}, breaches: {found:<44} {name}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", help="one model")
    arguments = parser.parse_args()
    copy = arguments.folder.resolve()
    _copy(copy)
    _build(copy)
    code, count = _breaches(copy)
    failed = code != 0
    _show("nothing changed", code, count, not failed)
    for mutant in MUTANTS:
        if arguments.only not in (None, mutant.model):
            continue
        file = copy / mutant.file
        text = file.read_text()
        if text.count(mutant.right) != 1:
            sys.exit(f"mutants: '{mutant.right}' stands {text.count(mutant.right)} times in {mutant.file}, not once")
        file.write_text(text.replace(mutant.right, mutant.wrong))
        _build(copy)
        file.write_text(text)
        code, count = _breaches(copy)
        good = code == 1 and mutant.model in count
        failed = failed or not good
        _show(f"{mutant.file}: {mutant.wrong}", code, count, good)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
