"""`gpusim regress`: the quick suite, and that wrong values, limits, programs and folders make it fail."""

import json
import signal
import time
import tomllib
from pathlib import Path

import mutants
from runner import Gpusim, require, require_equal

SUITE = """
[[mean]]
model = "latency-hidden"
quantity = "cycles"
limit = {mean}

[[case]]
name = "small"
config = "tesla_c1060"
ptx = "{ptx}"
params = ["N=96"]

[[case.check]]
model = "latency-hidden"
quantity = "cycles"
limit = {limit}
"""


def check_quick_suite(gpusim: Gpusim) -> None:
    work = gpusim.scratch / "work"
    first = gpusim.run("regress", "--suite", "quick", "--root", gpusim.source, "--work", work, limit_s=300)
    first.require_code(0)
    require("no breach" in first.out, first.out)
    outcome = json.loads((work / "outcome.json").read_text())
    require_equal("breaches", outcome["breaches"], 0)
    models = {m["model"]: m for m in outcome["models"]}
    require({"latency-hidden", "reuse-distance", "energy", "roofline"} <= models.keys(), f"models: {sorted(models)}")
    require(all(m["judged"] > 0 for m in models.values()), f"{models}")
    # What a model defines, of every recording.
    row = next(r for r in outcome["rows"] if r["case"] == "all cases" and r["model"] == "latency-hidden")
    require_equal("verdict on the factors", row["verdict"], "good")
    require(f" of {len(list(work.glob('*.h5'))) - 1} recordings, 0 not so; not applied to 0" in row["note"], row["note"])
    # All simulations are there already.
    studies = [s["name"] for s in tomllib.loads((gpusim.source / "regress/suites/quick.toml").read_text())["study"]]
    again = gpusim.run("regress", "--suite", "quick", "--root", gpusim.source, "--work", work).require_code(0)
    require_equal("second outcome", again.out, first.out)
    cases = [line for line in again.err.splitlines() if line.endswith(": done") and line.removesuffix(": done") not in studies]
    require_equal("cases run again", cases, [])
    # The number of operations is the application's: it is not dropped where a kernel of it is asked for.
    model = ("analyze", work / "stream_c1060.h5", "--model", "roofline", "--option", "flops=1000")
    gpusim.run(*model, "--kernel", "copy").require_code(1).require_error("'copy' is one of its kernels")
    gpusim.run(*model, "--kernel", "all kernels").require_code(1).require_error("no run of the ceilings")


def _suite(gpusim: Gpusim, name: str, **values: object) -> Path:
    given = {"ptx": "workloads/matmul/naive_16x16.ptx", "limit": 0.25, "mean": 0.25} | values
    path = gpusim.scratch / f"{name}.toml"
    path.write_text(SUITE.format(**given))
    return path


def _regress(gpusim: Gpusim, suite: Path, work: Path, *options: object):  # noqa: ANN202
    return gpusim.run("regress", "--suite", suite, "--root", gpusim.source, "--work", work, *options)


def check_failures(gpusim: Gpusim) -> None:
    work = gpusim.scratch / "work"
    suite = _suite(gpusim, "suite")
    require("no golden values" in _regress(gpusim, suite, work).require_code(1).out, "golden values appeared from nowhere")
    _regress(gpusim, suite, work, "--update").require_code(0)
    golden = gpusim.scratch / "golden" / "suite.json"
    values = json.loads(golden.read_text())
    values["small"][0]["dram_read_bytes"] += 1
    golden.write_text(json.dumps(values))
    require("dram_read_bytes" in _regress(gpusim, suite, work).require_code(1).out, "a wrong golden value passes")
    golden.write_text("[" * 1000)
    _regress(gpusim, suite, work).require_code(1).require_error("golden")
    # Limits.
    _regress(gpusim, _suite(gpusim, "limit", limit=0.0001), work).require_code(1)
    tight = _regress(gpusim, _suite(gpusim, "mean", mean=0.0001), work).require_code(1)
    require("limit of the mean 0.0 %: BREACH" in tight.out, tight.out)
    _selected(gpusim, suite, work)
    # Inputs.
    _regress(gpusim, _suite(gpusim, "ptx", ptx="no/such.ptx"), work).require_code(1).require_error("no/such.ptx")
    gpusim.run("regress", "--suite", "quik", "--root", gpusim.source).require_code(1).require_error("did you mean 'quick'?")
    occupied = gpusim.scratch / "file"
    occupied.write_text("")
    _regress(gpusim, suite, occupied).require_code(1).require_error("file")
    # A result that is damaged is made anew.
    _regress(gpusim, suite, work, "--update").require_code(0)
    (work / "small.json").write_text((work / "small.json").read_text()[:-40])
    _regress(gpusim, suite, work).require_code(0)
    _killed(gpusim, suite)


def _selected(gpusim: Gpusim, suite: Path, work: Path) -> None:
    # A mean is of a whole suite. (The golden file is damaged here.)
    _regress(gpusim, suite, work, "--update").require_code(0)
    tight = gpusim.scratch / "mean.toml"
    (gpusim.scratch / "golden" / "mean.json").write_text((gpusim.scratch / "golden" / "suite.json").read_text())
    require("limit of the mean" not in _regress(gpusim, tight, work, "--only", "sm*").require_code(0).out, "a mean of a part")
    _regress(gpusim, tight, work, "--only", "smal").require_code(1).require_error("did you mean 'small'?")
    _regress(gpusim, tight, work, "--only", "small", "--update").require_code(1).require_error("--only")
    # Models are applied again: to a recording of another program, with the options of now; what it was made of is the same.
    state = work / "small.json"
    inputs, _, recording = state.read_text().splitlines()[0].split()
    kept = f"{inputs} {'0' * 64} {recording}\n" + state.read_text().split("\n", 1)[1]
    state.write_text(kept)
    judged = _regress(gpusim, _suite(gpusim, "limit", limit=0.0001), work, "--judge-again", "--only", "small").require_code(1)
    require(any("latency-hidden" in line and "BREACH" in line for line in judged.out.splitlines()), judged.out)
    require_equal("what an earlier run kept", state.read_text(), kept)
    changed = (work / "small.h5").stat().st_mtime_ns
    _regress(gpusim, suite, work, "--judge-again").require_code(0)
    require_equal("time of the recording", (work / "small.h5").stat().st_mtime_ns, changed)
    _regress(gpusim, suite, work).require_code(0)
    require((work / "small.h5").stat().st_mtime_ns != changed, "a recording of another program counts")


def check_mutants(_: Gpusim) -> None:
    """What regress/mutants.py changes is still where it says; what it finds takes hours."""
    require_equal("changes of mutants.py that do not fit the source", mutants.misplaced(), [])


def _killed(gpusim: Gpusim, suite: Path) -> None:
    work = gpusim.scratch / "killed"
    process = gpusim.start("regress", "--suite", suite, "--root", gpusim.source, "--work", work)
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    require(not (work / "outcome.json").exists(), "an outcome of a killed run")
    _regress(gpusim, suite, work).require_code(0)
