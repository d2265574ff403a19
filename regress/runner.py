"""Starts gpusim and looks at what it says; what every end-to-end check builds on."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

from cases import CASES
from on_demand import h5py

MACHINE = "tesla_c1060.cfg"
RUN_LIMIT_S = 110
SKIPPED = 77  # the exit code that CTest shows as skipped


class CheckFailed(Exception):
    """A check did not hold; the text says what was expected and what came."""


class NoCompiler(Exception):
    """A compiler or another tool that the check needs is not installed."""


def require(condition: bool, message: str) -> None:
    if not condition:
        raise CheckFailed(message)


def require_equal(what: str, actual: Any, expected: Any) -> None:
    require(actual == expected, f"{what}: {actual!r}, expected {expected!r}")


@dataclass(frozen=True)
class Run:
    """A finished process."""

    command: str
    code: int
    out: str
    err: str

    def require_code(self, code: int) -> "Run":
        require(self.code == code, f"exit code {self.code}, expected {code}\n{self.describe()}")
        return self

    def require_error(self, *texts: str) -> "Run":
        for text in texts:
            require(text in self.err, f"stderr lacks {text!r}\n{self.describe()}")
        return self

    def json(self) -> dict[str, Any]:
        """stdout must be one JSON object and nothing else."""
        try:
            report = json.loads(self.out)
        except json.JSONDecodeError as error:
            raise CheckFailed(f"stdout is not one JSON object: {error}\n{self.describe()}") from error
        require(isinstance(report, dict), f"stdout is no JSON object\n{self.describe()}")
        return report

    def describe(self) -> str:
        return f"command: {self.command}\nstdout: {self.out[:2000]}\nstderr: {self.err[:4000]}"


@dataclass(frozen=True)
class Gpusim:
    """The program under test, run in a scratch folder of this check."""

    program: Path
    source: Path
    scratch: Path

    def run(self, *arguments: str | Path, limit_s: float = RUN_LIMIT_S, environment: dict[str, str] | None = None) -> Run:
        command = [str(self.program), *map(str, arguments)]
        done = subprocess.run(command, cwd=self.scratch, capture_output=True, text=True, timeout=limit_s,
                              check=False, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        return Run(" ".join(command), done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str | Path, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """A process to send signals to."""
        return subprocess.Popen([str(self.program), *map(str, arguments)], cwd=self.scratch, text=True,
                                env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)

    def on_terminal(self, columns: int, *arguments: str | Path, environment: dict[str, str] | None = None) -> str:
        """What a run that must end well writes to standard error where that is a terminal of so many columns."""
        try:
            own, other = pty.openpty()
        except OSError as error:  # a chroot without /dev/pts
            raise NoCompiler(f"no terminal can be opened: {error}") from error
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([str(self.program), *map(str, arguments)], cwd=self.scratch, env={**os.environ, **(environment or {})},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=other)
        os.close(other)
        text = b""
        while True:
            try:
                piece = os.read(own, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            text += piece
        os.close(own)
        require_equal("exit code", process.wait(), 0)
        return text.decode()

    def simulate(self, ptx: Path, *options: str | Path) -> Run:
        return self.run("--config", self.machine(), ptx, *options)

    def machine(self) -> Path:
        return self.source / "configs" / MACHINE

    def report(self, ptx: Path, *options: str | Path) -> dict[str, Any]:
        """A run that must end well; its JSON."""
        report = self.simulate(ptx, "--json", *options).require_code(0).json()
        require_equal("status", report["status"], "complete")
        return report


def params(values: Sequence[str]) -> list[str]:
    """["N=3"] as command-line options."""
    return [word for value in values for word in ("--param", value)]


def vecadd(gpusim: Gpusim) -> Path:
    return CASES["vecadd"].ptx(gpusim.source)


def require_recorded_status(path: Path, status: str, reason: str = "") -> None:
    """The file opens and carries this status; the reason contains the text."""
    with h5py.File(path) as file:
        require_equal("status in the file", file.attrs["status"].decode(), status)
        require(reason in file.attrs["reason"].decode(), f"reason in the file: {file.attrs['reason']!r}")
        require("kernels" in file, "the file has no /kernels")
