#!/usr/bin/python3
"""Runs the microbenchmarks on a machine and compares them with its judged figures.

usage: calibrate.py GPUSIM [--machine tesla_c1060] [--table regress/calibration/tesla_c1060.csv] [--only WORKLOAD]
A row of the table names a workload of workloads/micro, or `microbench` with the name of a figure of `gpusim microbench` as its
kernel (in the unit of that data sheet; `figure` is its quantity). `params`, if the table has that column, are NAME=VALUE for the
workload. Prints one line per figure; exits 1 if one is outside its tolerance.
"""

import argparse
import ast
import csv
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Operations between the two clock reads of a warp, by workload.
STEPS = {"latency": 64, "throughput": 384, "memory_latency": 256, "texture_latency": 256, "shared_stride": 256}

# Quantities that are counters of a kernel.
COUNTERS = {"bandwidth": "dram_throughput", "power": "average_power"}


def read_npy_u32(path: Path) -> list[int]:
    """The values of a one-dimensional .npy file of 32-bit unsigned integers."""
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10 : 10 + length].decode("latin-1"))
    assert header["descr"] == "<u4", header
    return list(struct.unpack(f"<{header['shape'][0]}I", data[10 + length :]))


def run(gpusim: str, machine: str, workload: str, params: str, buffers: list[str],
        folder: Path) -> tuple[dict, dict[str, list[int]]]:
    """Runs one workload; returns its JSON report and the dumped buffers."""
    command = [gpusim, "--config", machine, "--quiet", "--json", "--out", "none"]
    for p in params.split():
        command += ["--param", p]
    for b in buffers:
        command += ["--dump", f"{b}={folder / b}.npy"]
    command.append(str(ROOT / "workloads" / "micro" / f"{workload}.ptx"))
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")
    return json.loads(result.stdout), {b: read_npy_u32(folder / f"{b}.npy") for b in buffers}


def section(figure: str) -> str:
    """The section of the data sheet that holds a figure."""
    group, name = figure.split(".", 1)
    if group in ("latency", "throughput"):
        return "latency" if name in ("l1", "l2", "dram", "shared") else "operations"
    return group


def data_sheet(gpusim: str, machine: str, figures: list[str]) -> dict[str, float | None]:
    """What `gpusim microbench` finds, by figure; None where it finds nothing."""
    only = ",".join(sorted({section(figure) for figure in figures}))
    result = subprocess.run([gpusim, "microbench", "--config", machine, "--json", "--only", only],
                            capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"gpusim microbench --config {machine}\n{result.stderr}")
    return {figure["name"]: figure["found"] for figure in json.loads(result.stdout)["figures"]}


def measure(row: dict, report: dict, buffers: dict[str, list[int]]) -> float:
    """The figure of one table row: clocks are (before, after, unused) per warp."""
    if row["quantity"] in COUNTERS:
        kernel = next(k for k in report["kernels"] if k["name"] == row["kernel"])
        return kernel["counters"][COUNTERS[row["quantity"]]]
    clocks = buffers[row["kernel"]]
    before, after = clocks[0::3], clocks[1::3]
    steps = STEPS[row["workload"]]
    elapsed = max(after) - min(before)
    if row["quantity"] == "latency":
        return elapsed / steps
    if row["quantity"] == "throughput":
        return 32 * len(before) * steps / elapsed
    return elapsed / (len(before) * steps)


def main(arguments: list[str] | None = None) -> int:
    """Returns 1 if a figure is outside its tolerance. `arguments`: default those of the process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("gpusim")
    parser.add_argument("--machine", default="tesla_c1060")
    parser.add_argument("--table", help="default: that of the machine")
    parser.add_argument("--only")
    options = parser.parse_args(arguments)
    table = options.table or str(ROOT / "regress" / "calibration" / f"{options.machine}.csv")
    with open(table, encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    if options.only:
        rows = [r for r in rows if r["workload"] == options.only]
    bad = 0
    for workload in dict.fromkeys(r["workload"] for r in rows):
        mine = [r for r in rows if r["workload"] == workload]
        if workload == "microbench":
            sheet = data_sheet(options.gpusim, options.machine, [row["kernel"] for row in mine])
            values = [sheet.get(row["kernel"]) for row in mine]
        else:
            names = [r["kernel"] for r in mine if r["quantity"] not in COUNTERS]
            with tempfile.TemporaryDirectory() as folder:
                report, buffers = run(options.gpusim, options.machine, workload, mine[0].get("params") or "", names,
                                      Path(folder))
            values = [measure(row, report, buffers) for row in mine]
        for row, value in zip(mine, values):
            expected = float(row["expected"])
            if value is None:
                sys.exit(f"gpusim microbench found no {row['kernel']} of {options.machine}")
            error = value / expected - 1
            good = abs(error) <= float(row["tolerance"])
            bad += not good
            print(f"{'ok ' if good else 'BAD'} {workload:15} {row['kernel']:15} {row['quantity']:10} "
                  f"{value:14.6g} expected {expected:12.6g} ({100 * error:+.1f} %, {row['source']})")
    print(f"{len(rows) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
