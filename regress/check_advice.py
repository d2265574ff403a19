"""`gpusim advise`: pairs whose rows are those of regress/advice.csv, what it prints, and what it refuses."""

import csv
from typing import Callable

import advice
import advice_cards
import latency_hidden
from runner import Gpusim, require, require_equal

#: Pairs of different rules that take a second or two.
QUICK = ("camping", "one_counter", "launches", "few_blocks")
#: Of the table of cards, those that are simulated again: a pair and a card.
QUICK_ON_CARDS = (("few_blocks", "h100"), ("camping", "h200"))
#: These look at more than a kernel's counts and stand in no table of rules about these.
OF_RUNS = {"launch_overhead", "transfer_overlap", "uneven_work"}


def check_pairs(gpusim: Gpusim) -> None:
    """The table is that of these pairs, and quick ones of them come out as it says."""
    with (gpusim.source / "regress" / "advice.csv").open(newline="") as file:
        stored = {row["pair"]: row for row in csv.DictReader(file)}
    require_equal("pairs of the table", list(stored), list(advice.PAIRS))
    folder = gpusim.source / "workloads" / "advice"
    require_equal("launch files", {path.stem for path in folder.glob("*.toml")},
                  {f"{workload}_{when}" for workload in {p[1] for p in advice.PAIRS.values()} | set(latency_hidden.GAINS)
                   for when in ("before", "after")})
    for pair in QUICK:
        _, workload, machine, _ = advice.PAIRS[pair]
        runs = [advice.record(gpusim.program, workload, when, machine, gpusim.scratch) for when in ("before", "after")]
        row = dict(zip(advice.COLUMNS, advice.shown(advice.judge(pair, *runs))))
        require_equal(f"row of {pair} in regress/advice.csv", stored[pair], row)
        require(row["right"] == "yes" and row["within"] == "yes", f"{pair} is misjudged: {row}")


def check_cards(gpusim: Gpusim) -> None:
    """The table of cards is of all pairs, its cycles are those that were measured, it is no worse than it was, and simulations give it."""
    rows = advice_cards.read()
    require_equal("pairs", {(row["card"], row["pair"]) for row in rows},
                  {(card, pair) for card in advice_cards.CARDS for pair in advice_cards.pairs()})
    require(set(advice_cards.LEFT_OUT) < set(advice.PAIRS), "a pair that is left out is none")
    for row in rows:
        for run, column in zip(advice_cards.runs_of(row["card"], row["pair"]), ("card_before", "card_after")):
            require_equal(f"{row['pair']} on {row['card']}: {column}", (float(row[column]), row["role"]), (run["kernels"][0]["cycles"], run["role"]))
        require(abs(float(row["card_gain"]) * float(row["card_after"]) / float(row["card_before"]) - 1) < 1e-3, f"gain of {row}")
    require_equal("what became worse", advice_cards.worse(rows), [])
    page = advice_cards.PAGE.read_text(encoding="utf-8")
    require(advice_cards.SHARES_HEAD in page and advice_cards.GAINS_HEAD in page, "docs/advise.md has lost its tables of cards")
    require(page == advice_cards.page_with(rows), "the tables of docs/advise.md are others (regress/advice_cards.py GPUSIM --update writes them)")
    for pair, card in QUICK_ON_CARDS:
        stored = next(row for row in rows if (row["pair"], row["card"]) == (pair, card))
        require_equal(f"row of {pair} on {card}", advice_cards.row_of(gpusim.program, card, pair, gpusim.scratch), stored)


