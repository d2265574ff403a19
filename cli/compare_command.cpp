// `gpusim compare`: two recorded runs, and why one takes longer.
#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/compare/comparison.h"
#include "analysis/report/guarded.h"
#include "cli/commands.h"
#include "simcore/text/whole_file.h"

namespace gpusim::cli {

namespace {

struct CompareArguments {
  std::string a, b, kernel, csv;
  size_t top = 5;
  bool json = false, force = false;
};

int compare_recordings(const CompareArguments& args) {
  if (!args.csv.empty())
    check_output("--csv", args.csv, {args.a, args.b}, {"kernel_a,kernel_b,name,", "such a table"},
                 args.force);
  // Each is read once on its own, so that it is known which of them is damaged.
  for (const std::string& file : {args.a, args.b})
    analysis::guarded(file, [&file] {
      const analysis::Recording recording(file);
      for (uint64_t i = 0; i < recording.launches().size(); ++i)
        if (recording.launches()[i].finished) (void)recording.kernel(i);
      return kGood;
    });
  return analysis::guarded(args.b, [&args] {
    const analysis::Recording a(args.a), b(args.b);
    const analysis::Comparison c = analysis::compare(a, b, args.kernel);
    if (!args.csv.empty()) {
      core::WholeFile file(args.csv);
      const std::string rows = analysis::comparison_csv(c);
      file.text().append(rows);
      file.commit();
    }
    fmt::print("{}", args.json ? analysis::comparison_json(c) : analysis::comparison_text(c, args.top));
    return kGood;
  });
}

}  // namespace

void add_compare_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<CompareArguments>();
  CLI::App* command = program.add_subcommand(
      "compare", "Compare two recorded runs: the difference in cycles as an exact sum of causes and lines");
  command->add_option("a", a->a, "Recorded file (--out of a run)")->required();
  command->add_option("b", a->b, "Recorded file of another run")->required();
  command->add_option("--kernel", a->kernel,
                      "Number of the launch in a, or name of the kernel, mangled or not (default: all)");
  command->add_option("--top", a->top, "Lines, statements and counters shown of each kernel")
      ->check(CLI::Range(1, 100000));
  command->add_option("--csv", a->csv, "Also write a row for each statement and cause to this file");
  command->add_flag("--force", a->force, "Replace the file of --csv even if it is something else");
  command->add_flag("--json", a->json, "Print one JSON object");
  command->callback([a, &code] { code = compare_recordings(*a); });
}

}  // namespace gpusim::cli
