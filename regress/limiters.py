#!/usr/bin/env python3
"""Judges the limiter that `gpusim explain` names from counters alone by what `explain --prove` gains.

Runs each workload on each machine, proves it, and writes a row per case: the limiter named, the change that saves most, the
best change that relieves what was named, and whether the name is right. It is right if the change that saves most relieves what
was named, or if no change saves 5 % and the name is "nothing". The rules were found on the half `fit`; the half `judge` was
run once, when they stood.

    regress/limiters.py build/release/bin/gpusim --out regress/limiters.csv     # all 60 cases
    regress/limiters.py build/release/bin/gpusim --case vecadd --machine tesla_c1060
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent
MACHINES = ("tesla_c1060", "tesla_v100", "h200")
# name: half, PTX, launch file (empty: beside the PTX), parameters. Small enough to be proved in seconds.
CASES: dict[str, tuple[str, str, str, dict[str, int]]] = {
    "vecadd": ("fit", "vecadd/vecadd", "", {"N": 262144}),
    "reduction": ("fit", "reduction/reduction", "", {"N": 131072}),
    "global_histogram": ("fit", "hardware/h100_histogram", "hardware/h100_histogram_global", {"N": 65536}),
    "transpose_naive": ("fit", "transpose/naive", "", {"ROWS": 256, "COLS": 256}),
    "matmul_tiled": ("fit", "matmul/tiled_16x16", "", {"N": 160}),
    "spmv_vector": ("fit", "spmv/csr_vector", "", {"ROWS": 1024}),
    "stencil": ("fit", "stencil/stencil", "", {}),
    "nbody": ("fit", "nbody/nbody", "", {"N": 768}),
    "bfs": ("fit", "bfs/bfs", "", {"VERTICES": 2000}),
    "radix_sort": ("fit", "sort/radix", "", {"N": 1000}),
    "saxpy": ("judge", "saxpy/saxpy", "", {"N": 131072}),
    "collatz": ("judge", "collatz/collatz", "", {"N": 3000}),
    "gemm": ("judge", "gemm/gemm", "", {"M": 96, "N": 96, "K": 40}),
    "spmv_scalar": ("judge", "spmv/csr_scalar", "", {"ROWS": 1024}),
    "jacobi": ("judge", "jacobi/jacobi", "", {"ROWS": 128}),
    "convolution": ("judge", "convolution/convolution", "", {}),
    "fft": ("judge", "fft/fft", "", {"BATCH": 32}),
    "softmax": ("judge", "softmax/softmax", "", {"ROWS": 60}),
    "shared_histogram": ("judge", "histogram/histogram", "", {"N": 65536}),
    "multigrid": ("judge", "npb/mg", "npb/mg_thread", {"N": 16}),
}
# Changes that relieve what is named. A pipe is relieved by the cycles of its operations.
RELIEF: dict[str, tuple[str, ...]] = {
    "launch": ("overhead of starting the kernel and its blocks",),
    "network": ("interconnect and L2 clock", "width of interconnect ports", "cycles of a sector in the data of the L2"),
    "atomics": ("cycles of an atomic operation in L2", "interconnect and L2 clock"),
    "dram": ("DRAM clock", "times of DRAM rows", "DRAM banks"),
    "camping": ("partitions of addresses",),
    "translation": ("latency of translation", "TLB reach"),
    "latency": ("interconnect latency", "L2 latency", "DRAM latency", "L1 latency"),
    # More registers let the compiler overlap more iterations: shorter chains for as many operations.
    "dependency": ("arithmetic latencies", "registers"),
    "shared": ("cycles of an access to shared memory", "banks of shared memory"),
    "shared_latency": ("latency of shared memory",),
    "buffers": ("store buffer", "misses on their way (MSHRs)", "load/store queue"),
    "branch": ("latency of branches",),
    "fence": ("time of fences",),
    "constants": ("constant caches",),
    # A turn is a store, a fence, and the way of a request and its reply.
    "other_blocks": ("interconnect latency", "time of fences", "L2 latency", "interconnect and L2 clock"),
    "issue": ("cycles between issue slots",),
    "lsu": ("cycles of a transaction in the coalescer", "L1 lines looked up at once"),
}
# These change many units at once, whatever limits the kernel, and are no answer to "which". So is a pipe for each scheduler, but that is
# of one kind and four times as many.
COMPOUND = ("SMs", "schedulers with their pipes", "resident warps with their registers")
HELPS = 0.05
COLUMNS = ("half", "workload", "machine", "cycles", "named", "right", "best_change", "best_gain", "named_gain", "compound_gain")


def relief(named: str) -> tuple[str, ...]:
    if named.startswith("pipe_"):
        # Steps of bank conflicts are time of the load/store pipe.
        return (f"cycles of the {named[5:]} pipe", *(("banks of shared memory",) if named == "pipe_lsu" else ()))
    return RELIEF.get(named, ())


def judge(proof: dict[str, Any]) -> dict[str, Any]:
    """A row of the table from `explain --prove --json`. Gains are shares of the cycles."""
    gains = {c["name"]: 1 - c["factor"] for c in proof["changes"] if "factor" in c}
    compound = {c["name"] for c in proof["changes"] if c["compound"]}
    single = {name: gain for name, gain in gains.items() if name not in compound}
    best = max(single, key=lambda name: single[name])
    named = proof["named"]
    helps = single[best] >= HELPS
    return {"cycles": proof["cycles"], "named": named, "right": (best in relief(named)) if helps else named == "nothing",
            "best_change": best if helps else "none", "best_gain": single[best],
            "named_gain": max((single.get(name, 0.0) for name in relief(named)), default=0.0),
            "compound_gain": max((gains.get(name, 0.0) for name in COMPOUND), default=0.0)}


def prove(gpusim: Path, name: str, machine: str, threads: int, folder: Path) -> dict[str, Any]:
    _, ptx, launch, parameters = CASES[name]
    recorded = folder / f"{name}.{machine}.h5"
    command = [str(gpusim), "--config", machine, "--quiet", "--force", "--out", str(recorded), f"workloads/{ptx}.ptx"]
    if launch:
        command += ["--launch", f"workloads/{launch}.toml"]
    for key, value in parameters.items():
        command += ["--param", f"{key}={value}"]
    subprocess.run(command, cwd=SOURCE, check=True, stdout=subprocess.DEVNULL)
    proof = subprocess.run([str(gpusim), "explain", str(recorded), "--prove", "--json", "--threads", str(threads)], cwd=SOURCE,
                           check=True, stdout=subprocess.PIPE, text=True).stdout
    recorded.unlink()
    return json.loads(proof)


def percent(gain: float) -> str:
    return f"{100 * gain:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", type=Path)
    parser.add_argument("--case", action="append", choices=CASES, help="only these workloads")
    parser.add_argument("--machine", action="append", choices=MACHINES, help="only these machines")
    parser.add_argument("--threads", type=int, default=1, help="simulations at the same time")
    parser.add_argument("--out", type=Path, help="write the table there, as CSV")
    parser.add_argument("--require", type=float, default=0.0, help="fail if less than this share is right")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.case or CASES:
            for machine in arguments.machine or MACHINES:
                row = judge(prove(arguments.gpusim.resolve(), name, machine, arguments.threads, Path(folder)))
                row |= {"half": CASES[name][0], "workload": name, "machine": machine}
                rows.append(row)
                print(f"{'right' if row['right'] else 'WRONG':6}{name:18}{machine:13}named {row['named']:16}"
                      f"best {row['best_change']} {percent(row['best_gain'])} %", flush=True)
    for half in ("fit", "judge"):
        of_half = [row["right"] for row in rows if row["half"] == half]
        if of_half:
            print(f"{half}: {sum(of_half)} of {len(of_half)} right")
    if arguments.out:
        temporary = arguments.out.with_suffix(".tmp")
        with temporary.open("w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(COLUMNS)
            for row in rows:
                shown = row | {"right": "yes" if row["right"] else "no"} | {c: percent(row[c]) for c in COLUMNS if c.endswith("_gain")}
                table.writerow([shown[column] for column in COLUMNS])
        temporary.replace(arguments.out)
    return 0 if sum(row["right"] for row in rows) >= arguments.require * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
