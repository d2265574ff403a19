"""Every key of the schema at both ends of its range, and at every word it takes: the program runs and its results are right, or it
says which keys do not go together; beyond the range, and at a word that it does not know, it says what is valid; and some value
of every key makes a difference to what the program says. With the program of the asan-ubsan preset it also sees a table that is
too small."""

import functools
import re
from dataclasses import dataclass, field
from typing import Any, Callable

from runner import Gpusim, Run, require, require_equal

Sets = dict[str, str]

# A small machine with every part that a key can describe.
MACHINE = "gtx470"
PARTS: Sets = {
    "gpu.sms": "4", "gpu.sms_per_cluster": "2", "block_clusters.gpcs": "2", "gpu.memory": "1G", "gpu.concurrent_kernels": "4", "gpu.launch_queues": "4",
    "sm.max_blocks": "16", "sm.registers": "8192", "sm.register_alloc_unit": "256", "sm.max_registers_per_thread": "40",
    "sm.register_banks": "1", "instruction.l1_size": "256", "l2.partitions": "4", "l2.size": "64K", "l2.ways": "16", "l2.merges": "16",
    "l2.halves": "2", "texture.cache": "own", "texture.l1_size": "12K", "texture.l1_line": "128", "texture.l1_ways": "24",
    "tlb.l1_entries": "16", "tlb.l2_entries": "64", "interconnect.topology": "mesh", "dvfs.governor": "utilisation",
    "dvfs.dram_points": '""', "dram.group_interleave": "256", "dram.bank_groups": "4",
}
NO_L2: Sets = {"l2.size": "0", "l2.halves": "1"}
LONG_LINES: Sets = NO_L2 | {"l2.interleave": "4K", "constant.l2_line": "4K", "constant.l2_ways": "1", "constant.l3_line": "4K",
                            "constant.l3_ways": "1", "constant.l3_size": "16K"}
SHORT_LINES: Sets = {"constant.l1_line": "32", "constant.l2_line": "32", "constant.l3_line": "32", "texture.l1_line": "32",
                     "instruction.l1_line": "32", "l1.line": "32", "l1.sector": "32", "l1.index": "modulo", "l2.line": "32",
                     "l2.sector": "32"}
ONE_THREAD: Sets = {"sm.max_threads_per_block": "1", "sm.max_block_x": "1", "sm.max_block_y": "1"}
ONE_WARP: Sets = {"sm.max_threads_per_block": "32", "sm.max_threads": "32", "sm.max_block_x": "32", "sm.max_block_y": "32",
                  "sm.max_blocks": "1", "scheduler.count": "1"}
SELDOM_REFRESH: Sets = {"dram.refi": "10000000"}
SMALL_CONSTANT: Sets = {"constant.l1_size": "64", "constant.l1_ways": "1", "constant.l2_size": "64", "constant.l2_ways": "1"}
TEXTURE_L2: Sets = NO_L2 | {"texture.l2_size": "32K"}

# Results of arithmetic are there after a few cycles.
STALL_COUNTS: Sets = {"scheduler.dependences": "control_codes", "latency.int": "4", "latency.fp32": "4"}

# A governor decides every 20 us, also while a copy takes a week.
SLOW: Sets = {"dvfs.governor": "fixed"}
TINY_TEXTURES: Sets = TEXTURE_L2 | {"texture.l1_size": "768", "texture.l1_ways": "6", "texture.l2_size": "2K", "texture.l2_ways": "2"}

MANY_BLOCKS = ("--param", "BLOCKS=96")

