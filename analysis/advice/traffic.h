// What goes through the memory system in a kernel's accesses, and what its units have to do when that
// changes.
#pragma once
#include <functional>
#include <map>
#include <string_view>

#include "analysis/advice/facts.h"

namespace gpusim::analysis::advice {

inline constexpr double kSector = 32, kLine = 128;
/// A share of a kernel's transactions or bytes below which no rule speaks of it.
inline constexpr double kWorthwhile = 0.1;

/// Of accesses to global and local memory.
struct Traffic {
  double load_transactions = 0, store_transactions = 0;  ///< and atomic ones, among the loads
  double load_bytes = 0, store_bytes = 0;                ///< moved
  double load_asked = 0, store_asked = 0;
  double local_stores = 0, local_store_bytes = 0;  ///< of the stores, those to local memory

  [[nodiscard]] double transactions() const { return load_transactions + store_transactions; }
};

[[nodiscard]] bool in_memory(std::string_view op_class);
void add(Traffic& t, std::string_view op_class, double transactions, double moved, double asked);
[[nodiscard]] Traffic recorded_traffic(const Facts& facts);

/// No more than 1: no change makes a unit's work more.
[[nodiscard]] double ratio(double after, double before);

/// Where local stores stay in the L1, only lines that are replaced go on: as large a part of these as `t` has
/// of the recorded stores.
[[nodiscard]] Traffic beyond_l1(const Facts& facts, const Traffic& recorded, Traffic t);

/// Work of the units of memory with other traffic. What an L1 keeps is kept of the rest as well.
void set_traffic(const Facts& facts, const Traffic& before, const Traffic& after, Work& work);
/// Of the units of an SM, and of those behind it.
void set_sm_traffic(const Traffic& before, const Traffic& after, Work& work);
void set_network_traffic(const Facts& facts, const Traffic& before, const Traffic& after, Work& work);

/// Requests that no longer crowd: each partition has as much work as the mean, other than atomics.
void spread_over_partitions(const Facts& facts, Work& work);

/// How many operations of a class, of warps.
using Operations = std::map<std::string_view, double>;
/// What their issue and their pipes take of it, evenly spread.
void add_operations(const Facts& facts, const Operations& more, Work& work);

/// So many blocks that they are spread evenly: each SM, scheduler and port of SMs has the mean's share.
void spread_over_sms(const Facts& facts, Work& work);

/// DRAM's data bus and rows with other bytes read and written.
void set_dram(const Facts& facts, double read, double written, Work& work);

/// The memory system's work without these accesses.
void leave_out(const Facts& facts, const std::function<bool(uint64_t)>& chosen, Work& work);

/// A load or store of a tensor operation's tile, of which the machine says which lane has what.
[[nodiscard]] bool is_of_fragment(const Facts& facts, uint64_t pc);

/// Transactions and bytes that an operation's accesses need at least.
struct Least {
  double transactions = 0, bytes = 0;
};
[[nodiscard]] Least least_of(const Facts& facts, uint64_t pc);

/// Adds what it takes that each block fetches the same `bytes` at its beginning: blocks that begin together
/// all ask the few partitions that have them, line by line, and nothing else goes on meanwhile.
void add_crowd(const Facts& f, double bytes, double blocks_per_sm, Work& work);

}  // namespace gpusim::analysis::advice
