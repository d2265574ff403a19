"""`gpusim study`: results do not depend on where, in what order and with how many interruptions the points were simulated."""

import csv
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import time
from pathlib import Path

import limiters
from cases import CASES
from on_demand import h5py
from runner import Gpusim, Run, require, require_equal
from slurm_cluster import SlurmCluster

RESULTS = ("results.csv", "results.h5", "findings.txt", "findings.json")
POINTS = 24


def study_file(gpusim: Gpusim, extra: str = "") -> Path:
    """24 points of a third of a second each on two machines."""
    file = gpusim.scratch / "queues.toml"
    file.write_text(f"""{extra}
[study]
machines = ["tesla_v100", "tesla_c1060"]
[[workload]]
ptx = "{CASES["vecadd"].ptx(gpusim.source)}"
[[axis]]
of = "l2.mshrs"
values = [4, 16, 64]
[[axis]]
of = "scheduler.policy"
name = "policy"
values = ["lrr", "gto"]
[[axis]]
of = "sms"
values = [10, 20]
""")
    return file


def run_study(gpusim: Gpusim, file: Path | str, out: str, *options: str, code: int = 0) -> Run:
    return gpusim.run("study", "run", file, "--out", out, "--quiet", *options, limit_s=300).require_code(code)


def require_same(gpusim: Gpusim, a: str, b: str) -> None:
    for name in RESULTS:
        require((gpusim.scratch / a / name).read_bytes() == (gpusim.scratch / b / name).read_bytes(), f"{name} of {a} and {b} differ")


def stored(gpusim: Gpusim, out: str) -> list[Path]:
    return sorted((gpusim.scratch / out / "points").glob("*.json"))


def wait_for_points(gpusim: Gpusim, out: str, points: int, limit_s: float = 120) -> None:
    end = time.monotonic() + limit_s
    while len(stored(gpusim, out)) < points:
        require(time.monotonic() < end, f"{len(stored(gpusim, out))} points after {limit_s} s, expected {points}")
        time.sleep(0.02)


def check_results(gpusim: Gpusim) -> None:
    """The tables have every point and what the simulator itself says of it."""
    file = study_file(gpusim)
    report = run_study(gpusim, file, "out", "--json").json()
    require_equal("groups", [(g["machine"], g["workload"], g["simulated"], g["failed"]) for g in report["groups"]],
                  [("tesla_v100", "vecadd", 12, 0), ("tesla_c1060", "vecadd", 12, 0)])
    with (gpusim.scratch / "out" / "results.csv").open(newline="") as text:
        rows = list(csv.DictReader(text))
    require_equal("rows", len(rows), POINTS)
    with h5py.File(gpusim.scratch / "out" / "results.h5") as h5:
        points, kernels = h5["points"][:], h5["kernels"][:]
    require_equal("cycles in both files", [float(row["cycles"]) for row in rows], list(kernels["cycles"]))
    require_equal("points", [p["key"].decode() for p in points], [row["key"] for row in rows])
    for row in (rows[0], rows[7], rows[23]):
        options = ["--config", row["machine"], "--set", f"l2.mshrs={row['l2_mshrs']}", "--set", f"scheduler.policy={row['policy']}", "--sms",
                   row["sms"], "--out", "none", "--json"]
        kernel = gpusim.run(*options, CASES["vecadd"].ptx(gpusim.source)).require_code(0).json()["kernels"][0]
        require_equal("cycles of a single run", kernel["cycles"], float(row["cycles"]))
        for name, value in kernel["counters"].items():
            require_equal(name, float(row[name]), float(value))
    best = report["groups"][0]["best"][0]
    require_equal("the best point", best["time_s"], min(float(row["time_s"]) for row in rows if row["machine"] == "tesla_v100"))


