#!/usr/bin/env python3
"""Energies of the V100 from measured powers: a fit over the rows of the role `fit`, shown beside those of the role `judge`.

  regress/calibrate_power.py build/release/bin/gpusim [--threads N] [--keep FILE] [--check]

Each kernel with a measured average power of the board (regress/hardware/v100_*.json) is simulated once at the highest voltage, and its
joules are divided by the coefficients of [energy]: what is left are events. Then coefficients are sought that give the measured powers
of the fit rows, at the voltages that the machine has at each clock. There are more coefficients than kernels can tell apart, so they
move in groups, each by one factor, and a factor far from 1 costs something: a group that no kernel shows keeps its value. --check
changes nothing and prints the errors of the machine as it is. --keep stores the events in FILE, or uses those that are there.
Needs numpy.
"""
import argparse
import json
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy

FOLDER = Path(__file__).resolve().parent / "hardware"
FILES = ["v100_accelwattch", "v100_nvdvfs"]
MACHINE = "tesla_v100"
#: Counters of a kernel's energy that grow with events, by group; each counter's key in [energy].
GROUPS: dict[str, dict[str, str]] = {
    "issue": {"energy_issue": "issue"},
    "operations": {"energy_int": "int", "energy_int_mul": "int_mul", "energy_fp32": "fp32", "energy_half": "half", "energy_sfu": "sfu",
                   "energy_register_file": "register", "energy_fp64": "fp64"},
    "tensor": {"energy_mma_half": "mma_half", "energy_mma_int8": "mma_int8", "energy_mma_fp64": "mma_fp64"},
    "accesses": {"energy_lane_access": "lane_access", "energy_shared": "shared", "energy_l1": "l1", "energy_constant": "constant"},
    "texture": {"energy_texture": "texture"},
    "l2": {"energy_l2": "l2", "energy_interconnect": "flit"},
    "dram": {"energy_dram_activate": "dram_activate", "energy_dram_read": "dram_read", "energy_dram_write": "dram_write"},
    "core clock": {"energy_core_clock": "core_cycle"},
    "interconnect clock": {"energy_interconnect_clock": "interconnect_cycle"},
    "memory clock": {"energy_dram_clock": "dram_cycle", "energy_dram_refresh": "dram_refresh"},
    "static": {"energy_core_static": "core_static", "energy_interconnect_static": "interconnect_static"},
    "board": {"energy_dram_static": "dram_static", "energy_board": "board"},
}
#: Groups whose energy goes with the square of the core's voltage, and with the voltage.
DYNAMIC = ("issue", "operations", "tensor", "accesses", "texture", "l2", "core clock", "interconnect clock")
STATIC = ("static",)
#: What a factor of e costs, as a relative error: kernels of the role fit that are left out are predicted best with about this.
STIFFNESS = 0.15


