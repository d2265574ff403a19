"""Wrong usage and wrong input: exit codes and error texts of the command line."""

import ctypes
import os
import re
import subprocess
from pathlib import Path
from typing import Callable

from cases import CASES
from check_failing import failing_checks
from check_outputs import OUTPUT_CHECKS
from runner import Gpusim, require, require_equal, vecadd

Check = Callable[[Gpusim], None]


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
        (["my.cu"], ["my.cu: error: is CUDA source", "nvcc -ptx -lineinfo -arch=sm_75 my.cu -o my.ptx"]),
    ]
    for arguments, texts in cases:
        gpusim.run("--config", gpusim.machine(), *arguments).require_code(1).require_error(*texts)
    gpusim.run(ptx).require_code(1).require_error("--config MACHINE is missing")
    # What sets one of two keys above the bound of the other is said, and that alone.
    for sets, note in ((["l1.mshrs=512"], "note: l1.mshrs = 512 is above lsu.mshrs = 256"), (["l1.mshrs=128"], ""),
                       (["l1.mshrs=512", "lsu.mshrs=512"], "")):
        run = gpusim.run("--config", "gtx480", ptx, "--param", "N=1000", "--out", "none", "--json",
                         *(option for key in sets for option in ("--set", key))).require_code(0)
        require(run.err.startswith(note) if note else "note" not in run.err, run.err)
    gpusim.run("sweep", "--help").require_code(1).require_error("no command is called 'sweep'", "gpusim study run")
    gpusim.run("explian", "run.h5").require_code(1).require_error("no command is called 'explian'", "did you mean 'explain'?")
    recorded = gpusim.scratch.parent / "none.h5"
    gpusim.run("explain", "--kernle", "k", recorded).require_code(1).require_error(
        "gpusim explain: error: there is no option '--kernle'", "did you mean '--kernel'?")
    gpusim.run("predict", ptx, "--confg", gpusim.machine()).require_code(1).require_error(  # and not that --config is missing
        "gpusim predict: error: there is no option '--confg'", "did you mean '--config'?")
    gpusim.run("--config", gpusim.machine(), ptx, "--seet=l1.size=1K").require_code(1).require_error(
        "gpusim: error: there is no option '--seet'", "did you mean '--set'?")
    # Names that no file can have: what is said is what is said of a file that is not there.
    gpusim.run("a" * 300).require_code(1).require_error("no command is called 'aaa", "and no file")
    gpusim.run("--config", gpusim.machine(), "A" * 300).require_code(1).require_error("AAA: error: cannot open: File name too long")
    gpusim.run("study", "plan", "a" * 300).require_code(1).require_error("there is no file 'aaa")
    gpusim.run("report", "a" * 300, "-o", "r.html").require_code(1).require_error("'aaa", "cannot open")
    long_name = gpusim.scratch / ("a" * 251 + ".ptx")  # its launch file's name would be too long
    long_name.write_text(ptx.read_text())
    gpusim.run("--config", gpusim.machine(), long_name).require_code(1).require_error("no launch file")
    long_name.unlink()
    # Numbers: what is expected is said.
    for option, text in (("--dynamic-shared=-1", "Value -1 not in range 0 to 16777216"),
                         ("--dynamic-shared=nan", "--dynamic-shared: 'nan' is not a whole number"),
                         ("--sms=1e3", "--sms: '1e3' is not a whole number"), ("--sms=5000", "Value 5000 not in range 1 to 4096")):
        gpusim.run("--config", gpusim.machine(), ptx, option).require_code(1).require_error(text)
    gpusim.run("predict", "--config", "gtx480", ptx, "--sms=-2").require_code(1).require_error("--sms: '-2' is not a whole number of 0 or more")
    gpusim.run("reuse", "--trace", ptx, "--sigma", "wide").require_code(1).require_error("--sigma: 'wide' is not a number")
    gpusim.run("explain", recorded, "b").require_code(1).require_error("there is one argument too many: 'b'")
    gpusim.run("check", "my.cu").require_code(1).require_error("my.cu: error: is CUDA source", "nvcc -ptx")
    program, recorded = gpusim.scratch / "my_program", gpusim.scratch / "my_recording.h5"
    program.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(100))
    recorded.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    for command in ([], ["check"], ["init"], ["occupancy", "--block", "64"], ["predict"], ["study", "plan", "--axis", "l1.size=32K,64K"]):
        machine = [] if command in (["check"], ["init"]) else ["--config", "tesla_v100"]
        gpusim.run(*command, program, *machine).require_code(1).require_error("my_program: error: is a program; this reads PTX", "--export FOLDER")
        gpusim.run(*command, recorded, *machine).require_code(1).require_error("my_recording.h5: error: is a recorded file (HDF5); this reads PTX")
    program.unlink()
    recorded.unlink()
    gpusim.run("study", "show", "NAME").require_code(1).require_error("there is no file 'NAME'", "a study file (.toml)")
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
    # Simulated time is a number of 64 bits.
    streams = gpusim.source / "workloads" / "saxpy"
    slow = gpusim.simulate(streams / "saxpy.ptx", "--launch", streams / "streams.toml", "--param", "N=4000000", "--set", "host.link_rate=1000",
                           "--out", "none")
    slow.require_code(2).require_error("copies between host and device would take more than 4 hours at 1e+03 bytes/s (host.link_rate)")


