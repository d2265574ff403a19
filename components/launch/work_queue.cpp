#include "components/launch/work_queue.h"

#include <algorithm>

namespace gpusim::comp {

uint32_t WorkQueue::add(const Item& item) {
  const auto index = static_cast<uint32_t>(items_.size());
  auto stream = std::ranges::find(streams_, item.stream, &Stream::number);
  if (stream == streams_.end()) {
    streams_.push_back({item.stream, {}, 0, false});
    stream = streams_.end() - 1;
  }
  const auto number = static_cast<uint32_t>(stream - streams_.begin());
  constexpr uint32_t kKinds = 1 + kEngines;
  const uint32_t kind = item.run != nullptr ? 0 : 1 + engine_of(item);
  const uint32_t lane = number % rules_.launch_queues * kKinds + kind;
  if (lanes_.size() <= lane) lanes_.resize(lane + 1);
  stream->items.push_back(index);
  if (!item.marker) lanes_[lane].items.push_back(index);
  Place place{number, lane, after_barrier_, issue_, false};
  if (!item.marker) issue_ += rules_.launch_interval;
  if (legacy_default_stream_) {
    place.after = std::max(place.after, item.stream == 0 ? index : after_default_);
    if (item.stream == 0) after_default_ = index + 1;
  }
  items_.push_back(item);
  items_.back().cycles = std::max<uint64_t>(item.cycles, 1);
  places_.push_back(place);
  return index;
}

bool WorkQueue::can_start(uint32_t index, uint64_t now) {
  const Place& place = places_[index];
  const Lane& lane = lanes_[place.lane];
  if (first_unfinished_ < place.after) return false;
  const Item& item = items_[index];
  if (!std::ranges::all_of(item.after, [this](uint32_t other) { return places_[other].finished; }))
    return false;
  if (item.marker) return true;
  if (lane.items[lane.next] != index) return false;
  if (item.run != nullptr ? running_kernels_ == rules_.concurrent_kernels : engine_busy_[engine_of(item)])
    return false;
  if (item.run != nullptr && (one_runs_alone_ || (item.alone && running_kernels_ != 0))) return false;
  uint64_t from = place.from;
  if (item.run != nullptr) from = std::max(from, streams_[place.stream].kernel_from);
  if (from <= now) return true;
  next_issue_ = std::min(next_issue_, from);
  return false;
}

std::optional<uint32_t> WorkQueue::start_next(uint64_t now) {
  next_issue_ = kNothing;
  Stream* first = nullptr;
  for (Stream& s : streams_) {
    if (s.busy || s.next == s.items.size()) continue;
    if (first != nullptr && first->items[first->next] < s.items[s.next]) continue;
    if (can_start(s.items[s.next], now)) first = &s;
  }
  if (first == nullptr) return std::nullopt;
  const uint32_t index = first->items[first->next++];
  first->busy = true;
  if (items_[index].marker) return index;
  ++lanes_[places_[index].lane].next;
  if (items_[index].run != nullptr) {
    take_room(items_[index].alone);
  } else {
    engine_busy_[engine_of(items_[index])] = true;
  }
  return index;
}

void WorkQueue::take_room(bool alone) {
  ++running_kernels_;
  one_runs_alone_ = alone;
}

void WorkQueue::give_room() {
  --running_kernels_;
  one_runs_alone_ = false;
}

void WorkQueue::leave(uint32_t index) {
  places_[index].left = true;
  give_room();
}

void WorkQueue::finish(uint32_t index, uint64_t now) {
  Place& place = places_[index];
  place.finished = true;
  ++finished_;
  streams_[place.stream].busy = false;
  if (items_[index].run != nullptr) {
    if (!place.left) give_room();
    streams_[place.stream].kernel_from = now + rules_.launch_gap;
  } else if (!items_[index].marker) {
    engine_busy_[engine_of(items_[index])] = false;
  }
  while (first_unfinished_ < places_.size() && places_[first_unfinished_].finished) ++first_unfinished_;
}

void WorkQueue::forget_finished() {
  items_.clear(), places_.clear();
  for (Stream& s : streams_) s.items.clear(), s.next = 0;
  for (Lane& l : lanes_) l.items.clear(), l.next = 0;
  after_default_ = after_barrier_ = 0;
  first_unfinished_ = finished_ = 0;
}

}  // namespace gpusim::comp
