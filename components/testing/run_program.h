// Runs a program through comp::Simulation in a process of its own (SystemC elaborates once per process) and
// brings back everything deterministic about it as text, so that two runs are compared with one EXPECT_EQ.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "components/simulation/simulation.h"
#include "components/testing/mocks.h"
#include "simcore/process/child_process.h"
#include "simcore/record/read.h"

namespace gpusim::comp::test {

inline SimulationOptions program(const std::string& ptx, const std::string& launch,
                                 std::vector<std::string> sets = {}) {
  SimulationOptions o;
  o.machine = tesla_c1060(std::move(sets));
  o.ptx_name = "test.ptx";
  o.ptx_text = ptx;
  o.launch = core::parse_launch(launch, "test.toml", {}, 1, false);
  o.direct_driver = true;
  o.lowering =
      isa::LoweringLevel::kClean;  // operations in the order of the text: tests count cycles between them
  return o;
}

/// What a run did, by topic.
struct Outcome {
  std::string status, reason;
  std::string values;    ///< content of all buffers
  std::string counts;    ///< instructions, accesses, transactions: what no timing may change
  std::string timing;    ///< cycles, counters, stall slots
  std::string recorded;  ///< every table of the recorded file
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

inline uint64_t digest(const void* data, size_t bytes, uint64_t h = 0xcbf29ce484222325ull) {
  const auto* p = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * 0x100000001b3ull;
  return h;
}

/// Every table of a recorded file: name, rows and a digest of each column, as it is and (of numbers) sorted.
inline std::string describe_tables(const std::string& path) {
  const core::RecordedFile file(path);
  std::string text;
  const std::function<void(const std::string&)> walk = [&](const std::string& object) {
    std::vector<std::string> columns;
    try {
      columns = file.columns(object);
    } catch (const core::RecordError&) {
      for (const std::string& child : file.list(object)) walk((object == "/" ? "" : object) + "/" + child);
      return;
    }
    text += fmt::format("{} {} rows:", object, file.rows(object));
    std::string sorted;
    for (const std::string& c : columns) {
      uint64_t h = 0;
      try {
        auto v = file.reals(object, c);
        h = digest(v.data(), v.size() * sizeof(double));
        std::sort(v.begin(), v.end());
        sorted += fmt::format(" {}={:x}", c, digest(v.data(), v.size() * sizeof(double)));
      } catch (const core::RecordError&) {
        for (const std::string& s : file.texts(object, c)) h = digest(s.data(), s.size(), h);
      }
      text += fmt::format(" {}={:x}", c, h);
    }
    text += fmt::format("\n{} sorted:{}\n", object, sorted);
  };
  walk("/kernels");
  return text;
}

/// In this process: at most once.
inline Outcome run_here(SimulationOptions options) {
  const std::string out = options.out;
  Simulation simulation(std::move(options));
  const SimulationResult r = simulation.run();
  Outcome o;
  o.status = r.status == SimulationResult::Status::kComplete ? "complete"
             : r.status == SimulationResult::Status::kFailed ? "failed"
                                                             : "interrupted";
  o.reason = r.reason;
  for (uint32_t b = 0; b < simulation.options().launch.buffers.size(); ++b) {
    const auto bytes = simulation.buffer(b);
    o.values += fmt::format("{}: {:x}\n", simulation.options().launch.buffers[b].name,
                            digest(bytes.data(), bytes.size()));
  }
  for (const KernelResult& k : r.kernels) {
    const SmStats& s = k.total;
    o.counts += fmt::format("{}: {} {} {} {} {} {} {} {} {} {} {} {} {} {}\n", k.name, s.warp_instructions,
                            s.thread_instructions, s.inst_executed, s.branches, s.divergent_branches,
                            s.barriers, s.flops, s.blocks, s.warps, s.global_loads, s.global_stores,
                            s.atomics, s.shared_loads, s.shared_stores);
    o.timing += fmt::format("{}: {} cycles\n", k.name, k.cycles);
    for (const core::Counter& c : k.counters) o.timing += fmt::format("  {} = {:.17g}\n", c.name, c.value);
    for (size_t c = 0; c < kNumStallCauses; ++c)
      o.timing += fmt::format("  slots {} = {}\n", kStallCauseNames[c], s.slots[c]);
  }
  if (!out.empty()) o.recorded = describe_tables(out);
  return o;
}

/// A counter of the n-th launch; -1 if it has none of this name.
inline double counter(const Outcome& o, const std::string& name, int launch = 0) {
  const std::string line = "  " + name + " = ";
  size_t at = o.timing.find(line);
  for (int i = 0; i < launch && at != std::string::npos; ++i) at = o.timing.find(line, at + 1);
  return at == std::string::npos ? -1 : std::stod(o.timing.substr(at + line.size()));
}

/// Runs a program in a child process: any driver, any number of times.
inline Outcome run_apart(const SimulationOptions& options) {
  static constexpr std::array kParts = {&Outcome::status, &Outcome::reason, &Outcome::values,
                                        &Outcome::counts, &Outcome::timing, &Outcome::recorded};
  const std::function<std::string()> work = [&options] {
    Outcome o;
    try {
      o = run_here(options);
    } catch (const std::exception& e) {
      o.status = "exception";
      o.reason = e.what();
    }
    std::string all;
    for (const auto part : kParts) all += fmt::format("{:020}", (o.*part).size()) + o.*part;
    return all;
  };
  const core::ChildAnswer answer = core::run_in_children({&work, 1}, 1).front();
  Outcome o;
  if (!answer.good) {
    o.status = "child died";
    o.reason = answer.text;
    return o;
  }
  size_t at = 0;
  for (const auto part : kParts) {
    constexpr size_t kDigits = 20;
    const size_t size = std::stoull(answer.text.substr(at, kDigits));
    o.*part = answer.text.substr(at + kDigits, size);
    at += kDigits + size;
  }
  return o;
}

}  // namespace gpusim::comp::test
