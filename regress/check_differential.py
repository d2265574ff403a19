"""Random programs give the values of the opcode tests' references; see isa/tests/differential/fuzz_differential.py."""

import subprocess
import sys

from runner import RUN_LIMIT_S, Gpusim, require

SEEDS = ("first", "second")
PROGRAMS = 72


def check_differential(gpusim: Gpusim, seed: str) -> None:
    script = gpusim.source / "isa" / "tests" / "differential" / "fuzz_differential.py"
    command = [sys.executable, str(script), "--gpusim", str(gpusim.program), "--seed", seed, "--programs", str(PROGRAMS)]
    done = subprocess.run(command, cwd=gpusim.scratch, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False,
                          stdin=subprocess.DEVNULL)
    require(done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[:8000]}\n{done.stderr[:4000]}")
