"""printf(), malloc() and free() in kernels: regress/system_calls, with and without timing."""

import struct
from pathlib import Path
from typing import Callable

from runner import Gpusim, require, require_equal

MODES = {"functional": ("--functional",), "timed": ("--out", "none")}


def words_of_npy(path: Path) -> list[int]:
    data = path.read_bytes()
    (header,) = struct.unpack_from("<H", data, 8)
    return [v for (v,) in struct.iter_unpack("<i", data[10 + header:])]


def expected_lines(threads: int) -> list[str]:
    """What print.cu prints, by Python's own formatting."""
    lines = []
    for i in range(threads):
        v, word, letter = 5 * i - 40, ("zero", "one", "two")[i % 3], chr(ord("a") + i % 26)
        kind = abs(v) % 3 * (1 if v >= 0 else -1)  # C++'s remainder
        if kind == 0:
            lines.append("%s <%s> %d %+.3f %e" % (word, letter, v, v / 7.0, v * 1e10))
        elif kind == 1:
            lines.append("%5d|%-6x|%*d|%d|%s%%" % (v, v, 8, v, v << 33, chr(ord("A") + i % 26)))
        else:
            lines.append("plain")
    return lines


def launch(gpusim: Gpusim, name: str, kernel: str, *options: str, machine: str = "tesla_v100.cfg") -> str:
    ptx = gpusim.source / "regress" / "system_calls" / f"{name}.ptx"
    return gpusim.run("--config", gpusim.source / "configs" / machine, ptx, "--kernel", kernel, "--quiet", *options).require_code(0).out


def check_print(gpusim: Gpusim, mode: str) -> None:
    """The text is that of the host's printf(), lane after lane of each warp; the results are the numbers of arguments."""
    threads = 200
    command = ("--grid", "4", "--block", "64", "--arg", "s32[200]", "--arg", "s32[200]=iota(-40,5)", "--arg", "200")
    out = launch(gpusim, "print", "print", *command, "--dump", "arg0=out.npy", *MODES[mode])
    lines, expected = out.splitlines(), expected_lines(threads)
    require_equal("sorted lines", sorted(lines), sorted(expected))
    require_equal("the same twice", launch(gpusim, "print", "print", *command, *MODES[mode]), out)
    if mode == "functional":  # warp after warp; what a warp prints at once is in the order of its lanes
        own = [line for line in expected[:32] if line.startswith(("zero", "one", "two"))]
        require_equal("order", [line for line in lines if line in own], own)
    numbers = [5 if "<" in line else 6 if "|" in line else 0 for line in expected]
    # values, width and precision count as arguments: five of the first kind, six of the second
    require_equal("returned", words_of_npy(gpusim.scratch / "out.npy"), numbers)


def check_flood(gpusim: Gpusim, mode: str) -> None:
    """The oldest output is lost when the buffer of 1 MiB is full: 32 bytes a record."""
    out = launch(gpusim, "print", "flood", "--grid", "2", "--block", "32", "--arg", "1000", *MODES[mode])
    lines = out.splitlines()
    require_equal("records", len(lines), (1 << 20) // 32)
    last = [f"{t} 999" for t in range(32, 64)]
    require_equal("the end is there", sorted(line for line in lines if line in last), sorted(last))
    require("0 0" not in lines, "the beginning is lost")


def check_json(gpusim: Gpusim, mode: str) -> None:
    """With --json stdout is one object; the text is on stderr."""
    ptx = gpusim.source / "regress" / "system_calls" / "print.ptx"
    run = gpusim.run("--config", gpusim.source / "configs" / "tesla_v100.cfg", ptx, "--kernel", "flood", "--grid", "1", "--block", "2", "--arg", "1",
                     "--json", *MODES[mode]).require_code(0)
    require_equal("status", run.json()["status"], "complete")
    require("0 0\n1 0\n" in run.err, run.err)


def check_lists(gpusim: Gpusim, mode: str) -> None:
    launch(gpusim, "heap", "lists", "--grid", "4", "--block", "96", "--arg", "s32[384]", "--arg", "384",
           "--dump", "arg0=out.npy", *MODES[mode])
    expected = [sum(k * i for k in range(i % 7 + 1)) for i in range(384)]
    require_equal("sums", words_of_npy(gpusim.scratch / "out.npy"), expected)


def check_fill(gpusim: Gpusim, mode: str) -> None:
    """malloc() gives null once the 8 MiB are used up: 1 KiB and 16 bytes before it for each block."""
    launch(gpusim, "heap", "fill", "--grid", "1", "--block", "8", "--arg", "s32[8]", "--dump", "arg0=out.npy", *MODES[mode])
    require_equal("blocks", sum(words_of_npy(gpusim.scratch / "out.npy")), (8 << 20) // (1024 + 16))


LAUNCHES = """
[[buffer]]
name = "place"
type = "u64"
count = 64
[[buffer]]
name = "values"
type = "s32"
count = 64
[[launch]]
kernel = "keep"
grid = [1]
block = [64]
args = ["place"]
[[launch]]
kernel = "use"
grid = [1]
block = [64]
args = ["place", "values"]
"""


def check_kept(gpusim: Gpusim, mode: str) -> None:
    """Blocks live on from launch to launch, until they are freed."""
    (gpusim.scratch / "kept.toml").write_text(LAUNCHES)
    ptx = gpusim.source / "regress" / "system_calls" / "heap.ptx"
    gpusim.run("--config", gpusim.source / "configs" / "tesla_v100.cfg", ptx, "--launch", "kept.toml", "--quiet", "--dump", "values=out.npy",
               *MODES[mode]).require_code(0)
    require_equal("values", words_of_npy(gpusim.scratch / "out.npy"), [3 * i for i in range(64)])


CHECKS = {"print": check_print, "flood": check_flood, "json": check_json, "lists": check_lists, "fill": check_fill,
          "kept": check_kept}
SYSTEM_CALL_CHECKS: dict[str, Callable[[Gpusim], None]] = {
    f"{name}_{mode}": lambda gpusim, check=check, mode=mode: check(gpusim, mode)
    for name, check in CHECKS.items() for mode in MODES
}
