"""Programs of rarer instructions, with and without timing: asynchronous copies, mbarrier, surfaces."""

import struct
from pathlib import Path
from typing import Callable

from runner import Gpusim, require, require_equal

MODES = {"functional": ("--functional",), "timed": ("--out", "none")}


def npy(path: Path, code: str) -> list[float]:
    data = path.read_bytes()
    (header,) = struct.unpack_from("<H", data, 8)
    return [v for (v,) in struct.iter_unpack("<" + code, data[10 + header:])]


def run(gpusim: Gpusim, name: str, machine: str, *options: str) -> None:
    ptx = gpusim.source / "regress" / "families" / f"{name}.ptx"
    gpusim.run("--config", gpusim.source / "configs" / machine, ptx, "--quiet", *options).require_code(0)


def check_copies(gpusim: Gpusim, mode: str) -> None:
    """Tiles come through shared memory while the ones before are added up; all sums are exact."""
    blocks, tiles = 4, 8
    run(gpusim, "async", "h200.cfg", "--kernel", "copies", "--grid", f"{blocks}", "--block", "64", "--arg",
        f"f32[{256 * blocks * tiles}]=iota(0,1)", "--arg", f"f32[{64 * blocks}]", "--arg", f"{tiles}", "--dump", "arg1=out.npy",
        "--check", "memory,race,init,sync", *MODES[mode])
    expected = []
    for block in range(blocks):
        for t in range(64):
            first = [4 * (64 * (block * tiles + k) + 63 - t) for k in range(tiles)]
            expected.append(float(sum(10 * f + 2 + 6 + 12 for f in first)))
    require_equal("sums", npy(gpusim.scratch / "out.npy", "f"), expected)


def check_overlap(gpusim: Gpusim) -> None:
    """Copies that nothing waits for yet go on behind the sums: waiting for the latest group as well takes longer."""
    cycles = {}
    for kernel in ("copies", "copies_in_vain"):
        ptx = gpusim.source / "regress" / "families" / "async.ptx"
        report = gpusim.run("--config", gpusim.source / "configs" / "h200.cfg", ptx, "--kernel", kernel, "--grid", "1", "--block",
                            "64", "--arg", "f32[16384]=iota(0,1)", "--arg", "f32[64]", "--arg", "64", "--out", "none",
                            "--json").require_code(0).json()
        cycles[kernel] = report["kernels"][0]["cycles"]
    require(cycles["copies"] < 0.9 * cycles["copies_in_vain"], f"{cycles}")


def check_barriers(gpusim: Gpusim, mode: str) -> None:
    run(gpusim, "async", "h200.cfg", "--kernel", "barriers", "--grid", "2", "--block", "128", "--arg", "s32[256]=iota(3,2)",
        "--arg", "s32[256]", "--dump", "arg1=out.npy", "--check", "memory,race,init,sync", *MODES[mode])
    expected: list[float] = []
    for block in range(2):
        x = [3 + 2 * (128 * block + t) for t in range(128)]
        for _ in range(4):
            x = [x[t] + x[(t + 1) % 128] for t in range(128)]
        expected += x
    require_equal("values", npy(gpusim.scratch / "out.npy", "i"), expected)


PICTURES = """
[params]
W = 40
H = 24
[[buffer]]
name = "from_bytes"
type = "u32"
count = "W*H"
init = "iota(0, 1)"
[[buffer]]
name = "to_bytes"
type = "u32"
count = "W*H"
[[buffer]]
name = "beyond"
type = "s32"
count = "W*H"
[[texture]]
name = "from"
buffer = "from_bytes"
format = "u32"
width = "W"
height = "H"
[[texture]]
name = "to"
buffer = "to_bytes"
format = "u32"
width = "W"
height = "H"
[[launch]]
kernel = "flip"
grid = ["ceil_div(W, 16)", "ceil_div(H, 8)"]
block = [16, 8]
args = ["from", "to", "beyond", "W", "H"]
"""


def check_surfaces(gpusim: Gpusim, mode: str) -> None:
    width, height = 40, 24
    (gpusim.scratch / "flip.toml").write_text(PICTURES)
    run(gpusim, "surface", "tesla_v100.cfg", "--launch", "flip.toml", "--dump", "to_bytes=to.npy", "--dump", "beyond=beyond.npy",
        *MODES[mode])
    require_equal("flipped", npy(gpusim.scratch / "to.npy", "I"),
                  [width * (height - 1 - y) + x for y in range(height) for x in range(width)])
    require_equal("beyond", npy(gpusim.scratch / "beyond.npy", "i"),
                  [width * min(y + 5, height - 1) + min(x + 3, width - 1) for y in range(height) for x in range(width)])


