#!/usr/bin/env python3
"""Roofline scaling trajectories of the NPB-like kernels on a V100, as tables in Markdown.

    regress/roofline_styles.py GPUSIM [--only styles] [--work FOLDER] [--plots FOLDER]

styles      every application in two programming styles on 2 to 80 SMs, kernel by kernel and as a whole
figures     figures 1, 3, 5 and 6 of the source text from the same runs: strong scaling, active lanes, occupancy, kernels of LU with one equation and five;
            and the intensities of both styles at each level of memory
classes     the largest problems that run in minutes: which data no longer fits L2, and what is lost from 2 to 80 SMs
directions  the same solver along x, y and z: a strided direction against its transposed form
weak        problems that grow with the number of SMs
tuned       two kernels before and after what their diagnosis made us change

Results are verified by each run. Recordings stay in the folder of --work, and those that are there are used again.
"""
import argparse
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

WORKLOADS = pathlib.Path(__file__).resolve().parent.parent / "workloads"
SMS = (2, 4, 8, 20, 40, 80)
ENDS = (2, 80)
APPLICATIONS = [  # name, styles, parameters
    ("cg", ("thread", "warp"), {"ROWS": 14000}),
    ("mg", ("thread", "warp"), {"N": 64}),
    ("ft", ("thread", "block"), {"NX": 64, "NY": 32, "NZ": 32}),
    ("lu", ("thread", "warp"), {"NX": 33, "NY": 33, "NZ": 33}),
    ("sp", ("thread", "block"), {"N": 36}),
    ("bt", ("thread", "warp"), {"N": 24})]
FIVE_EQUATIONS = ("lu5", ("thread", "warp"), {"NX": 24, "NY": 24, "NZ": 24})  # of figures besides
DIRECTIONS = [  # the launches along x, y and z, and the operations of each by the application's count
    ("sp", "thread", (0, 1, 2), {"N": 36}, 17 * 36**3), ("sp", "block", (0, 1, 2), {"N": 36}, 17 * 36**3),
    ("ft", "block", (1, 2, 3), {"NX": 32, "NY": 32, "NZ": 32}, 5 * 5 * 32**3)]
CLASSES = [  # program, style, parameters, class
    ("cg", "warp", {"ROWS": 14000, "PAIRS": 66}, "A"), ("mg", "thread", {"N": 128}, "W"), ("mg", "warp", {"N": 128}, "W"),
    ("ft", "block", {"NX": 128, "NY": 128, "NZ": 32}, "W"), ("bt", "warp", {"N": 36}, "between W and A"),
    ("bt", "warp", {"N": 48}, "between W and A"), ("sp", "thread", {"N": 64}, "A"), ("sp", "thread", {"N": 102}, "B")]
CLASS_SMS = ENDS
OCCUPANCY = [("bt", "warp", {"N": 12}), ("bt", "warp", {"N": 24}), ("lu", "thread", {"NX": 33, "NY": 33, "NZ": 33}),
             ("lu", "thread", {"NX": 64, "NY": 64, "NZ": 64}),
             ("lu5", "thread", {"NX": 24, "NY": 24, "NZ": 24}),
             ("lu5", "thread", {"NX": 33, "NY": 33, "NZ": 33})]  # classes S, W; W, A; below W, W
STARTS = ("cg_start", "ft_roots", "lu5_start")  # what makes data, no part of the application
CG_WEAK = {2: 1400, 8: 5600, 20: 14000, 40: 28000, 80: 56000}  # rows: 700 for each SM
MG_WEAK = {2: 32, 16: 64, 32: 80, 54: 96}                      # about 16000 cells for each SM
TUNED = [("lu", "thread", "tiles", {"NX": 33, "NY": 33, "NZ": 33}), ("sp", "block", "lines", {"N": 36}),
         ("sp", "block", "lines", {"N": 64})]


