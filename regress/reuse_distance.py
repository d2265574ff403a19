#!/usr/bin/env python3
"""Compares the reuse-distance model with the simulator on the workloads, as a table in Markdown.

    regress/reuse_distance.py GPUSIM [--programs papers] [--size 48K] [--sm auto] [--only NAME] [--machine tesla_v100] [--recorded]
    regress/reuse_distance.py GPUSIM --published [--only NAME]
    regress/reuse_distance.py GPUSIM --speed

For each kernel (of several launches, the one that loads most): miss rate of global loads in the L1
caches of a GTX 470 (or another machine, with its own cache), simulated and predicted from a trace of a functional run, and hit rate of reads in the
L2 for kernels that run first. With `--sm N` also the miss rate that was simulated on that SM (needs
h5py). `--recorded` predicts from what the simulated run recorded instead of traces. `chosen` marks kernels on which rules of the model were chosen; the others judge it.

--published compares the model as it was published (`gpusim reuse --reference`) instead, on the PolyBench and Parboil cases of the suite
`papers`, with 16 and 48 KB: the accesses of the blocks that SM 0 gets in turn, against the miss rate that was simulated on SM 0; and
the same with one of the model's parts left out at a time. The paper gives the geometric mean of absolute errors in points, for which an
error of less than 0.01 counts as 0.01.

--speed prints processor times (user and system) of whole processes, the least of alternated runs: of the
cycle-level run, and of the model with one SM of a stored trace: one configuration with the kinds of misses
(two passes if misses on their way are limited), and as a point of a sweep (one pass).
"""
import argparse
import json
import math
import pathlib
import resource
import subprocess
import tempfile
import tomllib

from on_demand import h5py

ROOT = pathlib.Path(__file__).resolve().parent.parent / "workloads"
PROGRAMS = [  # PTX, launch file if it is another, chosen on it
    ("vecadd/vecadd", "", 0), ("saxpy/saxpy", "", 0), ("transpose/naive", "", 0), ("transpose/padded", "", 0),
    ("matmul/naive_16x16", "", 1), ("matmul/naive_8x8", "", 1), ("matmul/tiled_16x16", "", 1),
    ("matmul/volkov", "", 0), ("spmv/csr_scalar", "", 1), ("spmv/csr_vector", "", 1), ("spmv/ell", "", 1),
    ("spmv/formats", "", 1), ("spmv/csr_scalar", "spmv/power_law_scalar", 0),
    ("spmv/csr_vector", "spmv/power_law_vector", 0), ("stencil/stencil", "", 0), ("jacobi/jacobi", "", 0),
    ("convolution/convolution", "", 0), ("gemm/gemm", "", 0), ("histogram/histogram", "", 0), ("bfs/bfs", "", 0),
    ("reduction/reduction", "", 0), ("scan/scan", "", 0), ("scan/reduce_down", "", 1), ("softmax/softmax", "", 1),
    ("softmax/attention", "", 0), ("sort/radix", "", 1), ("npb/bt", "npb/bt_thread", 0), ("npb/bt", "npb/bt_warp", 0),
    ("npb/cg", "npb/cg_thread", 0), ("npb/cg", "npb/cg_warp", 0), ("npb/ft", "npb/ft_block", 0),
    ("npb/ft", "npb/ft_thread", 0), ("npb/mg", "npb/mg_thread", 1), ("npb/mg", "npb/mg_warp", 1),
    ("npb/sp", "npb/sp_block", 0), ("npb/sp", "npb/sp_thread", 0)]
# The suites on which the model was published (Nugteren et al., HPCA 2014): kernels of their kinds, written from their mathematics.
PAPERS = [(f"polybench/{ptx}", f"polybench/{launch}", 0) for ptx, launches in {
    "linear_algebra": ["2mm", "3mm", "atax", "bicg", "gemm", "gesummv", "gramschmidt", "mvt", "syr2k", "syrk"],
    "statistics": ["correlation", "covariance"], "stencils": ["2dconv", "3dconv", "fdtd2d"]}.items() for launch in launches]
PAPERS += [("parboil/kernels", f"parboil/{launch}", 0)
           for launch in ("histo", "lbm", "mri_q", "sad", "sgemm", "spmv", "stencil", "tpacf")]
SETS = {"workloads": PROGRAMS, "papers": PAPERS}
# Of one launch each: some that simulate for seconds, some for a tenth of one.
SPEED = [("matmul/naive_16x16", []), ("matmul/naive_8x8", []), ("matmul/tiled_16x16", ["N=480"]),
         ("matmul/volkov", ["N=512", "ld=544"]), ("nbody/nbody", ["N=6000"]),
         ("convolution/convolution", ["ROWS=800", "COLS=1024"]), ("spmv/csr_vector", ["ROWS=32768"]),
         ("spmv/csr_vector", []), ("convolution/convolution", []), ("vecadd/vecadd", [])]
LEAST_LOADS = 2000  # lines; kernels with fewer say little
LEAST_ERROR = 0.01  # points, of a geometric mean
CORES, LINE = 14, 128  # of the GTX 470
SIZES = {"16K": [], "48K": ["--set", "l1.size=48K", "--set", "l1.ways=6", "--set", "shared.size=16K"]}


