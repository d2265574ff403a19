// `gpusim trace`: the accesses of a kernel's threads to global memory, as a trace for `gpusim reuse`. Values
// only: nothing is timed.
#include <CLI/CLI.hpp>
#include <bit>
#include <memory>

#include "analysis/recording/warp_trace.h"
#include "cli/commands.h"
#include "cli/main_job.h"
#include "components/simulation/simulation.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"
#include "simcore/text/text_file.h"
#include "simcore/text/whole_file.h"
#include "study/warp_steps.h"

namespace gpusim::cli {

namespace {

struct TraceArguments {
  MainJobArguments run;
  int number = -1;     ///< launch; -1: the only one
  bool warps = false;  ///< the compact form
};

uint32_t chosen(const TraceArguments& a, const comp::Simulation& simulation) {
  const size_t launches = simulation.launches().size();
  if (a.number < 0 && launches == 1) return 0;
  if (a.number >= 0 && static_cast<size_t>(a.number) < launches) return static_cast<uint32_t>(a.number);
  throw core::InputError(
      fmt::format("gpusim: error: the launch file has {} launches: --number 0 to {} chooses one", launches,
                  launches - 1));
}

/// Writes steps as one of the two forms of a trace.
class TraceWriter {
 public:
  TraceWriter(core::WholeFile& file, const comp::KernelLaunch& run, const TraceArguments& a,
              const std::string& machine)
      : file_(file), run_(run), as_text_(!a.warps), steps_(run.warps_per_block) {
    if (as_text_) {
      fmt::format_to(std::back_inserter(file.text()), "blocksize: {} {} {}\n", run.block.x, run.block.y,
                     run.block.z);
      return;
    }
    file.text().append(analysis::encoded_header(study::trace_header(run, machine)));
  }

  void step(const comp::TracedStep& t) {
    if (as_text_)
      write_text(t);
    else
      write_warp_step(t);
    file_.flush(size_t{1} << 20);
  }
  [[nodiscard]] uint64_t accesses() const { return as_text_ ? accesses_ : steps_.accesses(); }

 private:
  void write_text(const comp::TracedStep& t) {
    if (t.kind != comp::TracedStep::Kind::kAccess || t.access->space != isa::Space::kGlobal) return;
    const uint64_t first = t.block * run_.threads_per_block + uint64_t{t.warp} * isa::kWarpSize;
    const bool store = t.op->kind == isa::OpKind::kStore;
    for (uint32_t bits = t.access->lanes.bits(); bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
      // What is wider than a lane's share of a transaction is so many accesses.
      for (uint32_t done = 0; done < t.access->bytes; done += 16) {
        fmt::format_to(std::back_inserter(file_.text()), "{} {} {} {}\n", first + lane, store ? 1 : 0,
                       t.access->address[lane] + done, std::min(16u, t.access->bytes - done));
        ++accesses_;
      }
    }
  }

  void write_warp_step(const comp::TracedStep& t) {
    if (!steps_.take(t)) return;
    file_.text().append(analysis::encoded_block(steps_.warps()));
    steps_.clear();
  }

  core::WholeFile& file_;
  const comp::KernelLaunch& run_;
  bool as_text_;
  study::WarpSteps steps_;
  uint64_t accesses_ = 0;  ///< as text
};

int write_trace(const TraceArguments& a) {
  comp::SimulationOptions o;
  o.machine = core::load_machine(a.run.config.empty() ? "h200" : a.run.config, {}, config_folders());
  refuse_what_is_no_ptx(a.run.ptx);
  o.ptx_name = a.run.ptx;
  o.ptx_text = core::read_text_file(a.run.ptx, core::kMaxPtxBytes);
  o.launch = load_launch(a.run);
  check_output("--out", a.run.out, inputs_of(a.run, o.launch),
               a.warps ? OutputForm{"gpusimWT", "a trace of warps"} : OutputForm{"blocksize: ", "a trace"},
               a.run.force);
  if (!o.launch.has_fixed_launches())
    throw core::InputError(
        fmt::format("{}: error: a trace is of one of the launches that the file lists\n  hint: with loops, "
                    "host steps or numbers read from memory the run decides what they are",
                    o.launch.path));
  o.launch.expects.clear();
  for (const std::string& file : o.launch.link)
    o.linked.push_back({file, core::read_text_file(file, core::kMaxPtxBytes)});
  o.functional = true;
  o.lowering = isa::lowering_level(a.run.lowering);
  const std::string machine = o.machine.gpu.name;
  uint32_t launch = 0;
  TraceWriter* to = nullptr;
  o.trace = [&](const comp::TracedStep& t) {
    if (t.launch == launch) to->step(t);
  };
  comp::Simulation simulation(std::move(o));
  launch = chosen(a, simulation);
  const comp::KernelLaunch& run = *simulation.launches()[launch].run;
  core::WholeFile file(a.run.out);
  TraceWriter writer(file, run, a, machine);
  to = &writer;
  const comp::SimulationResult result = simulation.run();
  if (result.status != comp::SimulationResult::Status::kComplete) {
    print_error("{}: error: {}\n", a.run.ptx, result.reason);
    return kProgramFailed;
  }
  file.commit();
  fmt::print("{}: {} accesses of {} threads\n", a.run.out, writer.accesses(),
             run.num_blocks * run.threads_per_block);
  return kGood;
}

}  // namespace

void add_trace_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<TraceArguments>();
  CLI::App* command = program.add_subcommand(
      "trace", "Write the accesses of a kernel's threads to global memory, without timing");
  command->add_option("ptx", a->run.ptx, "PTX file")->required();
  command->add_option("-o,--out", a->run.out, "Trace file")->required();
  command->add_option("--launch", a->run.launch, "Launch file (default: beside the PTX)");
  command->add_option("--param", a->run.params, "Launch parameter NAME=VALUE (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--number", a->number, "Which of several launches, from 0 (all before it run too)")
      ->check(CLI::Range(0, 1 << 30));
  command->add_option("--config", a->run.config,
                      "Machine that the program believes to run on (default: h200)");
  command->add_option("--seed", a->run.seed, "Seed of random buffers");
  command
      ->add_option("--lowering", a->run.lowering,
                   "Lowering passes: none, clean (default), schedule (default with --warps, as of a run)")
      ->check(CLI::IsMember({"none", "clean", "schedule"}));
  command->add_flag("--force", a->run.force, "Replace the trace file even if it is something else");
  command->add_flag(
      "--warps", a->warps,
      "Write what the default mode of `gpusim reuse` needs, in its compact form, with the times of the "
      "machine of --config");
  command->callback([a, &code, command] {
    // What text traces are compared with is in the order of the program.
    if (!a->warps && command->count("--lowering") == 0) a->run.lowering = "clean";
    code = write_trace(*a);
  });
}

}  // namespace gpusim::cli
