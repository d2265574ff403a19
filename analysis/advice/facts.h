// What a recorded kernel did, as the rules of advice.h look at it: counts of its operations, its occupancy,
// and how long it would take if its counts were others (estimator.h).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "analysis/advice/estimator.h"
#include "analysis/advice/origins.h"
#include "analysis/recording/recording.h"
#include "analysis/source/ptx_statement.h"
#include "simcore/occupancy/machine_limits.h"

namespace gpusim::analysis::advice {

/// Resources of a launch that decide how many blocks an SM holds.
struct LaunchResources {
  uint64_t threads = 0, registers = 0, shared_bytes = 0, spilled_registers = 0, local_bytes = 0;
};

/// Core cycles from the start of a block to its end; 0: not recorded.
struct BlockLives {
  double mean = 0, longest = 0;
};

class Facts {
 public:
  /// Keeps references to all of them.
  /// `ptx`: of the program; may be empty.
  Facts(const KernelRecord& kernel, const core::MachineConfig& machine, LaunchResources resources,
        std::string_view ptx = {}, BlockLives lives = {});

  [[nodiscard]] const KernelRecord& kernel() const { return kernel_; }
  [[nodiscard]] const core::MachineConfig& machine() const { return machine_; }
  [[nodiscard]] const LaunchResources& resources() const { return resources_; }
  [[nodiscard]] const Estimator& estimator() const { return estimator_; }
  [[nodiscard]] const BlockLives& lives() const { return lives_; }
  [[nodiscard]] std::string_view ptx() const { return ptx_; }

  /// Operations, by their number.
  [[nodiscard]] uint64_t operations() const { return kernel_.per_pc.rows; }
  [[nodiscard]] std::string_view op_class(uint64_t pc) const;
  /// The statement of the program that it names. Views into the kernel's record.
  [[nodiscard]] PtxStatement statement(uint64_t pc) const;
  /// A column of per_pc; 0 if the recording has it not.
  [[nodiscard]] double count(std::string_view column, uint64_t pc) const;
  [[nodiscard]] double executed(uint64_t pc) const { return count("executed", pc); }
  /// Sum over the operations that `chosen` takes.
  [[nodiscard]] double sum(std::string_view column, const std::function<bool(uint64_t)>& chosen) const;
  /// Core cycles of its scheduler that an issue slot takes, in which the unit "issue" counts its work.
  [[nodiscard]] double issue_cycles() const { return static_cast<double>(machine_.scheduler.issue_cycles); }
  /// Of these operations the one with the largest value; operations() if all are 0.
  [[nodiscard]] uint64_t largest(const std::function<double(uint64_t)>& value) const;
  [[nodiscard]] double counter(std::string_view name) const;
  /// Where an access goes.
  [[nodiscard]] const AddressOrigin& origin(uint64_t pc) const { return origins_[pc]; }
  /// Of a loop in which warps ask again and again for what another block is to write: no order and no copy of
  /// the word changes how often.
  [[nodiscard]] bool polls(uint64_t pc) const { return polls_[pc]; }
  /// Whether it works on values that were loaded from global memory, or on what follows from them.
  [[nodiscard]] bool uses_data(uint64_t pc) const { return uses_data_[pc]; }
  /// Whether no turns of its loops can be divided among threads: each needs the one before.
  [[nodiscard]] bool turns_follow() const { return turns_follow_; }
  /// Whether warps waited for what it returned.
  [[nodiscard]] bool awaited(uint64_t pc) const;
  /// Global atomics at places that threads decide, which nobody waits for, behind all loads and barriers, and
  /// all of them together fewer than the accesses before, of which a loop or a barrier made results: a block
  /// adds them when it is done.
  [[nodiscard]] bool merges(uint64_t pc) const;

