"""`gpusim compare` and `gpusim explain --source`: sums that are exact, results that are the same or not, damaged files."""

import csv
import random
from fractions import Fraction
from pathlib import Path
from typing import Any, Callable

from cases import CASES
from on_demand import h5py
from runner import Gpusim, params, require, require_equal

# The same kernels on machines with other numbers of SMs, schedulers and cycles of an issue slot.
MACHINES = ("tesla_c1060", "gtx480", "tesla_v100")
CASE_NAMES = ("matmul_tiled_16x16", "spmv_vector", "histogram", "reduction", "transpose_naive")


def record(gpusim: Gpusim, case: str, machine: str, name: str, *options: str | Path) -> Path:
    out = gpusim.scratch / name
    chosen = CASES[case]
    gpusim.run("--config", gpusim.source / "configs" / f"{machine}.cfg", chosen.ptx(gpusim.source),
               *chosen.launch_options(gpusim.source), *params(chosen.small), "--quiet", "--force", "--out", out,
               *options).require_code(0)
    return out


def compare(gpusim: Gpusim, a: Path, b: Path, *options: str | Path) -> dict[str, Any]:
    return gpusim.run("compare", a, b, "--json", *options).require_code(0).json()


def require_exact(report: dict[str, Any]) -> None:
    """Terms over the common denominator add up to the difference in cycles, exactly."""
    denominator = report["denominator"]
    for kernel in report["kernels"]:
        change = (kernel["b"]["cycles"] - kernel["a"]["cycles"]) * denominator
        require_equal("change", kernel["change_numerator"], change)
        require_equal("sum of causes", sum(c["change_numerator"] for c in kernel["causes"]), change)
        nowhere = kernel["nowhere"]["change_numerator"]
        for lines in ("statements", "lines"):
            if not kernel[lines]:
                continue
            require_equal(f"sum of {lines}", sum(line["change_numerator"] for line in kernel[lines]) + nowhere, change)
            for line in kernel[lines]:
                require_equal("causes of a line", sum(c["change_numerator"] for c in line["causes"]), line["change_numerator"])


def require_definition(report: dict[str, Any], files: tuple[Path, Path]) -> None:
    """A term is slots x issue cycles / (schedulers x SMs) of its own machine, computed here from the file."""
    for side, path in zip("ab", files):
        with h5py.File(path) as file:
            config = file["inputs/config"][()].decode()
            keys = dict(line.split(" = ", 1) for line in config.split("[scheduler]")[1].split("[")[0].strip().split("\n"))
            for kernel in report["kernels"]:
                group = file[f"kernels/{kernel[side]['kernel']}"]
                slot = Fraction(int(keys["issue_cycles"]), int(keys["count"]) * int(keys["issue_width"]) * len(group["per_sm"]))
                slots = {row["cause"].decode(): int(row["slots"]) for row in group["issue_slots"][:]}
                for cause in kernel["causes"]:
                    require_equal(f"slots of {cause['cause']}", cause[f"slots_{side}"], slots.get(cause["cause"], 0))
                    expected = float(cause[f"slots_{side}"] * slot)
                    require(abs(cause[f"cycles_{side}"] - expected) <= 1e-9 * max(1, expected),
                            f"cycles of {cause['cause']} in {side}: {cause[f'cycles_{side}']}, expected {expected}")


def require_columns_add_up(text: str) -> None:
    """What people read adds up too: whole cycles."""
    rows = [line.split() for line in text.split("\n")]
    sums = [0, 0, 0]
    tables = 0
    for words in rows:
        if words[:3] == ["cycles", "by", "cause"]:
            sums = [0, 0, 0]
        elif len(words) >= 4 and words[1].lstrip("-").isdigit() and words[2].lstrip("-").isdigit() and words[3][0] in "+-":
            values = [int(w) for w in words[1:4]]
            if words[0] == "total":
                require_equal("total of a printed table", sums, values)
                tables += 1
            else:
                sums = [s + v for s, v in zip(sums, values)]
    require(tables > 0, f"no table in:\n{text[:2000]}")


