#include "microbench/bank_mates.h"

#include <algorithm>
#include <random>

#include "microbench/kernels.h"
#include "microbench/timing.h"

namespace gpusim::microbench {

namespace {

constexpr uint32_t kBankTrials = 3;  // the fastest counts, for refreshes come in between
constexpr uint32_t kBankAgain = 3;   // what seems to conflict is measured again
constexpr size_t kBatch = 256;       // addresses of a program
constexpr uint32_t kMostBatches = 128, kBankLine = 128;

/// Adds a launch that loads `addresses` of buffer 0 at once; returns the buffer of its clocks.
size_t add_burst(Program& p, const std::vector<uint32_t>& addresses) {
  const auto count = static_cast<uint32_t>(addresses.size());
  const uint32_t warps = std::max(1u, (count + 31) / 32);
  const size_t out = p.buffers.size();
  p.buffers.push_back({uint64_t{warps} * 8, {}, true});
  p.buffers.push_back({std::max(1u, count) * 4ul, addresses, false});
  p.launches.push_back(
      {"burst_list",
       1,
       warps * 32,
       0,
       {Argument::buffer(out), Argument::buffer(0), Argument::buffer(out + 1), Argument::number(count)}});
  return out;
}

uint32_t most_pause(const DeviceProperties& device) { return device.threads_per_block / 2; }

/// The crowd, and so many more lines as fall by lot: launches of equal length could keep step with refreshes.
void add_pause(Program& p, std::vector<uint32_t> lines, uint32_t more) {
  for (uint32_t i = 0; i < more; ++i)
    lines.push_back(static_cast<uint32_t>(p.buffers[0].bytes - (i + 1ul) * kBankLine));
  add_burst(p, lines);
}

void keep_least(std::vector<double>& best, size_t i, double clocks) { best[i] = std::min(best[i], clocks); }

}  // namespace

BankMates::BankMates(Device& device, std::vector<uint32_t> crowd)
    : device_(&device),
      crowd_(std::move(crowd)),
      least_conflict_(kLeastRowConflict * device.properties().core_hz) {
  const std::vector<double> near =
      times(std::vector<uint32_t>(kBankTrials, crowd_.front() + kNextInRow), true, kBankTrials);
  anchor_alone_ = *std::min_element(near.begin(), near.end());
}

Program BankMates::program(const std::vector<uint32_t>& addresses, bool with_anchor, uint32_t trial) const {
  Program p;
  p.sms = 1;
  p.ptx = kernel_file("burst", device_->properties());
  uint32_t last = *std::max_element(crowd_.begin(), crowd_.end());
  last = std::max(last, *std::max_element(addresses.begin(), addresses.end()));
  const uint32_t most = most_pause(device_->properties());
  p.buffers.push_back({uint64_t{last} + (1ul + most) * kBankLine, {}, false});
  std::mt19937 random(trial);
  const std::vector<uint32_t> others(crowd_.begin() + 1, crowd_.end());
  for (const uint32_t a : addresses) {
    add_pause(p, others, static_cast<uint32_t>(random() % most));
    add_burst(p, with_anchor ? std::vector<uint32_t>{crowd_.front(), a} : std::vector<uint32_t>{a});
  }
  return p;
}

std::vector<double> BankMates::times(const std::vector<uint32_t>& addresses, bool with_anchor,
                                     uint32_t trials) const {
  std::vector<Program> programs;
  for (uint32_t trial = 0; trial < trials; ++trial)
    for (size_t first = 0; first < addresses.size(); first += kBatch)
      programs.push_back(program(
          {addresses.begin() + static_cast<std::ptrdiff_t>(first),
           addresses.begin() + static_cast<std::ptrdiff_t>(std::min(addresses.size(), first + kBatch))},
          with_anchor, trial));
  const std::vector<Outcome> outcomes = device_->run(programs);
  std::vector<double> best(addresses.size(), 1e300);
  size_t at = 0;
  for (uint32_t trial = 0; trial < trials; ++trial)
    for (size_t first = 0; first < addresses.size(); first += kBatch, ++at)
      for (size_t i = first; i < std::min(addresses.size(), first + kBatch); ++i) {
        keep_least(best, i, elapsed(outcomes[at].buffers[3 + 4 * (i - first)]));
      }
  return best;
}

std::vector<bool> BankMates::conflicts(const std::vector<uint32_t>& addresses) const {
  // One trial shows all that may conflict: refreshes and rows that others left open add to the time only.
  std::vector<size_t> slow;
  const std::vector<double> once = times(addresses, true, 1);
  for (size_t i = 0; i < addresses.size(); ++i)
    if (once[i] > anchor_alone_ + least_conflict_) slow.push_back(i);
  for (uint32_t again = 0; again < kBankAgain && !slow.empty(); ++again) {
    std::vector<uint32_t> asked;
    asked.reserve(slow.size());
    for (const size_t i : slow) asked.push_back(addresses[i]);
    const std::vector<double> together = times(asked, true, kBankTrials),
                              alone = times(asked, false, kBankTrials);
    std::vector<size_t> left;
    for (size_t k = 0; k < slow.size(); ++k)
      if (together[k] > std::max(alone[k], anchor_alone_) + least_conflict_) left.push_back(slow[k]);
    slow = std::move(left);
  }
  std::vector<bool> result(addresses.size(), false);
  for (const size_t i : slow) result[i] = true;
  return result;
}

std::vector<bool> BankMates::conflicts_with(uint32_t with, const std::vector<uint32_t>& addresses) const {
  std::vector<Program> programs;
  const uint32_t most = most_pause(device_->properties());
  for (const uint32_t a : addresses)
    for (uint32_t trial = 0; trial < kBankTrials; ++trial)
      for (const uint32_t other : {with + kNextInRow, a}) {
        Program p;
        p.sms = 1;
        p.ptx = kernel_file("burst", device_->properties());
        p.buffers.push_back({uint64_t{std::max(with, other)} + (1ul + most) * kBankLine, {}, false});
        add_pause(p, {}, trial * most / kBankTrials);
        add_burst(p, {with, other});
        programs.push_back(std::move(p));
      }
  const std::vector<Outcome> outcomes = device_->run(programs);
  std::vector<bool> result;
  for (size_t first = 0; first < outcomes.size(); first += 2ul * kBankTrials) {
    std::vector<double> best(2, 1e300);
    for (size_t i = 0; i < 2ul * kBankTrials; ++i)
      keep_least(best, i % 2, elapsed(outcomes[first + i].buffers[3]));
    result.push_back(best[1] > best[0] + least_conflict_);
  }
  return result;
}

uint32_t BankMates::find(uint64_t reach) const {
  std::mt19937 random(1);
  for (uint32_t batch = 0; batch < kMostBatches; ++batch) {
    std::vector<uint32_t> addresses;
    for (size_t i = 0; i < kBatch; ++i) {
      const auto a = static_cast<uint32_t>(random() % (reach / kBankLine) * kBankLine);
      if (std::find(crowd_.begin(), crowd_.end(), a) == crowd_.end()) addresses.push_back(a);
    }
    const std::vector<bool> found = conflicts(addresses);
    const auto first = std::find(found.begin(), found.end(), true);
    if (first != found.end()) return addresses[static_cast<size_t>(first - found.begin())];
  }
  return 0;
}

}  // namespace gpusim::microbench