def check_resume(gpusim: Gpusim) -> None:
    """kill -9 at several moments loses what was running, and nothing else; no point is simulated twice."""
    file = study_file(gpusim)
    run_study(gpusim, file, "whole")
    for points in (1, 5, 12):
        process = gpusim.start("study", "run", file, "--out", "cut", "--quiet", "--threads", "2")
        wait_for_points(gpusim, "cut", points)
        end = time.monotonic() + 60
        while not (gpusim.scratch / "cut" / "study.toml").exists():  # written once the first point has been taken
            require(time.monotonic() < end, "no study.toml after the first point")
            time.sleep(0.02)
        process.kill()
        process.communicate()
        kept = {path: path.stat().st_mtime_ns for path in stored(gpusim, "cut")}
        run = gpusim.run("study", "show", file, "--out", "cut")
        require("not simulated yet" in run.out and run.code == 1, run.describe())
        # The folder stands for its study although that has not ended.
        require_equal("what the folder shows", gpusim.run("study", "show", "cut").out, run.out)
        gpusim.run("report", "cut", "-o", "cut.html").require_code(1).require_error(
            "its study has not ended", "gpusim study run cut goes on with it")
        require(all(path.stat().st_mtime_ns == when for path, when in kept.items()), "a stored point was written again")
    interrupted = gpusim.start("study", "run", file, "--out", "cut", "--quiet", "--threads", "2")
    wait_for_points(gpusim, "cut", 14)
    interrupted.send_signal(signal.SIGINT)
    error = interrupted.communicate()[1]
    require(interrupted.returncode == 130 and "interrupted: the same command goes on" in error, f"{interrupted.returncode}: {error}")
    damaged = stored(gpusim, "cut")[0]
    whole = damaged.read_text()
    edited = (re.sub(r'"cycles": \d+', '"cycles": -5', whole, count=1), re.sub(r'"time_s": [^,]+', '"time_s": 0', whole, count=1),
              re.sub(r'"cycles": \d+', '"cycles": 1.5', whole, count=1))
    for text in ("", *edited):
        require(text != whole, "nothing was edited")
        damaged.write_text(text)
        gpusim.run("study", "show", file, "--out", "cut", "--quiet").require_code(1).require_error("1 stored point is damaged")
    damaged.write_text(whole)
    kept = {path: path.stat().st_mtime_ns for path in stored(gpusim, "cut")}
    # The folder stands for its study, with its name.
    run_study(gpusim, "cut", "cut")
    require_same(gpusim, "whole", "cut")
    require(all(path.stat().st_mtime_ns == when for path, when in kept.items()), "a stored point was simulated again")
    # Another study that has the same points finds them in a store that both use.
    before = {path: path.stat().st_mtime_ns for path in stored(gpusim, "whole")}
    run_study(gpusim, file, "other", "--store", str(gpusim.scratch / "whole" / "points"))
    require_equal("points of the store", {path: path.stat().st_mtime_ns for path in stored(gpusim, "whole")}, before)
    require_same(gpusim, "whole", "other")


def check_commands(gpusim: Gpusim) -> None:
    """`plan --commands` prints what other engines run; then nothing is left to be simulated."""
    file = study_file(gpusim)
    planned = gpusim.run("study", "plan", file, "--out", "parts").require_code(0).out
    require(f"{POINTS} points, {POINTS} to be simulated\nabout " in planned and "the beginning of 4 points, which was tried" in planned, planned)
    require(not (gpusim.scratch / "parts").exists(), "a plan leaves a folder")
    commands = gpusim.run("study", "plan", file, "--out", "parts", "--commands").require_code(0).out.splitlines()
    require_equal("commands", len(commands), POINTS)
    for number, command in enumerate(reversed(commands)):
        if number == 2:
            planned = gpusim.run("study", "plan", file, "--out", "parts").require_code(0).out
            require(f"{POINTS - 2} to be simulated\nabout " in planned and "as fast as the 2 simulated points took" in planned, planned)
        subprocess.run(shlex.split(command), check=True, cwd=gpusim.scratch, timeout=100, stdout=subprocess.DEVNULL)
    planned = gpusim.run("study", "plan", file, "--out", "parts").require_code(0).out
    require(f"{POINTS} points, 0 to be simulated" in planned, planned)
    run_study(gpusim, file, "parts")
    run_study(gpusim, file, "whole")
    require_same(gpusim, "whole", "parts")