def check_timer(gpusim: Gpusim, mode: str) -> None:
    """Both clocks go on, with timing as well as without."""
    run(gpusim, "timer", "tesla_v100.cfg", "--kernel", "wait", "--grid", "2", "--block", "32", "--arg", "u32[64]", "--arg",
        "5000", "--arg", "3000", "--dump", "arg0=out.npy", *MODES[mode])
    require_equal("passed", npy(gpusim.scratch / "out.npy", "I"), [3] * 64)


def check_bulk(gpusim: Gpusim, mode: str) -> None:
    """Bulk copies bring tiles and rows, and add up; more asynchronous copies are issued than there is room for."""
    blocks, tiles, tile = 3, 5, 1024
    run(gpusim, "bulk", "h200.cfg", "--kernel", "tiles_ahead", "--grid", f"{blocks}", "--block", "128", "--arg",
        f"f32[{tile * tiles * blocks}]=iota(0,1)", "--arg", f"f32[{128 * blocks}]", "--arg", f"{tiles}", "--dump", "arg1=out.npy",
        *MODES[mode])
    require_equal("sums", npy(gpusim.scratch / "out.npy", "f"),
                  [float(sum((block * tiles + k) * tile + tile - 1 - i for k in range(tiles) for i in range(t, tile, 128)))
                   for block in range(blocks) for t in range(128)])
    run(gpusim, "bulk", "h200.cfg", "--kernel", "add_up", "--grid", "6", "--block", "256", "--arg", "s32[1536]=iota(1,1)", "--arg",
        "s32[256]", "--dump", "arg1=out.npy", "--check", "memory,init", *MODES[mode])
    require_equal("totals", npy(gpusim.scratch / "out.npy", "i"), [sum(256 * b + t + 1 for b in range(6)) for t in range(256)])
    run(gpusim, "bulk", "h200.cfg", "--kernel", "send_rows", "--grid", "8", "--block", "128", "--arg", "s32[1024]=iota(0,1)",
        "--arg", "s32[1024]", "--dump", "arg1=out.npy", "--check", "memory,race,init,sync", *MODES[mode])
    require_equal("rows", npy(gpusim.scratch / "out.npy", "i"),
                  [128 * (b // 4 * 4 + (b + 3) % 4) + t for b in range(8) for t in range(128)])
    run(gpusim, "bulk", "h200.cfg", "--kernel", "many_copies", "--grid", "2", "--block", "1024", "--arg", "s32[24576]=iota(0,1)",
        "--arg", "s32[2048]", "--dump", "arg1=out.npy", *MODES[mode])
    require_equal("many", npy(gpusim.scratch / "out.npy", "i"),
                  [sum((12 * b + i) * 1024 + 1023 - t for i in range(12)) for b in range(2) for t in range(1024)])


def check_bulk_overlap(gpusim: Gpusim) -> None:
    """A tile that is asked for a round ahead is there when it is needed."""
    cycles = {}
    for kernel in ("tiles_ahead", "tiles_late"):
        ptx = gpusim.source / "regress" / "families" / "bulk.ptx"
        report = gpusim.run("--config", gpusim.source / "configs" / "h200.cfg", ptx, "--kernel", kernel, "--grid", "1", "--block",
                            "128", "--arg", "f32[16384]=iota(0,1)", "--arg", "f32[128]", "--arg", "16", "--out", "none",
                            "--json").require_code(0).json()
        cycles[kernel] = report["kernels"][0]["cycles"]
    require(cycles["tiles_ahead"] < 0.9 * cycles["tiles_late"], f"{cycles}")


CHECKS = {"copies": check_copies, "barriers": check_barriers, "surfaces": check_surfaces,
          "timer": check_timer, "bulk": check_bulk}
FAMILY_CHECKS: dict[str, Callable[[Gpusim], None]] = {
    f"{name}_{mode}": lambda gpusim, check=check, mode=mode: check(gpusim, mode)
    for name, check in CHECKS.items() for mode in MODES
} | {"overlap": check_overlap, "bulk_overlap": check_bulk_overlap}
