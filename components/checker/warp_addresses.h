// Which variable every address in a warp's registers and memory was derived from. The constants of the code
// that are addresses of .shared and .local variables say so (isa::ObjectId); a result computed from one
// address and any numbers belongs to the same variable, one computed from two to none. So an access that
// leaves its variable is found although another one begins there, and so is the use of a local variable of a
// call that has returned. What is not known to be an address is not judged.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "components/checker/lane_access.h"
#include "isa/exec/executor.h"

namespace gpusim::comp {

struct AddressTag {
  isa::ObjectId object = isa::kNoObject;
  uint16_t activation = 0;  ///< number of the lane's call that has it, of variables on the call stack
  friend bool operator==(const AddressTag&, const AddressTag&) = default;
};

/// A value with its tag. The tag counts as long as the value is still there, so that whoever writes a place
/// without saying so cannot leave a wrong tag.
struct TaggedWord {
  AddressTag tag;
  uint32_t low = 0;  ///< lower 32 bits of the value
};

/// The addresses that lie in memory, by a key of their place.
class TaggedMemory {
 public:
  void clear() { words_.clear(); }
  [[nodiscard]] AddressTag at(uint64_t key, uint32_t low) const {
    if (words_.empty()) return {};
    const auto it = words_.find(key);
    return it != words_.end() && it->second.low == low ? it->second.tag : AddressTag{};
  }
  void set(uint64_t key, TaggedWord word) {
    if (word.tag.object != isa::kNoObject)
      words_[key] = word;
    else if (!words_.empty())
      words_.erase(key);
  }

 private:
  std::unordered_map<uint64_t, TaggedWord> words_;
};

enum class AddressFault : uint8_t { kNone, kOutside, kDangling };
/// An access and the variable that its address was derived from.
struct JudgedAddress {
  AddressFault fault = AddressFault::kNone;
  const isa::AddressedVariable* variable = nullptr;
  uint64_t begin = 0, end = 0;  ///< where it lies, unless it is gone
};

class WarpAddresses {
 public:
  /// A block starts. `common`: what is known of its shared memory and of global memory.
  void begin(const isa::KernelImage& image, TaggedMemory& common);

  /// An operation with results in registers: called before and after it executes.
  void before(const isa::MicroOp& op, const isa::WarpContext& context, isa::LaneMask mask);
  void after(const isa::MicroOp& op, const isa::WarpContext& context, isa::LaneMask mask);
  /// The addresses that a load has read, or a store has written; of an atomic, that they are gone.
  void moved(const isa::MicroOp& op, const isa::WarpContext& context, const LaneAccess& lanes,
             isa::LaneMask mask);
  /// Lanes call a function through the stack, or return from it.
  void transfer(const isa::MicroOp& op, const isa::WarpContext& context, isa::LaneMask mask);

  /// May `lane` make this access? Asked before it does.
  [[nodiscard]] JudgedAddress judge(const isa::MicroOp& op, const isa::WarpContext& context,
                                    const LaneAccess& lanes, uint32_t lane) const;
  /// False if no address is known in the operation, so that there is nothing to judge.
  [[nodiscard]] bool knows_address(const isa::MicroOp& op) const;

 private:
  struct Activation {
    uint32_t frame = 0;  ///< local address
    uint16_t number = 0;
  };
  static constexpr size_t kMostSources = 10;
  using Words = std::array<TaggedWord, isa::kWarpSize>;

  [[nodiscard]] static size_t row_of(const isa::RowRef& ref) { return ref.offset / isa::kRowBytes; }
  [[nodiscard]] bool may_be_tagged(const isa::RowRef& ref) const;
  [[nodiscard]] uint32_t low_word(const isa::RowRef& ref, const isa::WarpContext& context,
                                  uint32_t lane) const;
  [[nodiscard]] AddressTag constant_tag(isa::ObjectId object, uint32_t lane) const;
  [[nodiscard]] TaggedWord read(const isa::RowRef& ref, const isa::WarpContext& context, uint32_t lane) const;
  void write(const isa::RowRef& ref, const isa::WarpContext& context, uint32_t lane, AddressTag tag);
  [[nodiscard]] AddressTag result(const isa::MicroOp& op, uint32_t lane, uint32_t low) const;
  [[nodiscard]] AddressTag address_tag(const isa::MicroOp& op, const isa::WarpContext& context,
                                       uint32_t lane) const;
  [[nodiscard]] const isa::AddressedVariable& variable(AddressTag tag) const {
    return image_->addressed[tag.object - isa::kFirstObject];
  }
  /// True if the inlined call `scope` has ended for code that belongs to `at`.
  [[nodiscard]] bool has_ended(uint32_t scope, uint32_t at) const;

  const isa::KernelImage* image_ = nullptr;
  TaggedMemory* common_ = nullptr;
  TaggedMemory local_;
  std::vector<Words> rows_;    ///< of registers; made when the first address is seen
  std::vector<uint8_t> used_;  ///< the row may have tags
  std::array<std::vector<Activation>, isa::kWarpSize> calls_;
  std::array<uint16_t, isa::kWarpSize> calls_made_{};
  // Between before() and after()
  std::array<Words, kMostSources> sources_;
  size_t num_sources_ = 0;
};

}  // namespace gpusim::comp
