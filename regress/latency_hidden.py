#!/usr/bin/env python3
"""Runs kernels on a simulated machine and prints how far the latency-hidden factor model is off, as tables of
docs/studies/latency_hidden_accuracy.md.

    regress/latency_hidden.py build/release/bin/gpusim [--set judged|fitted|untouched|programs] [--machine tesla_c1060] [--quick] [--functional]

The judged kernels are the three matrix multiplications of the paper; nothing was fitted to them or chosen by them. `fitted` are
those that the model's form and its constants were chosen on, `untouched` four workloads that nobody looked at meanwhile, `programs` what rules
for machines with caches were chosen on besides (`regress --suite latency_hidden_machines` has those they are judged on). --quick leaves
out what takes minutes. --functional prints, instead of the paper's readings, the prediction without a timed run (`gpusim predict`) beside the one
that reads the run's counts, and by how much each input that is predicted then changes the latter, alone. Recorded files stay in --keep FOLDER, if given, and are used again.

    regress/latency_hidden.py build/release/bin/gpusim --gains [--machine tesla_v100]

runs pairs of workloads/advice on any machine and prints what the model says that the change gains, beside what it gains. Which of them rules were
written with is in docs/studies/latency_hidden_accuracy.md. Pairs that a machine cannot run are left out.

    regress/latency_hidden.py build/release/bin/gpusim --figures FOLDER [--sizes 96,160,288,544,1056,2080] [--keep FOLDER]

draws what figures 14 to 16 of the paper show, with gnuplot: GFLOP/s of the three multiplications over the size of the matrices, five curves, each as
simulated, as the printed formula predicts it (`last`), and as the extended model does. With the sizes above, which are the default, it takes some two hours on
one processor, nearly all of it for N = 2080; up to 544 it takes a few minutes. Volkov's multiplication needs multiples of 64, so that it gets the next lower one.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Case:
    name: str
    ptx: str
    params: tuple[str, ...] = ()
    launch: str = ""
    slow: bool = False


def _judged() -> list[Case]:
    cases = [Case(f"{kernel}, N = {n}", f"matmul/{kernel}.ptx", (f"N={n}",), slow=n > 544)
             for kernel in ("naive_8x8", "naive_16x16", "tiled_8x8", "tiled_16x16") for n in (96, 160, 288, 544, 1056)]
    return cases + [Case(f"volkov, N = {n}", "matmul/volkov.ptx", (f"N={n}", f"ld={n + 32}"), slow=n > 512)
                    for n in (128, 256, 512, 1024)]


def _fitted() -> list[Case]:
    cases = _first_untouched()
    cases += [Case(name, f"{name}/{name}.ptx") for name in ("vecadd", "saxpy", "reduction", "scan", "stencil", "histogram",
                                                           "collatz", "fft", "softmax")]
    cases += [Case(name, f"{name}/{name}_sm13.ptx", launch=f"{name}/{name}.toml") for name in ("nbody", "convolution", "jacobi")]
    cases += [Case("attention", "softmax/attention.ptx"), Case("transpose naive", "transpose/naive.ptx"),
              Case("transpose padded", "transpose/padded.ptx"), Case("spmv scalar", "spmv/csr_scalar.ptx"),
              Case("spmv vector", "spmv/csr_vector.ptx")]
    cases += [Case(f"gemm, {n} x {n} x {k}", "gemm/gemm_sm13.ptx", (f"M={n}", f"N={n}", f"K={k}"), "gemm/gemm.toml")
              for n, k in ((64, 64), (192, 192), (512, 96))]
    cases += [Case(f"turns, {b} x {w} warps", "micro/turns.ptx", (f"BLOCKS={b}", f"WARPS={w}"))
              for b in (30, 60, 240) for w in (1, 4, 8)]
    return cases + [Case(f"phases, {b} x {t}, {r} rounds of {i}", "micro/phases.ptx",
                         (f"BLOCKS={b}", f"THREADS={t}", f"ROUNDS={r}", f"INNER={i}"))
                    for b, t in ((240, 64), (150, 64), (60, 256), (324, 256)) for r in (12, 48) for i in (1, 4)]


def _first_untouched() -> list[Case]:
    """Nobody had looked at these before the model was changed for what they showed
    (docs/studies/latency_hidden_accuracy.md)."""
    names = [("spmv ell", "spmv/ell", ""), ("bitonic sort", "sort/bitonic", ""), ("radix sort", "sort/radix", ""),
             ("breadth-first", "bfs/bfs", "")]
    names += [(f"npb {kernel}", f"npb/{kernel.split('_')[0]}", f"npb/{kernel}.toml")
              for kernel in ("mg_thread", "mg_warp", "ft_thread", "ft_block", "cg_thread", "cg_warp", "lu_warp")]
    return [Case(name, f"{ptx}.ptx", launch=launch) for name, ptx, launch in names]


def _untouched() -> list[Case]:
    return [Case("npb bt_thread", "npb/bt.ptx", launch="npb/bt_thread.toml"),
            Case("npb sp_thread", "npb/sp.ptx", launch="npb/sp_thread.toml"), Case("prefix sums", "scan/reduce_down.ptx"),
            Case("spmv formats", "spmv/formats.ptx")]


def _programs() -> list[Case]:
    """What rules for machines with caches are chosen on; suites/latency_hidden_machines.toml judges them on other programs."""
    algebra = [("2mm", ("N=128",)), ("3mm", ("N=96",)), ("gemm", ("N=64",)), ("gemm", ("N=160",)), ("syr2k", ("N=96", "DEPTH=96")),
               ("atax", ("ROWS=1024", "COLUMNS=512")), ("bicg", ("ROWS=512", "COLUMNS=1024")), ("mvt", ("N=512",)),
               ("gramschmidt", ("ROWS=512", "COLUMNS=512"))]
    cases = [Case(" ".join((name, *params)), "polybench/linear_algebra.ptx", params, f"polybench/{name}.toml") for name, params in algebra]
    cases += [Case("correlation", "polybench/statistics.ptx", ("POINTS=128", "VARIABLES=128"), "polybench/correlation.toml"),
              Case("3dconv", "polybench/stencils.ptx", (), "polybench/3dconv.toml")]
    cases += [Case(name, "parboil/kernels.ptx", params, f"parboil/{name}.toml")
              for name, params in (("lbm", ()), ("tpacf", ("N=512",)), ("histo", ("PIXELS=65536", "BINS=1024")))]
    return cases + [Case(f"{kernel}, N = {n}", f"matmul/{kernel}.ptx", (f"N={n}",)) for kernel in ("naive_8x8", "tiled_8x8") for n in (160, 288)]


SETS = {"judged": _judged, "fitted": _fitted, "untouched": _untouched, "programs": _programs}


INPUTS = ("operations", "transactions", "rows", "partitions", "pages", "caches")


def options_of(case: Case) -> list[Any]:
    options: list[Any] = ["--launch", SOURCE / "workloads" / case.launch] if case.launch else []
    for param in case.params:
        options += ["--param", param]
    return options


def kernels_of(gpusim: Path, machine: str, case: Case, folder: Path, functional: bool) -> list[dict[str, Any]]:
    file = folder / f"{machine} {case.name}.h5".replace(" ", "_").replace(",", "").replace("/", "_")
    if not file.exists():
        command = [gpusim, "--config", machine, SOURCE / "workloads" / case.ptx, "--out", file, "--quiet"]
        subprocess.run(command + options_of(case), check=True, stderr=subprocess.DEVNULL)
    analyze = [gpusim, "analyze", file, "--model", "latency-hidden", "--json"]
    if functional:
        counts = file.with_suffix(".counts.json")
        subprocess.run([gpusim, "predict", SOURCE / "workloads" / case.ptx, "--config", machine, "--counts", counts,
                        *options_of(case)], check=True, stdout=subprocess.DEVNULL)
        analyze += ["--option", f"inputs={counts}"]
    done = subprocess.run(analyze, check=True, capture_output=True)
    kernels = json.loads(done.stdout)["models"][0]["details"]["kernels"]
    by_name: dict[str, dict[str, Any]] = {}
    for kernel in kernels:  # of many launches of one kernel the longest
        known = by_name.get(kernel["name"])
        if known is None or kernel["simulated"]["cycles"] > known["simulated"]["cycles"]:
            by_name[kernel["name"]] = kernel
    return list(by_name.values())


def table(gpusim: Path, machine: str, cases: list[Case], folder: Path) -> list[float]:
    print("| case | kernel | simulated | extended | error | factor | paper: last | sum | mean |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    errors, rates = [], []
    for case in cases:
        for k in kernels_of(gpusim, machine, case, folder, False):
            extended, paper = k["extended"], k["paper"]
            rates.append(1 / (1 + paper["last"]["error"]) - 1)
            errors.append(extended["error"])
            print(f"| {case.name} | `{k['name']}` | {k['simulated']['cycles']:,} | {extended['cycles']:,.0f} | "
                  f"{100 * extended['error']:+.1f} % | {k['factor']:.2f} | "
                  + " | ".join(f"{100 * paper[a]['error']:+.0f} %" for a in ("last", "sum", "mean")) + " |", flush=True)
    if cases == _judged():  # what the paper judges
        print(f"\nGFLOP/s as `last` predicts them: mean |error| {sum(map(abs, rates)) / len(rates):.2f} (published over hardware: 0.19), "
              f"{sum(r < 0 for r in rates)} of {len(rates)} too low")
    return errors


def functional_table(gpusim: Path, machine: str, cases: list[Case], folder: Path) -> list[float]:
    print("| case | kernel | simulated | run's counts | functional | followed | " + " | ".join(INPUTS) + " |")
    print("|---|---|---:|---:|---:|---:" + "|---:" * len(INPUTS) + "|")
    errors = []
    for case in cases:
        for k in kernels_of(gpusim, machine, case, folder, True):
            extended, functional = k["extended"], k["functional"]
            errors.append(functional["error"])
            print(f"| {case.name} | `{k['name']}` | {k['simulated']['cycles']:,} | {100 * extended['error']:+.1f} % | "
                  f"{100 * functional['error']:+.1f} % | {100 * functional['followed']:.0f} % | "
                  + " | ".join(f"{100 * (functional['one_input'][i] / extended['cycles'] - 1):+.1f}" for i in INPUTS) + " |", flush=True)
    return errors


@dataclass(frozen=True)
class Curve:
    title: str
    kernel: str
    figure: int


CURVES = (Curve("8x8", "naive_8x8", 14), Curve("16x16", "naive_16x16", 14), Curve("8x8", "tiled_8x8", 15),
          Curve("16x16", "tiled_16x16", 15), Curve("64x16", "volkov", 16))
FIGURES = {14: "Naive multiplication", 15: "Tiled multiplication (as CUBLAS 1.1)", 16: "Multiplication of Volkov and Demmel"}


def _size_case(curve: Curve, size: int) -> Case:
    if curve.kernel != "volkov":
        return Case(f"{curve.kernel}, N = {size}", f"matmul/{curve.kernel}.ptx", (f"N={size}",))
    n = max(64, size // 64 * 64)
    return Case(f"volkov, N = {n}", "matmul/volkov.ptx", (f"N={n}", f"ld={n + 32}"))


def draw_figures(gpusim: Path, machine: str, sizes: list[int], recordings: Path, pictures: Path) -> None:
    pictures.mkdir(parents=True, exist_ok=True)
    blocks, plots = [], {figure: [] for figure in FIGURES}
    print("| figure | kernel | N | simulated | paper, last | extended |\n|---:|---|---:|---:|---:|---:|")
    for number, curve in enumerate(CURVES):
        rows = []
        for size in sizes:
            case = _size_case(curve, size)
            n = int(case.params[0].split("=")[1])
            (k,) = kernels_of(gpusim, machine, case, recordings, False)
            simulated = k["simulated"]["gflops"]
            rates = [simulated, simulated / (1 + k["paper"]["last"]["error"]), k["extended"]["gflops"]]
            rows.append(" ".join(map(str, [n, *rates])))
            print(f"| {curve.figure} | {curve.kernel} | {n} | " + " | ".join(f"{r:.1f}" for r in rates) + " |", flush=True)
        blocks.append(f"$c{number} << end\n" + "\n".join(rows) + "\nend\n")
        color = len(plots[curve.figure]) // 3 + 1
        for column, what, style in ((2, "simulated", f"linespoints lc {color} lw 2 pt 7 ps 0.6"), (3, "paper", f"lines lc {color} dt 2"),
                                    (4, "extended", f"points lc {color} pt 6 ps 1.3")):
            plots[curve.figure].append(f"$c{number} using 1:{column} with {style} title '{curve.title} {what}'")
    for figure, title in FIGURES.items():
        picture = pictures / f"latency_hidden_figure{figure}.svg"
        commands = (f"set terminal svg size 860,460 font 'sans,12' background 'white' noenhanced\nset output '{picture}'\nset title '{title}, {machine}'\n"
                    "set xlabel 'N'\nset ylabel 'GFLOP/s'\nset yrange [0:*]\nset grid\nset key outside right\n"
                    + "".join(blocks) + "plot " + ", ".join(plots[figure]) + "\n")
        done = subprocess.run(["gnuplot"], input=commands, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"gnuplot: {done.stderr}")
        print(f"drawn: {picture}")


GAINS = {"structures": "coalescing", "transposition": "coalescing", "row_sums": "coalescing", "layer_norm": "coalescing",
         "tile_columns": "bank conflicts", "tree": "bank conflicts", "own_rows": "bank conflicts", "gather": "occupancy",
         "registers": "occupancy", "tail": "grid", "few_blocks": "grid", "chains": "independent work", "twice": "reuse"}
CLOSE = 0.25  # of the simulated gain


def print_gains(gpusim: Path, machine: str, folder: Path) -> None:
    print("| pair | change | simulated | predicted | error |")
    print("|---|---|---:|---:|---:|")
    errors = []
    for pair, change in GAINS.items():
        files = [folder / f"{machine}_{pair}_{when}.h5" for when in ("before", "after")]
        pair_runs = True
        for file in files:
            launch = SOURCE / "workloads" / "advice" / f"{file.stem.removeprefix(machine + '_')}.toml"
            run = subprocess.run([gpusim, "--config", machine, launch.with_name(f"{pair}.ptx"), "--launch", launch, "--out", file,
                                  "--force", "--quiet"], capture_output=True, text=True)
            pair_runs = pair_runs and run.returncode == 0
        if not pair_runs:
            print(f"| `{pair}` | {change} | the machine cannot run it | | |")
            continue
        done = subprocess.run([gpusim, "analyze", *files, "--model", "latency-hidden", "--option", f"change={change}", "--json"],
                              check=True, capture_output=True)
        gain = json.loads(done.stdout)["models"][0]["predictions"][-1]
        errors.append(abs(gain["error"]))
        print(f"| `{pair}` | {change} | {gain['simulated']:.2f} | {gain['predicted']:.2f} | {100 * gain['error']:+.0f} % |", flush=True)
    print(f"\n{sum(e <= CLOSE for e in errors)} of {len(errors)} within {100 * CLOSE:.0f} %, mean |error| {100 * sum(errors) / len(errors):.1f} %, "
          f"largest {100 * max(errors):.1f} %")


def _sizes(text: str) -> list[int]:
    sizes = [int(word) for word in text.split(",")]
    if any(n < 16 or n % 16 != 0 for n in sizes):
        raise argparse.ArgumentTypeError("sizes are multiples of 16")
    return sizes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", type=Path)
    parser.add_argument("--set", choices=SETS, action="append", help="repeatable; default: all")
    parser.add_argument("--machine", default="tesla_c1060")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--functional", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--gains", action="store_true")
    parser.add_argument("--figures", type=Path, metavar="FOLDER")
    parser.add_argument("--sizes", type=_sizes, default=_sizes("96,160,288,544,1056,2080"), help="of --figures, separated by commas")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if arguments.figures:
            draw_figures(arguments.gpusim, arguments.machine, arguments.sizes, folder, arguments.figures)
            return 0
        if arguments.gains:
            print_gains(arguments.gpusim, arguments.machine, folder)
            return 0
        for name in arguments.set or SETS:
            print(f"\n{name}, {arguments.machine}:\n")
            cases = [c for c in SETS[name]() if not (arguments.quick and c.slow)]
            print_table = functional_table if arguments.functional else table
            errors = [abs(e) for e in print_table(arguments.gpusim, arguments.machine, cases, folder)]
            print(f"\n{len(errors)} kernels, mean |error| {100 * sum(errors) / len(errors):.1f} %, "
                  f"largest {100 * max(errors):.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
