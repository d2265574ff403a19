"""`gpusim correlate` and `gpusim export`, and the program that measures on a real GPU (which needs nvcc, but no GPU here)."""

import csv
import ctypes
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import hardware_table
from cases import CASES
from runner import RUN_LIMIT_S, Gpusim, NoCompiler, require, require_equal

MEASURE = ("measure.cu", "plan.cpp", "board.cpp", "results.cpp")


def hardware(gpusim: Gpusim) -> Path:
    return gpusim.source / "regress" / "hardware"


def vecadd_run(gpusim: Gpusim, n: int, **members: Any) -> dict[str, Any]:
    """A run of vecadd as a file of measurements has it."""
    ptx = CASES["vecadd"].ptx(gpusim.source)
    run = {"name": f"vecadd_{n}", "ptx": str(ptx), "launch": str(ptx.with_suffix(".toml")), "params": {"N": n},
           "ptx_sha256": hashlib.sha256(ptx.read_bytes()).hexdigest(),
           "kernels": [{"name": "vecadd", "grid": [(n + 255) // 256], "block": [256], "cycles": 2000, "least": 1900,
                        "most": 2100, "repeats": 3, "method": "events"}]}
    return {key: value for key, value in (run | members).items() if value is not None}


def correlate(gpusim: Gpusim, runs: list[dict[str, Any]], code: int, *options: str) -> dict[str, Any]:
    file = gpusim.scratch / "measured.json"
    file.write_text(json.dumps({"schema": "gpusim-hardware-1", "device": {"name": "G", "core_khz": 1296000},
                                "date": "2026-01-01", "source": "this test", "runs": runs}))
    done = gpusim.run("correlate", "--hardware", file, "--config", gpusim.machine(), "--json", *options)
    return done.require_code(code).json()


def check_rows(gpusim: Gpusim) -> None:
    """A row per kernel with the cycles that a run of its own takes; what cannot be compared says why."""
    ptx = CASES["vecadd"].ptx(gpusim.source)
    cycles = {n: gpusim.report(ptx, "--param", f"N={n}", "--out", "none")["kernels"][0]["cycles"] for n in (300, 5000, 20000)}
    runs = [vecadd_run(gpusim, n) for n in cycles]
    reports = [correlate(gpusim, runs, 0, "--threads", threads) for threads in ("1", "3")]
    require_equal("reports with one process and with three", *reports)
    for row, simulated in zip(reports[0]["kernels"], cycles.values(), strict=True):
        require_equal("simulated cycles", row["simulated_cycles"], simulated)
        require(abs(row["error"] - (simulated / 2000 - 1)) < 1e-9, f"error of {row}")
        require(abs(row["spread"] - 0.1) < 1e-9, f"spread of {row}")
    errors = [c / 2000 - 1 for c in cycles.values()]
    totals = reports[0]["totals"]
    require(abs(totals["bias"] - sum(errors) / 3) < 1e-9, f"bias of {totals}")
    require(abs(totals["mean_absolute_error"] - sum(map(abs, errors)) / 3) < 1e-9, f"mean of {totals}")
    require_equal("correlation with a constant", totals["correlation"], None)
    require_equal("kernels for fitting", reports[0]["fitting_totals"], {"kernels": 0})
    rate, = correlate(gpusim, [vecadd_run(gpusim, 5000, kernels=None, flop_rate=1e9)], 0)["kernels"]
    require_equal("cycles of 5000 additions", (round(rate["hardware_cycles"]), rate["simulated_cycles"]), (6480, cycles[5000]))


def check_pauses(gpusim: Gpusim) -> None:
    """The board's power is an average over the launches and the pauses between them, in which it draws what goes with time alone."""
    core_hz = 1.296e9
    timed = vecadd_run(gpusim, 20000, kernels=None, seconds=1e-3, power_w=100)
    busy_s = correlate(gpusim, [timed | {"overhead_seconds": 1e-6}], 0)["kernels"][0]["simulated_cycles"] / core_hz
    pauses: dict[str, dict[str, float]] = {
        "none": {"overhead_seconds": 1e-6, "pause_seconds": 0}, "equal": {"overhead_seconds": 1e-6, "pause_seconds": busy_s}, "endless": {"pause_seconds": 10},
        "overhead": {"overhead_seconds": busy_s}}
    rows = correlate(gpusim, [timed | {"name": name} | pause for name, pause in pauses.items()], 0)["kernels"]
    power = {row["run"]: row["simulated_power_w"] for row in rows}
    require(power["none"] > 1.02 * power["endless"] > 0, f"{power}")
    mean = (power["none"] + power["endless"]) / 2
    require(abs(power["equal"] / mean - 1) < 1e-3, f"half of the time a pause: {power}, expected {mean}")
    require(abs(power["overhead"] / power["equal"] - 1) < 1e-9, f"what is not said of the pause is the overhead: {power}")


def check_not_compared(gpusim: Gpusim) -> None:
    good = vecadd_run(gpusim, 300)
    refused = correlate(gpusim, [
        good,
        vecadd_run(gpusim, 301, kernels=None, not_run="the driver does not take it"),
        vecadd_run(gpusim, 302, ptx="nothere.ptx"),
        vecadd_run(gpusim, 303, ptx_sha256="0" * 64),
        vecadd_run(gpusim, 304, params={"M": 3}),
        vecadd_run(gpusim, 305, params={"N": 10000}),
    ], 1)
    reasons = [row.get("not_compared", "") for row in refused["kernels"]]
    for reason, text in zip(reasons, ("", "not measured: the driver", "nothere.ptx: error: cannot open",
                                      "is not the PTX that was measured", "no parameter 'M'", "launch 1 was vecadd of 2x1x1"),
                            strict=True):
        require(text in reason and bool(text) == bool(reason), f"{reason!r} is not {text!r}")
    require_equal("kernels in the totals", refused["totals"]["kernels"], 1)
    correlate(gpusim, [good, vecadd_run(gpusim, 301, kernels=None, not_run="x")], 0)
    small = correlate(gpusim, [good], 1, "--set", "sm.max_block_x=128")
    require("machine 'Tesla C1060' allows 128" in small["kernels"][0]["not_compared"], f"{small}")
    differs = correlate(gpusim, [vecadd_run(gpusim, 300, buffers=[{"name": "C", "sha256": "0" * 64}])], 3)
    require_equal("results", differs["kernels"][0]["results"], "differ")
    bad = gpusim.scratch / "bad.json"
    bad.write_text('{"schema": "gpusim-hardware-1",\n "devices": {}}')
    done = gpusim.run("correlate", "--hardware", bad, "--config", gpusim.machine())
    done.require_code(1).require_error("bad.json:2:2: error: a file of measurements has no member 'devices'",
                                       "did you mean 'device'?")


def check_published(gpusim: Gpusim) -> None:
    """The files of published figures are good: everything in them is compared, here at small sizes."""
    smaller = {"sgemm_volkov": {"N": 64, "ld": 96}, "matmul": {"N": 64}, "sgemm_cublas": {"N": 64}}
    for file, machine in (("published_tesla_c1060.json", "tesla_c1060"), ("published_geforce_8800_gtx.json", "tesla_c870")):
        measured = json.loads((hardware(gpusim) / file).read_text())
        for run in measured["runs"]:
            for name, values in smaller.items():
                if run["name"].startswith(name):
                    run["params"] = values
            for key in ("ptx", "launch"):
                run[key] = str(hardware(gpusim) / run[key])
        copy = gpusim.scratch / file
        copy.write_text(json.dumps(measured))
        words = ["correlate", "--hardware", copy, "--config", gpusim.source / "configs" / f"{machine}.cfg", "--json"]
        report = gpusim.run(*words).require_code(0).json()
        totals = [report[kind]["kernels"] for kind in ("totals", "fitting_totals")]
        kernels = [sum(len(run.get("kernels", "1")) for run in measured["runs"] if run.get("fitting", False) == fitting)
                   for fitting in (False, True)]
        require_equal(f"kernels of {file}", totals, kernels)
        table = gpusim.run(*words[:-1]).require_code(0).out
        for text in (measured["device"]["name"], "mean absolute error", *(run["name"] for run in measured["runs"])):
            require(text in table, f"{text!r} is not in\n{table}")


def program(gpusim: Gpusim) -> Path:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise NoCompiler("nvcc is not in PATH")
    measure, folder = gpusim.scratch / "measure", hardware(gpusim)
    done = subprocess.run([nvcc, "-std=c++20", "-Xcompiler", "-Wall,-Wextra,-Werror", f"-I{gpusim.source}", f"-I{folder}",
                           "-o", measure, *(folder / name for name in MEASURE),
                           gpusim.source / "simcore" / "text" / "sha256.cpp",
                           gpusim.source / "simcore" / "cuda_driver" / "driver.cpp", "-ldl"],
                          capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)
    require_equal(f"{done.stderr[:4000]}\nexit code of nvcc", done.returncode, 0)
    return measure


def measure(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)


def has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def check_measure(gpusim: Gpusim) -> None:
    """It compiles, reads plans, and what it writes is what `gpusim correlate` reads; without a driver it says so."""
    binary = program(gpusim)
    plans = []
    for name, options in (("gemm", ["--param", "M=40"]), ("jacobi", ["--fitting"])):
        ptx = CASES[name].ptx(gpusim.source)
        plans.append(gpusim.scratch / "out" / name)
        gpusim.run("export", ptx, "--out", plans[-1], *options).require_code(0)
    dry = measure([binary, "--dry-run", *plans])
    require_equal("exit code", dry.returncode, 0)
    for text in ("gemm: gemm/gemm.ptx, ", "buffer A: ", " bytes of zeros", "jacobi: jacobi/jacobi.ptx", ", for fitting",
                 "kernel gemm_nn: grid "):
        require(text in dry.stdout, f"{text!r} is not in\n{dry.stdout}")
    json_file = gpusim.scratch / "out" / "results.json"
    done = measure([binary, "--rehearse", "--out", json_file, *plans])
    require_equal(f"{done.stderr}\nexit code", done.returncode, 0)
    small = ["--set", "gpu.launch_cycles=0"]
    report = gpusim.run("correlate", "--hardware", json_file, "--config", gpusim.source / "configs" / "tesla_v100.cfg",
                        "--json", *small).require_code(3).json()  # nothing was written
    require_equal("device", report["device"], "none (rehearsal)")
    require_equal("runs", sorted({row["run"] for row in report["kernels"]}), ["gemm", "jacobi"])
    for row in report["kernels"]:
        require_equal("method", row["method"], "clock64")
        require_equal("cycles", row["hardware_cycles"], 1000 * row["launches"])
        require_equal("fitting", row["fitting"], row["run"] == "jacobi")
        require_equal("results", row["results"], "differ")
    # What an empty kernel takes is in neither: the simulated times are the same on a machine whose kernels and blocks start later.
    late = gpusim.run("correlate", "--hardware", json_file, "--config", gpusim.source / "configs" / "tesla_v100.cfg", "--json",
                      "--set", "gpu.launch_cycles=9000", "--set", "gpu.block_start_cycles=4000").require_code(3).json()
    early = gpusim.run("correlate", "--hardware", json_file, "--config", gpusim.source / "configs" / "tesla_v100.cfg", "--json",
                       "--set", "gpu.launch_cycles=0", "--set", "gpu.block_start_cycles=0").require_code(3).json()
    for a, b in zip(late["kernels"], early["kernels"], strict=True):
        require(abs(a["simulated_cycles"] - b["simulated_cycles"]) < 500 * a["launches"], f"{a} and {b}")
    hashes = {run["name"]: {b["name"]: b["sha256"] for b in run["buffers"]} for run in json.loads(json_file.read_text())["runs"]}
    for buffer in ("A", "B"):
        require_equal(f"hash of {buffer}", hashes["gemm"][buffer],
                      hashlib.sha256((plans[0] / f"{buffer}.bin").read_bytes()).hexdigest())
    plan = plans[0] / "plan.txt"
    text = plan.read_text()
    for old, new, message in (("gpusim-plan 1", "gpusim-plan 2", "plan.txt:1: error: this is not a plan of version 1"),
                              ("buffer A", "buffer Q", "error: there is no buffer 'Q'"),
                              ("fitting 0", "fiting 0", "plan.txt:7: error: unknown word 'fiting'")):
        plan.write_text(text.replace(old, new))
        done = measure([binary, "--dry-run", plans[0]])
        require(done.returncode == 1 and message in done.stderr, f"{message!r} is not in {done.stderr!r}")
    plan.write_text(text)
    if not has_driver():
        done = measure([binary, "--out", gpusim.scratch / "none.json", plans[0]])
        require(done.returncode == 1 and "no CUDA driver on this machine" in done.stderr, f"{done.stderr!r}")
        require(not (gpusim.scratch / "none.json").exists(), "a file without measurements")


# Mean absolute errors in percent that the table may have, by file of measurements and role: what it has, rounded up. They fall
# when a machine comes closer to its GPU; they rise only with a change that is right by evidence of its own (docs/studies/correlate_history.md says which).
# The goals are there too.
TABLE_LIMITS = {
    ("gtx480_shoc", "fit"): 12.8,
    ("gtx480_shoc", "judge"): 15.8,  # delays in cycles of their own clock; `spmv_csr_vector_sp` varies by 14 points with 4 ns of the DRAM's latency (docs/studies/correlate_history.md)
    ("h100_gemm", "judge"): 5.0,
    ("h100_kernels", "fit"): 11.1,  # `reduce tree` has the order of ptxas, and is faster than on the card (docs/studies/correlate_history.md)
    ("h100_kernels", "judge"): 6.8,  # the chained scan, whose first thread's atomics ptxas does not aggregate (docs/studies/correlate_history.md)
    ("h200_copy", "fit"): 5.3,
    ("h200_sgemm", "fit"): 8.7,
    ("h200_small_kernels", "fit"): 5.3,
    ("c1060_shoc", "fit"): 9.2,
    ("c1060_shoc", "judge"): 17.8,
    ("titanv_test1", "fit"): 5.9,
    ("titanv_test1", "judge"): 3.3,
    ("v100_accelwattch", "fit"): 8.7,  # its tensor products issue less (docs/studies/correlate_history.md)
    ("v100_accelwattch", "judge"): 13.2,  # the Quadro's tensor products and the generator, which issues less (docs/studies/correlate_history.md)
    ("v100_how_to_optimize", "fit"): 6.6,
    ("v100_nvdvfs", "fit"): 9.8,
    ("v100_nvdvfs", "judge"): 13.2,  # the last round of binomialOptions (docs/studies/correlate_history.md)
}
# The same of the board's power.
# Those of the role fit rose: SRAD's signed division takes less, `cfd` has the longer pauses, and the merge sort, whose energies were not
# fitted to it, came in (docs/studies/correlate_history.md).
POWER_LIMITS = {("v100_accelwattch", "fit"): 10.3, ("v100_accelwattch", "judge"): 11.0, ("v100_nvdvfs", "fit"): 7.7, ("v100_nvdvfs", "judge"): 12.3}
# The same of what profilers counted, where it is 10,000 at least.
COUNTER_LIMITS = {"dram_read_sectors": 0.1, "dram_write_sectors": 6, "l1_read_misses": 2.1, "l2_read_hits": 30, "l2_read_misses": 0.1,
                  "l2_write_hits": 10, "shared_accesses": 12}
# Kernels of the table that take about a second or less.
QUICK = {"titanv_test1": ("saxpy 262144", "naive_transpose 512", "matmul_naive 256"),
         "v100_accelwattch": ("srad_v1 srad", "dct8x8 in place"), "v100_how_to_optimize": ("sgemv 16384x32",)}


def check_table(gpusim: Gpusim) -> None:
    """The stored table is that of the stored measurements and, for quick kernels, of this simulator; its errors keep to the limits."""
    rows = hardware_table.read()
    measured = {(file.stem, run["name"], run.get("role")) for file in hardware(gpusim).glob("*.json")
                for run in json.loads(file.read_text())["runs"]}
    unknown = [row for row in rows if (row["file"], row["run"], row["role"]) not in measured]
    require(not unknown, f"rows of the table that nobody measured: {unknown[:3]}")
    for row in rows:
        error = 100 * (float(row["simulated_cycles"]) / float(row["hardware_cycles"]) - 1)
        require(abs(error - float(row["error_percent"])) < 0.06, f"the error of {row} is {error:.1f} %")
    means = {(file, role): error for (_, file, role), (_, error) in hardware_table.mean_errors(rows).items()}
    require_equal("files and roles", sorted(means), sorted(TABLE_LIMITS))
    above = [f"{key}: {error:.1f} %, at most {TABLE_LIMITS[key]} %" for key, error in means.items() if error > TABLE_LIMITS[key]]
    require(not above, "; ".join(above))
    powers = hardware_table.mean_power_errors(rows)
    require_equal("files and roles with powers", sorted(powers), sorted(POWER_LIMITS))
    above = [f"power of {key}: {error:.1f} %, at most {POWER_LIMITS[key]} %" for key, (_, error) in powers.items() if error > POWER_LIMITS[key]]
    require(not above, "; ".join(above))
    counted = hardware_table.mean_counter_errors(hardware_table.read(hardware_table.COUNTERS))
    above = [f"{name}: {error:.1f} %, at most {COUNTER_LIMITS[name]} %" for name, (_, error, _) in counted.items() if error > COUNTER_LIMITS[name]]
    require(not above, "; ".join(above))
    for file, runs in QUICK.items():
        stored = {row["run"]: row for row in rows if row["file"] == file}
        choice = [word for run in runs for word in ("--run", run)]
        report = gpusim.run("correlate", "--hardware", file, "--json", *choice).require_code(0).json()
        again = [row for row in hardware_table.rows_of(report, file) if row["run"] in runs]
        require_equal(f"rows of {file}", sorted(row["run"] for row in again), sorted(runs))
        for row in again:
            require_equal(f"{file}: {row['run']} (regress/hardware_table.py GPUSIM --update {file})", row, stored[row["run"]])


def check_energies(gpusim: Gpusim) -> None:
    """Energies are their priors, each group times one factor: what calibrate_power.py --update writes, and nothing by hand."""
    for machine, column in (("tesla_v100", "prior"), ("h100", "prior_h100"), ("h200", "prior_h100")):
        check_energies_of(gpusim, machine, column)


def check_energies_of(gpusim: Gpusim, machine: str, column: str) -> None:
    with (gpusim.source / "regress" / "power_priors.csv").open(encoding="utf-8", newline="") as text:
        priors = list(csv.DictReader(text))
    section = gpusim.run("config", "show", machine).require_code(0).out.split("\n[energy]\n")[1].split("\n[")[0]
    picojoules = {"": 1, "pJ": 1, "nJ": 1e3}  # W have no unit
    shown = {key: float(value) * picojoules[unit] for key, value, unit in re.findall(r'^(\w+) *= *"?([\d.]+)([pn]J)?', section, re.MULTILINE)}
    require_equal("energies with a prior", sorted(row["key"] for row in priors), sorted(shown))
    factors: dict[str, list[float]] = {}
    for row in priors:
        factors.setdefault(row["group"], []).append(shown[row["key"]] / float(row[column]))
    for group, each in factors.items():
        require(max(each) / min(each) < 1.011, f"{machine}: {group}: its energies are {each} times their priors")  # three digits each


def check_measured(gpusim: Gpusim) -> None:
    """Of what was measured here on real GPUs: a quick run of each card leaves the bits that the card left, and the stored errors are of
    runs that were measured."""
    folder = hardware(gpusim) / "measured"
    cycles = {}
    for card in ("h100", "h200"):
        file = folder / f"{card}.json"
        cycles |= {(card, run["name"]): sum(kernel["cycles"] for kernel in run["kernels"]) for run in json.loads(file.read_text())["runs"]}
        report = gpusim.run("correlate", "--hardware", file, "--run", "vector_add 262144", "--json").require_code(0).json()
        require_equal(f"results on the {card}", [row["results"] for row in report["kernels"]], ["same"])
        require(abs(report["totals"]["bias"]) < 0.5, f"{card}: {report['totals']}")
    with (folder / "errors.csv").open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            hardware_cycles = float(row["hardware_cycles"])
            require(abs(hardware_cycles - cycles[row["card"], row["run"]]) < 1 + 0.001 * hardware_cycles, f"{row}: not as measured")
            error = 100 * (float(row["simulated_cycles"]) / hardware_cycles - 1)
            require(abs(error - float(row["error_percent"])) < 0.1, f"the error of {row} is {error:.1f} %")


CHECKS = {"rows": check_rows, "pauses": check_pauses, "measured": check_measured, "table": check_table, "not_compared": check_not_compared, "published": check_published, "measure": check_measure,
          "energies": check_energies}
