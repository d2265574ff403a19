"""`gpusim trace` and `gpusim reuse`: traces of our own workloads, and counts that follow from their code."""

from typing import Any

from cases import CASES
from on_demand import h5py
from reuse_distance import of_first_core
from reuse_figures import mshrs, strides
from runner import Gpusim, require, require_equal


def trace(gpusim: Gpusim, case: str, *options: str) -> tuple[Any, list[str]]:
    out = gpusim.scratch / f"{case}.trc"
    gpusim.run("trace", CASES[case].ptx(gpusim.source), "-o", out, *options).require_code(0)
    return out, out.read_text().splitlines()


def counts(gpusim: Gpusim, file: Any, *options: str) -> dict[str, int]:
    return gpusim.run("reuse", "--trace", file, "--sigma", "0", "--reference", "--json", *options).require_code(0).json()


def check_sectors(gpusim: Gpusim) -> None:
    """A machine whose L1 fetches sectors: they are recorded, and what was recorded is what a functional run asks for."""
    machine = ("--config", "tesla_v100")
    partition = gpusim.source / "workloads" / "partition" / "partition.ptx"
    run = gpusim.scratch / "partition.h5"
    size = ("--param", "N=65536", "--param", "BLOCKS=8")  # 32 words, a line, for each thread of by_blocks
    gpusim.run(*machine, *size, "--events", "memory", "--out", run, partition).require_code(0)
    with h5py.File(run) as recorded:
        for kernel, sectors in ((0, {1, 2, 4, 8}), (1, {15})):
            events = recorded[f"kernels/{kernel}/events/cache"][:]
            of_l1 = events[(events["cache"] == 6) & (events["result"] != 3)]
            require_equal(f"sectors of kernel {kernel}", set(map(int, of_l1["sectors"])), sectors)
    predicted = gpusim.run("analyze", run, "--model", "reuse-distance", "--json").require_code(0).json()["models"][0]["predictions"]
    rates = [p for p in predicted if p["quantity"] == "l1_global_load_miss_rate"]
    require(len(rates) == 2 and abs(rates[0]["error"]) < 0.1 and rates[1]["error"] == 0, f"{rates}")
    alone = gpusim.run("analyze", run, "--model", "reuse-distance", "--kernel", "cyclic", "--json").require_code(0).json()["models"][0]
    require(alone["predictions"] == [p for p in predicted if p["launch"] == 1], f"what was before a kernel counts though it is not asked for: {alone}")
    # A sector has eight words, each of which a load of its own asks for; cyclically a sector is asked for once.
    require_equal("first uses", [p["terms"][0]["predicted"] for p in rates], [0.125, 1])
    trace = gpusim.scratch / "partition.wtrc"
    gpusim.run("trace", partition, *machine, *size, "--warps", "--number", "1", "-o", trace).require_code(0)
    functional = gpusim.run("reuse", "--trace", trace, *machine, "--json").require_code(0).json()
    require(abs(functional["miss_rate"] - rates[1]["predicted"]) < 1e-9, f"{functional}, {rates[1]}")
    textures = gpusim.scratch / "textures.h5"
    gpusim.run(*machine, "--events", "memory", "--out", textures, gpusim.source / "workloads" / "features" / "texture.ptx").require_code(0)
    gpusim.run("analyze", textures, "--model", "reuse-distance").require_code(1).require_error("reads textures through the L1")


def check_schedulers(gpusim: Gpusim) -> None:
    """Where the first scheduler's warps have shared pipes first, the second one's find the lines that those have asked for; in turn they all miss."""
    folder = gpusim.source / "workloads" / "polybench"
    program = (folder / "statistics.ptx", "--launch", folder / "correlation.toml", "--param", "POINTS=96", "--param", "VARIABLES=96")
    recorded, trace = gpusim.scratch / "correlation.h5", gpusim.scratch / "correlation.wtrc"
    for in_turn, least, most in (("false", 0.6, 0.7), ("true", 0.95, 1)):
        machine = ("--config", "gtx470", "--set", f"scheduler.share_in_turn={in_turn}")
        gpusim.run(*machine, "--events", "memory", "--force", "--out", recorded, *program).require_code(0)
        asked = ("analyze", recorded, "--model", "reuse-distance", "--kernel", "standardize", "--json")
        rate = gpusim.run(*asked).require_code(0).json()["models"][0]["predictions"][0]
        require(least < rate["simulated"] <= most and abs(rate["error"]) < 0.05, f"in turn: {in_turn}: {rate}")
        gpusim.run("trace", *program, "--config", "gtx470", "--warps", "--number", "2", "-o", trace).require_code(0)
        functional = gpusim.run("reuse", "--trace", trace, *machine, "--json").require_code(0).json()
        require(abs(functional["miss_rate"] - rate["simulated"]) < 0.15, f"in turn: {in_turn}: {functional}, simulated {rate['simulated']}")


