#include "simcore/launch/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "simcore/launch/element.h"
#include "simcore/launch/random.h"
#include "simcore/memory/host_memory.h"

namespace gpusim::core {
namespace {

using testing::HasSubstr;

constexpr const char* kFile = R"toml(
[params]
N = 8
HALF = "N / 2"
[flops]
total = "2*N*N*N"
[[buffer]]
name = "A"
type = "f32"
count = "N*N"
init = "uniform(-1, 1)"
[[copy]]
buffer = "A"
[[buffer]]
name = "C"
type = "f32"
count = "N*N"
[[launch]]
kernel = "matmul"
grid = ["N/4", "HALF"]
block = [16, 4]
dynamic_shared = "4*N"
stack = "N*1024"
args = ["C", "A", "N", 1.5, { bytes = [1, 2, 0xff] }]
repeat = 2
stream = 1
[[copy]]
buffer = "C"
direction = "from_device"
[[expect]]
buffer = "C"
reference = "matmul(A, A)"
rtol = 1e-6
)toml";

LaunchDescription parse(const std::string& text, std::vector<std::string> overrides = {}) {
  return parse_launch(text, "folder/w.toml", overrides, 7);
}

std::string error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Launch, LinkedFilesLieInTheFoldersOfTheLaunchFile) {
  const LaunchDescription launch = parse(std::string("link = [\"b.ptx\", \"/x/c.ptx\"]\n") + kFile);
  EXPECT_EQ(launch.link, (std::vector<std::string>{"folder/b.ptx", "/x/c.ptx"}));
  EXPECT_TRUE(parse(kFile).link.empty());
  for (const std::string wrong : {"link = \"b.ptx\"\n", "link = [1]\n", "link = [\"\"]\n"}) {
    EXPECT_THAT(error_of([&] { (void)parse(wrong + kFile); }),
                HasSubstr("'link' must be an array of PTX files"));
  }
  EXPECT_THAT(error_of([&] { (void)parse_launch("link = [\"b.ptx\"]\n", "w.toml", {}, 0, false); }),
              HasSubstr("files are not allowed here"));
}

TEST(Launch, ReadsEverything) {
  const LaunchDescription launch = parse(kFile);
  EXPECT_EQ(launch.find_param("HALF")->integer, 4);
  EXPECT_EQ(launch.flops[0].second, 1024);
  ASSERT_EQ(launch.buffers.size(), 2u);
  EXPECT_EQ(launch.buffers[0].count, 64u);
  EXPECT_EQ(launch.total_buffer_bytes(), 512u);
  const LaunchSpec& spec = launch.launches.at(0);
  EXPECT_EQ(spec.kernel, "matmul");
  EXPECT_EQ(spec.grid[0], 2u);
  EXPECT_EQ(spec.grid[1], 4u);
  EXPECT_EQ(spec.grid[2], 1u);
  EXPECT_EQ(spec.block[1], 4u);
  EXPECT_EQ(spec.dynamic_shared, 32u);
  EXPECT_EQ(spec.stack, 8192u);
  EXPECT_EQ(spec.repeat, 2u);
  EXPECT_EQ(spec.stream, 1u);
  ASSERT_EQ(spec.arguments.size(), 5u);
  EXPECT_EQ(spec.arguments[0].buffer, 1u);
  EXPECT_EQ(spec.arguments[4].bytes.size(), 3u);
  EXPECT_EQ(launch.copies[0].order, 0u);
  EXPECT_EQ(spec.order, 1u);
  EXPECT_EQ(launch.copies[1].order, 2u);
  EXPECT_FALSE(launch.copies[1].to_device);
}

TEST(Launch, AKernelHasAName) {
  EXPECT_THAT(error_of([] { (void)parse("[[launch]]\nkernel = \"\"\ngrid = [1]\nblock = [1]\n"); }),
              HasSubstr("w.toml:2:10: error: the kernel's name is empty\n  hint: without `kernel` it is"));
}

