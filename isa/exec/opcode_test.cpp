// Runs every isa/tests/opcodes/*.ptx: its `// vector:` lines (computed by generate.py, outside of the
// simulator) go through the parser, lowering and executor, at both lowering levels, at every SIMD level of
// this CPU, with full and partial masks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "isa/exec/semantics/table.h"
#include "isa/ptx/parser/parser.h"
#include "isa/tests/ptx_test_util.h"
#include "isa/tests/warp_runner.h"

namespace gpusim::isa {
namespace {

using test::BlockRunner;
using test::TestMemory;

struct Vector {
  std::string text;
  std::vector<std::string> sources;
  std::string result;
  double tolerance = -1, floor = 0;
  std::vector<std::vector<uint64_t>> inputs;  ///< per vector
  std::vector<uint64_t> expected;
};

Vector read_case(const std::filesystem::path& path) {
  Vector c;
  c.text = test::read_file(path.string());
  std::istringstream lines(c.text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string slashes, key, word;
    words >> slashes >> key;
    if (slashes != "//") break;
    if (key == "sources:") {
      while (words >> word && word != "result:") c.sources.push_back(word);
      words >> c.result;
    } else if (key == "tolerance:") {
      words >> c.tolerance >> word >> c.floor;
    } else if (key == "vector:") {
      c.inputs.emplace_back();
      while (words >> word && word != "->") c.inputs.back().push_back(std::stoull(word, nullptr, 16));
      words >> word;
      c.expected.push_back(std::stoull(word, nullptr, 16));
    }
  }
  return c;
}

/// Value of raw bits with `exponent` and `mantissa` bits; infinite where the exponent is all ones.
double decoded(uint64_t raw, int exponent, int mantissa) {
  const int field = static_cast<int>(raw >> mantissa) & ((1 << exponent) - 1),
            bias = (1 << (exponent - 1)) - 1;
  if (field == (1 << exponent) - 1) return HUGE_VAL;
  const auto fraction = static_cast<double>((raw & ((uint64_t{1} << mantissa) - 1)) |
                                            (field != 0 ? uint64_t{1} << mantissa : 0));
  const double magnitude = std::ldexp(fraction, std::max(field, 1) - bias - mantissa);
  return (raw >> (exponent + mantissa)) & 1 ? -magnitude : magnitude;
}

bool near(const Vector& c, double got, double want) {
  return std::isfinite(got) && std::isfinite(want) &&
         std::abs(got - want) <= c.tolerance * std::max(std::abs(want), c.floor);
}

/// `got` and `want` are raw bits of the result type.
bool matches(const Vector& c, uint64_t got, uint64_t want) {
  if (got == want) return true;
  if (c.tolerance < 0) return false;
  if (c.result.ends_with("x2")) {
    Vector one = c;
    one.result.resize(c.result.size() - 2);
    return matches(one, got & 0xffff, want & 0xffff) && matches(one, got >> 16, want >> 16);
  }
  const std::map<std::string, std::pair<int, int>> formats = {
      {"f16", {5, 10}}, {"bf16", {8, 7}}, {"f32", {8, 23}}, {"f64", {11, 52}}};
  const auto [exponent, mantissa] = formats.at(c.result);
  return near(c, decoded(got, exponent, mantissa), decoded(want, exponent, mantissa));
}

constexpr uint64_t kStride = 65536, kUntouched = 0xabababababababab;

void run_case(const std::string& name, const Vector& c, LoweringLevel level, SimdLevel simd, LaneMask lanes) {
  SCOPED_TRACE(name);
  ParseResult parsed = parse_module(c.text);
  ASSERT_TRUE(parsed.ok()) << test::messages(parsed.diagnostics);
  LoweringOptions options;
  options.level = level;
  options.simd = simd;
  auto lowered = lower_kernel(parsed.module, *parsed.module.find_function("test"), options);
  ASSERT_TRUE(std::holds_alternative<KernelImage>(lowered)) << test::messages(std::get<Diagnostics>(lowered));
  const KernelImage& image = std::get<KernelImage>(lowered);
  TestMemory memory;
  const uint64_t in = memory.add(4 * kStride), out = memory.add(c.inputs.size() * 8 + 256);
  for (size_t v = 0; v < c.inputs.size(); ++v) {
    for (size_t s = 0; s < c.inputs[v].size(); ++s)
      std::memcpy(memory.data(in + s * kStride + v * 8), &c.inputs[v][s], 8);
    std::memcpy(memory.data(out + v * 8), &kUntouched, 8);
  }
  // Warps of 32 vectors; `lanes` of each take part (the others get no thread).
  BlockRunner runner(image, memory, test::pack_params({in, out}), static_cast<uint32_t>(c.inputs.size()));
  runner.restrict_lanes(lanes);
  const auto result = runner.run();
  ASSERT_TRUE(result.finished) << fault_name(result.fault);
  const int bytes = c.result == "pred" ? 4 : type_bytes(type_from_name(c.result));
  for (size_t v = 0; v < c.inputs.size(); ++v) {
    uint64_t got = 0;
    std::memcpy(&got, memory.data(out + v * 8), static_cast<size_t>(bytes));
    if (!lanes.test(static_cast<int>(v % 32))) {
      uint64_t untouched = 0;
      std::memcpy(&untouched, &kUntouched, static_cast<size_t>(bytes));
      EXPECT_EQ(got, untouched) << "inactive lane " << v;
      continue;
    }
    EXPECT_TRUE(matches(c, got, c.expected[v]))
        << name << " " << simd_level_name(simd) << " vector " << v << std::hex << ": in " << c.inputs[v][0]
        << " " << (c.inputs[v].size() > 1 ? c.inputs[v][1] : 0) << " "
        << (c.inputs[v].size() > 2 ? c.inputs[v][2] : 0) << " got " << got << " expected " << c.expected[v];
  }
}

std::vector<std::filesystem::path> case_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& e : std::filesystem::directory_iterator(GPUSIM_SOURCE_DIR "/isa/tests/opcodes")) {
    if (e.path().extension() == ".ptx") files.push_back(e.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class OpcodeTest : public testing::TestWithParam<SimdLevel> {};

TEST_P(OpcodeTest, VectorsGiveTheExpectedBits) {
  if (!simd_supported(GetParam())) GTEST_SKIP() << "this CPU lacks " << simd_level_name(GetParam());
  const auto files = case_files();
  ASSERT_GT(files.size(), 400u);
  for (const auto& path : files) {
    const Vector c = read_case(path);
    ASSERT_FALSE(c.inputs.empty()) << path;
    const std::string name = path.filename().string();
    run_case(name, c, LoweringLevel::kClean, GetParam(), LaneMask::all());
    run_case(name, c, LoweringLevel::kClean, GetParam(), LaneMask(0x5a3c9ff1));
    run_case(name, c, LoweringLevel::kNone, GetParam(), LaneMask::all());
    if (HasFatalFailure()) return;
  }
}

/// Opcodes whose tests need more than one result per lane, memory or control flow: where these tests are.
const std::map<std::string, std::string, std::less<>> kTestedElsewhere = {
    {"shfl", "isa/exec/semantics_test.cpp"},
    {"bra", "isa/lowering/control_flow_lowering_test.cpp"},
    {"bar", "isa/lowering/control_flow_lowering_test.cpp"},
    {"call", "isa/lowering/inlining_test.cpp"},
    {"alloca", "isa/lowering/call_lowering_test.cpp"},
    {"stacksave", "isa/lowering/call_lowering_test.cpp"},
    {"stackrestore", "isa/lowering/call_lowering_test.cpp"},
    {"ret", "isa/lowering/inlining_test.cpp"},
    {"exit", "isa/lowering/control_flow_lowering_test.cpp"},
    {"trap", "isa/exec/opcode_test.cpp"},
    {"brkpt", "isa/exec/opcode_test.cpp"},
    {"brx.idx", "isa/lowering/call_lowering_test.cpp"},
    {"tex", "isa/lowering/texture_statement_test.cpp"},
    {"txq", "isa/lowering/texture_statement_test.cpp"},
    {"wgmma", "isa/lowering/wgmma_test.cpp"},
    {"mma", "isa/lowering/families_test.cpp"},
    {"wmma", "isa/exec/wmma_test.cpp"},
    {"wmma.load", "isa/exec/wmma_test.cpp"},
    {"wmma.store", "isa/exec/wmma_test.cpp"},
    {"wmma.mma", "isa/exec/wmma_test.cpp"},
};

std::string base_of(std::string_view name) { return std::string(name.substr(0, name.find_first_of(". "))); }

/// Opcode of a statement as written, without its guard.
std::string statement_base(std::string_view text) {
  if (text.starts_with("@")) text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
  return base_of(text);
}

struct Covered {
  std::set<std::string> opcodes;
  std::set<ExecFn> exec;
  std::set<MemFn> mem;
};

/// The functions that the statements of each file's own opcode lower to; the rest of a file is scaffolding.
Covered functions_with_vectors() {
  Covered covered;
  for (const auto& path : case_files()) {
    const std::string base = base_of(path.filename().string());
    ParseResult parsed = parse_module(test::read_file(path.string()));
    LoweringOptions options;
    options.level = LoweringLevel::kNone;
    options.simd = SimdLevel::kBaseline;
    auto lowered = lower_kernel(parsed.module, *parsed.module.find_function("test"), options);
    if (!std::holds_alternative<KernelImage>(lowered)) continue;  // the other test reports it
    const KernelImage& image = std::get<KernelImage>(lowered);
    for (const MicroOp& op : image.ops) {
      if (statement_base(image.ptx[op.ptx_index].text) != base) continue;
      covered.opcodes.insert(base);
      if (op.exec != nullptr) covered.exec.insert(op.exec);
      if (op.mem != nullptr) covered.mem.insert(op.mem);
    }
  }
  return covered;
}

TEST(TrapAndBreakpoint, EndTheKernel) {
  for (const char* statement : {"trap;", "brkpt;"}) {
    const ParseResult parsed = parse_module(
        std::string(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry test()\n{\n") +
        statement + "\nret;\n}\n");
    ASSERT_TRUE(parsed.ok()) << test::messages(parsed.diagnostics);
    auto lowered = lower_kernel(parsed.module, *parsed.module.find_function("test"), LoweringOptions{});
    ASSERT_TRUE(std::holds_alternative<KernelImage>(lowered))
        << test::messages(std::get<Diagnostics>(lowered));
    TestMemory memory;
    const auto result = BlockRunner(std::get<KernelImage>(lowered), memory, {}, 32).run();
    EXPECT_FALSE(result.finished);
    EXPECT_EQ(result.fault, FaultKind::kTrap);
  }
}

TEST(OpcodeCoverage, EverySupportedOpcodeAndFormHasATest) {
  const Covered covered = functions_with_vectors();
  for (const OpcodeInfo& info : opcode_table()) {
    if (!info.supported || covered.opcodes.contains(base_of(info.name))) continue;
    const auto elsewhere = kTestedElsewhere.find(info.name);
    EXPECT_NE(elsewhere, kTestedElsewhere.end()) << "no vectors and no other test for '" << info.name << "'";
  }
  for (const SemanticRow& row : all_forms(SimdLevel::kBaseline)) {
    const auto name = opcode_info(static_cast<Opcode>(row.key >> 48)).name;
    if (kTestedElsewhere.contains(name)) continue;
    // No statement alone lowers to these: see isa/lowering/contract_test.cpp.
    if (name == "mad" && (row.key & kVarSeparate) != 0) continue;
    // Nor to rotations and lop3 of 64 bits: isa/lowering/fuse_test.cpp.
    if ((name == "shf" || name == "lop3") && static_cast<Type>(row.key >> 40 & 0xff) == Type::kB64) continue;
    // Nor to tests of bits: isa/lowering/schedule_test.cpp.
    if (name == "setp" && static_cast<Type>(row.key >> 40 & 0xff) == Type::kB32) continue;
    // Conversions to tf32: isa/lowering/families_test.cpp.
    if (name == "cvt" && static_cast<Type>(row.key >> 40 & 0xff) == Type::kTF32) continue;
    // And from and to 8-bit floating point: isa/exec/float8_test.cpp.
    if (is_float8(static_cast<Type>(row.key >> 40 & 0xff)) ||
        is_float8(static_cast<Type>(row.key >> 32 & 0xff)))
      continue;
    EXPECT_TRUE(row.exec != nullptr ? covered.exec.contains(row.exec) : covered.mem.contains(row.mem))
        << "no vectors for a form of '" << name << "': type "
        << type_name(static_cast<Type>(row.key >> 40 & 0xff)) << " and "
        << type_name(static_cast<Type>(row.key >> 32 & 0xff)) << ", variant " << std::hex
        << (row.key & 0xffffffffu);
  }
}

TEST(OpcodeCoverage, TheOtherTestsNameTheirOpcodes) {
  for (const auto& [opcode, file] : kTestedElsewhere) {
    const std::string text = test::read_file(GPUSIM_SOURCE_DIR "/" + file);
    const std::regex statement("\\b" + opcode + "(\\.[a-z0-9_.:]+)?[ ;]");
    EXPECT_TRUE(std::regex_search(text, statement)) << file << " has no '" << opcode << "'";
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, OpcodeTest,
                         testing::Values(SimdLevel::kBaseline, SimdLevel::kAvx2, SimdLevel::kAvx512),
                         [](const auto& level) { return std::string(simd_level_name(level.param)); });

}  // namespace
}  // namespace gpusim::isa
