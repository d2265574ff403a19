# Policies are found, not listed: each file that matches a pattern is one, and the word that chooses it is the file's name
# without "policy_" and ".cpp".

# gpusim_policy_keys(source out): the configuration keys that the file declares, POLICY_INTEGER(...); or POLICY_REAL(...); at the
# start of a line each (components/policy.h), without the semicolons.
function(gpusim_policy_keys source out)
  string(ASCII 1 end)
  string(ASCII 2 semicolon)
  file(READ ${source} text)
  # A list's items are separated by semicolons, which the text of a key may contain.
  string(REPLACE ");\n" "${end}\n" text "\n${text}")
  string(REPLACE ";" "${semicolon}" text "${text}")
  string(REGEX MATCHALL "\nPOLICY_(INTEGER|REAL)[(][^${end}]*${end}" keys "${text}")
  list(JOIN keys "" keys)
  string(REPLACE "${end}" ")\n" keys "${keys}")
  string(REPLACE "${semicolon}" ";" keys "${keys}")
  set(${out} "${keys}" PARENT_SCOPE)
endfunction()

# gpusim_policies(family pattern): the policies in the files that match the pattern, tests aside. It adds
#   - the files to GPUSIM_POLICY_SOURCES,
#   - the words, as "a|b", to the definitions GPUSIM_POLICY_WORDS, as GPUSIM_<FAMILY>_WORDS,
#   - the includes policies/<family>.inc, GPUSIM_POLICY(word) for each, and policies/<family>_keys.inc, the keys of all.
function(gpusim_policies family pattern)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${pattern})
  list(FILTER sources EXCLUDE REGEX "_test[.]cpp$")
  list(SORT sources)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  set(words "")
  set(registry "")
  set(keys "")
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "^.*/(policy_)?([^/]*)[.]cpp$" "\\2" word ${source})
    list(APPEND words ${word})
    string(APPEND registry "GPUSIM_POLICY(${word})\n")
    gpusim_policy_keys(${source} own)
    string(APPEND keys "${own}")
  endforeach()
  list(JOIN words "|" words)
  file(CONFIGURE OUTPUT ${GPUSIM_GENERATED}/policies/${family}.inc CONTENT "${registry}" @ONLY)
  file(CONFIGURE OUTPUT ${GPUSIM_GENERATED}/policies/${family}_keys.inc CONTENT "${keys}" @ONLY)
  string(TOUPPER ${family} upper)
  set(GPUSIM_POLICY_SOURCES ${GPUSIM_POLICY_SOURCES} ${sources} PARENT_SCOPE)
  set(GPUSIM_POLICY_WORDS ${GPUSIM_POLICY_WORDS} "GPUSIM_${upper}_WORDS=\"${words}\"" PARENT_SCOPE)
endfunction()

set(GPUSIM_GENERATED ${PROJECT_BINARY_DIR}/generated)
gpusim_policies(scheduler components/sm/policies/policy_*.cpp)
gpusim_policies(replacement components/cache/replacement/*.cpp)
gpusim_policies(dram_scheduler components/dram/scheduler/*.cpp)
gpusim_policies(row_policy components/dram/row_policy/*.cpp)
gpusim_policies(dram_refresh components/dram/refresh/*.cpp)
gpusim_policies(topology components/noc/topology/*.cpp)
