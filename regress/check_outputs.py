"""What the program writes: files that are whole or not there, one writer for each, and streams that are lost."""

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable

from runner import Gpusim, Run, require, require_equal, require_recorded_status, vecadd


def check_interrupt(gpusim: Gpusim) -> None:
    """SIGINT: exit 130 and a file that says partial."""
    out = gpusim.scratch / "interrupted.h5"
    ptx = gpusim.source / "regress" / "failing" / "endless.ptx"
    process = gpusim.start("--config", gpusim.machine(), ptx, "--grid", "60", "--block", "256", "--arg", "u32[1]",
                           "--json", "--out", out)
    try:
        deadline = time.monotonic() + 30
        while not out.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
    require_equal(f"exit code ({stderr})", process.returncode, 130)
    require_equal("status", json.loads(stdout)["status"], "partial")
    require_recorded_status(out, "partial", "interrupted")


def check_unwritable(gpusim: Gpusim) -> None:
    """An --out that cannot be written: exit 1 at once, nothing left behind, nothing old lost."""
    ptx = vecadd(gpusim)
    gpusim.simulate(ptx, "--out", "no/such/x.h5").require_code(1).require_error("cannot write", "no/such/x.h5")
    folder = gpusim.scratch / "folder"
    folder.mkdir()
    gpusim.simulate(ptx, "--out", folder).require_code(1).require_error("not a regular file")
    require_equal("files in it", list(folder.iterdir()), [])
    if os.geteuid() != 0:  # root may write anywhere
        folder.chmod(0o500)
        gpusim.simulate(ptx, "--out", folder / "x.h5").require_code(1).require_error("Permission denied")
        folder.chmod(0o700)
        old = folder / "old.h5"
        for options in (["--out", old], ["--out", old, "--force"], ["--out", "none", "--dump", f"C={old}"]):
            old.write_text("protected")
            old.chmod(0o400)
            gpusim.simulate(ptx, "--param", "N=1000", *options).require_code(1).require_error("Permission denied")
            require_equal("protected file", old.read_text(), "protected")
            old.unlink()
    require_equal("files left", sorted(p.name for p in gpusim.scratch.iterdir()), ["folder"])


def check_others_files(gpusim: Gpusim) -> None:
    """An output replaces what this program has written of its kind, and other files only with --force."""
    ptx = vecadd(gpusim)
    small = ["--param", "N=1000"]
    gpusim.simulate(ptx, *small, "--out", "x.h5").require_code(0)
    file = gpusim.scratch / "output"
    for command in (["predict", ptx, *small, "--config", gpusim.machine(), "--counts", file],
                    ["compare", "x.h5", "x.h5", "--csv", file], ["report", "x.h5", "-o", file], ["timeline", "x.h5", "-o", file],
                    ["trace", ptx, *small, "-o", file], ["trace", ptx, *small, "-o", file, "--warps"],
                    ["--config", gpusim.machine(), ptx, *small, "--functional", "--dump", f"C={file}"]):
        file.write_text("notes\n")
        gpusim.run(*command).require_code(1).require_error("the file is there already, and is not ", "--force replaces it")
        require_equal("what was there", file.read_text(), "notes\n")
        gpusim.run(*command, "--force").require_code(0)
        written = file.read_bytes()
        require(written != b"notes\n", f"--force has not replaced it: {command}")
        gpusim.run(*command).require_code(0)
        require_equal("written again", file.read_bytes(), written)
        file.write_bytes(b"")
        gpusim.run(*command).require_code(0)


