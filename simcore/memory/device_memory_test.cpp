#include "simcore/memory/device_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpusim::core {
namespace {

TEST(DeviceMemory, AllocatesFromTheBaseWithGuards) {
  DeviceMemory memory(1 << 20);
  const uint64_t a = memory.allocate(100, 1, "A");
  const uint64_t b = memory.allocate(4096, 4096, "B");
  EXPECT_EQ(a, DeviceMemory::kBase);
  EXPECT_EQ(b % 4096, 0u);
  EXPECT_GE(b, a + 100 + DeviceMemory::kGuardBytes);
  EXPECT_EQ(memory.find(a)->name, "A");
  EXPECT_EQ(memory.find(a + 99)->name, "A");
  EXPECT_EQ(memory.find(a + 100), nullptr);
  EXPECT_EQ(memory.find(a - 1), nullptr);
  EXPECT_EQ(memory.find(b - 1), nullptr);
  EXPECT_EQ(memory.find("B")->base, b);
  EXPECT_EQ(memory.find("C"), nullptr);
  EXPECT_EQ(memory.used(), 4196u);
}

TEST(DeviceMemory, StorageIsZeroedAndWritable) {
  DeviceMemory memory(uint64_t{1} << 40);
  const uint64_t big = memory.allocate(uint64_t{64} << 30, 256, "big");  // costs nothing until touched
  const Allocation* allocation = memory.find(big + (uint64_t{40} << 30));
  ASSERT_NE(allocation, nullptr);
  std::byte* middle = allocation->data + (uint64_t{40} << 30);
  EXPECT_EQ(*middle, std::byte{0});
  *middle = std::byte{7};
  EXPECT_EQ(*middle, std::byte{7});
  EXPECT_GE(big, uint64_t{1} << 32);
  EXPECT_EQ(memory.allocate(16, 256, "small"), DeviceMemory::kBase);  // the low addresses are still free
}

TEST(DeviceMemory, RefusesWhatDoesNotFit) {
  DeviceMemory memory(1000);
  (void)memory.allocate(600, 256, "A");
  try {
    (void)memory.allocate(500, 256, "B");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "error: device memory is full: 'B' needs 500 bytes, 400 of 1000 are free");
  }
  DeviceMemory endless(~uint64_t{0});
  EXPECT_THROW((void)endless.allocate(~uint64_t{0}, 256, "A"), InputError);
  EXPECT_THROW((void)endless.allocate(uint64_t{1} << 50, 256, "A"), InputError);
}

TEST(DeviceMemory, ZeroBytesMapNothing) {
  DeviceMemory memory(1000);
  const uint64_t a = memory.allocate(0, 256, "A");
  EXPECT_EQ(memory.find(a), nullptr);
  EXPECT_NE(memory.allocate(0, 256, "B"), a);
}

TEST(DeviceMemory, DescribesAddresses) {
  DeviceMemory memory(1 << 20);
  EXPECT_EQ(memory.describe(16), "address 0x10: nothing is allocated");
  const uint64_t a = memory.allocate(4096, 256, "C");
  EXPECT_EQ(memory.describe(a + 4100),
            "address 0x10001004 is 4 bytes past the end of 'C' (0x10000000, 4096 bytes)");
  EXPECT_EQ(memory.describe(a - 8), "address 0xffffff8 is 8 bytes before 'C' (0x10000000, 4096 bytes)");
  EXPECT_EQ(memory.describe(a + 8), "address 0x10000008 is byte 8 of 'C' (0x10000000, 4096 bytes)");
  (void)memory.allocate(256, 256, "D");
  EXPECT_EQ(memory.nearest(a + 5000)->name, "C");
  EXPECT_EQ(memory.nearest(a + 8000)->name, "D");
}

TEST(DeviceMemory, StorageInPlaceIsAtTheDeviceAddress) {
  DeviceMemory memory(uint64_t{1} << 30, DeviceMemory::Storage::kInPlace);
  const uint64_t first = memory.allocate(100, 256, "first"), second = memory.allocate(5000, 256, "second");
  for (const uint64_t address : {first, second}) {
    EXPECT_EQ(reinterpret_cast<uint64_t>(memory.find(address)->data), address);
    *reinterpret_cast<int*>(address) = 7;
  }
  // What the process has already is passed over.
  DeviceMemory other(uint64_t{1} << 30, DeviceMemory::Storage::kInPlace);
  const uint64_t third = other.allocate(100, 256, "third");
  EXPECT_TRUE(third > second || third < first);
  *reinterpret_cast<int*>(third) = 8;
  EXPECT_EQ(*reinterpret_cast<int*>(first), 7);
}

