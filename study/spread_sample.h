// A random sample that is spread over a space: each row is as likely to be drawn as any other, and rows near
// each other are seldom drawn together. What is seen at the drawn rows then holds for the others as well,
// which is not so of rows that were chosen for lying far apart, for these lie at the borders.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace gpusim::study {

/// `count` of `rows`, at most all, in the order of `rows`; the same for the same seeds, on any computer.
/// Takes time with the square of the rows.
[[nodiscard]] std::vector<size_t> spread_sample(std::span<const size_t> rows, size_t count,
                                                const std::function<double(size_t, size_t)>& distance,
                                                std::span<const uint64_t> seeds);

}  // namespace gpusim::study
