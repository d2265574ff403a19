// The text of printf(), its buffer and the heap, against what the host's own printf() gives and against a
// model that only knows which bytes are taken.
#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <map>
#include <random>

#include "components/services/device_heap.h"
#include "components/services/print_fifo.h"

namespace gpusim::comp {
namespace {

template <class... Args>
std::string on_host(const char* format, Args... args) {
  char text[512];
  std::snprintf(text, sizeof text, format, args...);
  return text;
}
std::string printed(std::string_view format, const std::vector<PrintValue>& values) {
  std::string out;
  PrintFormat(format).print(values, out);
  return out;
}
PrintValue number(uint64_t bits) { return {bits, {}}; }
PrintValue number(double value) { return {std::bit_cast<uint64_t>(value), {}}; }

TEST(PrintFormat, IntegersAreThoseOfTheHost) {
  for (const char* format : {"%d", "%i", "%5d|", "%-5d|", "%+d", "% d", "%05d", "%.3d", "%08.3d|"}) {
    for (const int v : {0, 1, -1, 42, -12345, 2147483647}) {
      EXPECT_EQ(printed(format, {number(uint64_t{static_cast<uint32_t>(v)})}), on_host(format, v)) << format;
    }
  }
  for (const char* format : {"%u", "%x", "%X", "%o", "%#x", "%#o", "%8x|", "%-8X|"}) {
    for (const unsigned v : {0u, 7u, 255u, 0xdeadbeefu})
      EXPECT_EQ(printed(format, {number(uint64_t{v})}), on_host(format, v)) << format;
  }
  for (const char* format : {"%lld", "%llu", "%llx", "%ld", "%lu", "%20lld|"}) {
    for (const long long v : {0ll, -1ll, 0x123456789abcdefll})
      EXPECT_EQ(printed(format, {number(static_cast<uint64_t>(v))}), on_host(format, v)) << format;
  }
  EXPECT_EQ(printed("%hd %hhd %hu %hhx", {number(uint64_t{0xffff}), number(uint64_t{0x180}),
                                          number(uint64_t{0x12345}), number(uint64_t{0x1ab})}),
            "-1 -128 9029 ab");
}

TEST(PrintFormat, FloatsAreThoseOfTheHost) {
  for (const char* format :
       {"%f", "%e", "%E", "%g", "%G", "%a", "%A", "%10.3f|", "%-10.2e|", "%+.1f", "%#g", "%.0f", "%015.4f"}) {
    for (const double v : {0.0, -0.0, 1.5, -3.14159, 1e300, 1e-300, 1.0 / 0.0, 0.0 / 0.0})
      EXPECT_EQ(printed(format, {number(v)}), on_host(format, v)) << format;
  }
}

TEST(PrintFormat, TextCharactersPointersAndWidthsFromArguments) {
  EXPECT_EQ(printed("%s|%5s|%-5s|%.2s|", {{0, "abc"}, {0, "abc"}, {0, "abc"}, {0, "abc"}}),
            "abc|  abc|abc  |ab|");
  EXPECT_EQ(printed("%c%c", {number(uint64_t{'x'}), number(uint64_t{'y'})}), "xy");
  EXPECT_EQ(printed("%p", {number(uint64_t{0x1234})}), on_host("%p", reinterpret_cast<void*>(0x1234)));
  EXPECT_EQ(printed("%*d|%-*.*f|", {number(uint64_t{6}), number(uint64_t{42}), number(uint64_t{8}),
                                    number(uint64_t{2}), number(2.5)}),
            on_host("%*d|%-*.*f|", 6, 42, 8, 2, 2.5));
  EXPECT_EQ(printed("%*d|", {number(uint64_t{0xfffffffa}), number(uint64_t{42})}), on_host("%*d|", -6, 42));
  EXPECT_EQ(printed("100 %% of %d%%", {number(uint64_t{3})}), "100 % of 3%");
}

TEST(PrintFormat, ArgumentsHaveTheSizeOfTheirConversion) {
  using enum PrintArgument;
  EXPECT_EQ(PrintFormat("%d %lld %f %s %c %p %*.*g %hd").arguments(),
            (std::vector{kWord, kLong, kDouble, kString, kWord, kLong, kWord, kWord, kDouble, kWord}));
  EXPECT_TRUE(PrintFormat("%% nothing").arguments().empty());
}

TEST(PrintFormat, WhatIsNoConversionIsPrintedAsItStands) {
  EXPECT_EQ(printed("%n %y %", {}), "%n %y %");
  std::string format;
  for (size_t i = 0; i < PrintFormat::kMaxArguments + 2; ++i) format += "%d,";
  std::vector<PrintValue> ones(PrintFormat::kMaxArguments, number(uint64_t{1}));
  const std::string text = printed(format, ones);
  EXPECT_EQ(PrintFormat(format).arguments().size(), PrintFormat::kMaxArguments);
  EXPECT_TRUE(text.ends_with("1,%d,%d,")) << text;
}

TEST(PrintFormat, HugeWidthsGetABoundedText) {
  EXPECT_LT(printed("%2000000000d", {number(uint64_t{1})}).size(), 10000u);
  EXPECT_LT(printed("%.2000000000f", {number(1.0)}).size(), 10000u);
}

std::string flushed(PrintFifo& fifo) {
  std::string out;
  fifo.flush([&](std::string_view text) { out += text; });
  return out;
}

TEST(PrintFifo, GivesTextInOrderAndOnce) {
  PrintFifo fifo;
  std::string name = "one";
  fifo.push(fifo.format("%s=%d\n"), {{0, name}, number(uint64_t{1})});
  name = "two";  // the buffer has a copy
  fifo.push(fifo.format("%d!\n"), {number(uint64_t{2})});
  fifo.push(fifo.format("%s=%d\n"), {{0, "a longer text than eight"}, number(uint64_t{3})});
  EXPECT_EQ(flushed(fifo), "one=1\n2!\na longer text than eight=3\n");
  EXPECT_TRUE(fifo.empty());
  EXPECT_EQ(flushed(fifo), "");
}

TEST(PrintFifo, OverwritesTheOldestWhenItIsFull) {
  PrintFifo fifo;
  fifo.set_capacity(10 * 24);  // records of two words and one argument
  for (uint64_t i = 0; i < 25; ++i) fifo.push(fifo.format("%d "), {number(i)});
  EXPECT_EQ(fifo.lost(), 15u);
  EXPECT_EQ(flushed(fifo), "15 16 17 18 19 20 21 22 23 24 ");
  fifo.set_capacity(8);
  fifo.push(fifo.format("%d "), {number(uint64_t{1})});
  EXPECT_EQ(flushed(fifo), "");
}

TEST(DeviceHeap, BlocksAreAlignedApartAndInside) {
  constexpr uint64_t kBase = 0x10000000, kBytes = 1 << 16;
  DeviceHeap heap, again;
  heap.place(kBase, kBytes);
  again.place(kBase, kBytes);
  std::map<uint64_t, uint64_t> taken;
  std::mt19937 random(1);
  uint64_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 2 == 0 || taken.empty()) {
      const uint64_t bytes = 1 + random() % 3000, at = heap.allocate(bytes);
      ASSERT_EQ(again.allocate(bytes), at) << "the same calls give the same addresses";
      if (at == 0) {
        ++refused;
        continue;
      }
      EXPECT_EQ(at % DeviceHeap::kAlign, 0u);
      EXPECT_GE(at, kBase);
      EXPECT_LE(at + bytes, kBase + kBytes);
      const auto after = taken.lower_bound(at);
      if (after != taken.end()) {
        EXPECT_LE(at + bytes, after->first);
      }
      if (after != taken.begin()) {
        EXPECT_GE(at, std::prev(after)->first + std::prev(after)->second);
      }
      taken.emplace(at, bytes);
    } else {
      const auto at = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      EXPECT_TRUE(heap.release(at->first));
      EXPECT_TRUE(again.release(at->first));
      EXPECT_FALSE(heap.release(at->first)) << "freed twice";
      taken.erase(at);
    }
  }
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(heap.blocks_in_use(), taken.size());
  for (const auto& [at, bytes] : taken) {
    EXPECT_EQ(heap.block_before(at + bytes - 1).begin, at);
    EXPECT_FALSE(bytes > 1 && heap.release(at + 1)) << "no block begins there";
    EXPECT_TRUE(heap.release(at));
  }
  EXPECT_EQ(heap.allocate(kBytes - DeviceHeap::kGap), kBase + DeviceHeap::kGap) << "free ranges have joined";
}

TEST(DeviceHeap, GivesNothingForNoBytesOrTooMany) {
  DeviceHeap heap;
  EXPECT_EQ(heap.allocate(16), 0u) << "before it has a place";
  heap.place(0x1000, 1024);
  EXPECT_EQ(heap.allocate(0), 0u);
  EXPECT_EQ(heap.allocate(1024), 0u);
  EXPECT_EQ(heap.allocate(~uint64_t{0}), 0u);
  EXPECT_NE(heap.allocate(1000), 0u);
  EXPECT_EQ(heap.allocate(1), 0u);
}

}  // namespace
}  // namespace gpusim::comp
