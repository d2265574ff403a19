# `cpack` in the build folder makes a Debian package of what `cmake --install` installs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gpusim)
set(CPACK_PACKAGE_VENDOR "gpusim maintainers")
set(CPACK_PACKAGE_CONTACT "gpusim maintainers <maintainers@gpusim.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "cycle-level GPU simulator that executes PTX")
set(CPACK_PACKAGE_DESCRIPTION
    "Executes PTX on a model of a GPU with multiprocessors, warp schedulers, caches,
interconnect and DRAM, gives every issue slot of every cycle a cause, and
compares analytical models with what it simulated.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS gnuplot-nox)

# The files of Debian's policy: copyright, and the changelog compressed without a time.
set(package_doc ${CMAKE_INSTALL_DATADIR}/doc/gpusim)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${package_doc} RENAME copyright)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/changelog.Debian CONTENT
"gpusim (@PROJECT_VERSION@) unstable; urgency=medium

  * Release @PROJECT_VERSION@; CHANGELOG.md says what has changed.

 -- gpusim maintainers <maintainers@gpusim.invalid>  Sun, 22 Nov 2026 00:00:00 +0000
" @ONLY)
find_program(GZIP gzip REQUIRED)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/package/changelog.gz
  COMMAND ${GZIP} -9nc changelog.Debian > changelog.gz
  DEPENDS ${PROJECT_BINARY_DIR}/package/changelog.Debian WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/package)
add_custom_target(package_files ALL DEPENDS ${PROJECT_BINARY_DIR}/package/changelog.gz)
install(FILES ${PROJECT_BINARY_DIR}/package/changelog.gz DESTINATION ${package_doc})
include(CPack)
