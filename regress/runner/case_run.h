// Simulates the cases of a suite in processes of their own, several at a time, and applies the models to what
// they recorded. What a case gave is kept in the work folder under a key of everything that it depends on: a
// run that was interrupted, or a second one, does only what is missing.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "regress/runner/case_result.h"
#include "regress/runner/suite.h"

namespace gpusim::regress {

struct RunOptions {
  std::string root;  ///< folder of configs/, workloads/ and regress/
  std::string work;  ///< folder for recordings and results; made if it is not there
  std::vector<std::string> config_folders;
  std::string program;  ///< version and content hash: results of another program are not used again
  unsigned parallel = 1;
  /// Recordings of the same cases count whatever program made them, and the models are applied again.
  bool judge_again = false;
  /// Called in the process of a case that ends, with its name.
  std::function<void(const std::string&)> on_done;
};

struct SuiteResults {
  std::vector<CaseResult> cases;    ///< as in the suite
  std::vector<CaseResult> studies;  ///< one check each
};

/// Throws core::InputError if the work folder cannot be used or an input of a case is missing. A case that
/// fails says so in its result.
[[nodiscard]] SuiteResults run_suite(const Suite& suite, const RunOptions& options);

}  // namespace gpusim::regress
