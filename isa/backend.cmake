# Lowering and functional execution. The semantic functions (semantics/*.inc) are compiled once per instruction set; the
# wrapper files that name the set are generated, and each gets the set's flags.
set(simd_base_flags "")
set(simd_avx2_flags -mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt)
set(simd_avx512_flags -mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt -mavx512f -mavx512bw -mavx512dq -mavx512vl)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND simd_avx512_flags -mprefer-vector-width=512)
endif()
set(GPUSIM_SEMANTIC_SOURCES "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns about the undefined vectors inside its own AVX-512 header.
  list(APPEND simd_avx512_flags -Wno-uninitialized -Wno-maybe-uninitialized)
endif()
set(semantic_flags -O3 -fno-trapping-math)  # -O2 executes a quarter more instructions for a load
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Clang warns where it cannot vectorize a lane loop: all of them with sanitizers.
  list(APPEND semantic_flags -Wno-pass-failed)
endif()
set(GPUSIM_SIMD_SETS simd_base simd_avx2 simd_avx512 CACHE STRING "Instruction sets to compile for: simd_base and any of the others")
set(GPUSIM_QUICK_SETS "" CACHE STRING "Those of them that are compiled sooner instead of faster: what tests compare the best set with")
# Two sources for each set: more would parse the same headers again, one would leave a core idle.
set(half_a integer float convert memory atomic)
set(half_b bit half approx compare warp wmma mma)
if(NOT simd_base IN_LIST GPUSIM_SIMD_SETS)
  message(FATAL_ERROR "GPUSIM_SIMD_SETS is '${GPUSIM_SIMD_SETS}' and must hold simd_base, which any processor has")
endif()
foreach(set IN LISTS GPUSIM_SIMD_SETS)
  set(quick "")
  if(set IN_LIST GPUSIM_QUICK_SETS)
    set(quick -O1)
  endif()
  foreach(half half_a half_b)
    set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/exec/semantics/${set}_${half}.cpp)
    set(includes "")
    set(part_files "")
    foreach(part IN LISTS ${half})
      string(APPEND includes "#include \"isa/exec/semantics/${part}.inc\"\n")
      list(APPEND part_files ${CMAKE_CURRENT_SOURCE_DIR}/exec/semantics/${part}.inc)
    endforeach()
    file(CONFIGURE OUTPUT ${wrapper} CONTENT "#define GPUSIM_SIMD ${set}\n${includes}" @ONLY)
    set_source_files_properties(${wrapper} PROPERTIES
      COMPILE_OPTIONS "${${set}_flags};${semantic_flags};${quick}"  # of their own, so that no unity build joins them
      OBJECT_DEPENDS "${part_files}")
    list(APPEND GPUSIM_SEMANTIC_SOURCES ${wrapper})
  endforeach()
endforeach()

add_library(gpusim_isa_backend OBJECT
  lowering/launch_constants.cpp lowering/lowering.cpp
  lowering/select.cpp lowering/select_statement.cpp lowering/select_form.cpp lowering/select_operand.cpp
  lowering/select_alu.cpp lowering/select_memory.cpp lowering/select_texture.cpp lowering/select_warp.cpp
  lowering/select_wmma.cpp
  lowering/call_plan.cpp lowering/select_call.cpp lowering/save_registers.cpp lowering/link.cpp
  lowering/dominance.cpp lowering/early_exit.cpp lowering/split_ranges.cpp lowering/propagate.cpp lowering/fold_address.cpp lowering/dead_code.cpp lowering/fold_shared.cpp
  lowering/complementary_writes.cpp lowering/common_values.cpp lowering/single_lane.cpp lowering/liveness.cpp lowering/dependences.cpp lowering/ready_operations.cpp lowering/foreign_stores.cpp lowering/sink.cpp lowering/coalesce.cpp lowering/spill.cpp lowering/share_slots.cpp lowering/allocate.cpp
  lowering/machine_count.cpp lowering/machine_sequences.cpp lowering/machine_constants.cpp lowering/executed_instructions.cpp lowering/machine_joins.cpp lowering/machine_mix.cpp lowering/machine_readers.cpp lowering/machine_registers.cpp lowering/assign_registers.cpp lowering/access_data.cpp lowering/register_relations.cpp lowering/parted_exchanges.cpp lowering/alignment.cpp lowering/uniform_registers.cpp lowering/uniformity.cpp lowering/narrow_addresses.cpp lowering/address_registers.cpp lowering/missing_instructions.cpp lowering/contract.cpp lowering/narrow_loads.cpp lowering/merge_accesses.cpp lowering/aggregate_atomics.cpp lowering/fuse.cpp lowering/bind_operands.cpp lowering/wide_products.cpp lowering/machine_classes.cpp lowering/known_divisors.cpp lowering/predicate_branches.cpp lowering/fold_conditions.cpp lowering/find_loops.cpp lowering/loop_nest.cpp lowering/unroll.cpp lowering/unroll_cost.cpp lowering/join_steps.cpp lowering/schedule_rules.cpp lowering/schedule.cpp)
