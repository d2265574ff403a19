// Accesses whose place loaded data say.
#pragma once
#include <string>
#include <vector>

namespace gpusim::analysis {

/// For each operation, whether its address follows from a value that was loaded, as in x[index[i]]: what of
/// these lies side by side is a matter of the data. An index that a loop counts up from a loaded start, as in
/// the rows of a sparse matrix, is none: there the threads decide.
/// `statements`: those of the whole kernel in PTX, such as "ld.global.f32 %f1, [%rd5+4]"; `operations`: for
/// each operation, the statement that it comes of.
[[nodiscard]] std::vector<bool> addresses_of_data(std::vector<std::string> statements,
                                                  const std::vector<std::string>& operations);

}  // namespace gpusim::analysis
