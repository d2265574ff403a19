// Files as they are read: whole, in parts, and those that are refused.
#include "simcore/text/text_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>

#include "simcore/text/input_error.h"
#include "simcore/text/whole_file.h"

namespace gpusim::core {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string temp(const std::string& name) {
  return fmt::format("{}/text_file_{}_{}", testing::TempDir(), getpid(), name);
}

class TextFile : public testing::Test {
 protected:
  void SetUp() override { write_whole_file(path_, std::string_view("abc\0\xff\n", 6)); }
  void TearDown() override { std::filesystem::remove(path_); }
  const std::string path_ = temp("file");
};

TEST_F(TextFile, IsReadWholeWhateverItsBytes) {
  EXPECT_EQ(read_text_file(path_), std::string("abc\0\xff\n", 6));
  EXPECT_EQ(read_text_file(path_, 6).size(), 6u);
  write_whole_file(path_, "");
  EXPECT_EQ(read_text_file(path_), "");
}

TEST_F(TextFile, IsReadInPartsUpToItsEnd) {
  const InputFile file(path_);
  EXPECT_EQ(file.bytes(), 6u);
  std::string part(4, '?');
  EXPECT_EQ(file.read(1, part.data(), 2), 2u);
  EXPECT_EQ(part, "bc??");
  EXPECT_EQ(file.read(5, part.data(), 4), 1u);
  EXPECT_EQ(part, "\nc??");
  EXPECT_EQ(file.read(7, part.data(), 4), 0u);
}

TEST_F(TextFile, IsRefusedWithItsNameAndTheReason) {
  const auto reading = [](const std::string& path, size_t most_bytes = kMaxDocumentBytes) {
    return [=] { (void)read_text_file(path, most_bytes); };
  };
  EXPECT_THAT(reading(path_, 5),
              ThrowsMessage<InputError>(path_ + ": error: file is too large: 6 bytes, at most 5"));
  EXPECT_THAT(reading(temp("none")),
              ThrowsMessage<InputError>(temp("none") + ": error: cannot open: No such file or directory"));
  EXPECT_THAT(reading("/"), ThrowsMessage<InputError>("/: error: is a folder, not a file"));
  EXPECT_THAT(reading("/dev/zero"), ThrowsMessage<InputError>(HasSubstr("not a regular file")));
  if (geteuid() != 0) {
    std::filesystem::permissions(path_, std::filesystem::perms::none);
    EXPECT_THAT(reading(path_), ThrowsMessage<InputError>(HasSubstr("cannot open: Permission denied")));
  }
}

TEST_F(TextFile, APipeIsNotWaitedFor) {
  const std::string pipe = temp("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT([&] { (void)read_text_file(pipe); },
              ThrowsMessage<InputError>(HasSubstr("cannot read: not a regular file")));
  std::filesystem::remove(pipe);
}

TEST_F(TextFile, TheReasonMayBeToldAnotherWay) {
  const auto refuse = [](const std::string& reason) { throw std::runtime_error("no: " + reason); };
  EXPECT_THAT([&] { const InputFile file("/", refuse); },
              ThrowsMessage<std::runtime_error>("no: is a folder, not a file"));
  EXPECT_EQ(InputFile(path_, refuse).bytes(), 6u);
}

}  // namespace
}  // namespace gpusim::core
