// Every file below simcore/tests/broken/ is wrong; its first lines say what the error text must contain
// (`# expect: LINE:COL: text`, the file name is left out).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "simcore/config/load.h"
#include "simcore/launch/launch.h"
#include "simcore/text/text_file.h"

namespace gpusim::core {
namespace {

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(GPUSIM_SOURCE_DIR "/simcore/tests/broken/" + folder)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> expectations(const std::string& path) {
  constexpr std::string_view kPrefix = "# expect: ";
  std::vector<std::string> texts;
  std::istringstream file(read_text_file(path));
  for (std::string line; std::getline(file, line) && line.starts_with(kPrefix);)
    texts.push_back(line.substr(kPrefix.size()));
  return texts;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}

class Broken : public testing::TestWithParam<std::string> {
 protected:
  template <typename Load>
  void expect_errors(Load load) {
    const std::vector<std::string> texts = expectations(GetParam());
    ASSERT_FALSE(texts.empty());
    try {
      load();
      FAIL() << "no error";
    } catch (const InputError& error) {
      const std::string message = error.what();
      for (std::string text : texts) {
        // A place belongs to this file.
        if (std::isdigit(static_cast<unsigned char>(text[0]))) text.insert(0, GetParam() + ":");
        EXPECT_NE(message.find(text), std::string::npos) << "expected: " << text << "\nfound: " << message;
      }
    }
  }
};

class BrokenLaunch : public Broken {};
class BrokenConfig : public Broken {};

TEST_P(BrokenLaunch, GivesItsErrors) {
  expect_errors([] { (void)load_launch(GetParam(), {}, 0); });
}
TEST_P(BrokenConfig, GivesItsErrors) {
  expect_errors([] { (void)load_machine(GetParam(), {}, {}); });
}

INSTANTIATE_TEST_SUITE_P(Files, BrokenLaunch, testing::ValuesIn(files_in("launch")), name_of);
INSTANTIATE_TEST_SUITE_P(Files, BrokenConfig, testing::ValuesIn(files_in("config")), name_of);

}  // namespace
}  // namespace gpusim::core
