// Latency and throughput of the operation classes, by chains of one operation. Two lengths of each chain are
// timed and their difference taken, so that what stands around a chain does not count.
#pragma once
#include <string>
#include <vector>

#include "microbench/data_sheet.h"
#include "microbench/device.h"
#include "microbench/operation_classes.h"

namespace gpusim::microbench {

/// A module with a kernel for each of the rows, `chains` independent chains of `length` operations (of
/// `text`) per thread. Parameters: out (zeros; then per warp, clock before and after), an integer, the
/// operand, and how many rounds are made, of which the last is timed.
[[nodiscard]] std::string operation_module(const DeviceProperties& device,
                                           const std::vector<OperationRow>& rows, int chains, int length);
/// Rows that the device has, their texts those that it runs.
[[nodiscard]] std::vector<OperationRow> operations_of(const DeviceProperties& device);

/// Figures `latency.NAME` (core cycles) and `throughput.NAME` (operations per core cycle and SM).
void measure_operations(Device& device, DataSheet& sheet);

}  // namespace gpusim::microbench
