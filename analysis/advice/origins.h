// Where a recorded kernel's accesses go, as far as its program says.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/recording/recording.h"
#include "analysis/source/data_addresses.h"

namespace gpusim::analysis::advice {

/// Of each operation. `ptx`: of the program; may be empty.
[[nodiscard]] std::vector<AddressOrigin> origins_of(const KernelRecord& kernel, std::string_view ptx);

/// Results of statements that no operation names, and the registers of which each follows: an operation can
/// stand for several statements, and names the last.
[[nodiscard]] std::map<std::string, std::set<std::string>> unnamed_results(const KernelRecord& kernel,
                                                                           std::string_view ptx);
/// Adds the registers of which these follow by statements that no operation names.
void add_unnamed(const std::map<std::string, std::set<std::string>>& unnamed,
                 std::set<std::string>& registers);
/// %f1 and %rd2 of "ld.global.f32 %f1, [%rd2+4]".
[[nodiscard]] std::set<std::string> registers_of(std::string_view ptx);

}  // namespace gpusim::analysis::advice