TEST(DeviceMemory, WhatIsReleasedIsFreeAndRemembered) {
  DeviceMemory memory(10000);
  const uint64_t a = memory.allocate(6000, 256, "A");
  EXPECT_FALSE(memory.release(a + 1));
  EXPECT_TRUE(memory.release(a));
  EXPECT_FALSE(memory.release(a));
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_EQ(memory.find(a), nullptr);
  EXPECT_NE(memory.describe(a + 5).find("byte 5 of 'A'"), std::string::npos) << memory.describe(a + 5);
  EXPECT_NE(memory.describe(a + 5).find("has been freed"), std::string::npos);
  EXPECT_NE(memory.allocate(6000, 256, "B"), a) << "so that whoever still uses it is found";
}

TEST(DeviceMemory, KnowsWhatComesBeforeAndWhatHasGone) {
  DeviceMemory memory(1 << 20);
  EXPECT_EQ(memory.before(DeviceMemory::kBase), nullptr);
  const uint64_t a = memory.allocate(100, 1, "a"), b = memory.allocate(100, 1, "b");
  EXPECT_EQ(memory.before(a - 1), nullptr);
  EXPECT_EQ(memory.before(a)->name, "a");
  EXPECT_EQ(memory.before(b - 1)->name, "a");
  EXPECT_EQ(memory.before(~uint64_t{0})->name, "b");
  EXPECT_EQ(memory.after(a - 1)->name, "a");
  EXPECT_EQ(memory.after(a)->name, "b");
  EXPECT_EQ(memory.after(b), nullptr);
  EXPECT_FALSE(memory.was_released(b));
  memory.release(b);
  EXPECT_TRUE(memory.was_released(b + 99));
  EXPECT_FALSE(memory.was_released(b + 100));
}

TEST(DeviceMemory, AllocatesAtAGivenAddressAndRoundIt) {
  DeviceMemory memory(1 << 20);
  constexpr uint64_t kBase = DeviceMemory::kBase, kGuard = DeviceMemory::kGuardBytes;
  EXPECT_TRUE(memory.allocate_at(kBase + 0x1234, 100, "fixed"));
  EXPECT_FALSE(memory.allocate_at(kBase + 0x1234 + 99, 1, "over its end"));
  EXPECT_FALSE(memory.allocate_at(kBase + 0x1000, 0x235, "over its beginning"));
  EXPECT_TRUE(memory.allocate_at(kBase + 0x1234 + 100, 8, "behind it"));
  EXPECT_FALSE(memory.allocate_at(kBase - 1, 1, "too low"));
  EXPECT_FALSE(memory.allocate_at(uint64_t{1} << 47, 1, "too high"));
  EXPECT_FALSE(memory.allocate_at(kBase, ~uint64_t{0}, "too large"));
  EXPECT_EQ(memory.find(kBase + 0x1234)->name, "fixed");
  EXPECT_EQ(memory.used(), 108u);
  // Others keep their distance.
  const uint64_t other = memory.allocate(256, 1, "other");
  EXPECT_TRUE(other + 256 + kGuard <= kBase + 0x1234 || other >= kBase + 0x1234 + 108 + kGuard) << other;
  const uint64_t large = memory.allocate(0x10000, 1, "large");
  EXPECT_GE(large, kBase + 0x1234 + 108 + kGuard);
  EXPECT_THROW((void)memory.allocate_at(uint64_t{1} << 33, 1 << 20, "more than there is"), InputError);
}

TEST(DeviceMemory, MemoryOfTheHostTakesNoneOfTheDevices) {
  DeviceMemory memory(1000, DeviceMemory::Storage::kInPlace);
  const uint64_t host = memory.allocate_host(100000, "host");
  EXPECT_GE(host, uint64_t{1} << 32) << "32-bit programs never see it";
  EXPECT_TRUE(memory.find(host)->of_host);
  std::vector<int> own(100);
  EXPECT_TRUE(memory.adopt(own.data(), 400, "own"));
  EXPECT_FALSE(memory.adopt(own.data() + 50, 400, "over it"));
  EXPECT_EQ(memory.find(reinterpret_cast<uint64_t>(&own[99]))->name, "own");
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_TRUE(memory.release(reinterpret_cast<uint64_t>(own.data())));
  own[0] = 1;  // it is the program's still
}

}  // namespace
}  // namespace gpusim::core