def check_machine(gpusim: Gpusim) -> None:
    run = gpusim.run("--config", "tesla_c1061.cfg", vecadd(gpusim))
    run.require_code(1).require_error("no machine configuration 'tesla_c1061.cfg'", "did you mean 'tesla_c1060'?")
    pipe = gpusim.scratch / "pipe"
    os.mkfifo(pipe)
    for name, why in (("pipe", "not a regular file"), ("/dev/null", "not a regular file"), (".", "is a folder, not a file")):
        for command in (["--config", name, vecadd(gpusim)], ["config", "show", name]):
            gpusim.run(*command, limit_s=20).require_code(1).require_error(f"{name}: error: ", why)
    for size, works in (("64K", "at most shared.size=56K"), ("96K", "l1.ways=24 would do")):
        gpusim.run("config", "show", "tesla_v100", "--set", f"l1.size={size}").require_code(1).require_error(works)
    gpusim.run("config", "show", "tesla_v100", "--set", "l1.size=64K", "--set", "shared.size=56K").require_code(0)
    gpusim.run("config", "show", "tesla_v100", "--set", "l1.size=96K", "--set", "shared.size=88K", "--set", "l1.ways=24").require_code(0)
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
    run = gpusim.run("microbench", "--config", gpusim.machine(), "--gpu", "0", "--threads", "2")
    run.require_code(1).require_error("--threads excludes --gpu")
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        run = gpusim.run("microbench", "--config", gpusim.machine(), "--gpu", "0")
        run.require_code(1).require_error("microbenchmark: no CUDA driver on this machine")


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
    tiled = CASES["matmul_tiled_8x8"].ptx(gpusim.source)
    asked = gpusim.run(*command, tiled, "--shared", 4096 - 512).require_code(0).json()
    # 16 KB of the C1060 hold three blocks of 4 KB, for each has its place in the grid and its parameters beside them.
    require_equal("shared memory with parameters", (asked["shared_bytes"], asked["blocks_per_sm"]), (4096 + 16 + 4 * 4, 3))
    asked = gpusim.run(*["gtx480" if a == gpusim.machine() else a for a in command], tiled, "--shared", 4096 - 512).json()
    require_equal("without", asked["shared_bytes"], 4096)
    command[command.index("16,16")] = "99999"
    gpusim.run(*command, naive).require_code(1).require_error("a block of 99999 threads: machine 'Tesla C1060' allows 512")


def check_config(gpusim: Gpusim) -> None:
    gpusim.run("config", "diff", "tesla_c1060").require_code(1).require_error(
        "gpusim config diff: error: other_machine is missing: ", "gpusim config diff --help")
    gpusim.run("study").require_code(1).require_error("gpusim study: error: a command is missing: plan, run, show")
    gpusim.run("timeline", "run.h5").require_code(1).require_error("gpusim timeline: error: --out is missing: ")
    gpusim.run("study", "plan", "--config", "tesla_v100", "w.ptx", "--guided", "20").require_code(1).require_error(
        "there is no option '--guided'", "hint: gpusim study run has it")
    gpusim.run("study", "--axis", "l1.mshrs=128,256", "w.ptx").require_code(1).require_error("there is no option '--axis'",
                                                                                             "hint: gpusim study plan has it")
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


