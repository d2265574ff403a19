#include "components/noc/mesh_graph.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <cmath>
#include <vector>

namespace gpusim::comp {

MeshGraph::MeshGraph(uint32_t clusters, uint32_t partitions, uint32_t width) : width_(width) {
  const uint32_t ends = clusters + partitions;
  if (width_ == 0) width_ = static_cast<uint32_t>(std::ceil(std::sqrt(ends)));
  const uint32_t rows = (ends + width_ - 1) / width_;
  neighbours_.resize(size_t{width_} * rows);
  for (uint32_t r = 0; r < routers(); ++r) {
    const uint32_t x = r % width_, y = r / width_;
    neighbours_[r] = {x + 1 < width_ ? r + 1 : kNone, x > 0 ? r - 1 : kNone,
                      y + 1 < rows ? r + width_ : kNone, y > 0 ? r - width_ : kNone};
  }
  for (uint32_t p = 0; p < partitions; ++p)
    partitions_.push_back(static_cast<uint32_t>((2 * uint64_t{p} + 1) * ends / (2 * uint64_t{partitions})));
  for (uint32_t r = 0, p = 0; r < ends; ++r)
    if (p < partitions && partitions_[p] == r)
      ++p;
    else
      clusters_.push_back(r);
  find_ways();
}

void MeshGraph::find_ways() {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  const uint32_t n = routers();
  Graph graph(n);
  for (uint32_t r = 0; r < n; ++r)
    for (const uint32_t other : neighbours_[r])
      if (other != kNone) boost::add_edge(r, other, graph);
  hops_.assign(size_t{n} * n, 0);
  std::vector<boost::default_color_type> colours(n);
  for (uint32_t from = 0; from < n; ++from)
    boost::breadth_first_search(graph, boost::vertex(from, graph),
                                boost::visitor(boost::make_bfs_visitor(boost::record_distances(
                                                   &hops_[size_t{from} * n], boost::on_tree_edge())))
                                    .color_map(boost::make_iterator_property_map(
                                        colours.begin(), boost::get(boost::vertex_index, graph))));
  next_.assign(size_t{n} * n, 0);
  for (uint32_t at = 0; at < n; ++at)
    for (uint32_t to = 0; to < n; ++to)
      for (uint32_t d = kDirections; d-- > 0;)
        if (const uint32_t other = neighbours_[at][d]; other != kNone && hops(other, to) < hops(at, to))
          next_[at * n + to] = static_cast<uint8_t>(d);
}

}  // namespace gpusim::comp