class Study:
    def __init__(self, gpusim, work, plots):
        self.gpusim, self.work, self.plots = gpusim, work, plots

    def call(self, *arguments):
        command = [str(a) for a in (self.gpusim, *arguments)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{result.stderr}")
        return result.stdout

    def record(self, ptx, launch, params, sms):
        """The recording of a run; it is made if it is not there."""
        words = [launch.stem, *(f"{k}{v}" for k, v in params.items()), f"on{sms}"]
        out = self.work / ("_".join(words) + ".h5")
        if not out.exists():
            self.call("--config", "tesla_v100", "--sms", sms, ptx, "--launch", launch, "--quiet", "--out", out,
                      *(word for k, v in params.items() for word in ("--param", f"{k}={v}")))
        return out

    def ceilings(self, counts):
        ptx = WORKLOADS / "roofline" / "ceilings.ptx"
        return [self.record(ptx, ptx.with_suffix(".toml"), {}, n) for n in counts]

    def npb(self, name, style, params, sms):
        ptx, launch = WORKLOADS / "npb" / f"{name}.ptx", WORKLOADS / "npb" / f"{name}_{style}.toml"
        if not (name, style) in ((a, s) for a, styles, _ in (*APPLICATIONS, FIVE_EQUATIONS) for s in styles):
            ptx = launch.with_suffix(".ptx")
        if name == "cg":
            launch, params = self.cg_matrix(launch, params["ROWS"], params.get("PAIRS"))
        return self.record(ptx, launch, params, sms)

    def cg_matrix(self, launch, rows, pairs=None):
        folder = self.work / (f"cg_{rows}" if pairs is None else f"cg_{rows}_{pairs}")
        if not folder.exists():
            folder.mkdir()
            more = [] if pairs is None else [str(pairs)]
            subprocess.run([sys.executable, launch.with_name("cg_matrix.py"), str(rows), folder, *more], check=True)
        shutil.copy(launch, folder)
        nonzeros = struct.unpack("<i", (folder / "cg_row_start.npy").read_bytes()[-4:])[0]
        return folder / launch.name, {"ROWS": rows, "NONZEROS": nonzeros}

    def analyze(self, files, *options):
        words = [word for o in options for word in ("--option", o)]
        out = json.loads(self.call("analyze", "--model", "roofline", "--json", *files, *words))
        return out["models"][0]["details"]["trajectories"]

    def gnuplot(self, picture, commands):
        if not self.plots:
            return
        style = "set terminal svg size 900,520 background rgb 'white' font 'Helvetica,14' noenhanced\nset key outside right\n"
        target = f"set output '{self.plots / picture}'\n"
        done = subprocess.run(["gnuplot"], input=style + target + commands, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"gnuplot: {done.stderr}")

    def draw(self, picture, files, *options):
        if self.plots:
            self.call("analyze", "--model", "roofline", *files, *options, "--option", f"plot={self.plots / picture}")


def rate(point):
    return point["flops"] / point["seconds"] * 1e-9


def of_roof(point):
    return "-" if point["of_roof"] is None else f"{100 * point['of_roof']:.0f}"


def both(ends, text):
    """A quantity at the fewest and the most SMs; once if it is the same."""
    low, high = (text(point) for point in ends)
    return low if low == high else f"{low} -> {high}"


def percent(name):
    return lambda point: f"{100 * point[name]:.0f}"


def intensity(point):
    """Above a thousand next to nothing comes from DRAM: a number would say nothing."""
    if not point["flops"] or not point["dram_bytes"]:
        return "-"
    value = point["flops"] / point["dram_bytes"]
    return f"{value:.3g}" if value < 1000 else "> 1000"


def per_operation(point):
    """Of a warp's operation: 64 at most."""
    return f"{point['flops'] / point['operations']:.2g}" if point["flops"] else "-"


def row(what, t):
    """Of a trajectory: what the two ends and the counters say."""
    ends = first, last = t["points"][0], t["points"][-1]
    found = ", ".join(f["defect"] for f in t["findings"]) or "-"
    gflops = f"{rate(first):.3g} -> {rate(last):.3g}" if first["flops"] else "-"
    return (f"| {what} | {1e6 * first['seconds']:.1f} -> {1e6 * last['seconds']:.1f} | "
            f"{first['seconds'] / last['seconds']:.1f} | {gflops} | {both(ends, intensity)} | {both(ends, of_roof)} | "
            f"{per_operation(first)} | {percent('warp_efficiency')(first)} | {percent('coalescing')(first)} | {both(ends, percent('occupancy'))} | "
            f"{both(ends, percent('balance'))} | {both(ends, percent('l2_hits'))} | {found} |")


HEAD = ("time (us) | faster by | GFLOP/s | FLOP/B of DRAM | of roof % | FLOP/operation | lanes % | asked of moved % | occupancy % | balance % | "
        "L2 hits % | findings |\n")


def print_head(first, columns=1):
    print(f"\n| {first} | {HEAD}" + "|---" * (columns + 12) + "|", flush=True)


def ranks(values):
    order = sorted(values)
    return [(order.index(v) + len(order) - 1 - order[::-1].index(v)) / 2 for v in values]


def rank_correlation(pairs):
    """Spearman's."""
    a, b = (ranks(list(side)) for side in zip(*pairs))
    mean = (len(a) - 1) / 2
    product = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    return product / (sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)) ** 0.5