target_link_libraries(gpusim_isa_backend PUBLIC fmt::fmt Boost::headers)
gpusim_target_defaults(gpusim_isa_backend)
gpusim_cold(gpusim_isa_backend)
# Kernels are scheduled several times, and sets of thousands of values that are spilled compared.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set_source_files_properties(lowering/schedule.cpp lowering/dependences.cpp lowering/ready_operations.cpp lowering/schedule_rules.cpp lowering/liveness.cpp lowering/machine_registers.cpp lowering/spill.cpp lowering/share_slots.cpp PROPERTIES COMPILE_OPTIONS -O2)
endif()
gpusim_unity(gpusim_isa_backend)
# Selection of families of instructions that few programs use.
add_library(gpusim_isa_families OBJECT lowering/select_async.cpp lowering/select_bulk.cpp lowering/select_tensor.cpp lowering/select_mma.cpp lowering/select_wgmma.cpp lowering/select_surface.cpp lowering/select_video.cpp lowering/select_cluster.cpp lowering/select_multimem.cpp)
target_link_libraries(gpusim_isa_families PUBLIC fmt::fmt Boost::headers)
gpusim_target_defaults(gpusim_isa_families)
gpusim_cold(gpusim_isa_families)
gpusim_unity(gpusim_isa_families)
add_library(gpusim_isa_semantics OBJECT exec/micro_op.cpp exec/executor.cpp exec/device_services.cpp exec/device_runtime.cpp exec/stack.cpp exec/surface.cpp exec/lane_bytes.cpp exec/async.cpp exec/bulk.cpp exec/tensor_map.cpp exec/tensor_copy.cpp exec/matrix_move.cpp exec/wgmma.cpp exec/video.cpp exec/cluster.cpp exec/texture.cpp exec/semantics/table.cpp ${GPUSIM_SEMANTIC_SOURCES})
foreach(set IN LISTS GPUSIM_SIMD_SETS)
  string(TOUPPER ${set} upper)
  set_property(SOURCE exec/semantics/table.cpp APPEND PROPERTY COMPILE_DEFINITIONS GPUSIM_HAS_${upper})
endforeach()
target_link_libraries(gpusim_isa_semantics PUBLIC fmt::fmt Boost::headers)
gpusim_target_defaults(gpusim_isa_semantics)

gpusim_test(isa_backend_test
  SOURCES exec/opcode_test.cpp exec/forms_test.cpp exec/semantics_test.cpp exec/memory_test.cpp exec/float8_test.cpp exec/cluster_test.cpp
          lowering/lowering_test.cpp lowering/assign_registers_test.cpp lowering/register_relations_test.cpp lowering/source_registers_test.cpp lowering/access_data_test.cpp lowering/parted_exchanges_test.cpp lowering/at_exit_test.cpp lowering/contract_test.cpp lowering/fuse_test.cpp lowering/narrow_addresses_test.cpp lowering/address_registers_test.cpp lowering/merge_accesses_test.cpp lowering/narrow_loads_test.cpp lowering/aggregate_atomics_test.cpp lowering/control_flow_lowering_test.cpp lowering/inlining_test.cpp lowering/call_lowering_test.cpp
          lowering/clean_passes_test.cpp lowering/predicate_branches_test.cpp lowering/complementary_writes_test.cpp lowering/common_values_test.cpp lowering/schedule_test.cpp lowering/launch_constants_test.cpp lowering/schedule_distance_test.cpp lowering/schedule_limits_test.cpp lowering/schedule_barriers_test.cpp lowering/machine_classes_test.cpp lowering/unroll_test.cpp lowering/before_loops_test.cpp lowering/unroll_rounds_test.cpp lowering/fold_conditions_test.cpp lowering/early_exit_test.cpp lowering/registers_test.cpp lowering/lowering_time_test.cpp lowering/lowering_growth_test.cpp lowering/machine_count_test.cpp lowering/executed_instructions_test.cpp lowering/wide_count_test.cpp
          lowering/texture_reference_test.cpp exec/texture_test.cpp lowering/texture_statement_test.cpp exec/wmma_test.cpp
          exec/wmma_small_test.cpp exec/system_atomics_test.cpp
  DEPS gpusim_isa SUITES)
gpusim_fuzzer(lowering_fuzz SOURCES fuzz/lowering_fuzz.cpp DEPS gpusim_isa)
gpusim_benchmark(executor_bench SOURCES bench/executor_bench.cpp DEPS gpusim_isa)
gpusim_test(isa_families_test SOURCES lowering/async_test.cpp lowering/tensor_copy_test.cpp lowering/families_test.cpp lowering/surface_test.cpp lowering/video_test.cpp lowering/wgmma_test.cpp lowering/multimem_test.cpp DEPS gpusim_isa SUITES)
