#include "analysis/models/energy/task_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <unordered_map>
#include <unordered_set>

namespace gpusim::analysis::energy {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

/// First and last task of each block.
struct Ends {
  size_t first = 0, last = 0;
};

Graph graph_of(const std::vector<Task>& tasks, const std::vector<Succession>& successions) {
  Graph graph(tasks.size());
  std::unordered_map<uint64_t, Ends> ends;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const auto [at, is_new] = ends.try_emplace(tasks[i].block, Ends{i, i});
    if (!is_new) {
      boost::add_edge(at->second.last, i, graph);
      at->second.last = i;
    }
  }
  for (const Succession& s : successions) {
    const auto from = ends.find(s.previous), to = ends.find(s.next);
    if (from != ends.end() && to != ends.end()) boost::add_edge(from->second.last, to->second.first, graph);
  }
  return graph;
}

std::vector<Task> read_tasks(const Recording& recording, uint64_t kernel) {
  const Table t = recording.events(kernel, "phase", "summary", {"block", "interval", "start", "end"});
  std::vector<Task> tasks;
  for (uint64_t i = 0; i < t.rows; ++i) {
    const Task task{t["block"][i], t["interval"][i], t["start"][i], t["end"][i]};
    if (task.end < task.start)
      throw core::RecordError(
          fmt::format("'{}': events/phase of kernel {} has an interval that ends before it "
                      "starts; the file is damaged",
                      recording.path(), kernel));
    tasks.push_back(task);
  }
  std::ranges::sort(tasks, [](const Task& a, const Task& b) {
    return a.block != b.block ? a.block < b.block : a.interval < b.interval;
  });
  return tasks;
}

/// What the warps of a block have on its way to memory, by block: sorted by warp and issue.
using WaitsOfBlock = std::unordered_map<uint64_t, std::vector<Wait>>;

/// Those parts of the waits that lie in the task.
std::vector<Wait> within(const std::vector<Wait>& waits, const Task& task) {
  std::vector<Wait> inside;
  for (Wait w : waits) {
    w.issue = std::max(w.issue, task.start);
    w.complete = std::min(w.complete, task.end);
    if (w.issue < w.complete) inside.push_back(w);
  }
  return inside;
}

}  // namespace

std::vector<size_t> longest_path(const std::vector<Task>& tasks, const std::vector<Succession>& successions) {
  const Graph graph = graph_of(tasks, successions);
  std::vector<size_t> order;
  try {
    boost::topological_sort(graph, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    throw core::RecordError("blocks follow each other in a circle in events/slot; the file is damaged");
  }
  constexpr size_t kNone = SIZE_MAX;
  std::vector<uint64_t> until(tasks.size(), 0);  // length of the longest path up to the task
  std::vector<size_t> before(tasks.size(), kNone);
  size_t last = kNone;
  for (const size_t at : order) until[at] = tasks[at].end - tasks[at].start;
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    for (const auto edge : boost::make_iterator_range(boost::out_edges(*at, graph))) {
      const size_t next = boost::target(edge, graph);
      const uint64_t length = until[*at] + tasks[next].end - tasks[next].start;
      if (length > until[next]) until[next] = length, before[next] = *at;
    }
    if (last == kNone || until[*at] > until[last]) last = *at;
  }
  std::vector<size_t> path;
  for (size_t at = last; at != kNone; at = before[at]) path.push_back(at);
  std::ranges::reverse(path);
  return path;
}

CriticalPath critical_path(const Recording& recording, const KernelRecord& kernel) {
  const std::vector<Task> tasks = read_tasks(recording, kernel.index);
  const Table slots = recording.events(kernel.index, "slot", "summary", {"previous", "next"});
  std::vector<Succession> successions;
  for (uint64_t i = 0; i < slots.rows; ++i) successions.push_back({slots["previous"][i], slots["next"][i]});
  const std::vector<size_t> path = longest_path(tasks, successions);
  WaitsOfBlock waits;
  for (const size_t at : path) waits[tasks[at].block];
  for (const Wait& w : read_waits(recording, kernel))
    if (const auto of = waits.find(block_of(w)); of != waits.end()) of->second.push_back(w);
  const auto warps = static_cast<double>(recording.attribute(kernel.index, "warps_per_block"));
  CriticalPath p;
  for (size_t i = 0; i < path.size(); ++i) {
    const Task& task = tasks[path[i]];
    p.cycles += static_cast<double>(task.end - task.start);
    p.waiting += wait_cycles(within(waits[task.block], task)).all / warps;
    if (i + 1 < path.size() && tasks[path[i + 1]].block == task.block) p.barriers += 1;
  }
  for (const auto& [block, of] : waits) p.accesses += static_cast<double>(of.size()) / warps;
  p.tasks = path.size();
  p.blocks = waits.size();
  p.waiting = std::min(p.waiting, p.cycles);
  p.computing = p.cycles - p.waiting;
  return p;
}

}  // namespace gpusim::analysis::energy
