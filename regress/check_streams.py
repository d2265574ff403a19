"""Streams: copies and kernels overlap as far as the machine can, in the summary, in --json and in the recorded file."""

from pathlib import Path
from typing import Any

from check_file import require_same_files
from on_demand import h5py
from runner import Gpusim, require, require_equal

PIECES = 4


def _record(gpusim: Gpusim, machine: str, name: str, *options: str) -> tuple[dict[str, Any], Path]:
    folder = gpusim.source / "workloads" / "saxpy"
    out = gpusim.scratch / name
    done = gpusim.run("--config", gpusim.source / "configs" / f"{machine}.cfg", folder / "saxpy.ptx", "--launch",
                      folder / "streams.toml", "--json", "--out", out, *options)
    return done.require_code(0).json(), out


def _spans(report: dict[str, Any]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    kernels = [(k["start_cycle"], k["start_cycle"] + k["cycles"]) for k in report["kernels"]]
    return kernels, [(c["start_cycle"], c["end_cycle"]) for c in report["copies"]]


def _overlaps(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> int:
    return sum(a is not b and a[0] < b[1] and b[0] < a[1] for a in one for b in other)


def _in_order(report: dict[str, Any]) -> None:
    """Within each stream: both copies, the kernel, the copy back."""
    for stream in range(1, PIECES + 1):
        copies = [c for c in report["copies"] if c["stream"] == stream]
        kernel = next(k for k in report["kernels"] if k["stream"] == stream)
        require_equal("directions", [c["direction"] for c in copies], ["to_device", "to_device", "to_host"])
        require(copies[0]["end_cycle"] <= copies[1]["start_cycle"], f"stream {stream}: its copies overlap")
        require(copies[1]["end_cycle"] <= kernel["start_cycle"], f"stream {stream}: the kernel starts before its data is there")
        require(kernel["start_cycle"] + kernel["cycles"] <= copies[2]["start_cycle"], f"stream {stream}: copied back too early")


def check_overlap(gpusim: Gpusim, machine: str) -> None:
    # Copies short enough for kernels to meet.
    report, out = _record(gpusim, machine, "overlap.h5", "--set", "host.link_rate=500GB/s", "--set", "host.link_latency=100ns")
    _in_order(report)
    kernels, copies = _spans(report)
    require(_overlaps(kernels, copies) > 0, "no copy overlaps a kernel")
    at_once = machine != "tesla_c1060"
    require_equal("kernels overlap", _overlaps(kernels, kernels) > 0, at_once)
    back = [s for s, c in zip(copies, report["copies"]) if c["direction"] == "to_host"]
    there = [s for s, c in zip(copies, report["copies"]) if c["direction"] == "to_device"]
    for same_way in (back, there):
        require_equal("copies of one direction that overlap", _overlaps(same_way, same_way), 0)
    # When one kernel ends, others have accesses on their way: entries in use count until then.
    with h5py.File(out) as file:
        for kernel in file["kernels"].values():
            for row in kernel["units"][()]:
                require(row["most"] <= row["busy"] <= row["capacity"] * row["instances"], f"{kernel.name}: {row}")
    gpusim.run("explain", out).require_code(0)


def check_timeline(gpusim: Gpusim) -> None:
    """The recorded timeline is what --json says, and does not change from run to run."""
    report, first = _record(gpusim, "tesla_v100", "first.h5")
    _, second = _record(gpusim, "tesla_v100", "second.h5")
    require_same_files(first, second)
    kernels, copies = _spans(report)
    with h5py.File(first) as file:
        rows = file["timeline"][:]
        require_equal("rows", len(rows), 4 * PIECES)
        require(bool((rows["start"][1:] >= rows["start"][:-1]).all()), "rows are not in the order of their starts")
        require_equal("kernels", [(int(r["start"]), int(r["end"])) for r in rows if r["kind"] == 0], kernels)
        require_equal("copies", sorted((int(r["start"]), int(r["end"])) for r in rows if r["kind"] != 0), sorted(copies))
        for row in rows[rows["kind"] == 0]:
            attributes = file[f"kernels/{row['kernel']}"].attrs
            require_equal("stream", int(attributes["stream"]), int(row["stream"]))
            require_equal("start", int(attributes["start_cycle"]), int(row["start"]))
    # A copy engine's row of a kernel: what it carried between the kernel's start and end.
    for kernel, (start, end) in zip(report["kernels"], kernels):
        engines = [sum(max(0, min(end, c["end_cycle"]) - max(start, c["start_cycle"])) for c in report["copies"] if c["engine"] == engine) for engine in (0, 1)]
        unit = next(unit for unit in kernel["units"] if unit["unit"] == "copy_engine")
        require_equal("copy engines", (unit["instances"], unit["busy"], unit["most"]), (2, sum(engines), max(engines)))
    require(any(unit["busy"] > 0 for kernel in report["kernels"] for unit in kernel["units"] if unit["unit"] == "copy_engine"), "no copy beside a kernel")


def check_streams(gpusim: Gpusim, name: str) -> None:
    if name == "timeline":
        check_timeline(gpusim)
    else:
        check_overlap(gpusim, name)

