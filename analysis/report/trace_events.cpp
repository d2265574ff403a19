#include "analysis/report/trace_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "simcore/record/child_streams.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::analysis {

namespace {

// "Processes" of the viewer: groups of rows.
constexpr int kStreams = 1, kBlocks = 2, kCounts = 3;
constexpr uint64_t kSlotsPerSm = 1000;  ///< rows of an SM's blocks: more than any machine has slots

std::string stream_name(uint64_t stream) {
  if (stream < core::kFirstChildStream) return fmt::format("stream {}", stream);
  return fmt::format("launched by kernels {}", stream - core::kFirstChildStream);
}

class TraceEvents {
 public:
  TraceEvents(const Recording& recording, const TimelineOptions& options,
              const std::function<void(std::string_view)>& write)
      : recording_(recording),
        options_(options),
        write_(write),
        us_per_cycle_(1e3 / static_cast<double>(recording.machine().clocks.core_khz)) {}

  void run() {
    write_("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
    name("process_name", kStreams, 0, "kernels and copies");
    name("process_name", kBlocks, 0, "blocks");
    name("process_name", kCounts, 0, "counts");
    streams();
    for (uint64_t i = 0; i < recording_.launches().size(); ++i) kernel(i);
    write_(fmt::format("\n], \"otherData\": {{\"machine\": {}, \"core clock\": \"{} MHz\"}}}}\n",
                       core::json_quoted(recording_.machine().gpu.name),
                       static_cast<double>(recording_.machine().clocks.core_khz) / 1e3));
  }

 private:
  [[nodiscard]] std::string us(uint64_t cycles) const {
    return core::json_number(static_cast<double>(cycles) * us_per_cycle_);
  }
  void event(const std::string& text) {
    write_(first_ ? text : ",\n" + text);
    first_ = false;
  }
  void name(const char* what, int process, uint64_t thread, const std::string& text) {
    event(fmt::format(
        "{{\"name\": \"{}\", \"ph\": \"M\", \"pid\": {}, \"tid\": {}, \"args\": {{\"name\": {}}}}}", what,
        process, thread, core::json_quoted(text)));
  }
  /// Something that lasts.
  void span(const std::string& label, const char* category, int process, uint64_t thread, uint64_t start,
            uint64_t end, const std::string& arguments) {
    event(fmt::format(
        "{{\"name\": {}, \"cat\": \"{}\", \"ph\": \"X\", \"pid\": {}, \"tid\": {}, \"ts\": {}, \"dur\": {}, "
        "\"args\": {{{}}}}}",
        core::json_quoted(label), category, process, thread, us(start), us(end - start), arguments));
  }
  void count(const char* label, uint64_t cycle, double value) {
    event(
        fmt::format("{{\"name\": \"{}\", \"ph\": \"C\", \"pid\": {}, \"tid\": 0, \"ts\": {}, \"args\": "
                    "{{\"value\": {}}}}}",
                    label, kCounts, us(cycle), core::json_number(value)));
  }

  void streams() {
    const Table items = recording_.timeline();
    if (items.rows == 0) kernels_alone();
    std::set<uint64_t> named;
    for (uint64_t i = 0; i < items.rows; ++i) {
      const uint64_t stream = items["stream"][i];
      if (named.insert(stream).second) name("thread_name", kStreams, stream, stream_name(stream));
      const uint64_t kind = items["kind"][i];
      const std::string text = core::short_kernel_name(items.texts.find("name")->second[i]);
      const std::string label = kind == 0   ? text
                                : kind <= 2 ? fmt::format("{} to the {}", text, kind == 1 ? "device" : "host")
                                : kind == 3 ? fmt::format("memset of {}", text)
                                            : fmt::format("{} within device memory", text);
      if (kind == 0) kernels_[items["kernel"][i]] = {stream, items["start"][i], items["end"][i]};
      span(label, kind == 0 ? "kernel" : "copy", kStreams, stream, items["start"][i], items["end"][i],
           kind == 0 ? fmt::format("\"launch\": {}, \"cycles\": {}", items["kernel"][i],
                                   items["end"][i] - items["start"][i])
                     : fmt::format("\"bytes\": {}, \"engine\": {}", items["bytes"][i], items["engine"][i]));
    }
  }

  /// Of a run that was killed before it wrote what ran when: its kernels, as far as they are known.
  void kernels_alone() {
    std::set<uint64_t> named;
    for (uint64_t i = 0; i < recording_.launches().size(); ++i) {
      const Recording::Launch& launch = recording_.launches()[i];
      if (!launch.readable()) continue;
      const uint64_t stream = recording_.has_attribute(i, "stream") ? recording_.attribute(i, "stream") : 0;
      if (named.insert(stream).second) name("thread_name", kStreams, stream, stream_name(stream));
      const uint64_t start = recording_.attribute(i, "start_cycle");
      const uint64_t cycles =
          launch.finished ? recording_.attribute(i, "cycles") : recording_.kernel(i).cycles;
      kernels_[i] = {stream, start, launch.finished ? start + cycles : 0};
      span(core::short_kernel_name(launch.name), "kernel", kStreams, stream, start, start + cycles,
           fmt::format("\"launch\": {}, \"cycles\": {}, \"finished\": {}", i, cycles, launch.finished));
    }
  }

  /// Within the kernel's span: the time before its first block, and that after its last one, in which stores
  /// and atomics are on their way. Of a kernel that did not end, the first alone.
  void launch_and_drain(uint64_t index, const Table& blocks) {
    const auto k = kernels_.find(index);
    if (k == kernels_.end() || blocks.rows == 0) return;
    const auto& [stream, start, end] = k->second;
    const uint64_t first = std::ranges::min(blocks["start"]), last = std::ranges::max(blocks["end"]);
    const std::string arguments = fmt::format("\"launch\": {}", index);
    if (first > start) span("launch", "launch", kStreams, stream, start, first, arguments);
    if (end > last) span("drain", "drain", kStreams, stream, last, end, arguments);
  }

  void kernel(uint64_t index) {
    if (recording_.has_events(index, "block")) {
      const Table blocks =
          recording_.events(index, "block", "summary", {"start", "end", "block", "sm", "slot"});
      launch_and_drain(index, blocks);
      for (uint64_t i = 0; i < blocks.rows; ++i) {
        const uint64_t sm = blocks["sm"][i], slot = blocks["slot"][i];
        if (sm >= options_.sms || blocks["end"][i] < blocks["start"][i]) continue;
        const uint64_t row = sm * kSlotsPerSm + slot;
        if (rows_.insert(row).second)
          name("thread_name", kBlocks, row, fmt::format("SM {} slot {}", sm, slot));
        span(fmt::format("block {}", blocks["block"][i]), "block", kBlocks, row, blocks["start"][i],
             blocks["end"][i],
             fmt::format("\"kernel\": {}, \"launch\": {}",
                         core::json_quoted(core::short_kernel_name(recording_.launches()[index].name)),
                         index));
      }
    }
    counts(index);
  }

  /// Rates of each interval, drawn from its beginning on, and zero behind the kernel.
  void counts(uint64_t index) {
    if (!recording_.has_time_series(index)) return;
    const Table series = recording_.time_series(index);
    const core::MachineConfig& machine = recording_.machine();
    uint64_t before = recording_.attribute(index, "start_cycle");
    const uint64_t start = before;
    for (uint64_t i = 0; i < series.rows; ++i) {
      const uint64_t end = start + series["cycle"][i];
      if (end <= before) continue;
      const double cycles = static_cast<double>(end - before), seconds = cycles * us_per_cycle_ * 1e-6;
      const auto value = [&](const char* column) { return static_cast<double>(series[column][i]); };
      count("issued per cycle and SM", before, value("inst_issued") / cycles / machine.gpu.sms);
      count("resident warps per SM", before, value("active_warp_cycles") / cycles / machine.gpu.sms);
      count("loads [GB/s]", before, value("load_bytes") / seconds / 1e9);
      count("stores [GB/s]", before, value("store_bytes") / seconds / 1e9);
      count("DRAM reads [GB/s]", before, value("dram_read_bytes") / seconds / 1e9);
      count("DRAM writes [GB/s]", before, value("dram_write_bytes") / seconds / 1e9);
      before = end;
    }
    for (const char* label : {"issued per cycle and SM", "resident warps per SM", "loads [GB/s]",
                              "stores [GB/s]", "DRAM reads [GB/s]", "DRAM writes [GB/s]"})
      count(label, before, 0);
  }

  const Recording& recording_;
  TimelineOptions options_;
  const std::function<void(std::string_view)>& write_;
  double us_per_cycle_;
  bool first_ = true;
  std::set<uint64_t> rows_;
  struct KernelSpan {
    uint64_t stream = 0, start = 0, end = 0;  ///< end 0: it did not end
  };
  std::map<uint64_t, KernelSpan> kernels_;  ///< by launch
};

}  // namespace

void write_trace_events(const Recording& recording, const TimelineOptions& options,
                        const std::function<void(std::string_view)>& write) {
  TraceEvents(recording, options, write).run();
}

}  // namespace gpusim::analysis