def check_text(gpusim: Gpusim) -> None:
    """Advice names the line and its counter; --describe has every rule; bad input is refused."""
    folder, out = gpusim.source / "workloads" / "advice", gpusim.scratch / "run.h5"
    gpusim.run("--config", "tesla_c1060", folder / "camping.ptx", "--launch", folder / "camping_before.toml", "--quiet", "--out",
               out).require_code(0)
    run = gpusim.run("advise", out)
    first = run.require_code(0).out.split("\n1. ")[1].split("\n2. ")[0]
    require(first.startswith("partition_camping in transpose: the run would be "), f"not the first advice: {first}")
    require("    at camping.cu:" in first and "`" in first, f"no line: {first}")
    require_equal("twice the same", gpusim.run("advise", out).require_code(0).out, run.out)
    report = gpusim.run("advise", out, "--json").require_code(0).json()
    gains = [a["gain"] for a in report["advice"]]
    require_equal("order", gains, sorted(gains, reverse=True))
    require(all(gain >= 1.05 for gain in gains), f"gains that are none: {gains}")
    require_equal("one kernel of it", gpusim.run("advise", out, "--json", "--kernel", "transpose").require_code(0).json()["kernels"],
                  report["kernels"])
    described = {line for line in gpusim.run("advise", "--describe").require_code(0).out.split("\n") if line and not line.startswith(" ")}
    rules = {rule for _, _, _, rule in advice.PAIRS.values()} - {advice.NOTHING}
    require(rules <= described and OF_RUNS <= described, f"rules that --describe has not: {rules - described}")
    gpusim.run("advise").require_code(1).require_error("the recorded file is missing")
    gpusim.run("advise", gpusim.scratch / "none.h5").require_code(1).require_error("none.h5")
    gpusim.run("advise", out, "--kernel", "transpse").require_code(1).require_error("did you mean 'transpose'")
    broken = gpusim.scratch / "broken.h5"
    broken.write_bytes(out.read_bytes()[:5000])
    gpusim.run("advise", broken).require_code(1).require_error("broken.h5")


def check_copies(gpusim: Gpusim) -> None:
    """Copies beside short kernels are worth a line, and what a kernel gains is said without them."""
    folder, out = gpusim.source / "workloads" / "advice", gpusim.scratch / "pieces.h5"
    gpusim.run("--config", "tesla_v100", folder / "pieces.ptx", "--launch", folder / "pieces_before.toml", "--param", "STEPS=1",
               "--quiet", "--out", out).require_code(0)
    report = gpusim.run("advise", out, "--json").require_code(0).json()
    kernels = sum(k["cycles"] * k["launches"] for k in report["kernels"])
    require(kernels < 0.1 * report["cycles"], f"kernels take {kernels} of {report['cycles']} cycles")
    require_equal("first advice", report["advice"][0]["rule"], "transfer_overlap")
    for a in report["advice"]:
        require(a["kernel"] is None or a["kernels_gain"] >= a["gain"], f"copies make no kernel faster: {a}")
    own = gpusim.run("advise", out, "--kernel", "iterate", "--json").require_code(0).json()
    require(own["cycles"] < 0.2 * report["cycles"], f"{own['cycles']} cycles are not those of the kernels")
    require("launches of " in gpusim.run("advise", out, "--kernel", "iterate").require_code(0).out, "the run's time stands for that of launches")
    # What is left out of the time of a kernel is none of its gain.
    by_rule = {a["rule"]: a for a in own["advice"]}
    for a in report["advice"]:
        if a["kernel"] is not None and a["rule"] in by_rule:
            require(abs(by_rule[a["rule"]]["gain"] - a["kernels_gain"]) < 1e-9, f"{a} and {by_rule[a['rule']]}")


def check_left_aside(gpusim: Gpusim) -> None:
    """A chain through memory gets no advice, and a line that says why."""
    folder, out = gpusim.source / "workloads" / "advice", gpusim.scratch / "left.h5"
    gpusim.run("--config", "tesla_v100", folder / "hops.ptx", "--launch", folder / "hops_before.toml", "--quiet", "--out", out).require_code(0)
    text = gpusim.run("advise", out).require_code(0).out
    require("no rule predicts a gain" in text and "\nnot judged in before: " in text, text)
    require("\n    at hops.cu:" in text and "`ld.global.u32" in text, text)
    unjudged = gpusim.run("advise", out, "--json").require_code(0).json()["unjudged"]
    require(len(unjudged) == 1 and unjudged[0]["sectors"] > 16 and unjudged[0]["least"] == 4, str(unjudged))


def check_branch(gpusim: Gpusim) -> None:
    """Lanes part at a condition: a branch without one, which the operation names, is no place for advice."""
    folder = gpusim.source / "workloads" / "advice"
    plain = gpusim.scratch / "branches.ptx"  # without the lines of the source
    text = (folder / "branches.ptx").read_text().splitlines()
    plain.write_text("\n".join(line for line in text if not line.strip().startswith((".loc", ".file"))) + "\n")
    for ptx, place in ((folder / "branches.ptx", "branches.cu:12"), (plain, "line ")):
        out = gpusim.scratch / "branch.h5"
        gpusim.run("--config", "tesla_v100", ptx, "--launch", folder / "branches_before.toml", "--quiet", "--force", "--out", out).require_code(0)
        first = gpusim.run("advise", out, "--json").require_code(0).json()["advice"][0]
        require_equal("rule", first["rule"], "divergence")
        require(first["place"].startswith(place) and "`@%p" in first["place"], first["place"])
        if ptx == plain:
            line = int(first["place"].split()[1])
            require(plain.read_text().splitlines()[line - 1].strip().startswith("@%p"), f"not the line of the condition: {first['place']}")


