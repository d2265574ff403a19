#!/usr/bin/env python3
"""Measures how many public CUDA programs `gpusim run` runs (docs/public_programs.md).

    public_programs.py build --hecbench HeCBench/src --samples cuda-samples --work DIR
    public_programs.py run   --hecbench HeCBench/src --samples cuda-samples --work DIR --gpusim build/release/bin/gpusim
    public_programs.py table --hecbench HeCBench/src --samples cuda-samples --work DIR

The programs are drawn in a random order with a fixed seed. Each is built by its own makefile or CMake file, with an nvcc on PATH that
links the shared runtime and embeds the PTX of one architecture, and is run for its values. What it prints and its exit code decide.
Results are DIR/built.csv and DIR/run.csv, logs lie in DIR/logs; a program that has a result is not built or run again.
"""

import argparse
import csv
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

SEED = 2026
COMPILE_LIMIT_S = 300  # of wall-clock time

# Libraries and headers by which programs are set aside.
CLOSED_LIBRARIES = r"lib(cublas|cublasLt|cusparse|cusolver|cufft|curand|cudnn|nccl|npp\w*|nvjpeg|nvrtc|nvidia-ml|cupti|nvJitLink|nvvm)\.so"
CLOSED_SOURCES = (r"#include\s*[<\"](cublas|cusparse|cusolver|cufft|curand\.h|cudnn|nccl|npp|nvjpeg|nvrtc|nvml|cupti|nvvm|cutensor|cudla)|"
                  r"-l(cublas|cusparse|cusolver|cufft|curand|cudnn|nccl|npp|nvrtc)|"
                  r"CUDA::(cublas|cusparse|cusolver|cufft|curand|npp|nvrtc|nvjpeg|nvml|cudla|cupti)|nvscibuf|libnvvm")
OTHER_LIBRARIES = r"mpi\.h|mpicc|-lmpi|find_package\(MPI|-lgsl|-lboost|-lgdal|-lmetis|#include <boost|nvc\+\+|FreeImage"
GRAPHICS = r"find_package\((OpenGL|GLUT|Vulkan|EGL|glfw)|OpenGL_|Vulkan|D3D1|GLFW|find_library\(.*(GLUT|EGL|OpenGL)|GL/gl|GL/freeglut"

FAILED = re.compile(r"\bFAIL(ED|URE|S)?\b(?! as expected)|\btest failed|mismatch(?!es?:? 0\b)|\bincorrect|wrong result|\bnot ok\b|"
                    r"does not match|\bInvalid\b", re.IGNORECASE)
PASSED = re.compile(r"(?<!forward )(?<!backward )\bPASS(ED)?\b|\bSUCCESS(FUL(LY)?)?\b|\bOK\b|\bcorrect\b|\bverified\b|\bmatch(es)?\b|"
                    r"\bvalid\b|\bno (errors?|mismatch)|"
                    r"\b0 errors?\b|errors?\s*[:=]\s*0(\.0*)?\b", re.IGNORECASE)
DIFFERENCE = re.compile(r"(error|diff|differences?|rmse|rms\w*|norm|deviation|residual|mse|mae)\b"
                        r"[^\n0-9+-]*[:=]?\s*<?\s*([-+]?\d+(\.\d*)?([eE][-+]?\d+)?)",
                        re.IGNORECASE)
NO_FILE = re.compile(r".*((can ?not|could ?n.t|could not|unable to|failed to|error) ?(opening|open|find|read|load)|no such file|not found|"
                     r"does not exist).*", re.IGNORECASE)
NO_TOOL = re.compile(r"^sh: (?:\d+: )?(\S+): (?:command )?not found", re.MULTILINE)
# An assertion that fails is the program's own word, which samples wait for.
OURS = re.compile(r"^gpusim: (?!.*Assertion `).*(error|refus|not support|unsupported|missing).*", re.MULTILINE)
REPETITIONS = re.compile(r"repe|iter|times|loop|runs|trial|launch|rounds", re.IGNORECASE)
ACCEPTED_DIFFERENCE = 1e-3


