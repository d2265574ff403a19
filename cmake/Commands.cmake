# The commands of the program: one for each cli/NAME_command.cpp.
file(GLOB GPUSIM_COMMAND_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*_command.cpp)
list(SORT GPUSIM_COMMAND_SOURCES)
set(lines "")
foreach(source IN LISTS GPUSIM_COMMAND_SOURCES)
  string(REGEX REPLACE ".*/(.*)_command[.]cpp" "\\1" name ${source})
  string(APPEND lines "GPUSIM_COMMAND(${name})\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/cli/commands.inc CONTENT "${lines}" @ONLY)
