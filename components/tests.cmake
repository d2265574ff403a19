# Unit tests and benchmarks of components/. One simulation per test: ctest runs each in a process of its own.
gpusim_test(components_test
  SOURCES launch/block_dispatcher_test.cpp launch/work_queue_test.cpp sm/simt/block_barriers_test.cpp sm/simt/cluster_test.cpp cache/tag_array_test.cpp cache/mshr_table_test.cpp checker/checker_test.cpp lsu/coalescer_test.cpp sm/control_codes_test.cpp sm/dependences_test.cpp noc/crossbar_test.cpp dram/dram_channel_test.cpp dram/dram_policies_test.cpp power/energy_meter_test.cpp sm/instruction_fetch_test.cpp lsu/l1_cache_test.cpp l2/l2_slice_test.cpp host/host_link_test.cpp sm/simt/divergent_groups_test.cpp lsu/load_store_unit_test.cpp lsu/l1_path_test.cpp noc/mesh_test.cpp noc/network_program_test.cpp noc/network_ends_test.cpp
          noc/network_traffic_test.cpp l2/l2_partition_test.cpp l2/uncached_partition_test.cpp noc/port_balance_test.cpp simulation/kernel_counters_test.cpp l2/l2_program_test.cpp sm/shared_bank_conflicts_test.cpp sm/simt/simt_stack_test.cpp sm/simt/control_transfer_test.cpp sm/sm_test.cpp sm/special_operands_test.cpp sm/register_banks_test.cpp simulation/tables_test.cpp lsu/texture_cache_test.cpp lsu/tlb/tlb_test.cpp dram/tlm_memory_test.cpp sm/warp_table_test.cpp launch/device_launches_test.cpp
  DEPS gpusim_components
  SYSTEMC)
gpusim_test(simulation_test
  SOURCES launch/concurrent_kernels_test.cpp launch/clusters_test.cpp sm/simt/independent_threads_test.cpp sm/simt/named_barriers_test.cpp sm/simt/spin_locks_test.cpp sm/waiting_warps_test.cpp sm/wgmma_timing_test.cpp sm/shared_sums_test.cpp sm/warp_tracer_test.cpp sm/policies/policy_ccws_test.cpp sm/policies/added_policy_test.cpp simulation/cache_state_test.cpp simulation/deadlock_proof_test.cpp dram/outside_memory_test.cpp power/energy_program_test.cpp simulation/simulation_test.cpp simulation/steps_run_test.cpp
  DEPS gpusim_components
  SYSTEMC)
gpusim_benchmark(components_bench SOURCES bench/gpu_bench.cpp DEPS gpusim_components)
gpusim_test(services_test SOURCES services/services_test.cpp services/system_calls_test.cpp DEPS gpusim_components)
gpusim_test(async_copies_test SOURCES sm/async_copies_test.cpp DEPS gpusim_components)
# Their names are those of other files' too.
set_source_files_properties(lsu/tlb/tlb_test.cpp noc/mesh_test.cpp sm/simt/control_transfer_test.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
