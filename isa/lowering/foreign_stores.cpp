// Stores whose places other threads may read in the same launch: the kernel loads from the same array, and
// not only from the address that it stores to. On a GPU the blocks that are there together read at about the
// same time, so a kernel that marks the vertices that are next in the array that says which have their turn
// now finds old marks in most of them. Runs for values, which take block after block, hold such stores back.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

/// An array: a parameter with its address, by its offset, a variable, by its address, or what a pointer in
/// memory points to, by the number of the place that the pointer was loaded from.
struct Array {
  enum class Kind : uint8_t { kVariable, kParameter, kPointer };
  Kind kind = Kind::kVariable;
  uint64_t at = 0;
  auto operator<=>(const Array&) const = default;  // NOLINT(modernize-use-nullptr)
};
using Arrays = std::set<Array>;
/// Of an address that may be in more arrays nothing is known: a way through many addresses would have most.
constexpr size_t kMostArrays = 8;
/// Where a pointer is loaded from.
using PointerPlace = std::tuple<Space, Array, int64_t>;
/// Where an access begins.
using AccessPlace = std::tuple<Var, uint64_t, int64_t>;

class Addresses {
 public:
  explicit Addresses(const Program& program)
      : globals_(program.globals), arrays_(program.vars.size()), unknown_(program.vars.size(), false) {
    // What goes through a loop needs a sweep more.
    constexpr int kMostSweeps = 8;
    bool changed = true;
    for (int sweep = 0; changed && sweep < kMostSweeps; ++sweep) {
      changed = false;
      for (const Block& block : program.blocks) {
        for (const Op& op : block.ops) changed = pass_on(op) || changed;
      }
    }
  }

  [[nodiscard]] Arrays of(const Value& value) const {
    if (!value.is_literal()) return arrays_[value.var];
    return value.is_number() ? variable_at(value.bits) : Arrays{};
  }
  [[nodiscard]] Arrays of(const Op& access) const {
    Arrays found = access.memory.has_base ? of(access.src[0]) : Arrays{};
    // An address that was added may stand here, where there is a base too.
    if (access.memory.object == kNoObject)
      found.merge(variable_at(static_cast<uint64_t>(access.memory.offset)));
    return found;
  }

