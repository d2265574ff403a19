#!/usr/bin/env python3
"""`gpusim advise` against real GPUs: what it predicts for the pairs of workloads/advice, what the simulator gains, and what the cards gain.

  advice_cards.py GPUSIM                      prints the stored table (advice_cards.csv) and its shares by card and role
  advice_cards.py GPUSIM --update             simulates all pairs again and replaces it (a quarter of an hour)
  advice_cards.py GPUSIM --update PAIR...     replaces the rows of these pairs
  advice_cards.py GPUSIM --update --recordings FOLDER
                                              keeps what it simulates there, and takes from there what is there already: for changes of
                                              the rules, which need no new simulation

--update also writes the two tables of docs/advise.md. The cycles of the cards are those of regress/hardware/measured, without what a
launch takes; predicted and simulated gains are brought to the same time. Simulations launch with the registers that the card's driver
gave. docs/advise.md has what follows from the table.
"""

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import advice

FOLDER = Path(__file__).resolve().parent
TABLE, PAGE = FOLDER / "advice_cards.csv", FOLDER.parent / "docs" / "advise.md"
#: First lines of the tables of the page.
SHARES_HEAD = "| card | role | pairs | predicted within 25 % | simulated within 25 % | first advice helps | rightly none | about another change | does not help | missing |"
GAINS_HEAD = "| pair | role | about | named first, H100 | predicted | simulated | H100 | named first, H200 | predicted | simulated | H200 |"
CARDS = ("h100", "h200")
#: Pairs that the cards' figures say nothing about, and why.
LEFT_OUT = {
    "launches": "what it gains lies between launches, which the cards' clocks leave out",
    "pieces": "copies were not measured",
    "register_tile": "the driver gives both kernels the registers that they need",
    "registers": "the driver gives both kernels the registers that they need",
    "many_values": "the driver gives both kernels the registers that they need",
    "precision_c1060": "the same kernels as precision",
    "own_ring": "it was written after the measurements",
    "life": "it was written after the measurements",
    "window": "it was written after the measurements",
    "dilate": "it was written after the measurements",
    "split": "it was written after the measurements",
    "sorted_pieces": "it was written after the measurements",
    "letters": "it was written after the measurements",
    "remainders": "it was written after the measurements",
    "lookup": "it was written after the measurements",
    "layer_norm": "it was written after the measurements",
    "angles": "it was written after the measurements",
}
#: A gain from which on a change has helped: that from which `gpusim advise` speaks.
HELPS = 1.05
#: Of the stored table, by card: how many predicted and simulated gains are within a quarter of the card's, and of how many pairs the card
#: agrees with what is advised first. A table with fewer is refused; one with more may raise these. (On the H100 27 were predicted until
#: 1 December 2026: `bins` was 24.4 and `indexed_records` 24.9 % off, and are 26.0 and 25.1 since DRAM's bursts end by its own clock.)
LEAST = {"h100": {"predicted": 25, "simulated": 30, "agrees": 30}, "h200": {"predicted": 27, "simulated": 31, "agrees": 30}}
COLUMNS = ("card", "role", "pair", "rule", "named", "first", "card_before", "card_after", "simulated_before", "simulated_after", "card_gain",
           "least_gain", "most_gain", "simulated_gain", "predicted_gain")


def measured(card: str) -> dict[str, Any]:
    return json.loads((FOLDER / "hardware" / "measured" / f"{card}.json").read_text())


