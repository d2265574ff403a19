// Any bytes are a fat binary, or an error that says why not.
#include "runtime/fatbin/fat_binary.h"
#include "simcore/text/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpusim;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    for (const runtime::FatEntry& e : runtime::fat_entries(bytes))
      if (e.kind == runtime::FatEntry::Kind::kPtx && e.plain_bytes < (1u << 20)) (void)runtime::ptx_text(e);
  } catch (const core::InputError&) {
  }
  return 0;
}
