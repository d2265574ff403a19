#include "simcore/memory/host_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace gpusim::core {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

uint64_t of_system() {
  std::ifstream file("/proc/meminfo");
  uint64_t available = kUnlimited, swap = 0, kilobytes = 0;
  std::string name, unit;
  while (file >> name >> kilobytes) {
    if (name == "MemAvailable:") available = kilobytes * 1024;
    if (name == "SwapFree:") swap = kilobytes * 1024;
    std::getline(file, unit);
  }
  return available == kUnlimited ? kUnlimited : available + swap;
}

std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (file >> value) return value;
  return {};  // no such file, or "max"
}

/// The control group and those around it: each may have a limit.
uint64_t of_control_group() {
  std::ifstream file("/proc/self/cgroup");
  uint64_t left = kUnlimited;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::")) continue;
    for (std::string group = line.substr(3);; group.resize(group.rfind('/'))) {
      const std::string folder = "/sys/fs/cgroup" + group;
      const auto limit = number_in(folder + "/memory.max"), used = number_in(folder + "/memory.current");
      if (limit && used) left = std::min(left, *limit - std::min(*limit, *used));
      if (group.find('/') == std::string::npos) break;
    }
  }
  return left;
}

uint64_t of_process() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : kUnlimited;
}

}  // namespace

uint64_t available_host_memory() { return std::min({of_system(), of_control_group(), of_process()}); }

}  // namespace gpusim::core