TEST(Launch, BuffersMayHaveAddresses) {
  const LaunchDescription d = parse(
      "[[buffer]]\nname = \"a\"\ntype = \"u8\"\ncount = 3\naddress = 0x10000040\n"
      "[[buffer]]\nname = \"b\"\ntype = \"u8\"\ncount = 3\n"
      "[[launch]]\nkernel = \"k\"\ngrid = 1\nblock = 1\nargs = [\"a\", \"b\"]\n");
  EXPECT_EQ(d.buffers[0].address, 0x10000040u);
  EXPECT_EQ(d.buffers[0].address_where.line, 5u);
  EXPECT_FALSE(d.buffers[1].address.has_value());
  const char* const negative = "[[buffer]]\nname = \"a\"\ntype = \"u8\"\ncount = 3\naddress = -1\n";
  EXPECT_THAT(error_of([&] { (void)parse(negative); }), HasSubstr("w.toml:5:11: error: address"));
}

TEST(Launch, StreamZeroIsAStreamUnlessItIsCalledLegacy) {
  EXPECT_FALSE(parse(kFile).legacy_default_stream);
  EXPECT_FALSE(parse(std::string("default_stream = \"per_thread\"\n") + kFile).legacy_default_stream);
  EXPECT_TRUE(parse(std::string("default_stream = \"legacy\"\n") + kFile).legacy_default_stream);
}

TEST(Launch, OverridesReachDerivedParams) {
  const LaunchDescription launch = parse(kFile, {"N=16", "N=32"});
  EXPECT_EQ(launch.find_param("HALF")->integer, 16);
  EXPECT_EQ(launch.buffers[0].count, 1024u);
  EXPECT_EQ(error_of([] { (void)parse(kFile, {"M=1"}); }),
            "--param 'M=1': error: the launch file has no parameter 'M'\n  hint: valid: N, HALF");
  EXPECT_THAT(error_of([] { (void)parse(kFile, {"N"}); }), HasSubstr("expected NAME=VALUE"));
}

TEST(Launch, ExpressionsFollowTheirRules) {
  const auto value = [](const std::string& text) {
    const LaunchDescription launch =
        parse("[params]\nN = 10\nX = \"" + text + "\"\n[[launch]]\ngrid = 1\nblock = 1\n");
    return *launch.find_param("X");
  };
  EXPECT_EQ(value("1 + 2 * 3 - -4"), Number::of(11));
  EXPECT_EQ(value("(1 + 2) * 3"), Number::of(9));
  EXPECT_EQ(value("N / 4"), Number::of_real(2.5));
  EXPECT_EQ(value("N / 5"), Number::of(2));
  EXPECT_EQ(value("-7 // 2"), Number::of(-4));
  EXPECT_EQ(value("-7 % 3"), Number::of(2));
  EXPECT_EQ(value("7 % -3"), Number::of(-2));
  EXPECT_EQ(value("ceil_div(N, 4)"), Number::of(3));
  EXPECT_EQ(value("ceil_div(-N, 4)"), Number::of(-2));
  EXPECT_EQ(value("min(3, N, 2.5)"), Number::of_real(2.5));
  EXPECT_EQ(value("max(3, N)"), Number::of(10));
  EXPECT_EQ(value("log2(1024)"), Number::of(10));
  EXPECT_EQ(value("0x10 + 1"), Number::of(17));
  EXPECT_EQ(value("1e-3"), Number::of_real(1e-3));
  EXPECT_EQ(value(std::string(60, '(') + "1" + std::string(60, ')')), Number::of(1));
  EXPECT_THROW((void)value(std::string(100, '(') + "1" + std::string(100, ')')), InputError);
  EXPECT_THROW((void)value(std::string(4000, '-') + "1"), InputError);
  EXPECT_THROW((void)value("9223372036854775807 + 1"), InputError);
  EXPECT_THROW((void)value("1 / 0"), InputError);
  EXPECT_THROW((void)value("log2(0)"), InputError);
}