def check_outputs(gpusim: Gpusim) -> None:
    """An output replaces no input, no other output and no device; a link's target is written, not the link."""
    ptx, launch = gpusim.scratch / "own.ptx", gpusim.scratch / "own.toml"
    ptx.write_bytes(vecadd(gpusim).read_bytes())
    launch.write_bytes(vecadd(gpusim).with_suffix(".toml").read_bytes())
    pipe = gpusim.scratch / "pipe"
    os.mkfifo(pipe)
    for options, text in ((["--out", ptx], "an input of the run"), (["--out", launch], "an input of the run"),
                          (["--dump", f"C={ptx}"], "an input of the run"), (["--out", pipe], "not a regular file"),
                          (["--out", "x.h5", "--dump", "C=./x.h5"], "another output has this name")):
        gpusim.simulate(ptx, "--param", "N=1000", *options).require_code(1).require_error(text)
    # Data that the launch file names, and the outputs of other commands.
    gpusim.simulate(ptx, "--param", "N=1000", "--out", "x.h5", "--dump", "A=a.npy", "--dump", "C=c.npy").require_code(0)
    reads = gpusim.scratch / "reads.toml"
    reads.write_text(launch.read_text().replace('init = "uniform(-1, 1)"', 'init = "file:a.npy"', 1)
                     .replace('reference = "vecadd(A, B)"', 'file = "c.npy"'))
    inputs = {p: p.read_bytes() for p in gpusim.scratch.iterdir() if p.is_file()}
    simulate = ["--config", gpusim.machine(), ptx, "--launch", reads, "--param", "N=1000", "--force"]
    for command in ([*simulate, "--dump", "C=a.npy"], [*simulate, "--dump", "A=c.npy"], [*simulate, "--out", "a.npy"],
                    ["trace", ptx, "--out", ptx], ["trace", ptx, "--out", launch],
                    ["trace", ptx, "--launch", reads, "--param", "N=1000", "--out", "a.npy"],
                    ["init", ptx, "--out", ptx, "--force"],
                    ["analyze", "--model", "roofline", "x.h5", "--option", "plot=x.h5"]):
        gpusim.run(*command).require_code(1).require_error("this is an input of the run")
    require_equal("changed inputs", [p.name for p, content in inputs.items() if p.read_bytes() != content], [])
    link = gpusim.scratch / "link.h5"
    link.symlink_to("target.h5")
    gpusim.simulate(ptx, "--param", "N=1000", "--out", "link.h5").require_code(0)
    require(link.is_symlink(), "the link was replaced")
    require_recorded_status(gpusim.scratch / "target.h5", "complete")


def check_same_output_twice(gpusim: Gpusim) -> None:
    """Runs at the same time with one output name: one writes, the others are refused or come later; nothing else is left."""
    out = gpusim.scratch / "shared.h5"
    command = [str(gpusim.program), "--config", str(gpusim.machine()), str(vecadd(gpusim)), "--quiet", "--events", "all",
               "--out", str(out), "--param"]
    runs = [subprocess.Popen([*command, f"N={n}"], cwd=gpusim.scratch, text=True, stderr=subprocess.PIPE)
            for n in (30000, 40000, 50000)]
    ended = [(run.communicate(timeout=60)[1], run.returncode) for run in runs]
    require(any(code == 0 for _, code in ended), f"no run wrote its file: {ended}")
    for text, code in ended:
        require(code == 0 or (code == 1 and "another run is writing this file" in text), f"exit code {code}: {text}")
    require_equal("files left", sorted(p.name for p in gpusim.scratch.iterdir()), ["shared.h5"])
    require_recorded_status(out, "complete")


def check_other_run(gpusim: Gpusim) -> None:
    """A recorded file of another machine or program is replaced only with --force; any other file as well."""
    def run(machine: str, ptx: Path, *options: str) -> Run:
        return gpusim.run("--config", gpusim.source / "configs" / f"{machine}.cfg", ptx, "--param", "N=1000", "--quiet", *options)

    first, out = vecadd(gpusim), gpusim.scratch / "vecadd.h5"
    copy = gpusim.scratch / "other" / "vecadd.ptx"
    copy.parent.mkdir()
    copy.write_text(first.read_text() + "\n// another program of the same name\n")
    copy.with_suffix(".toml").write_text(first.with_suffix(".toml").read_text())
    run("tesla_c1060", first).require_code(0)
    content = out.read_bytes()
    again = run("tesla_c1060", first).require_code(0).require_error("note: replaces the recording of an earlier run")
    require_equal("notes", again.err.count("\n"), 1)
    require(out.read_bytes() == content, "two runs differ")
    for refused, what in ((run("gtx480", first), "machine"), (run("tesla_c1060", copy), "program"),
                          (run("tesla_c1060", first, "--set", "lsu.queue=7"), "machine"),
                          (run("gtx480", copy), "machine and program")):
        refused.require_code(1).require_error(f"'vecadd.h5' holds a run of another {what}: gpusim --config tesla_c1060.cfg#", "--force")
        require(out.read_bytes() == content, "a refused run changed the file")
    run("gtx480", first, "--force").require_code(0)
    require(out.read_bytes() != content, "--force did not replace the file")
    out.write_text("notes of mine")
    run("gtx480", first).require_code(1).require_error("is there already and is no recording of gpusim")
    require_equal("the file", out.read_text(), "notes of mine")


