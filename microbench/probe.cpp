#include "microbench/probe.h"

#include <algorithm>

#include "microbench/kernels.h"

namespace gpusim::microbench {

namespace {

constexpr size_t kHeader = 4;  // words in front of the members' clocks
constexpr uint64_t kTable = 65536;
constexpr uint32_t kFillBlocks = 4, kFillThreads = 256, kFillUnit = 128;

std::string_view entry_of(Path path) {
  return path == Path::kCached ? "probe_cached" : path == Path::kPastL1 ? "probe_past_l1" : "probe_constant";
}

uint64_t bytes_touched(const ProbeRequest& r) {
  uint64_t end = r.rounds == 0 ? 0 : uint64_t{r.stride} * (uint64_t{r.rounds} * r.threads - 1) + 4;
  for (const uint32_t m : r.members) end = std::max<uint64_t>(end, uint64_t{m} + 4);
  return end;
}

uint64_t filled_bytes(const ProbeRequest& r) {
  return (bytes_touched(r) + kFillUnit - 1) / kFillUnit * kFillUnit;
}

}  // namespace

std::string Probe::kernel() const { return "probe: " + std::string(entry_of(path_)); }

uint64_t Probe::reach() const {
  return path_ == Path::kConstant ? kTable : reach_of_probe(device_->properties().memory_bytes);
}

uint32_t Probe::most_members() const {
  return static_cast<uint32_t>(std::min<uint64_t>(device_->properties().shared_for_data(), 32768) / 4);
}

Program Probe::program(std::span<const ProbeRequest> requests) const {
  Program p;
  p.sms = 1;
  p.ptx = kernel_file("probe", device_->properties());
  uint64_t bytes = 4;
  for (const ProbeRequest& r : requests)
    bytes = std::max(bytes, r.filled ? filled_bytes(r) : bytes_touched(r));
  p.buffers.push_back({path_ == Path::kConstant ? 4 : bytes, {}, false});
  for (const ProbeRequest& r : requests) {
    if (r.filled)
      p.launches.push_back({"fill",
                            kFillBlocks,
                            std::min(kFillThreads, device_->properties().threads_per_block),
                            0,
                            {Argument::buffer(0), Argument::number(filled_bytes(r))},
                            true});
    const size_t out = p.buffers.size();
    const auto members = static_cast<uint32_t>(r.members.size());
    p.buffers.push_back({(kHeader + members) * 4, {}, true});
    p.buffers.push_back({std::max<uint64_t>(members, 1) * 4, r.members, false});
    const auto number = [](uint64_t v) { return Argument::number(v); };
    p.launches.push_back(
        {std::string(entry_of(path_)),
         1,
         r.threads,
         path_ == Path::kCached ? 0 : members * 4,
         {Argument::buffer(out), Argument::buffer(0), Argument::buffer(out + 1), number(r.stride),
          number(r.rounds), number(members), number(r.laps), number(r.limit)}});
  }
  return p;
}

std::vector<ProbeReading> Probe::read(std::span<const ProbeRequest> requests, bool separate) const {
  std::vector<Program> programs;
  if (separate)
    for (const ProbeRequest& r : requests) programs.push_back(program({&r, 1}));
  else
    programs.push_back(program(requests));
  std::vector<ProbeReading> readings;
  for (const Outcome& outcome : device_->run(programs))
    for (size_t out = 1; out < outcome.buffers.size(); out += 2) {
      const std::vector<uint32_t>& words = outcome.buffers[out];
      readings.push_back({words[0], words[1], words[2], words[3], {words.begin() + kHeader, words.end()}});
    }
  return readings;
}

}  // namespace gpusim::microbench
