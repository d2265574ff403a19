#!/usr/bin/env python3
"""How right guided studies are: each study of examples/studies is simulated at every point, and then guided,
with a tenth of its points, with as many seeds (`--guided-seed`) as --seeds says. Of each guided run it is judged
how far the best point that it found is from the best of all, and how many of the points that it did not simulate
lie in their error bars. Which points are drawn is chance, and so is what a run gives: a row has means of all.

usage: guided_studies.py GPUSIM [STUDY ...] [--store FOLDER] [--share N] [--seeds N] [--threads N] [--update]

--update writes the rows of these studies to regress/guided_studies.csv, which docs/studies/guided.md shows. The whole of it
takes about half an hour on two free processors; --store keeps the points for the next time.
"""
import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STUDIES = HERE.parent / "examples" / "studies"
TABLE = HERE / "guided_studies.csv"
# Of all seeds: means, how far the best found was from the best of all at most, and the least share of error bars that held.
COLUMNS = ["study", "workload", "points", "simulated", "best", "found_above_percent", "found_above_most",
           "bars_hold_percent", "bars_hold_least", "bar_percent", "mean_error_percent", "model_error_percent"]
# What is asked of each: the best within 3 %, and 90 % of the error bars.
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


def judge_one(group, predictions, truth):
    """What one guided run gives of a workload on a machine."""
    mine = [p for p in predictions if p["workload"] == group["workload"] and p["machine"] == group["machine"]]
    points = [int(p["point"]) for p in mine if int(p["point"]) in truth]
    best = min(truth[p] for p in points)
    found = min(float(p["time_s"]) for p in mine if p["simulated"] == "yes")
    left = [(truth[int(p["point"])], float(p["time_s"]), float(p["time_s_low"]), float(p["time_s_high"]))
            for p in mine if p["simulated"] == "no" and p["time_s"] and int(p["point"]) in truth]
    model_error = group["guided"]["model_error"]
    return {
        "workload": group["workload"], "points": len(points), "simulated": group["simulated"], "best": best,
        "above": max(0.0, 100 * (found / best - 1)),
        "held": 100 * sum(low <= true <= high for true, _, low, high in left) / len(left),
        "bar": 100 * math.expm1(statistics.fmean(math.log(high / low) / 2 for _, _, low, high in left)),
        "error": 100 * statistics.fmean(abs(value / true - 1) for true, value, _, _ in left),
        "model": math.nan if model_error is None else 100 * model_error,
    }


def judge(gpusim, study, work, store, arguments):
    full = work / f"{study.stem}.full"
    run(gpusim, study, full, store, arguments.threads)
    truth = times_of(full)
    simulations = max(1, round(len(truth) / arguments.share))
    runs = []
    for seed in range(1, arguments.seeds + 1):
        guided = work / f"{study.stem}.{seed}"
        findings = run(gpusim, study, guided, store, arguments.threads, "--guided", simulations, "--guided-seed", seed)
        predictions = rows(guided / "predictions.csv")
        runs.append([judge_one(group, predictions, truth) for group in findings["groups"]])
    for of_group in zip(*runs):
        def mean(name, of_group=of_group):
            return statistics.fmean(one[name] for one in of_group)
        first = of_group[0]
        yield {
            "study": study.stem, "workload": first["workload"], "points": first["points"], "simulated": first["simulated"],
            "best": f"{first['best']:.6g}", "found_above_percent": f"{mean('above'):.2f}",
            "found_above_most": f"{max(one['above'] for one in of_group):.2f}", "bars_hold_percent": f"{mean('held'):.1f}",
            "bars_hold_least": f"{min(one['held'] for one in of_group):.1f}", "bar_percent": f"{mean('bar'):.1f}",
            "mean_error_percent": f"{mean('error'):.2f}",
            "model_error_percent": "-" if math.isnan(first["model"]) else f"{mean('model'):.1f}",
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", type=pathlib.Path)
    parser.add_argument("studies", nargs="*", help="names in examples/studies (default: all)")
    parser.add_argument("--store", type=pathlib.Path, help="folder of simulated points")
    parser.add_argument("--share", type=float, default=10, help="one of how many points is simulated (default: 10)")
    parser.add_argument("--seeds", type=int, default=20, help="guided runs of each study (default: 20)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    studies = [STUDIES / f"{name}.toml" for name in arguments.studies] or sorted(STUDIES.glob("*.toml"))
    table = []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        store = (arguments.store or work / "points").resolve()
        for study in studies:
            for row in judge(arguments.gpusim.resolve(), study, work, store, arguments):
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
