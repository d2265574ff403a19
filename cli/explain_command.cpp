// `gpusim explain`: where the cycles of a recorded kernel went.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "analysis/profile/limiter.h"
#include "analysis/report/guarded.h"
#include "analysis/report/reports.h"
#include "analysis/source/annotated_source.h"
#include "cli/recorded_kernels.h"
#include "cli/recorded_run.h"
#include "study/prove.h"

namespace gpusim::cli {

namespace {

struct ExplainArguments : RecordingArguments {
  static constexpr size_t kTop = 5;
  size_t top = 0;  ///< 0: kTop
  bool prove = false;
  unsigned threads = 0;  ///< 0: as many as there are processors
  std::string launch;
  bool source = false;  ///< line by line
  std::vector<std::string> folders;
};

/// Where the text of the source is looked for.
analysis::SourceTexts source_texts(const ExplainArguments& a) {
  std::vector<std::string> folders = a.folders;
  folders.push_back(std::filesystem::path(a.file).parent_path().string());
  folders.emplace_back(".");
  return analysis::SourceTexts(folders);
}

/// The limiter's sentence of the kernel that it costs most, if that kernel alone has the same limiter.
std::string named_text(const std::vector<analysis::KernelRecord>& kernels, const core::MachineConfig& machine,
                       std::string_view named) {
  const analysis::KernelRecord* most = nullptr;
  double saved = 0;
  for (const analysis::KernelRecord& kernel : kernels)
    for (const auto& candidate : analysis::limiter_candidates(kernel, machine))
      if (candidate.name == named && candidate.saved > saved) most = &kernel, saved = candidate.saved;
  if (most == nullptr) return {};
  const auto own = analysis::limiter_candidates(*most, machine);
  return analysis::limiter_name(own, most->cycles) == named ? analysis::limiter_text(*most, machine)
                                                            : std::string();
}

/// Simulates the recorded run again, with one thing changed at a time.
int prove_recording(const ExplainArguments& a) {
  return analysis::guarded_simulations(a.file, [&] {
    comp::SimulationOptions run;
    uint64_t cycles = 0;
    std::string named, text;
    {
      const analysis::Recording recording(a.file);
      if (!recording.complete())
        throw core::InputError(
            fmt::format("{}: error: --prove: the recorded run did not end, so there is nothing to compare "
                        "with\n  hint: record it again to its end",
                        a.file));
      std::vector<analysis::KernelRecord> kernels;
      for (uint64_t i = 0; i < recording.launches().size(); ++i) {
        kernels.push_back(recording.kernel(i));
        cycles += kernels.back().cycles;
      }
      const auto candidates = analysis::limiter_candidates(kernels, recording.machine());
      if (!candidates.empty()) named = analysis::limiter_name(candidates, cycles);
      text = named_text(kernels, recording.machine(), named);
      run = recorded_run(recording, a.launch);
    }
    study::Proof proof = proved(run, a.threads, cycles);
    proof.named = named;
    proof.named_text = text;
    fmt::print("{}", a.json ? study::proof_json(proof) : study::proof_text(proof));
    return proof.missing == 0 ? kGood : kInterruptedExit;
  });
}

int explain_recording(const ExplainArguments& a) {
  if (a.describe) {
    fmt::print("{}", analysis::describe_causes());
    return kGood;
  }
  if (a.prove && a.json) {
    // A file that crashes or hangs those who read it does so here.
    analysis::guarded(a.file, [&a] {
      const analysis::Recording recording(a.file);
      for (uint64_t i = 0; i < recording.launches().size(); ++i) (void)recording.kernel(i);
      return kGood;
    });
    return prove_recording(a);
  }
  const int code =
      for_recorded_kernels(a, [&a](const analysis::KernelRecord& kernel, const core::MachineConfig& machine) {
        if (a.source) {
          const analysis::AnnotatedSource source = analysis::annotate(kernel);
          return a.json ? analysis::annotated_json(kernel, source)
                        : analysis::annotated_text(kernel, source, source_texts(a));
        }
        const analysis::Explanation e =
            analysis::explain(kernel, a.top == 0 ? ExplainArguments::kTop : a.top);
        // The proof is what was asked for; it comes first on the page unless more is.
        if (a.prove && a.top == 0) return analysis::explanation_head(kernel, machine, e);
        return a.json ? analysis::explanation_json(kernel, machine, e)
                      : analysis::explanation_text(kernel, machine, e);
      });
  return code == kGood && a.prove ? prove_recording(a) : code;
}

}  // namespace

void add_explain_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<ExplainArguments>();
  CLI::App* explain = add_recording_command(program, "explain",
                                            "Where the cycles of a recorded run went, exactly, and why", *a);
  explain
      ->add_option("--top", a->top,
                   fmt::format("Causes, statements of each, and operations shown (default: {})",
                               ExplainArguments::kTop))
      ->check(CLI::Range(1, 100000));
  CLI::Option* source = explain->add_flag(
      "--source", a->source,
      "What each line of the source and each statement of the PTX cost and moved, beside their text");
  explain
      ->add_option(
          "--source-path", a->folders,
          "Folder in which the source lies (repeatable; also looked for: beside the recorded file, here)")
      ->allow_extra_args(false)
      ->needs(source);
  CLI::Option* prove = explain->add_flag(
      "--prove", a->prove,
      "Simulate the run again with each resource doubled and each latency halved, and print what each "
      "would have gained, below the limiter of each kernel (with --top or --source: below all that these "
      "print; with --json: nothing else)");
  explain->add_option("--threads", a->threads, "Simulations at the same time (default: processors)")
      ->check(CLI::Range(1, 256))
      ->needs(prove);
  explain->add_option("--launch", a->launch, "The recorded launch file, where it names other files")
      ->needs(prove);
  prove->excludes("--kernel");
  explain->add_flag("--describe", a->describe, "Print what each cause means");
  explain->callback([a, &code] { code = explain_recording(*a); });
}

}  // namespace gpusim::cli
