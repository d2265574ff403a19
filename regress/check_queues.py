"""Every queue and every table of outstanding requests of a machine at its smallest: nothing stops, is lost or comes twice."""

from cases import CASES
from check_metrics import require_levels_agree
from check_results import require_verified
from runner import Gpusim, params

# Loads, stores, atomics, shared memory, textures, constants, kernels that read what others wrote.
CASE_NAMES = ("transpose_naive", "histogram", "spmv_vector", "texture", "reduction")
SMALLEST = {name: 1 for name in (
    "lsu.queue", "lsu.mshrs", "lsu.store_buffer", "l1.mshrs", "l1.merges", "constant.mshrs", "instruction.mshrs", "texture.queue",
    "texture.mshrs", "texture.merges", "interconnect.queue", "l2.queue", "l2.mshrs", "l2.merges", "dram.queue", "dram.reply_queue",
    "dram.write_high")} | {"dram.write_low": 0}


def check_queues(gpusim: Gpusim, machine: str) -> None:
    options = [word for key, value in SMALLEST.items() for word in ("--set", f"{key}={value}")]
    for case in (CASES[name] for name in CASE_NAMES):
        config = gpusim.source / "configs" / f"{machine}.cfg"
        report = gpusim.run("--config", config, case.ptx(gpusim.source), "--json", "--out", "none", *params(case.small),
                            *case.launch_options(gpusim.source), *options).require_code(0).json()
        require_verified(report, case)
        on_the_way = 0.0
        for kernel in report["kernels"]:
            if "l2_fill_sectors" in kernel["counters"]:
                on_the_way = require_levels_agree(kernel["counters"], on_the_way)
