# cmake -DPROGRAM=... -DARGUMENT=... -DLIST=... -P Suites.cmake: writes what CTest reads of a GoogleTest program, one test for each of
# its suites: with the argument, where <suite> stands for its name.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
# A suite's line ends with a point, where no comment follows; its tests are indented.
string(REGEX MATCHALL "\n[^ \n]+[.][ \n]" suites "\n${listed}")
set(text "")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "^\n(.*)[.][ \n]$" "\\1" suite "${suite}")
  string(REPLACE "<suite>" "${suite}" argument "${ARGUMENT}")
  string(APPEND text "add_test([=[${suite}]=] [=[${PROGRAM}]=] [=[${argument}]=])\n"
                     "set_tests_properties([=[${suite}]=] PROPERTIES TIMEOUT 600)\n")
endforeach()
file(WRITE ${LIST} "${text}")