def check_empty_values(gpusim: Gpusim) -> None:
    """An empty value of any option, as an unset variable of a script gives, is not taken for no option."""
    ptx = str(vecadd(gpusim))
    for command in ([], ["check"], ["init"], ["export"], ["trace"], ["metrics"], ["explain"], ["analyze"], ["reuse"], ["regress"],
                    ["occupancy"], ["microbench"], ["correlate"], ["config", "show"]):
        described = gpusim.run(*command, "--help").require_code(0).out
        options = re.findall(r"^  (?:-[a-zA-Z],)?(--[a-z-]+) (?:TEXT|U?INT|FLOAT|NUMBER)", described, re.M)
        require(options != [] or command == ["config", "show"], f"no options of {command} found")
        for option in options:
            gpusim.run(*command, option, "").require_code(1).require_error(f"{option}: is empty")
    gpusim.run("--config", gpusim.machine(), ptx, "").require_code(1)
    # The word behind such an option is not its value, but words of other programs are theirs.
    gpusim.run("--config", gpusim.machine(), "--sms=", ptx).require_code(1).require_error("--sms: is empty")
    gpusim.run("--config", gpusim.machine(), "--core-clock=", ptx).require_code(1).require_error("--core-clock: is empty")
    gpusim.run("study", "run", "--config", gpusim.machine(), "--threads=", ptx).require_code(1).require_error("--threads: is empty")
    for words in (["./none", "--sms=", "3"], ["--", "./none", "--sms=", "3"]):
        gpusim.run("run", "--config", gpusim.machine(), *words).require_code(1).require_error("./none: error: no such program")
    gpusim.run("init", "").require_code(1).require_error("ptx: is empty")
    require_equal("files left", list(gpusim.scratch.iterdir()), [])


def check_large_variable(gpusim: Gpusim) -> None:
    """What device memory has no room for is said where it is declared."""
    ptx = gpusim.scratch / "large.ptx"
    ptx.write_text(".version 6.4\n.target sm_70\n.address_size 64\n.global .f32 large[9000000000];\n"
                   ".visible .entry k(.param .u64 p) { ret; }\n")
    for mode in (["--functional"], ["--out", "none"]):
        gpusim.run("--config", gpusim.source / "configs" / "tesla_v100.cfg", ptx, "--grid", "1", "--block", "32", "--arg", "u32[8]",
                   *mode).require_code(1).require_error("large.ptx:4:14: error: device memory is full: 'large' needs 36000000000")


def check_many_kernels(gpusim: Gpusim) -> None:
    """Time to check a file grows as its length: 32,000 kernels took minutes when each looked through all others."""
    kernel = (".visible .entry k{0}(.param .u64 p) {{ .reg .u64 %d<3>; .reg .u32 %r; ld.param.u64 %d1, [p]; "
              "cvta.to.global.u64 %d2, %d1; mov.u32 %r, %tid.x; st.global.u32 [%d2], %r; ret; }}\n")
    file = gpusim.scratch / "many.ptx"
    file.write_text(".version 6.4\n.target sm_70\n.address_size 64\n" + "".join(kernel.format(i) for i in range(32000)))
    require("good, 32000 kernels" in gpusim.run("check", file).require_code(0).out, "not all kernels were checked")


def check_refresh(gpusim: Gpusim) -> None:
    """A DRAM that would do nothing but refresh is refused."""
    for setting in ("dram.rcd=1000000", "clocks.dram=2MHz"):
        gpusim.simulate(vecadd(gpusim), "--set", setting).require_code(1).require_error(
            "dram.refi = 3900 ns leaves no time for an access", "stands at --set")


def check_progress(gpusim: Gpusim) -> None:
    """The bar is never wider than the terminal, so that each state draws over the last; there is none with --quiet."""
    columns = 44
    ptx = vecadd(gpusim)

    def drawn(*options: str) -> str:
        return gpusim.on_terminal(columns, "--config", "tesla_v100", "--out", "none", "--param", "N=4000000", *options, ptx)

    states = [state for state in drawn().split("\r\x1b[K") if " [" in state]
    require(bool(states), "no progress on a terminal")
    wide = [state for state in states if len(state) >= columns]
    require(not wide, f"wider than {columns} columns: {wide[:1]}")
    require("\r" not in drawn("--quiet").replace("\r\n", ""), "--quiet draws a bar")


