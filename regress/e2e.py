#!/usr/bin/env python3
"""End-to-end checks of the gpusim program. Python 3.10, standard library and h5py.

  e2e.py list                                    every check, one a line: the command that runs it
  e2e.py --gpusim BIN [--source DIR] CHECK NAME  runs one check; exit 0 if it holds, 77 if it cannot run
  e2e.py --gpusim BIN golden --update            writes regress/golden/*.json from this program
"""

import argparse
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, Callable, Iterable

sys.dont_write_bytecode = sys.pycache_prefix is None  # never in the source tree
SOURCE = Path(__file__).resolve().parent.parent

from runner import SKIPPED, CheckFailed, Gpusim, NoCompiler  # noqa: E402

Named = dict[str, Callable[[Gpusim], None]]


def listed(module: str, table: str = "CHECKS") -> Callable[[Path], Named]:
    """Checks that the module lists."""
    return lambda source: getattr(import_module(module), table)


def made(module: str, function: str) -> Callable[[Path], Named]:
    """Checks that the module makes of what is in the source tree."""
    return lambda source: getattr(import_module(module), function)(source)


def each(module: str, function: str, names: Callable[[], Iterable[str]]) -> Callable[[Path], Named]:
    """The module's function, with each name."""

    def checks(source: Path) -> Named:
        check = getattr(import_module(module), function)
        return {name: lambda gpusim, name=name: check(gpusim, name) for name in names()}

    return checks


def those_of(module: str, table: str) -> Callable[[], Iterable[str]]:
    """Names that the module has in a table."""
    return lambda: getattr(import_module(module), table)


def per_case(module: str, function: str, wanted: Callable[[Any], bool]) -> Callable[[Path], Named]:
    """The module's function, with each workload (cases.Case) that is wanted."""

    def checks(source: Path) -> Named:
        check, cases = getattr(import_module(module), function), import_module("cases").CASES
        return {name: lambda gpusim, case=case: check(gpusim, case) for name, case in cases.items() if wanted(case)}

    return checks


def functions(module: str, **names: str) -> Callable[[Path], Named]:
    """Functions of the module, by the names of the checks that they are."""
    return lambda source: {name: getattr(import_module(module), function) for name, function in names.items()}


def in_full(case: Any) -> bool:
    return not case.brief


def all_of(*kinds: Callable[[Path], Named]) -> Callable[[Path], Named]:
    """Checks of several modules, as one kind."""
    return lambda source: {name: check for kind in kinds for name, check in kind(source).items()}


# What makes the checks of each kind. A check's process loads the modules of its own kind only: there are hundreds of them.
KINDS: dict[str, Callable[[Path], Named]] = {
    "verify": all_of(per_case("check_results", "check_verify", in_full), per_case("golden", "check_brief", lambda case: case.brief)),
    "sizes": per_case("check_results", "check_sizes", lambda case: bool(case.odd) or in_full(case)),
    "lowering": per_case("check_results", "check_lowering", in_full),
    "independence": per_case("check_results", "check_independence", in_full),
    "golden": per_case("golden", "check_golden", in_full),
    "file": each("check_file", "check_file", lambda: ("off", "summary", "memory", "all")),
    "determinism": all_of(each("check_file", "check_determinism", lambda: ("summary", "all")), functions("check_file", seed="check_seed")),
    "differential": each("check_differential", "check_differential", those_of("check_differential", "SEEDS")),
    "error": made("check_errors", "error_checks"),
    "check": made("check_checks", "check_checks"),
    "docs": made("check_docs", "docs_checks"),
    "calibrated": each("check_calibrated", "check_calibrated", those_of("check_calibrated", "MACHINES")),
    "data_sheet": each("check_calibrated", "check_data_sheet", lambda: ("tesla_c1060", *import_module("check_calibrated").LARGER)),
    "compiled": per_case("check_compiled", "check_compiled", lambda case: case.name not in import_module("check_compiled").WITHOUT_SOURCE),
    "machines": each("check_machines", "check_machines", those_of("check_machines", "MACHINES")),
    "ranges": each("check_ranges", "check_section", those_of("check_ranges", "SECTIONS")),
    "queues": each("check_queues", "check_queues", those_of("check_calibrated", "MACHINES")),
    "streams": each("check_streams", "check_streams", lambda: ("tesla_c1060", "gtx480", "tesla_v100", "timeline")),
    "metrics": each("check_metrics", "check_metrics", those_of("check_metrics", "CHECKS")),
    "compare": listed("check_compare"),
    "advice": listed("check_advice"),
    "correlate": listed("check_correlate"),
    "ptxas": all_of(functions("check_ptxas", workloads="check_ptxas", report="check_report"),
                    functions("check_mutations", mutations="check_mutations")),
    "compiler": listed("check_compiler"),
    "registers": listed("check_registers"),
    "regress": functions("check_regress", quick="check_quick_suite", failures="check_failures", mutants="check_mutants"),
    "reuse": functions("check_reuse", traces="check_reuse", figures="check_figures", first_core="check_first_core"),
    "study": listed("check_study"),
    "html": listed("check_html"),
    "programs": listed("check_programs", "PROGRAM_CHECKS"),
    "system_calls": listed("check_system_calls", "SYSTEM_CALL_CHECKS"),
    "families": listed("check_families", "FAMILY_CHECKS"),
    "variables": listed("check_variables"),
    "steps": listed("check_steps"),
    "suites": listed("check_suites"),
    "init": listed("check_init"),
    "installed": all_of(listed("check_installed"), listed("check_pages")),
    "examples": listed("check_examples"),
    "latency_hidden": functions("check_latency_hidden", matmul="check_latency_hidden"),
    "energy": listed("check_energy", "ENERGY_CHECKS"),
    "sources": functions("check_sources", includes="check_includes"),
    "corpus": lambda source: each("check_corpus", "check_corpus", lambda: import_module("check_corpus").sources(source))(source),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpusim", type=Path, help="the program under test")
    parser.add_argument("--source", type=Path, default=SOURCE, help="the source tree")
    parser.add_argument("--update", action="store_true", help="with golden: write the files")
    parser.add_argument("check")
    parser.add_argument("name", nargs="?")
    arguments = parser.parse_args()
    if arguments.check == "list":
        print("\n".join(f"{kind} {name}" for kind, checks in KINDS.items() for name in checks(arguments.source)))
        return 0
    if arguments.gpusim is None:
        parser.error("--gpusim is missing")
    if arguments.check not in KINDS:
        parser.error(f"no check '{arguments.check}'; there are: {', '.join(KINDS)}")
    if arguments.update and arguments.check != "golden":
        parser.error("--update goes with golden")
    with tempfile.TemporaryDirectory(prefix="gpusim_e2e_") as scratch:
        gpusim = Gpusim(arguments.gpusim.resolve(), arguments.source.resolve(), Path(scratch))
        if arguments.update:
            import_module("golden").update(gpusim)
            return 0
        named = KINDS[arguments.check](arguments.source)
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
