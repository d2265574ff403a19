#!/usr/bin/env python3
"""Shows that a wrong constant in a model makes the regression fail: changes one at a time in a copy of the source, builds it, and
runs `gpusim regress`, which has to find a breach of that model.

    regress/mutants.py build/mutants [--only energy] [--match kBalance]

A mutant is judged by unit tests if its row names some, else by the quick suite, or by the cases of the suite `papers` (which has those
of the full one) that its row names. What is changed is in the models and not in the simulator, so each case is simulated once, by
the unchanged program, and the models of each mutant are applied to its recording (`--judge-again`). The folder gets the copy, its
build (the first takes minutes; ccache is used if it is there) and the recordings. Exit code 1 if a change is not noticed.
"""

import argparse
import json
import re
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
    cases: tuple[str, ...] = ()  #: of the suite `papers`, with studies; none: all of the quick suite
    tests: str = ""  #: unit tests of the models, as --gtest_filter, that judge it instead


def _reuse(part: str, right: str, wrong: str, *cases: str) -> Mutant:
    return Mutant("reuse-distance", f"analysis/models/reuse_distance/{part}.cpp", right, wrong, cases)


def _roofline(right: str, wrong: str, *cases: str) -> Mutant:
    return Mutant("roofline", "analysis/models/roofline/diagnosis.cpp", right, wrong, cases)


def _figure(machine: str, name: str, times: float, *cases: str) -> Mutant:
    """A data sheet's figure, which changes with the machine: as many times as large."""
    file = f"analysis/models/latency_hidden/data_sheets/{machine}.json"
    found = re.search(rf'"{re.escape(name)}", "found": ([-+.0-9e]+),', (SOURCE / file).read_text())
    if not found:
        sys.exit(f"mutants: {file} has no figure {name}")
    return Mutant("latency-hidden", file, found[0], f'"{name}", "found": {float(found[1]) * times:g},', cases)


def _by_test(file: str, right: str, wrong: str, tests: str) -> Mutant:
    """Of a constant that no suite's limits notice."""
    model = file.split("/")[0].replace("_", "-")
    return Mutant(model, f"analysis/models/{file}", right, wrong, tests=tests)