def check_options(gpusim: Gpusim) -> None:
    """A study from options; refused and failing points keep their reasons and the others are told."""
    ptx = CASES["vecadd"].ptx(gpusim.source)
    described = gpusim.run("study", "--help").require_code(0).out
    require("gpusim study run --config" in described and "--axis" in described and "Exit codes" in described, described)
    options = ("--config", "gtx470", "--config", "tesla_c1060", "--axis", "sms=5,30", "--axis", "param.N=1024,2048")
    run = gpusim.run("study", "run", *options, "--json", ptx)
    group = run.require_code(1).json()["groups"][0]
    require_equal("simulated and refused", (group["simulated"], group["failed"]), (2, 2))
    shown = gpusim.run("study", "show", *options, ptx)
    require("has 14 SMs, the point asks for 30" in shown.out, shown.describe())
    # The study that was written stands for the options, in another folder too.
    saved = gpusim.scratch / "vecadd.study" / "study.toml"
    again = gpusim.run("study", "run", saved, "--out", "again", "--store", gpusim.scratch / "vecadd.study" / "points", "--quiet")
    require_equal("the saved study", again.code, 1)
    require((gpusim.scratch / "again" / "results.csv").read_bytes() == (gpusim.scratch / "vecadd.study" / "results.csv").read_bytes(),
            "the saved study has other results")
    (gpusim.scratch / "begun.study" / "points").mkdir(parents=True)
    for words, texts in ((("run", "--axis", "sms=1", ptx), ("--config MACHINE is missing",)),
                         (("run", "--config", "tesla_c1060", "--axis", "sm=1", ptx), ("'sm' is nothing that an axis can change",)),
                         (("run", "--config", "tesla_c1060", "--axis", "sms", ptx), ("is not TARGET=VALUE",)),
                         (("run", "--config", "tesla_c1060", "--axis", "sms=5,31", ptx, "--out", "new"), ("sms=31 is possible at no point", "has 30 SMs")),
                         (("run", "--config", "tesla_c1060", "--axis", "lsu.mshrs=32,many", ptx, "--out", "new"),
                          ("--axis 'lsu.mshrs=32,many'", "is not an integer")),
                         (("run", "--config", "tesla_c1060", "--axis", "param.M=32,64", ptx, "--out", "new"), ("has no parameter 'M'", "valid: N")),
                         (("plan", "--config", "tesla_c1060", "--axis", "cache=cold,hot", ptx), ("there is no cache state 'hot'",)),
                         (("run", gpusim.scratch / "none.toml"), ("none.toml", "error")),
                         (("run", saved, "--part", "4/4"), ("is not I/N",)),
                         (("run", saved, "--config", "h200"), ("a study file says what --config",)),
                         (("run", saved, "--objective", "cicles", "--out", "new"), ("did you mean 'cycles'",)),
                         (("run", gpusim.scratch / "vecad"), ("there is no file", "did you mean", "vecadd.")),
                         (("plan", gpusim.scratch / "vecad.study"), ("there is no file", "vecadd.study'?")),
                         (("show", gpusim.scratch / "vecad.toml"), ("there is no file", "did you mean")),
                         (("report", "vecadd.study"), ("there is no command 'report'", "gpusim report FOLDER -o report.html")),
                         (("plam", "vecadd.study"), ("there is no command 'plam'", "did you mean 'plan'?")),
                         (("show", "."), ("is a folder without a study.toml",)),
                         (("show", gpusim.scratch / "begun.study"), ("is a folder", "the study in it has not ended")),
                         (("run", "--config", "h200", "--config", "h200", ptx, "--out", "new"), ("machine 'h200' stands twice",)),
                         (("run", "--config", "tesla_c1060", "none.ptx", "--out", "new"), ("there is no file 'none.ptx'",)),
                         (("run", "--config", "tesla_c1061", ptx, "--out", "new"), ("did you mean 'tesla_c1060'",)),
                         (("run", "--config", "tesla_v100", "--set", "l1.size=64K", "--axis", "l1.size=32K,64K", ptx, "--out", "new"),
                          ("changes l1.size, which is set to one value",)),
                         (("run", saved, "--slurm=--x"), ("--on",)),
                         (("run", saved, "--on", "slurm", "--part", "0/2"), ("--on",)),
                         (("run", saved, "--objective", "energy_j", "--out", "again"), ("another study", "--force")),
                         (("plan", saved, "--objective", "energy_j", "--out", "again", "--commands"), ("another study",)),
                         (("run", saved, "--out", "/proc/none"), ("/proc/none", "error"))):
        gpusim.run("study", *words, *(("--quiet",) if words[0] in ("run", "show") else ())).require_code(1).require_error(*texts)
    for name, text in (("vecad.study", "did you mean 'vecadd.study'?"), ("vecadd", "did you mean 'vecadd.study'?"), (saved, "no folder of a study's results")):
        gpusim.run("report", name, "-o", "page.html").require_code(1).require_error(text)
    require(not (gpusim.scratch / "new").exists(), "a study that is refused has made its folder")
    # Each file has a folder of its own, also one whose name cannot be a column's; what is printed for a shell is quoted.
    for stem, folder in ((b"a 'b\" \xc3\xa9", "a_b_.study"), (b"b\xff", "b_.study"), (b"2", "workload_2.study")):
        copy = gpusim.scratch / os.fsdecode(stem + b".ptx")
        copy.write_bytes(ptx.read_bytes())
        copy.with_suffix(".toml").write_bytes(ptx.with_suffix(".toml").read_bytes())
        gpusim.run("study", "plan", "--commands", "--config", "tesla_c1060", "--param", "N=64", copy).require_code(0)
        require((gpusim.scratch / folder / "study.toml").exists(), f"{sorted(gpusim.scratch.iterdir())}: no {folder}")
    gpusim.run("study", "plan", "--commands", "--config", "tesla_c1060", "--param", "N=65", copy).require_code(1).require_error(
        "workload_2.study: error: holds the results of another study", "is named after the given file; --out another folder")
    run = gpusim.run("study", "run", "--config", "tesla_c1060", "--param", "N=64", ptx, "--out", "st udy").require_code(0)
    require("gpusim report 'st udy' -o report.html" in run.out, run.out)
    shown = gpusim.run("study", "show", "st udy").require_code(0)  # the folder stands for its study
    require_equal("findings", shown.out.rstrip(), run.out.split("\n\nresults ")[0])
    shown = gpusim.run("study", "run", saved, "--objective", "energy_j", "--maximise", "--out", "again", "--force", "--quiet",
                       "--store", gpusim.scratch / "vecadd.study" / "points").require_code(1)
    require("largest energy_j" in shown.out, shown.describe())
    check_full_disk(gpusim, saved)


