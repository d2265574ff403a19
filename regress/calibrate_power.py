#!/usr/bin/env python3
"""Energies of the V100 or the H100 from measured powers: a fit over the rows of the role `fit`, shown beside those of the role `judge`.

  regress/calibrate_power.py build/release/bin/gpusim [--machine h100] [--threads N] [--keep FILE] [--check | --update]

Each kernel with a measured average power of the board (regress/hardware/v100_*.json, measured/h100.json) is simulated under the
conditions of that measurement, with every coefficient of [energy] at one: its joules are then what one picojoule or watt of each
coefficient is worth. The coefficients are sought that give the measured powers of the fit rows. There are more than kernels can tell
apart, so they move in groups, each by one factor from where regress/power_priors.csv puts them, and a factor far from 1 costs
something: a group that no kernel shows keeps its prior. Nothing depends on what the machine has now, so a second fit gives what the
first one did. Kernels that were measured at several clocks weigh as one, and so do the kernels of one PTX file of the H100.

--check prints the errors of the machine as it is. --update writes the coefficients into the machine's configuration (the H100's into
configs/h200.cfg, which both have them from). --keep stores what the simulations say in FILE, or uses what is there. Every fit is
also judged by leaving each kernel of the role fit out in turn: that is what the model's terms, their groups and STIFFNESS are chosen by. Needs numpy.
"""
import argparse
import csv
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

REGRESS = Path(__file__).resolve().parent
FOLDER = REGRESS / "hardware"
SECTION = "\n[energy]\n"
#: Keys of static power, in W; all others are in pJ.
WATTS = ("core_static", "interconnect_static", "dram_static", "board")
#: What goes with time whatever the SMs do: the board's power in the pauses between launches (correlate/simulated_run.cpp).
STANDING = (*WATTS, "core_cycle", "interconnect_cycle", "dram_cycle", "dram_refresh")
#: A factor of e of a group costs as much as an error of NOISE / STIFFNESS in the power of a kernel.
NOISE, STIFFNESS = 0.08, 0.9

Prior = dict[str, str]


@dataclass(frozen=True)
class Machine:
    name: str
    #: Files of measurements below regress/hardware.
    files: tuple[str, ...]
    #: The configuration with its [energy].
    config: str
    #: Column of power_priors.csv.
    prior: str
    #: Groups that no measurement tells apart, and which keep their priors.
    fixed: tuple[str, ...] = ()
    #: Runs of fewer cycles on the GPU are left out, as what passes between two launches is not known there, and runs of more warp
    #: instructions, as they take long to simulate.
    least_cycles: float = 0
    most_instructions: float = float("inf")

    def takes(self, run: dict[str, Any]) -> bool:
        cycles = sum(kernel["cycles"] for kernel in run.get("kernels", []))
        return "power_w" in run and cycles >= self.least_cycles and run.get("counters", {}).get("instructions", 0) <= self.most_instructions


MACHINES = {
    "tesla_v100": Machine("tesla_v100", ("v100_accelwattch", "v100_nvdvfs"), "tesla_v100", "prior"),
    "h100": Machine("h100", ("measured/h100",), "h200", "prior_h100", fixed=("leakage", "board"), least_cycles=30e3,
                    most_instructions=25e6),
}


def priors(machine: Machine) -> list[Prior]:
    with (REGRESS / "power_priors.csv").open(encoding="utf-8", newline="") as text:
        return [{**row, "prior": row[machine.prior]} for row in csv.DictReader(text)]


def unit(key: str) -> str:
    return "1" if key in WATTS else "1pJ"


def simulate(gpusim: str, machine: str, keys: list[Prior], file: str, run: dict[str, Any], common: list[str]) -> dict[str, Any]:
    """A measured run, and the W that a unit of each coefficient is worth in it."""
    folder = (FOLDER / file).parent
    command = [gpusim, "--config", machine, "--quiet", "--json", "--out", "none", "--launch", str((folder / run["launch"]).resolve()),
               "--cache", run.get("power_cache", run.get("cache", "cold"))]
    for override in common + run.get("set", []) + [f"energy.{k['key']}={unit(k['key'])}" for k in keys]:
        command += ["--set", override]
    for name, value in run.get("params", {}).items():
        command += ["--param", f"{name}={value}"]
    for name in ("core", "interconnect", "dram"):
        if f"{name}_clock" in run:
            command += [f"--{name}-clock", run[f"{name}_clock"]]
    done = subprocess.run([*command, str((folder / run["ptx"]).resolve())], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    kernels = json.loads(done.stdout)["kernels"]
    seconds = sum(k["time_s"] for k in kernels)
    pauses = run.get("pause_seconds", run.get("overhead_seconds", 0)) * run.get("part", 1)
    worth = {}
    for k in keys:
        watts = sum(kernel["counters"][k["counter"]] for kernel in kernels) / seconds
        worth[k["key"]] = watts * (1 if k["key"] in STANDING else seconds / (seconds + pauses))
    # At several clocks, a name is a kernel; a file of PTX that came with many sizes and forms of one kernel is one.
    same = Path(run["ptx"]).stem if file.startswith("measured/") else re.sub(r" \d+ MHz$", "", run["name"])
    return {"file": file, "name": run["name"], "kernel": same, "role": run["role"], "watts": run["power_w"], "worth": worth}


def simulate_all(gpusim: str, machine: Machine, keys: list[Prior], threads: int) -> list[dict[str, Any]]:
    jobs = []
    for file in machine.files:
        measured = json.loads((FOLDER / f"{file}.json").read_text())
        jobs += [(file, run, measured.get("set", [])) for run in measured["runs"] if machine.takes(run)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda job: simulate(gpusim, machine.name, keys, *job), jobs))


