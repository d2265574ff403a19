#include "microbench/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "microbench/kernel_files.h"

namespace gpusim::microbench {

namespace {

constexpr std::string_view kOldHeader = "\t.version 1.4\n\t.target sm_13\n";

/// What PTX says otherwise from some compute capability (x 10) on.
struct Replaced {
  int from;
  std::string_view old, now;
};
constexpr Replaced kReplaced[] = {
    // Block and thread numbers have 32 bits; nothing else is converted from 16.
    {20, "cvt.u32.u16", "mov.u32"},
    {20, "mad.f32", "fma.rn.f32"},
    // Compilers of real drivers put the clock's second reading in front of what only adds what was loaded,
    // but
    // not in front of a branch. (Zeros are loaded.)
    {kFirstCompiled, "add.u32 \t%r10, %r10, %r18;",
     "add.u32 \t%r10, %r10, %r18;\n\tsetp.ne.u32 \t%p6, %r18, 0;\n\t@%p6 exit;"},
};

void replace_all(std::string& text, std::string_view old, std::string_view now) {
  for (size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += now.size())
    text.replace(at, old.size(), now);
}

/// Compilers leave out loads whose values nobody uses: of shared_pattern, each finds the address of the next
/// one, which is its own. That eight loads begin at the same address must not be known: zeros are added to
/// it.
std::string with_all_loads_used(std::string text) {
  std::string begin =
      "add.u32 \t%r5, %r5, %r4;\n\tst.shared.u32 \t[%r5], %r5;\n\tshr.u32 \t%r9, %r1, 5;\n"
      "\tmul.wide.u32 \t%rd5, %r9, 8;\n\tld.param.u64 \t%rd6, [p_out];\n\tadd.u64 \t%rd5, %rd5, %rd6;\n";
  for (int r = 20; r < 28; ++r) {
    replace_all(text, fmt::format("%r{}, [%r5];", r), fmt::format("%r{0}, [%r{0}];", r));
    begin += fmt::format("\tld.volatile.global.u32 \t%r{0}, [%rd5];\n\tadd.u32 \t%r{0}, %r{0}, %r5;\n", r);
  }
  replace_all(text, "add.u32 \t%r5, %r5, %r4;\n", begin);
  return text;
}

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
  for (const auto& [from, old, now] : kReplaced)
    if (from <= device.capability) replace_all(text, old, now);
  return device.capability >= kFirstCompiled && name == "shared_pattern"
             ? with_all_loads_used(std::move(text))
             : text;
}

}  // namespace gpusim::microbench
