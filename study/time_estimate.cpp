#include "study/time_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>

#include "components/simulation/simulation.h"
#include "simcore/process/child_process.h"
#include "simcore/text/text_file.h"
#include "simcore/text/whole_file.h"

namespace gpusim::study {

namespace {

namespace fs = std::filesystem;
using Status = PointResult::Status;

/// Where others use the processors too, a trial ends after this many times its processor seconds.
constexpr double kMostWaiting = 3;

double process_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::string file_of(const std::string& store, const std::string& key) {
  return (fs::path(store) / (key + ".seconds")).string();
}

/// Warp instructions and what they took.
struct Work {
  double warp_instructions = 0;
  HostTime time;
  void operator+=(const Work& w) {
    warp_instructions += w.warp_instructions;
    time.processor_s += w.time.processor_s;
    time.wall_s += w.time.wall_s;
  }
};

/// Simulates a point until it ends or the time is over. "INSTRUCTIONS PROCESSOR_S WALL_S"
std::string try_point(PreparedPoint point, double seconds) {
  const HostClock clock;
  std::atomic<bool> stop = false;
  double running = 0;  // warp instructions of the kernel that has not ended
  point.options.interrupt = &stop;
  point.options.launch.expects.clear();
  point.options.on_progress = [&](const comp::Progress& p) {
    running = static_cast<double>(p.warp_instructions);
    const HostTime t = clock.now();
    if (t.processor_s >= seconds || t.wall_s >= kMostWaiting * seconds) stop = true;
  };
  comp::Simulation simulation(std::move(point.options));
  const comp::SimulationResult r = simulation.run();
  if (r.status == comp::SimulationResult::Status::kFailed) throw core::InputError(r.reason);
  double all = r.status == comp::SimulationResult::Status::kComplete ? 0 : running;
  for (const comp::KernelResult& k : r.kernels) all += static_cast<double>(k.total.warp_instructions);
  const HostTime t = clock.now();
  return fmt::format("{} {} {}", all, t.processor_s, t.wall_s);
}

bool read_work(const std::string& text, Work& w) {
  return std::sscanf(text.c_str(), "%lf %lf %lf", &w.warp_instructions, &w.time.processor_s,
                     &w.time.wall_s) == 3 &&
         w.warp_instructions > 0 && w.time.processor_s > 0;
}

class Estimator {
 public:
  Estimator(const Study& study, std::span<const Point> points, std::span<const PointResult> results,
            const RunOptions& options)
      : study_(study), points_(points), results_(results), options_(options) {}

  TimeEstimate estimate(double trials_s) {
    take_measured();
    for (size_t i = 0; i < points_.size(); ++i)
      if (results_[i].status == Status::kMissing) missing_.push_back(i);
    sum_.missing = missing_.size();
    count();
    try_some(trials_s);
    for (const size_t i : missing_) {
      const auto counted = counted_.find(program_of(i));
      const auto group = work_of_.find(group_of(i));
      if (counted == counted_.end() || group == work_of_.end()) {
        ++sum_.unknown;
        continue;
      }
      const Work& w = group->second;
      sum_.warp_instructions += counted->second;
      sum_.processor_s += counted->second * w.time.processor_s / w.warp_instructions;
    }
    const HostTime& all = all_.time;
    if (all.wall_s > 0) sum_.share = std::min(1.0, all.processor_s / all.wall_s);
    return sum_;
  }

 private:
  using GroupKey = std::array<uint32_t, 2>;
  [[nodiscard]] GroupKey group_of(size_t point) const {
    return {points_[point].machine, points_[point].workload};
  }
  [[nodiscard]] PreparedPoint prepared(size_t point) const {
    return prepare(study_, points_[point], options_.config_folders, options_.program);
  }
  /// What decides how many instructions there are.
  [[nodiscard]] const std::string& program_of(size_t point) {
    std::string& text = programs_[point];
    if (text.empty()) {
      const Identity id = prepared(point).identity;
      text = fmt::format("{} {} {} {}", id.ptx_sha256, id.launch_sha256, fmt::join(id.params, " "), id.seed);
    }
    return text;
  }

