# `cpack` in the build folder makes Debian packages of what `cmake --install` installs: gpusim of component `program`, and
# gpusim-dev of component `development`.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gpusim)
set(CPACK_PACKAGE_VENDOR "gpusim maintainers")
set(CPACK_PACKAGE_CONTACT "gpusim maintainers <maintainers@gpusim.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "cycle-level GPU simulator that executes PTX")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME gpusim)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "Executes PTX on a model of a GPU with multiprocessors, warp schedulers, caches,
interconnect and DRAM, gives every issue slot of every cycle a cause, and
compares analytical models with what it simulated.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS gnuplot-nox)
if(GPUSIM_DEVELOPMENT)
  list(APPEND CPACK_COMPONENTS_ALL development)
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME gpusim-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "gpusim (= ${PROJECT_VERSION}), libboost-dev, libfmt-dev, libhdf5-dev, libsystemc-dev, pkg-config, zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Library: headers, static libraries and a CMake package, for
programs that attach an outside memory to gpusim, add policies to it or run
it as a library.")

# The files of Debian's policy: copyright, and the changelog compressed without a time.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/changelog.Debian CONTENT
"gpusim (@PROJECT_VERSION@) unstable; urgency=medium

  * Release @PROJECT_VERSION@; CHANGELOG.md says what has changed.

 -- gpusim maintainers <maintainers@gpusim.invalid>  Sun, 22 Nov 2026 00:00:00 +0000
" @ONLY)
# What is linked into the program has its conditions there as well.
file(READ ${PROJECT_SOURCE_DIR}/LICENSE copyright)
if(GPUSIM_STATIC_HDF5)
  foreach(package IN ITEMS libhdf5-dev libaec-dev)
    set(text /usr/share/doc/${package}/copyright)
    if(EXISTS ${text})
      file(READ ${text} conditions)
      string(APPEND copyright "\n\nThe program contains the library of Debian's package ${package}:\n\n${conditions}")
    endif()
  endforeach()
endif()
file(WRITE ${PROJECT_BINARY_DIR}/package/copyright "${copyright}")
find_program(GZIP gzip REQUIRED)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/package/changelog.gz
  COMMAND ${GZIP} -9nc changelog.Debian > changelog.gz
  DEPENDS ${PROJECT_BINARY_DIR}/package/changelog.Debian WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/package)
add_custom_target(package_files ALL DEPENDS ${PROJECT_BINARY_DIR}/package/changelog.gz)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package_doc ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES ${PROJECT_BINARY_DIR}/package/copyright DESTINATION ${package_doc} COMPONENT ${component})
  install(FILES ${PROJECT_BINARY_DIR}/package/changelog.gz DESTINATION ${package_doc} COMPONENT ${component})
endforeach()
include(CPack)
