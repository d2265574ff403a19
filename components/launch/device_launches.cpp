#include "components/launch/device_launches.h"

#include <algorithm>

namespace gpusim::comp {

DeviceLaunches::Node& DeviceLaunches::node_of(uint32_t grid) {
  const auto found = of_grid_.find(grid);
  if (found != of_grid_.end()) return nodes_.at(found->second);
  Node& node = nodes_[++last_number_];  // a grid of the host
  node.number = last_number_;
  node.grid = grid;
  of_grid_[grid] = last_number_;
  return node;
}

void DeviceLaunches::make_ready(Node& node, uint64_t from) {
  (node.is_grid ? ready_grids_ : ready_others_).emplace(std::max(node.from, from), node.number);
}

void DeviceLaunches::wait_for(Node& node, Number other) {
  const auto before = nodes_.find(other);
  if (before == nodes_.end()) return;
  before->second.followers.push_back(node.number);
  ++node.waits_for;
}

DeviceLaunches::Number DeviceLaunches::add(Item item) {
  Node& parent = node_of(item.parent);
  const Number number = ++last_number_;
  Node& node = nodes_[number];
  node.number = number;
  node.parent = &parent;
  node.grid = item.grid;
  node.order = item.order;
  node.from = item.from;
  node.is_grid = item.is_grid;
  if (item.is_grid) {
    of_grid_[item.grid] = number;
    ++pending_;
  }
  for (const Number other : item.after) wait_for(node, other);
  if (item.order.kind == Order::Kind::kTail) {
    parent.tails.push_back(number);
    return number;
  }
  ++parent.open;
  if (item.order.kind == Order::Kind::kStream) {
    Number& last = parent.last[item.order.stream];
    wait_for(node, last);
    last = number;
  }
  if (node.waits_for == 0) make_ready(node, 0);
  return number;
}

std::optional<DeviceLaunches::Number> DeviceLaunches::start_next(uint64_t now, bool grids) {
  auto* from = &ready_others_;
  const bool grid = grids && !ready_grids_.empty() &&
                    (ready_others_.empty() || ready_grids_.begin()->first < ready_others_.begin()->first);
  if (grid) from = &ready_grids_;
  if (from->empty() || from->begin()->first > now) return std::nullopt;
  const Number number = from->begin()->second;
  from->erase(from->begin());
  if (grid) --pending_;
  return number;
}

uint64_t DeviceLaunches::next_start(bool grids) const {
  uint64_t next = ready_others_.empty() ? kNothing : ready_others_.begin()->first;
  if (grids && !ready_grids_.empty()) next = std::min(next, ready_grids_.begin()->first);
  return next;
}

void DeviceLaunches::done(Number number, uint64_t now) {
  Node& node = nodes_.at(number);
  node.ended = true;
  settle(&node, now);
}

bool DeviceLaunches::grid_ended(uint32_t grid, uint64_t now) {
  const auto found = of_grid_.find(grid);
  if (found == of_grid_.end()) return true;
  const Number number = found->second;
  Node& node = nodes_.at(number);
  node.ended = true;
  settle(&node, now);
  return !nodes_.contains(number);
}

void DeviceLaunches::settle(Node* node, uint64_t now) {
  while (node->ended && node->open == 0 && !node->tail_runs) {
    if (!node->tails.empty()) {
      Node& tail = nodes_.at(node->tails.front());
      node->tails.pop_front();
      node->tail_runs = true;
      if (tail.waits_for == 0) make_ready(tail, now + gap_);
      return;
    }
    for (const Number number : node->followers) {
      Node& follower = nodes_.at(number);
      // A tail launch has its turn besides.
      const bool has_turn =
          follower.order.kind != Order::Kind::kTail ||
          (follower.parent->tail_runs &&
           std::ranges::find(follower.parent->tails, number) == follower.parent->tails.end());
      if (--follower.waits_for == 0 && has_turn) make_ready(follower, now + gap_);
    }
    Node* const parent = node->parent;
    const uint32_t grid = node->grid;
    const bool is_tail = node->order.kind == Order::Kind::kTail;
    if (node->is_grid) of_grid_.erase(grid);
    nodes_.erase(node->number);
    if (parent == nullptr) return root_complete_(grid);
    if (is_tail)
      parent->tail_runs = false;
    else
      --parent->open;
    node = parent;
  }
}

std::optional<DeviceLaunches::Number> DeviceLaunches::last_of(uint32_t grid, uint64_t stream) const {
  const auto found = of_grid_.find(grid);
  if (found == of_grid_.end()) return std::nullopt;
  const Node& node = nodes_.at(found->second);
  const auto last = node.last.find(stream);
  if (last == node.last.end() || !nodes_.contains(last->second)) return std::nullopt;
  return last->second;
}

}  // namespace gpusim::comp