def compiler() -> None:
    """Called as nvcc: the same command with the shared runtime and the PTX of one architecture."""
    arch = os.environ["PUBLIC_PROGRAMS_ARCH"]
    with_value = ("-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code", "-cudart", "--cudart")
    words, skip = [], False
    for word in sys.argv[1:]:
        if skip or word in with_value:
            skip = not skip
        elif not word.startswith(tuple(w + "=" for w in with_value)):
            words.append(word)
    relocatable = any(w.startswith(("-dc", "-rdc", "--relocatable-device-code", "-dlink", "--device-")) for w in words)
    compiles = any(w.endswith((".cu", ".cpp", ".c", ".cc", ".cxx")) for w in words)
    target = [f"-gencode=arch=compute_{arch},code=compute_{arch}"]
    if "-ptx" in words or "-fatbin" in words:
        target = [f"-arch=compute_{arch}"]
    elif any(w in words for w in ("--version", "-V", "-E", "-cubin")):
        target = []
    elif relocatable or not compiles:  # the device linker wants machine code
        target = [f"-gencode=arch=compute_{arch},code=[sm_{arch},compute_{arch}]"]
    nvcc = os.environ["PUBLIC_PROGRAMS_NVCC"]
    os.execv(nvcc, [nvcc, "-cudart", "shared", "-Wno-deprecated-gpu-targets", *target, *words])


def limited(command: str | list[str], folder: Path, log: Path, wall_s: float, environment: dict | None = None,
            processor_s: float | None = None) -> int | None:
    """Exit code; None past a limit."""
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(processor_s), int(processor_s) + 1))
    with log.open("ab") as out:
        process = subprocess.Popen(command, cwd=folder, shell=isinstance(command, str), stdout=out, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, env=environment, start_new_session=True,
                                   preexec_fn=limit if processor_s else None)
        try:
            code = process.wait(wall_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None
    past = (-signal.SIGXCPU, 128 + signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGKILL)
    return None if processor_s and code in past else code


class Table:
    """Rows of a CSV file by the name of the program."""

    def __init__(self, path: Path):
        self.path = path
        self.rows: dict[str, dict] = {}
        self.read()

    def read(self) -> None:
        if self.path.exists():
            with self.path.open(newline="") as file:
                self.rows = {row["name"]: row for row in csv.DictReader(file)}

    def put(self, row: dict) -> None:
        self.read()  # building and running go on side by side
        self.rows[row["name"]] = row
        new = self.path.with_suffix(".new")
        with new.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(row))
            writer.writeheader()
            writer.writerows(self.rows.values())
        new.rename(self.path)


