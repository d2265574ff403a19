#include "components/simulation/run_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace gpusim::comp {

namespace {

/// Cycles between two looks at the clock on the wall, the interrupt flag and the limits.
constexpr uint64_t kObserverPeriod = 4096;

}  // namespace

void observe(core::Engine& engine, Gpu& gpu, uint64_t max_cycles, RunObserver observer) {
  const uint64_t period = std::clamp<uint64_t>(max_cycles, 1, kObserverPeriod);
  const auto shared = std::make_shared<RunObserver>(std::move(observer));
  gpu.core_domain().set_observer(
      core::Cycle(period), [shared, period, next_watch = period](core::Cycle now) mutable {
        shared->sample(now.count());
        if (now.count() >= next_watch) {
          shared->tell(now.count());
          shared->watch(now.count());
          next_watch = now.count() + period;
        }
        return std::min(core::Cycle(next_watch), core::Cycle(shared->next_sample()));
      });
  // The core may sleep while memory works: the other domains watch too.
  for (core::ClockDomain* domain : engine.domains()) {
    if (domain == &gpu.core_domain()) continue;
    domain->set_observer(core::Cycle(kObserverPeriod), [shared, &gpu, domain](core::Cycle now) {
      shared->watch(gpu.core_domain().first_edge_from(domain->time_of(now)).count());
      return now + kObserverPeriod;
    });
  }
}

std::string still_running(const Gpu& gpu, uint64_t max_cycles) {
  std::string where = "no warp is resident";
  for (const auto& sm : gpu.sms()) {
    if (const std::string text = sm->waiting_for(); !text.empty()) {
      where = fmt::format("{}: {}", sm->name(), text);
      break;
    }
  }
  return fmt::format("still running after {} cycles (--max-cycles): {}", max_cycles, where);
}

std::string deadlock_report(const core::Engine& engine) {
  std::string text = "deadlock: nothing is scheduled but the kernel is not finished";
  size_t shown = 0;
  for (const std::string& line : engine.waiting()) {
    if (++shown > 12) {
      text += "\n  ...";
      break;
    }
    text += "\n  " + line;
  }
  return text;
}

}  // namespace gpusim::comp
