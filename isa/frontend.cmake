# Paths are absolute so that a build of the front end alone can include this file.
set(_isa ${CMAKE_CURRENT_LIST_DIR})
add_library(gpusim_isa_frontend OBJECT
  ${_isa}/ptx/address_size.cpp ${_isa}/ptx/control_flow.cpp ${_isa}/ptx/diagnostics.cpp ${_isa}/ptx/kernel_use.cpp ${_isa}/ptx/parser/lexer.cpp
  ${_isa}/ptx/linker.cpp ${_isa}/ptx/modifiers.cpp ${_isa}/ptx/module.cpp ${_isa}/ptx/occupancy.cpp ${_isa}/ptx/opcodes.cpp
  ${_isa}/ptx/parser/parser.cpp ${_isa}/ptx/parser/constant.cpp ${_isa}/ptx/parser/function.cpp ${_isa}/ptx/parser/implied.cpp
  ${_isa}/ptx/parser/initialiser.cpp ${_isa}/ptx/parser/statement.cpp ${_isa}/ptx/parser/variable.cpp ${_isa}/ptx/scopes.cpp ${_isa}/ptx/unsupported_spellings.cpp ${_isa}/ptx/multimem.cpp
  ${_isa}/ptx/types.cpp ${_isa}/ptx/unresolved.cpp ${_isa}/ptx/verifier/verifier.cpp ${_isa}/ptx/verifier/address.cpp ${_isa}/ptx/verifier/control.cpp
  ${_isa}/ptx/verifier/half.cpp ${_isa}/ptx/verifier/memory.cpp ${_isa}/ptx/verifier/mov.cpp ${_isa}/ptx/verifier/operand.cpp
  ${_isa}/ptx/verifier/rules.cpp ${_isa}/ptx/verifier/spelled.cpp ${_isa}/ptx/verifier/target.cpp ${_isa}/ptx/verifier/texture.cpp ${_isa}/ptx/verifier/wmma.cpp
  ${_isa}/ptx/wmma.cpp ${_isa}/ptx/mma.cpp ${_isa}/ptx/wgmma.cpp ${_isa}/ptx/video.cpp)
target_link_libraries(gpusim_isa_frontend PUBLIC fmt::fmt Boost::headers)
gpusim_target_defaults(gpusim_isa_frontend)
gpusim_cold(gpusim_isa_frontend)
gpusim_unity(gpusim_isa_frontend)

gpusim_test(isa_frontend_test
  SOURCES ${_isa}/ptx/parser/lexer_test.cpp ${_isa}/ptx/modifiers_test.cpp ${_isa}/ptx/parser/parser_test.cpp ${_isa}/ptx/parser/traps_test.cpp ${_isa}/ptx/linker_test.cpp
  ${_isa}/ptx/verifier/verifier_test.cpp ${_isa}/ptx/control_flow_test.cpp ${_isa}/ptx/occupancy_test.cpp ${_isa}/ptx/diagnostics_test.cpp ${_isa}/ptx/kernel_use_test.cpp ${_isa}/ptx/verifier/verdicts_test.cpp
  DEPS gpusim_isa_frontend SUITES)
gpusim_fuzzer(ptx_fuzz SOURCES ${_isa}/fuzz/ptx_fuzz.cpp DEPS gpusim_isa_frontend)
