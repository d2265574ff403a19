// `gpusim explain`: where the cycles of a recorded kernel went.
#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/report/reports.h"
#include "cli/recorded_kernels.h"

namespace gpusim::cli {

namespace {

struct ExplainArguments : RecordingArguments {
  size_t top = 5;
};

int explain_recording(const ExplainArguments& a) {
  if (a.describe) {
    fmt::print("{}", analysis::describe_causes());
    return kGood;
  }
  return for_recorded_kernels(a,
                              [&a](const analysis::KernelRecord& kernel, const core::MachineConfig& machine) {
                                const analysis::Explanation e = analysis::explain(kernel, a.top);
                                return a.json ? analysis::explanation_json(kernel, machine, e)
                                              : analysis::explanation_text(kernel, machine, e);
                              });
}

}  // namespace

void add_explain_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<ExplainArguments>();
  CLI::App* explain = add_recording_command(program, "explain",
                                            "Where the cycles of a recorded run went, exactly, and why", *a);
  explain->add_option("--top", a->top, "Causes, statements of each, and operations shown")
      ->check(CLI::Range(1, 100000));
  explain->add_flag("--describe", a->describe, "Print what each cause means");
  explain->callback([a, &code] { code = explain_recording(*a); });
}

}  // namespace gpusim::cli
