#!/usr/bin/env python3
"""Shows that a wrong constant in a model makes the regression fail: changes one at a time in a copy of the source, builds it, and
runs `gpusim regress`, which has to find a breach of that model.

    regress/mutants.py build/mutants [--only energy] [--match kBalance]

A mutant is judged by the quick suite, or by the cases of the full suite that its row names. What is changed is in the models and not
in the simulator, so each case is simulated once, by the unchanged program, and the models of each mutant are applied to its
recording (`--judge-again`). The folder gets the copy, its build (the first takes minutes; ccache is used if it is there) and the
recordings. Exit code 1 if a change is not noticed.
"""

import argparse
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Mutant:
    model: str
    file: str
    right: str
    wrong: str
    cases: tuple[str, ...] = ()  #: of the full suite, with studies; none: all of the quick suite


def _reuse(part: str, right: str, wrong: str, *cases: str) -> Mutant:
    return Mutant("reuse-distance", f"analysis/models/reuse_distance/{part}.cpp", right, wrong, cases)


def _roofline(right: str, wrong: str, *cases: str) -> Mutant:
    return Mutant("roofline", "analysis/models/roofline/diagnosis.cpp", right, wrong, cases)


def _figure(machine: str, name: str, right: str, wrong: str, *cases: str) -> Mutant:
    """A data sheet's figure."""
    return Mutant("latency-hidden", f"analysis/models/latency_hidden/data_sheets/{machine}.json", f'"{name}", "found": {right},',
                  f'"{name}", "found": {wrong},', cases)


