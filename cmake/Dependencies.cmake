# External libraries, all Debian 12 packages. SystemC and HDF5 (C API) come through pkg-config.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(tomlplusplus 3.3 REQUIRED)
pkg_check_modules(GPUSIM_HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
pkg_check_modules(GPUSIM_SYSTEMC REQUIRED IMPORTED_TARGET systemc)

# Debian builds SystemC 2.3.4 as C++17; a C++20 client must ask for that ABI tag or linking fails on
# sc_api_version_2_3_4_cxx201703L.
add_library(gpusim_systemc INTERFACE)
target_compile_definitions(gpusim_systemc INTERFACE SC_CPLUSPLUS=201703L)
get_target_property(systemc_includes PkgConfig::GPUSIM_SYSTEMC INTERFACE_INCLUDE_DIRECTORIES)
if(systemc_includes)
  target_include_directories(gpusim_systemc SYSTEM INTERFACE $<BUILD_INTERFACE:${systemc_includes}>)
endif()
target_link_libraries(gpusim_systemc INTERFACE $<BUILD_INTERFACE:systemc> $<INSTALL_INTERFACE:PkgConfig::GPUSIM_SYSTEMC>)

# Debian's shared HDF5 brings 31 libraries along that reach files over a network (curl, Kerberos, LDAP); loading them takes half
# the time of a short command. The static one needs none of them, only szip, and goes into programs. It is not position
# independent: shared libraries take the shared one.
find_library(GPUSIM_HDF5_ARCHIVE libhdf5_serial.a)
find_library(GPUSIM_SZIP_ARCHIVE libsz.a)
find_library(GPUSIM_AEC_ARCHIVE libaec.a)
mark_as_advanced(GPUSIM_HDF5_ARCHIVE GPUSIM_SZIP_ARCHIVE GPUSIM_AEC_ARCHIVE)
add_library(gpusim_hdf5 INTERFACE)
if(GPUSIM_HDF5_ARCHIVE AND GPUSIM_SZIP_ARCHIVE AND GPUSIM_AEC_ARCHIVE)
  set(GPUSIM_STATIC_HDF5 ON)
  target_include_directories(gpusim_hdf5 SYSTEM INTERFACE ${GPUSIM_HDF5_INCLUDE_DIRS})
  set(archives ${GPUSIM_HDF5_ARCHIVE} ${GPUSIM_SZIP_ARCHIVE} ${GPUSIM_AEC_ARCHIVE} z m ${CMAKE_DL_LIBS})
  target_link_libraries(gpusim_hdf5 INTERFACE
    "$<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>,${archives},PkgConfig::GPUSIM_HDF5>")
else()
  set(GPUSIM_STATIC_HDF5 OFF)
  target_link_libraries(gpusim_hdf5 INTERFACE PkgConfig::GPUSIM_HDF5)
endif()

if(GPUSIM_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()
if(GPUSIM_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
