#!/usr/bin/env python3
"""Studies of energy on a simulated machine, as tables of docs/studies/energy_cases.md and energy_accuracy.md: sparse products
with their transfers, the spread over inputs, choice of memory access, order of tasks, and a task on the host beside one on the GPU.

    regress/energy.py build/release/bin/gpusim [--large]
    regress/energy.py build/release/bin/gpusim --paper [--large]
    regress/energy.py --outcome regress-full/outcome.json

--large adds the third matrix (minutes). --paper prints figures 8 to 12 and tables 3 and 4 of the paper, what is printed beside ours.
What the model `energy` predicts is compared by `gpusim regress --suite full`; its outcome
as tables of docs/studies/energy_accuracy.md is printed by --outcome.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
WORKLOADS = SOURCE / "workloads"
CONFIG = "tesla_c1060"
MATRICES = {"m1": (3200, 1880), "m2": (93280, 652247), "m3": (659033, 5959282)}
FORMS = {"scalar": "csr_scalar", "vector": "csr_vector", "vector_plane": "csr_vector_plane", "ell": "ell"}
FORMS_SHOWN = ("scalar", "vector", "ell")
MOST_ROWS_IN_LINE = 4 * 65535  # of a warp per row, in the blocks of a grid of one dimension
# Kernels that only convert the matrix: its form is given in what the paper times.
CONVERSIONS = ("csr_to_ell", "spmv_expand_rows")


class Program:
    def __init__(self, gpusim: Path) -> None:
        self.gpusim = gpusim
        host = self._host()
        self.host_idle, self.gpu_idle = float(host["idle_power"]), float(host["gpu_idle_power"])

    def _host(self) -> dict[str, str]:
        text = subprocess.run([self.gpusim, "config", "show", CONFIG], check=True, capture_output=True, text=True).stdout
        section = text.split("[host]")[1].split("\n[")[0]
        return dict(map(str.strip, line.split("#")[0].split("=")) for line in section.splitlines() if "=" in line)

    def run(self, ptx: str, *options: str) -> dict:
        done = subprocess.run([self.gpusim, "--config", CONFIG, WORKLOADS / ptx, "--json", *options], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"energy: {ptx} {' '.join(options)}: exit code {done.returncode}\n{done.stderr}")
        return json.loads(done.stdout)


def _kernels(result: dict) -> tuple[float, float]:
    """Seconds and joules of all kernels."""
    kernels = result["kernels"]
    return sum(k["time_s"] for k in kernels), sum(k["counters"]["energy"] for k in kernels)


def _elapsed(result: dict) -> float:
    """Seconds from the first copy or kernel to the end of the last."""
    cycles, seconds = (sum(k[key] for k in result["kernels"]) for key in ("cycles", "time_s"))
    spans = [(k["start_cycle"], k["start_cycle"] + k["cycles"]) for k in result["kernels"]]
    spans += [(c["start_cycle"], c["end_cycle"]) for c in result.get("copies", [])]
    return (max(end for _, end in spans) - min(start for start, _ in spans)) * seconds / cycles


def _sparse(program: Program, form: str, matrix: str, *options: str) -> dict:
    rows, values = MATRICES[matrix]
    if form == "vector" and rows > MOST_ROWS_IN_LINE:
        form = "vector_plane"
    return program.run(f"spmv/{FORMS.get(form, form)}.ptx", "--launch", str(WORKLOADS / f"spmv/matrix_{form}.toml"), "--param", f"ROWS={rows}",
                       "--param", f"NNZ={values}", *options)


def sparse_products(program: Program, matrices: list[str]) -> None:
    print("| matrix | form | kernels us | with transfers us | kernels mJ | mean W | idle host mJ | system mJ |\n" + "|---" * 8 + "|")
    for matrix in matrices:
        for form in FORMS_SHOWN:
            result = _sparse(program, form, matrix)
            (seconds, joules), elapsed = _kernels(result), _elapsed(result)
            idle = program.host_idle * elapsed
            system = joules + idle + program.gpu_idle * (elapsed - seconds)
            print(f"| {matrix} | {form} | {seconds * 1e6:.1f} | {elapsed * 1e6:.1f} | {joules * 1e3:.3f} | {joules / seconds:.1f} | "
                  f"{idle * 1e3:.2f} | {system * 1e3:.2f} |")


def spread_over_inputs(program: Program) -> None:
    print("\n| matrix | mean W of the kernel | standard deviation, % | of its time, % |\n" + "|---" * 4 + "|")
    for matrix in ("m1", "m2"):
        runs = [_kernels(_sparse(program, "scalar", matrix, "--seed", str(seed))) for seed in range(10)]
        power, seconds = [j / s for s, j in runs], [s for s, _ in runs]
        print(f"| {matrix} | {statistics.mean(power):.2f} | {100 * statistics.stdev(power) / statistics.mean(power):.2f} | "
              f"{100 * statistics.stdev(seconds) / statistics.mean(seconds):.2f} |")


# Name, workload, options, and which launch (None: all).
ACCESS = (
    ("transposition: rows read, columns written", "transpose/naive.ptx", (), None),
    ("the same through shared memory, coalesced", "transpose/padded.ptx", (), None),
    ("matrix product from memory, N = 160", "matmul/naive_16x16.ptx", ("--param", "N=160"), None),
    ("the same through shared tiles", "matmul/tiled_16x16.ptx", ("--param", "N=160"), None),
    ("shared words 1 apart (exclusive banks)", "micro/shared_stride.ptx", (), 1),
    ("shared words 16 apart (one bank, 16 in turn)", "micro/shared_stride.ptx", (), 6),
)


def access_choice(program: Program) -> None:
    print("\n| access | us | mJ | core mJ | interconnect mJ | DRAM mJ |\n" + "|---" * 6 + "|")
    for name, ptx, options, launch in ACCESS:
        result = program.run(ptx, *options)
        if launch is not None:
            result["kernels"] = [result["kernels"][launch]]
        seconds, joules = _kernels(result)
        domains = [sum(k["counters"][f"energy_{d}_domain"] for k in result["kernels"]) for d in ("core", "interconnect", "dram")]
        print(f"| {name} | {seconds * 1e6:.1f} | {joules * 1e3:.3f} | " + " | ".join(f"{d * 1e3:.3f}" for d in domains) + " |")


def _two_tasks(order: tuple[str, str], streams: bool) -> str:
    """A launch file that multiplies two matrices, one after the other or each in a stream of its own."""
    text = ""
    work = ""
    for i, matrix in enumerate(order):
        rows, values = MATRICES[matrix]
        for name, kind, count, init in (("row_start", "s32", rows + 1, f"row_starts({values})"), ("column", "s32", values, f"randint(0, {rows})"),
                                        ("value", "f32", values, "uniform(-1, 1)"), ("x", "f32", rows, "uniform(-1, 1)"),
                                        ("y", "f32", rows, "zeros")):
            text += f'[[buffer]]\nname = "{name}_{matrix}"\ntype = "{kind}"\ncount = {count}\ninit = "{init}"\n'
        stream = f"stream = {i + 1 if streams else 0}\n"
        for name in ("row_start", "column", "value", "x"):
            work += f'[[copy]]\nbuffer = "{name}_{matrix}"\n{stream}'
        arguments = ", ".join(f'"{name}_{matrix}"' for name in ("y", "row_start", "column", "value", "x"))
        work += f'[[launch]]\nkernel = "spmv_csr_scalar"\ngrid = [{-(-rows // 128)}]\nblock = [128]\nargs = [{arguments}, {rows}]\n{stream}'
        work += f'[[copy]]\nbuffer = "y_{matrix}"\ndirection = "from_device"\n{stream}'
    return text + work


def task_order(program: Program) -> None:
    print("\n| order | streams | us | system mJ |\n" + "|---" * 4 + "|")
    for order in (("m1", "m2"), ("m2", "m1")):
        for streams in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                launch = Path(folder) / "two.toml"
                launch.write_text(_two_tasks(order, streams))
                result = program.run("spmv/csr_scalar.ptx", "--launch", str(launch))
            (seconds, joules), elapsed = _kernels(result), _elapsed(result)
            system = joules + program.host_idle * elapsed + program.gpu_idle * (elapsed - seconds)
            print(f"| {' then '.join(order)} | {'one each' if streams else 'one'} | {elapsed * 1e6:.1f} | {system * 1e3:.2f} |")


def host_beside(program: Program) -> None:
    """Equations 8 and 9: one product on the GPU, the other on a host that takes `times` as long as the GPU."""
    print("\n| on the host | on the GPU | host slower by | GPU ends after us | host after us | idle side | idle mJ |\n" + "|---" * 7 + "|")
    gpu = {m: _elapsed(_sparse(program, "scalar", m)) for m in ("m1", "m2")}
    for times in (2, 20, 200):
        for host, other in (("m1", "m2"), ("m2", "m1")):
            host_s, gpu_s = times * gpu[host], gpu[other]
            power = program.host_idle if host_s < gpu_s else program.gpu_idle
            print(f"| {host} | {other} | {times} | {gpu_s * 1e6:.0f} | {host_s * 1e6:.0f} | {'host' if host_s < gpu_s else 'GPU'} | "
                  f"{abs(host_s - gpu_s) * power * 1e3:.1f} |")


# Tables 3 and 4 of Wang, Cheng and Zhao (2014): seconds of kernels, of transfers to the GPU, and of both.
PRINTED_TIMES = {"m1": (0.026145, 0.052019, 0.078764), "m2": (0.140452, 0.35549, 0.495943), "m3": (0.723514, 1.376797, 2.120311)}
PRINTED_FORMS = {"their padded rows": (0.723514, 1.376797), "library, a warp a row": (0.814531, 1.419073),
                 "CUDPP, segmented scan": (0.789324, 1.578661)}
OUR_FORMS = {"their padded rows": "ell", "library, a warp a row": "vector", "CUDPP, segmented scan": "segmented"}


def _kernel_seconds(result: dict, conversion: bool) -> float:
    return sum(k["time_s"] for k in result["kernels"] if conversion or k["name"] not in CONVERSIONS)


def _transfer_seconds(result: dict) -> float:
    cycles, seconds = (sum(k[key] for k in result["kernels"]) for key in ("cycles", "time_s"))
    return sum(c["end_cycle"] - c["start_cycle"] for c in result.get("copies", [])) * seconds / cycles


def paper_tables(program: Program, matrices: list[str]) -> None:
    print("Table 3: times of a product with a thread per row\n\n| matrix | kernel, printed s | transfers | share of the kernel | ours: kernel us | "
          "transfers | share |\n" + "|---" * 7 + "|")
    ours: dict[str, tuple[float, float]] = {}
    for matrix in matrices:
        result = _sparse(program, "scalar", matrix)
        ours[matrix] = _kernel_seconds(result, True), _transfer_seconds(result)
        kernel, transfers, total = PRINTED_TIMES[matrix]
        print(f"| {matrix} | {kernel} | {transfers} | {100 * kernel / total:.0f} % | {ours[matrix][0] * 1e6:.1f} | {ours[matrix][1] * 1e6:.1f} | "
              f"{100 * ours[matrix][0] / sum(ours[matrix]):.0f} % |")
    for larger, smaller in zip(matrices[1:], matrices):
        print(f"\n{larger} takes {PRINTED_TIMES[larger][0] / PRINTED_TIMES[smaller][0]:.1f} times as long as {smaller} as printed, "
              f"{ours[larger][0] / ours[smaller][0]:.1f} times here.")
    matrix = matrices[-1]
    print(f"\nTable 4: forms of the product, {matrix} here, m3 in print; relative to the first form\n\n| form | kernel, printed | with transfers | ours: "
          "kernel | with its conversion | with transfers | mJ of the kernel |\n" + "|---" * 7 + "|")
    first = None
    for name, (kernel, transfers) in PRINTED_FORMS.items():
        result = _sparse(program, OUR_FORMS[name], matrix)
        mine = _kernel_seconds(result, False), _kernel_seconds(result, True), _elapsed(result)
        first = first or mine
        joules = sum(k["counters"]["energy"] for k in result["kernels"] if k["name"] not in CONVERSIONS)
        print(f"| {name} | {kernel / PRINTED_FORMS['their padded rows'][0]:.2f} | {(kernel + transfers) / sum(PRINTED_FORMS['their padded rows']):.2f} | "
              + " | ".join(f"{a / b:.2f}" for a, b in zip(mine, first)) + f" | {joules * 1e3:.2f} |")


def _analyse(program: Program, files: list[Path], *options: str) -> dict:
    done = subprocess.run([program.gpusim, "analyze", *files, "--model", "energy", "--json", *options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"energy: analyze: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)["models"][0]


def figure_8(program: Program, folder: Path) -> None:
    """Predicted beside simulated power over the clock, and how much ten inputs spread it."""
    print("\nFigure 8: predicted and actual power of the system; printed: errors of about 2 %, and less spread for larger matrices\n\n| matrix | "
          "clocks | system power, error % | a constant's | board power, error % | a constant's | spread of system power over inputs % | of the "
          "kernel's |\n" + "|---" * 8 + "|")
    for matrix in ("m1", "m2"):
        files = []
        for clock in (1296, 1136, 974, 812, 648):
            files.append(folder / f"{matrix}_{clock}.h5")
            record = ("--events", "memory") if clock == 1296 else ("--core-clock", f"{clock}MHz")
            _sparse(program, "scalar", matrix, "--out", str(files[-1]), *record)
        errors: dict[str, list[tuple[float, float]]] = {"system power": [], "board power": []}
        predictions = _analyse(program, files)["predictions"]
        for p in predictions:
            if p["quantity"] in errors:
                errors[p["quantity"]].append((abs(p["predicted"] / p["simulated"] - 1), abs(p["constant"] / p["simulated"] - 1)))
        cells = [f"{100 * statistics.mean(e[side] for e in errors[q]):.2f}" for q in errors for side in (0, 1)]
        systems, kernels = [], []
        for seed in range(10):
            result = _sparse(program, "scalar", matrix, "--seed", str(seed))
            systems.append(result["system"]["power_w"])
            seconds, joules = _kernels(result)
            kernels.append(joules / seconds)
        spreads = [f"{100 * statistics.stdev(values) / statistics.mean(values):.3f}" for values in (systems, kernels)]
        print(f"| {matrix} | {len(files) - 1} | " + " | ".join(cells + spreads) + " |")


def figure_9(program: Program, folder: Path) -> None:
    print("\nFigure 9: a sparse product (m2) over the number of blocks; printed: falls, then rises\n\n| blocks | mJ of the kernel | predicted from 30 blocks |\n"
          + "|---" * 3 + "|")
    rows, values = MATRICES["m2"]
    files = []
    for blocks in (8, 15, 30, 60, 120, 240, 480, 729):
        files.append(folder / f"blocks_{blocks}.h5")
        program.run("spmv/csr_blocks.ptx", "--launch", str(WORKLOADS / "spmv/matrix_blocks.toml"), "--param", f"ROWS={rows}", "--param",
                    f"NNZ={values}", "--param", f"M={blocks}", "--out", str(files[-1]), "--events", "memory" if blocks == 30 else "summary")
    model = _analyse(program, files, "--option", "study=blocks")
    for p in model["predictions"]:
        if p["quantity"] == "energy by blocks":
            print(f"| {p['kernel'].split()[1]} | {p['simulated'] * 1e3:.2f} | {p['predicted'] * 1e3:.2f} |")
        if p["quantity"] == "energy above the least":
            print(f"\nThe number that is picked takes {100 * p['predicted']:.1f} % more than the least.")


def figures_10_and_11(program: Program, folder: Path) -> None:
    files = []
    for blocks in (2, 4):
        files.append(folder / f"scan_{blocks}.h5")
        program.run("scan/reduce_down_sm13.ptx", "--launch", str(WORKLOADS / "scan/reduce_down.toml"), "--param", "N=2000", "--param", f"M={blocks}",
                    "--events", "memory", "--out", str(files[-1]))
    text = subprocess.run([program.gpusim, "analyze", *files, "--model", "energy", "--option", "study=blocks"], capture_output=True, text=True,
                          check=True).stdout
    print("\nFigures 10 and 11: optimal number of blocks by the printed formula; printed: falls with K; falls, then rises with M_c\n")
    for line in text.splitlines():
        if line.startswith(("  K =", "  M_c =")):
            print(line)


def figure_12(program: Program) -> None:
    print("\nFigure 12: energy of the waiting host over its waiting time; printed: linear\n\n| matrix | form | waits us | mJ | mJ a us |\n" + "|---" * 5 + "|")
    for matrix in ("m1", "m2"):
        for form in ("scalar", "vector", "segmented"):
            system = _sparse(program, form, matrix)["system"]
            print(f"| {matrix} | {form} | {system['elapsed_s'] * 1e6:.1f} | {system['host_j'] * 1e3:.2f} | "
                  f"{system['host_j'] / system['elapsed_s'] * 1e-3:.4f} |")


def paper(program: Program, large: bool) -> None:
    paper_tables(program, list(MATRICES) if large else ["m1", "m2"])
    with tempfile.TemporaryDirectory() as name:
        figure_8(program, Path(name))
        figure_9(program, Path(name))
        figures_10_and_11(program, Path(name))
    figure_12(program)


def _mean_and_worst(errors: list[float], digits: int) -> str:
    return f"{100 * statistics.mean(errors):.{digits}f}, {100 * max(errors):.{digits}f}"


def outcome_tables(rows: list[dict]) -> None:
    quantities = ("time", "kernel energy", "system power")
    errors: dict[str, dict[str, list[float]]] = {}
    role: dict[str, str] = {}
    for r in rows:
        if r["model"] != "energy" or r["quantity"] not in quantities or not r["case"].startswith("dvfs_"):
            continue
        name = r["case"].removeprefix("dvfs_").rpartition("_")[0]
        role[name] = r["role"]
        for key in (name, f"all {r['role']}"):
            errors.setdefault(key, {q: [] for q in quantities})[r["quantity"]].append(abs(r["error"]))
    print("\n| runs | | kernels x clocks | time: mean, worst % | kernel energy: mean, worst % | system power: mean, worst % |\n" + "|---" * 6 + "|")
    for name in [*role, *(f"all {kind}" for kind in ("judged", "fitted"))]:
        time, energy, power = (errors[name][q] for q in quantities)
        label = f"`{name}` | {role[name]}" if name in role else f"{name} | "
        print(f"| {label} | {len(time)} | {_mean_and_worst(time, 1)} | {_mean_and_worst(energy, 1)} | {_mean_and_worst(power, 2)} |")
    print("\n| N | pick | least simulated | above it % | energy over all M but the base: mean, worst % |\n" + "|---" * 5 + "|")
    for case in dict.fromkeys(r["case"] for r in rows if r["quantity"] == "energy by blocks"):
        mine = [r for r in rows if r["case"] == case]
        blocks = {int(r["kernel"].split()[1]): r for r in mine}
        pick, least = (min(blocks, key=lambda m: blocks[m][side]) for side in ("predicted", "simulated"))
        above = next(r for r in rows if r["case"] == case.replace("_energy", "_pick"))["predicted"]
        print(f"| {case.split('_')[1]} | {pick} | {least} | {100 * above:.1f} | {_mean_and_worst([abs(r['error']) for r in mine], 1)} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", type=Path, nargs="?")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--outcome", type=Path)
    arguments = parser.parse_args()
    if arguments.outcome:
        outcome_tables(json.loads(arguments.outcome.read_text())["rows"])
        return 0
    if arguments.gpusim is None:
        parser.error("gpusim is missing")
    program = Program(arguments.gpusim)
    if arguments.paper:
        paper(program, arguments.large)
        return 0
    sparse_products(program, list(MATRICES) if arguments.large else ["m1", "m2"])
    spread_over_inputs(program)
    access_choice(program)
    task_order(program)
    host_beside(program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
