"""What `cmake --install` gives, from a folder that has nothing to do with the source tree (docs/installing.md)."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

from runner import Gpusim, Run, require, require_equal


def install(gpusim: Gpusim) -> tuple[Gpusim, Path]:
    """The program under test, installed in this check's folder and run in another one; its share/gpusim."""
    build = gpusim.program.parent.parent
    prefix = gpusim.scratch / "prefix"
    done = subprocess.run(["cmake", "--install", str(build), "--prefix", str(prefix), "--component", "program"],
                          capture_output=True, text=True, check=False, timeout=60)
    require_equal(f"exit code of cmake --install ({done.stderr})", done.returncode, 0)
    # What does not lie where it was installed to shows that no path of the build is in the program.
    moved = prefix.rename(gpusim.scratch / "moved")
    elsewhere = gpusim.scratch / "elsewhere"
    elsewhere.mkdir()
    return replace(gpusim, program=moved / "bin" / "gpusim", scratch=elsewhere), moved / "share" / "gpusim"


def with_variable(gpusim: Gpusim, name: str, value: object, *arguments: str) -> Run:
    done = subprocess.run([str(gpusim.program), *arguments], cwd=gpusim.scratch, capture_output=True, text=True, check=False,
                          timeout=60, env={**os.environ, name: str(value)})
    return Run(" ".join(arguments), done.returncode, done.stdout, done.stderr)


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def check_commands(gpusim: Gpusim) -> None:
    """Commands find machines, workloads, suites and measurements, and write into the present folder alone."""
    installed, data = install(gpusim)
    before = files_below(data.parent.parent)
    machines = installed.run("config", "list").require_code(0).out
    require_equal("machines", sorted(line.split()[0] for line in machines.splitlines()),
                  sorted(path.stem for path in (gpusim.source / "configs").glob("*.cfg")))
    vecadd = data / "workloads" / "vecadd" / "vecadd.ptx"
    report = installed.run("--config", "tesla_c1060", vecadd, "--json").require_code(0).json()
    require_equal("status", report["status"], "complete")
    installed.run("check", "--config", "gtx480", vecadd).require_code(0)
    installed.run("explain", "vecadd.h5").require_code(0)
    installed.run("init", vecadd, "--out", "own.toml").require_code(0)
    installed.run("occupancy", "--config", "h200", vecadd, "--threads", "256").require_code(0)
    installed.run("export", data / "workloads" / "bfs" / "bfs.ptx", "--out", "plan").require_code(0)
    sheet = installed.run("microbench", "--config", "tesla_c1060", "--only", "shared").require_code(0).out
    require("shared" in sheet, sheet)
    # Of the files, the shortest run: that all of them hold is for checks of the source tree.
    rows = installed.run("correlate", "--hardware", "published_geforce_8800_gtx", "--config", "tesla_c870", "--run", "tiled").require_code(0).out
    require("matmul_tiled_unrolled" in rows, rows)
    cases = ("naive_8x8_96", "two_chains_2", "ceilings_2", "dvfs_m1_ell_time")
    outcome = installed.run("regress", *(word for case in cases for word in ("--only", case))).require_code(0).out
    require("no breach" in outcome, outcome)
    require((installed.scratch / "regress-quick" / "outcome.json").exists(), "regress has no work folder here")
    require_equal("files of the installed program", files_below(data.parent.parent).keys(), before.keys())
    require(files_below(data.parent.parent) == before, "a command has changed a file of the installed program")


def check_order(gpusim: Gpusim) -> None:
    """Own folders come before what is installed; mistakes are told."""
    installed, data = install(gpusim)
    own = gpusim.scratch / "own"
    (own / "configs").mkdir(parents=True)
    text = (data / "configs" / "tesla_c1060.cfg").read_text()
    (own / "configs" / "tesla_c1060.cfg").write_text(text.replace("[gpu]", '# own\n[gpu]', 1))
    (own / "configs" / "mine.cfg").write_text(text)
    require("mine" in with_variable(installed, "GPUSIM_DATA", own, "config", "list").require_code(0).out, "GPUSIM_DATA is not read")
    require("mine" in with_variable(installed, "GPUSIM_CONFIG_PATH", own / "configs", "config", "list").require_code(0).out,
            "GPUSIM_CONFIG_PATH is not read")
    require("mine" not in installed.run("config", "list").require_code(0).out, "a folder that nothing names was searched")
    with_variable(installed, "GPUSIM_DATA", "/none/such", "config", "list").require_code(1).require_error("GPUSIM_DATA", "/none/such")
    # A suite that lies in an own folder is run there.
    (own / "regress" / "suites").mkdir(parents=True)
    (own / "regress" / "suites" / "mine.toml").write_text((data / "regress" / "suites" / "quick.toml").read_text())
    with_variable(installed, "GPUSIM_DATA", own, "regress", "--suite", "mine", "--only", "naive_8x8_96").require_code(1).require_error(
        str(own / "workloads"))
    installed.run("regress", "--suite", "quik").require_code(1).require_error("did you mean 'quick'?")
    installed.run("regress", "--update").require_code(1).require_error("part of the installed program", "--root")
    installed.run("correlate", "--hardware", "published_tesla_c106", "--config", "tesla_c1060").require_code(1).require_error(
        "did you mean 'published_tesla_c1060'?")


CHECKS = {"commands": check_commands, "order": check_order}