def check_interrupt_while_filling(gpusim: Gpusim) -> None:
    """A signal while buffers are filled ends the program at once; nothing is written yet."""
    run = gpusim.start("--config", "h200", vecadd(gpusim), "--out", "x.h5", "--kernel", "vecadd", "--grid", "1", "--block", "1",
                       "--arg", "f32[1]", "--arg", "f32[400000000]=normal(0,1)", "--arg", "f32[1]", "--arg", "1")
    time.sleep(2)
    run.send_signal(signal.SIGTERM)
    run.communicate(timeout=60)
    require_equal("signal that ended the run", run.returncode, -signal.SIGTERM)
    require(not (gpusim.scratch / "x.h5").exists(), "a file is left")


def check_json_of_any_path(gpusim: Gpusim) -> None:
    """Every --json is JSON, in UTF-8, whatever bytes the names of files have."""
    folder = os.fsencode(gpusim.scratch) + b"/odd\xff\xed\xa0\x80 \"q\" \\ \t\x01"
    os.mkdir(folder)
    ptx, machine, recorded = (folder + name for name in (b"/k\xfe.ptx", b"/m\xfe.cfg", b"/r\xfe.h5"))
    source = vecadd(gpusim)
    Path(os.fsdecode(ptx)).write_bytes(source.read_bytes())
    Path(os.fsdecode(ptx[:-4] + b".toml")).write_bytes(source.with_suffix(".toml").read_bytes())
    Path(os.fsdecode(machine)).write_text(f'extends = "{gpusim.source}/configs/gtx480.cfg"\n')

    def run(*arguments: str | bytes, json_out: bool = True) -> None:
        done = subprocess.run([str(gpusim.program), *arguments], cwd=gpusim.scratch, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=100)
        text = b" ".join(a if isinstance(a, bytes) else a.encode() for a in arguments)
        require(done.returncode == 0, f"{text!r}: exit code {done.returncode}: {done.stderr!r}")
        if json_out:
            json.loads(done.stdout.decode("utf-8"), parse_constant=lambda name: require(False, f"{text!r} prints {name}"))

    run("--config", machine, ptx, "--param", "N=2000", "--out", recorded, "--events", "memory", "--json")
    run("--config", machine, ptx, "--param", "N=2000", "--functional", "--json")
    run("--config", machine, ptx, "--param", "N=2000", "--out", "none", "--check", "all", "--json")
    run("check", "--json", ptx)
    run("occupancy", "--config", machine, ptx, "--block", "128", "--json")
    for report in (["metrics"], ["explain"], ["analyze"], ["analyze", "--model", "reuse-distance"]):
        run(*report, recorded, "--json")
    run("microbench", "--config", machine, "--only", "shared", "--json")


def check_lost_streams(gpusim: Gpusim) -> None:
    """A result that cannot be printed is an error; an error that cannot be printed changes no exit code."""
    simulate = [str(gpusim.program), "--config", str(gpusim.machine()), str(vecadd(gpusim)), "--param", "N=1000", "--out",
                "none"]
    recorded = str(gpusim.scratch / "run.h5")
    gpusim.run(*simulate[1:-1], recorded, "--quiet").require_code(0)
    lost = [[*simulate, "--json"], simulate, [str(gpusim.program), "--version"]]
    for words in (["explain"], ["metrics", "--json"], ["advise"], ["compare", recorded]):
        lost.append([str(gpusim.program), *words, recorded])
    with open("/dev/full", "w", encoding="ascii") as full:
        for command in lost:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, text=True, timeout=60)
            require_equal(f"exit code of {command[1:]}", done.returncode, 1)
            require("gpusim: error: cannot write to standard output: No space left on device" in done.stderr, f"stderr: {done.stderr}")
        # Where there is none, no file that is opened takes its place and gets what a kernel prints.
        prints = [str(gpusim.program), "--config", "tesla_v100", str(gpusim.source / "regress" / "system_calls" / "print.ptx"),
                  "--kernel", "print", "--grid", "4", "--block", "64", "--arg", "s32[200]", "--arg", "s32[200]=iota(-40,5)",
                  "--arg", "200", "--out", str(gpusim.scratch / "own.h5")]
        for command in (prints, *lost[2:]):
            done = subprocess.run(command, stderr=subprocess.PIPE, check=False, text=True, timeout=60, preexec_fn=lambda: os.close(1))
            require_equal(f"exit code of {command[1:]}", done.returncode, 1)
            require("gpusim: error: cannot write to standard output: Bad file descriptor" in done.stderr, f"stderr: {done.stderr}")
        require_recorded_status(gpusim.scratch / "own.h5", "complete")
        for command in ([*simulate, "--param", "M=1"], [str(gpusim.program), "nosuch"]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, check=False, timeout=60)
            require_equal(f"exit code of {command[1:]}", done.returncode, 1)