# What must go with a value so that it can be tried.
FOLLOW: dict[tuple[str, str], Sets] = {
    ("host.link_rate", "1"): SLOW, ("host.link_latency", "1000000000"): SLOW, ("host.launch_interval", "1000000000"): SLOW,
    ("host.launch_gap", "1000000000"): SLOW,
    ("gpu.sms", "1"): {"gpu.sms_per_cluster": "1", "block_clusters.gpcs": "1"},
    ("gpu.sms_per_cluster", "64"): {"gpu.sms": "128"}, ("interconnect.sms_per_port", "64"): {"gpu.sms": "128", "gpu.sms_per_cluster": "64"}, ("block_clusters.gpcs", "64"): {"gpu.sms": "128"},
    ("clocks.dram", "1MHz"): {"dram.refi": "1000000"},
    ("sm.max_threads_per_block", "1"): ONE_THREAD,
    ("sm.max_warps", "1"): ONE_WARP,
    ("sm.max_warps", "64"): {"sm.max_threads": "2048", "sm.max_blocks": "64", "sm.registers": "65536"},
    ("sm.max_threads", "1"): ONE_THREAD,
    ("sm.max_threads", "2048"): {"sm.max_warps": "64"},
    ("sm.max_blocks", "64"): {"sm.max_warps": "64", "sm.registers": "65536"},
    ("sm.register_alloc_unit", "65536"): {"sm.registers": "65536"},
    ("sm.shared_alloc_unit", "64K"): {"shared.size": "64K"},
    ("instruction.l1_line", "4K"): LONG_LINES | {"instruction.l1_size": "16K"},
    ("instruction.l1_ways", "1024"): {"instruction.l1_size": "64K"},
    ("l1.size", "16M"): {"l1.index": "modulo"},
    ("l1.line", "32"): {"l1.sector": "32", "l1.index": "modulo"},
    ("l1.line", "256"): {"l2.line": "256"},
    ("l1.sector", "256"): {"l1.line": "256", "l2.line": "256"},
    ("l1.ways", "1"): {"l1.index": "modulo"},
    ("shared.carveout", "1M"): {"l1.size": "4M", "l1.ways": "32", "l1.index": "modulo"},
    ("constant.l1_size", "64"): {"constant.l1_ways": "1"},
    ("constant.l1_line", "4K"): LONG_LINES | {"constant.l1_size": "4K", "constant.l1_ways": "1"},
    ("constant.l1_ways", "1024"): {"constant.l1_size": "64K"},
    ("constant.l2_size", "64"): {"constant.l2_ways": "1"},
    ("constant.l2_line", "4"): {"constant.l1_line": "4", "instruction.l1_size": "0"},
    ("constant.l2_line", "4K"): LONG_LINES,
    ("constant.l2_ways", "1024"): {"constant.l2_size": "64K"},
    ("constant.l3_size", "64"): {"constant.l3_ways": "1", "l2.partitions": "1"},
    ("constant.l3_line", "4"): {"constant.l1_line": "4", "constant.l2_line": "4", "instruction.l1_size": "0"},
    ("constant.l3_line", "4K"): LONG_LINES,
    ("constant.l3_ways", "1024"): {"constant.l3_size": "256K"},
    ("texture.l1_size", "32"): {"texture.l1_line": "32", "texture.l1_ways": "1"},
    ("texture.l1_size", "1M"): {"texture.l1_ways": "16"},
    ("texture.l1_ways", "1024"): {"texture.l1_size": "128K"},
    ("texture.l2_line", "32"): {"texture.l1_line": "32"},
    ("texture.l2_line", "4K"): {"l2.interleave": "4K", "texture.l2_size": "128K"},
    ("texture.l2_ways", "64"): {"texture.l2_size": "64K"},
    ("interconnect.mesh_width", "1280"): {"gpu.sms": "1024", "gpu.sms_per_cluster": "1", "l2.partitions": "256", "l2.size": "1M",
                                          "constant.l3_size": "256K"},
    ("l2.partitions", "256"): {"l2.size": "1M", "constant.l3_size": "256K"},
    ("l2.interleave", "32"): SHORT_LINES,
    ("l2.size", "0"): NO_L2,
    ("l2.line", "32"): SHORT_LINES,
    ("l2.sector", "256"): {"l2.line": "256"},
    ("tlb.l1_ways", "1024"): {"tlb.l1_entries": "1024"},
    ("tlb.l2_ways", "1024"): {"tlb.l2_entries": "1024"},
    ("dram.banks", "1"): {"dram.bank_groups": "1"},
    ("dram.bank_groups", "64"): {"dram.banks": "64"},
    ("dram.group_interleave", "1M"): {"dram.row": "1M"},
    ("dram.row", "32"): {"dram.group_interleave": "0"},
    ("dram.bus", "1K"): {"dram.burst": "1K", "l2.interleave": "1K"},
    ("dram.burst", "1"): {"dram.bus": "1"},
    ("dram.burst", "4K"): {"l2.interleave": "4K", "dram.row": "4K"},
    ("dram.queue", "1"): {"dram.write_high": "1", "dram.write_low": "0"},
    ("dram.write_high", "1"): {"dram.write_low": "0"},
    ("dram.write_high", "4096"): {"dram.queue": "4096"},
    ("dram.write_low", "4095"): {"dram.write_high": "4096", "dram.queue": "4096"},
    ("dram.rcd", "1000000"): SELDOM_REFRESH, ("dram.rp", "1000000"): SELDOM_REFRESH, ("dram.rfc", "1000000"): SELDOM_REFRESH,
    ("dram.ras", "1000000"): {"dram.rc": "1000000"},
    ("dram.rc", "0"): {"dram.ras": "0"},
    ("dram.rrd", "1000000"): SELDOM_REFRESH | {"dram.rrd_l": "0"},
    ("dram.ccd", "1000000"): SELDOM_REFRESH | {"dram.ccd_l": "0"},
    ("dvfs.core_voltage", "0.1"): {"dvfs.core_threshold": "0", "dvfs.core_floor": "0"},
    ("dvfs.interconnect_voltage", "0.1"): {"dvfs.interconnect_threshold": "0", "dvfs.interconnect_floor": "0"},
    ("dvfs.dram_voltage", "0.1"): {"dvfs.dram_threshold": "0", "dvfs.dram_floor": "0"},
}
# No other key lets these be: the message names the two.
REFUSED: dict[tuple[str, str], str] = {
    ("dvfs.high", "0"): "dvfs.low", ("dvfs.low", "1"): "dvfs.high", ("dvfs.lowest", "100000MHz"): "dvfs.governor",
} | {(f"dvfs.{domain}_{what}", "10"): f"dvfs.{domain}_voltage"
     for domain in ("core", "interconnect", "dram") for what in ("threshold", "floor")}


