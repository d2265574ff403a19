// What the checks of a run found. Occurrences of one kind at one PTX statement (a race: at one pair of them)
// are one finding with a count; it shows the occurrence of the lowest launch, block and thread, so that the
// order in which blocks and warps run changes neither the set of findings nor what they say.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "components/launch/kernel_launch.h"

namespace gpusim::comp {

enum class FindingKind : uint8_t {
  kOutOfBounds,
  kMisaligned,
  kReadOnly,
  kWrongSpace,
  kTexture,
  kMatrix,
  kBadFree,
  kDangling,
  kUninitialised,
  kRace,
  kDivergentBarrier,
  kMixedBarrier,
  kBarrierCount,
  kStuckBarrier,
  kMemberMask,
  kMissingMember,
  kExitedMember,
  kSkippedBarrier,
};
/// "out_of_bounds" and so on.
[[nodiscard]] std::string_view finding_name(FindingKind kind);
/// The check that finds it: "memory".
[[nodiscard]] std::string_view check_name(FindingKind kind);

/// A thread at a PTX statement.
struct Site {
  const KernelLaunch* run = nullptr;
  uint32_t statement = 0;  ///< index into KernelImage::ptx
  uint64_t block = 0;
  uint32_t thread = 0;  ///< linear, in the block
};

/// A Site in words.
struct FindingPlace {
  std::string ptx_file, ptx;
  uint32_t ptx_line = 0, ptx_column = 0;
  StatementSource source;  ///< from .loc
  Dim3 block, thread;
};

/// What is said of one occurrence.
struct FindingDetail {
  std::string message;
  std::string object;  ///< buffer or variable, "" if none is near
  isa::Space space = isa::Space::kNone;
  uint64_t address = 0;
  uint32_t bytes = 0;  ///< 0: not about memory
};

struct Finding {
  FindingKind kind = FindingKind::kOutOfBounds;
  std::string kernel;
  uint32_t launch = 0;  ///< number of the launch that is shown
  FindingPlace place;
  bool has_other = false;  ///< a race: the access before
  FindingPlace other;
  FindingDetail detail;
  uint64_t count = 0;
  std::map<uint32_t, uint64_t> of_launch;  ///< how many of these each launch had that has not ended
};

/// Of a run's findings together.
struct CheckCounts {
  uint64_t occurrences = 0;
  bool overflowed = false;  ///< some distinct findings were not kept
  /// Accesses to the shared memory of other blocks, which are not looked at for races.
  uint64_t uncompared = 0;
};

class FindingLog {
 public:
  /// Distinct findings that are kept; further ones only count.
  static constexpr size_t kMost = 10000;

  /// `ptx_name`: the file of programs that are not linked from several.
  explicit FindingLog(std::string ptx_name) : ptx_name_(std::move(ptx_name)) {}

  /// One occurrence. `detail` is called if it is the one to show.
  void note(FindingKind kind, const Site& site, const std::function<FindingDetail()>& detail) {
    note(kind, site, nullptr, detail);
  }
  void note(FindingKind kind, const Site& site, const Site* other,
            const std::function<FindingDetail()>& detail);

  void count_uncompared(uint64_t accesses) { counts_.uncompared += accesses; }
  /// The launch has ended: forgets how many it had.
  void end_launch(uint32_t launch) {
    for (auto& [key, entry] : entries_) entry.finding.of_launch.erase(launch);
  }

  /// By kernel, kind and place.
  [[nodiscard]] std::vector<Finding> sorted() const;
  [[nodiscard]] const CheckCounts& counts() const { return counts_; }
  /// Distinct ones.
  [[nodiscard]] size_t size() const { return entries_.size(); }
  /// Those that this function has not returned yet, in the order of sorted().
  [[nodiscard]] std::vector<Finding> news();

 private:
  using Key = std::tuple<FindingKind, const isa::KernelImage*, uint32_t, uint32_t>;
  struct Shown {
    uint32_t launch = 0;
    uint64_t block = 0;
    uint32_t thread = 0;
    // clang-tidy 14 takes the 0 that the result is compared with for a pointer.
    friend auto operator<=>(const Shown&, const Shown&) = default;  // NOLINT(modernize-use-nullptr)
  };
  struct Entry {
    Finding finding;
    Shown shown;
    bool told = false;
  };
  [[nodiscard]] FindingPlace place_of(const Site& site) const;

  std::string ptx_name_;
  std::map<Key, Entry> entries_;
  CheckCounts counts_;
  size_t told_ = 0;  ///< distinct ones that news() has returned
};

}  // namespace gpusim::comp
