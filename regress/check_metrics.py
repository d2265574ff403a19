"""`gpusim metrics` and `gpusim explain` on recorded runs: identities, the run's own summary, broken files."""

import json
import random
import signal
import time
from pathlib import Path
from typing import Any, Callable

from cases import CASES, Case
from check_machines import MACHINES
from check_results import ISSUE_CYCLES, SMS
from on_demand import h5py
from runner import Gpusim, Run, params, require, require_equal

# Kernels of different kinds: compute and memory bound, with conflicts, divergence, atomics, constants, calls, textures.
CASE_NAMES = ("matmul_naive_16x16", "matmul_tiled_16x16", "transpose_naive", "transpose_padded", "histogram",
              "spmv_scalar", "spmv_vector", "reduction", "collatz", "recursion", "texture", "wmma", "linked")
# Metrics that are the same quantity as a counter of the run's summary, and how many times the counter they are.
SAME_AS_COUNTER = {
    "inst_executed": ("inst_executed", 1), "inst_issued": ("inst_issued", 1), "branch": ("branch", 1),
    "divergent_branch": ("divergent_branch", 1), "branch_efficiency": ("branch_efficiency", 100),
    "warp_execution_efficiency": ("warp_execution_efficiency", 100), "achieved_occupancy": ("achieved_occupancy", 1),
    "sm_efficiency": ("sm_efficiency", 100), "ipc": ("ipc", 1), "ipc_elapsed": ("ipc_elapsed", 1), "gld_request": ("gld_request", 1),
    "gst_request": ("gst_request", 1), "local_load": ("local_load", 1), "local_store": ("local_store", 1),
    "shared_load": ("shared_load", 1), "shared_store": ("shared_store", 1),
    "l1_shared_bank_conflict": ("l1_shared_bank_conflict", 1), "dram_read_transactions": ("dram_read_transactions", 1),
    "dram_write_transactions": ("dram_write_transactions", 1),
}
# Sectors that a level received: the counters of what the level before sent (docs/statistics.md).
LEVELS = {
    "l2_read_sectors": ("l1_fill_sectors", "l1_bypass_sectors"), "l2_write_sectors": ("l1_store_sectors", "l1_writeback_sectors"),
    "l2_atomic_sectors": ("l1_atomic_sectors",), "l2_texture_sectors": ("tex_fill_sectors",), "dram_read_transactions": ("l2_fill_sectors",),
}
# Causes of slots without a candidate warp: they stand at no operation.
NO_WARP = ("no_warp", "launch", "drain")
MEMORY_CLASSES = {"load": ("load_global", "load_local", "atom_global"), "store": ("store_global", "store_local")}


def require_close(what: str, actual: float, expected: float) -> None:
    require(abs(actual - expected) <= 1e-12 * max(abs(actual), abs(expected)),
            f"{what}: {actual!r}, expected {expected!r}")


def text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def require_same_as_summary(metrics: dict[str, float], counters: dict[str, float], unavailable: dict[str, str]) -> None:
    for metric, (counter, factor) in SAME_AS_COUNTER.items():
        if metric in unavailable:
            require_equal(f"why there is no {metric}", unavailable[metric], "there were no branches")
        else:
            require_close(metric, metrics[metric], factor * counters[counter])


def require_same_transactions(metrics: dict[str, float], counters: dict[str, float]) -> None:
    """Compute capability 1.x, where a transaction is the same in both."""
    # The summary's counters take global, local and atomic accesses together.
    require_equal("transactions of loads", counters["load_transactions"],
                  metrics["gld_transactions"] + metrics["local_load_transactions"] + metrics["atomic_transactions"])
    require_equal("transactions of stores", counters["store_transactions"],
                  metrics["gst_transactions"] + metrics["local_store_transactions"])
    if metrics["local_load"] == 0 and metrics["atomic_transactions"] == 0 and "gld_efficiency" in metrics:
        require_close("gld_efficiency", metrics["gld_efficiency"], 100 * counters["load_efficiency"])
        require_close("gld_throughput", metrics["gld_throughput"], counters["load_throughput"])
    if metrics["local_store"] == 0 and "gst_efficiency" in metrics:
        require_close("gst_efficiency", metrics["gst_efficiency"], 100 * counters["store_efficiency"])
        require_close("gst_throughput", metrics["gst_throughput"], counters["store_throughput"])


