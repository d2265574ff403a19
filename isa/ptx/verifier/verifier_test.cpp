#include "isa/ptx/verifier/verifier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "isa/tests/ptx_test_util.h"

namespace gpusim::isa {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_in(const char* folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(GPUSIM_SOURCE_DIR) / "isa/tests" / folder)) {
    if (entry.path().extension() == ".ptx") names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  return fs::path(info.param).stem().string();
}

std::string one_line(const Diagnostic& d) {
  std::string text = std::to_string(d.loc.line) + ":" + std::to_string(d.loc.column) + ": " + d.message;
  if (!d.hint.empty()) text += " | " + d.hint;
  return text;
}

// A broken file begins with `// expect: LINE:COL: message[ | hint]` lines: all its messages, in order.
class BrokenFiles : public testing::TestWithParam<std::string> {};

TEST_P(BrokenFiles, GiveTheirMessages) {
  const std::string text = test::read_file(GetParam());
  std::istringstream lines(text);
  std::string expected, found;
  constexpr std::string_view kPrefix = "// expect: ";
  for (std::string line; std::getline(lines, line) && line.rfind(kPrefix, 0) == 0;)
    expected += line.substr(kPrefix.size()) + "\n";
  ASSERT_NE(expected, "");
  ParseResult result = parse_module(text);
  Diagnostics all = result.diagnostics;
  for (Diagnostic& d : verify_module(result.module)) all.push_back(std::move(d));
  sort_by_location(all);
  for (const Diagnostic& d : all) found += one_line(d) + "\n";
  EXPECT_EQ(found, expected);
}

INSTANTIATE_TEST_SUITE_P(Verifier, BrokenFiles, testing::ValuesIn(files_in("broken")), test_name);

TEST(BrokenFiles, AreMany) { EXPECT_GE(files_in("broken").size(), 50u); }

// What nvcc makes of small CUDA programs has no errors.
class CompiledFiles : public testing::TestWithParam<std::string> {};

TEST_P(CompiledFiles, HaveNoErrors) {
  const ParseResult result = parse_module(test::read_file(GetParam()));
  EXPECT_EQ(test::messages(result.diagnostics), "");
  EXPECT_FALSE(result.module.entries().empty());
  EXPECT_FALSE(has_errors(verify_module(result.module))) << test::messages(verify_module(result.module));
}

INSTANTIATE_TEST_SUITE_P(Verifier, CompiledFiles, testing::ValuesIn(files_in("nvcc")), test_name);

TEST(Verifier, AcceptsLooseTypes) {
  test::kernel_ok(R"(
    .reg .b16 %rs<4>; .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .f64 %fd<3>; .reg .pred %p<4>;
    ld.global.u8 %rs1, [%rd1];
    ld.global.s8 %r1, [%rd1];
    ld.global.u16 %rd2, [%rd1];
    ld.global.f32 %r1, [%rd1];
    st.global.u8 [%rd1], %r1;
    add.f32 %r1, %r2, %f1;
    add.u32 %r1, %r2, -1;
    cvt.u32.u8 %r1, %r2;
    cvt.s8.s32 %r1, %r2;
    cvt.rn.f32.u8 %f1, %rs1;
    mov.b32 %f1, %r1;
    mov.b64 %rd1, %fd1;
    mov.b64 {%f1, %r1}, %fd1;
    mov.b32 {%rs1, %rs2}, %r1;
    selp.b32 %f1, 1, %r1, %p1;
    and.pred %p1, %p2, !%p3;
    setp.eq.f16 %p1, %rs1, %rs2;
    fma.rn.f16x2 %r1, %r2, %r3, %r4;
    atom.global.add.u32 _, [%rd1], 1;
    atom.global.cas.b64 %rd2, [%rd1], %rd2, %rd3;
    red.global.add.f32 [%rd1], %f1;
    shl.b64 %rd1, %rd2, %r1;
    bar.sync 0, 64;
    bar.red.or.pred %p1, 0, %p2;
    vote.sync.ballot.b32 %r1, %p1, -1;
    match.all.sync.b32 %r1|%p1, %r2, -1;
    ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f1}, [%rd1];
    isspacep.shared %p1, %rd1;
    cvta.to.global.u64 %rd1, %rd2;
    mul.wide.s32 %rd1, %r1, 4;
    mad.wide.u32 %rd1, %r1, %r2, %rd2;)");
}

TEST(Verifier, UnsupportedReason) {
  const Module m = test::parse_ok(
      test::kernel(".reg .b32 %r<4>; add.u32 %r1, %r2, %r3; st.bulk.x [%r1], %r2; mma.sync.x %r1;"));
  EXPECT_EQ(unsupported_reason(m.functions[0].body[0]), "");
  EXPECT_EQ(unsupported_reason(m.functions[0].body[1]), "'st.bulk.x' is not supported yet");
  EXPECT_EQ(unsupported_reason(m.functions[0].body[2]), "'mma.sync.x' is not supported yet");
}

TEST(Verifier, OldTargetsNeedNoRoundings) {
  const Module m = test::parse_ok(R"(.version 1.3
.target sm_10, map_f64_to_f32
.entry k { .reg .f32 %f<4>; .reg .f64 %fd<3>;
  div.f32 %f1, %f2, %f3; sqrt.f32 %f1, %f2; mad.f32 %f1, %f2, %f3, %f1; sin.f32 %f1, %f2; add.f64 %fd1, %fd2, %fd1; exit; })");
  EXPECT_EQ(test::messages(verify_module(m)), "");
}

// One result alone is not of such a type.
TEST(Verifier, OfSeveralResultsOneMayBeAPredicate) {
  const auto found = [](const std::string& results) {
    return test::messages(verify_module(test::parse_ok(
        ".version 7.0\n.target sm_75\n.address_size 64\n.func (" + results + ") f() { ret; }\n")));
  };
  EXPECT_EQ(found(".reg .u32 r, .reg .pred q"), "");
  EXPECT_EQ(found(".reg .u32 r, .reg .u16 h"), "");
  EXPECT_NE(found(".reg .pred q"), "");
}

}  // namespace
}  // namespace gpusim::isa
