// Options of the model `energy`, and what its two studies give back.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/models/energy/pem.h"
#include "analysis/models/energy/run.h"
#include "analysis/models/model.h"

namespace gpusim::analysis::energy {

enum class Study : uint8_t { kClocks, kBlocks };

struct Choice {
  bool paper = false;  ///< variant=paper
  Study study = Study::kClocks;
  double host_seconds = 0;      ///< host_time=: of a task beside; 0: there is none
  Sensitivity sensitivity;      ///< k=, access_cycles=, deadline=, idle=
  double transfer = 512;        ///< B of the paper's sensitivity, words
  std::vector<int64_t> clocks;  ///< clocks=: core clocks in kHz where no run gives them; empty: down to half
  std::string plot;
};
/// Throws core::InputError for a name or value that is none.
[[nodiscard]] Choice read_choice(const ModelOptions& options);

[[nodiscard]] ModelReport clocks_report(std::span<const Run> runs, const Choice& choice);
[[nodiscard]] ModelReport blocks_report(std::span<const Run> runs, const Choice& choice);

}  // namespace gpusim::analysis::energy
