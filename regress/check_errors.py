"""Exit codes and error texts of the command line."""

import json
import os
import re
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable

from cases import CASES
from runner import Gpusim, Run, require, require_equal

Check = Callable[[Gpusim], None]


def vecadd(gpusim: Gpusim) -> Path:
    return CASES["vecadd"].ptx(gpusim.source)


def require_recorded_status(path: Path, status: str, reason: str = "") -> None:
    """The file opens and carries this status; the reason contains the text."""
    import h5py  # slow to load, and most checks here do without it

    with h5py.File(path) as file:
        require_equal("status in the file", file.attrs["status"].decode(), status)
        require(reason in file.attrs["reason"].decode(), f"reason in the file: {file.attrs['reason']!r}")
        require("kernels" in file, "the file has no /kernels")


def check_input(gpusim: Gpusim) -> None:
    """Wrong usage or input: exit 1, place, what was expected, the nearest valid name."""
    ptx = vecadd(gpusim)
    cases: list[tuple[list[str], list[str]]] = [
        (["nothere.ptx"], ["nothere.ptx: error: cannot open: No such file"]),
        ([str(gpusim.source)], ["is a folder"]),
        ([str(ptx), "--launch", "nothere.toml"], ["nothere.toml: error: cannot open"]),
        ([str(ptx), "--set", "lsu.queues=1"], ["unknown key 'queues' in [lsu]", "did you mean 'queue'?"]),
        ([str(ptx), "--set", "lsu.queue=0"], ["lsu.queue = 0 is out of range", "1 to 1024"]),
        ([str(ptx), "--set", "lsu.queue=abc"], ["lsu.queue = \"abc\" is not an integer"]),
        ([str(ptx), "--set", "lsuqueue"], ["expected section.key=value"]),
        ([str(ptx), "--set", "shared.size=15"], ["is not a multiple of sm.shared_alloc_unit", "tesla_c1060.cfg:"]),
        ([str(ptx), "--param", "M=3"], ["no parameter 'M'", "valid: N"]),
        ([str(ptx), "--param", "N=x"], ["undefined name 'x'"]),
        ([str(ptx), "--param", "N=0"], ["vecadd.toml:27:9: error: grid = 0 is out of range"]),
        ([str(ptx), "--param", "N=1000000000"], ["vecadd.toml:9:8: error: the buffers need", "the largest is 'A'"]),
        ([str(ptx), "--sms", "31"], ["--sms 31", "has 30 SMs"]),
        ([str(ptx), "--events", "some"], ["--events", "off", "summary"]),
        ([str(ptx), "--check", "memroy"], ["no check is called 'memroy'", "did you mean 'memory'?"]),
        ([str(ptx), "--check", "memory,"], ["no check is called ''"]),
        ([str(ptx), "--dump", "D=d.npy"], ["no buffer 'D'"]),
        ([str(ptx), "--dump", "C"], ["is not NAME=FILE.npy"]),
        ([str(ptx), "--kernel", "vecad", "--grid", "1", "--block", "32"],
         ["has no kernel 'vecad'", "did you mean 'vecadd'?"]),
        ([str(ptx), "--kernel", "vecadd", "--grid", "1", "--block", "32"], ["takes 4 arguments, the launch gives 0"]),
        ([str(ptx), "--kernel", "vecadd"], ["needs --grid and --block"]),
        ([], ["the PTX file is missing", "hint:"]),
    ]
    for arguments, texts in cases:
        gpusim.run("--config", gpusim.machine(), *arguments).require_code(1).require_error(*texts)
    gpusim.run(ptx).require_code(1).require_error("--config MACHINE is missing")
    require_equal("files left", sorted(p.name for p in gpusim.scratch.iterdir()), [])