def check_refused(gpusim: Gpusim) -> None:
    """A study without one possible point says why and leaves its folder to the corrected one."""
    words = ("study", "run", "--config", "tesla_c1060", CASES["vecadd"].ptx(gpusim.source), "--out", "o", "--quiet", "--axis")
    gpusim.run(*words, "lsu.mshr=32,64").require_code(1)
    require(not (gpusim.scratch / "o" / "study.toml").exists(), "the refused study keeps the folder")
    gpusim.run(*words, "lsu.mshrs=32,64").require_code(0)
    require((gpusim.scratch / "o" / "study.toml").exists(), "the corrected study has no file")


def check_full_disk(gpusim: Gpusim, study: Path) -> None:
    """Tables that find no room are an error with the reason, and no half of them gets its name."""
    words = [str(gpusim.program), "study", "run", str(study), "--out", "full", "--store", "vecadd.study/points", "--quiet"]
    run = subprocess.run(words, cwd=gpusim.scratch, capture_output=True, text=True, check=False, timeout=100,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (12000, 12000)))
    require(run.returncode == 1 and run.stderr.startswith("full/results.h5: error: cannot be written") and run.stderr.count("\n") == 1,
            f"exit code {run.returncode}: {run.stderr}")
    require_equal("files", sorted(path.name for path in (gpusim.scratch / "full").iterdir()), [".lock", "results.csv", "study.toml"])


