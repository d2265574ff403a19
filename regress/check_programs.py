"""CUDA programs with host code (workloads/programs), run unmodified by `gpusim run`: as they were built for the repository, and from
their sources where nvcc is."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable

from check_outputs import run_short_of_room
from on_demand import h5py
from runner import Gpusim, NoCompiler, Run, require, require_equal

NAMES = ("block_tiles", "both_apis", "classes", "clusters", "cooperative", "cub_scan", "device_heap", "device_launches", "device_printf",
         "driver_api", "driver_textures", "dynamic_stack", "errors", "graph", "graph_branches", "graph_conditions",
         "graph_memory", "host_functions", "ipc", "large_shared", "latches", "managed", "mistakes", "per_thread", "pools",
         "quadtree", "saxpy", "separate", "streams", "symbols", "texture", "thrust_sort", "volumes", "zero_copy")
MACHINE = "tesla_v100"
OTHER_MACHINE = {"block_tiles": "h200", "clusters": "h200"}  # that has what the program needs


def folder(gpusim: Gpusim) -> Path:
    return gpusim.source / "workloads" / "programs"


def sanitizer(gpusim: Gpusim) -> dict[str, str]:
    """A host program knows nothing of the AddressSanitizer that our libraries may be built with: it is loaded before them."""
    needed = subprocess.run(["ldd", gpusim.program], capture_output=True, text=True, check=False).stdout
    library = re.search(r"lib(?:clang_rt\.)?asan\S* => (\S+)", needed)
    return {"LD_PRELOAD": library[1]} if library else {}


def run_program(gpusim: Gpusim, program: Path, *options: str, arguments: tuple[str, ...] = ()) -> Run:
    config = gpusim.source / "configs" / f"{OTHER_MACHINE.get(program.name, MACHINE)}.cfg"
    return gpusim.run("run", "--config", config, *options, "--", program, *arguments, environment=sanitizer(gpusim))


def passes(run: Run) -> None:
    run.require_code(0)
    require(run.out.endswith("PASS\n"), f"the program does not say PASS\n{run.describe()}")


def check_values(gpusim: Gpusim, name: str) -> None:
    """The program verifies itself, for values only and cycle by cycle."""
    program = folder(gpusim) / "prebuilt" / name
    passes(run_program(gpusim, program, "--functional"))
    timed = run_program(gpusim, program, "--out", "run.h5")
    passes(timed)
    require((gpusim.scratch / "run.h5").exists(), f"nothing is recorded\n{timed.describe()}")
    require(" of simulated time; recorded in " in timed.err, f"no report at the end\n{timed.describe()}")


def check_built(gpusim: Gpusim) -> None:
    """All programs, built here."""
    if shutil.which("nvcc") is None:
        raise NoCompiler("no nvcc")
    out = gpusim.scratch / "built"
    # The last one has the toolkit's library of the device runtime, which those in prebuilt/ have not.
    names = ("saxpy", "separate", "graph", "quadtree")
    subprocess.run([folder(gpusim) / "build.sh", out, *names], check=True, capture_output=True)
    for name in names:
        passes(run_program(gpusim, out / name, "--functional"))


LAUNCH = """
[[buffer]]
name = "x"
type = "f32"
count = 10000
[[buffer]]
name = "y"
type = "f32"
count = 10000
[[copy]]
buffer = "x"
[[copy]]
buffer = "y"
[[launch]]
kernel = "saxpy"
grid = [40]
block = [256]
args = [2.0, "x", "y", 10000]
"""


def check_same_cycles(gpusim: Gpusim) -> None:
    """A kernel takes the same cycles in a program as in a launch file."""
    passes(run_program(gpusim, folder(gpusim) / "prebuilt" / "saxpy", "--out", "program.h5"))
    (gpusim.scratch / "same.toml").write_text(LAUNCH)
    gpusim.run("--config", gpusim.source / "configs" / f"{MACHINE}.cfg", folder(gpusim) / "saxpy" / "main.ptx", "--launch", "same.toml",
               "--out", "file.h5", "--quiet").require_code(0)
    cycles = []
    for file in ("program.h5", "file.h5"):
        with h5py.File(gpusim.scratch / file) as run:
            cycles.append([int(kernel.attrs["cycles"]) for kernel in run["kernels"].values()])
    require_equal("cycles", cycles[0], cycles[1])
    with h5py.File(gpusim.scratch / "program.h5") as run:
        require_equal("files of PTX", len(run["program_ptx"]), 1)
        require(".entry" in run["program_ptx/0"]["text"][0].decode(), "the recording does not hold the program's PTX")
    advice = [gpusim.run("advise", file, "--kernel", "0").require_code(0).out for file in ("program.h5", "file.h5")]
    require_equal("advice of a program and of a launch file", advice[0], advice[1])
    gpusim.run("compare", "program.h5", "file.h5").require_code(0)
    other = run_program(gpusim, folder(gpusim) / "prebuilt" / "streams", "--out", "program.h5")
    other.require_error("holds a run of another program: run ")


def check_chosen(gpusim: Gpusim) -> None:
    """Launches that are not chosen run for values; the record says which are timed."""
    graph = folder(gpusim) / "prebuilt" / "graph"
    run = run_program(gpusim, graph, "--timed", "first:2", "--out", "first.h5")
    passes(run)
    run.require_error("33 launches, 2 of them timed")
    run = run_program(gpusim, graph, "--timed", "30-40", "--out", "last.h5")
    passes(run)
    run.require_error("33 launches, 3 of them timed")


def check_in_vain(gpusim: Gpusim) -> None:
    """An option that names no launch of the program is told by message and exit code; the program runs all the same."""
    graph, saxpy = (folder(gpusim) / "prebuilt" / name for name in ("graph", "saxpy"))
    run = run_program(gpusim, saxpy, "--timed", "saxpi", "--out", "none")
    run.require_code(1).require_error("--timed saxpi names no launch of the program, which had ", "did you mean 'saxpy'?")
    require(run.out.endswith("PASS\n"), f"the program does not say PASS\n{run.describe()}")
    run_program(gpusim, graph, "--timed", "1000-2000", "--out", "none").require_code(1).require_error("--timed 1000-2000 names no launch of the program, which had 33")
    run = run_program(gpusim, graph, "--functional", "--export", "none_of_them", "--timed", "nothing")
    run.require_code(1).require_error("--export: no launch was chosen; nothing is exported")
    require(not list(gpusim.scratch.glob("none_of_them*")), "something is left")
    shell = run_program(gpusim, Path("/bin/sh"), "--timed", "saxpi", "--out", "none", arguments=("-c", f"{saxpy} && exit 7"))
    shell.require_code(7)
    if sanitizer(gpusim):  # with libp11-kit, which HDF5 brings, it leaves a lock of the C library so that no program ends that has told such an error
        return
    # A recording that finds no room.
    config = gpusim.source / "configs" / f"{MACHINE}.cfg"
    run = run_short_of_room(gpusim, 20_000, "run", "--config", config, "--out", "short.h5", "--", graph, environment=sanitizer(gpusim))
    run.require_code(1).require_error("cannot write", "short.h5", "33 launches")
    require(run.out.endswith("PASS\n"), f"the program does not say PASS\n{run.describe()}")


def check_exit_code(gpusim: Gpusim) -> None:
    """Output and exit code are the program's; what it executes has a GPU too."""
    saxpy = folder(gpusim) / "prebuilt" / "saxpy"
    run = run_program(gpusim, Path("/bin/sh"), "--functional", arguments=("-c", f"{saxpy} 100 && exit 7"))
    run.require_code(7)
    require_equal("output", run.out, "PASS\n")
    # Some daemons start programs with SIGCHLD ignored.
    command = [str(gpusim.program), "run", "--config", str(gpusim.source / "configs" / f"{MACHINE}.cfg"), "--", "/bin/sh", "-c", "exit 7"]
    done = subprocess.run(command, cwd=gpusim.scratch, check=False, env=os.environ | sanitizer(gpusim),
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    require_equal("exit code with SIGCHLD ignored", done.returncode, 7)
    # A program that another one starts has a recording of its own name, or none.
    for out, recordings in (("own.h5", 1), ("none", 0)):
        run = run_program(gpusim, Path("/bin/sh"), arguments=("-c", f"GPUSIM_OUT={out} {saxpy} 100")).require_code(0)
        found = list(gpusim.scratch.glob(f"{out.removesuffix('.h5')}.*"))
        require(len(found) == recordings, f"GPUSIM_OUT={out} leaves {found}\n{run.describe()}")


def check_interrupted(gpusim: Gpusim) -> None:
    """A program that is interrupted leaves the recorded file of before as it was, and nothing of itself."""
    saxpy = folder(gpusim) / "prebuilt" / "saxpy"
    passes(run_program(gpusim, saxpy, "--out", "run.h5", arguments=("1000",)))
    before = (gpusim.scratch / "run.h5").read_bytes()
    config = gpusim.source / "configs" / f"{MACHINE}.cfg"
    for end in (signal.SIGINT, signal.SIGTERM):
        earlier = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us with it ignored
        process = gpusim.start("run", "--config", config, "--out", "run.h5", "--", saxpy, "20000000", environment=sanitizer(gpusim))
        signal.signal(signal.SIGINT, earlier)
        try:
            deadline = time.monotonic() + 60
            while not list(gpusim.scratch.glob("run.h5.*.tmp")) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            require(process.poll() is None, f"the program has ended: {process.returncode}")
            require(list(gpusim.scratch.glob("run.h5.*.tmp")), "the program records nothing")
            process.send_signal(end)
            errors = process.communicate(timeout=60)[1]
        finally:
            process.kill()
        require_equal("ended by signal", process.returncode, -end)
        require("run.h5: note: stays as it was" in errors, f"stderr: {errors}")
        require_equal("files left", sorted(p.name for p in gpusim.scratch.iterdir()), ["run.h5"])
        require((gpusim.scratch / "run.h5").read_bytes() == before, f"{end.name}: the recorded file has changed")


def check_killed(gpusim: Gpusim) -> None:
    """A program that is killed while its first kernel runs leaves the PTX of it, and every reader reads what is there."""
    out = gpusim.scratch / "killed.h5"
    process = gpusim.start("run", "--config", MACHINE, "--out", out, "--", folder(gpusim) / "prebuilt" / "saxpy", "20000000",
                           environment=sanitizer(gpusim))
    texts: list[str] = []
    try:
        deadline = time.monotonic() + 60
        while not texts and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
            try:
                with h5py.File(out) as file:
                    texts = [text.decode() for table in file["program_ptx"].values() for text in table["text"]]
            except (OSError, KeyError):
                pass  # not there yet
        require(process.poll() is None, f"the program has ended: {process.returncode}")
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
    finally:
        process.kill()
        process.communicate()
    require(len(texts) == 1 and ".entry" in texts[0] and "saxpy" in texts[0], f"texts of a program whose kernel has not ended: {len(texts)}")
    note = gpusim.run("timeline", out, "-o", gpusim.scratch / "killed.json").require_code(0)
    require("the run is partial" in note.out + note.err, note.describe())


def check_progress(gpusim: Gpusim) -> None:
    """The line that says how far a long launch is names the kernel in short and is never wider than the terminal, so that each draws over the last."""
    # Longer than the second after which it is drawn.
    arguments = ("run", "--config", MACHINE, "--out", "none", "--", folder(gpusim) / "prebuilt" / "saxpy", "9000000")
    for columns in (200, 40):
        text = gpusim.on_terminal(columns, *arguments, environment=sanitizer(gpusim))
        lines = [line.split("\r")[0] for line in text.split("\r\x1b[K")[1:]]
        states = [line for line in lines if " so far: " in line]
        require(bool(states), f"no progress on a terminal: {text!r}")
        whole = "gpusim: 1 launch so far: saxpy"
        require(states[-1].startswith(f"{whole}, ") and ("blocks" in states[-1]) == (columns == 200), f"{columns} columns: {states[-1]!r}")
        wide = [line for line in states if len(line) >= columns]
        require(not wide, f"wider than {columns} columns: {wide[:1]}")


def check_refused(gpusim: Gpusim) -> None:
    """What cannot run is refused before it begins."""
    run_program(gpusim, Path("/nowhere/program")).require_code(1).require_error("no such program")
    gpusim.run("run", "--", "/bin/true").require_code(1).require_error("--config MACHINE is missing")
    gpusim.run("run", "--config", "tesla_v10", "--", "/bin/true").require_code(1).require_error("tesla_v100")
    objcopy = shutil.which("objcopy")
    if objcopy is not None:
        (gpusim.scratch / "section").write_bytes(b"\0" * 16)
        subprocess.run([objcopy, "--add-section", ".nv_fatbin=section", "/bin/true", "static"], check=True, cwd=gpusim.scratch)
        run_program(gpusim, gpusim.scratch / "static").require_code(1).require_error("static CUDA runtime", "nvcc -cudart shared")


def check_export(gpusim: Gpusim) -> None:
    """What a program does becomes a launch file that expects the same results, in the same cycles."""
    config = gpusim.source / "configs" / f"{MACHINE}.cfg"
    for name in ("saxpy", "classes", "managed", "streams", "separate", "volumes", "pools", "zero_copy"):
        program = folder(gpusim) / "prebuilt" / name
        run = run_program(gpusim, program, "--functional", "--export", name)
        passes(run)
        run.require_error(f"to {gpusim.scratch / name}")
        if name == "saxpy":
            require("[[launch]]  # saxpy\n" in (gpusim.scratch / name / "case.toml").read_text(), "the launch does not say its kernel's name in short")
        case = gpusim.run("--config", config, "--functional", "--out", "none", f"{name}/case.ptx").require_code(0)
        require("verified" in case.out and "differ" not in case.out, case.describe())
    # Time is that of the program, for buffers lie where they have lain.
    passes(run_program(gpusim, folder(gpusim) / "prebuilt" / "saxpy", "--out", "program.h5"))
    gpusim.run("--config", config, "saxpy/case.ptx", "--out", "case.h5", "--quiet").require_code(0)
    cycles = []
    for file in ("program.h5", "case.h5"):
        with h5py.File(gpusim.scratch / file) as recorded:
            cycles.append([int(kernel.attrs["cycles"]) for kernel in recorded["kernels"].values()])
    require_equal("cycles", cycles[0], cycles[1])
    # One launch of many, on the memory that those before it have left.
    graph = folder(gpusim) / "prebuilt" / "graph"
    passes(run_program(gpusim, graph, "--functional", "--export", "last", "--timed", "30"))
    gpusim.run("--config", config, "--functional", "--out", "none", "last/case.ptx").require_code(0)
    require_equal("launches", (gpusim.scratch / "last" / "case.toml").read_text().count("[[launch]]"), 1)
    # A case with other data fails, so one that passes means something.
    data = gpusim.scratch / "saxpy" / "data_0.bin"
    data.write_bytes(bytes([data.read_bytes()[0] ^ 1]) + data.read_bytes()[1:])
    gpusim.run("--config", config, "--functional", "--out", "none", "saxpy/case.ptx").require_code(3)
    # What has no form in a launch file is said, and nothing is left.
    for name, why in {"texture": "uses texture or surface objects", "symbols": "two modules of the program have a variable 'counter'",
                      "cooperative": "cooperative"}.items():
        run = run_program(gpusim, folder(gpusim) / "prebuilt" / name, "--functional", "--export", name)
        run.require_code(1)
        require(run.out.endswith("PASS\n"), f"the program does not go on\n{run.describe()}")
        run.require_error("--export", why, "nothing is exported")
        require(not list(gpusim.scratch.glob(f"{name}*")), "something is left of an export that was given up")
    run_program(gpusim, graph, "--functional", "--export", "last").require_code(1).require_error("exists already")
    run_program(gpusim, graph, "--export", "other").require_code(1).require_error("--export needs --functional")


def check_branches(gpusim: Gpusim) -> None:
    """Kernels of a graph that nothing orders run beside each other."""
    program = folder(gpusim) / "prebuilt" / "graph_branches"
    times = []
    for arguments in ((), ("serial",)):
        run = run_program(gpusim, program, "--out", "none", arguments=arguments)
        passes(run)
        times.append(float(run.out.split()[0]))
    require(times[0] < 0.65 * times[1], f"side by side {times[0]} ms, one after the other {times[1]} ms")


def check_children(gpusim: Gpusim) -> None:
    """Kernels that kernels launch are launches of their own: recorded, timed from the call on, side by side, and chosen by name."""
    program = folder(gpusim) / "prebuilt" / "quadtree"
    core = 1380e6  # clocks.core of the machine

    def recorded(*options: str) -> tuple[list[dict[str, int]], list[tuple[str, int, int]]]:
        passes(run_program(gpusim, program, *options, "--force", "--out", "children.h5"))
        with h5py.File(gpusim.scratch / "children.h5") as run:
            kernels = [{key: int(kernel.attrs[key]) for key in ("launch", "start_cycle", "cycles", "stream", "parent_launch")
                        if key in kernel.attrs} for kernel in run["kernels"].values()]
            return kernels, [(row["name"].decode(), int(row["timed"]), int(row["parent"])) for row in run["program_launches"][()]]

    for microseconds in (5, 40):
        kernels, launches = recorded("--set", f"gpu.child_launch={microseconds}us")
        require_equal("launches", len(kernels), len(launches))
        require_equal("launches by the host", sum("parent_launch" not in kernel for kernel in kernels), 2)
        of_launch = {kernel["launch"]: kernel for kernel in kernels}
        for kernel in kernels:
            if "parent_launch" not in kernel:
                continue
            require_equal("parent", kernel["parent_launch"], launches[kernel["launch"]][2])
            after = kernel["start_cycle"] - of_launch[kernel["parent_launch"]]["start_cycle"]
            require(after >= microseconds * 1e-6 * core, f"launch {kernel['launch']} begins {after} cycles after its parent")
        spans = sorted((k["stream"], k["start_cycle"], k["start_cycle"] + k["cycles"]) for k in kernels)
        for (stream, _, end), (other, start, _) in zip(spans, spans[1:]):
            require(stream != other or end <= start, f"two kernels overlap in stream {stream}")
    by_time = sorted((k["start_cycle"], k["start_cycle"] + k["cycles"]) for k in kernels)
    require(any(start < end for (_, end), (start, _) in zip(by_time, by_time[1:])), "no two kernels run side by side")
    require("sort_part" in gpusim.run("explain", "children.h5", "--top", "1").require_code(0).out, "explain names no child")
    gpusim.run("timeline", "children.h5", "-o", "children.json").require_code(0)
    require("launched by kernels 1" in (gpusim.scratch / "children.json").read_text(), "the timeline has no track of children")
    kernels, launches = recorded("--timed", "sort_part")
    require_equal("timed", [timed for _, timed, _ in launches], [int("sort_part" in name) for name, _, _ in launches])
    require_equal("kernels", len(kernels), sum(timed for _, timed, _ in launches))
    kernels, launches = recorded("--timed", "divide")
    require_equal("timed", [timed for _, timed, _ in launches], [int("divide" in name) for name, _, _ in launches])
    run = run_program(gpusim, program, "--functional", "--export", "children").require_code(1)
    require(run.out.endswith("PASS\n"), f"the program does not go on\n{run.describe()}")
    run.require_error("--export: a kernel that launches others has no form in a launch file")


def check_latches(gpusim: Gpusim) -> None:
    """Kernels of a run for values wait for the host and for other streams, while the program goes on; and one that waits for nobody fails."""
    program = folder(gpusim) / "prebuilt" / "latches"
    passes(run_program(gpusim, program, "--functional", arguments=("ask",)))
    run = run_program(gpusim, program, "--functional", arguments=("never",))
    run.require_code(1).require_error("deadlock: kernel 'wait_and_add(int volatile*, int*)'", "waits for what no other warp will do")
    require(run.out == "FAIL\n", f"the launch itself does not fail\n{run.describe()}")


def check_mapped(gpusim: Gpusim) -> None:
    """Kernels reach the host's memory over the link: no faster than it is, and counted."""
    program = folder(gpusim) / "prebuilt" / "zero_copy"
    count = 100_000

    def measured(*options: str) -> tuple[dict[str, float], float]:
        passes(run_program(gpusim, program, *options, "--force", "--out", "mapped.h5", arguments=(str(count),)))
        with h5py.File(gpusim.scratch / "mapped.h5") as run:
            (kernel,) = run["kernels"].values()
            counters = {row["name"].decode(): float(row["value"]) for row in kernel["counters"][()]}
            return counters, float(kernel.attrs["cycles"]) / 1380e6  # clocks.core of the machine

    counters, seconds = measured()
    # What the program has registered lies where the host's allocator has put it, so that some sectors are touched by two warps.
    for counter, least in {"sysmem_read_transactions": 2 * count * 4 / 32, "sysmem_write_transactions": count * 4 / 32}.items():
        require(least <= counters[counter] <= 1.3 * least, f"{counter}: {counters[counter]} sectors, at least {least}")
    rate = 12e9  # host.link_rate of the machine
    at_least = 2 * count * 4 / rate
    # Writes go the other way, but wait behind reads on their way to the link: both one after the other is the most.
    at_most = 1.5 * at_least + 10e-6
    require(at_least < seconds < at_most, f"{seconds} s, {at_least} s to {at_most} s at the link's rate")
    for slower in ("host.mapped_latency=20us", "host.mapped_requests=16", "host.link_rate=6GB/s"):
        _, longer = measured("--set", slower)
        require(longer > 1.5 * seconds, f"{seconds} s, {longer} s with {slower}")


def check_mistakes(gpusim: Gpusim) -> None:
    """--check finds what is wrong with a program's kernels, and nothing in one that is right."""
    program = folder(gpusim) / "prebuilt" / "mistakes"
    run = run_program(gpusim, program, "--functional", "--check", "all")
    passes(run)
    run.require_error("check memory,race,init,sync: 0 findings, 0 occurrences")
    found = {"bounds": ("memory", "out_of_bounds (memory): 4-byte load from global memory", "bytes past the end of buffer 'allocation 1'"),
             "after_free": ("memory", "out_of_bounds (memory): 4-byte load from global memory", "'allocation 1' (256 bytes), which has been released"),
             "init": ("init", "uninitialised (init): 4-byte load from global memory", "thread (32,0,0)"),
             "race": ("race", "race (race): ", "of '_ZZ7reversePibE3row' at "),
             "sync": ("sync", "(sync): ", "thread (0,0,0)")}
    for mistake, (check, *message) in found.items():
        for timing in (("--functional",), ("--out", "none")):
            run = run_program(gpusim, program, *timing, "--check", check, arguments=(mistake,))
            run.require_error(*message, f"check {check}: 1 finding, ")
            run.require_code(4)
    # The program's own failure stays its exit code, and what it has no kernel for is no finding.
    saxpy = folder(gpusim) / "prebuilt" / "saxpy"
    shell = run_program(gpusim, Path("/bin/sh"), "--functional", "--check", "all", arguments=("-c", f"{saxpy} && exit 7"))
    shell.require_code(7)
    run_program(gpusim, saxpy, "--check", "memry").require_code(1).require_error("memory")


def check_microbenchmarks(gpusim: Gpusim) -> None:
    """`gpusim microbench --gpu` through the driver library, on a simulated GPU of the same kind: it finds what it finds without."""
    config = gpusim.source / "configs" / f"{MACHINE}.cfg"
    microbench = ("microbench", "--config", config, "--only", "shared,constant", "--json")
    expected = gpusim.run(*microbench).require_code(0).json()["figures"]
    found = run_program(gpusim, gpusim.program, "--set", "gpu.sms=4", "--set", "l2.size=768K", "--out", "none", "--quiet",
                        arguments=(*map(str, microbench), "--gpu", "0")).require_code(0).json()
    require_equal("figures", found["figures"], expected)
    require("Tesla V100 (driver of CUDA" in found["machine"], found["machine"])
    other = run_program(gpusim, gpusim.program, "--out", "none", arguments=(*map(str, microbench), "--gpu", "1"))
    other.require_code(1).require_error("microbenchmark: opening device 1")


def check_sanitized(gpusim: Gpusim) -> None:
    """A program with the AddressSanitizer, which looks its functions up when none of them works yet: those before ours are its own."""
    named = sanitizer(gpusim).get("LD_PRELOAD")  # a process has room for one
    if named is None:
        named = subprocess.run(["g++", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False).stdout.strip()
    if not Path(named).is_absolute():
        raise NoCompiler("no libasan")
    inner = f'LD_PRELOAD="{named}:$LD_PRELOAD" ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 exec /bin/sh -c "exit 7"'
    run = run_program(gpusim, Path("/bin/sh"), "--functional", "--out", "none", arguments=("-c", inner))
    run.require_code(7)


PROGRAM_CHECKS: dict[str, Callable[[Gpusim], None]] = {
    **{name: lambda gpusim, name=name: check_values(gpusim, name) for name in NAMES},
    "built_here": check_built,
    "same_cycles": check_same_cycles,
    "chosen_launches": check_chosen,
    "chosen_in_vain": check_in_vain,
    "exported": check_export,
    "branches_overlap": check_branches,
    "children": check_children,
    "kernels_that_wait": check_latches,
    "mapped_memory": check_mapped,
    "exit_code": check_exit_code,
    "interrupted": check_interrupted,
    "killed": check_killed,
    "microbenchmarks": check_microbenchmarks,
    "mistakes_found": check_mistakes,
    "progress": check_progress,
    "refused": check_refused,
    "sanitized": check_sanitized,
}