def check_unreachable(gpusim: Gpusim) -> None:
    """What stands in a folder that cannot be entered is not said to be missing: the folder is a link to itself, for root enters others."""
    loop, reason, ptx = gpusim.scratch / "loop", "Too many levels of symbolic links", vecadd(gpusim)
    loop.symlink_to("loop")
    machine = ["--config", "tesla_c1060"]
    for file, command in ((loop / "m.cfg", ["--config", loop / "m.cfg", ptx]), (loop / "a.ptx", [*machine, loop / "a.ptx"]),
                          (loop / "r.h5", ["report", loop / "r.h5", "-o", "page.html"]), (loop / "s", ["study", "show", loop / "s"]),
                          (loop / "s.toml", ["study", "plan", loop / "s.toml"]), (loop / "a.ptx", ["study", "plan", *machine, loop / "a.ptx"]),
                          (loop / "program", ["run", *machine, "--", loop / "program"]), (loop / "h", ["correlate", "--hardware", loop / "h"]),
                          (loop / "regress" / "suites" / "quick.toml", ["regress", "--suite", "quick", "--root", loop])):
        gpusim.run(*command).require_code(1).require_error(f"{file}: error: ", f"cannot open: {reason}")
    gpusim.run("study", "plan", *machine, "--axis", "lsu.queue=1,2", "--launch", loop / "l.toml", ptx).require_code(1).require_error(
        f"'{loop}/l.toml' cannot be opened: {reason}")
    extends = gpusim.scratch / "extends.cfg"
    extends.write_text(f'extends = "{loop}/base.cfg"\n')
    gpusim.run("--config", extends, ptx).require_code(1).require_error("extends.cfg:1:11: error: cannot extend", reason)
    path = {"GPUSIM_CONFIG_PATH": str(loop)}
    gpusim.run("config", "show", "tesla", environment=path).require_code(1).require_error(
        f"no machine configuration 'tesla', and {loop} cannot be opened: {reason}")
    listed = gpusim.run("config", "list", environment=path).require_code(0)
    listed.require_error(f"{loop}: warning: cannot open: {reason}")
    require("tesla_c1060" in listed.out, listed.out)
    gpusim.run("config", "list", environment={"GPUSIM_DATA": str(loop)}).require_code(1).require_error(f"{loop}: error: cannot open: {reason}")
    # No path can be made absolute in a folder that is no longer there.
    gone = gpusim.scratch / "gone"
    gone.mkdir()
    left = subprocess.run(["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", str(gpusim.program), *machine, str(ptx)], cwd=gone, capture_output=True,
                          text=True, check=False)
    require_equal("exit code", left.returncode, 1)
    require("vecadd.h5: error: No such file or directory" in left.stderr, left.stderr)


def check_terminal(gpusim: Gpusim) -> None:
    """What a file that others have written says in a message is nothing that a terminal obeys."""
    study, launch, machine = gpusim.scratch / "s.toml", gpusim.scratch / "l.toml", gpusim.scratch / "m.cfg"
    study.write_text('[study]\nobjective = "\\u001b[31m\\u009b2J"\nmachines = ["tesla_c1060"]\n[[workload]]\n'
                     f'ptx = "{vecadd(gpusim)}"\n[[axis]]\nof = "lsu.queue"\nvalues = [1, 2]\n')
    launch.write_text('[params]\n"\\u001b[2J" = 3\n')
    machine.write_text('[l1]\n"\\u0007\\u001b]0;x" = 3\n')
    for command, shown in ((["study", "plan", study], "'?[31m?2J'"), (["--config", "tesla_c1060", "--launch", launch, vecadd(gpusim)], "'?[2J'"),
                           (["config", "show", machine], "'??]0;x'")):
        run = gpusim.run(*command).require_code(1).require_error(shown)
        require(all(c == "\n" or c.isprintable() for c in run.err), repr(run.err))
    # The reasons of points that are refused stand in the output.
    launch.write_text(vecadd(gpusim).with_suffix(".toml").read_text().replace('count = "N"', 'count = "N + \\u001b[31mM"'))
    plan = gpusim.run("study", "plan", "--config", "tesla_c1060", "--axis", "lsu.queue=1,2", "--launch", launch, vecadd(gpusim)).require_code(1)
    require("found '?'" in plan.out and "\u001b" not in plan.out, repr(plan.out))


INPUT_CHECKS: dict[str, Check] = {
    "input": check_input,
    "limits": check_limits,
    "machine": check_machine,
    "unreachable": check_unreachable,
    "terminal": check_terminal,
    "no_launch": check_no_launch,
    "wrong_result": check_wrong_result,
    "clocks": check_clocks,
    "microbench": check_microbench,
    "textures": check_textures,
    "occupancy": check_occupancy,
    "config": check_config,
    "endless_inputs": check_endless_inputs,
    "many_kernels": check_many_kernels,
    "empty_values": check_empty_values,
    "large_variable": check_large_variable,
    "refresh": check_refresh,
    "progress": check_progress,
}


def error_checks(source: Path) -> dict[str, Check]:
    """"input", "outputs", "failing/endless", "bad/syntax", ..."""
    return INPUT_CHECKS | OUTPUT_CHECKS | failing_checks(source)
