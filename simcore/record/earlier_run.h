// What a run is about to replace: a recorded file of an earlier run is lost only if that was the same program
// on the same machine, or if whoever starts the run says so.
#pragma once
#include <string>

#include "simcore/record/recorder.h"

namespace gpusim::core {

/// True if `path` holds a recording of the same machine (every resolved value of its configuration) and the
/// same PTX as `now`; its launches and parameters may differ. False if there is nothing to lose: no file,
/// an empty one, or one in which a run that did not end has recorded no launch. Throws RecordError, which
/// says what is there, if it is anything else.
[[nodiscard]] bool replaces_same_run(const std::string& path, const RunAttributes& now);

/// True if there is something in `path` that a run replaces only once its own recording is whole: anything
/// but an empty file and a recording whose run did not end.
[[nodiscard]] bool worth_keeping(const std::string& path);

}  // namespace gpusim::core
