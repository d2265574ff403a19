#!/usr/bin/env python3
"""The two figures of hardware details in the reuse-distance paper, measured on a simulated machine: as a table in Markdown and as a picture.

    regress/reuse_figures.py GPUSIM strides [--config gtx470_48k] [--plot FILE.svg]
    regress/reuse_figures.py GPUSIM mshrs [--config gtx470] [--plot FILE.svg]

strides: two equal rounds of loads of one thread, a stride apart. Of all loads 50 % miss if the second round finds the lines of the
         first, and 100 % if more of them fall into one set than it has ways: which address bits number the sets.
mshrs:   one thread of each warp has some loads of lines of their own before it waits. Cycles of the slowest warp: they jump where
         a warp, or all of them together, may have no more loads on their way.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from on_demand import numpy

MICRO = pathlib.Path(__file__).resolve().parent.parent / "workloads" / "micro"
STRIDES = range(7, 16)  # log2 of bytes
COUNTS = (4, 8, 16, 32, 64, 128, 256)
WARPS = (1, 2, 4, 8, 10, 12, 16)
LOADS = range(1, 13)


def simulate(gpusim, config, launch, params, *options):
    command = [gpusim, "--config", config, "--quiet", "--json", "--out", "none", "--launch", MICRO / f"{launch}.toml",
               *(x for name, value in params.items() for x in ("--param", f"{name}={value}")), *options, MICRO / "reuse_figures.ptx"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return json.loads(done.stdout)


def strides(gpusim, config, counts=COUNTS, at=STRIDES):
    """Of each number of loads the miss rates in % over the strides."""
    def rate(count, stride):
        c = simulate(gpusim, config, "strided", {"N": count, "STRIDE": 1 << stride})["kernels"][0]["counters"]
        loads = c["l1_global_load_hit"] + c["l1_global_load_miss"]
        if loads == 0:
            sys.exit(f"{config}: global loads do not go to an L1")
        return 100 * c["l1_global_load_miss"] / loads
    return {f"{n} loads": [rate(n, s) for s in at] for n in counts}


def mshrs(gpusim, config, warps_of=WARPS, at=LOADS):
    """Of each number of warps the cycles of the slowest over the loads of each."""
    def cycles(warps, loads):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "out.npy"
            simulate(gpusim, config, "outstanding", {"WARPS": warps, "LOADS": loads}, "--dump", f"out={file}")
            return int(numpy.load(file).max())
    return {f"{w} warp{'s' * (w > 1)}": [cycles(w, n) for n in at] for w in warps_of}


def draw(file, lines, at, x_label, y_label, more):
    columns = [[x, *(values[i] for values in lines.values())] for i, x in enumerate(at)]
    data = "$d << end\n" + "".join(" ".join(map(str, row)) + "\n" for row in columns) + "end\n"
    curves = ", ".join(f"$d using 1:{k + 2} with linespoints lw 2 title '{name}'" for k, name in enumerate(lines))
    text = (f"set terminal svg size 900,520 background rgb 'white' font 'Helvetica,14' noenhanced\nset output '{file}'\nset key outside right\n"
            f"set grid\nset xlabel '{x_label}'\nset ylabel '{y_label}'\nset xtics 1\n{more}\n{data}plot {curves}\n")
    done = subprocess.run(["gnuplot"], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"gnuplot: {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim")
    parser.add_argument("figure", choices=("strides", "mshrs"))
    parser.add_argument("--config", default="gtx470")
    parser.add_argument("--plot", help="an SVG file")
    a = parser.parse_args()
    if a.figure == "strides":
        lines, at, labels = strides(a.gpusim, a.config), STRIDES, ("log2 of the stride in bytes", "loads that miss, %", "set yrange [0:105]")
    else:
        lines, at, labels = mshrs(a.gpusim, a.config), LOADS, ("loads of each warp", "core cycles", "set yrange [0:*]")
    print(f"| {a.figure} | {' | '.join(map(str, at))} |\n{'|---' * (1 + len(at))}|")
    for name, values in lines.items():
        print(f"| {name} | {' | '.join(f'{v:.0f}' for v in values)} |")
    if a.plot:
        draw(a.plot, lines, at, *labels)


if __name__ == "__main__":
    main()