 private:
  [[nodiscard]] Arrays variable_at(uint64_t address) const {
    const auto behind = globals_.upper_bound(address);
    if (behind == globals_.begin()) return {};
    const auto& [start, bytes] = *std::prev(behind);
    return address - start < bytes ? Arrays{Array{Array::Kind::kVariable, start}} : Arrays{};
  }
  /// Where the load finds a word: in an array, or in constant memory, each with the distance that the
  /// instruction adds. Pointers in several structures of an array are one so: their places differ in the
  /// number of the structure alone.
  [[nodiscard]] std::vector<PointerPlace> places_of(const Op& load) const {
    std::vector<PointerPlace> places;
    const Space space = load.memory.space;
    if (space == Space::kConst && !load.memory.has_base)
      places.emplace_back(space, Array{}, load.memory.offset);
    if (space != Space::kGlobal && space != Space::kGeneric) return places;
    for (const Array& array : of(load)) {
      // A pointer that is reached through so many others is one of a list or of a tree, as all that are next.
      constexpr uint32_t kMostPointers = 2;
      if (array.kind == Array::Kind::kPointer && depths_[array.at] == kMostPointers) return {};
      places.emplace_back(Space::kGlobal, array, load.memory.offset);
    }
    return places;
  }
  bool points_to(Var result, Array array) {
    if (result == kNoVar || unknown_[result]) return false;
    Arrays& arrays = arrays_[result];
    if (!arrays.insert(array).second) return false;
    if (arrays.size() <= kMostArrays) return true;
    arrays.clear();
    return unknown_[result] = true;
  }
  bool pass_on_loaded(const Op& load) {
    if (load.memory.element_bytes != 8 || is_float(load.type)) return false;
    bool changed = false;
    if (load.memory.space == Space::kParam && !load.memory.has_base) {
      for (int i = 0; i < load.num_dst; ++i) {
        const auto at = static_cast<uint64_t>(load.memory.offset) + 8 * static_cast<uint64_t>(i);
        changed = points_to(load.dst[i], Array{Array::Kind::kParameter, at}) || changed;
      }
      return changed;
    }
    for (PointerPlace place : places_of(load)) {
      const Array& in = std::get<Array>(place);
      const uint32_t depth = in.kind == Array::Kind::kPointer ? depths_[in.at] + 1 : 1;
      for (int i = 0; i < load.num_dst; ++i, std::get<int64_t>(place) += 8) {
        const auto [found, is_new] = pointers_.emplace(place, depths_.size());
        if (is_new) depths_.push_back(depth);
        changed = points_to(load.dst[i], Array{Array::Kind::kPointer, found->second}) || changed;
      }
    }
    return changed;
  }
  bool pass_on(const Op& op) {
    if (op.kind == OpKind::kLoad) return pass_on_loaded(op);
    if (op.kind != OpKind::kAlu || op.num_dst != 1 || op.dst[0] == kNoVar || is_float(op.type)) return false;
    int first = 0;
    switch (static_cast<Opcode>(op.opcode())) {
      case Opcode::kMad:
        first = 2;  // of a product no address comes
        break;
      case Opcode::kAdd:
      case Opcode::kSub:
      case Opcode::kSelp:
      case Opcode::kMov:
        break;
      default:
        return false;
    }
    if (unknown_[op.dst[0]]) return false;
    Arrays& result = arrays_[op.dst[0]];
    const size_t before = result.size();
    bool unknown = false;
    for (int i = first; i < op.num_src; ++i) {
      unknown = unknown || (!op.src[i].is_literal() && unknown_[op.src[i].var]);
      result.merge(of(op.src[i]));
    }
    if (!unknown && result.size() <= kMostArrays) return result.size() != before;
    result.clear();
    return unknown_[op.dst[0]] = true;
  }

  const std::map<uint64_t, uint64_t>& globals_;
  std::map<PointerPlace, uint64_t> pointers_;  ///< their numbers
  std::vector<uint32_t> depths_;               ///< by these: how many pointers lead there
  std::vector<Arrays> arrays_;
  std::vector<bool> unknown_;
};

bool is_global(const Op& op) {
  return op.memory.space == Space::kGlobal || op.memory.space == Space::kGeneric;
}

AccessPlace access_place(const Op& op) {
  const Value base = op.memory.has_base ? op.src[0] : Value{};
  return {base.var, base.bits, op.memory.offset};
}

}  // namespace

void mark_foreign_stores(Program& program) {
  const auto for_each_access = [&](OpKind kind, auto fn) {
    for (Block& block : program.blocks) {
      for (Op& op : block.ops)
        if (op.kind == kind && is_global(op) && !op.memory.asynchronous) fn(op);
    }
  };
  bool stores = false;
  for_each_access(OpKind::kStore, [&](const Op&) { stores = true; });
  if (!stores) return;
  const Addresses addresses(program);
  std::map<Array, std::set<AccessPlace>> loaded;
  for_each_access(OpKind::kLoad, [&](const Op& op) {
    if (op.memory.read_only) return;
    for (const Array& array : addresses.of(op)) loaded[array].insert(access_place(op));
  });
  Arrays shared;
  for_each_access(OpKind::kStore, [&](Op& op) {
    for (const Array& array : addresses.of(op)) {
      const auto found = loaded.find(array);
      if (found == loaded.end() || found->second.contains(access_place(op))) continue;
      op.others_access = true;
      shared.insert(array);
    }
  });
  if (shared.empty()) return;
  for_each_access(OpKind::kLoad, [&](Op& op) {
    const Arrays arrays = addresses.of(op);
    op.others_access = !op.memory.read_only &&
                       std::ranges::any_of(arrays, [&](const Array& a) { return shared.contains(a); });
  });
}

}  // namespace gpusim::isa::lir
