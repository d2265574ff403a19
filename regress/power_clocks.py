#!/usr/bin/env python3
"""Energy of the V100's measured kernels over nine core clocks: what the model `energy` predicts from one simulated run at the highest
beside the real board (regress/hardware/v100_nvdvfs_clocks.csv), and which clock takes least.

  power_clocks.py                               prints the stored table's errors
  power_clocks.py GPUSIM --update [--keep DIR]  simulates the 14 kernels and replaces regress/power_clocks.csv; --keep leaves the
                                                recordings in DIR, or uses those that are there
"""
import argparse
import csv
import json
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
MEASURED, TABLE = FOLDER / "hardware" / "v100_nvdvfs_clocks.csv", FOLDER / "power_clocks.csv"
COLUMNS = ("kernel", "role", "core_mhz", "measured_j", "predicted_j", "measured_w", "predicted_w")
BASE = 1380


def read(table: Path) -> list[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def run_of(kernel: str) -> dict[str, Any]:
    """The measured run at the highest clock."""
    runs = json.loads((FOLDER / "hardware" / "v100_nvdvfs.json").read_text())["runs"]
    return next(run for run in runs if run["name"] == f"{kernel} {BASE} MHz")


def record(gpusim: str, run: dict[str, Any], out: Path) -> None:
    """The run at the highest clock, under the conditions of the measurement."""
    folder = FOLDER / "hardware"
    command = [gpusim, "--config", "tesla_v100", "--quiet", "--out", str(out), "--events", "memory", "--launch", str(folder / run["launch"]),
               "--cache", run.get("cache", "cold"), "--core-clock", run["core_clock"]]
    for name, value in run.get("params", {}).items():
        command += ["--param", f"{name}={value}"]
    done = subprocess.run([*command, str(folder / run["ptx"])], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")


def predict(gpusim: str, recording: Path, clocks: list[int]) -> list[tuple[float, float]]:
    """Seconds and joules of all kernels at these clocks."""
    option = "clocks=" + ",".join(map(str, clocks))
    done = subprocess.run([gpusim, "analyze", recording, "--model", "energy", "--option", option, "--json"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{recording}: exit code {done.returncode}\n{done.stderr}")
    rows = json.loads(done.stdout)["models"][0]["details"]["forecasts"]
    at = {clock: [r for r in rows if r["core_khz"] == clock * 1000] for clock in clocks}
    return [(sum(r["seconds"] for r in at[clock]), sum(r["energy"] for r in at[clock])) for clock in clocks]


def update(gpusim: str, folder: Path, threads: int) -> None:
    runs = {name: run_of(name) for name in dict.fromkeys(row["kernel"] for row in read(MEASURED))}
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"{name}.h5" for name in runs}
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda name: files[name].exists() or record(gpusim, runs[name], files[name]), runs))
    rows = []
    for name, run in runs.items():
        measured = [row for row in read(MEASURED) if row["kernel"] == name]
        predicted = predict(gpusim, files[name], [int(row["core_mhz"]) for row in measured])
        part, pauses = run.get("part", 1), run.get("overhead_seconds", 0)
        for row, (seconds, joules) in zip(measured, predicted):
            watts, launch = float(row["watts"]), float(row["seconds"]) - pauses
            rows.append({"kernel": name, "role": row["role"], "core_mhz": row["core_mhz"], "measured_j": f"{watts * launch:.5g}",
                         "predicted_j": f"{joules / part:.5g}", "measured_w": f"{watts:.1f}", "predicted_w": f"{joules / seconds:.1f}"})
    with TABLE.open("w", encoding="utf-8", newline="") as text:
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def kernels(rows: list[dict[str, str]]) -> dict[str, list[dict[str, str]]]:
    """Rows of each kernel, by rising clock."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in sorted(rows, key=lambda r: int(r["core_mhz"])):
        found.setdefault(row["kernel"], []).append(row)
    return found


def steps_apart(rows: list[dict[str, str]]) -> int:
    """From the clock of least predicted energy to that of least measured one."""
    least = [min(range(len(rows)), key=lambda i: float(rows[i][f"{side}_j"])) for side in ("predicted", "measured")]
    return abs(least[0] - least[1])


def above_least(rows: list[dict[str, str]], side: str) -> float:
    """Measured energy at the clock of least `side` energy, above the least measured; "constant": at the highest clock, which would take least if
    the power were the same at all."""
    energy = [float(row["measured_j"]) for row in rows]
    at = len(rows) - 1 if side == "constant" else min(range(len(rows)), key=lambda i: float(rows[i][f"{side}_j"]))
    return energy[at] / min(energy) - 1


def shape_errors(rows: list[dict[str, str]], constant: bool) -> list[float]:
    """Of energies relative to those at the highest clock."""
    top = rows[-1]
    return [abs((1 if constant else float(r["predicted_j"]) / float(top["predicted_j"])) / (float(r["measured_j"]) / float(top["measured_j"])) - 1)
            for r in rows[:-1]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", nargs="?")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.update:
        if arguments.gpusim is None:
            parser.error("gpusim is missing")
        with tempfile.TemporaryDirectory() as folder:
            update(arguments.gpusim, arguments.keep or Path(folder), arguments.threads)
    of = kernels(read(TABLE))
    print("| kernel | | least energy: measured, predicted MHz | steps apart | measured energy there above the least % | a constant's | energy over clocks, error % "
          "| a constant's |\n" + "|---" * 8 + "|")
    for name, rows in of.items():
        least = [min(rows, key=lambda r: float(r[f"{side}_j"]))["core_mhz"] for side in ("measured", "predicted")]
        print(f"| {name} | {rows[0]['role']} | {least[0]}, {least[1]} | {steps_apart(rows)} | {100 * above_least(rows, 'predicted'):.1f} | "
              f"{100 * above_least(rows, 'constant'):.1f} | {100 * statistics.mean(shape_errors(rows, False)):.1f} | "
              f"{100 * statistics.mean(shape_errors(rows, True)):.1f} |")
    near = sum(steps_apart(rows) <= 1 for rows in of.values())
    print(f"\n{near} of {len(of)} kernels within one step")


if __name__ == "__main__":
    main()
