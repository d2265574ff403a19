#include "simcore/memory/sparse_array.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "simcore/memory/address_sanitizer.h"

namespace gpusim::core {
namespace {

struct Cell {
  uint64_t number = 7;  // which the array does not set
  uint16_t more = 0;
};

TEST(SparseArray, BeginsWithZerosAndKeepsWhatIsWritten) {
  std::vector<SparseArray<Cell>> arrays;
  // Of all sizes: many to a piece of memory, and larger than that.
  for (const size_t size : {1ul, 3ul, 1000ul, 100'000ul, 3'000'000ul, 5ul}) arrays.emplace_back(size);
  for (SparseArray<Cell>& a : arrays) {
    for (size_t i = 0; i < a.size(); i += 97) EXPECT_EQ(a[i].number, 0u);
    EXPECT_EQ(a[a.size() - 1].number, 0u);
  }
  for (size_t k = 0; k < arrays.size(); ++k)
    for (size_t i = 0; i < arrays[k].size(); ++i) arrays[k][i] = {k + i, static_cast<uint16_t>(k)};
  arrays.erase(arrays.begin() + 1);  // the others' memory stays
  const SparseArray<Cell> fresh(3);
  EXPECT_EQ(fresh[2].number, 0u) << "memory of an array that is gone";
  for (size_t k = 0; k < arrays.size(); ++k) {
    const size_t was = k == 0 ? 0 : k + 1;
    for (size_t i = 0; i < arrays[k].size(); ++i) ASSERT_EQ(arrays[k][i].number, was + i);
    EXPECT_EQ(arrays[k][arrays[k].size() - 1].more, was);
  }
}

TEST(SparseArray, MovesWithItsElements) {
  SparseArray<uint32_t> a(10), b(2);
  a[9] = 5;
  b = std::move(a);
  EXPECT_EQ(b.size(), 10u);
  EXPECT_EQ(b[9], 5u);
  EXPECT_EQ(a.size(), 0u);  // NOLINT: what is left of it is defined
  EXPECT_EQ(SparseArray<uint32_t>().size(), 0u);
}

#ifdef GPUSIM_ADDRESS_SANITIZER
TEST(SparseArrayDeathTest, TheSanitizerSeesWhatGoesBeyondAPiece) {
  SparseArray<uint32_t> a(10);
  const SparseArray<uint32_t> next(10);
  EXPECT_DEATH(a[10] = 5, "heap-buffer-overflow");
}
#endif

}  // namespace
}  // namespace gpusim::core