def between(points):
    """Whether the ratio of two styles' times lies between that of the operations that their warps executed and that of the
    bytes that these moved, but for a tenth."""
    time, *causes = (points[0][key] / points[1][key] for key in ("seconds", "operations", "l1_bytes"))
    return 0.9 * min(causes) <= time <= 1.1 * max(causes)


def styles(study):
    """At the end: does the shape of a trajectory say what was measured? Steps up against resident warps, starts against
    operations (lanes that are lost make more of them) and bytes."""
    ceilings = study.ceilings(SMS)
    steps, starts, faster, every = [], [], [], []
    print_head("kernel | style", 2)
    for name, both_styles, params in APPLICATIONS:
        files = [study.npb(name, style, params, n) for style in both_styles for n in SMS]
        found = study.analyze(ceilings + files)
        kernels = {}
        for t in found:
            style = t["program"].rpartition("_")[2]
            kernel = "application" if t["kernel"] == "all kernels" else t["kernel"].removesuffix(f"_{style}")
            if kernel == "application" or not t["kernel"].startswith(STARTS):
                kernels.setdefault(kernel, []).append((style, t))
            if kernel != "application":
                low, high = t["points"][0], t["points"][-1]
                held = [p["occupancy"] * p["balance"] for p in (low, high)]
                steps.append((low["seconds"] / high["seconds"], held[1] / held[0]))
        for kernel, trajectories in sorted(kernels.items(), key=lambda item: item[0] == "application"):
            label = f"{name}: {kernel}" if kernel == "application" else kernel
            for style, t in trajectories:
                print(row(f"`{label}` | {style}", t), flush=True)
            if len(trajectories) == 2:
                starts.append(between([t["points"][0] for _, t in trajectories]))
        whole = kernels.get("application") or next(iter(kernels.values()))
        (one, a), (other, b) = whole
        faster.append([name, f"{one}/{other}"] + [f"{a['points'][i]['seconds'] / b['points'][i]['seconds']:.2f}"
                                                  for i in range(len(SMS))])
        study.draw(f"roofline_{name}.svg", ceilings + files)
        every += files
    study.draw("roofline_styles.svg", ceilings + every, "--kernel", "all kernels")
    print("\n| time of one style over the other's |" + "".join(f" {n} SMs |" for n in SMS) + "\n|---" * 1
          + "|---" * len(SMS) + "|")
    for line in faster:
        print(f"| `{line[0]}`: {line[1]} | " + " | ".join(line[2:]) + " |")
    print(f"\nStep from 2 to 80 SMs against the share of resident warps that a kernel keeps (occupancy x balance): rank "
          f"correlation {rank_correlation(steps):.2f} over {len(steps)} kernels. On 2 SMs the time of one style over the "
          f"other's lies between the ratios of executed operations and of bytes moved in {sum(starts)} of {len(starts)} "
          f"pairs.", flush=True)


def directions(study):
    ceilings = study.ceilings(ENDS)
    print_head("solver | direction", 2)
    for name, style, launches, params, flops in DIRECTIONS:
        files = [study.npb(name, style, params, n) for n in ENDS]
        found = {t["kernel"]: t for t in study.analyze(ceilings + files, "by=launch")}
        for launch, direction in zip(launches, "xyz"):
            t = next(t for kernel, t in found.items() if kernel.endswith(f", launch {launch}"))
            for point in t["points"]:
                point["flops"] = flops
            print(row(f"`{t['kernel'].partition(',')[0]}` | {direction}", t), flush=True)
    # The grid's bytes as a matrix: what a transposition of it costs.
    ptx = WORKLOADS / "transpose" / "padded.ptx"
    files = [study.record(ptx, ptx.with_suffix(".toml"), {"ROWS": 36 * 36, "COLS": 2 * 36}, n) for n in ENDS]
    print(row("`transpose_padded`, as many bytes | -", study.analyze(ceilings + files)[0]), flush=True)


def application(trajectories):
    """Of one program: the last."""
    return next(t for t in reversed(trajectories) if t["application"])