def check_exact(gpusim: Gpusim) -> None:
    for case in CASE_NAMES:
        files = [record(gpusim, case, machine, f"{case}_{machine}.h5") for machine in MACHINES]
        for a, b in ((files[0], files[2]), (files[1], files[2]), (files[2], files[0])):
            report = compare(gpusim, a, b)
            require_exact(report)
            require_definition(report, (a, b))
            require_columns_add_up(gpusim.run("compare", a, b).require_code(0).out)
    half = record(gpusim, "spmv_vector", "tesla_c1060", "half.h5", "--sms", "7")
    report = compare(gpusim, gpusim.scratch / "spmv_vector_tesla_c1060.h5", half)
    require_exact(report)
    require_equal("results", report["results"], "same")
    require_equal("keys", report["keys"], [])
    rows = list(csv.DictReader((write_csv(gpusim, gpusim.scratch / "spmv_vector_tesla_c1060.h5", half)).open()))
    require_equal("sum of the CSV", sum(int(row["change_numerator"]) for row in rows),
                  sum(k["change_numerator"] for k in report["kernels"]))


def write_csv(gpusim: Gpusim, a: Path, b: Path) -> Path:
    out = gpusim.scratch / "terms.csv"
    gpusim.run("compare", a, b, "--csv", out).require_code(0)
    return out


