#include "simcore/memory/page_arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gpusim::core {
namespace {

TEST(PageArena, PlacesAreAlignedZeroAndApart) {
  PageArena arena;
  // The last ones need chunks of their own.
  const std::vector<size_t> sizes = {1, 128, 129, 300'000, 40'000'000, 5, 70'000'000};
  std::vector<std::byte*> places;
  for (const size_t size : sizes) {
    std::byte* const place = arena.allocate(size);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(place) % 128, 0u);
    EXPECT_TRUE(std::all_of(place, place + size, [](std::byte b) { return b == std::byte{0}; }));
    std::fill_n(place, size, static_cast<std::byte>(places.size() + 1));
    places.push_back(place);
  }
  for (size_t i = 0; i < sizes.size(); ++i)
    EXPECT_TRUE(std::all_of(places[i], places[i] + sizes[i],
                            [&](std::byte b) { return b == static_cast<std::byte>(i + 1); }))
        << "place " << i << " shares bytes with another";
}

TEST(PageArena, AStoreMovesOnlyToGrow) {
  PageArena arena;
  PageStore store;
  std::byte* const first = store.reserve(arena, 1000);
  EXPECT_EQ(store.reserve(arena, 10), first);
  EXPECT_EQ(store.reserve(arena, 1000), first);
  EXPECT_NE(store.reserve(arena, 1001), first);
}

TEST(PageArena, HoldsContainers) {
  PageArena arena;
  std::vector<uint64_t, PageAllocator<uint64_t>> numbers{PageAllocator<uint64_t>(arena)};
  for (uint64_t i = 0; i < 1000; ++i) numbers.push_back(i);
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(numbers[i], i);
}

}  // namespace
}  // namespace gpusim::core
