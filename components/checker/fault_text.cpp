#include "components/checker/fault_text.h"

#include <fmt/format.h>

namespace gpusim::comp {

using isa::Space;

namespace {

/// Addresses below this are taken for a null pointer and an index.
constexpr uint64_t kNullRange = 0x10000;

bool is_device(Space space) { return space == Space::kGlobal || space == Space::kConst; }

const char* verb(isa::OpKind kind) {
  return kind == isa::OpKind::kLoad ? "load from" : kind == isa::OpKind::kStore ? "store to" : "atomic on";
}

std::string space_text(Space space) { return fmt::format("{} memory", isa::space_name(space)); }

/// What the address would mean in another space; "" if nothing.
std::string other_meaning(const FaultPlace& p, GlobalObjects& globals) {
  const auto in_window = [&](uint64_t base) { return p.address - base < isa::kWindowBytes; };
  if (in_window(isa::kSharedWindowBase)) return "a generic address of shared memory";
  if (in_window(isa::kLocalWindowBase)) return "a generic address of local memory";
  const uint64_t window = isa::kClusterWindowBase - (p.space == Space::kShared ? isa::kSharedWindowBase : 0);
  if (p.address - window < isa::kClusterWindowBytes) return "an address in the shared memory of a cluster";
  if (in_window(isa::kCodeWindowBase)) return "the address of a function";
  if (in_window(isa::kTextureWindowBase)) return "a texture's handle";
  if (is_device(p.space)) return {};
  const GlobalObject* object = globals.find(p.address);
  return object == nullptr ? std::string() : "an address of " + describe_object(*object);
}

/// Where the address lies, to the nearest object of its space; sets `object` to its name.
std::string whereabouts(const FaultPlace& p, const isa::KernelImage& image, const GlobalObjects& globals,
                        const MemoryLimits& limits, std::string& object) {
  if (is_device(p.space)) {
    if (const GlobalObject* gone = globals.find_removed(p.address)) {
      object = gone->name;
      return fmt::format("{} {}, which has been released",
                         describe_distance(p.address, p.bytes, gone->begin, gone->end),
                         describe_object(*gone));
    }
    const GlobalObject* o = globals.nearest(p.address, p.bytes);
    const char* const null = p.address < kNullRange ? "the address is a null pointer or near one; " : "";
    if (o == nullptr) return fmt::format("{}nothing is allocated", null);
    object = o->name;
    return fmt::format("{}{} {}", null, describe_distance(p.address, p.bytes, o->begin, o->end),
                       describe_object(*o));
  }
  if (p.space == Space::kShared) {
    object = shared_variable_at(image, p.address);
    if (!object.empty()) return fmt::format("in '{}'", object);
    if (p.address + p.bytes <= limits.shared) return "in the block's shared memory";
    return fmt::format("{} the block's {} bytes of shared memory",
                       describe_distance(p.address, p.bytes, 0, limits.shared), limits.shared);
  }
  const uint32_t size = p.space == Space::kLocal ? limits.local : limits.param;
  return fmt::format("{} the {} bytes of {}", describe_distance(p.address, p.bytes, 0, size), size,
                     p.space == Space::kLocal ? "the thread's local memory" : "parameters");
}

}  // namespace

std::string shared_variable_at(const isa::KernelImage& image, uint64_t address) {
  for (const isa::PlacedVariable& v : image.shared_variables)
    if (address >= v.offset && address - v.offset < v.bytes) return v.name;
  return {};
}

FindingKind classify_fault(isa::FaultKind fault, const FaultPlace& place, GlobalObjects& globals) {
  switch (fault) {
    case isa::FaultKind::kMisaligned:
      return FindingKind::kMisaligned;
    case isa::FaultKind::kReadOnly:
      return FindingKind::kReadOnly;
    default:
      return other_meaning(place, globals).empty() ? FindingKind::kOutOfBounds : FindingKind::kWrongSpace;
  }
}

FindingDetail describe_memory_fault(FindingKind kind, const FaultPlace& p, const isa::KernelImage& image,
                                    GlobalObjects& globals, const MemoryLimits& limits) {
  FindingDetail d;
  d.space = p.space;
  d.address = p.address;
  d.bytes = p.bytes;
  const std::string access =
      fmt::format("{}-byte {} {} at {:#x}", p.bytes, verb(p.op), space_text(p.space), p.address);
  const std::string where = whereabouts(p, image, globals, limits, d.object);
  switch (kind) {
    case FindingKind::kMisaligned:
      d.message = fmt::format("{} is not a multiple of {}: {}", access, p.bytes, where);
      break;
    case FindingKind::kReadOnly:
      d.message = fmt::format("{} is read-only: {}", access, where);
      break;
    case FindingKind::kWrongSpace: {
      const std::string meaning = other_meaning(p, globals);
      d.message = meaning.empty() ? fmt::format("{} is of another kind: {}", access, where)
                                  : fmt::format("{}: this is {}", access, meaning);
      break;
    }
    default:
      d.message = fmt::format("{} is outside: {}", access, where);
      break;
  }
  return d;
}

FindingDetail describe_stray(const FaultPlace& p, const JudgedAddress& judged,
                             const isa::KernelImage& image) {
  FindingDetail d;
  d.space = p.space;
  d.address = p.address;
  d.bytes = p.bytes;
  d.object = judged.variable->name;
  const std::string access =
      fmt::format("{}-byte {} {} at {:#x}", p.bytes, verb(p.op), space_text(p.space), p.address);
  if (judged.fault == AddressFault::kDangling) {
    d.message = fmt::format("{} through the address of '{}', a variable of a call that has returned", access,
                            d.object);
    return d;
  }
  const std::string there = p.space == Space::kShared ? shared_variable_at(image, p.address) : std::string();
  d.message = fmt::format("{} is outside: {} '{}' ({} bytes), whose address it was computed from{}", access,
                          describe_distance(p.address, p.bytes, judged.begin, judged.end), d.object,
                          judged.end - judged.begin,
                          there.empty() || there == d.object ? "" : fmt::format("; '{}' lies there", there));
  return d;
}

FindingDetail describe_unwritten(uint32_t missing, const FaultPlace& p, const isa::KernelImage& image,
                                 GlobalObjects& globals) {
  FindingDetail d;
  d.space = p.space;
  d.address = p.address;
  d.bytes = p.bytes;
  const MemoryLimits inside{~0u, ~0u, ~0u};
  std::string where;
  if (p.space == Space::kLocal)
    where = "in the thread's local memory";
  else
    where = whereabouts(p, image, globals, inside, d.object);
  d.message = fmt::format(
      "{}-byte {} {} at {:#x} reads {} that nothing has written: {}", p.bytes, verb(p.op),
      space_text(p.space), p.address,
      missing == p.bytes ? "bytes" : fmt::format("{} byte{}", missing, missing == 1 ? "" : "s"), where);
  return d;
}

}  // namespace gpusim::comp