class Program:
    def __init__(self, name: str, options: argparse.Namespace):
        self.name = name
        self.options = options
        self.is_sample = name.startswith("cs/")
        self.source = options.samples / "Samples" / name[3:] if self.is_sample else options.hecbench / (name[4:] + "-cuda")
        key = name.replace("/", "__")
        # HeCBench's makefiles build beside the sources; CMake builds apart, where samples look for data two folders up.
        self.folder = options.work / "samples" / key if self.is_sample else self.source
        self.build_log = options.work / "logs" / f"{key}.build"
        self.run_log = options.work / "logs" / f"{key}.{options.results.removesuffix('.csv')}"

    def text(self) -> str:
        parts = []
        for path in sorted(self.source.rglob("*")):
            if path.name in ("Makefile", "CMakeLists.txt") or path.suffix in (".cu", ".cpp", ".c", ".cc", ".h", ".cuh", ".hpp", ".mk"):
                if path.is_file():
                    parts.append(path.read_text(errors="replace"))
        return "\n".join(parts)

    def executables(self) -> list[Path]:
        found = []
        for path in sorted(self.folder.rglob("*")):
            if "CMakeFiles" in path.parts or path.is_symlink() or not path.is_file() or not os.access(path, os.X_OK):
                continue
            if path.suffix not in (".so", ".o") and path.open("rb").read(4) == b"\x7fELF":
                found.append(path)
        return found

    def build(self) -> tuple[str, str]:
        """What became of it, and the architecture."""
        if not self.is_sample and not (self.source / "Makefile").exists():
            return "no makefile", ""
        text = self.text()
        # What is set aside in any case is not compiled first.
        if re.search(CLOSED_SOURCES, text):
            return "closed library", ""
        if self.is_sample and re.search(GRAPHICS, (self.source / "CMakeLists.txt").read_text()):
            return "graphics", ""
        newer = re.search(r"^\s*ARCH\s*[:?]?=\s*(sm_)?(80|86|89|90)", text, re.MULTILINE)
        architectures = [self.options.arch] if self.options.arch else ["90"] if newer else ["75", "90"]
        for architecture in architectures:
            self.build_log.write_text("")
            code = self.make(architecture)
            if code is None:
                return "not compiled in time", architecture
            if code == 0 and self.executables():
                needed = "".join(subprocess.run(["readelf", "-d", path], capture_output=True, text=True).stdout
                                 for path in self.executables())
                return "closed library" if re.search(CLOSED_LIBRARIES, needed) else "built", architecture
        for pattern, cause in ((OTHER_LIBRARIES, "other library"), (GRAPHICS, "graphics")):
            if re.search(pattern, text):
                return cause, ""
        return "does not compile", ""

    def make(self, architecture: str) -> int | None:
        tools = self.options.work / "bin"
        environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", PUBLIC_PROGRAMS_ARCH=architecture,
                           PUBLIC_PROGRAMS_NVCC=self.options.nvcc)
        if not self.is_sample:
            limited("make clean", self.folder, self.build_log, 60, environment)
            for path in self.executables():
                path.unlink()
            return limited("make LAUNCHER=", self.folder, self.build_log, COMPILE_LIMIT_S, environment)
        shutil.rmtree(self.folder, ignore_errors=True)  # CMake remembers what has failed
        self.folder.mkdir(parents=True)
        code = limited(["cmake", str(self.source), f"-DCMAKE_CUDA_COMPILER={tools / 'nvcc'}", "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared",
                        "-DCMAKE_BUILD_TYPE=Release"], self.folder, self.build_log, COMPILE_LIMIT_S, environment)
        return limited(["make"], self.folder, self.build_log, COMPILE_LIMIT_S, environment) if code == 0 else code

    def commands(self) -> list[str]:
        """As the makefile's target `run`, or the samples' list of arguments, has them."""
        if not self.is_sample:
            shown = subprocess.run("make -n run LAUNCHER=", cwd=self.folder, shell=True, capture_output=True, text=True)
            lines = [line for line in shown.stdout.replace("\\\n", " ").splitlines()
                     if re.search(r"(^|[\s;&])\./", line) and not line.startswith("make")]
            if shown.returncode == 0 and lines:
                return lines
            return ["./" + str(path.relative_to(self.folder)) for path in self.executables()[:1]]
        lists = self.options.samples / "test_args.json"
        entry = json.loads(lists.read_text()).get(self.source.name, {}) if lists.exists() else {}
        runs = [run.get("args", []) for run in entry["runs"]] if "runs" in entry else [entry.get("args", [])]
        return [shlex.join(["./" + str(path.relative_to(self.folder)), *run]) for path in self.executables() for run in runs]

    def with_one_repetition(self, commands: list[str]) -> list[str]:
        """Repetition counts, by the names that the source has for its arguments, become 1."""
        text = self.text()
        usages = [re.findall(r"<([^<>]+)>|\[([^\[\]]+)\]|\(([^()]+)\)", re.sub(r'"\s*"|argv\[0\]|<<', "", m.group(0)))
                  for m in re.finditer(r"[Uu]sage[^;]*;", text)]
        read = re.findall(r"(\w+)\s*=\s*(?:\(\w+\)\s*)?(?:std::)?(?:ato\w+|sto\w+|strto\w+)\s*\(\s*argv\[(\d+)\]", text)
        result = []
        for command in commands:
            words = command.split()
            first = next((i for i, w in enumerate(words) if w.startswith("./")), len(words))
            arguments = words[first + 1:]
            counts = {int(number) - 1 for name, number in read if REPETITIONS.search(name)}
            for usage in usages:
                if arguments and len(usage) >= len(arguments):
                    counts |= {i for i in range(len(arguments)) if REPETITIONS.search("".join(usage[i]))}
                    break
            for i in counts:
                if i < len(arguments) and re.fullmatch(r"\d+", arguments[i]) and int(arguments[i]) > 1:
                    arguments[i] = "1"
            result.append(" ".join(words[:first + 1] + arguments))
        return result

    def run(self, architecture: str, own_arguments: list[str] | None) -> dict:
        commands = own_arguments or self.with_one_repetition(self.commands())
        if not commands:  # what was built is gone: nothing that ran is no success
            return {"name": self.name, "architecture": architecture, "state": "not built", "why": "", "seconds": "0.0", "commands": ""}
        machine = self.options.machine or ("tesla_v100" if architecture == "75" else "h200")
        run_options = self.options.run_options.replace("NAME", self.run_log.stem)
        launcher = f"{self.options.gpusim} run --config {machine} {run_options} -- ./"
        self.run_log.write_text("")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        used, code = 0.0, 0
        for command in commands:
            with self.run_log.open("a") as log:
                log.write(f"# {command}\n")
            line = re.sub(r"(^|[\s;&])\./", lambda m: m.group(1) + launcher, command, count=1)
            left = max(1.0, self.options.limit - used)
            code = limited(line, self.folder, self.run_log, 20 * left, processor_s=left)
            now = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime
            if code != 0:
                break
        lines = self.run_log.read_text(errors="replace").splitlines()
        state, why = self.verdict("\n".join(line for line in lines if not line.startswith("# ")), code)
        named = [w for c in commands for w in c.split()[1:] if "/" in w and "=" not in w]
        lacks = any(not (self.folder / w).exists() for w in named) or any(self.source.glob("*.dvc"))
        if state in ("exit code", "crash", "wrong", "no check") and lacks:
            state, why = "data", "a file that the program reads is not part of the sources"
        return {"name": self.name, "architecture": architecture, "state": state, "why": " ".join(why.split())[:200],
                "seconds": f"{used:.1f}", "commands": " && ".join(commands)}

    def verdict(self, text: str, code: int | None) -> tuple[str, str]:
        own = "\n".join(line for line in text.splitlines() if not line.startswith("gpusim:"))
        last = next((line for line in reversed(own.splitlines()) if line.strip()), "")
        ours = OURS.search(text)
        if code is None:
            return "timeout", ""
        if self.is_sample and code == 2 and not ours:
            return "waived", last
        failed = FAILED.search(own)
        if code != 0:
            if ours:
                return "refused", ours.group(0)
            if tool := NO_TOOL.search(text):
                return "other library", f"needs the program {tool.group(1)}"
            if code < 0 or code in (134, 136, 139):
                return "crash", f"signal {-code if code < 0 else code - 128}"
            if missing := NO_FILE.search(own):
                return "data", missing.group(0)
            return ("wrong", failed.group(0)) if failed else ("exit code", last)
        if ours:
            return "refused", ours.group(0)
        if failed:
            return "wrong", next(line for line in own.splitlines() if FAILED.search(line))
        if passed := PASSED.search(own):
            return "pass", next((line for line in own.splitlines() if PASSED.search(line)), passed.group(0))
        if self.is_sample:
            return "pass", "exit code 0"  # samples return whether their comparison was good
        differences = [(abs(float(m.group(2))), m.group(0)) for m in DIFFERENCE.finditer(own)]
        if differences:
            return ("pass" if max(differences)[0] <= ACCEPTED_DIFFERENCE else "number"), max(differences)[1]
        return "no check", ""


