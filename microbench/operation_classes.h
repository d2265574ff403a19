// The operations whose latency and throughput are measured: one row each.
#pragma once
#include <span>
#include <string_view>

namespace gpusim::microbench {

struct OperationRow {
  std::string_view name;
  std::string_view timing_class;  ///< of the configuration ([latency], [pipes.*]); tested against lowering
  /// Registers of the chain: 'i' 32-bit, 'l' 64-bit integers, 'h' two halves, 'f' single, 'd' double.
  char type;
  int from, to;  ///< compute capabilities x 10 that have it, the last one included
  /// The operation on `{0}`, its source and destination; `{1}` is a number of its own for each operation.
  /// %c1 %k1 %s1 %g1 %g2 %h1 %h2 hold constants (s32 s64 f16x2 f32 f32 f64 f64), %sh a shared address.
  std::string_view text;
  int operations = 1;  ///< of the class in `text`
  /// What is run instead from kFirstCompiled (kernels.h) on; empty: `text`. Compilers make one product of
  /// sums of the same addend, and take the reciprocal of the same divisor once. `{2}` is the chain's other
  /// register: the two change places from one operation to the next.
  std::string_view compiled_text = {};
};

[[nodiscard]] std::span<const OperationRow> operation_rows();

}  // namespace gpusim::microbench
