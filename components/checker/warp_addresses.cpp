#include "components/checker/warp_addresses.h"

#include <algorithm>
#include <cstring>

namespace gpusim::comp {

using isa::kNoObject;
using isa::LaneMask;
using isa::MicroOp;
using isa::OpKind;
using isa::Space;
using isa::WarpContext;

namespace {

bool is_variable(AddressTag tag) { return tag.object >= isa::kFirstObject; }

AddressTag join(AddressTag a, AddressTag b) {
  if (a.object == kNoObject) return b;
  return b.object == kNoObject ? a : AddressTag{isa::kMixedObjects, 0};
}

uint64_t key_of(Space space, uint64_t address, uint32_t lane) {
  if (space == Space::kLocal) return address * isa::kWarpSize + lane;
  return address << 1 | (space == Space::kShared ? 1 : 0);
}

}  // namespace

void WarpAddresses::begin(const isa::KernelImage& image, TaggedMemory& common) {
  image_ = &image;
  common_ = &common;
  local_.clear();
  used_.assign(image.num_rows, 0);
  for (auto& calls : calls_) calls.clear();
  calls_made_.fill(0);
}

bool WarpAddresses::may_be_tagged(const isa::RowRef& ref) const {
  if (ref.bank == isa::Bank::kConstant) return image_->literal_objects[row_of(ref)] != kNoObject;
  return used_[row_of(ref)] != 0;
}

uint32_t WarpAddresses::low_word(const isa::RowRef& ref, const WarpContext& context, uint32_t lane) const {
  const std::byte* const row = context.row(ref);
  size_t step = 0;  // a constant is the same in all lanes
  if (ref.bank == isa::Bank::kRegister) step = 4ul * image_->row_widths[row_of(ref)];
  uint32_t low = 0;
  std::memcpy(&low, row + step * lane, sizeof low);
  return low;
}

AddressTag WarpAddresses::constant_tag(isa::ObjectId object, uint32_t lane) const {
  AddressTag tag{object, 0};
  const auto& calls = calls_[lane];
  if (is_variable(tag) && variable(tag).on_stack && !calls.empty()) tag.activation = calls.back().number;
  return tag;
}

TaggedWord WarpAddresses::read(const isa::RowRef& ref, const WarpContext& context, uint32_t lane) const {
  const uint32_t low = low_word(ref, context, lane);
  if (ref.bank == isa::Bank::kConstant)
    return {constant_tag(image_->literal_objects[row_of(ref)], lane), low};
  if (used_[row_of(ref)] == 0) return {{}, low};
  const TaggedWord& word = rows_[row_of(ref)][lane];
  return {word.low == low ? word.tag : AddressTag{}, low};
}

void WarpAddresses::write(const isa::RowRef& ref, const WarpContext& context, uint32_t lane, AddressTag tag) {
  const size_t row = row_of(ref);
  if (used_[row] == 0) {
    if (tag.object == kNoObject) return;
    if (rows_.size() < image_->num_rows) rows_.resize(image_->num_rows);
    rows_[row].fill({});
    used_[row] = 1;
  }
  rows_[row][lane] = {tag, low_word(ref, context, lane)};
}

void WarpAddresses::before(const MicroOp& op, const WarpContext& context, LaneMask mask) {
  num_sources_ = 0;
  for (size_t s = 0; s < op.num_src; ++s) {
    if (!may_be_tagged(op.src[s])) continue;
    Words& words = sources_[num_sources_++];
    for_each_lane(mask, [&](uint32_t lane) { words[lane] = read(op.src[s], context, lane); });
  }
}

/// Of a result with these lower bits. Where two sources are addresses, it is one of them if it is equal to
/// it (a selection), else none of any variable (a difference).
AddressTag WarpAddresses::result(const MicroOp& op, uint32_t lane, uint32_t low) const {
  AddressTag any, equal;
  bool several = false;
  for (size_t s = 0; s < num_sources_; ++s) {
    const TaggedWord& word = sources_[s][lane];
    if (word.tag.object == kNoObject) continue;
    several = several || any.object != kNoObject;
    any = word.tag;
    if (word.low == low) equal = equal == word.tag ? equal : join(equal, word.tag);
  }
  // What another lane gave is not followed.
  const bool exchanged = op.op_class == isa::OpClass::kWarp && any.object != kNoObject;
  if (exchanged) return {isa::kMixedObjects, 0};
  if (!several) return any;
  return equal.object != kNoObject ? equal : AddressTag{isa::kMixedObjects, 0};
}

void WarpAddresses::after(const MicroOp& op, const WarpContext& context, LaneMask mask) {
  for (size_t d = 0; d < op.num_dst; ++d) {
    const isa::RowRef& to = op.dst[d];
    if (num_sources_ == 0 && used_[row_of(to)] == 0) continue;
    for_each_lane(mask, [&](uint32_t lane) {
      write(to, context, lane, result(op, lane, low_word(to, context, lane)));
    });
  }
}

void WarpAddresses::moved(const MicroOp& op, const WarpContext& context, const LaneAccess& lanes,
                          LaneMask mask) {
  const isa::MemoryOperand& m = op.memory;
  const bool words = m.element_bytes >= 4;
  const size_t first = m.has_base ? 1 : 0;
  for (size_t e = 0; e < m.elements; ++e) {
    for_each_lane(mask, [&](uint32_t lane) {
      const uint64_t key = key_of(lanes.space[lane], lanes.address[lane] + e * m.element_bytes, lane);
      TaggedMemory& memory = lanes.space[lane] == Space::kLocal ? local_ : *common_;
      if (lanes.remote.test(static_cast<int>(lane))) {  // what other blocks hold is not followed
        if (op.kind != OpKind::kStore && e < op.num_dst) write(op.dst[e], context, lane, {});
        return;
      }
      if (op.kind == OpKind::kStore) {
        memory.set(key, words ? read(op.src[first + e], context, lane) : TaggedWord{});
        return;
      }
      if (e < op.num_dst) {
        const bool known = op.kind == OpKind::kLoad && words;
        const AddressTag tag = known ? memory.at(key, low_word(op.dst[e], context, lane)) : AddressTag{};
        write(op.dst[e], context, lane, tag);
      }
      if (op.kind == OpKind::kAtomic) memory.set(key, {});
    });
  }
}

void WarpAddresses::transfer(const MicroOp& op, const WarpContext& context, LaneMask mask) {
  for_each_lane(mask, [&](uint32_t lane) {
    if (op.kind == OpKind::kCall)
      calls_[lane].push_back({low_word(op.src[0], context, lane), ++calls_made_[lane]});
    else if (op.kind == OpKind::kReturn && !calls_[lane].empty())
      calls_[lane].pop_back();
  });
}

bool WarpAddresses::knows_address(const MicroOp& op) const {
  return op.memory.object != kNoObject || (op.memory.has_base && may_be_tagged(op.src[0]));
}

AddressTag WarpAddresses::address_tag(const MicroOp& op, const WarpContext& context, uint32_t lane) const {
  const AddressTag offset = constant_tag(op.memory.object, lane);
  return op.memory.has_base ? join(read(op.src[0], context, lane).tag, offset) : offset;
}

bool WarpAddresses::has_ended(uint32_t scope, uint32_t at) const {
  const auto outer = [this](uint32_t s) { return image_->outer_scopes[s]; };
  uint32_t root = at;
  for (; root != scope && outer(root) != isa::kNoTarget; root = outer(root)) continue;
  if (root == scope) return false;
  uint32_t own_root = scope;
  while (outer(own_root) != isa::kNoTarget) own_root = outer(own_root);
  return own_root == root;  // else one of them called the other through the stack
}

JudgedAddress WarpAddresses::judge(const MicroOp& op, const WarpContext& context, const LaneAccess& lanes,
                                   uint32_t lane) const {
  const AddressTag tag = address_tag(op, context, lane);
  if (!is_variable(tag)) return {};
  const isa::AddressedVariable& v = variable(tag);
  const bool shared = v.space == Space::kShared;
  if (lanes.space[lane] != v.space) return {};
  uint64_t begin = v.offset, room = shared ? context.shared_bytes : context.local_bytes;
  bool current = calls_[lane].empty();
  if (v.on_stack) {
    const auto& calls = calls_[lane];
    const auto call = std::find_if(calls.rbegin(), calls.rend(),
                                   [&](const Activation& a) { return a.number == tag.activation; });
    if (call == calls.rend()) return {AddressFault::kDangling, &v, 0, 0};
    begin += call->frame;
    current = call == calls.rbegin();
  }
  const auto number = static_cast<size_t>(&op - image_->ops.data());
  if (!shared && current && number < image_->scopes.size() && has_ended(v.scope, image_->scopes[number]))
    return {AddressFault::kDangling, &v, 0, 0};
  const uint64_t end = v.bytes == 0 ? room : begin + v.bytes;
  const uint64_t first = lanes.address[lane];
  // What leaves all memory of the space is found by executing it.
  const bool outside = (first < begin || first + lanes.bytes > end) && first + lanes.bytes <= room;
  return {outside ? AddressFault::kOutside : AddressFault::kNone, &v, begin, end};
}

}  // namespace gpusim::comp