MUTANTS = (
    Mutant("latency-hidden", "analysis/models/latency_hidden/extended.cpp", "kSharpness = 4;", "kSharpness = 1;"),
    _figure("tesla_c1060", "latency.dram", "560.6875", "1160.6875"),
    Mutant("latency-hidden", "analysis/models/latency_hidden/parameters.cpp", "p.issue = p.warp_issue / schedulers;",
           "p.issue = 3 * p.warp_issue / schedulers;"),
    _figure("tesla_c1060", "latency.shared", "36.46875", "72.9375"),
    _figure("tesla_c1060", "latency.int_mul", "96", "48"),
    _figure("tesla_c1060", "latency.fp32_add", "24", "48"),
    _figure("tesla_c1060", "shared.conflict_cycles", "2", "1"),
    _figure("tesla_c1060", "latency.tlb_l1_miss", "56", "112"),
    _figure("tesla_c1060", "latency.tlb_l2_miss", "194", "388"),
    _figure("tesla_c1060", "bandwidth.scattered", "2.397612004e+10", "4.8e+10"),
    _figure("tesla_c1060", "bandwidth.sm_scattered", "9239057544", "1.85e+10"),
    Mutant("latency-hidden", "analysis/models/latency_hidden/analysis.cpp", "kRandomlyUneven = 1.09;", "kRandomlyUneven = 2;"),
    Mutant("latency-hidden", "analysis/models/latency_hidden/estimate.cpp", "std::max(0.0, w.longest_path - path)",
           "std::max(0.0, 0.5 * w.longest_path - path)"),
    Mutant("latency-hidden", "analysis/models/latency_hidden/segments.cpp", "std::min(1.0, probability * warps_)",
           "std::min(1.0, probability)"),
    Mutant("latency-hidden", "analysis/models/latency_hidden/extended.cpp",
           "{std::max(longer.once, 1.0), std::max(longer.loops, 1.0)}", "{std::max(longer.once, 0.1), std::max(longer.loops, 0.1)}"),
    # Predictions without a timed run.
    Mutant("latency-hidden", "analysis/models/reuse_distance/traffic.cpp", "constexpr uint32_t kWindow = 256;",
           "constexpr uint32_t kWindow = 8;"),
    Mutant("latency-hidden", "analysis/models/reuse_distance/traffic.cpp", "++counts_.rows_opened;", "counts_.rows_opened += 8;"),
    Mutant("latency-hidden", "analysis/models/reuse_distance/traffic.cpp", "if (sm_pages_[sm].find(page) >= 0) return now;",
           "if (sm_pages_[sm].find(page) >= now + 1) return now;"),
    Mutant("latency-hidden", "predict/functional_counts.cpp", "m.transferred += list_.items[i].bytes;",
           "m.transferred += 2 * list_.items[i].bytes;"),
    _figure("tesla_c1060", "throughput.fp32_add", "8", "16", "throughput_c1060"),
    _figure("tesla_c1060", "throughput.int_mul", "1.684210526", "3.4", "throughput_c1060"),
    _reuse("machine", "r.sets = number(m.l1.bytes / (m.l1.line * m.l1.ways));",
           "r.sets = number(m.l1.bytes / (m.l1.line * m.l1.ways) / 2);"),
    _reuse("machine", "r.mshrs = number(m.l1.mshrs);", "r.mshrs = 1;"),
    _reuse("machine", "r.mshrs = number(m.l1.mshrs);", "r.mshrs = number(m.l1.mshrs / 2);", "softmax_16K"),
    _reuse("machine", "r.warp_loads = number(m.scheduler.warp_loads);", "r.warp_loads = number(2 * m.scheduler.warp_loads);"),
    _reuse("machine", "r.hit_cycles = static_cast<double>(m.l1.latency);", "r.hit_cycles = 2 * static_cast<double>(m.l1.latency);"),
    _reuse("machine", "r.schedulers = number(m.scheduler.count);", "r.schedulers = 1;"),
    _reuse("machine", "r.send_cycles = static_cast<double>(", "r.send_cycles = 2 * static_cast<double>("),
    _reuse("machine", 'm.scheduler.policy == "oldest" ?', 'm.scheduler.policy != "oldest" ?'),
    _reuse("memory", "request_ = cycles(m.", "request_ = 2 * cycles(m."),
    _reuse("memory", "reply_ = cycles(m.", "reply_ = 2 * cycles(m."),
    _reuse("memory", "hit_ = cycles(m.", "hit_ = 2 * cycles(m."),
    _reuse("memory", "dram_ = cycles(m.", "dram_ = 2 * cycles(m."),
    _reuse("memory", "flit_bytes_ = static_cast<double>(m.", "flit_bytes_ = 0.5 * static_cast<double>(m."),
    _reuse("memory", "flit_cycles_ = static_cast<double>(", "flit_cycles_ = 2 * static_cast<double>("),
    _reuse("memory", "partition_cycles_ = flit_cycles_;", "partition_cycles_ = 2 * flit_cycles_;"),
    _reuse("memory", "const double bytes_per_cycle = 2 *", "const double bytes_per_cycle = 1 *"),
    _reuse("memory", "burst_cycles_ = static_cast<double>(", "burst_cycles_ = 0.05 * static_cast<double>("),
    _reuse("memory", "channels_(at_least_one(m.dram.channels))", "channels_(at_least_one(m.dram.channels / 2))"),
    _reuse("memory", "partitions_(at_least_one(m.l2.partitions))", "partitions_(at_least_one(2 * m.l2.partitions))"),
    _reuse("memory", "const auto ways = static_cast<uint32_t>(m.l2.ways);",
           "const auto ways = static_cast<uint32_t>(2 * m.l2.ways);", "saxpy_16K"),
    _reuse("machine", "r.write_local = m.l1.write_local;", "r.write_local = r.write_global;", "bt_thread_16K"),
    Mutant("energy", "analysis/models/energy/clock_parts.h", "kJointNorm = 4;", "kJointNorm = 0.5;"),
    Mutant("energy", "analysis/models/energy/power.cpp", "scaled[i] = joules[i] * v * v * clock * time;",
           "scaled[i] = joules[i] * 2.5 * clock * time;"),
    Mutant("energy", "analysis/models/energy/power.cpp", "scaled[i] = joules[i] * v * v;", "scaled[i] = joules[i] * v;"),
    Mutant("energy", "analysis/models/energy/power.cpp", "scaled[i] = joules[i] * v * v * clock * time;",
           "scaled[i] = joules[i] * v * clock * time;"),
    Mutant("energy", "analysis/models/energy/power.cpp", "scaled[i] = joules[i] * v * time;", "scaled[i] = joules[i] * v * v * time;"),
    Mutant("energy", "analysis/models/energy/run.cpp", "kernel_energy + machine.host.idle_power_w * elapsed",
           "kernel_energy + 0.5 * machine.host.idle_power_w * elapsed"),
    Mutant("energy", "analysis/models/energy/run.cpp", "machine.host.gpu_idle_power_w * (elapsed - kernel_seconds)",
           "2 * machine.host.gpu_idle_power_w * (elapsed - kernel_seconds)"),
    Mutant("energy", "analysis/models/energy/clock_parts.cpp", "rate += 1 / static_cast<double>(at->second);",
           "rate += 0.5 / static_cast<double>(at->second);"),
    Mutant("energy", "analysis/models/energy/pem.cpp", "return 2 * std::log2(leaves) + 1;", "return 2 * leaves + 1;"),
    Mutant("energy", "analysis/models/energy/pem.cpp", "return 2 * std::log2(leaves) + 1;", "return 4 * std::log2(leaves) + 1;"),
    Mutant("energy", "analysis/models/energy/blocks.cpp", '["requested_bytes"][i]) / 4;', '["requested_bytes"][i]) / 2;'),
    _roofline("kWarpEfficiency = 0.8", "kWarpEfficiency = 0.08"),
    _roofline("kWarpEfficiency = 0.8", "kWarpEfficiency = 1.6"),
    _roofline("kCoalescing = 0.5", "kCoalescing = 0.05"),
    _roofline("kCoalescing = 0.5", "kCoalescing = 0.25"),
    _roofline("kCoalescing = 0.5", "kCoalescing = 1"),
    _roofline("kBalance = 0.75", "kBalance = 0.375"),
    _roofline("kBalance = 0.75", "kBalance = 1.5"),
    _roofline("kOccupancyLoss = 0.75", "kOccupancyLoss = 0.01"),
    _roofline("kOccupancyLoss = 0.75", "kOccupancyLoss = 0.375"),
    _roofline("kOccupancyLoss = 0.75", "kOccupancyLoss = 1.5"),
    _roofline("kLowResidency = 0.25", "kLowResidency = 0.125"),
    _roofline("kLowResidency = 0.25", "kLowResidency = 0.5"),
    _roofline("kIntensityLoss = 0.75", "kIntensityLoss = 0.05"),
    _roofline("kIntensityLoss = 0.75", "kIntensityLoss = 0.375", "diagnosis_near_l2_over"),
    _roofline("kIntensityLoss = 0.75", "kIntensityLoss = 2", "diagnosis_near_l2_full"),
    _roofline("kFarBelow = 0.5", "kFarBelow = 0.25"),
    _roofline("kFarBelow = 0.5", "kFarBelow = 1"),
    _roofline("kUnevenWork = 0.5", "kUnevenWork = 0.1", "diagnosis_lu_tiles"),
    _roofline("kUnevenWork = 0.5", "kUnevenWork = 1", "diagnosis_lu_thread"),
    _roofline("kScattered = 0.5", "kScattered = 1.5", "diagnosis_limit_scattered_chase"),
    _roofline("kFull = 0.8", "kFull = 0.08", "diagnosis_limit_chase_lines"),
    _roofline("kFull = 0.8", "kFull = 1.6", "diagnosis_limit_l2_reads"),
    _roofline("kAtRoof = 0.75", "kAtRoof = 0.1"),
    _roofline("kAtRoof = 0.75", "kAtRoof = 1.5", "diagnosis_limit_one_atomic"),
    Mutant("roofline", "analysis/models/roofline/roofline.cpp", "kSectorBytes = 32", "kSectorBytes = 64", ("bound_dram",)),
    Mutant("roofline", "analysis/models/roofline/ceilings.cpp", 'starts_with("fp64")) return Arithmetic::kFp64',
           'starts_with("fp64")) return Arithmetic::kFp32', ("bound_double_chains",)),
    Mutant("roofline", "analysis/models/roofline/ceilings.cpp", "? Arithmetic::kFp16 : Arithmetic::kFp32",
           "? Arithmetic::kFp32 : Arithmetic::kFp32", ("bound_half_chains",)),
    Mutant("roofline", "analysis/models/roofline/ceilings.cpp", "(done >= each ? own.fused : own.single)",
           "(done >= each / 2 ? own.fused : own.single)", ("bound_sum_chains",)),
)