TEST(Random, IsTheDocumentedGenerator) {
  // Computed apart, with Python integers, from docs/launch_file.md.
  const BufferRandom random(1, "A");
  EXPECT_EQ(fnv1a64("A"), 0xaf63fc4c860222ecu);
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15u),
            0xe220a8397b1dcdafu);  // SplitMix64's published first output for seed 0
  const uint64_t key = mix64(1 + 0x9e3779b97f4a7c15u) ^ mix64(0xaf63fc4c860222ecu);
  EXPECT_EQ(random.bits(4), mix64(key + 5 * 0x9e3779b97f4a7c15u));
  EXPECT_EQ(random.unit(4), static_cast<double>(random.bits(4) >> 11) / 9007199254740992.0);
  EXPECT_NE(random.bits(0), BufferRandom(2, "A").bits(0));
  EXPECT_NE(random.bits(0), BufferRandom(1, "B").bits(0));
}

TEST(Random, HasTheRightMoments) {
  const BufferRandom random(3, "x");
  double sum = 0, squares = 0, uniform = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const double n = random.normal(i);
    sum += n;
    squares += n * n;
    uniform += random.unit(i);
    const int64_t integer = random.integer(i, -3, 4);
    ASSERT_GE(integer, -3);
    ASSERT_LT(integer, 4);
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
  EXPECT_NEAR(uniform / kDraws, 0.5, 0.005);
  for (double x : {1e-300, 0.1, 0.5, 1.0, 1.5, 2.718281828, 1e10}) {
    EXPECT_NEAR(portable_log(x), std::log(x), 4e-16 * std::max(1.0, std::abs(std::log(x)))) << x;
  }
}

TEST(Element, SmallFloatsRoundToNearestEven) {
  EXPECT_EQ(to_half(1.0), 0x3c00);
  EXPECT_EQ(to_half(65504), 0x7bff);
  EXPECT_EQ(to_half(65520), 0x7c00);
  EXPECT_EQ(to_half(-0.0), 0x8000);
  EXPECT_EQ(to_half(5.960464477539063e-8), 0x0001);
  EXPECT_EQ(to_half(2.980232238769531e-8), 0x0000);  // half of the smallest: to even
  EXPECT_EQ(to_half(1.0 + 1.0 / 2048), 0x3c00);
  EXPECT_EQ(to_half(1.0 + 3.0 / 2048), 0x3c02);
  EXPECT_EQ(to_bfloat(1.0), 0x3f80);
  EXPECT_EQ(to_bfloat(3.3895313892515355e38), 0x7f7f);
  for (int bits = 0; bits < 0x7c00; ++bits) EXPECT_EQ(to_half(from_half(static_cast<uint16_t>(bits))), bits);
  EXPECT_TRUE(std::isnan(from_half(to_half(std::nan("")))));
  std::byte out[8] = {};
  EXPECT_TRUE(store_element(ElementType::kU8, Number::of(255), out));
  EXPECT_FALSE(store_element(ElementType::kU8, Number::of(256), out));
  EXPECT_FALSE(store_element(ElementType::kU8, Number::of(-1), out));
  EXPECT_TRUE(store_element(ElementType::kB32, Number::of(-1), out));
  EXPECT_FALSE(store_element(ElementType::kS32, Number::of_real(0.5), out));
  EXPECT_TRUE(store_element(ElementType::kU64, Number::of_real(18446744073709549568.0), out));
}