@dataclass(frozen=True)
class Effect:
    """How a key shows: other values of it, other parts of the machine, another program, options."""

    values: tuple[str, ...] = ()
    sets: Sets = field(default_factory=dict)
    program: str = "regress/ranges/everything.ptx"
    options: tuple[str, ...] = ()


# Keys of free text that names nothing else, and those with a form of their own: no list, one that shows, and how it shows.
TEXTS = ("gpu.name", "gpu.description")
LISTS: dict[str, tuple[str, str, Effect]] = {
    "clocks.dram_follows": ("600MHz, 900MHz 800MHz", "600MHz 400MHz, 900MHz 800MHz",
                            Effect(sets={"dvfs.governor": "fixed"}, options=("--core-clock", "700MHz"))),
    "dvfs.core_points": ("600MHz 0.9, fast", "300MHz 0.8V, 900MHz 0.9V, 1215MHz 1V", Effect()),
    "dvfs.interconnect_points": ("600MHz", "300MHz 0.8V, 607MHz 1V", Effect(sets={"clocks.interconnect": "450MHz"})),
    "dvfs.dram_points": ("0.9V 600MHz", "300MHz 0.8V, 1674MHz 1.3V", Effect(sets={"clocks.dram": "900MHz"})),
}
# Of the machine as it is: what a long latency may cost in memory.
MOST_MEMORY = 2