def names_of(options: argparse.Namespace) -> list[str]:
    names = ["hec/" + path.name[:-5] for path in options.hecbench.glob("*-cuda")]
    for path in (options.samples / "Samples").rglob("CMakeLists.txt"):
        text = path.read_text(errors="replace")
        if re.search(r"\bproject\s*\(", text) and re.search(r"add_executable|add_custom_target|add_custom_command", text):
            names.append("cs/" + str(path.parent.relative_to(options.samples / "Samples")))
    names.sort()
    random.Random(SEED).shuffle(names)
    return names


def chosen(options: argparse.Namespace) -> list[Program]:
    names = names_of(options)
    picked = [n for n in names if n in options.only] if options.only else names[options.first:options.first + options.count]
    return [Program(name, options) for name in picked]


def build_all(options: argparse.Namespace) -> None:
    (options.work / "bin").mkdir(parents=True, exist_ok=True)
    (options.work / "logs").mkdir(exist_ok=True)
    wrapper = options.work / "bin" / "nvcc"
    wrapper.unlink(missing_ok=True)
    wrapper.symlink_to(Path(__file__).resolve())
    if not (options.work / "Samples").exists():
        (options.work / "Samples").symlink_to(options.samples / "Samples")
    built = Table(options.work / "built.csv")
    for program in chosen(options):
        row = built.rows.get(program.name)
        if row and not options.only and row["state"] not in options.redo:
            continue
        started = time.time()
        state, architecture = program.build()
        built.put({"name": program.name, "state": state, "arch": architecture, "seconds": f"{time.time() - started:.1f}"})
        print(program.name, state, architecture, flush=True)


