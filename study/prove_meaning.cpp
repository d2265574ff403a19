#include "study/prove_meaning.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gpusim::study {
namespace {

constexpr std::array<Meaning, 38> kMeanings{{
    {"cycles between issue slots",
     "every operation of a warp takes an issue slot: a program needs fewer of them"},
    {"schedulers with their pipes", "each has issue slots and pipes of its own", true},
    {"registers",
     "a program that needs fewer for each thread has as many warps; where the compiler kept "
     "to a limit, more let it overlap iterations, as a launch bound does"},
    {"resident warps with their registers",
     "more warps hide latencies: smaller blocks, fewer registers or less shared memory let "
     "more of them in",
     true},
    {"arithmetic latencies",
     "warps wait for results of their own arithmetic: independent operations of a thread, or "
     "more warps, hide that"},
    {"latency of branches",
     "warps wait until their branches are resolved: fewer branches, or more warps, hide that"},
    {"time of barriers",
     "warps wait for the others of their block: smaller blocks, or more of them, hide that"},
    {"time of fences",
     "warps wait until other blocks would see their stores: fewer fences, or more warps, hide that"},
    {"latency of shared memory",
     "warps wait for values from shared memory: independent accesses, or more warps, hide "
     "that"},
    {"banks of shared memory",
     "an access takes a step for each word that a bank has to serve, on some machines also of the L1's data: "
     "fewer if lanes use different banks"},
    {"cycles of an access to shared memory",
     "an access takes a step for each word that a bank has to serve: fewer if lanes use "
     "different banks"},
    {"cycles of a transaction in the coalescer",
     "an access takes a transaction for each line that its lanes touch: fewer if neighbouring "
     "lanes access neighbouring words"},
    {"load/store queue",
     "accesses wait behind others in the load/store unit: what the oldest waits for is among "
     "the units of gpusim explain"},
    {"store buffer",
     "stores wait for earlier ones that are on their way: fewer transactions need fewer "
     "entries"},
    {"misses on their way (MSHRs)",
     "loads wait for earlier ones that are on their way: fewer lines need fewer MSHRs"},
    {"L1 size",
     "lines are read again after the L1 has lost them: using them again sooner, or from "
     "shared memory, needs less"},
    {"L1 lines looked up at once",
     "an access takes the load/store unit a cycle for each line that its lanes touch: fewer "
     "if neighbouring lanes access neighbouring words"},
    {"L1 latency", "warps wait for data that the L1 has: independent loads, or more warps, hide that"},
    {"constant caches", "constants, parameters and code are read again after these have lost them"},
    {"texture caches", "texels are read again after these have lost them"},
    {"interconnect and L2 clock",
     "it drives the ports of the interconnect and the memory partitions, with their L2 and "
     "their atomics"},
    {"width of interconnect ports",
     "bytes between SMs and memory partitions: fewer if sectors are used whole, or kept in "
     "shared memory"},
    {"interconnect latency", "warps wait for replies: independent loads, or more warps, hide that"},
    {"L2 size", "lines are read again after the L2 has lost them: smaller tiles need less"},
    {"L2 misses on their way", "memory partitions wait for lines that are on their way from DRAM"},
    {"cycles of an atomic operation in L2",
     "atomics of one partition follow each other: fewer if a warp or a block adds them up "
     "first"},
    {"cycles of a sector in the data of the L2",
     "slices of the L2 read, write and fill one sector after another: fewer if sectors are used whole, or "
     "kept "
     "in the L1 or shared memory"},
    {"L2 latency", "warps wait for replies: independent loads, or more warps, hide that"},
    {"TLB reach", "pages that are in use at one time: accesses that keep together need fewer"},
    {"latency of translation", "warps wait for pages: accesses that keep together need fewer"},
    {"DRAM clock",
     "it drives the data buses of DRAM: a program reads and writes fewer bytes, or keeps them "
     "in caches"},
    {"times of DRAM rows",
     "banks open one row after another for requests to different rows: fewer if what is accessed at one time "
     "lies together"},
    {"DRAM banks", "rows of one bank follow each other: fewer if what is accessed at one time lies together"},
    {"DRAM queue", "requests wait for room in front of DRAM"},
    {"DRAM latency", "warps wait for replies: independent loads, or more warps, hide that"},
    {"overhead of starting the kernel and its blocks",
     "a program starts fewer kernels, or fewer and larger blocks"},
    {"partitions of addresses",
     "requests of one time go to few memory partitions (partition camping): rows that are padded, or blocks "
     "in another order, spread them"},
    {"SMs", "each has schedulers, pipes, shared memory, an L1 and a port of its own", true},
}};
constexpr std::string_view kPipe = "cycles of the ", kEachScheduler = " pipe for each scheduler";
constexpr Meaning kPipeMeaning{
    "", "operations take this pipe in turn: a program needs fewer of them, or others in their place"};
/// Several pipes also take from shared memory, and give to the coalescer, several accesses at a time.
constexpr Meaning kPipesMeaning{
    "",
    "operations of all warps of an SM take this pipe in turn, with the steps of bank conflicts if it is the "
    "load/store pipe: a program needs fewer of them, wider accesses, or fewer conflicts",
    true};

}  // namespace

std::string pipe_change(std::string_view pipe) { return fmt::format("{}{} pipe", kPipe, pipe); }

Meaning meaning_of(std::string_view change) {
  const auto* at = std::ranges::find(kMeanings, change, &Meaning::change);
  if (at != kMeanings.end()) return *at;
  if (change.ends_with(kEachScheduler)) return kPipesMeaning;
  return change.starts_with(kPipe) ? kPipeMeaning : Meaning{};
}

}  // namespace gpusim::study
