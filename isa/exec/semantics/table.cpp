#include "isa/exec/semantics/table.h"

#include <algorithm>
#include <array>
#include <vector>

#include "isa/exec/semantics/rows.h"

namespace gpusim::isa {

#define GPUSIM_DECLARE_LEVEL(ns) \
  namespace ns {                 \
  RowSpan integer_rows();        \
  RowSpan bit_rows();            \
  RowSpan float_rows();          \
  RowSpan half_rows();           \
  RowSpan approx_rows();         \
  RowSpan compare_rows();        \
  RowSpan convert_rows();        \
  RowSpan warp_rows();           \
  RowSpan memory_rows();         \
  RowSpan atomic_rows();         \
  RowSpan wmma_rows();           \
  RowSpan mma_rows();            \
  }
// GPUSIM_HAS_...: the sets that this build has (isa/backend.cmake).
GPUSIM_DECLARE_LEVEL(simd_base)
namespace simd_base {
ReduceFn reduction(Type type, AtomOp operation);
}
#if defined(GPUSIM_HAS_SIMD_AVX2)
GPUSIM_DECLARE_LEVEL(simd_avx2)
#endif
#if defined(GPUSIM_HAS_SIMD_AVX512)
GPUSIM_DECLARE_LEVEL(simd_avx512)
#endif
#undef GPUSIM_DECLARE_LEVEL

namespace {

std::vector<SemanticRow> collect(std::initializer_list<RowSpan> parts) {
  std::vector<SemanticRow> rows;
  for (const RowSpan& part : parts) rows.insert(rows.end(), part.rows, part.rows + part.count);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const SemanticRow& a, const SemanticRow& b) { return a.key < b.key; });
  return rows;
}

#define GPUSIM_COLLECT_LEVEL(ns)                                                                          \
  collect({ns::integer_rows(), ns::bit_rows(), ns::float_rows(), ns::half_rows(), ns::approx_rows(),      \
           ns::compare_rows(), ns::convert_rows(), ns::warp_rows(), ns::memory_rows(), ns::atomic_rows(), \
           ns::wmma_rows(), ns::mma_rows()})

#if defined(GPUSIM_HAS_SIMD_AVX2)
constexpr bool kHasAvx2 = true;
std::vector<SemanticRow> avx2_rows() { return GPUSIM_COLLECT_LEVEL(simd_avx2); }
#else
constexpr bool kHasAvx2 = false;
std::vector<SemanticRow> avx2_rows() { return {}; }
#endif
#if defined(GPUSIM_HAS_SIMD_AVX512)
constexpr bool kHasAvx512 = true;
std::vector<SemanticRow> avx512_rows() { return GPUSIM_COLLECT_LEVEL(simd_avx512); }
#else
constexpr bool kHasAvx512 = false;
std::vector<SemanticRow> avx512_rows() { return {}; }
#endif

const std::vector<SemanticRow>& sorted_rows(SimdLevel level) {
  // Never destroyed: other threads of the program go on until its very end.
  static const auto& tables = *new std::array<std::vector<SemanticRow>, kSimdLevels>{
      GPUSIM_COLLECT_LEVEL(simd_base), avx2_rows(), avx512_rows()};
  return tables[static_cast<size_t>(level)];
}
#undef GPUSIM_COLLECT_LEVEL

}  // namespace

ReduceFn find_reduction(Type type, AtomOp operation) { return simd_base::reduction(type, operation); }

bool simd_supported(SimdLevel level) {
  const bool cpu_has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  switch (level) {
    case SimdLevel::kBaseline:
      return true;
    case SimdLevel::kAvx2:
      return kHasAvx2 && cpu_has_avx2;
    case SimdLevel::kAvx512:
      return kHasAvx512 && cpu_has_avx2 && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
  }
  return false;
}

SimdLevel best_simd_level() {
  static const SimdLevel best = simd_supported(SimdLevel::kAvx512) ? SimdLevel::kAvx512
                                : simd_supported(SimdLevel::kAvx2) ? SimdLevel::kAvx2
                                                                   : SimdLevel::kBaseline;
  return best;
}

std::string_view simd_level_name(SimdLevel level) {
  switch (level) {
    case SimdLevel::kBaseline:
      return "baseline";
    case SimdLevel::kAvx2:
      return "avx2";
    case SimdLevel::kAvx512:
      return "avx512";
  }
  return "";
}

const SemanticRow* find_form(uint64_t key, SimdLevel level) {
  const std::vector<SemanticRow>& rows = sorted_rows(level);
  const auto it = std::lower_bound(rows.begin(), rows.end(), key,
                                   [](const SemanticRow& row, uint64_t k) { return row.key < k; });
  return it != rows.end() && it->key == key ? &*it : nullptr;
}

std::span<const SemanticRow> all_forms(SimdLevel level) { return sorted_rows(level); }

}  // namespace gpusim::isa