def run(command):
    """What it printed, and its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if result.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(map(str, command))}\n{result.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def largest_launches(kernels):
    best = {}
    for number, kernel in enumerate(kernels):
        c = kernel["counters"]
        loads = c["l1_global_load_hit"] + c["l1_global_load_miss"]
        if loads >= max(LEAST_LOADS, best.get(kernel["name"], (0, 0))[1] + 1):
            best[kernel["name"]] = (number, loads)
    return best


def compare_speed(gpusim):
    machine = ["--config", "gtx470"]
    print("| kernel | simulated s | one SM s | times | point of a sweep s | times | trace s |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "kernel.trc"
        for name, params in SPEED:
            program = [ROOT / f"{name}.ptx"] + [x for p in params for x in ("--param", p)]
            _, trace_s = run([gpusim, "trace", *program, *machine, "--warps", "--out", trace])
            one = [gpusim, "reuse", "--trace", trace, *machine, "--sm", "0", "--json"]
            least = [1e9, 1e9, 1e9]
            for _ in range(5):
                for i, command in enumerate(([gpusim, *machine, "--quiet", "--out", "none", *program], one,
                                             [*one, "--sweep", "l1.mshrs=64"])):
                    for _ in range(1 if i == 0 else 3):
                        least[i] = min(least[i], run(command)[1])
            simulated, both, point = least
            print(f"| {' '.join([name, *params])} | {simulated:.2f} | {both:.3f} | {simulated / both:.0f} | {point:.3f} | "
                  f"{simulated / point:.0f} | {trace_s:.2f} |", flush=True)


def rate_of_sm(file, number, sm):
    with h5py.File(file) as recording:
        row = recording[f"kernels/{number}/per_sm"][sm]
    loads = int(row["l1_global_load_hit"]) + int(row["l1_global_load_miss"])
    return loads, 100 * int(row["l1_global_load_miss"]) / loads if loads else 0


def of_first_core(source, target, cores):
    """The text trace of the blocks 0, cores, 2 * cores, ... as blocks that follow each other; False if it has no load."""
    loads = 0
    with open(source, encoding="ascii") as lines, open(target, "w", encoding="ascii") as out:
        first = next(lines)
        out.write(first)
        x, y, z = map(int, first.split(":")[1].split())
        threads = x * y * z
        for line in lines:
            thread, direction, rest = line.split(" ", 2)
            block, lane = divmod(int(thread), threads)
            if block % cores == 0 and direction == "0":
                out.write(f"{block // cores * threads + lane} 0 {rest}")
                loads += 1
    return loads > 0


def geometric_mean(errors):
    return math.exp(sum(math.log(max(e, LEAST_ERROR)) for e in errors) / len(errors))


def published_cases(size, only):
    """Name, and what names program and sizes, of the suite's cases for the L1 of this size."""
    with open(ROOT.parent / "regress" / "suites" / "papers.toml", "rb") as file:
        suite = tomllib.load(file)
    for case in suite["case"]:
        if case["name"].startswith(f"suites_{size}_") and only in case["name"]:
            program = [ROOT.parent / case["ptx"], "--launch", ROOT.parent / case["launch"]]
            yield case["name"].split("_", 2)[2], program + [x for p in case.get("params", []) for x in ("--param", p)]