def run_all(options: argparse.Namespace) -> None:
    arguments = json.loads(options.arguments.read_text()) if options.arguments else {}
    built = Table(options.work / "built.csv").rows
    results = Table(options.work / options.results)
    for program in chosen(options):
        row = results.rows.get(program.name)
        if built.get(program.name, {}).get("state") != "built":
            continue
        if row and not options.only and row["state"] not in options.redo:
            continue
        result = program.run(built[program.name]["arch"], arguments.get(program.name))
        results.put(result)
        print(program.name, result["state"], result["seconds"], "|", result["why"], flush=True)


def print_table(options: argparse.Namespace) -> None:
    built = Table(options.work / "built.csv").rows
    results = Table(options.work / options.results).rows
    wanted = {program.name for program in chosen(options)}
    print("built:", dict(Counter(row["state"] for name, row in built.items() if name in wanted).most_common()))
    print("run:", dict(Counter(row["state"] for name, row in results.items() if name in wanted).most_common()))
    for name, row in results.items():
        if name in wanted and row["state"] != "pass":
            print(f"  {name}: {row['state']}: {row['why']}")


def main() -> None:
    if Path(sys.argv[0]).name == "nvcc":
        compiler()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phase", choices=("list", "build", "run", "table"))
    parser.add_argument("--hecbench", type=Path, required=True, help="folder with the *-cuda programs")
    parser.add_argument("--samples", type=Path, required=True, help="root of the CUDA samples")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--gpusim", default="gpusim")
    parser.add_argument("--nvcc", default="/usr/local/cuda/bin/nvcc")
    parser.add_argument("--arguments", type=Path, help="JSON: command lines of programs that are run with smaller data")
    parser.add_argument("--results", default="run.csv", help="name of the results in the work folder")
    parser.add_argument("--machine", help="(default: tesla_v100; h200 for programs of compute capability 9.0)")
    parser.add_argument("--run-options", default="--functional", help="of `gpusim run`; NAME in them becomes that of the program")
    parser.add_argument("--arch", help="build for this architecture only, such as 90")
    parser.add_argument("--limit", type=float, default=60, help="seconds of processor time of a program")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1 << 30)
    parser.add_argument("--only", nargs="*", default=[], help="these programs, again")
    parser.add_argument("--redo", nargs="*", default=[], help="states whose programs are built or run again")
    options = parser.parse_args()
    for name in ("hecbench", "samples", "work"):
        setattr(options, name, getattr(options, name).resolve())
    if options.phase == "list":
        print("\n".join(names_of(options)))
    else:
        {"build": build_all, "run": run_all, "table": print_table}[options.phase](options)


if __name__ == "__main__":
    main()
