#!/usr/bin/env python3
"""How far `gpusim check` and ptxas agree on which PTX is good: both judge thousands of mutations of good PTX.

    regress/ptxas_mutations.py build/release/bin/gpusim [--count 8000] [--seed 1] [--kinds type,operand] [--keep FOLDER]

The texts that are mutated are those of workloads/ and isa/tests/opcodes, and what nvcc makes of the .cu files of workloads/ and
regress/corpus for three architectures. What gpusim calls "not supported yet" is good PTX. Prints the agreement, and the disagreements
by kind with an example of each, in the same way for the same seed. Needs ptxas, and nvcc for the .cu files.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from check_corpus import ARCHITECTURES, OPTIONS
from ptx_mutate import KINDS, mutate
from ptx_text import PtxText, parse
from runner import RUN_LIMIT_S

SOURCE = Path(__file__).resolve().parent.parent
ARCHITECTURE_NAMES = "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f".split()
#: What ptxas says, or what is said of it, instead of a verdict: 32-bit targets are good PTX, a crash is no verdict.
NOT_JUDGED = ("32-Bit compilation is no longer supported", "ptxas crashed", "ptxas does not end")
BATCH = 64  # files that one `gpusim check` reads


@dataclass(frozen=True)
class Base:
    name: str
    text: str


@dataclass(frozen=True)
class Mutation:
    base: str
    kind: str
    text: str


@dataclass(frozen=True)
class Verdict:
    good: bool
    message: str  #: the first error; empty if good


def for_ptxas(text: str) -> str:
    """With a target that ptxas takes: it refuses `map_f64_to_f32` on all machines that it knows."""
    return re.sub(r"^(\s*\.target\s+)sm_1\d, *map_f64_to_f32", r"\g<1>sm_13", text, count=1, flags=re.MULTILINE)


def architecture(text: str) -> str:
    """The lowest architecture of ptxas for which all of the text's targets can be compiled."""
    directive = re.search(r"^\s*\.target\s+([^\n]*)", text, re.MULTILINE)
    targets = re.findall(r"\bsm_(\w+)", directive[1]) if directive else []
    return "sm_" + max((t for t in targets if t in ARCHITECTURE_NAMES), key=ARCHITECTURE_NAMES.index, default="75")


def may_have_externs(text: str) -> bool:
    """Whether ptxas has relocatable code (-c), in which another file defines what is .extern, for the text's version: from 3.1 on."""
    found = re.search(r"^\s*\.version\s+(\d+)\.(\d+)", text, re.MULTILINE)
    return found is not None and (int(found[1]), int(found[2])) >= (3, 1)


def first_error(text: str, file: str) -> str:
    wrong = [line for line in text.splitlines() if "error" in line or "fatal" in line]
    return (wrong or [text.strip()[:200] or "no message"])[0].replace(file, "")