# Read by the model, but shown by no program here: f64 matrix operations, several misses of one SM's TLB at a time, and memory of the
# host and kernels that launch others, which launch files do not have (check_programs.py).
NOT_SHOWN = ("energy.mma_fp64", "tlb.l1_misses", "host.mapped_latency", "host.mapped_requests", "gpu.child_launch")
VECADD = "workloads/vecadd/vecadd.ptx"
OWN_LINES = "workloads/micro/own_lines.ptx"
CCWS: Sets = {"scheduler.policy": "ccws"}
EFFECTS: dict[str, Effect] = {
    "gpu.name": Effect(), "gpu.description": Effect(),
    "gpu.sms_spread": Effect(options=("--sms", "2")), "gpu.kernel_dispatch": Effect(options=MANY_BLOCKS),
    "host.link_rate": Effect(sets=SLOW), "host.link_latency": Effect(sets=SLOW), "host.launch_interval": Effect(sets=SLOW),
    # Blocks of two warps of 15 registers: 8 of them fit, or 9 if the units are small or of blocks.
    "l2.replicated": Effect(sets={"l2.far_latency": "200ns"}),
    "sm.register_alloc_unit": Effect(sets={"sm.registers": "8704"}),
    "sm.register_alloc_by_block": Effect(sets={"sm.registers": "8704", "sm.register_alloc_unit": "64"}),
    "host.launch_gap": Effect(program="workloads/reduction/reduction.ptx", options=("--param", "N=20011"), sets=SLOW),
    "host.idle_power": Effect(program=VECADD, options=("--param", "N=4096")),
    "host.gpu_idle_power": Effect(program="workloads/reduction/reduction.ptx", options=("--param", "N=20011"),
                                  sets={"host.launch_interval": "1000000", "dvfs.governor": "fixed"}),
    "sm.max_threads_per_block": Effect(values=("32",), sets={"sm.max_block_x": "32", "sm.max_block_y": "32"}),
    "sm.max_threads": Effect(values=("256",), sets={"sm.max_threads_per_block": "256", "sm.max_block_x": "256", "sm.max_block_y": "256"}),
    "interconnect.request_queues": Effect(sets={"interconnect.topology": "crossbar"}),
    "l2.hash_bits": Effect(values=("1",), sets={"l2.hash": "xor"}),
    "scheduler.group": Effect(sets={"scheduler.policy": "two_level"}),
    "scheduler.ccws_victims": Effect(sets=CCWS, program=OWN_LINES),
    "scheduler.ccws_base": Effect(sets=CCWS, program=OWN_LINES),
    "scheduler.ccws_throttle": Effect(sets=CCWS, program=OWN_LINES),
    "scheduler.barriers": Effect(sets={"scheduler.dependences": "control_codes"}),
    "scheduler.share_in_turn": Effect(program=OWN_LINES),
    "scheduler.barrier_awaits_stores": Effect(program="workloads/reduction/reduction.ptx"),
    "scheduler.special_operands": Effect(program="regress/ranges/special_operands.ptx"),
    "scheduler.reconverge_operations": Effect(program="workloads/collatz/collatz.ptx", options=("--param", "N=256")),
    "sm.register_bank_reads": Effect(program="workloads/matmul/naive_8x8.ptx", options=("--param", "N=48")),
    "scheduler.guard_latency": Effect(values=("15",), sets=STALL_COUNTS, program="workloads/reduction/reduction.ptx"),
    "scheduler.memory_latency": Effect(values=("15",), sets=STALL_COUNTS),
    "scheduler.sfu_latency": Effect(values=("15",), sets=STALL_COUNTS),
    "scheduler.other_pipe_latency": Effect(values=("15",), sets=STALL_COUNTS | {"gpu.compute_capability": "7.0", "latency.int_mul": "4",
                                                                                "pipes.fp64.int_mul_wide": "4", "latency.int_mul_wide": "5"}),
    "scheduler.warp_loads": Effect(values=("1", "2")), "l1.warp_mshrs": Effect(values=("1", "2")),
    "scheduler.dependences": Effect(sets={"scheduler.barriers": "1"}),
    "coalescer.rule": Effect(sets={"l1.size": "0"}),
    "l1.line": Effect(values=("64",), sets={"l1.sector": "32", "l1.index": "modulo"}),
    "shared.carveout": Effect(values=("1K",), sets={"l1.size": "8K", "l1.ways": "8", "l1.index": "modulo", "shared.size": "4K"}),
    "shared.size": Effect(values=("1K",)),
    "sm.shared_alloc_unit": Effect(values=("16K",)),
    "constant.l1_size": Effect(values=("256",), options=MANY_BLOCKS),
    "constant.l1_ways": Effect(values=("1", "4"), sets={"constant.l1_size": "256"}, options=MANY_BLOCKS),
    "constant.l2_size": Effect(values=("256", "512")),
    "constant.l2_line": Effect(values=("32",), sets={"constant.l1_line": "32", "instruction.l1_line": "32"}),
    "constant.l2_ways": Effect(values=("1", "2"), sets={"constant.l2_size": "512"}),
    "constant.idle_loads": Effect(program="regress/ranges/idle_constants.ptx"),
    "constant.l3_size": Effect(values=("256", "512"), sets=SMALL_CONSTANT | {"constant.l3_ways": "1"}),
    "constant.l3_line": Effect(values=("128",)),
    "constant.l3_latency": Effect(sets=SMALL_CONSTANT),
    "constant.l3_ways": Effect(values=("1", "2"), sets=SMALL_CONSTANT | {"constant.l3_size": "512", "constant.l3_ways": "2"}),
    "texture.l1_size": Effect(values=("3K", "6K")),
    "texture.l1_ways": Effect(values=("1",), sets={"texture.l1_size": "3K"}),
    "texture.l2_size": Effect(sets=TEXTURE_L2), "texture.l2_line": Effect(values=("128",), sets=TINY_TEXTURES),
    "texture.l2_ways": Effect(values=("1",), sets=TINY_TEXTURES),
    "texture.l2_latency": Effect(sets=TEXTURE_L2),
    "texture.tiled": Effect(sets={"texture.l1_size": "3K"}),
    "interconnect.sms_per_port": Effect(values=("1", "2")),
    "interconnect.mesh_width": Effect(values=("1",)),
    "l2.partitions": Effect(values=("2", "8"), sets={"constant.l3_size": "256K"}),
    "l2.queue": Effect(sets=NO_L2 | {"gpu.sms": "16", "l2.partitions": "1", "dram.queue": "1", "dram.write_high": "1", "dram.write_low": "0"}),
    "dram.reply_queue": Effect(sets=NO_L2 | {"gpu.sms": "16", "l2.partitions": "1", "interconnect.reply_flit": "1"}),
    "l2.atomic_float_cycles": Effect(program="regress/ranges/float_atomics.ptx"),
    "l2.sector": Effect(values=("64", "128")),
    "tlb.look_ahead": Effect(sets={"tlb.page": "4096", "lsu.queue": "16"}), "tlb.table": Effect(values=("64K",)),
    "tlb.table_latency": Effect(sets={"tlb.page": "4096", "tlb.table": "1M"}),
    "tlb.l1_misses": Effect(sets={"tlb.page": "4096", "lsu.queue": "16"}), "tlb.l2_ways": Effect(values=("1", "64"), sets={"tlb.page": "4096"}),
    "tlb.l1_ways": Effect(values=("1", "16"), sets={"tlb.page": "4096"}), "tlb.l2_entries": Effect(sets={"tlb.page": "4096"}),
    "dram.banks": Effect(values=("4",)),
    "dram.burst": Effect(values=("64",)),
    "dram.queue": Effect(sets={"dram.write_high": "1", "dram.write_low": "0"}),
    "dram.write_high": Effect(values=("1", "32"), sets={"dram.write_low": "0"}),
    "dram.rrd": Effect(values=("100",), sets={"dram.rrd_l": "0"}), "dram.ccd": Effect(values=("100",), sets={"dram.ccd_l": "0"}),
    "dram.ras": Effect(values=("200",), sets={"dram.rc": "200"}), "dram.rc": Effect(values=("200",)),
    "dram.rp": Effect(values=("200",)), "dram.rfc": Effect(values=("1000",)), "dram.rcd": Effect(values=("200",)),
    "dram.refi": Effect(values=("1000",)), "dram.refresh": Effect(values=("all", "bank"), sets={"dram.refi": "1000"}),
    "dram.row": Effect(values=("1K", "4K")),
    "dvfs.high": Effect(values=("0.001", "1"), sets={"dvfs.low": "0", "dvfs.period": "1000", "dvfs.core_max": "2000MHz"}), "dvfs.low": Effect(values=("0", "0.59")),
    "dvfs.lowest": Effect(values=("600MHz",)),
} | {f"dvfs.{domain}_{what}": Effect(sets={f"dvfs.{domain}_max": "2000MHz", f"dvfs.{domain}_voltage": "1"} |
                                        ({} if what == "floor" else {f"dvfs.{domain}_floor": "0"}), values=values)
     for domain in ("core", "interconnect", "dram")
     for what, values in (("threshold", ("0", "0.5")), ("exponent", ("1", "2")), ("floor", ("0", "0.99")))
} | {f"dvfs.{domain}_voltage": Effect(sets={f"dvfs.{domain}_max": "2000MHz", f"dvfs.{domain}_threshold": "0.3"}, values=("0.9", "1.2"))
     for domain in ("core", "interconnect", "dram")
} | {f"energy.{kind}": Effect(program="workloads/features/wmma.ptx") for kind in ("mma_half", "mma_int8", "mma_fp64")
} | {"shared.tensor_queue": Effect(program="regress/ranges/wgmma.ptx")
} | {f"block_clusters.{key}": Effect(program="regress/ranges/clusters.ptx")
     for key in ("gpcs", "most_blocks", "latency", "bytes_per_cycle", "barrier_latency")}


