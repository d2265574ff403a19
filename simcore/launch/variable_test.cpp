// Variables of the PTX in launch files: what they bind to, what is refused, what unused buffers are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "simcore/launch/launch.h"

namespace gpusim::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<DeclaredVariable> declarations() {
  const std::vector<std::byte> one_two{std::byte{1}, std::byte{0}, std::byte{2}, std::byte{0}};
  std::vector<DeclaredVariable> all;
  all.push_back({"table", "const", "b8", 16, false, false, {}, {"k.ptx", 3, 7}});
  all.push_back({"scale", "const", "f32", 4, false, false, {}, {"k.ptx", 4, 7}});
  all.push_back({"pointers", "global", "u64", 16, false, false, {}, {"k.ptx", 5, 7}});
  all.push_back({"pair", "global", "u16", 8, false, false, one_two, {"k.ptx", 6, 7}});
  all.push_back({"outside", "global", "f32", 4, true, false, {}, {"k.ptx", 7, 7}});
  all.push_back({"open", "global", "f32", 0, false, false, {}, {"k.ptx", 8, 7}});
  all.push_back({"tile", "shared", "f32", 64, false, false, {}, {"k.ptx", 9, 7}});
  all.push_back({"image", "global", "texref", 8, false, true, {}, {"k.ptx", 10, 7}});
  all.push_back({"own@@1", "global", "u32", 4, false, false, {}, {"k.ptx", 11, 7}});
  all.push_back({"twin@@1", "global", "u32", 4, false, false, {}, {"k.ptx", 12, 7}});
  all.push_back({"twin@@2", "global", "u32", 4, false, false, {}, {"l.ptx", 2, 7}});
  return all;
}

constexpr const char* kStart = R"(params.N = 4
[[buffer]]
name = "A"
type = "f32"
count = "N"
[[launch]]
grid = 1
block = 1
args = ["A"]
)";

