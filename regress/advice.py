#!/usr/bin/env python3
"""Judges `gpusim advise` by pairs of runs before and after a change (workloads/advice).

Runs both launch files of each pair, takes the advice for the one before, and writes a row per pair: the rule that advice names first,
the gain that it predicts for the rule that the pair is about, and the gain that the second run shows. Times are from the first start of
a kernel or copy to the last end. Estimator and rules were found on the half `fit`; the half
`judge` was run once, when they stood (docs/advise.md).

    regress/advice.py build/release/bin/gpusim --out regress/advice.csv     # all pairs
    regress/advice.py build/release/bin/gpusim --pair structures
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent
V100, C1060 = "tesla_v100", "tesla_c1060"
#: Of a pair whose change gains nothing, which therefore no rule may name: its second kernel is no faster.
NOTHING = "nothing"
# pair: half, workload, machine, the rule that it is about.
PAIRS: dict[str, tuple[str, str, str, str]] = {
    "structures": ("fit", "structures", V100, "coalescing"),
    "tile_columns": ("fit", "tile_columns", V100, "bank_conflicts"),
    "register_tile": ("fit", "register_tile", V100, "spills"),
    "small_blocks": ("fit", "small_blocks", V100, "block_size"),
    "branches": ("fit", "branches", V100, "divergence"),
    "one_counter": ("fit", "one_counter", V100, "atomics"),
    "product": ("fit", "product", V100, "shared_reuse"),
    "precision": ("fit", "precision", V100, "precision"),
    "launches": ("fit", "launches", V100, "launch_overhead"),
    "transposition": ("fit", "transposition", V100, "coalescing"),
    "tree": ("fit", "tree", V100, "bank_conflicts"),
    "gather": ("fit", "gather", V100, "occupancy"),
    "tail": ("fit", "tail", V100, "wave_quantisation"),
    "lengths": ("fit", "lengths", V100, "divergence"),
    "bins": ("fit", "bins", V100, "atomics"),
    "camping": ("fit", "camping", C1060, "partition_camping"),
    "filter": ("fit", "filter", C1060, "shared_reuse"),
    "pieces": ("fit", "pieces", V100, "transfer_overlap"),
    "division": ("fit", "division", V100, "fast_math"),
    "precision_c1060": ("fit", "precision", C1060, "precision"),
    "hops": ("fit", "hops", V100, NOTHING),
    "indexed_records": ("fit", "indexed_records", V100, "packing"),
    "listed_records": ("fit", "listed_records", V100, "packing"),
    "merged_counts": ("fit", "merged_counts", V100, "atomics"),
    "constants": ("fit", "constants", V100, "precision"),
    "moments": ("fit", "moments", V100, "atomics"),
    "own_ring": ("fit", "own_ring", V100, "local_arrays"),
    "letters": ("fit", "letters", V100, "wide_accesses"),
    "remainders": ("fit", "remainders", V100, "integer_division"),
    "lookup": ("fit", "lookup", V100, "constant_tables"),
    "layer_norm": ("fit", "layer_norm", V100, "coalescing"),
    "angles": ("fit", "angles", V100, "fast_math"),
    "life": ("fit", "life", V100, "wide_accesses"),
    "window": ("fit", "window", V100, "divergence"),
    "row_sums": ("judge", "row_sums", V100, "coalescing"),
    "own_rows": ("judge", "own_rows", C1060, "bank_conflicts"),
    "many_values": ("judge", "many_values", V100, "spills"),
    "registers": ("judge", "registers", V100, "occupancy"),
    "follow": ("judge", "follow", V100, "block_size"),
    "few_blocks": ("judge", "few_blocks", V100, "wave_quantisation"),
    "turns": ("judge", "turns", V100, "more_warps"),
    "ways": ("judge", "ways", V100, "divergence"),
    "counts": ("judge", "counts", V100, "atomics"),
    "few_values": ("judge", "few_values", V100, "atomics"),
    "many_blocks": ("judge", "many_blocks", V100, "block_size"),
    "columns": ("judge", "columns", C1060, "partition_camping"),
    "pairs": ("judge", "pairs", C1060, "shared_reuse"),
    "reciprocals": ("judge", "reciprocals", V100, "fast_math"),
    "dilate": ("judge", "dilate", V100, "wide_accesses"),
    "split": ("judge", "split", V100, "atomics"),
    "sorted_pieces": ("judge", "sorted_pieces", V100, "shared_reuse"),
}
CLOSE = 0.25
COLUMNS = ("half", "pair", "machine", "rule", "named", "right", "before", "after", "predicted", "simulated", "error", "within", "own_error")


def record(gpusim: Path, workload: str, when: str, machine: str, folder: Path) -> dict[str, Any]:
    """The advice for one run; `cycles` is how long that took."""
    recorded = folder / f"{workload}_{when}.h5"
    subprocess.run([str(gpusim), "--config", machine, "--quiet", "--force", "--out", str(recorded),
                    "--launch", f"workloads/advice/{workload}_{when}.toml", f"workloads/advice/{workload}.ptx"],
                   cwd=SOURCE, check=True, stdout=subprocess.DEVNULL)
    advice = subprocess.run([str(gpusim), "advise", str(recorded), "--json"], cwd=SOURCE, check=True, stdout=subprocess.PIPE,
                            text=True).stdout
    recorded.unlink()
    return json.loads(advice)


def judge(pair: str, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """A row of the table. `predicted` is empty if the pair's rule has nothing to say."""
    half, _, machine, rule = PAIRS[pair]
    named = before["advice"][0]["rule"] if before["advice"] else NOTHING
    simulated = before["cycles"] / after["cycles"]
    if rule == NOTHING:
        # What is slower is left as it is: the best that the change gains is nothing.
        predicted, error = (None, None) if before["advice"] else (1.0, 1 / max(1.0, simulated) - 1)
    else:
        predicted = next((a["gain"] for a in before["advice"] if a["rule"] == rule), None)
        error = None if predicted is None else predicted / simulated - 1
    return {"half": half, "pair": pair, "machine": machine, "rule": rule, "named": named, "right": named == rule,
            "before": before["cycles"], "after": after["cycles"], "predicted": predicted, "simulated": simulated, "error": error,
            "within": error is not None and abs(error) <= CLOSE, "own_error": before["kernels"][0]["own_error"]}