def check_default_mode(gpusim: Gpusim) -> None:
    """Traces of warps and recorded runs: what follows from the code, and the simulator's own counts."""
    machine = ("--config", "gtx470")
    ptx = CASES["vecadd"].ptx(gpusim.source)
    file = gpusim.scratch / "vecadd.wtrc"
    gpusim.run("trace", ptx, *machine, "--warps", "-o", file, "--param", "N=10007").require_code(0)
    streamed = gpusim.run("reuse", "--trace", file, *machine, "--json").require_code(0).json()
    require_equal("lines of vecadd", (streamed["accesses"], streamed["compulsory"], streamed["hits"]), (626, 626, 0))
    again = gpusim.run("reuse", "--trace", file, "--after", file, *machine, "--json").require_code(0).json()
    require_equal("L2 after a launch that read the same", (streamed["l2_hits"], again["l2_hits"]), (0, again["l2_sectors"]))
    gpusim.run("reuse", "--trace", file, "--after", file, *machine, "--sm", "0").require_code(1).require_error("--after", "--sm")
    other = gpusim.run("reuse", "--trace", file, *machine, "--set", "l1.replacement=fifo").require_code(0).out
    require('not modelled: l1.replacement = "fifo": taken as lru' in other, other)
    table = gpusim.run("reuse", "--trace", file, *machine, "--sweep", "l1.size=16K,32K", "--sweep", "l1.mshrs=8,64")
    require_equal("rows of a sweep", len(table.require_code(0).out.splitlines()), 5)
    # 40 blocks: 12 SMs have three, two have two, and an SM of each kind stands for the others; the last block is short.
    estimate = gpusim.run("reuse", "--trace", file, *machine, "--sm", "auto", "--json").require_code(0).json()
    require_equal("lines of vecadd from two SMs", (estimate["accesses"], estimate["hits"]), (2 * 8 * (12 * 3 + 2 * 2), 0))
    for wrong in ("x", "-1", "1.5"):
        gpusim.run("reuse", "--trace", file, *machine, "--sm", wrong).require_code(1).require_error("--sm", "or auto", wrong)
    gpusim.run("reuse", "--trace", file, *machine, "--sm", "14").require_code(1).require_error("SMs 0 to 13")
    gpusim.run("reuse", "--trace", file).require_code(1).require_error("--config")
    gpusim.run("reuse", "--trace", file, *machine, "--without", "latencies").require_code(1).require_error("latency")
    gpusim.run("reuse", "--trace", file, "--config", "tesla_c1060").require_code(1).require_error("no L1")
    recorded = gpusim.scratch / "matmul.h5"
    matmul = CASES["matmul_naive_16x16"].ptx(gpusim.source)
    gpusim.run(*machine, "--param", "N=96", "--events", "memory", "--out", recorded, matmul).require_code(0)
    models = gpusim.run("analyze", recorded, "--model", "reuse-distance", "--json").require_code(0).json()["models"]
    rate = models[0]["predictions"][0]
    require(rate["quantity"] == "l1_global_load_miss_rate" and abs(rate["error"]) < 0.05, f"{rate}")
    require(abs(sum(t["predicted"] for t in rate["terms"]) - rate["predicted"]) < 1e-9, f"kinds do not add up: {rate}")
    with h5py.File(recorded) as run:
        per_sm, counters = run["kernels/0/per_sm"][:], run["kernels/0/counters"][:]
        for name in ("l1_global_load_hit", "l1_global_load_miss"):
            counted = next(row["value"] for row in counters if row["name"].decode() == name)
            require_equal(f"{name} of all SMs", int(per_sm[name].sum()), int(counted))
    one = gpusim.run("analyze", recorded, "--model", "reuse-distance", "--option", "sm=auto", "--json").require_code(0).json()
    require(0 < one["models"][0]["predictions"][0]["predicted"] < 1, f"{one}")
    gpusim.run("analyze", recorded, "--model", "reuse-distance", "--option", "sm=all").require_code(1).require_error("or auto")
    check_sectors(gpusim)
    summary = gpusim.scratch / "summary.h5"
    gpusim.run(*machine, "--param", "N=96", "--out", summary, matmul).require_code(0)
    gpusim.run("analyze", summary, "--model", "reuse-distance").require_code(1).require_error("--events memory")


