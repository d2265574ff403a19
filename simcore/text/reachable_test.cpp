// Names that cannot be looked at: a link that leads to itself is one for every user, a closed folder for
// most.
#include "simcore/text/reachable.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "simcore/text/input_error.h"

namespace gpusim::core {
namespace {

namespace fs = std::filesystem;

class Reachable : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_);
    fs::create_symlink("loop", folder_ + "/loop");
    std::ofstream(folder_ + "/file") << "x";
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  const std::string folder_ = fmt::format("{}/reachable_{}", testing::TempDir(), getpid());
};

TEST_F(Reachable, SomethingOrNothingHasTheName) {
  for (const std::string& name :
       {std::string("file"), std::string("."), std::string("none"), std::string("file/inside"),
        std::string("none/inside"), std::string(300, 'a')}) {
    EXPECT_EQ(why_unreachable(folder_ + "/" + name), "") << name;
    EXPECT_NO_THROW(refuse_unreachable(folder_ + "/" + name)) << name;
  }
  EXPECT_EQ(why_closed(folder_), "");
  EXPECT_EQ(why_closed(folder_ + "/none"), "");
  EXPECT_EQ(why_unreachable(""), "");
}

TEST_F(Reachable, ALinkToItselfIsNot) {
  const std::string loop = folder_ + "/loop", reason = "Too many levels of symbolic links";
  EXPECT_EQ(why_unreachable(loop), reason);
  EXPECT_EQ(why_unreachable(loop + "/inside"), reason);
  EXPECT_EQ(why_closed(loop), reason);
  EXPECT_THAT([&] { refuse_unreachable(loop); },
              testing::ThrowsMessage<InputError>(loop + ": error: cannot open: " + reason));
}

TEST_F(Reachable, WhatStandsInAClosedFolderIsNot) {
  if (geteuid() == 0) GTEST_SKIP() << "root may enter any folder";
  fs::permissions(folder_, fs::perms::none);
  EXPECT_EQ(why_unreachable(folder_ + "/file"), "Permission denied");
  EXPECT_EQ(why_unreachable(folder_ + "/none"), "Permission denied") << "who knows";
  EXPECT_EQ(why_closed(folder_), "Permission denied");
  EXPECT_EQ(why_unreachable(folder_), "") << "the folder itself is seen";
}

}  // namespace
}  // namespace gpusim::core
