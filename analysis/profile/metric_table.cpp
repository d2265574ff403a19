// The metrics, in the order in which they are printed. Sources: the names and quantities are those of
// NVIDIA's profilers; what each is computed from is said in its definition.
#include "analysis/profile/metrics.h"

namespace gpusim::analysis {
namespace {

using Q = Quantities;
using enum Space;

constexpr int kFirst = 10, kLast = 99;
constexpr int kFermi = 20, kFermiEnd = 29, kKepler = 30, kKeplerEnd = 39, kMaxwell = 50;
constexpr int kTeslaEnd = 19;  // 1.x
constexpr double kSector = 32;

constexpr const char* kNoLoads = "global loads";
constexpr const char* kNoStores = "global stores";
constexpr const char* kNoTextures = "reads that looked up the texture cache";
constexpr const char* kNoLocalL1 = "local loads or stores that looked up the L1 cache";

double inst_executed(const Q& q) { return q.counter("inst_executed"); }
double active_cycles(const Q& q) { return q.sm("active_cycles"); }
double per_second(const Q& q, double amount) { return Q::ratio(amount, q.seconds(), "cycles"); }
double percent(double part, double whole, const char* none) { return 100 * Q::ratio(part, whole, none); }

/// Bytes that global loads move on 2.x: whole lines through the L1 cache, sectors past it.
double fermi_load_bytes(const Q& q) {
  const auto& l1 = q.machine().l1;
  if (l1.bytes == 0 || !l1.cache_global) return q.pc("transferred_bytes", kGlobalLoad);
  return static_cast<double>(l1.line) * q.pc("transactions", kGlobalLoad);
}

double shared_step_bytes(const Q& q) {
  return static_cast<double>(q.machine().shared.banks * q.machine().shared.bank_bytes);
}

double shared_efficiency(const Q& q) {
  if (q.pc("transactions", kSharedOperand) != 0)
    Q::unavailable("the bytes that shared-memory operands of arithmetic asked for are not recorded");
  const double steps = q.pc("transactions", kSharedLoad) + q.pc("transactions", kSharedStore);
  const double bytes = q.pc("requested_bytes", kSharedLoad) + q.pc("requested_bytes", kSharedStore);
  return percent(bytes, steps * shared_step_bytes(q), "shared-memory accesses");
}

double shared_load_transactions(const Q& q) {
  return q.pc("transactions", kSharedLoad) + q.pc("transactions", kSharedOperand);
}

double texture_lines(const Q& q) { return q.counter("tex_cache_hit") + q.counter("tex_cache_miss"); }

double hits(const Q& q, const char* kind) { return q.counter(std::string("l1_local_") + kind); }

double local_hit_rate(const Q& q) {
  const double hit = hits(q, "load_hit") + hits(q, "store_hit");
  return percent(hit, hit + hits(q, "load_miss") + hits(q, "store_miss"), kNoLocalL1);
}

double global_hit_rate(const Q& q) {
  const double hit = q.counter("l1_global_load_hit");
  return percent(hit, hit + q.counter("l1_global_load_miss"), "global loads that looked up the L1 cache");
}

double l2_reads(const Q& q) {
  return q.counter("l2_read_sectors") + q.counter("l2_constant_sectors") + q.counter("l2_texture_sectors");
}

double l2_read_hit_rate(const Q& q) {
  return percent(q.counter("l2_read_hit_sectors"), q.counter("l2_read_sectors"), "reads of the L2 cache");
}

constexpr Metric kMetrics[] = {
    // instructions
    {"inst_executed", "smsp__inst_executed.sum", "1", kFirst, kLast,
     "machine operations executed by warps, each counted once however often it is replayed", inst_executed},
    {"inst_issued", "smsp__inst_issued.sum", "1", kFirst, kLast,
     "machine operations issued, replays included: each further step of a shared-memory bank conflict or of "
     "a constant load of several addresses is one more issue",
     [](const Q& q) { return q.counter("inst_issued"); }},
    {"inst_replay_overhead", "", "1", kFirst, kLast,
     "(inst_issued - inst_executed) / inst_executed: replays per operation",
     [](const Q& q) {
       return Q::ratio(q.counter("inst_issued") - inst_executed(q), inst_executed(q), "operations executed");
     }},
    {"inst_per_warp", "smsp__average_inst_executed_per_warp.ratio", "1", kFirst, kLast,
     "inst_executed / warps launched",
     [](const Q& q) { return Q::ratio(inst_executed(q), q.counter("warps"), "warps"); }},
    {"ipc", "smsp__inst_executed.avg.per_cycle_active", "1", kFirst, kLast,
     "inst_executed / the sum over SMs of the cycles with a resident warp: per active cycle of an SM",
     [](const Q& q) { return Q::ratio(inst_executed(q), active_cycles(q), "active cycles"); }},
    {"issued_ipc", "smsp__inst_issued.avg.per_cycle_active", "1", kFirst, kLast,
     "inst_issued / the same active cycles",
     [](const Q& q) { return Q::ratio(q.counter("inst_issued"), active_cycles(q), "active cycles"); }},
    {"ipc_elapsed", "sm__inst_executed.avg.per_cycle_elapsed", "1", kFirst, kLast,
     "inst_executed / (cycles of the kernel x SMs of the machine); nvprof has no name for it",
     [](const Q& q) {
       return Q::ratio(inst_executed(q) / q.cycles(), static_cast<double>(q.machine().gpu.sms), "SMs");
     }},
    {"issue_slot_utilization", "smsp__issue_active.avg.pct_of_peak_sustained_elapsed", "%", kFirst, kLast,
     "issue slots that issued, of all issue slots of the simulated SMs from the kernel's start to its end",
     [](const Q& q) {
       return percent(q.slots("issued"), q.all_slots(), "issue slots");
     }},
    {"warp_execution_efficiency", "smsp__thread_inst_executed_per_inst_executed.ratio", "%", kFirst, kLast,
     "active threads per warp instruction, of 32, counted over PTX instructions: thread_instructions / (32 x "
     "warp_instructions). A thread whose guard predicate is false is active. (Nsight Compute gives threads, "
     "not %)",
     [](const Q& q) {
       return percent(q.counter("thread_instructions"), 32 * q.counter("warp_instructions"),
                      "warp instructions");
     }},
    {"warp_nonpred_execution_efficiency", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "%",
     kFirst, kLast,
     "the sum over machine operations of the active lanes whose guard predicate is true / (32 x "
     "inst_executed)",
     [](const Q& q) { return percent(q.pc("active_lanes"), 32 * inst_executed(q), "operations executed"); }},
    {"branch", "", "1", kFirst, kLast, "branches, calls and returns executed by warps",
     [](const Q& q) { return q.counter("branch"); }},
    {"divergent_branch", "", "1", kFirst, kLast,
     "of these, the ones after which lanes of the warp went different ways",
     [](const Q& q) { return q.counter("divergent_branch"); }},
    {"branch_efficiency", "smsp__sass_average_branch_targets_threads_uniform.pct", "%", kFirst, kLast,
     "(branch - divergent_branch) / branch",
     [](const Q& q) {
       return percent(q.counter("branch") - q.counter("divergent_branch"), q.counter("branch"), "branches");
     }},
    // occupancy
    {"achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "1", kFirst, kLast,
     "resident warps summed over cycles / active cycles / the largest number of warps that an SM holds (a "
     "fraction; Nsight Compute gives %)",
     [](const Q& q) {
       return Q::ratio(Q::ratio(q.sm("active_warp_cycles"), active_cycles(q), "active cycles"),
                       static_cast<double>(q.machine().sm.max_warps), "warps per SM");
     }},
    {"sm_efficiency", "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed", "%", kFirst, kLast,
     "cycles in which an SM has a resident warp, of the kernel's cycles, on average over all SMs of the "
     "machine",
     [](const Q& q) {
       return percent(active_cycles(q), q.cycles() * static_cast<double>(q.machine().gpu.sms), "cycles");
     }},
    // global memory
    {"gld_request", "smsp__inst_executed_op_global_ld.sum", "1", kFirst, kLast,
     "global load operations of warps with at least one active thread",
     [](const Q& q) { return q.counter("gld_request"); }},
    {"gst_request", "smsp__inst_executed_op_global_st.sum", "1", kFirst, kLast,
     "global store operations of warps with at least one active thread",
     [](const Q& q) { return q.counter("gst_request"); }},
    {"gld_transactions", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "transactions", kFirst, kTeslaEnd,
     "transactions of 32, 64 or 128 bytes that the coalescer makes of global loads, half-warp by half-warp; "
     "local loads and atomics are counted apart",
     [](const Q& q) { return q.pc("transactions", kGlobalLoad); }},
    {"gld_transactions", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "transactions", kFermi, kFermiEnd,
     "128-byte lines of cached global loads and 32-byte sectors of uncached ones",
     [](const Q& q) { return q.pc("transactions", kGlobalLoad); }},
    {"gld_transactions", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "transactions", kKepler, kLast,
     "32-byte sectors of global loads",
     [](const Q& q) { return q.pc("transferred_bytes", kGlobalLoad) / kSector; }},
    {"gst_transactions", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "transactions", kFirst, kTeslaEnd,
     "transactions of 32, 64 or 128 bytes that the coalescer makes of global stores; local stores are "
     "counted apart",
     [](const Q& q) { return q.pc("transactions", kGlobalStore); }},
    {"gst_transactions", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "transactions", kFermi, kLast,
     "32-byte sectors of global stores",
     [](const Q& q) { return q.pc("transferred_bytes", kGlobalStore) / kSector; }},
    {"gld_transactions_per_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
     "1", kFirst, kFermiEnd, "gld_transactions / gld_request",
     [](const Q& q) {
       return Q::ratio(q.pc("transactions", kGlobalLoad), q.counter("gld_request"), kNoLoads);
     }},
    {"gld_transactions_per_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
     "1", kKepler, kLast, "gld_transactions (sectors) / gld_request",
     [](const Q& q) {
       return Q::ratio(q.pc("transferred_bytes", kGlobalLoad) / kSector, q.counter("gld_request"), kNoLoads);
     }},
    {"gst_transactions_per_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
     "1", kFirst, kTeslaEnd, "gst_transactions / gst_request",
     [](const Q& q) {
       return Q::ratio(q.pc("transactions", kGlobalStore), q.counter("gst_request"), kNoStores);
     }},
    {"gst_transactions_per_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
     "1", kFermi, kLast, "gst_transactions (sectors) / gst_request",
     [](const Q& q) {
       return Q::ratio(q.pc("transferred_bytes", kGlobalStore) / kSector, q.counter("gst_request"),
                       kNoStores);
     }},
    {"gld_efficiency", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%", kFirst,
     kTeslaEnd,
     "bytes that threads asked for with global loads / bytes moved by their 32-, 64- and 128-byte "
     "transactions. Above 100 % where threads of a half-warp read the same word",
     [](const Q& q) {
       return percent(q.pc("requested_bytes", kGlobalLoad), q.pc("transferred_bytes", kGlobalLoad), kNoLoads);
     }},
    {"gld_efficiency", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%", kFermi,
     kFermiEnd,
     "bytes that threads asked for with global loads / (128 x lines of cached loads + 32 x sectors of "
     "uncached ones)",
     [](const Q& q) {
       return percent(q.pc("requested_bytes", kGlobalLoad), fermi_load_bytes(q), kNoLoads);
     }},
    {"gld_efficiency", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%", kKepler, kLast,
     "bytes that threads asked for with global loads / (32 x sectors)",
     [](const Q& q) {
       return percent(q.pc("requested_bytes", kGlobalLoad), q.pc("transferred_bytes", kGlobalLoad), kNoLoads);
     }},
    {"gst_efficiency", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "%", kFirst,
     kTeslaEnd,
     "bytes that threads stored to global memory / bytes moved by their 32-, 64- and 128-byte transactions",
     [](const Q& q) {
       return percent(q.pc("requested_bytes", kGlobalStore), q.pc("transferred_bytes", kGlobalStore),
                      kNoStores);
     }},
    {"gst_efficiency", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "%", kFermi, kLast,
     "bytes that threads stored to global memory / (32 x sectors)",
     [](const Q& q) {
       return percent(q.pc("requested_bytes", kGlobalStore), q.pc("transferred_bytes", kGlobalStore),
                      kNoStores);
     }},
    {"gld_requested_throughput", "", "bytes/s", kFirst, kLast,
     "bytes that threads asked for with global loads / time",
     [](const Q& q) { return per_second(q, q.pc("requested_bytes", kGlobalLoad)); }},
    {"gst_requested_throughput", "", "bytes/s", kFirst, kLast,
     "bytes that threads stored to global memory / time",
     [](const Q& q) { return per_second(q, q.pc("requested_bytes", kGlobalStore)); }},
    {"gld_throughput", "l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum.per_second", "bytes/s", kFirst, kTeslaEnd,
     "bytes moved by transactions of global loads / time",
 [](const Q& q) { return per_second(q, q.pc("transferred_bytes", kGlobalLoad)); }},
    {"gld_throughput", "l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum.per_second", "bytes/s", kFermi, kFermiEnd,
 "(128 x lines of cached global loads + 32 x sectors of uncached ones) / time",
 [](const Q& q) { return per_second(q, fermi_load_bytes(q)); }},
    {"gld_throughput", "l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum.per_second", "bytes/s", kKepler, kLast,
 "32 x sectors of global loads / time",
 [](const Q& q) { return per_second(q, q.pc("transferred_bytes", kGlobalLoad)); }},
    {"gst_throughput", "l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum.per_second", "bytes/s", kFirst, kLast,
     "bytes moved by transactions of global stores / time",
     [](const Q& q) { return per_second(q, q.pc("transferred_bytes", kGlobalStore)); }},
    {"atomic_transactions", "", "transactions", kFirst, kLast,
     "transactions of atomics and reductions on global memory",
     [](const Q& q) { return q.pc("transactions", kGlobalAtomic); }},
    {"atomic_transactions_per_request", "", "1", kFirst, kLast,
     "atomic_transactions / atomic and reduction operations of warps with at least one active thread",
     [](const Q& q) {
       return Q::ratio(q.pc("transactions", kGlobalAtomic), q.counter("atom_count"), "global atomics");
     }},
    // local memory
    {"local_load", "smsp__inst_executed_op_local_ld.sum", "1", kFirst, kLast,
     "local load operations of warps: spilled registers, indexed local arrays, the call stack",
     [](const Q& q) { return q.counter("local_load"); }},
    {"local_store", "smsp__inst_executed_op_local_st.sum", "1", kFirst, kLast,
     "local store operations of warps", [](const Q& q) { return q.counter("local_store"); }},
    {"local_load_transactions", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "transactions", kFirst,
     kLast, "transactions of local loads", [](const Q& q) { return q.pc("transactions", kLocalLoad); }},
    {"local_store_transactions", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "transactions", kFirst,
     kLast, "transactions of local stores", [](const Q& q) { return q.pc("transactions", kLocalStore); }},
    {"local_load_transactions_per_request",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_local_op_ld.ratio", "1", kFirst, kLast,
     "local_load_transactions / local_load",
     [](const Q& q) {
       return Q::ratio(q.pc("transactions", kLocalLoad), q.counter("local_load"), "local loads");
     }},
    {"local_store_transactions_per_request",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_local_op_st.ratio", "1", kFirst, kLast,
     "local_store_transactions / local_store",
     [](const Q& q) {
       return Q::ratio(q.pc("transactions", kLocalStore), q.counter("local_store"), "local stores");
     }},
    {"l1_cache_global_hit_rate", "", "%", kFermi, kKeplerEnd,
     "lines of global loads that the L1 cache had / lines looked up; one that is on its way is a miss",
     global_hit_rate},
    {"l1_local_load_hit", "", "1", kFermi, kKeplerEnd, "lines of local loads that the L1 cache had",
     [](const Q& q) { return hits(q, "load_hit"); }},
    {"l1_local_load_miss", "", "1", kFermi, kKeplerEnd, "lines of local loads that the L1 cache did not have",
     [](const Q& q) { return hits(q, "load_miss"); }},
    {"l1_local_store_hit", "", "1", kFermi, kKeplerEnd, "lines of local stores that the L1 cache had",
     [](const Q& q) { return hits(q, "store_hit"); }},
    {"l1_local_store_miss", "", "1", kFermi, kKeplerEnd,
     "lines of local stores that the L1 cache did not have",
     [](const Q& q) { return hits(q, "store_miss"); }},
    {"l1_cache_local_hit_rate", "", "%", kFermi, kKeplerEnd,
     "(l1_local_load_hit + l1_local_store_hit) / these and the misses", local_hit_rate},
    {"local_load_hit_ratio", "", "%", kFermi, kKeplerEnd,
     "l1_local_load_hit / (l1_local_load_hit + l1_local_load_miss)",
     [](const Q& q) {
       return percent(hits(q, "load_hit"), hits(q, "load_hit") + hits(q, "load_miss"), kNoLocalL1);
     }},
    {"local_store_hit_ratio", "", "%", kFermi, kKeplerEnd,
     "l1_local_store_hit / (l1_local_store_hit + l1_local_store_miss)",
     [](const Q& q) {
       return percent(hits(q, "store_hit"), hits(q, "store_hit") + hits(q, "store_miss"), kNoLocalL1);
     }},
    // textures
    {"tex_cache_hit_rate", "", "%", kFirst, kKeplerEnd,
     "lines of texture reads (and read-only loads that go there) that the texture caches had / lines looked "
     "up; one that is on its way is a miss",
     [](const Q& q) { return percent(q.counter("tex_cache_hit"), texture_lines(q), kNoTextures); }},
    {"tex_cache_hit_rate", "l1tex__t_sector_hit_rate.pct", "%", kMaxwell, kLast,
     "lines of global loads and texture reads that the unified cache had / lines looked up",
     [](const Q& q) {
       const double hit = q.counter("l1_global_load_hit");
       return percent(hit, hit + q.counter("l1_global_load_miss"), kNoTextures);
     }},
    {"tex_cache_transactions", "", "transactions", kFirst, kKeplerEnd, "lines looked up in texture caches",
     texture_lines},
    {"tex_cache_throughput", "", "bytes/s", kFirst, kKeplerEnd,
     "tex_cache_transactions x bytes of a line / time",
     [](const Q& q) {
       return per_second(q, static_cast<double>(q.machine().texture.l1_line) * texture_lines(q));
     }},
    {"global_hit_rate", "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "%", kMaxwell, kLast,
     "lines of global loads that the unified L1 cache had / lines looked up; one that is on its way is a miss. "
     "(Nsight Compute counts sectors)",
     global_hit_rate},
    {"local_hit_rate", "", "%", kMaxwell, kLast,
     "lines of local loads and stores that the unified L1 cache had / lines looked up", local_hit_rate},
    // L2
    {"l2_read_transactions", "lts__t_sectors_op_read.sum", "transactions", kFermi, kLast,
     "32-byte sectors that SMs read through the L2 cache, constants and textures included", l2_reads},
    {"l2_write_transactions", "lts__t_sectors_op_write.sum", "transactions", kFermi, kLast,
     "32-byte sectors that SMs wrote to the L2 cache", [](const Q& q) { return q.counter("l2_write_sectors"); }},
    {"l2_atomic_transactions", "lts__t_sectors_op_atom.sum + lts__t_sectors_op_red.sum", "transactions", kFermi,
     kLast, "32-byte sectors of atomics and reductions performed at the L2 cache",
     [](const Q& q) { return q.counter("l2_atomic_sectors"); }},
    {"l2_read_throughput", "lts__t_sectors_op_read.sum.per_second", "bytes/s", kFermi, kLast,
     "32 x l2_read_transactions / time. (Nsight Compute counts sectors)",
     [](const Q& q) { return per_second(q, kSector * l2_reads(q)); }},
    {"l2_write_throughput", "lts__t_sectors_op_write.sum.per_second", "bytes/s", kFermi, kLast,
     "32 x l2_write_transactions / time. (Nsight Compute counts sectors)",
     [](const Q& q) { return per_second(q, kSector * q.counter("l2_write_sectors")); }},
    {"l2_l1_read_hit_rate", "", "%", kFermi, kKeplerEnd,
     "sectors of reads from the SMs' data caches that the L2 cache had / all of them", l2_read_hit_rate},
    {"l2_tex_read_hit_rate", "", "%", kFermi, kKeplerEnd,
     "sectors of reads from the texture caches that the L2 cache had / all of them",
     [](const Q& q) {
       return percent(q.counter("l2_texture_hit_sectors"), q.counter("l2_texture_sectors"),
                      "reads of the L2 cache by texture caches");
     }},
    {"l2_tex_read_hit_rate", "lts__t_sector_op_read_hit_rate.pct", "%", kMaxwell, kLast,
     "sectors of reads from the SMs' unified caches that the L2 cache had / all of them", l2_read_hit_rate},
    {"l2_tex_write_hit_rate", "lts__t_sector_op_write_hit_rate.pct", "%", kMaxwell, kLast,
     "sectors written by SMs whose line the L2 cache had / all of them",
     [](const Q& q) {
       return percent(q.counter("l2_write_hit_sectors"), q.counter("l2_write_sectors"), "writes to the L2 cache");
     }},
    // shared memory
    {"shared_load", "smsp__inst_executed_op_shared_ld.sum", "1", kFirst, kLast,
     "shared-memory loads of warps, shared-memory operands of arithmetic (1.x) included",
     [](const Q& q) { return q.counter("shared_load"); }},
    {"shared_store", "smsp__inst_executed_op_shared_st.sum", "1", kFirst, kLast,
     "shared-memory stores and atomics of warps", [](const Q& q) { return q.counter("shared_store"); }},
    {"shared_load_transactions_per_request", "", "1", kFirst, kTeslaEnd,
     "steps of shared-memory loads / shared_load. A step serves a half-warp without conflict, so 2 is the "
     "best for a full warp of 32-bit words",
     [](const Q& q) {
       return Q::ratio(shared_load_transactions(q), q.counter("shared_load"), "shared-memory loads");
     }},
    {"shared_load_transactions_per_request", "", "1", kFermi, kLast,
     "steps of shared-memory loads / shared_load; 1 is the best for 32-bit words",
     [](const Q& q) {
       return Q::ratio(shared_load_transactions(q), q.counter("shared_load"), "shared-memory loads");
     }},
    {"shared_store_transactions_per_request", "", "1", kFirst, kTeslaEnd,
     "steps of shared-memory stores and atomics / shared_store; 2 is the best for a full warp of 32-bit "
     "words",
     [](const Q& q) {
       return Q::ratio(q.pc("transactions", kSharedStore), q.counter("shared_store"), "shared-memory stores");
     }},
    {"shared_store_transactions_per_request", "", "1", kFermi, kLast,
     "steps of shared-memory stores and atomics / shared_store; 1 is the best for 32-bit words",
     [](const Q& q) {
       return Q::ratio(q.pc("transactions", kSharedStore), q.counter("shared_store"), "shared-memory stores");
     }},
    {"l1_shared_bank_conflict", "", "1", kFirst, kLast,
     "extra steps of shared-memory accesses: an N-way conflict adds N - 1 (of each half-warp on 1.x)",
     [](const Q& q) { return q.counter("l1_shared_bank_conflict"); }},
    {"shared_efficiency", "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", "%", kFirst, kLast,
     "bytes that threads asked of shared memory / (steps x banks x bytes per bank)", shared_efficiency},
    // device memory
    {"dram_read_transactions", "dram__sectors_read.sum", "transactions", kFirst, kLast,
     "32-byte pieces read from device memory between the kernel's start and end",
     [](const Q& q) { return q.counter("dram_read_transactions"); }},
    {"dram_write_transactions", "dram__sectors_write.sum", "transactions", kFirst, kLast,
     "32-byte pieces written to device memory between the kernel's start and end",
     [](const Q& q) { return q.counter("dram_write_transactions"); }},
    {"dram_read_throughput", "dram__bytes_read.sum.per_second", "bytes/s", kFirst, kLast,
     "32 x dram_read_transactions / time",
     [](const Q& q) { return per_second(q, kSector * q.counter("dram_read_transactions")); }},
    {"dram_write_throughput", "dram__bytes_write.sum.per_second", "bytes/s", kFirst, kLast,
     "32 x dram_write_transactions / time",
     [](const Q& q) { return per_second(q, kSector * q.counter("dram_write_transactions")); }},
    // stall reasons
    {"stall_inst_fetch", "smsp__warp_issue_stalled_no_instruction_per_warp_active.pct", "%", kFirst, kLast,
     "share of stalled issue slots whose candidate warp's next instruction was not in the instruction cache "
     "(inst_fetch)",
     [](const Q& q) {
       if (q.machine().instruction.l1_bytes == 0)
         Q::unavailable("the machine has no instruction cache: operations are always there");
       return q.stall("stall_inst_fetch");
     }},
    {"stall_exec_dependency", "smsp__warp_issue_stalled_wait_per_warp_active.pct", "%", kFirst, kLast,
     "share of stalled issue slots whose candidate warp waited for an arithmetic result (alu_dependency) or "
     "for shared memory (memory_shared). A stalled slot has a candidate warp and issues nothing; the stall_ "
     "metrics together are 100 %",
     [](const Q& q) { return q.stall("stall_exec_dependency"); }},
    {"stall_memory_dependency", "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct", "%", kFirst,
     kLast,
     "share of stalled issue slots whose candidate warp waited for data of a global, local, texture or "
     "atomic access (memory_l1, memory_l2, memory_dram, memory_tex_l1, memory_tex_l2)",
     [](const Q& q) { return q.stall("stall_memory_dependency"); }},
    {"stall_texture", "smsp__warp_issue_stalled_tex_throttle_per_warp_active.pct", "%", kFirst, kLast,
     "share of stalled issue slots whose candidate warp had its operands, but found the texture path full "
     "(texture_throttle)",
     [](const Q& q) {
       if (q.machine().texture.cache != core::TextureCache::kOwn)
         Q::unavailable(
             "texture reads use the load/store queue: waits for them are in stall_memory_throttle and "
             "stall_memory_dependency");
       return q.stall("stall_texture");
     }},
    {"stall_sync", "smsp__warp_issue_stalled_barrier_per_warp_active.pct", "%", kFirst, kLast,
     "share of stalled issue slots whose candidate warp waited at a barrier or fence (barrier, fence)",
     [](const Q& q) { return q.stall("stall_sync"); }},
    {"stall_constant_memory_dependency", "smsp__warp_issue_stalled_imc_miss_per_warp_active.pct", "%", kFirst,
     kLast,
     "share of stalled issue slots whose candidate warp waited for a constant, from any level "
     "(memory_const_l1, _l2, _l3)",
     [](const Q& q) { return q.stall("stall_constant_memory_dependency"); }},
    {"stall_pipe_busy", "smsp__warp_issue_stalled_math_pipe_throttle_per_warp_active.pct", "%", kFirst, kLast,
     "share of stalled issue slots whose candidate warp had its operands, but not its pipe (pipe_busy)",
     [](const Q& q) { return q.stall("stall_pipe_busy"); }},
    {"stall_memory_throttle", "smsp__warp_issue_stalled_lg_throttle_per_warp_active.pct", "%", kFirst, kLast,
     "share of stalled issue slots whose candidate warp had its operands, but found the load/store queue or "
     "the constant miss registers full (memory_throttle)",
     [](const Q& q) { return q.stall("stall_memory_throttle"); }},
    {"stall_not_selected", "smsp__warp_issue_stalled_not_selected_per_warp_active.pct", "%", kFirst, kLast,
     "the warp could issue, but another one was picked",
     [](const Q&) -> double {
       Q::unavailable("slots are accounted, not warps: when another warp is picked the slot issues");
     }},
    {"stall_other", "smsp__warp_issue_stalled_branch_resolving_per_warp_active.pct", "%", kFirst, kLast,
     "share of stalled issue slots whose candidate warp's block was starting or whose branch was being "
     "resolved (control), or with a cause that this version does not know",
     [](const Q& q) { return q.stall("stall_other"); }},
};

}  // namespace

std::span<const Metric> metric_table() { return kMetrics; }

}  // namespace gpusim::analysis
