"""Every workload on every machine: values, and issue slots that add up whatever the number of schedulers."""

import tomllib
from pathlib import Path
from typing import Any

from cases import CASES, Case
from check_results import require_verified
from runner import Gpusim, params, require_equal

MACHINES = ("gtx470", "gtx470_48k", "gtx480", "tesla_k20x", "tesla_v100", "h200")


def config(gpusim: Gpusim, machine: str) -> Path:
    return gpusim.source / "configs" / f"{machine}.cfg"


def issue_slots(gpusim: Gpusim, machine: str) -> tuple[int, int]:
    """Slots of all SMs in the time between two issues of a scheduler, and that time in cycles."""
    shown = tomllib.loads(gpusim.run("config", "show", config(gpusim, machine)).require_code(0).out)
    scheduler = shown["scheduler"]
    slots = shown["gpu"]["sms"] * scheduler["count"] * scheduler["issue_width"]
    return slots, scheduler["issue_cycles"]


def check_case(gpusim: Gpusim, machine: str, case: Case) -> dict[str, Any]:
    options = [*case.launch_options(gpusim.source), *params(case.small or case.params)]
    done = gpusim.run("--config", config(gpusim, machine), case.ptx(gpusim.source), "--json", "--quiet", "--out", "none", *options)
    return done.require_code(0).json()


def check_machines(gpusim: Gpusim, machine: str) -> None:
    slots, cycles = issue_slots(gpusim, machine)
    for case in CASES.values():
        report = check_case(gpusim, machine, case)
        require_verified(report, case)
        for kernel in report["kernels"]:
            require_equal(f"{case.name}, {kernel['name']}: issue slots", sum(kernel["issue_slots"].values()),
                          kernel["cycles"] // cycles * slots)
