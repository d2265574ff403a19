#include "microbench/operations.h"

#include <fmt/format.h>

#include <algorithm>

#include "microbench/kernels.h"
#include "microbench/timing.h"
#include "simcore/text/input_error.h"

namespace gpusim::microbench {

namespace {

constexpr int kLatencyLength = 32;              // and twice that
constexpr int kChains = 12, kChainLength = 16;  // and twice that; one warp alone fills a pipe
constexpr uint32_t kThroughputThreads = 512;
constexpr uint64_t kOperand = 3;

std::string_view register_of(char type) {
  switch (type) {
    case 'l':
      return "%l";
    case 'h':
      return "%w";
    case 'f':
      return "%f";
    case 'd':
      return "%d";
    default:
      return "%i";
  }
}

/// The chain's first value, its own for each chain.
std::string start_of(char type, int chain) {
  const std::string_view to = register_of(type);
  switch (type) {
    case 'l':
      return fmt::format("\tadd.s64 {}{}, %k1, {};\n", to, chain, chain);
    case 'h':
      return fmt::format("\tadd.s32 {}{}, %c1, {};\n", to, chain, chain);
    case 'f':
      return fmt::format("\tadd.f32 {}{}, %g1, 0f3f8000{:02x};\n", to, chain, chain);
    case 'd':
      return fmt::format("\tadd.rn.f64 {}{}, %h1, 0d3ff00000000000{:02x};\n", to, chain, chain);
    default:
      return fmt::format("\tadd.s32 {}{}, %c1, {};\n", to, chain, chain);
  }
}

/// A comparison that needs the chain's last value and is never true.
std::string end_of(char type, int chain) {
  const std::string_view from = register_of(type);
  switch (type) {
    case 'l':
      return fmt::format("\tsetp.eq.s64 %p1, {}{}, 123456789;\n\t@%p1 exit;\n", from, chain);
    case 'f':
      return fmt::format("\tsetp.eq.f32 %p1, {}{}, 0f4CEB79A3;\n\t@%p1 exit;\n", from, chain);
    case 'd':
      return fmt::format("\tsetp.eq.f64 %p1, {}{}, 0d419d6f3454000000;\n\t@%p1 exit;\n", from, chain);
    default:
      return fmt::format("\tsetp.eq.s32 %p1, {}{}, 123456789;\n\t@%p1 exit;\n", from, chain);
  }
}

/// The operation once more on chain `chain`: on its register and its other one by turns, if the row has both.
std::string step_of(const OperationRow& row, int chains, int chain, int step, int number) {
  const std::string_view of = register_of(row.type);
  const bool turns = row.text.find("{2}") != std::string_view::npos && step % 2 != 0;
  const std::string first = fmt::format("{}{}", of, chain), second = fmt::format("{}{}", of, chain + chains);
  return '\t' + fmt::format(fmt::runtime(row.text), turns ? second : first, number, turns ? first : second) +
         '\n';
}

/// `compiled`: a real driver's compiler may get to see it.
std::string kernel_of(const OperationRow& row, int chains, int length, bool compiled) {
  const int total = chains * length, both = 2 * chains;
  std::string k = fmt::format(
      "\t.entry {} (.param .u64 p_out, .param .u32 p_x, .param .u32 p_rounds)\n\t{{\n"
      "\t.reg .s32 %i<{}>, %q<{}>, %c1;\n\t.reg .b32 %w<{}>, %s1;\n\t.reg .u32 %r<8>, %sh, %sl;\n\t.reg .s64 "
      "%l<{}>, "
      "%k1;\n"
      "\t.reg .f32 %f<{}>, %t<{}>, %g1, %g2;\n\t.reg .u64 %rd<4>;\n\t.reg .pred %p<3>;\n",
      row.name, both, total, both, both, both, total);
  const bool doubles = row.type == 'd';
  const bool shared = row.text.find("%s") != std::string_view::npos;
  if (doubles) k += fmt::format("\t.reg .f64 %d<{}>, %h1, %h2;\n", both);
  if (shared) k += "\t.shared .align 4 .b8 words[4096];\n";
  const std::string address_of_clocks =
      "\tshr.u32 %r4, %r1, 5;\n\tshl.b32 %r4, %r4, 3;\n\tcvt.u64.u32 %rd1, %r4;\n"
      "\tld.param.u64 %rd2, [p_out];\n\tadd.u64 %rd1, %rd1, %rd2;\n";
  // What comes from memory may differ from lane to lane, for all that a compiler knows: it is zero here.
  k += "\tld.param.u32 %c1, [p_x];\n";
  if (compiled)
    k += "\tcvt.u32.u16 %r1, %tid.x;\n" + address_of_clocks +
         "\tld.volatile.global.u32 %r5, [%rd1];\n\tadd.s32 %c1, %c1, %r5;\n\tld.param.u32 %r6, [p_rounds];\n";
  k += "\tcvt.s64.s32 %k1, %c1;\n\tcvt.rn.f32.s32 %g1, %c1;\n"
       "\tcvt.rn.f32.s32 %g2, %c1;\n\tmov.b32 %s1, %c1;\n\tcvt.u32.u16 %r1, %tid.x;\n";
  if (doubles) k += "\tcvt.rn.f64.s32 %h1, %c1;\n\tcvt.rn.f64.s32 %h2, %c1;\n";
  if (shared)
    k += "\tmov.u32 %sh, words;\n\tst.shared.f32 [%sh], %g1;\n\tand.b32 %sl, %r1, 1023;\n"
         "\tshl.b32 %sl, %sl, 2;\n\tadd.u32 %sl, %sl, %sh;\n";
  const bool pairs = row.text.find("{2}") != std::string_view::npos;
  for (int c = 0; c < (pairs ? both : chains); ++c) k += start_of(row.type, c);
  if (compiled) k += fmt::format("$L_{}:\n", row.name);
  k += "\tbar.sync 0;\n\tmov.u32 %r2, %clock;\n";
  for (int i = 0; i < total; ++i) k += step_of(row, chains, i % chains, i / chains, i);
  for (int c = 0; c < (pairs ? both : chains); ++c) k += end_of(row.type, c);
  k += "\tmov.u32 %r3, %clock;\n";
  if (compiled)
    k += fmt::format("\tsub.u32 %r6, %r6, 1;\n\tsetp.ne.u32 %p2, %r6, 0;\n\t@%p2 bra $L_{};\n", row.name);
  return k + address_of_clocks +
         "\tst.global.u32 [%rd1], %r2;\n\tst.global.u32 [%rd1+4], %r3;\n\texit;\n\t}\n";
}

/// Clocks of each row's kernel, from the first warp's start to the last one's end.
std::vector<double> clocks(Device& device, const std::vector<OperationRow>& rows, int chains, int length,
                           uint32_t threads) {
  Program p;
  p.sms = 1;
  p.ptx = operation_module(device.properties(), rows, chains, length);
  for (const OperationRow& row : rows) {
    p.launches.push_back({std::string(row.name),
                          1,
                          threads,
                          0,
                          {Argument::buffer(p.buffers.size()), Argument::number(kOperand),
                           Argument::number(device.properties().code_rounds)}});
    p.buffers.push_back({threads / 32 * 8ul, {}, true});
  }
  std::vector<double> result;
  for (const auto& out : device.run_one(p).buffers) result.push_back(elapsed(out));
  return result;
}

}  // namespace

std::string operation_module(const DeviceProperties& device, const std::vector<OperationRow>& rows,
                             int chains, int length) {
  std::string module = module_header(device);
  for (const OperationRow& row : rows)
    module += kernel_of(row, chains, length, device.capability >= kFirstCompiled);
  return module;
}

std::vector<OperationRow> operations_of(const DeviceProperties& device) {
  std::vector<OperationRow> rows;
  for (OperationRow row : operation_rows()) {
    if (device.capability < row.from || row.to < device.capability) continue;
    if (device.capability >= kFirstCompiled && !row.compiled_text.empty()) row.text = row.compiled_text;
    rows.push_back(row);
  }
  return rows;
}

namespace {

void measure_rows(Device& device, const std::vector<OperationRow>& rows, DataSheet& sheet) {
  const auto one = clocks(device, rows, 1, kLatencyLength, 32);
  const auto two = clocks(device, rows, 1, 2 * kLatencyLength, 32);
  const uint32_t threads = std::min(kThroughputThreads, device.properties().threads_per_block);
  const auto few = clocks(device, rows, kChains, kChainLength, threads);
  const auto many = clocks(device, rows, kChains, 2 * kChainLength, threads);
  for (size_t i = 0; i < rows.size(); ++i) {
    Figure f;
    f.name = fmt::format("latency.{}", rows[i].name);
    f.found = Value::of((two[i] - one[i]) / (kLatencyLength * rows[i].operations));
    f.unit = "core cycles";
    f.method = "dependent chain of one warp, difference of two lengths";
    f.kernel = rows[i].text;
    sheet.figures.push_back(std::move(f));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    Figure f;
    f.name = fmt::format("throughput.{}", rows[i].name);
    const double operations = static_cast<double>(threads) * kChains * kChainLength * rows[i].operations;
    f.found = Value::of(operations / (many[i] - few[i]));
    f.unit = "per cycle and SM";
    f.method =
        fmt::format("{} warps of {} chains on one SM, difference of two lengths", threads / 32, kChains);
    f.kernel = rows[i].text;
    sheet.figures.push_back(std::move(f));
  }
}

}  // namespace

void measure_operations(Device& device, DataSheet& sheet) {
  const std::vector<OperationRow> rows = operations_of(device.properties());
  try {
    measure_rows(device, rows, sheet);
  } catch (const core::InputError&) {
    // Some kernel does not fit the machine: the others are measured without it.
    for (const OperationRow& row : rows)
      attempt(sheet, fmt::format("latency.{}", row.name), [&] { measure_rows(device, {row}, sheet); });
  }
}

}  // namespace gpusim::microbench
