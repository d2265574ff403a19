// Attributes of streams and of kernel nodes: those of launches that both may have (cudaLaunchAttributeID).
#include <algorithm>
#include <cstring>

#include "runtime/cudart/graph.h"

namespace gpusim::runtime::cudart {

namespace {

enum Attribute : int {
  kAccessPolicy = 1,
  kCooperative = 2,
  kSynchronization = 3,
  kCluster = 4,
  kClusterPolicy = 5,
  kPriority = 8,
  kDomainMap = 9,
  kDomain = 10,
  kCarveout = 14
};
constexpr int kOfStreams[] = {kAccessPolicy, kSynchronization, kPriority, kDomainMap, kDomain};
constexpr int kOfNodes[] = {kAccessPolicy, kCooperative, kCluster, kClusterPolicy,
                            kPriority,     kDomainMap,   kDomain,  kCarveout};

template <class T>
AttributeValue value_of(T value) {
  AttributeValue bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
template <class T>
T read(const AttributeValue& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// What has been set, or else what holds where nothing has.
AttributeValue present(const AttributeValues& set, int attribute) {
  if (const auto at = set.find(attribute); at != set.end()) return at->second;
  struct DomainMap {
    unsigned char standard, remote;
  };
  constexpr int kAutomatic = 1;
  if (attribute == kSynchronization) return value_of(kAutomatic);
  if (attribute == kDomainMap) return value_of(DomainMap{0, 1});
  if (attribute == kCarveout) return value_of(-1);
  return {};
}

AttributeValue get(const Stream& stream, int attribute) {
  require(std::ranges::find(kOfStreams, attribute) != std::end(kOfStreams));
  return attribute == kPriority ? value_of(stream.priority) : present(stream.attributes, attribute);
}
void set(Stream& stream, int attribute, const AttributeValue& value) {
  require(std::ranges::find(kOfStreams, attribute) != std::end(kOfStreams));
  constexpr int kAutomatic = 1, kBlockingSync = 4;  // cudaSynchronizationPolicy
  if (attribute == kSynchronization)
    require(read<int>(value) >= kAutomatic && read<int>(value) <= kBlockingSync);
  if (attribute == kPriority) stream.priority = read<int>(value);
  stream.attributes[attribute] = value;
}

AttributeValue get(const Node& node, int attribute) {
  require(node.type == Node::Type::kKernel && std::ranges::find(kOfNodes, attribute) != std::end(kOfNodes));
  if (attribute == kCooperative) return value_of(static_cast<int>(node.cooperative));
  if (attribute == kCluster) return value_of(node.cluster.value_or(Size3{0, 0, 0}));
  return present(node.attributes, attribute);
}
void set(Node& node, int attribute, const AttributeValue& value) {
  require(node.type == Node::Type::kKernel && std::ranges::find(kOfNodes, attribute) != std::end(kOfNodes));
  if (attribute == kCooperative) node.cooperative = read<int>(value) != 0;
  if (attribute == kCluster) {
    const auto size = read<Size3>(value);
    node.cluster = size.x == 0 ? std::nullopt : std::optional(size);
  }
  node.attributes[attribute] = value;
}

cudaError_t get_of_stream(cudaStream_t stream, int attribute, void* value, Default null) {
  return call([&](Device& device) {
    require(value != nullptr);
    const AttributeValue bytes = get(stream_of(device, stream, null), attribute);
    std::memcpy(value, bytes.data(), bytes.size());
  });
}
cudaError_t set_of_stream(cudaStream_t stream, int attribute, const void* value, Default null) {
  return call([&](Device& device) {
    require(value != nullptr);
    AttributeValue bytes;
    std::memcpy(bytes.data(), value, bytes.size());
    set(stream_of(device, stream, null), attribute, bytes);
  });
}
cudaError_t copy_of_stream(cudaStream_t to, cudaStream_t from, Default null) {
  return call([&](Device& device) {
    const Stream& source = stream_of(device, from, null);
    Stream& target = stream_of(device, to, null);
    target.attributes = source.attributes;
    target.priority = source.priority;
  });
}

}  // namespace

// All but the priority are remembered and change nothing: they are about caches and about how the host waits.
GPUSIM_EXPORT cudaError_t cudaStreamSetAttribute(cudaStream_t stream, int attribute, const void* value) {
  return set_of_stream(stream, attribute, value, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, int attribute, const void* value) {
  return set_of_stream(stream, attribute, value, Default::kThread);
}
GPUSIM_EXPORT cudaError_t cudaStreamGetAttribute(cudaStream_t stream, int attribute, void* value) {
  return get_of_stream(stream, attribute, value, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, int attribute, void* value) {
  return get_of_stream(stream, attribute, value, Default::kThread);
}
GPUSIM_EXPORT cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return copy_of_stream(to, from, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from) {
  return copy_of_stream(to, from, Default::kThread);
}

GPUSIM_EXPORT cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, int attribute, void* value) {
  return call([&](Device&) {
    require(value != nullptr);
    const AttributeValue bytes = get(node_of(node), attribute);
    std::memcpy(value, bytes.data(), bytes.size());
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, int attribute,
                                                          const void* value) {
  return call([&](Device&) {
    require(value != nullptr);
    AttributeValue bytes;
    std::memcpy(bytes.data(), value, bytes.size());
    set(node_of(node), attribute, bytes);
  });
}
#if GPUSIM_CUDART >= 13
GPUSIM_EXPORT cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return call([&](Device&) {
    const Node& source = node_of(from);
    Node& target = node_of(to);
    require(source.type == Node::Type::kKernel && target.type == Node::Type::kKernel);
    target.attributes = source.attributes;
    target.cooperative = source.cooperative;
    target.cluster = source.cluster;
  });
}
#endif

}  // namespace gpusim::runtime::cudart
