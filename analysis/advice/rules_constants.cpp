// Tables in constant memory at places that differ between the lanes of a warp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/advice/ptx_text.h"
#include "analysis/advice/rules.h"
#include "analysis/advice/traffic.h"

namespace gpusim::analysis::advice {

std::optional<Proposal> constant_tables(const Facts& f) {
  constexpr std::string_view kFrom = "load_const", kTo = "load_shared";
  const auto chosen = [&](uint64_t pc) { return f.op_class(pc) == kFrom && f.count("replays", pc) > 0; };
  const double executed = f.sum("executed", chosen), replays = f.sum("replays", chosen);
  if (executed <= 0 || replays < kWorthwhile * executed) return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) { return chosen(pc) ? f.count("replays", pc) : 0.0; });
  p.counter = "words that a warp's load of constants asks for, one after another";
  p.unit = "words";
  p.value = 1 + f.count("replays", p.pc) / std::max(1.0, f.executed(p.pc));
  p.what =
      "copy the table into shared memory at the beginning of a block, and look it up there: constant memory "
      "gives a warp one word at a time";
  // The table has to fit beside what a block has there already.
  const uint64_t bytes = constant_bytes(f.ptx(), f.origin(p.pc).base);
  LaunchResources other = f.resources();
  other.shared_bytes += bytes;
  const double before = f.blocks_per_sm(f.resources()), blocks = f.blocks_per_sm(other);
  if (before > 0 && blocks < 1) return std::nullopt;
  p.after = f.estimator().recorded();
  if (blocks < before) p.after.rounds *= before / blocks;
  p.after.scale("constant_misses", 0);
  // Where loaded values choose the words, the fullest of 32 banks has some three and a half of 32 words.
  constexpr double kRandomSteps = 2.5;
  double steps = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (!chosen(pc)) continue;
    const double further = f.count("replays", pc) / std::max(1.0, f.executed(pc)) / 31;
    const double each = 1 + (f.origin(pc).of_data ? kRandomSteps * std::min(1.0, further) : 0);
    steps += each * f.executed(pc);
    p.after.chain[pc] += f.executed(pc) / f.warps() * f.latency(kTo);
  }
  const std::string pipe = f.pipe_of(kFrom);
  const double less = (executed + replays) * f.pipe_cycles(kFrom);
  const double more = pipe == f.pipe_of(kTo) ? steps * f.pipe_cycles(kTo) : 0;
  if (f.work(pipe) > 0) p.after.scale(pipe, std::max(0.0, 1 - (less - more) / f.work(pipe)));
  p.after.units["shared"] += steps * f.machine().shared.cycles_per_access / f.sms();
  // A block waits for the table and for its last warp.
  p.after.chain[p.pc] += f.memory_wait(true) + f.latency("barrier");
  add_crowd(f, static_cast<double>(bytes), blocks, p.after);
  return p;
}

}  // namespace gpusim::analysis::advice
