// What a warp finds in its SM's cache because it has been there itself: loads whose addresses differ by a
// constant from those that it loaded before, as the code computes them (a row that is walked word by word, an
// unrolled loop's neighbours). All lanes move on together, so that the transactions of such a load hit or
// miss together, and the loads of a loop are not alike: one walks along its sectors and misses once in
// several iterations, another comes to new ones each time.
#pragma once
#include <map>
#include <vector>

#include "analysis/models/latency_hidden/code.h"

namespace gpusim::analysis::latency_hidden {

struct OwnReuse {
  struct Visit {
    double fresh = 1;      ///< how likely it is to go to sectors that the warp has not loaded yet
    double first = 1;      ///< ... and no other warp either, at an operation before
    bool computed = true;  ///< its address comes of no data that lanes load each for itself
    bool alike = false;    ///< all lanes have the same address
    uint64_t since = 0;    ///< loads since the nearest place was loaded
    uint32_t stage = 0;    ///< outermost loop, or the code between two
  };
  std::vector<Visit> visits;  ///< of loads on the path, in their order
  double transactions = 0;    ///< of loads that go through the cache, per warp
  double reused = 0;          ///< of these, those of sectors whose data the warp has had already
  std::map<uint64_t, double> reused_since;  ///< the same by Visit::since
  double riding = 0;                        ///< those of sectors that it waits for already
  /// Of each stage, bytes per warp that are new to all, if the code says where they lie; what all warps that
  /// execute the load on the same address have together counts once.
  std::vector<double> distinct;
  /// Of each global load, whether a thread has always loaded this very place before, with no barrier in
  /// between.
  std::map<uint32_t, bool> again;
  double by_data = 0;  ///< bytes per warp that loads ask for whose addresses come of data
};

/// Global loads that go through the SM's cache: those that OwnReuse has visits of.
[[nodiscard]] bool goes_through_cache(const isa::MicroOp& op);
/// `sector`: bytes that a cache asks for at a time.
[[nodiscard]] OwnReuse own_reuse(const Code& code, double sector);

}  // namespace gpusim::analysis::latency_hidden
