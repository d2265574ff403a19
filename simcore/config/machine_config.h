// A validated machine description: what `[section] key` of a .cfg file means to the model. Filled by
// load_machine() (simcore/config/load.h) from the schema table (simcore/config/schema.h), which holds unit,
// default, range and one line of documentation for each key; const from then on. Units here are machine
// units: bytes, cycles of the named domain, kHz. A number's type holds the whole range of its key.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simcore/config/choices.h"
#include "simcore/config/policy_keys.h"

namespace gpusim::core {

struct MachineConfig {
  struct Gpu {
    std::string name, description;
    int64_t compute_capability = 13;  ///< x10: 13 is 1.3
    uint32_t sms = 30;
    uint32_t sms_per_cluster = 3;
    bool sms_spread = false;          ///< --sms N: spread over clusters instead of filling them
    uint32_t launch_cycles = 0;       ///< core cycles from launch to the first block's dispatch
    double block_interval = 1;        ///< core cycles from one block's dispatch to the next, at least
    uint32_t block_start_cycles = 0;  ///< core cycles from dispatch of a block to its first issue
    uint32_t concurrent_kernels = 1;  ///< that run at the same time, at most
    uint32_t launch_queues = 1;       ///< that streams are mapped to; each starts its work in order
    double child_launch_ns = 0;       ///< from the call of a kernel that launches another until it may start
    BlockDispatch block_dispatch{};
    KernelDispatch kernel_dispatch{};
    friend bool operator==(const Gpu&, const Gpu&) = default;
  } gpu;
  struct Host {
    int64_t link_bytes_per_s = 0;
    double link_latency_ns = 0;
    double mapped_latency_ns = 0;    ///< of a kernel's read of the host's memory
    uint32_t mapped_requests = 256;  ///< of these on their way
    uint32_t copy_engines = 1;       ///< 1: one direction at a time; 2: one for each
    double launch_interval_ns = 0;   ///< between two launches or copies that the host issues
    double launch_gap_ns = 0;        ///< from the end of a kernel to the start of the next of its stream
    double idle_power_w = 0, gpu_idle_power_w = 0;
    friend bool operator==(const Host&, const Host&) = default;
  } host;
  struct Clocks {
    int64_t core_khz = 0, interconnect_khz = 0, dram_khz = 0;
    bool interconnect_follows = false;  ///< interconnect and L2 change their clock with the core
    bool latencies_follow = false;      ///< latencies keep their cycles when clocks change, not their time
    std::string dram_follows;           ///< "705MHz 602MHz, ...": memory clocks at low core clocks
    friend bool operator==(const Clocks&, const Clocks&) = default;
  } clocks;
  struct Sm {
    uint32_t max_threads_per_block = 0, max_warps = 0, max_threads = 0, max_blocks = 0;
    uint32_t registers = 0;  ///< 32-bit registers
    uint32_t register_alloc_unit = 0;
    bool register_alloc_by_block = true;  ///< false: by warp
    uint32_t max_registers_per_thread = 0;
    uint32_t register_banks = 0;          ///< 0: they never conflict
    uint32_t register_bank_reads = 1;     ///< registers that a bank gives per core cycle
    uint32_t shared_alloc_unit = 0;       ///< bytes
    uint32_t local_bytes_per_thread = 0;  ///< limit
    uint32_t max_block_x = 0, max_block_y = 0, max_block_z = 0, max_grid_x = 0, max_grid_y = 0,
             max_grid_z = 0;
    friend bool operator==(const Sm&, const Sm&) = default;
  } sm;
  struct Scheduler {
    std::string policy;  ///< a policy of components/sm/policies, or one that the program has added
    SchedulerPolicyKeys policy_keys;
    AddedPolicyKeys added_keys;
    uint32_t count = 1;                  ///< schedulers per SM
    bool turned = false;                 ///< how warp slots are dealt to them: of_slot()
    bool reconverge_operations = false;  ///< lanes that have parted execute an operation where they meet
    bool special_operands = false;       ///< IEEE divisions and roots branch for them
    bool barrier_awaits_stores = false;  ///< to shared memory, of the block's warps
    bool share_in_turn = false;  ///< they use the pipes that they share in turn, else the lowest one first
    uint32_t issue_cycles = 2;   ///< core cycles between two issues of one scheduler
    uint32_t issue_width = 1;    ///< operations of one warp that it can issue then
    Dependences dependences{};
    uint32_t barriers = 6;  ///< dependency barriers of a warp ("control_codes")
    /// Core cycles from a result to an operation that reads it there, at least ("control_codes").
    struct OperandLatency {
      uint32_t guard = 0;       ///< as the predicate that guards it
      uint32_t memory = 0;      ///< a load, a store, an atomic operation, a shuffle
      uint32_t sfu = 0;         ///< a special function, a conversion, a bit count
      uint32_t other_pipe = 0;  ///< arithmetic on another pipe
      bool operator==(const OperandLatency&) const = default;
    } operand_latency;
    uint32_t warp_loads = 0;  ///< of global and local memory, on their way for one warp; 0: no limit
    /// The scheduler of a warp slot.
    [[nodiscard]] uint32_t of_slot(uint32_t slot) const {
      return (slot + (turned ? slot / count : 0)) % count;
    }
    friend bool operator==(const Scheduler&, const Scheduler&) = default;
  } scheduler;
  /// [pipes.NAME] CLASS = cycles: the pipe is busy that many core cycles for one warp operation of that
  /// class. A class that stands in two pipes takes the first free one in the order of the file.
  struct Pipe {
    std::string name;
    std::map<std::string, int64_t> interval;  ///< class -> core cycles
    bool per_scheduler = false;               ///< every scheduler has one of its own (sub-cores)
    friend bool operator==(const Pipe&, const Pipe&) = default;
  };
  std::vector<Pipe> pipes;
  /// [latency] CLASS = core cycles from issue to the first issue of a dependent operation.
  std::map<std::string, int64_t> latency;
  /// Instruction cache of an SM in front of the second and third constant levels, which hold instructions
  /// too.
  struct Instruction {      ///< [instruction]
    uint32_t bytes = 8;     ///< of one machine operation
    uint32_t l1_bytes = 0;  ///< 0: operations are always there
    uint32_t l1_line = 64, l1_ways = 4;
    bool per_scheduler = false;  ///< every scheduler has a cache of that size
    uint32_t prefetch = 0;       ///< lines behind a missing one that are asked for with it
    uint32_t mshrs = 4;          ///< lines on their way, per SM
    friend bool operator==(const Instruction&, const Instruction&) = default;
  } instruction;
  /// Clusters of thread blocks, from compute capability 9.0 on.
  struct BlockClusters {           ///< [block_clusters]
    uint32_t gpcs = 0;             ///< parts of the chip of which one holds a cluster; 0: there are none
    uint32_t most_blocks = 16;     ///< of a cluster
    uint32_t latency = 1;          ///< core cycles of a load from another SM's shared memory
    uint32_t bytes_per_cycle = 1;  ///< that an SM sends, or takes
    uint32_t barrier_latency = 1;  ///< core cycles from the last arrival until those who wait go on
    friend bool operator==(const BlockClusters&, const BlockClusters&) = default;
  } clusters;
  struct Coalescer {
    CoalescingRule rule{};
    uint32_t cycles_per_transaction = 2;
    friend bool operator==(const Coalescer&, const Coalescer&) = default;
  } coalescer;
  struct LoadStore {            ///< [lsu]
    uint32_t queue = 0;         ///< warp memory operations waiting for the coalescer
    uint32_t mshrs = 0;         ///< outstanding read transactions per SM
    uint32_t store_buffer = 0;  ///< outstanding write transactions per SM
    friend bool operator==(const LoadStore&, const LoadStore&) = default;
  } lsu;
  /// L1 data cache of an SM.
  struct FirstLevel {    ///< [l1]
    uint32_t bytes = 0;  ///< 0: there is none
    uint32_t line = 128, sector = 32, ways = 4;
    uint32_t latency = 0;            ///< core cycles from look-up to data
    uint32_t mshrs = 0, merges = 0;  ///< lines on their way; accesses that wait for one of them
    uint32_t warp_mshrs = 0;         ///< of one warp; 0: no limit
    uint32_t tag_lines = 1;          ///< lines whose tags are looked up in one cycle, neighbours
    SetIndexKind index{};
    std::string replacement;  ///< a policy of components/cache/replacement
    ReplacementPolicyKeys policy_keys;
    AllocateOn allocate{};
    bool cache_global = true;  ///< false: local memory only
    WriteHit write_global{}, write_local{};
    friend bool operator==(const FirstLevel&, const FirstLevel&) = default;
  } l1;
  struct Shared {
    uint32_t bytes = 0;     ///< per SM, at most
    uint32_t carveout = 0;  ///< unit in which it is taken from the L1; 0: a memory of its own
    uint32_t banks = 0, bank_bytes = 4;
    uint32_t lanes_per_access = 16;  ///< 16: half-warp rules; 32 from 2.0
    uint32_t cycles_per_access =
        2;  ///< core cycles that one conflict-free access of lanes_per_access lanes takes
    /// Core cycles ahead of their tensor core in which steps of wgmma are queued, whose matrices it fetches,
    /// B once for the four warps; 0: each warp loads them, and waits.
    uint32_t tensor_queue = 0;
    friend bool operator==(const Shared&, const Shared&) = default;
  } shared;
  struct Constant {
    uint32_t l1_bytes = 0, l1_line = 0, l1_ways = 0;  ///< per SM; a hit takes latency.load_const
    uint32_t l2_bytes = 0, l2_line = 0, l2_ways = 0;  ///< per cluster
    uint32_t l3_bytes = 0, l3_line = 0, l3_ways = 0;  ///< shared, sliced over the partitions
    double l2_latency_ns = 0, l3_latency_ns = 0;      ///< added beyond the level before
    uint32_t mshrs = 0;
    bool idle_loads = false;  ///< loads that no lane executes keep their pipe busy, too
    friend bool operator==(const Constant&, const Constant&) = default;
  } constant;
  /// Path of texture reads.
  struct Texture {  ///< [texture]
    TextureCache cache{};
    bool read_only_loads = false;  ///< ld.global.nc takes that path too
    bool tiled = false;            ///< 2-D and 3-D textures lie in tiles
    TextureScope scope{};          ///< who shares an own cache
    uint32_t l1_bytes = 0, l1_line = 0, l1_ways = 0;
    uint32_t l1_latency = 0;         ///< core cycles from look-up to data
    uint32_t queue = 0;              ///< warp reads in the path, per SM
    uint32_t fetches = 0;            ///< lines asked for and not back yet, per SM
    uint32_t mshrs = 0, merges = 0;  ///< lines that a cache misses; reads that wait for one of them
    uint32_t l2_bytes = 0;           ///< all partitions together; 0: none
    uint32_t l2_line = 0, l2_ways = 0;
    double l2_latency_ns = 0;  ///< from look-up to reply
    friend bool operator==(const Texture&, const Texture&) = default;
  } texture;
  struct Interconnect {
    std::string topology;  ///< one of components/noc/topology
    TopologyKeys policy_keys;
    Arbitration arbitration{};
    uint32_t flit_bytes = 0;        ///< per port and interconnect cycle
    uint32_t reply_flit_bytes = 0;  ///< flit_bytes of the reply network; 0: equal
    uint32_t header_bytes = 0;
    uint32_t sms_per_port = 0;    ///< of a cluster, on a port together; 0: gpu.sms_per_cluster
    uint32_t queue = 0;           ///< packets per input queue
    uint32_t request_queues = 1;  ///< of an SM or texture cache, each for every n-th partition
    uint32_t reply_queues = 1;    ///< of a partition, each for every n-th reply port
    uint32_t mesh_width = 0;      ///< routers in a row; 0: nearly square
    uint32_t hop_cycles = 1;      ///< interconnect cycles from router to router
    uint32_t router_queue = 4;    ///< packets of one neighbour in a router
    double request_latency_ns = 0, reply_latency_ns = 0;
    friend bool operator==(const Interconnect&, const Interconnect&) = default;
  } interconnect;
  struct Partition {  ///< [l2]: the partition's pipeline in front of the DRAM channel, and its cache
    uint32_t partitions = 0;
    uint32_t interleave = 0;  ///< bytes
    uint32_t queue = 0;
    double latency_ns = 0;            ///< from request arrival to the DRAM queue
    double atomic_cycles = 1;         ///< interconnect cycles for each step of an atomic access (coalescer.h)
    double atomic_float_cycles = 0;   ///< the same for floating-point numbers; 0: as atomic_cycles
    double atomic_access_cycles = 0;  ///< besides those of its steps
    /// Interconnect cycles of the port of a slice's data, for each sector that goes through it.
    double read_cycles = 0, write_cycles = 0, fill_cycles = 0;
    PartitionHash hash{};    ///< which partition a block of addresses is in
    uint32_t hash_bits = 0;  ///< address bits that kXor and kPolynomial hash besides the partition's; 0: all
    // L2 data cache, a slice in each partition.
    uint32_t bytes = 0;  ///< all slices; 0: there is none
    uint32_t line = 128, sector = 32, ways = 16;
    uint32_t mshrs = 0, merges = 0;  ///< per slice, as in [l1]
    double hit_latency_ns = 0;       ///< from look-up to reply
    SetIndexKind index{};
    std::string replacement;  ///< as in [l1]
    ReplacementPolicyKeys policy_keys;
    double dirty_share = 1;     ///< of a set's lines, that may be modified
    uint32_t halves = 1;        ///< parts of the chip that clusters and partitions belong to
    double far_latency_ns = 0;  ///< of a reply to a cluster of another half, more
    bool replicated = false;    ///< only values of atomic operations come from another half
    friend bool operator==(const Partition&, const Partition&) = default;
  } l2;
  /// Translation look-aside buffers.
  struct Tlb {                ///< [tlb]
    uint32_t l1_entries = 0;  ///< per SM; 0: addresses need no translation
    uint32_t page_bytes = 0, l1_ways = 0;
    uint32_t l1_misses = 0;   ///< pages on their way, per SM
    bool look_ahead = false;  ///< pages are looked up when an access enters the queue
    uint32_t l2_entries = 0, l2_ways = 0;
    TlbScope l2_scope{};
    double l2_latency_ns = 0, walk_latency_ns = 0;
    uint32_t walkers = 0;
    uint64_t table_bytes = 0;     ///< memory whose translations one line of the page table holds; 0: no lines
    double table_latency_ns = 0;  ///< a walk in a line that another has read
    friend bool operator==(const Tlb&, const Tlb&) = default;
  } tlb;
  struct Dram {
    uint32_t channels = 1;  ///< per partition
    uint32_t banks = 0, row_bytes = 0, bus_bytes = 0, burst_bytes = 0;
    uint32_t bank_groups = 1;
    uint32_t group_interleave = 0;  ///< consecutive bytes of one bank group; 0: a row
    std::string scheduler;          ///< a policy of components/dram/scheduler
    std::string page;               ///< of components/dram/row_policy
    std::string refresh;            ///< of components/dram/refresh
    DramPolicyKeys policy_keys;
    uint32_t queue = 0;  ///< requests that the controller chooses among
    uint32_t reply_queue = 0;
    double latency_ns = 0;
    double cl_ns = 0, rcd_ns = 0, rp_ns = 0, ras_ns = 0, rc_ns = 0, rrd_ns = 0, wl_ns = 0, ccd_ns = 0,
           wr_ns = 0, cdlr_ns = 0, rtw_ns = 0, refi_ns = 0, rfc_ns = 0;
    double ccd_l_ns = 0, rrd_l_ns = 0;       ///< within a bank group; 0: as ccd, rrd
    double faw_ns = 0;                       ///< four activates; 0: no limit
    uint32_t write_high = 0, write_low = 0;  ///< write-drain watermarks
    uint32_t starvation_limit = 0;           ///< memory cycles after which the oldest request goes first
    bool bank_hash = false;
    friend bool operator==(const Dram&, const Dram&) = default;
  } dram;
  /// Voltage against clock of a domain: a table, or f ~ (V - Vt)^g / V anchored at the highest clock
  /// (simcore/config/voltage_curve.h).
  struct VoltageCurve {
    int64_t max_khz = 0;   ///< the clock that needs `voltage`; 0: that of [clocks]
    double voltage = 1;    ///< V; [energy] holds for it
    double threshold = 0;  ///< Vt
    double exponent = 2;   ///< g
    double floor = 0;      ///< V; never below
    std::string points;    ///< "600MHz 0.9V, 1296MHz 1.1V": instead of the formula
    friend bool operator==(const VoltageCurve&, const VoltageCurve&) = default;
  };
  struct Dvfs {  ///< [dvfs]
    VoltageCurve core, interconnect, dram;
    Governor governor{};
    double period_ns = 0;  ///< between two decisions
    double high = 0, low = 0;
    int64_t lowest_khz = 0;  ///< of the clocks that the governor chooses among; 0: half the highest
    int64_t steps = 0;       ///< how many these are, without a table
    friend bool operator==(const Dvfs&, const Dvfs&) = default;
  } dvfs;
  /// Energy of events in pJ and static power in W, at the highest voltage of the curves in [dvfs].
  struct Energy {  ///< [energy]
    double issue = 0;
    double integer = 0, int_mul = 0, fp32 = 0, half = 0, fp64 = 0, sfu = 0, mma_half = 0, mma_int8 = 0,
           mma_fp64 = 0, lane_access = 0, register_word = 0;
    double shared = 0, l1 = 0, constant = 0, texture = 0, core_active = 0;
    double l2_sector = 0, flit = 0;
    double dram_activate = 0, dram_read = 0, dram_write = 0, dram_refresh = 0;
    double core_cycle = 0, interconnect_cycle = 0, dram_cycle = 0;
    double core_static_w = 0, interconnect_static_w = 0, dram_static_w = 0, board_w = 0;
    friend bool operator==(const Energy&, const Energy&) = default;
  } energy;
  int64_t memory_bytes = 0;  ///< [gpu] memory: device memory size
  friend bool operator==(const MachineConfig&, const MachineConfig&) = default;
};

/// SMs that share a port of the interconnect.
[[nodiscard]] constexpr uint32_t sms_per_port(const MachineConfig& machine) {
  return machine.interconnect.sms_per_port != 0 ? machine.interconnect.sms_per_port
                                                : machine.gpu.sms_per_cluster;
}
/// Ports of the interconnect on the SMs' side.
[[nodiscard]] constexpr uint32_t sm_ports(const MachineConfig& machine) {
  return (machine.gpu.sms + sms_per_port(machine) - 1) / sms_per_port(machine);
}

/// Clocks that a run or a launch sets; 0: as the machine has it.
struct ClockChoice {
  int64_t core_khz = 0, interconnect_khz = 0, dram_khz = 0;
  [[nodiscard]] bool any() const { return core_khz != 0 || interconnect_khz != 0 || dram_khz != 0; }
  friend bool operator==(const ClockChoice&, const ClockChoice&) = default;
};

}  // namespace gpusim::core
