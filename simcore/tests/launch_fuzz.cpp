// libFuzzer target: any text as a launch file. Files are not opened; small buffers are filled and compared as
// well, and the steps gone through, as far as a run would in a short time.
#include <numeric>

#include "simcore/launch/launch.h"
#include "simcore/launch/steps.h"

namespace {

void walk(const gpusim::core::LaunchDescription& launch) {
  using namespace gpusim::core;
  std::vector<std::vector<std::byte>> memory;
  for (const BufferSpec& buffer : launch.buffers) {
    memory.emplace_back(buffer.bytes());
    fill_buffer(buffer, 1, memory.back());
  }
  std::vector<uint32_t> names(memory.size());
  std::iota(names.begin(), names.end(), 0u);
  StepWalker walker(launch, {[&](uint32_t b) { return std::span<std::byte>(memory[names[b]]); },
                             [&](uint32_t a, uint32_t b) { std::swap(names[a], names[b]); },
                             [&](uint32_t b, uint64_t offset, uint64_t bytes) {
                               if (offset + bytes > memory[names[b]].size()) __builtin_trap();
                             }});
  for (int steps = 0; steps < 200 && !walker.done(); ++steps, walker.advance()) {
    if (walker.kind() == StepWalker::Kind::kLaunch) {
      (void)walker.launch();
    } else if (walker.kind() == StepWalker::Kind::kMemset) {
      (void)walker.memset();
    } else if (walker.kind() == StepWalker::Kind::kCopy) {
      const StepWalker::Bytes place = walker.copy();
      const CopySpec& copy = launch.copies[walker.index()];
      if (!copy.source) continue;
      std::vector<std::byte> data(place.bytes);
      fill_buffer(*copy.source, 1, data);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  using namespace gpusim::core;
  try {
    LaunchDescription launch =
        parse_launch({reinterpret_cast<const char*>(data), size}, "fuzz.toml", {}, 1, /*allow_files=*/false);
    const DeclaredVariable declared[] = {
        {"table", "const", "b8", 64, false, false, {}, {"fuzz.ptx", 1, 1}},
        {"counter", "global", "u32", 4, false, false, {}, {"fuzz.ptx", 2, 1}},
        {"pointer", "global", "u64", 8, false, false, {}, {"fuzz.ptx", 3, 1}}};
    bind_variables(launch, declared, "fuzz.ptx");
    if (launch.total_buffer_bytes() > 1 << 16) return 0;
    for (const BufferSpec& buffer : launch.buffers) {
      std::vector<std::byte> content(buffer.bytes());
      fill_buffer(buffer, 1, content);
    }
    for (const LaunchSpec& spec : launch.launches) {
      const ParameterSlot slots[] = {{"a", "u64", 0, 8, false}, {"n", "u32", 8, 4, false}};
      (void)pack_arguments(
          launch, spec, slots, 16, [](uint32_t) { return uint64_t{0x10000000}; },
          [](uint32_t) { return uint64_t{0x4000000}; });
    }
    walk(launch);
  } catch (const InputError&) {  // the only way out for wrong input
  }
  return 0;
}