def run_short_of_room(gpusim: Gpusim, room: int, *arguments: str | Path, environment: dict[str, str] | None = None) -> Run:
    """A limit of the size of files stands for a disk that gets full: the system refuses to write more."""
    command = [str(gpusim.program), *map(str, arguments)]
    done = subprocess.run(command, cwd=gpusim.scratch, check=False, capture_output=True, text=True, timeout=60,
                          env=os.environ | (environment or {}),
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
    return Run(" ".join(command), done.returncode, done.stdout, done.stderr)


def check_full_disk(gpusim: Gpusim) -> None:
    """A write error ends the run with exit 1 and a plain message; the file stays readable and partial."""
    out = gpusim.scratch / "full.h5"
    command = ["--config", gpusim.machine(), vecadd(gpusim), "--param", "N=100000", "--events", "all", "--quiet", "--out", out]
    done = run_short_of_room(gpusim, 100_000, *command).require_code(1)
    require(done.err.startswith(f"gpusim: error: cannot write '{out}'") and done.err.count("\n") == 1, f"stderr: {done.err}")
    require_recorded_status(out, "partial")
    out.unlink()
    gpusim.run(*command).require_code(0)
    before = out.read_bytes()
    run_short_of_room(gpusim, 100_000, *command).require_code(1).require_error("cannot write", "full.h5")
    require(out.read_bytes() == before, "the recording of the run before is gone")
    # What was simulated is printed all the same.
    out.unlink()
    command = [*command[:3], "--param", "N=1000", "--events", "summary", "--json", "--out", out]
    whole = json.loads(gpusim.run(*command).require_code(0).out)
    room = out.stat().st_size - 1  # so that only the end does not fit
    out.unlink()
    report = json.loads(run_short_of_room(gpusim, room, *command).require_code(1).out)
    require_equal("status", report["status"], "unrecorded")
    require("cannot write" in report["reason"], report["reason"])
    require_equal("cycles", [k["cycles"] for k in report["kernels"]], [k["cycles"] for k in whole["kernels"]])
    require_equal("results", report["expect"], whole["expect"])
    # That the program has failed is said whatever becomes of its file.
    out.unlink()
    command = [*command, "--max-cycles", "100"]
    gpusim.run(*command).require_code(2)
    room = out.stat().st_size - 1
    out.unlink()
    failed = run_short_of_room(gpusim, room, *command).require_code(2)
    failed.require_error("still running after 100 cycles", "cannot write")
    require_equal("files left", sorted(p.name for p in gpusim.scratch.iterdir()), ["full.h5"])


def check_whole_files(gpusim: Gpusim) -> None:
    """Where there is no room for all of a file, none of it is left, and what was there before stays."""
    ptx = gpusim.scratch / "own.ptx"
    ptx.write_text(vecadd(gpusim).read_text())
    launch = vecadd(gpusim).with_suffix(".toml").read_text()
    ptx.with_suffix(".toml").write_text(launch)
    simulate = ["--config", gpusim.machine(), ptx, "--param", "N=20000", "--force"]
    outputs = [("c.npy", [*simulate, "--functional", "--dump", "C=c.npy"]),
               ("c.npy", [*simulate, "--out", "none", "--dump", "C=c.npy"]),
               ("t.trace", ["trace", *simulate, "--out", "t.trace"]), ("new.toml", ["init", ptx, "--out", "new.toml", "--force"])]
    kept = {"own.ptx", "own.toml"}
    for room in (0, 200, 4096):
        for name, arguments in outputs:
            if name == "new.toml" and room == 4096:
                continue  # there is room for it
            file = gpusim.scratch / name
            for before in (None, b"of an earlier run"):
                if before is not None:
                    file.write_bytes(before)
                run_short_of_room(gpusim, room, *arguments).require_code(1).require_error(f"{name}: error: cannot be written")
                require_equal(name, file.read_bytes() if file.exists() else None, before)
                file.unlink(missing_ok=True)
                require_equal("files left", {p.name for p in gpusim.scratch.iterdir()}, kept)
    export = ["export", gpusim.source / "workloads" / "convolution" / "convolution.ptx", "--out", "plan"]
    gpusim.run(*export, "--param", "ROWS=2").require_code(0)
    run_short_of_room(gpusim, 4096, *export).require_code(1).require_error("image.bin: error: cannot be written")
    require(not (gpusim.scratch / "plan" / "plan.txt").exists(), "the plan of other data is still there")
    require_equal("unfinished files", list((gpusim.scratch / "plan").glob("*.tmp")), [])
    for name, arguments in outputs:  # and all of it, where there is room, in a file that nothing is beside
        gpusim.run(*arguments).require_code(0)
        kept.add(name)
    require_equal("files left", {p.name for p in gpusim.scratch.iterdir()}, kept | {"plan"})


def check_aborted_rerun(gpusim: Gpusim) -> None:
    """A run that does not end leaves the whole recording and the dumps of an earlier one; one that is killed does, too."""
    ptx = gpusim.scratch / "endless.ptx"
    ptx.write_text((gpusim.source / "regress" / "failing" / "endless.ptx").read_text())
    command = ["--config", gpusim.machine(), ptx, "--grid", "60", "--block", "256", "--arg", "u32[1]", "--out", "x.h5", "--json",
               "--dump", "arg0=x.npy"]
    out, dumped = gpusim.scratch / "x.h5", gpusim.scratch / "x.npy"
    # An earlier run that ended, though by its own failure.
    gpusim.run(*command, "--max-cycles", "20000").require_code(2)
    require_recorded_status(out, "failed")
    before = out.read_bytes(), dumped.read_bytes()
    for end in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        process = gpusim.start(*command)
        try:
            deadline = time.monotonic() + 30
            while not list(gpusim.scratch.glob("x.h5.*.tmp")) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(0.3)
            gpusim.run(*command).require_code(1).require_error("another run is writing this file")
            process.send_signal(end)
            text, errors = process.communicate(timeout=30)
        finally:
            process.kill()
        require((out.read_bytes(), dumped.read_bytes()) == before, f"{end.name}: what the run before wrote is gone")
        if end == signal.SIGKILL:
            continue
        require_equal("exit code", process.returncode, 130)
        require_equal("recorded file", json.loads(text)["out"], "")
        require("x.h5: note: stays as it was" in errors and "nothing is dumped" in errors, f"stderr: {errors}")
        require_equal("files left", {p.name for p in gpusim.scratch.iterdir()}, {"endless.ptx", "x.h5", "x.npy"})
    unfinished, = gpusim.scratch.glob("x.h5.*.tmp")
    require_recorded_status(unfinished, "partial")
    unfinished.unlink()
    again = gpusim.run(*command, "--max-cycles", "20000").require_code(2)
    again.require_error("x.h5: note: replaces the recording of an earlier run")
    require(out.read_bytes() == before[0], "two runs differ")
    require_equal("files left", {p.name for p in gpusim.scratch.iterdir()}, {"endless.ptx", "x.h5", "x.npy"})


def check_failed_run_keeps_file(gpusim: Gpusim) -> None:
    """A run with wrong input does not touch the file of the run before."""
    ptx = vecadd(gpusim)
    gpusim.simulate(ptx, "--out", "kept.h5", "--param", "N=1000").require_code(0)
    before = (gpusim.scratch / "kept.h5").read_bytes()
    gpusim.simulate(ptx, "--out", "kept.h5", "--param", "M=1").require_code(1)
    gpusim.simulate(gpusim.source / "regress" / "bad" / "syntax.ptx", "--out", "kept.h5", "--grid", "1", "--block", "1",
                    "--arg", "0").require_code(1)
    require((gpusim.scratch / "kept.h5").read_bytes() == before, "the file of an earlier run was changed")


def check_summary(gpusim: Gpusim) -> None:
    """Estimated registers are called so, those that the launch file or the user gives are not; no line is too long."""
    for ptx, size, estimated in ((vecadd(gpusim), "N=4096", True),
                                 (gpusim.source / "workloads/matmul/tiled_16x16.ptx", "N=32", False)):
        run = gpusim.run("--config", "tesla_v100", ptx, "--param", size, "--out", "x.h5", "--force").require_code(0)
        require_equal("estimate of the summary", "registers by estimate," in run.out, estimated)
        require(max(map(len, run.out.splitlines())) <= 200, run.out)
        grid, held = (16, 8) if estimated else (4, 8)  # blocks, and those that an SM holds
        for sms in (80, 1):
            few = gpusim.run("--config", "tesla_v100", ptx, "--param", size, "--out", "none", "--sms", str(sms)).require_code(0).out
            said = f"{held} blocks/SM fit, and the grid has {grid} for {sms} SM"
            require_equal(f"small grid said with {sms} SMs", said in few, grid < sms * held)
        start = run.out.index("profiler metrics")
        metrics = run.out[start:run.out.index("\nsystem", start)].removeprefix("profiler metrics").split(",")
        require(len(metrics) > 4 and all(len(m.split()) in (2, 3) for m in metrics), f"{metrics}")
        report = gpusim.run("--config", "tesla_v100", ptx, "--param", size, "--out", "none", "--json").require_code(0).json()
        require_equal("estimate of --json", [k["registers_estimated"] for k in report["kernels"]], [estimated])
        for given in ([], ["--registers", "20"]):
            options = ["occupancy", "--config", "tesla_v100", ptx, "--block", "16,16", *given]
            expected = estimated and not given
            require_equal("estimate of occupancy", "/thread by estimate," in gpusim.run(*options).require_code(0).out, expected)
            require_equal("the same as JSON", gpusim.run(*options, "--json").require_code(0).json()["registers_estimated"], expected)


def check_roofline_plot(gpusim: Gpusim) -> None:
    """A roofline plot says which kernels it leaves out, and why."""
    def run(ptx: str, out: str, *options: str) -> Path:
        gpusim.run("--config", gpusim.machine(), gpusim.source / "workloads" / ptx, "--sms", "6", "--quiet", "--out", out,
                   *options).require_code(0)
        return gpusim.scratch / out

    files = [run("roofline/ceilings.ptx", "roofs.h5", "--param", "blocks=12", "--param", "rounds=1", "--param", "n=8192"),
             run("transpose/naive.ptx", "transpose.h5", "--param", "ROWS=64", "--param", "COLS=64"), run("vecadd/vecadd.ptx", "vecadd.h5", "--param", "N=4096")]
    text = gpusim.run("analyze", "--model", "roofline", *files, "--option", "plot=roofline.svg").require_code(0).out
    left_out = [line.strip() for line in text.splitlines() if "not drawn" in line]
    require_equal("lines", len(left_out), 1)
    require("transpose" in left_out[0] and "no floating-point operations" in left_out[0], text)
    picture = (gpusim.scratch / "roofline.svg").read_text()
    require("vecadd" in picture and "transpose" not in picture, "the picture does not show what the text says")


OUTPUT_CHECKS: dict[str, Callable[[Gpusim], None]] = {
    "interrupt": check_interrupt,
    "unwritable": check_unwritable,
    "full_disk": check_full_disk,
    "whole_files": check_whole_files,
    "aborted_rerun": check_aborted_rerun,
    "outputs": check_outputs,
    "others_files": check_others_files,
    "same_output_twice": check_same_output_twice,
    "other_run": check_other_run,
    "json_of_any_path": check_json_of_any_path,
    "interrupt_while_filling": check_interrupt_while_filling,
    "lost_streams": check_lost_streams,
    "summary": check_summary,
    "roofline_plot": check_roofline_plot,
    "kept_file": check_failed_run_keeps_file,
}