MUTANTS = (
    Mutant("latency-hidden", "analysis/models/latency_hidden/extended.cpp", "kSharpness = 4;", "kSharpness = 1;"),
    _figure("tesla_c1060", "latency.dram", 2),
    Mutant("latency-hidden", "analysis/models/latency_hidden/parameters.cpp", "p.issue = p.warp_issue / schedulers;",
           "p.issue = 3 * p.warp_issue / schedulers;"),
    _figure("tesla_c1060", "latency.shared", 2),
    _figure("tesla_c1060", "latency.int_mul", 0.5),
    _figure("tesla_c1060", "latency.fp32_add", 2),
    _figure("tesla_c1060", "shared.conflict_cycles", 0.5),
    _figure("tesla_c1060", "latency.tlb_l1_miss", 2),
    _figure("tesla_c1060", "latency.tlb_l2_miss", 2),
    _figure("tesla_c1060", "bandwidth.scattered", 2),
    _figure("tesla_c1060", "bandwidth.sm_scattered", 2),
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
    Mutant("latency-hidden", "analysis/models/reuse_distance/traffic.cpp", "++rows_opened_;", "rows_opened_ += 8;"),
    Mutant("latency-hidden", "analysis/models/reuse_distance/traffic.cpp", "sm_pages_[sm].find(page); known >= 0) return",
           "sm_pages_[sm].find(page); known >= now + 1) return"),
    Mutant("latency-hidden", "predict/functional_counts.cpp", "m.transferred += list_.items[i].bytes;",
           "m.transferred += 2 * list_.items[i].bytes;"),
    Mutant("latency-hidden", "analysis/models/latency_hidden/extended.cpp", "? 2 * std::min(read, written)", "? 1 * std::min(read, written)"),
    Mutant("latency-hidden", "analysis/models/latency_hidden/estimate.cpp", "std::max(0.0, way - later);", "std::max(0.0, 2 * way - later);"),
    Mutant("latency-hidden", "analysis/models/latency_hidden/parameters.cpp", "p.row = kScatteredBytes *", "p.row = 2 * kScatteredBytes *"),
    Mutant("latency-hidden", "analysis/models/latency_hidden/parameters.cpp", "p.request = kScatteredBytes *", "p.request = 2 * kScatteredBytes *"),
    Mutant("latency-hidden", "analysis/models/latency_hidden/analysis.cpp", "second = read + written > 0 ? kSector *",
           "second = read + written > 0 ? 2 * kSector *", ("stream_v100",)),
    Mutant("latency-hidden", "analysis/models/latency_hidden/servers.cpp", "(each.none_memory + beside) / 2",
           "(each.none_memory + beside) / 1", ("chase_v100_l2",)),
    Mutant("latency-hidden", "analysis/models/latency_hidden/advice.cpp", "warps * after.read / kSectorBytes",
           "warps * after.read / (2 * kSectorBytes)", ("gain_row_sums",)),
    _by_test("latency_hidden/extended.cpp", "kTriad = 2.0 / 3;", "kTriad = 1.0 / 3;", "Extended.*"),
    _by_test("latency_hidden/extended.cpp", "(apart + std::max(apart, in_step)) / 2", "(apart + std::max(apart, in_step)) / 4", "Extended.*"),
    _by_test("latency_hidden/extended.cpp", "return 1 + heads - std::sqrt(1 + heads * heads);", "return 1 + 2 * heads - std::sqrt(1 + 4 * heads * heads);",
             "Extended.*"),
    _by_test("latency_hidden/segments.cpp", "loops ? latency_alone : 0;", "loops ? latency_alone / 2 : 0;", "Segments.*"),
    _by_test("latency_hidden/parameters.cpp", "p.in_order = schedulers;", "p.in_order = 2 * schedulers;", "Parameters.*"),
    _by_test("latency_hidden/segments.cpp", "p_.warp_issue, busy) / p_.in_order : turn", "p_.warp_issue, busy) / 2 / p_.in_order : turn",
             "Segments.*"),
    _by_test("latency_hidden/extended.cpp", "s.asks * (first - s.chain);", "s.asks * (first - s.chain) / 2;", "Extended.*"),
    _by_test("latency_hidden/segments.cpp", "{bounded, !bounded && only, rounds,", "{bounded, !bounded || only, rounds,", "Path.*"),
    _by_test("latency_hidden/segments.cpp", "code_.bank_delays[pc] / p_.copies", "2 * code_.bank_delays[pc] / p_.copies", "Segments.*"),
    _by_test("latency_hidden/extended.cpp", "given_out += s.apart;", "given_out += 0.5 * s.apart;", "Extended.*"),
    _by_test("latency_hidden/servers.cpp", "all(0, levels_.l2_share_of_atomics)", "all(0, second)", "LoadLevels.*"),
    _by_test("latency_hidden/parameters.cpp", "machine.dram.rfc_ns * p.core_hz", "2 * machine.dram.rfc_ns * p.core_hz", "Parameters.*"),
    _by_test("latency_hidden/parameters.cpp", "machine.dram.rfc_ns / machine.dram.refi_ns", "2 * machine.dram.rfc_ns / machine.dram.refi_ns",
             "Parameters.*"),
    _by_test("latency_hidden/parameters.cpp", "longest(std::max(1.0, accesses)) - longest(1)", "longest(std::max(1.0, accesses))",
             "LoadLevels.*"),
    _by_test("latency_hidden/advice.cpp", "warps_of(w.shape) / warps_of(launch)", "2 * warps_of(w.shape) / warps_of(launch)",
             "AdvisedChange.*"),
    _by_test("latency_hidden/analysis.cpp", "p.l2_bytes > 0 ? parts.others : p.uneven;", "p.uneven;", "Extended.*"),
    _by_test("latency_hidden/estimate.cpp", "kFaster = 0.02;", "kFaster = 0.04;", "Extended.*"),
    _by_test("latency_hidden/advice.cpp", "kLine = 128, kSectorBytes = 32;", "kLine = 64, kSectorBytes = 32;", "AdvisedChange.*"),
    _by_test("latency_hidden/advice.cpp", "std::max(kSectorBytes * c.executed", "std::max(2 * kSectorBytes * c.executed", "AdvisedChange.*"),
    _by_test("latency_hidden/advice.cpp", "warps * after.written / kSectorBytes", "warps * after.written / (2 * kSectorBytes)",
             "AdvisedChange.*"),
    _by_test("reuse_distance/traffic.cpp", "kLinkCycles = 4;", "kLinkCycles = 8;", "ReuseTraffic.*"),
    _by_test("reuse_distance/traffic.cpp", "cycles(m.dram.faw_ns) / 4", "cycles(m.dram.faw_ns) / 2", "RowWindow.*"),
    _by_test("reuse_distance/traffic.cpp", "const double interval = refi_ / static_cast<double>(banks_.size());",
             "const double interval = refi_ / static_cast<double>(2 * banks_.size());", "RowWindow.*"),
    _by_test("reuse_distance/memory.cpp", "if (traffic == nullptr && copies_ <= 1)", "if (traffic == nullptr && copies_ > 1)", "ReuseMemory.*"),
    _by_test("reuse_distance/memory.cpp", "hit_ = cycles(m.l2.hit_latency_ns);", "hit_ = cycles(m.l2.latency_ns + m.l2.hit_latency_ns);",
             "ReuseMemory.*"),
    _by_test("reuse_distance/l1.cpp", "std::erase(entry.waiters, 0u);", "std::erase(entry.waiters, ~0u);", "ReuseL1.*"),
    _by_test("reuse_distance/traffic.cpp", "core_cycles(m, m.tlb.table_latency_ns)", "core_cycles(m, 2 * m.tlb.table_latency_ns)", "ReuseTraffic.*"),
    _by_test("reuse_distance/sm.cpp", "machine_.look_ahead ? std::max(now_, a.known)", "!machine_.look_ahead ? std::max(now_, a.known)", "ReuseModel.Pages*"),
    _by_test("reuse_distance/traffic.cpp", "busiest_channel_.add(channel);", "busiest_channel_.add(channel / 2);", "ReuseTraffic.*"),
    _by_test("latency_hidden/analysis.cpp", "kEuler = 0.5772, kWindow = 256;", "kEuler = 0.5772, kWindow = 64;", "Extended.*"),
    _by_test("reuse_distance/traffic.cpp", "kRemembered = 32;", "kRemembered = 16;", "RowWindow.*"),
    _by_test("reuse_distance/recording.cpp", "kMostAtOnce = core::kMaxSchedulers;", "kMostAtOnce = core::kMaxSchedulers / 2;",
             "ReuseRecording.*"),
    _by_test("reuse_distance/recording.cpp", "kMostAtOnce = core::kMaxSchedulers;", "kMostAtOnce = 2 * core::kMaxSchedulers;",
             "ReuseRecording.*"),
    _by_test("reuse_distance/sm.h", "kLoads = 256;", "kLoads = 128;", "ReuseModel.AWarpRemembers*"),
    _by_test("reuse_distance/sm.h", "kLoads = 256;", "kLoads = 512;", "ReuseModel.AWarpRemembers*"),
    _figure("tesla_c1060", "throughput.fp32_add", 2, "throughput_c1060"),
    _figure("tesla_c1060", "throughput.int_mul", 2, "throughput_c1060"),
    _reuse("machine", "r.sets = number(m.l1.bytes / (m.l1.line * m.l1.ways));",
           "r.sets = number(m.l1.bytes / (m.l1.line * m.l1.ways) / 2);"),
    _reuse("machine", "r.mshrs = number(m.l1.mshrs);", "r.mshrs = 1;"),
    _by_test("reuse_distance/machine.cpp", "r.mshrs = number(m.l1.mshrs);", "r.mshrs = number(m.l1.mshrs / 2);", "ReuseModel.LimitsOf*"),
    _by_test("reuse_distance/machine.cpp", "r.warp_loads = number(m.scheduler.warp_loads);", "r.warp_loads = number(2 * m.scheduler.warp_loads);",
             "ReuseModel.LimitsOf*"),
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
    _by_test("reuse_distance/memory.cpp", "room(static_cast<double>(m.l2.mshrs))", "room(0.5 * static_cast<double>(m.l2.mshrs))", "ReuseModel.*"),
    _by_test("reuse_distance/memory.cpp", "room(static_cast<double>(m.l2.queue) +", "room(0.25 * static_cast<double>(m.l2.queue) +",
             "ReuseModel.*"),
    _by_test("reuse_distance/memory.cpp", "header_bytes_ = static_cast<double>(", "header_bytes_ = 4 * static_cast<double>(", "ReuseMemory.*"),
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
    Mutant("energy", "analysis/models/energy/blocks.cpp", "each < tiles / 2", "each < tiles / 1"),
    Mutant("energy", "analysis/models/energy/clock_parts.cpp", "blocks * recording.machine().gpu.block_interval",
           "0.5 * blocks * recording.machine().gpu.block_interval", ("dvfs_h200_row_sums_time",)),
    Mutant("energy", "analysis/models/energy/clock_parts.cpp", "blocks * recording.machine().gpu.block_interval",
           "2 * blocks * recording.machine().gpu.block_interval", ("dvfs_h200_row_sums_time",)),
    _by_test("energy/clock_parts.cpp", "longest->second * cycles / all", "2 * longest->second * cycles / all", "ClockParts.*"),
    _by_test("energy/blocks.cpp", "kAlike = 0.05;", "kAlike = 10;", "BlockParts.*"),
    _by_test("energy/blocks.cpp", "kSector * std::popcount", "2 * kSector * std::popcount", "BlockParts.*"),
    _by_test("energy/pem.cpp", "2 * elements / (transfer * blocks) + tree", "1 * elements / (transfer * blocks) + tree", "Pem.*"),
    _by_test("energy/pem.cpp", "(2 * elements / blocks + tree)", "(1 * elements / blocks + tree)", "Pem.*"),
    _by_test("energy/power.cpp", "scaled[i] = joules[i] * v * v * time;", "scaled[i] = joules[i] * v * v * 2 * time;", "ScaledEnergy.*"),
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
    _by_test("roofline/diagnosis.cpp", "kLowResidency = 0.25", "kLowResidency = 0.5", "Roofline.*"),
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
    _by_test("roofline/ceilings.cpp", "? Arithmetic::kFp16 : Arithmetic::kFp32", "? Arithmetic::kFp32 : Arithmetic::kFp32", "Roofline.*"),
    _by_test("roofline/roofline.cpp", "ratio(lanes, kLanes * executed, 1)", "ratio(lanes, 2 * kLanes * executed, 1)", "Roofline.*"),
    Mutant("roofline", "analysis/models/roofline/roofline.cpp", "std::ceil(threads / kLanes)", "std::ceil(threads / (2 * kLanes))"),
    Mutant("roofline", "analysis/models/roofline/roofline.cpp", "kManyLines = 4,", "kManyLines = 40,", ("diagnosis_limit_scattered_chase",)),
    Mutant("roofline", "analysis/models/roofline/roofline.cpp", "kTooMany = 2;", "kTooMany = 40;", ("diagnosis_limit_scattered_chase",)),
    Mutant("roofline", "analysis/models/roofline/roofline.cpp", "kLine = 128,", "kLine = 16,", ("diagnosis_limit_scattered_chase",)),
    Mutant("roofline", "analysis/models/roofline/roofline.cpp", "barrier / resident / 2 *", "barrier / resident / 20 *",
           ("diagnosis_limit_waiting_warps",)),
    Mutant("roofline", "analysis/models/roofline/ceilings.cpp", "c.l2 = kSector *", "c.l2 = 2 * kSector *", ("diagnosis_limit_l2_reads",)),
)