def config_of(machine: Machine) -> Path:
    return REGRESS.parent / "configs" / f"{machine.config}.cfg"


def machine_energies(machine: Machine, keys: list[Prior]) -> dict[str, float]:
    """Those of the configuration, in pJ and W."""
    section = config_of(machine).read_text().split(SECTION)[1]
    found = dict(re.findall(r'^(\w+) = "?([\d.]+(?:[pn]J)?)"?', section, re.MULTILINE))
    scale = {"pJ": 1, "nJ": 1e3}
    return {k["key"]: float(found[k["key"]].rstrip("pnJ")) * scale.get(found[k["key"]][-2:], 1) for k in keys}


def groups_of(keys: list[Prior]) -> list[str]:
    return list(dict.fromkeys(k["group"] for k in keys))


def table_of(rows: list[dict[str, Any]], keys: list[Prior]) -> numpy.ndarray:
    """Watts of each group in each row, at the priors."""
    return numpy.array([[sum(row["worth"][k["key"]] * float(k["prior"]) for k in keys if k["group"] == group) for group in groups_of(keys)]
                        for row in rows])


def fit(table: numpy.ndarray, rows: list[dict[str, Any]], fixed: list[bool]) -> numpy.ndarray:
    """Factors of the groups: least squares of relative errors and of the factors' logarithms (Gauss-Newton on logarithms)."""
    measured = numpy.array([row["watts"] for row in rows])
    names = [(row["file"], row["kernel"]) for row in rows]
    weight = numpy.array([1 / numpy.sqrt(names.count(name)) for name in names]) / NOISE
    logs = numpy.zeros(table.shape[1])
    moves = ~numpy.array(fixed)
    for _ in range(1000):
        factors = numpy.exp(logs)
        residual = numpy.concatenate([weight * (table @ factors / measured - 1), logs / STIFFNESS])
        jacobian = numpy.vstack([weight[:, None] * table * factors * moves / measured[:, None], numpy.eye(len(logs)) / STIFFNESS])
        step = numpy.linalg.lstsq(jacobian, -residual, rcond=None)[0]
        logs += numpy.clip(step, -0.3, 0.3)
        if numpy.abs(step).max() < 1e-10:
            break
    return numpy.exp(logs)


def left_out(table: numpy.ndarray, rows: list[dict[str, Any]], fixed: list[bool]) -> numpy.ndarray:
    """Powers of fit rows by fits without their kernel."""
    predicted = numpy.zeros(len(rows))
    kernels = [row["kernel"] for row in rows]
    for kernel in sorted(set(kernels)):
        mine = numpy.array([k == kernel for k in kernels])
        predicted[mine] = table[mine] @ fit(table[~mine], [row for row, out in zip(rows, mine) if not out], fixed)
    return predicted


def text_of(key: str, value: float) -> str:
    """A coefficient as the configuration has it: three digits."""
    rounded = float(f"{value:.3g}")
    if key in WATTS:
        return f"{rounded:.6g}"
    return f'"{rounded / 1e3:.6g}nJ"' if rounded >= 1e3 else f'"{rounded:.6g}pJ"'


def update(config: Path, energies: dict[str, float]) -> None:
    before, section = config.read_text().split(SECTION)
    for key, value in energies.items():
        section, found = re.subn(rf"^{key} = \S+", f"{key} = {text_of(key, value)}", section, flags=re.MULTILINE)
        if found != 1:
            sys.exit(f"{config}: {found} lines for energy.{key}, expected one")
    config.write_text(before + SECTION + section)


def print_errors(title: str, rows: list[dict[str, Any]], predicted: numpy.ndarray) -> None:
    errors = 100 * abs(predicted / numpy.array([row["watts"] for row in rows]) - 1)
    print(f"{title}: {len(errors)} rows, mean absolute error {errors.mean():.1f} %, worst {errors.max():.1f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim")
    parser.add_argument("--machine", choices=MACHINES, default="tesla_v100")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true")
    what.add_argument("--update", action="store_true")
    arguments = parser.parse_args()

    machine = MACHINES[arguments.machine]
    keys = priors(machine)
    fixed = [group in machine.fixed for group in groups_of(keys)]
    if arguments.keep and arguments.keep.exists():
        rows = json.loads(arguments.keep.read_text())
    else:
        rows = simulate_all(arguments.gpusim, machine, keys, arguments.threads)
        if arguments.keep:
            arguments.keep.write_text(json.dumps(rows))
    fitted = [row for row in rows if row["role"] == "fit"]
    if arguments.check:
        energies = machine_energies(machine, keys)
    else:
        factors = dict(zip(groups_of(keys), fit(table_of(fitted, keys), fitted, fixed)))
        for group, factor in factors.items():
            print(f"{group:18} times {factor:6.3f}    {', '.join(k['key'] for k in keys if k['group'] == group)}")
        energies = {k["key"]: float(k["prior"]) * factors[k["group"]] for k in keys}

    for row in rows:
        row["predicted"] = sum(row["worth"][key] * value for key, value in energies.items())
        error = 100 * (row["predicted"] / row["watts"] - 1)
        print(f"{row['role']:6} {row['file'] + ': ' + row['name']:50} {row['watts']:8.1f} W measured {row['predicted']:8.1f} W {error:+6.1f} %")
    for role in ("fit", "judge"):
        of_role = [row for row in rows if row["role"] == role]
        print_errors(role, of_role, numpy.array([row["predicted"] for row in of_role]))
    if arguments.check:
        return
    print_errors("fit, each kernel left out in turn", fitted, left_out(table_of(fitted, keys), fitted, fixed))
    if arguments.update:
        update(config_of(machine), energies)


if __name__ == "__main__":
    main()
