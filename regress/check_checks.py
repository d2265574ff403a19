"""`--check`: the programs of regress/checks/ are found guilty of what their comments say, the workloads of nothing.

A program's head says how to launch it (`// launch:`), with which further options (`// options:`), which checks (`// checks:`,
else all), how it ends (`// exit:`) and what a buffer must hold then (`// dump: buffer value`). A statement's comment `//! kind ...` names the findings it is the place of;
`//! race:N` marks the one or two statements of race N.
"""

import re
import struct
from pathlib import Path
from typing import Any, Callable

from cases import CASES, Case
from on_demand import h5py
from runner import Gpusim, params, require, require_equal

Found = set[tuple[Any, ...]]


def directive(text: str, name: str) -> list[str]:
    match = re.search(rf"^// {name}: (.*)$", text, re.MULTILINE)
    return match.group(1).split() if match else []


def expected(text: str) -> Found:
    found: Found = set()
    races: dict[str, list[int]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        for word in (line.split("//!")[1].split() if "//!" in line else []):
            if word.startswith("race:"):
                races.setdefault(word, []).append(number)
            else:
                found.add((word, number))
    return found | {("race", lines[0], lines[-1]) for lines in races.values()}


def found_in(report: dict[str, Any]) -> Found:
    found: Found = set()
    for f in report["checks"]["findings"]:
        lines = sorted(place["ptx_line"] for place in (f["place"], f["other"]) if place)
        found.add((f["kind"], *lines))
    return found


def value_of_npy(path: Path) -> set[int]:
    """The different values of a .npy of 32-bit elements."""
    data = path.read_bytes()
    (header,) = struct.unpack_from("<H", data, 8)
    return {v for (v,) in struct.iter_unpack("<I", data[10 + header:])}


def check_program(gpusim: Gpusim, name: str) -> None:
    """The same findings with and without timing, and the exit code."""
    ptx = gpusim.source / "regress" / "checks" / f"{name}.ptx"
    text = ptx.read_text()
    options = [*directive(text, "launch"), *directive(text, "options"), "--json",
               "--check", *(directive(text, "checks") or ["all"])]
    dump = directive(text, "dump")
    (code,) = map(int, directive(text, "exit"))
    for mode in (["--functional"], ["--out", "none"]):
        extra = ["--dump", f"{dump[0]}=out.npy"] if dump else []
        run = gpusim.simulate(ptx, *options, *mode, *extra).require_code(code)
        require_equal(f"findings {mode}", found_in(run.json()), expected(text))
        if dump:
            require_equal(f"values of {dump[0]} {mode}", value_of_npy(gpusim.scratch / "out.npy"), {int(dump[1])})
            (gpusim.scratch / "out.npy").unlink()


def check_clean(gpusim: Gpusim, case: Case) -> None:
    """A shipped workload has no mistakes."""
    options = [*case.launch_options(gpusim.source), *params(case.small), "--check", "all", "--functional"]
    require_equal("findings", gpusim.report(case.ptx(gpusim.source), *options)["checks"]["findings"], [])


def check_unchanged(gpusim: Gpusim, case: Case) -> None:
    """Checks change no cycle and no counter, and find nothing with timing either."""
    options = [*case.launch_options(gpusim.source), *params(case.small), "--out", "none"]
    plain = gpusim.report(case.ptx(gpusim.source), *options)
    checked = gpusim.report(case.ptx(gpusim.source), *options, "--check", "all")
    require_equal("findings", checked["checks"]["findings"], [])
    require("checks" not in plain, "a run without --check reports checks")
    require_equal("kernels", checked["kernels"], plain["kernels"])


def check_only_asked(gpusim: Gpusim) -> None:
    """A check that is not asked for finds nothing; without memory, a fault ends the run as ever."""
    ptx = gpusim.source / "regress" / "checks" / "init.ptx"
    launch = directive(ptx.read_text(), "launch")
    gpusim.simulate(ptx, *launch, "--functional", "--check", "memory,race,sync").require_code(0)
    gpusim.simulate(ptx, *launch, "--functional", "--check", "init").require_code(4).require_error("hint: a buffer without init counts as not written", 'init = "zeros"')
    ptx = gpusim.source / "regress" / "checks" / "skipped.ptx"
    launch = [*directive(ptx.read_text(), "launch"), *directive(ptx.read_text(), "options")]
    gpusim.simulate(ptx, *launch, "--functional", "--check", "all").require_code(0)
    ptx = gpusim.source / "regress" / "checks" / "overflow.ptx"
    launch = directive(ptx.read_text(), "launch")
    gpusim.simulate(ptx, *launch, "--functional", "--check", "sync").require_code(0)
    ptx = gpusim.source / "regress" / "checks" / "memory.ptx"
    launch = directive(ptx.read_text(), "launch")
    run = gpusim.simulate(ptx, *launch, "--functional", "--check", "init,race").require_code(2)
    run.require_error("is out of bounds", "(memory.cu:31)")


def check_messages(gpusim: Gpusim) -> None:
    """Place in PTX and source, thread, address, object and distance; the number of occurrences; a summary."""
    ptx = gpusim.source / "regress" / "checks" / "memory.ptx"
    run = gpusim.simulate(ptx, *directive(ptx.read_text(), "launch"), "--functional", "--check", "memory", "--quiet")
    run.require_code(4).require_error(
        "memory.ptx:29:2: error: out_of_bounds (memory): 4-byte load from global memory at 0x10001200 is outside: "
        "0 bytes past the end of buffer 'arg1' (256 bytes)\n"
        "    kernel 'memory', launch 0, block (0,0,0), thread (0,0,0): `ld.global.u32 %r5, [%r4+256]`, memory.cu:31\n"
        "    the first of 64 occurrences\n", "the address is a null pointer", "this is an address of buffer 'arg1'",
        "check memory: 15 findings, ")
    require_equal("stdout", run.out, "")


def check_recorded(gpusim: Gpusim) -> None:
    """The recorded file has the findings of each launch."""
    ptx = gpusim.source / "regress" / "checks" / "init.ptx"
    launch = directive(ptx.read_text(), "launch")
    report = gpusim.simulate(ptx, *launch, "--check", "all", "--json", "--out", "run.h5").require_code(4).json()
    with h5py.File(gpusim.scratch / "run.h5") as file:
        require_equal("status", file.attrs["status"].decode(), "complete")
        require("--check memory,race,init,sync" in file.attrs["command_line"].decode(), "no --check in the command line")
        table = file["kernels/0/checks"]
        rows = [(int(r["ptx_line"]), int(r["count"]), r["kind"].decode(), r["message"].decode()) for r in table[:]]
    require_equal("rows", rows, [(f["place"]["ptx_line"], f["count"], f["kind"], f["message"])
                                 for f in report["checks"]["findings"]])


Check = Callable[[Gpusim], None]
UNCHANGED = ("reduction", "scan", "matmul_tiled_8x8", "histogram", "recursion", "texture")


def check_checks(source: Path) -> dict[str, Check]:
    checks: dict[str, Check] = {}
    for path in sorted((source / "regress" / "checks").glob("*.ptx")):
        checks[path.stem] = lambda gpusim, name=path.stem: check_program(gpusim, name)
    for name, case in CASES.items():
        if case.brief:
            continue
        checks[f"clean_{name}"] = lambda gpusim, case=case: check_clean(gpusim, case)
    for name in UNCHANGED:
        checks[f"unchanged_{name}"] = lambda gpusim, case=CASES[name]: check_unchanged(gpusim, case)
    return checks | {"only_asked": check_only_asked, "messages": check_messages, "recorded": check_recorded}
