// Warp-scheduler policies that a program outside of gpusim adds: words of scheduler.policy, with keys of
// their own in [scheduler]. Once added they are words and keys like any others: `config describe` lists them,
// their values are checked, and a misspelt one is refused with the nearest valid name. The policy itself is
// added with them by comp::register_issue_policy() (components/sm/policies/issue_policy.h).
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "simcore/config/schema.h"

namespace gpusim::core {

/// A key of [scheduler], a whole number or a real one, as its default is.
struct AddedKey {
  std::string name;
  std::string unit;  ///< for documentation, such as "warps"
  std::variant<int64_t, double> fallback;
  double least, most;
  std::string doc;
};

/// Adds a word of scheduler.policy and its keys. Throws std::invalid_argument if a name is none, or is taken,
/// or if a default lies outside its range, and std::logic_error if a configuration has been loaded already:
/// it was checked without this policy.
void add_scheduler_policy(std::string_view word, std::vector<AddedKey> keys);

/// For schema(): puts what was added into the rows. Nothing can be added from then on.
void insert_added_policies(std::vector<KeySpec>& rows);

}  // namespace gpusim::core
