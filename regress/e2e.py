#!/usr/bin/env python3
"""End-to-end checks of the gpusim program. Python 3.10, standard library and h5py.

  e2e.py list                                    every check, one a line: the command that runs it
  e2e.py --gpusim BIN [--source DIR] CHECK NAME  runs one check; exit 0 if it holds, 77 if it cannot run
  e2e.py --gpusim BIN golden --update            writes regress/golden/*.json from this program
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Callable

sys.dont_write_bytecode = sys.pycache_prefix is None  # never in the source tree
SOURCE = Path(__file__).resolve().parent.parent

from cases import CASES, Case  # noqa: E402
from check_checks import check_checks  # noqa: E402
from check_advice import CHECKS as ADVICE_CHECKS  # noqa: E402
from check_calibrated import MACHINES, check_calibrated  # noqa: E402
from check_compare import CHECKS as COMPARE_CHECKS  # noqa: E402
from check_compiled import WITHOUT_SOURCE, check_compiled  # noqa: E402
from check_compiler import CHECKS as COMPILER_CHECKS  # noqa: E402
from check_corpus import SKIPPED, NoCompiler, check_corpus, sources  # noqa: E402
from check_correlate import CHECKS as CORRELATE_CHECKS  # noqa: E402
from check_differential import SEEDS, check_differential  # noqa: E402
from check_docs import docs_checks  # noqa: E402
from check_errors import error_checks  # noqa: E402
from check_examples import CHECKS as EXAMPLE_CHECKS  # noqa: E402
from check_html import CHECKS as HTML_CHECKS  # noqa: E402
from check_init import CHECKS as INIT_CHECKS  # noqa: E402
from check_installed import CHECKS as INSTALLED_CHECKS  # noqa: E402
from check_latency_hidden import check_latency_hidden  # noqa: E402
from check_machines import MACHINES as OTHER_MACHINES, check_machines  # noqa: E402
from check_mutations import check_mutations  # noqa: E402
from check_metrics import CHECKS as METRIC_CHECKS, check_metrics  # noqa: E402
from check_pages import CHECKS as PAGE_CHECKS  # noqa: E402
from check_ptxas import check_ptxas, check_report  # noqa: E402
from check_queues import check_queues  # noqa: E402
from check_ranges import SECTIONS, check_section  # noqa: E402
from check_regress import check_failures, check_quick_suite  # noqa: E402
from check_reuse import check_figures, check_first_core, check_reuse  # noqa: E402
from check_results import check_independence, check_lowering, check_sizes, check_verify  # noqa: E402
from check_steps import CHECKS as STEP_CHECKS  # noqa: E402
from check_study import CHECKS as STUDY_CHECKS  # noqa: E402
from check_suites import CHECKS as SUITE_CHECKS  # noqa: E402
from check_families import FAMILY_CHECKS  # noqa: E402
from check_programs import PROGRAM_CHECKS  # noqa: E402
from check_system_calls import SYSTEM_CALL_CHECKS  # noqa: E402
from check_variables import CHECKS as VARIABLE_CHECKS  # noqa: E402
from golden import check_brief, check_golden, update  # noqa: E402
from runner import CheckFailed, Gpusim  # noqa: E402

Named = dict[str, Callable[[Gpusim], None]]


def per_case(check: Callable, wanted: Callable[[Case], bool]) -> Named:
    return {name: lambda gpusim, case=case: check(gpusim, case) for name, case in CASES.items() if wanted(case)}


def in_full(case: Case) -> bool:
    return not case.brief


def all_checks(source: Path) -> dict[str, Named]:
    # check_file needs h5py, which loads slowly; most checks do without it.
    def file_check(name: str, *arguments: str) -> Callable[[Gpusim], None]:
        def run(gpusim: Gpusim) -> None:
            import check_file

            getattr(check_file, name)(gpusim, *arguments)

        return run

    def stream_check(name: str) -> Callable[[Gpusim], None]:
        def run(gpusim: Gpusim) -> None:
            import check_streams

            check_streams.check_streams(gpusim, name)

        return run

    def energy_check(name: str) -> Callable[[Gpusim], None]:
        def run(gpusim: Gpusim) -> None:
            import check_energy

            check_energy.ENERGY_CHECKS[name](gpusim)

        return run

    return {
        "verify": per_case(check_verify, in_full) | per_case(check_brief, lambda case: case.brief),
        "sizes": per_case(check_sizes, lambda case: bool(case.odd) or in_full(case)),
        "lowering": per_case(check_lowering, in_full),
        "independence": per_case(check_independence, in_full),
        "golden": per_case(check_golden, in_full),
        "file": {level: file_check("check_file", level) for level in ("off", "summary", "memory", "all")},
        "determinism": {level: file_check("check_determinism", level) for level in ("summary", "all")}
        | {"seed": file_check("check_seed")},
        "differential": {name: lambda gpusim, name=name: check_differential(gpusim, name) for name in SEEDS},
        "error": error_checks(source),
        "check": check_checks(source),
        "docs": docs_checks(source),
        "calibrated": {name: lambda gpusim, name=name: check_calibrated(gpusim, name) for name in MACHINES},
        "compiled": per_case(check_compiled, lambda case: case.name not in WITHOUT_SOURCE),
        "machines": {name: lambda gpusim, name=name: check_machines(gpusim, name) for name in OTHER_MACHINES},
        "ranges": {name: lambda gpusim, name=name: check_section(gpusim, name) for name in SECTIONS},
        "queues": {name: lambda gpusim, name=name: check_queues(gpusim, name) for name in MACHINES},
        "streams": {name: stream_check(name) for name in ("tesla_c1060", "gtx480", "tesla_v100", "timeline")},
        "metrics": {name: lambda gpusim, name=name: check_metrics(gpusim, name) for name in METRIC_CHECKS},
        "compare": COMPARE_CHECKS,
        "advice": ADVICE_CHECKS,
        "correlate": CORRELATE_CHECKS,
        "ptxas": {"workloads": check_ptxas, "report": check_report, "mutations": check_mutations},
        "compiler": COMPILER_CHECKS,
        "regress": {"quick": check_quick_suite, "failures": check_failures},
        "reuse": {"traces": check_reuse, "figures": check_figures, "first_core": check_first_core},
        "study": STUDY_CHECKS,
        "html": HTML_CHECKS,
        "programs": PROGRAM_CHECKS,
        "system_calls": SYSTEM_CALL_CHECKS,
        "families": FAMILY_CHECKS,
        "variables": VARIABLE_CHECKS,
        "steps": STEP_CHECKS,
        "suites": SUITE_CHECKS,
        "init": INIT_CHECKS,
        "installed": INSTALLED_CHECKS | PAGE_CHECKS,
        "examples": EXAMPLE_CHECKS,
        "latency_hidden": {"matmul": check_latency_hidden},
        "energy": {name: energy_check(name) for name in ("system", "groups", "blocks", "hardware_clocks")},
        "corpus": {name: lambda gpusim, name=name: check_corpus(gpusim, name) for name in sources(source)},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpusim", type=Path, help="the program under test")
    parser.add_argument("--source", type=Path, default=SOURCE, help="the source tree")
    parser.add_argument("--update", action="store_true", help="with golden: write the files")
    parser.add_argument("check")
    parser.add_argument("name", nargs="?")
    arguments = parser.parse_args()
    checks = all_checks(arguments.source)
    if arguments.check == "list":
        print("\n".join(f"{kind} {name}" for kind, named in checks.items() for name in named))
        return 0
    if arguments.gpusim is None:
        parser.error("--gpusim is missing")
    if arguments.check not in checks:
        parser.error(f"no check '{arguments.check}'; there are: {', '.join(checks)}")
    if arguments.update and arguments.check != "golden":
        parser.error("--update goes with golden")
    with tempfile.TemporaryDirectory(prefix="gpusim_e2e_") as scratch:
        gpusim = Gpusim(arguments.gpusim.resolve(), arguments.source.resolve(), Path(scratch))
        if arguments.update:
            update(gpusim)
            return 0
        named = checks[arguments.check]
        if arguments.name not in named:
            parser.error(f"no {arguments.check} check '{arguments.name}'; there are: {', '.join(named)}")
        try:
            named[arguments.name](gpusim)
        except NoCompiler as missing:
            print(f"{arguments.check} {arguments.name}: skipped: {missing}")
            return SKIPPED
        except CheckFailed as failure:
            print(f"{arguments.check} {arguments.name}: FAILED: {failure}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
