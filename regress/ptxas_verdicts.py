#!/usr/bin/env python3
"""Writes the verdicts of ptxas into isa/tests/ptxas_verdicts.txt, which isa/ptx/verifier/verdicts_test.cpp compares with those of gpusim."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ptxas_mutations import architecture, may_have_externs

TABLE = Path(__file__).resolve().parent.parent / "isa" / "tests" / "ptxas_verdicts.txt"
#: As in isa/ptx/verifier/verdicts_test.cpp.
VARIABLES = ".global .align 16 .b8 zg[64]; .shared .align 16 .b8 zs[64];\n.visible .entry k(.param .u64 p)\n{\n"
REGISTERS = """.reg .u64 %d, %e; .reg .u32 %r<4>; .reg .b32 %b; .reg .f32 %f; .reg .f64 %g; .reg .f16x2 %h2; .reg .f16 %h;
.reg .b16 %s; .reg .pred %p; .reg .v2 .u32 %v2, %w2; .reg .v4 .u32 %v4;
"""


def text_of(line: str) -> str:
    version, target = "7.0", "sm_75"
    if written := re.match(r"\[(\S+) (\S+)\] ", line):
        version, target = written[1], written[2]
        line = line[written.end():]
    header = f".version {version}\n.target {target}\n" + (".address_size 64\n" if float(version) >= 2.3 else "")
    if line.startswith("module "):
        return header + line[len("module "):] + "\n"
    return header + VARIABLES + REGISTERS + line + "\nexit;\n}\n"


def is_good(ptxas: str, line: str, folder: Path) -> bool:
    file = folder / "line.ptx"
    text = text_of(line)
    file.write_text(text)
    relocatable = ["-c"] if may_have_externs(text) else []
    done = subprocess.run([ptxas, f"-arch={architecture(text)}", *relocatable, str(file), "-o", str(folder / "line.cubin")], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)
    return done.returncode == 0


def main() -> int:
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        sys.exit("ptxas_verdicts: ptxas is not in PATH")
    with tempfile.TemporaryDirectory(prefix="gpusim_verdicts_") as folder:
        lines = [line if line.startswith("#") else ("+ " if is_good(ptxas, line[2:], Path(folder)) else "- ") + line[2:]
                 for line in TABLE.read_text().splitlines()]
    TABLE.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
