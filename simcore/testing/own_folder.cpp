// Part of every test program: testing::TempDir() is a folder of this process, which goes when the process
// ends. So tests that ctest runs side by side, and those of several source trees, may write files of the same
// name, and nothing is left behind.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace {

class OwnFolder {
 public:
  OwnFolder() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "gpusim_test.XXXXXX").string();
    if (error || !mkdtemp(path.data())) return;
    path_ = path;
    setenv("TEST_TMPDIR", path_.c_str(), 1);
  }
  ~OwnFolder() {
    if (path_.empty() || getpid() != owner_) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

 private:
  const pid_t owner_ = getpid();
  std::string path_;
};

const OwnFolder own_folder;

}  // namespace
