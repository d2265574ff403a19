# What `cmake --install` puts under the prefix (docs/installing.md): the program and the data that its commands need.
set(GPUSIM_DATA_FOLDER ${CMAKE_INSTALL_DATADIR}/gpusim)
file(RELATIVE_PATH GPUSIM_DATA_FROM_PROGRAM ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/gpusim)
# The CUDA libraries of `gpusim run`, in a folder of their own: other programs must not find them in place of the real ones.
set(GPUSIM_RUNTIME_FOLDER ${CMAKE_INSTALL_LIBDIR}/gpusim)
file(RELATIVE_PATH GPUSIM_RUNTIME_FROM_PROGRAM ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/gpusim)

function(gpusim_install_data folder)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION ${GPUSIM_DATA_FOLDER}/${folder} COMPONENT program
          FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ FILES_MATCHING ${ARGN})
endfunction()
gpusim_install_data(configs PATTERN "*.cfg")
gpusim_install_data(workloads PATTERN "*.ptx" PATTERN "*.toml" PATTERN "*.npy" PATTERN "*.cu" PATTERN "*.h")
gpusim_install_data(regress/suites PATTERN "*.toml" PATTERN "*.json")
# Published measurements, and the program that takes them on a GPU.
gpusim_install_data(regress/hardware PATTERN "*.json" PATTERN "*.cu" PATTERN "*.cpp" PATTERN "*.h")
