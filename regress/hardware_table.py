#!/usr/bin/env python3
"""The table of all measured kernels: hardware and simulated cycles, error, the cause that most is lost to, and power where it was
measured; beside it a table of what profilers counted.

  hardware_table.py GPUSIM                     prints the stored table's errors by machine, file and role
  hardware_table.py GPUSIM --update [NAME...]  simulates the kernels of these files of measurements (default: all, which takes
                                               an hour on four cores) and replaces their rows in hardware_table.csv
                                               and hardware_counters.csv
"""

import argparse
import csv
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
TABLE, COUNTERS = FOLDER / "hardware_table.csv", FOLDER / "hardware_counters.csv"
COLUMNS = ("machine", "file", "run", "kernel", "role", "hardware_cycles", "simulated_cycles", "error_percent", "lost_to",
           "hardware_power_w", "simulated_power_w")
COUNTER_COLUMNS = ("file", "run", "kernel", "counter", "hardware", "simulated")
#: Means of counters are of those that count at least as much on the GPU: a few hundred sectors are other work's.
FEW = 10_000


def rows_of(report: dict[str, Any], file: str) -> list[dict[str, str]]:
    """The rows of one file's report (`gpusim correlate --json`)."""
    return [{"machine": report["machine"], "file": file, "run": k["run"], "kernel": k["kernel"], "role": k["role"],
             "hardware_cycles": f"{k['hardware_cycles']:.0f}", "simulated_cycles": f"{k['simulated_cycles']:.1f}",
             "error_percent": f"{100 * k['error']:+.1f}", "lost_to": k["stall"],
             **{column: f"{k[column]:.1f}" if column in k else "" for column in COLUMNS[-2:]}}
            for k in report["kernels"] if "error" in k]


def counters_of(report: dict[str, Any], file: str) -> list[dict[str, str]]:
    """What was counted on the GPU, and what the simulation counts."""
    return [{"file": file, "run": k["run"], "kernel": k["kernel"], "counter": name, "hardware": f"{hardware:.0f}",
             "simulated": f"{simulated:.0f}"}
            for k in report["kernels"] for name, (hardware, simulated) in (k.get("counters") or {}).items()]


def read(table: Path = TABLE) -> list[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def write(rows: list[dict[str, str]], table: Path, columns: tuple[str, ...]) -> None:
    with table.open("w", encoding="utf-8", newline="") as text:
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (row.get("machine", ""), row["file"])))  # stable: runs keep their order


def write_reports(reports: dict[str, dict[str, Any]]) -> None:
    """Replaces the rows of the files that these reports are of, by run; what a report does not have stays."""
    for table, columns, of in ((TABLE, COLUMNS, rows_of), (COUNTERS, COUNTER_COLUMNS, counters_of)):
        rows = read(table) if table.exists() else []
        for file, report in reports.items():
            new = of(report, file)
            order = [run["name"] for run in json.loads((FOLDER / "hardware" / f"{file}.json").read_text())["runs"]]
            runs = {k["run"] for k in report["kernels"]}
            of_file = [row for row in rows if row["file"] == file and row["run"] not in runs] + new
            rows = [row for row in rows if row["file"] != file] + sorted(of_file, key=lambda row: order.index(row["run"]))
        write(rows, table, columns)


def mean_errors(rows: list[dict[str, str]]) -> dict[tuple[str, str, str], tuple[int, float]]:
    """Of (machine, file, role): kernels, and the mean absolute error in percent."""
    errors: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        errors[row["machine"], row["file"], row["role"]].append(abs(float(row["error_percent"])))
    return {key: (len(each), sum(each) / len(each)) for key, each in sorted(errors.items())}


def mean_power_errors(rows: list[dict[str, str]]) -> dict[tuple[str, str], tuple[int, float]]:
    """Of (file, role) with measured power: kernels, and the mean absolute error of the power in percent."""
    errors: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row["hardware_power_w"]:
            error = float(row["simulated_power_w"]) / float(row["hardware_power_w"]) - 1
            errors[row["file"], row["role"]].append(100 * abs(error))
    return {key: (len(each), sum(each) / len(each)) for key, each in sorted(errors.items())}


def mean_counter_errors(rows: list[dict[str, str]]) -> dict[str, tuple[int, float, float]]:
    """Of each counter: kernels in which it is not FEW, and the mean and median absolute error in percent."""
    errors: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if float(row["hardware"]) >= FEW:
            errors[row["counter"]].append(100 * abs(float(row["simulated"]) / float(row["hardware"]) - 1))
    return {name: (len(each), sum(each) / len(each), statistics.median(each)) for name, each in sorted(errors.items())}


def files() -> list[str]:
    """Files of measurements that name their machine."""
    return sorted(path.stem for path in (FOLDER / "hardware").glob("*.json") if "machine" in json.loads(path.read_text()))


def simulate(gpusim: str, file: str, threads: int) -> dict[str, Any]:
    done = subprocess.run([gpusim, "correlate", "--hardware", file, "--json", "--threads", str(threads)],
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 1, 3):  # 1: some rows cannot be compared, 3: results of approximate operations differ
        sys.exit(f"{file}: exit code {done.returncode}\n{done.stderr}")
    sys.stderr.write(done.stderr)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim")
    parser.add_argument("names", nargs="*", help="files of measurements, with --update")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_intermixed_args()  # names may follow an option
    if arguments.update:
        for name in arguments.names or files():
            write_reports({name: simulate(arguments.gpusim, name, arguments.threads)})
    rows = read()
    for (machine, file, role), (kernels, error) in mean_errors(rows).items():
        print(f"{machine:20} {file:24} {role:6} {kernels:4} kernels, mean absolute error {error:5.1f} %")
    for (file, role), (kernels, error) in mean_power_errors(rows).items():
        print(f"{'power':20} {file:24} {role:6} {kernels:4} kernels, mean absolute error {error:5.1f} %")
    for counter, (kernels, error, median) in mean_counter_errors(read(COUNTERS)).items():
        print(f"{'counter':20} {counter:31} {kernels:4} kernels, mean absolute error {error:5.1f} %, median {median:.1f} %")


if __name__ == "__main__":
    main()
