// libFuzzer target: no text may crash, hang or exhaust the parser, the verifier or the control-flow analysis.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "isa/ptx/control_flow.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const gpusim::isa::ParseResult result = gpusim::isa::parse_module(text);
  (void)gpusim::isa::verify_module(result.module);
  for (const gpusim::isa::Function& f : result.module.functions) (void)gpusim::isa::build_control_flow(f);
  return 0;
}