std::vector<double> filled(const std::string& type, const std::string& init, uint64_t count) {
  const LaunchDescription launch =
      parse("[[buffer]]\nname = \"B\"\ntype = \"" + type + "\"\ncount = " + std::to_string(count) +
            "\ninit = " + init + "\n[[launch]]\ngrid = 1\nblock = 1\n");
  const BufferSpec& buffer = launch.buffers[0];
  std::vector<std::byte> content(buffer.bytes());
  fill_buffer(buffer, launch.seed, content);
  std::vector<double> values;
  for (uint64_t i = 0; i < buffer.count; ++i) {
    values.push_back(load_element(buffer.type, content.data() + i * element_bytes(buffer.type)).as_double());
  }
  return values;
}

TEST(Fill, MakesTheValues) {
  EXPECT_EQ(filled("s32", "\"iota(5, -2)\"", 3), (std::vector<double>{5, 3, 1}));
  EXPECT_EQ(filled("u8", "\"fill(7)\"", 2), (std::vector<double>{7, 7}));
  EXPECT_EQ(filled("f64", "[1, 2.5, \"1/4\"]", 3), (std::vector<double>{1, 2.5, 0.25}));
  EXPECT_EQ(filled("f32", "\"zeros\"", 2), (std::vector<double>{0, 0}));
  for (double v : filled("u16", "\"randint(10, 13)\"", 50)) EXPECT_TRUE(v >= 10 && v < 13);
  for (double v : filled("f32", "\"uniform(2, 3)\"", 50)) EXPECT_TRUE(v >= 2 && v <= 3);
  EXPECT_EQ(filled("f32", "\"uniform(2, 3)\"", 50), filled("f32", "\"uniform(2, 3)\"", 50));
  EXPECT_THROW((void)filled("u8", "\"iota(250, 1)\"", 10), InputError);
}

TEST(Fill, RowStartsAscendFromNothingToTheTotal) {
  for (const uint64_t total : {0, 3, 1000}) {
    const auto starts = filled("s32", "\"row_starts(" + std::to_string(total) + ")\"", 101);
    EXPECT_EQ(starts.front(), 0);
    EXPECT_EQ(starts.back(), total);
    EXPECT_TRUE(std::ranges::is_sorted(starts));
    // One start in each cell of total / rows: no row is longer than two of them.
    for (size_t i = 1; i < starts.size(); ++i)
      EXPECT_LE(starts[i] - starts[i - 1], 2.0 * static_cast<double>(total) / 100 + 1);
  }
  const auto starts = filled("s32", "\"row_starts(1000)\"", 101);
  std::set<double> lengths;
  for (size_t i = 1; i < starts.size(); ++i) lengths.insert(starts[i] - starts[i - 1]);
  EXPECT_GT(lengths.size(), 5u);
  EXPECT_EQ(filled("s32", "\"row_starts(7)\"", 1), std::vector<double>{0});
  EXPECT_THROW((void)filled("u8", "\"row_starts(256)\"", 10), InputError);
  EXPECT_THROW((void)filled("s32", "\"row_starts(-1)\"", 10), InputError);
  EXPECT_THROW((void)filled("s32", "\"row_starts(1.5)\"", 10), InputError);
}

TEST(Npy, RoundTripsAndRefusesOthers) {
  const std::string folder = testing::TempDir();
  const float values[] = {1, 2, 3.5};
  write_npy(folder + "/v.npy", ElementType::kF32, std::as_bytes(std::span(values)));
  const std::string text =
      "[[buffer]]\nname = \"B\"\ntype = \"f32\"\ninit = \"file:v.npy\"\n[[launch]]\ngrid = 1\nblock = 1\n";
  const LaunchDescription launch = parse_launch(text, folder + "/w.toml", {}, 0);
  ASSERT_EQ(launch.buffers[0].count, 3u);
  std::vector<std::byte> content(12);
  fill_buffer(launch.buffers[0], 0, content);
  EXPECT_TRUE(std::ranges::equal(content, std::as_bytes(std::span(values))));
  EXPECT_THAT(error_of([&] {
                (void)parse_launch("[[buffer]]\nname = \"B\"\ntype = \"f64\"\ninit = \"file:v.npy\"\n",
                                   folder + "/w.toml", {}, 0);
              }),
              HasSubstr("'v.npy' holds f4 elements, the buffer's type is f64"));
  EXPECT_THAT(error_of([&] { (void)parse_launch(text, folder + "/w.toml", {}, 0, false); }),
              HasSubstr("files are not allowed here"));
  std::filesystem::resize_file(folder + "/v.npy", 130);
  EXPECT_THAT(error_of([&] { (void)parse_launch(text, folder + "/w.toml", {}, 0); }),
              HasSubstr("its data is cut off"));
  std::ofstream(folder + "/v.npy") << "hello world, this is no npy";
  EXPECT_THAT(error_of([&] { (void)parse_launch(text, folder + "/w.toml", {}, 0); }), HasSubstr("signature"));
}