def check_results(gpusim: Gpusim) -> None:
    """Fingerprints: equal for equal values whatever the machine, others for others; keys that differ; kernels without a partner."""
    one = record(gpusim, "reduction", "tesla_c1060", "one.h5")
    same = compare(gpusim, one, record(gpusim, "reduction", "gtx480", "same.h5"))
    require_equal("results", same["results"], "same")
    changed = compare(gpusim, one, record(gpusim, "reduction", "tesla_c1060", "changed.h5", "--set", "scheduler.policy=gto"))
    require_equal("keys", [(k["key"], k["b"]) for k in changed["keys"]], [("scheduler.policy", '"gto"')])
    require_equal("results", changed["results"], "same")
    other = compare(gpusim, one, record(gpusim, "reduction", "tesla_c1060", "other.h5", "--seed", "1"))
    require_equal("results", other["results"], "different")
    require(bool(other["different_buffers"]), "no buffer is named")
    text = gpusim.run("compare", one, gpusim.scratch / "other.h5").require_code(0).out
    require(f"--dump {other['different_buffers'][0]}=a.npy" in text, "nothing says how to learn by how much they differ")
    require(" bytes in a" not in text, text)
    longer = record(gpusim, "reduction", "tesla_c1060", "longer.h5", "--param", "N=70000")
    text = gpusim.run("compare", one, longer).require_code(0).out
    require(" bytes in a, " in text, text)
    alone = compare(gpusim, one, record(gpusim, "transpose_naive", "tesla_c1060", "alone.h5"))
    require_equal("kernels", alone["kernels"], [])
    require(len(alone["only_a"]) > 0 and len(alone["only_b"]) > 0, "kernels without a partner are not named")
    cycles = [sum(k["cycles"] for k in alone[f"only_{side}"]) for side in "ab"]
    require_equal("change of the total", alone["change_numerator"], (cycles[1] - cycles[0]) * alone["denominator"])
    whole = one.read_bytes()
    broken = gpusim.scratch / "broken.h5"
    generator = random.Random(4)
    for size in (0, 100, len(whole) // 2):
        broken.write_bytes(whole[:size])
        for files in ((broken, one), (one, broken)):
            gpusim.run("compare", *files).require_code(1).require_error("broken.h5")
    for _ in range(15):
        damaged = bytearray(whole)
        for _ in range(generator.choice((1, 4, 64))):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        broken.write_bytes(damaged)
        done = gpusim.run("compare", broken, one)
        require(done.code in (0, 1) and (done.code == 0) == (done.err == ""), done.describe())


SOURCE_PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry _Z5scalePfS_i(.param .u64 a, .param .u64 b, .param .u32 n) {
  .reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .f32 %f<4>; .reg .pred %p<2>;
  .loc 1 3 3
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.s32 %r4, %r2, %r3, %r1;
  .loc 1 4 3
  mul.wide.s32 %rd3, %r4, 4;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd5];
  .loc 2 7 10, function_name $L__info_string0, inlined_at 1 5 12
  mul.f32 %f2, %f1, %f1;
  .loc 1 6 3
  st.global.f32 [%rd4], %f2;
  ret;
}
.file 1 "/somewhere/scale.cu"
.file 2 "/somewhere/helper.h"
.section .debug_str { $L__info_string0: .b8 0 }
"""
SOURCE_CU = """// scales
__global__ void scale(float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = b[i];
  float y = square(x);
  a[i] = y;
}
"""


def check_source(gpusim: Gpusim) -> None:
    """Counts by line: bytes and sectors as the addresses have them; inlined code at its call; names in every form."""
    ptx, out = gpusim.scratch / "scale.ptx", gpusim.scratch / "scale.h5"
    ptx.write_text(SOURCE_PTX)
    gpusim.run("--config", gpusim.source / "configs" / "tesla_v100.cfg", ptx, "--grid", "4", "--block", "128", "--arg", "f32[512]",
               "--arg", "f32[512]=uniform(0,1)", "--arg", "512", "--kernel", "scale", "--out", out, "--quiet").require_code(0)
    for name in ("scale", "_Z5scalePfS_i", "scale(float*, float*, int)", "0"):
        kernel, = gpusim.run("explain", out, "--source", "--json", "--kernel", name).require_code(0).json()["kernels"]
    require_equal("demangled", kernel["demangled"], "scale(float*, float*, int)")
    lines = {(Path(line["file"]).name, line["line"]): line for line in kernel["lines"]}
    require_equal("files", {file for file, _ in lines}, {"scale.cu"})
    require(("scale.cu", 5) in lines, f"the inlined line is not at its call: {sorted(lines)}")
    load, store = lines["scale.cu", 4], lines["scale.cu", 6]
    for line in (load, store):
        require_equal("bytes asked, moved, sectors and requests",
                      [line[k] for k in ("asked_bytes", "moved_bytes", "sectors", "requests")], [2048, 2048, 64, 16])
    require_equal("slots", sum(line["slots"] for line in kernel["lines"]) + kernel["slots_nowhere"], kernel["slots"])
    require_equal("slots of statements", sum(s["slots"] for s in kernel["statements"]) + kernel["slots_nowhere"], kernel["slots"])
    text = gpusim.run("explain", out, "--source").require_code(0).out
    require("text not found" in text and "float x = b[i];" not in text, text[:1500])
    folder = gpusim.scratch / "source"
    folder.mkdir()
    (folder / "scale.cu").write_text(SOURCE_CU)
    text = gpusim.run("explain", out, "--source", "--source-path", folder).require_code(0).out
    require("float x = b[i];" in text and "float y = square(x);" in text, text[:1500])
    require("scale(float*, float*, int)" in text, text[:300])
    for command in ("metrics", "explain"):
        require("kernel 0 scale(float*, float*, int)" in gpusim.run(command, out).require_code(0).out, command)
    gpusim.run("explain", out, "--kernel", "scal").require_code(1).require_error("did you mean 'scale'")
    gpusim.run("explain", out, "--source-path", folder).require_code(1)


def check_groups(gpusim: Gpusim) -> None:
    """Launches of one kernel are one group; the kernels with the most time come first."""
    out = record(gpusim, "bfs", "tesla_v100", "bfs.h5")
    every = gpusim.run("explain", out, "--json").require_code(0).json()["kernels"]
    text = gpusim.run("explain", out).require_code(0).out
    grouped = [line for line in text.split("\n") if " launches of " in line]
    names = {(k["name"], k["grid"], k["block"]) for k in every}
    require(len(every) > len(names), "no kernel of the case is launched twice")
    shown = [line for line in text.split("\n") if line.startswith("kernel ")]
    require_equal("kernels shown", len(shown), len(names))
    cycles = {}
    for kernel in every:
        cycles.setdefault((kernel["name"], kernel["grid"], kernel["block"]), []).append(kernel["cycles"])
    order = sorted(cycles, key=lambda name: -sum(cycles[name]))
    require_equal("order", [line.split()[2] for line in shown], [name[0] for name in order])
    require(bool(grouped) and grouped[0].startswith(f"{len(cycles[order[0]])} launches of {order[0][0]}"), f"{grouped}")
    longest = max((k for k in every if (k["name"], k["grid"], k["block"]) == order[0]), key=lambda k: k["cycles"])
    require(shown[0].startswith(f"kernel {longest['kernel']} "), shown[0])
    with_all = gpusim.run("explain", out, "--all").require_code(0).out
    require_equal("kernels of --all", sum(line.startswith("kernel ") for line in with_all.split("\n")), len(every))


def check_samples(gpusim: Gpusim) -> None:
    """Rows of the time series add up to the kernel whatever their interval, which changes no cycle."""
    files = {"default": record(gpusim, "matmul_tiled_16x16", "tesla_v100", "default.h5")}
    with h5py.File(files["default"]) as file:
        whole = int(file["kernels/0"].attrs["cycles"])
    for name, interval in {"fine": 100, "whole": whole, "coarse": 100000}.items():
        files[name] = record(gpusim, "matmul_tiled_16x16", "tesla_v100", f"{name}.h5", "--sample", str(interval))
    seen = set()
    for name, path in files.items():
        with h5py.File(path) as file:
            group = file["kernels/0"]
            rows, cycles = group["timeseries"][:], int(group.attrs["cycles"])
            seen.add(cycles)
            require_equal("end of the last row", int(rows["cycle"][-1]), cycles)
            require(bool((rows["cycle"][1:] > rows["cycle"][:-1]).all()), "rows are not in order")
            for row in group["issue_slots"][:]:
                cause = row["cause"].decode()
                require_equal(f"slots of {cause}", int(rows[f"slots_{cause}"].sum()), int(row["slots"]))
            counters = {row["name"].decode(): row["value"] for row in group["counters"][:]}
            for column in ("inst_issued", "warp_instructions", "dram_read_bytes", "noc_request_flits", "l2_read_sectors"):
                require_equal(column, int(rows[column].sum()), counters[column])
            require_equal("rows of SMs are there", "timeseries_sm" in group, name != "default")
            if name == "default":
                require(50 <= len(rows) <= 128, f"{len(rows)} rows")
            elif name == "fine":
                require_equal("rows", len(rows), -(-cycles // 100))
                sms = group["timeseries_sm"][:]
                per_sm = group["per_sm"][:]
                for sm in range(len(per_sm)):
                    require_equal(f"issued by SM {sm}", int(sms["inst_issued"][sms["sm"] == sm].sum()), int(per_sm["inst_issued"][sm]))
            else:
                require_equal("rows", len(rows), 1)
    require_equal("cycles of all", len(seen), 1)
    gpusim.run("--config", "x", "y", "--sample", "0").require_code(1)


def check_keys(gpusim: Gpusim) -> None:
    """`config diff` of two recorded files, of a file and a machine; `config explain` of a key, with what the files say."""
    plain = record(gpusim, "reduction", "gtx480", "a.h5")
    changed = record(gpusim, "reduction", "gtx480", "b.h5", "--set", "l1.mshrs=128", "--set", "dram.banks=8")

    def rows(*machines: str | Path) -> list[list[str]]:
        return [line.split() for line in gpusim.run("config", "diff", *machines).require_code(0).out.splitlines()]

    expected = [["dram.banks", "16", "8"], ["l1.mshrs", "64", "128"]]
    require_equal("keys that differ", [r for r in rows(plain, changed) if r[0] != "gpu.name"], expected)
    require_equal("the other way round", rows(changed, plain), [[key, b, a] for key, a, b in rows(plain, changed)])
    require_equal("the same file", rows(plain, plain), [])
    require_equal("the machine that ran", rows(plain, gpusim.source / "configs" / "gtx480.cfg"), [])
    (gpusim.scratch / "bad.h5").write_bytes(plain.read_bytes()[:1000])
    gpusim.run("config", "diff", plain, "bad.h5").require_code(1).require_error("bad.h5")

    text = gpusim.run("config", "explain", "l1.mshrs").require_code(0).out
    lines = {words[0]: " ".join(words[1:]) for words in (line.split() for line in text.splitlines()) if words}
    source = (gpusim.source / "configs" / "tesla_v100.cfg").read_text().splitlines()
    number = next(i for i, line in enumerate(source, 1) if i > source.index("[l1]") and line.startswith("mshrs"))
    value, comment = source[number - 1].split("=")[1].split("#")
    require_equal("tesla_v100", lines["tesla_v100"], f"{value.strip()} tesla_v100.cfg:{number}: {comment.strip()}")
    require_equal("gtx470, which extends gtx480", lines["gtx470"], lines["gtx480"])
    require(lines["tesla_c1060"].endswith("default"), text)
    require("lsu.mshrs" in text and "lines on their way" in text, text)
    require(max(map(len, text.splitlines())) <= 200, text)
    gpusim.run("config", "explain", "l1.mshr").require_code(1).require_error("did you mean 'mshrs'?")


CHECKS: dict[str, Callable[[Gpusim], None]] = {
    "exact": check_exact, "results": check_results, "source": check_source, "groups": check_groups, "samples": check_samples,
    "keys": check_keys}
