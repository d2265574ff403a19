// For processes that touch a line here and there of large memory: of huge pages, most of the time would go
// into zeroing what is never read.
#pragma once

namespace gpusim::core {

/// From now on, memory of devices and arenas lies on ordinary pages.
void prefer_small_pages();

}  // namespace gpusim::core