std::vector<std::byte> pack(const std::string& args, std::vector<ParameterSlot> slots,
                            uint64_t address = 0x10000000) {
  const LaunchDescription launch = parse(
      "[[buffer]]\nname = \"A\"\ntype = \"f32\"\ncount = 4\n[[launch]]\nkernel = \"k\"\n"
      "grid = 1\nblock = 1\nargs = " +
      args + "\n");
  return pack_arguments(
      launch, launch.launches[0], slots, 32, [&](uint32_t) { return address; },
      [](uint32_t texture) { return uint64_t{0x4000000} + 32ul * texture; });
}

constexpr const char* kTextured =
    "[[buffer]]\nname = \"A\"\ntype = \"u8\"\ncount = 96\n[[texture]]\nname = \"table\"\nbuffer = \"A\"\n"
    "format = \"s16\"\nchannels = 2\n[[texture]]\nname = \"image\"\nbuffer = \"A\"\nwidth = 5\nheight = 2\n"
    "layers = 3\npitch = 16\nfilter = \"linear\"\nread = \"normalized_float\"\nnormalized = true\n"
    "address = [\"mirror\", \"border\"]\n[[launch]]\nkernel = \"k\"\ngrid = 1\nblock = 1\nargs = "
    "[\"image\"]\n";

TEST(Textures, AreRead) {
  const LaunchDescription launch = parse(kTextured);
  ASSERT_EQ(launch.textures.size(), 2u);
  const TextureSpec &table = launch.textures[0], &image = launch.textures[1];
  EXPECT_EQ(table.format, ElementType::kS16);
  EXPECT_EQ(table.dimensions, 1u);
  EXPECT_EQ(table.size, (std::array<uint32_t, 3>{24, 1, 1}));
  EXPECT_EQ(table.pitch, 96u);
  EXPECT_FALSE(table.array || table.linear_filter || table.normalized || table.normalized_float);
  EXPECT_EQ(table.address[0], TextureAddress::kClamp);
  EXPECT_EQ(image.format, ElementType::kU8);
  EXPECT_EQ(image.dimensions, 2u);
  EXPECT_EQ(image.size, (std::array<uint32_t, 3>{5, 2, 1}));
  EXPECT_EQ(image.layers, 3u);
  EXPECT_EQ(image.pitch, 16u);
  EXPECT_TRUE(image.array && image.linear_filter && image.normalized && image.normalized_float);
  EXPECT_EQ(image.address[0], TextureAddress::kMirror);
  EXPECT_EQ(image.address[1], TextureAddress::kBorder);
  EXPECT_TRUE(launch.warnings.empty());
}

TEST(Textures, PeriodicModesNeedNormalizedCoordinates) {
  std::string text = kTextured;
  text.replace(text.find("normalized = true"), 17, "normalized = false");
  const LaunchDescription launch = parse(text);
  ASSERT_EQ(launch.warnings.size(), 1u);
  EXPECT_THAT(launch.warnings[0], HasSubstr("wrap and mirror need normalized coordinates"));
}