  [[nodiscard]] double warps() const;            ///< of the launch
  [[nodiscard]] double warps_per_block() const;  ///< whole ones
  [[nodiscard]] double blocks() const;
  [[nodiscard]] double block_width() const;  ///< its threads in x
  [[nodiscard]] double sms() const { return static_cast<double>(kernel_.per_sm.rows); }
  /// Mean number of warps that an SM with any holds.
  [[nodiscard]] double resident_warps() const;
  /// Of the SM that took most of the launch's warps.
  [[nodiscard]] double most_warps() const;
  /// Warps of that SM follow each other only when it has no room for them: its mean number, or what it holds
  /// if the starts of blocks leave it empty.
  [[nodiscard]] double places() const;
  /// Blocks of an SM with other resources, by the occupancy calculation; 0: the block cannot run.
  [[nodiscard]] double blocks_per_sm(const LaunchResources& other) const;
  /// Resident warps, for those that were: with other resources, and no more than the launch has.
  [[nodiscard]] double more_warps(const LaunchResources& other) const;
  /// Share of the time in which a unit is busy, of its busiest instance.
  [[nodiscard]] double busy(std::string_view unit) const;
  /// Entries x cycles of all instances of a unit.
  [[nodiscard]] double work(std::string_view unit) const;
  /// Core cycles that an operation of a class keeps its pipe, and that pipe; 0 and empty if it has none.
  [[nodiscard]] double pipe_cycles(std::string_view op_class) const;
  [[nodiscard]] std::string pipe_of(std::string_view op_class) const;
  /// Core cycles from an operation of a class to one that depends on it, within the SM.
  [[nodiscard]] double latency(std::string_view op_class) const;
  /// Requests to the busiest partition of the time, for one to the mean, as random traffic is 1: without
  /// those of atomics, which crowd where their words are.
  [[nodiscard]] double crowding() const;
  [[nodiscard]] double crowding_with_atomics() const;
  /// Core cycles until data are there that DRAM or the L2 has, without queues.
  [[nodiscard]] double memory_wait(bool from_dram) const;
  /// Core cycles that a warp waits behind a memory fence that stands in front of the operation, until its
  /// stores are performed, without queues; 0 if there is none.
  [[nodiscard]] double fence_before(uint64_t pc) const;
  /// Of the loads that a warp sends before it uses any of them, the first: it waits anew.
  [[nodiscard]] uint64_t leader_of(uint64_t pc) const { return leaders_[pc]; }
  [[nodiscard]] bool leads(uint64_t pc) const { return leader_of(pc) == pc; }
  /// One thread of each block does it, which is much of the kernel's work, and a barrier keeps the others.
  [[nodiscard]] bool holds_up_block(uint64_t pc) const { return holds_up_ && by_single_lanes(pc); }
  /// Whether turns of loops of such operations can be turns of other threads of the block.
  [[nodiscard]] bool can_be_shared_out() const { return shared_out_; }
  /// Accesses of one warp that the coalescer looks at apart: half warps before compute capability 2.0.
  [[nodiscard]] double requests_per_warp() const;

 private:
  [[nodiscard]] Work recorded_work(std::string_view ptx);
  /// Of the slots of resident warps that did not issue, those lost to memory.
  [[nodiscard]] double memory_share() const;
  /// Of the waits for memory, the share that memory partitions pass on as they wait for DRAM themselves.
  [[nodiscard]] double behind_dram(const Work& work) const;
  /// Core cycles for which all SMs wait for the first page of the launch's data, before anything else comes
  /// to them: a part of its start that no other order of accesses changes.
  [[nodiscard]] double first_page() const;
  /// One lane of a warp does it.
  [[nodiscard]] bool by_single_lanes(uint64_t pc) const;
  void find_held_up();
  void find_own_waits();
  void find_groups(std::string_view ptx);
  void find_uses(std::string_view ptx);
  void find_result_latencies(std::string_view ptx);
  /// Loads that are on their way together wait at the same time: how long this one, by its slots, as a share
  /// of those of all.
  [[nodiscard]] double share_of_wait(uint64_t pc) const;
  /// Core cycles that a warp waits for data of this operation, or at it for something else, without queues.
  [[nodiscard]] double wait(uint64_t pc) const;

  const KernelRecord& kernel_;
  const core::MachineConfig& machine_;
  LaunchResources resources_;
  BlockLives lives_;
  std::string_view ptx_;
  std::vector<AddressOrigin> origins_;
  std::vector<bool> uses_data_, polls_;
  bool turns_follow_ = false, holds_up_ = false, shared_out_ = false;
  /// Slots, by column of per_pc, from which on a wait is one of its own.
  std::map<std::string, double, std::less<>> own_waits_;
  /// For each operation: loads with the same number are on their way together.
  std::vector<uint64_t> groups_;
  std::vector<uint64_t> leaders_;  ///< the first of these
  /// For each operation, how long it waits for the arithmetic result that is the last to come.
  std::vector<double> result_latencies_;
  Estimator estimator_;
};

[[nodiscard]] bool is_global(std::string_view op_class);
[[nodiscard]] bool is_load(std::string_view op_class);
[[nodiscard]] bool is_shared(std::string_view op_class);
/// A load or store of a spilled register.
[[nodiscard]] bool is_spill(const Facts& facts, uint64_t pc);

}  // namespace gpusim::analysis::advice
