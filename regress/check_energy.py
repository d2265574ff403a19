"""`gpusim analyze --model energy` and the energy of the whole system: what is recorded, and which runs do not belong together."""

import shutil
from pathlib import Path
from statistics import mean

from on_demand import h5py
import power_clocks
from runner import MACHINE, Gpusim, require, require_equal


def _record(gpusim: Gpusim, name: str, ptx: str, *options: str) -> Path:
    out = gpusim.scratch / f"{name}.h5"
    workloads = gpusim.source / "workloads"
    gpusim.run("--config", MACHINE, workloads / ptx, "--force", "--out", out, "--quiet", "--events", "memory", *options).require_code(0)
    return out


def check_system(gpusim: Gpusim) -> None:
    """/system by hand, from the timeline, the kernels' energy and [host] of the C1060 (150 W, 55 W); --json says the same."""
    launch = gpusim.source / "workloads" / "spmv" / "matrix_ell.toml"
    ptx = gpusim.source / "workloads" / "spmv" / "ell.ptx"
    out = gpusim.scratch / "run.h5"
    report = gpusim.run("--config", MACHINE, ptx, "--launch", launch, "--core-clock", "810MHz", "--json", "--force", "--out", out).require_code(0).json()
    with h5py.File(out) as file:
        rows = file["timeline"][:]
        elapsed = (int(rows["end"].max()) - int(rows["start"].min())) / 810e6
        busy = sum(float(file[f"kernels/{k}"].attrs["cycles"]) for k in (0, 1)) / 810e6
        kernels = sum(float(c["value"]) for k in (0, 1) for c in file[f"kernels/{k}/counters"][:] if c["name"] == b"energy")
        system = file["system"][0]
        by_hand = {"elapsed": elapsed, "kernels": kernels, "idle_board": 55 * (elapsed - busy), "host": 150 * elapsed}
        by_hand["power"] = (by_hand["kernels"] + by_hand["idle_board"] + by_hand["host"]) / elapsed
        require(elapsed > 2 * busy, "copies take no time")
        for name, value in by_hand.items():
            require(abs(float(system[name]) / value - 1) < 1e-4, f"{name}: recorded {system[name]}, by hand {value}")
            key = name + {"elapsed": "_s", "power": "_w"}.get(name, "_j")
            require(abs(report["system"][key] / float(system[name]) - 1) < 1e-5, f"{key}: {report['system'][key]}")
    # A run that does not end has no such figures, nor any of the whole application.
    failed = gpusim.run("--config", MACHINE, ptx, "--launch", launch, "--max-cycles", "6000", "--force", "--out", out).require_code(2)
    failed.require_error("'csr_to_ell' took 6324 cycles, more than 6000 (--max-cycles)")
    for word in ("system  ", "application", "copy                 y"):
        require(word not in failed.out, f"{word}: {failed.out}")
    with h5py.File(out) as file:
        require("system" not in file and file.attrs["status"] == b"failed", "a failed run's system energy")


def check_groups(gpusim: Gpusim) -> None:
    """Runs at other clocks are compared with the one that they are slower runs of, and with no other."""
    spmv = ("spmv/ell.ptx", "--launch", str(gpusim.source / "workloads/spmv/matrix_ell.toml"))
    base, slow = _record(gpusim, "base", *spmv), _record(gpusim, "slow", *spmv, "--core-clock", "648MHz")
    few = _record(gpusim, "few", *spmv, "--core-clock", "648MHz", "--sms", "4")

    def powers(*files: Path) -> list[float]:
        model = gpusim.run("analyze", *files, "--model", "energy", "--json").require_code(0).json()["models"][0]
        return [p["simulated"] for p in model["predictions"] if p["quantity"] == "system power"]

    require_equal("compared with its own", len(powers(base, slow)), 1)
    require_equal("compared with a run on fewer SMs", powers(base, few), [])
    # On a machine whose other clocks and latencies follow the core's, a slower run has another machine in its file.
    followers = []
    for name, *options in (("follow", "--events", "memory"), ("follow_slow", "--core-clock", "705MHz")):
        followers.append(gpusim.scratch / f"{name}.h5")
        gpusim.run("--config", "tesla_v100", gpusim.source / "workloads/vecadd/vecadd.ptx", "--out", followers[-1], "--quiet", *options).require_code(0)
    model = gpusim.run("analyze", *followers, "--model", "energy", "--json").require_code(0).json()["models"][0]
    time = next(p for p in model["predictions"] if p["quantity"] == "time")
    require(time["simulated"] > 1.3 * time["constant"] and abs(time["error"]) < 0.15, f"{time}")
    gpusim.run("analyze", base, slow, slow, "--model", "energy").require_code(1).require_error("the same work at the same clock")
    # Files of older versions have no /system: everything else is still said.
    old = gpusim.scratch / "old.h5"
    shutil.copy(slow, old)
    with h5py.File(old, "r+") as file:
        del file["system"]
    text = gpusim.run("analyze", base, old, "--model", "energy").require_code(0).out
    require("has no table /system to compare with" in text, text)
    require_equal("compared without /system", powers(base, old), [])
    with h5py.File(old, "r+") as file:
        file["system"] = [[1.0, 2.0], [3.0, 4.0]]
    gpusim.run("analyze", base, old, "--model", "energy").require_code(1).require_error("old.h5")