TEST(Textures, AreHandlesAsArguments) {
  const LaunchDescription launch = parse(kTextured);
  const auto packed = [&](const char* type, uint32_t bytes) {
    const std::vector<ParameterSlot> slots{{"t", type, 0, bytes, false}};
    return pack_arguments(
        launch, launch.launches[0], slots, 8, [](uint32_t) { return uint64_t{1}; },
        [](uint32_t texture) { return uint64_t{0x4000000} + 32ul * texture; });
  };
  uint64_t handle = 0;
  std::memcpy(&handle, packed("u64", 8).data(), 8);
  EXPECT_EQ(handle, 0x4000020u);
  EXPECT_THAT(error_of([&] { (void)packed("u32", 4); }), HasSubstr("cannot hold a texture object"));
  EXPECT_THAT(error_of([&] { (void)packed("f64", 8); }), HasSubstr("cannot hold a texture object"));
}

TEST(Arguments, ArePackedByType) {
  const auto block = pack("[\"A\", -1, 2, 1.5, {bytes = [9, 8]}]", {{"a", "u64", 0, 8, false},
                                                                    {"n", "u32", 8, 4, false},
                                                                    {"x", "f32", 12, 4, false},
                                                                    {"y", "b32", 16, 4, false},
                                                                    {"s", "b8", 20, 2, true}});
  uint64_t address = 0;
  int32_t n = 0;
  float x = 0, y = 0;
  std::memcpy(&address, block.data(), 8);
  std::memcpy(&n, block.data() + 8, 4);
  std::memcpy(&x, block.data() + 12, 4);
  std::memcpy(&y, block.data() + 16, 4);
  EXPECT_EQ(address, 0x10000000u);
  EXPECT_EQ(n, -1);
  EXPECT_EQ(x, 2.0f);
  EXPECT_EQ(y, 1.5f);
  EXPECT_EQ(block[20], std::byte{9});
}

TEST(Arguments, ErrorsNameTheArgument) {
  const ParameterSlot u32{"n", "u32", 0, 4, false}, f32{"x", "f32", 0, 4, false},
      u64{"p", "u64", 0, 8, false};
  EXPECT_THAT(error_of([&] { (void)pack("[1.5]", {u32}); }),
              HasSubstr("w.toml:9:9: error: parameter 'n' (.u32) needs an integer; the argument is '1.5'"));
  EXPECT_THAT(error_of([&] { (void)pack("[0x100000000]", {u32}); }),
              HasSubstr("cannot hold it: 4294967296 does not fit"));
  EXPECT_THAT(error_of([&] { (void)pack("[\"A\"]", {f32}); }), HasSubstr("cannot hold an address"));
  EXPECT_THAT(error_of([&] { (void)pack("[\"A\"]", {u32}, uint64_t{1} << 33); }),
              HasSubstr("has 32 bits, buffer 'A' lies at 0x200000000"));
  EXPECT_THAT(error_of([&] { (void)pack("[1, 2]", {u32}); }),
              HasSubstr("takes 1 argument, the launch gives 2\n  hint: parameters: .u32 n"));
  EXPECT_THAT(error_of([&] {
                (void)pack("[1]", {{"s", "b8", 0, 12, true}});
              }),
              HasSubstr("write { bytes = [..] } with 12 bytes"));
  EXPECT_THAT(error_of([&] { (void)pack("[{bytes = [1]}]", {u64}); }), HasSubstr("has 8 bytes, 1 are given"));
  EXPECT_THAT(error_of([&] {
                (void)pack("[1]", {{"p", "u64", 28, 8, false}});
              }),
              HasSubstr("outside the parameter block"));
}

TEST(Arguments, NamesThatAreWrongHaveTheNearestBufferOrParameter) {
  const std::string text =
      "[params]\nROWS = 4\n[[buffer]]\nname = \"input\"\ntype = \"f32\"\ncount = 4\n"
      "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [32]\nargs = [";
  const auto error = [&](const char* argument) {
    return error_of([&] { (void)parse(text + "\"" + argument + "\"]\n"); });
  };
  EXPECT_THAT(error("inptu"), HasSubstr("did you mean 'input'?"));
  EXPECT_THAT(error("ROW"), HasSubstr("did you mean 'ROWS'?"));
  EXPECT_THAT(error("zzzzzzz"), HasSubstr("valid: input, ROWS"));
}

