"""Steps of launch files: memsets, data that copies bring, loops and host steps, with and without timing, and their mistakes."""

import struct
from pathlib import Path

from check_file import require_same_files
from on_demand import h5py, numpy
from runner import Gpusim, Run, require, require_equal

MACHINE = "tesla_v100"


def _run(gpusim: Gpusim, ptx: str, launch: str, *options: str | Path) -> Run:
    folder = gpusim.source / "workloads"
    return gpusim.run("--config", gpusim.source / "configs" / f"{MACHINE}.cfg", folder / ptx, "--launch", folder / launch, "--json",
                      *options)


def _edited(gpusim: Gpusim, launch: str, name: str, *changes: tuple[str, str]) -> Path:
    text = (gpusim.source / "workloads" / launch).read_text()
    for old, new in changes:
        require(old in text, f"{old!r} is not in {launch}")
        text = text.replace(old, new)
    path = gpusim.scratch / name
    path.write_text(text)
    return path


def check_bfs(gpusim: Gpusim) -> None:
    """The loop runs until the flag stays 0: one launch more than the graph has levels, whatever the mode."""
    counts = []
    for mode in (("--out", "none"), ("--functional",), ("--out", "none", "--check", "all"), ("--out", "none", "--cache", "warm"),
                 ("--out", "none", "--cache", "flushed")):
        report = _run(gpusim, "bfs/bfs_flag.ptx", "bfs/bfs_flag.toml", "--param", "VERTICES=700", *mode).require_code(0).json()
        require_equal("verdict", [e["verdict"] for e in report["expect"]], ["pass"])
        counts.append(len(report["kernels"]))
        if mode != ("--functional",):
            kinds = [c["direction"] for c in report["copies"]]
            require_equal("copies", kinds, ["memset", "to_device"] + ["memset", "to_host"] * counts[-1])
            for kernel, following in zip(report["kernels"], report["kernels"][1:]):
                require(kernel["start_cycle"] + kernel["cycles"] <= following["start_cycle"], "the host did not wait")
    require(counts[0] > 4, f"{counts[0]} launches")
    require_equal("launches", counts, [counts[0]] * len(counts))
    recorded = [gpusim.scratch / "first.h5", gpusim.scratch / "second.h5"]
    for out in recorded:
        _run(gpusim, "bfs/bfs_flag.ptx", "bfs/bfs_flag.toml", "--param", "VERTICES=700", "--events", "all", "--out", out).require_code(0)
    require_same_files(*recorded)
    short = _edited(gpusim, "bfs/bfs_flag.toml", "short.toml", ('most = "VERTICES"', "most = 3"))
    for mode in (("--out", "none"), ("--functional",)):
        done = _run(gpusim, "bfs/bfs_flag.ptx", str(short), *mode).require_code(2)
        require("loop 'now' has run 3 times and would go on: changed[0] != 0" in done.err, done.err)


def check_stencil(gpusim: Gpusim) -> None:
    """Swapped grids: any number of steps ends in the grid that the reference names; cycles are those of the steps written out."""
    for steps in (1, 2, 5):
        for mode in (("--out", "none"), ("--functional",)):
            report = _run(gpusim, "stencil/stencil.ptx", "stencil/steps.toml", "--param", f"STEPS={steps}", *mode).require_code(0).json()
            require_equal("verdict", [e["verdict"] for e in report["expect"]], ["pass"])
            require_equal("launches", len(report["kernels"]), steps)
    size = ("--param", "ROWS=64", "--param", "COLS=80")
    looped = _run(gpusim, "stencil/stencil.ptx", "stencil/steps.toml", *size, "--param", "STEPS=2", "--out", "none").require_code(0).json()
    written = _run(gpusim, "stencil/stencil.ptx", "stencil/stencil.toml", *size, "--out", "none").require_code(0).json()
    require_equal("first step", looped["kernels"][0]["cycles"], written["kernels"][0]["cycles"])
    require_equal("second step", looped["kernels"][1]["cycles"], written["kernels"][1]["cycles"])


def check_histogram(gpusim: Gpusim) -> None:
    """Memsets and data at their places: both histograms are right, in the recorded file the transfers are where they belong."""
    out = [gpusim.scratch / "one.h5", gpusim.scratch / "two.h5"]
    for mode in (("--out", out[0]), ("--out", out[1]), ("--functional",), ("--out", "none", "--check", "all"),
                 ("--out", "none", "--cache", "warm")):
        report = _run(gpusim, "histogram/histogram.ptx", "histogram/twice.toml", "--param", "N=5000", *mode).require_code(0).json()
        require_equal("verdicts", [e["verdict"] for e in report["expect"]], ["pass", "pass"])
    require_same_files(*out)
    with h5py.File(out[0]) as file:
        rows = file["timeline"][:]
        require_equal("kinds", [int(r["kind"]) for r in rows], [3, 0, 4, 3, 1, 0])
        require_equal("bytes", [int(r["bytes"]) for r in rows], [1024, 0, 1024, 1024, 20000, 0])
        require(bool((rows["start"][1:] >= rows["end"][:-1]).all()), "the steps of a stream overlap")
    gpusim.run("timeline", out[0], "--out", gpusim.scratch / "t.json").require_code(0)
    text = (gpusim.scratch / "t.json").read_text()
    require("memset of bins" in text and "first within device memory" in text, "the timeline does not name the steps")


