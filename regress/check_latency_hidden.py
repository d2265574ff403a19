"""`gpusim analyze --model latency-hidden` on small matrix multiplications: errors, and that the breakdown adds up."""

import shutil
import subprocess
import sys
from pathlib import Path

from cases import CASES
from runner import MACHINE, Gpusim, require, require_equal

LIMIT = 0.25  # of the time, each of the judged cases


def check_latency_hidden(gpusim: Gpusim) -> None:
    # Segments of a warp: NBB of the paper for the naive kernel; the tiled one waits three times a tile, as in the paper's table.
    for case, segments in (("matmul_naive_16x16", 96 + 2), ("matmul_tiled_16x16", 3 * 96 // 16 + 1),
                           ("matmul_tiled_8x8", 3 * 96 // 8 + 1)):
        out = gpusim.scratch / f"{case}.h5"
        ptx = CASES[case].ptx(gpusim.source)
        gpusim.run("--config", MACHINE, ptx, "--param", "N=96", "--force", "--out", out, "--quiet").require_code(0)
        model = gpusim.run("analyze", out, "--model", "latency-hidden", "--json").require_code(0).json()["models"][0]
        prediction, kernel = model["predictions"][0], model["details"]["kernels"][0]
        require(abs(prediction["error"]) < LIMIT, f"{case}: predicted {prediction['predicted']}, simulated {prediction['simulated']}")
        require_equal(f"{case}: segments", kernel["segment_count"], segments)
        for side in ("predicted", "simulated"):
            terms = sum(term[side] for term in prediction["terms"])
            # Each slot belongs to a segment, also those of a wait that goes on behind the operation it began at.
            require(abs(terms / prediction[side] - 1) < 0.001, f"{case}: {side} terms are {terms} of {prediction[side]}")
        literal = gpusim.run("analyze", out, "--model", "latency-hidden", "--option", "variant=paper", "--option",
                             "aggregate=sum", "--json").require_code(0).json()["models"][0]["predictions"][0]
        require(literal["predicted"] > 2 * prediction["simulated"], f"{case}: the literal sum is {literal['predicted']}")
        rate = gpusim.run("analyze", out, "--model", "latency-hidden", "--option", "variant=paper", "--json").require_code(0).json()["models"][0]["predictions"]
        require_equal(f"{case}: quantities as printed", [p["quantity"] for p in rate], ["paper cycles", "paper rate"])
        require(abs(rate[0]["predicted"] * rate[1]["predicted"] / rate[0]["simulated"] / rate[1]["simulated"] - 1) < 1e-9, f"{case}: {rate}")
        printed = gpusim.run("analyze", out, "--model", "latency-hidden", "--option", "variant=paper").require_code(0).out
        require(f"as printed: NBB {segments}, " in printed and "factors of block 2:" in printed, printed)
        require(all(0 <= f <= 1 for s in kernel["paper_segments"] for f in s["factors"]), f"{case}: {kernel['paper_segments']}")
    _check_steps(gpusim)
    _check_note(gpusim)
    _check_predict(gpusim)
    _check_figures(gpusim)
    _check_gain(gpusim)
    _check_gain_with_a_launch(gpusim)
    text = gpusim.run("analyze", out, "--model", "latency-hidden").require_code(0).out
    require("latency-hidden factor of the kernel" in text and "limited by blocks" in text, text)
    gpusim.run("analyze", out, "--model", "latency-hidden", "--option", "varant=paper").require_code(1).require_error("variant")
    gpusim.run("analyze", out, "--model", "latency-hidden", "--option", "variant=papr").require_code(1).require_error("paper")
    sheet = gpusim.scratch / "sheet.json"
    sheet.write_text('{"machine": "M", "figures": []}')
    gpusim.run("analyze", out, "--model", "latency-hidden", "--option",
               f"parameters={sheet}").require_code(1).require_error("no figure 'shared.conflict_cycles'", "gpusim microbench")


def _check_gain(gpusim: Gpusim) -> None:
    """What the model says that coalescing gains, beside what it gains: the advice is for the first of two recordings."""
    files = []
    for kernel in ("naive", "padded"):
        files.append(gpusim.scratch / f"transpose_{kernel}.h5")
        gpusim.run("--config", MACHINE, gpusim.source / f"workloads/transpose/{kernel}.ptx", "--force", "--out", files[-1], "--quiet").require_code(0)
    choose = ("--model", "latency-hidden", "--option")
    found = gpusim.run("analyze", *files, *choose, "change=coalescing", "--json").require_code(0).json()["models"][0]
    gain, (before, after) = found["predictions"][-1], found["details"]["kernels"]
    advised = {c["name"]: c for c in before["changes"]}["coalescing"]
    require_equal("the quantity", gain["quantity"], "gain")
    require(abs(gain["predicted"] / advised["speedup"] - 1) < 1e-9, f"predicted {gain['predicted']}, advised {advised['speedup']}")
    require(abs(gain["simulated"] * after["simulated"]["cycles"] / before["simulated"]["cycles"] - 1) < 1e-9, f"{gain}")
    require(abs(gain["error"]) < LIMIT, f"predicted {gain['predicted']}, simulated {gain['simulated']}")
    gpusim.run("analyze", files[0], *choose, "change=coalescing").require_code(1).require_error("needs two recordings")
    gpusim.run("analyze", *files, *choose, "change=coalesce").require_code(1).require_error("coalescing")
    for options, why in ((("--sms", "8"), "other numbers of SMs"), (("--set", "dram.queue=64"), "other values of one's keys")):
        gpusim.run("--config", MACHINE, gpusim.source / "workloads/transpose/padded.ptx", "--force", "--out", files[1], "--quiet",
                   *options).require_code(0)
        gpusim.run("analyze", *files, *choose, "change=coalescing").require_code(1).require_error(why)


def _check_gain_with_a_launch(gpusim: Gpusim) -> None:
    """A warp takes a row where a thread did, and small blocks where there were few: changes are predicted with the grid of the second recording."""
    choose = ("--model", "latency-hidden", "--option")

    def pair_of(name: str, *params: str) -> list[Path]:
        files = []
        for when in ("before", "after"):
            files.append(gpusim.scratch / f"{name}_{when}.h5")
            gpusim.run("--config", "h200", gpusim.source / f"workloads/advice/{name}.ptx", "--launch", gpusim.source / f"workloads/advice/{name}_{when}.toml",
                       *params, "--force", "--out", files[-1], "--quiet").require_code(0)
        return files

    files = pair_of("row_sums", "--param", "ROWS=16384")
    text = gpusim.run("analyze", *files, *choose, "change=coalescing").require_code(0).out
    require("only the bytes that threads ask for, by 2048 blocks of 256 threads\n" in text, text)
    alone = gpusim.run("analyze", files[0], "--model", "latency-hidden", "--json").require_code(0).json()["models"][0]["details"]["kernels"][0]
    advised = {c["name"]: c["speedup"] for c in alone["changes"]}["coalescing"]
    gain = gpusim.run("analyze", *files, *choose, "change=coalescing", "--json").require_code(0).json()["models"][0]["predictions"][-1]
    require(1 < gain["predicted"] < 0.9 * advised, f"2048 blocks have to begin: {gain}, {advised} without them")
    files = pair_of("few_blocks")
    text = gpusim.run("analyze", *files, *choose, "change=grid").require_code(0).out
    require(": as much work by 640 blocks of 64 threads\n" in text, text)
    text = gpusim.run("analyze", files[0], "--model", "latency-hidden").require_code(0).out
    require(": as much work in blocks that fill every round (" in text, text)


def _check_figures(gpusim: Gpusim) -> None:
    """The pictures of figures 14 to 16: five curves, a point for each size."""
    if shutil.which("gnuplot") is None:
        return
    folder = gpusim.scratch / "figures"
    script = [sys.executable, gpusim.source / "regress" / "latency_hidden.py", gpusim.program, "--figures", folder, "--sizes"]
    done = subprocess.run([*script, "32,96"], capture_output=True, text=True, check=True)
    require_equal("points", sum(line.startswith(("| 14 ", "| 15 ", "| 16 ")) for line in done.stdout.splitlines()), 2 * 5)
    for figure in (14, 15, 16):
        require("<svg" in (folder / f"latency_hidden_figure{figure}.svg").read_text(), f"figure {figure}")
    require("multiples of 16" in subprocess.run([*script, "100"], capture_output=True, text=True, check=False).stderr, "a size that does not do")


def _check_predict(gpusim: Gpusim) -> None:
    """`gpusim predict`: without a recording, beside one, and what it refuses."""
    ptx = CASES["matmul_tiled_8x8"].ptx(gpusim.source)
    for machine in (MACHINE, "gtx470", "tesla_v100"):
        out, counts = gpusim.scratch / "timed.h5", gpusim.scratch / "counts.json"
        gpusim.run("--config", machine, ptx, "--param", "N=96", "--force", "--out", out, "--quiet").require_code(0)
        predicted = gpusim.run("predict", ptx, "--config", machine, "--param", "N=96", "--counts", counts, "--json").require_code(0).json()
        kernel = predicted["kernels"][0]
        model = gpusim.run("analyze", out, "--model", "latency-hidden", "--option", f"inputs={counts}", "--json").require_code(0).json()["models"][0]
        beside, details = model["predictions"][1], model["details"]["kernels"][0]
        require_equal(f"{machine}: quantities", [p["quantity"] for p in model["predictions"]], ["cycles", "functional cycles"])
        require(abs(beside["predicted"] / predicted["cycles"] - 1) < 1e-9, f"{machine}: {beside['predicted']}, alone {predicted['cycles']}")
        require(abs(beside["error"]) < 0.4, f"{machine}: predicted {beside['predicted']}, simulated {beside['simulated']}")
        # What warps do does not depend on time, so that nothing is lost by these.
        for name in ("operations", "transactions"):
            one = details["functional"]["one_input"][name]
            require(abs(one / details["extended"]["cycles"] - 1) < 1e-9, f"{machine}: {name} change {details['extended']['cycles']} to {one}")
        require_equal(f"{machine}: followed", kernel["followed"], 1)
        require("simulated" not in kernel["segments"][0], f"{machine}: {kernel['segments'][0]}")
        require_equal(f"{machine}: segments", kernel["segment_count"], details["segment_count"])
    # Atomics on few words: their steps at the partitions decide, and are in the counts of both.
    few = gpusim.source / "workloads" / "advice"
    atomics = (few / "few_values.ptx", "--launch", few / "few_values_before.toml", "--config", "tesla_v100")
    timed, steps = gpusim.scratch / "atomics.h5", gpusim.scratch / "atomics.json"
    gpusim.run(*atomics, "--out", timed, "--quiet").require_code(0)
    gpusim.run("predict", *atomics, "--counts", steps).require_code(0)
    model = gpusim.run("analyze", timed, "--model", "latency-hidden", "--option", f"inputs={steps}", "--json").require_code(0).json()["models"][0]
    for prediction in model["predictions"]:
        require(abs(prediction["error"]) < 0.2, f"atomics on few words: {prediction}")
    details = model["details"]["kernels"][0]
    one = details["functional"]["one_input"]["transactions"]
    require(abs(one / details["extended"]["cycles"] - 1) < 1e-9, f"steps of atomics change {details['extended']['cycles']} to {one}")
    text = gpusim.run("predict", CASES["histogram"].ptx(gpusim.source), "--config", MACHINE).require_code(0).out
    require("not modelled: atomics" not in text and "rows opened for a request" in text, text)
    for options, words in ((("--kernel", "other"), ("no such kernel",)), (("--sms", "99"), ("--sms 99",)), (("--follow", "0"), ("--follow",)),
                           (("--parameters", "none.json"), ("none.json",)), (("--counts", ptx), ("--counts",))):
        gpusim.run("predict", ptx, "--config", MACHINE, *options).require_code(1).require_error(*words)
    gpusim.run("predict", ptx, "--config", "tesla_c870").require_code(1).require_error("no data sheet", "gpusim microbench")
    gpusim.run("predict", ptx).require_code(1).require_error("--config")
    gpusim.run("predict", gpusim.source / "regress" / "failing" / "endless.ptx", "--config", MACHINE, "--launch",
               _endless(gpusim), "--max-operations", "100000").require_code(2).require_error("still running")
    gpusim.run("analyze", out, "--model", "latency-hidden", "--option", f"inputs={ptx}").require_code(1).require_error(str(ptx))
    other = gpusim.scratch / "other.json"
    # `out` is of the last machine of the loop, with all its SMs.
    for name, options, words in (("vecadd", ("--config", MACHINE), "is not of the machine of the run"),
                                 ("vecadd", ("--config", machine), "is not of the run whose kernel"),
                                 ("matmul_tiled_8x8", ("--config", machine, "--param", "N=96", "--sms", "8"), "is of a run with 8 SMs")):
        gpusim.run("predict", CASES[name].ptx(gpusim.source), *options, "--counts", other).require_code(0)
        gpusim.run("analyze", out, "--model", "latency-hidden", "--option", f"inputs={other}").require_code(1).require_error(words)
    bad = gpusim.source / "regress" / "bad" / "syntax.ptx"
    gpusim.run("predict", bad, "--config", MACHINE, "--launch", gpusim.source / "workloads" / "vecadd" / "vecadd.toml").require_code(1)


def _endless(gpusim: Gpusim) -> Path:
    launch = gpusim.scratch / "endless.toml"
    launch.write_text('[[launch]]\nkernel = "endless"\ngrid = [1]\nblock = [32]\nargs = ["A"]\n[[buffer]]\nname = "A"\ntype = "u32"\ncount = 1\n')
    return launch


def _check_note(gpusim: Gpusim) -> None:
    """The built-in data sheet is of the machine as it ships: a run of another one is told so, in text and JSON."""
    own = gpusim.scratch / "own.cfg"
    own.write_text(f'extends = "{gpusim.machine()}"\n[latency]\nfp32 = 30\n')
    same = gpusim.scratch / "same.cfg"
    same.write_text(f'extends = "{gpusim.machine()}"\n[gpu]\ndescription = "by another name"\n')
    ptx = CASES["vecadd"].ptx(gpusim.source)
    for machine, options, key in ((gpusim.machine(), (), None), (same, (), None), (own, (), "latency.fp32 = 30 instead of 24"),
                                  (gpusim.machine(), ("--set", "latency.fp32=30"), "latency.fp32 = 30 instead of 24"),
                                  (gpusim.machine(), ("--core-clock", "648MHz"), "clocks.core")):
        out = gpusim.scratch / "noted.h5"
        out.unlink(missing_ok=True)
        gpusim.run("--config", machine, ptx, "--param", "N=4096", "--force", "--out", out, "--quiet", *options).require_code(0)
        text = gpusim.run("analyze", out, "--model", "latency-hidden").require_code(0).out
        model = gpusim.run("analyze", out, "--model", "latency-hidden", "--json").require_code(0).json()["models"][0]
        note = model["details"]["kernels"][0]["note"]
        require_equal(f"{machine} {options}: a note in the text", "note: the machine is not" in text, key is not None)
        require((note is None) if key is None else key in note, f"{machine} {options}: note in JSON {note!r}")


def _check_steps(gpusim: Gpusim) -> None:
    """The shape of a curve: rates of both sides from one size to the next."""
    files = []
    for n in (64, 32, 96):  # sorted by size, however they are named
        files.append(gpusim.scratch / f"curve_{n}.h5")
        ptx = CASES["matmul_naive_16x16"].ptx(gpusim.source)
        gpusim.run("--config", MACHINE, ptx, "--param", f"N={n}", "--force", "--out", files[-1], "--quiet").require_code(0)
    model = gpusim.run("analyze", *files, "--model", "latency-hidden", "--option", "x=N", "--json").require_code(0).json()["models"][0]
    cycles = {n: p for n, p in zip((64, 32, 96), model["predictions"])}
    steps = [p for p in model["predictions"] if p["quantity"] == "step of the rate"]
    require_equal("steps", [s["kernel"].rpartition(", ")[2] for s in steps], ["N 32 to 64", "N 64 to 96"])
    for step, (a, b) in zip(steps, ((32, 64), (64, 96))):
        for side in ("predicted", "simulated"):
            rate = (b / a) ** 3 * cycles[a][side] / cycles[b][side]
            require(abs(step[side] / rate - 1) < 1e-6, f"{a} to {b}: {side} {step[side]}, by hand {rate}")
    for what, machine, options in (("machine", "tesla_v100", ()), ("number of SMs", MACHINE, ("--sms", "2")),
                                   ("machine", MACHINE, ("--core-clock", "648MHz"))):
        other = gpusim.scratch / "other.h5"
        gpusim.run("--config", machine, ptx, "--param", "N=48", "--force", "--out", other, "--quiet", *options).require_code(0)
        gpusim.run("analyze", files[0], other, "--model", "latency-hidden", "--option",
                   "x=N").require_code(1).require_error(f"is of another {what} than in")