def check_turns(gpusim: Gpusim) -> None:
    """Blocks that wait for the block before are named by explain, and advise says what helps; the same scan with a look-back is not."""
    folder, out = gpusim.source / "workloads" / "hardware", gpusim.scratch / "turns.h5"
    for launch, waits in (("chained", True), ("look_back_warp", False)):
        gpusim.run("--config", "tesla_v100", folder / "h100_scan.ptx", "--launch", folder / f"h100_scan_{launch}.toml", "--param", "N=32768",
                   "--quiet", "--force", "--out", out).require_code(0)
        text = gpusim.run("advise", out).require_code(0).out
        require_equal(f"advise {launch}", "not judged in " in text and ": blocks that wait for other blocks\n" in text, waits)
        limiter = gpusim.run("explain", out).require_code(0).out.split("limiter: ")[1].split("\n")[0]
        require_equal(f"explain {launch}: {limiter}", limiter.startswith("waiting for other blocks: "), waits)


def check_launches(gpusim: Gpusim) -> None:
    """Launches of which one reads what another wrote cannot be one launch."""
    ptx, out = gpusim.source / "workloads" / "advice" / "launches.ptx", gpusim.scratch / "launches.h5"
    swapped = gpusim.scratch / "swapped.toml"
    buffers = "".join(f'[[buffer]]\nname = "{name}"\ntype = "f32"\ncount = "N"\ninit = "iota"\n' for name in "ab")
    swapped.write_text("[params]\nN = 8192\n" + buffers + '[[loop]]\nname = "step"\ntimes = 6\n'
                       '[[launch]]\nkernel = "saxpy"\ngrid = 32\nblock = 256\nargs = ["a", "b", 0.5, 0, "N"]\nloop = "step"\n'
                       '[[host]]\nstep = "swap(a, b)"\nloop = "step"\n')
    for launch, needed in ((swapped, True), (ptx.with_name("launches_before.toml"), False)):
        gpusim.run("--config", "tesla_v100", ptx, "--launch", launch, "--quiet", "--force", "--out", out).require_code(0)
        report = gpusim.run("advise", out, "--json").require_code(0).json()["advice"]
        merge = next(a for a in report if a["rule"] == "launch_overhead")
        require_equal(f"{launch}: {merge['what']}", "they need each other's results" in merge["what"], needed)
    # All add to one word: its partition is as busy in one launch as in three.
    folder = gpusim.source / "workloads" / "advice"
    repeated = gpusim.scratch / "repeated.toml"
    repeated.write_text((folder / "one_counter_before.toml").read_text(encoding="utf-8").split("[[expect]]")[0]
                        .replace("[[launch]]", "[[launch]]\nrepeat = 3"))
    gpusim.run("--config", "tesla_v100", folder / "one_counter.ptx", "--launch", repeated, "--quiet", "--force", "--out", out).require_code(0)
    report = gpusim.run("advise", out, "--json").require_code(0).json()["advice"]
    merged = [a["gain"] for a in report if a["rule"] == "launch_overhead"]
    require(max(merged, default=1) < 1.1, f"one launch of three that one partition limits is said to gain {merged}")


def check_uneven(gpusim: Gpusim) -> None:
    """Rows of very different length: their blocks are to be divided."""
    folder, out = gpusim.source / "workloads" / "spmv", gpusim.scratch / "uneven.h5"
    gpusim.run("--config", "tesla_v100", folder / "csr_vector.ptx", "--launch", folder / "power_law_vector.toml", "--quiet", "--force", "--out",
               out).require_code(0)
    advised = [a["rule"] for a in gpusim.run("advise", out, "--json").require_code(0).json()["advice"]]
    require("uneven_work" in advised, f"advised: {advised}")


CHECKS: dict[str, Callable[[Gpusim], None]] = {"pairs": check_pairs, "cards": check_cards, "text": check_text, "copies": check_copies,
                                               "left_aside": check_left_aside, "branch": check_branch, "turns": check_turns, "launches": check_launches,
                                               "uneven": check_uneven}
