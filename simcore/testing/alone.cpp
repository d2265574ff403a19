// main() of test programs. With --alone=SUITE, each test of the suite runs in a child of this process: some
// need a process of their own, for SystemC elaborates once in each, and starting the program anew takes ten
// times as long as most of them run.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr unsigned kLimitS = 120;

std::string name_of(const testing::TestInfo& test) {
  return std::string(test.test_suite_name()) + "." + test.name();
}

/// The test becomes the only one, with a new temporary folder.
void choose(const testing::TestInfo& test) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / std::to_string(getpid());
  std::filesystem::create_directory(folder);
  setenv("TEST_TMPDIR", folder.c_str(), 1);
  GTEST_FLAG_SET(filter, name_of(test));
}

/// Whether the test, alone in a new process, passes.
bool passes_alone(const testing::TestInfo& test) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kLimitS);
    choose(test);
    // Nothing of this stack owns memory: the LeakSanitizer does not see it where SystemC has changed stacks.
    std::exit(RUN_ALL_TESTS());
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::perror("a process for a test");
    return false;
  }
  if (WIFSIGNALED(status)) {
    std::fprintf(stderr, "%s ended by signal %d%s\n", name_of(test).c_str(), WTERMSIG(status),
                 WTERMSIG(status) == SIGALRM ? ": it took too long" : "");
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run_alone(std::string_view wanted) {
  int run = 0, disabled = 0;
  std::vector<std::string> failed;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    if (wanted != suite.name()) continue;
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (std::string_view(test.name()).starts_with("DISABLED_")) {
        ++disabled;
        continue;
      }
      ++run;
      if (!passes_alone(test)) failed.emplace_back(test.name());
    }
  }
  std::printf("%d tests, %zu failed, %d disabled\n", run, failed.size(), disabled);
  for (const std::string& name : failed) std::printf("FAILED: %s\n", name.c_str());
  return run + disabled > 0 && failed.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  // A death test of the style "threadsafe" starts the program again, with the same arguments, for itself
  // alone.
  const bool dies = std::any_of(argv + 1, argv + argc, [](std::string_view word) {
    return word.starts_with("--gtest_internal_run_death_test=");
  });
  testing::InitGoogleTest(&argc, argv);
  if (dies) return RUN_ALL_TESTS();
  constexpr std::string_view kAlone = "--alone=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with(kAlone)) return run_alone(word.substr(kAlone.size()));
  }
  return RUN_ALL_TESTS();
}
