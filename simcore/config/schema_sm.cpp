// The machine as a whole and its SMs, with what each SM has of its own: rows of the schema of machine
// configurations.
#include "simcore/config/schema_rows.h"

namespace gpusim::core {

std::span<const KeySpec> sm_keys() {
  static const KeySpec rows[] = {
      {"gpu", "name", K::kText, "", "", 0, 0, "", "product name", AT(gpu.name)},
      {"gpu", "description", K::kText, "", "", 0, 0, "", "one line for `gpusim config list`",
       AT(gpu.description)},
      {"gpu", "compute_capability", K::kCapability, "", "1.3", 10, 99, "",
       "compute capability; lanes of a warp are scheduled independently from 7.0 on",
       AT(gpu.compute_capability)},
      {"gpu", "memory", K::kSize, "bytes", "4G", 1 << 20, 1LL << 40, "", "device memory", AT(memory_bytes)},
      {"gpu", "sms", K::kInteger, "", "30", 1, 1024, "", "streaming multiprocessors", AT(gpu.sms)},
      {"gpu", "sms_per_cluster", K::kInteger, "", "3", 1, 64, "",
       "SMs that share a constant and instruction cache, and an interconnect port (see "
       "interconnect.sms_per_port)",
       AT(gpu.sms_per_cluster)},
      {"gpu", "sms_spread", K::kBoolean, "", "false", 0, 0, "",
       "--sms N takes SMs round-robin over the clusters instead of filling them", AT(gpu.sms_spread)},
      {"gpu", "launch_cycles", K::kInteger, "core cycles", "0", 0, 1e7, "",
       "from a launch to its first block's dispatch", AT(gpu.launch_cycles)},
      {"gpu", "block_interval", K::kReal, "core cycles", "1", 1, 1000, "",
       "from one block's dispatch to the next, of the whole GPU", AT(gpu.block_interval)},
      {"gpu", "block_start_cycles", K::kInteger, "core cycles", "0", 0, 1e6, "",
       "from a block's dispatch to its first issue", AT(gpu.block_start_cycles)},
      {"gpu", "concurrent_kernels", K::kInteger, "", "1", 1, kMaxKernels, "",
       "kernels of different streams that run at the same time, at most", AT(gpu.concurrent_kernels)},
      {"gpu", "launch_queues", K::kInteger, "", "1", 1, 1024, "",
       "hardware queues that streams are mapped to; each starts its kernels, and its copies, in order",
       AT(gpu.launch_queues)},
      {"gpu", "child_launch", K::kTime, "ns", "5us", 0, 1e9, "",
       "from the call of a kernel that launches another until that may start", AT(gpu.child_launch_ns)},
      {"gpu", "block_dispatch", K::kChoice, "", "breadth_first", 0, 0, "breadth_first|depth_first",
       "blocks go to the SMs in turn, or fill one SM after the other", CHOICE(gpu.block_dispatch)},
      {"gpu", "kernel_dispatch", K::kChoice, "", "oldest", 0, 0, "oldest|in_turn",
       "all blocks of the kernel that began first, then the next one's; or one block of each in turn",
       CHOICE(gpu.kernel_dispatch)},

      {"block_clusters", "gpcs", K::kInteger, "", "0", 0, 64, "",
       "parts of the chip; the blocks of a thread block cluster run on SMs of one of them. 0: the machine "
       "has no such clusters",
       AT(clusters.gpcs)},
      {"block_clusters", "most_blocks", K::kInteger, "blocks", "16", 1, kMaxClusterBlocks, "",
       "blocks of a cluster, at most; more than 8 only if the launch allows it", AT(clusters.most_blocks)},
      {"block_clusters", "latency", K::kInteger, "core cycles", "180", 1, 1e5, "",
       "of a load from the shared memory of another SM", AT(clusters.latency)},
      {"block_clusters", "bytes_per_cycle", K::kInteger, "bytes", "16", 1, 1024, "",
       "that an SM sends to the shared memory of others, or takes from others, in a core cycle",
       AT(clusters.bytes_per_cycle)},
      {"block_clusters", "barrier_latency", K::kInteger, "core cycles", "180", 1, 1e5, "",
       "from the last arrival at the barrier of a cluster until its threads go on",
       AT(clusters.barrier_latency)},

      {"host", "link_rate", K::kRate, "bytes/s", "5.5GB/s", 1000, kBig, "", "bandwidth of host transfers",
       AT(host.link_bytes_per_s)},
      {"host", "link_latency", K::kTime, "ns", "10us", 0, 1e9, "", "fixed time of a host transfer",
       AT(host.link_latency_ns)},
      {"host", "mapped_latency", K::kTime, "ns", "1us", 0, 1e9, "",
       "time of a kernel's read of mapped host memory from the L2's side of the link and back",
       AT(host.mapped_latency_ns)},
      {"host", "mapped_requests", K::kInteger, "", "256", 1, 65536, "",
       "such reads on their way at a time (PCI Express: tags of 8 bits)", AT(host.mapped_requests)},
      {"host", "copy_engines", K::kInteger, "", "1", 1, 2, "",
       "transfers at a time: 1 in any direction, or 2, one in each", AT(host.copy_engines)},
      {"host", "launch_interval", K::kTime, "ns", "0ns", 0, 1e9, "",
       "between two launches or copies that the host issues, which it does in the launch file's order",
       AT(host.launch_interval_ns)},
      {"host", "launch_gap", K::kTime, "ns", "0ns", 0, 1e9, "",
       "from the end of a kernel to the start of the next launch of its stream", AT(host.launch_gap_ns)},
      {"host", "idle_power", K::kReal, "W", "0", 0, 1e5, "", "host power while it waits for the GPU",
       AT(host.idle_power_w)},
      {"host", "gpu_idle_power", K::kReal, "W", "0", 0, 1e5, "", "GPU power while no kernel runs",
       AT(host.gpu_idle_power_w)},

      {"clocks", "core", K::kClock, "kHz", "1296MHz", 1000, 1e8, "", "shader clock: SMs",
       AT(clocks.core_khz)},
      {"clocks", "interconnect", K::kClock, "kHz", "602MHz", 1000, 1e8, "", "interconnect and L2 clock",
       AT(clocks.interconnect_khz)},
      {"clocks", "interconnect_follows", K::kBoolean, "", "false", 0, 0, "",
       "when the core's clock is changed and the interconnect's is not named, it changes in proportion",
       AT(clocks.interconnect_follows)},
      {"clocks", "dram_follows", K::kText, "", "", 0, 0, "",
       "'CORE MEMORY, ...': when the core's clock is changed and the memory's is not named, the memory's "
       "highest "
       "clock at these core clocks, between which it is interpolated; from the last one on clocks.dram",
       AT(clocks.dram_follows)},
      {"clocks", "latencies_follow", K::kBoolean, "", "false", 0, 0, "",
       "the times of interconnect, caches and DRAM are those at the clocks of this section: when a clock is "
       "changed, they keep their cycles (dram.refi stays a time)",
       AT(clocks.latencies_follow)},
      {"clocks", "dram", K::kClock, "kHz", "800MHz", 1000, 1e8, "",
       "memory command clock (data at twice that)", AT(clocks.dram_khz)},

      {"sm", "max_threads_per_block", K::kInteger, "threads", "512", 1, 1024, "", "largest block",
       AT(sm.max_threads_per_block)},
      {"sm", "max_warps", K::kInteger, "warps", "32", 1, kMaxWarps, "", "resident warps per SM",
       AT(sm.max_warps)},
      {"sm", "max_threads", K::kInteger, "threads", "1024", 1, kMaxThreads, "", "resident threads per SM",
       AT(sm.max_threads)},
      {"sm", "max_blocks", K::kInteger, "blocks", "8", 1, kMaxWarps, "", "resident blocks per SM",
       AT(sm.max_blocks)},
      {"sm", "registers", K::kInteger, "registers", "16384", 256, 1 << 20, "", "32-bit registers per SM",
       AT(sm.registers)},
      {"sm", "register_alloc_unit", K::kInteger, "registers", "512", 1, 65536, "",
       "registers are allocated in units of this", AT(sm.register_alloc_unit)},
      {"sm", "register_alloc_by_block", K::kBoolean, "", "true", 0, 0, "",
       "the unit rounds a block's total (1.x); false: each warp's", AT(sm.register_alloc_by_block)},
      {"sm", "max_registers_per_thread", K::kInteger, "registers", "124", 1, 1024, "",
       "above it registers spill", AT(sm.max_registers_per_thread)},
      {"sm", "register_banks", K::kInteger, "banks", "0", 0, 32, "",
       "of the register file, to which registers are dealt; 0: they never conflict", AT(sm.register_banks)},
      {"sm", "register_bank_reads", K::kInteger, "registers", "1", 1, 8, "",
       "a bank gives so many 32-lane registers per core cycle", AT(sm.register_bank_reads)},
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

      {"scheduler", "policy", K::kChoice, "", "lrr", 0, 0, GPUSIM_SCHEDULER_WORDS,
       "how the next warp is chosen; each word is a file of components/sm/policies", AT(scheduler.policy)},
#define POLICY_SECTION "scheduler"
#define POLICY_KEYS scheduler.policy_keys
#include "policies/scheduler_keys.inc"
#undef POLICY_SECTION
#undef POLICY_KEYS
      {"scheduler", "count", K::kInteger, "", "1", 1, kMaxSchedulers, "", "warp schedulers per SM",
       AT(scheduler.count)},
      {"scheduler", "turned", K::kBoolean, "", "false", 0, 0, "",
       "the first warp slot of each round of the schedulers goes to the next of them; false: slot modulo "
       "count",
       AT(scheduler.turned)},
      {"scheduler", "share_in_turn", K::kBoolean, "", "false", 0, 0, "",
       "the schedulers of an SM use the pipes that they share in turn; false: the one with the lowest number "
       "goes first in every slot",
       AT(scheduler.share_in_turn)},
      {"scheduler", "reconverge_operations", K::kBoolean, "", "false", 0, 0, "",
       "each group of lanes that a branch has parted executes an operation where they meet again (bsync, "
       "class "
       "reconverge); false: that takes no time",
       AT(scheduler.reconverge_operations)},
      {"scheduler", "special_operands", K::kBoolean, "", "false", 0, 0, "",
       "IEEE divisions, reciprocals and square roots hold their warp back until they are done, and call a "
       "subroutine where a lane's operand is zero, infinite, NaN or out of the usual sequence's range; "
       "false: what follows overlaps them, and all operands take as long",
       AT(scheduler.special_operands)},
      {"scheduler", "barrier_awaits_stores", K::kBoolean, "", "false", 0, 0, "",
       "a barrier opens when stores and atomics to shared memory of the block's warps are done, which takes "
       "latency.store_shared or atom_shared; false: when the last warp has arrived",
       AT(scheduler.barrier_awaits_stores)},
      {"scheduler", "issue_cycles", K::kInteger, "core cycles", "2", 1, 32, "",
       "between two issue slots of one scheduler", AT(scheduler.issue_cycles)},
      {"scheduler", "issue_width", K::kInteger, "operations", "1", 1, 2, "",
       "independent operations of one warp that a slot can issue; 2: dual issue", AT(scheduler.issue_width)},
      {"scheduler", "dependences", K::kChoice, "", "scoreboard", 0, 0, "scoreboard|control_codes",
       "an operation waits for its registers, or as the compiler wrote: stall counts and dependency barriers",
       CHOICE(scheduler.dependences)},
      {"scheduler", "warp_loads", K::kInteger, "loads", "0", 0, kMaxWarpLoads, "",
       "loads of global and local memory that a warp may have on their way: with so many, its next one waits "
       "for the oldest; 0: no limit",
       AT(scheduler.warp_loads)},
      {"scheduler", "barriers", K::kInteger, "barriers", "6", 1, kMaxBarriers, "",
       "dependency barriers of a warp, with dependences control_codes", AT(scheduler.barriers)},
      {"scheduler", "guard_latency", K::kInteger, "core cycles", "0", 0, kMostStall, "",
       "from a comparison to the branch or operation that its predicate guards, at least; with dependences "
       "control_codes",
       AT(scheduler.operand_latency.guard)},
      {"scheduler", "memory_latency", K::kInteger, "core cycles", "0", 0, kMostStall, "",
       "from an arithmetic result to a load, store, atomic operation or shuffle that reads it, at least; "
       "with "
       "dependences control_codes",
       AT(scheduler.operand_latency.memory)},
      {"scheduler", "sfu_latency", K::kInteger, "core cycles", "0", 0, kMostStall, "",
       "from an arithmetic result to a special function, conversion or bit count that reads it, at least; "
       "with "
       "dependences control_codes",
       AT(scheduler.operand_latency.sfu)},
      {"scheduler", "other_pipe_latency", K::kInteger, "core cycles", "0", 0, kMostStall, "",
       "from an arithmetic result to arithmetic on another pipe that reads it, at least; with dependences "
       "control_codes",
       AT(scheduler.operand_latency.other_pipe)},

      {"instruction", "bytes", K::kSize, "bytes", "8", 4, 64, "", "one machine operation",
       AT(instruction.bytes)},
      {"instruction", "l1_size", K::kSize, "bytes", "0", 0, 1 << 20, "",
       "instruction cache of an SM, in front of the second constant level; 0: operations are always there",
       AT(instruction.l1_bytes)},
      {"instruction", "l1_line", K::kSize, "bytes", "64", 8, 4096, "", "line", AT(instruction.l1_line)},
      {"instruction", "l1_ways", K::kInteger, "ways", "4", 1, 1024, "", "associativity",
       AT(instruction.l1_ways)},
      {"instruction", "per_scheduler", K::kBoolean, "", "false", 0, 0, "",
       "every scheduler has a cache of that size for its warps", AT(instruction.per_scheduler)},
      {"instruction", "prefetch", K::kInteger, "lines", "1", 0, 64, "",
       "lines behind a missing one that are asked for with it", AT(instruction.prefetch)},
      {"instruction", "mshrs", K::kInteger, "lines", "8", 1, 1024, "", "lines on their way, per SM",
       AT(instruction.mshrs)},

      {"coalescer", "rule", K::kChoice, "", "cc12", 0, 0, "cc10|cc12|cc20",
       "half-warp coalescing of compute capability 1.0/1.1 or 1.2/1.3; lines of whole warps from 2.0 on",
       CHOICE(coalescer.rule)},
      {"coalescer", "cycles_per_transaction", K::kInteger, "core cycles", "2", 1, 1024, "",
       "a transaction keeps the coalescer busy that long", AT(coalescer.cycles_per_transaction)},

      {"lsu", "queue", K::kInteger, "operations", "8", 1, 1024, "",
       "warp memory operations waiting for the coalescer", AT(lsu.queue)},
      {"lsu", "mshrs", K::kInteger, "transactions", "128", 1, kMaxTransactions, "",
       "outstanding read transactions per SM", AT(lsu.mshrs)},
      {"lsu", "store_buffer", K::kInteger, "transactions", "64", 1, kMaxTransactions, "",
       "outstanding write transactions per SM", AT(lsu.store_buffer)},

      {"l1", "size", K::kSize, "bytes", "0", 0, 1 << 24, "", "L1 data cache of an SM; 0: none", AT(l1.bytes)},
      {"l1", "line", K::kSize, "bytes", "128", 32, kMaxLine, "", "line", AT(l1.line)},
      {"l1", "sector", K::kSize, "bytes", "32", 32, kMaxLine, "", "part of a line that is fetched alone",
       AT(l1.sector)},
      {"l1", "ways", K::kInteger, "ways", "4", 1, 32, "", "associativity", AT(l1.ways)},
      {"l1", "latency", K::kInteger, "core cycles", "30", 1, 10000, "", "from look-up to data, on a hit",
       AT(l1.latency)},
      {"l1", "index", K::kChoice, "", "modulo", 0, 0, "modulo|xor|fermi",
       "set of a line: its low bits, all bits folded, or Fermi's hash", CHOICE(l1.index)},
      {"l1", "replacement", K::kChoice, "", "lru", 0, 0, GPUSIM_REPLACEMENT_WORDS,
       "which line goes; each word is a file of components/cache/replacement", AT(l1.replacement)},
#define POLICY_SECTION "l1"
#define POLICY_KEYS l1.policy_keys
#include "policies/replacement_keys.inc"
#undef POLICY_SECTION
#undef POLICY_KEYS
      {"l1", "allocate", K::kChoice, "", "miss", 0, 0, "miss|miss_or_pass|fill",
       "a missing line takes its place when it is asked for, or when it comes (streaming); while all places "
       "of "
       "its set wait for lines, a load waits (miss), or its line is not kept (miss_or_pass)",
       CHOICE(l1.allocate)},
      {"l1", "mshrs", K::kInteger, "lines", "64", 1, 4096, "", "lines on their way", AT(l1.mshrs)},
      {"l1", "merges", K::kInteger, "accesses", "8", 1, 256, "", "accesses that can wait for one line",
       AT(l1.merges)},
      {"l1", "warp_mshrs", K::kInteger, "lines", "0", 0, 4096, "",
       "lines on their way that one warp asked for; 0: no limit", AT(l1.warp_mshrs)},
      {"l1", "tag_lines", K::kInteger, "lines", "1", 1, 32, "",
       "an aligned group of so many neighbouring lines is looked up in one cycle, as far as a load hits, and "
       "its data come as from the banks of shared memory; 1: a line a cycle, however many words of it",
       AT(l1.tag_lines)},
      {"l1", "cache_global", K::kBoolean, "", "true", 0, 0, "",
       "global loads are cached; false: local memory only", AT(l1.cache_global)},
      {"l1", "write_global", K::kChoice, "", "evict", 0, 0, "through|evict",
       "a global store leaves its line in place, or drops it; the data goes on", CHOICE(l1.write_global)},
      {"l1", "write_local", K::kChoice, "", "back", 0, 0, "through|evict|back|both",
       "the same for local stores; back: they stay until their line is replaced; both: they stay, and go on, "
       "too",
       CHOICE(l1.write_local)},

      {"shared", "size", K::kSize, "bytes", "16K", 0, 1 << 20, "", "shared memory per SM", AT(shared.bytes)},
      {"shared", "carveout", K::kSize, "bytes", "0", 0, 1 << 20, "",
       "unit in which shared memory takes of l1.size what a kernel's blocks need; 0: a memory of its own",
       AT(shared.carveout)},
      {"shared", "banks", K::kInteger, "banks", "16", 1, kMaxSharedBanks, "", "shared-memory banks",
       AT(shared.banks)},
      {"shared", "bank_bytes", K::kSize, "bytes", "4", 1, 64, "", "width of a bank", AT(shared.bank_bytes)},
      {"shared", "lanes_per_access", K::kInteger, "lanes", "16", 16, 32, "",
       "lanes whose bank conflicts are resolved together: 16 half-warp, 32 from 2.0",
       AT(shared.lanes_per_access)},
      {"shared", "cycles_per_access", K::kInteger, "core cycles", "2", 1, 64, "",
       "a conflict-free access of lanes_per_access lanes", AT(shared.cycles_per_access)},
      {"shared", "tensor_queue", K::kInteger, "core cycles", "0", 0, 4096, "",
       "so far ahead wgmma's steps are queued for the tensor cores, which fetch; 0: warps load",
       AT(shared.tensor_queue)},
  };
  return rows;
}

}  // namespace gpusim::core
