"""The corpus: what nvcc makes of regress/corpus/*.cu is accepted, runs, verifies and passes every check for each architecture."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from runner import RUN_LIMIT_S, CheckFailed, Gpusim, NoCompiler, require, require_equal

ARCHITECTURES = (75, 90, 100)
OPTIONS = {"fast_math": ["-use_fast_math"], "linked_main": ["-rdc=true"], "linked_library": ["-rdc=true"]}
# How a source is run if not with values only on the default machine.
RUNS = {"waiting_lanes": [[*mode, "--set", "gpu.compute_capability=7.0"] for mode in (["--functional"], [])]}


def sources(source: Path) -> list[str]:
    return sorted(file.stem for file in (source / "regress" / "corpus").glob("*.toml"))


def compiler() -> str:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise NoCompiler("nvcc is not in PATH")
    return nvcc


def compiled(nvcc: str, file: Path, architecture: int, folder: Path) -> Path:
    """PTX of a CUDA file. Tests of one build take it from each other, where CTest has given them a folder for it."""
    ptx = folder / f"{file.stem}.compute_{architecture}.ptx"
    command = [nvcc, "-std=c++17", "-ptx", f"-arch=compute_{architecture}", "-Wno-deprecated-gpu-targets",
               *OPTIONS.get(file.stem, [])]
    shared = os.environ.get("GPUSIM_E2E_PTX")
    if shared is not None:
        known = hashlib.sha256(repr((command, file.name, os.stat(nvcc).st_mtime_ns)).encode())
        for part in sorted(file.parent.glob("*.cu")) + sorted(file.parent.glob("*.h")):
            known.update(part.name.encode() + b"\0" + part.read_bytes())
        stored = Path(shared) / f"{known.hexdigest()}.ptx"
        if stored.exists():
            shutil.copyfile(stored, ptx)
            return ptx
    done = subprocess.run([*command, str(file), "-o", str(ptx)], capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False,
                          stdin=subprocess.DEVNULL)
    require_equal(f"{' '.join(command)} {file}\n{done.stderr[:4000]}\nexit code", done.returncode, 0)
    if shared is not None:
        stored.parent.mkdir(parents=True, exist_ok=True)
        half = stored.with_suffix(f".{os.getpid()}")  # another test may write the same
        shutil.copyfile(ptx, half)
        half.rename(stored)
    return ptx


def check_corpus(gpusim: Gpusim, name: str) -> None:
    nvcc = compiler()
    file = gpusim.source / "regress" / "corpus" / f"{name}.cu"
    failures = []
    for architecture in ARCHITECTURES:
        ptx = compiled(nvcc, file, architecture, gpusim.scratch)
        try:
            gpusim.run("check", "--config", gpusim.machine(), ptx).require_code(0)
            for options in RUNS.get(name, [["--functional"]]):
                report = gpusim.report(ptx, "--launch", file.with_suffix(".toml"), "--check", "all", *options)
                require(len(report["expect"]) > 0, "nothing was compared")
                for expect in report["expect"]:
                    require_equal(f"verdict on {expect['buffer']}", expect["verdict"], "pass")
        except CheckFailed as failure:
            failures.append(f"compute_{architecture}: {failure}")
    require(not failures, "\n".join(failures))
