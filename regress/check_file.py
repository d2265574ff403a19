"""The recorded HDF5 file as h5py sees it, and that runs give the same data every time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from cases import CASES
from check_results import ISSUE_CYCLES, SMS
from on_demand import h5py
from runner import Gpusim, params, require, require_equal

ROOT_TEXTS = ("program", "program_version", "command_line", "config_sha256", "ptx_sha256", "launch_sha256", "status",
              "reason")
KERNEL_NUMBERS = ("registers", "shared_bytes", "local_bytes", "threads_per_block", "warps_per_block", "blocks_per_sm",
                  "cycles", "warp_instructions", "thread_instructions", "inst_executed", "inst_issued")
TABLES = {"counters", "per_sm", "per_pc", "issue_slots", "timeseries", "units"}
EVENTS = {
    "off": set(),
    "summary": {"block", "phase", "slot"},
    "memory": {"block", "phase", "slot", "memory", "cache", "mshr", "dram"},
    "all": {"block", "phase", "slot", "memory", "cache", "mshr", "dram", "issue", "stall", "branch"},
}
CASE = CASES["stencil"]


def record(gpusim: Gpusim, name: str, *options: str) -> tuple[dict[str, Any], Path]:
    out = gpusim.scratch / name
    report = gpusim.report(CASE.ptx(gpusim.source), "--out", str(out), *params(CASE.small), *options)
    require_equal("out", report["out"], str(out))
    require(not list(gpusim.scratch.glob("*.tmp")), "a temporary file is left")
    return report, out


def text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def require_described(name: str, table: h5py.Dataset) -> None:
    """Every dataset says what it is, and unit and meaning of each column."""
    require(text(table.attrs["meaning"]) != "", f"{name} has no meaning")
    columns = [text(c) for c in table.attrs["column_names"]]
    require_equal(f"{name} column_names", sorted(columns), sorted(table.dtype.names))
    for attribute in ("column_units", "column_meanings"):
        values = [text(v) for v in table.attrs[attribute]]
        require_equal(f"{name} {attribute}", len(values), len(columns))
        require(all(values), f"{name} {attribute} has an empty entry: {values}")


def require_root(file: h5py.File, gpusim: Gpusim) -> None:
    for name in ROOT_TEXTS:
        require(isinstance(file.attrs[name], bytes | str), f"root attribute {name} is no text")
    require_equal("program", text(file.attrs["program"]), "gpusim")
    require_equal("status", text(file.attrs["status"]), "complete")
    require_equal("seed", int(file.attrs["seed"]), 0)
    require(int(file.attrs["schema_version"]) >= 1, "no schema version")
    command = text(file.attrs["command_line"])
    require(command.startswith("gpusim --config tesla_c1060.cfg#"), f"command line: {command}")
    for absent in (str(gpusim.scratch), str(gpusim.source), "--out", "--json", "--quiet", "--threads"):
        require(absent not in command, f"the command line is not canonical: {command}")
    ptx = CASE.ptx(gpusim.source)
    require_equal("/inputs/ptx", text(file["inputs/ptx"][()]), ptx.read_text())
    require_equal("/inputs/launch", text(file["inputs/launch"][()]), ptx.with_suffix(".toml").read_text())
    require("[scheduler]" in text(file["inputs/config"][()]), "/inputs/config is not the configuration")


def require_units(units: Any, reported: dict[str, Any], slots: dict[str, int]) -> None:
    """Busy times against the JSON, and against what is counted elsewhere."""
    numbers = ("instances", "capacity", "busy", "most", "busiest", "near")
    rows = {text(row["unit"]): {name: int(row[name]) for name in numbers} for row in units}
    require_equal("units", rows, {u["unit"]: {name: u[name] for name in numbers} for u in reported["units"]})
    for name, row in rows.items():
        require(row["near"] <= row["instances"] and row["most"] <= row["busy"] <= row["instances"] * row["most"], f"unit {name}: {row}")
        if "wait" not in name and not name.startswith(("lsu_", "store_")):  # what is held is not counted to the cycle
            require(row["most"] <= row["capacity"] + 64, f"unit {name} was busier than it can be: {row}")
    require_equal("busy issue slots", rows["issue"]["busy"], slots["issued"] * ISSUE_CYCLES)
    require_equal("capacity of issue slots", rows["issue"]["capacity"], reported["cycles"])
    counters = reported["counters"]
    for port, flits in (("request_in", "noc_request_flits"), ("request_out", "noc_request_flits"),
                        ("reply_in", "noc_reply_flits"), ("reply_out", "noc_reply_flits")):
        require_equal(f"flits through {port}", rows[port]["busy"], int(counters[flits]))
    require_equal("requests to partitions", rows["l2_requests"]["busy"], int(counters["noc_requests"]))


def require_kernel(group: h5py.Group, reported: dict[str, Any], level: str) -> None:
    """Group against the JSON of the same run, tables against each other."""
    require_equal("name", text(group.attrs["name"]), reported["name"])
    for dims in ("grid", "block"):
        require_equal(dims, text(group.attrs[dims]), ",".join(map(str, reported[dims])))
    for name in KERNEL_NUMBERS:
        require(int(group.attrs[name]) >= 0, f"kernel attribute {name}")
    for name in ("cycles", "warp_instructions", "thread_instructions", "registers", "blocks_per_sm"):
        require_equal(name, int(group.attrs[name]), reported[name])
    tables = TABLES - ({"timeseries"} if level == "off" else set())
    require_equal("tables", {n for n, o in group.items() if isinstance(o, h5py.Dataset)}, tables)
    require_equal("event tables", set(group["events"]) if "events" in group else set(), EVENTS[level])
    group.visititems(lambda name, item: require_described(name, item) if isinstance(item, h5py.Dataset) else None)
    counters = {text(row["name"]): float(row["value"]) for row in group["counters"][:]}
    require_equal("counters", counters, {n: float(v) for n, v in reported["counters"].items()})
    require(all(row["description"] for row in group["counters"][:]), "a counter has no description")
    slots = {text(row["cause"]): int(row["slots"]) for row in group["issue_slots"][:]}
    require_equal("issue_slots", slots, reported["issue_slots"])
    require_units(group["units"][:], reported, slots)
    per_sm, per_pc = group["per_sm"][:], group["per_pc"][:]
    require_equal("rows of per_sm", len(per_sm), SMS)
    for cause, count in slots.items():
        require_equal(f"per_sm slots_{cause}", int(per_sm[f"slots_{cause}"].sum()), count)
    for row in per_sm:
        total = sum(int(row[f"slots_{cause}"]) for cause in slots)
        require_equal(f"slots of SM {row['sm']}", total, reported["cycles"] // ISSUE_CYCLES)
    for cause in slots.keys() - {"no_warp", "launch", "drain", "control"}:
        require_equal(f"per_pc slots_{cause}", int(per_pc[f"slots_{cause}"].sum()), slots[cause])
    require_equal("per_pc executed", int(per_pc["executed"].sum()), reported["counters"]["inst_executed"])


def require_events(group: h5py.Group, reported: dict[str, Any]) -> None:
    """Event tables against counters."""
    events = {name: table[:] for name, table in group["events"].items()}
    blocks = reported["grid"][0] * reported["grid"][1] * reported["grid"][2]
    require_equal("blocks", sorted(events["block"]["block"].tolist()), list(range(blocks)))
    require(bool((events["block"]["end"] > events["block"]["start"]).all()), "a block ends before it starts")
    require_equal("phases", len(events["phase"]), 2 * blocks)
    require_equal("slot changes", len(events["slot"]), blocks)
    require_equal("issue events", len(events["issue"]), reported["counters"]["inst_executed"])
    memory = events["memory"]
    require(bool((memory["complete"] >= memory["issue"]).all()), "data came before it was asked for")
    require(bool((events["issue"]["pc"] < len(group["per_pc"])).all()), "an issue event names no row of per_pc")
    branches = reported["counters"]["branch"]
    require(0 < len(events["branch"]) <= branches, f"{len(events['branch'])} branch events of {branches} branches")
    stalls, lost = events["stall"], sum(reported["issue_slots"].values()) - reported["issue_slots"]["issued"]
    length = int((stalls["to"] - stalls["from"]).sum()) // ISSUE_CYCLES
    require(0 < length <= lost, f"stall events cover {length} slots of {lost} lost ones")


def check_file(gpusim: Gpusim, level: str) -> None:
    report, out = record(gpusim, f"{level}.h5", "--events", level)
    with h5py.File(out) as file:
        require_root(file, gpusim)
        require_equal("kernels", sorted(file["kernels"]), [str(i) for i in range(CASE.kernels)])
        for i, kernel in enumerate(report["kernels"]):
            require_kernel(file[f"kernels/{i}"], kernel, level)
            if level == "all":
                require_events(file[f"kernels/{i}"], kernel)


def require_same_files(a: Path, b: Path) -> None:
    require(a.read_bytes() == b.read_bytes(), f"{a.name} and {b.name} differ in bytes")
    tool = shutil.which("h5diff")
    require(tool is not None, "h5diff is not installed")
    done = subprocess.run([str(tool), "-c", str(a), str(b)], capture_output=True, text=True, timeout=100, check=False)
    told = [line for line in done.stdout.splitlines() if not line.endswith("is an empty dataset")]
    require(done.returncode == 0 and not told, f"h5diff {a.name} {b.name}: {done.stdout}{done.stderr}")


def check_determinism(gpusim: Gpusim, level: str) -> None:
    """Two runs, and any number of helper threads: the same counters and the same file."""
    first, first_file = record(gpusim, "first.h5", "--events", level)
    variants = {"second": [], "threads0": ["--threads", "0"], "threads1": ["--threads", "1"],
                "threads2": ["--threads", "2"]}
    for name, options in variants.items():
        report, file = record(gpusim, f"{name}.h5", "--events", level, *options)
        require_equal(f"kernels in {name}", report["kernels"], first["kernels"])
        require_same_files(first_file, file)


def check_seed(gpusim: Gpusim) -> None:
    """Another seed gives other data: the comparison above can fail."""
    reports = [record(gpusim, f"seed{seed}.h5", "--seed", seed) for seed in ("0", "1")]
    require(reports[0][1].read_bytes() != reports[1][1].read_bytes(), "the seed does not reach the file")
    with h5py.File(reports[1][1]) as file:
        require_equal("seed", int(file.attrs["seed"]), 1)
