// Checks between keys of a machine configuration: a value that contradicts another is refused with both
// places named.
#pragma once
#include <map>
#include <string>

#include "simcore/config/machine_config.h"
#include "simcore/text/input_error.h"

namespace gpusim::core {

/// Where each "section.key" that a file or --set gives was written; keys left at their default are absent.
/// The key "" holds the file.
using KeyPlaces = std::map<std::string, Where>;

/// Adds one error per contradiction. Every value is already within the range of its own key.
void validate_machine(const MachineConfig& machine, const KeyPlaces& places, Messages& messages);

}  // namespace gpusim::core
