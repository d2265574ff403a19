#!/usr/bin/env python3
"""Differential fuzzing: random programs over all scalar instruction forms, run by gpusim (--functional at both lowering
levels, and timed) and by the references of the opcode tests (Python's integers and fractions), compared bit for bit.

  fuzz_differential.py --gpusim BIN [--seed S] [--programs N | --seconds T] [--coverage]

Module i of seed S is the same whatever N is. A difference is shrunk to the instructions that it needs and printed with
the lane's values. Exit code: 0 no difference, 1 a difference, 2 gpusim refused a program.
"""
import argparse
import collections
import itertools
import random
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "opcodes")]

from choose import EXCLUDED, TARGETS, Catalogue, Chooser, name_of  # noqa: E402
from run import Refused, Runner, differences, render  # noqa: E402
from shrink import shrink  # noqa: E402

BATCH = 24
# Loads of shared memory fold into operands below compute capability 2.0 only.
MACHINES = ["tesla_c1060.cfg", "tesla_c870.cfg", "tesla_c1060.cfg --set gpu.compute_capability=9.0"]


def make_batch(catalogue, seed, number):
    """Programs of one module: they share the target and the machine."""
    rng = random.Random(f"{seed} {number}")
    target = rng.choices(list(TARGETS), [70, 20, 10])[0]
    machine = rng.choice(MACHINES)
    programs = [Chooser(catalogue, target, rng.getrandbits(64)).program(rng.randint(30, 300)) for _ in range(BATCH)]
    return target, machine, programs


def count(programs, used, totals):
    def walk(items):
        for item in items:
            totals["instructions"] += 1
            form = getattr(item, "form", None)
            used[name_of(form) if form else type(item).__name__.lower()] += 1
            walk(getattr(item, "items", []))
    for program in programs:
        totals["programs"] += 1
        walk(program.items)


def report(runner, target, program, where):
    small = shrink(runner, target, program).with_used_registers()
    found = differences(runner, target, [small])
    print(f"{where}: gpusim differs from the reference; the smallest program:\n")
    print(render([small], target))
    for d in found[0][:8]:
        print(f"{d.run}: lane {d.lane} {d.register}: expected {d.expected}, found {d.found}")
    if found[0]:
        lane = found[0][0].lane
        print("inputs of the lane: " + ", ".join(f"{name}={v[lane]:x}" for name, v in small.inputs.items()))


def print_coverage(catalogue, used):
    """Which forms ran, by opcode; the others with the reason."""
    opcodes = collections.defaultdict(lambda: [0, 0, []])
    for name in sorted({name_of(f) for f in catalogue.forms}):
        entry = opcodes[name.split(".")[0].split(" ")[0]]
        entry[0] += 1
        entry[1] += name in used
        if name not in used:
            entry[2].append(name)
    for opcode, (total, ran, missing) in sorted(opcodes.items()):
        print(f"{opcode}: {ran} of {total} forms" + (f"; not: {' '.join(missing[:12])}" if missing else ""))
    names = {n for n in used if n in {name_of(f) for f in catalogue.forms}}
    print(f"{len(names)} of {sum(v[0] for v in opcodes.values())} forms with a reference ran; of the fuzzer's own: "
          + ", ".join(f"{n} ({used[n]})" for n in sorted(set(used) - names)))
    print("left out: " + "; ".join(f"{pattern} ({reason})" for reason, pattern in EXCLUDED.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpusim", type=Path, required=True)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--programs", type=int, default=4 * BATCH, help=f"rounded up to whole modules of {BATCH}")
    parser.add_argument("--seconds", type=float, help="go on for this time instead")
    parser.add_argument("--coverage", action="store_true", help="list the forms that ran")
    arguments = parser.parse_args()
    catalogue, used, totals = Catalogue(), collections.Counter(), collections.Counter()
    begin, failures = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="gpusim_fuzz_") as folder:
        for number in itertools.count():
            spent = time.monotonic() - begin
            if spent > arguments.seconds if arguments.seconds else number * BATCH >= arguments.programs:
                break
            target, machine, programs = make_batch(catalogue, arguments.seed, number)
            runner = Runner(arguments.gpusim.resolve(), machine, Path(folder))
            count(programs, used, totals)
            where = f"seed {arguments.seed}, module {number} ({target}, {machine})"
            try:
                wrong = [p for p, found in zip(programs, differences(runner, target, programs)) if found]
            except Refused as refused:
                print(f"{where}: {refused}")
                return 2
            failures += len(wrong)
            if wrong:
                report(runner, target, wrong[0], f"{where}, {len(wrong)} of {len(programs)} programs")
    print(f"{totals['programs']} programs, {totals['instructions']} items, {len(used)} kinds, {failures} programs differ, "
          f"{time.monotonic() - begin:.1f} s")
    if arguments.coverage:
        print_coverage(catalogue, used)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
