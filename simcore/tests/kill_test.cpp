// Kills a recording process at random times: the file must open, be marked partial and hold only right
// records. GPUSIM_KILLS sets the number of kills (default 30; simcore/tests/kill_loop.sh runs 200).
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "simcore/tests/kill_pattern.h"

extern char** environ;

namespace gpusim::core {
namespace {

/// Starts the writer and returns once it has created its file.
pid_t start_writer(const std::string& file, const std::string& interval) {
  int out[2];
  if (pipe(out) != 0) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_addclose(&actions, out[0]);
  std::string program = GPUSIM_KILL_WRITER, name = file, seconds = interval;
  char* arguments[] = {program.data(), name.data(), seconds.data(), nullptr};
  pid_t pid = -1;
  if (posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments, environ) != 0) pid = -1;
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  char first = 0;
  if (read(out[0], &first, 1) != 1) pid = -1;
  close(out[0]);
  return pid;
}

TEST(Kill, FileStaysReadableAndRight) {
  const char* wanted = std::getenv("GPUSIM_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 30;
  const std::string path = testing::TempDir() + "/killed.h5";
  std::mt19937 random(20240601);
  uint64_t total = 0;
  for (int i = 0; i < kills; ++i) {
    std::filesystem::remove(path);
    // Committing after every job makes nearly every kill fall into a commit; the longer intervals are the
    // usual case.
    const char* intervals[] = {"0", "0.01", "0.05"};
    const pid_t pid = start_writer(path, intervals[i % 3]);
    ASSERT_GT(pid, 0);
    usleep(static_cast<useconds_t>(random() % 250'000));
    kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    uint64_t records = 0;
    std::string file_status;
    ASSERT_NO_THROW(EXPECT_EQ(check_pattern_file(path, records, file_status), "")) << "kill " << i;
    EXPECT_EQ(file_status, "partial");
    total += records;
  }
  EXPECT_GT(total, 0u);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace gpusim::core