def values_of(gpusim: Gpusim) -> dict[str, list[str]]:
    """The ends of each key's range, or all words it takes, as `config describe` says."""
    found = {}
    for line in gpusim.run("config", "describe").require_code(0).out.splitlines():
        key = re.match(r"[a-z]\w*\.[a-z]\w* ", line)
        if not key:
            continue
        ends = re.search(r" ([\d.]+\w*) to ([\d.]+\w*) ", line)
        words = re.search(r" (\w+(?:\|\w+)+) ", line)
        found[key[0].strip()] = [ends[1], ends[2]] if ends else words[1].split("|") if words else []
    return found


_DONE: dict[tuple[Any, ...], Run] = {}
_REPEATED: set[tuple[str, tuple[str, ...]]] = set()  # programs and options of which two runs were compared


def run(gpusim: Gpusim, sets: Sets, effect: Effect = Effect()) -> Run:
    """As a machine is asked for by several keys, and at an end of a range by two checks of a key, a run is kept."""
    asked = tuple(sorted(sets.items())), effect.program, effect.options
    if asked not in _DONE:
        _DONE[asked] = run_again(gpusim, sets, effect)
    return _DONE[asked]


def run_again(gpusim: Gpusim, sets: Sets, effect: Effect) -> Run:
    options = [option for key, value in sets.items() for option in ("--set", f"{key}={value}")]
    return gpusim.run("--config", gpusim.source / "configs" / f"{MACHINE}.cfg", gpusim.source / effect.program, "--out", "none",
                      "--quiet", "--json", *options, *effect.options)


