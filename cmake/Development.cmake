# Component `development` of `cmake --install`: headers, static libraries and a CMake package, for programs that use gpusim as a
# library (docs/installing.md). find_package(gpusim) gives them one target, gpusim::simulation.
if(NOT GPUSIM_DEVELOPMENT)
  return()
endif()
include(CMakePackageConfigHelpers)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/gpusim)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/gpusim)
set(libraries isa simcore occupancy timing engine components)

# Headers keep their paths below include/gpusim. Those of tests stay behind, and those of the libraries' own sources: the parsers
# of launch files, which include toml++, and the lanes of instructions, which are compiled once for each instruction set.
set(own "/(tests|testing|fuzz|bench)$|/text/toml_[a-z]+[.]h$|/launch/(reader|params|step_reader|texture|variable)[.]h$")
string(APPEND own "|/semantics/(access|[a-z0-9]*_?lanes|matrix_sums|rows)[a-z0-9_]*[.]h$")
foreach(folder isa simcore components)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${headers} COMPONENT development FILES_MATCHING PATTERN "*.h"
          PATTERN "*.def" REGEX "${own}" EXCLUDE)
endforeach()
install(DIRECTORY ${GPUSIM_GENERATED}/policies DESTINATION ${headers} COMPONENT development FILES_MATCHING PATTERN "*_keys.inc")

add_library(gpusim_simulation INTERFACE)
target_link_libraries(gpusim_simulation INTERFACE gpusim_components)
target_compile_features(gpusim_simulation INTERFACE cxx_std_20)
set(targets gpusim_simulation gpusim_systemc)
set_target_properties(gpusim_simulation PROPERTIES EXPORT_NAME simulation)
set_target_properties(gpusim_systemc PROPERTIES EXPORT_NAME systemc)
foreach(library IN LISTS libraries)
  set_target_properties(gpusim_${library} PROPERTIES EXPORT_NAME ${library})
  list(APPEND targets gpusim_${library})
endforeach()
install(TARGETS ${targets} EXPORT gpusim-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        INCLUDES DESTINATION ${headers})
# Code for link-time optimisation is of use to this compiler's version alone.
if(GPUSIM_LTO)
  foreach(library IN LISTS libraries)
    set(installed "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libgpusim_${library}.a")
    install(CODE "execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_*
                                          \"${installed}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT development)
  endforeach()
endif()

install(EXPORT gpusim-targets NAMESPACE gpusim:: DESTINATION ${package} COMPONENT development)
set(GPUSIM_DATA_DIR ${GPUSIM_DATA_FOLDER})
configure_package_config_file(cmake/gpusim-config.cmake.in ${PROJECT_BINARY_DIR}/development/gpusim-config.cmake
  INSTALL_DESTINATION ${package} PATH_VARS GPUSIM_DATA_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/development/gpusim-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/development/gpusim-config.cmake ${PROJECT_BINARY_DIR}/development/gpusim-config-version.cmake
        DESTINATION ${package} COMPONENT development)
