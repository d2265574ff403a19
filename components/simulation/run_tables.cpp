#include "components/simulation/run_tables.h"

#include <cstddef>
#include <optional>
#include <span>

#include "components/power/system_energy.h"
#include "components/simulation/table_builder.h"

namespace gpusim::comp {

namespace {

uint64_t kind_of(const CopyResult& copy) {
  switch (copy.form) {
    case CopyResult::Form::kFill:
      return 3;
    case CopyResult::Form::kInside:
      return 4;
    case CopyResult::Form::kTransfer:
      break;
  }
  return copy.to_device ? 1 : 2;
}

}  // namespace

void write_timeline(core::Recorder& recorder, const SimulationResult& result) {
  TableBuilder t("timeline",
                 "launches that ended and transfers that began, in the order in which they began");
  t.column("start", "core cycles", "launch, or start of the transfer");
  t.column("end", "core cycles", "last SM drained, or end of the transfer");
  t.column("stream", "1", "of the launch file");
  t.column("kind", "1",
           "0 kernel, 1 transfer to the device, 2 transfer from the device, 3 memset, 4 copy within device "
           "memory");
  t.column("kernel", "1", "group of /kernels; 18446744073709551615: a transfer");
  t.column("engine", "1", "copy engine; 18446744073709551615: a kernel");
  t.column("bytes", "bytes", "moved by a transfer, else 0");
  t.text_column("name", "of the kernel or of the buffer");
  constexpr uint64_t kNone = ~0ull;
  const std::vector<TimelineItem> items = timeline(result);
  for (const TimelineItem& i : items) {
    const bool is_kernel = i.kernel != nullptr;
    const uint64_t kind = is_kernel ? 0 : kind_of(*i.copy);
    for (const uint64_t v :
         {i.start, i.end, uint64_t{i.stream}, kind, is_kernel ? uint64_t{i.kernel->number} : kNone,
          is_kernel ? kNone : uint64_t{i.copy->engine}, is_kernel ? 0 : i.copy->bytes})
      t.cell(v);
    t.text(0, is_kernel ? i.kernel->name : i.copy->buffer);
  }
  t.write_for_run(recorder, items.size());
}

void write_fingerprints(core::Recorder& recorder, const SimulationResult& result) {
  if (result.fingerprints.empty()) return;
  TableBuilder t("fingerprints",
                 "contents of the buffers and variables in device memory at the end of the run");
  t.column("bytes", "bytes", "size");
  t.column("fingerprint", "1",
           "number that equal contents share and others do not, but for a chance of 2^-64");
  t.text_column("name", "of the buffer or variable");
  for (const MemoryFingerprint& f : result.fingerprints) {
    t.cell(f.bytes);
    t.cell(f.fingerprint);
    t.text(0, f.name);
  }
  t.write_for_run(recorder, result.fingerprints.size());
}

void write_system(core::Recorder& recorder, const SimulationResult& result,
                  const core::MachineConfig& machine) {
  const std::optional<SystemEnergy> system = system_energy(result, machine);
  if (!system) return;
  struct Row {
    double elapsed, kernels, idle_board, host, power;
  };
  const auto column = [](const char* name, size_t offset, const char* unit, const char* meaning) {
    return core::Column{name, core::ColumnType::kF64, static_cast<uint32_t>(offset), unit, meaning};
  };
  const core::TableSchema schema{
      "system",
      "time, energy and average power of the whole system: board and waiting host",
      sizeof(Row),
      {column("elapsed", offsetof(Row, elapsed), "s",
              "from the first launch or transfer to the end of the last"),
       column("kernels", offsetof(Row, kernels), "J", "of the board while kernels ran"),
       column("idle_board", offsetof(Row, idle_board), "J", "of the board while none did"),
       column("host", offsetof(Row, host), "J", "of the host, which waits all the time"),
       column("power", offsetof(Row, power), "W", "all three by the elapsed time")}};
  const Row row{system->elapsed_s, system->kernels_j, system->idle_board_j, system->host_j, system->power()};
  recorder.write_run_table(schema, std::as_bytes(std::span(&row, 1)), 1, {});
}

}  // namespace gpusim::comp
