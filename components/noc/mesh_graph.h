// The mesh interconnect as a graph of routers: who is beside whom, where clusters (ports of SMs) and memory
// partitions are attached, and which way leads from one router to another. Ways are shortest paths, computed
// once; where several are shortest the one along the row goes first, so that all are of dimension order and
// messages that wait for each other form no circle (Dally & Seitz 1987). Plain class.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace gpusim::comp {

class MeshGraph {
 public:
  static constexpr uint32_t kDirections = 4;
  static constexpr uint32_t kNone = ~0u;

  /// A grid `width` routers wide (0: nearly square) with a router for each cluster and each partition, the
  /// partitions evenly between the clusters. Routers are numbered row by row.
  MeshGraph(uint32_t clusters, uint32_t partitions, uint32_t width);

  [[nodiscard]] uint32_t routers() const { return static_cast<uint32_t>(neighbours_.size()); }
  [[nodiscard]] uint32_t width() const { return width_; }
  /// Routers of the clusters, and of the partitions, by number.
  [[nodiscard]] const std::vector<uint32_t>& clusters() const { return clusters_; }
  [[nodiscard]] const std::vector<uint32_t>& partitions() const { return partitions_; }
  /// The router beside `router` in a direction, kNone at the edge. Direction d is opposite to d ^ 1.
  [[nodiscard]] uint32_t neighbour(uint32_t router, uint32_t direction) const {
    return neighbours_[router][direction];
  }
  /// Direction in which a message at `at` goes on to `to` != `at`.
  [[nodiscard]] uint32_t next(uint32_t at, uint32_t to) const { return next_[at * routers() + to]; }
  [[nodiscard]] uint32_t hops(uint32_t from, uint32_t to) const { return hops_[from * routers() + to]; }

 private:
  void find_ways();

  uint32_t width_;
  std::vector<uint32_t> clusters_, partitions_;
  std::vector<std::array<uint32_t, kDirections>> neighbours_;  ///< east, west, south, north
  std::vector<uint16_t> hops_;                                 ///< from x to
  std::vector<uint8_t> next_;                                  ///< at x to
};

}  // namespace gpusim::comp