def shown(row: dict[str, Any]) -> list[str]:
    def text(column: str, value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if column in ("before", "after"):
            return f"{value:.0f}"
        return f"{value:.3f}" if isinstance(value, float) else str(value)

    return [text(column, row[column]) for column in COLUMNS]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", type=Path)
    parser.add_argument("--pair", action="append", choices=PAIRS, help="only these pairs")
    parser.add_argument("--half", choices=("fit", "judge"), help="only this half")
    parser.add_argument("--out", type=Path, help="write the table there, as CSV")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for pair in arguments.pair or PAIRS:
            half, workload, machine, _ = PAIRS[pair]
            if arguments.half not in (None, half):
                continue
            runs = [record(arguments.gpusim.resolve(), workload, when, machine, Path(folder)) for when in ("before", "after")]
            row = judge(pair, *runs)
            rows.append(row)
            predicted = "-" if row["predicted"] is None else f"{row['predicted']:.2f}"
            error = "-" if row["error"] is None else f"{100 * row['error']:+.0f} %"
            print(f"{row['half']:6}{pair:16}{row['rule']:19}named {row['named']:19}predicted {predicted:>6} simulated "
                  f"{row['simulated']:6.2f}  {error:>7}{'' if row['right'] and row['within'] else '  MISS'}", flush=True)
    for half in ("fit", "judge"):
        of_half = [row for row in rows if row["half"] == half]
        if of_half:
            print(f"{half}: {sum(r['right'] for r in of_half)} of {len(of_half)} named right, {sum(r['within'] for r in of_half)} "
                  f"gains within {100 * CLOSE:.0f} %, {sum(r['right'] and r['within'] for r in of_half)} both")
    if arguments.out:
        temporary = arguments.out.with_suffix(".tmp")
        with temporary.open("w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(COLUMNS)
            table.writerows(shown(row) for row in rows)
        temporary.replace(arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
