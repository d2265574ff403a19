"""`--registers`: what a real compiler's code takes decides how many warps are resident, and nothing spills for it."""

import json
import os
import re
import shutil
import sys
from typing import Any

from runner import Gpusim, NoCompiler, require, require_equal

ASSEMBLER = """#!{python}
import sys
words = sys.argv[1:]
assert words[:2] == ["--verbose", "--gpu-name"] and words[3] == "--output-file", words
if words[2] == "sm_70":
    sys.exit("ptxas fatal   : Value 'sm_70' is not defined for option 'gpu-name'")
if words[2] != "sm_75":
    print("ptxas x.ptx, line 2; error   : no such machine", file=sys.stderr)
    sys.exit(255)
open(words[4], "w").close()
print("ptxas info    : Compiling entry function 'walk' for 'sm_75'", file=sys.stderr)
print("ptxas info    : Used 100 registers, used 0 barriers", file=sys.stderr)
"""
#: 24 values that are alive at once: they spill at 16 registers.
PROGRAM = """.version 6.3
.target sm_70
.address_size 64
.visible .entry walk(.param .u64 to) {
.reg .b32 %r<64>; .reg .b64 %p<4>;
ld.param.u64 %p1, [to];
mov.u32 %r0, %tid.x;
mul.wide.u32 %p2, %r0, 4;
add.u64 %p1, %p1, %p2;
""" + "".join(f"ld.global.u32 %r{i}, [%p1+{1024 * i}];\n" for i in range(1, 25)) + "bar.sync 0;\n" + "".join(
    f"mul.lo.u32 %r{i}, %r{i}, %r{i % 24 + 1};\n" for i in range(1, 25)) + "".join(
    f"add.u32 %r25, {'%r0' if i == 1 else '%r25'}, %r{i};\n" for i in range(1, 25)) + "st.global.u32 [%p1], %r25;\nret;\n}\n"
LAUNCH = """[[buffer]]
name = "numbers"
type = "u32"
count = 6400
init = "iota(1, 1)"
[[launch]]
kernel = "walk"
grid = {blocks}
block = 256
registers = {registers}
args = ["numbers"]
"""


