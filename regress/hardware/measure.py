#!/usr/bin/python3
"""Measures the workloads and the microbenchmarks on this machine's GPU, for `gpusim correlate`. Needs nvcc and the CUDA driver.

usage: measure.py GPUSIM OUT_FOLDER [--only NAME...] [--runs FILE.json...] [--repeats 11] [--device 0] [--architecture 75]
                  [--cache cold|warm] [--power SECONDS] [--program BINARY] [--profile] [--dry-run]

Writes OUT_FOLDER/results.json and, beside it, the PTX that was measured. Workloads that are written for machines before compute
compute capability 3.0 are compiled from their CUDA source for --architecture, or, if they have none, brought to its PTX version.
With --runs, the runs that files of measurements name are measured instead, with their PTX as it is, their sizes, roles and notes.
--profile prints the command that launches each once, for a profiler, and leaves the plans where they are.
docs/correlate.md says how it measures and what is in the file.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

from cases import CASES, Case  # noqa: E402
from check_compiled import WITHOUT_SOURCE  # noqa: E402

LIMIT_S = 3600
OLD_TARGET = 30  # below, today's drivers take no PTX
# Microbenchmarks with a launch file: configurations are fitted to them.
MICRO = tuple(Case(name, f"micro/{name}.ptx", "", (), ()) for name in ("latency", "throughput", "stream"))


def run(*command: str | Path) -> str:
    """What the command prints; ends the program if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def nvcc() -> str:
    found = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if found is None:
        sys.exit("measure.py: there is no nvcc")
    return found


def build(folder: Path) -> Path:
    """The program that talks to the driver."""
    program = folder / "measure"
    sources = [HERE / name for name in ("measure.cu", "plan.cpp", "board.cpp", "results.cpp")]
    run(nvcc(), "-std=c++20", "-O1", f"-I{SOURCE}", f"-I{HERE}", "-o", program, *sources,
        SOURCE / "simcore" / "text" / "sha256.cpp", SOURCE / "simcore" / "cuda_driver" / "driver.cpp", "-ldl")
    return program


def target_of(text: str) -> int:
    return int(re.search(r"^\s*\.target\s+\w*sm_(\d+)", text, re.MULTILINE)[1])


def brought_up(text: str, architecture: int) -> str:
    """PTX of version 1 of a microbenchmark as today's compilers take it: a rounding for each operation that needs one (`mad`
    is fused), and 64 bits for the address of its output, which is formed as out + offset once."""
    text = re.sub(r"^(\s*)\.version\s+\S+", r"\1.version 6.4", text, count=1, flags=re.MULTILINE)
    text = re.sub(r"^(\s*)\.target\s+.*$", rf"\1.target sm_{architecture}\n\1.address_size 64", text, count=1,
                  flags=re.MULTILINE)
    for old, new in (("mad.f32", "fma.rn.f32"), ("mad.f64", "fma.rn.f64"), ("div.f32", "div.full.f32")):
        text = re.sub(rf"\b{re.escape(old)}\b", new, text)
    text = text.replace(".param .u32 __cudaparm_out", ".param .u64 __cudaparm_out")
    return re.sub(r"ld\.param\.u32\s+(%\w+), \[__cudaparm_out\];\s*add\.u32\s+(%\w+), \1, (%\w+);((?:\s*st\.global\S+\s.*;)+)",
                  lambda found: ".reg .u64 %out, %place;\n\tld.param.u64 %out, [__cudaparm_out];\n"
                                f"\tcvt.u64.u32 %place, {found[3]};\n\tadd.u64 %place, %out, %place;"
                                + found[4].replace(f"[{found[2]}+", "[%place+"), text)


def ptx_for_today(case: Case, architecture: int, folder: Path) -> Path:
    """The workload's own PTX if drivers of today take it."""
    own = case.ptx(SOURCE)
    text = own.read_text()
    if target_of(text) >= OLD_TARGET:
        return own
    made = folder / own.name
    source = case.cuda_source(SOURCE)
    if source.exists():
        run(nvcc(), "-std=c++17", "-ptx", f"-arch=compute_{architecture}", "-Wno-deprecated-gpu-targets", source, "-o", made)
    else:
        made.write_text(brought_up(text, architecture))
    return made


def export(gpusim: Path, case: Case, architecture: int, out: Path, scratch: Path) -> Path:
    """Writes the case's plan; its folder."""
    folder = scratch / case.name
    folder.mkdir()
    launch = case.ptx(SOURCE).with_name(case.launch or f"{case.ptx(SOURCE).stem}.toml")
    fitting = ["--fitting"] if case in MICRO else []
    run(gpusim, "export", ptx_for_today(case, architecture, folder), "--launch", launch, "--name", case.name, "--out",
        out / case.name, *fitting)
    return out / case.name


