// How much the tables of the model hold. Each is also the end of a range in the schema, so that a machine
// which loads fits.
#pragma once
#include <cstddef>
#include <cstdint>

namespace gpusim::core {

inline constexpr uint32_t kMaxWarps = 64;  ///< of an SM: a bit each in its sets of warps
inline constexpr uint32_t kMaxThreads = kMaxWarps * 32;
inline constexpr size_t kMaxPipes = 16;  ///< [pipes.NAME]
inline constexpr size_t kMaxSchedulers = 8;
inline constexpr uint32_t kMaxBarriers = 8;    ///< dependency barriers of a warp
inline constexpr uint32_t kMostStall = 15;     ///< stall count of a control code
inline constexpr uint32_t kMaxWarpLoads = 64;  ///< scheduler.warp_loads
inline constexpr uint32_t kMaxKernels = 128;
inline constexpr uint32_t kMaxClusterBlocks = 16;  ///< blocks of a thread block cluster
/// Blocks of a cluster that every GPU with clusters holds (CUDA programming guide, "Thread Block Clusters").
inline constexpr uint32_t kPortableClusterBlocks = 8;
inline constexpr uint32_t kMaxSharedBanks = 64;
/// Reads or writes of a load/store unit: their tags have 15 bits.
inline constexpr int64_t kMaxTransactions = 32768;
inline constexpr int64_t kMaxLine = 256;  ///< of a data cache: a byte has a bit for each 32 bytes
inline constexpr uint32_t kMaxPartitionBits = 8;
inline constexpr uint32_t kMaxDramBanks = 64;
inline constexpr int64_t kMaxTreeWays = 64;  ///< a word holds a set's tree of replacement bits
inline constexpr int64_t kMaxLatencyCycles = 1'000'000;

}  // namespace gpusim::core