def curves(lines, key):
    """Data blocks and the plot command for named lists of (x, y)."""
    data = "".join(f"$d{i} << end\n" + "".join(f"{x} {y}\n" for x, y in points) + "end\n" for i, (_, points) in enumerate(lines))
    return data + f"{key}\nplot " + ", ".join(
        f"$d{i} with linespoints lw 2 dashtype {1 + i % 2} lc {1 + i // 2} title '{name}'" for i, (name, _) in enumerate(lines)) + "\n"


def figures(study):
    ceilings = study.ceilings(SMS)
    scaling, lanes, levels = [], [], []
    for name, both_styles, params in (*APPLICATIONS, FIVE_EQUATIONS):
        for style in both_styles:
            found = study.analyze(ceilings + [study.npb(name, style, params, n) for n in SMS])
            whole = application(found)
            scaling.append((f"{name}, {style}", [(p["sms"], rate(p)) for p in whole["points"]]))
            lanes += [(t["kernel"], 100 * t["points"][0]["warp_efficiency"], 100 * t["points"][-1]["warp_efficiency"])
                      for t in found if t["kernel"] != "all kernels"]
            levels.append((f"`{name}` | {style}", whole["points"][0], whole["points"][-1]))
    print("\nFigure 1, strong scaling: GFLOP/s\n\n| application, style |" + "".join(f" {n} SMs |" for n in SMS) + "\n|---"
          + "|---" * len(SMS) + "|")
    for name, points in scaling:
        print(f"| {name} | " + " | ".join(f"{y:.3g}" for _, y in points) + " |", flush=True)
    study.gnuplot("figure1.svg", curves(scaling, "set logscale xy\nset xlabel 'SMs'\nset ylabel 'GFLOP/s'\nset xtics (2,4,8,20,40,80)"))
    print("\nFigure 3, active lanes of a warp, %\n\n| kernel | 2 SMs | 80 SMs |\n|---|---|---|")
    for kernel, low, high in lanes:
        print(f"| `{kernel}` | {low:.0f} | {high:.0f} |")
    study.gnuplot("figure3.svg", "$d << end\n" + "".join(f"'{k}' {low}\n" for k, low, _ in lanes) + "end\nset style data histograms\n"
                  "set style fill solid 0.7\nset yrange [0:100]\nset ylabel 'active lanes of a warp, %'\nset xtics rotate by -60\n"
                  "unset key\nplot $d using 2:xtic(1)\n")
    held, kernels = [], []
    for name, style, params in OCCUPANCY:
        files = [study.npb(name, style, params, n) for n in SMS]
        label = f"{name}_{style} {next(iter(params.values()))}"
        for t in study.analyze(ceilings + files):
            if t["application"]:
                held.append((label, [(p["sms"], 100 * p["occupancy"] * p["balance"]) for p in t["points"]]))
            if name.startswith("lu") and t["kernel"] != "all kernels" and not t["kernel"].startswith(STARTS):
                kernels.append((f"{t['kernel']} {next(iter(params.values()))}", t["points"]))
    print("\nFigure 5, resident warps of what all SMs hold, %\n\n| program, size |" + "".join(f" {n} SMs |" for n in SMS) + "\n|---"
          + "|---" * len(SMS) + "|")
    for label, points in held:
        print(f"| {label} | " + " | ".join(f"{y:.1f}" for _, y in points) + " |")
    study.gnuplot("figure5.svg", curves(held, "set logscale x\nset xlabel 'SMs'\nset ylabel 'resident warps, %'\nset xtics (2,4,8,20,40,80)"))
    print("\nFigure 6, kernels of LU: FLOP/B of L2, GFLOP/s\n\n| kernel, size |" + "".join(f" {n} SMs |" for n in SMS) + "\n|---"
          + "|---" * len(SMS) + "|")
    for label, points in kernels:
        print(f"| {label} | " + " | ".join(f"{p['flops'] / p['l2_bytes']:.3g}, {rate(p):.3g}" for p in points) + " |")
    study.gnuplot("figure6.svg", curves([(k, [(p["flops"] / p["l2_bytes"], rate(p)) for p in points]) for k, points in kernels],
                                        "set logscale xy\nset xlabel 'FLOP per byte of L2 traffic'\nset ylabel 'GFLOP/s'"))
    print("\nIntensities of both styles: FLOP/B of DRAM, L2 and L1, from 2 to 80 SMs\n\n| application | style | DRAM | L2 | L1 | of roof % |\n"
          "|---|---|---|---|---|---|")
    for label, *ends in levels:
        def level(key, ends=ends):
            return both(ends, lambda p: f"{p['flops'] / p[key]:.3g}" if p[key] else "-")
        print(f"| {label} | {both(ends, intensity)} | {level('l2_bytes')} | {level('l1_bytes')} | {both(ends, of_roof)} |", flush=True)


