#include "components/checker/objects.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpusim::comp {

void GlobalObjects::add(GlobalObject object) {
  // Memory of the host may be registered again where it was before.
  std::erase_if(removed_,
                [&](const GlobalObject& o) { return o.begin < object.end && object.begin < o.end; });
  if (!object.initialised) object.written.reset(object.end - object.begin);
  const auto place =
      std::upper_bound(objects_.begin(), objects_.end(), object.begin,
                       [](uint64_t address, const GlobalObject& o) { return address < o.begin; });
  objects_.insert(place, std::move(object));
}

void GlobalObjects::remove(uint64_t begin) {
  const auto at = std::ranges::lower_bound(objects_, begin, {}, &GlobalObject::begin);
  if (at == objects_.end() || at->begin != begin) return;
  if (removed_.size() == kRemembered) removed_.pop_front();
  removed_.push_back(std::move(*at));
  removed_.back().written = {};
  objects_.erase(at);
}

const GlobalObject* GlobalObjects::find_removed(uint64_t address) const {
  const auto holds = [address](const GlobalObject& o) { return address >= o.begin && address < o.end; };
  const auto at = std::find_if(removed_.rbegin(), removed_.rend(), holds);
  return at == removed_.rend() ? nullptr : &*at;
}

void GlobalObjects::mark_written(uint64_t address, uint64_t bytes) {
  GlobalObject* const object = find(address);
  if (object == nullptr || object->initialised) return;
  object->written.set(address - object->begin, std::min(bytes, object->end - address));
}

void GlobalObjects::mark_copied(uint64_t from, uint64_t to, uint64_t bytes) {
  const GlobalObject* const source = find(from);
  if (source == nullptr || source->initialised) return mark_written(to, bytes);
  GlobalObject* const target = find(to);
  if (target == nullptr || target->initialised) return;
  const uint64_t first = from - source->begin, place = to - target->begin;
  bytes = std::min({bytes, source->end - from, target->end - to});
  // Both may be one.
  std::vector<bool> written(bytes);
  for (uint64_t i = 0; i < bytes; ++i) written[i] = source->written.clear_bytes(first + i, 1) == 0;
  for (uint64_t i = 0; i < bytes; ++i) {
    if (written[i])
      target->written.set(place + i, 1);
    else
      target->written.clear(place + i, 1);
  }
}

GlobalObject* GlobalObjects::find(uint64_t address) {
  const auto holds = [address](const GlobalObject& o) { return address >= o.begin && address < o.end; };
  if (last_ < objects_.size() && holds(objects_[last_])) return &objects_[last_];
  const auto after = std::upper_bound(objects_.begin(), objects_.end(), address,
                                      [](uint64_t a, const GlobalObject& o) { return a < o.begin; });
  if (after == objects_.begin() || !holds(*std::prev(after))) return nullptr;
  last_ = static_cast<size_t>(std::prev(after) - objects_.begin());
  return &objects_[last_];
}

const GlobalObject* GlobalObjects::nearest(uint64_t address, uint64_t bytes) const {
  const auto distance = [&](const GlobalObject& o) {
    if (address + bytes <= o.begin) return o.begin - (address + bytes) + 1;
    return address < o.end ? uint64_t{0} : address - o.end + 1;
  };
  const auto best = std::min_element(
      objects_.begin(), objects_.end(),
      [&](const GlobalObject& a, const GlobalObject& b) { return distance(a) < distance(b); });
  return best == objects_.end() ? nullptr : &*best;
}

std::string describe_object(const GlobalObject& object) {
  const char* const kind = object.kind == GlobalObject::Kind::kBuffer     ? "buffer"
                           : object.kind == GlobalObject::Kind::kConstant ? ".const variable"
                                                                          : ".global variable";
  return fmt::format("{} '{}' ({} bytes)", kind, object.name, object.end - object.begin);
}

std::string describe_distance(uint64_t address, uint64_t bytes, uint64_t begin, uint64_t end) {
  // Negative ones are far behind everything as numbers. Windows begin at 0, and have 32-bit addresses, too.
  if (begin == 0 && address >> 31 == 1) address |= ~uint64_t{0} << 32;
  const bool is_negative = static_cast<int64_t>(address) < 0 && static_cast<int64_t>(begin) >= 0;
  if (address < begin || is_negative) return fmt::format("{} bytes before", begin - address);
  if (address >= end) return fmt::format("{} bytes past the end of", address - end);
  if (end - address < bytes) return fmt::format("{} bytes over the end of", bytes - (end - address));
  return fmt::format("at byte {} of", address - begin);
}

}  // namespace gpusim::comp
