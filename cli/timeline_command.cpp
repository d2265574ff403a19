// `gpusim timeline`: a recorded run for Perfetto and Chrome's viewer.
#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/report/guarded.h"
#include "analysis/report/text.h"
#include "analysis/report/trace_events.h"
#include "cli/commands.h"
#include "simcore/text/input_error.h"
#include "simcore/text/whole_file.h"

namespace gpusim::cli {

namespace {

struct TimelineArguments {
  std::string file, out;
  uint64_t sms = 0;  ///< 0: all
  bool force = false;
};

int write_timeline(const TimelineArguments& a) {
  check_output("--out", a.out, {a.file}, {"{\"displayTimeUnit\"", "a timeline"}, a.force);
  return analysis::guarded(a.file, [&] {
    const analysis::Recording recording(a.file);
    const auto& launches = recording.launches();
    for (uint64_t i = 0; i < launches.size(); ++i)
      if (launches[i].finished && !recording.has_events(i, "block"))
        throw core::InputError(
            fmt::format("{}: error: was recorded with --events off, without what blocks and counts over time "
                        "are drawn from\n  hint: record it again without --events off",
                        a.file));
    analysis::TimelineOptions options;
    if (a.sms != 0) options.sms = a.sms;
    constexpr size_t kPiece = size_t{1} << 20;
    core::WholeFile file(a.out);
    analysis::write_trace_events(recording, options, [&file](std::string_view text) {
      file.text().append(text);
      file.flush(kPiece);
    });
    file.commit();
    if (const std::string note = recording.partial_note(); !note.empty())
      fmt::print("note: {}\n", analysis::printable(note));
    return kGood;
  });
}

}  // namespace

void add_timeline_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<TimelineArguments>();
  CLI::App* command = program.add_subcommand(
      "timeline", "Write a recorded run as a timeline for Perfetto and Chrome's viewer");
  command->add_option("file", a->file, "Recorded file (--out of a run)")->required();
  command->add_option("-o,--out", a->out, "JSON file in the Trace Event Format")->required();
  command->add_flag("--force", a->force, "Replace the JSON file even if it is something else");
  command->add_option("--sms", a->sms, "Blocks of the first N SMs only")->check(CLI::Range(1, 4096));
  command->callback([a, &code] { code = write_timeline(*a); });
}

}  // namespace gpusim::cli
