// Every instruction form of tests/required_forms.txt (what the benchmark programs use) lowers and runs.
// Those of tex are in texture_statement_test.cpp.
#include <fmt/format.h>

#include <set>
#include <sstream>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, '.');) parts.push_back(part);
  return parts;
}

/// Register number i of a type: a narrow type's values live in 16-bit registers.
std::string reg(const std::string& type, int i) {
  if (type == "pred") return fmt::format("%p{}", i);
  const int bits = std::stoi(type.substr(1));
  if (type == "f32") return fmt::format("%f{}", i);
  if (type == "f64") return fmt::format("%fd{}", i);
  return bits == 64 ? fmt::format("%rd{}", i) : bits == 32 ? fmt::format("%r{}", i) : fmt::format("%rs{}", i);
}

int sources(const std::string& op) {
  static const std::set<std::string> one = {"abs", "neg", "not", "mov", "sqrt", "rcp", "cvt", "cvta"};
  static const std::set<std::string> three = {"mad", "fma"};
  return one.count(op) ? 1 : three.count(op) ? 3 : 2;
}

std::string address_of(const std::set<std::string>& words) {
  if (words.count("shared")) return "[sv+16]";
  if (words.count("local")) return "[lv+16]";
  if (words.count("const")) return "[cv+16]";
  if (words.count("param")) return "[pin]";
  return "[%out+16]";
}

/// The statement of a form, with its operands.
std::string statement(const std::string& form) {
  const std::vector<std::string> parts = split(form);
  const std::set<std::string> words(parts.begin(), parts.end());
  const std::string& op = parts[0];
  const std::string& type = parts.back();
  if (op == "bar") return "bar.sync 0;";
  if (op == "bra") return form + " NEXT;\nNEXT:";
  if (op == "ret" || op == "exit" || op == "membar") return form + ";";
  if (op == "call") return "call.uni f, ();";
  if (form == "st.param.b64") return "{ .param .b64 q; st.param.b64 [q], %rd1; call.uni g, (q); }";
  if (op == "vote") return form + " %p1, %p2;";
  if (op == "ld" || op == "st") {
    const bool v2 = words.count("v2");
    const std::string data = v2 ? fmt::format("{{{}, {}}}", reg(type, 1), reg(type, 2)) : reg(type, 1);
    return op == "ld" ? fmt::format("{} {}, {};", form, data, address_of(words))
                      : fmt::format("{} {}, {};", form, address_of(words), data);
  }
  if (op == "atom") return fmt::format("{} {}, {}, {};", form, reg(type, 1), address_of(words), reg(type, 2));
  if (op == "setp") return fmt::format("{} %p1, {}, {};", form, reg(type, 2), reg(type, 3));
  if (op == "set")
    return fmt::format("{} {}, {}, {};", form, reg(parts[parts.size() - 2], 1), reg(type, 2), reg(type, 3));
  if (op == "selp") return fmt::format("{} {}, {}, {}, %p1;", form, reg(type, 1), reg(type, 2), reg(type, 3));
  if (op == "cvt") return fmt::format("{} {}, {};", form, reg(parts[parts.size() - 2], 1), reg(type, 2));
  if (op == "shl" || op == "shr") return fmt::format("{} {}, {}, %r3;", form, reg(type, 1), reg(type, 2));
  const std::string result = words.count("wide") ? type.substr(0, 1) + "64" : type;
  std::string text = fmt::format("{} {}", form, reg(result, 1));
  for (int i = 0; i < sources(op); ++i) text += ", " + reg(i == 2 ? result : type, i + 2);
  return text + ";";
}

constexpr std::string_view kBefore = R"(
.const .align 8 .b8 cv[64];
.func f() { ret; }
.func g(.param .b64 a) { .reg .b64 %x; ld.param.b64 %x, [a]; ret; }
)";

std::string kernel_of(const std::string& form) {
  const bool old_target = form.find(".f64") == std::string::npos && form.rfind("mad24", 0) == 0;
  return thread_kernel(
      ".reg .pred %p<5>; .reg .b16 %rs<5>; .reg .b32 %r<5>; .reg .f32 %f<5>; .reg .b64 %rd<5>; .reg .f64 "
      "%fd<5>;\n"
      ".shared .align 8 .b8 sv[64]; .local .align 8 .b8 lv[64];",
      "setp.eq.u32 %p1, %tid0, 1; setp.eq.u32 %p2, %tid0, 2; setp.eq.u32 %p3, %tid0, 3;\n"
      "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.f32 %f2, 0f40000000; mov.f32 %f3, 0f40400000; "
      "mov.f32 %f4, %f2;\n"
      "mov.f32 %f1, %f2; mov.b64 %rd1, 5; mov.b64 %rd2, 6; mov.b64 %rd3, 7; mov.b64 %rd4, 8; mov.b32 %r4, "
      "9;\n"
      "mov.f64 %fd1, 0d3FF0000000000000; mov.f64 %fd2, %fd1; mov.f64 %fd3, %fd1; mov.f64 %fd4, %fd1;\n"
      "mov.u16 %rs1, 1; mov.u16 %rs2, 2; mov.u16 %rs3, 3;\n" +
          statement(form) + "\nst.global.u32 [%out], 1;\nret;",
      old_target ? "sm_20" : "sm_35", kBefore);
}

TEST(RequiredForms, EachLowersAndRuns) {
  std::istringstream lines(read_file(GPUSIM_SOURCE_DIR "/isa/tests/required_forms.txt"));
  int count = 0;
  for (std::string form; std::getline(lines, form);) {
    if (form.empty() || form.rfind("tex.", 0) == 0) continue;
    SCOPED_TRACE(form);
    ++count;
    const Module module = parse_ok(kernel_of(form));
    for (const LoweringLevel l : {LoweringLevel::kNone, LoweringLevel::kClean}) {
      TestMemory memory;
      const uint64_t in = memory.add(256), out = memory.add(256), constants = memory.add(64, false);
      LoweringOptions options = level(l);
      options.address_of = [=](const Variable&) { return constants; };
      auto lowered = lower_kernel(module, *module.entries().at(0), options);
      ASSERT_TRUE(std::holds_alternative<KernelImage>(lowered)) << messages(std::get<Diagnostics>(lowered));
      BlockRunner runner(std::get<KernelImage>(lowered), memory, pack_params({in, out}), 1);
      const RunResult result = runner.run();
      EXPECT_TRUE(result.finished) << fault_name(result.fault);
      const bool ends_early = form == "ret" || form == "exit";
      EXPECT_EQ(memory.read<uint32_t>(out, 1)[0], ends_early ? 0u : 1u);
    }
  }
  EXPECT_GT(count, 165);
}

}  // namespace
}  // namespace gpusim::isa