def require_metric_identities(metrics: dict[str, float], counters: dict[str, float], group: Any) -> None:
    stalls = [value for name, value in metrics.items() if name.startswith("stall_")]
    require(len(stalls) >= 7 and min(stalls) >= 0, f"stall reasons: {stalls}")
    require(abs(sum(stalls) - 100) < 1e-9, f"the stall reasons sum to {sum(stalls)} %")
    per_pc, per_sm = group["per_pc"][:], group["per_sm"][:]
    replays = int(per_pc["replays"].sum())
    require_equal("inst_issued - inst_executed", metrics["inst_issued"] - metrics["inst_executed"], replays)
    require_close("inst_replay_overhead", metrics["inst_replay_overhead"], replays / metrics["inst_executed"])
    for name in ("inst_executed", "inst_issued"):
        require_equal(f"per_sm {name}", int(per_sm[name].sum()), metrics[name])
    require_equal("per_pc executed", int(per_pc["executed"].sum()), metrics["inst_executed"])
    classes = [text(c) for c in per_pc["class"]]
    for kind, names in MEMORY_CLASSES.items():
        of_kind = sum(int(row["transactions"]) for row, c in zip(per_pc, classes) if c in names)
        require_equal(f"transactions of {names}", of_kind, counters[f"{kind}_transactions"])
    for level in ("l1", "l2", "dram", "const_l2", "const_l3"):
        waited, awaited = (int(per_pc[f"{what}_memory_{level}"].sum()) for what in ("slots", "awaited"))
        require(awaited <= waited, f"{awaited} slots waited for known accesses served by {level}, {waited} in all")
        require(awaited >= 0.9 * waited, f"of {waited} slots that waited for {level} the access is known for {awaited}")