LaunchDescription bound(const std::string& text, bool allow_files = true) {
  LaunchDescription launch = parse_launch(kStart + text, "w.toml", {}, 7, allow_files);
  bind_variables(launch, declarations(), "k.ptx");
  return launch;
}
std::string variable_error(const std::string& text, bool allow_files = true) {
  try {
    (void)bound(text, allow_files);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}
std::string variable(const std::string& rest) { return "[[variable]]\n" + rest + "\n"; }

template <class T>
std::vector<T> content(const LaunchDescription& launch, const BufferSpec& b) {
  std::vector<std::byte> bytes(b.bytes());
  fill_buffer(b, launch.seed, bytes);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(Variables, TakeTypeAndSizeFromTheDeclaration) {
  const LaunchDescription launch =
      bound(variable("name = \"table\"\ntype = \"f32\"\ninit = [1, \"N/8\", 2.5, 0]") +
            variable("name = \"scale\"\ninit = 0.5") + variable("name = \"own\"\ninit = \"fill(N)\"") +
            variable("name = \"pair\"\ncount = 4\ntype = \"s16\"\ninit = \"iota(-1, -1)\""));
  ASSERT_EQ(launch.buffers.size(), 5u);
  EXPECT_THAT(content<float>(launch, launch.buffers[1]), ElementsAre(1, 0.5f, 2.5f, 0));
  EXPECT_THAT(content<float>(launch, launch.buffers[2]), ElementsAre(0.5f));
  EXPECT_THAT(content<uint32_t>(launch, launch.buffers[3]), ElementsAre(4u));
  EXPECT_THAT(content<int16_t>(launch, launch.buffers[4]), ElementsAre(-1, -2, -3, -4));
  EXPECT_THAT(launch.warnings, IsEmpty());
}

TEST(Variables, KeepTheValueOfThePtxUnlessSet) {
  const LaunchDescription launch = bound("[[expect]]\nvariable = \"pair\"\nvalues = [1, 2]\n");
  ASSERT_EQ(launch.buffers.size(), 2u);
  EXPECT_EQ(launch.buffers[1].type, ElementType::kU16);
  EXPECT_FALSE(launch.buffers[1].init.given);
  EXPECT_THAT(content<uint16_t>(launch, launch.buffers[1]), ElementsAre(1, 2, 0, 0));
}

TEST(Variables, HoldAddresses) {
  const LaunchDescription launch =
      bound(variable("name = \"pointers\"\ninit = [\"address(A)\", \"address(scale, 2*N)\"]") +
            variable("name = \"scale\"\ninit = 1"));
  const auto& addresses = launch.buffers[1].init.addresses;
  ASSERT_EQ(addresses.size(), 2u);
  EXPECT_EQ(addresses[0].target, 0u);
  EXPECT_EQ(addresses[1].target, 2u);
  EXPECT_EQ(addresses[1].index, 1u);
  EXPECT_EQ(addresses[1].offset, 8u);
}

TEST(Variables, ErrorsNamePlaceAndNearestName) {
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {"name = \"tabel\"\ninit = 1",
       {"w.toml:11:8: error: k.ptx has no .global or .const variable 'tabel'", "did you mean 'table'"}},
      {"name = \"A\"", {"w.toml:11:8: error: 'A' is a buffer as well"}},
      {"name = \"N\"", {"'N' is a parameter as well"}},
      {"name = \"a b\"", {"not a name that PTX allows"}},
      {"name = \"scale\"\ninit = [1, 2]",
       {"w.toml:12:8: error: variable 'scale' has 1 element of type f32, not 2", "declared at k.ptx:4:7"}},
      {"name = \"scale\"\ncount = 3",
       {"w.toml:12:9: error: variable 'scale' has 1 element of type f32, not 3"}},
      {"name = \"scale\"\ntype = \"u32\"",
       {"w.toml:12:8: error: variable 'scale' has elements of type f32, not u32"}},
      {"name = \"pair\"\ntype = \"u32\"", {"has elements of type u16, not u32"}},
      {"name = \"scale\"\ntype = \"f23\"",
       {"w.toml:12:8: error: unknown element type 'f23'", "did you mean 'f32'"}},
      {"name = \"pair\"\ninit = [1, 2, 3, 70000]",
       {"w.toml:12:18: error: 70000 does not fit into type u16, which holds integers from 0 to 65535"}},
      {"name = \"scale\"\ninit = 1e300",
       {"w.toml:12:8: error: 1e+300 does not fit into type f32, which holds numbers from -3.4028235e+38 to "
        "3.4028235e+38"}},
      {"name = \"pair\"\ninit = \"fil(1)\"",
       {"w.toml:12:9: error: unknown initial value 'fil'", "did you mean 'fill'"}},
      {"name = \"pair\"\ninit = \"fill(M)\"", {"w.toml:12:14: error: undefined name 'M'"}},
      {"name = \"table\"\ninit = [1, 2, 3, 4]",
       {"has 16 elements of type b8, not 4", "'type' says what the bytes are"}},
      {"name = \"pointers\"\ninit = [\"address(B)\", 0]", {"w.toml:12:18: error: undefined buffer 'B'"}},
      {"name = \"pointers\"\ninit = [\"address(A, -1)\", 0]",
       {"w.toml:12:21: error: bytes behind an address"}},
      {"name = \"pointers\"\ninit = \"address(A)\"", {"has 2 elements of type u64, not 1"}},
      {"name = \"scale\"\ninit = \"address(A)\"", {"an element of type f32 cannot hold an address"}},
      {"name = \"scale\"\ninit = \"file:none.bin\"",
       {"w.toml:12:14: error: none.bin: error: cannot open: No such file"}},
      {"name = \"scale\"\nvalue = 1", {"unknown key 'value' in [[variable]]"}},
      {"name = \"outside\"\ninit = 1",
       {"variable 'outside' is declared .extern and defined in no file", "declared at k.ptx:7:7"}},
      {"name = \"open\"\ninit = [1]", {"variable 'open' is declared without a size"}},
      {"name = \"tile\"", {"'tile' is a .shared variable, which only kernels can reach"}},
      {"name = \"image\"", {"'image' is a texture reference", "[[texture]] binds it"}},
      {"name = \"twin\"",
       {"several files of the program have a variable 'twin' of their own", "k.ptx:12:7, l.ptx:2:7"}},
  };
  for (const auto& [text, messages] : cases)
    for (const char* message : messages)
      EXPECT_THAT(variable_error(variable(text)), HasSubstr(message)) << text;
  EXPECT_THAT(variable_error(variable("name = \"scale\"") + variable("name = \"scale\"")),
              HasSubstr("is listed twice"));
  EXPECT_THAT(variable_error(variable("name = \"scale\"\ninit = \"file:a.npy\""), false),
              HasSubstr("files are not allowed"));
}

TEST(Variables, AreNoBuffersWhereBuffersAreMeant) {
  const std::string set = variable("name = \"scale\"\ninit = 1");
  EXPECT_THAT(variable_error(set + "[[expect]]\nbuffer = \"scale\"\nvalues = [1]\n"),
              HasSubstr("'scale' is a variable, not a buffer\n  hint: variable = \"scale\""));
  EXPECT_THAT(variable_error(set + "[[expect]]\nvariable = \"A\"\nvalues = [1]\n"),
              HasSubstr("'A' is a buffer\n  hint: buffer = \"A\""));
  EXPECT_THAT(variable_error("[[expect]]\nvariable = \"scal\"\nvalues = [1]\n"),
              HasSubstr("w.toml:11:12: error: k.ptx has no .global or .const variable 'scal'"));
  EXPECT_THAT(variable_error("[[expect]]\nvariable = \"scale\"\nvalues = [1, 2]\n"),
              HasSubstr("w.toml:12:10: error: 2 values, variable 'scale' has 1 element of type f32"));
  EXPECT_THAT(variable_error("[[expect]]\nvariable = \"scale\"\nfile = \"none.npy\"\n"),
              HasSubstr("w.toml:12:8: error: none.npy: error: cannot open"));
  EXPECT_EQ(variable_error(set + "[[copy]]\nvariable = \"scale\"\n"), "no error");
}

TEST(Variables, AreArgumentsAndReferenceInputs) {
  const LaunchDescription launch = bound(variable("name = \"table\"\ntype = \"f32\"\ninit = \"iota()\"") +
                                         "[[launch]]\ngrid = 1\nblock = 1\nargs = [\"table\"]\n"
                                         "[[expect]]\nbuffer = \"A\"\nreference = \"copy(table)\"\n");
  EXPECT_EQ(launch.launches[1].arguments[0].kind, ArgumentSpec::Kind::kBuffer);
  EXPECT_EQ(launch.launches[1].arguments[0].buffer, 1u);
  const float same[] = {0, 1, 2, 3};
  EXPECT_TRUE(check_expect(launch, launch.expects[0], std::as_bytes(std::span(same))).pass);
}

TEST(Buffers, ThatNothingUsesAreTold) {
  const auto buffer = [](const std::string& name) {
    return "[[buffer]]\nname = \"" + name + "\"\ntype = \"f32\"\ncount = 4\n";
  };
  EXPECT_THAT(
      bound(buffer("B")).warnings,
      ElementsAre(
          "w.toml:11:8: warning: buffer 'B' is not used: no launch, copy, expect or texture names it"));
  EXPECT_THAT(bound(buffer("scale") + "[[copy]]\nbuffer = \"scale\"\n").warnings,
              ElementsAre(HasSubstr(
                  "w.toml:11:8: warning: no kernel gets buffer 'scale'; the .const variable 'scale' of "
                  "the PTX is another thing, which [[variable]] sets")));
  EXPECT_THAT(bound(buffer("B") + "[[copy]]\nbuffer = \"B\"\n").warnings, IsEmpty());
  EXPECT_THAT(bound(buffer("B") + "[[expect]]\nbuffer = \"A\"\nreference = \"copy(B)\"\n").warnings,
              IsEmpty());
  EXPECT_THAT(bound(buffer("B") + variable("name = \"pointers\"\ninit = [\"address(B)\", 0]")).warnings,
              IsEmpty());
}

}  // namespace
}  // namespace gpusim::core
