// A study on more than one computer: its points as commands for whatever runs commands, and as a job array of
// Slurm. The computers share the folder of results; each task simulates its share of the points there, and
// what is there already is not simulated again, so a job that was interrupted goes on where it was.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "study/points.h"
#include "study/study_file.h"

namespace gpusim::study {

struct ClusterJob {
  std::string program;     ///< path of gpusim
  std::string study_file;  ///< path
  std::string store;       ///< folder of the results
  std::string logs;        ///< folder of the tasks' outputs and the script
  size_t tasks = 1;
  unsigned threads = 1;              ///< simulations at the same time in a task
  std::vector<std::string> options;  ///< for sbatch, as given
  std::string name = "study";        ///< of the study
};

/// The single run that simulates the point, and records it to `out`.
[[nodiscard]] std::string run_command(const Study& study, const Point& point, const std::string& out);
/// The shell command of one task, 0 .. tasks - 1.
[[nodiscard]] std::string task_command(const ClusterJob& job, size_t task);
/// What sbatch gets: a script that runs the task of its $SLURM_ARRAY_TASK_ID.
[[nodiscard]] std::string slurm_script(const ClusterJob& job);
/// Writes the script, submits it as one job array, and waits for its end. Returns sbatch's exit status, that
/// of the worst task. Throws core::InputError if there is no sbatch or the script cannot be written.
int run_on_slurm(const ClusterJob& job);

/// A study as the text of a file that says the same from any folder: paths of programs, launch files and
/// machines are absolute.
[[nodiscard]] std::string study_toml(const Study& study);

/// A word that a POSIX shell takes as it is.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace gpusim::study