def check_limits(gpusim: Gpusim) -> None:
    """What the machine cannot hold is refused before anything runs, with the limit."""
    launch = ["--arg", "f32[1]", "--arg", "f32[1]", "--arg", "f32[1]", "--arg", "1"]
    cases = [
        (["--grid", "1", "--block", "513"], "block x is 513, machine 'Tesla C1060' allows 512"),
        (["--grid", "1", "--block", "32,17"], "allows 512"),
        (["--grid", "65536", "--block", "32"], "grid x is 65536, machine 'Tesla C1060' allows 65535"),
        (["--grid", "1,1,2", "--block", "32"], "grid z is 2, machine 'Tesla C1060' allows 1"),
        (["--grid", "1", "--block", "32", "--dynamic-shared", "16385"], "allows 16384"),
    ]
    for options, message in cases:
        for mode in (["--functional"], ["--out", "none"]):
            gpusim.simulate(vecadd(gpusim), *options, *launch, *mode).require_code(1).require_error(message)


def check_machine(gpusim: Gpusim) -> None:
    run = gpusim.run("--config", "tesla_c1061.cfg", vecadd(gpusim))
    run.require_code(1).require_error("no machine configuration 'tesla_c1061.cfg'", "did you mean 'tesla_c1060'?")
    (gpusim.scratch / "own.cfg").write_text(f'extends = "{gpusim.machine()}"\n[dram]\nrow = "3K"\nbankz = 1\n')
    run = gpusim.run("--config", "own.cfg", vecadd(gpusim))
    run.require_code(1).require_error("own.cfg:4:", "unknown key 'bankz' in [dram]", "did you mean 'banks'?")


def check_no_launch(gpusim: Gpusim) -> None:
    alone = gpusim.scratch / "alone.ptx"
    alone.write_text(vecadd(gpusim).read_text())
    gpusim.simulate(alone).require_code(1).require_error("no launch file", "gpusim init", "--kernel")
    gpusim.run("init", alone).require_code(0)
    require("[[launch]]" in alone.with_suffix(".toml").read_text(), "init wrote no launch")
    gpusim.run("init", alone).require_code(1).require_error("exists already")


def check_wrong_result(gpusim: Gpusim) -> None:
    """Exit 3, and the message names buffer, element and both values."""
    ptx, launch = CASES["saxpy"].ptx(gpusim.source), gpusim.scratch / "wrong.toml"
    launch.write_text(ptx.with_suffix(".toml").read_text().replace("saxpy(a, X, Y)", "saxpy(a + 1, X, Y)"))
    for mode in (["--functional"], ["--out", "none"]):
        run = gpusim.simulate(ptx, "--launch", launch, "--param", "N=1000", "--json", *mode)
        run.require_code(3).require_error("error:", "Y")
        require_equal("verdict", [e["verdict"] for e in run.json()["expect"]], ["fail"])


def check_clocks(gpusim: Gpusim) -> None:
    """Clocks of a run and of a launch: what is no clock is refused; half the core clock takes longer and draws less power."""
    ptx = CASES["vecadd"].ptx(gpusim.source)
    for text in ("fast", "1296", "0MHz", "1.0005kHz"):
        gpusim.simulate(ptx, "--core-clock", text, "--out", "none").require_code(1).require_error("--core-clock", "is no clock")
    gpusim.simulate(ptx, "--dram-clock", "1MHz", "--out", "none").require_code(1).require_error("dram.refi", "no time for an access")
    gpusim.simulate(ptx, "--set", "energy.fp32=5W", "--out", "none").require_code(1).require_error("is not an energy such as")
    launch = gpusim.scratch / "clocks.toml"
    launch.write_text(ptx.with_suffix(".toml").read_text().replace("[[launch]]", '[[launch]]\ncore_clock = 648'))
    gpusim.simulate(ptx, "--launch", launch, "--out", "none").require_code(1).require_error("clocks.toml:", "core_clock")
    full, half = (gpusim.simulate(ptx, "--json", "--out", "none", *options).require_code(0).json()["kernels"][0]
                  for options in ((), ("--core-clock", "648MHz")))
    require(half["time_s"] > full["time_s"], "half the core clock is no slower")
    require(half["counters"]["average_power"] < full["counters"]["average_power"], "half the core clock draws no less power")
    launch.write_text(ptx.with_suffix(".toml").read_text().replace("[[launch]]", '[[launch]]\ncore_clock = "648MHz"'))
    one = gpusim.simulate(ptx, "--launch", launch, "--json", "--out", "none").require_code(0).json()["kernels"][0]
    require(abs(one["time_s"] / half["time_s"] - 1) < 0.02, f"by launch {one['time_s']} s, by option {half['time_s']} s")