def check_slurm(gpusim: Gpusim) -> None:
    """On a cluster whose node dies in the middle: the same results, byte for byte, after the same command once more."""
    file = study_file(gpusim)
    run_study(gpusim, file, "local")
    with SlurmCluster(gpusim.scratch / "slurm") as cluster:
        words = [str(gpusim.program), "study", "run", str(file), "--out", "cluster", "--quiet", "--on", "slurm", "--tasks", "8"]
        process = subprocess.Popen(words, cwd=gpusim.scratch, env=cluster.environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        wait_for_points(gpusim, "cluster", 3)
        cluster.kill_node()
        process.terminate()
        process.communicate()
        cluster.command("scancel", "--user", str(os.getuid()))
        kept = {path: path.stat().st_mtime_ns for path in stored(gpusim, "cluster")}
        require(len(kept) < POINTS, "all points were simulated before the node died")
        cluster.start_node()
        done = subprocess.run(words, cwd=gpusim.scratch, env=cluster.environment(), capture_output=True, text=True, check=False, timeout=300)
        require_equal(f"exit code of the second run ({done.stderr})", done.returncode, 0)
        require(all(path.stat().st_mtime_ns == when for path, when in kept.items()), "a stored point was simulated again")
        require_same(gpusim, "local", "cluster")
        report = json.loads((gpusim.scratch / "cluster" / "findings.json").read_text())
        require_equal("points", sum(group["simulated"] for group in report["groups"]), POINTS)


def check_interrupted_proof(gpusim: Gpusim, file: Path) -> None:
    """An interrupt ends it with what has been simulated, whether it comes to the process alone or to its group; progress is on standard error."""
    for alone in (True, False):
        command = [str(gpusim.program), "explain", str(file), "--prove", "--json", "--threads", "1"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
            for _ in range(2):  # after the first simulation, which is the run as it was, and after a tenth
                progress = process.stderr.readline()
                require("simulations of --prove" in progress, f"stderr: {progress}")
            (os.kill if alone else os.killpg)(process.pid, signal.SIGINT)
            out = process.communicate(timeout=60)[0]
        require_equal("exit code", process.returncode, 130)
        proof = json.loads(out)
        require(proof["not_simulated"] > 0 and len(proof["changes"]) > 0, out)


def check_prove(gpusim: Gpusim) -> None:
    """`explain --prove`: its unchanged run has the recorded cycles, and each change is what a run with these keys gives."""
    ptx, file = CASES["vecadd"].ptx(gpusim.source), gpusim.scratch / "run.h5"
    run = ("--config", "tesla_v100", "--param", "N=65536", "--sms", "4", "--core-clock", "705MHz")
    recorded = gpusim.run(*run, ptx, "--out", file, "--json").require_code(0).json()["kernels"][0]["cycles"]
    proof = gpusim.run("explain", file, "--prove", "--json").require_code(0).json()
    require_equal("cycles of the unchanged run", proof["cycles"], recorded)
    done = [change for change in proof["changes"] if "cycles" in change]
    require(len(done) > 20, f"only {len(done)} changes")
    require_equal("order", [change["cycles"] for change in done], sorted(change["cycles"] for change in done))
    # --sms and --core-clock come after --set, so that changes of SMs and clocks cannot be written as options beside them.
    plain = [change for change in done if not any(key.startswith(("clocks.", "gpu.sms")) for key in change["set"])]
    for change in (plain[0], plain[len(plain) // 2]):
        words = [word for key in change["set"] for word in ("--set", key)]
        again = gpusim.run(*run, *words, ptx, "--out", "none", "--json").require_code(0).json()["kernels"][0]["cycles"]
        require_equal(f"cycles with {change['name']} changed", change["cycles"], again)
    text = gpusim.run("explain", file, "--prove").require_code(0).out
    require(f"what would have helped: {recorded} cycles" in text and "limited most by: " in text, text)
    # The proof comes below the kernel's limiter; where the slots went is another question.
    head = text[: text.index("what would have helped")].splitlines()
    require(len(head) <= 5 and head[0].startswith("kernel 0 vecadd") and head[-1].startswith("  limiter: "), text)
    whole = gpusim.run("explain", file, "--prove", "--top", "2").require_code(0).out
    require(whole.index("where the issue slots went") < whole.index("what would have helped"), whole)
    check_interrupted_proof(gpusim, file)
    # A launch without a launch file is repeated from the options; a program of several PTX files is refused.
    options = ("--kernel", "vecadd", "--grid", "8", "--block", "128", "--arg", "f32[1024]", "--arg", "f32[1024]=uniform(-1,1)", "--arg",
               "f32[1024]=fill(1)", "--arg", "1024")
    cycles = gpusim.run("--config", "tesla_c1060", *options, ptx, "--out", file, "--json", "--force").require_code(0).json()["kernels"][0]["cycles"]
    require_equal("cycles of a launch from options", gpusim.run("explain", file, "--prove", "--json").require_code(0).json()["cycles"], cycles)
    gpusim.run("explain", file, "--threads", "2").require_code(1).require_error("--prove")
    gpusim.run("explain", file, "--prove", "--kernel", "vecadd").require_code(1).require_error("--kernel")
    # Data that changed since, and a run that did not end, prove nothing.
    check_changed_data(gpusim, file)
    gpusim.run(*run, "--max-cycles", "100", ptx, "--out", file, "--force").require_code(2)
    gpusim.run("explain", file, "--prove", "--json").require_code(1).require_error("did not end")


LOOP = """
.version 1.4
.target sm_13
.entry loop (.param .u32 rounds)
{
  .reg .u32 %r<3>;
  .reg .pred %p<2>;
  ld.param.u32 %r1, [rounds];
  ld.global.u32 %r2, [%r1];
AGAIN:
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra AGAIN;
  exit;
}
"""
LOOP_LAUNCH = """
[[buffer]]
name = "rounds"
type = "u32"
init = "file:rounds.bin"
[[launch]]
grid = [1]
block = [32]
args = ["rounds"]
"""


def check_changed_data(gpusim: Gpusim, file: Path) -> None:
    """A run whose data has changed since it was recorded is another run."""
    ptx, data = gpusim.scratch / "loop.ptx", gpusim.scratch / "rounds.bin"
    ptx.write_text(LOOP)
    ptx.with_suffix(".toml").write_text(LOOP_LAUNCH)
    data.write_bytes((10).to_bytes(4, "little"))
    gpusim.run("--config", "tesla_c1060", ptx, "--out", file, "--force").require_code(0)
    gpusim.run("explain", file, "--prove", "--json").require_code(0)
    data.write_bytes((500).to_bytes(4, "little"))
    gpusim.run("explain", file, "--prove", "--json").require_code(1).require_error("the repeated run takes", "are recorded")


PHASES = {"M": ("name", "pid", "tid", "args"), "X": ("name", "cat", "pid", "tid", "ts", "dur", "args"),
          "C": ("name", "pid", "tid", "ts", "args")}


def check_guided(gpusim: Gpusim) -> None:
    """A guided study simulates as many points as it may, finds the best of all in this one, and most of its error bars hold."""
    study = ("study", "run", "--config", "tesla_v100", "--set", "shared.size=8K", "--axis", "l1.size=16K,32K,64K,128K", "--axis",
             "l1.mshrs=32,128,512", "--axis", "sms=20,80", "--quiet", "--store", "points", CASES["spmv_scalar"].ptx(gpusim.source))
    guided = gpusim.run(*study, "--out", "guided", "--guided", "8", limit_s=300).require_code(0)
    require("8 points simulated, 16 predicted" in guided.out, guided.out)
    require("16 of 24 values are predictions: steps below their error of " in guided.out, guided.out)
    chosen = stored_names(gpusim)
    threads = gpusim.run(*study, "--out", "threads", "--guided", "8", "--threads", "1", limit_s=300).require_code(0)
    require_equal("findings with one process", threads.out, guided.out)
    require_equal("points", len([name for name in chosen if not name.endswith(".predicted.json")]), 8)
    gpusim.run(*study, "--out", "all", limit_s=300).require_code(0)
    with (gpusim.scratch / "all/results.csv").open() as file:
        truth = {row["point"]: float(row["time_s"]) for row in csv.DictReader(file)}
    with (gpusim.scratch / "guided/predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    require_equal("predicted points", len(rows), 24)
    simulated = [row for row in rows if row["simulated"] == "yes"]
    require(all(float(row["time_s"]) == truth[row["point"]] for row in simulated), "simulated times differ from those of the whole study")
    require(min(float(row["time_s"]) for row in simulated) <= 1.03 * min(truth.values()), "the best was not found")
    others = [row for row in rows if row["simulated"] == "no"]
    held = sum(float(row["time_s_low"]) <= truth[row["point"]] <= float(row["time_s_high"]) for row in others)
    require(held >= 0.75 * len(others), f"{held} of {len(others)} error bars hold")
    gpusim.run(*study, "--out", "guided", "--guided", "2").require_code(1)
    gpusim.run(*study, "--out", "guided", "--guided", "8", "--on", "slurm").require_code(1).require_error("excludes")


def stored_names(gpusim: Gpusim) -> list[str]:
    return sorted(path.name for path in (gpusim.scratch / "points").glob("*.json"))


def check_timeline(gpusim: Gpusim) -> None:
    """`gpusim timeline` writes the Trace Event Format: members by phase, no overlap in a row, blocks inside their kernel."""
    ptx, file, out = CASES["saxpy"].ptx(gpusim.source), gpusim.scratch / "run.h5", gpusim.scratch / "run.json"
    report = gpusim.run("--config", "tesla_v100", "--launch", ptx.with_name("streams.toml"), ptx, "--out", file, "--json").require_code(0).json()
    gpusim.run("timeline", file, "-o", out).require_code(0)
    events = json.loads(out.read_text())["traceEvents"]
    for event in events:
        require(event["ph"] in PHASES and tuple(event) == tuple(k for k in ("name", "cat", "ph", "pid", "tid", "ts", "dur", "args")
                                                                 if k == "ph" or k in PHASES[event["ph"]]), f"members of {event}")
    spans = [event for event in events if event["ph"] == "X"]
    kernels = [event for event in spans if event["cat"] == "kernel"]
    require_equal("kernels", sorted((event["name"], event["args"]["cycles"]) for event in kernels),
                  sorted((kernel["name"], kernel["cycles"]) for kernel in report["kernels"]))
    require_equal("copies", sum(event["args"]["bytes"] for event in spans if event["cat"] == "copy"),
                  sum(copy["bytes"] for copy in report["copies"]))
    blocks = [event for event in spans if event["cat"] == "block"]
    extent = {kernel["name"]: kernel["grid"][0] * kernel["grid"][1] * kernel["grid"][2] for kernel in report["kernels"]}
    require_equal("blocks", len(blocks), sum(extent[kernel["name"]] for kernel in report["kernels"]))
    rows: dict[tuple[int, int], list[dict]] = {}
    for block in blocks:
        rows.setdefault((block["pid"], block["tid"]), []).append(block)
    for row in rows.values():
        row.sort(key=lambda block: block["ts"])
        require(all(a["ts"] + a["dur"] <= b["ts"] + 1e-9 for a, b in zip(row, row[1:])), "blocks of a slot overlap")
    ends = max(event["ts"] + event["dur"] for event in kernels)
    require(all(block["ts"] + block["dur"] <= ends + 1e-9 for block in blocks), "a block outlives all kernels")
    # A kernel's span holds its launch, which ends where its first block starts, and its drain, which begins where its last one ends.
    for kernel in kernels:
        launch = kernel["args"]["launch"]
        own = [(block["ts"], block["ts"] + block["dur"]) for block in blocks if block["args"]["launch"] == launch]
        inside = {event["cat"]: event for event in spans if event["cat"] in ("launch", "drain") and event["args"]["launch"] == launch}
        require_equal("row of launch and drain", {(event["pid"], event["tid"]) for event in inside.values()}, {(kernel["pid"], kernel["tid"])})
        require_equal("a launch and a drain", sorted(inside), ["drain", "launch"])
        for label, start, end in (("launch", kernel["ts"], min(own)[0]), ("drain", max(end for _, end in own), kernel["ts"] + kernel["dur"])):
            event = inside[label]
            require(abs(event["ts"] - start) < 1e-6 and abs(event["ts"] + event["dur"] - end) < 1e-6, f"{label} of {kernel}: {event}, not {start} to {end}")
    gpusim.run("timeline", file, "-o", out, "--sms", "2").require_code(0)
    few = [event for event in json.loads(out.read_text())["traceEvents"] if event.get("cat") == "block"]
    require(0 < len(few) < len(blocks), "--sms 2 shows as many blocks")
    gpusim.run("timeline", file, "-o", file).require_code(1).require_error("this is an input of the run")
    gpusim.run("timeline", ptx, "-o", out).require_code(1)
    gpusim.run("--config", "tesla_c1060", "--events", "off", ptx, "--out", file, "--force").require_code(0)
    gpusim.run("timeline", file, "-o", out).require_code(1).require_error("was recorded with --events off")


#: Of the table of limiters, cases of different limiters that take seconds.
LIMITERS = (("reduction", "tesla_c1060"), ("global_histogram", "tesla_v100"), ("bfs", "tesla_v100"), ("nbody", "tesla_v100"))


def check_limiters(gpusim: Gpusim) -> None:
    """The limiter that counters name is what --prove finds, and the stored table has these rows."""
    with (gpusim.source / "regress" / "limiters.csv").open(newline="") as file:
        stored = {(row["workload"], row["machine"]): row for row in csv.DictReader(file)}
    require_equal("cases of the table", set(stored), {(name, machine) for name in limiters.CASES for machine in limiters.MACHINES})
    for name, machine in LIMITERS:
        row = limiters.judge(limiters.prove(gpusim.program, name, machine, 2, gpusim.scratch))
        require(row["right"], f"{name} on {machine}: {row['named']} is named, but {row['best_change']} saves most")
        for column in ("cycles", "named", "best_change"):
            require_equal(f"{name} on {machine}: {column} of regress/limiters.csv", stored[name, machine][column], str(row[column]))


CHECKS = {"prove": check_prove, "limiters": check_limiters, "timeline": check_timeline, "results": check_results, "resume": check_resume, "commands": check_commands, "options": check_options, "slurm": check_slurm,
          "guided": check_guided, "refused": check_refused}
