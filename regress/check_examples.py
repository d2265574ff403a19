"""Programs that use gpusim as a library, built against what `cmake --install` gives (docs/installing.md)."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from runner import Gpusim, NoCompiler, Run, require, require_equal

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def command(*words: object, limit_s: float = 110) -> Run:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=limit_s)
    return Run(" ".join(map(str, words)), done.returncode, done.stdout, done.stderr)


def build_settings(gpusim: Gpusim) -> dict[str, str]:
    """Of the build under test: an example has to be compiled as its libraries are."""
    cache = gpusim.program.parent.parent / "CMakeCache.txt"
    entry = re.compile(r"^(\w+):\w+=(.*)$", re.MULTILINE)
    return dict(entry.findall(cache.read_text()))


def install(gpusim: Gpusim) -> Path:
    """The prefix with all of gpusim, moved from where it was installed."""
    for tool in ("cmake", "pkg-config"):
        if shutil.which(tool) is None:
            raise NoCompiler(f"there is no {tool}")
    compiler = build_settings(gpusim)["CMAKE_CXX_COMPILER"]
    if shutil.which(compiler) is None:
        raise NoCompiler(f"there is no {compiler}")
    if build_settings(gpusim).get("GPUSIM_DEVELOPMENT") == "OFF":
        raise NoCompiler("GPUSIM_DEVELOPMENT is off in this build")
    prefix = gpusim.scratch / "prefix"
    for component in ("program", "development"):
        command("cmake", "--install", gpusim.program.parent.parent, "--prefix", prefix, "--component", component).require_code(0)
    return prefix.rename(gpusim.scratch / "moved")


def configure(gpusim: Gpusim, source: Path, build: Path, prefix: Path, optimisation: str = "-O1") -> Run:
    """As the build under test is, but compiled sooner: what is compiled here runs for milliseconds."""
    settings = build_settings(gpusim)
    kind = settings["CMAKE_BUILD_TYPE"]
    flags = settings.get(f"CMAKE_CXX_FLAGS_{kind.upper()}", "").replace("-O3", optimisation)
    # The tools of gpusim's own build are there; cmake's default, make, may not be.
    return command("cmake", "-S", source, "-B", build, "-G", settings["CMAKE_GENERATOR"], f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_BUILD_TYPE={kind}",
                   f"-DCMAKE_CXX_COMPILER={settings['CMAKE_CXX_COMPILER']}", f"-DCMAKE_CXX_FLAGS_{kind.upper()}={flags}",
                   "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")


def build_example(gpusim: Gpusim, name: str, main: str = "main") -> tuple[Gpusim, Path]:
    """The example's program, which is run in a folder of its own and begins with `main`; share/gpusim."""
    prefix = install(gpusim)
    # A copy, so that nothing beside it in the source tree is found.
    source = gpusim.scratch / name
    shutil.copytree(gpusim.source / "examples" / name, source)
    text = (source / "main.cpp").read_text()
    require("\nint main(" in text, f"{name} has no main()")
    (source / "main.cpp").write_text(text.replace("\nint main(", f"\nint {main}("))
    build = gpusim.scratch / "build"
    configure(gpusim, source, build, prefix).require_code(0)
    command("cmake", "--build", build).require_code(0)
    return replace(gpusim, program=build / name), prefix / "share" / "gpusim"


def cycles(run: Run, name: str) -> int:
    found = re.search(rf"^{re.escape(name)}.*: (\d+) core cycles", run.out, re.MULTILINE)
    require(found is not None, f"no cycles of {name}\n{run.describe()}")
    assert found is not None
    return int(found[1])


def require_in_page(gpusim: Gpusim, name: str, run: Run) -> None:
    """The example's page shows what it prints."""
    page = (gpusim.source / "examples" / name / "README.md").read_text()
    for line in (run.out + run.err).splitlines():
        require(f"    {line}\n" in page, f"examples/{name}/README.md lacks the line '{line}'")


