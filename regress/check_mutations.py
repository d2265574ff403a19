"""`gpusim check` and ptxas agree on what is good PTX: a few hundred mutations of what the workloads are made of."""

import os
import re
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
    # ptxas has no verdict on programs of 32 bits.
    texts = [[b for b in group if re.search(r"\.address_size\s+64", b.text)] for group in texts]
    made = mutations(texts, COUNT, SEED, list(KINDS))
    found, _ = compare(gpusim.program, ptxas, made, gpusim.scratch / "mutations", jobs)
    # A text that one of them refuses as it stands shows in what its mutations are disputed for: the other texts need no ptxas.
    bases = {b.name: b for group in texts for b in group}
    disputed = {d.mutation.base for d in found}
    good, = usable(gpusim.program, ptxas, [[bases[name] for name in sorted(disputed)]], gpusim.scratch, jobs)
    bad = disputed - {b.name for b in good}
    made = [m for m in made if m.base not in bad]
    found = [d for d in found if d.mutation.base not in bad]
    alike = 1 - len(found) / len(made)
    print(describe(found, {b.name: b.text for b in bases.values()}, 1))
    require(alike >= LEAST, f"ptxas and gpusim agree on {alike:.1%} of {len(made)} mutations, at least {LEAST:.1%} is wanted")