def check_data(gpusim: Gpusim) -> None:
    """A copy brings a file's data to its place; without `bytes` all of it; --dump has what is there in the end."""
    (gpusim.scratch / "data.bin").write_bytes(struct.pack("<4I", 255, 254, 255, 1))
    launch = _edited(gpusim, "histogram/twice.toml", "data.toml",
                     ('init = "randint(0, 5000)"', 'init = "file:data.bin"\noffset = "4*N - 16"'),
                     ('reference = "histogram(Y, 256)"', "values = [4992, 1, 0]"))
    for mode in (("--out", "none"), ("--functional",)):
        dump = gpusim.scratch / "bins.npy"
        _run(gpusim, "histogram/histogram.ptx", str(launch), "--param", "N=4996", *mode, "--dump", f"bins={dump}").require_code(0)
        bins = struct.unpack("<256I", dump.read_bytes()[-1024:])
        require_equal("bins", (bins[0], bins[1], bins[254], bins[255]), (4992, 1, 1, 2))


def check_kmeans(gpusim: Gpusim) -> None:
    """The host of k-means, step by step: as many rounds as a k-means of our own takes, and the same centres."""
    folder = gpusim.source / "regress" / "steps"
    for mode in (("--out", "none"), ("--functional",)):
        dumps = {name: gpusim.scratch / f"{name}.npy" for name in ("points", "centres", "nearest", "members")}
        report = gpusim.run("--config", gpusim.source / "configs" / "h200.cfg", folder / "kmeans.ptx", "--json", *mode,
                            *(word for name, file in dumps.items() for word in ("--dump", f"{name}={file}"))).require_code(0).json()
        points, centres, nearest, members = (numpy.load(dumps[name]) for name in dumps)
        points = points.reshape(-1, 2)
        expected = points[:5].copy()
        rounds, before = 0, None
        while True:
            rounds += 1
            distances = ((points[:, None, :].astype(float) - expected[None, :, :].astype(float)) ** 2).sum(axis=2)
            now = distances.argmin(axis=1)
            expected = numpy.stack([points[now == k].sum(axis=0, dtype=float) / max((now == k).sum(), 1) for k in range(5)]).astype("f4")
            if before is not None and (now == before).all():
                break
            before = now
        require_equal("rounds", len(report["kernels"]), rounds)
        require(rounds > 3, f"{rounds} rounds")
        require_equal("nearest", nearest.tolist(), now.tolist())
        require_equal("members", members.tolist(), [int((now == k).sum()) for k in range(5)])
        require(bool(numpy.allclose(centres.reshape(-1, 2), expected, rtol=1e-6)), f"centres: {centres}, expected {expected}")


def check_errors(gpusim: Gpusim) -> None:
    """Mistakes of all steps in one run, each with its place; what files with loops cannot do is refused with the reason."""
    launch = _edited(gpusim, "bfs/bfs_flag.toml", "wrong.toml", ('while = "changed[0] != 0"', 'while = "chnged[0] != 0"'),
                     ("value = -1", "value = 1000"), ('direction = "from_device"\nloop = "now"', 'direction = "from_device"\nloop = "nov"'),
                     ("[[expect]]", '[[host]]\nstep = "swp(level, changed)"\n[[expect]]'))
    done = _run(gpusim, "bfs/bfs_flag.ptx", str(launch), "--out", "none").require_code(1)
    for part in ("undefined buffer 'chnged'", "did you mean 'changed'?", "value = 1000 is out of range", "undefined loop 'nov'",
                 "unknown host step 'swp'", "did you mean 'swap'?"):
        require(part in done.err, f"{part!r} is not in {done.err}")
    bfs = gpusim.source / "workloads" / "bfs" / "bfs_flag.ptx"
    for command, reason in ((("trace", bfs, "--out", gpusim.scratch / "t.txt"), "with loops, host steps"),
                            (("export", bfs, "--out", gpusim.scratch / "plan"), "a plan for real hardware cannot say this")):
        done = gpusim.run(*command).require_code(1)
        require(reason in done.err, f"{command[0]}: {done.err}")


CHECKS = {"bfs": check_bfs, "stencil": check_stencil, "histogram": check_histogram, "data": check_data, "kmeans": check_kmeans, "errors": check_errors}