def check_outside_memory(gpusim: Gpusim) -> None:
    """Results stay right with an outside memory, and the longer it takes the longer the kernel takes."""
    example, data = build_example(gpusim, "outside_memory")
    workload = data / "workloads" / "vecadd" / "vecadd.ptx"
    own = example.run(workload).require_code(0)
    stock = gpusim.run("--config", "tesla_c1060", workload, "--json", "--out", "none").require_code(0).json()
    require_equal("cycles with the machine's DRAM", cycles(own, "DRAM of tesla_c1060"), sum(k["cycles"] for k in stock["kernels"]))
    runs = [example.run(workload, "--outside", str(latency)).require_code(0) for latency in (100, 400, 1000)]
    for run in runs:
        require("1 results as expected" in run.out and "8 channels" in run.out, run.describe())
    taken = [cycles(run, "outside memory") for run in runs]
    require(taken[0] < taken[1] < taken[2], f"cycles by latency: {taken}")
    require_equal("a second run", example.run(workload, "--outside", "100").out, runs[0].out)
    for run in (own, runs[0], runs[2]):
        require_in_page(gpusim, "outside_memory", run)
    other = example.run(workload, "--machine", "gtx480", "--outside", "200").require_code(0)
    require("results as expected" in other.out, other.describe())
    # A wrong expectation is noticed, so a right one means something.
    wrong = gpusim.scratch / "wrong"
    shutil.copytree(workload.parent, wrong)
    launch = wrong / "vecadd.toml"
    text = launch.read_text()
    require("vecadd(A, B)" in text, "the launch file of vecadd has changed")
    launch.write_text(text.replace("vecadd(A, B)", "vecadd(A, A)"))
    example.run(wrong / "vecadd.ptx", "--outside", "200").require_code(1).require_error("error:")
    example.run(workload, "--machine", "tesla_c106").require_code(1).require_error("did you mean 'tesla_c1060'?")
    example.run(workload, "--outside", "0").require_code(2).require_error("usage:")


def check_sc_main(gpusim: Gpusim) -> None:
    """A program may begin with sc_main(), as those of SystemC do: the main() is then SystemC's."""
    example, data = build_example(gpusim, "outside_memory", "sc_main")
    run = example.run(data / "workloads" / "vecadd" / "vecadd.ptx", "--outside", "100").require_code(0)
    require("1 results as expected" in run.out, run.describe())


def check_scheduler_policy(gpusim: Gpusim) -> None:
    """A policy of the example's own issues, its keys change cycles, and mistakes in them are told as for any key."""
    example, data = build_example(gpusim, "scheduler_policy")
    workload = data / "workloads" / "reduction" / "reduction.ptx"
    first = example.run(workload).require_code(0)
    require_in_page(gpusim, "scheduler_policy", first)
    gto, burst = cycles(first, "gto"), cycles(first, "burst")
    require(gto != burst, f"the policy makes no difference: {first.out}")
    require_equal("a second run", example.run(workload).require_code(0).out, first.out)
    stock = gpusim.run("--config", "tesla_c1060", workload, "--set", "scheduler.policy=gto", "--json", "--out", "none")
    require_equal("cycles of gto", gto, sum(k["cycles"] for k in stock.require_code(0).json()["kernels"]))
    # A burst of one operation is round-robin, which gpusim has too.
    alone = cycles(example.run(workload, "--set", "scheduler.burst_length=1").require_code(0), "burst")
    stock = gpusim.run("--config", "tesla_c1060", workload, "--set", "scheduler.policy=lrr", "--json", "--out", "none")
    require_equal("cycles of bursts of one operation", alone, sum(k["cycles"] for k in stock.require_code(0).json()["kernels"]))
    require(alone != burst, "burst_length makes no difference")
    # By a configuration file.
    own = gpusim.scratch / "own.cfg"
    own.write_text('extends = "tesla_c1060.cfg"\n[scheduler]\nburst_length = 1\n')
    require_equal("cycles by a file", cycles(example.run(workload, "--machine", own).require_code(0), "burst"), alone)
    own.write_text('extends = "tesla_c1060.cfg"\n[scheduler]\nburst_length = 1025\n')
    example.run(workload, "--machine", own).require_code(1).require_error("own.cfg:3:16: error: scheduler.burst_length = 1025")
    for key, texts in {"burst_length=0": ("is out of range", "valid: 1 to 1024 operations"),
                       "burst_length=many": ("is not an integer",),
                       "burst_lenght=2": ("unknown key 'burst_lenght' in [scheduler]", "did you mean 'burst_length'?"),
                       "burst_oldest=2": ("is out of range",)}.items():
        example.run(workload, "--set", f"scheduler.{key}").require_code(1).require_error(*texts)
    require_in_page(gpusim, "scheduler_policy", example.run(workload, "--set", "scheduler.burst_lenght=8"))
    described = example.run("--describe").require_code(0).out
    require("burst" in described and "scheduler.burst_length" in described, described)
    # What this program does not have is unknown to it.
    gpusim.run("--config", "tesla_c1060", workload, "--set", "scheduler.policy=burst").require_code(1).require_error("burst")