def all_cases() -> dict[str, Case]:
    """Without those written by hand for old machines where the same source is there for today's."""
    cases = {name: case for name, case in CASES.items()
             if not (case.path.endswith("_sm13.ptx") or name in (*WITHOUT_SOURCE, "spmv_ell"))}
    return {case.name: case for case in MICRO} | cases


def runs_of(files: list[Path]) -> list[dict]:
    """Runs of files of measurements, each once: of several that differ in clocks or caches only, the first."""
    seen, runs = set(), []
    for file in files:
        for run_ in json.loads(file.read_text())["runs"]:
            paths = {key: (file.parent / run_[key]).resolve() for key in ("ptx", "launch")}
            identity = (*paths.values(), json.dumps(run_.get("params", {}), sort_keys=True), run_.get("seed", 0))
            if identity not in seen:
                seen.add(identity)
                runs.append({"name": run_["name"], "params": run_.get("params", {}), "seed": run_.get("seed", 0), **paths,
                             **{key: run_[key] for key in ("role", "note", "fitting") if key in run_}})
    return runs


def export_run(gpusim: Path, run_: dict, folder: Path) -> Path:
    params = [word for name, value in run_["params"].items() for word in ("--param", f"{name}={value}")]
    run(gpusim, "export", run_["ptx"], "--launch", run_["launch"], "--name", run_["name"], "--seed", str(run_["seed"]), "--out", folder,
        *params)
    return folder


def completed(results: Path, runs: list[dict]) -> None:
    """Roles and notes are those of the runs that were asked for, and PTX and launch files the very ones."""
    document = json.loads(results.read_text())
    by_name = {run_["name"]: run_ for run_ in runs}
    for measured in document["runs"]:
        asked = by_name[measured["name"]]
        measured.update({key: asked[key] for key in ("role", "note", "fitting") if key in asked})
        measured.update({key: os.path.relpath(asked[key], results.parent.resolve()) for key in ("ptx", "launch")})
    lines = ",\n  ".join(json.dumps(run_) for run_ in document.pop("runs"))
    results.write_text(json.dumps(document)[:-1] + f',\n "runs": [\n  {lines}\n ]\n}}\n')


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--runs", nargs="+", type=Path)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--architecture", type=int, default=75)
    parser.add_argument("--cache", choices=("cold", "warm"), default="cold")
    parser.add_argument("--power", type=int)
    parser.add_argument("--program", type=Path, help="measure, if it is built already")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    cases = all_cases()
    for name in options.only or () if not options.runs else ():
        if name not in cases:
            parser.error(f"no workload '{name}'; there are: {', '.join(cases)}")
    out = options.out.resolve()
    with tempfile.TemporaryDirectory(prefix="gpusim_measure_") as name:
        scratch = Path(name)
        program = options.program.resolve() if options.program else build(scratch)
        if options.runs:
            runs = [r for r in runs_of(options.runs) if not options.only or any(text in r["name"] for text in options.only)]
            works = [(r["name"], export_run, (options.gpusim.resolve(), r, out / f"run{i}")) for i, r in enumerate(runs)]
        else:
            works = [(case.name, export, (options.gpusim.resolve(), case, options.architecture, out, scratch))
                     for case in cases.values() if not options.only or case.name in options.only]
        plans = []
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for what, future in [(what, pool.submit(function, *arguments)) for what, function, arguments in works]:
                try:
                    plans.append(future.result())
                except RuntimeError as error:
                    print(f"left out: {what}: {str(error).strip().splitlines()[-1]}", file=sys.stderr)
        if options.profile:
            kept = out / program.name
            if kept != program:
                shutil.copy2(program, kept)
            print(kept, "--profile", *plans)
            return 0
        words = ["--dry-run"] if options.dry_run else ["--repeats", str(options.repeats), "--device", str(options.device),
                                                        "--cache", options.cache, "--out", out / "results.json"]
        if options.power:
            words += ["--power", str(options.power)]
        try:
            done = subprocess.run([str(word) for word in (program, *words, *plans)], stdout=subprocess.PIPE, text=True, timeout=LIMIT_S,
                                  check=False)
            print(done.stdout, end="")
            if done.returncode != 0:
                return 1
            if options.runs and not options.dry_run:
                completed(out / "results.json", runs)
        finally:
            for plan in plans:  # what is left is the PTX that was measured
                for file in (*plan.glob("*.bin"), plan / "plan.txt"):
                    file.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
