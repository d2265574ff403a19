// libFuzzer target: any text as a launch file. Files are not opened; small buffers are filled and compared as
// well.
#include "simcore/launch/launch.h"

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
  } catch (const InputError&) {  // the only way out for wrong input
  }
  return 0;
}