def _copy(copy: Path) -> None:
    """The files that git knows, as they are now; those that are the same already stay, so that little is built again."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        content = (SOURCE / name).read_bytes()
        if not (copy / name).exists() or (copy / name).read_bytes() != content:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)


def _build(copy: Path) -> None:
    command = ["cmake", "--preset", "release", "-DGPUSIM_TESTS=OFF", "-DGPUSIM_BENCHMARKS=OFF"]
    if shutil.which("ccache"):
        command += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DCMAKE_C_COMPILER_LAUNCHER=ccache"]
    for step in (command, ["ninja", "-C", "build/release", "gpusim"]):
        done = subprocess.run(step, cwd=copy, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"mutants: {' '.join(step)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def _breaches(copy: Path, cases: tuple[str, ...]) -> tuple[int, dict[str, int]]:
    """Exit code, and breaches by model."""
    suite = "full" if cases else "quick"
    work = copy / f"build/{suite}"
    outcome_file = work / "outcome.json"
    outcome_file.unlink(missing_ok=True)
    command = [copy / "build/release/bin/gpusim", "regress", "--root", SOURCE, "--suite", suite, "--work", work, "--judge-again"]
    for case in cases:
        command += ["--only", case]
    done = subprocess.run(command, capture_output=True, text=True)
    if not outcome_file.exists():
        sys.exit(f"mutants: gpusim regress failed:\n{done.stderr[-3000:]}")
    outcome = json.loads(outcome_file.read_text())
    count: dict[str, int] = {}
    for row in outcome["rows"]:
        if row["verdict"] == "BREACH":
            count[row["model"]] = count.get(row["model"], 0) + 1
    for mean in outcome["models"]:
        if mean["breach"]:
            count[mean["model"]] = count.get(mean["model"], 0) + 1
    return done.returncode, count


def _show(name: str, code: int, count: dict[str, int], good: bool) -> None:
    found = ", ".join(f"{model} {n}" for model, n in sorted(count.items())) or "none"
    print(f"{'as it should be' if good else 'NOT NOTICED':<16} exit {code}, breaches: {found:<44} {name}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", help="one model")
    parser.add_argument("--match", default="", help="only changes with this in the file's name or the wrong text")
    arguments = parser.parse_args()
    chosen = [m for m in MUTANTS if arguments.only in (None, m.model) and (arguments.match in m.wrong or arguments.match in m.file)]
    if not chosen:
        sys.exit("mutants: --only and --match leave none")
    copy = arguments.folder.resolve()
    _copy(copy)
    _build(copy)
    # Recordings are simulated by the program as it is.
    for suite in ("quick", "full"):
        shutil.rmtree(copy / "build" / suite, ignore_errors=True)
    failed = False
    full = tuple(sorted({case for m in chosen for case in m.cases}))
    for cases in ((), full):
        if all(bool(m.cases) != bool(cases) for m in chosen):
            continue
        code, count = _breaches(copy, cases)
        failed = failed or code != 0
        _show(f"nothing changed, {'cases of the full suite' if cases else 'quick suite'}", code, count, code == 0)
    for mutant in chosen:
        file = copy / mutant.file
        text = file.read_text()
        if text.count(mutant.right) != 1:
            sys.exit(f"mutants: '{mutant.right}' stands {text.count(mutant.right)} times in {mutant.file}, not once")
        file.write_text(text.replace(mutant.right, mutant.wrong))
        _build(copy)
        file.write_text(text)
        code, count = _breaches(copy, mutant.cases)
        good = code == 1 and mutant.model in count
        failed = failed or not good
        _show(f"{mutant.file}: {mutant.wrong}", code, count, good)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
