"""PTX that cannot run, and programs that fail: the messages name the place."""

import re
from pathlib import Path
from typing import Callable

from runner import Gpusim, require, require_equal, require_recorded_status

# file: the texts of the timed run, of the functional run
FAILING = {
    "out_of_bounds": ("PTX line 24 `st.global.u32 [%r6+0], %r3`, block (2,0,0), thread (5,0,0): 4-byte access to "
                      "global memory at address 0x20000214 is out of bounds",) * 2,
    "misaligned": ("PTX line 18 `ld.global.u32 %r5, [%r4+0]`, block (0,0,0), thread (3,0,0): 4-byte access to global "
                   "memory at address 0x1000000d is misaligned",) * 2,
    "shared_out_of_bounds": ("PTX line 14 `st.shared.u32 [%r4+0], %r1`, block (0,0,0), thread (1,0,0): 4-byte "
                             "access to shared memory at address 0x10000 is out of bounds",) * 2,
    "barrier_deadlock": ("kernel 'barrier_deadlock', PTX line 13 `bar.sync 0`, block (0,0,0), thread (0,0,0)",
                         "PTX line 16 `bar.sync 1`, block (0,0,0), thread (32,0,0) waits at a barrier"),
    "divergent_barrier": ("its lanes 0xffff0000 never arrive: the barrier is divergent", "waits at a barrier"),
    "call_stack_full": ("thread (37,0,0): the call stack of 4096 bytes is full: 'deeper' needs 176 more; if the recursion "
                        "is meant to be that deep, raise 'stack' of the [[launch]] in a launch file",)
                       * 2,
    "bad_function_address": ("thread (9,0,0): call of address 0x0, where no function is",) * 2,
    "assertion": ("block (0,0,0), thread (37,0,0): assertion.cu:6: void assertion(unsigned int *): block: [0,0,0], thread: "
                  "[37,0,0] Assertion `i != 37 && \"no place for 37\"` failed.",) * 2,
    "no_texture": ("PTX line 12 `tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd0, {%r0}]`, block (0,0,0), thread (0,0,0): "
                   "0x10000000 is not a texture of the launch file",) * 2,
    "branch_table": ("PTX line 18 `brx.idx %r1, targets`, block (0,0,0), thread (21,0,0): index 2 of a branch table "
                     "with 2 targets",) * 2,
    "wmma_diverged": ("block (0,0,0), thread (0,0,0): the operation needs all 32 lanes of the warp, lanes 0x00000080 are "
                      "not there",) * 2,
    "wmma_exited": ("%r7}, [%rd1]`, block (0,0,0), thread (0,0,0): the operation needs all 32 lanes of the warp, lanes "
                    "0xffff0000 are not there",) * 2,
    "endless": ("still running after 50000 cycles (--max-cycles)", "still running after"),
}


def check_failing(gpusim: Gpusim, name: str) -> None:
    """A program that fails: exit 2, the message names kernel, PTX line, block, thread and address; the file says so."""
    ptx = gpusim.source / "regress" / "failing" / f"{name}.ptx"
    launch = ["--grid", "4", "--block", "64", "--arg", "u32[256]", "--max-cycles", "50000", "--json"]
    timed, functional = FAILING[name]
    run = gpusim.simulate(ptx, *launch, "--functional").require_code(2)
    run.require_error(f"kernel '{name}'", "PTX line", "block (", "thread (", functional)
    out = gpusim.scratch / "failed.h5"
    run = gpusim.simulate(ptx, *launch, "--out", str(out)).require_code(2)
    run.require_error(f"kernel '{name}'", "PTX line", "block (", "thread (", timed)
    report = run.json()
    require_equal("status", report["status"], "failed")
    require(timed in report["reason"], f"reason: {report['reason']}")
    require_recorded_status(out, "failed", name)


def check_bad_ptx(gpusim: Gpusim, name: str) -> None:
    """`// expect:` lines of the file are the messages, in order; `check` and a run exit 1 with them."""
    ptx = gpusim.source / "regress" / "bad" / f"{name}.ptx"
    texts = re.findall(r"^\s*// expect: (.*)$", ptx.read_text(errors="replace"), re.MULTILINE)
    require(len(texts) > 0, f"{name} asserts nothing")
    messages = [f"{ptx}:{text}" for text in texts]
    for run in (gpusim.run("check", ptx), gpusim.simulate(ptx, "--grid", "1", "--block", "32", "--arg", "u32[32]")):
        run.require_code(1).require_error(*messages)
        places = [run.err.index(message) for message in messages]
        require_equal("order of messages", places, sorted(places))
    require_equal("files left", sorted(p.name for p in gpusim.scratch.iterdir()), [])


def failing_checks(source: Path) -> dict[str, Callable[[Gpusim], None]]:
    """"failing/endless", "bad/syntax", ..."""
    checks = {}
    for kind, check in (("failing", check_failing), ("bad", check_bad_ptx)):
        for path in sorted((source / "regress" / kind).glob("*.ptx")):
            checks[f"{kind}/{path.stem}"] = lambda gpusim, check=check, name=path.stem: check(gpusim, name)
    return checks
