#!/usr/bin/env python3
"""Compares the reuse-distance model with the simulator on the workloads, as a table in Markdown.

    regress/reuse_distance.py GPUSIM [--size 48K] [--sm 0] [--only NAME]

For each kernel (of several launches, the one that loads most): miss rate of global loads in the first-level
caches of a GTX 470, simulated and predicted from a trace of a functional run, and hit rate of reads in the
second level for kernels that run first. `chosen` marks kernels on which rules of the model were chosen; the
others judge it. Speed: simulation over prediction, both as whole processes, for programs of one launch.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent / "workloads"
PROGRAMS = [  # PTX, launch file if it is another, chosen on it
    ("vecadd/vecadd", "", 0), ("saxpy/saxpy", "", 0), ("transpose/naive", "", 0), ("transpose/padded", "", 0),
    ("matmul/naive_16x16", "", 1), ("matmul/naive_8x8", "", 1), ("matmul/tiled_16x16", "", 1),
    ("matmul/volkov", "", 0), ("spmv/csr_scalar", "", 1), ("spmv/csr_vector", "", 1), ("spmv/ell", "", 1),
    ("spmv/formats", "", 1), ("spmv/csr_scalar", "spmv/power_law_scalar", 0),
    ("spmv/csr_vector", "spmv/power_law_vector", 0), ("stencil/stencil", "", 0), ("jacobi/jacobi", "", 0),
    ("convolution/convolution", "", 0), ("gemm/gemm", "", 0), ("histogram/histogram", "", 0), ("bfs/bfs", "", 0),
    ("reduction/reduction", "", 0), ("scan/scan", "", 0), ("scan/reduce_down", "", 1), ("softmax/softmax", "", 1),
    ("softmax/attention", "", 0), ("sort/radix", "", 1), ("npb/bt", "npb/bt_thread", 0), ("npb/bt", "npb/bt_warp", 0),
    ("npb/cg", "npb/cg_thread", 0), ("npb/cg", "npb/cg_warp", 0), ("npb/ft", "npb/ft_block", 0),
    ("npb/ft", "npb/ft_thread", 0), ("npb/mg", "npb/mg_thread", 1), ("npb/mg", "npb/mg_warp", 1),
    ("npb/sp", "npb/sp_block", 0), ("npb/sp", "npb/sp_thread", 0)]
LEAST_LOADS = 2000  # lines; kernels with fewer say little
SIZES = {"16K": [], "48K": ["--set", "l1.size=48K", "--set", "l1.ways=6", "--set", "shared.size=16K"]}


def run(command):
    start = time.time()
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if result.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(map(str, command))}\n{result.stderr}")
    return result.stdout, time.time() - start


def largest_launches(kernels):
    best = {}
    for number, kernel in enumerate(kernels):
        c = kernel["counters"]
        loads = c["l1_global_load_hit"] + c["l1_global_load_miss"]
        if loads >= max(LEAST_LOADS, best.get(kernel["name"], (0, 0))[1] + 1):
            best[kernel["name"]] = (number, loads)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim")
    parser.add_argument("--size", default="16K", choices=SIZES)
    parser.add_argument("--sm", help="model this SM only")
    parser.add_argument("--only", default="", help="programs whose name has this")
    a = parser.parse_args()
    machine = ["--config", "gtx470"] + SIZES[a.size]
    rows, l2 = [], []
    print("| program | kernel | loads | simulated % | predicted % | error | | trace s | speed |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "kernel.trc"
        for ptx, launch, chosen in PROGRAMS:
            name = launch or ptx
            if a.only not in name:
                continue
            program = [ROOT / f"{ptx}.ptx"] + (["--launch", ROOT / f"{launch}.toml"] if launch else [])
            out, simulated_s = run([a.gpusim, *machine, "--json", "--out", "none", *program])
            kernels = json.loads(out)["kernels"]
            for kernel, (number, loads) in largest_launches(kernels).items():
                _, trace_s = run([a.gpusim, "trace", *program, "--config", "gtx470", "--warps", "--number", number,
                                  "--out", trace])
                out, model_s = run([a.gpusim, "reuse", "--trace", trace, *machine, "--json"]
                                   + (["--sm", a.sm] if a.sm else []))
                p, c = json.loads(out), kernels[number]["counters"]
                miss_rate = c["l1_global_load_miss"] / loads
                rows.append((chosen, 100 * abs(p["miss_rate"] - miss_rate)))
                speed = f"{simulated_s / model_s:.0f}" if len(kernels) == 1 else ""
                print(f"| {name} | {kernel} | {loads:.0f} | {100 * miss_rate:.2f} | {100 * p['miss_rate']:.2f} | "
                      f"{100 * (p['miss_rate'] - miss_rate):+.2f} | {'chosen' if chosen else ''} | {trace_s:.1f} | "
                      f"{speed} |", flush=True)
                if number == 0 and c["l2_read_sectors"] and p["l2_sectors"]:
                    l2.append(100 * abs(p["l2_hits"] / p["l2_sectors"] - c["l2_read_hit_sectors"] / c["l2_read_sectors"]))
    for what, errors in (("judged", [e for chosen, e in rows if not chosen]),
                         ("chosen", [e for chosen, e in rows if chosen]), ("all", [e for _, e in rows]),
                         ("second level, first launches", l2)):
        if errors:
            print(f"\n{what}: {len(errors)} kernels, mean error {sum(errors) / len(errors):.2f} points, "
                  f"largest {max(errors):.2f}", end="")
    print()


if __name__ == "__main__":
    main()