TEST(CommandLine, BuildsALaunch) {
  CommandLineLaunch command;
  command.kernel = "saxpy";
  command.grid = "ceil_div(N,256)";
  command.block = "256,1";
  command.args = {"N", "2.5", "f32[N]=uniform(-1,1)", "s32[4]"};
  command.params = {"N=1000"};
  const LaunchDescription launch = launch_from_arguments(command, 5);
  EXPECT_EQ(launch.launches[0].grid[0], 4u);
  EXPECT_EQ(launch.launches[0].block[0], 256u);
  ASSERT_EQ(launch.buffers.size(), 2u);
  EXPECT_EQ(launch.buffers[0].name, "arg2");
  EXPECT_EQ(launch.buffers[0].count, 1000u);
  EXPECT_EQ(launch.launches[0].arguments[0].number.integer, 1000);
  EXPECT_EQ(launch.launches[0].arguments[3].buffer, 1u);
  command.args = {"f31[4]", "f32[4", "nothing", "f32[-1]", "f32[2]=unifrm(0,1)"};
  command.grid = "0";
  const std::string error = error_of([&] { (void)launch_from_arguments(command, 5); });
  EXPECT_THAT(error, HasSubstr("--grid '0': error: '0' is not an integer from 1 to 2147483647"));
  EXPECT_THAT(error, HasSubstr("--arg 'f31[4]': error: unknown element type 'f31'"));
  EXPECT_THAT(error, HasSubstr("--arg 'f32[4': error: expected TYPE[COUNT]"));
  EXPECT_THAT(error, HasSubstr("--arg 'nothing': error: undefined name 'nothing'"));
  EXPECT_THAT(error, HasSubstr("did you mean 'uniform'?"));
  command.args = {"f32[2]=fill(nan)", "f32[2]=fill(-Infinity)"};
  const std::string not_finite = error_of([&] { (void)launch_from_arguments(command, 5); });
  EXPECT_THAT(not_finite, HasSubstr("'nan' is not a number that can be calculated with"));
  EXPECT_THAT(not_finite, HasSubstr("'Infinity' is not a number that can be calculated with"));
  EXPECT_THAT(not_finite, HasSubstr("init = \"file:values.npy\""));
  command = {};
  EXPECT_THAT(error_of([&] { (void)launch_from_arguments(command, 5); }), HasSubstr("--grid is missing"));
}

TEST(Memory, ChecksTheMachine) {
  const LaunchDescription launch = parse(kFile);
  EXPECT_NO_THROW(check_memory(launch, 512));
  EXPECT_THAT(error_of([&] { check_memory(launch, 511); }),
              HasSubstr("error: the buffers need 512 bytes, the machine has 511 bytes of device memory\n  "
                        "hint: the largest is 'A'"));
}

TEST(Memory, OfTheHostIsNeededForWhatIsFilledAtOnce) {
  CommandLineLaunch command;
  command.grid = command.block = "1";
  command.args = {"f32[1000000000]", "f32[100]=iota(0,1)", "u8[100]=fill(1)"};
  const LaunchDescription launch = launch_from_arguments(command, 0);
  EXPECT_NO_THROW(check_host_memory(launch, 500));
  EXPECT_THAT(error_of([&] { check_host_memory(launch, 499); }),
              HasSubstr("the buffers' initial values need 500 bytes, this computer has 499 bytes of memory "
                        "available\n  hint: the largest is 'arg1' with 400 bytes"));
  EXPECT_GT(available_host_memory(), uint64_t{1} << 20);
}

}  // namespace
}  // namespace gpusim::core
