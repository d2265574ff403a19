#include "analysis/models/latency_hidden/counts.h"

#include <initializer_list>
#include <span>

namespace gpusim::analysis::latency_hidden {
namespace {

double counter(const KernelRecord& kernel, std::initializer_list<const char*> names) {
  double sum = 0;
  for (const char* name : names)
    if (const auto at = kernel.counters.find(name); at != kernel.counters.end()) sum += at->second;
  return sum;
}

constexpr std::array kFields{
    CountField{"executed", &Counts::executed},
    CountField{"longest_sum", &Counts::longest_sum},
    CountField{"longest", &Counts::longest},
    CountField{"flops", &Counts::flops},
    CountField{"accesses", &Counts::accesses},
    CountField{"pages", &Counts::pages},
    CountField{"sm_page_misses", &Counts::sm_page_misses},
    CountField{"page_misses", &Counts::page_misses},
    CountField{"requests", &Counts::requests},
    CountField{"to_busiest", &Counts::to_busiest},
    CountField{"rows", &Counts::rows},
    CountField{"l1_hits", &Counts::l1_hits},
    CountField{"l1_loads", &Counts::l1_loads},
    CountField{"l2_reads", &Counts::l2_reads},
    CountField{"l2_read_hits", &Counts::l2_read_hits},
    CountField{"l2_sectors", &Counts::l2_sectors},
    CountField{"l2_atomics", &Counts::l2_atomics},
    CountField{"l2_atomic_hits", &Counts::l2_atomic_hits},
    CountField{"dram_read", &Counts::dram_read},
    CountField{"dram_written", &Counts::dram_written},
    CountField{"dram_requests", &Counts::dram_requests},
    CountField{"dram_to_busiest", &Counts::dram_to_busiest},
};

}  // namespace

std::span<const CountField> count_fields() { return kFields; }

Counts recorded_counts(const KernelRecord& kernel) {
  Counts c;
  c.executed = counter(kernel, {"inst_executed"});
  c.longest_sum = counter(kernel, {"longest_warp_of_blocks"});
  c.longest = counter(kernel, {"longest_warp"});
  c.flops = counter(kernel, {"flop_count"});
  c.accesses = counter(kernel, {"gld_request", "gst_request", "atom_count", "local_load", "local_store"});
  c.pages = counter(kernel, {"tlb_l1_hits", "tlb_l1_misses"});
  c.sm_page_misses = counter(kernel, {"tlb_l1_misses"});
  c.page_misses = counter(kernel, {"tlb_l2_misses"});
  c.requests = counter(kernel, {"noc_requests"});
  c.to_busiest = counter(kernel, {"noc_requests_to_busiest"});
  c.rows = counter(kernel, {"dram_row_misses", "dram_row_conflicts"});
  c.l1_hits = counter(kernel, {"l1_global_load_hit", "l1_local_load_hit"});
  c.l1_loads = c.l1_hits + counter(kernel, {"l1_global_load_miss", "l1_local_load_miss"});
  c.l2_reads = counter(kernel, {"l2_read_sectors"});
  c.l2_read_hits = counter(kernel, {"l2_read_hit_sectors"});
  c.l2_sectors = counter(kernel, {"l2_read_sectors", "l2_write_sectors", "l2_atomic_sectors"});
  c.l2_atomics = counter(kernel, {"l2_atomic_sectors"});
  c.l2_atomic_hits = counter(kernel, {"l2_atomic_hit_sectors"});
  c.dram_read = counter(kernel, {"dram_read_bytes"});
  c.dram_written = counter(kernel, {"dram_write_bytes"});
  return c;
}

void take_input(Input input, const std::vector<OpCounts>& ops, const Counts& from,
                std::vector<OpCounts>& to_ops, Counts& to) {
  const auto take = [&](std::initializer_list<double Counts::*> members) {
    for (const auto member : members) to.*member = from.*member;
  };
  switch (input) {
    case Input::kOperations:
      take({&Counts::executed, &Counts::longest_sum, &Counts::longest});
      // Transactions stay what they are, for one execution.
      for (size_t pc = 0; pc < ops.size(); ++pc) {
        OpCounts& op = to_ops[pc];
        const double times = op.executed > 0 ? ops[pc].executed / op.executed : 0;
        op = op.executed > 0 ? OpCounts{ops[pc].executed,       times * op.transactions, times * op.requested,
                                        times * op.transferred, times * op.words,        times * op.replays,
                                        times * op.rounds}
                             : ops[pc];
      }
      break;
    case Input::kTransactions:
      take({&Counts::accesses});
      for (size_t pc = 0; pc < ops.size(); ++pc) {
        OpCounts& op = to_ops[pc];
        if (ops[pc].executed <= 0) continue;
        const double times = op.executed / ops[pc].executed;
        op = {op.executed,
              times * ops[pc].transactions,
              times * ops[pc].requested,
              times * ops[pc].transferred,
              times * ops[pc].words,
              times * ops[pc].replays,
              times * ops[pc].rounds};
      }
      break;
    case Input::kRows:
      take({&Counts::rows});
      break;
    case Input::kPartitions:
      take({&Counts::requests, &Counts::to_busiest, &Counts::dram_requests, &Counts::dram_to_busiest});
      break;
    case Input::kPages:
      take({&Counts::pages, &Counts::sm_page_misses, &Counts::page_misses});
      break;
    case Input::kCaches:
      take({&Counts::l1_hits, &Counts::l1_loads, &Counts::l2_reads, &Counts::l2_read_hits,
            &Counts::l2_sectors, &Counts::l2_atomics, &Counts::l2_atomic_hits, &Counts::dram_read,
            &Counts::dram_written});
      break;
    case Input::kCount:
      break;
  }
}

}  // namespace gpusim::analysis::latency_hidden
