// Objects of the program that live as long as a graph needs them (cudaUserObjectCreate).
#include <map>
#include <utility>

#include "runtime/cudart/graph.h"

namespace gpusim::runtime::cudart {

namespace {

struct Held {
  std::shared_ptr<UserObject> object;
  uint64_t count = 0;  ///< references of the program
};
std::map<const UserObject*, Held>& held() {
  static auto& all = common_state<std::map<const UserObject*, Held>>("user objects");
  return all;
}

constexpr unsigned kMostReferences = 0x7fffffff;
bool is_count(unsigned count) { return count != 0 && count <= kMostReferences; }

std::map<const UserObject*, Held>::iterator held_at(const UserObject* object) {
  const auto at = held().find(object);
  require(at != held().end());
  return at;
}

void release(std::map<const UserObject*, Held>::iterator at, unsigned count) {
  require(count <= at->second.count);
  at->second.count -= count;
  if (at->second.count == 0) held().erase(at);
}

}  // namespace

GPUSIM_EXPORT cudaError_t cudaUserObjectCreate(UserObject** object, void* data, cudaHostFn_t destroy,
                                               unsigned count, unsigned flags) {
  return call([&](Device&) {
    constexpr unsigned kNoDestructorSync = 1;  // which is the only kind there is
    require(object != nullptr && destroy != nullptr && is_count(count) && flags == kNoDestructorSync);
    auto made = std::make_shared<UserObject>(data, destroy);
    *object = made.get();
    held()[made.get()] = {made, count};
  });
}
GPUSIM_EXPORT cudaError_t cudaUserObjectRetain(UserObject* object, unsigned count) {
  return call([&](Device&) {
    require(is_count(count));
    held_at(object)->second.count += count;
  });
}
GPUSIM_EXPORT cudaError_t cudaUserObjectRelease(UserObject* object, unsigned count) {
  return call([&](Device&) {
    require(is_count(count));
    release(held_at(object), count);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, UserObject* object, unsigned count,
                                                    unsigned flags) {
  return call([&](Device&) {
    constexpr unsigned kMove = 1;
    require(is_count(count) && (flags & ~kMove) == 0);
    Graph& g = graph_of(graph);
    const auto at = held_at(object);
    const std::shared_ptr<UserObject> shared = at->second.object;
    if (flags == kMove) release(at, count);
    g.user_objects[shared] += count;
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, UserObject* object, unsigned count) {
  return call([&](Device&) {
    require(is_count(count));
    auto& objects = graph_of(graph).user_objects;
    for (auto at = objects.begin(); at != objects.end(); ++at) {
      if (at->first.get() != object) continue;
      require(count <= at->second);
      at->second -= count;
      if (at->second == 0) objects.erase(at);
      return;
    }
    require(false);
  });
}

}  // namespace gpusim::runtime::cudart