def check_blocks(gpusim: Gpusim) -> None:
    """A study of block counts is of prefix sums of the same words on the same SMs."""
    launch = ("--launch", str(gpusim.source / "workloads/scan/reduce_down.toml"))

    def scan(name: str, words: int, blocks: int, *more: str) -> Path:
        return _record(gpusim, name, "scan/reduce_down_sm13.ptx", *launch, "--param", f"N={words}", "--param", f"M={blocks}", *more)

    two, four = scan("two", 2000, 2), scan("four", 2000, 4)
    study = ("--model", "energy", "--option", "study=blocks")
    model = gpusim.run("analyze", two, four, *study, "--json").require_code(0).json()["models"][0]
    rows = {q: [p for p in model["predictions"] if p["quantity"] == q] for q in ("energy by blocks", "barriers of the tree")}
    require_equal("the base predicts the others", [p["kernel"] for p in rows["energy by blocks"]], ["all, 4 blocks"])
    require_equal("closed form", [p["predicted"] for p in rows["barriers of the tree"]], [3, 5])

    def refused(message: str, *files: Path, options: tuple[str, ...] = ()) -> None:
        gpusim.run("analyze", *files, *study, *options).require_code(1).require_error(message)

    refused("another number of words", two, scan("more", 3000, 4))
    refused("another number of SMs", two, scan("few", 2000, 4, "--sms", "3"))
    refused("another run has 2 blocks too", two, two)
    refused("of all kernels", two, four, options=("--kernel", "0"))
    segmented = ("--launch", str(gpusim.source / "workloads/spmv/matrix_segmented.toml"), "--param", "ROWS=512", "--param", "NNZ=1024")
    refused("no kernel of one block has barriers", _record(gpusim, "segmented", "spmv/segmented.ptx", *segmented))
    # A computation that only divides its data has no tree to say anything of.
    spmv = ("--launch", str(gpusim.source / "workloads/spmv/matrix_blocks.toml"))
    products = [_record(gpusim, f"spmv_{m}", "spmv/csr_blocks.ptx", *spmv, "--param", f"M={m}") for m in (2, 8)]
    text = gpusim.run("analyze", *products, *study).require_code(0).out
    require("the model picks" in text and "printed formula" not in text, text)


def check_hardware_clocks(gpusim: Gpusim) -> None:
    """Over nine clocks of a real V100: the stored predictions are of the stored measurements and, for a quick kernel, of this program; the
    clock of least energy is within one step for 80 % of the kernels, and what would say that power stays as it is fails."""
    rows = power_clocks.read(power_clocks.TABLE)
    measured = power_clocks.read(power_clocks.MEASURED)
    require_equal("rows", sorted((r["kernel"], r["role"], r["core_mhz"]) for r in rows), sorted((r["kernel"], r["role"], r["core_mhz"]) for r in measured))
    kernels = power_clocks.kernels(rows)
    near = [name for name, each in kernels.items() if power_clocks.steps_apart(each) <= 1]
    require(len(near) >= 0.8 * len(kernels), f"within one step of the measured clock: only {near}")
    above = {side: mean(power_clocks.above_least(each, side) for each in kernels.values()) for side in ("predicted", "constant")}
    require(above["predicted"] <= 0.02 < above["constant"], f"energy above the least, model and constant: {above}")
    errors = [mean(e for each in kernels.values() for e in power_clocks.shape_errors(each, constant)) for constant in (False, True)]
    require(errors[0] <= 0.05 < errors[1], f"energy over clocks, model and constant: {errors}")
    power_clocks.record(str(gpusim.program), power_clocks.run_of("eigenvalues"), gpusim.scratch / "eigenvalues.h5")
    stored = kernels["eigenvalues"]
    again = power_clocks.predict(str(gpusim.program), gpusim.scratch / "eigenvalues.h5", [int(r["core_mhz"]) for r in stored])
    require_equal("eigenvalues (regress/power_clocks.py GPUSIM --update)", [f"{joules:.5g}" for _, joules in again], [r["predicted_j"] for r in stored])


ENERGY_CHECKS = {"system": check_system, "groups": check_groups, "blocks": check_blocks, "hardware_clocks": check_hardware_clocks}