def compare_published(gpusim, size, only):
    machine, ways = ["--config", "gtx470", *SIZES[size]], {"16K": 4, "48K": 6}[size]
    whole = {"line": LINE, "size": size, "ways": ways, "mshrs": 64, "latency": 100, "sigma": 5}
    variants = {"published": {}, "no latency": {"latency": 0, "sigma": 0}, "one set": {"ways": int(size[:-1]) * 1024 // LINE},
                "any number of MSHRs": {"mshrs": 1 << 20}}
    errors = {name: [] for name in variants}
    print(f"L1 of {size}\n\n| program | kernel | loads | simulated % | {' % | '.join(variants)} % |\n{'|---' * (4 + len(variants))}|")
    with tempfile.TemporaryDirectory() as folder:
        text, first_core, recording = (pathlib.Path(folder) / name for name in ("all.trc", "core.trc", "run.h5"))
        for name, program in published_cases(size, only):
            out, _ = run([gpusim, *machine, "--json", "--force", "--out", recording, *program])
            for kernel, (number, _) in largest_launches(json.loads(out)["kernels"]).items():
                loads, rate = rate_of_sm(recording, number, 0)
                run([gpusim, "trace", *program, "--config", "gtx470", "--number", number, "--out", text])
                if loads < LEAST_LOADS / CORES or not of_first_core(text, first_core, CORES):
                    continue
                rates = []
                for variant, change in variants.items():
                    options = [x for key, value in {**whole, **change}.items() for x in (f"--{key}", str(value))]
                    counted = json.loads(run([gpusim, "reuse", "--trace", first_core, *options, "--reference", "--json"])[0])
                    rates.append(100 * counted["misses"] / counted["accesses"])
                    errors[variant].append(abs(rates[-1] - rate))
                print(f"| {name} | {kernel} | {loads} | {rate:.2f} | {' | '.join(f'{r:.2f}' for r in rates)} |", flush=True)
    print()
    for variant, of in errors.items():
        if of:
            print(f"{variant}: {len(of)} kernels, geometric mean of errors {geometric_mean(of):.2f} points, mean {sum(of) / len(of):.2f}, "
                  f"largest {max(of):.2f}")
    print()


def from_traces(a, machine, program, number, folder):
    """The prediction for a launch from traces of functional runs, of it and of those before it."""
    traces = [folder / f"{n}.trc" for n in range(number + 1)]
    first = 0 if a.sm == "" else number  # whose L2 the kernel finds: those of one SM alone start with none
    for n in range(first, number + 1):
        run([a.gpusim, "trace", *program, "--config", a.machine, "--warps", "--number", n, "--out", traces[n]])
    out, _ = run([a.gpusim, "reuse", "--trace", traces[number], *machine, "--json", *(["--sm", a.sm] if a.sm else []),
                  *(x for t in traces[first:number] for x in ("--after", t))])
    p = json.loads(out)
    return p | ({"l2_hit_rate": p["l2_hits"] / p["l2_sectors"]} if p["l2_sectors"] else {})


def analysed(gpusim, recording, sm):
    """The predictions of `analyze` for each launch of a recorded run."""
    out, _ = run([gpusim, "analyze", recording, "--model", "reuse-distance", "--json", *(["--option", f"sm={sm}"] if sm else [])])
    names = {"l1_global_load_miss_rate": "miss_rate", "l2_read_hit_rate": "l2_hit_rate"}
    launches = {}
    for row in json.loads(out)["models"][0]["predictions"]:
        if row["quantity"] in names:
            launches.setdefault(row["launch"], {})[names[row["quantity"]]] = row["predicted"]
    return launches


def summary(what, errors):
    if errors:
        print(f"{what}: {len(errors)} kernels, mean error {sum(errors) / len(errors):.2f} points, largest {max(errors):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim")
    parser.add_argument("--machine", default="gtx470")
    parser.add_argument("--size", default="16K", choices=SIZES, help="of the L1 of the GTX 470")
    parser.add_argument("--sm", default="", help="model this SM only; auto: one of each kind")
    parser.add_argument("--programs", default="workloads", choices=SETS, help="papers: kinds of PolyBench's and Parboil's kernels")
    parser.add_argument("--recorded", action="store_true", help="predict from recorded runs")
    parser.add_argument("--only", default="", help="programs whose name has this")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--published", action="store_true", help="the published model and its ablation, on the blocks of one SM")
    a = parser.parse_args()
    if a.published:
        for size in SIZES:
            compare_published(a.gpusim, size, a.only)
        return
    if a.speed:
        compare_speed(a.gpusim)
        return
    machine = ["--config", a.machine] + (SIZES[a.size] if a.machine == "gtx470" else [])
    one = a.sm.isdigit()
    rows, l2, of_sm = [], [], []
    print("| program | kernel | loads | simulated % | predicted % | error | |" + (" of the SM % | error |" if one else ""))
    print("|---" * (9 if one else 7) + "|")
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder) / "run.h5"
        for ptx, launch, chosen in SETS[a.programs]:
            name = launch or ptx
            if a.only not in name:
                continue
            program = [ROOT / f"{ptx}.ptx"] + (["--launch", ROOT / f"{launch}.toml"] if launch else [])
            keeps = ["--out", recording, *(["--events", "memory"] if a.recorded else [])] if one or a.recorded else ["--out", "none"]
            out, _ = run([a.gpusim, *machine, "--json", "--force", *keeps, *program])
            kernels = json.loads(out)["kernels"]
            of_recording = analysed(a.gpusim, recording, a.sm) if a.recorded else {}
            for kernel, (number, loads) in largest_launches(kernels).items():
                c = kernels[number]["counters"]
                p = of_recording[number] if a.recorded else from_traces(a, machine, program, number, pathlib.Path(folder))
                simulated, predicted = 100 * c["l1_global_load_miss"] / loads, 100 * p["miss_rate"]
                rows.append((chosen, abs(predicted - simulated)))
                line = (f"| {name} | {kernel} | {loads:.0f} | {simulated:.2f} | {predicted:.2f} | {predicted - simulated:+.2f} | "
                        f"{'chosen' if chosen else ''} |")
                if one:
                    _, rate = rate_of_sm(recording, number, int(a.sm))
                    of_sm.append(abs(predicted - rate))
                    line += f" {rate:.2f} | {predicted - rate:+.2f} |"
                print(line, flush=True)
                if number == 0 and c["l2_read_sectors"] and "l2_hit_rate" in p:
                    l2.append(100 * abs(p["l2_hit_rate"] - c["l2_read_hit_sectors"] / c["l2_read_sectors"]))
    print()
    summary("judged", [e for chosen, e in rows if not chosen])
    summary("chosen", [e for chosen, e in rows if chosen])
    summary("all", [e for _, e in rows])
    summary("L2, first launches", l2)
    summary(f"SM {a.sm} against itself", of_sm)


if __name__ == "__main__":
    main()