def check_embedded_gpu(gpusim: Gpusim) -> None:
    """A program with a simulated GPU in it, by one header and the shared library: right values, streams that overlap."""
    example, data = build_example(gpusim, "embedded_gpu")
    if not list(data.parent.parent.rglob("libgpusim.so")):
        raise NoCompiler("the runtime libraries are not built")
    run = example.run().require_code(0)
    require_in_page(gpusim, "embedded_gpu", run)
    found = re.search(r"one stream ([0-9.]+) us, two streams ([0-9.]+) us", run.out)
    require(found is not None, run.describe())
    assert found is not None
    require(float(found[2]) < float(found[1]), run.out)
    require_equal("a second run", example.run().out, run.out)
    require("16 launches" in example.run("gtx480").require_code(0).out, "other machine")
    example.run("tesla_v10").require_code(1).require_error("did you mean 'tesla_v100'?")


def check_headers(gpusim: Gpusim) -> None:
    """Every installed header compiles in a program that knows gpusim by its package alone."""
    prefix = install(gpusim)
    include = prefix / "include" / "gpusim"
    source = gpusim.scratch / "headers"
    source.mkdir()
    (source / "headers.cpp").write_text("".join(f'#include "{header.relative_to(include)}"\n' for header in sorted(include.rglob("*.h"))))
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(headers LANGUAGES CXX)\nfind_package(gpusim 0.2 CONFIG REQUIRED)\n"
        "add_library(headers OBJECT headers.cpp)\ntarget_link_libraries(headers PRIVATE gpusim::simulation)\n")
    configure(gpusim, source, gpusim.scratch / "build", prefix, "-O0").require_code(0)
    command("cmake", "--build", gpusim.scratch / "build").require_code(0)


def check_package(gpusim: Gpusim) -> None:
    """The package is complete, names no folder of this build, and refuses what it is not."""
    prefix = install(gpusim)
    include = prefix / "include" / "gpusim"
    headers = [path for path in include.rglob("*") if path.suffix == ".h"]
    require(len(headers) > 100, f"{len(headers)} headers")
    require((include / "gpu.h").exists(), "the header of programs that embed a GPU is missing")
    for header in headers:
        require("test" not in header.name, f"{header} belongs to the tests")
        for name in INCLUDE.findall(header.read_text()):
            require((include / name).exists(), f"{header.relative_to(include)} includes {name}, which is not installed")
    build = str(gpusim.program.parent.parent)
    for path in [*headers, *(prefix / "lib").rglob("*.cmake")]:
        text = path.read_text()
        require(build not in text and str(gpusim.source) not in text, f"{path} names the build or the source tree")
    for library in prefix.rglob("*.a"):
        sections = command("readelf", "--sections", "--wide", library).require_code(0).out
        require(".gnu.lto_" not in sections, f"{library} has code for link-time optimisation")
        require(".text" in sections or library.name == "libgpusim_occupancy.a", f"{library} has no ordinary code")
    source = gpusim.scratch / "versions"
    source.mkdir()
    # In one project: each looks for the compiler first, which takes seconds.
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(versions LANGUAGES CXX)\n"
        "foreach(version IN ITEMS 0.1 0.3 1.0)\n"
        "  find_package(gpusim ${version} CONFIG QUIET)\n"
        '  message(STATUS "${version}: found ${gpusim_FOUND}, considered ${gpusim_CONSIDERED_VERSIONS}")\n'
        "endforeach()\n"
        "find_package(gpusim 0.2 CONFIG REQUIRED)\n"
        'message(STATUS "version ${gpusim_VERSION} data ${gpusim_DATA_DIR}")\n')
    run = configure(gpusim, source, gpusim.scratch / "build_versions", prefix).require_code(0)
    for version in ("0.1", "0.3", "1.0"):
        require(f"{version}: found 0, considered 0.2." in run.out, run.describe())
    require("version 0.2." in run.out and f"data {prefix / 'share' / 'gpusim'}" in run.out, run.describe())


CHECKS = {"outside_memory": check_outside_memory, "sc_main": check_sc_main, "scheduler_policy": check_scheduler_policy, "embedded_gpu": check_embedded_gpu,
          "package": check_package, "headers": check_headers}
