// The board's energy counter, from NVML, which is loaded when it is needed.
#pragma once
#include <string>

namespace hardware {

class Board {
 public:
  /// The board at this place on the bus, as the CUDA driver names it. Throws Error: there is no NVML, or no
  /// such board.
  explicit Board(const std::string& bus_id);
  /// Energy that the board has drawn, in joules from some beginning. Throws Error if it has no counter.
  double joules() const;

 private:
  void* device_ = nullptr;
  int (*energy_)(void*, unsigned long long*) = nullptr;
};

}  // namespace hardware
