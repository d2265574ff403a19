#!/usr/bin/env python3
"""What each change of the V100 is worth: the error against measured kernels with that one change taken back.

  regress/ablation.py build/release/bin/gpusim [--threads N] [--hardware FILE ...] [--run TEXT ...]

Rows of the role `fit` only, the others are not simulated: what was chosen in sight of them is shown on them. --run chooses rows by
their names, as for `gpusim correlate`. Each change is one simulation of all chosen rows, so a few rows take minutes and all of them
an hour or two.
"""
import argparse
import json
import subprocess
import sys

import hardware_table

FILES = ["titanv_test1", "v100_how_to_optimize", "v100_accelwattch", "v100_nvdvfs"]

# Name, and the keys as they were before: configs/tesla_v100.cfg names the evidence beside each key.
CHANGES: list[tuple[str, list[str]]] = [
    ("round-robin issue", ["scheduler.policy=gto"]),
    ("first warps of blocks dealt in turn", ["scheduler.turned=false"]),
    ("ports that take two cycles for a sector or a line",
     ["clocks.interconnect=840MHz", "interconnect.flit=128", "interconnect.reply_flit=0", "interconnect.header=0",
      "interconnect.reply_queues=1", "interconnect.arbitration=round_robin", "l2.atomic_cycles=1"]),
    ("several queues of replies", ["interconnect.reply_queues=1"]),
    ("the interconnect follows the core's clock", ["clocks.interconnect_follows=false"]),
    ("rate of block starts", ["gpu.block_interval=1"]),
    ("a barrier's own time", ["pipes.control.barrier=2"]),
    ("shorter integer division", ["pipes.fp32.int_div_u32=40", "pipes.fp32.int_div_s32=48"]),
    ("indexed constants", ["pipes.lsu.load_const=1"]),
    ("a texel a clock and unit", ["pipes.texture.texture=2"]),
    ("L2 index by XOR", ["l2.index=modulo"]),
    ("gap between kernels", ["host.launch_gap=0ns"]),
    ("schedulers take turns at shared pipes", ["scheduler.share_in_turn=false"]),
    ("results as late as stall counts say",
     ["scheduler.guard_latency=0", "scheduler.memory_latency=0", "scheduler.sfu_latency=0", "scheduler.other_pipe_latency=0"]),
    ("products that keep the upper half take longer", ["pipes.fp32.int_mul_wide=2"]),
    ("at most half of an L2 set modified", ["l2.dirty_share=1"]),
    ("addresses dealt to partitions as if by lot", ["l2.hash=xor"]),
]


def fitted_runs(arguments: argparse.Namespace) -> list[str]:
    """Of the role fit in the stored table, with one of the texts of --run in their names."""
    return list(dict.fromkeys(row["run"] for row in hardware_table.read() if row["role"] == "fit" and row["file"] in arguments.hardware
                              and (not arguments.run or any(text in row["run"] for text in arguments.run))))


def errors(arguments: argparse.Namespace, sets: list[str]) -> dict[str, float]:
    command = [arguments.gpusim, "correlate", "--json", "--threads", str(arguments.threads)]
    for name in arguments.hardware:
        command += ["--hardware", name]
    for text in fitted_runs(arguments):
        command += ["--run", text]
    for override in sets:
        command += ["--set", override]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    files = json.loads(done.stdout)
    rows = [row for file in (files if isinstance(files, list) else [files]) for row in file["kernels"]]
    return {row["run"]: row["error"] for row in rows if row.get("role") == "fit" and "error" in row}


def mean(values: dict[str, float]) -> float:
    return 100 * sum(map(abs, values.values())) / len(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--hardware", nargs="+", default=FILES)
    parser.add_argument("--run", nargs="+", default=[])
    arguments = parser.parse_args()
    if not fitted_runs(arguments):
        sys.exit("no row of the role fit is chosen")
    now = errors(arguments, [])
    print(f"{len(now)} rows of the role fit: mean absolute error {mean(now):.1f} %")
    print(f"{'taken back':48} {'error':>7} {'worse by':>9}  most changed row")
    for name, sets in CHANGES:
        before = errors(arguments, sets)
        row = max(now, key=lambda run: abs(before[run] - now[run]))
        print(f"{name:48} {mean(before):6.1f} % {mean(before) - mean(now):+8.1f}  "
              f"{row}: {100 * now[row]:+.1f} % now, {100 * before[row]:+.1f} % then", flush=True)


if __name__ == "__main__":
    main()
