#include "simcore/config/schema.h"

#include <algorithm>
#include <array>

namespace gpusim::core {
namespace {

#define AT(path) Member(+[](MachineConfig& m) { return &m.path; })

constexpr double kBig = 1e12;
using K = KeyKind;

// Columns: section, key, kind, unit, default, min, max, choices, documentation, member.
const KeySpec kSchema[] = {
    {"gpu", "name", K::kText, "", "", 0, 0, "", "product name", AT(gpu.name)},
    {"gpu", "description", K::kText, "", "", 0, 0, "", "one line for `gpusim config list`",
     AT(gpu.description)},
    {"gpu", "compute_capability", K::kCapability, "", "1.3", 10, 99, "",
     "compute capability; lanes of a warp are scheduled independently from 7.0 on",
     AT(gpu.compute_capability)},
    {"gpu", "memory", K::kSize, "bytes", "4G", 1 << 20, 1e12, "", "device memory", AT(memory_bytes)},
    {"gpu", "sms", K::kInteger, "", "30", 1, 1024, "", "streaming multiprocessors", AT(gpu.sms)},
    {"gpu", "sms_per_cluster", K::kInteger, "", "3", 1, 64, "", "SMs that share one interconnect port",
     AT(gpu.sms_per_cluster)},
    {"gpu", "sms_spread", K::kBoolean, "", "false", 0, 0, "",
     "--sms N takes SMs round-robin over the clusters instead of filling them", AT(gpu.sms_spread)},
    {"gpu", "launch_cycles", K::kInteger, "core cycles", "0", 0, 1e7, "",
     "from a launch to its first block's dispatch", AT(gpu.launch_cycles)},
    {"gpu", "block_start_cycles", K::kInteger, "core cycles", "0", 0, 1e6, "",
     "from a block's dispatch to its first issue", AT(gpu.block_start_cycles)},

    {"host", "link_rate", K::kRate, "bytes/s", "5.5GB/s", 1, kBig, "", "bandwidth of host transfers",
     AT(host.link_bytes_per_s)},
    {"host", "link_latency", K::kTime, "ns", "10us", 0, 1e9, "", "fixed time of a host transfer",
     AT(host.link_latency_ns)},
    {"host", "idle_power", K::kReal, "W", "0", 0, 1e5, "", "host power while it waits for the GPU",
     AT(host.idle_power_w)},
    {"host", "gpu_idle_power", K::kReal, "W", "0", 0, 1e5, "", "GPU power while no kernel runs",
     AT(host.gpu_idle_power_w)},

    {"clocks", "core", K::kClock, "kHz", "1296MHz", 1000, 1e8, "", "shader clock: SMs", AT(clocks.core_khz)},
    {"clocks", "interconnect", K::kClock, "kHz", "602MHz", 1000, 1e8, "", "interconnect and L2 clock",
     AT(clocks.interconnect_khz)},
    {"clocks", "dram", K::kClock, "kHz", "800MHz", 1000, 1e8, "", "memory command clock (data at twice that)",
     AT(clocks.dram_khz)},

    {"sm", "max_threads_per_block", K::kInteger, "threads", "512", 1, 1024, "", "largest block",
     AT(sm.max_threads_per_block)},
    {"sm", "max_warps", K::kInteger, "warps", "32", 1, 128, "", "resident warps per SM", AT(sm.max_warps)},
    {"sm", "max_threads", K::kInteger, "threads", "1024", 1, 4096, "", "resident threads per SM",
     AT(sm.max_threads)},
    {"sm", "max_blocks", K::kInteger, "blocks", "8", 1, 64, "", "resident blocks per SM", AT(sm.max_blocks)},
    {"sm", "registers", K::kInteger, "registers", "16384", 256, 1 << 20, "", "32-bit registers per SM",
     AT(sm.registers)},
    {"sm", "register_alloc_unit", K::kInteger, "registers", "512", 1, 65536, "",
     "registers are allocated in units of this", AT(sm.register_alloc_unit)},
    {"sm", "register_alloc_by_block", K::kBoolean, "", "true", 0, 0, "",
     "the unit rounds a block's total (1.x); false: each warp's", AT(sm.register_alloc_by_block)},
    {"sm", "max_registers_per_thread", K::kInteger, "registers", "124", 1, 1024, "",
     "above it registers spill", AT(sm.max_registers_per_thread)},
    {"sm", "shared_alloc_unit", K::kSize, "bytes", "512", 1, 65536, "",
     "shared memory is allocated in units of this", AT(sm.shared_alloc_unit)},
    {"sm", "local_bytes_per_thread", K::kSize, "bytes", "16K", 0, 1 << 24, "", "local memory limit",
     AT(sm.local_bytes_per_thread)},
    {"sm", "max_block_x", K::kInteger, "threads", "512", 1, 1024, "", "block limit, x", AT(sm.max_block_x)},
    {"sm", "max_block_y", K::kInteger, "threads", "512", 1, 1024, "", "block limit, y", AT(sm.max_block_y)},
    {"sm", "max_block_z", K::kInteger, "threads", "64", 1, 1024, "", "block limit, z", AT(sm.max_block_z)},
    {"sm", "max_grid_x", K::kInteger, "blocks", "65535", 1, 2147483647, "", "grid limit, x",
     AT(sm.max_grid_x)},
    {"sm", "max_grid_y", K::kInteger, "blocks", "65535", 1, 65535, "", "grid limit, y", AT(sm.max_grid_y)},
    {"sm", "max_grid_z", K::kInteger, "blocks", "1", 1, 65535, "", "grid limit, z", AT(sm.max_grid_z)},

    {"scheduler", "policy", K::kChoice, "", "lrr", 0, 0, "lrr|gto",
     "loose round-robin, or greedy-then-oldest", AT(scheduler.policy)},
    {"scheduler", "count", K::kInteger, "", "1", 1, 8, "", "warp schedulers per SM", AT(scheduler.count)},
    {"scheduler", "issue_cycles", K::kInteger, "core cycles", "2", 1, 32, "",
     "between two issue slots of one scheduler", AT(scheduler.issue_cycles)},

    {"coalescer", "rule", K::kChoice, "", "cc12", 0, 0, "cc10|cc12|cc20",
     "half-warp coalescing of compute capability 1.0/1.1 or 1.2/1.3; lines of whole warps from 2.0 on",
     AT(coalescer.rule)},
    {"coalescer", "half_warps_per_cycle", K::kInteger, "half-warps", "1", 1, 4, "",
     "half-warps taken per core cycle", AT(coalescer.half_warps_per_cycle)},
    {"coalescer", "cycles_per_transaction", K::kInteger, "core cycles", "2", 1, 1024, "",
     "a transaction keeps the coalescer busy that long", AT(coalescer.cycles_per_transaction)},

    {"lsu", "queue", K::kInteger, "operations", "8", 1, 1024, "",
     "warp memory operations waiting for the coalescer", AT(lsu.queue)},
    {"lsu", "mshrs", K::kInteger, "transactions", "128", 1, 32768, "", "outstanding read transactions per SM",
     AT(lsu.mshrs)},
    {"lsu", "store_buffer", K::kInteger, "transactions", "64", 1, 32768, "",
     "outstanding write transactions per SM", AT(lsu.store_buffer)},

    {"l1", "size", K::kSize, "bytes", "0", 0, 1 << 24, "", "first-level data cache of an SM; 0: none",
     AT(l1.bytes)},
    {"l1", "line", K::kSize, "bytes", "128", 32, 256, "", "line", AT(l1.line)},
    {"l1", "sector", K::kSize, "bytes", "32", 32, 256, "", "part of a line that is fetched alone",
     AT(l1.sector)},
    {"l1", "ways", K::kInteger, "ways", "4", 1, 32, "", "associativity", AT(l1.ways)},
    {"l1", "latency", K::kInteger, "core cycles", "30", 1, 10000, "", "from look-up to data, on a hit",
     AT(l1.latency)},
    {"l1", "index", K::kChoice, "", "modulo", 0, 0, "modulo|xor|fermi",
     "set of a line: its low bits, all bits folded, or Fermi's hash", AT(l1.index)},
    {"l1", "replacement", K::kChoice, "", "lru", 0, 0, "lru|plru|fifo|random", "which line goes",
     AT(l1.replacement)},
    {"l1", "allocate", K::kChoice, "", "miss", 0, 0, "miss|fill",
     "a missing line takes its place when it is asked for, or when it comes (streaming)", AT(l1.allocate)},
    {"l1", "mshrs", K::kInteger, "lines", "64", 1, 4096, "", "lines on their way", AT(l1.mshrs)},
    {"l1", "merges", K::kInteger, "accesses", "8", 1, 256, "", "accesses that can wait for one line",
     AT(l1.merges)},
    {"l1", "warp_mshrs", K::kInteger, "lines", "0", 0, 4096, "",
     "lines on their way that one warp asked for; 0: no limit", AT(l1.warp_mshrs)},
    {"l1", "cache_global", K::kBoolean, "", "true", 0, 0, "",
     "global loads are cached; false: local memory only", AT(l1.cache_global)},
    {"l1", "write_global", K::kChoice, "", "evict", 0, 0, "through|evict",
     "a global store leaves its line in place, or drops it; the data goes on", AT(l1.write_global)},
    {"l1", "write_local", K::kChoice, "", "back", 0, 0, "through|evict|back",
     "the same for local stores; back: they stay until their line is replaced", AT(l1.write_local)},

    {"shared", "size", K::kSize, "bytes", "16K", 0, 1 << 20, "", "shared memory per SM", AT(shared.bytes)},
    {"shared", "banks", K::kInteger, "banks", "16", 1, 128, "", "shared-memory banks", AT(shared.banks)},
    {"shared", "bank_bytes", K::kSize, "bytes", "4", 1, 64, "", "width of a bank", AT(shared.bank_bytes)},
    {"shared", "lanes_per_access", K::kInteger, "lanes", "16", 1, 32, "",
     "lanes whose bank conflicts are resolved together: 16 half-warp, 32 from 2.0",
     AT(shared.lanes_per_access)},
    {"shared", "cycles_per_access", K::kInteger, "core cycles", "2", 1, 64, "",
     "a conflict-free access of lanes_per_access lanes", AT(shared.cycles_per_access)},

    {"constant", "l1_size", K::kSize, "bytes", "2K", 64, 1 << 20, "", "first level, per SM",
     AT(constant.l1_bytes)},
    {"constant", "l1_line", K::kSize, "bytes", "64", 4, 4096, "", "first level, line", AT(constant.l1_line)},
    {"constant", "l1_ways", K::kInteger, "ways", "4", 1, 1024, "", "first level, associativity",
     AT(constant.l1_ways)},
    {"constant", "l1_latency", K::kInteger, "core cycles", "8", 1, 10000, "", "first level, hit",
     AT(constant.l1_latency)},
    {"constant", "l2_size", K::kSize, "bytes", "8K", 64, 1 << 24, "", "second level, per cluster",
     AT(constant.l2_bytes)},
    {"constant", "l2_line", K::kSize, "bytes", "64", 4, 4096, "", "second level, line", AT(constant.l2_line)},
    {"constant", "l2_ways", K::kInteger, "ways", "4", 1, 1024, "", "second level, associativity",
     AT(constant.l2_ways)},
    {"constant", "l2_latency", K::kTime, "ns", "56.3ns", 0, 1e6, "", "second level, beyond a first-level hit",
     AT(constant.l2_latency_ns)},
    {"constant", "l3_size", K::kSize, "bytes", "32K", 64, 1 << 28, "", "third level, all partitions together",
     AT(constant.l3_bytes)},
    {"constant", "l3_line", K::kSize, "bytes", "64", 4, 4096, "", "third level, line", AT(constant.l3_line)},
    {"constant", "l3_ways", K::kInteger, "ways", "8", 1, 1024, "", "third level, associativity",
     AT(constant.l3_ways)},
    {"constant", "l3_latency", K::kTime, "ns", "107.3ns", 0, 1e6, "",
     "third level, beyond a second-level hit", AT(constant.l3_latency_ns)},
    {"constant", "mshrs", K::kInteger, "lines", "8", 1, 1024, "", "outstanding misses per SM",
     AT(constant.mshrs)},

    {"interconnect", "flit", K::kSize, "bytes", "32", 1, 1024, "", "bytes per port and interconnect cycle",
     AT(interconnect.flit_bytes)},
    {"interconnect", "header", K::kSize, "bytes", "8", 0, 1024, "", "packet header",
     AT(interconnect.header_bytes)},
    {"interconnect", "queue", K::kInteger, "packets", "8", 1, 4096, "", "packets per input queue",
     AT(interconnect.queue)},
    {"interconnect", "request_latency", K::kTime, "ns", "30ns", 0, 1e6, "",
     "SM to partition, without queueing", AT(interconnect.request_latency_ns)},
    {"interconnect", "reply_latency", K::kTime, "ns", "30ns", 0, 1e6, "", "partition to SM, without queueing",
     AT(interconnect.reply_latency_ns)},

    {"l2", "partitions", K::kInteger, "", "8", 1, 256, "", "memory partitions, one DRAM channel each",
     AT(l2.partitions)},
    {"l2", "interleave", K::kSize, "bytes", "256", 32, 1 << 20, "", "consecutive bytes of one partition",
     AT(l2.interleave)},
    {"l2", "queue", K::kInteger, "requests", "16", 1, 4096, "",
     "requests per partition in front of the DRAM channel", AT(l2.queue)},
    {"l2", "latency", K::kTime, "ns", "100ns", 0, 1e6, "", "from a request's arrival to the DRAM queue",
     AT(l2.latency_ns)},
    {"l2", "atomic_cycles", K::kInteger, "interconnect cycles", "4", 1, 1e6, "",
     "per 32-bit atomic on one word", AT(l2.atomic_cycles)},

    {"dram", "banks", K::kInteger, "banks", "8", 1, 64, "", "banks per channel", AT(dram.banks)},
    {"dram", "row", K::kSize, "bytes", "2K", 32, 1 << 20, "", "row (page) of one channel",
     AT(dram.row_bytes)},
    {"dram", "bus", K::kSize, "bytes", "8", 1, 1024, "", "data bus of one channel", AT(dram.bus_bytes)},
    {"dram", "burst", K::kSize, "bytes", "32", 1, 4096, "", "bytes of one burst", AT(dram.burst_bytes)},
    {"dram", "queue", K::kInteger, "requests", "32", 1, 4096, "", "requests in the FR-FCFS window",
     AT(dram.queue)},
    {"dram", "reply_queue", K::kInteger, "replies", "16", 1, 4096, "",
     "read data waiting for the interconnect", AT(dram.reply_queue)},
    {"dram", "cl", K::kDramTime, "ns", "10ck", 0, 1e6, "", "column read to data", AT(dram.cl_ns)},
    {"dram", "rcd", K::kDramTime, "ns", "12ck", 0, 1e6, "", "activate to column command", AT(dram.rcd_ns)},
    {"dram", "rp", K::kDramTime, "ns", "10ck", 0, 1e6, "", "precharge", AT(dram.rp_ns)},
    {"dram", "ras", K::kDramTime, "ns", "25ck", 0, 1e6, "", "activate to precharge", AT(dram.ras_ns)},
    {"dram", "rc", K::kDramTime, "ns", "35ck", 0, 1e6, "", "activate to activate, same bank", AT(dram.rc_ns)},
    {"dram", "rrd", K::kDramTime, "ns", "8ck", 0, 1e6, "", "activate to activate, other bank",
     AT(dram.rrd_ns)},
    {"dram", "wl", K::kDramTime, "ns", "7ck", 0, 1e6, "", "column write to data", AT(dram.wl_ns)},
    {"dram", "ccd", K::kDramTime, "ns", "2ck", 0, 1e6, "", "column command to column command",
     AT(dram.ccd_ns)},
    {"dram", "wr", K::kDramTime, "ns", "11ck", 0, 1e6, "", "end of write data to precharge", AT(dram.wr_ns)},
    {"dram", "cdlr", K::kDramTime, "ns", "6ck", 0, 1e6, "", "end of write data to column read",
     AT(dram.cdlr_ns)},
    {"dram", "rtw", K::kDramTime, "ns", "6ck", 0, 1e6, "", "column read to column write", AT(dram.rtw_ns)},
    {"dram", "refi", K::kDramTime, "ns", "3900ns", 0, 1e9, "", "refresh interval; 0: no refresh",
     AT(dram.refi_ns)},
    {"dram", "rfc", K::kDramTime, "ns", "100ns", 0, 1e6, "", "duration of a refresh", AT(dram.rfc_ns)},
    {"dram", "write_high", K::kInteger, "requests", "24", 1, 4096, "", "queued writes that start a drain",
     AT(dram.write_high)},
    {"dram", "write_low", K::kInteger, "requests", "8", 0, 4096, "", "queued writes that end a drain",
     AT(dram.write_low)},
    {"dram", "starvation_limit", K::kInteger, "memory cycles", "1000", 1, 1e9, "",
     "age after which the oldest request goes first", AT(dram.starvation_limit)},
    {"dram", "bank_hash", K::kBoolean, "", "false", 0, 0, "", "bank index is XORed with the low row bits",
     AT(dram.bank_hash)},
};

constexpr std::string_view kSections[] = {"gpu",    "host",     "clocks",       "sm",  "scheduler",
                                          "pipes",  "latency",  "coalescer",    "lsu", "l1",
                                          "shared", "constant", "interconnect", "l2",  "dram"};

constexpr std::string_view kTimingClasses[] = {
    "int",         "int64",        "int_mul24",   "int_mul",      "int_mul64",
    "int_div_u32", "int_div_s32",  "int_div64",   "bit_count",    "fp32",
    "fp32_mul",    "fp32_div",     "fp32_div_rn", "fp32_sqrt_rn", "fp32_rcp_rn",
    "sfu_rcp",     "sfu_rsqrt",    "sfu_sqrt",    "sfu_sin",      "fp64",
    "fp64_div",    "fp64_sqrt",    "cvt",         "cvt64",        "shared_operand",
    "warp",        "mma_half",     "mma_int8",    "mma_fp64",     "special",
    "load_global", "store_global", "atom_global", "load_local",   "store_local",
    "load_shared", "store_shared", "atom_shared", "load_const",   "load_param",
    "texture",     "branch",       "barrier",     "fence",        "exit",
    "nop"};

}  // namespace

std::span<const KeySpec> schema() { return kSchema; }
std::span<const std::string_view> section_names() { return kSections; }
std::span<const std::string_view> timing_classes() { return kTimingClasses; }

std::span<const ComposedClass> composed_classes() {
  // Multiply-adds of one operation over the 32 lanes: 16 x 8 results of 16 products, f64 8 x 8 of 4.
  static constexpr ComposedClass kComposed[] = {
      {"mma_half", "fp32", 64}, {"mma_int8", "int_mul24", 64}, {"mma_fp64", "fp64", 8}};
  return kComposed;
}

bool is_control_class(std::string_view timing_class) {
  static constexpr std::array<std::string_view, 5> kControl{"branch", "barrier", "fence", "exit", "nop"};
  return std::ranges::find(kControl, timing_class) != kControl.end();
}

}  // namespace gpusim::core
