#include "components/simulation/kernel_tables.h"

#include <fmt/format.h>

#include <filesystem>

#include "components/simulation/table_builder.h"
#include "simcore/config/schema.h"

namespace gpusim::comp {

namespace {

/// Calls fn(row) for each counter of S that per_sm has.
template <class S, class Fn>
void for_each_per_sm(Fn fn) {
  for (const core::CounterRow<S>& row : core::kCounterRows<S>)
    if (row.options.per_sm != nullptr) fn(row);
}

}  // namespace

void write_per_sm(core::Recorder& recorder, const KernelLaunch& run, const Gpu& gpu,
                  const std::string& folder) {
  TableBuilder t(folder + "per_sm", "counts of each simulated SM");
  t.column("sm", "1", "SM number");
  const auto column = [&t](const auto& row) { t.column(row.options.per_sm, row.unit, row.meaning); };
  for_each_per_sm<SmWork>(column);
  for_each_per_sm<SmAccesses>(column);
  for_each_per_sm<SmConflicts>(column);
  for_each_per_sm<L1Stats>(column);
  for (const auto name : kStallCauseNames)
    t.column(fmt::format("slots_{}", name), "issue slots", "issue slots with this cause");
  uint64_t rows = 0;
  for (const auto& sm : gpu.sms()) {
    const SmStats& s = run.sm[sm->index()];
    t.cell(sm->index());
    const auto cell = [&t, &s](const auto& row) { t.cell(s.*row.member); };
    for_each_per_sm<SmWork>(cell);
    for_each_per_sm<SmAccesses>(cell);
    for_each_per_sm<SmConflicts>(cell);
    for_each_per_sm<L1Stats>([&t, &s](const auto& row) { t.cell(s.l1.*row.member); });
    for (const uint64_t v : s.slots) t.cell(v);
    ++rows;
  }
  t.write(recorder, rows);
}

void write_per_pc(core::Recorder& recorder, const KernelLaunch& run, const std::string& folder) {
  TableBuilder t(folder + "per_pc", "counts of each machine operation, over all SMs");
  t.column("pc", "1", "index of the machine operation");
  t.column("ptx_line", "1", "line of the PTX statement it comes from");
  t.column("source_line", "1", "line of the source (.loc), 0 if unknown");
  t.column("inlined_line", "1",
           "line that calls the function, through others if so, from which source_line was inlined; 0: not "
           "inlined");
  t.column("ptx_instructions", "1", "PTX instructions it stands for");
  t.column("executed", "1", "executions by warps");
  t.column("active_lanes", "1", "threads that executed it, summed");
  t.column("divergent", "1", "executions that split the warp");
  t.column("transactions", "1", "memory transactions, or shared-memory and constant steps");
  t.column("requested_bytes", "bytes", "asked for by threads");
  t.column("transferred_bytes", "bytes", "moved by transactions");
  t.column("replays", "1", "extra steps by conflicts");
  t.column("atomic_words", "1",
           "words that its global atomics take units of memory partitions for, one after another");
  t.column("sum_rounds", "1", "rounds of the loops that its sums of floats in shared memory are");
  t.column("flops", "1", "floating-point operations of the threads that executed it, summed");
  for (const StallCause cause : kAwaitedCauses)
    t.column(fmt::format("awaited_{}", kStallCauseNames[cause]), "issue slots",
             "lost by warps that waited for this access's data, which that level had");
  for (const auto name : kStallCauseNames)
    t.column(fmt::format("slots_{}", name), "issue slots",
             "issue slots whose candidate warp stood here, with this cause");
  t.text_column("ptx", "the PTX statement");
  t.text_column("class", "timing class of the operation, as in [latency]");
  t.text_column("source_file", "file of source_line, empty if unknown");
  t.text_column("ptx_file", "file of ptx_line, empty if the program is one file");
  t.text_column("inlined_file", "file of inlined_line, empty if there is none");
  const isa::KernelImage& image = *run.image;
  for (size_t pc = 0; pc < image.ops.size(); ++pc) {
    const isa::PtxStatement& s = image.ptx[image.ops[pc].ptx_index];
    const PcStats& p = run.pc[pc];
    for (const uint64_t v :
         {uint64_t{pc}, uint64_t{s.loc.line}, uint64_t{s.source_line}, uint64_t{s.inlined_line},
          uint64_t{image.ops[pc].ptx_count}, p.executed, p.active_lanes, p.divergent, p.transactions,
          p.requested_bytes, p.transferred_bytes, p.replays, p.atomic_words, p.sum_rounds,
          uint64_t{image.ops[pc].flops} * p.active_lanes})
      t.cell(v);
    for (const StallCause cause : kAwaitedCauses) t.cell(p.awaited[cause]);
    for (const uint64_t v : p.slots) t.cell(v);
    t.text(0, s.text);
    t.text(1, std::string(core::timing_classes()[static_cast<size_t>(image.ops[pc].op_class)]));
    const auto source_file = [&image](uint32_t file, uint32_t line) {
      return line != 0 && file < image.source_files.size() ? image.source_files[file] : std::string();
    };
    t.text(2, source_file(s.source_file, s.source_line));
    const bool linked = s.loc.file < image.files.size();
    t.text(3, linked ? std::filesystem::path(image.files[s.loc.file]).filename().string() : "");
    t.text(4, source_file(s.inlined_file, s.inlined_line));
  }
  t.write(recorder, image.ops.size());
}

void write_issue_slots(core::Recorder& recorder, const SmStats& total, const std::string& folder) {
  TableBuilder t(folder + "issue_slots",
                 "every issue slot of every scheduler by cause; the sum is slots x cycles");
  t.column("slots", "issue slots", "over all simulated SMs");
  t.text_column("cause", "what the slot was used for or lost to");
  for (size_t i = 0; i < kNumStallCauses; ++i) {
    t.cell(total.slots[i]);
    t.text(0, std::string(kStallCauseNames[i]));
  }
  t.write(recorder, kNumStallCauses);
}

void write_units(core::Recorder& recorder, const std::vector<UnitLoad>& units) {
  TableBuilder t("units", "how busy the units of the machine were between the kernel's start and end");
  t.column("instances", "1", "how many units of this kind there are");
  t.column("capacity", "entries x cycles",
           "what one of them could be busy in that time, in cycles of its clock");
  t.column("busy", "entries x cycles", "how busy all of them were");
  t.column("most", "entries x cycles", "how busy the busiest one was");
  t.column("busiest", "1", "its number; that of a scheduler is SM x schedulers of an SM + scheduler");
  t.column("near", "1", "how many were busy for 9/10 of that at least");
  t.text_column("unit", "kind of unit");
  t.text_column("place",
                "what has one: SM, scheduler, cluster, link, partition, channel, copy engine or GPU");
  t.text_column("meaning", "what busy counts");
  for (const UnitLoad& u : units) {
    for (const uint64_t v : {u.instances, u.capacity, u.busy, u.most, uint64_t{u.busiest}, u.near}) t.cell(v);
    t.text(0, u.name);
    t.text(1, u.place);
    t.text(2, u.meaning);
  }
  t.write(recorder, units.size());
}

void write_interim_state(core::Recorder& recorder, const KernelResult& k, core::Femtoseconds time,
                         const std::string& folder) {
  TableBuilder t(folder + "state",
                 "how far the kernel had come when the tables beside this one were written");
  t.column("cycles", "core cycles", "since its start");
  t.column("time_fs", "fs", "the same as a time");
  t.column("warp_instructions", "1", "PTX instructions executed by warps");
  t.column("thread_instructions", "1", "the same times active threads");
  t.column("inst_executed", "1", "machine operations executed by warps");
  t.column("inst_issued", "1", "the same with replays");
  for (const uint64_t v : {k.cycles, uint64_t{time}, k.total.warp_instructions, k.total.thread_instructions,
                           k.total.inst_executed, k.total.inst_issued})
    t.cell(v);
  t.write(recorder, 1);
}

void write_findings(core::Recorder& recorder, const KernelLaunch& run, const Checker& checker) {
  TableBuilder t("checks", "what --check found in this launch, by PTX statement");
  t.column("count", "1", "occurrences in this launch");
  t.column("ptx_line", "1", "line of the PTX statement");
  t.column("source_line", "1",
           "line of the source (.loc; of what was inlined, the line that calls it), 0 if unknown");
  t.column("other_ptx_line", "1", "a race: line of the other access, else 0");
  for (const char* name : {"block_x", "block_y", "block_z"})
    t.column(name, "1", "block of the occurrence that the message tells of");
  for (const char* name : {"thread_x", "thread_y", "thread_z"}) t.column(name, "1", "its thread");
  t.column("address", "1", "its address (shared and local memory: offset)");
  t.column("bytes", "bytes", "its size, 0 if it is not about memory");
  t.text_column("check", "memory, race, init or sync");
  t.text_column("kind", "out_of_bounds, ... (docs/checking.md)");
  t.text_column("ptx", "the PTX statement");
  t.text_column("object", "nearest buffer or variable, empty if none is");
  t.text_column("message", "what happened");
  uint64_t rows = 0;
  for (const Finding& f : checker.log().sorted()) {
    const auto count = f.of_launch.find(run.id);
    if (count == f.of_launch.end()) continue;
    const Dim3 &block = f.place.block, &thread = f.place.thread;
    for (const uint64_t v :
         {count->second, uint64_t{f.place.ptx_line}, f.place.source.user.line, uint64_t{f.other.ptx_line},
          uint64_t{block.x}, uint64_t{block.y}, uint64_t{block.z}, uint64_t{thread.x}, uint64_t{thread.y},
          uint64_t{thread.z}, f.detail.address, uint64_t{f.detail.bytes}})
      t.cell(v);
    t.text(0, std::string(check_name(f.kind)));
    t.text(1, std::string(finding_name(f.kind)));
    t.text(2, f.place.ptx);
    t.text(3, f.detail.object);
    t.text(4, f.detail.message);
    ++rows;
  }
  if (rows != 0) t.write(recorder, rows);
}

}  // namespace gpusim::comp
