#!/usr/bin/env python3
"""How right guided studies are: each study of examples/studies is simulated at every point, and once more
guided, with a tenth of its points. Of the guided run it is judged how far the best point that it found is
from the best of all, and how many of the points that it did not simulate lie in their error bars.

usage: guided_studies.py GPUSIM [STUDY ...] [--store FOLDER] [--share N] [--threads N] [--update]

--update writes the rows of these studies to regress/guided_studies.csv, which docs/studies/guided.md shows. The whole of it
takes about a quarter of an hour on two free processors; --store keeps the points for the next time.
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STUDIES = HERE.parent / "examples" / "studies"
TABLE = HERE / "guided_studies.csv"
COLUMNS = ["study", "workload", "points", "simulated", "best", "found", "found_above_percent", "bars_hold_percent",
           "mean_error_percent", "model_error_percent"]
# What the issue asks of each: the best within 3 %, and 90 % of the error bars.
MOST_ABOVE, LEAST_HELD = 3.0, 90.0


def run(gpusim, study, folder, store, threads, *options):
    """Results of a run of the study, as findings.json has them, with its folder."""
    command = [gpusim, "study", "run", study, "--out", folder, "--store", store, "--threads", str(threads), "--quiet",
               "--json", *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def times_of(folder):
    """Seconds of each complete point, all its launches."""
    times = {}
    for row in rows(folder / "results.csv"):
        if row["status"] == "complete":
            times[int(row["point"])] = times.get(int(row["point"]), 0.0) + float(row["time_s"])
    return times


def judge(gpusim, study, work, store, share, threads):
    full, guided = work / f"{study.stem}.full", work / f"{study.stem}.guided"
    run(gpusim, study, full, store, threads)
    truth = times_of(full)
    findings = run(gpusim, study, guided, store, threads, "--guided", max(1, round(len(truth) / share)))
    predictions = rows(guided / "predictions.csv")
    for group in findings["groups"]:
        mine = [p for p in predictions if p["workload"] == group["workload"] and p["machine"] == group["machine"]]
        points = [int(p["point"]) for p in mine if int(p["point"]) in truth]
        best = min(truth[p] for p in points)
        found = min(float(p["time_s"]) for p in mine if p["simulated"] == "yes")
        left = [(truth[int(p["point"])], float(p["time_s"]), float(p["time_s_low"]), float(p["time_s_high"]))
                for p in mine if p["simulated"] == "no" and p["time_s"] and int(p["point"]) in truth]
        held = sum(low <= true <= high for true, _, low, high in left)
        model_error = group["guided"]["model_error"]
        yield {
            "study": study.stem, "workload": group["workload"], "points": len(points), "simulated": group["simulated"],
            "best": f"{best:.6g}", "found": f"{found:.6g}", "found_above_percent": f"{max(0.0, 100 * (found / best - 1)):.2f}",
            "bars_hold_percent": f"{100 * held / len(left):.1f}",
            "mean_error_percent": f"{100 * sum(abs(value / true - 1) for true, value, _, _ in left) / len(left):.2f}",
            "model_error_percent": "-" if model_error is None or math.isnan(model_error) else f"{100 * model_error:.1f}",
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", type=pathlib.Path)
    parser.add_argument("studies", nargs="*", help="names in examples/studies (default: all)")
    parser.add_argument("--store", type=pathlib.Path, help="folder of simulated points")
    parser.add_argument("--share", type=float, default=10, help="one of how many points is simulated (default: 10)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    studies = [STUDIES / f"{name}.toml" for name in arguments.studies] or sorted(STUDIES.glob("*.toml"))
    table = []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        store = (arguments.store or work / "points").resolve()
        for study in studies:
            for row in judge(arguments.gpusim.resolve(), study, work, store, arguments.share, arguments.threads):
                table.append(row)
                print("  ".join(f"{row[column]:>12}" for column in COLUMNS), flush=True)
    if arguments.update:
        run_now = {row["study"] for row in table}
        kept = [row for row in rows(TABLE) if row["study"] not in run_now]
        with open(TABLE, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted([*kept, *table], key=lambda row: row["study"]))
    short = [r for r in table
             if float(r["found_above_percent"]) > MOST_ABOVE or float(r["bars_hold_percent"]) < LEAST_HELD]
    for row in short:
        print(f"short: {row['workload']} of {row['study']}: {row['found_above_percent']} % above the best, "
              f"{row['bars_hold_percent']} % of the error bars hold")
    sys.exit(1 if short else 0)


if __name__ == "__main__":
    main()