def said(done: Run) -> Any:
    """What the program says of the machine it ran: its report, or why the launch cannot run; None if the configuration is refused."""
    if done.code == 0:
        report = done.json()
        del report["memory"], report["speed"], report["identity"]  # of the host, and what was asked for
        return report
    return "refused" if ".toml:" in done.err else None


def check_end(gpusim: Gpusim, key: str, value: str) -> None:
    done = run(gpusim, PARTS | {key: value} | FOLLOW.get((key, value), {}))
    if (key, value) in REFUSED:
        done.require_code(1).require_error(key, REFUSED[key, value])
    elif done.code != 0:
        done.require_code(1)
        require("everything.toml:" in done.err or value in ("cc10", "cc12"), f"{key} = {value} cannot be tried\n{done.describe()}")


def beyond(key: str, values: list[str]) -> tuple[str, tuple[str, ...]]:
    """Ten times the upper end, or a word that is nearly one of those; and what is said of it."""
    number = re.fullmatch(r"([\d.]+)(\w*)", values[-1]) if len(values) == 2 else None
    if number:
        expected = ("such as",) if key in ("gpu.compute_capability", "host.link_rate") else ("out of range", "valid: ")
        return f"{float(number[1]) * 10:.12g}{number[2]}", expected
    if values in (["true", "false"], ["false", "true"]):
        return "ture", ("true or false",)
    return values[-1] + "x", (f"did you mean '{values[-1]}'?",)


def check_beyond(gpusim: Gpusim, keys: dict[str, list[str]]) -> None:
    """All keys at once: each mistake is told, with what would be valid."""
    wrong = {key: beyond(key, values) for key, values in keys.items()}
    done = run(gpusim, PARTS | {key: value for key, (value, _) in wrong.items()}).require_code(1)
    told = {text.split("=", 1)[0]: text for text in re.split(r"^--set '", done.err, flags=re.MULTILINE)}
    for key, (value, expected) in wrong.items():
        require(key in told, f"nothing is said of {key} = {value}\n{done.describe()}")
        for text in (f"{key} = ", *expected):
            require(text in told[key], f"{key} = {value}: {text!r} is not said, but {told[key]!r}")


