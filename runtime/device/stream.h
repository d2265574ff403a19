// Streams and events, in which programs order their work.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace gpusim::runtime {

/// Attributes of launches that programs set for streams and for nodes of graphs, by their numbers.
using AttributeValue = std::array<std::byte, 64>;
using AttributeValues = std::map<int, AttributeValue>;

/// Multiprocessors that kernels of some streams are kept to.
struct SmPart {
  std::vector<uint32_t> sms;
  std::shared_ptr<const std::vector<bool>> mask;  ///< the same by number; null: the whole device
};

class Stream {
 public:
  uint32_t number = 0;   ///< 0: the legacy default stream
  bool blocking = true;  ///< waits for the legacy default stream, and it for this one
  int priority = 0;
  unsigned flags = 0;
  AttributeValues attributes;  ///< that change nothing
  // Of a timed run: the work submitted so far.
  uint64_t last_work = 0;         ///< number of the last; 0: none
  std::vector<uint64_t> waits;    ///< work that what is submitted next waits for
  const SmPart* owner = nullptr;  ///< the green context of the driver library that it is of
};

class Event {
 public:
  bool timing = true;
  bool interprocess = false;  ///< other processes may wait for it: it is reached when record() returns
  bool recorded = false;
  uint64_t work = 0;  ///< that it marks
  bool reached = false;
  double seconds = 0;  ///< simulated time
  double done_s = 0;   ///< when what it comes after is done; earlier only where recording an event takes time
};

}  // namespace gpusim::runtime
