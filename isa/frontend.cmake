# Paths are absolute so that a build of the front end alone can include this file.
set(_isa ${CMAKE_CURRENT_LIST_DIR})
add_library(gpusim_isa_frontend OBJECT
  ${_isa}/address_size.cpp ${_isa}/control_flow.cpp ${_isa}/diagnostics.cpp ${_isa}/kernel_use.cpp ${_isa}/lexer.cpp
  ${_isa}/linker.cpp ${_isa}/modifiers.cpp ${_isa}/module.cpp ${_isa}/occupancy.cpp ${_isa}/opcodes.cpp
  ${_isa}/parser.cpp ${_isa}/parser_constant.cpp ${_isa}/parser_function.cpp ${_isa}/parser_implied.cpp
  ${_isa}/parser_initialiser.cpp ${_isa}/parser_statement.cpp ${_isa}/parser_variable.cpp ${_isa}/scopes.cpp
  ${_isa}/types.cpp ${_isa}/verifier.cpp ${_isa}/verifier_address.cpp ${_isa}/verifier_control.cpp
  ${_isa}/verifier_half.cpp ${_isa}/verifier_memory.cpp ${_isa}/verifier_mov.cpp ${_isa}/verifier_operand.cpp
  ${_isa}/verifier_rules.cpp ${_isa}/verifier_target.cpp ${_isa}/verifier_texture.cpp ${_isa}/verifier_wmma.cpp
  ${_isa}/wmma.cpp)
target_link_libraries(gpusim_isa_frontend PUBLIC fmt::fmt Boost::headers)
gpusim_target_defaults(gpusim_isa_frontend)
gpusim_cold(gpusim_isa_frontend)
gpusim_unity(gpusim_isa_frontend)

gpusim_test(isa_frontend_test
  SOURCES ${_isa}/lexer_test.cpp ${_isa}/modifiers_test.cpp ${_isa}/parser_test.cpp ${_isa}/parser_traps_test.cpp ${_isa}/linker_test.cpp
  ${_isa}/verifier_test.cpp ${_isa}/control_flow_test.cpp ${_isa}/occupancy_test.cpp ${_isa}/diagnostics_test.cpp ${_isa}/kernel_use_test.cpp ${_isa}/verdicts_test.cpp
  DEPS gpusim_isa_frontend)
gpusim_fuzzer(ptx_fuzz SOURCES ${_isa}/fuzz/ptx_fuzz.cpp DEPS gpusim_isa_frontend)