def check_reuse(gpusim: Gpusim) -> None:
    # The published trace of this program, at this size, has these counts (analysis/testing/traces/expected.csv).
    file, lines = trace(gpusim, "matmul_naive_16x16", "--param", "N=32")
    require_equal("first line", lines[0], "blocksize: 16 16 1")
    require_equal("accesses", len(lines) - 1, 1024 * (2 * 32 + 1))
    require_equal("counts of matrix multiplication", counts(gpusim, file),
                  {"accesses": 3072, "hits": 1984, "misses": 1088, "compulsory": 64, "capacity": 0, "associativity": 0,
                   "latency": 1024, "mshr": 0})
    # 10007 words of A and B each, a line of 128 bytes once: nothing is used again.
    file, lines = trace(gpusim, "vecadd", "--param", "N=10007")
    require_equal("stores", sum(line.split()[1] == "1" for line in lines[1:]), 10007)
    streamed = counts(gpusim, file)
    require_equal("lines of vecadd", (streamed["accesses"], streamed["compulsory"], streamed["hits"]), (626, 626, 0))
    # Several launches: one is chosen, and those before it have run.
    scan = CASES["scan"].ptx(gpusim.source)
    out = gpusim.scratch / "scan.trc"
    gpusim.run("trace", scan, "-o", out).require_code(1).require_error("3 launches", "--number 0 to 2")
    require(not out.exists(), "a trace was left behind")
    gpusim.run("trace", scan, "-o", out, "--number", "2").require_code(0)
    require(counts(gpusim, out)["accesses"] > 0, "the last launch loads nothing")
    check_default_mode(gpusim)
    check_schedulers(gpusim)
    # A program that fails leaves no trace.
    failing = gpusim.source / "regress" / "failing"
    bad = gpusim.scratch / "bad.trc"
    ptx = failing / "out_of_bounds.ptx"
    launch = gpusim.scratch / "bad.toml"
    launch.write_text('[[buffer]]\nname = "x"\ntype = "f32"\ncount = 4\n[[launch]]\ngrid = [1]\nblock = [64]\nargs = ["x"]\n')
    done = gpusim.run("trace", ptx, "--launch", launch, "-o", bad)
    require(done.code in (1, 2) and not bad.exists() and not list(gpusim.scratch.glob("bad.trc*")), done.describe())


def check_first_core(gpusim: Gpusim) -> None:
    """Of four blocks of two threads, the first of two cores has the first and the third, whose loads are left."""
    trace, core = gpusim.scratch / "all.trc", gpusim.scratch / "core.trc"
    lines = [f"{thread} {direction} {1000 + thread} 4" for thread in range(8) for direction in (0, 1)]
    trace.write_text("\n".join(["blocksize: 2 1 1", *lines]) + "\n")
    require(of_first_core(trace, core, 2), "no load was found")
    require_equal("its trace", core.read_text().splitlines(),
                  ["blocksize: 2 1 1", "0 0 1000 4", "1 0 1001 4", "2 0 1004 4", "3 0 1005 4"])


def check_figures(gpusim: Gpusim) -> None:
    """The paper's microbenchmarks find four ways, 32 sets numbered by five of the address bits 7 to 13, six loads a warp and 64 in all."""
    rates = strides(gpusim.program, "gtx470", (4, 128, 256), (7, 15))
    require_equal("miss rates", rates, {"4 loads": [50, 50], "128 loads": [50, 100], "256 loads": [100, 100]})
    require_equal("miss rates of 48 KB", strides(gpusim.program, "gtx470_48k", (256,), (7,)), {"256 loads": [50]})
    times = mshrs(gpusim.program, "gtx470", (1, 16), (1, 4, 5, 6, 7))
    one, all_warps = times["1 warp"], times["16 warps"]
    jump = 200  # of more than 600 cycles that a miss takes
    require(one[3] - one[0] < jump < one[4] - one[3], f"a warp's seventh load waits: {one}")
    require(all_warps[1] - all_warps[0] < jump < all_warps[2] - all_warps[1], f"the fifth load of 16 warps waits: {all_warps}")