  void take_measured() {
    for (size_t i = 0; i < points_.size(); ++i) {
      const PointResult& r = results_[i];
      if (r.status != Status::kComplete && r.status != Status::kWrong) continue;
      counted_[program_of(i)] = static_cast<double>(r.warp_instructions);
      const auto time = stored_host_time(options_.store, r.key);
      if (!time || r.warp_instructions == 0) continue;
      add(group_of(i), {static_cast<double>(r.warp_instructions), *time});
      ++sum_.measured;
    }
  }

  void add(const GroupKey& group, const Work& work) {
    work_of_[group] += work;
    all_ += work;
  }

  /// Instructions of programs of which no point has been simulated, by functional runs.
  void count() {
    std::vector<std::function<std::string()>> works;
    std::vector<std::string> programs;
    for (const size_t i : missing_) {
      const std::string& program = program_of(i);
      if (counted_.contains(program) || std::ranges::find(programs, program) != programs.end()) continue;
      programs.push_back(program);
      works.emplace_back([this, i] {
        const Counted counted = count_warp_instructions(prepared(i));
        return fmt::format("{}{}", counted.warp_instructions, counted.whole ? "" : "+");
      });
    }
    const std::vector<core::ChildAnswer> answers = core::run_in_children(works, options_.parallel);
    for (size_t i = 0; i < programs.size(); ++i) {
      if (!answers[i].good) continue;
      counted_[programs[i]] = std::stod(answers[i].text);
      sum_.whole &= !answers[i].text.ends_with('+');
    }
  }

  /// The first and the last missing point of each group of which nothing is known: they differ most.
  void try_some(double trials_s) {
    std::map<GroupKey, std::array<size_t, 2>> ends;
    for (const size_t i : missing_)
      if (!work_of_.contains(group_of(i)) && counted_.contains(program_of(i)))
        ends.try_emplace(group_of(i), std::array{i, i}).first->second[1] = i;
    std::vector<std::function<std::string()>> works;
    std::vector<GroupKey> groups;
    for (const auto& [group, points] : ends)
      for (size_t e = 0; e < (points[0] == points[1] ? 1U : 2U); ++e) {
        groups.push_back(group);
        works.emplace_back([this, point = points[e], &works, trials_s] {
          return try_point(prepared(point), trials_s / static_cast<double>(works.size()));
        });
      }
    const std::vector<core::ChildAnswer> answers = core::run_in_children(works, options_.parallel);
    for (size_t i = 0; i < works.size(); ++i) {
      Work w;
      if (!answers[i].good || !read_work(answers[i].text, w)) continue;
      add(groups[i], w);
      ++sum_.tried;
    }
  }

  const Study& study_;
  std::span<const Point> points_;
  std::span<const PointResult> results_;
  const RunOptions& options_;
  std::vector<size_t> missing_;
  std::map<size_t, std::string> programs_;
  std::map<std::string, double> counted_;  ///< warp instructions by program
  std::map<GroupKey, Work> work_of_;
  Work all_;
  TimeEstimate sum_;
};

}  // namespace

HostClock::HostClock() : processor_s_(process_seconds()) {}

HostTime HostClock::now() const {
  return {process_seconds() - processor_s_,
          std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count()};
}

void store_host_time(const std::string& store, const std::string& key, HostTime time) {
  core::write_whole_file(file_of(store, key), fmt::format("{:.3f} processor seconds, {:.3f} seconds\n",
                                                          time.processor_s, time.wall_s));
}

std::optional<HostTime> stored_host_time(const std::string& store, const std::string& key) {
  const std::string file = file_of(store, key);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  HostTime time;
  const std::string text = core::read_text_file(file, core::kAnySize);
  if (std::sscanf(text.c_str(), "%lf processor seconds, %lf seconds", &time.processor_s, &time.wall_s) != 2 ||
      !std::isfinite(time.processor_s) || !std::isfinite(time.wall_s) || time.processor_s < 0 ||
      time.wall_s < 0)
    return std::nullopt;
  return time;
}

TimeEstimate estimate_time(const Study& study, std::span<const Point> points,
                           std::span<const PointResult> results, const RunOptions& options, double trials_s) {
  return Estimator(study, points, results, options).estimate(trials_s);
}

}  // namespace gpusim::study