def by_ptxas(ptxas: str, file: Path, text: str) -> Verdict:
    options = ["-c"] if may_have_externs(text) else []
    try:
        done = subprocess.run([ptxas, f"-arch={architecture(text)}", "-O1", *options, str(file), "-o", os.devnull], capture_output=True,
                              text=True, timeout=RUN_LIMIT_S, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return Verdict(False, f"ptxas does not end within {RUN_LIMIT_S} s")
    if done.returncode < 0:
        return Verdict(False, f"ptxas crashed: signal {-done.returncode}")
    return Verdict(done.returncode == 0, "" if done.returncode == 0 else first_error(done.stdout + done.stderr, str(file)))


def by_gpusim(program: Path, files: list[Path]) -> list[Verdict]:
    """Each file is good if `check` has nothing against it but what is not supported yet."""
    done = subprocess.run([str(program), "check", *map(str, files)], capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        if len(files) == 1:
            return [Verdict(False, f"exit code {done.returncode}: {done.stderr[-200:]}")]
        return [by_gpusim(program, [file])[0] for file in files]
    errors: dict[str, str] = {}
    for line in done.stderr.splitlines():
        found = re.match(r"(\S+?\.ptx):(.*error: .*)", line)
        if found and "not supported yet" not in found[2]:
            errors.setdefault(found[1], found[2])
    return [Verdict(str(f) not in errors, errors.get(str(f), "")) for f in files]


def compiled(folder: Path, jobs: int, architectures: tuple[int, ...]) -> list[Base]:
    """What nvcc makes of the sources, if there is one."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        return []
    sources = sorted([*(SOURCE / "workloads").glob("*/*.cu"), *(SOURCE / "regress" / "corpus").glob("*.cu")])

    def one(job: tuple[Path, int]) -> Base | None:
        source, arch = job
        ptx = folder / f"{source.stem}.compute_{arch}.ptx"
        if not ptx.exists():
            subprocess.run([nvcc, "-std=c++17", "-ptx", f"-arch=compute_{arch}", "-Wno-deprecated-gpu-targets", *OPTIONS.get(source.stem, []),
                            str(source), "-o", str(ptx)], capture_output=True, check=False, stdin=subprocess.DEVNULL)
        return Base(ptx.name, ptx.read_text()) if ptx.exists() else None

    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        return [b for b in pool.map(one, [(s, a) for s in sources for a in architectures]) if b is not None]


def written(patterns: tuple[str, ...]) -> list[Base]:
    return [Base(str(f.relative_to(SOURCE)), for_ptxas(f.read_text())) for p in patterns for f in sorted(SOURCE.glob(p))]


def mutations(groups: list[list[Base]], count: int, seed: int, kinds: list[str]) -> list[Mutation]:
    """Each group of texts gives as many."""
    rng = random.Random(seed)
    parsed: dict[str, PtxText] = {}
    groups = [g for g in groups if g]
    found: list[Mutation] = []
    while len(found) < count:
        base = rng.choice(rng.choice(groups))
        ptx = parsed.setdefault(base.name, parse(base.text))
        if (made := mutate(ptx, rng, kinds)) is not None:
            found.append(Mutation(base.name, *made))
    return found


def judge(program: Path, ptxas: str, texts: list[str], folder: Path, jobs: int) -> list[tuple[Verdict, Verdict]]:
    """Of ptxas and of gpusim on each text."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{i}.ptx" for i in range(len(texts))]
    for file, text in zip(files, texts):
        file.write_text(text)
    with ThreadPoolExecutor(jobs) as pool:
        theirs = list(pool.map(lambda pair: by_ptxas(ptxas, *pair), zip(files, texts)))
        batches = pool.map(lambda batch: by_gpusim(program, batch), [files[i:i + BATCH] for i in range(0, len(files), BATCH)])
        ours = [verdict for batch in batches for verdict in batch]
    return list(zip(theirs, ours))


def shape(message: str) -> str:
    """A message without names and numbers: what messages of one kind have in common."""
    message = re.sub(r"^\S*(, line \d+;|:?\d+:\d+:)\s*", "", message)
    message = re.sub(r"'[^']*'", "'..'", message)
    return re.sub(r"\d+", "N", message)[:110]


def changed_lines(base: str, text: str) -> str:
    """What a mutation made of the text."""
    before = Counter(base.splitlines())
    return " | ".join(line.strip() for line in text.splitlines() if line not in before)[:220] or "(lines dropped)"


@dataclass
class Disagreement:
    mutation: Mutation
    theirs: Verdict
    ours: Verdict


def describe(found: list[Disagreement], bases: dict[str, str], shown: int) -> str:
    groups: dict[tuple[bool, str], list[Disagreement]] = defaultdict(list)
    for d in found:
        groups[d.theirs.good, shape(d.ours.message if d.theirs.good else d.theirs.message)].append(d)
    lines = []
    for (theirs_good, what), group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        who = "ptxas accepts, gpusim" if theirs_good else "gpusim accepts, ptxas"
        lines.append(f"{len(group):4}  {who}: {what}")
        for d in group[:shown]:
            message = d.ours.message if theirs_good else d.theirs.message
            lines.append(f"        [{d.mutation.kind}] {d.mutation.base}: {changed_lines(bases[d.mutation.base], d.mutation.text)}")
            lines.append(f"            {message[:200]}")
    return "\n".join(lines)


def compare(program: Path, ptxas: str, made: list[Mutation], folder: Path, jobs: int) -> tuple[list[Disagreement], int]:
    """The disagreements, and how many of the mutations ptxas judges."""
    verdicts = judge(program, ptxas, [m.text for m in made], folder, jobs)
    judged = [Disagreement(m, theirs, ours) for m, (theirs, ours) in zip(made, verdicts)
              if not any(reason in theirs.message for reason in NOT_JUDGED)]
    return [d for d in judged if d.theirs.good != d.ours.good], len(judged)


def usable(program: Path, ptxas: str, groups: list[list[Base]], folder: Path, jobs: int) -> list[list[Base]]:
    """The texts that ptxas takes; says which it or gpusim does not."""
    kept = []
    for number, group in enumerate(groups):
        verdicts = judge(program, ptxas, [b.text for b in group], folder / f"bases{number}", jobs)
        for base, (theirs, ours) in zip(group, verdicts):
            if not theirs.good or not ours.good:
                who, message = ("ptxas", theirs.message) if not theirs.good else ("gpusim", ours.message)
                print(f"not used: {base.name}: {who} refuses it: {message}")
        kept.append([b for b, (theirs, ours) in zip(group, verdicts) if theirs.good and ours.good])
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", type=Path)
    parser.add_argument("--count", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="", help=f"only these, by commas: {', '.join(KINDS)}")
    parser.add_argument("--keep", type=Path, help="folder for what nvcc made and for the mutations")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--shown", type=int, default=1, help="examples of each kind of disagreement")
    arguments = parser.parse_args()
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        sys.exit("ptxas_mutations: ptxas is not in PATH")
    kinds = arguments.kinds.split(",") if arguments.kinds else list(KINDS)
    with tempfile.TemporaryDirectory(prefix="gpusim_mutations_") as scratch:
        folder = arguments.keep or Path(scratch)
        groups = [compiled(folder / "nvcc", arguments.jobs, ARCHITECTURES), written(("workloads/*/*.ptx",)),
                  written(("isa/tests/opcodes/*.ptx",))]
        groups = usable(arguments.gpusim, ptxas, groups, folder, arguments.jobs)
        made = mutations(groups, arguments.count, arguments.seed, kinds)
        found, judged = compare(arguments.gpusim, ptxas, made, folder / "mutations", arguments.jobs)
        print(describe(found, {b.name: b.text for g in groups for b in g}, arguments.shown))
    print(f"seed {arguments.seed}: {judged - len(found)} of {judged} mutations judged alike, {1 - len(found) / judged:.2%} "
          f"({len(made) - judged} more have no verdict of ptxas)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