def run(gpusim: Gpusim, *options: str, environment: dict[str, str] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The kernel, and the identity of the run."""
    report = gpusim.run("--config", "tesla_v100", "walk.ptx", "--json", "--force", "--out", "walk.h5", *options,
                        environment=environment).require_code(0).json()
    return report["kernels"][0], report["identity"]


def check_given(gpusim: Gpusim) -> None:
    """Counts by name: occupancy follows, the code does not change; a recording knows them; wrong ones are refused."""
    (gpusim.scratch / "walk.ptx").write_text(PROGRAM)
    launch = gpusim.scratch / "walk.toml"
    launch.write_text(LAUNCH.format(registers=0, blocks=1))
    estimated, before = run(gpusim)
    require(estimated["registers"] > 16 and estimated["registers_estimated"], f"the estimate is {estimated['registers']}")
    few, identity = run(gpusim, "--registers", "walk=16")
    require_equal("registers", (few["registers"], few["registers_estimated"]), (16, False))
    require_equal("cycles of a single block", few["cycles"], estimated["cycles"])
    require_equal("registers of the run's identity", identity["registers"], ["walk=16"])
    require(identity["key"] != before["key"], "two runs with one key")
    launch.write_text(LAUNCH.format(registers=0, blocks=4))
    many, (crowded, _) = run(gpusim, "--sms", "1")[0], run(gpusim, "--sms", "1", "--registers", "walk=255")
    require(crowded["cycles"] > many["cycles"], "one block an SM is as fast as four")
    proof = gpusim.run("explain", "walk.h5", "--prove", "--json", limit_s=300).require_code(0).json()
    require_equal("cycles simulated again", proof["cycles"], crowded["cycles"])
    launch.write_text(LAUNCH.format(registers=16, blocks=1))
    spilled, _ = run(gpusim)
    require(spilled["cycles"] > few["cycles"], "the registers of a launch file spill nothing")
    kept, _ = run(gpusim, "--registers", "walk=40")
    require_equal("registers of the launch file, which are kept", kept["registers"], 16)
    for value, *texts in (("walks=16", "the PTX has no kernel 'walks'", "did you mean 'walk'?"), ("walk=0", "N from 1 to 255"),
                          ("walk=256", "N from 1 to 255"), ("walk", "expected ptxas or KERNEL=N"), ("walk=4x", "N from 1 to 255")):
        gpusim.run("--config", "tesla_v100", "walk.ptx", "--registers", value).require_code(1).require_error(*texts)


def check_asked(gpusim: Gpusim) -> None:
    """What ptxas says: of one that is made up here, and of a real one."""
    (gpusim.scratch / "walk.ptx").write_text(PROGRAM)
    (gpusim.scratch / "walk.toml").write_text(LAUNCH.format(registers=0, blocks=1))
    folder = gpusim.scratch / "bin"
    folder.mkdir()
    only = {"PATH": str(folder)}
    gpusim.run("--config", "tesla_v100", "walk.ptx", "--registers", "ptxas", environment=only).require_code(1).require_error(
        "ptxas is not on the PATH", "--registers KERNEL=N")
    (folder / "ptxas").write_text(ASSEMBLER.format(python=sys.executable))
    (folder / "ptxas").chmod(0o755)
    asked, identity = run(gpusim, "--registers", "ptxas", environment=only)
    require_equal("registers", asked["registers"], 100)
    require_equal("registers of the run's identity", identity["registers"], ["walk=100"])
    both, _ = run(gpusim, "--registers", "walk=50", "--registers", "ptxas", environment=only)
    require_equal("registers that a name goes before", both["registers"], 50)
    gpusim.run("--config", "h200", "walk.ptx", "--registers", "ptxas", environment=only).require_code(1).require_error(
        "ptxas does not make code of it for sm_90", "no such machine")
    left = [name for name in os.listdir(gpusim.scratch) if name.startswith("gpusim_")]
    require_equal("what is left in the folder", left, [])
    if shutil.which("ptxas") is None:
        raise NoCompiler("ptxas")
    real, identity = run(gpusim, "--registers", "ptxas")
    require(re.fullmatch(r"walk=\d+", identity["registers"][0]) is not None, f"{identity['registers']}")
    require(24 <= real["registers"] <= 64, f"ptxas takes {real['registers']} registers for 24 values")


def check_correlate(gpusim: Gpusim) -> None:
    """The registers that a GPU's driver reports decide what is resident; neither they nor the launch file's make our code spill."""
    (gpusim.scratch / "walk.ptx").write_text(PROGRAM)
    launch = gpusim.scratch / "walk.toml"
    launch.write_text(LAUNCH.format(registers=0, blocks=1))
    estimated, _ = run(gpusim)
    measured = {"name": "walk", "grid": [1, 1, 1], "block": [256, 1, 1], "cycles": 1000, "method": "events", "registers": 16}
    (gpusim.scratch / "gpu.json").write_text(json.dumps({
        "schema": "gpusim-hardware-1", "device": {"name": "a V100", "core_khz": 1380000}, "date": "2026", "source": "made up",
        "machine": "tesla_v100", "runs": [{"name": "walk", "ptx": "walk.ptx", "launch": "walk.toml", "kernels": [measured]}]}))
    for registers in (0, 16):
        launch.write_text(LAUNCH.format(registers=registers, blocks=1))
        report = gpusim.run("correlate", "--hardware", "gpu.json", "--json").require_code(0).json()
        require_equal(f"cycles with {registers} registers in the launch file", report["kernels"][0]["simulated_cycles"], estimated["cycles"])


CHECKS = {"given": check_given, "asked": check_asked, "correlate": check_correlate}
