"""`gpusim check` and ptxas agree on what is good PTX: a few hundred mutations of what the workloads are made of."""

import os
import shutil

from ptx_mutate import KINDS
from ptxas_mutations import compare, describe, mutations, usable, written
from runner import Gpusim, NoCompiler, require

COUNT = 400
SEED = 19
LEAST = 0.985  #: of 400; regress/ptxas_mutations.py measures thousands


def check_mutations(gpusim: Gpusim) -> None:
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        raise NoCompiler("ptxas is not in PATH")
    jobs = min(4, os.cpu_count() or 1)
    texts = [written(("workloads/features/*.ptx", "workloads/s*/*.ptx", "workloads/t*/*.ptx")), written(("isa/tests/opcodes/a*.ptx",))]
    groups = usable(gpusim.program, ptxas, texts, gpusim.scratch, jobs)
    made = mutations(groups, COUNT, SEED, list(KINDS))
    found, judged = compare(gpusim.program, ptxas, made, gpusim.scratch / "mutations", jobs)
    alike = 1 - len(found) / len(made)
    print(describe(found, {b.name: b.text for g in groups for b in g}, 1))
    require(alike >= LEAST, f"ptxas and gpusim agree on {alike:.1%} of {len(made)} mutations, at least {LEAST:.1%} is wanted")