def classes(study):
    ceilings = study.ceilings(CLASS_SMS)
    print_head("program | size", 2)
    every, lost, high = [], [], set()
    for name, style, params, size in CLASSES:
        files = [study.npb(name, style, params, n) for n in CLASS_SMS]
        t = application(study.analyze(ceilings + files))
        label = ", ".join(f"{k}={v}" for k, v in params.items())
        print(row(f"`{name}_{style}` | {label} (class {size})", t), flush=True)
        first, *_, last = t["points"]
        if first["dram_bytes"] and last["dram_bytes"]:
            lost.append((1 - first["dram_bytes"] / last["dram_bytes"], f"{name}_{style} {label}", any(
                f["defect"] == "locality" for f in t["findings"])))
        if last["of_roof"] > 0.25:
            high.add(name)
        every += files
    study.draw("roofline_classes.svg", ceilings + [f for f in every if "_N36_" not in f.name and "_N64_" not in f.name],
               "--kernel", "all kernels")
    print("\nIntensity lost from 2 to 80 SMs: " + ", ".join(
        f"{name} {100 * share:.0f} %{' (`locality`)' if found else ''}" for share, name, found in sorted(lost, reverse=True)))
    print(f"\nAbove 25 % of the roof with 80 SMs: {', '.join(sorted(high))} ({len(high)} applications)", flush=True)


def weak(study):
    for name, sizes, parameter in (("cg", CG_WEAK, "ROWS"), ("mg", MG_WEAK, "N")):
        ceilings = study.ceilings(sizes)
        print(f"\n| `{name}`, kernel | style |" + "".join(f" {n} SMs, {parameter} {size} |" for n, size in sizes.items())
              + " findings |\n" + "|---" * (len(sizes) + 3) + "|")
        for style in ("thread", "warp"):
            files = [study.npb(name, style, {parameter: size}, n) for n, size in sizes.items()]
            for t in study.analyze(ceilings + files, "scaling=weak"):
                if t["kernel"] == "cg_start":
                    continue
                cells = [f"{1e6 * p['seconds']:.1f} us, {rate(p):.3g}, {intensity(p)}" for p in t["points"]]
                found = ", ".join(f["defect"] for f in t["findings"]) or "-"
                print(f"| `{t['kernel']}` | {style} | " + " | ".join(cells) + f" | {found} |", flush=True)
            study.draw(f"weak_{name}_{style}.svg", ceilings + files, "--option", "scaling=weak")


def tuned(study):
    ceilings = study.ceilings(ENDS)
    print_head("kernel | before, after", 2)
    gains = []
    for name, before, after, params in TUNED:
        size = ", ".join(f"{k}={v}" for k, v in params.items())
        files = [study.npb(name, style, params, n) for style in (before, after) for n in ENDS]
        whole = {}
        for t in study.analyze(ceilings + files):
            style = t["program"].rpartition("_")[2]
            whole[style] = t  # the last is the application
            if t["kernel"] != "all kernels":
                print(row(f"`{t['kernel']}` | {size}", t), flush=True)
        gains.append((f"`{name}_{before}` -> `{name}_{after}`, {size}", *(
            whole[before]["points"][i]["seconds"] / whole[after]["points"][i]["seconds"] for i in (0, -1))))
        study.draw(f"tuned_{name}_{'_'.join(map(str, params.values()))}.svg", ceilings + files)
    print("\n| gain | 2 SMs | 80 SMs |\n|---|---|---|")
    for what, low, high in gains:
        print(f"| {what} | {low:.2f} | {high:.2f} |", flush=True)


STUDIES = {"styles": styles, "figures": figures, "classes": classes, "directions": directions, "weak": weak, "tuned": tuned}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--only", choices=STUDIES, help="one of the studies")
    parser.add_argument("--work", type=pathlib.Path, help="keep recordings in this folder")
    parser.add_argument("--plots", type=pathlib.Path, help="draw SVGs into this folder")
    a = parser.parse_args()
    for folder in filter(None, (a.work, a.plots)):
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        study = Study(a.gpusim, a.work or pathlib.Path(scratch), a.plots)
        for name, function in STUDIES.items():
            if a.only in (None, name):
                print(f"\n{name}")
                function(study)


if __name__ == "__main__":
    main()
