#include "cli/launch_trial.h"

#include <algorithm>
#include <bit>

#include "cli/commands.h"
#include "components/simulation/simulation.h"
#include "simcore/config/load.h"
#include "simcore/launch/launch.h"

namespace gpusim::cli {
namespace {

/// Notes the last byte that accesses reach in each buffer. Buffers follow each other in device memory, so an
/// address belongs to the last one that begins at or before it.
class Reach {
 public:
  void add_buffer(uint64_t address, uint64_t bytes, size_t index) {
    ranges_.push_back({address, address + bytes, index, 0});
  }
  void sort() { std::ranges::sort(ranges_, {}, &Range::begin); }

  void step(const comp::TracedStep& t) {
    if (t.kind != comp::TracedStep::Kind::kAccess || t.access->space == isa::Space::kLocal) return;
    for (uint32_t bits = t.access->lanes.bits(); bits != 0; bits &= bits - 1) {
      const uint64_t address = t.access->address[std::countr_zero(bits)];
      const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
      if (after == ranges_.begin()) continue;
      Range& range = *(after - 1);
      if (address < range.end)
        range.reached = std::max(range.reached, address + t.access->bytes - range.begin);
    }
  }

  [[nodiscard]] std::vector<uint64_t> bytes() const {
    std::vector<uint64_t> bytes(ranges_.size());
    for (const Range& range : ranges_) bytes[range.index] = range.reached;
    return bytes;
  }

 private:
  struct Range {
    uint64_t begin, end;
    size_t index;
    uint64_t reached;
  };
  std::vector<Range> ranges_;
};

}  // namespace

std::optional<std::vector<uint64_t>> reached_elements(const std::string& ptx, const std::string& ptx_text,
                                                      const std::string& text, uint64_t most_operations) {
  try {
    comp::SimulationOptions o;
    // The newest machine runs what any other does; its memory is no limit here, for nothing is written to
    // most of it.
    o.machine = core::load_machine("h200", {}, config_folders());
    constexpr int64_t kMemoryBytes = int64_t{1} << 46;
    o.machine.memory_bytes = kMemoryBytes;
    o.ptx_name = ptx;
    o.ptx_text = ptx_text;
    o.launch = core::parse_launch(text, ptx, {}, 0);
    o.functional = true;
    o.lowering = isa::LoweringLevel::kClean;  // accesses as the text has them
    o.max_cycles = most_operations;
    Reach reach;
    o.trace = [&reach](const comp::TracedStep& step) { reach.step(step); };
    comp::Simulation simulation(std::move(o));
    const core::LaunchDescription& launch = simulation.options().launch;
    std::vector<size_t> buffers;
    for (size_t i = 0; i < launch.buffers.size(); ++i) {
      if (launch.buffers[i].variable) continue;
      reach.add_buffer(simulation.buffer_address(i), launch.buffers[i].bytes(), buffers.size());
      buffers.push_back(i);
    }
    reach.sort();
    if (simulation.run().status != comp::SimulationResult::Status::kComplete) return {};
    std::vector<uint64_t> elements = reach.bytes();
    for (size_t i = 0; i < elements.size(); ++i) {
      const uint32_t bytes = core::element_bytes(launch.buffers[buffers[i]].type);
      elements[i] = (elements[i] + bytes - 1) / bytes;
    }
    return elements;
  } catch (const core::InputError&) {
    return {};  // such as a program of several files: what it lacks is said when it is run
  }
}

}  // namespace gpusim::cli
