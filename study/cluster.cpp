#include "study/cluster.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "simcore/process/child_process.h"
#include "simcore/text/whole_file.h"

namespace gpusim::study {

namespace {

namespace fs = std::filesystem;

/// All words of a task's command but its number.
std::string command_before_part(const ClusterJob& job) {
  return fmt::format("{} study run {} --store {} --threads {} --quiet --part", shell_word(job.program),
                     shell_word(job.study_file), shell_word(job.store), job.threads);
}

/// A TOML string with every character that it must not hold as such escaped.
std::string toml_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04X}", byte);
    else
      out += c;
  }
  return out + "\"";
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (size_t i = 0; i < texts.size(); ++i) out += (i == 0 ? "" : ", ") + toml_text(texts[i]);
  return out + "]";
}

std::string absolute_path(const std::string& path) { return fs::absolute(path).lexically_normal().string(); }

}  // namespace

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./=+,:@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string run_command(const Study& study, const Point& point, const std::string& out) {
  const Workload& w = study.workloads[point.workload];
  std::string command = "gpusim --config " + shell_word(study.machines[point.machine]);
  const auto option = [&command](std::string_view name, const std::string& value) {
    command += fmt::format(" {} {}", name, shell_word(value));
  };
  for (const std::string& set : study.sets) option("--set", set);
  for (const std::string& param : w.params) option("--param", param);
  for (size_t a = 0; a < study.axes.size(); ++a)
    for (size_t t = 0; t < study.axes[a].targets.size(); ++t) {
      const Target& target = study.axes[a].targets[t];
      const std::string& value = study.axes[a].values[point.values[a]].texts[t];
      switch (target.kind) {
        case Target::Kind::kKey:
          option("--set", target.name + "=" + value);
          break;
        case Target::Kind::kParam:
          option("--param", target.name + "=" + value);
          break;
        case Target::Kind::kSms:
          option("--sms", value);
          break;
        case Target::Kind::kCoreClock:
          option("--core-clock", value);
          break;
        case Target::Kind::kInterconnectClock:
          option("--interconnect-clock", value);
          break;
        case Target::Kind::kDramClock:
          option("--dram-clock", value);
          break;
        case Target::Kind::kLowering:
          option("--lowering", value);
          break;
        case Target::Kind::kCache:
          option("--cache", value);
          break;
        case Target::Kind::kSeed:
          option("--seed", value);
          break;
      }
    }
  if (study.max_cycles != kDefaultMaxCycles) option("--max-cycles", std::to_string(study.max_cycles));
  if (!w.launch.empty()) option("--launch", w.launch);
  option("--out", out);
  return command + " " + shell_word(w.ptx);
}

std::string task_command(const ClusterJob& job, size_t task) {
  return fmt::format("{} {}/{}", command_before_part(job), task, job.tasks);
}

std::string slurm_script(const ClusterJob& job) {
  return fmt::format(
      "#!/bin/sh\n"
      "# A job array of `gpusim study run --on slurm`: each task simulates its share of the points.\n"
      "#SBATCH --job-name={}\n"
      "exec {} \"$SLURM_ARRAY_TASK_ID/{}\"\n",
      shell_word("gpusim-" + job.name), command_before_part(job), job.tasks);
}

int run_on_slurm(const ClusterJob& job) {
  std::error_code error;
  fs::create_directories(job.logs, error);
  const std::string script = (fs::path(job.logs) / "job.sh").string();
  core::write_whole_file(script, slurm_script(job));
  std::vector<std::string> words = {"sbatch",
                                    "--wait",
                                    "--parsable",
                                    fmt::format("--array=0-{}", job.tasks - 1),
                                    fmt::format("--cpus-per-task={}", job.threads),
                                    fmt::format("--output={}", (fs::path(job.logs) / "%A_%a.log").string())};
  words.insert(words.end(), job.options.begin(), job.options.end());
  words.push_back(script);
  const core::ProcessEnd end = core::run_program(words, STDIN_FILENO, STDERR_FILENO);
  if (end.status == core::kNoSuchProgram)
    throw core::InputError(
        "gpusim: error: --on slurm: there is no sbatch on the PATH\n  hint: run this where jobs are "
        "submitted, or "
        "`gpusim study plan --commands` prints a command for each point");
  return end.signal != 0 ? 128 + end.signal : end.status;
}

std::string study_toml(const Study& study) {
  std::vector<std::string> machines, constraints;
  std::error_code error;
  for (const std::string& machine : study.machines)  // a name that is no file here is one of the program's
    machines.push_back(machine.find('/') != std::string::npos || fs::is_regular_file(machine, error)
                           ? absolute_path(machine)
                           : machine);
  for (const Constraint& c : study.constraints) constraints.push_back(c.text);
  std::string out = constraints.empty() ? "" : fmt::format("constraints = {}\n\n", toml_list(constraints));
  out += fmt::format(
      "[study]\nname = {}\nmachines = {}\nset = {}\nobjective = {}\nmaximise = {}\nmax_cycles = {}\n",
      toml_text(study.name), toml_list(machines), toml_list(study.sets), toml_text(study.objective),
      study.maximise, study.max_cycles);
  for (const Workload& w : study.workloads) {
    out += fmt::format("\n[[workload]]\nname = {}\nptx = {}\n", toml_text(w.name),
                       toml_text(absolute_path(w.ptx)));
    if (!w.launch.empty()) out += fmt::format("launch = {}\n", toml_text(absolute_path(w.launch)));
    if (!w.params.empty()) {
      out += "params = { ";
      for (size_t i = 0; i < w.params.size(); ++i) {
        const size_t equals = w.params[i].find('=');
        out += fmt::format("{}{} = {}", i == 0 ? "" : ", ", w.params[i].substr(0, equals),
                           toml_text(w.params[i].substr(equals + 1)));
      }
      out += " }\n";
    }
  }
  for (const Axis& axis : study.axes) {
    std::vector<std::string> targets, values;
    for (const Target& target : axis.targets) targets.push_back(target_text(target));
    // One value for all targets is written as one, and so keeps its label.
    for (const Axis::Value& value : axis.values)
      values.push_back(value.texts.front() == value.label ? toml_text(value.label) : toml_list(value.texts));
    out += fmt::format("\n[[axis]]\nname = {}\nof = {}\nvalues = [{}]\n", toml_text(axis.name),
                       toml_list(targets), fmt::join(values, ", "));
  }
  return out;
}

}  // namespace gpusim::study
