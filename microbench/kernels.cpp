#include "microbench/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "microbench/kernel_files.h"

namespace gpusim::microbench {

namespace {

constexpr std::string_view kOldHeader = "\t.version 1.4\n\t.target sm_13\n";

constexpr std::string_view kOldRead = "cvt.u32.u16";

}  // namespace

std::string module_header(const DeviceProperties& device) {
  if (device.capability < 20) return std::string(kOldHeader);
  // The newest targets need the newest PTX versions, which know all older targets too.
  return fmt::format("\t.version 8.0\n\t.target sm_{}\n\t.address_size 64\n", device.capability);
}

std::string kernel_file(std::string_view name, const DeviceProperties& device) {
  const auto file = std::find_if(std::begin(kKernelFiles), std::end(kKernelFiles),
                                 [&](const KernelFile& f) { return f.name == name; });
  if (file == std::end(kKernelFiles) || !file->text.starts_with(kOldHeader))
    throw std::logic_error(fmt::format("no microbenchmark '{}'", name));
  std::string text = module_header(device) + std::string(file->text.substr(kOldHeader.size()));
  // Block and thread numbers have 32 bits from PTX 2.0 on; nothing else is converted from 16 there.
  if (device.capability >= 20)
    for (size_t at = 0; (at = text.find(kOldRead, at)) != std::string::npos;)
      text.replace(at, kOldRead.size(), "mov.u32");
  return text;
}

}  // namespace gpusim::microbench
