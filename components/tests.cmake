# Unit tests and benchmarks of components/. One simulation per test: ctest runs each in a process of its own.
gpusim_test(components_test
  SOURCES address_map_test.cpp block_dispatcher_test.cpp work_queue_test.cpp block_barriers_test.cpp cache/cache_tags_test.cpp cache/mshr_table_test.cpp checker/checker_test.cpp coalescer_test.cpp control_codes_test.cpp crossbar_test.cpp dram_channel_test.cpp dram_policies_test.cpp power/energy_meter_test.cpp instruction_fetch_test.cpp l1_cache_test.cpp l2_slice_test.cpp lane_groups_test.cpp load_store_unit_test.cpp load_store_l1_test.cpp mesh_test.cpp network_program_test.cpp network_ends_test.cpp
          network_traffic_test.cpp partition_l2_test.cpp port_balance_test.cpp kernel_counters_test.cpp l2_program_test.cpp shared_memory_test.cpp simt_stack_test.cpp control_transfer_test.cpp sm_test.cpp tables_test.cpp texture_cache_test.cpp tlb/tlb_test.cpp tlm_memory_test.cpp warp_table_test.cpp
  DEPS gpusim_components
  SYSTEMC)
gpusim_test(simulation_test
  SOURCES concurrent_kernels_test.cpp independent_threads_test.cpp named_barriers_test.cpp waiting_warps_test.cpp deadlock_proof_test.cpp outside_memory_test.cpp power/energy_program_test.cpp simulation_test.cpp
  DEPS gpusim_components
  SYSTEMC)
gpusim_benchmark(components_bench SOURCES bench/gpu_bench.cpp DEPS gpusim_components)
