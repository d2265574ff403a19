#include "correlate/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "simcore/text/input_error.h"
#include "simcore/text/sha256.h"
#include "simcore/text/text_file.h"

namespace gpusim::correlate {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kPtx = R"(.version 6.3
.target sm_75
.address_size 64
.visible .entry twice (.param .u64 p_y, .param .f32 p_a, .param .u32 p_n, .param .u64 p_x)
{
  ret;
}
)";
const std::string kLaunch = R"toml([params]
N = 5
[[buffer]]
name = "x"
type = "f32"
count = "N"
init = "iota(1, 2)"
[[buffer]]
name = "y"
type = "u16"
count = "2*N"
[[launch]]
grid = ["N", 2]
block = 64
args = ["y", 0.5, "N", "x"]
dynamic_shared = 16
repeat = 2
)toml";

class Plan : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("plan_test_" + std::to_string(getpid()));
    fs::create_directories(folder / "source");
    write("source/t.ptx", kPtx);
    write("source/t.toml", kLaunch);
    request.ptx = folder / "source/t.ptx";
  }
  void TearDown() override { fs::remove_all(folder); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; }
  std::string error_of() {
    try {
      write_plan(request, folder / "out/t");
    } catch (const core::InputError& e) {
      return e.what();
    }
    return "no error";
  }
  fs::path folder;
  PlanRequest request;
};

TEST_F(Plan, HoldsDataAndLaunches) {
  request.params = {"N=3"};
  request.name = "a run";
  request.fitting = true;
  request.seed = 7;
  write_plan(request, folder / "out/t");
  EXPECT_EQ(
      core::read_text_file(folder / "out/t/plan.txt"),
      "gpusim-plan 1\nname a run\nptx t.ptx\nrecord_ptx t/t.ptx\nrecord_launch ../source/t.toml\nsha256 " +
          core::sha256_hex(kPtx) +
          "\nfitting 1\nseed 7\nparam N 3\ncontent x 12 file\ncontent y 12 zeros\n"
          "kernel twice 3 2 1 64 1 1 16\nbuffer y\nbytes 0000003f\nbytes 03000000\nbuffer x\n"
          "kernel twice 3 2 1 64 1 1 16\nbuffer y\nbytes 0000003f\nbytes 03000000\nbuffer x\n");
  EXPECT_EQ(core::read_text_file(folder / "out/t/t.ptx"), kPtx);
  const std::string x = core::read_text_file(folder / "out/t/x.bin");
  ASSERT_EQ(x.size(), 12u);
  float values[3];
  std::memcpy(values, x.data(), 12);
  EXPECT_THAT(values, ::testing::ElementsAre(1, 3, 5));
  EXPECT_FALSE(fs::exists(folder / "out/t/y.bin"));
}

TEST_F(Plan, SetsVariables) {
  std::string ptx = kPtx;
  ptx.insert(ptx.find(".visible"),
             ".const .align 4 .b8 table[8];\n.global .align 8 .u64 pointers[2];\n"
             ".global .align 4 .u32 counter = 3;\n");
  write("source/t.ptx", ptx);
  write("source/t.toml", kLaunch + R"toml(
[[variable]]
name = "table"
type = "f32"
init = [1, 0.5]
[[variable]]
name = "pointers"
init = ["address(x)", "address(y, 4)"]
[[expect]]
variable = "counter"
values = [3]
)toml");
  write_plan(request, folder / "out/t");
  const std::string plan = core::read_text_file(folder / "out/t/plan.txt");
  EXPECT_THAT(plan,
              HasSubstr("variable table 8 file\nvariable pointers 16 file\naddress 0 x 0\naddress 8 y 4\n"
                        "variable counter 4 module\nkernel twice"));
  const std::string table = core::read_text_file(folder / "out/t/table.bin");
  float values[2];
  ASSERT_EQ(table.size(), sizeof values);
  std::memcpy(values, table.data(), sizeof values);
  EXPECT_THAT(values, ::testing::ElementsAre(1, 0.5f));
  write("source/t.toml", kLaunch + "[[variable]]\nname = \"tabel\"\n");
  EXPECT_THAT(error_of(), HasSubstr("t.toml:19:8: error: "));
  EXPECT_THAT(error_of(), HasSubstr("did you mean 'table'?"));
}

TEST_F(Plan, RefusesWhatItCannotSay) {
  write("source/t.toml", kLaunch + "[[copy]]\nbuffer = \"x\"\n");
  EXPECT_THAT(error_of(), HasSubstr("t.toml:18:1: error: a plan for real hardware cannot say this: copies"));
  write("source/t.toml",
        kLaunch + "stream = 1\n[[launch]]\ngrid = 1\nblock = 1\nargs = [\"y\", 0.5, 1, \"x\"]\n");
  EXPECT_THAT(error_of(), HasSubstr("launches of several streams"));
  write("source/t.toml", "link = [\"t.ptx\"]\n" + kLaunch);
  EXPECT_THAT(error_of(), HasSubstr("several PTX files"));
  write("source/t.toml", kLaunch + "kernel = \"twic\"\n");
  EXPECT_THAT(error_of(), HasSubstr("has no kernel 'twic'\n  hint: did you mean 'twice'?"));
  write("source/t.toml", kLaunch);
  std::string narrow = kPtx;
  narrow.replace(narrow.find(".u64 p_y"), 4, ".u32");
  write("source/t.ptx", narrow);
  EXPECT_THAT(error_of(), HasSubstr("parameter 'p_y' holds an address of 4 bytes"));
  EXPECT_FALSE(fs::exists(folder / "out"));
}

}  // namespace
}  // namespace gpusim::correlate
