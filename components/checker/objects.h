// The named pieces of device memory as the checks see them: launch-file buffers, .global and .const
// variables, and which of their bytes hold a value. Addresses are found through the piece that was found
// last.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "components/checker/byte_map.h"
#include "isa/ptx/types.h"

namespace gpusim::comp {

struct GlobalObject {
  enum class Kind : uint8_t { kBuffer, kVariable, kConstant };
  std::string name;
  Kind kind = Kind::kBuffer;
  uint64_t begin = 0, end = 0;
  bool initialised = true;  ///< every byte has had a value from the start
  ByteMap written;          ///< used if not
};

class GlobalObjects {
 public:
  void add(GlobalObject object);
  /// The one that begins there exists no more.
  void remove(uint64_t begin);
  /// [address, address + bytes) has got a value, as far as it lies in one object.
  void mark_written(uint64_t address, uint64_t bytes);
  /// Bytes have been copied from one object to another, or within one: those that had no value have none
  /// there.
  void mark_copied(uint64_t from, uint64_t to, uint64_t bytes);
  /// The object that holds the byte; nullptr if none does.
  [[nodiscard]] GlobalObject* find(uint64_t address);
  /// The one that held the byte last and exists no more; nullptr if none of the last ones did.
  [[nodiscard]] const GlobalObject* find_removed(uint64_t address) const;
  /// The object nearest to [address, address + bytes); nullptr if there is none at all.
  [[nodiscard]] const GlobalObject* nearest(uint64_t address, uint64_t bytes) const;

 private:
  std::vector<GlobalObject> objects_;  ///< by address
  size_t last_ = 0;
  static constexpr size_t kRemembered = 1024;
  std::deque<GlobalObject> removed_;  ///< the last ones, in the order in which they went
};

/// "buffer 'A' (4096 bytes)".
[[nodiscard]] std::string describe_object(const GlobalObject& object);
/// How [address, address + bytes) lies to [begin, end): "12 bytes past the end of", "4 bytes over the end
/// of", "8 bytes before", "at byte 16 of".
[[nodiscard]] std::string describe_distance(uint64_t address, uint64_t bytes, uint64_t begin, uint64_t end);

}  // namespace gpusim::comp
