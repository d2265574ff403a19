# Functions that every folder's CMakeLists.txt uses.

# False positives of g++ 12: -Wrestrict in std::string's operator+ (GCC bug 105651), -Wstringop-overflow in fmt's compile-time
# format checks; with sanitizers, -Wmaybe-uninitialized in std::optional and std::variant.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(GPUSIM_EXTRA_WARNINGS -Wno-restrict -Wno-stringop-overflow)
  if(GPUSIM_PCH)  # std::string again (GCC bug 105329), which ordinarily is hidden as a system header's
    list(APPEND GPUSIM_EXTRA_WARNINGS -Wno-array-bounds -Wno-stringop-overread)
  endif()
  if(GPUSIM_SANITIZE)
    list(APPEND GPUSIM_EXTRA_WARNINGS -Wno-maybe-uninitialized)
  endif()
endif()

# Warnings, floating-point contract, include root and sanitizers, common to all targets.
function(gpusim_target_defaults target)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # collecting garbage later costs memory (0.5 GB) and saves a tenth of the time
    target_compile_options(${target} PRIVATE "SHELL:--param ggc-min-heapsize=500000")
  endif()
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wno-psabi ${GPUSIM_EXTRA_WARNINGS} -ffp-contract=off -fno-math-errno)
  if(GPUSIM_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(GPUSIM_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${GPUSIM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${GPUSIM_SANITIZE})
  endif()
  if(GPUSIM_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# gpusim_test_headers(name DEPS lib ... HEADERS header ...): the standard headers that most tests use, fmt and the given ones are
# parsed once for all tests that link at least these libraries: gpusim_use_headers(target name). Only where GPUSIM_PCH is on: the
# other presets compile without, so that no source lacks an #include unseen.
function(gpusim_test_headers name)
  if(GPUSIM_PCH)
    cmake_parse_arguments(ARG "" "" "DEPS;HEADERS" ${ARGN})
    set(source ${PROJECT_BINARY_DIR}/headers/${name}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// Only its headers matter.\n")
    add_library(${name} OBJECT ${source})
    target_link_libraries(${name} PRIVATE ${ARG_DEPS})
    gpusim_target_defaults(${name})
    gpusim_cold(${name})
    target_precompile_headers(${name} PRIVATE <algorithm> <array> <filesystem> <functional> <map> <memory> <optional> <string>
                              <string_view> <unordered_map> <variant> <vector> <fmt/format.h> ${ARG_HEADERS})
  endif()
endfunction()
function(gpusim_use_headers target name)
  if(GPUSIM_PCH)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

# gpusim_unity(target): several of its sources are compiled as one, which parses their headers once. Only where GPUSIM_UNITY is on,
# as above.
function(gpusim_unity target)
  if(GPUSIM_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  endif()
endfunction()

# gpusim_library(name SOURCES a.cpp ... DEPS lib ...): a static library with the defaults above.
function(gpusim_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)  # for the shared libraries of runtime/
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  gpusim_target_defaults(${name})
  gpusim_unity(${name})
endfunction()

# gpusim_cold(target): what runs for milliseconds is compiled sooner instead of faster.
function(gpusim_cold target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -Og)
  endif()
endfunction()

# gpusim_part(name SOURCES a.cpp ... DEPS lib ...): objects that are gpusim_cold, of a library whose other sources are not.
function(gpusim_part name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} OBJECT ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  gpusim_target_defaults(${name})
  gpusim_cold(${name})
  gpusim_unity(${name})
endfunction()

# gpusim_hot(library): the program's copy of this code is optimised across its source files at link time (about 4 % faster);
# tests, benchmarks and installed libraries use the ordinary objects, which are in the same files.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR GPUSIM_SANITIZE)
  set(GPUSIM_LTO OFF)
endif()
function(gpusim_hot library)
  if(GPUSIM_LTO)
    target_compile_options(${library} PRIVATE -flto=auto)
    if(GPUSIM_TESTS OR GPUSIM_BENCHMARKS OR GPUSIM_DEVELOPMENT)
      target_compile_options(${library} PRIVATE -ffat-lto-objects)
    endif()
  endif()
endfunction()

# gpusim_quick_link(target): dozens of programs that nobody installs are linked by gold, which takes half the time.
find_program(GPUSIM_GOLD NAMES ld.gold)
function(gpusim_quick_link target)
  if(GPUSIM_LTO)
    target_link_options(${target} PRIVATE -fno-lto)
  elseif(GPUSIM_GOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT GPUSIM_SANITIZE)
    target_link_options(${target} PRIVATE -fuse-ld=gold)
  endif()
endfunction()

# gpusim_test(name SOURCES a_test.cpp ... DEPS lib ... [SYSTEMC] [SUITES]): a GoogleTest binary, whose sources use SystemC or not.
# A test of ctest is a suite: hundreds of short tests take longer to start than to run. Each of its tests runs in a process of its
# own (SystemC elaborates once per process), which simcore/testing/alone.cpp forks; SUITES is for programs that simulate nothing in
# their own process, where a suite runs in one.
#
# Where GPUSIM_UNITY is on, the sources of each folder are compiled as one, which takes a third of the time: names in their
# anonymous namespaces differ. OWN_UNITS is for sources whose names cannot.
function(gpusim_test name)
  if(NOT GPUSIM_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "SYSTEMC;OWN_UNITS;SUITES" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES} $<TARGET_OBJECTS:gpusim_test_main>)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} fmt::fmt GTest::gtest GTest::gmock)
  target_compile_definitions(${name} PRIVATE GPUSIM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gpusim_target_defaults(${name})
  gpusim_cold(${name})
  if(GPUSIM_UNITY AND NOT ARG_OWN_UNITS)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    foreach(source IN LISTS ARG_SOURCES)
      string(REGEX MATCH "^[^/]+/" folder ${source})
      string(MAKE_C_IDENTIFIER "tests_${folder}" folder)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
    endforeach()
  endif()
  if(ARG_SYSTEMC)
    gpusim_use_headers(${name} gpusim_systemc_test_headers)
  else()
    gpusim_use_headers(${name} gpusim_test_headers)
  endif()
  gpusim_quick_link(${name})
  if(ARG_SUITES)
    gpusim_discover_suites(${name} "--gtest_filter=<suite>.*")
  else()
    gpusim_discover_suites(${name} "--alone=<suite>")
  endif()
endfunction()

# gpusim_discover_suites(test argument): CTest's tests are the program's suites, as the program lists them when it has been built.
function(gpusim_discover_suites name argument)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
  set(include ${CMAKE_CURRENT_BINARY_DIR}/${name}_include.cmake)
  add_custom_command(TARGET ${name} POST_BUILD BYPRODUCTS ${list} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${name}> -DARGUMENT=${argument} -DLIST=${list} -P ${PROJECT_SOURCE_DIR}/cmake/Suites.cmake)
  file(CONFIGURE OUTPUT ${include} @ONLY CONTENT
       "if(EXISTS \"@list@\")\n  include(\"@list@\")\nelse()\n  add_test(@name@_NOT_BUILT @name@_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()

# gpusim_fuzzer(name SOURCES a_fuzz.cpp DEPS lib ...): a libFuzzer binary, only with GPUSIM_FUZZ.
function(gpusim_fuzzer name)
  if(NOT GPUSIM_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  gpusim_target_defaults(${name})
  target_compile_definitions(${name} PRIVATE GPUSIM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()

# gpusim_benchmark(name SOURCES a_bench.cpp DEPS lib ...): a Google Benchmark binary, only with GPUSIM_BENCHMARKS.
function(gpusim_benchmark name)
  if(NOT GPUSIM_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} benchmark::benchmark benchmark::benchmark_main)
  gpusim_quick_link(${name})
  target_compile_definitions(${name} PRIVATE GPUSIM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gpusim_target_defaults(${name})
endfunction()
