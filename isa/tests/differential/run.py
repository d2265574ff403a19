"""Programs as one PTX module and launch file, their run, and what comes out other than expected."""
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import model
from choose import TARGETS

SOURCE = Path(__file__).resolve().parents[3]
_SCHEDULE = ["--lowering", "schedule", "--set", "gpu.compute_capability=7.5"]
RUNS = {"none": ["--functional", "--lowering", "none"], "clean": ["--functional", "--lowering", "clean"],
        "schedule": ["--functional", *_SCHEDULE], "timed": ["--out", "none"]}
LIMIT_S = 300


class Refused(Exception):
    """gpusim did not run the module."""


class Difference(NamedTuple):
    run: str
    lane: int
    register: str
    expected: str
    found: str


def kernel(name, program, in_offset, out_offset):
    body = [item.text() for item in program.items]
    declared = {16: [], 32: [], 64: [], 1: []}
    for register, width in program.widths.items():
        declared[width].append(register)
    for width in (16, 32, 64):
        declared[width] += [f"%m{width}_{i}" for i in range(5)]
    lines = [f".visible .entry {name}(.param .u64 in, .param .u64 out, .param .u64 scratch)", "{",
             "  .reg .b64 %in, %out, %sh, %lo, %gl, %at, %pr, %lane; .reg .b32 %tid_;",
             f"  .shared .align 8 .b8 {name}_cells[{model.LANES * model.CELL_BYTES}];",
             f"  .local .align 8 .b8 {name}_own[{model.CELL_BYTES}];"]
    lines += [f"  .reg .{'pred' if w == 1 else 'b%d' % w} {', '.join(names)};" for w, names in declared.items() if names]
    lines += ["  mov.u32 %tid_, %tid.x;", "  mul.wide.u32 %lane, %tid_, 8;",
              f"  ld.param.u64 %in, [in]; add.u64 %in, %in, %lane; add.u64 %in, %in, {in_offset};",
              f"  ld.param.u64 %out, [out]; add.u64 %out, %out, %lane; add.u64 %out, %out, {out_offset};",
              f"  add.u64 %pr, %out, {len(program.widths) * model.LANES * 8};",
              "  ld.param.u64 %gl, [scratch]; mul.wide.u32 %lane, %tid_, 128; add.u64 %gl, %gl, %lane;",
              f"  mov.u64 %sh, {name}_cells; mul.wide.u32 %lane, %tid_, {model.CELL_BYTES}; add.u64 %sh, %sh, %lane;",
              f"  mov.u64 %lo, {name}_own;"]
    text = "\n  ".join(body)
    for space, address in model.SPACES.items():
        if f"{address}+" in text or f" {address}," in text:
            lines += [f"  st.{space}.u64 [{address}+{i}], 0;" for i in range(0, model.CELL_BYTES, 8)]
    if any(word in text for word in (".cc.", "addc.", "subc.", "madc.")):
        lines.append("  add.cc.u32 %tid_, 0, 0;")
    for i, (register, width) in enumerate(program.widths.items()):
        at = f"[%in+{i * model.LANES * 8}]"
        lines.append(f"  ld.global.u32 %tid_, {at}; setp.ne.u32 {register}, %tid_, 0;" if width == 1 else
                     f"  ld.global.b{width} {register}, {at};")
    lines.append("  " + text)
    for i, (register, width) in enumerate(program.widths.items()):
        at = f"[%out+{i * model.LANES * 8}]"
        lines.append(f"  selp.u32 %tid_, 1, 0, {register}; st.global.u32 {at}, %tid_;" if width == 1 else
                     f"  st.global.b{width} {at}, {register};")
    return "\n".join(lines + ["  ret;", "}", ""])


def size_of(program):
    return len(program.results()) * model.LANES * 8


def render(programs, target):
    text, offset = f".version {TARGETS[target]}\n.target {target}\n.address_size 64\n", 0
    for i, program in enumerate(programs):
        text += kernel(f"k{i}", program, offset, offset)
        offset += size_of(program)
    return text


def launch_file(programs):
    total = sum(map(size_of, programs)) // 8
    text = (f'[[buffer]]\nname = "in"\ntype = "u64"\ncount = {total}\ninit = "file:in.bin"\n'
            f'[[buffer]]\nname = "out"\ntype = "u64"\ncount = {total}\n'
            '[[buffer]]\nname = "scratch"\ntype = "u64"\ncount = 512\n')
    for i, program in enumerate(programs):
        text += (f'[[launch]]\nkernel = "k{i}"\ngrid = 1\nblock = {model.LANES}\nargs = ["in", "out", "scratch"]\n'
                 f"registers = {program.registers}\n")
    return text


class Runner:
    def __init__(self, gpusim, machine, folder):
        self.gpusim, self.folder = gpusim, folder
        self.machine = ["--config", SOURCE / "configs" / machine.split()[0], *machine.split()[1:]]

    def run(self, programs, target, options):
        """Per program the values by register. Files: one module, one launch file, the inputs."""
        folder = self.folder
        (folder / "m.ptx").write_text(render(programs, target))
        (folder / "m.toml").write_text(launch_file(programs))
        zero = [0] * model.LANES
        words = [v for p in programs for name in p.results() for v in p.inputs.get(name, zero)]
        (folder / "in.bin").write_bytes(struct.pack(f"<{len(words)}Q", *words))
        command = [self.gpusim, *self.machine, *options, "--quiet", "--dump", "out=out.npy", "m.ptx"]
        done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=LIMIT_S,
                              check=False, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise Refused(f"exit code {done.returncode}\n{done.stderr[:3000]}")
        return self.results(programs)

    def results(self, programs):
        data = (self.folder / "out.npy").read_bytes()
        at = 10 + int.from_bytes(data[8:10], "little")
        found = []
        for program in programs:
            values = {}
            for name in program.results():
                values[name] = struct.unpack_from(f"<{model.LANES}Q", data, at)
                at += model.LANES * 8
            found.append(values)
        return found


def differences(runner, target, programs):
    """Per program a list of Difference: from the reference, and where that is unknown from the first run."""
    found = {name: runner.run(programs, target, options) for name, options in RUNS.items()}
    return [compare(program, {name: values[i] for name, values in found.items()}) for i, program in enumerate(programs)]


def compare(program, found):
    expected, first = program.expected(), found[next(iter(RUNS))]
    result = []
    for name, registers in found.items():
        for register, values in registers.items():
            for lane, value in enumerate(values):
                want = expected[register][lane]
                want = first[register][lane] if want is model.UNKNOWN else want
                if value != want:
                    result.append(Difference(name, lane, register, f"{want:x}", f"{value:x}"))
    return result
