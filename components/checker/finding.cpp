#include "components/checker/finding.h"

#include <algorithm>
#include <utility>

namespace gpusim::comp {

std::string_view finding_name(FindingKind kind) {
  switch (kind) {
    case FindingKind::kOutOfBounds:
      return "out_of_bounds";
    case FindingKind::kMisaligned:
      return "misaligned";
    case FindingKind::kReadOnly:
      return "read_only";
    case FindingKind::kWrongSpace:
      return "wrong_space";
    case FindingKind::kTexture:
      return "texture";
    case FindingKind::kMatrix:
      return "matrix";
    case FindingKind::kBadFree:
      return "bad_free";
    case FindingKind::kDangling:
      return "dangling";
    case FindingKind::kUninitialised:
      return "uninitialised";
    case FindingKind::kRace:
      return "race";
    case FindingKind::kDivergentBarrier:
      return "divergent_barrier";
    case FindingKind::kMixedBarrier:
      return "mixed_barrier";
    case FindingKind::kBarrierCount:
      return "barrier_count";
    case FindingKind::kStuckBarrier:
      return "stuck_barrier";
    case FindingKind::kMemberMask:
      return "member_mask";
    case FindingKind::kMissingMember:
      return "missing_member";
    case FindingKind::kExitedMember:
      return "exited_member";
    case FindingKind::kSkippedBarrier:
      return "skipped_barrier";
  }
  return "";
}

std::string_view check_name(FindingKind kind) {
  if (kind <= FindingKind::kDangling) return "memory";
  if (kind == FindingKind::kUninitialised) return "init";
  if (kind == FindingKind::kSkippedBarrier) return "early_exit";
  return kind == FindingKind::kRace ? "race" : "sync";
}

void FindingLog::note(FindingKind kind, const Site& site, const Site* other,
                      const std::function<FindingDetail()>& detail) {
  ++counts_.occurrences;
  // A race is one between two statements, whichever ran first.
  const uint32_t second = other == nullptr ? site.statement : other->statement;
  const Key key{kind, site.run->image, std::min(site.statement, second), std::max(site.statement, second)};
  auto it = entries_.find(key);
  const bool first = it == entries_.end();
  if (first) {
    if (entries_.size() == kMost) {
      counts_.overflowed = true;
      return;
    }
    it = entries_.emplace(key, Entry{}).first;
  }
  auto& [finding, shown, told] = it->second;
  ++finding.count;
  ++finding.of_launch[site.run->id];
  const Shown occurrence{site.run->id, site.block, site.thread};
  if (!first && shown <= occurrence) return;
  shown = occurrence;
  finding.kind = kind;
  finding.kernel = site.run->image->name;
  finding.launch = site.run->id;
  finding.place = place_of(site);
  finding.has_other = other != nullptr;
  if (other != nullptr) finding.other = place_of(*other);
  finding.detail = detail();
}

FindingPlace FindingLog::place_of(const Site& site) const {
  const isa::KernelImage& image = *site.run->image;
  const isa::PtxStatement& s = image.ptx[site.statement];
  FindingPlace p;
  p.ptx_file = image.files.empty() ? ptx_name_ : image.files[s.loc.file];
  p.ptx = s.text;
  p.ptx_line = s.loc.line;
  p.ptx_column = s.loc.column;
  p.source = statement_source(image, s);
  const Dim3& b = site.run->block;
  p.block = site.run->block_index(site.block);
  p.thread = {site.thread % b.x, site.thread / b.x % b.y, site.thread / (b.x * b.y)};
  return p;
}

namespace {

void sort(std::vector<Finding>& all) {
  const auto place = [](const Finding& f) {
    return std::tie(f.launch, f.kernel, f.kind, f.place.ptx_file, f.place.ptx_line, f.place.ptx_column,
                    f.other.ptx_line, f.other.ptx_column);
  };
  std::sort(all.begin(), all.end(), [&](const Finding& a, const Finding& b) { return place(a) < place(b); });
}

}  // namespace

std::vector<Finding> FindingLog::sorted() const {
  std::vector<Finding> all;
  all.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) all.push_back(entry.finding);
  sort(all);
  return all;
}

std::vector<Finding> FindingLog::news() {
  std::vector<Finding> all;
  if (told_ == entries_.size()) return all;
  for (auto& [key, entry] : entries_)
    if (!std::exchange(entry.told, true)) all.push_back(entry.finding);
  told_ = entries_.size();
  sort(all);
  return all;
}

}  // namespace gpusim::comp