def require_explanation(explained: dict[str, Any], reported: dict[str, Any]) -> None:
    """The stack sums exactly; SMs and operations sum to it."""
    slots = reported["issue_slots"]
    require_equal("slots", explained["slots"], reported["cycles"] // ISSUE_CYCLES * SMS)
    require_equal("sum of the groups", sum(g["slots"] for g in explained["stack"]), explained["slots"])
    causes = {cause: n for group in explained["stack"] for cause, n in group["causes"].items()}
    require_equal("causes", causes, {cause: n for cause, n in slots.items() if n != 0})
    for group in explained["stack"]:
        require_equal(f"sum of {group['group']}", sum(group["causes"].values()), group["slots"])
    require(abs(sum(g["cpi"] for g in explained["stack"]) - explained["cpi"]) < 1e-9 * explained["cpi"], "CPI stack")
    for cause, n in slots.items():
        require_equal(f"per SM {cause}", sum(sm["slots"][cause] for sm in explained["per_sm"]), n)
        at_operations = sum(hot["causes"].get(cause, 0) for hot in explained["hot"])
        require_equal(f"per operation {cause}", at_operations, 0 if cause in NO_WARP else n)
    for top in explained["top"]:
        require_equal(f"slots of {top['cause']}", top["slots"], slots[top["cause"]])
        require_equal(f"statements of {top['cause']}", sum(s["slots"] for s in top["at"]),
                      0 if top["cause"] in NO_WARP else top["slots"])
    order = [top["slots"] for top in explained["top"]]
    require_equal("order of the causes", order, sorted(order, reverse=True))


def require_statements(explained: dict[str, Any], case: Case, gpusim: Gpusim) -> None:
    """A line that is named holds the statement's opcode, or the next one does."""
    for hot in explained["hot"]:
        require_equal(f"{hot['ptx']}: file named", hot["ptx_file"] != "", case.linked != ())
        main = case.ptx(gpusim.source)
        ptx = main.with_name(hot["ptx_file"] or main.name).read_text().splitlines()
        opcode = next(word for word in hot["ptx"].split() if not word.startswith("@"))
        line = hot["ptx_line"]
        require(any(opcode.rstrip(";") in near for near in ptx[max(0, line - 1):line + 1]),
                f"line {line} is {ptx[line - 1]!r}, not {hot['ptx']!r}")


def record(gpusim: Gpusim, case: Case, *options: str) -> tuple[dict[str, Any], Path]:
    out = gpusim.scratch / "run.h5"
    arguments = (*case.launch_options(gpusim.source), *params(case.small), "--force", "--out", str(out), *options)
    return gpusim.report(case.ptx(gpusim.source), *arguments), out


def read(gpusim: Gpusim, command: str, file: Path, *options: str) -> list[dict[str, Any]]:
    return gpusim.run(command, file, "--json", *options).require_code(0).json()["kernels"]


def require_peaks(metrics: dict[str, Any]) -> None:
    """Nothing is faster than what carries it, and all throughputs but those of requests and textures have a peak."""
    for name, m in metrics.items():
        has = name in ("ipc", "issued_ipc", "ipc_elapsed") or (
            name.endswith("_throughput") and not name.startswith(("gld_requested", "gst_requested", "tex_")))
        require_equal(f"{name} has a peak", "peak" in m, has)
        if has:
            require_close(f"{name} of its peak", m["of_peak"], m["value"] / m["peak"])
            require(0 <= m["of_peak"] <= 1 + 1e-9, f"{name}: {m['of_peak']} of the peak of {m['peak_of']}")


def check_identities(gpusim: Gpusim, name: str) -> None:
    case = CASES[name]
    report, out = record(gpusim, case)
    measured = read(gpusim, "metrics", out)
    explained = read(gpusim, "explain", out, "--top", "100000")
    require_equal("kernels", [(k["kernel"], k["name"]) for k in measured],
                  [(i, k["name"]) for i, k in enumerate(report["kernels"])])
    with h5py.File(out) as file:
        for i, reported in enumerate(report["kernels"]):
            metrics = {name: m["value"] for name, m in measured[i]["metrics"].items()}
            require(not metrics.keys() & measured[i]["unavailable"].keys(),
                    "a metric has a value and a reason against")
            require_metric_identities(metrics, reported["counters"], file[f"kernels/{i}"])
            require_equal("FLOPs of all operations", int(file[f"kernels/{i}/per_pc"]["flops"].sum()), reported["counters"]["flop_count"])
            require_peaks(measured[i]["metrics"])
            require_same_as_summary(metrics, reported["counters"], measured[i]["unavailable"])
            require_same_transactions(metrics, reported["counters"])
            require_explanation(explained[i], reported)
            require_statements(explained[i], case, gpusim)


def check_behaviour(gpusim: Gpusim, _: str) -> None:
    """Values that follow from a kernel's code and the 1.3 rules."""
    sizes = {"transpose_naive": ["ROWS=64", "COLS=64"], "transpose_padded": ["ROWS=64", "COLS=64"],
             "matmul_naive_16x16": ["N=48"], "matmul_tiled_16x16": ["N=48"], "vecadd": ["N=10007"],
             "histogram": ["N=20011"]}
    found = {}
    for name, size in sizes.items():
        out = gpusim.scratch / f"{name}.h5"
        gpusim.report(CASES[name].ptx(gpusim.source), *params(size), "--force", "--out", str(out))
        found[name] = {metric: m["value"] for metric, m in read(gpusim, "metrics", out)[0]["metrics"].items()}
    expected = {
        # Down a column every thread's word is a 32-byte transaction of its own; through shared memory all are rows.
        "transpose_naive": {"gld_efficiency": 100, "gst_efficiency": 100 * 4 / 32, "gst_transactions_per_request": 32},
        "transpose_padded": {"gld_efficiency": 100, "gst_efficiency": 100, "gst_transactions_per_request": 2,
                             "l1_shared_bank_conflict": 0, "shared_store_transactions_per_request": 2},
        # Of each half-warp, B is 64 bytes in a row and A one word in a 32-byte transaction.
        "matmul_naive_16x16": {"gld_efficiency": 100 * (64 + 64) / (64 + 32), "shared_load": 0, "divergent_branch": 0,
                               "gld_request": 3 * 3 * 8 * 48 * 2},
        "matmul_tiled_16x16": {"gld_efficiency": 100, "gld_request": 3 * 3 * 8 * (48 / 16) * 2, "divergent_branch": 0},
        # 10007 threads are 313 warps; those beyond leave at once, which is no branch.
        "vecadd": {"divergent_branch": 0, "gld_request": 2 * 313, "gst_request": 313},
        "histogram": {"atomic_transactions_per_request": 2, "gst_request": 0},
    }
    for name, values in expected.items():
        for metric, value in values.items():
            require_close(f"{name} {metric}", found[name][metric], value)
    require(found["histogram"]["l1_shared_bank_conflict"] > 0, "histogram: no conflicts of shared atomics")


def check_commands(gpusim: Gpusim, _: str) -> None:
    """Choosing kernels and metrics, text output, wrong usage."""
    report, out = record(gpusim, CASES["scan"])
    everything = gpusim.run("metrics", out).require_code(0).out
    require_equal("kernels listed", everything.count("\nkernel ") + everything.startswith("kernel "), 3)
    two = gpusim.run("metrics", out, "--kernel", "1", "--metrics", "ipc,gld_efficiency").require_code(0).out
    require_equal("lines of two metrics", len(two.splitlines()), 3)
    for line in two.splitlines()[1:]:
        words = " ".join(line.split())
        require(words in " ".join(everything.split()), f"{words!r} is not in the full list")
    name = read(gpusim, "metrics", out, "--kernel", "2")[0]["name"]
    require_equal("by name", [k["name"] for k in read(gpusim, "explain", out, "--kernel", name)], [name])
    require("total " in gpusim.run("explain", out, "--top", "1").require_code(0).out, "no total")
    words = gpusim.run("explain", "--describe").require_code(0).out.split()
    for cause in report["kernels"][0]["issue_slots"]:
        require(cause in words, f"cause {cause} has no words (analysis/profile/stall_causes.cpp)")
    for command in ("metrics", "explain"):
        require(gpusim.run(command, "--describe").require_code(0).out.count("\n") > 20, "nothing is described")
        gpusim.run(command, out, "--kernel", "7").require_code(1).require_error("no kernel '7' (3 launches")
        gpusim.run(command).require_code(1).require_error("the recorded file is missing")
    mistyped = gpusim.run("metrics", out, "--metrics", "gld_efficency").require_code(1)
    mistyped.require_error("did you mean 'gld_efficiency'?")
    gpusim.run("explain", out, "--top", "0").require_code(1)


def check_source(gpusim: Gpusim, _: str) -> None:
    """Statements carry the source line of the PTX's .loc directives."""
    out = gpusim.scratch / "reverse.h5"
    ptx = gpusim.source / "regress" / "checks" / "reverse.ptx"
    gpusim.report(ptx, "--grid", "4", "--block", "256", "--arg", "f32[1024]", "--arg", "f32[1024]", "--arg", "1024",
                  "--force", "--out", str(out))
    hot = read(gpusim, "explain", out, "--top", "1000")[0]["hot"]
    source = ptx.with_suffix(".cu").read_text().splitlines()
    for opcode, expression in (("ld.global", "tile["), ("st.global", "out[")):
        statement = next(h for h in hot if opcode in h["ptx"])
        require_equal(f"source of {opcode}", Path(statement["source_file"]).name, "reverse.cu")
        line = source[statement["source_line"] - 1]
        require(expression in line, f"{opcode} comes from {line!r}")
    require("(reverse.cu:" in gpusim.run("explain", out).require_code(0).out, "no source line is printed")


#: Of a V100: core cycles of a transaction in the load/store unit, interconnect cycles of a word and of an access in the unit of atomics.
TRANSACTION_CYCLES, ATOMIC_CYCLES, ATOMIC_ACCESS_CYCLES = 1, 1.1, 0.34


def check_units(gpusim: Gpusim, _: str) -> None:
    """The parts of the load/store unit are what its accesses add up to, and the atomics of each line what their unit was busy with."""
    def units(kernel: dict[str, Any]) -> dict[str, int]:
        return {unit["unit"]: unit["busy"] for unit in kernel["units"]}

    reported = gpusim.run("--config", "tesla_v100", CASES["vecadd"].ptx(gpusim.source), "--json", "--out", "none").require_code(0).json()["kernels"][0]
    busy, counters = units(reported), reported["counters"]
    cycles = TRANSACTION_CYCLES * (counters["load_transactions"] + counters["store_transactions"])
    # All of them go through the coalescer and look up tags, and none waits for data that an L1 has.
    require_equal("coalescer, tags, data", (busy["coalescer"], busy["l1_tags"], busy["l1_data"]), (cycles, cycles, 0))
    reported = gpusim.run("--config", "tesla_c1060", CASES["vecadd"].ptx(gpusim.source), "--json", "--out", "none").require_code(0).json()["kernels"][0]
    busy = units(reported)
    require_equal("without an L1", ("l1_tags" in busy, busy["coalescer"]), (False, busy["lsu_port"]))
    folder, out = gpusim.source / "workloads" / "advice", gpusim.scratch / "counts.h5"
    run = gpusim.run("--config", "tesla_v100", folder / "few_values.ptx", "--launch", folder / "few_values_before.toml", "--param", "N=65536", "--json", "--out", out)
    busy = units(run.require_code(0).json()["kernels"][0])
    source = gpusim.run("explain", out, "--source", "--json").require_code(0).json()["kernels"][0]
    atomics = [line for line in source["statements"] if line["atomics"] > 0]
    words = sum(line["atomic_words"] for line in atomics)
    transactions = sum(line["atomic_transactions"] for line in atomics)
    cycles = words * ATOMIC_CYCLES + transactions * ATOMIC_ACCESS_CYCLES
    require(abs(cycles - busy["l2_atomics"]) < 0.01 * busy["l2_atomics"], f"{words} words in {transactions} accesses do not take {busy['l2_atomics']} cycles")
    # 32 lanes on 64 words: some are on the same.
    require(words > 1.3 * transactions, f"{words} words in {transactions} transactions")
    explained = gpusim.run("explain", out, "--json").require_code(0).json()["kernels"][0]
    peak = next(unit["peak"] for unit in explained["units"] if unit["unit"] == "l2_atomics")
    require_close("time of the atomics", sum(line["atomic_time"] for line in atomics), peak)
    text = gpusim.run("explain", out).require_code(0).out
    limiter = next(line for line in text.splitlines() if "limiter:" in line)
    sectors = sum(line["sectors"] for line in atomics)
    require(sectors > 1.1 * transactions and words > 1.1 * sectors, f"{words} steps in {sectors} sectors of {transactions} accesses")
    require(f"where lanes of a warp on one word take turns ({words / sectors:.1f} for a sector)" in limiter and "few_values.cu:6, inlined from" in limiter, limiter)


def require_refused(gpusim: Gpusim, file: Path, *texts: str) -> None:
    """Both commands: exit 1, nothing on stdout, one message that names the file."""
    for command in ("metrics", "explain"):
        done: Run = gpusim.run(command, file).require_code(1).require_error(str(file), *texts)
        require_equal(f"stdout of {command}", done.out, "")
        require(done.err.startswith("gpusim: error: ") and done.err.count("error") == 1, done.describe())


def check_broken(gpusim: Gpusim, _: str) -> None:
    _, out = record(gpusim, CASES["vecadd"])
    whole = out.read_bytes()
    broken = gpusim.scratch / "broken.h5"
    generator = random.Random(4)
    for size in [0, 7, *(generator.randrange(8, len(whole)) for _ in range(12)), len(whole) - 1]:
        broken.write_bytes(whole[:size])
        require_refused(gpusim, broken, "cut off or damaged" if size >= 8 else "is not an HDF5 file")
    broken.write_bytes(generator.randbytes(50_000))
    require_refused(gpusim, broken, "is not an HDF5 file")
    broken.write_bytes(whole[:2048] + generator.randbytes(len(whole) - 2048))
    require_refused(gpusim, broken)
    for _ in range(40):  # some change what nobody checks; none may do anything but succeed or be refused
        damaged = bytearray(whole)
        for _ in range(generator.choice((1, 4, 64))):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        broken.write_bytes(damaged)
        done = gpusim.run("explain", broken)
        require(done.code in (0, 1) and (done.code == 0) == (done.err == ""), done.describe())
    with h5py.File(broken, "w") as file:
        file["kernels/0/per_pc"] = [1, 2, 3]
    require_refused(gpusim, broken, "not a gpusim recording")
    with h5py.File(broken, "w") as file:
        file.attrs["program"] = "gpusim"
        file.attrs["schema_version"] = 1
    require_refused(gpusim, broken)
    broken.write_bytes(whole)
    with h5py.File(broken, "r+") as file:
        file["kernels/0/per_sm"][0, "slots_memory_dram"] += 1
    require_refused(gpusim, broken, "sums to", "the file is damaged")


def require_as_far_as_it_goes(gpusim: Gpusim, file: Path, status: str, finished: list[bool]) -> None:
    """Every command reads the kernels that ended and the state of the others, and says so."""
    for command in ("metrics", "explain"):
        report = gpusim.run(command, file, "--json").require_code(0).json()
        require_equal("status", report["status"], status)
        require(f"the run is {status}" in report["note"], report["note"])
        require_equal("finished", [k["finished"] for k in report["kernels"]], finished)
        text = gpusim.run(command, file).require_code(0).out
        require(text.startswith(f"note: the run is {status}"), text[:200])
        require(finished[-1] or "did not end: its first " in text, text[:400])
    for kernel in read(gpusim, "explain", file):
        require_equal("slots of the stack", sum(group["slots"] for group in kernel["stack"]), kernel["slots"])
        require(kernel["inst_executed"] > 0, "nothing was executed")
    trace = gpusim.scratch / "trace.json"
    require("the run is" in gpusim.run("timeline", file, "-o", trace).require_code(0).out, "timeline does not say that it is partial")
    spans = [e for e in json.loads(trace.read_text())["traceEvents"] if e.get("cat") == "kernel"]
    require(bool(spans), "the timeline has no kernel")
    require("the run is" in gpusim.run("analyze", file).require_code(0).out, "analyze does not say that it is partial")


def check_unfinished(gpusim: Gpusim, _: str) -> None:
    """Killed, interrupted and failed runs are read as far as they go."""
    out = gpusim.scratch / "killed.h5"
    ptx = gpusim.source / "regress" / "failing" / "endless.ptx"
    process = gpusim.start("--config", gpusim.machine(), ptx, "--grid", "60", "--block", "256", "--arg", "u32[1]",
                           "--force", "--out", out)
    try:
        deadline = time.monotonic() + 60
        # Until a state of the kernel that runs is in the file.
        while process.poll() is None and time.monotonic() < deadline:
            if out.exists() and gpusim.run("explain", out).code == 0:
                break
            time.sleep(0.2)
    finally:
        process.kill()
        process.communicate()
    require_equal("signal that ended the run", process.returncode, -signal.SIGKILL)
    require_as_far_as_it_goes(gpusim, out, "partial", [False])
    # A limit that the first launch keeps and the second, with all blocks, does not.
    vecadd = CASES["vecadd"].ptx(gpusim.source)
    whole = vecadd.with_suffix(".toml").read_text()
    short = 'grid = [1]\nblock = [256]\nargs = ["C", "A", "B", "N"]\n'
    launch = gpusim.scratch / "two.toml"
    launch.write_text(whole.replace("[[launch]]", f'[[launch]]\nkernel = "vecadd"\n{short}\n[[launch]]'))
    failed = gpusim.scratch / "failed.h5"
    gpusim.simulate(vecadd, "--launch", launch, "--max-cycles", "20000", "--force", "--out", failed).require_code(2)
    require_as_far_as_it_goes(gpusim, failed, "failed", [True, False])
    require_equal("kernels", [k["kernel"] for k in read(gpusim, "explain", failed, "--kernel", "0")], [0])
    # Nothing but what the run executed before the limit may be in the counts.
    unfinished = read(gpusim, "explain", failed, "--kernel", "1")[0]
    require(20000 <= unfinished["cycles"] < 30000, f"cycles of the kernel that did not end: {unfinished['cycles']}")


def require_levels_agree(counters: dict[str, float], on_the_way: float) -> float:
    """What one level of the hierarchy sent, the next one got. Returns the write-backs that have not reached DRAM."""
    for received, sent in LEVELS.items():
        # A unified first level fetches textures with its own misses.
        require_equal(received, counters[received], sum(counters.get(name, 0) for name in sent))
    # Write-backs are not waited for: some cross the kernel's end.
    written, sent_back = counters["dram_write_transactions"], counters["l2_writeback_sectors"]
    left = counters["l2_writeback_sectors_on_the_way"]
    require(written <= sent_back + on_the_way and written + left >= sent_back,
            f"{written} sectors written to DRAM of {sent_back} sent; {on_the_way} were on the way before, {left} are after")
    return left


def check_machine(gpusim: Gpusim, machine: str) -> None:
    """The identities on a machine with two levels of data caches."""
    config = gpusim.source / "configs" / f"{machine}.cfg"
    for case in (CASES[name] for name in CASE_NAMES):
        out = gpusim.scratch / "run.h5"
        report = gpusim.run("--config", config, case.ptx(gpusim.source), "--json", *case.launch_options(gpusim.source),
                            *params(case.small), "--force", "--out", out).require_code(0).json()
        measured = read(gpusim, "metrics", out)
        on_the_way = 0.0
        with h5py.File(out) as file:
            for i, reported in enumerate(report["kernels"]):
                metrics = {name: m["value"] for name, m in measured[i]["metrics"].items()}
                require_metric_identities(metrics, reported["counters"], file[f"kernels/{i}"])
                require_same_as_summary(metrics, reported["counters"], measured[i]["unavailable"])
                on_the_way = require_levels_agree(reported["counters"], on_the_way)


CHECKS: dict[str, Callable[[Gpusim, str], None]] = {name: check_identities for name in CASE_NAMES} | {
    "behaviour": check_behaviour, "commands": check_commands, "source": check_source, "units": check_units, "broken": check_broken,
    "unfinished": check_unfinished} | {machine: check_machine for machine in MACHINES}


def check_metrics(gpusim: Gpusim, name: str) -> None:
    CHECKS[name](gpusim, name)