def _copy(copy: Path) -> None:
    """The files that git knows, as they are now; those that are the same already stay, so that little is built again."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        content = (SOURCE / name).read_bytes()
        if not (copy / name).exists() or (copy / name).read_bytes() != content:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)


def _build(copy: Path, tests: bool) -> None:
    command = ["cmake", "--preset", "release", f"-DGPUSIM_TESTS={'ON' if tests else 'OFF'}", "-DGPUSIM_BENCHMARKS=OFF"]
    if shutil.which("ccache"):
        command += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DCMAKE_C_COMPILER_LAUNCHER=ccache"]
    for step in (command, ["ninja", "-C", "build/release", "gpusim", *(["analysis_test"] if tests else [])]):
        done = subprocess.run(step, cwd=copy, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"mutants: {' '.join(step)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def misplaced() -> list[str]:
    """What is to be changed must stand once in its file."""
    counts = [(m, (SOURCE / m.file).read_text().count(m.right)) for m in MUTANTS]
    return [f"'{m.right}' stands {n} times in {m.file}, not once" for m, n in counts if n != 1]


def _breaches(copy: Path, cases: tuple[str, ...]) -> tuple[int, dict[str, int]]:
    """Exit code, and breaches by model."""
    suite = "papers" if cases else "quick"
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


def _failures(copy: Path, tests: str) -> int:
    """Unit tests that fail."""
    done = subprocess.run([copy / "build/release/bin/analysis_test", f"--gtest_filter={tests}"], capture_output=True, text=True)
    ran = re.search(r"Running (\d+) tests?", done.stdout)
    if not ran or ran[1] == "0":
        sys.exit(f"mutants: there are no unit tests {tests}:\n{done.stderr[-3000:]}")
    return 0 if done.returncode == 0 else max(1, done.stdout.count("[  FAILED  ] ") // 2)


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
    if wrong := misplaced():
        sys.exit("mutants: " + "; ".join(wrong))
    copy = arguments.folder.resolve()
    _copy(copy)
    tests = any(m.tests for m in chosen)
    _build(copy, tests)
    # Recordings are simulated by the program as it is.
    for suite in ("quick", "papers"):
        shutil.rmtree(copy / "build" / suite, ignore_errors=True)
    failed = False
    named = tuple(sorted({case for m in chosen for case in m.cases}))
    for cases in dict.fromkeys(((), named)):
        if all(m.tests or bool(m.cases) != bool(cases) for m in chosen):
            continue
        code, count = _breaches(copy, cases)
        failed = failed or code != 0
        _show(f"nothing changed, {'named cases' if cases else 'quick suite'}", code, count, code == 0)
    for unit_tests in sorted({m.tests for m in chosen if m.tests}):
        failures = _failures(copy, unit_tests)
        failed = failed or failures > 0
        _show(f"nothing changed, unit tests {unit_tests}", failures, {unit_tests: failures} if failures else {}, failures == 0)
    for mutant in chosen:
        file = copy / mutant.file
        text = file.read_text()
        file.write_text(text.replace(mutant.right, mutant.wrong))
        _build(copy, tests)
        file.write_text(text)
        if mutant.tests:
            failures = _failures(copy, mutant.tests)
            code, count, good = failures, {f"unit tests {mutant.tests}": failures} if failures else {}, failures > 0
        else:
            code, count = _breaches(copy, mutant.cases)
            good = code == 1 and mutant.model in count
        failed = failed or not good
        _show(f"{mutant.file}: {mutant.wrong}", code, count, good)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
