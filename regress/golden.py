"""Golden runs: cycles and counters of every workload, compared exactly. `e2e.py golden --update` writes them."""

import json
from pathlib import Path
from typing import Any

from cases import CASES, Case
from check_results import check_verify, report_of
from runner import CheckFailed, Gpusim, params, require

COUNTERS = ("warp_instructions", "thread_instructions", "inst_executed", "inst_issued", "divergent_branch", "barriers",
            "load_transactions", "store_transactions", "atom_count", "l1_shared_bank_conflict", "dram_read_bytes",
            "dram_write_bytes", "dram_row_hits", "noc_request_flits", "noc_reply_flits")


def golden_path(gpusim: Gpusim, case: Case) -> Path:
    return gpusim.source / "regress" / "golden" / f"{case.name}.json"


def _kernel_row(kernel: dict[str, Any]) -> dict[str, Any]:
    return {"name": kernel["name"], "cycles": kernel["cycles"], "registers": kernel["registers"],
            "blocks_per_sm": kernel["blocks_per_sm"],
            "counters": {name: int(kernel["counters"][name]) for name in COUNTERS}}


def timed_report(gpusim: Gpusim, case: Case) -> dict[str, Any]:
    return report_of(gpusim, case, "--out", "none", *params(case.params))


def golden_of(case: Case, report: dict[str, Any]) -> dict[str, Any]:
    return {"workload": case.path, "launch": case.launch, "params": list(case.params),
            "kernels": [_kernel_row(k) for k in report["kernels"]]}


def differences(actual: Any, expected: Any, place: str = "") -> list[str]:
    """One line per leaf that differs: name, actual value, golden value."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        return [line for key in sorted(actual.keys() | expected.keys())
                for line in differences(actual.get(key), expected.get(key), f"{place}.{key}")]
    if isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        return [line for i, pair in enumerate(zip(actual, expected)) for line in differences(*pair, f"{place}[{i}]")]
    return [] if actual == expected else [f"{place.lstrip('.')}: {actual!r}, golden {expected!r}"]


def compare(gpusim: Gpusim, case: Case, report: dict[str, Any]) -> None:
    path = golden_path(gpusim, case)
    require(path.exists(), f"{path} is missing; `e2e.py golden --update` writes it")
    wrong = differences(golden_of(case, report), json.loads(path.read_text()))
    if wrong:
        raise CheckFailed(f"differs from {path.name} (if meant: e2e.py golden --update):\n  " + "\n  ".join(wrong))


def check_golden(gpusim: Gpusim, case: Case) -> None:
    compare(gpusim, case, timed_report(gpusim, case))


def check_brief(gpusim: Gpusim, case: Case) -> None:
    """check_verify and check_golden with one timed run."""
    compare(gpusim, case, check_verify(gpusim, case))


def update(gpusim: Gpusim) -> None:
    for case in CASES.values():
        path = golden_path(gpusim, case)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(golden_of(case, timed_report(gpusim, case)), indent=2) + "\n")
        print(f"{path.name} written")