def simulate(gpusim: str, file: str, run: dict[str, Any], common: list[str]) -> dict[str, Any]:
    command = [gpusim, "--config", MACHINE, "--quiet", "--json", "--out", "none", "--launch", str(FOLDER / run["launch"]),
               "--set", "dvfs.core_points=1380MHz 1V", "--set", "dvfs.interconnect_points=1120MHz 1V"]
    for override in common + run.get("set", []):
        command += ["--set", override]
    for name, value in run.get("params", {}).items():
        command += ["--param", f"{name}={value}"]
    for name in ("core", "interconnect", "dram"):
        if f"{name}_clock" in run:
            command += [f"--{name}-clock", run[f"{name}_clock"]]
    done = subprocess.run([*command, str(FOLDER / run["ptx"])], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    kernels = json.loads(done.stdout)["kernels"]
    clock = float(str(run.get("core_clock", "1447MHz")).removesuffix("MHz"))
    return {"name": f"{file}: {run['name']}", "role": run["role"], "watts": run["power_w"], "mhz": clock,
            "seconds": sum(k["time_s"] for k in kernels),
            "joules": {c: sum(k["counters"][c] for k in kernels) for group in GROUPS.values() for c in group}}


def config(gpusim: str) -> dict[str, str]:
    """section.key -> value of the machine as it is."""
    text = subprocess.run([gpusim, "config", "show", MACHINE], capture_output=True, text=True, check=True).stdout
    values, section = {}, ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[] ")
        elif "=" in line:
            key, value = line.split("#")[0].split("=", 1)
            values[f"{section}.{key.strip()}"] = value.strip().strip('"')
    return values


def voltage_share(points: str, mhz: float) -> float:
    """Of the highest voltage, at a core clock: a table of points as in dvfs.core_points."""
    table = [(float(f.removesuffix("MHz")), float(v.removesuffix("V"))) for f, v in (p.split() for p in points.split(","))]
    return float(numpy.interp(mhz, [f for f, _ in table], [v for _, v in table])) / max(v for _, v in table)


def watts_of(rows: list[dict[str, Any]], shares: list[float]) -> numpy.ndarray:
    """Watts of each group in each row, at today's coefficients and the row's voltage."""
    table = numpy.zeros((len(rows), len(GROUPS)))
    for i, (row, share) in enumerate(zip(rows, shares)):
        for j, (name, counters) in enumerate(GROUPS.items()):
            scale = share * share if name in DYNAMIC else share if name in STATIC else 1
            table[i, j] = scale * sum(row["joules"][c] for c in counters) / row["seconds"]
    return table


def fit(table: numpy.ndarray, measured: numpy.ndarray, floors: float = 0.02) -> numpy.ndarray:
    """Factors of the groups: least squares of relative errors and of the factors' logarithms (Gauss-Newton on logarithms)."""
    logs = numpy.zeros(table.shape[1])
    for _ in range(200):
        factors = numpy.exp(logs)
        predicted = table @ factors
        residual = numpy.concatenate([predicted / measured - 1, STIFFNESS * logs])
        jacobian = numpy.vstack([table * factors / measured[:, None], STIFFNESS * numpy.eye(len(logs))])
        step = numpy.linalg.lstsq(jacobian, -residual, rcond=None)[0]
        logs = numpy.clip(logs + numpy.clip(step, -0.3, 0.3), math.log(floors), None)
    return numpy.exp(logs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()

    if arguments.keep and arguments.keep.exists():
        rows = json.loads(arguments.keep.read_text())
    else:
        jobs = []
        for file in FILES:
            measured = json.loads((FOLDER / f"{file}.json").read_text())
            jobs += [(file, run, measured.get("set", [])) for run in measured["runs"] if "power_w" in run]
        with ThreadPoolExecutor(arguments.threads) as pool:
            rows = list(pool.map(lambda job: simulate(arguments.gpusim, *job), jobs))
        if arguments.keep:
            arguments.keep.write_text(json.dumps(rows))
    machine = config(arguments.gpusim)
    points = machine.get("dvfs.core_points") or ""
    if not points:
        sys.exit("the machine has no dvfs.core_points")
    table = watts_of(rows, [voltage_share(points, row["mhz"]) for row in rows])
    measured = numpy.array([row["watts"] for row in rows])
    fitted = numpy.array([row["role"] == "fit" for row in rows])
    factors = numpy.ones(len(GROUPS)) if arguments.check else fit(table[fitted], measured[fitted])

    predicted = table @ factors
    for row, watts in zip(rows, predicted):
        print(f"{row['role']:6} {row['name']:50} {row['watts']:8.1f} W measured {watts:8.1f} W {100 * (watts / row['watts'] - 1):+6.1f} %")
    for role in ("fit", "judge"):
        of_role = numpy.array([row["role"] == role for row in rows])
        errors = 100 * abs(predicted[of_role] / measured[of_role] - 1)
        print(f"{role}: {len(errors)} rows, mean absolute error {errors.mean():.1f} %, worst {errors.max():.1f} %")
    if arguments.check:
        return
    for (name, counters), factor in zip(GROUPS.items(), factors):
        now = ", ".join(f"{key} = {machine['energy.' + key]}" for key in counters.values())
        print(f"{name:18} times {factor:6.3f}    of {now}")


if __name__ == "__main__":
    main()
