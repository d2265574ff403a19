"""Values, lowering levels, cycle accounting, and that timing parameters do not change values."""

from typing import Any

from cases import Case
from runner import Gpusim, params, require, require_equal

ISSUE_CYCLES = 2  # scheduler.issue_cycles of the C1060
SMS = 30


def instructions(report: dict[str, Any], case: Case) -> list[tuple[Any, ...]]:
    counts = ("name", "warp_instructions", "thread_instructions") if case.steady else ("name",)
    return [tuple(k[count] for count in counts) for k in report["kernels"]]


def require_verified(report: dict[str, Any], case: Case) -> None:
    require_equal("kernels run", len(report["kernels"]), case.kernels or len(report["kernels"]))
    require(len(report["expect"]) > 0, "nothing was compared with a reference")
    for expect in report["expect"]:
        require_equal(f"verdict on {expect['buffer']}", expect["verdict"], "pass")


def require_exact_slots(report: dict[str, Any], sms: int) -> None:
    """Every issue slot has exactly one cause; an operation issues in one slot (replays occupy its pipe, not slots)."""
    for kernel in report["kernels"]:
        slots = kernel["issue_slots"]
        require_equal(f"{kernel['name']}: odd cycles", kernel["cycles"] % ISSUE_CYCLES, 0)
        require_equal(f"{kernel['name']}: issue slots", sum(slots.values()),
                      kernel["cycles"] // ISSUE_CYCLES * sms)
        require_equal(f"{kernel['name']}: issued slots", slots["issued"], kernel["counters"]["inst_executed"])


def report_of(gpusim: Gpusim, case: Case, *options: str) -> dict[str, Any]:
    return gpusim.report(case.ptx(gpusim.source), *case.launch_options(gpusim.source), *options)


def check_verify(gpusim: Gpusim, case: Case) -> dict[str, Any]:
    """Functional and timed runs give the reference's values; the timed run, which is returned, accounts for every slot."""
    files = [case.ptx(gpusim.source), *(gpusim.source / "workloads" / file for file in case.linked)]
    gpusim.run("check", "--config", gpusim.machine(), "--link", *files).require_code(0)
    strict = ["--check", "all", "--lowering", "none"] if case.brief else []
    functional = report_of(gpusim, case, "--functional", *strict, *params(case.params))
    timed = report_of(gpusim, case, "--out", "none", *params(case.params))
    for report in (functional, timed):
        require_verified(report, case)
    if case.brief:
        require_equal("findings", functional["checks"]["findings"], [])
    require_equal("instructions, timed", instructions(timed, case), instructions(functional, case))
    require_exact_slots(timed, SMS)
    for kernel in timed["kernels"]:
        require(kernel["cycles"] > 0 and kernel["warp_instructions"] > 0, f"{kernel['name']} did nothing")
    return timed


def check_sizes(gpusim: Gpusim, case: Case) -> None:
    """Sizes that do not fill blocks, tiles or warps."""
    for sizes in case.odd:
        for mode in (["--functional"], ["--out", "none"]):
            report = report_of(gpusim, case, *mode, *params(sizes))
            require_verified(report, case)


def dump(gpusim: Gpusim, case: Case, *options: str) -> tuple[dict[str, Any], bytes]:
    """A run's report and the .npy of its result."""
    file = gpusim.scratch / "dump.npy"
    file.unlink(missing_ok=True)
    report = report_of(gpusim, case, "--dump", f"{case.dump}={file}", *options)
    return report, file.read_bytes()


SCHEDULE = {"1.3": [], "7.5": ["--set", "gpu.compute_capability=7.5"]}


def check_lowering(gpusim: Gpusim, case: Case) -> None:
    """Lowering passes change neither values nor the count of PTX instructions (of threads, where loops are unrolled)."""
    sizes = params(case.small)
    plain, plain_values = dump(gpusim, case, "--functional", "--lowering", "none", *sizes)
    clean, clean_values = dump(gpusim, case, "--functional", "--lowering", "clean", *sizes)
    timed, timed_values = dump(gpusim, case, "--out", "none", "--lowering", "none", *sizes)
    require(plain_values == clean_values, f"{case.dump} differs between --lowering none and clean")
    require(plain_values == timed_values, f"{case.dump} differs between functional and timed")
    require_equal("instructions, clean", instructions(clean, case), instructions(plain, case))
    require_equal("instructions, timed", instructions(timed, case), instructions(plain, case))
    for bare, short in zip(plain["kernels"], clean["kernels"]):
        require(short["counters"]["inst_executed"] <= bare["counters"]["inst_executed"],
                f"{bare['name']}: clean executes more operations than none")
    for capability, machine in SCHEDULE.items():
        for mode in (["--functional"], ["--out", "none"]):
            options = ["--lowering", "schedule", *machine, *mode, *sizes]
            scheduled, values = dump(gpusim, case, *options)
            require(values == plain_values, f"{case.dump} differs between --lowering none and {' '.join(options)}")
            if case.steady:
                for bare, kernel in zip(plain["kernels"], scheduled["kernels"]):
                    require_equal(f"thread instructions of {bare['name']}, {' '.join(options)}",
                                  kernel["thread_instructions"], bare["thread_instructions"])


# A short DRAM queue needs write-drain marks that fit it.
_DRAM_QUEUE_1 = ["--set", "dram.queue=1", "--set", "dram.write_high=1", "--set", "dram.write_low=0"]


def _sets(*keys: str) -> list[str]:
    return [word for key in keys for word in ("--set", key)]


TIMING_VARIATIONS = {
    "gto": ["--set", "scheduler.policy=gto"],
    "oldest": ["--set", "scheduler.policy=oldest"],
    "two_level": ["--set", "scheduler.policy=two_level", "--set", "scheduler.group=4"],
    "lsu_queue": ["--set", "lsu.queue=1"],
    "interconnect_queue": ["--set", "interconnect.queue=1"],
    "dram_queue": _DRAM_QUEUE_1,
    "all_queues": ["--set", "lsu.queue=1", "--set", "interconnect.queue=1", *_DRAM_QUEUE_1],
    "l1": ["--set", "coalescer.rule=cc20", "--set", "l1.size=16K"],
    "l1_small": ["--set", "coalescer.rule=cc20", "--set", "l1.size=128", "--set", "l1.ways=1", "--set", "l1.mshrs=1"],
    "l2": ["--set", "coalescer.rule=cc20", "--set", "l1.size=16K", "--set", "l2.size=512K", "--set", "l2.hash=xor"],
    "l2_small": ["--set", "l2.size=1K", "--set", "l2.ways=1", "--set", "l2.mshrs=1", "--set", "l2.merges=1"],
    "mesh": _sets("interconnect.topology=mesh", "interconnect.router_queue=1", "interconnect.arbitration=oldest",
                  "interconnect.reply_flit=16"),
    "dram": _sets("dram.channels=2", "dram.bank_groups=4", "dram.group_interleave=128", "dram.ccd_l=4ck", "dram.rrd_l=10ck",
                  "dram.faw=40ck", "dram.page=closed", "dram.refresh=bank"),
    "fcfs": _sets("dram.scheduler=fcfs"),
    "tlb_halves": _sets("tlb.l1_entries=1", "tlb.l1_ways=1", "tlb.l1_misses=1", "tlb.walkers=1", "tlb.page=4K", "l2.size=512K",
                        "l2.halves=2", "l2.far_latency=100ns"),
    "sms1": ["--sms", "1"],
    "sms7": ["--sms", "7"],
}


def check_independence(gpusim: Gpusim, case: Case) -> None:
    """No timing parameter changes values or instruction counts; the slot accounting holds under each."""
    sizes = params(case.small)
    base, base_values = dump(gpusim, case, "--out", "none", *sizes)
    cycles = {tuple(k["cycles"] for k in base["kernels"])}
    for name, options in TIMING_VARIATIONS.items():
        report, values = dump(gpusim, case, "--out", "none", *options, *sizes)
        require(values == base_values, f"{case.dump} differs under {name}")
        require_equal(f"instructions under {name}", instructions(report, case), instructions(base, case))
        require_exact_slots(report, {"sms1": 1, "sms7": 7}.get(name, SMS))
        cycles.add(tuple(k["cycles"] for k in report["kernels"]))
    require(len(cycles) > 1, "no variation changed the timing")