def check_microbench(gpusim: Gpusim) -> None:
    """A section of the data sheet: what was found beside what is configured; and sections that there are not."""
    run = gpusim.run("microbench", "--config", gpusim.machine(), "--only", "shared", "--set", "shared.banks=32", "--json")
    sheet = run.require_code(0).json()
    require_equal("machine", sheet["machine"], "Tesla C1060")
    banks = next(f for f in sheet["figures"] if f["name"] == "shared.banks")
    require_equal("banks", (banks["found"], banks["configured"], banks["difference"]), (32, 32, 0))
    require(bool(banks["method"] and banks["kernel"] and banks["unit"]), f"a figure that does not explain itself: {banks}")
    run = gpusim.run("microbench", "--config", gpusim.machine(), "--only", "shared,l3")
    run.require_code(1).require_error("no section 'l3'", "did you mean 'l1'?")
    run = gpusim.run("microbench", "--config", gpusim.machine(), "--set", "l1.sizes=1")
    run.require_code(1).require_error("unknown key 'sizes' in [l1]")


def check_occupancy(gpusim: Gpusim) -> None:
    """Registers are those of --registers, the launch file, the estimate, in this order; a block that no SM takes is refused."""
    naive = CASES["matmul_naive_16x16"].ptx(gpusim.source)
    alone = gpusim.scratch / "alone.ptx"
    alone.write_text(naive.read_text())
    command = ["occupancy", "--config", gpusim.machine(), "--block", "16,16", "--json"]
    asked = gpusim.run(*command, naive).require_code(0).json()
    require_equal("registers of the launch file", asked["registers"], 10)
    require_equal("the same file, named", gpusim.run(*command, alone, "--launch", naive.with_suffix(".toml")).json(), asked)
    require_equal("registers of --registers", gpusim.run(*command, naive, "--registers", "12").json()["registers"], 12)
    estimate = gpusim.run("check", "--json", "--config", gpusim.machine(), alone).json()["programs"][0]["kernels"][0]["registers"]
    require(estimate != 10, "the estimate is what the launch file asks for: nothing is tested")
    require_equal("estimate", gpusim.run(*command, alone).json()["registers"], estimate)
    command[command.index("16,16")] = "99999"
    gpusim.run(*command, naive).require_code(1).require_error("a block of 99999 threads: machine 'Tesla C1060' allows 512")


def check_config(gpusim: Gpusim) -> None:
    gpusim.run("config", "diff", "tesla_c1060").require_code(1).require_error("other_machine is required")
    described = gpusim.run("config", "describe", "gpu.memory").require_code(0).out
    require("1M to 1024G" in described, described)


def check_textures(gpusim: Gpusim) -> None:
    """A texture that nothing reads, a reference that nothing is bound to, an object of another geometry or size."""
    references, objects = (CASES[name].ptx(gpusim.source) for name in ("texture_references", "texture"))
    picture = '[[texture]]\nname = "picture"\nbuffer = "picture_data"\nwidth = 9\nheight = 6\nfilter = "linear"\n'
    for ptx, old, new, code, texts in (
        (references, 'name = "palette"\n', 'name = "palete"\n', 1,
         ["texture 'palete' is not used", "did you mean 'palette'?"]),
        (references, picture, "", 1, ["texture_references.ptx:45:42: error: the texture reference 'picture' is not bound"]),
        (objects, '["from_table", "table", "index", "N"]', '["table", "table", 0.5, "N"]', 1,
         ["parameter 'table_param_2' (.u64) needs an integer"]),
        (objects, '["from_volume", "volume",', '["from_volume", "image",', 1, ["texture 'volume' is not used"]),
        (references, "width = 9\nheight = 6", "width = 9\nheight = 6\ndepth = 1", 2,
         ["kernel 'references', PTX line 45", "the texture has 3 dimensions and no layers: another geometry is read"]),
    ):
        launch = gpusim.scratch / "textures.toml"
        text = ptx.with_suffix(".toml").read_text()
        require(old in text, f"{old!r} is not in {ptx.with_suffix('.toml')}")
        for before, after in ((old, new), ("file:", f"file:{ptx.parent}/"), ('file = "', f'file = "{ptx.parent}/')):
            text = text.replace(before, after)
        launch.write_text(text)
        gpusim.simulate(ptx, "--launch", launch, "--functional").require_code(code).require_error(*texts)


