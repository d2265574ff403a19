#include "microbench/bandwidths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "microbench/kernels.h"
#include "microbench/timing.h"

namespace gpusim::microbench {

namespace {

constexpr uint32_t kReaders = 256;
/// The streams' PTX is of version 1.4, in which the number of a block has 16 bits: further blocks would read
/// what the first have read.
constexpr uint32_t kMostBlocks = 65535;
/// Chunks of cache_read, and how far apart they begin: blocks that run in step begin in different partitions,
/// for any usual number of these.
constexpr uint64_t kChunk = 8192, kChunkPitch = 9472;
constexpr uint32_t kMostL1Blocks = 4;
constexpr uint64_t kReadByThread = 32;  // bytes of a chunk
/// Of the devices of today, bytes/s at most; and how many times as long as an event may be wrong is long
/// enough.
constexpr double kMostL2Rate = 1e13, kMostDramRate = 5e12, kMostScatteredRate = 1e12, kEventSteps = 100;
constexpr uint64_t kSmallStream = 1u << 18;  // elements, without a second level to get past
/// Longer ones take a simulator minutes. Shorter ones are slower: on an H200 with 3.75 MB of L2, copies of 1
/// to 4 million elements grow by 2,697 GB/s, of 4 to 7 million by 3,058.
constexpr uint64_t kLongStream = 1u << 22;
constexpr uint64_t kLeastScattered = 1u << 17;  // of fewer, some meet their row while it is open
constexpr uint32_t kSharedThreads = 1024, kSharedLoads = 256;

void add(DataSheet& sheet, std::string name, double value, std::string unit, std::string method,
         std::string kernel) {
  Figure f;
  f.name = std::move(name);
  f.found = Value::of(value);
  f.unit = std::move(unit);
  f.method = std::move(method);
  f.kernel = std::move(kernel);
  sheet.figures.push_back(std::move(f));
}

uint32_t blocks_per_sm(const DeviceProperties& p) { return std::max(1u, p.warps_per_sm * 32 / kReaders); }

/// Bytes that a level of so many bytes/s takes long enough for, by the device's events.
uint64_t bytes_for_events(const Device& device, double most_per_second) {
  return static_cast<uint64_t>(kEventSteps * device.properties().event_step * most_per_second);
}

void measure_l1(Device& device, DataSheet& sheet) {
  constexpr uint32_t kFew = 16, kMany = 48;
  // As many warps as four blocks have, in one block where blocks cannot be kept to an SM.
  const DeviceProperties& d = device.properties();
  const uint32_t blocks = d.keeps_to_sms ? std::min(blocks_per_sm(d), kMostL1Blocks) : 1;
  const uint32_t threads =
      d.keeps_to_sms ? kReaders : std::min(kMostL1Blocks * kReaders, d.threads_per_block);
  const uint64_t footprint = kChunk + uint64_t{threads - kReaders} * 8,
                 round = uint64_t{threads} * kReadByThread;
  Program p;
  p.sms = 1;
  p.ptx = kernel_file("cache_read", device.properties());
  p.buffers = {{footprint, {}, false}};
  for (const uint32_t rounds : {kFew, kMany}) {
    p.launches.push_back({"read_cached",
                          blocks,
                          threads,
                          0,
                          {Argument::buffer(p.buffers.size()), Argument::buffer(0), Argument::number(0),
                           Argument::number(rounds)}});
    p.buffers.push_back({blocks * threads / 32 * 8ul, {}, true});
  }
  const Outcome out = device.run_one(p);
  const double clocks = elapsed(out.buffers[2]) - elapsed(out.buffers[1]);
  add(sheet, "bandwidth.l1", static_cast<double>(kMany - kFew) * blocks * round / clocks, "bytes/cycle/SM",
      fmt::format("{} warps read the same {} KB", blocks * threads / 32, footprint / 1024),
      "cache_read: read_cached");
}

void measure_shared(Device& device, DataSheet& sheet) {
  const uint32_t threads = std::min(kSharedThreads, device.properties().threads_per_block);
  Program p;
  p.sms = 1;
  p.ptx = kernel_file("shared_pattern", device.properties());
  std::vector<uint32_t> offsets;
  for (uint32_t lane = 0; lane < 32; ++lane) offsets.push_back(4 * lane);
  p.buffers = {{threads / 32 * 8ul, {}, true}, {128, offsets, false}};
  p.launches.push_back({"shared_pattern", 1, threads, 128, {Argument::buffer(0), Argument::buffer(1)}});
  const double clocks = elapsed(device.run_one(p).buffers[0]);
  add(sheet, "bandwidth.shared", static_cast<double>(threads) * 4 * kSharedLoads / clocks, "bytes/cycle/SM",
      fmt::format("{} warps read consecutive words", threads / 32), "shared_pattern: shared_pattern");
}

void measure_l2(Device& device, const Hierarchy& h, DataSheet& sheet) {
  constexpr uint32_t kFew = 2, kLeastMore = 4;
  const uint32_t blocks = blocks_per_sm(device.properties()) * device.properties().sms;
  const uint64_t chunks = std::bit_floor(std::max(h.l2.capacity / 2, kChunk) / kChunk);
  Program p;
  p.ptx = kernel_file("cache_read", device.properties());
  p.buffers = {{chunks * kChunkPitch, {}, false}};
  const auto warm = static_cast<uint32_t>((chunks + 2ul * blocks - 1) / (2ul * blocks) * 2);  // even
  const auto more = std::max(
      kLeastMore, static_cast<uint32_t>(bytes_for_events(device, kMostL2Rate) / (blocks * kChunk) / 2 * 2));
  for (const uint32_t rounds : {warm, kFew, kFew + more}) {
    p.launches.push_back({"read_past_l1",
                          blocks,
                          kReaders,
                          0,
                          {Argument::buffer(p.buffers.size()), Argument::buffer(0),
                           Argument::number(chunks - 1), Argument::number(rounds)}});
    p.buffers.push_back({uint64_t{blocks} * kReaders / 32 * 8, {}, false});
  }
  const std::vector<double> seconds = device.run_one(p).seconds;
  add(sheet, "bandwidth.l2", static_cast<double>(more) * blocks * kChunk / (seconds[2] - seconds[1]),
      "bytes/s", fmt::format("all SMs read {} KB past the first level", chunks * kChunk / 1024),
      "cache_read: read_past_l1");
}

/// Elements of a stream's launches: those before it is timed, a short one and a long one.
struct StreamLengths {
  uint64_t before = 0, few = 0, many = 0;
  bool anew = false;  ///< each launch has arrays of its own
};

/// Each array is larger than the second level, and each kernel runs once before: it finds nothing of its data
/// there, and as many lines to be written back as it leaves. What a large level would make long for a
/// simulator is shorter with arrays that no launch before has touched, once the level is full of such lines
/// as a stream that writes leaves there.
StreamLengths stream_lengths(const Device& device, const Hierarchy& h, uint32_t words, bool writes) {
  const DeviceProperties& d = device.properties();
  const uint64_t few = std::max<uint64_t>(kSmallStream, (h.l2.capacity / 4 / kReaders + 1) * kReaders);
  if (d.event_step == 0 && few > kLongStream) {
    const uint64_t level = (h.l2.capacity / (4ul * words) / kReaders + 1) * kReaders;
    return {writes ? level + level / 4 : 0, kLongStream, 2 * kLongStream, true};
  }
  const uint64_t most = uint64_t{kMostBlocks} * d.threads_per_block;
  const uint64_t many =
      std::min(std::max(most, 2 * few),
               few + std::max({kSmallStream, few, bytes_for_events(device, kMostDramRate) / 8}));
  return {few, few, many, false};
}

struct Stream {
  const char* kernel;
  uint32_t words;  ///< per element, all arrays
  bool writes;
};

/// Streams with one element per thread keep as many bytes on their way as the device has threads, and need
/// operations and blocks for each; with four, memory is nearly all that they wait for.
void measure_streams(Device& device, const Hierarchy& h, std::span<const Stream> streams,
                     uint64_t elements_per_thread, DataSheet& sheet) {
  std::vector<StreamLengths> lengths;
  uint64_t most = 0;
  for (const Stream& stream : streams) {
    StreamLengths l = stream_lengths(device, h, stream.words, stream.writes);
    if (elements_per_thread > 1) {  // whole blocks, and twice as many elements: the blocks are larger
      const uint64_t block = elements_per_thread * kReaders, most_blocks = kMostBlocks;
      l.before = std::min(l.before / block, most_blocks) * block;
      l.few = std::min(2 * l.few / block, most_blocks / 2) * block;
      l.many = std::min(2 * l.many / block, most_blocks) * block;
    }
    most = std::max({most, l.before, l.many});
    lengths.push_back(l);
  }
  uint32_t threads = kReaders;
  while (most / elements_per_thread / threads > kMostBlocks) threads *= 2;
  Program p;
  p.ptx = kernel_file("stream", device.properties());
  for (size_t i = 0; i < streams.size(); ++i)
    for (const uint64_t n : {lengths[i].before, lengths[i].few, lengths[i].many}) {
      if (p.buffers.empty() || lengths[i].anew)
        for (int array = 0; array < 3; ++array)
          p.buffers.push_back({(lengths[i].anew ? std::max<uint64_t>(n, 1) : most) * 4, {}, false});
      const size_t first = p.buffers.size() - 3;
      const uint64_t block = threads * elements_per_thread;
      p.launches.push_back({streams[i].kernel,
                            static_cast<uint32_t>(std::max<uint64_t>(1, (n + block - 1) / block)),
                            threads,
                            0,
                            {Argument::buffer(first), Argument::buffer(first + 1),
                             Argument::buffer(first + 2), Argument::number(n)}});
    }
  const std::vector<double> seconds = device.run_one(p).seconds;
  for (size_t i = 0; i < streams.size(); ++i) {
    const StreamLengths& l = lengths[i];
    add(sheet, fmt::format("bandwidth.{}", streams[i].kernel),
        static_cast<double>(4ul * streams[i].words * (l.many - l.few)) /
            (seconds[3 * i + 2] - seconds[3 * i + 1]),
        "bytes/s", fmt::format("{} and {} elements{}", l.few, l.many, l.anew ? " that no cache knows" : ""),
        fmt::format("stream: {}", streams[i].kernel));
  }
}

/// Reads that open a row each: 32-byte sectors 256 bytes apart, in an order that has no row twice among those
/// on their way. Each length has sectors of its own, which no cache knows. `sms` 0: all.
void measure_scattered(Device& device, const char* name, uint32_t sms, uint64_t few, DataSheet& sheet) {
  constexpr uint64_t kPitch = 256, kSector = 32;
  Program p;
  p.sms = sms;
  p.ptx = kernel_file("stream", device.properties());
  for (const uint64_t n : {few, 2 * few}) {
    const size_t buffer = p.buffers.size();
    p.buffers.push_back({n * kPitch, {}, false});
    p.launches.push_back({"scattered",
                          static_cast<uint32_t>(n / kReaders),
                          kReaders,
                          0,
                          {Argument::buffer(buffer), Argument::buffer(buffer), Argument::buffer(buffer),
                           Argument::number(n)}});
  }
  const std::vector<double> seconds = device.run_one(p).seconds;
  add(sheet, name, static_cast<double>(few * kSector) / (seconds[1] - seconds[0]), "bytes/s",
      fmt::format("{} and {} sectors of 32 bytes, each in a row of its own{}", few, 2 * few,
                  sms == 1 ? ", one SM" : ""),
      "stream: scattered");
}

}  // namespace

void measure_bandwidths(Device& device, const Hierarchy& h, DataSheet& sheet) {
  attempt(sheet, "bandwidth.shared", [&] { measure_shared(device, sheet); });
  if (h.l1.capacity >= kChunk) attempt(sheet, "bandwidth.l1", [&] { measure_l1(device, sheet); });
  if (h.l2.present) attempt(sheet, "bandwidth.l2", [&] { measure_l2(device, h, sheet); });
  constexpr std::array kOne = {Stream{"read", 2, false}, Stream{"copy", 2, true}, Stream{"triad", 3, true}};
  attempt(sheet, "bandwidth.triad", [&] { measure_streams(device, h, kOne, 1, sheet); });
  constexpr std::array kFour = {Stream{"read4", 2, false}, Stream{"copy4", 2, true},
                                Stream{"triad4", 3, true}};
  attempt(sheet, "bandwidth.triad4", [&] { measure_streams(device, h, kFour, 4, sheet); });
  const DeviceProperties& d = device.properties();
  const uint64_t few = std::max<uint64_t>(kReaders, std::bit_ceil(uint64_t{d.warps_per_sm} * 32));
  const uint64_t spread = std::bit_ceil(
      std::max({kLeastScattered, few * d.sms, bytes_for_events(device, kMostScatteredRate) / 32}));
  attempt(sheet, "bandwidth.scattered",
          [&] { measure_scattered(device, "bandwidth.scattered", 0, spread, sheet); });
  attempt(sheet, "bandwidth.sm_scattered",
          [&] { measure_scattered(device, "bandwidth.sm_scattered", 1, 4 * few, sheet); });
}

}  // namespace gpusim::microbench
