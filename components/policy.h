// What the file of a policy begins with, besides the interface of its kind: the configuration keys that it
// has of its own. One line each, at the start of the line and outside any function; the build finds them as
// it finds the file (cmake/Policies.cmake) and makes them rows of the schema, so that `gpusim config
// describe` lists them and values are checked as those of other keys are. The policy reads them as
// `policy_keys.NAME` of its section of the MachineConfig (simcore/config/policy_keys.h).
//
//   POLICY_INTEGER(NAME, UNIT, DEFAULT, LEAST, MOST, DOCUMENTATION);
//   POLICY_REAL(NAME, UNIT, DEFAULT, LEAST, MOST, DOCUMENTATION);
//
// Policies of one section share its names: a name that two of them declare does not compile.
#pragma once
// It has its own meaning of the lines below, which end with it.
#include "simcore/config/policy_keys.h"

#define POLICY_INTEGER(...) static_assert(true)
#define POLICY_REAL(...) static_assert(true)