# file: the texts of the timed run, of the functional run
FAILING = {
    "out_of_bounds": ("PTX line 24 `st.global.u32 [%r6+0], %r3`, block (2,0,0), thread (5,0,0): 4-byte access to "
                      "global memory at address 0x20000214 is out of bounds",) * 2,
    "misaligned": ("PTX line 18 `ld.global.u32 %r5, [%r4+0]`, block (0,0,0), thread (3,0,0): 4-byte access to global "
                   "memory at address 0x1000000d is misaligned",) * 2,
    "shared_out_of_bounds": ("PTX line 14 `st.shared.u32 [%r4+0], %r1`, block (0,0,0), thread (1,0,0): 4-byte "
                             "access to shared memory at address 0x10000 is out of bounds",) * 2,
    "barrier_deadlock": ("kernel 'barrier_deadlock', PTX line 13 `bar.sync 0`, block (0,0,0), thread (0,0,0)",
                         "PTX line 16 `bar.sync 1`, block (0,0,0), thread (32,0,0) waits at a barrier"),
    "divergent_barrier": ("its lanes 0xffff0000 never arrive: the barrier is divergent", "waits at a barrier"),
    "call_stack_full": ("thread (37,0,0): the call stack of 4096 bytes is full: 'deeper' needs 176 more; raise 'stack'",)
                       * 2,
    "bad_function_address": ("thread (9,0,0): call of address 0x0, where no function is",) * 2,
    "assertion": ("block (0,0,0), thread (37,0,0): assertion `i != 37 && \"no place for 37\"` failed: assertion.cu:6, "
                  "function void assertion(unsigned int *)",) * 2,
    "no_texture": ("PTX line 12 `tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd0, {%r0}]`, block (0,0,0), thread (0,0,0): "
                   "0x10000000 is not a texture of the launch file",) * 2,
    "branch_table": ("PTX line 18 `brx.idx %r1, targets`, block (0,0,0), thread (21,0,0): index 2 of a branch table "
                     "with 2 targets",) * 2,
    "wmma_diverged": ("block (0,0,0), thread (0,0,0): the operation needs all 32 lanes of the warp, lanes 0x00000080 are "
                      "not there",) * 2,
    "wmma_exited": ("%r7}, [%rd1]`, block (0,0,0), thread (0,0,0): the operation needs all 32 lanes of the warp, lanes "
                    "0xffff0000 are not there",) * 2,
    "endless": ("still running after 50000 cycles (--max-cycles)", "still running after"),
}


def check_failing(gpusim: Gpusim, name: str) -> None:
    """A program that fails: exit 2, the message names kernel, PTX line, block, thread and address; the file says so."""
    ptx = gpusim.source / "regress" / "failing" / f"{name}.ptx"
    launch = ["--grid", "4", "--block", "64", "--arg", "u32[256]", "--max-cycles", "50000", "--json"]
    timed, functional = FAILING[name]
    run = gpusim.simulate(ptx, *launch, "--functional").require_code(2)
    run.require_error(f"kernel '{name}'", "PTX line", "block (", "thread (", functional)
    out = gpusim.scratch / "failed.h5"
    run = gpusim.simulate(ptx, *launch, "--out", str(out)).require_code(2)
    run.require_error(f"kernel '{name}'", "PTX line", "block (", "thread (", timed)
    report = run.json()
    require_equal("status", report["status"], "failed")
    require(timed in report["reason"], f"reason: {report['reason']}")
    require_recorded_status(out, "failed", name)


def check_bad_ptx(gpusim: Gpusim, name: str) -> None:
    """`// expect:` lines of the file are the messages, in order; `check` and a run exit 1 with them."""
    ptx = gpusim.source / "regress" / "bad" / f"{name}.ptx"
    texts = re.findall(r"^\s*// expect: (.*)$", ptx.read_text(errors="replace"), re.MULTILINE)
    require(len(texts) > 0, f"{name} asserts nothing")
    messages = [f"{ptx}:{text}" for text in texts]
    for run in (gpusim.run("check", ptx), gpusim.simulate(ptx, "--grid", "1", "--block", "32", "--arg", "u32[32]")):
        run.require_code(1).require_error(*messages)
        places = [run.err.index(message) for message in messages]
        require_equal("order of messages", places, sorted(places))
    require_equal("files left", sorted(p.name for p in gpusim.scratch.iterdir()), [])


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
    require_equal("files left", sorted(p.name for p in gpusim.scratch.iterdir()), ["folder"])


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
    require(ptx.read_bytes() == vecadd(gpusim).read_bytes(), "the PTX was overwritten")
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


