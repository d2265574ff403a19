// The rules of the optimisation cycle. Each looks at what a kernel did (facts.h), and, if the counters prove
// that a change would help, says which, where, and what the kernel's work would then be. All are in one
// table.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/advice/facts.h"

namespace gpusim::analysis::advice {

/// Lanes exchange values by shuffles from this compute capability on, times 10.
inline constexpr int kShufflesFrom = 30;

struct Proposal {
  std::string what;           ///< to do, as a sentence without its full stop
  uint64_t pc = 0;            ///< the operation it is about; the number of operations: none
  std::string counter, unit;  ///< what proves it
  double value = 0;           ///< of the counter, in `unit`
  Work after;
};

struct Rule {
  std::string_view name;     ///< "coalescing"
  std::string_view meaning;  ///< one line
  std::optional<Proposal> (*propose)(const Facts& facts);
};

[[nodiscard]] std::span<const Rule> rules();

/// Something that costs time, and of which no rule can say what a change would gain.
struct LeftAside {
  uint64_t pc = 0;  ///< the operation that costs most
  std::string what, hint, counter;
  double sectors = 0, least = 0;  ///< of accesses: of a request, and what its bytes need
};
/// Accesses whose order is a matter of the data: loaded values say where they go. Nothing if they move little
/// beyond what their bytes need.
std::optional<LeftAside> left_aside(const Facts& facts);
/// Bank conflicts that are a matter of the data.
std::optional<LeftAside> left_aside_banks(const Facts& facts);
/// Rows that data choose, to which blocks add.
std::optional<LeftAside> left_aside_atomics(const Facts& facts);
/// Blocks that wait for other blocks.
std::optional<LeftAside> left_aside_blocks(const Facts& facts);
/// Of an atomic: it is tried again and again until a lock is free.
bool tries_to_lock(const Facts& facts, uint64_t pc);
/// Of an access: loaded values, numbers with fractions or mixed ones say its place, so that no order of the
/// threads makes neighbours of neighbours.
bool has_no_order(const Facts& facts, uint64_t pc);
/// Of an access to shared memory: loaded values say which banks lanes use.
bool banks_of_data(const Facts& facts, uint64_t pc);

// Of memory.
std::optional<Proposal> coalescing(const Facts& facts);
std::optional<Proposal> packing(const Facts& facts);
std::optional<Proposal> partition_camping(const Facts& facts);
std::optional<Proposal> shared_reuse(const Facts& facts);
std::optional<Proposal> atomics(const Facts& facts);
std::optional<Proposal> bank_conflicts(const Facts& facts);
std::optional<Proposal> wide_accesses(const Facts& facts);
std::optional<Proposal> fences(const Facts& facts);
std::optional<Proposal> trees(const Facts& facts);
std::optional<Proposal> kept_values(const Facts& facts);
std::optional<Proposal> constant_tables(const Facts& facts);
// Of local memory.
std::optional<Proposal> spills(const Facts& facts);
std::optional<Proposal> local_arrays(const Facts& facts);
// Of warps and operations.
std::optional<Proposal> occupancy(const Facts& facts);
std::optional<Proposal> more_warps(const Facts& facts);
std::optional<Proposal> block_size(const Facts& facts);
std::optional<Proposal> wave_quantisation(const Facts& facts);
std::optional<Proposal> divergence(const Facts& facts);
std::optional<Proposal> precision(const Facts& facts);
std::optional<Proposal> fast_math(const Facts& facts);
std::optional<Proposal> integer_division(const Facts& facts);

}  // namespace gpusim::analysis::advice
