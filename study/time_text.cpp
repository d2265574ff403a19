#include "study/time_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "simcore/launch/launch.h"

namespace gpusim::study {

namespace {

/// Of a workload on a machine: from fewer simulations error bars are rough, and a tenth of the points is what
/// docs/studies/guided.md judges.
constexpr size_t kFewestGuided = 20, kGuidedPart = 10;
/// A simulation that got less of a processor waited for others.
constexpr double kFullShare = 0.8;
constexpr size_t kParametersShown = 4;

std::string plural(size_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

}  // namespace

std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

size_t guided_points(const Study& study, size_t points) {
  const size_t groups = study.machines.size() * study.workloads.size();
  const size_t number = std::max(points / kGuidedPart, kFewestGuided * groups);
  return number * 2 <= points ? number : 0;
}

std::vector<std::string> parameters(const Study& study) {
  std::vector<std::string> texts;
  for (const Workload& w : study.workloads) {
    std::string text;
    try {
      const core::LaunchDescription launch = core::load_launch(launch_file_of(w), w.params, 0);
      for (size_t i = 0; i < std::min(kParametersShown, launch.params.size()); ++i) {
        const auto& [name, value] = launch.params[i];
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value.as_double());
      }
    } catch (const core::InputError&) {  // said where the points are prepared
    }
    if (!text.empty()) texts.push_back(fmt::format("{}: {}", w.name, text));
  }
  return texts;
}

std::string time_text(const TimeEstimate& e, const Study& study, size_t points, unsigned parallel) {
  std::string out;
  if (e.unknown > 0)
    out += fmt::format("without {} whose program fails or tells nothing at its beginning\n",
                       plural(e.unknown, "point"));
  if (e.missing == e.unknown) return out;
  out += fmt::format("{}about {} on one processor, {} on {}: {:.3g} warp instructions, as fast as ",
                     e.whole ? "" : "more than ", duration(e.processor_s), duration(e.wall_s(parallel)),
                     parallel, e.warp_instructions);
  if (e.measured > 0) out += fmt::format("the {} took", plural(e.measured, "simulated point"));
  if (e.tried > 0)
    out += fmt::format("{}the beginning of {}, which was tried", e.measured > 0 ? " and " : "",
                       plural(e.tried, "point"));
  out += "\n";
  const double seconds = e.shared_wall_s(parallel);
  if (e.share < kFullShare)
    out += fmt::format(
        "about {} if processors stay as busy as they were: these simulations got {:.0f} % of one\n",
        duration(seconds), 100 * e.share);
  if (seconds < kLongStudy) return out;
  out += "what would be sooner\n";
  if (const size_t number = guided_points(study, points); number != 0)
    out += fmt::format(
        "  study run --guided {:<3} simulates {} of the {} points, which a model chooses, and predicts the "
        "others "
        "with error bars: about {}\n",
        number, number, points,
        duration(seconds * static_cast<double>(number) / static_cast<double>(e.missing)));
  out += "  fewer values          first only the ends of each axis, which show the axes that matter\n";
  if (const std::vector<std::string> params = parameters(study); !params.empty())
    out += fmt::format(
        "  smaller data          --param NAME=VALUE, or params in the study file ({}); all SMs "
        "should still have blocks\n",
        fmt::join(params, "; "));
  out +=
      "  fewer SMs             --axis sms=N, with fewer blocks; each SM then has more of the L2 and DRAM to "
      "itself\n";
  out += "  more computers        --on slurm, or study plan --commands\n";
  return out;
}

}  // namespace gpusim::study