def check_list(gpusim: Gpusim, key: str) -> None:
    wrong, right, effect = LISTS[key]
    sets = PARTS | effect.sets
    run(gpusim, sets | {key: wrong}, effect).require_code(1).require_error(f'{key} = "{wrong}" is no list of ', " such as ")
    shown = said(run(gpusim, sets | {key: right}, effect).require_code(0))
    require(shown != said(run(gpusim, sets, effect)), f"{key}: the table makes no difference")


def check_text(gpusim: Gpusim, key: str) -> None:
    text = 'any \\"text\\"'
    shown = gpusim.run("config", "show", gpusim.source / "configs" / f"{MACHINE}.cfg", "--set", f'{key}="{text}"').require_code(0).out
    require(f'"{text}"' in shown, f"{key} is not shown:\n{shown}")
    require_equal("report", said(run(gpusim, PARTS | {key: f'"{text}"'})), said(run(gpusim, PARTS)))


def check_memory(gpusim: Gpusim, key: str, value: str) -> None:
    """Of a long latency: places for messages that are never sent must not cost memory."""
    usual, slow = (run(gpusim, sets).require_code(0).json()["memory"]["peak_bytes"] for sets in (PARTS, PARTS | {key: value}))
    require(slow <= MOST_MEMORY * usual, f"{key} = {value} takes {slow} bytes, {usual} are usual")


def check_effect(gpusim: Gpusim, key: str, values: list[str]) -> None:
    effect = EFFECTS.get(key, Effect())
    sets = PARTS | effect.sets
    if key in NOT_SHOWN:
        return
    first = said(run(gpusim, sets, effect))
    require(first is not None, f"{key}: the machine that should show it is refused")
    if (effect.program, effect.options) not in _REPEATED:
        require(said(run_again(gpusim, sets, effect)) == first, f"{key}: two runs of the same machine say different things")
        _REPEATED.add((effect.program, effect.options))
    for value in [*effect.values, *values]:  # those that were chosen because they show
        now = said(run(gpusim, sets | {key: value}, effect))
        if now is not None and now != first:
            return
    require(False, f"{key}: no value makes a difference; is it read?")


def check_section(gpusim: Gpusim, section: str) -> None:
    """All keys of it, and every problem in one message."""
    problems = []
    usual = run(gpusim, PARTS).require_code(0)
    require(said(run_again(gpusim, PARTS, Effect())) == said(usual), "two runs of the same machine say different things")
    _REPEATED.add((Effect.program, Effect.options))
    keys = {key: values for key, values in values_of(gpusim).items() if key.startswith(section + ".")}
    require(bool(keys), f"no keys in [{section}]")
    checks = [(key, check) for key, values in keys.items() for check in checks_of(gpusim, key, values)]
    checks.append((section, functools.partial(check_beyond, gpusim, {key: values for key, values in keys.items() if values})))
    for what, check in checks:
        try:
            check()
        except Exception as problem:  # a crash, a wrong result or a refusal: go on with the next
            problems.append(f"{what}: {problem}")
    require_equal("problems", "\n\n".join(problems), "")


def checks_of(gpusim: Gpusim, key: str, values: list[str]) -> list[Callable[[], None]]:
    if not values:
        require(key in LISTS or key in TEXTS, f"{key}: nothing says what its text is")
        return [functools.partial(check_list if key in LISTS else check_text, gpusim, key)]
    checks = [functools.partial(check_end, gpusim, key, value) for value in values]
    if key.endswith("latency"):
        checks.append(functools.partial(check_memory, gpusim, key, values[-1]))
    return [*checks, functools.partial(check_effect, gpusim, key, values)]


SECTIONS = ("gpu", "block_clusters", "host", "clocks", "sm", "scheduler", "instruction", "coalescer", "lsu", "l1", "shared", "constant", "texture",
            "interconnect", "l2", "tlb", "dram", "dvfs", "energy")