def runs_of(card: str, pair: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The card's runs before and after."""
    workload = advice.PAIRS[pair][1].replace("_", " ")
    runs = {run["name"]: run for run in measured(card)["runs"]}
    return runs[f"advice {workload} before"], runs[f"advice {workload} after"]


def with_registers(launch: str, registers: int) -> str:
    """The text of a launch file whose launches get so many registers a thread."""
    return re.sub(r"^\[\[launch\]\]$", rf"[[launch]]\nregisters = {registers}", re.sub(r"(?m)^registers\s*=.*\n?", "", launch), flags=re.M)


def simulate(gpusim: Path, card: str, run: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The advice for what the card ran."""
    file = measured(card)
    name = f"{card}_{run['name'].replace(' ', '_')}"
    launch, out = folder / f"{name}.toml", folder / f"{name}.h5"
    source = FOLDER / "hardware" / "measured"
    launch.write_text(with_registers((source / run["launch"]).read_text(), run["kernels"][0]["registers"]))
    given = [word for text in file.get("set", []) for word in ("--set", text)]
    given += [word for param, value in run["params"].items() for word in ("--param", f"{param}={value}")]
    if not out.exists():
        partial = out.with_suffix(".part")
        subprocess.run([gpusim, "--config", file["machine"], *given, "--cache", run["cache"], "--quiet", "--force", "--out", partial,
                        "--launch", launch, source / run["ptx"]], check=True, stdout=subprocess.DEVNULL, cwd=folder)
        partial.replace(out)
    advised = subprocess.run([gpusim, "advise", out, "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(advised)


def empty_cycles(gpusim: Path, card: str) -> float:
    """What an empty kernel takes on the machine that stands for the card: the measured times are without it."""
    shown = subprocess.run([gpusim, "config", "show", measured(card)["machine"]], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = re.findall(r"(?m)^(?:launch_cycles|block_start_cycles) = (\d+)", shown)
    if len(found) != 2:
        sys.exit("advice_cards.py: the machine does not say what an empty kernel takes")
    return float(sum(map(int, found)))


def row_of(gpusim: Path, card: str, pair: str, folder: Path) -> dict[str, str]:
    before, after = runs_of(card, pair)
    empty = empty_cycles(gpusim, card)
    advised, other = (simulate(gpusim, card, run, folder) for run in (before, after))
    rule = advice.PAIRS[pair][3]
    gains = {a["rule"]: a["gain"] for a in reversed(advised["advice"])}
    named = advised["advice"][0]["rule"] if advised["advice"] else advice.NOTHING
    whole = advised["cycles"]
    # A gain is one of the time with the start. What rules do not name, they say gains nothing.
    kernels = {name: (whole - empty) / (whole / gain - empty) for name, gain in gains.items()}
    b, a = before["kernels"][0], after["kernels"][0]
    simulated = [each["cycles"] - empty for each in (advised, other)]
    return {"card": card, "role": before["role"], "pair": pair, "rule": rule, "named": named, "first": f"{kernels.get(named, 1.0):.3f}",
            "card_before": f"{b['cycles']:.1f}", "card_after": f"{a['cycles']:.1f}", "simulated_before": f"{simulated[0]:.0f}",
            "simulated_after": f"{simulated[1]:.0f}", "card_gain": f"{b['cycles'] / a['cycles']:.3f}",
            "least_gain": f"{b['least'] / a['most']:.3f}", "most_gain": f"{b['most'] / a['least']:.3f}",
            "simulated_gain": f"{simulated[0] / simulated[1]:.3f}", "predicted_gain": f"{kernels.get(rule, 1.0):.3f}"}


def pairs() -> list[str]:
    return [pair for pair in advice.PAIRS if pair not in LEFT_OUT]


def read() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def write(rows: list[dict[str, str]]) -> None:
    order = pairs()
    with TABLE.open("w", encoding="utf-8", newline="") as text:
        table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(sorted(rows, key=lambda row: (row["card"], row["role"], order.index(row["pair"]))))


def error(row: dict[str, str], column: str) -> float:
    """Of a gain, against the card's. What is slower on the card is left as it is, where nothing is advised."""
    card = float(row["card_gain"])
    if row["rule"] == advice.NOTHING and column == "predicted_gain":
        card = max(1.0, card)
    return float(row[column]) / card - 1


def close(row: dict[str, str], column: str) -> bool:
    return abs(error(row, column)) <= advice.CLOSE


def verdict(row: dict[str, str]) -> str:
    """What the card says of the advice that is named first."""
    helped = float(row["card_gain"]) >= HELPS
    if row["named"] == advice.NOTHING:
        return "missed" if helped else "rightly silent"
    if row["named"] != row["rule"]:
        return "not tried"  # the pair is about another change
    return "helps" if helped else "does not help"


def shares(rows: list[dict[str, str]]) -> dict[str, int]:
    """How many rows: all, and of these whose gains are within a quarter of the card's, and by what the card says of the first advice."""
    verdicts = [verdict(row) for row in rows]
    return {"pairs": len(rows), "agrees": verdicts.count("helps") + verdicts.count("rightly silent"), "predicted": sum(close(row, "predicted_gain") for row in rows),
            "simulated": sum(close(row, "simulated_gain") for row in rows),
            **{name: verdicts.count(name) for name in ("helps", "rightly silent", "not tried", "does not help", "missed")}}


def worse(rows: list[dict[str, str]]) -> list[str]:
    """What is less than LEAST asks for."""
    found = []
    for card, least in LEAST.items():
        of = shares([row for row in rows if row["card"] == card])
        found += [f"{card}: {what} {of[what]}, was {count}" for what, count in least.items() if of[what] < count]
    return found


def show(rows: list[dict[str, str]]) -> None:
    print(f"{'card':5} {'role':6}{'pair':16}{'rule':19}{'named first':25}{'predicted':>9} {'simulated':>9} {'card':>6}")
    for row in rows:
        misses = [what for what, column in (("predicted", "predicted_gain"), ("simulated", "simulated_gain")) if not close(row, column)]
        print(f"{row['card']:5} {row['role']:6}{row['pair']:16}{row['rule']:19}{row['named'] + ' ' + row['first'][:-1]:25}"
              f"{float(row['predicted_gain']):9.2f} {float(row['simulated_gain']):9.2f} {float(row['card_gain']):6.2f}  "
              f"{verdict(row)}{'; MISS ' + ', '.join(misses) if misses else ''}")
    for card in CARDS:
        for role in ("fit", "judge"):
            of = shares([row for row in rows if (row["card"], row["role"]) == (card, role)])
            print(f"{card} {role}: of {of['pairs']} pairs, {of['predicted']} predicted and {of['simulated']} simulated gains within "
                  f"{100 * advice.CLOSE:.0f} % of the card's; the first advice helps {of['helps']}, is rightly none {of['rightly silent']}, "
                  f"is about another change {of['not tried']}, does not help {of['does not help']}, is missing {of['missed']}")


def page_tables(rows: list[dict[str, str]]) -> dict[str, list[str]]:
    """The tables of the page, by their first lines. Gains that are not within a quarter of the card's are bold."""
    of_shares, of_gains = [], []
    for card in CARDS:
        for role in ("fit", "judge"):
            of = shares([row for row in rows if (row["card"], row["role"]) == (card, role)])
            columns = ("pairs", "predicted", "simulated", "helps", "rightly silent", "not tried", "does not help", "missed")
            of_shares.append(f"| {card.upper()} | {role} | {' | '.join(str(of[column]) for column in columns)} |")
    by_pair = {(row["card"], row["pair"]): row for row in rows}
    for first in (row for row in rows if row["card"] == CARDS[0]):
        cells = [f"`{first['pair']}`", first["role"], first["rule"]]
        for row in (by_pair[card, first["pair"]] for card in CARDS):
            named = row["named"] if row["named"] in (advice.NOTHING, row["rule"]) else f"{row['named']} {float(row['first']):.2f}"
            cells.append(named)
            for column in ("predicted_gain", "simulated_gain"):
                cells.append(f"{float(row[column]):.2f}" if close(row, column) else f"**{float(row[column]):.2f}**")
            cells.append(f"{float(row['card_gain']):.2f}")
        of_gains.append(f"| {' | '.join(cells)} |")
    return {head: [head, "|---" * (head.count("|") - 1) + "|", *lines] for head, lines in ((SHARES_HEAD, of_shares), (GAINS_HEAD, of_gains))}


def page_with(rows: list[dict[str, str]]) -> str:
    """The page, with these tables in place of those that it has."""
    tables = page_tables(rows)
    lines: list[str] = []
    inside = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        inside = line in tables or (inside and line.startswith("|"))
        if line in tables:
            lines += tables[line]
        elif not inside:
            lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", type=Path)
    parser.add_argument("pairs", nargs="*", metavar="PAIR", help="with --update: only these pairs")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--recordings", type=Path, help="folder of simulated runs")
    parser.add_argument("--threads", type=int, default=2, help="simulations at the same time")
    arguments = parser.parse_intermixed_args()
    unknown = set(arguments.pairs) - set(pairs())
    if unknown:
        parser.error(f"no such pair: {', '.join(sorted(unknown))}")
    rows = read() if TABLE.exists() else []
    if arguments.update:
        chosen = arguments.pairs or pairs()
        with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(arguments.threads) as pool:
            folder = arguments.recordings.resolve() if arguments.recordings else Path(scratch)
            folder.mkdir(parents=True, exist_ok=True)
            jobs = [pool.submit(row_of, arguments.gpusim.resolve(), card, pair, folder) for card in CARDS for pair in chosen]
            try:
                new = [job.result() for job in jobs]
            finally:
                pool.shutdown(cancel_futures=True)
        rows = [row for row in rows if row["pair"] in pairs() and row["pair"] not in chosen] + new
        write(rows)
        rows = read()
        PAGE.write_text(page_with(rows), encoding="utf-8")
    show(rows)
    for line in worse(rows):
        print(f"WORSE {line}")
    return 1 if worse(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
