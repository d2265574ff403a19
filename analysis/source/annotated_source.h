// A kernel line by line: what each line of the source, and each statement of the PTX, cost and moved. Sums of
// per_pc; a line of the source is where the user's code stands (source_lines.h).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/recording/recording.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis {

struct LineCounts {
  uint64_t slots = 0;              ///< issue slots of warps that stood here, those that issued too
  std::vector<CauseSlots> causes;  ///< of these, most first
  uint64_t executed = 0, active_lanes = 0, divergent = 0;
  uint64_t requests = 0;        ///< executions of accesses to global and local memory, atomics and textures
  uint64_t sectors = 0;         ///< 32-byte pieces that these moved
  uint64_t asked_bytes = 0;     ///< by their threads, and by those of accesses to shared memory
  uint64_t moved_bytes = 0;     ///< by transactions
  uint64_t bank_conflicts = 0;  ///< extra steps of shared memory
  uint64_t other_replays = 0;   ///< extra steps of constants and the like
  uint64_t atomics = 0, atomic_lanes = 0, atomic_transactions = 0;  ///< on global memory
  uint64_t atomic_words = 0;  ///< that these made units of memory partitions perform one after another
  /// Share of the kernel's time for which they took the unit of the busiest partition, if they are spread
  /// over partitions as the kernel's other atomics are.
  double atomic_time = 0;
  uint64_t awaited =
      0;  ///< issue slots that warps lost elsewhere, waiting for data of accesses that stand here
};

struct AnnotatedLine {
  SourceLine place;  ///< of a statement: of the PTX
  std::string ptx;   ///< the statement
  LineCounts counts;
};

struct AnnotatedSource {
  std::vector<AnnotatedLine> lines;       ///< by file and line; empty if the PTX has no .loc
  std::vector<AnnotatedLine> statements;  ///< likewise
  uint64_t slots = 0;                     ///< of the kernel
  uint64_t nowhere = 0;                   ///< of these, those without a warp
};

[[nodiscard]] AnnotatedSource annotate(const KernelRecord& kernel);

/// Texts of the source files: of a name as it is, and in each of `folders`, with its whole path and without.
class SourceTexts {
 public:
  explicit SourceTexts(std::vector<std::string> folders) : folders_(std::move(folders)) {}
  /// Lines of the file; none if it is not found.
  [[nodiscard]] std::vector<std::string> lines(const std::string& file) const;

 private:
  std::vector<std::string> folders_;
};

/// For people. With the text of each source that is found, statements of the PTX otherwise, and always those.
[[nodiscard]] std::string annotated_text(const KernelRecord& kernel, const AnnotatedSource& source,
                                         const SourceTexts& texts);
[[nodiscard]] std::string annotated_json(const KernelRecord& kernel, const AnnotatedSource& source);

}  // namespace gpusim::analysis