def check_endless_inputs(gpusim: Gpusim) -> None:
    """Devices and pipes are refused before they are opened, wherever a file is read."""
    pipe = gpusim.scratch / "pipe"
    os.mkfifo(pipe)
    ptx, machine = str(vecadd(gpusim)), str(gpusim.machine())
    launch = gpusim.scratch / "endless.toml"
    text = vecadd(gpusim).with_suffix(".toml").read_text()
    for path in ("/dev/zero", str(pipe)):
        for suffix in (".npy", ".bin"):
            (gpusim.scratch / f"data{suffix}").unlink(missing_ok=True)
            (gpusim.scratch / f"data{suffix}").symlink_to(path)
        for arguments in (["--config", machine, path, "--launch", Path(ptx).with_suffix(".toml")],
                          ["--config", machine, ptx, "--link", path], ["--config", path, ptx],
                          ["--config", machine, ptx, "--launch", path],
                          ["check", path], ["init", path], ["occupancy", "--config", machine, path, "--block", "32"],
                          ["trace", "--config", machine, path, "--out", "t"], ["export", path, "--out", "plan"],
                          ["reuse", "--trace", path, "--reference"], ["reuse", "--trace", path, "--config", "gtx480"],
                          ["metrics", path], ["explain", path], ["analyze", path],
                          ["correlate", "--hardware", path, "--config", machine],
                          ["regress", "--suite", path]):
            gpusim.run(*arguments, limit_s=20).require_code(1).require_error(path)
        for suffix in (".npy", ".bin"):
            launch.write_text(text.replace('init = "uniform(-1, 1)"', f'init = "file:data{suffix}"'))
            require(launch.read_text() != text, "vecadd.toml has no uniform buffer any more")
            gpusim.run("--config", machine, ptx, "--launch", launch, limit_s=20).require_code(1).require_error(f"data{suffix}")
    available = int(re.search(r"MemAvailable: *([0-9]+)", Path("/proc/meminfo").read_text())[1]) * 1024
    if available < 80e9:
        gpusim.run("--config", "h200", ptx, "--kernel", "vecadd", "--grid", "1", "--block", "1", "--arg", "f32[1]", "--arg",
                   "f32[25000000000]=iota(0,1)", "--arg", "f32[1]", "--arg", "1", limit_s=20) \
            .require_code(1).require_error("the buffers' initial values need 100000000000 bytes", "memory available")
    gpusim.run("reuse", "--trace", pipe, "--reference", "--sigma", "nan").require_code(1).require_error("--sigma")


def check_interrupt_while_filling(gpusim: Gpusim) -> None:
    """A signal while buffers are filled ends the program at once; nothing is written yet."""
    run = gpusim.start("--config", "h200", vecadd(gpusim), "--out", "x.h5", "--kernel", "vecadd", "--grid", "1", "--block", "1",
                       "--arg", "f32[1]", "--arg", "f32[400000000]=normal(0,1)", "--arg", "f32[1]", "--arg", "1")
    time.sleep(2)
    run.send_signal(signal.SIGTERM)
    run.communicate(timeout=60)
    require_equal("signal that ended the run", run.returncode, -signal.SIGTERM)
    require(not (gpusim.scratch / "x.h5").exists(), "a file is left")


