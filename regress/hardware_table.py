#!/usr/bin/env python3
"""The table of all measured kernels: hardware and simulated cycles, error, and the cause that most is lost to.

  hardware_table.py GPUSIM                     prints the stored table's errors by machine, file and role
  hardware_table.py GPUSIM --update [NAME...]  simulates the kernels of these files of measurements (default: all, which takes
                                               an hour on four cores) and replaces their rows in hardware_table.csv
"""

import argparse
import csv
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
TABLE = FOLDER / "hardware_table.csv"
COLUMNS = ("machine", "file", "run", "kernel", "role", "hardware_cycles", "simulated_cycles", "error_percent", "lost_to")


def rows_of(report: dict[str, Any], file: str) -> list[dict[str, str]]:
    """The rows of one file's report (`gpusim correlate --json`)."""
    return [{"machine": report["machine"], "file": file, "run": k["run"], "kernel": k["kernel"], "role": k["role"],
             "hardware_cycles": f"{k['hardware_cycles']:.0f}", "simulated_cycles": f"{k['simulated_cycles']:.1f}",
             "error_percent": f"{100 * k['error']:+.1f}", "lost_to": k["stall"]} for k in report["kernels"] if "error" in k]


def read(table: Path = TABLE) -> list[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def write(rows: list[dict[str, str]], table: Path = TABLE) -> None:
    with table.open("w", encoding="utf-8", newline="") as text:
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (row["machine"], row["file"])))  # stable: runs keep their order


def mean_errors(rows: list[dict[str, str]]) -> dict[tuple[str, str, str], tuple[int, float]]:
    """Of (machine, file, role): kernels, and the mean absolute error in percent."""
    errors: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        errors[row["machine"], row["file"], row["role"]].append(abs(float(row["error_percent"])))
    return {key: (len(each), sum(each) / len(each)) for key, each in sorted(errors.items())}


def files() -> list[str]:
    """Files of measurements that name their machine."""
    return sorted(path.stem for path in (FOLDER / "hardware").glob("*.json") if "machine" in json.loads(path.read_text()))


def simulate(gpusim: str, file: str, threads: int) -> list[dict[str, str]]:
    done = subprocess.run([gpusim, "correlate", "--hardware", file, "--json", "--threads", str(threads)],
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 1, 3):  # 1: some rows cannot be compared, 3: results of approximate operations differ
        sys.exit(f"{file}: exit code {done.returncode}\n{done.stderr}")
    sys.stderr.write(done.stderr)
    return rows_of(json.loads(done.stdout), file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim")
    parser.add_argument("names", nargs="*", help="files of measurements, with --update")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    rows = read() if TABLE.exists() else []
    if arguments.update:
        for name in arguments.names or files():
            rows = [row for row in rows if row["file"] != name] + simulate(arguments.gpusim, name, arguments.threads)
            write(rows)
    for (machine, file, role), (kernels, error) in mean_errors(rows).items():
        print(f"{machine:20} {file:24} {role:6} {kernels:4} kernels, mean absolute error {error:5.1f} %")


if __name__ == "__main__":
    main()