def check_many_kernels(gpusim: Gpusim) -> None:
    """Time to check a file grows as its length: 32,000 kernels took minutes when each looked through all others."""
    kernel = (".visible .entry k{0}(.param .u64 p) {{ .reg .u64 %d<3>; .reg .u32 %r; ld.param.u64 %d1, [p]; "
              "cvta.to.global.u64 %d2, %d1; mov.u32 %r, %tid.x; st.global.u32 [%d2], %r; ret; }}\n")
    file = gpusim.scratch / "many.ptx"
    file.write_text(".version 6.4\n.target sm_70\n.address_size 64\n" + "".join(kernel.format(i) for i in range(32000)))
    require("good, 32000 kernels" in gpusim.run("check", file).require_code(0).out, "not all kernels were checked")


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
    with open("/dev/full", "w", encoding="ascii") as full:
        for command in ([*simulate, "--json"], simulate, [str(gpusim.program), "--version"]):
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, text=True, timeout=60)
            require_equal(f"exit code of {command[1:]}", done.returncode, 1)
            require("cannot write to standard output" in done.stderr, f"stderr: {done.stderr}")
        for command in ([*simulate, "--param", "M=1"], [str(gpusim.program), "nosuch"]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, check=False, timeout=60)
            require_equal(f"exit code of {command[1:]}", done.returncode, 1)


def check_refresh(gpusim: Gpusim) -> None:
    """A DRAM that would do nothing but refresh is refused."""
    for setting in ("dram.rcd=1000000", "clocks.dram=2MHz"):
        gpusim.simulate(vecadd(gpusim), "--set", setting).require_code(1).require_error(
            "dram.refi = 3900 ns leaves no time for an access", "stands at --set")


def check_full_disk(gpusim: Gpusim) -> None:
    """A write error ends the run with exit 1 and a plain message; the file stays readable and partial."""

    def limit_file_size() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    out = gpusim.scratch / "full.h5"
    command = [str(gpusim.program), "--config", str(gpusim.machine()), str(vecadd(gpusim)), "--param", "N=100000",
               "--events", "all", "--quiet", "--out", str(out)]
    done = subprocess.run(command, cwd=gpusim.scratch, preexec_fn=limit_file_size, restore_signals=False, check=False,
                          capture_output=True, text=True, timeout=60)
    require_equal("exit code", done.returncode, 1)
    require(done.stderr.startswith("gpusim: error: cannot write"), f"stderr: {done.stderr}")
    require_recorded_status(out, "partial")


def check_failed_run_keeps_file(gpusim: Gpusim) -> None:
    """A run with wrong input does not touch the file of the run before."""
    ptx = vecadd(gpusim)
    gpusim.simulate(ptx, "--out", "kept.h5", "--param", "N=1000").require_code(0)
    before = (gpusim.scratch / "kept.h5").read_bytes()
    gpusim.simulate(ptx, "--out", "kept.h5", "--param", "M=1").require_code(1)
    gpusim.simulate(gpusim.source / "regress" / "bad" / "syntax.ptx", "--out", "kept.h5", "--grid", "1", "--block", "1",
                    "--arg", "0").require_code(1)
    require((gpusim.scratch / "kept.h5").read_bytes() == before, "the file of an earlier run was changed")


ERROR_CHECKS: dict[str, Check] = {
    "input": check_input,
    "limits": check_limits,
    "machine": check_machine,
    "no_launch": check_no_launch,
    "wrong_result": check_wrong_result,
    "clocks": check_clocks,
    "microbench": check_microbench,
    "textures": check_textures,
    "occupancy": check_occupancy,
    "config": check_config,
    "interrupt": check_interrupt,
    "unwritable": check_unwritable,
    "full_disk": check_full_disk,
    "outputs": check_outputs,
    "same_output_twice": check_same_output_twice,
    "other_run": check_other_run,
    "json_of_any_path": check_json_of_any_path,
    "endless_inputs": check_endless_inputs,
    "many_kernels": check_many_kernels,
    "interrupt_while_filling": check_interrupt_while_filling,
    "lost_streams": check_lost_streams,
    "refresh": check_refresh,
    "kept_file": check_failed_run_keeps_file,
}


def error_checks(source: Path) -> dict[str, Check]:
    """"input", "failing/endless", "bad/syntax", ..."""
    checks = dict(ERROR_CHECKS)
    for kind, check in (("failing", check_failing), ("bad", check_bad_ptx)):
        for path in sorted((source / "regress" / kind).glob("*.ptx")):
            checks[f"{kind}/{path.stem}"] = lambda gpusim, check=check, name=path.stem: check(gpusim, name)
    return checks
